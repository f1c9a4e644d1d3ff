//! The commands, from the dry run to the verified result.

use super::follow::Follower;
use super::ledger::LedgerFindings;
use super::summary::{MigrationSummary, Removed};
use super::tables::{ModelTable, Tables};
use super::target_table::TargetState;
use super::{Migration, Options, indexes};
use crate::model::arguments::{Consolidate, CopyOptions, Migrate, Split};
use crate::model::{FINE, FOUND, Outcome, file, items, table_check};
use partita_design::formatting::list;
use std::collections::HashSet;
use std::path::Path;

/// How often what differs is written again before a migration gives up.
const MAX_ROUNDS: u32 = 3;

pub fn migrate(arguments: &Migrate) -> Outcome {
    let old = read(&arguments.old, arguments.table.as_deref())?;
    let new = read(&arguments.new, arguments.into.as_deref())?;
    if arguments.into.is_none() && arguments.table.is_none() && new.table != old.table {
        return Err(format!(
            "the new model is of table {0}, the old one of table {1}: `--into {0}` copies the items, `--table {1}` migrates them where they are",
            new.table, old.table
        ));
    }
    let table = arguments.into.as_deref().unwrap_or(&old.table).to_owned();
    let new = ModelTable { table: table.clone(), ..new };
    let obstacle = indexes::obstacle(&old.model, &new.model);
    if let Some(obstacle) = obstacle.filter(|_| arguments.into.is_none()) {
        return Err(format!(
            "{obstacle}.\nTo copy everything into a new table: partita model migrate {} {} --table {table} --into NEW-TABLE --apply",
            arguments.old.display(),
            arguments.new.display()
        ));
    }
    let options = Options {
        apply: arguments.apply,
        checkpoint: arguments.checkpoint.clone(),
        delete_removed: arguments.delete_removed,
        remove_indexes: arguments.remove_indexes,
        overwrite: arguments.overwrite,
        follow: arguments.follow,
        endpoint: &arguments.endpoint,
    };
    start(Tables { sources: vec![old], targets: vec![new] }, options)
}

pub fn consolidate(arguments: &Consolidate) -> Outcome {
    let sources = arguments.from.iter().map(|named| read_named(named)).collect::<Result<_, _>>()?;
    let target = read(&arguments.new, arguments.into.as_deref())?;
    start(Tables { sources, targets: vec![target] }, copy_options(&arguments.copy))
}

pub fn split(arguments: &Split) -> Outcome {
    let source = read(&arguments.old, arguments.table.as_deref())?;
    let targets = arguments.into.iter().map(|named| read_named(named)).collect::<Result<_, _>>()?;
    start(Tables { sources: vec![source], targets }, copy_options(&arguments.copy))
}

fn copy_options(copy: &CopyOptions) -> Options<'_> {
    Options {
        apply: copy.apply,
        checkpoint: copy.checkpoint.clone(),
        delete_removed: false,
        remove_indexes: false,
        overwrite: copy.overwrite,
        follow: copy.follow,
        endpoint: &copy.endpoint,
    }
}

fn read(path: &Path, table: Option<&str>) -> Result<ModelTable, String> {
    let (model, text) = (file::model(path)?, file::text(path)?);
    let table = table.unwrap_or(&model.table.name).to_owned();
    Ok(ModelTable { model, text, table })
}

/// A model and its table: `users.toml`, or `users.toml:Users` if the table has another name than in the model.
fn read_named(named: &str) -> Result<ModelTable, String> {
    match named.rsplit_once(':').filter(|_| !Path::new(named).exists()) {
        Some((path, table)) => read(Path::new(path), Some(table)),
        None => read(Path::new(named), None),
    }
}

fn start(tables: Tables, options: Options<'_>) -> Outcome {
    tables.check()?;
    let mut migration = Migration::new(&tables, options)?;
    migration.check_sources()?;
    // A checkpoint of another migration is noticed before anything is written.
    migration.resume()?;
    if tables.is_in_place() { migration.in_place() } else { migration.copy() }
}

/// Tables in a message: `table Shop`, `tables People and Orders`.
struct Named<'t>(Vec<&'t str>);

impl Named<'_> {
    fn new(tables: &[ModelTable]) -> Named<'_> {
        Named(tables.iter().map(|side| side.table.as_str()).collect())
    }

    fn verb<'v>(&self, one: &'v str, several: &'v str) -> &'v str {
        if self.0.len() == 1 { one } else { several }
    }
}

impl std::fmt::Display for Named<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.verb("table", "tables"), list(&self.0))
    }
}

impl Migration<'_> {
    /// Fails if a table does not have the keys of its model.
    fn check_sources(&mut self) -> Result<(), String> {
        for source in &self.tables.sources {
            let description = items::describe(&mut self.client, &source.table)?;
            let obstacles = table_check::differences(&source.model, &description).obstacles;
            if let Some(obstacle) = obstacles.first() {
                return Err(format!(
                    "table {} is not as its model declares it: {obstacle}.\nNothing was written",
                    source.table
                ));
            }
        }
        Ok(())
    }

    fn in_place(&mut self) -> Outcome {
        let tables = self.tables;
        let target = &tables.targets[0];
        let removed = self.removed();
        let description = items::describe(&mut self.client, &target.table)?;
        let differences = table_check::differences(&target.model, &description);
        if let Some(obstacle) = differences.obstacles.first() {
            return Err(format!(
                "table {} cannot become what the new model declares: {obstacle}",
                target.table
            ));
        }
        table_check::warn_of_expiry(&mut self.client, &target.named_model());
        self.check_stream()?;
        self.check_attached()?;
        let unneeded = self.unneeded_indexes()?;
        let (foreseen, findings) = self.foresee()?;
        if !self.options.apply {
            println!("dry run: nothing was written; --apply does it");
            differences.missing_indexes.iter().for_each(|name| println!("           index {name} is added"));
            self.print_unneeded(&unneeded);
            return self.print_foreseen(&foreseen, &findings);
        }
        if findings.forbid_writing() || foreseen.forbids_writing() {
            return self.print_foreseen(&foreseen, &findings);
        }
        table_check::add_indexes(&mut self.client, &target.model, &target.table)?;
        self.attach_for_migration()?;
        let mut follower = self.options.follow.then(|| self.start_following()).transpose()?;
        self.print_contested(&findings)?;
        // An application that is not switched yet must find the unique values that are taken.
        self.keeps_old_markers = self.options.follow;
        let mut summary = self.rewrite_in_place(findings, follower.as_mut())?;
        self.keeps_old_markers = false;
        // A pass also meets items that it has moved before.
        summary.kept = foreseen.kept;
        summary.print(removed);
        self.correct_aggregates(follower.as_mut())?;
        if let Some(follower) = &mut follower {
            self.follow(follower)?;
        }
        // What is verified is what is accepted from now on.
        self.attach_for_verification()?;
        if follower.is_some() {
            let (foreseen, findings) = self.foresee()?;
            if findings.forbid_writing() || foreseen.forbids_writing() {
                self.print_foreseen(&foreseen, &findings)?;
                self.restore_streams()?;
                return self.leave_unfinished();
            }
            summary = self.rewrite_in_place(findings, follower.as_mut())?;
            summary.print_problems(removed);
            self.correct_aggregates(follower.as_mut())?;
        }
        self.restore_streams()?;
        let verification = self.verify()?;
        verification.print();
        if !verification.is_fine || !summary.is_complete(removed) {
            return self.leave_unfinished();
        }
        self.attach_after_migration()?;
        if self.options.remove_indexes {
            self.remove_indexes()?;
        } else {
            self.print_unneeded(&unneeded);
        }
        Ok(FINE)
    }

    /// Ends a migration that is not complete or not verified: both models stay attached.
    fn leave_unfinished(&mut self) -> Outcome {
        self.attach_again()?;
        self.print_unfinished()?;
        Ok(FOUND)
    }

    fn removed(&self) -> Removed {
        match (self.tables.is_in_place(), self.options.delete_removed) {
            (false, true) => Removed::GivenUp,
            (false, false) => Removed::NotCopied,
            (true, true) => Removed::Deleted,
            (true, false) => Removed::Left,
        }
    }

    /// Rewrites all items, and those again that had to wait until another had left their new key. Markers and copies that belong to no item
    /// are removed.
    fn rewrite_in_place(
        &mut self,
        findings: LedgerFindings,
        mut follower: Option<&mut Follower>,
    ) -> Result<MigrationSummary, String> {
        let (stranded, orphan_count) = (findings.stranded, findings.orphan_count);
        self.orphans = self.confirmed_orphans(findings)?;
        // More than are remembered at a time are removed by further passes.
        let has_more = !self.orphans.is_empty() && orphan_count > self.orphans.len() as u64;
        let mut summary = self.rewrite(follower.as_deref_mut())?;
        self.orphans.clear();
        while summary.is_blocked() {
            let mut next = self.rewrite(follower.as_deref_mut())?;
            let has_moved = next.moved > 0;
            next.continue_from(&summary);
            summary = next;
            if !has_moved {
                break;
            }
        }
        summary.stranded = stranded;
        if has_more {
            let (_, findings) = self.foresee()?;
            let mut next = self.rewrite_in_place(findings, follower)?;
            next.continue_from(&summary);
            return Ok(next);
        }
        Ok(summary)
    }

    /// Of the orphans that were found, those that still are. A table that changes while it is read may show a marker and not the item that it was
    /// written with; when everything is read again, it shows both.
    fn confirmed_orphans(&mut self, findings: LedgerFindings) -> Result<HashSet<u128>, String> {
        let mut orphans = findings.orphans;
        if !orphans.is_empty() {
            let (_, again) = self.foresee()?;
            orphans.retain(|orphan| again.orphans.contains(orphan));
        }
        Ok(orphans)
    }

    fn print_unneeded(&self, names: &[String]) {
        let fate = if self.options.remove_indexes {
            "is removed at the end"
        } else {
            "is left; --remove-indexes removes it"
        };
        names
            .iter()
            .for_each(|name| println!("           index {name}, which the new model does not have, {fate}"));
    }

    /// Copies every item of the sources into the targets.
    fn copy(&mut self) -> Outcome {
        let (sources, targets) = (Named::new(&self.tables.sources), Named::new(&self.tables.targets));
        if self.inspect_targets()? == TargetState::Done {
            println!(
                "{targets} {} filled and verified before and {} not written again; --overwrite does it",
                targets.verb("was", "were"),
                targets.verb("is", "are")
            );
            let verification = self.verify()?;
            verification.print();
            return Ok(if verification.is_fine { FINE } else { FOUND });
        }
        let (summary, findings) = self.foresee()?;
        if !self.options.apply {
            let all_absent = self.absent.len() == self.tables.targets.len();
            let into = if all_absent {
                format!("creates {targets} and copies the items")
            } else {
                format!("copies the items into {targets}")
            };
            println!("dry run: nothing was written; --apply {into}");
            return self.print_foreseen(&summary, &findings);
        }
        if findings.forbid_writing() {
            return self.print_foreseen(&summary, &findings);
        }
        self.create_targets()?;
        let mut follower = self.options.follow.then(|| self.start_following()).transpose()?;
        self.rewrite(follower.as_mut())?.print(self.removed());
        self.print_contested(&findings)?;
        if let Some(follower) = &mut follower {
            self.follow(follower)?;
        }
        self.restore_streams()?;
        if self.settle()? {
            self.finish_targets()?;
            let (have, are) = (targets.verb("has", "have"), sources.verb("is", "are"));
            println!("{targets} {have} all items; {sources} {are} unchanged and can be deleted");
            return Ok(FINE);
        }
        let (not, are) = (targets.verb("is", "are"), sources.verb("is", "are"));
        println!(
            "{targets} {not} not complete or not as the new model demands: {sources} {are} unchanged and still needed"
        );
        println!("correct what is named above and repeat the command");
        Ok(FOUND)
    }

    /// Verifies the targets. What differs, because the sources have changed meanwhile, is written or deleted and verified again. Returns whether
    /// every item of the sources is there, as far as it has to be.
    fn settle(&mut self) -> Result<bool, String> {
        self.correct_aggregates(None)?;
        let mut verification = self.verify()?;
        let (mut last, _) = self.foresee()?;
        for _ in 1..MAX_ROUNDS {
            if verification.is_fine && last.is_done() {
                break;
            }
            self.remove_extra_items()?;
            self.rewrite(None)?;
            self.correct_aggregates(None)?;
            verification = self.verify()?;
            (last, _) = self.foresee()?;
        }
        verification.print();
        Ok(verification.is_fine && last.is_done() && last.is_complete(self.removed()))
    }

    /// Reads all items; what stands against the migration is found before anything is written.
    fn foresee(&mut self) -> Result<(MigrationSummary, LedgerFindings), String> {
        let twins = self.trace()?;
        let (mut summary, ledger) = self.preview()?;
        summary.twins = twins;
        let findings = ledger.finish()?;
        summary.add_findings(&findings, self.tables.is_in_place());
        Ok((summary, findings))
    }

    fn print_foreseen(&mut self, summary: &MigrationSummary, findings: &LedgerFindings) -> Outcome {
        let removed = self.removed();
        summary.print(removed);
        self.print_contested(findings)?;
        let is_fine = findings.contested.is_empty() && summary.is_complete(removed);
        Ok(if is_fine { FINE } else { FOUND })
    }
}
