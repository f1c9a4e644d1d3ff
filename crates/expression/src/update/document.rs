//! Edits inside one attribute's value.
//!
//! The paths of the edits do not overlap. Indexes refer to the list before the update: elements past the end
//! are appended, and removed elements are taken out, only after all other edits.

use crate::error::Problem;
use crate::path::tree::{Branch, PathTree};
use crate::update::evaluated::Evaluated;
use crate::{Path, Step};
use partita_value::limits::NESTING_LEVELS;
use partita_value::{AttributeValue, Value, ValueRef};

pub(crate) enum Edit<'a> {
    Put(Evaluated<'a>),
    Remove,
}

/// A value to be edited.
pub(crate) struct Document(AttributeValue);

/// An element to be appended to a list.
struct AppendedElement<'e> {
    list: &'e [Step],
    index: usize,
    value: AttributeValue,
}

impl Document {
    pub(crate) fn new(value: ValueRef<'_>) -> Document {
        Document(AttributeValue::from(value))
    }

    /// Returns the value at the steps, if any; an error if its container does not exist or has the wrong type.
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

    /// Returns the value with all edits applied. Elements are removed last, when no index is needed any more.
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
                        (None, Some(value)) => appended.push(AppendedElement { list, index: *index, value }),
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

    /// Appends new elements in the order of their indexes.
    fn append(&mut self, mut appended: Vec<AppendedElement<'_>>) {
        appended.sort_by_key(|new| new.index);
        for AppendedElement { list, value, .. } in appended {
            if let Some(AttributeValue::L(elements)) = container(&mut self.0, list) {
                elements.push(value);
            }
        }
    }

    /// Removes elements from lists, in one pass per list.
    fn remove(&mut self, removed: &[&[Step]]) {
        if removed.is_empty() {
            return;
        }
        let paths: Vec<Path> = removed.iter().map(|steps| Path::new("".into(), steps.to_vec())).collect();
        for (_, branch) in PathTree::new(&paths).attributes() {
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
            let mut removed = branch.elements.iter().filter(|(_, inner)| inner.is_end()).peekable();
            let mut index = 0;
            elements.retain(|_| {
                let is_removed = removed.next_if(|(next, _)| *next == index).is_some();
                index += 1;
                !is_removed
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

/// Checks the nesting of a value that is placed inside `depth` containers.
fn check_levels(depth: usize, value: ValueRef<'_>) -> Result<(), Problem> {
    match value.is_nested_beyond(NESTING_LEVELS.saturating_sub(depth)) {
        true => Err(Problem::NestingLevels),
        false => Ok(()),
    }
}
