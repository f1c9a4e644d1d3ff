//! Rules about indexes: how many, whether they are worth their cost, what they copy.

use super::Checker;
use crate::capacity::basis::Estimate;
use crate::capacity::write_effects;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex, is_natural};
use crate::model::condition::Condition;
use crate::model::{Index, Model, Pattern, Projection};
use crate::plan::Operation;
use crate::plan::requirement::Requirement;
use crate::repair::{Edit, Repair, quoted};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The most global indexes of a table.
const MAX_GLOBAL: usize = 20;
/// The most local indexes of a table.
const MAX_LOCAL: usize = 5;
/// The most attributes that one index names in its projection, and all indexes of a table together.
const MAX_PROJECTED: usize = 20;
const MAX_PROJECTED_IN_ALL: usize = 100;

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
        self.projected_names();
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
                let (message, help) = match self.nobody_has(index) {
                    Some(key) => (
                        format!("no pattern is served by {}: no entity has its key {key}", index.name),
                        "name an attribute of the entities that belong into it".to_owned(),
                    ),
                    None => (
                        format!("no pattern is served by {}", index.name),
                        "remove it, or add the pattern that needs it".to_owned(),
                    ),
                };
                self.report(finding.with_message(message).with_help(help));
                continue;
            }
            self.sparse(index, &users);
            self.projection(index, &users);
        }
        self.unread_entries();
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

    /// A projection names at least one attribute, and not more than DynamoDB accepts.
    fn projected_names(&mut self) {
        let help = "project KEYS_ONLY and read the rest with hydrate, or project ALL";
        let mut all = 0;
        for index in &self.model.indexes {
            let Projection::Include(names) = &index.project else { continue };
            let before = all;
            all += names.len();
            let message = if names.is_empty() {
                "the list of projected attributes is empty, which DynamoDB refuses".to_owned()
            } else if names.len() > MAX_PROJECTED {
                format!("{} projected attributes; an index names at most {MAX_PROJECTED}", names.len())
            } else if before <= MAX_PROJECTED_IN_ALL && all > MAX_PROJECTED_IN_ALL {
                format!(
                    "the indexes up to this one project {all} attributes; those of a table name at most {MAX_PROJECTED_IN_ALL}"
                )
            } else {
                continue;
            };
            let finding = Finding::new("P301", Severity::Error, index.subject(), &index.span);
            self.report(finding.with_message(message).with_help(help));
        }
    }

    /// A key attribute of an index that no entity has, beside one that some have: probably another name is meant.
    fn nobody_has(&self, index: &'m Index) -> Option<&'m str> {
        let entities = &self.model.entities;
        let is_attribute = |key: &&String| entities.iter().any(|entity| entity.attribute(key).is_some());
        let has_entries = entities.iter().any(|entity| entity.index_key(&index.name).is_some());
        let is_given = |key: &&String| is_attribute(key) || self.model.table.keys.contains(key);
        let missing = index.keys.iter().find(|key| !is_given(key))?;
        (!has_entries && index.keys.iter().any(|key| is_attribute(&key))).then_some(missing)
    }

    /// Entries of an entity that no pattern reads, in an index that serves patterns of others.
    fn unread_entries(&mut self) {
        let model = self.model;
        let read = self.read_entries();
        let unread = |mapping: &KeyMapping<'m>| {
            let index = mapping.location.index?;
            let index_key = mapping.entity.index_key(&index.name)?;
            let mut keys = index.keys.iter().zip(&index_key.key);
            let is_generated = keys.any(|(key, template)| !is_natural(model, key, template));
            let entity = mapping.entity.name.as_str();
            let is_needed = read.contains(&(index.name.as_str(), entity))
                // A relationship is readable from both ends, whatever is asked today.
                || !mapping.entity.edge.is_empty()
                || self.usage.unserved.contains(entity)
                || self.has("P303", &index.subject());
            (is_generated && !is_needed).then_some((index, mapping.clone()))
        };
        let unread: Vec<(&Index, KeyMapping<'m>)> = self.mappings().iter().filter_map(unread).collect();
        if unread.is_empty() || model.patterns.is_empty() {
            return;
        }
        let units = units_of_entries(model);
        for (index, mapping) in unread {
            let (index, entity) = (&index.name, &mapping.entity.name);
            let cost = match units.get(&(index.clone(), entity.clone())).filter(|units| **units > 0.0) {
                Some(units) => format!("it costs {} a second", Estimate::declared(*units).text("write unit")),
                None => "its writes are billed there too".to_owned(),
            };
            let finding = self.about_mapping("P303", Severity::Note, &mapping);
            let message = format!("no pattern reads {entity} in {index}, and {cost}");
            let help = match mapping.is_borrowed(model) {
                true => format!(
                    "{entity} has the keys of {index} for other purposes: give {index} key attributes of its own, or add the pattern that needs the entry"
                ),
                false => format!("remove index.{index} of {entity}, or add the pattern that needs it"),
            };
            self.report(finding.with_message(message).with_help(help));
        }
    }

    /// The indexes that patterns read, each with the entities that they want of it.
    fn read_entries(&self) -> HashSet<(&'m str, &'m str)> {
        let steps = self.plans.values().flatten().flat_map(|plan| &plan.steps);
        let planned = steps.filter_map(|step| Some((step.location.index?.name.as_str(), &step.targets)));
        let planned =
            planned.flat_map(|(index, targets)| targets.iter().map(move |own| (index, own.name.as_str())));
        let requested = self.model.patterns.iter().filter_map(|pattern| {
            let index = pattern.request.as_ref()?.index.as_deref()?;
            Some(pattern.targets.iter().map(move |target| (index, target.entity.as_str())))
        });
        planned.chain(requested.flatten()).collect()
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
        let mappings = TableOrIndex { index: Some(index) }.mappings(self.model);
        let full: Vec<&KeyMapping<'_>> =
            mappings.iter().filter(|mapping| !mapping.is_sparse() && !mapping.is_implied).collect();
        let first = users.first().map(|pattern| &pattern.filter).filter(|filter| !filter.is_empty());
        let is_common = |first: &&Condition| users.iter().all(|pattern| pattern.filter == **first);
        let Some(filter) = first.filter(|_| !full.is_empty()).filter(is_common) else { return };
        let when = quoted(&filter.to_string()).trim().to_owned();
        let edit = |mapping: &&KeyMapping<'_>| {
            Edit::set(&["entity", &mapping.entity.name, "index", &index.name, "when"], when.clone())
        };
        let names: Vec<&str> = full.iter().map(|mapping| mapping.entity.name.as_str()).collect();
        let help = format!("add when = {when} to index.{} of {}", index.name, list(&names));
        let repair = Repair { help: help.clone(), edits: full.iter().map(edit).collect() };
        let finding = Finding::new("P304", Severity::Note, index.subject(), &index.span);
        let message =
            format!("every pattern on {} requires {filter}, yet the index holds all items", index.name);
        self.report(finding.with_message(message).with_help(help).with_proposals(vec![repair]));
    }

    /// Attributes that are copied to the index and never read from it.
    fn projection(&mut self, index: &Index, users: &[&Pattern]) {
        if index.project != Projection::All || users.iter().any(|p| p.fields.is_empty() && !self.hydrates(p))
        {
            return;
        }
        let fields: BTreeSet<&str> =
            users.iter().flat_map(|pattern| self.read_from(index, pattern)).collect();
        let fields: Vec<&str> = fields.into_iter().collect();
        if fields.len() > MAX_PROJECTED {
            return;
        }
        let (message, project) = if fields.is_empty() {
            let message = "whole items are copied, and the patterns read the table anyway";
            (message.to_owned(), "\"KEYS_ONLY\"".to_owned())
        } else {
            let message = format!("whole items are copied, and the patterns read only {}", list(&fields));
            (message, format!("[\"{}\"]", fields.join("\", \"")))
        };
        let help = format!("write project = {project}");
        let edits = vec![Edit::set(&["index", &index.name, "project"], project)];
        let repair = Repair { help: help.clone(), edits };
        let finding = Finding::new("P306", Severity::Note, index.subject(), &index.span);
        self.report(finding.with_message(message).with_help(help).with_proposals(vec![repair]));
    }

    /// The attributes that a pattern needs of the entries of an index: what it returns of them, what it tests, and what leads on.
    fn read_from<'a>(&'a self, index: &Index, pattern: &'a Pattern) -> Vec<&'a str> {
        let steps =
            || self.plans.get(pattern.name.as_str()).into_iter().flatten().flat_map(|plan| &plan.steps);
        let here = || steps().filter(|step| step.location.index.is_some_and(|used| used.name == index.name));
        let is_here =
            |name: &str| here().any(|step| step.targets.iter().any(|own| own.attribute(name).is_some()));
        let tested = here()
            .flat_map(|step| step.filter.iter().chain(step.dropped()))
            .flat_map(Requirement::attributes);
        let follows = steps().filter_map(|step| step.follow.as_ref());
        let followed = follows
            .filter(|follow| here().any(|step| step.targets.iter().any(|own| own.name == follow.from.name)));
        let leading = followed.flat_map(|follow| follow.links.iter().map(|link| link.from.as_str()));
        let returned =
            pattern.fields.iter().map(String::as_str).filter(|name| is_here(name) || pattern.via.is_empty());
        returned.chain(tested).chain(leading).collect()
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

/// What all writes spend on the entries of each entity in each index, in write units a second.
fn units_of_entries(model: &Model) -> HashMap<(String, String), f64> {
    let mut units = HashMap::new();
    for (write, rate) in model.writes.iter().filter_map(|write| Some((write, write.rps?))) {
        for effect in write_effects::effects(model, write) {
            if let Some(index) = effect.index {
                *units.entry((index, effect.entity)).or_default() += effect.units * rate;
            }
        }
    }
    units
}
