//! Document paths with resolved names: the location of a value in an item.
//!
//! `Display` is the form in AWS's messages, `[a, b, [1]]`.

pub(crate) mod lookup;
pub(crate) mod tree;

use partita_value::{ItemRef, ValueRef};
use std::fmt;
use std::sync::Arc;

/// One step into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `.name`, into a map.
    Attribute(Arc<str>),
    /// `[n]`, into a list.
    Index(usize),
}

/// A top-level attribute and the steps into its value.
#[derive(Clone, Debug)]
pub struct Path {
    /// The top-level attribute.
    pub root: Arc<str>,
    /// The steps into its value.
    pub steps: Vec<Step>,
    /// Its position among the paths that its condition or update reads.
    pub(crate) number: usize,
}

/// Two paths are equal if they have the same target.
impl PartialEq for Path {
    fn eq(&self, other: &Path) -> bool {
        self.root == other.root && self.steps == other.steps
    }
}

impl Eq for Path {}

impl Path {
    /// Creates a path.
    pub fn new(root: Arc<str>, steps: Vec<Step>) -> Path {
        Path { root, steps, number: 0 }
    }

    /// Creates the path of a top-level attribute.
    pub fn attribute(name: impl Into<Arc<str>>) -> Path {
        Path::new(name.into(), Vec::new())
    }

    /// All attribute names in the path.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        let inner = self.steps.iter().filter_map(|step| match step {
            Step::Attribute(name) => Some(name),
            Step::Index(_) => None,
        });
        std::iter::once(&self.root).chain(inner)
    }

    /// Returns the value at this path in an item.
    pub fn find<'a>(&self, item: ItemRef<'a>) -> Option<ValueRef<'a>> {
        let mut value = item.get(&self.root)?;
        for step in &self.steps {
            value = match (step, value) {
                (Step::Attribute(name), ValueRef::M(map)) => map.get(name)?,
                (Step::Index(index), ValueRef::L(list)) => list.get(*index)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// Returns whether the path leads into an attribute's value.
    pub fn is_nested(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Returns how this path collides with another, if it does.
    pub(crate) fn collision(&self, other: &Path) -> Option<Collision> {
        if self.root != other.root {
            return None;
        }
        for pair in self.steps.iter().zip(&other.steps) {
            match pair {
                (Step::Attribute(one), Step::Attribute(two)) if one != two => return None,
                (Step::Index(one), Step::Index(two)) if one != two => return None,
                (Step::Attribute(_), Step::Index(_)) | (Step::Index(_), Step::Attribute(_)) => {
                    return Some(Collision::Conflict);
                }
                _ => {}
            }
        }
        Some(Collision::Overlap)
    }
}

/// Why two paths cannot be used in the same expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collision {
    /// One is equal to, or a prefix of, the other.
    Overlap,
    /// One treats a value as a list, the other treats it as a map.
    Conflict,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.root)?;
        for step in &self.steps {
            match step {
                Step::Attribute(name) => write!(f, ", {name}")?,
                Step::Index(index) => write!(f, ", [{index}]")?,
            }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_value::{AttributeValue, Item};
    use std::collections::BTreeMap;

    fn path(root: &str, steps: &[Step]) -> Path {
        Path::new(root.into(), steps.to_vec())
    }

    fn name(name: &str) -> Step {
        Step::Attribute(name.into())
    }

    #[test]
    fn paths_are_followed_through_maps_and_lists() {
        let list = AttributeValue::L(vec![AttributeValue::Null, AttributeValue::S("x".into())]);
        let map = AttributeValue::M(BTreeMap::from([("l".to_owned(), list)]));
        let item: Item = [("m", map)].into_iter().collect();
        let find = |steps: &[Step]| path("m", steps).find(item.view());
        assert_eq!(find(&[name("l"), Step::Index(1)]), Some(ValueRef::S(b"x")));
        assert_eq!(find(&[name("l"), Step::Index(2)]), None);
        assert_eq!(find(&[Step::Index(0)]), None);
        assert_eq!(find(&[name("l"), name("x")]), None);
        assert_eq!(path("x", &[]).find(item.view()), None);
        assert_eq!(path("m", &[name("l"), Step::Index(1)]).to_string(), "[m, l, [1]]");
    }

    #[test]
    fn overlaps_and_conflicts_are_distinguished() {
        let collision = |one: &[Step], two: &[Step]| path("a", one).collision(&path("a", two));
        assert_eq!(collision(&[], &[name("b")]), Some(Collision::Overlap));
        assert_eq!(collision(&[name("b")], &[name("b"), Step::Index(0)]), Some(Collision::Overlap));
        assert_eq!(collision(&[name("b")], &[Step::Index(0)]), Some(Collision::Conflict));
        assert_eq!(collision(&[name("b"), Step::Index(0)], &[name("c"), name("x")]), None);
        assert_eq!(collision(&[Step::Index(0)], &[Step::Index(1)]), None);
        assert_eq!(path("a", &[]).collision(&path("b", &[])), None);
    }
}
