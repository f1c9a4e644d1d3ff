//! The contents of a table by entity, as counts and fingerprints, so that two tables of any size can be compared.

use super::normal_form::normal_form;
use crate::audit::fingerprint::fingerprint;
use crate::item::Item;
use std::collections::{BTreeMap, BTreeSet};

/// The number of items of each entity and the sum of their fingerprints, which does not depend on their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    entities: BTreeMap<String, (u64, u128)>,
}

impl Contents {
    /// Adds an item.
    pub fn add(&mut self, entity: &str, item: &Item) {
        if !self.entities.contains_key(entity) {
            self.entities.insert(entity.to_owned(), (0, 0));
        }
        if let Some((count, sum)) = self.entities.get_mut(entity) {
            *count += 1;
            *sum = sum.wrapping_add(fingerprint(&format!("{:?}", normal_form(item))));
        }
    }

    /// Returns the number of all items.
    pub fn count(&self) -> u64 {
        self.entities.values().map(|(count, _)| count).sum()
    }

    /// Returns how the contents that were expected and those that were found differ, entity by entity.
    pub fn differences(&self, found: &Contents) -> Vec<String> {
        let names: BTreeSet<&String> = self.entities.keys().chain(found.entities.keys()).collect();
        let of =
            |contents: &Contents, name: &String| contents.entities.get(name).copied().unwrap_or_default();
        let mut differences = Vec::new();
        for name in names {
            match (of(self, name), of(found, name)) {
                (expected, found) if expected == found => {}
                ((expected, _), (found, _)) if expected != found => {
                    differences.push(format!("{name}: {expected} items expected, {found} found"));
                }
                ((count, _), _) => {
                    differences.push(format!("{name}: {count} items on both sides, with other contents"));
                }
            }
        }
        differences
    }
}

/// Returns a hash of the values of a key.
pub fn key_hash(key: &Item) -> u128 {
    hash(&format!("{:?}", normal_form(key)))
}

/// FNV-1a of 128 bits: in a billion texts, two have the same hash with a probability below 10⁻²⁰.
fn hash(text: &str) -> u128 {
    text.bytes().fold(0x6C62_272E_07BB_0142_62B8_2175_6295_C58D, |state, byte| {
        (state ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Value;

    fn contents(items: &[(&str, &str)]) -> Contents {
        let mut contents = Contents::default();
        for (entity, value) in items {
            contents.add(entity, &Item::from([("a".to_owned(), Value::Number((*value).to_owned()))]));
        }
        contents
    }

    #[test]
    fn contents_differ_by_count_or_by_value_but_not_by_order() {
        let expected = contents(&[("User", "1"), ("User", "2"), ("Order", "3")]);
        assert_eq!(expected.count(), 3);
        let same = contents(&[("Order", "3.0"), ("User", "2"), ("User", "1")]);
        assert_eq!(expected.differences(&same), [""; 0]);
        let found = contents(&[("User", "1"), ("User", "1"), ("Item", "3")]);
        assert_eq!(
            expected.differences(&found),
            [
                "Item: 0 items expected, 1 found",
                "Order: 1 items expected, 0 found",
                "User: 2 items on both sides, with other contents"
            ]
        );
    }
}
