//! Which shards of a partition key a pattern reads: all of them, unless it knows the attribute that selects one.

use super::Step;
use super::access::Alternatives;
use crate::item::Attributes;
use crate::keys::key_mapping::KeyMapping;
use crate::model::condition::Constant;
use crate::template::SHARD;
use std::collections::{BTreeMap, BTreeSet};

/// The shards that a pattern reads.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadShards {
    /// How many requests that takes, for each combination of the other values that requests take in turn.
    pub requests: u64,
    /// Their numbers, where values in a condition select them.
    pub numbers: Vec<String>,
    /// The share of the items that is in them.
    pub share: f64,
}

impl ReadShards {
    /// All shards, by one request.
    pub fn all() -> ReadShards {
        ReadShards { requests: 1, numbers: Vec::new(), share: 1.0 }
    }

    /// The shards under a partition key. `inputs` and `values` are what the pattern knows, `alternatives` those of the values that requests take in turn,
    /// `fixed` the fields that the key condition fixes.
    pub fn new(
        mapping: &KeyMapping<'_>,
        inputs: &[String],
        values: &BTreeMap<String, Vec<Constant>>,
        alternatives: &Alternatives,
        fixed: &[String],
    ) -> ReadShards {
        let all = mapping.shards();
        let whole = ReadShards { requests: all, numbers: Vec::new(), share: 1.0 };
        let Some(shard) = mapping.shard.filter(|_| all > 1) else { return whole };
        let Some(by) = shard.by.as_ref() else { return whole };
        let is_fixed = fixed.contains(by);
        if inputs.contains(by) || alternatives.contains_key(by) {
            let share = if is_fixed { 1.0 } else { 1.0 / all as f64 };
            return ReadShards { requests: 1, numbers: Vec::new(), share };
        }
        let Some(values) = values.get(by) else { return whole };
        // Which shards the application's own hash selects, and whether they are the same, is not known.
        if values.len() > 1 && !shard.is_computed() {
            return whole;
        }
        let numbers: BTreeSet<u64> = values.iter().map(|value| shard.of_text(value.as_str())).collect();
        let share = match mapping.values_of(by) {
            _ if is_fixed => 1.0,
            Some(held) if !held.is_empty() => {
                let read = held.iter().filter(|held| numbers.contains(&shard.of_text(held.as_str())));
                read.count() as f64 / held.len() as f64
            }
            _ => numbers.len() as f64 / all as f64,
        };
        let requests = numbers.len() as u64;
        ReadShards { requests, numbers: numbers.iter().map(u64::to_string).collect(), share }
    }
}

impl Step<'_> {
    /// Returns the numbers of the shards that are read for these values.
    pub(super) fn shards_of(&self, values: &Attributes) -> Vec<String> {
        if let Some(numbers) = self.alternatives.get(SHARD) {
            return numbers.clone();
        }
        let mapping = self.targets.first().and_then(|entity| self.location.mapping(entity));
        let Some(shard) = mapping.and_then(|mapping| mapping.shard) else { return Vec::new() };
        match shard.selected(values) {
            Some(number) => vec![number.to_string()],
            None => shard.numbers().map(|number| number.to_string()).collect(),
        }
    }
}
