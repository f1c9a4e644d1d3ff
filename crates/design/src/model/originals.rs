//! Copies and their originals.

use super::{Entity, Model};

impl Model {
    /// Returns the entity whose newest version this one is a copy of.
    pub fn versioned_original(&self, copy: &Entity) -> Option<&Entity> {
        let original = copy.copies.as_deref().and_then(|name| self.entity(name));
        original.filter(|original| original.versions.is_some() && (copy.latest || !copy.identity.is_empty()))
    }

    /// Returns whether a copy has another identity than its original, versions aside: it exists for some originals only.
    pub fn has_own_identity(&self, copy: &Entity) -> bool {
        let original = copy.copies.as_deref().and_then(|name| self.entity(name));
        let is_same = |original: &Entity| {
            let is_named_alike = copy.identity().is_some() && copy.identity() == original.identity();
            original.versions.is_none() && (is_named_alike || copy.identity == original.identity)
        };
        !copy.identity.is_empty() && !original.is_some_and(is_same)
    }
}
