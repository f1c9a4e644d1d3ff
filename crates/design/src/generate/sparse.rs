//! Sparse indexes: as many items meet their conditions as the model expects.

use super::Generator;
use super::values::plain_value;
use crate::item::Attributes;
use crate::keys::key_mapping::membership;
use crate::model::condition::Condition;
use crate::model::{Attribute, Entity, IndexKey, Model};
use crate::random::{at, hash};
use std::collections::BTreeMap;

/// How many items of an entity are in a sparse index at least, so that its patterns find something.
const FEW: u64 = 3;
/// How often values are drawn until they are as wanted.
const MAX_DRAWS: u64 = 64;

/// A sparse index whose number of items the model declares.
pub(super) struct SparseIndex {
    /// How many of the generated items are in it.
    pub count: u64,
    /// What they meet: the declared condition, and that they have the attributes of the key.
    condition: Condition,
}

/// Sparse indexes, by entity and index.
pub(super) type SparseIndexes = BTreeMap<(String, String), SparseIndex>;

/// Returns the sparse indexes whose numbers of items are declared, if `seeded` of the `expected` items of each entity are generated.
pub(super) fn sparse_indexes(
    model: &Model,
    seeded: &BTreeMap<String, u64>,
    expected: &[f64],
) -> SparseIndexes {
    let mut indexes = SparseIndexes::new();
    for (entity, expected) in model.entities.iter().zip(expected) {
        let items = seeded.get(&entity.name).copied().unwrap_or_default();
        for own in &entity.indexes {
            let condition = membership(entity, own);
            let Some(declared) = own.count.filter(|_| !condition.is_empty()) else { continue };
            let share = (declared as f64 / expected.max(1.0)).min(1.0);
            let wanted = ((items as f64 * share).round() as u64).max(FEW.min(declared)).min(items);
            let sparse = SparseIndex { count: wanted, condition };
            indexes.insert((entity.name.clone(), own.index.clone()), sparse);
        }
    }
    indexes
}

impl Generator<'_> {
    /// Draws values again until an item is in just those sparse indexes in which it should be.
    pub(super) fn meet_conditions(
        &self,
        entity: &Entity,
        number: u64,
        drawn: &[&Attribute],
        values: &mut Attributes,
    ) {
        let wanted = |own| self.wanted(entity, own, number);
        let sparse: Vec<(&Condition, bool)> = entity.indexes.iter().filter_map(wanted).collect();
        let mentioned = |attribute: &&&Attribute| {
            sparse.iter().any(|(condition, _)| condition.mentions(&attribute.name))
                && self.is_free(entity, attribute)
        };
        let mentioned: Vec<&Attribute> = drawn.iter().filter(mentioned).copied().collect();
        let before = values.clone();
        for turn in 0..MAX_DRAWS {
            if mentioned.is_empty()
                || sparse.iter().all(|(condition, is_wanted)| condition.holds(values) == *is_wanted)
            {
                return;
            }
            for attribute in &mentioned {
                let drawn = at(self.seed.wrapping_add(turn), &format!("again {}", attribute.name), number);
                if attribute.optional && drawn.is_multiple_of(2) {
                    values.remove(&attribute.name);
                } else {
                    values.insert(
                        attribute.name.clone(),
                        self.fitting(attribute, plain_value(attribute, drawn / 2, number)),
                    );
                }
            }
        }
        *values = before;
    }

    /// The condition of a sparse index, and whether an item should meet it; `None` if the model does not say how many do. Those that should are
    /// spread evenly.
    fn wanted(&self, entity: &Entity, own: &IndexKey, number: u64) -> Option<(&Condition, bool)> {
        let SparseIndex { count, condition } = self.sparse.get(&(entity.name.clone(), own.index.clone()))?;
        let items = self.numbered(entity).max(1);
        let start = hash(&own.index) % items;
        let before =
            |number: u64| (u128::from(number) * u128::from(*count) + u128::from(start)) / u128::from(items);
        Some((condition, before(number + 1) > before(number)))
    }

    /// Whether nothing depends on the value of an attribute that was drawn.
    fn is_free(&self, entity: &Entity, attribute: &Attribute) -> bool {
        let name = attribute.name.as_str();
        let is_foreign = self.model.owner_of(name).is_some_and(|owner| owner.name != entity.name);
        let is_known =
            entity.has_key_field(name) || entity.has_unique(name) || entity.identity() == Some(name);
        !is_foreign && !is_known && entity.versions.as_deref() != Some(name)
    }
}
