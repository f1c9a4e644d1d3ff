//! Audits the items of a table: each item by itself, then uniqueness and copies across all of them.
//!
//! Items are added one by one and not kept. Only hashes of unique values and copies are stored, so that a table of any size can be read in a
//! single pass.

use crate::audit::{self, MARKER, marker};
use crate::formatting::list;
use crate::item::{Attributes, Item, Value, attributes};
use crate::model::{Entity, Model};
use crate::random::hash;
use std::collections::{BTreeMap, HashMap};

/// The number of messages that are kept for each rule.
const EXAMPLES: usize = 3;

/// The violations of one rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleViolations {
    /// The number of items that break it.
    pub items: u64,
    /// The first messages.
    pub examples: Vec<String>,
}

/// An audit of a table in progress.
pub struct TableAudit<'m> {
    model: &'m Model,
    items: u64,
    violations: BTreeMap<&'static str, RuleViolations>,
    /// Unique values, by the hash of the key of their marker.
    values: HashMap<u64, UniqueValue>,
    /// By the hash of copy and identity: the newest original and the copy.
    copies: HashMap<u64, CopyPair>,
}

/// A value that must be unique.
#[derive(Default)]
struct UniqueValue {
    /// The number of items with the value.
    items: u64,
    has_marker: bool,
    /// What messages call it: `User#email#a@b`.
    name: String,
}

/// An original and its copy.
#[derive(Default)]
struct CopyPair {
    /// Version and hash of the values that both have.
    original: Option<(f64, u64)>,
    copy: Option<u64>,
    name: String,
}

impl<'m> TableAudit<'m> {
    /// Starts an audit.
    pub fn new(model: &'m Model) -> TableAudit<'m> {
        TableAudit {
            model,
            items: 0,
            violations: BTreeMap::new(),
            values: HashMap::new(),
            copies: HashMap::new(),
        }
    }

    /// Checks an item.
    pub fn add(&mut self, item: &Item) {
        self.items += 1;
        let texts = attributes(item);
        let partition = self.model.table.keys.first().and_then(|key| texts.get(key));
        if let Some(key) = partition.filter(|key| key.starts_with(MARKER)) {
            self.value(key).has_marker = true;
            return;
        }
        for violation in audit::check_item(self.model, &texts) {
            self.record(violation.rule, violation.message);
        }
        let Some(entity) = audit::recognise(self.model, &texts) else { return };
        for name in &entity.unique {
            if let Some(value) = texts.get(name) {
                self.value(&marker(entity, name, value)).items += 1;
            }
        }
        self.record_copies(entity, item, &texts);
    }

    fn value(&mut self, key: &str) -> &mut UniqueValue {
        let name = key.trim_start_matches(MARKER);
        let new = || UniqueValue { name: name.to_owned(), ..UniqueValue::default() };
        self.values.entry(hash(key)).or_insert_with(new)
    }

    fn record(&mut self, rule: &'static str, message: String) {
        let violations = self.violations.entry(rule).or_default();
        violations.items += 1;
        if violations.examples.len() < EXAMPLES {
            violations.examples.push(message);
        }
    }

    fn record_copies(&mut self, entity: &Entity, item: &Item, texts: &Attributes) {
        let model = self.model;
        for copy in model.copies_of(&entity.name).filter(|copy| is_comparable(entity, copy)) {
            let version =
                entity.versions.as_ref().and_then(|name| texts.get(name)?.parse().ok()).unwrap_or_default();
            let values = shared_values_hash(entity, copy, item);
            let pair = self.pair(entity, copy, texts);
            if pair.original.is_none_or(|(newest, _)| version >= newest) {
                pair.original = Some((version, values));
            }
        }
        let original = entity.copies.as_deref().and_then(|name| model.entity(name));
        if let Some(original) = original.filter(|original| is_comparable(original, entity)) {
            let values = shared_values_hash(original, entity, item);
            self.pair(original, entity, texts).copy = Some(values);
        }
    }

    fn pair(&mut self, original: &Entity, copy: &Entity, texts: &Attributes) -> &mut CopyPair {
        let by: Vec<String> = identity(original)
            .into_iter()
            .map(|name| format!("{name} {}", texts.get(name).map_or("", String::as_str)))
            .collect();
        let name = format!("{} of {} with {}", copy.name, original.name, list(&by));
        self.copies.entry(hash(&name)).or_insert_with(|| CopyPair { name, ..CopyPair::default() })
    }

    /// Returns the number of items and the violations by rule.
    pub fn finish(mut self) -> (u64, BTreeMap<&'static str, RuleViolations>) {
        for (_, UniqueValue { items, has_marker, name }) in std::mem::take(&mut self.values) {
            let message = match (items, has_marker) {
                (0, true) => format!("the marker of {name} is stale: no item has the value"),
                (1, true) => continue,
                (1, false) => format!("{name} has no marker, so a second item can take the value"),
                (several, _) => format!("{several} items have {name}"),
            };
            self.record("unique", message);
        }
        for (_, pair) in std::mem::take(&mut self.copies) {
            let message = match (pair.original, pair.copy) {
                (Some((_, original)), Some(copy)) if original == copy => continue,
                (Some(_), Some(_)) => format!("the copy {} is out of sync", pair.name),
                (Some(_), None) => format!("the copy {} is missing", pair.name),
                (None, _) => format!("the copy {} has no original", pair.name),
            };
            self.record("copy", message);
        }
        self.violations.values_mut().for_each(|violations| violations.examples.sort());
        (self.items, self.violations)
    }
}

/// Returns whether each original, or its newest version, has a copy; otherwise nothing can be compared.
fn is_comparable(original: &Entity, copy: &Entity) -> bool {
    copy.identity.is_empty() || original.versions.is_some()
}

/// The attributes that identify an original, versions aside.
fn identity(original: &Entity) -> Vec<&str> {
    match original.identity() {
        Some(id) => vec![id],
        None => original
            .key_fields()
            .filter(|name| *name != crate::template::SHARD && Some(*name) != original.versions.as_deref())
            .collect(),
    }
}

/// A hash of the values that original and copy have in common.
fn shared_values_hash(original: &Entity, copy: &Entity, item: &Item) -> u64 {
    let shared = copy.attributes.iter().filter(|attribute| original.attribute(&attribute.name).is_some());
    let values: BTreeMap<&str, Option<&Value>> =
        shared.map(|attribute| (attribute.name.as_str(), item.get(&attribute.name))).collect();
    hash(&format!("{values:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.User]
attributes = { userId = "id", email = "string" }
key = ["USER#{userId}", "USER"]
unique = ["email"]
[entity.UserByEmail]
attributes = { userId = "id", email = "string" }
copies = "User"
key = ["EMAIL#{email}", "USER"]
"#;

    fn item(kind: &str, partition: &str, id: &str, email: &str) -> Item {
        let texts = [("type", kind), ("PK", partition), ("SK", "USER"), ("userId", id), ("email", email)];
        texts.iter().map(|(name, text)| ((*name).to_owned(), Value::String((*text).to_owned()))).collect()
    }

    fn inspect(items: &[Item]) -> Vec<String> {
        let model = crate::read(&crate::Source::new("t.toml", MODEL)).unwrap();
        let mut audit = TableAudit::new(&model);
        items.iter().for_each(|item| audit.add(item));
        let (_, violations) = audit.finish();
        violations
            .into_iter()
            .flat_map(|(rule, violations)| {
                violations.examples.into_iter().map(move |e| format!("{rule}: {e}"))
            })
            .collect()
    }

    #[test]
    fn uniqueness_and_copies_are_checked_across_items() {
        let user = item("User", "USER#1", "1", "a@b");
        let copy = item("UserByEmail", "EMAIL#a@b", "1", "a@b");
        let marker: Item = [("PK", "UNIQUE#User#email#a@b"), ("SK", "UNIQUE#User#email#a@b")]
            .map(|(name, text)| (name.to_owned(), Value::String(text.to_owned())))
            .into_iter()
            .collect();
        let whole = [user.clone(), copy.clone(), marker.clone()];
        assert_eq!(inspect(&whole), [""; 0]);
        let found = inspect(&whole[..2]);
        assert!(found[0].contains("User#email#a@b has no marker"), "{found:?}");
        let found = inspect(&[user.clone(), marker.clone()]);
        assert!(found[0].contains("UserByEmail of User with userId 1 is missing"), "{found:?}");
        let stale = item("UserByEmail", "EMAIL#old@b", "1", "old@b");
        assert!(inspect(&[user.clone(), stale, marker.clone()])[0].contains("is out of sync"));
        assert!(inspect(&[copy.clone(), marker.clone()]).iter().any(|text| text.contains("has no original")));
        assert!(inspect(std::slice::from_ref(&marker))[0].contains("is stale"));
        let twin = item("User", "USER#2", "2", "a@b");
        assert!(
            inspect(&[user, copy, marker, twin])
                .iter()
                .any(|text| text.contains("2 items have User#email#a@b"))
        );
        let wrong = item("User", "CLIENT#1", "1", "a@b");
        assert!(inspect(&[wrong])[0].starts_with("key: "));
    }
}
