//! The aggregates of generated items.

use super::{DEPTH, Generator, typed_item};
use crate::audit::aggregates::{Amount, Identity, Total, identity};
use crate::item::{Attributes, Item};
use crate::model::{Entity, Model};
use std::collections::HashMap;

/// By entity and identity of the item, and the name of the aggregate.
pub type Aggregates = HashMap<(String, Identity, String), Total>;

impl Generator<'_> {
    /// Adds the aggregates of an item to its attributes.
    pub(super) fn add_aggregates(&self, entity: &Entity, values: &mut Attributes) {
        if entity.aggregates.is_empty() {
            return;
        }
        let Some(own) = identity(entity, entity, &Item::new(), values) else { return };
        let all = self.aggregates.get_or_init(|| self.all_aggregates(self.model));
        for aggregate in &entity.aggregates {
            let total = all.get(&(entity.name.clone(), own.clone(), aggregate.name.clone()));
            let none = aggregate.function.is_additive().then(|| "0".to_owned());
            if let Some(value) = total.and_then(Total::value).map(Amount::to_string).or(none) {
                values.insert(aggregate.name.clone(), value);
            }
        }
    }

    fn all_aggregates(&self, model: &Model) -> Aggregates {
        let mut all = Aggregates::new();
        for parent in &model.entities {
            for aggregate in &parent.aggregates {
                let Some(child) = model.entity(&aggregate.of) else { continue };
                for number in self.numbers(child) {
                    let values = self.values(child, number, DEPTH);
                    let item = typed_item(child, &values);
                    let amount = aggregate.contribution(child, &item, &values);
                    if let Some((amount, owner)) = amount.zip(identity(parent, child, &item, &values)) {
                        let key = (parent.name.clone(), owner, aggregate.name.clone());
                        all.entry(key).or_default().add(aggregate, amount);
                    }
                }
            }
        }
        all
    }
}
