//! Loads from another database: every segment reads a page and writes it, and the checkpoint records its position.

use super::Loaded;
use crate::arguments::{Endpoint, Load};
use crate::client::Client;
use crate::progress_bar::ProgressBar;
use crate::transfer::batch_writer::BatchWriter;
use crate::transfer::checkpoint::Checkpoint;
use crate::transfer::parallel_scan::{Cursor, OnDamage, Stage, each_page};
use crate::transfer::{table_definition, table_setup};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const CHECKPOINT_FILE: &str = "partita-load.progress";

/// The content of the checkpoint file.
#[derive(Serialize, Deserialize)]
struct State {
    source: String,
    target: String,
    wanted: Vec<String>,
    tables: Vec<String>,
    finished: usize,
    /// The positions in the table that is being copied; empty before it is started.
    cursors: Vec<Cursor>,
    items: u64,
}

pub fn run(arguments: &Load, source: &str) -> Result<Loaded, String> {
    let from = origin(arguments, source);
    let (mut reader, mut writer) = (Client::new(&from)?, Client::new(&arguments.endpoint)?);
    let mut checkpoint =
        Checkpoint::new(arguments.progress.clone().unwrap_or_else(|| PathBuf::from(CHECKPOINT_FILE)));
    let mut state = start_or_resume(arguments, source, &mut reader, &checkpoint)?;
    while state.finished < state.tables.len() {
        let name = state.tables[state.finished].clone();
        let definition = table_setup::define(&mut reader, &name)?;
        let steps = table_definition::steps(&definition);
        let is_started = !state.cursors.is_empty();
        if !is_started {
            // Recorded before the table is created: if this is killed then, the table is known to be its own.
            if !arguments.merge {
                table_setup::refuse_existing(&mut writer, &name)?;
            }
            state.cursors = vec![Cursor::Start; arguments.parallel.clamp(1, 64)];
            checkpoint.save(&state)?;
        }
        table_setup::create(&mut writer, &steps)?;
        copy(arguments, &from, &definition, &mut state, &mut checkpoint)?;
        table_setup::configure(&mut writer, &steps)?;
        state.finished += 1;
        state.cursors.clear();
        checkpoint.save(&state)?;
    }
    Ok(Loaded { tables: state.tables.len() as u64, items: state.items, checkpoint })
}

/// The database to read: accessed with the same keys, unless a profile of its own is given.
fn origin(arguments: &Load, source: &str) -> Endpoint {
    let mut from = Endpoint { endpoint: Some(source.to_owned()), ..arguments.endpoint.clone() };
    if let Some(profile) = &arguments.from_profile {
        from = Endpoint { profile: profile.clone(), only_profile: true, ..from };
    }
    if arguments.from_region.is_some() {
        from.region.clone_from(&arguments.from_region);
    }
    from
}

fn start_or_resume(
    arguments: &Load,
    source: &str,
    reader: &mut Client,
    checkpoint: &Checkpoint,
) -> Result<State, String> {
    let target = arguments.endpoint.endpoint.clone().unwrap_or_default();
    let wanted = arguments.tables.clone();
    match checkpoint.read::<State>()? {
        Some(state) if (&state.source[..], &state.target, &state.wanted) == (source, &target, &wanted) => {
            Ok(state)
        }
        Some(_) => Err(format!(
            "{} belongs to another load: remove it to start over, or choose another with --progress",
            checkpoint.path().display()
        )),
        None => {
            let tables = table_setup::choose(reader, &wanted)?;
            let (source, cursors) = (source.to_owned(), Vec::new());
            Ok(State { source, target, wanted, tables, finished: 0, cursors, items: 0 })
        }
    }
}

fn copy(
    arguments: &Load,
    from: &Endpoint,
    definition: &serde_json::Value,
    state: &mut State,
    checkpoint: &mut Checkpoint,
) -> Result<(), String> {
    let name = state.tables[state.finished].clone();
    let keys = table_definition::key_names(definition);
    let stage = || -> Result<Stage<()>, String> {
        let mut writer = BatchWriter::new(&arguments.endpoint, &name, &keys)?;
        Ok(Box::new(move |items| writer.put(items)))
    };
    let progress = ProgressBar::new(definition["ItemCount"].as_u64().unwrap_or_default());
    let cursors = state.cursors.clone();
    let before = state.items;
    each_page(from, (&name, OnDamage::Fail), &cursors, stage, |page| {
        progress.advance(page.items);
        state.items += page.items;
        state.cursors[page.segment] = page.next;
        if checkpoint.is_due() { checkpoint.save(state) } else { Ok(()) }
    })?;
    progress.finish();
    println!("{name}: {} items", state.items - before);
    Ok(())
}
