//! Whether an entity can answer a pattern at all: it must have the attributes that the pattern knows, tests, bounds and orders by. Nothing
//! that a pattern asks for is left out in silence.

use super::{Obstacle, Planner, Unserved};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Entity, Model, Pattern, Target};
use crate::template::Template;

/// Returns the entity from which an input is taken to follow, since another input names it: who knows the order knows its user.
pub fn implied_by<'m>(
    model: &'m Model,
    pattern: &Pattern,
    input: &str,
    entity: &Entity,
) -> Option<&'m Entity> {
    let known = pattern.inputs.iter().filter(|other| entity.attribute(other).is_some());
    known.filter_map(|other| model.owner_of(other)).find(|owner| owner.attribute(input).is_some())
}

impl<'m> Planner<'_, 'm> {
    /// Checks that what the pattern asks for concerns an entity.
    pub(super) fn answerable(&self, target: &Target, entity: &'m Entity) -> Result<(), Unserved<'m>> {
        let inputs: Vec<String> = self
            .pattern
            .inputs
            .iter()
            .filter(|input| !self.restricts(input, target, entity))
            .cloned()
            .collect();
        let obstacle =
            if inputs.is_empty() { self.lacking(target, entity) } else { Some(Obstacle::Foreign { inputs }) };
        match obstacle {
            None => Ok(()),
            Some(obstacle) => Err(Unserved { location: TableOrIndex { index: None }, entity, obstacle }),
        }
    }

    /// Returns whether an input selects items of an entity, or follows from another input that does: who knows the order knows its user.
    fn restricts(&self, input: &str, target: &Target, entity: &Entity) -> bool {
        let has = |entity: &Entity, name: &str| entity.attribute(name).is_some();
        let is_only_one = !target.many && entity.key.iter().all(Template::is_constant);
        has(entity, input)
            || implied_by(self.model, self.pattern, input, entity).is_some()
            || is_only_one
            || self.narrows_another(input, target, entity)
    }

    /// Returns whether an input is about a list beside a single item, which the other inputs identify.
    fn narrows_another(&self, input: &str, target: &Target, entity: &Entity) -> bool {
        let is_known = |name: &str| self.pattern.inputs.iter().any(|input| input == name);
        let is_identified = entity.key_fields().all(is_known) || entity.is_unique_by(is_known);
        let mut lists = self.pattern.targets.iter().filter(|other| other.many);
        !target.many && is_identified && lists.any(|list| self.entity(list).attribute(input).is_some())
    }

    /// A list must have the attributes that it is tested, bounded and ordered by; a single item beside a list need not.
    fn lacking(&self, target: &Target, entity: &Entity) -> Option<Obstacle> {
        if !target.many {
            return None;
        }
        let lacks = |name: &str| entity.attribute(name).is_none();
        let tested = self.pattern.filter.attributes();
        let tests = tested.into_iter().map(|name| (name, "tested by"));
        let range = self.pattern.range.iter().map(|range| (range.by.as_str(), "bounded by"));
        let lists = self.pattern.targets.iter().filter(|target| target.many).count();
        // Several lists can be merged by an attribute that each calls differently.
        let order =
            self.pattern.order.iter().filter(|_| lists == 1).map(|order| (order.by.as_str(), "ordered by"));
        let (attribute, purpose) = tests.chain(range).chain(order).find(|(name, _)| lacks(name))?;
        Some(Obstacle::Lacking { attribute: attribute.to_owned(), purpose })
    }
}
