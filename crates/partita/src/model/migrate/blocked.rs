//! Items whose new key another item has: that one moves first. Items that exchange their keys move together, in one transaction.

use super::Migration;
use super::actions::{key_text, transactions};
use super::plan::Fate;
use super::summary::MigrationSummary;
use super::tables::Work;
use partita_design::item::Item;
use partita_design::migration::{Image, NewItem};

/// The most items that wait for each other and are moved at once; the others move in the next pass.
const MAX_WAITING: usize = 1_000;

/// Items of which each waits for the next.
enum Waiting {
    /// The last one's new key is free.
    Line(Vec<Item>),
    /// These exchange their keys.
    Circle(Vec<Item>),
    /// The last one's new key is that of an item which stays, or there are too many.
    Stuck,
}

impl<'t> Migration<'t> {
    /// Moves an item after those that have to leave before it.
    pub(super) fn move_blocked(
        &mut self,
        work: &Work<'t>,
        summary: &mut MigrationSummary,
    ) -> Result<(), String> {
        match self.waiting(work)? {
            Waiting::Line(keys) => {
                for key in keys.iter().rev() {
                    if self.retry(work.source, key, summary)? != Some(Fate::Moved) {
                        break;
                    }
                }
                Ok(())
            }
            Waiting::Circle(keys) if self.move_circle(work.source, &keys, summary)? => Ok(()),
            Waiting::Circle(_) | Waiting::Stuck => {
                if let Image::Item(new) = &work.image {
                    summary.add_blocked(key_text(&new.key(&self.tables.targets[work.target].model)));
                }
                Ok(())
            }
        }
    }

    /// The keys of the items that wait for each other, from this one on.
    fn waiting(&mut self, work: &Work<'t>) -> Result<Waiting, String> {
        let Image::Item(new) = &work.image else { return Ok(Waiting::Stuck) };
        let model = &self.tables.targets[work.target].model;
        let (mut keys, mut next) = (vec![work.key(self.tables)], new.key(model));
        while keys.len() < MAX_WAITING {
            if let Some(first) = keys.iter().position(|key| *key == next) {
                return Ok(Waiting::Circle(keys.split_off(first)));
            }
            let Some(other) = self.read(work.source, &next)? else { return Ok(Waiting::Line(keys)) };
            let Image::Item(new) = &other.image else { break };
            let own = std::mem::replace(&mut next, new.key(model));
            if own == next {
                break;
            }
            keys.push(own);
        }
        Ok(Waiting::Stuck)
    }

    /// Moves items that exchange their keys; returns false if they have changed meanwhile, or are too many for a transaction.
    fn move_circle(
        &mut self,
        source: usize,
        keys: &[Item],
        summary: &mut MigrationSummary,
    ) -> Result<bool, String> {
        let mut works = Vec::new();
        for key in keys {
            works.extend(self.read(source, key)?);
        }
        let found = self.look_up(&works)?;
        let circle: Vec<(&Work<'_>, &NewItem<'_>)> = works
            .iter()
            .filter_map(|work| match &work.image {
                Image::Item(new) => Some((work, &**new)),
                _ => None,
            })
            .collect();
        let is_turned = |number: usize| {
            let (work, new) = circle[number];
            let key = new.key(&self.tables.targets[work.target].model);
            key == circle[(number + 1) % circle.len()].0.key(self.tables)
                && self.planner(&found).plan(work, new).fate == Fate::Blocked
        };
        if circle.len() != keys.len() || !(0..circle.len()).all(is_turned) {
            return Ok(false);
        }
        let plan = self.planner(&found).plan_circle(&circle);
        if transactions(&plan.actions).len() > 1 || !self.execute(&plan.actions)? {
            return Ok(false);
        }
        summary.add(&plan);
        summary.moved += circle.len() as u64 - 1;
        Ok(true)
    }
}
