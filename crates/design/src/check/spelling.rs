//! Prefixes of one attribute that mean the same: in another case, in the plural, or abbreviated (`CUST` for `customerId`).
//! `ACCOUNT` and `ACCOUNT_EVENTS` are different.

use std::collections::{BTreeMap, BTreeSet};

/// Longer prefixes are not abbreviations.
const LONGEST_PREFIX: usize = 64;

/// The prefixes of one attribute in the table or an index, by their letters and digits.
#[derive(Default)]
pub struct Spellings {
    texts: BTreeMap<String, BTreeSet<String>>,
}

impl Spellings {
    pub fn insert(&mut self, text: &str) {
        self.texts.entry(alphanumerics(text)).or_default().insert(text.to_owned());
    }

    /// Returns another prefix that means the same as this one.
    pub fn similar(&self, text: &str, attribute: &str) -> Option<String> {
        let own = alphanumerics(text);
        let stem = alphanumerics(attribute);
        let stem = stem.strip_suffix("id").unwrap_or(&stem);
        let mut alike = vec![own.clone(), format!("{own}s"), format!("{own}es")];
        alike.extend(["s", "es"].into_iter().filter_map(|end| own.strip_suffix(end)).map(str::to_owned));
        if stem.starts_with(&own) {
            alike.push(stem.to_owned());
        }
        if stem == own {
            alike.extend((1..stem.len().min(LONGEST_PREFIX)).map(|end| stem[..end].to_owned()));
        }
        let texts = alike.iter().filter_map(|characters| self.texts.get(characters)).flatten();
        texts.filter(|other| *other != text).min().cloned()
    }
}

/// The letters and digits, in lower case.
fn alphanumerics(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|character| character.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_that_mean_the_same_are_found() {
        let similar = |known: &str, text: &str, attribute: &str| {
            let mut spellings = Spellings::default();
            spellings.insert(known);
            spellings.similar(text, attribute)
        };
        for (known, text) in
            [("USER#", "User#"), ("USERS#", "USER#"), ("BOX#", "BOXES#"), ("CUST#", "CUSTOMER#")]
        {
            assert_eq!(similar(known, text, "customerId").as_deref(), Some(known));
            assert_eq!(similar(text, known, "customerId").as_deref(), Some(text));
        }
        assert_eq!(similar("ACCOUNT#", "ACCOUNT_EVENTS#", "accountId"), None);
        assert_eq!(similar("CUST#", "CUSTOMER#", "userId"), None);
        assert_eq!(similar("USER#", "USER#", "userId"), None, "it is the same");
    }
}
