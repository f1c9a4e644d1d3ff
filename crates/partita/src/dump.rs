//! `partita dump`: writes tables and their items from a database into a file.
//!
//! The file grows in pieces (see `partita_exchange::compression`). After each piece the checkpoint records the file's length
//! and every segment's position; a dump that was killed truncates the file to that length and resumes.

use crate::arguments::Dump;
use crate::client::Client;
use crate::progress_bar::ProgressBar;
use crate::transfer::checkpoint::{Checkpoint, with_suffix};
use crate::transfer::parallel_scan::{Cursor, OnDamage, ScannedPage, Stage, each_page};
use crate::transfer::{dump_line, private_file, table_setup};
use partita_exchange::compression::Compression;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::error::Error;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;

/// A piece is written once this many bytes are buffered.
const PIECE_BYTES: usize = 4 << 20;

/// The content of the checkpoint file.
#[derive(Serialize, Deserialize)]
struct State {
    source: String,
    wanted: Vec<String>,
    tables: Vec<String>,
    /// How many of them are completely in the file.
    finished: usize,
    /// The positions in the table that is being read; empty before it is started.
    cursors: Vec<Cursor>,
    items: u64,
    items_of_table: u64,
    bytes: u64,
    /// Whether the last line is in the file.
    #[serde(default)]
    ended: bool,
    /// How many tables and ranges of rows could not be read.
    #[serde(default)]
    damaged: u64,
}

struct Dumping<'a> {
    arguments: &'a Dump,
    checkpoint: Checkpoint,
    state: State,
    client: Client,
    file: File,
    compression: Compression,
    /// Lines that are not in the file yet.
    buffer: Vec<u8>,
}

/// The exit code of a dump that lacks what could not be read.
const INCOMPLETE: u8 = 3;

pub fn run(arguments: &Dump) -> Result<ExitCode, Box<dyn Error>> {
    let progress = arguments.progress.clone().unwrap_or_else(|| with_suffix(&arguments.file, "progress"));
    let checkpoint = Checkpoint::new(progress);
    let former: Option<State> = checkpoint.read()?;
    let is_complete = former.as_ref().is_some_and(|state| state.is_complete(arguments));
    if arguments.file.exists() && !is_complete {
        return Err(format!("{} exists already", arguments.file.display()).into());
    }
    let (state, checkpoint) = match former.filter(|_| is_complete) {
        Some(state) => (state, checkpoint),
        None => write_file(arguments, checkpoint)?,
    };
    let (tables, items, damaged) = (state.tables.len(), state.items, state.damaged);
    println!("{items} items of {tables} tables in {}", arguments.file.display());
    // This must come last: without a checkpoint, the dump is complete.
    checkpoint.remove()?;
    if damaged > 0 {
        eprintln!(
            "{damaged} tables or ranges of rows are damaged and could not be read; the dump lists them"
        );
        return Ok(ExitCode::from(INCOMPLETE));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the file, from its beginning or from the checkpoint.
fn write_file(arguments: &Dump, checkpoint: Checkpoint) -> Result<(State, Checkpoint), Box<dyn Error>> {
    let partial = with_suffix(&arguments.file, "partial");
    let mut dumping = Dumping::start(arguments, checkpoint, &partial)?;
    while dumping.state.finished < dumping.state.tables.len() {
        dumping.dump_table()?;
    }
    if !dumping.state.ended {
        let State { tables, items, .. } = &dumping.state;
        dumping.buffer.extend(dump_line::end(tables.len() as u64, *items));
        dumping.state.ended = true;
        dumping.save()?;
    }
    std::fs::rename(&partial, &arguments.file)?;
    Ok((dumping.state, dumping.checkpoint))
}

impl State {
    fn is_of(&self, arguments: &Dump) -> bool {
        let source = arguments.endpoint.endpoint.as_deref().unwrap_or_default();
        self.source == source && self.wanted == arguments.tables
    }

    /// Whether the file is the complete result of a dump that was killed at its very end.
    fn is_complete(&self, arguments: &Dump) -> bool {
        let length = std::fs::metadata(&arguments.file).map(|file| file.len());
        self.ended && self.is_of(arguments) && length.is_ok_and(|length| length == self.bytes)
    }
}

impl<'a> Dumping<'a> {
    /// Starts, or resumes from the checkpoint.
    fn start(arguments: &'a Dump, checkpoint: Checkpoint, partial: &Path) -> Result<Dumping<'a>, String> {
        let source = arguments.endpoint.endpoint.clone().unwrap_or_default();
        let mut client = Client::new(&arguments.endpoint)?;
        let former: Option<State> = checkpoint.read()?;
        let compression = Compression::from_file_name(&arguments.file.to_string_lossy());
        let (state, buffer) = match former {
            Some(state) if !state.is_of(arguments) => {
                return Err(format!(
                    "{} belongs to a dump of other tables: remove it to start over",
                    checkpoint.path().display()
                ));
            }
            Some(state) => (state, Vec::new()),
            None => {
                let tables = table_setup::choose(&mut client, &arguments.tables)?;
                let head = dump_line::head(&source);
                let wanted = arguments.tables.clone();
                let (cursors, finished, items, items_of_table, bytes) = (Vec::new(), 0, 0, 0, 0);
                let (ended, damaged) = (false, 0);
                (
                    State {
                        source,
                        wanted,
                        tables,
                        finished,
                        cursors,
                        items,
                        items_of_table,
                        bytes,
                        ended,
                        damaged,
                    },
                    head,
                )
            }
        };
        let file = open_at(partial, state.bytes)
            .map_err(|error| format!("cannot write {}: {error}", partial.display()))?;
        Ok(Dumping { arguments, checkpoint, state, client, file, compression, buffer })
    }

    /// Dumps the next table, or the rest of it.
    fn dump_table(&mut self) -> Result<(), String> {
        let name = self.state.tables[self.state.finished].clone();
        if let Some(error) = table_setup::damage(&mut self.client, &name)? {
            self.record_damage(&Value::from(format!("table {name}: {error}")));
            return self.finish_table();
        }
        let definition = table_setup::define(&mut self.client, &name)?;
        if self.state.cursors.is_empty() {
            self.buffer.extend(dump_line::table(&definition));
            self.state.cursors = vec![Cursor::Start; self.arguments.parallel.clamp(1, 64)];
            self.state.items_of_table = 0;
        }
        let progress = ProgressBar::new(definition["ItemCount"].as_u64().unwrap_or_default());
        progress.advance(self.state.items_of_table);
        let stage = || -> Result<Stage<Vec<u8>>, String> { Ok(Box::new(|items| Ok(lines(&items)))) };
        let cursors = self.state.cursors.clone();
        each_page(&self.arguments.endpoint, (&name, OnDamage::Skip), &cursors, stage, |page| {
            progress.advance(page.items);
            self.take_page(page)
        })?;
        progress.finish();
        println!("{name}: {} items", self.state.items_of_table);
        self.finish_table()
    }

    fn finish_table(&mut self) -> Result<(), String> {
        self.state.finished += 1;
        self.state.cursors.clear();
        self.save()
    }

    /// Reports what cannot be read, and continues without it.
    fn record_damage(&mut self, what: &Value) {
        eprintln!("damaged: {}", what.as_str().unwrap_or_default());
        self.buffer.extend(dump_line::damaged(what));
        self.state.damaged += 1;
    }

    fn take_page(&mut self, page: ScannedPage<Vec<u8>>) -> Result<(), String> {
        self.buffer.extend(page.output);
        for rows in &page.damaged {
            self.record_damage(rows);
        }
        self.state.cursors[page.segment] = page.next;
        self.state.items += page.items;
        self.state.items_of_table += page.items;
        if self.buffer.len() >= PIECE_BYTES || self.checkpoint.is_due() { self.save() } else { Ok(()) }
    }

    /// Writes the buffered lines, and only then the checkpoint.
    fn save(&mut self) -> Result<(), String> {
        let piece = self.compression.compress(std::mem::take(&mut self.buffer));
        let written = self.file.write_all(&piece).and_then(|()| self.file.sync_data());
        written.map_err(|error| format!("cannot write {}: {error}", self.arguments.file.display()))?;
        self.state.bytes += piece.len() as u64;
        self.checkpoint.save(&self.state)
    }
}

fn lines(items: &[Value]) -> Vec<u8> {
    items.iter().flat_map(dump_line::item).collect()
}

/// Opens the file, truncated to the length that is known to be good.
fn open_at(path: &Path, bytes: u64) -> std::io::Result<File> {
    let mut file = private_file::open(path)?;
    if file.metadata()?.len() < bytes {
        return Err(std::io::Error::other(
            "it is shorter than its checkpoint says; remove both to start over",
        ));
    }
    file.set_len(bytes)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}
