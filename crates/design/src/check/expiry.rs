//! Rules about items that expire: by a number of seconds, and with what belongs to them.

use super::Checker;
use super::writes::marker_text;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::model::decimal::Decimal;
use crate::model::{Attribute, Entity, Verb, Write};

/// The year 5138 in seconds, and 1973 in milliseconds.
const MILLISECONDS: &str = "100000000000";

impl Checker<'_> {
    pub fn expiry(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let Some(ttl) = entity.ttl.as_ref().and_then(|name| entity.attribute(name)) else { continue };
            self.in_seconds(entity, ttl);
            for copy in model.copies_of(&entity.name) {
                self.copy_stays(entity, ttl, copy);
            }
            if !entity.unique.is_empty() {
                let writes = self.usage.writes_of(&entity.name).to_vec();
                writes.into_iter().for_each(|write| self.markers_stay(entity, ttl, write));
            }
        }
    }

    /// DynamoDB expires items by numbers of seconds, and passes over anything else.
    fn in_seconds(&mut self, entity: &Entity, ttl: &Attribute) {
        let (name, least) = (&ttl.name, ttl.limits.min.as_ref());
        let is_late = |least: &Decimal| Decimal::parse(MILLISECONDS).is_some_and(|most| *least > most);
        let (problem, help) = if !ttl.kind.is_number() {
            (
                format!("{name} is of type {}, and DynamoDB expires items by numbers only", ttl.kind.print()),
                format!("store seconds since 1970: {name} = \"int\""),
            )
        } else if least.is_some_and(is_late) {
            (
                format!(
                    "{name} seems to count milliseconds, and DynamoDB reads it as seconds, some thousands of years away"
                ),
                format!("store seconds since 1970, and give {name} a min in seconds"),
            )
        } else {
            return;
        };
        let finding = self.about_entity("P229", Severity::Error, entity);
        self.report(
            finding.with_message(format!("{} never expires: {problem}", entity.name)).with_help(help),
        );
    }

    /// A copy without the attribute stays when its original expires.
    fn copy_stays(&mut self, original: &Entity, ttl: &Attribute, copy: &Entity) {
        if copy.ttl.as_ref() == Some(&ttl.name) && copy.attribute(&ttl.name).is_some() {
            return;
        }
        let finding = self.about_entity("P519", Severity::Warning, copy);
        let message = format!("{} expires by {}, and its copy {} stays", original.name, ttl.name, copy.name);
        let help = format!("give {} the attribute {1} too, and ttl = \"{1}\"", copy.name, ttl.name);
        self.report(finding.with_message(message).with_help(help));
    }

    /// The markers of unique values expire with their item, until it lives longer.
    fn markers_stay(&mut self, entity: &Entity, ttl: &Attribute, write: &Write) {
        let stays = |unique: &&Vec<String>| {
            let mut own = write.actions.iter().filter(|action| action.entity == entity.name);
            own.any(|action| action.prolongs(entity, unique))
                && !write.has_marker(Verb::Update, entity, unique)
        };
        let staying: Vec<&Vec<String>> = entity.unique.iter().filter(stays).collect();
        if staying.is_empty() {
            return;
        }
        let names: Vec<&str> = staying.iter().copied().flatten().map(String::as_str).collect();
        let missing: Vec<String> =
            staying.iter().map(|unique| marker_text(Verb::Update, entity, unique)).collect();
        let finding = Finding::new("P519", Severity::Warning, write.subject(), &write.span);
        let message = format!(
            "{} changes {}, by which {} expires; the markers of {} keep the former time, and expire before it",
            write.name,
            ttl.name,
            entity.name,
            list(&names)
        );
        let help = format!("update {} of the markers too: add {} to transact", ttl.name, list(&missing));
        self.report(finding.with_message(message).with_help(help));
    }
}
