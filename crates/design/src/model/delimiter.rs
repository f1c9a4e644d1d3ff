//! The delimiter between the parts of a model's keys.

use super::{Entity, Model};
use crate::template::{DELIMITER, Template};
use std::collections::{BTreeMap, BTreeSet};

impl Model {
    /// Returns the character that most often ends a field of a key, or the word before one. Where a word has several, as in `#state_{state}`,
    /// it is the one that ends fields.
    pub fn usual_delimiter(&self) -> Option<char> {
        let mut ends: BTreeSet<char> =
            self.entities.iter().flat_map(templates).flat_map(Template::field_ends).collect();
        ends.insert(DELIMITER);
        let mut counts: BTreeMap<char, usize> = BTreeMap::new();
        for template in self.entities.iter().flat_map(templates) {
            let before = template.words_before_fields().filter_map(|word| {
                word.chars().rev().find(|mark| ends.contains(mark)).or_else(|| word.chars().last())
            });
            for mark in template.field_ends().chain(before).filter(|mark| !mark.is_alphanumeric()) {
                *counts.entry(mark).or_default() += 1;
            }
        }
        counts.into_iter().max_by_key(|(mark, count)| (*count, *mark == DELIMITER)).map(|(mark, _)| mark)
    }
}

fn templates(entity: &Entity) -> impl Iterator<Item = &Template> {
    entity.indexes.iter().flat_map(|index_key| &index_key.key).chain(&entity.key)
}
