//! Many paths as one tree: a single walk over an item finds what all of them lead to.
//!
//! In come paths; out go values, parts of items, and whether paths get in each other's way. Looking for one path after
//! the other would walk over the item once a path: a request may name more than a thousand, and an item may have more
//! than a hundred thousand attributes.

use crate::path::Collision;
use crate::{Path, Step};
use partita_value::{ItemRef, ListRef, MapRef, ValueRef};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// Paths by where they lead. Each is known by its number: its place in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathTree {
    top: Branch,
    /// For each path the first that leads to the same place: itself, mostly.
    firsts: Vec<usize>,
}

/// What is wanted of one value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Branch {
    /// The first path that ends here.
    pub(crate) end: Option<usize>,
    /// In byte order of the names.
    pub(crate) members: Vec<(Arc<str>, Branch)>,
    /// In ascending order.
    pub(crate) elements: Vec<(usize, Branch)>,
}

/// A step whose name is told by its rank among all names, so that long names are compared once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum RankedStep {
    Name(usize),
    Index(usize),
}

/// All names of some paths, each once, in byte order.
struct Names<'p> {
    sorted: Vec<&'p Arc<str>>,
    /// The rank of the name at an address, by address: one text in memory may be many names.
    ranks: Vec<(*const u8, usize)>,
}

impl<'p> Names<'p> {
    fn of(paths: impl Iterator<Item = &'p Path>) -> Names<'p> {
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
        Names { sorted, ranks }
    }

    fn step(&self, name: &Arc<str>) -> RankedStep {
        let position = self.ranks.partition_point(|(address, _)| *address < name.as_ptr());
        RankedStep::Name(self.ranks.get(position).map_or(usize::MAX, |(_, rank)| *rank))
    }

    fn steps(&self, path: &Path) -> Vec<RankedStep> {
        let behind = path.steps.iter().map(|step| match step {
            Step::Attribute(name) => self.step(name),
            Step::Index(index) => RankedStep::Index(*index),
        });
        std::iter::once(self.step(&path.root)).chain(behind).collect()
    }
}

impl PathTree {
    pub(crate) fn of<'p>(paths: impl IntoIterator<Item = &'p Path, IntoIter: Clone>) -> PathTree {
        let paths = paths.into_iter();
        let names = Names::of(paths.clone());
        let mut ranked: Vec<(Vec<RankedStep>, usize)> =
            paths.enumerate().map(|(number, path)| (names.steps(path), number)).collect();
        ranked.sort_unstable();
        let mut firsts = vec![0; ranked.len()];
        PathTree { top: Branch::of(&ranked, 0, &names, &mut firsts), firsts }
    }

    /// Top-level attributes.
    pub(crate) fn of_attributes(mut names: Vec<Arc<str>>) -> PathTree {
        names.sort();
        names.dedup();
        let firsts = (0..names.len()).collect();
        let end = |(number, name)| (name, Branch { end: Some(number), ..Branch::default() });
        let members = names.into_iter().enumerate().map(end).collect();
        PathTree { top: Branch { members, ..Branch::default() }, firsts }
    }

    /// The top-level attributes and what is wanted of each, in byte order.
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

    /// What each path leads to, by number.
    pub(crate) fn find<'a>(&self, item: ItemRef<'a>) -> Vec<Option<ValueRef<'a>>> {
        let mut found = vec![None; self.firsts.len()];
        find_members(&self.top.members, item.attributes(), &mut found);
        self.firsts.iter().map(|first| found[*first]).collect()
    }
}

impl Branch {
    /// `paths` are in order and alike up to `depth`.
    fn of(
        paths: &[(Vec<RankedStep>, usize)],
        depth: usize,
        names: &Names<'_>,
        firsts: &mut [usize],
    ) -> Branch {
        let ended = paths.iter().take_while(|(steps, _)| steps.len() == depth).count();
        let (ended, rest) = paths.split_at(ended);
        let end = ended.first().map(|(_, number)| *number);
        ended.iter().for_each(|(_, number)| firsts[*number] = end.unwrap_or(*number));
        let mut branch = Branch { end, ..Branch::default() };
        for alike in rest.chunk_by(|one, two| one.0[depth] == two.0[depth]) {
            let inner = Branch::of(alike, depth + 1, names, firsts);
            match alike[0].0[depth] {
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

    /// Whether a path leads further.
    pub(crate) fn goes_on(&self) -> bool {
        !self.members.is_empty() || !self.elements.is_empty()
    }

    /// The numbers of the paths that lead here or further; of those to the same place the first.
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
                wanted_elements(&self.elements, list, |inner, value| inner.find(value, found))
            }
            _ => {}
        }
    }
}

fn find_members<'a>(members: &[(Arc<str>, Branch)], map: MapRef<'a>, found: &mut [Option<ValueRef<'a>>]) {
    wanted_members(members, map, |_, inner, value| inner.find(value, found));
}

/// Walks over a map and what is wanted of it, both in order, and shows what is there.
pub(crate) fn wanted_members<'t, 'a>(
    members: &'t [(Arc<str>, Branch)],
    map: MapRef<'a>,
    mut visit: impl FnMut(&'t Arc<str>, &'t Branch, ValueRef<'a>),
) {
    let mut wanted = members.iter();
    let Some(mut next) = wanted.next() else { return };
    for (name, value) in map {
        loop {
            match next.0.as_bytes().cmp(name) {
                Ordering::Greater => break,
                Ordering::Equal => visit(&next.0, &next.1, value),
                Ordering::Less => {}
            }
            match wanted.next() {
                Some(following) => next = following,
                None => return,
            }
        }
    }
}

/// Walks over a list and what is wanted of it, both in order, and shows what is there.
pub(crate) fn wanted_elements<'t, 'a>(
    elements: &'t [(usize, Branch)],
    list: ListRef<'a>,
    mut visit: impl FnMut(&'t Branch, ValueRef<'a>),
) {
    let mut wanted = elements.iter().peekable();
    for (index, value) in list.into_iter().enumerate() {
        if let Some((_, inner)) = wanted.next_if(|(next, _)| *next == index) {
            visit(inner, value);
        }
        if wanted.peek().is_none() {
            return;
        }
    }
}

/// Two paths that get in each other's way, as AWS finds them: the first path that overlaps an earlier one, or else the
/// first that takes a list for a map. Where few paths are compared, pair by pair is quicker.
pub(crate) fn first_collision(paths: &[&Path]) -> Option<(Collision, usize, usize)> {
    let names = Names::of(paths.iter().copied());
    let mut nodes = vec![Crossing::default()];
    let mut conflict = None;
    for (two, path) in paths.iter().enumerate() {
        let (mut at, mut overlapping, mut conflicting) = (0, None, None);
        for step in names.steps(path) {
            overlapping = earlier(overlapping, nodes[at].end);
            conflicting = earlier(conflicting, nodes[at].goes_on(step, two));
            let new = nodes.len();
            at = *nodes[at].ways.entry(step).or_insert(new);
            if at == new {
                nodes.push(Crossing::default());
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

/// A place that paths lead to or through.
#[derive(Default)]
struct Crossing {
    /// The first path that ends here, and the first that goes on by a name and by an index.
    end: Option<usize>,
    first_name: Option<usize>,
    first_index: Option<usize>,
    ways: HashMap<RankedStep, usize>,
}

impl Crossing {
    /// Notes that a path goes on; returns the first that goes on in the other way.
    fn goes_on(&mut self, step: RankedStep, number: usize) -> Option<usize> {
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
        fn one_walk_finds_what_each_path_finds(paths in paths(), item in items()) {
            let each: Vec<_> = paths.iter().map(|path| path.find(item.view())).collect();
            prop_assert_eq!(PathTree::of(&paths).find(item.view()), each);
        }

        #[test]
        fn the_tree_finds_the_collision_that_pairs_find(paths in paths()) {
            let paths: Vec<&Path> = paths.iter().collect();
            prop_assert_eq!(first_collision(&paths), pairwise_collision(&paths));
        }

        #[test]
        fn roots_come_in_the_order_of_the_paths(paths in paths()) {
            let mut roots: Vec<&str> = Vec::new();
            for path in &paths {
                if !roots.contains(&&*path.root) {
                    roots.push(&path.root);
                }
            }
            let tree = PathTree::of(&paths);
            prop_assert_eq!(tree.roots(), roots);
        }
    }
}
