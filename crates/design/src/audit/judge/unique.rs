//! Unique values: the marker of a value comes and goes with the item that has it.
//!
//! On a table without violations a marker exists exactly if one item has its value. So a marker that is created shows that nobody had the
//! value, and one that exists shows that somebody has it.

use super::SeenChange;
use crate::audit::{Violation, marker_key, markers, violation};
use crate::model::Model;
use std::collections::BTreeMap;

/// What a decision does to one unique value.
#[derive(Default)]
struct UniqueValue {
    /// The changes whose items take the value, give it up, and keep it.
    taken: Vec<usize>,
    given_up: Vec<usize>,
    kept: usize,
    /// The change of the marker, and whether it exists before and after.
    marker: Option<(usize, (bool, bool))>,
}

pub fn judge(model: &Model, seen: &[SeenChange<'_, '_>]) -> Vec<(usize, Violation)> {
    let mut values: BTreeMap<String, UniqueValue> = BTreeMap::new();
    for (number, change) in seen.iter().enumerate() {
        if let Some(text) = marker_key(model, &change.key) {
            values.entry(text.to_owned()).or_default().marker = Some((number, change.presence));
        }
        let before =
            change.old.as_ref().map(|item| markers(item.entity, item.item, &item.values)).unwrap_or_default();
        let after =
            change.new.as_ref().map(|item| markers(item.entity, item.item, &item.values)).unwrap_or_default();
        for text in after.difference(&before) {
            values.entry(text.clone()).or_default().taken.push(number);
        }
        for text in before.difference(&after) {
            values.entry(text.clone()).or_default().given_up.push(number);
        }
        for text in before.intersection(&after) {
            values.entry(text.clone()).or_default().kept += 1;
        }
    }
    let wrong = |(key, value): (&String, &UniqueValue)| {
        value.problem(key).map(|(number, message)| (number, violation("unique", message)))
    };
    values.iter().filter_map(wrong).collect()
}

impl UniqueValue {
    /// What is wrong, and with which change.
    fn problem(&self, key: &str) -> Option<(usize, String)> {
        let name = key.trim_start_matches(crate::audit::MARKER);
        let (taken, given_up) = (self.taken.len(), self.given_up.len());
        match self.marker {
            Some((_, (false, true))) if taken + self.kept == 1 => None,
            Some((number, (false, true))) if taken + self.kept == 0 => {
                Some((number, format!("the marker of {name} is put without the item that has the value")))
            }
            Some((number, (false, true))) => Some((number, format!("several items have {name}"))),
            Some((_, (true, false))) if taken + self.kept == 0 && given_up > 0 => None,
            Some((number, (true, false))) if given_up + taken + self.kept == 0 => {
                Some((number, format!("the marker of {name} is deleted without the item that has the value")))
            }
            Some((number, (true, false))) => {
                Some((number, format!("the marker of {name} is deleted, and an item keeps the value")))
            }
            Some((_, (true, true))) if taken > given_up => {
                let number = self.taken.first()?;
                Some((*number, format!("{name} is taken: its marker exists already")))
            }
            _ if taken > given_up => {
                let number = self.taken.first()?;
                Some((
                    *number,
                    format!("{name} is unique, which requires a transaction that creates its marker ({key})"),
                ))
            }
            // Without a marker before, there is none to delete.
            Some((_, (false, false))) => None,
            // Another item is seen to have the value, so the marker stays.
            _ if given_up > taken && self.kept == 0 => {
                let number = self.given_up.first()?;
                Some((
                    *number,
                    format!(
                        "{name} is no longer used, which requires a transaction that deletes its marker ({key})"
                    ),
                ))
            }
            _ => None,
        }
    }
}
