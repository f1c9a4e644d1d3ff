//! The writes of one request taken together: copies must be written with their originals, unique values with their markers.

use super::{MARKER, Violation, marker, violation};
use crate::item::Attributes;
use crate::model::{Entity, Model};
use crate::template::SHARD;
use std::collections::BTreeSet;

/// What a write does to an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemChange {
    Put,
    /// The attributes that it sets or removes.
    Update(BTreeSet<String>),
    Delete,
}

/// One write of a request. Of an update or a deletion only the key is known.
#[derive(Clone, Debug)]
pub struct EntityWrite<'m> {
    pub entity: &'m Entity,
    pub attributes: Attributes,
    pub change: ItemChange,
}

/// How the writes of a request belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteGrouping {
    Single,
    Batch,
    Transaction,
}

/// The writes of one request, taken together: copies go with their originals, and what is unique goes with its marker.
/// `keys` are the partition keys of everything that the request writes, markers included.
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
                "{name} of {entity} is unique, which takes a transaction with a marker item ({})",
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
            // A copy with an identity of its own is of the newest of several: not every original has one.
            WriteGrouping::Batch if !copy.identity.is_empty() => true,
            WriteGrouping::Batch => {
                copies.any(|other| same_values(self.entity, &self.attributes, &other.attributes))
            }
        }
    }

    /// Another item of the request has the value in its key, or the value is not known.
    fn is_marked(&self, name: &str, keys: &[String], grouping: WriteGrouping) -> bool {
        match (grouping, self.attributes.get(name).filter(|_| self.change == ItemChange::Put)) {
            (WriteGrouping::Single, _) => false,
            (WriteGrouping::Transaction, None) => true,
            (WriteGrouping::Batch, None) => keys.iter().any(|key| key.starts_with(MARKER)),
            (_, Some(value)) => keys.iter().any(|key| key.contains(value.as_str())),
        }
    }
}

/// Two items are about the same thing: they agree in what identifies it, as far as both have it.
pub fn same_values(original: &Entity, left: &Attributes, right: &Attributes) -> bool {
    let by: Vec<&str> = match original.identity() {
        Some(id) => vec![id],
        None => original.key_fields().filter(|name| *name != SHARD).collect(),
    };
    by.iter().all(|name| left.get(*name) == right.get(*name))
}
