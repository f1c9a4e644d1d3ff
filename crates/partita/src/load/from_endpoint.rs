//! From one database into another: every segment reads a page and puts it, and the side file keeps its place.

use super::Loaded;
use crate::arguments::{Endpoint, Load};
use crate::client::Client;
use crate::progress_bar::Progress;
use crate::transfer::batch_writer::Putter;
use crate::transfer::checkpoint::Checkpoint;
use crate::transfer::parallel_scan::{Cursor, OnDamage, Stage, each_page};
use crate::transfer::{table_definition, table_setup};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const SIDE_FILE: &str = "partita-load.progress";

/// What the side file says.
#[derive(Serialize, Deserialize)]
struct State {
    source: String,
    target: String,
    wanted: Vec<String>,
    tables: Vec<String>,
    finished: usize,
    /// The segments of the table that is being copied; none if it has not begun.
    cursors: Vec<Cursor>,
    items: u64,
}

pub fn run(arguments: &Load, source: &str) -> Result<Loaded, String> {
    let from = origin(arguments, source);
    let (mut reader, mut writer) = (Client::new(&from)?, Client::new(&arguments.endpoint)?);
    let mut checkpoint =
        Checkpoint::new(arguments.progress.clone().unwrap_or_else(|| PathBuf::from(SIDE_FILE)));
    let mut state = begin(arguments, source, &mut reader, &checkpoint)?;
    while state.finished < state.tables.len() {
        let name = state.tables[state.finished].clone();
        let definition = table_setup::defined(&mut reader, &name)?;
        let steps = table_definition::steps(&definition);
        let begun = !state.cursors.is_empty();
        if !begun {
            // Said before the table is made: if this is killed then, the table is known to be its own.
            if !arguments.merge {
                table_setup::refuse_existing(&mut writer, &name)?;
            }
            state.cursors = vec![Cursor::Start; arguments.parallel.clamp(1, 64)];
            checkpoint.save(&state)?;
        }
        table_setup::create(&mut writer, &steps)?;
        copy(arguments, &from, &definition, &mut state, &mut checkpoint)?;
        table_setup::set_up(&mut writer, &steps)?;
        state.finished += 1;
        state.cursors.clear();
        checkpoint.save(&state)?;
    }
    Ok(Loaded { tables: state.tables.len() as u64, items: state.items, checkpoint })
}

/// The database to read: asked with the same keys, unless a profile of its own is named.
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

fn begin(
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
            "{} belongs to another load: remove it to begin anew, or name another with --progress",
            checkpoint.path().display()
        )),
        None => {
            let tables = table_setup::chosen(reader, &wanted)?;
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
        let mut putter = Putter::new(&arguments.endpoint, &name, &keys)?;
        Ok(Box::new(move |items| putter.put(items)))
    };
    let progress = Progress::new(definition["ItemCount"].as_u64().unwrap_or_default());
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
