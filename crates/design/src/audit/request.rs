//! The writes of one request taken together: copies must be written with their originals, unique values with their markers.

use super::{MARKER, Violation, marker, violation};
use crate::item::Attributes;
use crate::model::{Entity, Model};
use crate::template::SHARD;
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

/// How the writes of a request are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteGrouping {
    /// A single write.
    Single,
    /// A batch, which is not atomic.
    Batch,
    /// A transaction.
    Transaction,
}

/// Checks the writes of one request together: copies must be written with their originals, and unique values with their
/// markers. `keys` are the partition keys of everything that the request writes, markers included.
pub fn check_request(
    model: &Model,
    written: &[EntityWrite<'_>],
    keys: &[String],
    grouping: WriteGrouping,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for write in written {
        for copy in model.copies_of(&write.entity.name).filter(|copy| write.concerns(copy)) {
            if !write.has_copy(copy, written, grouping) {
                let how = if grouping == WriteGrouping::Batch { "batch" } else { "transaction" };
                let (original, copy) = (&write.entity.name, &copy.name);
                let message = format!("{original} is written without its copy {copy} in one {how}");
                violations.push(violation("copy", message));
            }
        }
        for name in write
            .entity
            .unique
            .iter()
            .filter(|name| write.touches(name) && !write.is_marked(name, keys, grouping))
        {
            let entity = &write.entity.name;
            let message = format!(
                "{name} of {entity} is unique, which requires a transaction with a marker item ({})",
                marker(write.entity, name, write.attributes.get(name).map_or("…", String::as_str))
            );
            violations.push(violation("unique", message));
        }
    }
    violations
}

impl EntityWrite<'_> {
    fn touches(&self, name: &str) -> bool {
        match &self.change {
            ItemChange::Put | ItemChange::Delete => true,
            ItemChange::Update(names) => names.contains(name),
        }
    }

    fn concerns(&self, copy: &Entity) -> bool {
        copy.attributes.iter().any(|attribute| self.touches(&attribute.name))
    }

    fn has_copy(&self, copy: &Entity, written: &[EntityWrite<'_>], grouping: WriteGrouping) -> bool {
        let mut copies = written.iter().filter(|other| other.entity.name == copy.name);
        match grouping {
            WriteGrouping::Single => false,
            WriteGrouping::Transaction => copies.next().is_some(),
            // A copy with an identity of its own is of the newest of several versions: not every original has one.
            WriteGrouping::Batch if !copy.identity.is_empty() => true,
            WriteGrouping::Batch => {
                copies.any(|other| same_identity(self.entity, &self.attributes, &other.attributes))
            }
        }
    }

    /// Returns whether another item of the request has the value in its key, or the value is not known.
    fn is_marked(&self, name: &str, keys: &[String], grouping: WriteGrouping) -> bool {
        match (grouping, self.attributes.get(name).filter(|_| self.change == ItemChange::Put)) {
            (WriteGrouping::Single, _) => false,
            (WriteGrouping::Transaction, None) => true,
            (WriteGrouping::Batch, None) => keys.iter().any(|key| key.starts_with(MARKER)),
            (_, Some(value)) => keys.iter().any(|key| key.contains(value.as_str())),
        }
    }
}

/// Returns whether two items agree in the attributes that identify the original.
fn same_identity(original: &Entity, left: &Attributes, right: &Attributes) -> bool {
    let by: Vec<&str> = match original.identity() {
        Some(id) => vec![id],
        None => original.key_fields().filter(|name| *name != SHARD).collect(),
    };
    by.iter().all(|name| left.get(*name) == right.get(*name))
}
