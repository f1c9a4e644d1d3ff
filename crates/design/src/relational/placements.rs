//! Keys and indexes that serve the reads: children under their parent, everything else in indexes that entities share.

use super::entities::Entities;
use super::naming::prefix;
use super::reads::{Read, With};
use crate::model::value_type::ValueType;
use crate::template::Template;
use std::collections::BTreeSet;

/// The shards of a partition key that all items of an entity would share.
const SHARDS: u64 = 4;
/// The digits of a whole number in a sort key.
const DIGITS: usize = 19;

/// Where items of an entity are found: by all of `partition`, sorted by `sort`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    pub partition: Vec<String>,
    pub sort: Vec<String>,
}

/// The placements of an entity: its key, and its keys in GSI1, GSI2, …
#[derive(Clone, Debug)]
pub(super) struct Placements {
    pub key: Placement,
    pub indexes: Vec<Placement>,
}

impl Placement {
    /// Whether a read that knows `equals` and wants `next` sorted or bounded finds its items here. Those that lack an attribute of the key are not.
    fn serves(&self, read: &Read, single: bool, is_optional: impl Fn(&String) -> bool) -> bool {
        let wanted = read.range.as_ref().or(read.order.as_ref().map(|(by, _)| by));
        let is_named = |name: &String| read.equals.contains(name) || wanted == Some(name);
        if self.partition.iter().chain(&self.sort).any(|name| is_optional(name) && !is_named(name)) {
            return false;
        }
        if !self.partition.iter().all(|name| read.equals.contains(name))
            || (self.partition.is_empty() && !read.equals.is_empty())
        {
            return false;
        }
        let rest: BTreeSet<&String> =
            read.equals.iter().filter(|name| !self.partition.contains(name)).collect();
        let start: BTreeSet<&String> = self.sort.iter().take(rest.len()).collect();
        let wanted = wanted.filter(|_| !single);
        rest == start && wanted.is_none_or(|by| self.sort.get(rest.len()) == Some(by))
    }

    /// Whether all columns have a text for a key.
    pub fn has_texts(&self, number: usize, entities: &Entities<'_>) -> bool {
        let has_text = |name: &String| entities.kind(number, name).is_none_or(ValueType::is_scalar);
        self.partition.iter().chain(&self.sort).all(has_text)
    }

    /// The templates of the two key attributes.
    pub fn templates(&self, number: usize, entities: &Entities<'_>) -> Option<[Template; 2]> {
        let own = prefix(&entities.names[number]);
        let kind = |name: &String| entities.kind(number, name);
        let (last, partition) = match self.partition.as_slice() {
            [] => (None, format!("{own}#{{shard}}")),
            [one] => {
                let parent = entities.parent(number, one);
                let label = match parent {
                    Some(parent) => prefix(&entities.names[parent]),
                    None if entities.identity(number) == [one.clone()] => own.clone(),
                    None => format!("{own}#{}", one.to_uppercase()),
                };
                (Some(one), format!("{label}#"))
            }
            [first @ .., last] => {
                let part = |name: &String| {
                    format!("{}#{}#", name.to_uppercase(), field(name, kind(name), false, false))
                };
                let text: String = first.iter().map(part).collect();
                (Some(last), format!("{own}#{text}{}#", last.to_uppercase()))
            }
        };
        let partition =
            partition + &last.map(|name| field(name, kind(name), true, false)).unwrap_or_default();
        let sort = if self.sort.is_empty() { &self.partition } else { &self.sort };
        let fields: Vec<String> = sort
            .iter()
            .enumerate()
            .map(|(at, name)| field(name, kind(name), at + 1 == sort.len(), !self.sort.is_empty()))
            .collect();
        let sort = format!("{own}#{}", fields.join("#"));
        Some([Template::parse(&partition).ok()?, Template::parse(&sort).ok()?])
    }

    /// Whether all items share a few partition keys, which are split into shards.
    pub fn shards(&self) -> Option<u64> {
        self.partition.is_empty().then_some(SHARDS)
    }
}

/// A field of a template: free text in front of others must not contain the delimiter, and numbers must sort.
fn field(name: &str, kind: Option<&ValueType>, last: bool, sorted: bool) -> String {
    match kind {
        Some(ValueType::Int) if sorted => format!("{{{name}:0{DIGITS}}}"),
        Some(ValueType::Decimal) if sorted => format!("{{{name}:0{DIGITS}.6}}"),
        Some(ValueType::String) if !last => format!("{{{name}:escaped}}"),
        _ => format!("{{{name}}}"),
    }
}

/// Chooses where items of a table are stored. `reads` are those of this table; `changed` are the attributes that updates set. A
/// parent that is read together with its children is stored with them, by its identifier.
pub(super) fn choose(
    number: usize,
    reads: &[&Read],
    is_parent: bool,
    changed: &BTreeSet<String>,
    entities: &Entities<'_>,
) -> Placements {
    let identity = entities.identity(number);
    let mut placements = match entities.edge(number) {
        Some([from, to]) => both_directions(from, to, reads),
        None if is_parent && identity.len() == 1 => Placements {
            key: Placement { partition: identity.clone(), sort: Vec::new() },
            indexes: Vec::new(),
        },
        None => Placements { key: base(number, reads, changed, entities, &identity), indexes: Vec::new() },
    };
    // What asks for most comes first: its keys may serve the others too.
    let mut ordered: Vec<&&Read> = reads.iter().collect();
    ordered.sort_by_key(|read| {
        std::cmp::Reverse((read.equals.len(), read.range.is_some() || read.order.is_some()))
    });
    for read in ordered {
        let single = entities.identifies(number, &read.equals);
        let all = std::iter::once(&placements.key).chain(&placements.indexes);
        let is_optional = |name: &String| entities.is_optional(number, name);
        let key: Vec<String> = placements.key.partition.iter().chain(&placements.key.sort).cloned().collect();
        let is_get = read.whole_key(&key, entities).is_some();
        if !is_get && !all.into_iter().any(|placement| placement.serves(read, single, is_optional)) {
            let placement = placement(number, read, single, &identity, entities);
            placements.indexes.push(placement);
        }
    }
    placements
}

/// A relationship is stored in the direction in which it is read most, and found in the other through an index.
fn both_directions(from: String, to: String, reads: &[&Read]) -> Placements {
    let count = |end: &String| {
        reads.iter().filter(|read| read.equals.contains(end)).map(|read| read.count).sum::<u64>()
    };
    let (from, to) = if count(&to) > count(&from) { (to, from) } else { (from, to) };
    let inverted = Placement { partition: vec![to.clone()], sort: vec![from.clone()] };
    Placements { key: Placement { partition: vec![from], sort: vec![to] }, indexes: vec![inverted] }
}

/// The primary key: under the parent whose children are listed most, if the parent and the order never change; otherwise by identifier.
fn base(
    number: usize,
    reads: &[&Read],
    changed: &BTreeSet<String>,
    entities: &Entities<'_>,
    identity: &[String],
) -> Placement {
    let stable = |name: &String| !changed.contains(name) && !entities.is_optional(number, name);
    let parent =
        |name: &&String| entities.parent(number, name).is_some_and(|parent| parent != number) && stable(name);
    if identity.len() > 1 {
        let first = identity.iter().find(parent).unwrap_or(&identity[0]).clone();
        let sort = identity.iter().filter(|name| **name != first).cloned().collect();
        return Placement { partition: vec![first], sort };
    }
    let listed = reads.iter().filter(|read| !entities.identifies(number, &read.equals));
    let by_parent = listed.filter_map(|read| Some((read, read.equals.iter().find(parent)?)));
    // What is read with its parent is stored there. The order is that of the most frequent list; reads come in this order.
    let Some((read, parent)) = by_parent
        .max_by_key(|(read, _)| (matches!(read.with, With::Parent(_)), read.count, read.order.is_some()))
    else {
        return Placement { partition: identity.to_vec(), sort: Vec::new() };
    };
    let wanted = read
        .range
        .as_ref()
        .or(read.order.as_ref().map(|(by, _)| by))
        .filter(|by| stable(by) && !identity.contains(by));
    let plain = read.equals.len() == 1;
    let sort = wanted.filter(|_| plain).into_iter().chain(identity).cloned().collect();
    Placement { partition: vec![parent.clone()], sort }
}

/// The index key that serves a read.
fn placement(
    number: usize,
    read: &Read,
    single: bool,
    identity: &[String],
    entities: &Entities<'_>,
) -> Placement {
    if single {
        let sort = identity.iter().filter(|name| !read.equals.contains(name)).cloned().collect();
        return Placement { partition: read.equals.clone(), sort };
    }
    let parent = read.equals.iter().find(|name| entities.parent(number, name).is_some());
    let partition: Vec<String> = parent.map_or_else(|| read.equals.clone(), |parent| vec![parent.clone()]);
    let rest = read.equals.iter().filter(|name| !partition.contains(name));
    let wanted = read.range.as_ref().or(read.order.as_ref().map(|(by, _)| by));
    let mut sort: Vec<String> = Vec::new();
    for name in rest.chain(wanted).chain(identity) {
        if !sort.contains(name) && !partition.contains(name) {
            sort.push(name.clone());
        }
    }
    Placement { partition, sort }
}
