//! The writes of a request as it describes them, which `attribution` compares with the declared writes.

use crate::item::Attributes;
use crate::model::Entity;
use std::collections::BTreeSet;

/// What a write does to an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemChange {
    /// Puts it.
    Put,
    /// Updates it; the attributes that it sets or removes.
    Update(BTreeSet<String>),
    /// Deletes it.
    Delete,
}

/// One write of a request, recognised as an entity.
#[derive(Clone, Debug)]
pub struct EntityWrite<'m> {
    /// The entity.
    pub entity: &'m Entity,
    /// The attributes of the item; those of its key for an update or a deletion.
    pub attributes: Attributes,
    /// What it does.
    pub change: ItemChange,
}
