//! The model that is attached to the table. While items move, both models are attached: what the application writes must follow one of them.
//! Once the result is verified, the new one is attached alone.

use super::Migration;
use crate::client::MODELS_PATH;
use crate::model::items;
use serde_json::{Value, json};

/// The tag of a table that is in transition: the mode of its model.
const TAG: &str = "partita:model-mode";

impl Migration<'_> {
    /// Fails if the model that is attached is neither the old one nor the new one: its rules would be given up without a word.
    pub(super) fn check_attached(&mut self) -> Result<(), String> {
        let (attached, tables) = (self.attached(), self.tables);
        let texts = [&attached["model"], &attached["former"]];
        let is_known = |text: &str| tables.sources.iter().chain(&tables.targets).any(|own| own.is_same(text));
        if texts.iter().filter_map(|text| text.as_str()).all(is_known) {
            return Ok(());
        }
        let table = &tables.targets[0].table;
        Err(format!(
            "the model that is attached to table {table} is neither the old one nor the new one, and would be replaced: migrate from that model, or attach \
             the old one first. Nothing was written"
        ))
    }

    /// Attaches both models, if a model is attached or was before an interruption.
    pub(super) fn attach_for_migration(&mut self) -> Result<(), String> {
        let table = &self.tables.targets[0].table;
        let description = items::describe(&mut self.client, table)?;
        let attached = self.attached();
        let before = self.tag(&description, TAG);
        let Some(mode) = attached["mode"].as_str().map(str::to_owned).or(before) else { return Ok(()) };
        self.set_tag(&description, TAG, &mode)?;
        if mode == "enforce" {
            println!(
                "the model of table {table} is enforced: while items move, what the application writes must follow the old model or the new one"
            );
        }
        let old = self.tables.sources[0].text.clone();
        self.attach_transition(&mode, &old)
    }

    /// Accepts nothing but the new model from now on; the migration's own writes are still not judged. What is verified then stays true.
    pub(super) fn attach_for_verification(&mut self) -> Result<(), String> {
        let new = self.tables.targets[0].text.clone();
        self.attach_beside(&new)
    }

    /// Attaches both models again, because the result is not verified.
    pub(super) fn attach_again(&mut self) -> Result<(), String> {
        let old = self.tables.sources[0].text.clone();
        self.attach_beside(&old)
    }

    /// Attaches a model beside the new one, if the table is in transition.
    fn attach_beside(&mut self, model: &str) -> Result<(), String> {
        let description = items::describe(&mut self.client, &self.tables.targets[0].table)?;
        self.tag(&description, TAG).map_or(Ok(()), |mode| self.attach_transition(&mode, model))
    }

    fn attach_transition(&mut self, mode: &str, old: &str) -> Result<(), String> {
        let both = json!({ "old": old, "new": self.tables.targets[0].text }).to_string();
        self.attach(mode, &both, &[("transition", "true")])
    }

    /// Attaches the new model alone, with the mode that the old one had.
    pub(super) fn attach_after_migration(&mut self) -> Result<(), String> {
        let target = &self.tables.targets[0];
        let description = items::describe(&mut self.client, &target.table)?;
        let Some(mode) = self.tag(&description, TAG) else { return Ok(()) };
        self.attach(&mode, &target.text, &[])?;
        self.remove_tag(&description, TAG)?;
        if mode == "enforce" {
            let table = &target.table;
            println!(
                "the new model of table {table} is enforced; a server that is started with --model must be given it from now on"
            );
        }
        Ok(())
    }

    /// Says what a migration leaves behind that is not complete or not verified, and what to do.
    pub(super) fn print_unfinished(&mut self) -> Result<(), String> {
        let table = &self.tables.targets[0].table;
        let description = items::describe(&mut self.client, table)?;
        let mode = self.tag(&description, TAG);
        match &mode {
            Some(mode) => println!(
                "the migration has not ended: both models, the old one and the new one, stay attached to table {table}, mode {mode}"
            ),
            None => println!("the migration has not ended; no model is attached to table {table}"),
        }
        println!(
            "correct what is named above and repeat the command, or migrate back with the models swapped"
        );
        if mode.as_deref() == Some("enforce") {
            println!(
                "if a correction is refused, attach the model with --force and without --enforce, correct it, attach it with --enforce, and repeat the command"
            );
        }
        Ok(())
    }

    /// The statistics of the attached model; null without one. Other databases have no models.
    fn attached(&mut self) -> Value {
        let table = self.tables.targets[0].table.as_str();
        self.client.administer(MODELS_PATH, "GET", &[("table", table)], b"").unwrap_or_default()
    }

    /// Attaches a model, or two, with the rule for reads of what is attached now.
    fn attach(&mut self, mode: &str, body: &str, more: &[(&str, &str)]) -> Result<(), String> {
        let attached = self.attached();
        let table = self.tables.targets[0].table.as_str();
        // It may have fewer rules than the old one: that is the user's decision.
        let mut parameters = vec![("table", table), ("mode", mode), ("force", "true")];
        // Undeclared reads that are only counted are not a rule: the new model may have one.
        let reads = attached["reads"].as_str().filter(|reads| *reads != "count");
        parameters.extend(reads.map(|reads| ("reads", reads)));
        parameters.extend(more);
        self.client.administer(MODELS_PATH, "PUT", &parameters, body.as_bytes()).map(|_| ())
    }
}
