//! The tables of a log, their keys and indexes: as CreateTable declares them, or as requests use them.

use super::line::{Access, Comparison, Read, accesses, parse};
use crate::exchange::table_definition::from_description;
use crate::inference::KnownSchema;
use crate::model::{Index, Projection};
use std::collections::{BTreeMap, BTreeSet};

/// The most tables, and the most indexes of each, that are told apart.
const MAX_NAMES: usize = 100;

/// The tables of a log.
#[derive(Default)]
pub struct LoggedTables {
    tables: BTreeMap<String, Uses>,
}

#[derive(Default)]
struct Uses {
    requests: u64,
    declared: Option<(Vec<String>, Vec<Index>)>,
    /// The attributes of keys that requests give as a whole.
    keys: BTreeSet<String>,
    /// How key conditions use attributes, by index.
    conditions: BTreeMap<Option<String>, Condition>,
}

#[derive(Default)]
struct Condition {
    equal: BTreeMap<String, u64>,
    unequal: BTreeSet<String>,
}

impl LoggedTables {
    /// Reads a line.
    pub fn add(&mut self, line: &str) {
        let Some(recorded) = parse(line) else { return };
        if recorded.operation == "CreateTable" {
            if let Some(uses) = recorded.request["TableName"].as_str().and_then(|name| self.uses(name)) {
                uses.declared = Some(from_description(&recorded.request));
            }
            return;
        }
        for sent in accesses(&recorded.operation, &recorded.request).unwrap_or_default() {
            let Some(uses) = self.uses(&sent.table) else { continue };
            uses.requests += 1;
            if let Access::Read(read) = sent.access {
                uses.read(&read);
            }
        }
    }

    fn uses(&mut self, table: &str) -> Option<&mut Uses> {
        if self.tables.len() >= MAX_NAMES && !self.tables.contains_key(table) {
            return None;
        }
        Some(self.tables.entry(table.to_owned()).or_default())
    }

    /// Returns the table with the most requests.
    pub fn busiest(&self) -> Option<&str> {
        self.tables.iter().max_by_key(|(_, uses)| uses.requests).map(|(name, _)| name.as_str())
    }

    /// Returns what the log tells about the keys of a table.
    pub fn schema(&self, table: &str) -> KnownSchema {
        let empty = Uses::default();
        let uses = self.tables.get(table).unwrap_or(&empty);
        let (keys, indexes) = uses.declared.clone().unwrap_or_else(|| (uses.table_keys(), uses.indexes()));
        KnownSchema { table: table.to_owned(), keys, indexes, ..KnownSchema::default() }
    }
}

impl Uses {
    fn read(&mut self, read: &Read) {
        if !read.query {
            self.keys.extend(read.terms.iter().take(2).map(|(name, _)| name.clone()));
            return;
        }
        if self.conditions.len() >= MAX_NAMES {
            return;
        }
        let condition = self.conditions.entry(read.index.clone()).or_default();
        for (name, comparison) in &read.terms {
            match comparison {
                Comparison::Equals(_) => *condition.equal.entry(name.clone()).or_default() += 1,
                _ => drop(condition.unequal.insert(name.clone())),
            }
        }
    }

    fn table_keys(&self) -> Vec<String> {
        let found = self.conditions.get(&None).map(Condition::keys).unwrap_or_default();
        let is_first = |name: &&String| found.first() == Some(*name) || name.eq_ignore_ascii_case("pk");
        let Some(first) = self.keys.iter().find(is_first).or(found.first()).or(self.keys.first()) else {
            return Vec::new();
        };
        let rest = self.keys.iter().chain(&found).find(|name| *name != first);
        std::iter::once(first).chain(rest).cloned().collect()
    }

    fn indexes(&self) -> Vec<Index> {
        let named = self.conditions.iter().filter_map(|(name, condition)| Some((name.clone()?, condition)));
        named
            .map(|(name, condition)| Index {
                name,
                local: false,
                keys: condition.keys(),
                partition_keys: 1,
                project: Projection::All,
                span: 0..0,
            })
            .collect()
    }
}

impl Condition {
    /// The attribute that is always compared for equality, and another.
    fn keys(&self) -> Vec<String> {
        let fixed = self.equal.iter().filter(|(name, _)| !self.unequal.contains(*name));
        let Some((partition, _)) = fixed.max_by_key(|(_, count)| **count) else { return Vec::new() };
        let sort = self.unequal.iter().chain(self.equal.keys()).find(|name| *name != partition);
        std::iter::once(partition.clone()).chain(sort.cloned().or_else(|| partner(partition))).collect()
    }
}

/// `GSI1PK` comes with `GSI1SK`.
fn partner(partition: &str) -> Option<String> {
    let pair = [("PK", "SK"), ("pk", "sk")];
    pair.iter().find_map(|(old, new)| Some(format!("{}{new}", partition.strip_suffix(old)?)))
}
