//! Rules about sizes: items, keys, item collections, transactions.

use super::Checker;
use crate::capacity::collection::{self, Collection, MAX_COLLECTION_BYTES};
use crate::capacity::estimate;
use crate::capacity::growth::MAX_ITEM_BYTES;
use crate::capacity::size;
use crate::capacity::write_effects::transaction_actions;
use crate::finding::{Finding, Severity};
use crate::formatting::{format_bytes, format_number};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::{Action, Aggregate, Entity, Index, MAX_ACTIONS, Verb};
use crate::name_hints;
use crate::template::{Part, Template};
use std::collections::HashMap;

/// From this many items per parent on, a list is unbounded.
const STREAM: f64 = 1000.0;

impl<'m> Checker<'m> {
    pub fn limits(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let largest = size::largest_item(model, entity);
            if largest.value > MAX_ITEM_BYTES {
                let severity = if largest.basis.is_assumed() { Severity::Warning } else { Severity::Error };
                let finding = self.about_entity("P401", severity, entity);
                let message = format!(
                    "an item of {}{} is larger than 400 KB",
                    format_bytes(largest.value),
                    largest.basis.mark()
                );
                self.report(finding.with_message(message).with_help(
                    "split it under one partition key: PART#{number:04}, or store the large part elsewhere",
                ));
            }
        }
        for mapping in self.keys.mappings(TableOrIndex { index: None }).to_vec() {
            self.expected_most(&mapping);
            self.collection(&mapping);
        }
        self.refused_names();
        self.key_length();
        self.local_collections();
        model.writes.iter().for_each(|write| self.transaction(write));
    }

    /// No parent, and no partition key, has more items on average than the most that are declared for one.
    fn expected_most(&mut self, mapping: &KeyMapping<'m>) {
        let (model, entity) = (self.model, mapping.entity);
        let Some(max) = entity.expect.max else { return };
        let (average, each) = match &entity.expect.per {
            Some(parent) => (estimate::shared_out(model, entity), parent.clone()),
            None => (estimate::average_under_key(model, mapping), format!("key {}", mapping.partition)),
        };
        let Some(average) =
            average.filter(|average| !average.basis.is_assumed() && average.value > max as f64)
        else {
            return;
        };
        let most = format_number(average.value);
        let finding = self.about_entity("P407", Severity::Warning, entity);
        let message =
            format!("{most} items for each {each} follow from the declared numbers, more than max = {max}");
        let help = format!(
            "expect max = {} or more, or fewer items; figures are bounded by max",
            average.value.ceil()
        );
        self.report(finding.with_message(message).with_help(help));
    }

    /// Tables and indexes have names that DynamoDB accepts.
    fn refused_names(&mut self) {
        let model = self.model;
        let table = ("table".to_owned(), &model.table.name, &model.table.name_span);
        let index = |index: &'m Index| (format!("index.{}", index.name), &index.name, &index.span);
        for (subject, name, span) in std::iter::once(table).chain(model.indexes.iter().map(index)) {
            let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
            if (3..=255).contains(&name.len()) && name.bytes().all(is_allowed) {
                continue;
            }
            let finding = Finding::new("P230", Severity::Error, subject, span);
            let message = format!("DynamoDB refuses the name \"{name}\"");
            self.report(finding.with_message(message).with_help(
                "a name has 3 to 255 characters: letters, digits, underscores, hyphens and full stops",
            ));
        }
    }

    fn key_length(&mut self) {
        for mapping in self.mappings() {
            for (template, most) in
                [Some(&mapping.partition), mapping.sort.as_ref()].into_iter().zip([2048, 1024])
            {
                let least: usize =
                    template.into_iter().flat_map(|template| &template.parts).map(least_bytes).sum();
                if least > most {
                    let finding = self.about_mapping("P404", Severity::Error, &mapping);
                    let message = format!("a key of at least {least} bytes; the limit is {most}");
                    self.report(finding.with_message(message).with_help("shorten the text of the template"));
                }
            }
        }
    }

    /// Items that accumulate under one partition key without bound.
    fn collection(&mut self, mapping: &KeyMapping<'m>) {
        let entity = mapping.entity;
        let own =
            entity.identity().is_some_and(|id| mapping.partition.has_field(id)) && entity.versions.is_none();
        let grows = mapping.sort.as_ref().is_some_and(|sort| {
            sort.fields().any(|name| {
                entity.attribute(name).is_some_and(|attribute| attribute.kind.is_time())
                    || entity.versions.as_deref() == Some(name)
            })
        });
        if own || !grows || mapping.has_time_bucket() || entity.ttl.is_some() {
            return;
        }
        let bytes = entity.expect.max.map(|max| max as f64 * size::item(self.model, entity).value);
        let (severity, message) = match bytes {
            Some(bytes) if bytes > MAX_COLLECTION_BYTES => (
                Severity::Warning,
                format!(
                    "up to {} of {} accumulate under one partition key",
                    format_bytes(bytes),
                    entity.name
                ),
            ),
            Some(_) => return,
            None => {
                let average = self.average_in(mapping);
                let stream = average >= STREAM
                    || (entity.expect.average.is_none() && name_hints::is_stream(&entity.name));
                let severity = if stream { Severity::Warning } else { Severity::Note };
                (
                    severity,
                    format!("{} items accumulate under {} without bound", entity.name, mapping.partition),
                )
            }
        };
        let finding = self.about_mapping("P402", severity, mapping).with_message(message);
        let mut sorted = mapping.sort.iter().flat_map(Template::fields);
        let is_time = |name: &&str| entity.attribute(name).is_some_and(|own| own.kind.is_time());
        let bucket = match sorted.find(is_time) {
            Some(time) => format!("put the time into the partition key ({{{time}:month}}), "),
            None => String::new(),
        };
        let most = if entity.expect.max.is_some() { "correct" } else { "declare" };
        self.report(finding.with_help(format!("{bucket}expire old items with ttl, or {most} expect.max")));
    }

    /// The average number of the entity's items under one partition key, if the model declares enough.
    fn average_in(&self, mapping: &KeyMapping<'m>) -> f64 {
        let fixed: Vec<String> = mapping.partition.fields().map(str::to_owned).collect();
        let known = |name: &String| estimate::distinct(self.model, mapping.entity, name).is_some();
        if mapping.entity.expect.average.is_none() && !fixed.iter().all(known) {
            return 0.0;
        }
        let amount = estimate::items(self.model, mapping.entity, &fixed);
        if amount.is_known() { amount.average } else { 0.0 }
    }

    /// With a local index, an item collection is limited to 10 GB.
    fn local_collections(&mut self) {
        let model = self.model;
        let Some(index) = model.indexes.iter().find(|index| index.local) else { return };
        let mut sizes: HashMap<String, Collection> = HashMap::new();
        for entity in &model.entities {
            // Entities with the same partition key share a collection.
            let partition = entity.key.first().map(|key| format!("{:?}", key.runs(entity, false)));
            let largest = *sizes
                .entry(partition.unwrap_or_default())
                .or_insert_with(|| collection::largest(&self.keys, entity));
            // A partition key of one item has no collection.
            if largest.bytes.value <= MAX_COLLECTION_BYTES || !collection::accumulates(model, entity) {
                continue;
            }
            let severity = if largest.bytes.basis.is_assumed() { Severity::Warning } else { Severity::Error };
            let finding = self.about_entity("P403", severity, entity);
            self.report(
                finding
                    .with_message(format!(
                        "a collection of {} {}{} exceeds the 10 GB limit imposed by the local index {}",
                        largest.word(),
                        format_bytes(largest.bytes.value),
                        largest.bytes.basis.mark(),
                        index.name
                    ))
                    .with_help("make it a global index, or split the collection by time"),
            );
        }
    }

    fn transaction(&mut self, write: &crate::model::Write) {
        let Some((usual, most)) = transaction_actions(self.model, write) else { return };
        let limit = MAX_ACTIONS as f64;
        if most.value <= limit {
            return;
        }
        let is_proven = usual.value > limit && !usual.basis.is_assumed();
        let severity = if is_proven { Severity::Error } else { Severity::Note };
        let finding = Finding::new("P405", severity, write.subject(), &write.span);
        let message = format!(
            "{} actions on average, {} at most; a transaction has at most {MAX_ACTIONS}",
            usual.number(),
            most.number()
        );
        let mut lists = write.actions.iter().filter(|action| action.many);
        let counted =
            lists.find_map(|action| self.changed_by(action).map(|(parent, own)| (parent, own, action)));
        let help = match counted {
            Some((parent, aggregate, action)) => a_few_at_a_time(parent, aggregate, action),
            None if write.actions.iter().any(|action| action.many) => {
                "write the first items in the transaction and the rest in batches, or keep the parts as one item"
                    .to_owned()
            }
            None => "change fewer unique values at a time: each has a marker, which is written with the item"
                .to_owned(),
        };
        self.report(finding.with_message(message).with_help(help));
    }
}

/// What to write where an aggregate summarises more items than a transaction has room for.
pub(super) fn a_few_at_a_time(parent: &Entity, aggregate: &Aggregate, action: &Action) -> String {
    let few = Action { many: false, ..action.clone() };
    let update = Action { set: vec![aggregate.name.clone()], ..Action::new(Verb::Update, &parent.name) };
    format!(
        "write a few items at a time, up to 99, each time with the aggregate: transact = [\"{few}\", \"{update}\"]"
    )
}

/// The smallest size of a part; a field has at least one byte.
fn least_bytes(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Field { .. } => 1,
    }
}
