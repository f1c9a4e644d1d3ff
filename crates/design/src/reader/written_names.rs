//! The names in writes and aggregates: what an expression changes, and which attributes hold aggregates.

use super::references::Names;
use crate::finding::{Finding, Severity};
use crate::model::condition::Condition;
use crate::model::value_type::ValueType;
use crate::model::{Action, Aggregate, Attribute, Entity, Function, Model, Verb, Write};
use std::collections::HashMap;

/// Adds the attributes of the entity that its expression changes to what an update sets.
pub fn complete(action: &mut Action, model: &Model) {
    let (Some(expression), Some(entity)) =
        (&action.expression, model.entities.iter().find(|entity| entity.name == action.entity))
    else {
        return;
    };
    for name in expression.touched() {
        if entity.attribute(name).is_some() && !action.set.iter().any(|set| set == name) {
            action.set.push(name.to_owned());
        }
    }
}

/// Declares the attributes that hold aggregates, where the model does not. They are absent until there is something to aggregate.
pub fn add_aggregates(model: &mut Model) {
    let mut kinds: HashMap<(String, String), ValueType> = HashMap::new();
    let wanted = |entity: &Entity| -> Vec<(String, String)> {
        entity
            .aggregates
            .iter()
            .map(|aggregate| (aggregate.of.clone(), aggregate.attribute.clone()))
            .collect()
    };
    let wanted: std::collections::HashSet<(String, String)> =
        model.entities.iter().flat_map(wanted).collect();
    for entity in model.entities.iter().filter(|_| !wanted.is_empty()) {
        for attribute in &entity.attributes {
            let key = (entity.name.clone(), attribute.name.clone());
            if wanted.contains(&key) {
                kinds.insert(key, attribute.kind.clone());
            }
        }
    }
    for number in 0..model.entities.len() {
        let filters: Vec<Condition> = model.entities[number]
            .aggregates
            .iter()
            .map(|aggregate| typed_filter(model, aggregate))
            .collect();
        let own = model.entities[number].aggregates.iter_mut();
        own.zip(filters).for_each(|(aggregate, filter)| aggregate.filter = filter);
    }
    for entity in &mut model.entities {
        for aggregate in &entity.aggregates {
            if entity.attributes.iter().any(|attribute| attribute.name == aggregate.name) {
                continue;
            }
            let kind = match aggregate.function {
                Function::Count => Some(ValueType::Int),
                _ => kinds.get(&(aggregate.of.clone(), aggregate.attribute.clone())).cloned(),
            };
            let kind = kind.unwrap_or(ValueType::Decimal);
            entity.attributes.push(Attribute { optional: true, ..Attribute::new(&aggregate.name, kind) });
        }
    }
}

/// The condition of an aggregate with constants of the types of the attributes.
fn typed_filter(model: &Model, aggregate: &Aggregate) -> Condition {
    let child = model.entities.iter().find(|entity| entity.name == aggregate.of);
    child.map_or_else(|| aggregate.filter.clone(), |child| aggregate.filter.typed(child))
}

impl Names<'_> {
    pub(super) fn write(&mut self, write: &Write) {
        let model = self.model;
        let subject = write.subject();
        for action in &write.actions {
            if !self.known_entity(&subject, &write.span, &action.entity) {
                continue;
            }
            let Some(entity) = model.entity(&action.entity) else { continue };
            for name in &action.set {
                self.attribute(entity, &subject, &write.span, name);
            }
            let changed = action.expression.iter().flat_map(|expression| expression.touched());
            let tested = action.condition.iter().flat_map(|condition| condition.attributes());
            for name in changed.chain(tested).filter(|name| !is_generated(model, name)) {
                self.attribute(entity, &subject, &write.span, name);
            }
        }
        for marker in &write.markers {
            let stays = |entity: &Entity| marker.verb == Verb::Update && entity.ttl.is_none();
            if model.entity(&marker.entity).is_some_and(stays) {
                let message = format!("markers of {} have nothing to update: it has no ttl", marker.entity);
                self.findings.push(
                    Finding::new("P002", Severity::Error, &subject, &write.span)
                        .with_message(message)
                        .with_help("delete the marker of the old value, and create that of the new one"),
                );
            }
            let unique =
                model.entity(&marker.entity).is_some_and(|entity| entity.unique.contains(&marker.unique));
            if self.known_entity(&subject, &write.span, &marker.entity) && !unique {
                let names = marker.unique.join(", ");
                self.findings.push(
                    Finding::new("P003", Severity::Error, &subject, &write.span)
                        .with_message(format!("{names} of {} is not declared as unique", marker.entity))
                        .with_help(format!("add it to `unique` of [entity.{}]", marker.entity)),
                );
            }
        }
    }

    /// An aggregate needs an entity whose items name their parent.
    pub(super) fn aggregates(&mut self, entity: &Entity) {
        let model = self.model;
        let subject = entity.subject();
        for aggregate in &entity.aggregates {
            if !self.known_entity(&subject, &aggregate.span, &aggregate.of) {
                continue;
            }
            let Some(child) = model.entity(&aggregate.of) else { continue };
            let named = Some(aggregate.attribute.as_str()).filter(|name| !name.is_empty());
            let tested = aggregate.filter.attributes();
            for name in named.into_iter().chain(tested) {
                self.attribute(child, &subject, &aggregate.span, name);
            }
            let own = entity.identifying();
            let missing: Vec<&str> =
                own.iter().copied().filter(|name| child.attribute(name).is_none()).collect();
            if own.is_empty() || !missing.is_empty() {
                self.findings.push(
                    Finding::new("P003", Severity::Error, &subject, &aggregate.span)
                        .with_message(format!(
                            "{} does not say which {} it belongs to: it has no {}",
                            child.name,
                            entity.name,
                            missing.join(", ")
                        ))
                        .with_help(format!("add the attribute to [entity.{}]", child.name)),
                );
            }
            let summed = named.and_then(|name| child.attribute(name));
            if aggregate.function == Function::Sum
                && summed.is_some_and(|attribute| !attribute.kind.is_number())
            {
                self.findings.push(
                    Finding::new("P003", Severity::Error, &subject, &aggregate.span)
                        .with_message(format!("{} of {} is not a number", aggregate.attribute, child.name))
                        .with_help("sum an attribute of type int or decimal"),
                );
            }
        }
    }
}

/// Whether the table or an index has a key attribute of this name, or it is the type attribute.
fn is_generated(model: &Model, name: &str) -> bool {
    model.table.keys.iter().chain(&model.table.type_attribute).any(|key| key == name)
        || model.indexes.iter().flat_map(|index| &index.keys).any(|key| key == name)
}
