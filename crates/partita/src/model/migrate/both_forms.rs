//! Items that the application writes in the old form again after they have moved, as an application that is not switched yet does if it puts
//! whole items. Of the two forms, the one that was written last is right.

use super::Migration;
use super::actions::{Action, Change, Expected};
use super::follow::StreamChange;
use super::tables::Work;
use partita_design::item::Item;
use partita_design::migration::recount::{aggregates_of, with_aggregates};
use partita_design::migration::{Image, Transition};

/// Both forms of an item.
pub struct BothForms<'t> {
    old: Work<'t>,
    new: Work<'t>,
    /// What the new form would be under the old model.
    former: Item,
    /// When the old form was written.
    sequence: u128,
}

impl<'t> Migration<'t> {
    /// Both forms of an item that was written in the old one, if there are two.
    pub(super) fn both_forms(&mut self, change: &StreamChange) -> Result<Option<BothForms<'t>>, String> {
        let Some(old) = self.read(change.source, &change.key)?.filter(|_| self.tables.is_in_place()) else {
            return Ok(None);
        };
        let Image::Item(made) = &old.image else { return Ok(None) };
        let transition = self.tables.transition(0, 0);
        let key = made.key(transition.new);
        if key == change.key {
            return Ok(None);
        }
        let Some(new) = self.read(change.source, &key)? else { return Ok(None) };
        let back = Transition { old: transition.new, new: transition.old };
        let Image::Item(former) = back.image(&new.item) else { return Ok(None) };
        let is_pair = former.key(transition.old) == change.key && transition.is_new_form(&new.item);
        Ok(is_pair.then_some(BothForms { old, new, former: former.item, sequence: change.sequence }))
    }

    /// Gives the new form the values of the old one, and deletes that, if the new form was not written later, as the changes show that were made
    /// since. Otherwise both are left, and reported at the end.
    pub(super) fn unite(&mut self, pair: &BothForms<'t>, changes: &[StreamChange]) -> Result<(), String> {
        let tables = self.tables;
        let (key, old_key) = (pair.new.key(tables), pair.old.key(tables));
        let is_later = |change: &StreamChange| change.sequence > pair.sequence && change.key == key;
        if changes.iter().any(is_later) {
            return Ok(());
        }
        let mut united = pair.former.clone();
        united.extend(pair.old.item.clone());
        let transition = tables.transition(0, 0);
        let Image::Item(made) = transition.image(&united) else { return Ok(()) };
        let aggregates = aggregates_of(made.entity, &pair.new.item);
        let image = transition.image(&with_aggregates(made.entity, &made.item, &aggregates));
        let work = Work { source: 0, target: 0, item: pair.new.item.clone(), image };
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
}
