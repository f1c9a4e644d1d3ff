//! What identifies the items of an entity.

use super::{Attribute, Entity};
use crate::model::each_once::each_once;

impl Entity {
    /// Returns the single attribute that identifies an item: declared, named after the entity, or `id`.
    pub fn identity(&self) -> Option<&str> {
        if let [one] = self.identity.as_slice() {
            return Some(one);
        }
        if !self.identity.is_empty() || !self.edge.is_empty() {
            return None;
        }
        self.own_id()
    }

    /// Returns the attribute that is named after the entity or after what it was called before, or `id`.
    fn own_id(&self) -> Option<&str> {
        let former = match self.was.as_slice() {
            [one] => Some(&one.name),
            _ => None,
        };
        std::iter::once(&self.name).chain(former).find_map(|name| self.id_named_after(name))
    }

    /// Returns whether an attribute called `id` identifies an item: others refer to an account's by `accountId`.
    pub fn is_identified_by_id(&self) -> bool {
        self.identity().is_some_and(|name| name.trim_matches(['_', '-']).eq_ignore_ascii_case("id"))
    }

    fn id_named_after(&self, entity: &str) -> Option<&str> {
        let own = || lower_letters(entity).chain("id".chars());
        // Letter by letter: this is asked for every attribute of every item that is generated.
        let named = |attribute: &&Attribute| {
            let name = || lower_letters(&attribute.name).filter(|letter| !['_', '-'].contains(letter));
            name().eq(own()) || name().eq("id".chars())
        };
        self.attributes.iter().find(named).map(|attribute| attribute.name.as_str())
    }

    /// Declares the fields of the key as the identity, if what seems to identify an item is not among them.
    pub(crate) fn identify_by_key(&mut self) {
        if self.identity().is_some_and(|id| !self.has_key_field(id)) {
            self.identity = each_once(self.key_fields()).map(str::to_owned).collect();
        }
    }

    /// Returns the identifier in the key of a relationship that is neither of its ends.
    pub fn id_of_edge(&self) -> Option<&str> {
        let is_end = |name: &str| self.edge.iter().any(|end| end == name);
        let id = self.own_id().filter(|_| !self.edge.is_empty() && self.identity.is_empty())?;
        (self.has_key_field(id) && !is_end(id)).then_some(id)
    }
}

fn lower_letters(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().flat_map(char::to_lowercase)
}
