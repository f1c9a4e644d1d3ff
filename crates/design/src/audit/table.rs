//! Audits the items of a table: each item by itself, then uniqueness, copies and aggregates across all of them.
//!
//! Items are added one by one and not kept. Only unique values, with the keys of their items, and copies are stored by their fingerprints, so that a
//! large table can be read in a single pass.

use crate::audit::aggregates::AggregateTotals;
use crate::audit::copying::{Copying, PairKey};
use crate::audit::fingerprint::fingerprint;
use crate::audit::{self, MARKER};
use crate::item::{Attributes, Item, attributes};
use crate::model::{Entity, Model};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The number of messages that are kept for each rule, and of keys that one names.
pub const EXAMPLES: usize = 3;

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
    /// How many messages are kept for each rule.
    kept: usize,
    items: u64,
    violations: BTreeMap<&'static str, RuleViolations>,
    /// Unique values, by the fingerprint of the key of their marker.
    values: HashMap<u128, UniqueValue>,
    /// By the fingerprint of copy and identity: the newest original and the copy.
    copies: HashMap<u128, CopyPair>,
    aggregates: AggregateTotals<'m>,
}

/// A value that must be unique.
#[derive(Default)]
struct UniqueValue {
    /// The number of items with the value.
    items: u64,
    /// When the last of them expires, if ever.
    expiry: Option<String>,
    /// The marker, with when it expires.
    marker: Option<Option<String>>,
    /// The keys of the first of them.
    keys: Vec<String>,
    /// What messages call it: `User#email#a@b`.
    name: String,
}

impl UniqueValue {
    /// What is wrong.
    fn problem(&self) -> Option<String> {
        let UniqueValue { items, expiry, marker, keys, name } = self;
        match (items, marker) {
            (0, _) => Some(format!("the marker of {name} is stale: no item has the value")),
            (1, Some(marker)) if marker == expiry => None,
            (1, Some(marker)) => {
                let time = |expiry: &Option<String>| {
                    expiry.as_ref().map_or("never".to_owned(), |seconds| format!("at {seconds}"))
                };
                let (key, own, other) = (keys.concat(), time(expiry), time(marker));
                Some(format!("{key} expires {own}, and the marker of {name} {other}"))
            }
            (1, None) => {
                Some(format!("{}: {name} has no marker, so a second item can take the value", keys.concat()))
            }
            (several, _) => {
                let more = if *several > keys.len() as u64 { ", …" } else { "" };
                Some(format!("{several} items have {name}: {}{more}", keys.join(", ")))
            }
        }
    }
}

/// An original and its copy.
#[derive(Default)]
struct CopyPair {
    /// The number of originals, versions aside: there should be one.
    originals: u64,
    /// The newest version of the original, and the fingerprint of the values that both have.
    newest: Option<(i64, u128)>,
    /// The fingerprints of the values that copies have: there should be one.
    copies: BTreeSet<u128>,
    /// The number of copies that there should be one of.
    counted: u64,
    name: String,
}

impl CopyPair {
    /// What is wrong.
    fn problem(&self) -> Option<String> {
        let name = &self.name;
        let is_current = |original: u128| self.copies.iter().all(|copy| *copy == original);
        match self.newest {
            None => Some(format!("the copy {name} has no original")),
            Some(_) if self.originals > 1 => {
                Some(format!("{} originals have the copy {name}", self.originals))
            }
            Some(_) if self.copies.is_empty() => Some(format!("the copy {name} is missing")),
            Some(_) if self.counted > 1 => Some(format!("there are {} of the copy {name}", self.counted)),
            Some((_, original)) if is_current(original) => None,
            Some(_) => Some(format!("the copy {name} is out of sync")),
        }
    }
}

impl<'m> TableAudit<'m> {
    /// Starts an audit.
    pub fn new(model: &'m Model) -> TableAudit<'m> {
        TableAudit {
            model,
            kept: EXAMPLES,
            items: 0,
            violations: BTreeMap::new(),
            values: HashMap::new(),
            copies: HashMap::new(),
            aggregates: AggregateTotals::default(),
        }
    }

    /// Starts an audit that keeps all messages.
    pub fn with_all_messages(model: &'m Model) -> TableAudit<'m> {
        TableAudit { kept: usize::MAX, ..TableAudit::new(model) }
    }

    /// Checks an item.
    pub fn add(&mut self, item: &Item) {
        self.items += 1;
        let texts = attributes(item);
        let own = audit::key_text(self.model, &texts);
        for violation in audit::check_item(self.model, item) {
            let message = match violation.rule {
                "index" | "version" => format!("{own}: {}", violation.message),
                // The others name the key themselves.
                _ => violation.message,
            };
            self.record(violation.rule, message);
        }
        let key: Vec<String> =
            self.model.table.keys.iter().filter_map(|name| texts.get(name).cloned()).collect();
        if let Some(marker) = audit::marker_key(self.model, &key) {
            let owner = audit::owner_of_marker(self.model, marker);
            let expiry = owner.and_then(|owner| audit::expiry_of(owner, item));
            self.value(marker).marker = Some(expiry);
            return;
        }
        let Some(entity) = audit::recognise(self.model, &texts) else { return };
        let values = audit::known_values(self.model, entity, &texts);
        for marker in audit::markers(entity, item, &values) {
            let value = self.value(&marker);
            value.items += 1;
            value.expiry = audit::expiry_of(entity, item);
            if value.keys.len() < EXAMPLES {
                value.keys.push(own.clone());
            }
        }
        self.record_copies(entity, item, &key, &values);
        self.aggregates.add(self.model, entity, item, &values);
    }

    fn value(&mut self, key: &str) -> &mut UniqueValue {
        let name = key.trim_start_matches(MARKER);
        let new = || UniqueValue { name: name.to_owned(), ..UniqueValue::default() };
        self.values.entry(fingerprint(key)).or_insert_with(new)
    }

    fn record(&mut self, rule: &'static str, message: String) {
        let violations = self.violations.entry(rule).or_default();
        violations.items += 1;
        if violations.examples.len() < self.kept {
            violations.examples.push(message);
        }
    }

    fn record_copies(&mut self, entity: &Entity, item: &Item, key: &[String], values: &Attributes) {
        for copying in Copying::of_entity(self.model, entity).into_iter().filter(Copying::is_comparable) {
            let shared = fingerprint(&format!("{:?}", copying.shared(item)));
            if copying.copy.name == entity.name {
                let pair = self.pair(&copying, &copying.pair_of_copy(key, values));
                pair.copies.insert(shared);
                pair.counted += u64::from(entity.latest || !copying.is_versioned());
                continue;
            }
            let Some(pair) = copying.pair_of_original(key, values) else { continue };
            let pair = self.pair(&copying, &pair);
            pair.originals += u64::from(!copying.is_versioned());
            let version =
                entity.versions.as_ref().and_then(|name| values.get(name)?.parse().ok()).unwrap_or_default();
            if pair.newest.is_none_or(|(newest, _)| version >= newest) {
                pair.newest = Some((version, shared));
            }
        }
    }

    fn pair(&mut self, copying: &Copying<'_>, pair: &PairKey) -> &mut CopyPair {
        let (copy, original) = (&copying.copy.name, &copying.original.name);
        let name = || format!("{copy} of {original} with {}", copying.name_of(pair));
        let new = || CopyPair { name: name(), ..CopyPair::default() };
        self.copies.entry(fingerprint(&format!("{:?}", (copy, pair)))).or_insert_with(new)
    }

    /// Returns the number of items and the violations by rule.
    pub fn finish(mut self) -> (u64, BTreeMap<&'static str, RuleViolations>) {
        for message in sorted(std::mem::take(&mut self.values).values().filter_map(UniqueValue::problem)) {
            self.record("unique", message);
        }
        for message in sorted(std::mem::take(&mut self.copies).values().filter_map(CopyPair::problem)) {
            self.record("copy", message);
        }
        for message in std::mem::take(&mut self.aggregates).finish() {
            self.record("aggregate", message);
        }
        self.violations.values_mut().for_each(|violations| violations.examples.sort());
        (self.items, self.violations)
    }
}

/// In order, so that the same table gives the same messages.
fn sorted(messages: impl Iterator<Item = String>) -> Vec<String> {
    let mut messages: Vec<String> = messages.collect();
    messages.sort();
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Value;

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
        assert!(found[0].contains("USER#1 / USER: User#email#a@b has no marker"), "{found:?}");
        let found = inspect(&[user.clone(), marker.clone()]);
        assert!(found[0].contains("UserByEmail of User with EMAIL#a@b / USER is missing"), "{found:?}");
        let stale = item("UserByEmail", "EMAIL#old@b", "1", "old@b");
        let found = inspect(&[user.clone(), stale, marker.clone()]);
        assert!(found[0].contains("EMAIL#a@b / USER is missing"), "{found:?}");
        assert!(found[1].contains("EMAIL#old@b / USER has no original"), "{found:?}");
        let other = item("UserByEmail", "EMAIL#a@b", "2", "a@b");
        assert!(inspect(&[user.clone(), other, marker.clone()])[0].contains("is out of sync"));
        assert!(inspect(&[copy.clone(), marker.clone()]).iter().any(|text| text.contains("has no original")));
        assert!(inspect(std::slice::from_ref(&marker))[0].contains("is stale"));
        let twin = item("User", "USER#2", "2", "a@b");
        assert!(
            inspect(&[user, copy, marker, twin])
                .iter()
                .any(|text| text.contains("2 items have User#email#a@b: USER#1 / USER, USER#2 / USER"))
        );
        let many: Vec<Item> =
            (0..9).map(|id| item("User", &format!("USER#{id}"), &id.to_string(), "a@b")).collect();
        let found = inspect(&many);
        assert!(found.iter().any(|text| text.ends_with("USER#2 / USER, …")), "{found:?}");
        let wrong = item("User", "CLIENT#1", "1", "a@b");
        assert!(inspect(&[wrong])[0].starts_with("key: "));
    }

    /// These texts have the same FNV-1a hash after the start of a marker's key.
    #[test]
    fn values_that_were_chosen_to_collide_are_told_apart() {
        let model = crate::read(&crate::Source::new("t.toml", MODEL)).unwrap();
        let user = |id: &str, email: &str| item("User", &format!("USER#{id}"), id, email);
        let (one, other) = ("gQXm7D2H53I", "WNOWLHO8zIb");
        assert_eq!(
            crate::random::hash(&format!("UNIQUE#User#email#{one}")),
            crate::random::hash(&format!("UNIQUE#User#email#{other}"))
        );
        let mut audit = TableAudit::new(&model);
        [user("1", one), user("2", other)].iter().for_each(|item| audit.add(item));
        let unique = &audit.finish().1["unique"];
        assert!(unique.examples.iter().all(|text| text.contains("has no marker")), "{unique:?}");
    }

    #[test]
    fn every_violation_names_its_item_and_all_can_be_kept() {
        let text =
            format!("{}[index.GSI1]\nkeys = [\"GSI1PK\"]\n", MODEL.replace("unique = [\"email\"]\n", ""));
        let text = text.replace(
            "key = [\"USER#{userId}\", \"USER\"]",
            "key = [\"USER#{userId}\", \"USER\"]\nindex.GSI1 = { key = [\"MAIL#{email}\"] }",
        );
        let model = crate::read(&crate::Source::new("t.toml", &text)).unwrap();
        for (mut audit, kept) in [(TableAudit::new(&model), 3), (TableAudit::with_all_messages(&model), 9)] {
            (1..10).for_each(|id| audit.add(&item("User", &format!("USER#{id}"), &id.to_string(), "a@b")));
            let index = &audit.finish().1["index"];
            assert_eq!((index.items, index.examples.len()), (9, kept));
            assert_eq!(index.examples[0], "USER#1 / USER: GSI1PK is missing: User requires MAIL#{email}");
        }
    }
}
