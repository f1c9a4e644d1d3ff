//! Items that become one entity: a sample of them, and what is counted over all of them.

use super::values::Summary;
use crate::item::{Item, item_size};
use crate::random::{at, hash};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The number of items of a group that are kept.
const SAMPLE: usize = 1_000;
/// The number of partitions whose items are counted.
const MAX_PARTITIONS: usize = 200_000;

/// What tells the items of one entity from those of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    /// The name that the source gives them.
    pub label: Option<String>,
    /// The value of the type attribute.
    pub type_value: Option<String>,
    /// The words of the key attributes. One type under several keys is several entities: a copy has keys of its own.
    pub shape: Vec<String>,
}

/// The items of one entity.
#[derive(Debug)]
pub(super) struct Group {
    /// The number of items.
    pub count: u64,
    /// A random selection of the items.
    pub sample: Vec<Item>,
    /// The values of each attribute.
    pub attributes: BTreeMap<String, Summary>,
    bytes: u64,
    /// The size of the largest item.
    pub max_bytes: u64,
    /// The number of items by the hash of the partition key, while there are not too many.
    partitions: Option<HashMap<u64, u32>>,
}

impl Default for Group {
    fn default() -> Group {
        Group {
            count: 0,
            sample: Vec::new(),
            attributes: BTreeMap::new(),
            bytes: 0,
            max_bytes: 0,
            partitions: Some(HashMap::new()),
        }
    }
}

impl Group {
    /// Counts an item and keeps it with the probability that every item has.
    pub fn add(&mut self, item: Item, partition: &str) {
        self.count += 1;
        for (name, value) in &item {
            self.attributes.entry(name.clone()).or_default().add(value);
        }
        let size = item_size(&item) as u64;
        self.bytes += size;
        self.max_bytes = self.max_bytes.max(size);
        if let Some(partitions) = &mut self.partitions {
            *partitions.entry(hash(partition)).or_default() += 1;
            if partitions.len() > MAX_PARTITIONS {
                self.partitions = None;
            }
        }
        if self.sample.len() < SAMPLE {
            self.sample.push(item);
        } else {
            let slot = at(7, "sample", self.count) % self.count;
            if let Some(old) = self.sample.get_mut(slot as usize) {
                *old = item;
            }
        }
    }

    /// Adds what another group has.
    pub fn merge(&mut self, other: Group) {
        let count = self.count + other.count;
        // Each of all items is kept with the same probability.
        let share = |own: u64| (SAMPLE as u64 * own).div_ceil(count.max(1)) as usize;
        if self.sample.len() + other.sample.len() > SAMPLE {
            self.sample.truncate(share(self.count));
        }
        let free = SAMPLE - self.sample.len();
        self.sample.extend(other.sample.into_iter().take(free));
        for (name, summary) in other.attributes {
            self.attributes.entry(name).or_default().merge(summary);
        }
        (self.count, self.bytes) = (count, self.bytes + other.bytes);
        self.max_bytes = self.max_bytes.max(other.max_bytes);
        self.partitions = self.partitions.take().zip(other.partitions).map(|(mut own, others)| {
            others.into_iter().for_each(|(partition, items)| *own.entry(partition).or_default() += items);
            own
        });
    }

    /// Returns whether every item is in the sample.
    pub fn is_complete(&self) -> bool {
        self.sample.len() as u64 == self.count
    }

    /// Returns the average size of an item.
    pub fn bytes(&self) -> u64 {
        (self.bytes / self.count.max(1)).max(1)
    }

    /// Returns the number of partitions and the number of items in the largest.
    pub fn partitions(&self) -> Option<(u64, u64)> {
        let partitions = self.partitions.as_ref()?;
        Some((partitions.len() as u64, u64::from(partitions.values().copied().max()?)))
    }

    /// Returns whether most partitions of one of two groups are those of the other, unless there are too many to know.
    pub fn shares_partitions(&self, other: &Group) -> Option<bool> {
        let (own, others) = (self.partitions.as_ref()?, other.partitions.as_ref()?);
        let (few, many) = if own.len() < others.len() { (own, others) } else { (others, own) };
        Some(few.keys().filter(|partition| many.contains_key(*partition)).count() * 2 >= few.len())
    }

    /// Returns the number of items that have an attribute, also as null.
    pub fn having(&self, attribute: &str) -> u64 {
        self.attributes.get(attribute).map_or(0, |summary| summary.count + summary.nulls)
    }
}

/// Finds groups that differ only in words that are values after all: same name, type, start, words of the design and number of parts of the
/// keys, and same attributes. Each is represented by what they have in common.
pub(super) fn representatives(
    groups: &BTreeMap<GroupKey, Vec<Item>>,
    words: &BTreeSet<String>,
) -> BTreeMap<GroupKey, GroupKey> {
    let mut alike: BTreeMap<(GroupKey, Vec<&String>), Vec<&GroupKey>> = BTreeMap::new();
    for (key, items) in groups {
        let names: BTreeSet<&String> = items.iter().flat_map(Item::keys).collect();
        let names = if key.type_value.is_some() { Vec::new() } else { names.into_iter().collect() };
        let outline =
            GroupKey { shape: key.shape.iter().map(|shape| outline(shape, words)).collect(), ..key.clone() };
        alike.entry((outline, names)).or_default().push(key);
    }
    let mut representatives = BTreeMap::new();
    for keys in alike.into_values() {
        let mut common = keys[0].clone();
        for key in &keys {
            common.shape =
                common.shape.iter().zip(&key.shape).map(|(one, other)| merged(one, other)).collect();
        }
        representatives.extend(keys.into_iter().map(|key| (key.clone(), common.clone())));
    }
    representatives
}

/// The first word of a shape and the words of the design after it.
pub(super) fn outline(shape: &str, words: &BTreeSet<String>) -> String {
    let part = |(number, part): (usize, &str)| match number {
        0 => part.to_owned(),
        _ if words.contains(part) => part.to_owned(),
        _ => "*".to_owned(),
    };
    shape.split('#').enumerate().map(part).collect::<Vec<_>>().join("#")
}

/// A shape with `*` for the parts in which two of as many parts differ.
fn merged(one: &str, other: &str) -> String {
    let part = |(one, other): (&str, &str)| if one == other { one.to_owned() } else { "*".to_owned() };
    one.split('#').zip(other.split('#')).map(part).collect::<Vec<_>>().join("#")
}
