//! Writes a damaged page anew, in its place, so that LMDB can write to the rows around the damage.
//!
//! A leaf gets the rows that are still good; what it may have lost is noted first (`damage_notes`). A branch is made
//! of its children, which are all still there. The pages of a value get their header back; whether the value is
//! whole, its row's checksum tells.
//!
//! The new page goes to the file `REPAIR` first. So a crash leaves either the damaged page or, once the next start has
//! looked at that file, the new one.
//!
//! ```text
//! number of the page (8) │ what it is (1) │ xxh3 of the slot it is of (8) │ the page │ xxh3 of these (8)
//! ```
//! A file that comes back, since its removal was not durable, is of another transaction: its page may be in use for
//! something else by now.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use partita_store::StoreError;
use twox_hash::XxHash3_64;

use crate::damage::branch_repair;
use crate::damage::damaged_leaf::DamagedLeaf;
use crate::damage::lost_ranges::DamageNote;
use crate::damage::write_path_check::Unfit;
use crate::error::io_error;
use crate::folder::file_read;
use crate::folder::private_files::{self, sync_folder};
use crate::pages::checksums::PageSum;
use crate::pages::page::{HEADER_BYTES, Node, Value, new_leaf, overflow_header, overflow_pages, u64_at};
use crate::pages::page_set::PageBits;
use crate::pages::page_view::{LostPage, Pages, View};
use crate::pages::tree_walk::{Bounds, Tree};
use crate::tree::root::{Root, damaged};

const FILE_NAME: &str = "REPAIR";
const UNFINISHED_NAME: &str = "REPAIR.new";
/// An entry that no reader takes for a row or a chunk.
const NOTHING: [u8; 5] = [0xFF; 5];
/// How often a page is asked for again before it counts as one that the disk does not give back, and how long apart.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(100);
const OF_NODES: u8 = 1;
const OF_BYTES: u8 = 2;

/// Repairs what is unfit. Fails if that cannot be done.
pub(crate) fn repair(folder: &Path, root: &Root, live: &PageBits, unfit: Unfit) -> Result<(), StoreError> {
    if comes_back(&root.view, unfit.page()) {
        return Ok(());
    }
    match unfit {
        Unfit::Value { page, bytes } => repair_value(folder, root, page, bytes),
        Unfit::Page(lost) => {
            tracing::error!(%lost, "a damaged page is written anew");
            for (database, are_rows) in [(root.named.rows, true), (root.named.chunks, false)] {
                let tree = root.tree(database);
                match tree.place_of(lost.number) {
                    Some((1, bounds)) => return repair_leaf(folder, root, &lost, bounds, are_rows),
                    Some((level, bounds)) => {
                        let branch = branch_repair::Lost { tree, number: lost.number, level, bounds };
                        let rebuilt = branch.rebuild(root, live).ok_or_else(|| damaged(lost.clone()))?;
                        if !rebuilt.is_whole && are_rows {
                            note(root, vec![DamageNote::of_page(bounds)])?;
                        }
                        return write(folder, root, lost.number, OF_NODES, rebuilt.page);
                    }
                    None => {}
                }
            }
            Err(damaged(lost))
        }
    }
}

/// Whether a page that could not be read can be read after all.
fn comes_back(view: &View, number: u64) -> bool {
    match view.copy_of(number) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => (0..TRIES).any(|_| {
            std::thread::sleep(PAUSE);
            view.copy_of(number).is_ok()
        }),
        _ => false,
    }
}

/// Does what a crash has left undone.
pub(crate) fn finish(folder: &Path, pages: &Pages) -> io::Result<()> {
    let file = folder.join(FILE_NAME);
    let bytes = match file_read::whole(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if let Some(Repaired { number, kind, slot, page }) = Repaired::read(&bytes)
        && newest_slot(pages)? == Some(slot)
    {
        put_in_place(pages, number, kind, page)?;
    }
    fs::remove_file(&file)?;
    sync_folder(folder)
}

/// A page that is to be written anew.
struct Repaired<'p> {
    number: u64,
    kind: u8,
    slot: u64,
    page: &'p [u8],
}

impl<'p> Repaired<'p> {
    fn read(bytes: &'p [u8]) -> Option<Repaired<'p>> {
        let (rest, sum) = bytes.split_last_chunk::<8>()?;
        let (head, page) = rest.split_at_checked(17)?;
        let is_whole = u64::from_le_bytes(*sum) == XxHash3_64::oneshot(rest);
        is_whole.then_some(Repaired { number: u64_at(head, 0)?, kind: head[8], slot: u64_at(head, 9)?, page })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let head = [&self.number.to_le_bytes()[..], &[self.kind], &self.slot.to_le_bytes()].concat();
        let mut bytes = [&head, self.page].concat();
        bytes.extend(XxHash3_64::oneshot(&bytes).to_le_bytes());
        bytes
    }
}

/// The transaction whose pages are in use, and how they are used.
fn newest_slot(pages: &Pages) -> io::Result<Option<u64>> {
    Ok(pages.sums.slots()?.first().map(|slot| XxHash3_64::oneshot(&slot.page)))
}

fn repair_leaf(
    folder: &Path,
    root: &Root,
    lost: &LostPage,
    bounds: Bounds<'_>,
    are_rows: bool,
) -> Result<(), StoreError> {
    let copy = root.view.damaged_leaf(lost.number);
    let leaf = copy.as_ref().and_then(|copy| DamagedLeaf::judge(copy, bounds));
    if are_rows {
        note(root, leaf.as_ref().map_or_else(|| vec![DamageNote::of_page(bounds)], DamagedLeaf::notes))?;
    }
    let mut rows: Vec<_> = leaf.iter().flat_map(DamagedLeaf::rows).collect();
    if rows.is_empty() {
        // LMDB has no empty leaves.
        rows.push(Node { key: bounds.low.unwrap_or(&[0]), value: Value::Here(&NOTHING) });
    }
    let page = new_leaf(lost.number, root.view.page_bytes, &rows).ok_or_else(|| damaged(lost.clone()))?;
    write(folder, root, lost.number, OF_NODES, page)
}

fn repair_value(folder: &Path, root: &Root, first: u64, bytes: usize) -> Result<(), StoreError> {
    let tree = Tree { view: &root.view, database: root.named.rows };
    let page_bytes = root.view.page_bytes;
    for place in 0..overflow_pages(bytes, page_bytes) {
        let number = first + place;
        // What lies beyond the end of a file that was cut is zeros, and what the disk does not give back.
        let mut page = root.view.copy_of(number).unwrap_or_else(|_| vec![0; page_bytes]);
        if place == 0 {
            let header = overflow_header(first, overflow_pages(bytes, page_bytes));
            page.get_mut(..HEADER_BYTES).ok_or_else(|| damaged(tree.broken(first)))?.copy_from_slice(&header);
        }
        write(folder, root, number, OF_BYTES, page)?;
    }
    Ok(())
}

fn note(root: &Root, notes: Vec<DamageNote>) -> Result<(), StoreError> {
    root.view.pages.damage.add(notes).map_err(|error| io_error(&error))
}

fn write(folder: &Path, root: &Root, number: u64, kind: u8, page: Vec<u8>) -> Result<(), StoreError> {
    let pages = &root.view.pages;
    let do_it = || -> io::Result<()> {
        let slot = newest_slot(pages)?.ok_or_else(|| io::Error::other("the file sums has no slot"))?;
        let repaired = Repaired { number, kind, slot, page: &page };
        let mut file = private_files::options().truncate(true).open(folder.join(UNFINISHED_NAME))?;
        file.write_all(&repaired.to_bytes())?;
        file.sync_all()?;
        fs::rename(folder.join(UNFINISHED_NAME), folder.join(FILE_NAME))?;
        sync_folder(folder)?;
        put_in_place(pages, number, kind, &page)?;
        fs::remove_file(folder.join(FILE_NAME))?;
        sync_folder(folder)
    };
    do_it().map_err(|error| io_error(&error))
}

fn put_in_place(pages: &Pages, number: u64, kind: u8, page: &[u8]) -> io::Result<()> {
    pages.file.write_all_at(page, number * page.len() as u64)?;
    pages.file.sync_data()?;
    let sum = if kind == OF_NODES { PageSum::of_nodes } else { PageSum::of_bytes };
    pages.sums.amend(&[(number, sum(number, page))])?;
    pages.look_for_end()?;
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

    /// A folder with some rows on one leaf, and one of them damaged.
    fn damaged_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        crate::folder::creation::make_data_file(folder.path()).unwrap();
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
        let write = |tree: &crate::tree::databases::Tree, txn: &mut heed::RwTxn<'_>| {
            numbers.iter().try_for_each(|number| tree.put(txn, &key(*number), &value(*number)))
        };
        environment.write_rows(&touched, write).unwrap();
    }

    #[test]
    fn what_was_read_of_a_damaged_page_stays_what_it_was() {
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
    fn a_repair_that_comes_back_later_is_left_alone() {
        let folder = damaged_folder();
        let environment = Environment::open(folder.path()).unwrap();
        let root = environment.root();
        let leaf = root.named.rows.root.unwrap();
        let as_it_was = root.view.copy_of(leaf).unwrap();
        let file = folder.path().join(FILE_NAME);
        let slot = newest_slot(&root.view.pages).unwrap().unwrap();
        let repaired = Repaired { number: leaf, kind: OF_NODES, slot, page: &as_it_was };
        // Cut short, it is made up for.
        fs::write(&file, repaired.to_bytes()).unwrap();
        finish(folder.path(), &root.view.pages).unwrap();
        assert!(!file.exists() && root.view.page(leaf).is_ok());
        drop(root);
        // The page is used for something else.
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
