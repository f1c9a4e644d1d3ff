//! The aggregates of generated items.

use super::{DEPTH, Generator, typed_item};
use crate::audit::aggregates::{Amount, Identity, Total, has_own_identity, identity};
use crate::item::{Attributes, Item};
use crate::model::{Entity, Model};
use std::collections::HashMap;

/// By entity and identity of the item, the name of the aggregate, and the number of the item where several parts have the identity.
pub type Aggregates = HashMap<(String, Identity, String, Option<u64>), Total>;

/// The numbers of the items that are the parts of one thing, by its identity.
type Parts = HashMap<Identity, Vec<u64>>;

impl Generator<'_> {
    /// Whether an attribute is an aggregate, of the entity or of what it copies: it is counted, not drawn.
    pub(super) fn is_aggregate(&self, entity: &Entity, name: &str) -> bool {
        let has = |entity: &Entity| entity.aggregates.iter().any(|aggregate| aggregate.name == name);
        has(entity) || self.original_of(entity, 0).is_some_and(|(original, _)| has(original))
    }

    /// Adds the aggregates of an item to its attributes; a copy has those of its original.
    pub(super) fn add_aggregates(&self, entity: &Entity, number: u64, values: &mut Attributes) {
        if let Some((original, number)) = self.original_of(entity, number) {
            let mut counted = self.values(original, number, DEPTH);
            self.add_aggregates(original, number, &mut counted);
            counted.retain(|name, _| entity.attribute(name).is_some() && self.is_aggregate(original, name));
            values.extend(counted);
        }
        if entity.aggregates.is_empty() {
            return;
        }
        let Some(own) = identity(entity, entity, &Item::new(), values) else { return };
        let all = self.aggregates.get_or_init(|| self.all_aggregates(self.model));
        let part = (!has_own_identity(entity)).then_some(number);
        for aggregate in &entity.aggregates {
            let total = all.get(&(entity.name.clone(), own.clone(), aggregate.name.clone(), part));
            let none = aggregate.function.is_additive().then(|| "0".to_owned());
            if let Some(value) = total.and_then(Total::value).map(Amount::to_string).or(none) {
                values.insert(aggregate.name.clone(), value);
            }
        }
    }

    fn all_aggregates(&self, model: &Model) -> Aggregates {
        let mut all = Aggregates::new();
        for parent in model.entities.iter().filter(|entity| !entity.aggregates.is_empty()) {
            let parts = self.parts(parent);
            for aggregate in &parent.aggregates {
                let Some(child) = model.entity(&aggregate.of) else { continue };
                for number in self.numbers(child) {
                    let values = self.values(child, number, DEPTH);
                    let item = typed_item(child, &values);
                    let amount = aggregate.contribution(child, &item, &values);
                    if let Some((amount, owner)) = amount.zip(identity(parent, child, &item, &values)) {
                        // The parts count in turn.
                        let parts = parts.get(&owner).map_or(&[][..], Vec::as_slice);
                        let turn = number.checked_rem(parts.len() as u64);
                        let part = turn.and_then(|turn| parts.get(turn as usize)).copied();
                        let key = (parent.name.clone(), owner, aggregate.name.clone(), part);
                        all.entry(key).or_default().add(aggregate, amount);
                    }
                }
            }
        }
        all
    }

    /// The parts of each item of an entity, if several may have one identity.
    fn parts(&self, entity: &Entity) -> Parts {
        let mut parts = Parts::new();
        if has_own_identity(entity) {
            return parts;
        }
        for number in self.numbers(entity) {
            let values = self.values(entity, number, DEPTH);
            if let Some(own) = identity(entity, entity, &Item::new(), &values) {
                parts.entry(own).or_default().push(number);
            }
        }
        parts
    }
}
