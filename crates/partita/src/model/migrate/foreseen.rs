//! What only all items together show: collisions, and aggregates.

use super::actions::{item_units, transaction_units};
use super::ledger::Ledger;
use super::summary::MigrationSummary;
use super::tables::{Tables, Work};
use partita_design::Model;
use partita_design::migration::contents::key_hash;
use partita_design::migration::recount::Recount;
use partita_design::migration::{Companion, Image, NewItem};
use std::collections::HashMap;

pub struct Foreseen<'t> {
    pub ledger: Ledger,
    /// The aggregates of each target, if it has any.
    recounts: Vec<Option<Recount<'t>>>,
    /// The write units of an item that gets other aggregates, by its target and the hash of its key.
    units: HashMap<(usize, u128), u64>,
}

impl<'t> Foreseen<'t> {
    pub fn new(tables: &'t Tables) -> Foreseen<'t> {
        let recounts = tables.targets.iter().map(|target| Recount::new(&target.model)).collect();
        Foreseen { ledger: Ledger::default(), recounts, units: HashMap::new() }
    }

    /// Counts what an item of a model will be.
    pub fn count(&mut self, work: &Work<'_>, model: &Model) {
        let recount = self.recounts.get_mut(work.target).and_then(Option::as_mut);
        let (Image::Item(new), Some(recount)) = (&work.image, recount) else { return };
        recount.add(&new.item);
        if !new.entity.aggregates.is_empty() {
            self.units.insert((work.target, key_hash(&new.key(model))), units(new));
        }
        // Of several versions, one has a copy.
        let copies = new.companions.iter().filter(|companion| companion.version.is_none());
        copies.for_each(|copy| recount.add(&copy.item));
    }

    /// Adds the items that get other aggregates.
    pub fn add_aggregates(&self, summary: &mut MigrationSummary) {
        for (target, recount) in self.recounts.iter().enumerate() {
            for correction in recount.iter().flat_map(Recount::corrections) {
                let units = self.units.get(&(target, key_hash(&correction.key)));
                summary.aggregates += 1;
                summary.units += units.copied().unwrap_or_default();
            }
        }
    }
}

/// The write units of an item that gets other aggregates, with its copies that have them.
fn units(new: &NewItem<'_>) -> u64 {
    let has_aggregates = |companion: &&Companion<'_>| {
        let is_copied = |name: &String| companion.entity.is_some_and(|copy| copy.attribute(name).is_some());
        new.entity.aggregates.iter().any(|own| is_copied(&own.name))
    };
    let copies = new.companions.iter().filter(has_aggregates).map(|companion| &companion.item);
    let written: Vec<u64> = std::iter::once(&new.item).chain(copies).map(item_units).collect();
    transaction_units(&written)
}
