//! Unique values: the marker of a value comes and goes with the item that has it, and expires when that does.
//!
//! On a table without violations a marker exists exactly if one item has its value. So a marker that is created shows that nobody had the
//! value, and one that exists shows that somebody has it.

use super::SeenChange;
use crate::audit::{MARKER, Violation, expiry_of, marker_key, markers, owner_of_marker, violation};
use crate::model::Model;
use std::collections::BTreeMap;

/// When something expires, if ever.
type Expiry = Option<String>;

/// What a decision does to one unique value.
#[derive(Default)]
struct UniqueValue {
    /// When the items that have the value expire, before and after, by the number of their change.
    before: BTreeMap<usize, Expiry>,
    after: BTreeMap<usize, Expiry>,
    marker: Option<SeenMarker>,
}

/// The change of a marker, and when it expires if it exists before and after.
struct SeenMarker {
    number: usize,
    before: Option<Expiry>,
    after: Option<Expiry>,
}

pub fn judge(model: &Model, seen: &[SeenChange<'_, '_>]) -> Vec<(usize, Violation)> {
    let mut values: BTreeMap<String, UniqueValue> = BTreeMap::new();
    for (number, change) in seen.iter().enumerate() {
        let marker = marker_key(model, &change.key);
        if let Some((text, owner)) = marker.and_then(|text| Some((text, owner_of_marker(model, text)?))) {
            let [before, after] =
                [change.stored, change.result].map(|item| item.map(|item| expiry_of(owner, item)));
            values.entry(text.to_owned()).or_default().marker = Some(SeenMarker { number, before, after });
        }
        for (item, is_new) in [(&change.old, false), (&change.new, true)] {
            let Some(item) = item else { continue };
            for text in markers(item.entity, item.item, &item.values) {
                let value = values.entry(text).or_default();
                let holders = if is_new { &mut value.after } else { &mut value.before };
                holders.insert(number, expiry_of(item.entity, item.item));
            }
        }
    }
    let wrong = |(key, value): (&String, &UniqueValue)| {
        let problem = value.problem(key).or_else(|| value.problem_of_expiry(key));
        problem.map(|(number, message)| (number, violation("unique", message)))
    };
    values.iter().filter_map(wrong).collect()
}

impl UniqueValue {
    /// The change of the first item that has the value afterwards and had not before.
    fn first_taken(&self) -> Option<usize> {
        self.after.keys().find(|number| !self.before.contains_key(number)).copied()
    }

    /// What is wrong, and with which change.
    fn problem(&self, key: &str) -> Option<(usize, String)> {
        let name = key.trim_start_matches(MARKER);
        let (had, have) = (self.before.len(), self.after.len());
        let kept = self.after.keys().filter(|number| self.before.contains_key(number)).count();
        let marker = self
            .marker
            .as_ref()
            .map(|marker| (marker.number, marker.before.is_some(), marker.after.is_some()));
        match marker {
            Some((_, false, true)) if have == 1 => None,
            Some((number, false, true)) if have == 0 => {
                Some((number, format!("the marker of {name} is put without the item that has the value")))
            }
            Some((number, false, true)) => Some((number, format!("several items have {name}"))),
            Some((_, true, false)) if have == 0 && had > 0 => None,
            Some((number, true, false)) if have == 0 => {
                Some((number, format!("the marker of {name} is deleted without the item that has the value")))
            }
            Some((number, true, false)) => {
                Some((number, format!("the marker of {name} is deleted, and an item keeps the value")))
            }
            Some((_, true, true)) if have > had => {
                Some((self.first_taken()?, format!("{name} is taken: its marker exists already")))
            }
            _ if have > had => Some((
                self.first_taken()?,
                format!("{name} is unique, which requires a transaction that creates its marker ({key})"),
            )),
            // Without a marker before, there is none to delete.
            Some((_, false, false)) => None,
            // Another item is seen to have the value, so the marker stays.
            _ if had > have && kept == 0 => {
                let number = self.before.keys().find(|number| !self.after.contains_key(number))?;
                let message = format!(
                    "{name} is no longer used, which requires a transaction that deletes its marker ({key})"
                );
                Some((*number, message))
            }
            _ => None,
        }
    }

    /// What is wrong with when the marker expires: before its item, another could take the value, and after it, nobody can. The marker that
    /// the decision does not show expires as the item did before.
    fn problem_of_expiry(&self, key: &str) -> Option<(usize, String)> {
        let name = key.trim_start_matches(MARKER);
        let was = self.before.values().next();
        let marker = self.marker.as_ref();
        let marker =
            marker.and_then(|marker| Some((marker.number, marker.before.as_ref(), marker.after.as_ref()?)));
        let Some((number, expiry)) = self.after.first_key_value() else {
            let (number, before, after) = marker?;
            let message = format!("the marker of {name} expires at another time, and its item does not");
            return before.is_some_and(|before| before != after).then_some((number, message));
        };
        let is_changed =
            was != Some(expiry) || marker.is_some_and(|(_, before, after)| before != Some(after));
        let is_right = match marker {
            Some((_, _, after)) => after == expiry,
            None => was == Some(expiry),
        };
        (is_changed && !is_right).then(|| {
            let message = format!(
                "{name} is unique, which requires a transaction after which its marker ({key}) expires when its item does"
            );
            (*number, message)
        })
    }
}
