//! What a write did to an item. Stream records and histories are made from it.

use partita_api::stream::get_records::ChangeEvent;
use partita_value::ItemRef;

/// The change of an item by a write.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    Insert {
        new: ItemRef<'a>,
    },
    Modify {
        old: ItemRef<'a>,
        new: ItemRef<'a>,
    },
    Remove {
        old: ItemRef<'a>,
    },
    /// The replacement or removal of an item that cannot be read; only its key is known.
    Replace {
        keys: ItemRef<'a>,
        new: Option<ItemRef<'a>>,
    },
}

impl<'a> Change<'a> {
    /// The change from one state to another; none if they are equal. Equal items have equal bytes.
    pub fn between(old: Option<ItemRef<'a>>, new: Option<ItemRef<'a>>) -> Option<Change<'a>> {
        match (old, new) {
            (None, None) => None,
            (None, Some(new)) => Some(Change::Insert { new }),
            // The same bytes in memory need no comparison.
            (Some(old), Some(new)) if std::ptr::eq(old.bytes(), new.bytes()) => None,
            (Some(old), Some(new)) => (old.bytes() != new.bytes()).then_some(Change::Modify { old, new }),
            (Some(old), None) => Some(Change::Remove { old }),
        }
    }

    pub fn before(&self) -> Option<ItemRef<'a>> {
        match self {
            Change::Insert { .. } | Change::Replace { .. } => None,
            Change::Modify { old, .. } | Change::Remove { old } => Some(*old),
        }
    }

    pub fn after(&self) -> Option<ItemRef<'a>> {
        match self {
            Change::Insert { new } | Change::Modify { new, .. } => Some(*new),
            Change::Remove { .. } => None,
            Change::Replace { new, .. } => *new,
        }
    }

    /// The item before or after the change: both have the same key.
    pub fn item(&self) -> ItemRef<'a> {
        match self {
            Change::Insert { new } | Change::Modify { new, .. } => *new,
            Change::Remove { old } => *old,
            Change::Replace { keys, .. } => *keys,
        }
    }

    /// The event of a stream record. `expires` says whether a removal is an expiry.
    pub fn event(&self, expires: bool) -> ChangeEvent {
        match self {
            Change::Insert { .. } => ChangeEvent::Insert,
            Change::Modify { .. } | Change::Replace { new: Some(_), .. } => ChangeEvent::Modify,
            Change::Remove { .. } if expires => ChangeEvent::Expire,
            Change::Remove { .. } | Change::Replace { new: None, .. } => ChangeEvent::Remove,
        }
    }
}
