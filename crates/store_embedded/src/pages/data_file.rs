//! Prepares `data.mdb` and `sums` before LMDB opens the former and the latter is trusted: creates them, builds checksums
//! for a file of format 1, and resets the file to the last transaction whose checksums are complete.
//!
//! A slot of `sums` holds its transaction's meta page, so the meta pages of the file itself are mere copies: one that is
//! damaged, or that names a transaction whose checksums were not written before a crash, is rewritten.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::damage::lost_ranges::LostRanges;
use crate::damage::page_repair;
use crate::folder::file_read;
use crate::folder::private_files::{self, sync_folder};
use crate::open_error::OpenError;
use crate::pages::checksums::{self, ChecksumFile, Slot};
use crate::pages::live_pages::LivePages;
use crate::pages::page::{META_BYTES, META_TRANSACTION_AT, Meta};
use crate::pages::page_view::{self, PageFile, PageView};

/// The folder in which both files are built before they get their names.
pub(crate) const UNFINISHED_NAME: &str = "data.new";
/// The marker in that folder that both files are complete.
const FINISHED_NAME: &str = "FINISHED";
const UNFINISHED_CHECKSUMS_NAME: &str = "sums.new";

/// The usual offset of the second meta page.
const SECOND_META_PAGE_AT: u64 = 4_096;

/// The checked file, and the slot with its current meta page.
pub(crate) struct DataFile {
    pub view: PageView,
    pub slot: Slot,
}

/// Opens the files of an existing store.
pub(crate) fn open(folder: &Path, map_bytes: usize) -> Result<DataFile, OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    for name in [page_view::FILE_NAME, checksums::FILE_NAME] {
        if !folder.join(name).exists() {
            return Err(OpenError::damaged(folder, format!("its file {name} is missing")));
        }
    }
    let pages = PageFile::open(folder).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => OpenError::damaged(folder, error.to_string()),
        _ => failed(error),
    })?;
    page_repair::finish(folder, &pages).map_err(failed)?;
    let slots = pages.checksums.slots().map_err(failed)?;
    let Some(slot) = slots.first().cloned() else {
        return Err(OpenError::damaged(folder, "its file sums has no readable slot"));
    };
    set_meta_pages(&pages.file, &slots).map_err(failed)?;
    let view = PageView::open(Arc::new(pages), slot.meta.page_bytes, map_bytes).map_err(failed)?;
    Ok(DataFile { view, slot })
}

/// Lets `make` build a data file, and replaces the current one and its checksums with it.
pub(crate) fn replace(
    folder: &Path,
    make: impl FnOnce(&Path) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    let unfinished = folder.join(UNFINISHED_NAME);
    private_files::create_folder(&unfinished).map_err(failed)?;
    make(&unfinished)?;
    build_checksums(&unfinished)?;
    private_files::options()
        .open(unfinished.join(FINISHED_NAME))
        .and_then(|file| file.sync_all())
        .map_err(failed)?;
    sync_folder(&unfinished).map_err(failed)?;
    sync_folder(folder).map_err(failed)?;
    finish_replacing(folder).map_err(failed)
}

/// The current path of one of the two files: a complete new one may not have been renamed yet.
pub(crate) fn current_path(folder: &Path, name: &str) -> PathBuf {
    let unfinished = folder.join(UNFINISHED_NAME);
    let is_due = unfinished.join(FINISHED_NAME).exists() && unfinished.join(name).exists();
    if is_due { unfinished.join(name) } else { folder.join(name) }
}

/// Moves complete new files into place, and removes incomplete ones. Can be repeated if interrupted.
pub(crate) fn finish_replacing(folder: &Path) -> io::Result<()> {
    let unfinished = folder.join(UNFINISHED_NAME);
    if !unfinished.exists() {
        return Ok(());
    }
    if unfinished.join(FINISHED_NAME).exists() {
        for name in [checksums::FILE_NAME, page_view::FILE_NAME] {
            if unfinished.join(name).exists() {
                fs::rename(unfinished.join(name), folder.join(name))?;
            }
        }
        sync_folder(folder)?;
    }
    fs::remove_dir_all(&unfinished)
}

/// Accepts a data file as it is, reads all of it, and writes its checksums.
pub(crate) fn build_checksums(folder: &Path) -> Result<(), OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    let unfinished = folder.join(UNFINISHED_CHECKSUMS_NAME);
    let checksums = ChecksumFile::create(&unfinished).map_err(failed)?;
    let file = File::options().read(true).write(true).open(page_view::file_of(folder)).map_err(failed)?;
    let page = last_meta_page(&file)
        .map_err(failed)?
        .ok_or_else(|| OpenError::damaged(folder, "the first pages of data.mdb are not readable"))?;
    let meta = Meta::read(&page).ok_or_else(|| OpenError::damaged(folder, "data.mdb is not an LMDB file"))?;
    let length = file.metadata().map_err(failed)?.len();
    let pages = Arc::new(PageFile::of(file, checksums, LostRanges::open(folder).map_err(failed)?));
    let view = PageView::open(Arc::clone(&pages), meta.page_bytes, length as usize).map_err(failed)?;
    let changes =
        LivePages::empty().changes(&view, &meta).map_err(|error| OpenError::store(folder, error))?;
    pages.checksums.write(&changes.checksums, &page).map_err(failed)?;
    fs::rename(&unfinished, folder.join(checksums::FILE_NAME)).map_err(failed)?;
    sync_folder(folder).map_err(failed)
}

/// The meta page of the last transaction, chosen as LMDB does.
fn last_meta_page(file: &File) -> io::Result<Option<[u8; META_BYTES]>> {
    let pages = readable_meta_pages(file)?.into_iter();
    Ok(pages.max_by_key(|(meta, _)| meta.transaction).map(|(_, page)| page))
}

/// The readable meta pages of the file.
pub(crate) fn meta_pages(file: &File) -> io::Result<Vec<Meta>> {
    Ok(readable_meta_pages(file)?.into_iter().map(|(meta, _)| meta).collect())
}

fn readable_meta_pages(file: &File) -> io::Result<Vec<(Meta, [u8; META_BYTES])>> {
    let mut found = Vec::new();
    let first = meta_page(file, 0)?.and_then(|page| Some((Meta::read(&page)?, page)));
    let page_bytes = first.map_or(SECOND_META_PAGE_AT, |(meta, _)| meta.page_bytes as u64);
    found.extend(first);
    found.extend(meta_page(file, page_bytes)?.and_then(|page| Some((Meta::read(&page)?, page))));
    Ok(found)
}

/// Sets the file's two meta pages to those of the last slot and the one before.
fn set_meta_pages(file: &File, slots: &[Slot]) -> io::Result<()> {
    let Some(last) = slots.first() else { return Ok(()) };
    let transaction = last.meta.transaction;
    let before = slots.get(1).filter(|slot| slot.meta.transaction + 1 == transaction);
    let before = before.map_or_else(|| as_previous_transaction(last), |slot| slot.page);
    let mut changed = false;
    for (number, page) in [(transaction % 2, last.page), ((transaction + 1) % 2, before)] {
        let at = number * last.meta.page_bytes as u64;
        if meta_page(file, at)? != Some(page) {
            file.write_all_at(&page, at)?;
            tracing::info!(transaction, "data.mdb was reset to the last transaction with complete checksums");
            changed = true;
        }
    }
    if changed {
        file.sync_data()?;
    }
    Ok(())
}

/// The same trees under the number of the previous transaction: what LMDB may overwrite next.
fn as_previous_transaction(slot: &Slot) -> [u8; META_BYTES] {
    let mut page = slot.page;
    let transaction = slot.meta.transaction.saturating_sub(1);
    page[..8].copy_from_slice(&(transaction % 2).to_le_bytes());
    page[META_TRANSACTION_AT..].copy_from_slice(&transaction.to_le_bytes());
    page
}

/// Returns `None` if the file is too short to have one.
fn meta_page(file: &File, at: u64) -> io::Result<Option<[u8; META_BYTES]>> {
    let mut page = [0; META_BYTES];
    let read = file_read::up_to(file, &page_view::FILE_NAME, &mut page, at)?;
    Ok((read == META_BYTES).then_some(page))
}
