//! Many paths combined in one tree, so that a single walk over an item finds the values of all of them.
//!
//! Looking up the paths one by one would walk over the item once per path: a request may have more than a thousand
//! paths, and an item more than a hundred thousand attributes. Also finds paths that collide.

use crate::path::Collision;
use crate::{Path, Step};
use partita_value::{ItemRef, ListRef, MapRef, ValueRef};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// Paths by their targets. Each path is identified by its number, its index in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathTree {
    top: Branch,
    /// For each path, the number of the first path with the same target: usually its own.
    firsts: Vec<usize>,
}

/// The paths that lead to or into one value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Branch {
    /// The first path that ends here.
    pub(crate) end: Option<usize>,
    /// Paths into a map, in byte order of the names.
    pub(crate) members: Vec<(Arc<str>, Branch)>,
    /// Paths into a list, in ascending order.
    pub(crate) elements: Vec<(usize, Branch)>,
}

/// A step whose name is replaced by its rank among all names, so that long names are compared only once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum RankedStep {
    Name(usize),
    Index(usize),
}

/// All names of a set of paths and their ranks in byte order.
struct NameRanks<'p> {
    /// In byte order, without duplicates.
    sorted: Vec<&'p Arc<str>>,
    /// Ranks by the address of the name, in order of address: steps often share one allocation.
    ranks: Vec<(*const u8, usize)>,
}

impl<'p> NameRanks<'p> {
    fn new(paths: impl Iterator<Item = &'p Path>) -> NameRanks<'p> {
        let mut sorted: Vec<&Arc<str>> = paths.flat_map(Path::names).collect();
        sorted.sort_unstable_by_key(|name| name.as_ptr());
        sorted.dedup_by_key(|name| name.as_ptr());
        sorted.sort_by(|one, two| one.as_bytes().cmp(two.as_bytes()));
        let mut ranks = Vec::with_capacity(sorted.len());
        for name in &sorted {
            let is_new = ranks.last().is_some_and(|_| sorted[ranks.len() - 1] != *name);
            let rank = ranks.last().map_or(0, |(_, rank)| rank + usize::from(is_new));
            ranks.push((name.as_ptr(), rank));
        }
        ranks.sort_unstable();
        sorted.dedup();
        NameRanks { sorted, ranks }
    }

    fn step(&self, name: &Arc<str>) -> RankedStep {
        let position = self.ranks.partition_point(|(address, _)| *address < name.as_ptr());
        RankedStep::Name(self.ranks.get(position).map_or(usize::MAX, |(_, rank)| *rank))
    }

    fn steps(&self, path: &Path) -> Vec<RankedStep> {
        let inner = path.steps.iter().map(|step| match step {
            Step::Attribute(name) => self.step(name),
            Step::Index(index) => RankedStep::Index(*index),
        });
        std::iter::once(self.step(&path.root)).chain(inner).collect()
    }
}

impl PathTree {
    /// Builds the tree of these paths.
    pub(crate) fn new<'p>(paths: impl IntoIterator<Item = &'p Path, IntoIter: Clone>) -> PathTree {
        let paths = paths.into_iter();
        let names = NameRanks::new(paths.clone());
        let mut ranked: Vec<(Vec<RankedStep>, usize)> =
            paths.enumerate().map(|(number, path)| (names.steps(path), number)).collect();
        ranked.sort_unstable();
        let mut firsts = vec![0; ranked.len()];
        PathTree { top: Branch::build(&ranked, 0, &names, &mut firsts), firsts }
    }

    /// Builds the tree of top-level attributes.
    pub(crate) fn from_attributes(mut names: Vec<Arc<str>>) -> PathTree {
        names.sort();
        names.dedup();
        let firsts = (0..names.len()).collect();
        let end = |(number, name)| (name, Branch { end: Some(number), ..Branch::default() });
        let members = names.into_iter().enumerate().map(end).collect();
        PathTree { top: Branch { members, ..Branch::default() }, firsts }
    }

    /// The top-level attributes with the paths into each, in byte order.
    pub(crate) fn attributes(&self) -> &[(Arc<str>, Branch)] {
        &self.top.members
    }

    /// The top-level attributes in the order of the paths.
    pub(crate) fn roots(&self) -> Vec<&str> {
        let mut roots: Vec<(usize, &str)> = Vec::with_capacity(self.top.members.len());
        let mut numbers = Vec::new();
        for (name, inner) in &self.top.members {
            numbers.clear();
            inner.collect_numbers(&mut numbers);
            roots.extend(numbers.iter().min().map(|first| (*first, &**name)));
        }
        roots.sort_unstable();
        roots.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns the value of each path, by number.
    pub(crate) fn find<'a>(&self, item: ItemRef<'a>) -> Vec<Option<ValueRef<'a>>> {
        let mut found = vec![None; self.firsts.len()];
        find_members(&self.top.members, item.attributes(), &mut found);
        self.firsts.iter().map(|first| found[*first]).collect()
    }
}

impl Branch {
    /// Builds the branch of `paths`, which are sorted and share their first `depth` steps.
    fn build(
        paths: &[(Vec<RankedStep>, usize)],
        depth: usize,
        names: &NameRanks<'_>,
        firsts: &mut [usize],
    ) -> Branch {
        let ended = paths.iter().take_while(|(steps, _)| steps.len() == depth).count();
        let (ended, rest) = paths.split_at(ended);
        let end = ended.first().map(|(_, number)| *number);
        ended.iter().for_each(|(_, number)| firsts[*number] = end.unwrap_or(*number));
        let mut branch = Branch { end, ..Branch::default() };
        for group in rest.chunk_by(|one, two| one.0[depth] == two.0[depth]) {
            let inner = Branch::build(group, depth + 1, names, firsts);
            match group[0].0[depth] {
                RankedStep::Name(rank) => {
                    branch.members.extend(names.sorted.get(rank).map(|name| (Arc::clone(name), inner)));
                }
                RankedStep::Index(index) => branch.elements.push((index, inner)),
            }
        }
        branch
    }

    /// Whether a path ends here.
    pub(crate) fn is_end(&self) -> bool {
        self.end.is_some()
    }

    /// Whether a path continues into the value.
    pub(crate) fn has_children(&self) -> bool {
        !self.members.is_empty() || !self.elements.is_empty()
    }

    /// Collects the numbers of the paths that end here or below; of those with the same target, the first.
    pub(crate) fn collect_numbers(&self, numbers: &mut Vec<usize>) {
        numbers.extend(self.end);
        self.members.iter().for_each(|(_, inner)| inner.collect_numbers(numbers));
        self.elements.iter().for_each(|(_, inner)| inner.collect_numbers(numbers));
    }

    fn find<'a>(&self, value: ValueRef<'a>, found: &mut [Option<ValueRef<'a>>]) {
        if let Some(number) = self.end {
            found[number] = Some(value);
        }
        match value {
            ValueRef::M(map) => find_members(&self.members, map, found),
            ValueRef::L(list) => {
                visit_elements(&self.elements, list, |inner, value| inner.find(value, found))
            }
            _ => {}
        }
    }
}

fn find_members<'a>(members: &[(Arc<str>, Branch)], map: MapRef<'a>, found: &mut [Option<ValueRef<'a>>]) {
    visit_members(members, map, |_, inner, value| inner.find(value, found));
}

/// Walks a map and the branches into it in parallel, both in order, and visits the entries that branches lead to.
pub(crate) fn visit_members<'t, 'a>(
    members: &'t [(Arc<str>, Branch)],
    map: MapRef<'a>,
    mut visit: impl FnMut(&'t Arc<str>, &'t Branch, ValueRef<'a>),
) {
    let mut branches = members.iter();
    let Some(mut next) = branches.next() else { return };
    for (name, value) in map {
        loop {
            match next.0.as_bytes().cmp(name) {
                Ordering::Greater => break,
                Ordering::Equal => visit(&next.0, &next.1, value),
                Ordering::Less => {}
            }
            match branches.next() {
                Some(following) => next = following,
                None => return,
            }
        }
    }
}

/// Walks a list and the branches into it in parallel, both in order, and visits the elements that branches lead to.
pub(crate) fn visit_elements<'t, 'a>(
    elements: &'t [(usize, Branch)],
    list: ListRef<'a>,
    mut visit: impl FnMut(&'t Branch, ValueRef<'a>),
) {
    let mut branches = elements.iter().peekable();
    for (index, value) in list.into_iter().enumerate() {
        if let Some((_, inner)) = branches.next_if(|(next, _)| *next == index) {
            visit(inner, value);
        }
        if branches.peek().is_none() {
            return;
        }
    }
}

/// Returns the collision that AWS reports: the first path that overlaps an earlier one, or else the first that conflicts
/// with one. For few paths, comparing them pairwise is faster.
pub(crate) fn first_collision(paths: &[&Path]) -> Option<(Collision, usize, usize)> {
    let names = NameRanks::new(paths.iter().copied());
    let mut nodes = vec![CollisionNode::default()];
    let mut conflict = None;
    for (two, path) in paths.iter().enumerate() {
        let (mut at, mut overlapping, mut conflicting) = (0, None, None);
        for step in names.steps(path) {
            overlapping = earlier(overlapping, nodes[at].end);
            conflicting = earlier(conflicting, nodes[at].add_step(step, two));
            let new = nodes.len();
            at = *nodes[at].children.entry(step).or_insert(new);
            if at == new {
                nodes.push(CollisionNode::default());
            }
        }
        let here = &mut nodes[at];
        for one in [here.end, here.first_name, here.first_index] {
            overlapping = earlier(overlapping, one);
        }
        if let Some(one) = overlapping {
            return Some((Collision::Overlap, one, two));
        }
        here.end = Some(two);
        conflict = conflict.or(conflicting.map(|one| (Collision::Conflict, one, two)));
    }
    conflict
}

/// A location that paths end at or pass through.
#[derive(Default)]
struct CollisionNode {
    /// The first path that ends here, and the first that continues with a name and with an index.
    end: Option<usize>,
    first_name: Option<usize>,
    first_index: Option<usize>,
    children: HashMap<RankedStep, usize>,
}

impl CollisionNode {
    /// Records the next step of a path; returns the first path whose next step is of the other type.
    fn add_step(&mut self, step: RankedStep, number: usize) -> Option<usize> {
        match step {
            RankedStep::Name(_) => {
                self.first_name.get_or_insert(number);
                self.first_index
            }
            RankedStep::Index(_) => {
                self.first_index.get_or_insert(number);
                self.first_name
            }
        }
    }
}

fn earlier(one: Option<usize>, two: Option<usize>) -> Option<usize> {
    one.into_iter().chain(two).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::pairwise_collision;
    use partita_value::{AttributeValue, Item};
    use proptest::prelude::*;

    fn paths() -> impl Strategy<Value = Vec<Path>> {
        let step = prop_oneof![
            prop_oneof!["a", "b", "c"].prop_map(|name: String| Step::Attribute(name.into())),
            (0..3usize).prop_map(Step::Index),
        ];
        let path = (prop_oneof!["a", "b", "c"], prop::collection::vec(step, 0..3));
        let path = path.prop_map(|(root, steps)| Path::new(root.into(), steps));
        prop::collection::vec(path, 0..12)
    }

    fn items() -> impl Strategy<Value = Item> {
        let scalar = prop_oneof![Just(AttributeValue::Null), "[a-c]".prop_map(AttributeValue::S)];
        let value = scalar.prop_recursive(3, 24, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(AttributeValue::L),
                prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(AttributeValue::M),
            ]
        });
        let attributes = prop::collection::btree_map("[a-c]", value, 0..4);
        attributes.prop_map(|all| all.iter().map(|(name, value)| (name.as_str(), value.clone())).collect())
    }

    proptest! {
        #[test]
        fn one_walk_finds_the_same_values_as_separate_lookups(paths in paths(), item in items()) {
            let each: Vec<_> = paths.iter().map(|path| path.find(item.view())).collect();
            prop_assert_eq!(PathTree::new(&paths).find(item.view()), each);
        }

        #[test]
        fn tree_and_pairwise_search_find_the_same_collision(paths in paths()) {
            let paths: Vec<&Path> = paths.iter().collect();
            prop_assert_eq!(first_collision(&paths), pairwise_collision(&paths));
        }

        #[test]
        fn roots_are_in_the_order_of_the_paths(paths in paths()) {
            let mut roots: Vec<&str> = Vec::new();
            for path in &paths {
                if !roots.contains(&&*path.root) {
                    roots.push(&path.root);
                }
            }
            let tree = PathTree::new(&paths);
            prop_assert_eq!(tree.roots(), roots);
        }
    }
}
