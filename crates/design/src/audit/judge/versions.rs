//! Versions: numbered from 1 without gaps, and the copy is that of the newest.
//!
//! The copy shows which version is the newest. So a decision that adds, changes or removes versions contains the copy, and a version is
//! removed only where the decision shows that the one before it does not exist, or that it becomes the newest.
//!
//! A copy whose key changes with its values is not found where it is expected. Then version 1 shows whether there are any, so it is the
//! last to be removed.

use super::{SeenChange, SeenItem};
use crate::audit::copying::{Copying, PairKey};
use crate::audit::{Violation, violation};
use crate::item::Attributes;
use crate::model::{Entity, Model};
use std::collections::{BTreeMap, BTreeSet};

pub fn judge(model: &Model, seen: &[SeenChange<'_, '_>]) -> Vec<(usize, Violation)> {
    let changed = seen.iter().filter(|change| change.is_change);
    let entities = changed.flat_map(|change| [&change.old, &change.new]).flatten().map(|item| item.entity);
    let mut violations = Vec::new();
    for copying in Copying::of_entities(model, entities) {
        if !copying.is_versioned() || !copying.is_comparable() {
            continue;
        }
        for (number, message) in History::all(&copying, seen).values().filter_map(History::problem) {
            violations.push((number, violation("version", message)));
        }
    }
    violations
}

/// The versions of one original in a decision, and their copy.
struct History<'s, 'a, 'm> {
    copying: &'s Copying<'m>,
    /// The versions that the decision contains.
    versions: BTreeMap<i64, Vec<Shown<'s, 'a, 'm>>>,
    /// The copy; several items if its key changes.
    copies: Vec<Shown<'s, 'a, 'm>>,
    /// A change that is named if something is wrong.
    number: usize,
}

/// What a change shows of one original: an item before and after.
#[derive(Clone, Copy)]
struct Shown<'s, 'a, 'm> {
    old: Option<&'s SeenItem<'a, 'm>>,
    new: Option<&'s SeenItem<'a, 'm>>,
    /// Whether the key has an item afterwards, be it of another original.
    is_taken: bool,
}

/// An original, and one of its versions; without a number, their copy.
type Place = (PairKey, Option<i64>);

/// What a change shows. An item that becomes that of another original leaves one and comes to the other.
fn shown<'s, 'a, 'm>(
    copying: &Copying<'m>,
    change: &'s SeenChange<'a, 'm>,
) -> BTreeMap<Place, Shown<'s, 'a, 'm>> {
    let nothing = Shown { old: None, new: None, is_taken: change.result.is_some() };
    let place = |entity: &Entity, values: &Attributes| -> Option<Place> {
        let identity = || copying.identity_of(entity, &change.key, values);
        if entity.name == copying.copy.name {
            return Some((identity(), None));
        }
        let version = copying.original.versions.as_ref().and_then(|name| values.get(name)?.parse().ok());
        (entity.name == copying.original.name).then(|| (identity(), Some(version.unwrap_or_default())))
    };
    let place_of = |item: &SeenItem<'_, '_>| place(item.entity, &item.values);
    let mut all = BTreeMap::new();
    if let Some(item) = &change.old
        && let Some(place) = place_of(item)
    {
        all.entry(place).or_insert(nothing).old = Some(item);
    }
    if let Some(item) = &change.new
        && let Some(place) = place_of(item)
    {
        all.entry(place).or_insert(nothing).new = Some(item);
    }
    let absent = change.absent().and_then(|(entity, values)| place(entity, values));
    all.extend(absent.map(|place| (place, nothing)));
    all
}

impl<'s, 'a, 'm> History<'s, 'a, 'm> {
    fn all(
        copying: &'s Copying<'m>,
        seen: &'s [SeenChange<'a, 'm>],
    ) -> BTreeMap<PairKey, History<'s, 'a, 'm>> {
        let mut all = BTreeMap::new();
        for (number, change) in seen.iter().enumerate() {
            let new = || History { copying, versions: BTreeMap::new(), copies: Vec::new(), number };
            for ((identity, version), shown) in shown(copying, change) {
                let history = all.entry(identity).or_insert_with(new);
                match version {
                    Some(version) => history.versions.entry(version).or_default().push(shown),
                    None => history.copies.push(shown),
                }
            }
        }
        all
    }

    fn original_before(&self, version: i64) -> Option<&'s SeenItem<'a, 'm>> {
        self.versions.get(&version)?.iter().find_map(|shown| shown.old)
    }

    fn original_after(&self, version: i64) -> Option<&'s SeenItem<'a, 'm>> {
        self.versions.get(&version)?.iter().find_map(|shown| shown.new)
    }

    fn differs(&self, old: Option<&SeenItem<'_, '_>>, new: Option<&SeenItem<'_, '_>>) -> bool {
        old.map(|item| self.copying.shared(item.item)) != new.map(|item| self.copying.shared(item.item))
    }

    fn problem(&self) -> Option<(usize, String)> {
        self.message().map(|message| (self.number, message))
    }

    fn message(&self) -> Option<String> {
        let (original, copy) = (self.copying.original, self.copying.copy);
        let is_changed =
            |version: &&i64| self.differs(self.original_before(**version), self.original_after(**version));
        let changed: BTreeSet<i64> = self.versions.keys().filter(is_changed).copied().collect();
        let old = self.copies.iter().find_map(|shown| shown.old);
        let mut after = self.copies.iter().filter_map(|shown| shown.new);
        let new = after.next();
        if after.next().is_some() {
            return Some(format!("there are several {} of one {}", copy.name, original.name));
        }
        // A version has one key.
        if let Some((version, _)) = self.versions.iter().find(|(_, shown)| shown.len() > 1) {
            return Some(format!("several keys are those of version {version} of one {}", original.name));
        }
        if changed.is_empty() && !self.differs(old, new) {
            return None;
        }
        let moves = self.copying.copy_moves();
        let existed = changed.iter().any(|version| self.original_before(*version).is_some());
        if self.copies.is_empty() || (moves && old.is_none() && existed) {
            return Some(format!(
                "{} is written without {}, the copy of its newest version, in one transaction",
                original.name, copy.name
            ));
        }
        let name = original.versions.as_deref()?;
        // A copy without the number shows values only.
        if copy.attribute(name).is_none() {
            let is_shown = |version: &i64| new.is_some() && !self.differs(self.original_after(*version), new);
            if changed.is_empty() && !self.versions.keys().any(is_shown) {
                return Some(format!(
                    "{} is written without a version of its original {}",
                    copy.name, original.name
                ));
            }
            let newest = changed.iter().rev().find_map(|version| self.original_after(*version));
            let wrong = newest.is_some() && self.differs(newest, new);
            return wrong
                .then(|| format!("{} has other values than the newest {}", copy.name, original.name));
        }
        // Without a copy there is no version; to repair a missing copy, the decision shows the one it copies.
        let stored = || self.versions.keys().rev().find(|version| self.original_before(**version).is_some());
        let before = match old {
            Some(item) => item.number(name),
            None if moves => Some(0),
            None => Some(stored().copied().unwrap_or(0)),
        };
        let newest = match self.newest(before, &changed) {
            Ok(newest) => newest,
            Err(message) => return Some(message),
        };
        let shown = self.original_after(newest);
        let is_current = match (newest, new) {
            (0, new) => new.is_none(),
            (_, None) => false,
            (_, Some(new)) if shown.is_some() => !self.differs(shown, Some(new)),
            (_, new) => !self.differs(old, new),
        };
        (!is_current).then(|| match newest {
            0 => format!("{} is written without a version of its original {}", copy.name, original.name),
            _ => format!(
                "{} must have the values of {} with {name} {newest}, the newest",
                copy.name, original.name
            ),
        })
    }

    /// The number of the newest version afterwards; 0 if there is none.
    fn newest(&self, before: Option<i64>, changed: &BTreeSet<i64>) -> Result<i64, String> {
        let original = &self.copying.original.name;
        let copy = &self.copying.copy.name;
        let Some(mut newest) = before else { return Err(format!("{copy} has no version number")) };
        for version in changed.iter().filter(|version| self.original_before(**version).is_none()) {
            newest = newest.saturating_add(1);
            if *version != newest {
                return Err(format!("{version} is not the next version of {original}, which is {newest}"));
            }
        }
        let is_gone = |version: i64| {
            let shown = self.versions.get(&version);
            version == 0 || shown.is_some_and(|shown| shown.iter().all(|shown| !shown.is_taken))
        };
        while newest > 0 && self.versions.contains_key(&newest) && is_gone(newest) {
            newest -= 1;
            if newest > 0 && !self.versions.contains_key(&newest) {
                return Err(format!(
                    "version {} of {original} is deleted, which requires version {newest} in the transaction: as the newest one, or checked not to exist",
                    newest + 1
                ));
            }
            if is_gone(newest) && self.original_before(newest).is_none() {
                newest = 0;
            }
        }
        let is_deleted = |version: &&i64| **version < newest && self.original_after(**version).is_none();
        if self.copying.copy_moves()
            && let Some(version) = changed.iter().find(is_deleted)
        {
            return Err(format!(
                "version {version} of {original} is deleted before the newer ones: the key of {copy} changes, so nothing would show that there are others"
            ));
        }
        match changed.iter().find(|version| is_deleted(version) && !is_gone(version.saturating_sub(1))) {
            Some(version) => Err(format!(
                "version {version} of {original} is deleted, which requires a check in the transaction that version {} does not exist",
                version.saturating_sub(1)
            )),
            None => Ok(newest),
        }
    }
}
