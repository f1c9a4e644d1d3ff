//! `partita dump`: tables and their items from a database into a file.
//!
//! The file grows in pieces (see `partita_exchange::compression`). Behind each piece the side file says how long the file
//! is and where every segment goes on; a dump that was killed cuts the file there and continues.

use crate::arguments::Dump;
use crate::client::Client;
use crate::progress::Progress;
use crate::transfer::checkpoint::{Checkpoint, beside};
use crate::transfer::scan::{Cursor, OnDamage, Read, Stage, each_page};
use crate::transfer::{line, private_file, table};
use partita_exchange::compression::Compression;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::error::Error;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;

/// A piece is written once so many bytes wait for it.
const PIECE_BYTES: usize = 4 << 20;

/// What the side file says.
#[derive(Serialize, Deserialize)]
struct State {
    source: String,
    wanted: Vec<String>,
    tables: Vec<String>,
    /// How many of them are whole in the file.
    finished: usize,
    /// The segments of the table that is being read; none if it has not begun.
    cursors: Vec<Cursor>,
    items: u64,
    items_of_table: u64,
    bytes: u64,
    /// The last line is in the file.
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
    waiting: Vec<u8>,
}

/// How a dump ends that lacks what could not be read.
const DAMAGED: u8 = 3;

pub fn run(arguments: &Dump) -> Result<ExitCode, Box<dyn Error>> {
    let progress = arguments.progress.clone().unwrap_or_else(|| beside(&arguments.file, "progress"));
    let checkpoint = Checkpoint::new(progress);
    let former: Option<State> = checkpoint.read()?;
    let is_whole = former.as_ref().is_some_and(|state| state.is_whole(arguments));
    if arguments.file.exists() && !is_whole {
        return Err(format!("{} exists already", arguments.file.display()).into());
    }
    let (state, checkpoint) = match former.filter(|_| is_whole) {
        Some(state) => (state, checkpoint),
        None => written(arguments, checkpoint)?,
    };
    let (tables, items, damaged) = (state.tables.len(), state.items, state.damaged);
    println!("{items} items of {tables} tables in {}", arguments.file.display());
    // The last thing that is done: without a side file, the dump is whole.
    checkpoint.remove()?;
    if damaged > 0 {
        eprintln!(
            "{damaged} tables or ranges of rows are damaged and could not be read; the dump lists them"
        );
        return Ok(ExitCode::from(DAMAGED));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the file, from its beginning or from where it was left.
fn written(arguments: &Dump, checkpoint: Checkpoint) -> Result<(State, Checkpoint), Box<dyn Error>> {
    let partial = beside(&arguments.file, "partial");
    let mut dumping = Dumping::begin(arguments, checkpoint, &partial)?;
    while dumping.state.finished < dumping.state.tables.len() {
        dumping.table()?;
    }
    if !dumping.state.ended {
        let State { tables, items, .. } = &dumping.state;
        dumping.waiting.extend(line::end(tables.len() as u64, *items));
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

    /// Whether the file is what a dump has made that was killed at its very end.
    fn is_whole(&self, arguments: &Dump) -> bool {
        let length = std::fs::metadata(&arguments.file).map(|file| file.len());
        self.ended && self.is_of(arguments) && length.is_ok_and(|length| length == self.bytes)
    }
}

impl<'a> Dumping<'a> {
    /// Begins, or goes on where the side file says.
    fn begin(arguments: &'a Dump, checkpoint: Checkpoint, partial: &Path) -> Result<Dumping<'a>, String> {
        let source = arguments.endpoint.endpoint.clone().unwrap_or_default();
        let mut client = Client::new(&arguments.endpoint)?;
        let former: Option<State> = checkpoint.read()?;
        let compression = Compression::from_file_name(&arguments.file.to_string_lossy());
        let (state, waiting) = match former {
            Some(state) if !state.is_of(arguments) => {
                return Err(format!(
                    "{} belongs to a dump of other tables: remove it to begin anew",
                    checkpoint.path().display()
                ));
            }
            Some(state) => (state, Vec::new()),
            None => {
                let tables = table::chosen(&mut client, &arguments.tables)?;
                let head = line::head(&source);
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
        let file = opened(partial, state.bytes)
            .map_err(|error| format!("cannot write {}: {error}", partial.display()))?;
        Ok(Dumping { arguments, checkpoint, state, client, file, compression, waiting })
    }

    /// Dumps the next table, or what is left of it.
    fn table(&mut self) -> Result<(), String> {
        let name = self.state.tables[self.state.finished].clone();
        if let Some(why) = table::unreadable(&mut self.client, &name)? {
            self.tell_damage(&Value::from(format!("table {name}: {why}")));
            return self.finish_table();
        }
        let definition = table::defined(&mut self.client, &name)?;
        if self.state.cursors.is_empty() {
            self.waiting.extend(line::table(&definition));
            self.state.cursors = vec![Cursor::Start; self.arguments.parallel.clamp(1, 64)];
            self.state.items_of_table = 0;
        }
        let progress = Progress::new(definition["ItemCount"].as_u64().unwrap_or_default());
        progress.advance(self.state.items_of_table);
        let stage = || -> Result<Stage<Vec<u8>>, String> { Ok(Box::new(|items| Ok(lines(&items)))) };
        let cursors = self.state.cursors.clone();
        each_page(&self.arguments.endpoint, (&name, OnDamage::PassOver), &cursors, stage, |page| {
            progress.advance(page.items);
            self.page(page)
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

    /// Goes on without what cannot be read.
    fn tell_damage(&mut self, what: &Value) {
        eprintln!("damaged: {}", what.as_str().unwrap_or_default());
        self.waiting.extend(line::damaged(what));
        self.state.damaged += 1;
    }

    fn page(&mut self, page: Read<Vec<u8>>) -> Result<(), String> {
        self.waiting.extend(page.made);
        for rows in &page.damaged {
            self.tell_damage(rows);
        }
        self.state.cursors[page.segment] = page.next;
        self.state.items += page.items;
        self.state.items_of_table += page.items;
        if self.waiting.len() >= PIECE_BYTES || self.checkpoint.is_due() { self.save() } else { Ok(()) }
    }

    /// Writes what waits, and only then says that it is there.
    fn save(&mut self) -> Result<(), String> {
        let piece = self.compression.compress(std::mem::take(&mut self.waiting));
        let written = self.file.write_all(&piece).and_then(|()| self.file.sync_data());
        written.map_err(|error| format!("cannot write {}: {error}", self.arguments.file.display()))?;
        self.state.bytes += piece.len() as u64;
        self.checkpoint.save(&self.state)
    }
}

fn lines(items: &[Value]) -> Vec<u8> {
    items.iter().flat_map(line::item).collect()
}

/// The file, cut to the length that is known to be good.
fn opened(path: &Path, bytes: u64) -> std::io::Result<File> {
    let mut file = private_file::open(path)?;
    if file.metadata()?.len() < bytes {
        return Err(std::io::Error::other(
            "it is shorter than the side file says; remove both to begin anew",
        ));
    }
    file.set_len(bytes)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}
