//! Edits inside one attribute's value.
//!
//! In come the old value and edits at paths that do not overlap; out goes the new value. An index counts
//! in the list as it was: removals close up and elements behind the end are appended only at the end.

use crate::error::Problem;
use crate::evaluated::Evaluated;
use crate::path_tree::{Branch, PathTree};
use crate::{Path, Step};
use partita_value::limits::NESTING_LEVELS;
use partita_value::{AttributeValue, Value, ValueRef};

pub(crate) enum Edit<'a> {
    Put(Evaluated<'a>),
    Remove,
}

/// A value that is edited inside.
pub(crate) struct Document(AttributeValue);

/// An element to be put behind the end of a list.
struct Appended<'e> {
    list: &'e [Step],
    index: usize,
    value: AttributeValue,
}

impl Document {
    pub(crate) fn of(value: ValueRef<'_>) -> Document {
        Document(AttributeValue::from(value))
    }

    /// The value that the steps lead to; an error if they do not even lead to a place where one could be.
    pub(crate) fn target(&self, steps: &[Step]) -> Result<Option<&AttributeValue>, Problem> {
        let mut target = Some(&self.0);
        for step in steps {
            target = match (step, target) {
                (Step::Attribute(name), Some(AttributeValue::M(map))) => map.get(&**name),
                (Step::Index(index), Some(AttributeValue::L(list))) => list.get(*index),
                _ => return Err(Problem::InvalidUpdatePath),
            };
        }
        Ok(target)
    }

    /// The value with all edits made. Elements are removed last, when no index is needed any more.
    pub(crate) fn edit(mut self, edits: Vec<(&[Step], Edit<'_>)>) -> Result<Value, Problem> {
        let mut appended = Vec::new();
        let mut removed = Vec::new();
        for (steps, edit) in edits {
            let Some((last, list)) = steps.split_last() else { return Err(Problem::InvalidUpdatePath) };
            let new = match edit {
                Edit::Remove => None,
                Edit::Put(value) => {
                    check_levels(steps.len(), value.view())?;
                    Some(AttributeValue::from(value.view()))
                }
            };
            match (container(&mut self.0, list), last, new) {
                (Some(AttributeValue::M(map)), Step::Attribute(name), Some(new)) => {
                    map.insert(name.to_string(), new);
                }
                (Some(AttributeValue::M(map)), Step::Attribute(name), None) => {
                    map.remove(&**name);
                }
                (Some(AttributeValue::L(elements)), Step::Index(index), new) => {
                    match (elements.get_mut(*index), new) {
                        (Some(element), Some(new)) => *element = new,
                        (Some(_), None) => removed.push(steps),
                        (None, Some(value)) => appended.push(Appended { list, index: *index, value }),
                        (None, None) => {}
                    }
                }
                _ => return Err(Problem::InvalidUpdatePath),
            }
        }
        self.append(appended);
        self.remove(&removed);
        Ok(Value::from(&self.0))
    }

    /// New elements in the order of their indexes.
    fn append(&mut self, mut appended: Vec<Appended<'_>>) {
        appended.sort_by_key(|new| new.index);
        for Appended { list, value, .. } in appended {
            if let Some(AttributeValue::L(elements)) = container(&mut self.0, list) {
                elements.push(value);
            }
        }
    }

    /// Takes elements out of lists, each list in one go, however many they are.
    fn remove(&mut self, removed: &[&[Step]]) {
        if removed.is_empty() {
            return;
        }
        let paths: Vec<Path> = removed.iter().map(|steps| Path::new("".into(), steps.to_vec())).collect();
        for (_, branch) in PathTree::of(&paths).attributes() {
            remove_elements(&mut self.0, branch);
        }
    }
}

fn remove_elements(value: &mut AttributeValue, branch: &Branch) {
    match value {
        AttributeValue::M(map) => {
            for (name, inner) in &branch.members {
                if let Some(member) = map.get_mut(&**name) {
                    remove_elements(member, inner);
                }
            }
        }
        AttributeValue::L(elements) => {
            for (index, inner) in branch.elements.iter().filter(|(_, inner)| !inner.is_end()) {
                if let Some(element) = elements.get_mut(*index) {
                    remove_elements(element, inner);
                }
            }
            let mut gone = branch.elements.iter().filter(|(_, inner)| inner.is_end()).peekable();
            let mut index = 0;
            elements.retain(|_| {
                let is_gone = gone.next_if(|(next, _)| *next == index).is_some();
                index += 1;
                !is_gone
            });
        }
        _ => {}
    }
}

fn container<'t>(tree: &'t mut AttributeValue, steps: &[Step]) -> Option<&'t mut AttributeValue> {
    let mut value = tree;
    for step in steps {
        value = match (step, value) {
            (Step::Attribute(name), AttributeValue::M(map)) => map.get_mut(&**name)?,
            (Step::Index(index), AttributeValue::L(list)) => list.get_mut(*index)?,
            _ => return None,
        };
    }
    Some(value)
}

/// A value below `depth` containers must not nest too deep.
fn check_levels(depth: usize, value: ValueRef<'_>) -> Result<(), Problem> {
    match value.is_nested_beyond(NESTING_LEVELS.saturating_sub(depth)) {
        true => Err(Problem::NestingLevels),
        false => Ok(()),
    }
}
