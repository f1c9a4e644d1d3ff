//! Edits inside one attribute's value.
//!
//! In come the old value and edits at paths that do not overlap; out goes the new value. An index counts
//! in the list as it was: removals close up and elements behind the end are appended only at the end.

use crate::Step;
use crate::error::Problem;
use crate::evaluated::Evaluated;
use partita_value::limits::NESTING_LEVELS;
use partita_value::{AttributeValue, Value, ValueRef};
use std::cmp::Reverse;

pub(crate) enum Edit<'a> {
    Put(Evaluated<'a>),
    Remove,
}

/// The value that the steps lead to; an error if they do not even lead to a place where one could be.
pub(crate) fn target<'a>(value: ValueRef<'a>, steps: &[Step]) -> Result<Option<ValueRef<'a>>, Problem> {
    let mut target = Some(value);
    for step in steps {
        target = match (step, target) {
            (Step::Attribute(name), Some(ValueRef::M(map))) => map.get(name),
            (Step::Index(index), Some(ValueRef::L(list))) => list.get(*index),
            _ => return Err(Problem::InvalidUpdatePath),
        };
    }
    Ok(target)
}

/// A change of a list's length, done after all others.
struct Resize<'e> {
    list: &'e [Step],
    index: usize,
    /// `None` removes the element.
    appended: Option<AttributeValue>,
}

/// The value with all edits made.
pub(crate) fn edit(old: ValueRef<'_>, edits: Vec<(&[Step], Edit<'_>)>) -> Result<Value, Problem> {
    let mut tree = AttributeValue::from(old);
    let mut resizes = Vec::new();
    for (steps, edit) in edits {
        let Some((last, list)) = steps.split_last() else { return Err(Problem::InvalidUpdatePath) };
        let new = match edit {
            Edit::Remove => None,
            Edit::Put(value) => {
                check_levels(steps.len(), value.view())?;
                Some(AttributeValue::from(value.view()))
            }
        };
        match (container(&mut tree, list), last, new) {
            (Some(AttributeValue::M(map)), Step::Attribute(name), Some(new)) => {
                map.insert(name.clone(), new);
            }
            (Some(AttributeValue::M(map)), Step::Attribute(name), None) => {
                map.remove(name);
            }
            (Some(AttributeValue::L(elements)), Step::Index(index), new) => {
                match (elements.get_mut(*index), new) {
                    (Some(element), Some(new)) => *element = new,
                    (Some(_), None) => resizes.push(Resize { list, index: *index, appended: None }),
                    (None, Some(new)) => resizes.push(Resize { list, index: *index, appended: Some(new) }),
                    (None, None) => {}
                }
            }
            _ => return Err(Problem::InvalidUpdatePath),
        }
    }
    resize(&mut tree, resizes);
    Ok(Value::from(&tree))
}

/// Inner lists first, so that outer ones still have the indexes that lead there; in a list first the new
/// elements, in order of their indexes, then the removals, the last one first.
fn resize(tree: &mut AttributeValue, mut resizes: Vec<Resize<'_>>) {
    resizes.sort_by_key(|resize| {
        let removal = resize.appended.is_none();
        (Reverse(resize.list.len()), removal, if removal { usize::MAX - resize.index } else { resize.index })
    });
    for Resize { list, index, appended } in resizes {
        let Some(AttributeValue::L(elements)) = container(tree, list) else { continue };
        match appended {
            Some(value) => elements.push(value),
            None if index < elements.len() => {
                elements.remove(index);
            }
            None => {}
        }
    }
}

fn container<'t>(tree: &'t mut AttributeValue, steps: &[Step]) -> Option<&'t mut AttributeValue> {
    let mut value = tree;
    for step in steps {
        value = match (step, value) {
            (Step::Attribute(name), AttributeValue::M(map)) => map.get_mut(name)?,
            (Step::Index(index), AttributeValue::L(list)) => list.get_mut(*index)?,
            _ => return None,
        };
    }
    Some(value)
}

/// A value below `depth` containers must not nest too deep.
fn check_levels(depth: usize, value: ValueRef<'_>) -> Result<(), Problem> {
    if depth >= NESTING_LEVELS || !fits(value, NESTING_LEVELS - depth) {
        return Err(Problem::NestingLevels);
    }
    Ok(())
}

/// Whether the value has at most this many levels; a scalar has one.
fn fits(value: ValueRef<'_>, levels: usize) -> bool {
    let Some(inner) = levels.checked_sub(1) else { return false };
    match value {
        ValueRef::L(list) => list.into_iter().all(|element| fits(element, inner)),
        ValueRef::M(map) => map.into_iter().all(|(_, member)| fits(member, inner)),
        _ => true,
    }
}
