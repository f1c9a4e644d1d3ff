//! Judges what an application writes while its table is migrated: it may write as before, or as afterwards.
//!
//! Whichever it does, the stored items may have their other form by then, which it does not know. A decision that neither model accepts with the items as
//! they are stored is therefore judged once more with these in the form that the model gives them.

use super::image::is_marker;
use super::{Transition, old_name};
use crate::audit::judge::{Change, judge};
use crate::audit::{Violation, check_item, recognise};
use crate::item::{Item, Value, attributes};
use crate::model::{Attribute, Entity, Model};
use std::collections::{BTreeMap, BTreeSet};

type Violations = Vec<(usize, Violation)>;

impl<'m> Transition<'m> {
    /// Judges the changes of one decision. All its items must be those of the old model or all those of the new one, and the decision must be
    /// right under that model. Returns the violations with the numbers of the changes that cause them.
    pub fn judge(&self, changes: &[Change]) -> Violations {
        let doubled: Violations = changes
            .iter()
            .enumerate()
            .filter_map(|(number, change)| Some((number, self.doubled(change)?)))
            .collect();
        if !doubled.is_empty() {
            return doubled;
        }
        let back = Transition { old: self.new, new: self.old };
        let ways: [&dyn Fn() -> Option<Violations>; 4] = [
            &|| self.judge_by_new(changes),
            &|| back.judge_by_new(changes),
            &|| self.judge_in_new_form(changes),
            &|| back.judge_in_new_form(changes),
        ];
        let mut found = None;
        for violations in ways.iter().filter_map(|way| way()) {
            if violations.is_empty() {
                return violations;
            }
            found.get_or_insert(violations);
        }
        // What both models refuse is said in the terms of the new one.
        found.unwrap_or_else(|| vec![(0, mixed())])
    }

    /// What is wrong with an update of an attribute under its old name where the item has its new form: it would have both, and nothing would say later
    /// which of them is right.
    fn doubled(&self, change: &Change) -> Option<Violation> {
        let (entity, (old, new)) = self.names_of_one(change.new.as_ref()?)?;
        let was = change.old.as_ref().and_then(|item| self.names_of_one(item));
        was.is_none().then(|| Violation {
            rule: "type",
            message: format!(
                "{} would have both {old} and {new}, which are its old and its new name for one value: while the table is migrated, put the whole item instead",
                entity.name
            ),
            missing: None,
        })
    }

    /// What the new model says of a decision; `None` if it has items of the old model only.
    fn judge_by_new(&self, changes: &[Change]) -> Option<Violations> {
        let is_foreign = |item: &Item| is_of(self.old, item) && !is_of(self.new, item);
        let mut items = changes.iter().flat_map(|change| change.old.iter().chain(&change.new));
        (!items.any(is_foreign)).then(|| judge(self.new, changes))
    }

    /// What the new model says of a decision if the stored items have their new form; `None` if they have it.
    fn judge_in_new_form(&self, changes: &[Change]) -> Option<Violations> {
        let formed: Vec<Change> = changes.iter().map(|change| self.in_new_form(change)).collect();
        if formed.iter().zip(changes).all(|(formed, change)| formed.old == change.old) {
            return None;
        }
        let mut violations = self.judge_by_new(&formed)?;
        let mut stored =
            formed.iter().filter_map(|change| recognise(self.new, &attributes(change.old.as_ref()?)));
        if stored.any(|entity| self.lacks_aggregates(entity)) {
            violations.retain(|(_, violation)| violation.rule != "aggregate");
        }
        Some(violations)
    }

    /// A change of a stored item as one of its new form. What results has the old form if the application has changed the item without putting it
    /// whole, or only checks it; what it has changed must be the same in both forms, or it knows the old one.
    fn in_new_form(&self, change: &Change) -> Change {
        let formed = |item: &Item| self.form_at_same_key(item).unwrap_or_else(|| item.clone());
        let old = change.old.as_ref().map(formed);
        let kept = change.old.as_ref().zip(old.as_ref()).zip(change.new.as_ref()).and_then(
            |((stored, old), new)| {
                let made = formed(new);
                let is_same = self.changed(stored, new) == self.changed(old, &made);
                let is_right = stored == new || check_item(self.old, new).is_empty();
                (old != stored && is_same && is_right).then_some(made)
            },
        );
        Change { key: change.key.clone(), old, new: kept.or_else(|| change.new.clone()) }
    }

    /// What a write changes of an item, the keys of indexes aside.
    fn changed<'i>(&self, old: &Item, new: &'i Item) -> BTreeMap<String, Option<&'i Value>> {
        let indexes = || self.old.indexes.iter().chain(&self.new.indexes);
        let is_generated = |name: &String| indexes().any(|index| index.keys.contains(name));
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let changed = names.into_iter().filter(|name| old.get(*name) != new.get(*name));
        changed.filter(|name| !is_generated(name)).map(|name| (name.clone(), new.get(name))).collect()
    }

    /// Whether items of an entity have aggregates that they lack in their old form, so that nothing shows what they were.
    fn lacks_aggregates(&self, after: &Entity) -> bool {
        let former = |attribute: &Attribute| {
            let before = self.predecessor(after)?;
            before.attribute(old_name(before, after, attribute)?)
        };
        let mut aggregates = after.aggregates.iter().filter_map(|own| after.attribute(&own.name));
        aggregates.any(|attribute| former(attribute).is_none())
    }
}

fn mixed() -> Violation {
    Violation {
        rule: "type",
        message:
            "while the table is migrated, a transaction has items of the old model or of the new one, not of both"
                .to_owned(),
        missing: None,
    }
}

/// Whether an item is one that the model describes, right or wrong.
fn is_of(model: &Model, item: &Item) -> bool {
    let texts = attributes(item);
    is_marker(model, &texts) || recognise(model, &texts).is_some()
}
