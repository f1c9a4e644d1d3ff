//! The writes of a log: requests that put, update and delete the same entities are one write.

use super::line::{Change, Written};
use super::{MAX_GROUPS, RequestLog, TOO_DIFFERENT, count};
use crate::audit::attribution::attribute_write;
use crate::audit::{EntityWrite, ItemChange, marker_text, recognise};
use crate::draft::{Asked, Confidence, NOT_KNOWN};
use crate::formatting::{plural, upper_first};
use crate::item::Value;
use crate::model::value_type::ValueType;
use crate::model::{Action, Attribute, Entity, Model, Verb, Write};
use crate::relational::naming::free_name;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct WriteGroup {
    write: Write,
    /// Attributes that updates set and the entities do not have, by entity and name, with their type if the request says it.
    new: BTreeMap<(String, String), Option<ValueType>>,
    count: u64,
}

impl RequestLog {
    pub(super) fn write(&mut self, writes: &[Written], transaction: bool) {
        let model = &self.draft.model;
        let partition = model.table.keys.first();
        let is_marker = |write: &&Written| {
            let key = partition.and_then(|name| write.attributes.get(name));
            key.is_some_and(|key| marker_text(model, key).is_some())
        };
        let items: Vec<&Written> = writes.iter().filter(|write| !is_marker(write)).collect();
        let found: Vec<(&Entity, &Written)> =
            items.iter().filter_map(|write| Some((recognise(model, &write.attributes)?, *write))).collect();
        if found.len() < items.len() || found.is_empty() {
            let text = "no entity has the key that is written. Which one is it?".to_owned();
            return count(&mut self.open, text);
        }
        let recognised: Vec<EntityWrite<'_>> =
            found.iter().map(|(entity, write)| entity_write(entity, write)).collect();
        if let Some(name) = attribute_write(model, &recognised, transaction) {
            let name = name.to_owned();
            return count(&mut self.declared_writes, name);
        }
        let mut group = WriteGroup::default();
        found.iter().for_each(|(entity, write)| group.add(model, entity, write));
        group.write.transact = transaction && writes.len() > 1;
        let actions: Vec<String> = group.write.actions.iter().map(Action::to_string).collect();
        let new: Vec<&(String, String)> = group.new.keys().collect();
        let key = format!("{} {} {new:?}", group.write.transact, actions.join(", "));
        if self.writes.len() >= MAX_GROUPS && !self.writes.contains_key(&key) {
            return count(&mut self.others, TOO_DIFFERENT.to_owned());
        }
        self.writes.entry(key).or_insert(group).count += 1;
    }

    pub(super) fn add_writes(&mut self, rate: &dyn Fn(u64) -> Option<f64>) {
        for (name, count) in std::mem::take(&mut self.declared_writes) {
            if let Some(write) = self.draft.model.writes.iter_mut().find(|own| own.name == name) {
                write.rps = rate(count).or(write.rps);
            }
        }
        let mut groups: Vec<WriteGroup> = std::mem::take(&mut self.writes).into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.count));
        let known = groups.iter().flat_map(|group| &group.new);
        let kinds: BTreeMap<(String, String), ValueType> =
            known.filter_map(|(name, kind)| Some((name.clone(), kind.clone()?))).collect();
        for mut group in groups {
            self.add_attributes(&mut group, &kinds);
            let write = &mut group.write;
            let taken = |name: &str| self.draft.model.writes.iter().any(|own| own.name == name);
            write.name = free_name(&name(&write.actions), taken);
            write.rps = rate(group.count);
            self.draft.note(write.subject(), Confidence::Certain, plural(group.count, "request"));
            if write.rps.is_none() {
                self.draft.ask(
                    Asked::WriteRate(write.name.clone()),
                    "How many requests a second?",
                    NOT_KNOWN,
                );
            }
            self.draft.model.writes.push(group.write);
        }
    }

    /// What updates set belongs to an inferred entity; a given model is not changed.
    fn add_attributes(&mut self, group: &mut WriteGroup, kinds: &BTreeMap<(String, String), ValueType>) {
        for (entity, name) in std::mem::take(&mut group.new).into_keys() {
            if self.given {
                self.draft.note(
                    format!("entity.{entity}"),
                    Confidence::Certain,
                    format!("{name} is set by requests, and not in the model"),
                );
                continue;
            }
            if let Some(own) = self.draft.model.entities.iter_mut().find(|own| own.name == entity)
                && !own.attributes.iter().any(|attribute| attribute.name == name)
            {
                let kind = kinds.get(&(entity.clone(), name.clone())).cloned().unwrap_or(ValueType::String);
                own.attributes.push(Attribute { optional: true, ..Attribute::new(&name, kind) });
                own.numbers = Default::default();
            }
            let actions = group
                .write
                .actions
                .iter_mut()
                .filter(|action| action.entity == entity && action.verb == Verb::Update);
            actions.for_each(|action| action.set.push(name.clone()));
        }
        self.draft.model.lookup = Default::default();
    }
}

fn entity_write<'m>(entity: &'m Entity, write: &Written) -> EntityWrite<'m> {
    let change = match &write.change {
        Change::Put(_) => ItemChange::Put,
        Change::Update(changed) => ItemChange::Update(changed.iter().map(|(name, _)| name.clone()).collect()),
        Change::Delete => ItemChange::Delete,
    };
    EntityWrite { entity, attributes: write.attributes.clone(), change }
}

impl WriteGroup {
    /// Adds an action; several on one entity are one on many items.
    fn add(&mut self, model: &Model, entity: &Entity, write: &Written) {
        let creates = |condition: &Option<crate::model::expression::ConditionExpression>| {
            let mut keys = model.table.keys.iter();
            condition.as_ref().is_some_and(|condition| keys.any(|key| condition.requires_absence(key)))
        };
        let verb = match &write.change {
            Change::Put(condition) if creates(condition) => Verb::Create,
            Change::Put(_) => Verb::Put,
            Change::Update(_) => Verb::Update,
            Change::Delete => Verb::Delete,
        };
        let mut action = Action::new(verb, &entity.name);
        if let Change::Update(changed) = &write.change {
            for (name, value) in changed {
                let is_key = model.indexes.iter().flat_map(|index| &index.keys).any(|key| key == name);
                if entity.attribute(name).is_some() {
                    action.set.push(name.clone());
                } else if !is_key {
                    self.new.insert((entity.name.clone(), name.clone()), value.as_ref().map(kind));
                }
            }
            action.set.sort();
            action.set.dedup();
        }
        let same = |other: &&mut Action| other.verb == action.verb && other.entity == action.entity;
        match self.write.actions.iter_mut().find(same) {
            Some(other) => {
                other.many = true;
                other.set.extend(action.set);
                other.set.sort();
                other.set.dedup();
            }
            None => self.write.actions.push(action),
        }
    }
}

fn kind(value: &Value) -> ValueType {
    match value {
        Value::Number(text) if text.contains(['.', 'e', 'E']) => ValueType::Decimal,
        Value::Number(_) => ValueType::Int,
        Value::Bool(_) => ValueType::Bool,
        Value::Binary(_) => ValueType::Binary,
        Value::List(_) => ValueType::List,
        Value::Map(_) => ValueType::Map,
        Value::StringSet(_) | Value::NumberSet(_) | Value::BinarySet(_) => ValueType::Set,
        _ => ValueType::String,
    }
}

/// `createOrderAndUpdateUser`.
fn name(actions: &[Action]) -> String {
    let one = |action: &Action| format!("{}{}", action.verb.name(), upper_first(&action.entity));
    let (first, rest) = actions.split_first().map(|(first, rest)| (one(first), rest)).unwrap_or_default();
    rest.iter().fold(first, |name, action| format!("{name}And{}", upper_first(&one(action))))
}
