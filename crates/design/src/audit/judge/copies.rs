//! Copies: an original and its copy are written, changed and deleted together, with the same values.
//!
//! On a table without violations an original has exactly one copy. Where its key follows from the original, that key shows whether there is one;
//! elsewhere the decision must contain the copy as it was.

use super::{SeenChange, SeenItem};
use crate::audit::copying::{Copying, PairKey};
use crate::audit::{KEY_SEPARATOR, Violation, violation};
use crate::model::Model;
use std::collections::BTreeMap;

pub fn judge(model: &Model, seen: &[SeenChange<'_, '_>]) -> Vec<(usize, Violation)> {
    let changed = seen.iter().filter(|change| change.is_change);
    let entities = changed.flat_map(|change| [&change.old, &change.new]).flatten().map(|item| item.entity);
    let mut violations = Vec::new();
    for copying in Copying::of_entities(model, entities) {
        if copying.is_versioned() || !copying.is_comparable() {
            continue;
        }
        let pairs = Pair::all(&copying, seen);
        let problems = pairs.iter().filter_map(|(pair, members)| members.problem(pair));
        violations.extend(problems.map(|(number, message)| (number, violation("copy", message))));
    }
    violations
}

/// An original and its copy, as far as a decision contains them.
struct Pair<'s, 'a, 'm> {
    copying: &'s Copying<'m>,
    seen: &'s [SeenChange<'a, 'm>],
    originals: Members<'s, 'a, 'm>,
    copies: Members<'s, 'a, 'm>,
}

/// The originals or the copies of a pair before and after the decision, with the numbers of their changes.
#[derive(Default)]
struct Members<'s, 'a, 'm> {
    before: BTreeMap<usize, &'s SeenItem<'a, 'm>>,
    after: BTreeMap<usize, &'s SeenItem<'a, 'm>>,
}

impl<'s, 'a, 'm> Pair<'s, 'a, 'm> {
    fn all(copying: &'s Copying<'m>, seen: &'s [SeenChange<'a, 'm>]) -> BTreeMap<PairKey, Pair<'s, 'a, 'm>> {
        let mut all: BTreeMap<PairKey, Pair<'s, 'a, 'm>> = BTreeMap::new();
        let new = || Pair { copying, seen, originals: Members::default(), copies: Members::default() };
        for (number, change) in seen.iter().enumerate() {
            let original = |item: &SeenItem<'_, '_>| copying.pair_of_original(&change.key, &item.values);
            let copy = |item: &SeenItem<'_, '_>| copying.pair_of_copy(&change.key, &item.values);
            if let Some(item) = change.old_of(copying.original)
                && let Some(pair) = original(item)
            {
                all.entry(pair).or_insert_with(new).originals.before.insert(number, item);
            }
            if let Some(item) = change.new_of(copying.original)
                && let Some(pair) = original(item)
            {
                all.entry(pair).or_insert_with(new).originals.after.insert(number, item);
            }
            if let Some(item) = change.old_of(copying.copy) {
                all.entry(copy(item)).or_insert_with(new).copies.before.insert(number, item);
            }
            if let Some(item) = change.new_of(copying.copy) {
                all.entry(copy(item)).or_insert_with(new).copies.after.insert(number, item);
            }
        }
        all
    }

    /// What is wrong, and with which change.
    fn problem(&self, pair: &PairKey) -> Option<(usize, String)> {
        if !self.is_changed() {
            return None;
        }
        let name = &self.copying.original.name;
        match (self.originals.after.iter().next(), self.copies.after.iter().next()) {
            (Some((number, _)), _) if self.originals.after.len() > 1 => {
                Some((*number, format!("several {name} have the copy {}", self.copying.name_of(pair))))
            }
            (_, Some((number, _))) if self.copies.after.len() > 1 => {
                Some((*number, format!("there are several {} of one {name}", self.copying.copy.name)))
            }
            (Some((number, original)), copy) => self.kept(*number, original, copy, pair),
            (None, Some((number, copy))) => self.without_original(*number, copy),
            (None, None) => self.gone(pair),
        }
    }

    /// Whether an original or a copy comes, goes or changes its values.
    fn is_changed(&self) -> bool {
        let differs = |members: &Members<'_, '_, '_>| {
            members.before.len() != members.after.len()
                || members
                    .before
                    .iter()
                    .any(|(number, old)| members.after.get(number).is_none_or(|new| !self.agree(old, new)))
        };
        differs(&self.originals) || differs(&self.copies)
    }

    /// Whether both items have the same values in the attributes that original and copy share.
    fn agree(&self, left: &SeenItem<'_, '_>, right: &SeenItem<'_, '_>) -> bool {
        self.copying.shared(left.item) == self.copying.shared(right.item)
    }

    /// There is an original afterwards: its copy has its values, and no other original had that copy.
    fn kept(
        &self,
        number: usize,
        original: &SeenItem<'_, '_>,
        copy: Option<(&usize, &&'s SeenItem<'a, 'm>)>,
        pair: &PairKey,
    ) -> Option<(usize, String)> {
        let (name, copy_name) = (&self.copying.original.name, &self.copying.copy.name);
        let before = self.originals.before.get(&number);
        let is_same = before.is_some_and(|before| self.agree(before, original));
        let Some((copy_number, copy)) = copy else {
            return match self.copies.before.keys().next() {
                Some(copy_number) => {
                    Some((*copy_number, format!("{copy_name} is deleted, and its original {name} is not")))
                }
                None => (!is_same).then(|| (number, written_without(name, "copy", copy_name))),
            };
        };
        if !self.agree(original, copy) {
            return Some(match is_same {
                true => (*copy_number, written_without(copy_name, "original", name)),
                false => (number, written_without(name, "copy", copy_name)),
            });
        }
        let shows_copy = !self.copies.before.is_empty();
        if self.copying.locates_copy() {
            let is_taken = self.originals.before.is_empty() && shows_copy && !self.was_mine(number);
            return is_taken
                .then(|| (number, format!("another {name} has the copy {}", self.copying.name_of(pair))));
        }
        // The key of the copy does not follow from the original: there may be another one.
        (before.is_some() && !shows_copy).then(|| {
            let message =
                format!("{name} changes, which requires a transaction that contains {copy_name} as it was");
            (number, message)
        })
    }

    /// Whether the copy as it was names the key of this original, which then was missing.
    fn was_mine(&self, number: usize) -> bool {
        let mut named = self.copies.before.values().map(|copy| self.copying.original_key(&copy.values));
        named.all(|key| key.is_some_and(|key| key == self.seen[number].key))
    }

    /// There is a copy afterwards, and the decision shows no original of it.
    fn without_original(&self, number: usize, copy: &SeenItem<'_, '_>) -> Option<(usize, String)> {
        let (name, copy_name) = (&self.copying.original.name, &self.copying.copy.name);
        if let Some(original) = self.originals.before.keys().next() {
            return Some((*original, self.leaves(*original)));
        }
        let is_same = self.copies.before.get(&number).is_some_and(|before| self.agree(before, copy));
        (!is_same).then(|| (number, written_without(copy_name, "original", name)))
    }

    /// Neither is there afterwards.
    fn gone(&self, pair: &PairKey) -> Option<(usize, String)> {
        let (name, copy_name) = (&self.copying.original.name, &self.copying.copy.name);
        if let (Some(number), true) = (self.originals.before.keys().next(), self.copies.before.is_empty()) {
            let is_absent = |change: &SeenChange<'_, '_>| change.result.is_none() && change.key == *pair;
            let is_shown = self.copying.locates_copy() && self.seen.iter().any(is_absent);
            return (!is_shown).then(|| (*number, self.leaves(*number)));
        }
        let (number, copy) = self.copies.before.iter().next()?;
        // A copy whose original is missing may be deleted.
        let key = self.copying.original_key(&copy.values);
        let is_missing =
            |change: &SeenChange<'_, '_>| change.result.is_none() && Some(&change.key) == key.as_ref();
        let is_shown = !self.originals.before.is_empty() || self.seen.iter().any(is_missing);
        (!is_shown).then(|| (*number, format!("{copy_name} is deleted, and its original {name} is not")))
    }

    /// That an original is deleted, or gets another copy, without the deletion of the copy it had.
    fn leaves(&self, number: usize) -> String {
        let Copying { original, copy } = self.copying;
        let is_kept = self.seen[number].new_of(original).is_some();
        let what = if is_kept { "changes the key of its copy" } else { "is deleted" };
        let key = self.originals.before.get(&number).and_then(|item| self.copying.copy_key(&item.values));
        let at = key.map(|key| format!(" ({})", key.join(KEY_SEPARATOR))).unwrap_or_default();
        format!(
            "{} {what}, which requires a transaction that deletes the copy {}{at}",
            original.name, copy.name
        )
    }
}

fn written_without(name: &str, role: &str, other: &str) -> String {
    format!("{name} is written without its {role} {other} with the same values in one transaction")
}
