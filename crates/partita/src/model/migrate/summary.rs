//! Counts what a migration does to a table's items.

use crate::model::{FINE, FOUND};
use partita_design::price::{CARRIED, Prices};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many keys of collisions are printed.
const MAX_KEYS: usize = 20;

#[derive(Default, Serialize, Deserialize)]
pub struct MigrationSummary {
    pub kept: u64,
    pub put: u64,
    pub moved: u64,
    pub units: u64,
    /// Items that the other table already had in their new form.
    pub present: u64,
    /// Items whose new key another item has, or an equal one that may come from another.
    collisions: u64,
    /// Their first new keys.
    collided: Vec<String>,
    /// Items of types that the new model does not have.
    pub gone: BTreeMap<String, u64>,
    pub unknown: BTreeMap<String, u64>,
}

impl MigrationSummary {
    pub fn add_collision(&mut self, key: String) {
        self.collisions += 1;
        if self.collided.len() < MAX_KEYS {
            self.collided.push(key);
        }
    }

    /// Prints the summary, and returns the exit code.
    pub fn print(&self, deletes: bool) -> u8 {
        println!("{:>10} items are unchanged", self.kept);
        println!("{:>10} items get other index keys or another type", self.put);
        println!("{:>10} items move to another primary key", self.moved);
        let cost = Prices::parse(CARRIED).map(|prices| {
            let money = self.units as f64 / 1e6 * prices.million_writes;
            format!(": {money:.2} {} on demand, prices of {}", prices.currency, prices.date)
        });
        println!("{:>10} write units, indexes not included{}", self.units, cost.unwrap_or_default());
        if self.present > 0 {
            println!("{:>10} items were in the new table already, in their new form", self.present);
        }
        for (entity, items) in &self.gone {
            let action =
                if deletes { "are deleted" } else { "are left alone; --delete-removed deletes them" };
            println!("{items:>10} items of {entity}, which the new model does not have, {action}");
        }
        for (reason, items) in &self.unknown {
            println!("{items:>10} items are left alone: {reason}");
        }
        self.print_collisions();
        let is_complete = self.unknown.is_empty() && self.collisions == 0;
        if is_complete && (deletes || self.gone.is_empty()) { FINE } else { FOUND }
    }

    fn print_collisions(&self) {
        if self.collisions == 0 {
            return;
        }
        println!(
            "{:>10} items are not copied: the new table has an item with their key that is, or may be, another",
            self.collisions
        );
        self.collided.iter().for_each(|key| println!("           {key}"));
        let rest = self.collisions - self.collided.len() as u64;
        if rest > 0 {
            println!("           and {rest} more");
        }
    }
}
