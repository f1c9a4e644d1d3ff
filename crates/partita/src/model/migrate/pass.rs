//! One pass over all items of the sources: page by page, each item is compared with what it becomes, and written if that differs.

use super::Migration;
use super::actions::{Action, MAX_COMPARED, key_text, transactions};
use super::follow::Follower;
use super::foreseen::Foreseen;
use super::ledger::{Claim, Ledger, LedgerFindings};
use super::plan::{Fate, Found, Plan, Planner, newer_versions};
use super::progress::MigrationProgress;
use super::summary::MigrationSummary;
use super::tables::{ModelTable, Work};
use crate::client::Failure;
use crate::model::items;
use crate::progress_bar::ProgressBar;
use partita_design::Model;
use partita_design::audit::{Violation, check_item};
use partita_design::exchange::item_json::{decode, encode};
use partita_design::item::Item;
use partita_design::migration::contents::key_hash;
use partita_design::migration::recount::Recount;
use partita_design::migration::{Companion, Image, NewItem, key_of};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};

/// The most keys of one BatchGetItem.
const MAX_KEYS: usize = 100;
/// How often an item is tried that the application changes at the same time.
pub const MAX_ATTEMPTS: u32 = 5;

impl<'t> Migration<'t> {
    /// Reads all items, and records the keys that they will have.
    pub(super) fn preview(&mut self) -> Result<(MigrationSummary, Ledger), String> {
        // What was the newest version may have been removed since.
        self.newest.clear();
        let mut foreseen = Foreseen::new(self.tables);
        let mut summary =
            self.pass(MigrationProgress::without_checkpoint(), false, Some(&mut foreseen), None)?;
        foreseen.add_aggregates(&mut summary);
        Ok((summary, foreseen.ledger))
    }

    /// Rewrites all items, from where an interrupted migration left off, and carries over what changes meanwhile.
    pub(super) fn rewrite(&mut self, follower: Option<&mut Follower>) -> Result<MigrationSummary, String> {
        let progress = self.resume()?;
        self.pass(progress, true, None, follower)
    }

    fn pass(
        &mut self,
        mut progress: MigrationProgress,
        apply: bool,
        mut foreseen: Option<&mut Foreseen<'t>>,
        mut follower: Option<&mut Follower>,
    ) -> Result<MigrationSummary, String> {
        let bar = ProgressBar::new(self.item_count()?);
        while let Some(source) = self.tables.sources.get(progress.source()) {
            let (page, next) = items::page(&mut self.client, &source.table, progress.start())?;
            bar.advance(page.len() as u64);
            let number = progress.source();
            let works: Vec<Work<'t>> = page.into_iter().map(|item| self.tables.work(number, item)).collect();
            self.note_versions(&works);
            self.note_names(&works);
            works.iter().for_each(|work| self.note_form(work));
            let (works, found) = self.look_up_targets(works)?;
            if let Some(foreseen) = &mut foreseen {
                for work in &works {
                    self.record(work, &found, &mut foreseen.ledger)?;
                    foreseen.count(work, &self.tables.targets[work.target].model);
                }
            }
            for work in &works {
                self.process(work, &found, apply, progress.summary())?;
            }
            progress.advance(next, self.tables.sources.len())?;
            if let Some(follower) = &mut follower {
                self.carry_changes(follower)?;
            }
        }
        bar.finish();
        Ok(progress.into_summary())
    }

    fn item_count(&mut self) -> Result<u64, String> {
        let tables = self.tables;
        let mut total = 0;
        for source in &tables.sources {
            total +=
                items::describe(&mut self.client, &source.table)?["ItemCount"].as_u64().unwrap_or_default();
        }
        Ok(total)
    }

    /// Records the keys that an item and its companions have and will have.
    fn record(&self, work: &Work<'_>, found: &Found, ledger: &mut Ledger) -> Result<(), String> {
        let in_place = self.tables.is_in_place();
        let target = &self.tables.targets[work.target];
        let new_hash = |key: &Item| key_hash(key).wrapping_add(work.target as u128);
        let old_hash = |key: &Item| self.tables.old_hash(work.source, key);
        let key = work.key(self.tables);
        let own = old_hash(&key);
        match &work.image {
            Image::Item(new) if self.planner(found).new_form(work, new).is_some() => {
                self.record_left(work, ledger)
            }
            Image::Item(new) => {
                ledger.add(new_hash(&new.key(&target.model)), Claim::Item)?;
                for companion in &new.companions {
                    let claim = match (companion.entity, companion.version) {
                        (None, _) => Claim::Marker,
                        (Some(_), None) => Claim::Copy,
                        (Some(_), Some(_)) => Claim::NewestCopy,
                    };
                    ledger.add(new_hash(&key_of(&target.model, &companion.item)), claim)?;
                }
                let old_keys = new.companions.iter().filter_map(|companion| companion.old_key.as_ref());
                new.obsolete
                    .iter()
                    .chain(old_keys)
                    .try_for_each(|key| ledger.add(old_hash(key), Claim::Handled))
            }
            Image::Copy { is_redundant, .. } => {
                ledger.add(own, if *is_redundant { Claim::Derived } else { Claim::Valuable })
            }
            Image::Marker if work.item.len() > key.len() => ledger.add(own, Claim::Valuable),
            Image::Marker | Image::Dropped if in_place => ledger.add(own, Claim::Derived),
            Image::Removed(_) if self.options.delete_removed => Ok(()),
            Image::Removed(_) | Image::Unknown(_) => self.record_left(work, ledger),
            Image::Marker | Image::Dropped => Ok(()),
        }
    }

    /// Records an item that is left alone: what belongs to it is left alone too.
    fn record_left(&self, work: &Work<'_>, ledger: &mut Ledger) -> Result<(), String> {
        let old_hash = |key: &Item| self.tables.old_hash(work.source, key);
        let belongings = self.tables.transition(work.source, work.target).belongings(&work.item);
        belongings.iter().try_for_each(|key| ledger.add(old_hash(key), Claim::Handled))?;
        match self.tables.is_in_place() {
            true => ledger.add(old_hash(&work.key(self.tables)), Claim::Item),
            false => Ok(()),
        }
    }

    /// Remembers the newest version of each original that has one copy for all its versions.
    fn note_versions(&mut self, works: &[Work<'_>]) {
        for work in works {
            let Image::Item(new) = &work.image else { continue };
            for companion in &new.companions {
                let Some(version) = companion.version else { continue };
                let key = key_of(&self.tables.targets[work.target].model, &companion.item);
                let newest = self.newest.entry(key_hash(&key)).or_insert(version);
                *newest = newest.max(version);
            }
        }
    }

    /// Remembers which attributes items have, declared or not.
    fn note_names(&mut self, works: &[Work<'_>]) {
        for name in works.iter().flat_map(|work| work.item.keys()) {
            if self.names.len() < MAX_COMPARED && !self.names.contains(name) {
                self.names.insert(name.clone());
            }
        }
    }

    /// Reads what is there already. Items of other tables keep the aggregates that were counted there.
    fn look_up_targets(&mut self, works: Vec<Work<'t>>) -> Result<(Vec<Work<'t>>, Found), String> {
        let (tables, found) = (self.tables, self.look_up(&works)?);
        let has_aggregates = |target: &ModelTable| Recount::new(&target.model).is_some();
        if tables.is_in_place() || !tables.targets.iter().any(has_aggregates) {
            return Ok((works, found));
        }
        let kept = |work: Work<'t>| {
            let target = &tables.targets[work.target];
            let key = match &work.image {
                Image::Item(new) => new.key(&target.model),
                _ => return work,
            };
            Migration::keep_aggregates(tables, work, found.get(&target.table, &key))
        };
        let works: Vec<Work<'t>> = works.into_iter().map(kept).collect();
        let found = self.look_up(&works)?;
        Ok((works, found))
    }

    /// Reads what is there already: the new items, their companions, and the companions of the old model.
    pub(super) fn look_up(&mut self, works: &[Work<'_>]) -> Result<Found, String> {
        let in_place = self.tables.is_in_place();
        let mut keys: BTreeMap<&str, Vec<Item>> = BTreeMap::new();
        for work in works {
            let Image::Item(new) = &work.image else { continue };
            let (source, target) = (&self.tables.sources[work.source], &self.tables.targets[work.target]);
            let own = new.key(&target.model);
            let wanted = keys.entry(&target.table).or_default();
            let old_key = work.key(self.tables);
            if !in_place || own != old_key {
                wanted.push(own);
                wanted.extend(self.successors.as_ref().and_then(|successors| successors.get(&old_key)));
            }
            wanted.extend(new.companions.iter().map(|companion| key_of(&target.model, &companion.item)));
            let old = new.companions.iter().filter_map(|companion| companion.old_key.as_ref());
            keys.entry(&source.table).or_default().extend(old.chain(&new.obsolete).cloned());
        }
        let mut found = Found::default();
        keys.retain(|table, _| !self.absent.contains(*table));
        for (table, keys) in keys {
            self.get_all(table, keys, &mut found)?;
        }
        if in_place {
            let newer = self.newer_originals(works, &found);
            self.get_all(&self.tables.sources[0].table, newer, &mut found)?;
        }
        Ok(found)
    }

    /// The keys of originals that are newer than those that were read, as their copies show.
    fn newer_originals(&self, works: &[Work<'_>], found: &Found) -> Vec<Item> {
        let (transition, table) = (self.tables.transition(0, 0), &self.tables.sources[0].table);
        let mut keys = Vec::new();
        for work in works {
            let Image::Item(new) = &work.image else { continue };
            for companion in &new.companions {
                let own = [Some(key_of(transition.new, &companion.item)), companion.old_key.clone()];
                let copies = own.iter().flatten().filter_map(|key| found.get(table, key));
                keys.extend(newer_versions(&transition, companion, copies));
            }
        }
        keys
    }

    fn get_all(&mut self, table: &str, mut keys: Vec<Item>, found: &mut Found) -> Result<(), String> {
        let mut known = HashSet::new();
        keys.retain(|key| known.insert(key_hash(key)));
        keys.chunks(MAX_KEYS).try_for_each(|keys| self.get(table, keys, found))
    }

    fn get(&mut self, table: &str, keys: &[Item], found: &mut Found) -> Result<(), String> {
        let Some(names) = keys.first().map(|key| key.keys().cloned().collect::<Vec<_>>()) else {
            return Ok(());
        };
        let encoded: Vec<Value> = keys.iter().map(|key| Value::Object(encode(key))).collect();
        let mut rest = json!({ table: { "Keys": encoded, "ConsistentRead": true } });
        while rest.as_object().is_some_and(|tables| !tables.is_empty()) {
            let response = self.call("BatchGetItem", &json!({ "RequestItems": rest }))?;
            for item in response["Responses"][table].as_array().into_iter().flatten().filter_map(decode) {
                let key =
                    names.iter().filter_map(|name| Some((name.clone(), item.get(name)?.clone()))).collect();
                found.add(table, &key, item);
            }
            rest = response["UnprocessedKeys"].clone();
        }
        Ok(())
    }

    fn process(
        &mut self,
        work: &Work<'t>,
        found: &Found,
        apply: bool,
        summary: &mut MigrationSummary,
    ) -> Result<(), String> {
        let in_place = self.tables.is_in_place();
        match &work.image {
            Image::Item(_) => return self.process_item(work, found, apply, summary),
            Image::Unknown(reason) => summary.add_left(reason, key_text(&work.key(self.tables))),
            Image::Removed(entity) => {
                *summary.gone.entry(entity.clone()).or_default() += 1;
                if apply && in_place && self.options.delete_removed {
                    self.execute(&[self.deletion(work)])?;
                }
            }
            Image::Marker | Image::Copy { .. } | Image::Dropped => {
                summary.derived += 1;
                // Whatever has the key later is another.
                let is_orphan = apply && in_place && self.orphans.remove(&key_hash(&work.key(self.tables)));
                if is_orphan {
                    summary.removed += 1;
                    self.execute(&[self.deletion(work)])?;
                }
            }
        }
        Ok(())
    }

    fn deletion(&self, work: &Work<'_>) -> Action {
        Action::delete(&self.tables.sources[work.source].table, work.key(self.tables), work.item.clone())
    }

    fn process_item(
        &mut self,
        work: &Work<'t>,
        found: &Found,
        apply: bool,
        summary: &mut MigrationSummary,
    ) -> Result<(), String> {
        let Image::Item(new) = &work.image else { return Ok(()) };
        let plan = Planner { is_foreseen: !apply, ..self.planner(found) }.plan(work, new);
        for name in &new.missing {
            *summary.missing.entry(format!("{}.{name}", new.entity.name)).or_default() += 1;
        }
        // Aggregates are not counted yet.
        if !apply && new.entity.aggregates.is_empty() {
            let model = &self.tables.targets[work.target].model;
            let copies = self.created_copies(work, new, found);
            let items = std::iter::once(&new.item).chain(copies);
            items.for_each(|item| summary.add_invalid(&check_without(model, item, &new.missing)));
        }
        if apply && plan.fate == Fate::Blocked {
            return self.move_blocked(work, summary);
        }
        if plan.fate == Fate::Paired && self.unites(work, new, found, apply)? {
            summary.moved += 1;
            return Ok(());
        }
        if !apply || plan.actions.is_empty() || self.execute(&plan.actions)? {
            self.add_to_summary(work, new, &plan, summary);
            return Ok(());
        }
        self.retry(work.source, &work.key(self.tables), summary).map(|_| ())
    }

    /// The copies of an item that do not exist yet: they have nothing but what their original has.
    fn created_copies<'n>(
        &self,
        work: &Work<'_>,
        new: &'n NewItem<'_>,
        found: &Found,
    ) -> impl Iterator<Item = &'n Item> {
        let (source, target) = (&self.tables.sources[work.source], &self.tables.targets[work.target]);
        let is_created = move |companion: &&Companion<'_>| {
            let old = companion.old_key.as_ref().and_then(|key| found.get(&source.table, key));
            let present = old.or_else(|| found.get(&target.table, &key_of(&target.model, &companion.item)));
            companion.entity.is_some() && companion.version.is_none() && present.is_none()
        };
        new.companions.iter().filter(is_created).map(|companion| &companion.item)
    }

    fn add_to_summary(
        &self,
        work: &Work<'_>,
        new: &NewItem<'_>,
        plan: &Plan,
        summary: &mut MigrationSummary,
    ) {
        summary.add(plan);
        match plan.fate {
            Fate::Blocked => {
                summary.add_blocked(key_text(&new.key(&self.tables.targets[work.target].model)));
            }
            Fate::Unstable => summary.add_unstable(&new.entity.name),
            _ => {}
        }
    }

    /// Writes what an item that was just read becomes.
    pub(super) fn process_now(
        &mut self,
        work: Work<'t>,
        summary: &mut MigrationSummary,
    ) -> Result<(), String> {
        self.note_versions(std::slice::from_ref(&work));
        let (works, found) = self.look_up_targets(vec![work])?;
        works.iter().try_for_each(|work| self.process(work, &found, true, summary))
    }

    /// Deletes items of the targets that no item of the sources becomes.
    pub(super) fn remove_extra_items(&mut self) -> Result<(), String> {
        let tables = self.tables;
        let (_, mut ledger) = self.preview()?;
        let hash = |number: usize, key: &Item| key_hash(key).wrapping_add(number as u128);
        for (number, target) in tables.targets.iter().enumerate() {
            let mut outcome = Ok(());
            items::each(&mut self.client, &target.table, |item| {
                if outcome.is_ok() {
                    outcome = ledger.add(hash(number, &key_of(&target.model, item)), Claim::Derived);
                }
            })?;
            outcome?;
        }
        let LedgerFindings { orphans: extra, orphan_count, .. } = ledger.finish()?;
        for (number, target) in tables.targets.iter().enumerate() {
            let mut start = Value::Null;
            loop {
                let (page, next) = items::page(&mut self.client, &target.table, &start)?;
                for item in page {
                    let key = key_of(&target.model, &item);
                    if extra.contains(&hash(number, &key)) {
                        self.execute(&[Action::delete(&target.table, key, item)])?;
                    }
                }
                start = next;
                if start.is_null() {
                    break;
                }
            }
        }
        if orphan_count > extra.len() as u64 { self.remove_extra_items() } else { Ok(()) }
    }

    /// Reads an item again, which the application may have changed meanwhile, and writes what it becomes now. Returns what happened to it;
    /// `None` if there is no such item.
    pub(super) fn retry(
        &mut self,
        source: usize,
        key: &Item,
        summary: &mut MigrationSummary,
    ) -> Result<Option<Fate>, String> {
        for _ in 0..MAX_ATTEMPTS {
            let Some(work) = self.read(source, key)? else { return Ok(None) };
            let (works, found) = self.look_up_targets(vec![work])?;
            let [work] = works.as_slice() else { return Ok(None) };
            let Image::Item(new) = &work.image else { return Ok(None) };
            let plan = self.planner(&found).plan(work, new);
            if plan.actions.is_empty() || self.execute(&plan.actions)? {
                self.add_to_summary(work, new, &plan, summary);
                return Ok(Some(plan.fate));
            }
        }
        summary.contended += 1;
        Ok(None)
    }

    pub(super) fn planner<'p>(&'p self, found: &'p Found) -> Planner<'p> {
        Planner {
            tables: self.tables,
            found,
            newest: &self.newest,
            names: &self.names,
            is_followed: self.options.follow,
            keeps_old_markers: self.keeps_old_markers,
            is_carried: self.is_carrying,
            is_foreseen: false,
            successors: self.successors.as_ref(),
            belongings: &[],
        }
    }

    pub(super) fn read(&mut self, source: usize, key: &Item) -> Result<Option<Work<'t>>, String> {
        let table = &self.tables.sources[source].table;
        let request = json!({ "TableName": table, "Key": encode(key), "ConsistentRead": true });
        let response = self.call("GetItem", &request)?;
        Ok(decode(&response["Item"]).map(|item| self.tables.work(source, item)))
    }

    /// Writes in one transaction, or in several if there is more than one can have; returns false if something is not as expected.
    pub(super) fn execute(&mut self, actions: &[Action]) -> Result<bool, String> {
        if let [action] = actions {
            let (operation, _, request) = action.request();
            return match self.client.call(operation, &request) {
                Err(failure) if failure.is("ConditionalCheckFailedException") => Ok(false),
                Err(failure) if failure.is("TransactionConflictException") => Ok(false),
                outcome => {
                    outcome.map_err(|failure| format!("{}: {failure}", key_text(&action.key)))?;
                    self.note_written(actions);
                    Ok(true)
                }
            };
        }
        for actions in transactions(actions) {
            let named = |failure: Failure| format!("{}: {failure}", key_text(&actions[0].key));
            let writes = actions.iter().map(|action| {
                let (_, name, request) = action.request();
                json!({ name: request })
            });
            let request = json!({ "TransactItems": writes.collect::<Vec<_>>() });
            match self.client.call("TransactWriteItems", &request) {
                Err(failure) if failure.is_invalid_transaction() => return Err(named(failure)),
                Err(failure) if failure.is("TransactionCanceledException") => return Ok(false),
                outcome => outcome.map_err(named)?,
            };
            self.note_written(actions);
        }
        Ok(true)
    }
}

/// Returns what is wrong with an item, the attributes aside that are missing as its original says.
fn check_without(model: &Model, item: &Item, missing: &[String]) -> Vec<Violation> {
    let mut violations = check_item(model, item);
    violations.retain(|violation| !missing.iter().any(|name| violation.missing.as_ref() == Some(name)));
    violations
}
