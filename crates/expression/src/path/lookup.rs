//! Looks up all paths that a condition or an update reads in one item.

use crate::Path;
use crate::path::tree::PathTree;
use partita_value::{ItemRef, ValueRef};

/// Up to this many paths are looked up one by one; more are combined in a tree, and one walk finds them all.
pub(crate) const FEW_PATHS: usize = 8;

/// The paths that a condition or update reads, in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadPaths {
    paths: Vec<Path>,
    /// `None` if there are at most [`FEW_PATHS`].
    tree: Option<Box<PathTree>>,
}

impl ReadPaths {
    /// Adds a path and assigns its number.
    pub(crate) fn add(&mut self, path: &mut Path) {
        path.number = self.paths.len();
        self.paths.push(path.clone());
    }

    /// Completes the set: builds the tree if there are many paths.
    pub(crate) fn finish(mut self) -> ReadPaths {
        self.tree = (self.paths.len() > FEW_PATHS).then(|| Box::new(PathTree::new(&self.paths)));
        self
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Path> {
        self.paths.iter()
    }

    /// The top-level attributes that the paths begin with, without duplicates, in the order of the paths.
    pub(crate) fn roots(&self) -> Vec<&str> {
        if let Some(tree) = &self.tree {
            return tree.roots();
        }
        let mut roots: Vec<&str> = Vec::with_capacity(self.paths.len());
        for path in &self.paths {
            if !roots.contains(&&*path.root) {
                roots.push(&path.root);
            }
        }
        roots
    }

    /// Prepares the lookup of these paths in an item; `None` is an item that does not exist.
    pub(crate) fn lookup_in<'a>(&self, item: Option<ItemRef<'a>>) -> ItemLookup<'a> {
        match (&self.tree, item) {
            (Some(tree), Some(item)) => ItemLookup::Resolved(tree.find(item)),
            (_, Some(item)) => ItemLookup::OneByOne(item),
            (_, None) => ItemLookup::NoItem,
        }
    }
}

/// The values of paths in one item.
pub(crate) enum ItemLookup<'a> {
    NoItem,
    OneByOne(ItemRef<'a>),
    /// The value of each path, by its number.
    Resolved(Vec<Option<ValueRef<'a>>>),
}

impl<'a> ItemLookup<'a> {
    /// Returns the value at a path, which must be one of those that were added.
    pub(crate) fn find(&self, path: &Path) -> Option<ValueRef<'a>> {
        match self {
            ItemLookup::NoItem => None,
            ItemLookup::OneByOne(item) => path.find(*item),
            ItemLookup::Resolved(values) => values.get(path.number).copied().flatten(),
        }
    }
}
