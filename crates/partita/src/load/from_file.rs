//! Loads from a file: a dump, or lines of items for one table (such as the data files of an export).

use super::Loaded;
use super::writer_pool::{Batch, WriterPool};
use crate::arguments::Load;
use crate::client::Client;
use crate::progress_bar::ProgressBar;
use crate::transfer::batch_writer::BATCH_ITEMS;
use crate::transfer::checkpoint::{Checkpoint, with_suffix};
use crate::transfer::dump_line::{self, Line};
use crate::transfer::table_definition::{self, SetupSteps};
use crate::transfer::table_setup;
use partita_exchange::compression::Compression;
use partita_exchange::item_reader::MAX_RECORD_BYTES;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// The content of the checkpoint file.
#[derive(Clone, Default, Serialize, Deserialize)]
struct State {
    target: String,
    wanted: Vec<String>,
    file_bytes: u64,
    /// All lines up to this one are in the database.
    line: u64,
    /// The table that was started last: if it exists, this load has created it.
    begun: String,
}

struct Loading<'a> {
    arguments: &'a Load,
    checkpoint: Checkpoint,
    state: State,
    client: Client,
    /// The table whose items follow; `None` if they are skipped.
    open: Option<OpenTable>,
    tables: u64,
    items: u64,
}

struct OpenTable {
    name: String,
    steps: Option<SetupSteps>,
    pool: WriterPool,
    batch: Vec<Value>,
    items: u64,
    progress: ProgressBar,
}

pub fn run(arguments: &Load) -> Result<Loaded, String> {
    let unreadable =
        |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", arguments.source.display());
    let file = File::open(&arguments.source).map_err(|error| unreadable(&error))?;
    let file_bytes = file.metadata().map_err(|error| unreadable(&error))?.len();
    let compression = Compression::from_file_name(&arguments.source.to_string_lossy());
    let text = compression.reader(BufReader::new(file)).map_err(|error| unreadable(&error))?;
    let mut lines = BufReader::with_capacity(1 << 20, text);
    let mut loading = Loading::start(arguments, file_bytes)?;
    let (mut number, mut is_dump, mut is_complete) = (0, false, false);
    let mut text = Vec::new();
    while read_line(&mut lines, &mut text).map_err(|error| unreadable(&error))? {
        number += 1;
        let bad = |reason| format!("{}: line {number} is {reason}", arguments.source.display());
        if text.len() > MAX_RECORD_BYTES {
            return Err(bad(format!("longer than {} MB, which no item is", MAX_RECORD_BYTES >> 20)));
        }
        let line = dump_line::parse(&text).map_err(bad)?;
        match line {
            Line::Head => is_dump = true,
            Line::Table(definition) => loading.begin_table(definition, number)?,
            Line::Item(_) if !is_dump && loading.tables == 0 => {
                loading.begin_items(number)?;
                loading.line(line, number)?;
            }
            Line::Item(_) => loading.line(line, number)?,
            Line::Damaged(rows) => eprintln!("missing from the dump, because it was damaged: {rows}"),
            Line::End => is_complete = true,
            Line::Blank => {}
        }
    }
    loading.end_table(number)?;
    if is_dump && !is_complete {
        return Err(format!(
            "{} was cut short: it has no last line. What it contains is loaded",
            arguments.source.display()
        ));
    }
    let Loading { tables, items, checkpoint, .. } = loading;
    Ok(Loaded { tables, items, checkpoint })
}

/// Reads the next line, and of one that is too long only enough to notice. Returns `false` at the end of the file.
fn read_line(lines: &mut impl BufRead, text: &mut Vec<u8>) -> std::io::Result<bool> {
    text.clear();
    lines.take(MAX_RECORD_BYTES as u64 + 1).read_until(b'\n', text).map(|read| read > 0)
}

impl<'a> Loading<'a> {
    fn start(arguments: &'a Load, file_bytes: u64) -> Result<Loading<'a>, String> {
        let progress = arguments.progress.clone();
        let checkpoint =
            Checkpoint::new(progress.unwrap_or_else(|| with_suffix(&arguments.source, "load-progress")));
        let target = arguments.endpoint.endpoint.clone().unwrap_or_default();
        let fresh = State { target, wanted: arguments.tables.clone(), file_bytes, ..State::default() };
        let state = checkpoint.read::<State>()?.unwrap_or_else(|| fresh.clone());
        if (&state.target, &state.wanted, state.file_bytes) != (&fresh.target, &fresh.wanted, file_bytes) {
            return Err(format!(
                "{} belongs to another load: remove it to start over, or choose another with --progress",
                checkpoint.path().display()
            ));
        }
        let client = Client::new(&arguments.endpoint)?;
        Ok(Loading { arguments, checkpoint, state, client, open: None, tables: 0, items: 0 })
    }

    fn begin_table(&mut self, definition: Value, number: u64) -> Result<(), String> {
        self.end_table(number - 1)?;
        let name = definition["TableName"].as_str().ok_or("a table has no name")?.to_owned();
        let wanted = &self.arguments.tables;
        if !wanted.is_empty() && !wanted.contains(&name) {
            return Ok(());
        }
        let steps = table_definition::steps(&definition);
        if number > self.state.line && self.state.begun != name {
            if !self.arguments.merge {
                table_setup::refuse_existing(&mut self.client, &name)?;
            }
            // Recorded before the table is created: if this is killed then, the table is known to be its own.
            self.state.begun.clone_from(&name);
            self.checkpoint.save(&self.state)?;
        }
        table_setup::create(&mut self.client, &steps)?;
        self.open(name, &definition, Some(steps), number)
    }

    /// Items without a line for their table: they go into the one table that is given.
    fn begin_items(&mut self, number: u64) -> Result<(), String> {
        let [name] = &self.arguments.tables[..] else {
            return Err("the file has items but no table: name one with --table".to_owned());
        };
        let (name, table) = (name.clone(), table_setup::wait_until_active(&mut self.client, name)?);
        self.open(name, &table, None, number - 1)
    }

    fn open(
        &mut self,
        name: String,
        table: &Value,
        steps: Option<SetupSteps>,
        line: u64,
    ) -> Result<(), String> {
        let keys = table_definition::key_names(table);
        let threads = self.arguments.parallel.clamp(1, 64);
        let pool =
            WriterPool::start(&self.arguments.endpoint, &name, &keys, threads, line.max(self.state.line))?;
        let progress = ProgressBar::new(table["ItemCount"].as_u64().unwrap_or_default());
        self.open = Some(OpenTable { name, steps, pool, batch: Vec::new(), items: 0, progress });
        self.tables += 1;
        Ok(())
    }

    fn line(&mut self, line: Line, number: u64) -> Result<(), String> {
        let (Some(open), Line::Item(item)) = (&mut self.open, line) else { return Ok(()) };
        open.items += 1;
        open.progress.advance(1);
        if number <= self.state.line {
            return Ok(());
        }
        open.batch.push(item);
        if open.batch.len() == BATCH_ITEMS {
            open.pool.put(Batch { items: std::mem::take(&mut open.batch), last_line: number })?;
            if self.checkpoint.is_due() {
                self.state.line = open.pool.line();
                self.checkpoint.save(&self.state)?;
            }
        }
        Ok(())
    }

    /// Waits until the open table has all its items, and applies the rest of its settings.
    fn end_table(&mut self, last_line: u64) -> Result<(), String> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        if !open.batch.is_empty() {
            open.pool.put(Batch { items: std::mem::take(&mut open.batch), last_line })?;
        }
        open.pool.finish()?;
        open.progress.finish();
        if let Some(steps) = &open.steps {
            table_setup::configure(&mut self.client, steps)?;
        }
        println!("{}: {} items", open.name, open.items);
        self.items += open.items;
        if last_line > self.state.line {
            self.state.line = last_line;
            self.checkpoint.save(&self.state)?;
        }
        Ok(())
    }
}
