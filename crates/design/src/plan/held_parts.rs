//! What a key condition fixes. A text that may contain what follows it in the key can continue behind the end of a prefix, or change places with another
//! one.

use super::SortCondition;
use crate::keys::key_mapping::KeyMapping;
use crate::model::Entity;
use crate::template::{Format, Part, Template};

/// The parts of an entity's keys that a key condition gives.
pub(super) struct HeldParts<'m> {
    entity: &'m Entity,
    /// Each with whether an item with another value can meet the condition all the same.
    parts: Vec<(Part, bool)>,
}

impl<'m> HeldParts<'m> {
    /// Where there is no key condition.
    pub fn none(entity: &'m Entity) -> HeldParts<'m> {
        HeldParts { entity, parts: Vec::new() }
    }

    pub fn new(mapping: &KeyMapping<'m>, prefix: &Template, sort: &SortCondition) -> HeldParts<'m> {
        let mut held = HeldParts { entity: mapping.entity, parts: Vec::new() };
        mapping.partition.attributes().iter().for_each(|whole| held.add(whole, whole, false));
        let wholes = mapping.sort.as_ref().map(Template::attributes).unwrap_or_default();
        let known = prefix.attributes();
        let is_open = !matches!(sort, SortCondition::Equals(_));
        for (number, (start, whole)) in known.iter().zip(&wholes).enumerate() {
            held.add(start, whole, is_open && number + 1 == known.len());
        }
        held
    }

    /// Adds the known start of a key attribute, or all of it; with `is_open`, whatever follows is in the answer.
    fn add(&mut self, start: &Template, whole: &Template, is_open: bool) {
        let clear = start.clear_parts(whole, self.entity, is_open);
        let parts = start.parts.iter().enumerate().map(|(number, part)| (part.clone(), number >= clear));
        self.parts.extend(parts);
    }

    /// Returns whether only items with the given value of an attribute meet the condition.
    pub fn is_exact(&self, name: &str) -> bool {
        self.parts.iter().any(|(part, is_unclear)| !is_unclear && part.holds_whole(name, self.entity))
    }

    /// Returns whether items with another value meet it only if a text contains what follows it in the key or differs in case.
    pub fn is_nearly_exact(&self, name: &str) -> bool {
        self.parts.iter().any(|(part, _)| {
            let is_lower = matches!(part, Part::Field { name: own, format: Format::Lower } if own == name);
            is_lower || part.holds_whole(name, self.entity)
        })
    }
}
