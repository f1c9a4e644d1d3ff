//! The keys of many templates in one tree of characters and runs, so that those that can equal another key are found by walking along it
//! instead of comparing it with each.

use crate::template::{CharacterClass, MAX_STATES, Token};
use std::collections::{BTreeMap, HashSet};

/// A branching point.
#[derive(Default)]
struct Node {
    characters: BTreeMap<char, usize>,
    runs: Vec<(CharacterClass, usize)>,
    /// The keys that end here.
    ends: Vec<usize>,
}

pub(crate) struct KeyTree {
    nodes: Vec<Node>,
}

/// A position in the searched key and one in the tree, each possibly inside a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    at: usize,
    is_within: bool,
    node: usize,
    run: Option<usize>,
}

impl Default for KeyTree {
    fn default() -> KeyTree {
        KeyTree { nodes: vec![Node::default()] }
    }
}

impl KeyTree {
    pub fn insert(&mut self, key: &[Token], number: usize) {
        let mut node = 0;
        for token in key {
            node = self.child(node, token);
        }
        self.nodes[node].ends.push(number);
    }

    fn child(&mut self, node: usize, token: &Token) -> usize {
        let known = match token {
            Token::Character(character) => self.nodes[node].characters.get(character).copied(),
            Token::Run(class) => {
                let mut runs = self.nodes[node].runs.iter();
                runs.find(|(other, _)| other == class).map(|(_, child)| *child)
            }
        };
        if let Some(child) = known {
            return child;
        }
        let child = self.nodes.len();
        self.nodes.push(Node::default());
        match token {
            Token::Character(character) => {
                self.nodes[node].characters.insert(*character, child);
            }
            Token::Run(class) => self.nodes[node].runs.push((class.clone(), child)),
        }
        child
    }

    /// Visits the keys that can be equal to a key, or start with it if it is `open`, until `visit` returns false. A key may
    /// be visited more than once; if the search takes too many steps, all keys are visited.
    pub fn find_overlapping(&self, wanted: &[Token], open: bool, mut visit: impl FnMut(usize) -> bool) {
        let mut visited = HashSet::new();
        let mut states = vec![State { at: 0, is_within: false, node: 0, run: None }];
        while let Some(state) = states.pop() {
            if !visited.insert(state) {
                continue;
            }
            if visited.len() > MAX_STATES {
                self.visit_below(0, &mut visit);
                return;
            }
            // A run may end after its first character.
            if state.is_within {
                states.push(State { at: state.at + 1, is_within: false, ..state });
            }
            if let Some(run) = state.run {
                states.push(State { node: self.nodes[state.node].runs[run].1, run: None, ..state });
            }
            let continues = match wanted.get(state.at) {
                Some(token) => {
                    self.step(state, token, &mut states);
                    true
                }
                None if open => {
                    let below = state.run.map_or(state.node, |run| self.nodes[state.node].runs[run].1);
                    self.visit_below(below, &mut visit)
                }
                None => {
                    state.run.is_some() || self.nodes[state.node].ends.iter().all(|number| visit(*number))
                }
            };
            if !continues {
                return;
            }
        }
    }

    /// Advances both by one character.
    fn step(&self, state: State, token: &Token, states: &mut Vec<State>) {
        let node = &self.nodes[state.node];
        let runs = node.runs.iter().enumerate().filter(|(run, _)| state.run.is_none_or(|own| own == *run));
        match token {
            Token::Character(character) => {
                let next = State { at: state.at + 1, is_within: false, ..state };
                let child = node.characters.get(character).filter(|_| state.run.is_none());
                states.extend(child.map(|child| State { node: *child, ..next }));
                let taking = runs.filter(|(_, (class, _))| class.contains(*character));
                states.extend(taking.map(|(run, _)| State { run: Some(run), ..next }));
            }
            Token::Run(class) => {
                let within = State { is_within: true, ..state };
                let characters = node.characters.iter().filter(|_| state.run.is_none());
                let taken = characters.filter(|(character, _)| class.contains(**character));
                states.extend(taken.map(|(_, child)| State { node: *child, ..within }));
                let common = runs.filter(|(_, (other, _))| class.overlaps(other));
                states.extend(common.map(|(run, _)| State { run: Some(run), ..within }));
            }
        }
    }

    /// Visits everything at a node and below it; returns false if `visit` stopped.
    fn visit_below(&self, node: usize, visit: &mut impl FnMut(usize) -> bool) -> bool {
        let mut nodes = vec![node];
        while let Some(node) = nodes.pop() {
            let node = &self.nodes[node];
            if !node.ends.iter().all(|number| visit(*number)) {
                return false;
            }
            nodes.extend(node.characters.values().chain(node.runs.iter().map(|(_, child)| child)));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::value_type::ValueType;
    use crate::template::Template;
    use proptest::prelude::*;

    fn types() -> BTreeMap<String, ValueType> {
        let kinds = [("s", "string"), ("i", "id"), ("n", "int"), ("d", "date"), ("c", "A|B2|AB")];
        kinds.map(|(name, kind)| (name.to_owned(), ValueType::parse(kind).unwrap())).into()
    }

    fn template() -> impl Strategy<Value = Template> {
        let part =
            prop::sample::select(vec!["A", "B", "2", "#", "{s}", "{i}", "{n}", "{d}", "{c}", "{n:02}"]);
        prop::collection::vec(part, 0..6).prop_map(|parts| Template::parse(&parts.concat()).unwrap())
    }

    proptest! {
        #[test]
        fn every_overlapping_key_is_found_in_the_tree(
            keys in prop::collection::vec(template(), 0..12), wanted in template(), strict: bool, open: bool,
        ) {
            let types = types();
            let mut tree = KeyTree::default();
            for (number, key) in keys.iter().enumerate() {
                tree.insert(&key.runs(&types, strict), number);
            }
            let mut found = HashSet::new();
            tree.find_overlapping(&wanted.runs(&types, strict), open, |number| { found.insert(number); true });
            // A choice and a value of fixed length are approximated by a run, which matches more texts.
            let is_exact = |key: &Template| !["{c}", "{d}", "{n:02}"].iter().any(|field| key.to_string().contains(field));
            for (number, key) in keys.iter().enumerate() {
                let overlaps = wanted.overlaps(&types, key, &types, strict, open);
                prop_assert!(found.contains(&number) || !overlaps, "{wanted} overlaps {key}");
                let exact = is_exact(key) && is_exact(&wanted);
                prop_assert!(!exact || overlaps || !found.contains(&number), "{wanted} does not meet {key}");
            }
        }
    }

    #[test]
    fn the_search_stops_when_the_visitor_has_enough() {
        let mut tree = KeyTree::default();
        (0..100).for_each(|number| tree.insert(&Template::text("A").runs(&types(), false), number));
        let mut visited = 0;
        tree.find_overlapping(&[], true, |_| {
            visited += 1;
            visited < 3
        });
        assert_eq!(visited, 3);
    }
}
