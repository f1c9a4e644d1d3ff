//! What a set of paths selects of an item, as a tree beside the encoded bytes.
//!
//! In come paths that do not get in each other's way; out goes an item with only what they lead to. Both
//! trees are in the same order, so one walk over the bytes suffices.

use crate::{Path, Step};
use partita_value::{Encoder, Item, ItemRef, MapRef, ValueRef};
use std::cmp::Ordering;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    Whole,
    /// In byte order of the names.
    Members(Vec<(String, Selection)>),
    /// In ascending order.
    Elements(Vec<(usize, Selection)>),
}

impl Selection {
    /// Builds the tree. Where paths overlap or conflict, the first one counts.
    pub(crate) fn of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<(String, Selection)> {
        let mut members = Vec::new();
        for path in paths {
            add_member(&mut members, &path.root, &path.steps);
        }
        members
    }

    fn new(steps: &[Step]) -> Selection {
        match steps.split_first() {
            None => Selection::Whole,
            Some((Step::Attribute(name), rest)) => {
                Selection::Members(vec![(name.clone(), Selection::new(rest))])
            }
            Some((Step::Index(index), rest)) => Selection::Elements(vec![(*index, Selection::new(rest))]),
        }
    }

    fn add(&mut self, steps: &[Step]) {
        match (self, steps.split_first()) {
            (Selection::Members(members), Some((Step::Attribute(name), rest))) => {
                add_member(members, name, rest)
            }
            (Selection::Elements(elements), Some((Step::Index(index), rest))) => {
                match elements.binary_search_by_key(index, |element| element.0) {
                    Ok(position) => elements[position].1.add(rest),
                    Err(position) => elements.insert(position, (*index, Selection::new(rest))),
                }
            }
            _ => {}
        }
    }

    /// Whether it selects anything of this value.
    fn finds(&self, value: ValueRef<'_>) -> bool {
        match (self, value) {
            (Selection::Whole, _) => true,
            (Selection::Members(members), ValueRef::M(map)) => {
                members.iter().any(|(name, inner)| map.get(name).is_some_and(|value| inner.finds(value)))
            }
            (Selection::Elements(elements), ValueRef::L(list)) => {
                elements.iter().any(|(index, inner)| list.get(*index).is_some_and(|value| inner.finds(value)))
            }
            _ => false,
        }
    }

    /// Writes what it selects of a value in which it finds something.
    fn write(&self, value: ValueRef<'_>, encoder: &mut Encoder) {
        match (self, value) {
            (Selection::Members(members), ValueRef::M(map)) => {
                let mark = encoder.begin_map();
                write_members(members, map, encoder);
                encoder.end_map(mark);
            }
            (Selection::Elements(elements), ValueRef::L(list)) => {
                let mark = encoder.begin_list();
                let mut wanted = elements.iter().peekable();
                for (index, value) in list.into_iter().enumerate() {
                    match wanted.next_if(|(next, _)| *next == index) {
                        Some((_, inner)) if inner.finds(value) => inner.write(value, encoder),
                        _ if wanted.peek().is_none() => break,
                        _ => {}
                    }
                }
                encoder.end_list(mark);
            }
            _ => encoder.value(value),
        }
    }
}

fn add_member(members: &mut Vec<(String, Selection)>, name: &str, steps: &[Step]) {
    match members.binary_search_by(|member| member.0.as_str().cmp(name)) {
        Ok(position) => members[position].1.add(steps),
        Err(position) => members.insert(position, (name.to_owned(), Selection::new(steps))),
    }
}

/// Writes the selected entries of a map, walking over both in order.
fn write_members(members: &[(String, Selection)], map: MapRef<'_>, encoder: &mut Encoder) {
    let mut wanted = members.iter();
    let mut next = wanted.next();
    for (name, value) in map {
        while let Some((wanted_name, selection)) = next {
            match wanted_name.as_bytes().cmp(name) {
                Ordering::Less => next = wanted.next(),
                Ordering::Equal => {
                    if selection.finds(value) {
                        encoder.name(wanted_name);
                        selection.write(value, encoder);
                    }
                    next = wanted.next();
                    break;
                }
                Ordering::Greater => break,
            }
        }
        if next.is_none() {
            break;
        }
    }
}

/// The part of an item that is selected.
pub(crate) fn select(members: &[(String, Selection)], item: ItemRef<'_>) -> Item {
    Item::build(|encoder| write_members(members, item.attributes(), encoder))
}
