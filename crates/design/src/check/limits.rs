//! Rules about sizes: items, keys, item collections, transactions.

use super::Checker;
use crate::capacity::estimate;
use crate::finding::{Finding, Severity};
use crate::formatting::format_bytes;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::Entity;
use crate::name_hints;
use crate::template::Part;
use std::collections::HashMap;

/// The largest item.
const MAX_ITEM_BYTES: u64 = 400 * 1024;
/// The largest item collection of a table with a local index.
const MAX_COLLECTION_BYTES: f64 = 10e9;
/// The most actions of a transaction.
const MAX_ACTIONS: f64 = 100.0;
/// From this many items per parent on, a list is unbounded.
const STREAM: f64 = 1000.0;

impl<'m> Checker<'m> {
    pub fn limits(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let largest = entity.expect.max_bytes.unwrap_or_default().max(entity.bytes());
            if largest > MAX_ITEM_BYTES {
                let finding = self.about_entity("P401", Severity::Error, entity);
                let message = format!("an item of {} is larger than 400 KB", format_bytes(largest as f64));
                self.report(finding.with_message(message).with_help(
                    "split it under one partition key: PART#{number:04}, or store the large part elsewhere",
                ));
            }
        }
        for mapping in self.keys.mappings(TableOrIndex { index: None }).to_vec() {
            self.collection(&mapping);
        }
        self.key_length();
        self.local_collections();
        for write in model.writes.iter().filter(|write| write.transact) {
            self.transaction(write);
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
        let bytes = entity.expect.max.map(|max| max as f64 * entity.bytes() as f64);
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
        self.report(finding.with_help("put the time into the partition key ({time:month}), expire old items with ttl, or declare expect.max"));
    }

    /// The average number of the entity's items under one partition key, if the model declares enough.
    fn average_in(&self, mapping: &KeyMapping<'m>) -> f64 {
        let fixed: Vec<String> = mapping.partition.fields().map(str::to_owned).collect();
        let known = |name: &String| estimate::distinct(self.model, mapping.entity, name).is_some();
        if mapping.entity.expect.average.is_none() && !fixed.iter().all(known) {
            return 0.0;
        }
        let amount = estimate::items(self.model, mapping.entity, &fixed);
        if amount.known { amount.average } else { 0.0 }
    }

    /// With a local index, an item collection is limited to 10 GB.
    fn local_collections(&mut self) {
        let model = self.model;
        let Some(index) = model.indexes.iter().find(|index| index.local) else { return };
        let mut sizes: HashMap<String, f64> = HashMap::new();
        for entity in model.entities.iter().filter(|entity| entity.expect.max.is_some()) {
            // Entities with the same partition key share a collection.
            let partition = entity.key.first().map(|key| format!("{:?}", key.runs(entity, false)));
            let bytes =
                *sizes.entry(partition.unwrap_or_default()).or_insert_with(|| self.collection_bytes(entity));
            if bytes > MAX_COLLECTION_BYTES {
                let finding = self.about_entity("P403", Severity::Error, entity);
                self.report(
                    finding
                        .with_message(format!(
                            "a collection of up to {} exceeds the 10 GB limit imposed by the local index {}",
                            format_bytes(bytes),
                            index.name
                        ))
                        .with_help("make it a global index, or split the collection by time"),
                );
            }
        }
    }

    /// The size of the largest item collection that contains an entity, as far as the model declares it.
    fn collection_bytes(&self, entity: &Entity) -> f64 {
        let together = self.keys.collection_members(entity, usize::MAX, |_| true);
        let bytes = |other: &Entity| other.expect.max.map_or(1.0, |max| max as f64) * other.bytes() as f64;
        together.into_iter().map(bytes).sum()
    }

    fn transaction(&mut self, write: &crate::model::Write) {
        let model = self.model;
        let (mut usual, mut most) = (0.0, 0.0);
        for action in &write.actions {
            let Some(entity) = model.entity(&action.entity) else { continue };
            let many = estimate::items(model, entity, &parents(model, entity));
            // Several items are counted only if the model declares how many there are.
            let each = if action.many && entity.expect.per.is_some() { many } else { one() };
            let marks = 1.0 + entity.unique.len() as f64;
            usual += each.average * marks;
            most += each.max * marks;
        }
        if most <= MAX_ACTIONS {
            return;
        }
        let severity = if usual > MAX_ACTIONS { Severity::Error } else { Severity::Note };
        let finding = Finding::new("P405", severity, write.subject(), &write.span);
        let message =
            format!("{usual:.0} actions on average, {most:.0} at most; a transaction has at most 100");
        self.report(finding.with_message(message).with_help(
            "write the first items in the transaction and the rest in batches, or keep the parts as one item",
        ));
    }
}

/// The smallest size of a part; a field has at least one byte.
fn least_bytes(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Field { .. } => 1,
    }
}

fn one() -> estimate::ItemCount {
    estimate::ItemCount { average: 1.0, max: 1.0, known: true }
}

/// The identifier of the parent entity.
fn parents(model: &crate::model::Model, entity: &Entity) -> Vec<String> {
    let parent = entity.expect.per.as_deref().and_then(|name| model.entity(name));
    parent.and_then(Entity::identity).map(str::to_owned).into_iter().collect()
}
