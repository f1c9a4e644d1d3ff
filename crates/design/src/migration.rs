//! Migrates items from one model to another: what an item becomes, and what must be written with it.
//!
//! Entities and attributes correspond by name, or by `was` where the newer of the two models renames them ([`Transition`]). The
//! entity of an item is recognised by its keys; its attributes are its own and those contained in its old keys, and the new keys
//! are filled from these ([`image`]). Markers of unique values and copies are made from the items that they belong to.
//! Migration is idempotent: an item in its new form is its own image.

mod belongings;
mod companions;
pub mod contents;
mod conversion;
pub mod image;
mod judge;
mod lineage;
mod normal_form;
pub mod recount;
mod storable;
mod values;

pub use image::{Companion, Image, NewItem, key_of};
pub use normal_form::{is_same, is_same_value};

use crate::formatting::list;
use crate::item::Attributes;
use crate::model::condition::Condition;
use crate::model::{Attribute, Entity, Model};

/// Two models: how items are, and how they will be.
#[derive(Clone, Copy, Debug)]
pub struct Transition<'m> {
    /// The model that the items follow.
    pub old: &'m Model,
    /// The model that they will follow.
    pub new: &'m Model,
}

impl<'m> Transition<'m> {
    /// Returns what an item of the old model with these values is in the new one; `None` if that has no such entity. Renames are read in both
    /// directions, for the way back.
    ///
    /// # Errors
    ///
    /// Returns why the models do not say which of several entities it is.
    pub fn successor(&self, before: &Entity, values: &Attributes) -> Result<Option<&'m Entity>, String> {
        if let Some(same) = self.new.entity(&before.name) {
            return Ok(Some(same));
        }
        let found = self.successors(before);
        let names: Vec<String> = found.iter().map(|(after, _)| after.name.clone()).collect();
        let mut fitting = found.iter().filter(|(_, filter)| filter.holds(values)).map(|(after, _)| *after);
        match (fitting.next(), fitting.next()) {
            (None, _) if found.is_empty() => Ok(None),
            (Some(after), None) => Ok(Some(after)),
            (first, _) => {
                let (names, number) = (list(&names), if first.is_some() { "several" } else { "none" });
                let example = "`was = \"Pet where kind == 'CAT'\"`";
                Err(format!(
                    "{} becomes {names}, and {number} of their conditions holds: say which, as in {example}",
                    before.name
                ))
            }
        }
    }

    /// The entities of the new model that an entity becomes which that does not have by its name, each with its condition.
    fn successors<'a>(&self, before: &'a Entity) -> Vec<(&'m Entity, &'a Condition)>
    where
        'm: 'a,
    {
        let mut found: Vec<(&'m Entity, &'a Condition)> = Vec::new();
        for after in &self.new.entities {
            let own = after.was.iter().filter(|was| was.name == before.name);
            found.extend(own.map(|was| (after, &was.filter)));
        }
        if found.is_empty() {
            let former = before.was.iter().filter_map(|was| Some((self.new.entity(&was.name)?, &was.filter)));
            found.extend(former);
        }
        found
    }

    /// Returns what an entity of the new model was in the old one; the first if it was several.
    pub fn predecessor(&self, after: &Entity) -> Option<&'m Entity> {
        self.predecessors(after).first().copied()
    }

    /// Returns what an entity of the new model was in the old one: several if they are merged.
    pub fn predecessors(&self, after: &Entity) -> Vec<&'m Entity> {
        if let Some(same) = self.old.entity(&after.name) {
            return vec![same];
        }
        let named: Vec<&Entity> = after.was.iter().filter_map(|was| self.old.entity(&was.name)).collect();
        if !named.is_empty() {
            return named;
        }
        let is_former = |other: &&Entity| other.was.iter().any(|was| was.name == after.name);
        self.old.entities.iter().find(is_former).into_iter().collect()
    }
}

/// The name that an attribute of the new entity has in the old one; `None` if it is new. What `was` names comes before an attribute of the same
/// name, which is another one if the old entity has both.
pub(crate) fn old_name<'a>(before: &'a Entity, after: &Entity, attribute: &'a Attribute) -> Option<&'a str> {
    let was = attribute.origin.was.as_deref();
    if let Some(was) = was.filter(|was| before.attribute(was).is_some()) {
        return Some(was);
    }
    if before.attribute(&attribute.name).is_some() {
        return Some(&attribute.name);
    }
    let renamed_back = || {
        let is_own = |other: &&Attribute| other.origin.was.as_deref() == Some(&attribute.name);
        let mut renamed = before.attributes.iter().filter(is_own);
        renamed.find(|other| after.attribute(&other.name).is_none()).map(|other| other.name.as_str())
    };
    was.or_else(renamed_back)
}
