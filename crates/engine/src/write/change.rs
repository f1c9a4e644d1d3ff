//! What a write did to an item: the one thing that everything kept about changes is made of.

use partita_api::stream::get_records::ChangeEvent;
use partita_value::ItemRef;

/// An item that is not the same after a write as before it.
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
    /// Of an item that cannot be read; `keys` is all that is known of it.
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
            // What was not even copied need not be compared.
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

    /// A state of the item: both have the same key.
    pub fn item(&self) -> ItemRef<'a> {
        match self {
            Change::Insert { new } | Change::Modify { new, .. } => *new,
            Change::Remove { old } => *old,
            Change::Replace { keys, .. } => *keys,
        }
    }

    /// What it is called; `expires` tells a removal by the item's time from one that was asked for.
    pub fn event(&self, expires: bool) -> ChangeEvent {
        match self {
            Change::Insert { .. } => ChangeEvent::Insert,
            Change::Modify { .. } | Change::Replace { new: Some(_), .. } => ChangeEvent::Modify,
            Change::Remove { .. } if expires => ChangeEvent::Expire,
            Change::Remove { .. } | Change::Replace { new: None, .. } => ChangeEvent::Remove,
        }
    }
}
