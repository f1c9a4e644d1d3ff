//! Verifies a migration: the audit of the new model over all items of the result and, if there are two sides, the comparison of
//! their contents.

use super::Migration;
use super::actions::key_text;
use super::ledger::LedgerFindings;
use super::summary::{MAX_PRINTED, NamedItems, TWINS, print_some};
use super::tables::Work;
use crate::model::{audit, items};
use partita_design::audit::table::{RuleViolations, TableAudit};
use partita_design::formatting::plural;
use partita_design::item::Item;
use partita_design::migration::contents::{Contents, key_hash};
use partita_design::migration::recount::without_aggregates;
use partita_design::migration::{Image, NewItem, Transition, is_same, key_of};
use std::collections::BTreeMap;

/// The result of a verification.
pub struct Verification {
    pub is_fine: bool,
    /// By table: the number of items, and the violations of the new model by rule.
    audits: Vec<(String, u64, BTreeMap<&'static str, RuleViolations>)>,
    /// The number of items that still have their old form.
    old_forms: u64,
    /// Items that are several in their new form and were one.
    twins: NamedItems,
    /// The number of items that were compared with the sources, and how they differ.
    comparison: Option<(u64, Vec<String>)>,
}

impl Verification {
    pub fn print(&self) {
        // Only what is right as a whole is verified.
        let clean = if self.is_fine { "verified" } else { "clean" };
        for (table, items, broken) in &self.audits {
            let is_clean = broken.is_empty() && self.old_forms == 0 && self.twins.is_empty();
            let outcome = if is_clean { clean } else { "not verified" };
            println!("{outcome}: the audit of table {table} against the new model:");
            audit::print(*items, broken);
        }
        if self.old_forms > 0 {
            println!("not verified: {} still in the old form", plural(self.old_forms, "item"));
        }
        self.twins.print(TWINS);
        if let Some((items, differences)) = &self.comparison {
            let outcome = if differences.is_empty() { clean } else { "not verified" };
            let found = plural(differences.len() as u64, "difference");
            println!("{outcome}: {} compared on both sides, {found}", plural(*items, "item"));
            differences.iter().for_each(|difference| println!("  {difference}"));
        }
    }
}

impl Migration<'_> {
    /// Audits the result, and compares it with the sources if these are other tables.
    pub(super) fn verify(&mut self) -> Result<Verification, String> {
        let tables = self.tables;
        let (mut audits, mut found, mut old_forms) = (Vec::new(), Contents::default(), 0);
        for target in &tables.targets {
            let mut audit = TableAudit::new(&target.model);
            let itself = Transition { old: &target.model, new: &target.model };
            items::each(&mut self.client, &target.table, |item| {
                audit.add(item);
                if tables.is_in_place() {
                    let is_old = |new: &NewItem<'_>| !is_same(&new.item, item);
                    let image = tables.transition(0, 0).image(item);
                    old_forms += u64::from(matches!(image, Image::Item(new) if is_old(&new)));
                }
                if let Image::Item(new) = itself.image(item) {
                    found.add(&new.entity.name, &without_aggregates(&target.model, new.entity, item));
                }
            })?;
            let (items, broken) = audit.finish();
            audits.push((target.table.clone(), items, broken));
        }
        let twins = self.trace()?;
        let mut is_fine =
            old_forms == 0 && twins.is_empty() && audits.iter().all(|(_, _, broken)| broken.is_empty());
        let mut comparison = None;
        if !tables.is_in_place() {
            let differences = self.expected_contents()?.differences(&found);
            is_fine &= differences.is_empty();
            comparison = Some((found.count(), differences));
        }
        Ok(Verification { is_fine, audits, old_forms, twins, comparison })
    }

    /// What the targets must contain, markers and copies aside.
    fn expected_contents(&mut self) -> Result<Contents, String> {
        let (tables, mut expected) = (self.tables, Contents::default());
        for (number, source) in tables.sources.iter().enumerate() {
            items::each(&mut self.client, &source.table, |item| {
                let Work { target, image, .. } = tables.work(number, item.clone());
                if let Image::Item(new) = image {
                    // Aggregates are counted anew, and audited.
                    let model = &tables.targets[target].model;
                    expected.add(&new.entity.name, &without_aggregates(model, new.entity, &new.item));
                }
            })?;
        }
        Ok(expected)
    }

    /// Names keys that several items get, unique values that several items have, and what belongs to no item and is not removed.
    pub(super) fn print_contested(&mut self, findings: &LedgerFindings) -> Result<(), String> {
        if findings.contested.is_empty() && findings.stranded_keys.is_empty() {
            return Ok(());
        }
        let tables = self.tables;
        let in_place = tables.is_in_place();
        let (mut keys, mut values, mut stranded) = (Vec::new(), Vec::new(), Vec::new());
        for (number, source) in tables.sources.iter().enumerate() {
            items::each(&mut self.client, &source.table, |item| {
                let work = tables.work(number, item.clone());
                let own = key_text(&work.key(tables));
                let model = &tables.targets[work.target].model;
                let is_contested = |key: &Item| {
                    findings.contested.contains(&key_hash(key).wrapping_add(work.target as u128))
                };
                let Image::Item(new) = &work.image else {
                    if findings.stranded_keys.contains(&tables.old_hash(number, &work.key(tables))) {
                        stranded.push(own.clone());
                    }
                    if in_place && is_contested(&work.key(tables)) {
                        keys.push(format!("{own}, which stays"));
                    }
                    return;
                };
                let copies = new.companions.iter().filter(|companion| companion.entity.is_some());
                let wanted = copies.map(|copy| key_of(model, &copy.item)).chain([new.key(model)]);
                keys.extend(
                    wanted
                        .filter(is_contested)
                        .map(|key| format!("{} is the new key of {own}", key_text(&key))),
                );
                let markers = new.companions.iter().filter(|companion| companion.entity.is_none());
                let markers = markers.map(|marker| key_of(model, &marker.item)).filter(is_contested);
                values.extend(markers.filter_map(|key| {
                    let text = key.values().next()?.to_text()?;
                    Some(format!("{} of {own}", text.trim_start_matches(partita_design::audit::MARKER)))
                }));
            })?;
        }
        for (title, lines) in [
            ("keys that several items get; nothing is written while there are any:", &mut keys),
            ("unique values that several items have; nothing is written while there are any:", &mut values),
            (
                "markers and future copies that belong to no item and have values of their own; they are left alone:",
                &mut stranded,
            ),
        ] {
            if !lines.is_empty() {
                lines.sort();
                println!("{title}");
                print_some(&lines[..lines.len().min(MAX_PRINTED)], lines.len() as u64);
            }
        }
        Ok(())
    }
}
