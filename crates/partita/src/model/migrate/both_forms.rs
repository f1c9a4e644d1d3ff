//! Items that the application writes in the old form again after they have moved, as an application that is not switched yet does if it puts
//! whole items. Of the two forms, the one that was written last is right. An item that it has put and deleted again is deleted.
//!
//! An update under the old key of an item that has moved makes an item of the updated attributes alone: what it was to add to is elsewhere. Both
//! are left then, and reported at the end.

use super::Migration;
use super::actions::{Action, Change, Expected};
use super::follow::StreamChange;
use super::tables::Work;
use partita_design::Model;
use partita_design::item::{Item, Value};
use partita_design::migration::recount::{aggregates_of, with_aggregates};
use partita_design::migration::{Image, NewItem, Transition, key_of};

/// Both forms of an item.
pub struct BothForms<'t> {
    old: Work<'t>,
    new: NewForm<'t>,
    /// When the old form was written.
    sequence: u128,
}

/// The new form of an item that the application has written in the old one.
pub struct NewForm<'t> {
    work: Work<'t>,
    /// What it would be under the old model.
    former: Item,
}

impl<'t> Migration<'t> {
    /// Both forms of an item that was written in the old one, if there are two.
    pub(super) fn both_forms(&mut self, change: &StreamChange) -> Result<Option<BothForms<'t>>, String> {
        let Some(old) = self.read(change.source, &change.key)?.filter(|_| self.tables.is_in_place()) else {
            return Ok(None);
        };
        let Image::Item(made) = &old.image else { return Ok(None) };
        let new = self.new_form(change, made)?;
        Ok(new.map(|new| BothForms { old, new, sequence: change.sequence }))
    }

    /// The new form of what was written in the old one, if there is one under another key.
    fn new_form(&mut self, change: &StreamChange, made: &NewItem<'_>) -> Result<Option<NewForm<'t>>, String> {
        let transition = self.tables.transition(0, 0);
        let key = made.key(transition.new);
        if key == change.key {
            return Ok(None);
        }
        let Some(work) = self.read(change.source, &key)? else { return Ok(None) };
        let back = Transition { old: transition.new, new: transition.old };
        let Image::Item(former) = back.image(&work.item) else { return Ok(None) };
        let is_pair = former.key(transition.old) == change.key && transition.is_new_form(&work.item);
        Ok(is_pair.then_some(NewForm { work, former: former.item }))
    }

    /// Gives the new form the values of the old one, and deletes that, if the new form was not written later, as the changes show that were made
    /// since, and the old form is a whole item. Otherwise both are left, and reported at the end.
    pub(super) fn unite(&mut self, pair: &BothForms<'t>, changes: &[StreamChange]) -> Result<(), String> {
        let tables = self.tables;
        let (key, old_key) = (pair.new.work.key(tables), pair.old.key(tables));
        if was_written_since(&key, pair.sequence, changes) || !pair.is_whole(&tables.sources[0].model) {
            return Ok(());
        }
        let mut united = pair.new.former.clone();
        united.extend(pair.old.item.clone());
        let transition = tables.transition(0, 0);
        let Image::Item(made) = transition.image(&united) else { return Ok(()) };
        let aggregates = aggregates_of(made.entity, &pair.new.work.item);
        let image = transition.image(&with_aggregates(made.entity, &made.item, &aggregates));
        let work = Work { source: 0, target: 0, item: pair.new.work.item.clone(), image };
        let Image::Item(new) = &work.image else { return Ok(()) };
        let found = self.look_up(std::slice::from_ref(&work))?;
        let mut actions = self.planner(&found).plan(&work, new).actions;
        actions.push(Action {
            table: tables.sources[0].table.clone(),
            key: old_key,
            change: Change::Delete,
            expected: Expected::same(&pair.old.item, &self.names),
        });
        // If one of them has changed meanwhile, the stream shows it, and it is carried then.
        self.execute(&actions).map(|_| ())
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
                self.new_form(change, made)
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
        let puts = changes.iter().filter(|change| change.key == old_key && change.new.is_some());
        let Some(sequence) = puts.map(|change| change.sequence).max() else { return Ok(()) };
        if was_written_since(&key, sequence, changes) {
            return Ok(());
        }
        let (table, model) = (&tables.targets[0].table, &tables.targets[0].model);
        let found = self.look_up(std::slice::from_ref(&form.work))?;
        let mut actions = vec![Action::delete(table, key, form.work.item.clone())];
        let companions = new.companions.iter().map(|companion| key_of(model, &companion.item));
        for key in companions.chain(new.obsolete.clone()) {
            let item = found.get(table, &key).filter(|_| actions.iter().all(|action| action.key != key));
            actions.extend(item.map(|item| Action::delete(table, key.clone(), item.clone())));
        }
        self.execute(&actions).map(|_| ())
    }
}

impl BothForms<'_> {
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

/// Whether an item was written after a moment.
fn was_written_since(key: &Item, sequence: u128, changes: &[StreamChange]) -> bool {
    changes.iter().any(|change| change.sequence > sequence && change.key == *key)
}
