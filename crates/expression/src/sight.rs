//! An item as a condition or an update sees it: what each of its paths leads to.

use crate::Path;
use crate::path_tree::PathTree;
use partita_value::{ItemRef, ValueRef};

/// So few paths are looked for one by one; of more a tree is made, and one walk finds them all.
pub(crate) const FEW: usize = 8;

/// The paths that are read, in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathsRead {
    paths: Vec<Path>,
    /// None where the paths are few.
    tree: Option<Box<PathTree>>,
}

impl PathsRead {
    /// Gives a path its number.
    pub(crate) fn add(&mut self, path: &mut Path) {
        path.number = self.paths.len();
        self.paths.push(path.clone());
    }

    /// All paths have been added.
    pub(crate) fn finish(mut self) -> PathsRead {
        self.tree = (self.paths.len() > FEW).then(|| Box::new(PathTree::of(&self.paths)));
        self
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Path> {
        self.paths.iter()
    }

    /// The top-level attributes that paths begin with, each once, in the order of the paths.
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

    pub(crate) fn of<'a>(&self, item: Option<ItemRef<'a>>) -> Sight<'a> {
        match (&self.tree, item) {
            (Some(tree), Some(item)) => Sight::Found(tree.find(item)),
            (_, Some(item)) => Sight::Item(item),
            (_, None) => Sight::Nothing,
        }
    }
}

/// What is seen of one item.
pub(crate) enum Sight<'a> {
    Nothing,
    Item(ItemRef<'a>),
    /// By the paths' numbers.
    Found(Vec<Option<ValueRef<'a>>>),
}

impl<'a> Sight<'a> {
    /// What a path leads to; it must be one of those that were added.
    pub(crate) fn find(&self, path: &Path) -> Option<ValueRef<'a>> {
        match self {
            Sight::Nothing => None,
            Sight::Item(item) => path.find(*item),
            Sight::Found(found) => found.get(path.number).copied().flatten(),
        }
    }
}
