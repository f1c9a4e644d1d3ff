//! Copies the selected parts of an item.
//!
//! The paths do not collide. Their tree and the item are in the same order, so one walk over the bytes suffices.

use crate::path::tree::{Branch, PathTree, visit_elements, visit_members};
use partita_value::{Encoder, Item, ItemRef, MapRef, ValueRef};
use std::sync::Arc;

/// Returns an item with only the selected parts.
pub(crate) fn select(tree: &PathTree, item: ItemRef<'_>) -> Item {
    Item::build(|encoder| {
        write_members(tree.attributes(), item.attributes(), encoder);
    })
}

/// Writes the selected entries of a map; returns whether there were any.
fn write_members(members: &[(Arc<str>, Branch)], map: MapRef<'_>, encoder: &mut Encoder) -> bool {
    let mut found = false;
    visit_members(members, map, |name, inner, value| {
        let position = encoder.position();
        encoder.name(name);
        match write(inner, value, encoder) {
            true => found = true,
            false => encoder.rewind(position),
        }
    });
    found
}

/// Writes the selected parts of a value; returns whether there were any. If not, the caller rewinds the encoder.
fn write(branch: &Branch, value: ValueRef<'_>, encoder: &mut Encoder) -> bool {
    if branch.is_end() {
        encoder.value(value);
        return true;
    }
    match value {
        ValueRef::M(map) if !branch.members.is_empty() => {
            let mark = encoder.begin_map();
            let found = write_members(&branch.members, map, encoder);
            encoder.end_map(mark);
            found
        }
        ValueRef::L(list) if !branch.elements.is_empty() => {
            let mut found = false;
            let mark = encoder.begin_list();
            visit_elements(&branch.elements, list, |inner, value| {
                let position = encoder.position();
                match write(inner, value, encoder) {
                    true => found = true,
                    false => encoder.rewind(position),
                }
            });
            encoder.end_list(mark);
            found
        }
        _ => false,
    }
}
