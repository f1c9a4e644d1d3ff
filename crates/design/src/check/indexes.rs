//! Rules about indexes: how many, whether they are worth their cost, what they copy.

use super::Checker;
use crate::capacity::write_effects;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Index, Pattern, Projection};
use crate::plan::Operation;
use std::collections::BTreeSet;

/// The most global indexes of a table.
const MAX_GLOBAL: usize = 20;
/// The most local indexes of a table.
const MAX_LOCAL: usize = 5;

impl<'m> Checker<'m> {
    pub fn indexes(&mut self) {
        let model = self.model;
        for (local, most, kind) in [(false, MAX_GLOBAL, "global"), (true, MAX_LOCAL, "local")] {
            let indexes: Vec<&Index> = model.indexes.iter().filter(|index| index.local == local).collect();
            if indexes.len() > most {
                let finding = Finding::new("P301", Severity::Error, "table", &indexes[most].span);
                let message = format!("{} {kind} indexes; a table has at most {most}", indexes.len());
                self.report(
                    finding
                        .with_message(message)
                        .with_help("overload: one index serves several types under different prefixes"),
                );
            }
        }
        for index in &model.indexes {
            let users = self.users(index);
            if index.local {
                self.local(index);
            }
            if users.is_empty() && !model.patterns.is_empty() {
                // A pattern that is not served yet may need it.
                let open = self.plans.values().any(Result::is_err);
                let severity = if open { Severity::Note } else { Severity::Warning };
                let finding = Finding::new("P303", severity, index.subject(), &index.span);
                let message = format!("no pattern is served by {}", index.name);
                self.report(
                    finding.with_message(message).with_help("remove it, or add the pattern that needs it"),
                );
                continue;
            }
            self.sparse(index, &users);
            self.projection(index, &users);
        }
        for write in &model.writes {
            let amplification = write_effects::amplification(model, write);
            if amplification >= 4.0 {
                let finding = Finding::new("P305", Severity::Note, write.subject(), &write.span);
                let message = format!(
                    "each item written becomes {amplification:.1} writes, indexes and markers included"
                );
                self.report(
                    finding
                        .with_message(message)
                        .with_help("drop indexes that are rarely queried, or make them sparse"),
                );
            }
        }
    }

    /// Patterns whose plan reads this index.
    pub(super) fn users(&self, index: &Index) -> Vec<&'m Pattern> {
        let is = |location: &TableOrIndex<'_>| location.index.is_some_and(|used| used.name == index.name);
        let reads = |pattern: &&Pattern| match self.plans.get(pattern.name.as_str()) {
            Some(Ok(plan)) => plan.steps.iter().any(|step| is(&step.location)),
            // The index would be read but for the obstacle, which is reported separately.
            Some(Err(unserved)) => is(&unserved.location),
            None => false,
        };
        let requested = |pattern: &&Pattern| {
            pattern.request.as_ref().is_some_and(|request| request.index.as_deref() == Some(&index.name))
        };
        self.model.patterns.iter().filter(|pattern| reads(pattern) || requested(pattern)).collect()
    }

    fn local(&mut self, index: &Index) {
        let model = self.model;
        let about = |code, severity| Finding::new(code, severity, index.subject(), &index.span);
        if index.keys.first() != model.table.keys.first() || model.table.keys.len() < 2 {
            let partition = model.table.keys.first().map_or("", String::as_str);
            self.report(
                about("P301", Severity::Error)
                    .with_message(format!("a local index has the table's partition key {partition} and needs a table with a sort key"))
                    .with_help(format!("write keys = [\"{partition}\", \"…\"], or leave out local = true")),
            );
        }
        self.report(
            about("P302", Severity::Note)
                .with_message(
                    "a local index can only be created with the table, and limits every item collection to 10 GB",
                )
                .with_help("prefer a global index unless strong consistency is needed"),
        );
    }

    /// Every pattern on an index that holds all items requires the same condition.
    fn sparse(&mut self, index: &Index, users: &[&Pattern]) {
        let full = TableOrIndex { index: Some(index) }
            .mappings(self.model)
            .iter()
            .any(|mapping| !mapping.is_sparse());
        let first = users.first().map(|pattern| &pattern.filter).filter(|filter| !filter.is_empty());
        if let Some(filter) =
            first.filter(|first| full && users.iter().all(|pattern| pattern.filter == **first))
        {
            let finding = Finding::new("P304", Severity::Note, index.subject(), &index.span);
            let message =
                format!("every pattern on {} requires {filter}, yet the index holds all items", index.name);
            self.report(
                finding.with_message(message).with_help(format!("add when = \"{filter}\" to the entries")),
            );
        }
    }

    /// Attributes that are copied to the index and never read from it.
    fn projection(&mut self, index: &Index, users: &[&Pattern]) {
        if index.project != Projection::All || users.iter().any(|p| p.fields.is_empty() && !self.hydrates(p))
        {
            return;
        }
        let mut fields: BTreeSet<&str> = BTreeSet::new();
        fields.extend(users.iter().flat_map(|pattern| pattern.fields.iter().map(String::as_str)));
        let fields: Vec<&str> = fields.into_iter().collect();
        let (message, help) = if fields.is_empty() {
            (
                "whole items are copied, and the patterns read the table anyway".to_owned(),
                "write project = \"KEYS_ONLY\"".to_owned(),
            )
        } else {
            (
                format!("whole items are copied, and the patterns read only {}", list(&fields)),
                format!("write project = [\"{}\"]", fields.join("\", \"")),
            )
        };
        let finding = Finding::new("P306", Severity::Note, index.subject(), &index.span);
        self.report(finding.with_message(message).with_help(help));
    }

    fn hydrates(&self, pattern: &Pattern) -> bool {
        match self.plans.get(pattern.name.as_str()) {
            Some(Ok(plan)) => {
                plan.steps.iter().any(|step| step.operation == Operation::BatchGet && step.follow.is_none())
            }
            _ => false,
        }
    }
}
