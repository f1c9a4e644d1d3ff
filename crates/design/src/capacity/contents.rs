//! What the table or an index holds: its items or entries and their bytes.

use crate::capacity::basis::Estimate;
use crate::capacity::{estimate, size};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::Model;

/// What the table or an index holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contents {
    /// The number of items or entries.
    pub items: Estimate,
    /// Their bytes, as reads count them.
    pub bytes: Estimate,
}

impl Contents {
    fn add(&mut self, items: Estimate, each: Estimate) {
        self.items = self.items + items;
        self.bytes = self.bytes + items * each;
    }

    /// Returns the bytes with what the storage of every item and index entry is billed in addition.
    pub fn stored(&self) -> Estimate {
        self.bytes + self.items * Estimate::derived(size::STORAGE_OVERHEAD)
    }
}

/// Returns what the table or an index holds: in the table, also the items that keep values unique, one for each item and each of its uniqueness rules.
pub fn contents(model: &Model, location: TableOrIndex<'_>) -> Contents {
    let mut contents = Contents::default();
    for mapping in location.mappings(model) {
        let items = estimate::items_at(model, &mapping, &[]).average();
        contents.add(items, size::entry(model, &mapping));
    }
    if location.index.is_none() {
        for entity in &model.entities {
            size::markers(model, entity).for_each(|each| contents.add(estimate::total(model, entity), each));
        }
    }
    contents
}
