//! Items that the application writes in the old form again after they have moved, as an application that is not switched yet does if it puts
//! whole items. Of the two forms, the one that was written last is right. An item that it has put and deleted again is deleted.
//!
//! An update under the old key of an item that has moved makes an item of the updated attributes alone: what it was to add to is elsewhere. Both
//! are left then, and reported at the end.

use super::Migration;
use super::actions::{Action, Change, Expected};
use super::follow::StreamChange;
use super::plan::{Found, Plan, Planner};
use super::tables::Work;
use partita_design::Model;
use partita_design::item::{Item, Value};
use partita_design::migration::recount::{aggregates_of, with_aggregates};
use partita_design::migration::{Image, NewItem, Transition, is_same_value, key_of};

/// Both forms of an item.
pub struct BothForms<'t> {
    old: Work<'t>,
    new: NewForm<'t>,
}

/// The new form of an item that the application has written in the old one.
pub struct NewForm<'t> {
    work: Work<'t>,
    /// What it would be under the old model.
    former: Item,
}

impl<'t> Migration<'t> {
    /// Both forms of an item with a key of the old one, if there are two.
    pub(super) fn both_forms(
        &mut self,
        source: usize,
        old_key: &Item,
    ) -> Result<Option<BothForms<'t>>, String> {
        let Some(old) = self.read(source, old_key)?.filter(|_| self.tables.is_in_place()) else {
            return Ok(None);
        };
        let Image::Item(made) = &old.image else { return Ok(None) };
        let new = self.new_form(source, old_key, made)?;
        Ok(new.map(|new| BothForms { old, new }))
    }

    /// The new form of what was written in the old one, if there is one under another key.
    fn new_form(
        &mut self,
        source: usize,
        old_key: &Item,
        made: &NewItem<'_>,
    ) -> Result<Option<NewForm<'t>>, String> {
        let transition = self.tables.transition(0, 0);
        let key = made.key(transition.new);
        if key == *old_key {
            return Ok(None);
        }
        let known = self.successors.as_ref().and_then(|successors| successors.get(old_key));
        for key in [Some(key), known].into_iter().flatten() {
            let Some(work) = self.read(source, &key)? else { continue };
            if let Some(former) = former(&transition, old_key, &work.item) {
                return Ok(Some(NewForm { work, former }));
            }
        }
        Ok(None)
    }

    /// Gives the new form the values of the old one, and deletes that, if the application has not written the new form later, as the changes show,
    /// and the old form is a whole item. Otherwise both are left, and reported at the end. Returns false if one of them has changed meanwhile.
    pub(super) fn unite(&mut self, pair: &BothForms<'t>, changes: &[StreamChange]) -> Result<bool, String> {
        let (key, old_key) = (pair.new.work.key(self.tables), pair.old.key(self.tables));
        let Some(sequence) = last_put(&old_key, changes) else { return Ok(true) };
        // What the migration has written there are earlier values of the old form.
        let mut others = changes.iter().filter(|change| change.own.is_none());
        if others.any(|change| change.sequence > sequence && change.key == key)
            || !pair.is_whole(&self.tables.sources[0].model)
        {
            return Ok(true);
        }
        self.take_over(pair)
    }

    /// Gives the new form the values of the old one, and deletes that; returns false if one of them has changed meanwhile.
    fn take_over(&mut self, pair: &BothForms<'t>) -> Result<bool, String> {
        let transition = self.tables.transition(0, 0);
        // What the migration computed follows from the values of the old form again.
        let mut united = transition.without_computed(&pair.new.former);
        united.extend(pair.old.item.clone());
        let Image::Item(made) = transition.image(&united) else { return Ok(true) };
        let aggregates = aggregates_of(made.entity, &pair.new.work.item);
        let image = transition.image(&with_aggregates(made.entity, &made.item, &aggregates));
        let work = Work { source: 0, target: 0, item: pair.new.work.item.clone(), image };
        let Image::Item(new) = &work.image else { return Ok(true) };
        let found = self.look_up(std::slice::from_ref(&work))?;
        let belongings = pair.new.belongings(transition.new);
        let planner = Planner { belongings: &belongings, ..self.planner(&found) };
        let Plan { fate, mut actions, .. } = planner.plan(&work, new);
        if fate.is_left() {
            return Ok(true);
        }
        actions.push(self.deletion_of_old(pair));
        self.execute(&actions)
    }

    fn deletion_of_old(&self, pair: &BothForms<'t>) -> Action {
        Action {
            table: self.tables.sources[0].table.clone(),
            key: pair.old.key(self.tables),
            change: Change::Delete,
            expected: Expected::same(&pair.old.item, &self.names),
        }
    }

    /// Leaves the newer form of an item that has both, or says whether that will be done.
    pub(super) fn unites(
        &mut self,
        work: &Work<'t>,
        new: &NewItem<'_>,
        found: &Found,
        apply: bool,
    ) -> Result<bool, String> {
        if apply {
            return self.leave_newer_form(work.source, &work.key(self.tables));
        }
        let planner = self.planner(found);
        Ok(planner.new_form(work, new).is_some_and(|new_form| self.shows_newer_form(work, new_form)))
    }

    /// Leaves the newer form of an item that has both, if they show which it is themselves; returns false if they do not, or have changed.
    fn leave_newer_form(&mut self, source: usize, old_key: &Item) -> Result<bool, String> {
        let Some(pair) = self.both_forms(source, old_key)? else { return Ok(false) };
        match pair.is_old_newer(&self.tables.sources[0].model) {
            Some(true) => self.take_over(&pair),
            Some(false) => self.execute(&[self.deletion_of_old(&pair)]),
            None => Ok(false),
        }
    }

    /// Whether the two forms of an item show which of them is newer.
    fn shows_newer_form(&self, old: &Work<'t>, new: &Item) -> bool {
        let transition = self.tables.transition(0, 0);
        let Some(former) = former(&transition, &old.key(self.tables), new) else { return false };
        let (image, item) = (old.image.clone(), old.item.clone());
        let old = Work { source: 0, target: 0, item, image };
        let pair = BothForms { old, new: NewForm { work: self.tables.work(0, new.clone()), former } };
        pair.is_old_newer(&self.tables.sources[0].model).is_some()
    }

    /// The new form of an item that was put in the old one and is gone: if it was not written since, the application has deleted the item.
    pub(super) fn deleted_form(&mut self, change: &StreamChange) -> Result<Option<NewForm<'t>>, String> {
        let Some(put) = change.new.clone().filter(|_| self.tables.is_in_place() && !change.may_be_repeated)
        else {
            return Ok(None);
        };
        let work = self.tables.work(change.source, put);
        match &work.image {
            Image::Item(made) if self.read(change.source, &change.key)?.is_none() => {
                self.new_form(change.source, &change.key, made)
            }
            _ => Ok(None),
        }
    }

    /// Deletes the new form of an item that the application has put and deleted in the old one, with its markers and copies, unless the changes
    /// show that it was written later: then it is that item, moved.
    pub(super) fn delete_form(&mut self, form: &NewForm<'t>, changes: &[StreamChange]) -> Result<(), String> {
        let tables = self.tables;
        let key = form.work.key(tables);
        let Image::Item(new) = &form.work.image else { return Ok(()) };
        let old_key = key_of(&tables.sources[0].model, &form.former);
        let Some(sequence) = last_put(&old_key, changes) else { return Ok(()) };
        if was_written_since(&key, sequence, changes) {
            return Ok(());
        }
        let (table, model) = (&tables.targets[0].table, &tables.targets[0].model);
        let found = self.look_up(std::slice::from_ref(&form.work))?;
        let mut actions = vec![Action::delete(table, key, form.work.item.clone())];
        for key in form.belongings(model).into_iter().chain(new.obsolete.clone()) {
            let item = found.get(table, &key).filter(|_| actions.iter().all(|action| action.key != key));
            actions.extend(item.map(|item| Action::delete(table, key.clone(), item.clone())));
        }
        self.execute(&actions).map(|_| ())
    }
}

impl NewForm<'_> {
    /// The keys of its markers and copies.
    fn belongings(&self, model: &Model) -> Vec<Item> {
        let Image::Item(new) = &self.work.image else { return Vec::new() };
        new.companions.iter().map(|companion| key_of(model, &companion.item)).collect()
    }
}

impl BothForms<'_> {
    /// Whether the old form is newer than the new one or says the same, as the values or the numbers of a lock show; `None` if they do not.
    fn is_old_newer(&self, model: &Model) -> Option<bool> {
        let Image::Item(made) = &self.old.image else { return None };
        let is_there = |(name, value): (&String, &Value)| {
            self.new.work.item.get(name).is_some_and(|other| is_same_value(other, value))
        };
        if !self.is_whole(model) || made.item.iter().all(is_there) {
            return self.is_whole(model).then_some(true);
        }
        let lock = made.before?.lock.as_deref()?;
        let number = |item: &Item| item.get(lock)?.to_text()?.parse::<f64>().ok();
        let (old, new) = (number(&self.old.item)?, number(&self.new.former)?);
        (old != new).then_some(old > new)
    }

    /// Whether the old form is an item that was put, and not what an update made of nothing: it has all that the old model requires of it, and
    /// not only numbers, which an update may have counted from zero.
    fn is_whole(&self, model: &Model) -> bool {
        let Image::Item(made) = &self.old.image else { return false };
        let is_required = |name: &str| {
            let attribute = made.before.and_then(|before| before.attribute(name));
            model.table.type_attribute.as_deref() == Some(name) || attribute.is_some_and(|own| !own.optional)
        };
        let is_wanted = |name: &&String| is_required(name) && !model.table.keys.contains(name);
        let wanted: Vec<&String> = self.new.former.keys().filter(is_wanted).collect();
        let value = |name: &&String| self.old.item.get(*name);
        let is_evidence = |value: &Value| !matches!(value, Value::Number(_));
        wanted.iter().all(|name| value(name).is_some()) && wanted.iter().filter_map(value).any(is_evidence)
    }
}

/// What an item would be under the old model, if it is the new form of the one that has this key there.
pub fn former(transition: &Transition<'_>, old_key: &Item, new_form: &Item) -> Option<Item> {
    transition.former(new_form).filter(|former| key_of(transition.old, former) == *old_key)
}

/// When something was put under a key for the last time.
fn last_put(key: &Item, changes: &[StreamChange]) -> Option<u128> {
    let puts = changes.iter().filter(|change| change.key == *key && change.new.is_some());
    puts.map(|change| change.sequence).max()
}

/// Whether an item was written after a moment.
fn was_written_since(key: &Item, sequence: u128, changes: &[StreamChange]) -> bool {
    changes.iter().any(|change| change.sequence > sequence && change.key == *key)
}
