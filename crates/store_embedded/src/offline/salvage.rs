//! Copies what is readable of a damaged folder into a new one. The damaged folder is not changed.
//!
//! Rows are copied from the trees as far as these can be read; those below lost branches from pages that are no longer
//! reachable. Then the commit log is replayed over them, up to where it is damaged.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;

use partita_store::{Direction, KeyRange, Space, StoreError};

use crate::folder::creation;
use crate::folder::format;
use crate::folder::private_files;
use crate::log::position::{self, PositionRow};
use crate::log::recovery::{self, OnDamage};
use crate::log::segments;
use crate::offline::orphans;
use crate::offline::read_only_folder::ReadOnlyFolder;
use crate::open_error::OpenError;
use crate::pages::live_pages::LivePages;
use crate::pages::tree_walk::KeyBounds;
use crate::tree::dropped_spaces;
use crate::tree::entry;
use crate::tree::environment::Environment;
use crate::tree::long_values;
use crate::tree::root::{RangeItem, Root};
use crate::{EmbeddedStore, Options, Pace};

const OLD_ROWS: &str = "rows may be outdated, or have been deleted since";
const LOG_LOST: &str = "the commit log, because it is unknown how much of it the rows include";
const BATCH_BYTES: usize = 4 << 20;
/// The unit in which a disk is readable or not.
const BLOCK_BYTES: usize = 4_096;

/// What was copied, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    pub rows: u64,
    pub lost: Vec<Lost>,
}

/// Something that could not be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The keys of the lost rows, if known.
    pub keys: Option<KeyRange>,
    pub what: String,
}

impl From<String> for Lost {
    fn from(what: String) -> Lost {
        Lost { keys: None, what }
    }
}

/// Copies what is readable in `folder` to `into`, which must be new or empty.
pub fn salvage(folder: &Path, into: &Path) -> Result<Salvaged, OpenError> {
    let failed = |error: io::Error| OpenError::io(into, error);
    private_files::create_folder(into).map_err(failed)?;
    if let Some(found) = fs::read_dir(into).map_err(failed)?.next() {
        let found = found.map_err(failed)?.file_name().to_string_lossy().into_owned();
        return Err(OpenError::NotAStore { folder: into.to_path_buf(), found });
    }
    let empty_checksums = into.join("sums.missing");
    let mut salvaged = Salvaged::default();
    let source = ReadOnlyFolder::open(folder, Some(&empty_checksums))?;
    if !source.has_checksums {
        salvaged.lost.push(format!("the file sums; {OLD_ROWS}").into());
    }
    let has_position =
        copy_rows(&source, into, &mut salvaged).map_err(|error| OpenError::store(into, error))?;
    if empty_checksums.exists() {
        fs::remove_file(&empty_checksums).map_err(failed)?;
    }
    // Without the log position of the rows, the log cannot be used.
    if has_position {
        copy_log(folder, into).map_err(failed)?;
    }
    let environment = Environment::open(into)?;
    let discarded = recovery::recover(into, &environment, OnDamage::Discard)?.discarded;
    salvaged.lost.extend(discarded.into_iter().map(Lost::from));
    drop(environment);
    // This turns the folder into a store.
    format::finish(into).map_err(failed)?;
    EmbeddedStore::open_with(into, Options::default(), Pace::Normal, OnDamage::Discard)?.close();
    Ok(salvaged)
}

/// Returns whether the log position of the rows is known.
fn copy_rows(source: &ReadOnlyFolder, into: &Path, salvaged: &mut Salvaged) -> Result<bool, StoreError> {
    let failed = |error: OpenError| StoreError::Io(error.to_string());
    creation::create_data_file(into).map_err(failed)?;
    let environment = Environment::open(into).map_err(failed)?;
    let mut copy =
        RowCopier { environment: &environment, rows: Vec::new(), bytes: 0, written: 0, lost: Vec::new() };
    let root =
        source.meta.ok_or_else(unreadable).and_then(|meta| Root::read_only(source.view.clone(), &meta));
    let live = source.meta.and_then(|meta| LivePages::read(&source.view, &meta).ok());
    match &root {
        Ok(root) => copy.all_of(root)?,
        Err(error) => copy.lost.push((KeyBounds::default().to_range(), error.to_string())),
    }
    let lost = std::mem::take(&mut copy.lost);
    if !lost.is_empty() {
        if live.is_none() {
            salvaged.lost.push(format!("which pages of data.mdb are in use; {OLD_ROWS}").into());
        }
        let mut found = HashSet::new();
        orphans::visit_rows(
            &source.view,
            root.as_ref().ok(),
            live.as_ref().map(LivePages::live),
            |key, value| {
                // The trees are current; free pages hold older versions.
                let is_known = root.as_ref().is_ok_and(|root| root.get(key).is_ok());
                // These belong to the log's database, not to the rows.
                let is_row = ![position::KEY, long_values::RESERVED_KEY].contains(&key);
                let is_wanted = is_row && !is_known && lost.iter().any(|(range, _)| range.contains(key));
                if is_wanted && found.insert(key.to_vec()) { copy.take(key, value) } else { Ok(()) }
            },
        )?;
    }
    copy.flush()?;
    salvaged.rows = copy.written;
    salvaged.lost.extend(lost.into_iter().map(|(keys, what)| Lost { keys: Some(keys), what }));
    match &root {
        Ok(root) => copy_rest(root, &environment, salvaged),
        Err(_) => {
            salvaged.lost.push(LOG_LOST.to_string().into());
            Ok(false)
        }
    }
}

fn unreadable() -> StoreError {
    StoreError::damaged("neither the meta pages of data.mdb nor its sums are readable")
}

/// Copies the list of dropped spaces, and the log position of the rows.
fn copy_rest(root: &Root, environment: &Environment, salvaged: &mut Salvaged) -> Result<bool, StoreError> {
    let dropped: Vec<Space> = dropped_spaces::list(root).unwrap_or_else(|error| {
        salvaged.lost.push(format!("which tables were being removed: {error}").into());
        Vec::new()
    });
    let position = PositionRow::get(root);
    if let Err(error) = &position {
        salvaged.lost.push(format!("{LOG_LOST}: {error}").into());
    }
    environment.write(|databases, txn| {
        databases.apply(txn, &dropped, std::iter::empty())?;
        match &position {
            Ok(position) => databases.position.set(txn, *position),
            Err(_) => Ok(()),
        }
    })?;
    Ok(position.is_ok())
}

fn copy_log(folder: &Path, into: &Path) -> io::Result<()> {
    let (from, to) = (folder.join(segments::FOLDER_NAME), into.join(segments::FOLDER_NAME));
    private_files::create_folder(&to)?;
    if !from.is_dir() {
        return Ok(());
    }
    for file in fs::read_dir(&from)? {
        let file = file?;
        copy_readable(&file.path(), &to.join(file.file_name()))?;
    }
    Ok(())
}

/// Copies a file, with zeros for blocks that the disk cannot read.
fn copy_readable(from: &Path, to: &Path) -> io::Result<()> {
    let from = fs::File::open(from)?;
    let to = private_files::options().truncate(true).open(to)?;
    let length = from.metadata()?.len();
    let mut block = vec![0; BLOCK_BYTES];
    for at in (0..length).step_by(BLOCK_BYTES) {
        let item = &mut block[..BLOCK_BYTES.min((length - at) as usize)];
        if from.read_exact_at(item, at).is_err() {
            item.fill(0);
        }
        to.write_all_at(item, at)?;
    }
    to.sync_all()
}

/// Copies rows into a new store, in batches.
struct RowCopier<'e> {
    environment: &'e Environment,
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
    written: u64,
    lost: Vec<(KeyRange, String)>,
}

impl RowCopier<'_> {
    fn all_of(&mut self, root: &Root) -> Result<(), StoreError> {
        root.range(&KeyBounds::default().to_range(), Direction::Ascending, |item| {
            match item {
                RangeItem::Row(row) => match row.value() {
                    Ok(value) => self.take(row.key, &value)?,
                    Err(error) => {
                        let bounds = KeyBounds { low: Some(row.key), high: Some(&[row.key, &[0]].concat()) };
                        self.lost.push((
                            bounds.to_range(),
                            format!("row {}: {error}", entry::hex_prefix(row.key)),
                        ));
                    }
                },
                RangeItem::Lost(damage) => {
                    let everything = || KeyBounds::default().to_range();
                    self.lost.push((damage.keys.unwrap_or_else(everything), damage.reason));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    fn take(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        self.bytes += key.len() + value.len();
        self.rows.push((key.to_vec(), value.to_vec()));
        if self.bytes < BATCH_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        self.written += rows.len() as u64;
        let touched: Vec<_> = rows.iter().map(|(key, _)| (key.as_slice(), false)).collect();
        self.environment.write_rows(&touched, |databases, txn| {
            rows.iter().try_for_each(|(key, value)| databases.put(txn, key, value))
        })
    }
}
