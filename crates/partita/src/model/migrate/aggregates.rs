//! Corrects the aggregates of the result: every item is counted under the new model, and items whose aggregates differ are written with the
//! counted ones, on the condition that these are as they were when they were counted.
//!
//! The application may write meanwhile. Where the table's stream is followed, what it shows is taken into account: aggregates whose items
//! changed during a count are counted again, from these items alone and as the stream shows them up to one moment. The condition holds only
//! if nothing has changed since.

use super::follow::{Follower, StreamChange};
use super::tables::{ModelTable, Tables, Work};
use super::{Migration, Options};
use crate::model::items;
use partita_design::Model;
use partita_design::item::Item;
use partita_design::migration::contents::key_hash;
use partita_design::migration::recount::{Correction, Recount, aggregates_of, with_aggregates};
use partita_design::migration::{Image, is_same, key_of};
use std::collections::{HashMap, HashSet};

/// How often aggregates are counted that the application changes.
const MAX_ROUNDS: u32 = 20;
/// How many items have their aggregates counted at a time while the application changes them: what they count is kept in memory.
const MAX_OWNERS: usize = 1_000;

impl Migration<'_> {
    /// Corrects the aggregates of all targets. Those that the application changes all the time are found by the verification.
    pub(super) fn correct_aggregates(&mut self, mut follower: Option<&mut Follower>) -> Result<(), String> {
        let tables = self.tables;
        for target in &tables.targets {
            let Some(mut recount) = Recount::new(&target.model) else { continue };
            let itself = Tables { sources: vec![target.clone()], targets: vec![target.clone()] };
            let mut corrector =
                Migration::new(&itself, Options { checkpoint: None, ..self.options.clone() })?;
            items::each(&mut self.client, &target.table, |item| recount.add(item))?;
            let changed = self.changed_meanwhile(&recount, &mut follower)?;
            let (mut corrected, mut left) =
                self.correct_with(&mut corrector, &recount.corrections(), changed.as_ref())?;
            for _ in 0..MAX_ROUNDS {
                if left.is_empty() {
                    break;
                }
                // Where the stream's end is not reached, items still get their new form faster than they can be counted.
                let Some(recount) = self.count_again(target, &left, &mut follower)? else { break };
                let (done, rest) =
                    self.correct_with(&mut corrector, &recount.corrections(), Some(&HashSet::new()))?;
                corrected += done;
                left = left.into_iter().skip(MAX_OWNERS).chain(rest).collect();
            }
            if corrected > 0 {
                println!("{corrected:>10} items of table {} have other aggregates now", target.table);
            }
        }
        Ok(())
    }

    /// Corrects aggregates by another migration, whose writes the stream shows like those of this one.
    fn correct_with(
        &mut self,
        corrector: &mut Migration<'_>,
        corrections: &[Correction],
        changed: Option<&HashSet<u64>>,
    ) -> Result<(u64, Vec<u64>), String> {
        std::mem::swap(&mut self.own_writes, &mut corrector.own_writes);
        let corrected = corrector.correct_all(corrections, changed);
        std::mem::swap(&mut self.own_writes, &mut corrector.own_writes);
        corrected
    }

    /// Corrects aggregates, except those that were changed while they were counted, which all may be if that is not known; returns how many,
    /// and which are left.
    fn correct_all(
        &mut self,
        corrections: &[Correction],
        changed: Option<&HashSet<u64>>,
    ) -> Result<(u64, Vec<u64>), String> {
        let (mut corrected, mut left) = (0, Vec::new());
        for correction in corrections {
            let is_unchanged = changed.is_some_and(|changed| !changed.contains(&correction.owner));
            if is_unchanged && self.correct(correction)? {
                corrected += 1;
            } else {
                left.push(correction.owner);
            }
        }
        Ok((corrected, left))
    }

    /// The items whose aggregates may have changed since the stream was read last; `None` if its end was not reached.
    fn changed_meanwhile(
        &mut self,
        recount: &Recount<'_>,
        follower: &mut Option<&mut Follower>,
    ) -> Result<Option<HashSet<u64>>, String> {
        let mut changed = HashSet::new();
        let Some(follower) = follower else { return Ok(Some(changed)) };
        let end = self.carry_to_end(follower, |StreamChange { old, new, .. }| {
            changed.extend(old.iter().chain(&new).flat_map(|item| recount.owners(item)));
        })?;
        Ok(end.map(|_| changed))
    }

    /// Counts the aggregates of some items, as they are at the end of the stream; `None` if that was not reached.
    fn count_again<'m>(
        &mut self,
        target: &'m ModelTable,
        owners: &[u64],
        follower: &mut Option<&mut Follower>,
    ) -> Result<Option<Recount<'m>>, String> {
        let owners: HashSet<u64> = owners.iter().take(MAX_OWNERS).copied().collect();
        let model: &'m Model = &target.model;
        let mut recount = Recount::only(model, owners);
        let mut kept: HashMap<u128, Item> = HashMap::new();
        items::each(&mut self.client, &target.table, |item| {
            if recount.is_about(item) {
                kept.insert(key_hash(&key_of(model, item)), item.clone());
            }
        })?;
        if let Some(follower) = follower {
            let mut changes = Vec::new();
            let end = self.carry_to_end(follower, |StreamChange { sequence, key, new, .. }| {
                changes.push((sequence, key_hash(&key), new.filter(|item| recount.is_about(item))));
            })?;
            let Some(end) = end else { return Ok(None) };
            for (_, key, new) in changes.into_iter().filter(|(sequence, ..)| *sequence <= end) {
                match new {
                    Some(item) => kept.insert(key, item),
                    None => kept.remove(&key),
                };
            }
        }
        kept.values().for_each(|item| recount.add(item));
        Ok(Some(recount))
    }

    /// Writes an item with the counted aggregates, and what follows from them; returns false if the application changed it meanwhile.
    fn correct(&mut self, correction: &Correction) -> Result<bool, String> {
        let Some(found) = self.read(0, &correction.key)? else { return Ok(false) };
        let Image::Item(present) = &found.image else { return Ok(false) };
        if !is_same(&aggregates_of(present.entity, &found.item), &correction.before) {
            return Ok(false);
        }
        let corrected = with_aggregates(present.entity, &found.item, &correction.after);
        let image = self.tables.transition(0, 0).image(&corrected);
        let work = Work { image, ..found };
        let Image::Item(new) = &work.image else { return Ok(false) };
        let found = self.look_up(std::slice::from_ref(&work))?;
        let plan = self.planner(&found).plan(&work, new);
        self.execute(&plan.actions)
    }

    /// What an item becomes if it keeps the aggregates that were counted in its target.
    pub(super) fn keep_aggregates<'t>(tables: &'t Tables, work: Work<'t>, found: Option<&Item>) -> Work<'t> {
        let (Image::Item(new), Some(found)) = (&work.image, found) else { return work };
        if new.entity.aggregates.is_empty() {
            return work;
        }
        let item = with_aggregates(new.entity, &work.item, &aggregates_of(new.entity, found));
        let Work { image, .. } = tables.work(work.source, item);
        Work { image, ..work }
    }
}
