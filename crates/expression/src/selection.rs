//! What a set of paths selects of an item.
//!
//! In comes the tree of paths that do not get in each other's way; out goes an item with only what they lead to. Both
//! trees are in the same order, so one walk over the bytes suffices.

use crate::path_tree::{Branch, PathTree, wanted_elements, wanted_members};
use partita_value::{Encoder, Item, ItemRef, MapRef, ValueRef};
use std::sync::Arc;

/// The part of an item that is selected.
pub(crate) fn select(tree: &PathTree, item: ItemRef<'_>) -> Item {
    Item::build(|encoder| {
        write_members(tree.attributes(), item.attributes(), encoder);
    })
}

/// Writes the selected entries of a map; whether there were any.
fn write_members(members: &[(Arc<str>, Branch)], map: MapRef<'_>, encoder: &mut Encoder) -> bool {
    let mut found = false;
    wanted_members(members, map, |name, inner, value| {
        let position = encoder.position();
        encoder.name(name);
        match write(inner, value, encoder) {
            true => found = true,
            false => encoder.rewind(position),
        }
    });
    found
}

/// Writes what is selected of a value; whether there is anything. If not, what was written does not count.
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
            wanted_elements(&branch.elements, list, |inner, value| {
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
