//! What a key condition fixes. A text that may contain the delimiter can continue behind the end of a prefix, or change places with another one.

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
    pub fn new(mapping: &KeyMapping<'m>, prefix: &Template, sort: &SortCondition) -> HeldParts<'m> {
        let mut held = HeldParts { entity: mapping.entity, parts: Vec::new() };
        mapping.partition.attributes().into_iter().for_each(|whole| held.add(whole, false));
        let mut sorts = prefix.attributes();
        let is_open = !matches!(sort, SortCondition::Equals(_));
        let last = sorts.pop();
        sorts.into_iter().for_each(|whole| held.add(whole, false));
        last.into_iter().for_each(|start| held.add(start, is_open));
        held
    }

    /// Adds a key attribute, or the known start of one.
    fn add(&mut self, template: Template, is_start: bool) {
        let unclear = match is_start {
            true => template.free_fields(self.entity),
            false => template.forgeable_fields(self.entity),
        };
        let is_unclear = |part: &Part| matches!(part, Part::Field { name, .. } if unclear.contains(name));
        self.parts.extend(template.parts.into_iter().map(|part| {
            let is_unclear = is_unclear(&part);
            (part, is_unclear)
        }));
    }

    /// Returns whether only items with the given value of an attribute meet the condition.
    pub fn is_exact(&self, name: &str) -> bool {
        self.parts.iter().any(|(part, is_unclear)| !is_unclear && part.holds_whole(name, self.entity))
    }

    /// Returns whether items with another value meet it only if a text contains the delimiter or differs in case.
    pub fn is_nearly_exact(&self, name: &str) -> bool {
        self.parts.iter().any(|(part, _)| {
            let is_lower = matches!(part, Part::Field { name: own, format: Format::Lower } if own == name);
            is_lower || part.holds_whole(name, self.entity)
        })
    }
}
