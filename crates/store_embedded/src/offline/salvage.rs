//! Copies what is readable of a damaged folder into a new one. The damaged folder is not changed.
//!
//! Rows are taken from the trees as far as these can be read; those below lost branches from the pages that nothing
//! leads to any more. Then the commit log is replayed over them, up to where it is damaged.

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
use crate::offline::read_only_folder::Offline;
use crate::open_error::OpenError;
use crate::pages::live_pages::PageAccounts;
use crate::pages::tree_walk::Bounds;
use crate::tree::dropped_spaces;
use crate::tree::entry;
use crate::tree::environment::Environment;
use crate::tree::long_values;
use crate::tree::root::{Part, Root};
use crate::{EmbeddedStore, Options, Pace};

const OLD_ROWS: &str = "rows may be of an earlier time, or have been deleted since";
const LOG_LOST: &str = "the commit log, since it is not known how much of it the rows have";
const BATCH_BYTES: usize = 4 << 20;
/// What a disk gives back or does not.
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
    /// Whose rows they are, if that is known.
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
    private_files::make_folder(into).map_err(failed)?;
    if let Some(found) = fs::read_dir(into).map_err(failed)?.next() {
        let found = found.map_err(failed)?.file_name().to_string_lossy().into_owned();
        return Err(OpenError::NotOurs { folder: into.to_path_buf(), found });
    }
    let no_sums = into.join("sums.missing");
    let mut salvaged = Salvaged::default();
    let offline = Offline::open(folder, Some(&no_sums))?;
    if !offline.has_sums {
        salvaged.lost.push(format!("the file sums; {OLD_ROWS}").into());
    }
    let has_position =
        copy_rows(&offline, into, &mut salvaged).map_err(|error| OpenError::store(into, error))?;
    if no_sums.exists() {
        fs::remove_file(&no_sums).map_err(failed)?;
    }
    // Without knowing what the rows have of the log, nothing can be made of it.
    if has_position {
        copy_log(folder, into).map_err(failed)?;
    }
    let environment = Environment::open(into)?;
    let given_up = recovery::recover(into, &environment, OnDamage::GiveUp)?.given_up;
    salvaged.lost.extend(given_up.into_iter().map(Lost::from));
    drop(environment);
    // With this the folder is a store.
    format::finish(into).map_err(failed)?;
    EmbeddedStore::open_with(into, Options::default(), Pace::Usual, OnDamage::GiveUp)?.close();
    Ok(salvaged)
}

/// Says whether it is known what the rows have of the log.
fn copy_rows(offline: &Offline, into: &Path, salvaged: &mut Salvaged) -> Result<bool, StoreError> {
    let failed = |error: OpenError| StoreError::Io(error.to_string());
    creation::make_data_file(into).map_err(failed)?;
    let environment = Environment::open(into).map_err(failed)?;
    let mut copy =
        Copy { environment: &environment, rows: Vec::new(), bytes: 0, written: 0, lost: Vec::new() };
    let root =
        offline.meta.ok_or_else(unreadable).and_then(|meta| Root::offline(offline.view.clone(), &meta));
    let live = offline.meta.and_then(|meta| PageAccounts::read(&offline.view, &meta).ok());
    match &root {
        Ok(root) => copy.all_of(root)?,
        Err(error) => copy.lost.push((Bounds::default().to_range(), error.to_string())),
    }
    let lost = std::mem::take(&mut copy.lost);
    if !lost.is_empty() {
        if live.is_none() {
            salvaged.lost.push(format!("which pages of data.mdb are in use; {OLD_ROWS}").into());
        }
        let mut found = HashSet::new();
        orphans::each_row(
            &offline.view,
            root.as_ref().ok(),
            live.as_ref().map(PageAccounts::live),
            |key, value| {
                // What the trees say, they say of the present; pages that are free have what was before.
                let is_known = root.as_ref().is_ok_and(|root| root.get(key).is_ok());
                // These are about the log, in a tree of their own.
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

/// The list of dropped spaces, and how much of the log the rows have.
fn copy_rest(root: &Root, environment: &Environment, salvaged: &mut Salvaged) -> Result<bool, StoreError> {
    let dropped: Vec<Space> = dropped_spaces::list(root).unwrap_or_else(|error| {
        salvaged.lost.push(format!("which tables were being removed: {error}").into());
        Vec::new()
    });
    let position = PositionRow::get(root);
    if let Err(error) = &position {
        salvaged.lost.push(format!("{LOG_LOST}: {error}").into());
    }
    environment.write(|tree, txn| {
        tree.apply(txn, &dropped, std::iter::empty())?;
        match &position {
            Ok(position) => tree.position.set(txn, *position),
            Err(_) => Ok(()),
        }
    })?;
    Ok(position.is_ok())
}

fn copy_log(folder: &Path, into: &Path) -> io::Result<()> {
    let (from, to) = (folder.join(segments::FOLDER_NAME), into.join(segments::FOLDER_NAME));
    private_files::make_folder(&to)?;
    if !from.is_dir() {
        return Ok(());
    }
    for file in fs::read_dir(&from)? {
        let file = file?;
        copy_readable(&file.path(), &to.join(file.file_name()))?;
    }
    Ok(())
}

/// Copies a file, with zeros for blocks that the disk does not give back.
fn copy_readable(from: &Path, to: &Path) -> io::Result<()> {
    let from = fs::File::open(from)?;
    let to = private_files::options().truncate(true).open(to)?;
    let length = from.metadata()?.len();
    let mut block = vec![0; BLOCK_BYTES];
    for at in (0..length).step_by(BLOCK_BYTES) {
        let part = &mut block[..BLOCK_BYTES.min((length - at) as usize)];
        if from.read_exact_at(part, at).is_err() {
            part.fill(0);
        }
        to.write_all_at(part, at)?;
    }
    to.sync_all()
}

/// Rows on their way into a new store.
struct Copy<'e> {
    environment: &'e Environment,
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
    written: u64,
    lost: Vec<(KeyRange, String)>,
}

impl Copy<'_> {
    fn all_of(&mut self, root: &Root) -> Result<(), StoreError> {
        root.range(&Bounds::default().to_range(), Direction::Ascending, |part| {
            match part {
                Part::Row(row) => match row.value() {
                    Ok(value) => self.take(row.key, &value)?,
                    Err(error) => {
                        let bounds = Bounds { low: Some(row.key), high: Some(&[row.key, &[0]].concat()) };
                        self.lost
                            .push((bounds.to_range(), format!("row {}: {error}", entry::shown(row.key))));
                    }
                },
                Part::Lost(damage) => {
                    let everything = || Bounds::default().to_range();
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
        self.environment.write_rows(&touched, |tree, txn| {
            rows.iter().try_for_each(|(key, value)| tree.put(txn, key, value))
        })
    }
}
