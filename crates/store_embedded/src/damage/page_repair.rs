//! Rewrites a damaged page in place, so that LMDB can write to the rows around the damage.
//!
//! A leaf is rewritten with the rows that are still good; what it may have lost is recorded first (`lost_ranges`). A
//! branch is rebuilt from its children, which are all still there. The pages of a value get their header back; whether
//! the value is intact, its row's checksum tells.
//!
//! The new page is first written to the file `REPAIR`. So a crash leaves either the damaged page or, once the next start
//! has read that file, the new one.
//!
//! ```text
//! number of the page (8) │ its kind (1) │ xxh3 of the slot it belongs to (8) │ the page │ xxh3 of these (8)
//! ```
//! A file that reappears, because its removal was not durable, belongs to another transaction: its page may be in use
//! for something else by now.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use partita_store::StoreError;
use twox_hash::XxHash3_64;

use crate::damage::branch_repair;
use crate::damage::damaged_leaf::DamagedLeaf;
use crate::damage::lost_ranges::LostRange;
use crate::damage::write_path_check::NeedsRepair;
use crate::error::io_error;
use crate::folder::file_read;
use crate::folder::private_files::{self, sync_folder};
use crate::pages::checksums::PageChecksum;
use crate::pages::page::{HEADER_BYTES, Node, NodeValue, new_leaf, overflow_header, overflow_pages, u64_at};
use crate::pages::page_set::PageSet;
use crate::pages::page_view::{LostPage, PageFile, PageView};
use crate::pages::tree_walk::{KeyBounds, TreeView};
use crate::tree::root::{Root, damaged};

const FILE_NAME: &str = "REPAIR";
const UNFINISHED_NAME: &str = "REPAIR.new";
/// An entry that no reader takes for a row or a chunk.
const PLACEHOLDER_ENTRY: [u8; 5] = [0xFF; 5];
/// How often a page is read again before it counts as unreadable, and the pause between attempts.
const READ_ATTEMPTS: usize = 5;
const RETRY_PAUSE: Duration = Duration::from_millis(100);
const KIND_NODES: u8 = 1;
const KIND_BYTES: u8 = 2;

/// Repairs a damaged page, or fails if that cannot be done.
pub(crate) fn repair(
    folder: &Path,
    root: &Root,
    live: &PageSet,
    needs_repair: NeedsRepair,
) -> Result<(), StoreError> {
    if is_readable_on_retry(&root.view, needs_repair.page()) {
        return Ok(());
    }
    match needs_repair {
        NeedsRepair::Value { page, bytes } => repair_value(folder, root, page, bytes),
        NeedsRepair::Page(lost) => {
            tracing::error!(%lost, "a damaged page is being rewritten");
            for (database, are_rows) in [(root.named.rows, true), (root.named.chunks, false)] {
                let tree = root.tree(database);
                match tree.locate(lost.number) {
                    Some((1, bounds)) => return repair_leaf(folder, root, &lost, bounds, are_rows),
                    Some((level, bounds)) => {
                        let branch = branch_repair::LostBranch { tree, number: lost.number, level, bounds };
                        let rebuilt = branch.rebuild(root, live).ok_or_else(|| damaged(lost.clone()))?;
                        if !rebuilt.is_complete && are_rows {
                            record_lost(root, vec![LostRange::of_page(bounds)])?;
                        }
                        return write(folder, root, lost.number, KIND_NODES, rebuilt.page);
                    }
                    None => {}
                }
            }
            Err(damaged(lost))
        }
    }
}

/// Whether a page that could not be read can be read after all.
fn is_readable_on_retry(view: &PageView, number: u64) -> bool {
    match view.copy_of(number) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => (0..READ_ATTEMPTS).any(|_| {
            std::thread::sleep(RETRY_PAUSE);
            view.copy_of(number).is_ok()
        }),
        _ => false,
    }
}

/// Completes a repair that a crash interrupted.
pub(crate) fn finish(folder: &Path, pages: &PageFile) -> io::Result<()> {
    let file = folder.join(FILE_NAME);
    let bytes = match file_read::whole(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if let Some(PendingRepair { number, kind, slot, page }) = PendingRepair::read(&bytes)
        && newest_slot(pages)? == Some(slot)
    {
        install(pages, number, kind, page)?;
    }
    fs::remove_file(&file)?;
    sync_folder(folder)
}

/// A rewritten page on its way into the data file.
struct PendingRepair<'p> {
    number: u64,
    kind: u8,
    slot: u64,
    page: &'p [u8],
}

impl<'p> PendingRepair<'p> {
    fn read(bytes: &'p [u8]) -> Option<PendingRepair<'p>> {
        let (rest, checksum) = bytes.split_last_chunk::<8>()?;
        let (header, page) = rest.split_at_checked(17)?;
        let is_intact = u64::from_le_bytes(*checksum) == XxHash3_64::oneshot(rest);
        is_intact.then_some(PendingRepair {
            number: u64_at(header, 0)?,
            kind: header[8],
            slot: u64_at(header, 9)?,
            page,
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let header = [&self.number.to_le_bytes()[..], &[self.kind], &self.slot.to_le_bytes()].concat();
        let mut bytes = [&header, self.page].concat();
        bytes.extend(XxHash3_64::oneshot(&bytes).to_le_bytes());
        bytes
    }
}

/// Identifies the transaction whose pages are in use.
fn newest_slot(pages: &PageFile) -> io::Result<Option<u64>> {
    Ok(pages.checksums.slots()?.first().map(|slot| XxHash3_64::oneshot(&slot.page)))
}

fn repair_leaf(
    folder: &Path,
    root: &Root,
    lost: &LostPage,
    bounds: KeyBounds<'_>,
    are_rows: bool,
) -> Result<(), StoreError> {
    let copy = root.view.damaged_leaf(lost.number);
    let leaf = copy.as_ref().and_then(|copy| DamagedLeaf::from_copy(copy, bounds));
    if are_rows {
        record_lost(
            root,
            leaf.as_ref().map_or_else(|| vec![LostRange::of_page(bounds)], DamagedLeaf::lost_ranges),
        )?;
    }
    let mut rows: Vec<_> = leaf.iter().flat_map(DamagedLeaf::rows).collect();
    if rows.is_empty() {
        // LMDB has no empty leaves.
        rows.push(Node { key: bounds.low.unwrap_or(&[0]), value: NodeValue::Inline(&PLACEHOLDER_ENTRY) });
    }
    let page = new_leaf(lost.number, root.view.page_bytes, &rows).ok_or_else(|| damaged(lost.clone()))?;
    write(folder, root, lost.number, KIND_NODES, page)
}

fn repair_value(folder: &Path, root: &Root, first: u64, bytes: usize) -> Result<(), StoreError> {
    let tree = TreeView { view: &root.view, database: root.named.rows };
    let page_bytes = root.view.page_bytes;
    for index in 0..overflow_pages(bytes, page_bytes) {
        let number = first + index;
        // What is beyond the end of a truncated file, or unreadable, becomes zeros.
        let mut page = root.view.copy_of(number).unwrap_or_else(|_| vec![0; page_bytes]);
        if index == 0 {
            let header = overflow_header(first, overflow_pages(bytes, page_bytes));
            page.get_mut(..HEADER_BYTES)
                .ok_or_else(|| damaged(tree.unexpected_page(first)))?
                .copy_from_slice(&header);
        }
        write(folder, root, number, KIND_BYTES, page)?;
    }
    Ok(())
}

fn record_lost(root: &Root, ranges: Vec<LostRange>) -> Result<(), StoreError> {
    root.view.pages.damage.add(ranges).map_err(|error| io_error(&error))
}

fn write(folder: &Path, root: &Root, number: u64, kind: u8, page: Vec<u8>) -> Result<(), StoreError> {
    let pages = &root.view.pages;
    let rewrite = || -> io::Result<()> {
        let slot = newest_slot(pages)?.ok_or_else(|| io::Error::other("the file sums has no slot"))?;
        let repaired = PendingRepair { number, kind, slot, page: &page };
        let mut file = private_files::options().truncate(true).open(folder.join(UNFINISHED_NAME))?;
        file.write_all(&repaired.to_bytes())?;
        file.sync_all()?;
        fs::rename(folder.join(UNFINISHED_NAME), folder.join(FILE_NAME))?;
        sync_folder(folder)?;
        install(pages, number, kind, &page)?;
        fs::remove_file(folder.join(FILE_NAME))?;
        sync_folder(folder)
    };
    rewrite().map_err(|error| io_error(&error))
}

fn install(pages: &PageFile, number: u64, kind: u8, page: &[u8]) -> io::Result<()> {
    pages.file.write_all_at(page, number * page.len() as u64)?;
    pages.file.sync_data()?;
    let checksum = if kind == KIND_NODES { PageChecksum::of_nodes } else { PageChecksum::of_bytes };
    pages.checksums.update(&[(number, checksum(number, page))])?;
    pages.update_length()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::page_view;
    use crate::tree::environment::Environment;

    fn key(number: u8) -> Vec<u8> {
        [b"row ".as_slice(), &[number]].concat()
    }

    fn value(number: u8) -> Vec<u8> {
        vec![number; 100 + usize::from(number)]
    }

    /// A folder with some rows on one leaf, one of them damaged.
    fn damaged_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        crate::folder::creation::create_data_file(folder.path()).unwrap();
        let environment = Environment::open(folder.path()).unwrap();
        put(&environment, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        drop(environment);
        let file = page_view::file_of(folder.path());
        let mut bytes = fs::read(&file).unwrap();
        let at = bytes.windows(100).rposition(|window| window == &value(4)[..100]).unwrap();
        bytes[at + 50] ^= 1;
        fs::write(file, bytes).unwrap();
        folder
    }

    fn put(environment: &Environment, numbers: &[u8]) {
        let keys: Vec<_> = numbers.iter().map(|number| key(*number)).collect();
        let touched: Vec<_> = keys.iter().map(|key| (key.as_slice(), false)).collect();
        let write = |databases: &crate::tree::databases::Databases, txn: &mut heed::RwTxn<'_>| {
            numbers.iter().try_for_each(|number| databases.put(txn, &key(*number), &value(*number)))
        };
        environment.write_rows(&touched, write).unwrap();
    }

    #[test]
    fn rows_read_from_a_damaged_page_stay_unchanged() {
        let folder = damaged_folder();
        let environment = Environment::open(folder.path()).unwrap();
        let root = environment.root();
        assert!(root.get(&key(4)).is_err());
        let read: Vec<_> = [1, 2, 3, 5, 6, 7, 8, 9].map(|n| (n, root.get(&key(n)).unwrap().unwrap())).into();
        put(&environment, &[20]);
        assert!(root.get(&key(4)).is_err());
        for (number, found) in read {
            assert_eq!(found, value(number), "row {number}");
        }
    }
    /// A removal may not be durable when the power fails.
    #[test]
    fn a_repair_file_that_reappears_later_is_ignored() {
        let folder = damaged_folder();
        let environment = Environment::open(folder.path()).unwrap();
        let root = environment.root();
        let leaf = root.named.rows.root.unwrap();
        let as_it_was = root.view.copy_of(leaf).unwrap();
        let file = folder.path().join(FILE_NAME);
        let slot = newest_slot(&root.view.pages).unwrap().unwrap();
        let repaired = PendingRepair { number: leaf, kind: KIND_NODES, slot, page: &as_it_was };
        // An interrupted repair is completed.
        fs::write(&file, repaired.to_bytes()).unwrap();
        finish(folder.path(), &root.view.pages).unwrap();
        assert!(!file.exists() && root.view.page(leaf).is_ok());
        drop(root);
        // The page is reused for something else.
        put(&environment, &[20]);
        put(&environment, &[21]);
        put(&environment, &[22]);
        let in_use = environment.root().view.copy_of(leaf).unwrap();
        assert_ne!(in_use, as_it_was);
        fs::write(&file, repaired.to_bytes()).unwrap();
        drop(environment);
        let environment = Environment::open(folder.path()).unwrap();
        assert_eq!(environment.root().view.copy_of(leaf).unwrap(), in_use);
        assert!(!file.exists());
    }
}
