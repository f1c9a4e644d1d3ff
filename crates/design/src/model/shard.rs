//! Shards: which number `{shard}` is in a key.

use crate::item::Attributes;
use crate::template::SHARD;
use std::ops::Range;

/// The most shards of a key. Each takes 1,000 writes a second, and a read of all of them is as many requests.
pub const MAX_SHARDS: u64 = 10_000;

/// How the items of one logical partition key are spread over shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The attribute whose hash selects the shard; `None` selects at random.
    pub by: Option<String>,
    /// The hash of that attribute.
    pub hash: ShardHash,
    /// The number of shards.
    pub count: u64,
}

/// The hash that selects a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShardHash {
    /// CRC-32 (IEEE) of the UTF-8 text that `{attribute}` in a template writes; that of a number has no exponent and no zeros at its end.
    #[default]
    Crc32,
    /// One that only the application knows.
    Other,
}

impl ShardHash {
    /// Its names in a model, the default first.
    pub const NAMES: [&str; 2] = ["crc32", "other"];

    /// Parses its name in a model.
    pub fn parse(name: &str) -> Option<ShardHash> {
        [ShardHash::Crc32, ShardHash::Other].into_iter().find(|hash| hash.name() == name)
    }

    /// Returns its name in a model.
    pub fn name(self) -> &'static str {
        let [crc32, other] = ShardHash::NAMES;
        match self {
            ShardHash::Crc32 => crc32,
            ShardHash::Other => other,
        }
    }
}

impl Shard {
    /// Returns the numbers of all shards.
    pub fn numbers(&self) -> Range<u64> {
        0..self.count.max(1)
    }

    /// Returns the shard of an item with these attributes, as generated items have it; `None` if it is drawn at random, or the item lacks the
    /// attribute. Where the hash is the application's own, CRC-32 stands for it.
    pub fn selected(&self, values: &Attributes) -> Option<u64> {
        values.get(self.by.as_ref()?).map(|text| self.of_text(text))
    }

    /// Returns the same shard for the same attributes, also where it is drawn at random.
    pub fn reproducible(&self, values: &Attributes) -> u64 {
        let all = || values.values().map(String::as_str).collect::<String>();
        self.selected(values).unwrap_or_else(|| self.of_text(&all()))
    }

    /// Returns the shard of items whose attribute has this text.
    pub fn of_text(&self, text: &str) -> u64 {
        u64::from(crc32fast::hash(text.as_bytes())) % self.count.max(1)
    }

    /// Returns whether an item may be in one shard only.
    pub fn is_computed(&self) -> bool {
        self.by.is_some() && self.hash == ShardHash::Crc32
    }

    /// Returns the only shard that an item with these attributes may be in; `None` if it may be in any.
    pub fn required(&self, values: &Attributes) -> Option<u64> {
        self.selected(values).filter(|_| self.is_computed())
    }

    /// Returns what is wrong with the shard number in the key of an item with these attributes.
    pub fn problem(&self, number: &str, values: &Attributes) -> Option<String> {
        let found = number.parse::<u64>().ok().filter(|found| found.to_string() == number);
        if found.is_none_or(|found| !self.numbers().contains(&found)) {
            return Some(format!("{{{SHARD}}} is a number from 0 to {}", self.count.max(1) - 1));
        }
        let required = self.required(values).filter(|required| Some(*required) != found)?;
        let by = self.by.as_deref().unwrap_or_default();
        Some(format!("{{{SHARD}}} is crc32({by}) % {}, here {required}", self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Attributes {
        [("orderId".to_owned(), text.to_owned())].into()
    }

    #[test]
    fn shards_are_those_that_other_languages_compute() {
        let shard = Shard { by: Some("orderId".to_owned()), hash: ShardHash::Crc32, count: 10 };
        // zlib.crc32(text.encode()) % 10 in Python.
        for (text, number) in [("", 0), ("a", 7), ("123456789", 2), ("o-1", 0), ("Ünïcode", 4), ("1.5", 8)]
        {
            assert_eq!(shard.selected(&values(text)), Some(number), "{text}");
            assert_eq!(shard.problem(&number.to_string(), &values(text)), None);
            assert!(shard.problem(&((number + 1) % 10).to_string(), &values(text)).is_some());
        }
    }

    #[test]
    fn only_the_range_is_checked_where_the_shard_is_not_computed() {
        let random = Shard { by: None, hash: ShardHash::Crc32, count: 4 };
        let other = Shard { by: Some("orderId".to_owned()), hash: ShardHash::Other, count: 4 };
        for shard in [random, other] {
            assert!((0..4).all(|number| shard.problem(&number.to_string(), &values("a")).is_none()));
            for wrong in ["4", "-1", "01", "x", ""] {
                assert!(shard.problem(wrong, &values("a")).is_some(), "{wrong}");
            }
        }
    }
}
