//! `data.mdb` and `sums` before LMDB opens the one and the other is trusted: made if there are none, built for a file
//! of the first format, and brought to the last transaction whose sums are all there.
//!
//! A slot of `sums` has its transaction's meta page, so the meta pages of the file itself are mere copies: one that is
//! damaged, or that names a transaction whose sums were not written before a crash, is written anew.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::damage::lost_ranges::DamageNotes;
use crate::damage::page_repair;
use crate::folder::file_read;
use crate::folder::private_files::{self, sync_folder};
use crate::open_error::OpenError;
use crate::pages::checksums::{self, PageSums, Slot};
use crate::pages::live_pages::PageAccounts;
use crate::pages::page::{META_BYTES, META_TRANSACTION_AT, Meta};
use crate::pages::page_view::{self, Pages, View};

/// Where both files are made before they get their names.
pub(crate) const UNFINISHED_NAME: &str = "data.new";
/// In that folder, once both are whole.
const FINISHED_NAME: &str = "FINISHED";
const UNFINISHED_SUMS_NAME: &str = "sums.new";

/// Where the second meta page usually is.
const SECOND_META_PAGE_AT: u64 = 4_096;

/// The checked file, and the meta page it is at.
pub(crate) struct DataFile {
    pub view: View,
    pub slot: Slot,
}

/// Opens the files of a folder that has them.
pub(crate) fn open(folder: &Path, map_bytes: usize) -> Result<DataFile, OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    for name in [page_view::FILE_NAME, checksums::FILE_NAME] {
        if !folder.join(name).exists() {
            return Err(OpenError::damaged(folder, format!("its file {name} is missing")));
        }
    }
    let pages = Pages::open(folder).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => OpenError::damaged(folder, error.to_string()),
        _ => failed(error),
    })?;
    page_repair::finish(folder, &pages).map_err(failed)?;
    let slots = pages.sums.slots().map_err(failed)?;
    let Some(slot) = slots.first().cloned() else {
        return Err(OpenError::damaged(folder, "its file sums does not say what data.mdb must be"));
    };
    set_meta_pages(&pages.file, &slots).map_err(failed)?;
    let view = View::open(Arc::new(pages), slot.meta.page_bytes, map_bytes).map_err(failed)?;
    Ok(DataFile { view, slot })
}

/// Has `make` make a data file and puts it, with its sums, in the place of the one there is.
pub(crate) fn replace(
    folder: &Path,
    make: impl FnOnce(&Path) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    let unfinished = folder.join(UNFINISHED_NAME);
    private_files::make_folder(&unfinished).map_err(failed)?;
    make(&unfinished)?;
    build_sums(&unfinished)?;
    private_files::options()
        .open(unfinished.join(FINISHED_NAME))
        .and_then(|file| file.sync_all())
        .map_err(failed)?;
    sync_folder(&unfinished).map_err(failed)?;
    sync_folder(folder).map_err(failed)?;
    finish_replacing(folder).map_err(failed)
}

/// Where one of both files is: a finished one may not have been put in its place yet.
pub(crate) fn present_place(folder: &Path, name: &str) -> PathBuf {
    let unfinished = folder.join(UNFINISHED_NAME);
    let is_due = unfinished.join(FINISHED_NAME).exists() && unfinished.join(name).exists();
    if is_due { unfinished.join(name) } else { folder.join(name) }
}

/// Puts finished files in their place, and removes unfinished ones. Cut short, it can be done again.
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

/// Takes a data file as it is, looks through all of it, and writes its sums.
pub(crate) fn build_sums(folder: &Path) -> Result<(), OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    let unfinished = folder.join(UNFINISHED_SUMS_NAME);
    let sums = PageSums::create(&unfinished).map_err(failed)?;
    let file = File::options().read(true).write(true).open(page_view::file_of(folder)).map_err(failed)?;
    let page = last_meta_page(&file)
        .map_err(failed)?
        .ok_or_else(|| OpenError::damaged(folder, "the first pages of data.mdb are not readable"))?;
    let meta = Meta::read(&page).ok_or_else(|| OpenError::damaged(folder, "data.mdb is not an LMDB file"))?;
    let length = file.metadata().map_err(failed)?.len();
    let pages = Arc::new(Pages::of(file, sums, DamageNotes::open(folder).map_err(failed)?));
    let view = View::open(Arc::clone(&pages), meta.page_bytes, length as usize).map_err(failed)?;
    let changes =
        PageAccounts::empty().changes(&view, &meta).map_err(|error| OpenError::store(folder, error))?;
    pages.sums.write(&changes.sums, &page).map_err(failed)?;
    fs::rename(&unfinished, folder.join(checksums::FILE_NAME)).map_err(failed)?;
    sync_folder(folder).map_err(failed)
}

/// The meta page of the last transaction, as LMDB chooses it.
fn last_meta_page(file: &File) -> io::Result<Option<[u8; META_BYTES]>> {
    let pages = readable_meta_pages(file)?.into_iter();
    Ok(pages.max_by_key(|(meta, _)| meta.transaction).map(|(_, page)| page))
}

/// What the meta pages of the file say, if they are readable.
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

/// Makes the file's two meta pages what the last slot and the one before say.
fn set_meta_pages(file: &File, slots: &[Slot]) -> io::Result<()> {
    let Some(last) = slots.first() else { return Ok(()) };
    let transaction = last.meta.transaction;
    let before = slots.get(1).filter(|slot| slot.meta.transaction + 1 == transaction);
    let before = before.map_or_else(|| as_of_transaction_before(last), |slot| slot.page);
    let mut changed = false;
    for (number, page) in [(transaction % 2, last.page), ((transaction + 1) % 2, before)] {
        let at = number * last.meta.page_bytes as u64;
        if meta_page(file, at)? != Some(page) {
            file.write_all_at(&page, at)?;
            tracing::info!(transaction, "data.mdb was set to the last transaction whose checksums are there");
            changed = true;
        }
    }
    if changed {
        file.sync_data()?;
    }
    Ok(())
}

/// The same trees under the number of the transaction before: what LMDB may overwrite next.
fn as_of_transaction_before(slot: &Slot) -> [u8; META_BYTES] {
    let mut page = slot.page;
    let transaction = slot.meta.transaction.saturating_sub(1);
    page[..8].copy_from_slice(&(transaction % 2).to_le_bytes());
    page[META_TRANSACTION_AT..].copy_from_slice(&transaction.to_le_bytes());
    page
}

/// `None` where the file is too short to have one.
fn meta_page(file: &File, at: u64) -> io::Result<Option<[u8; META_BYTES]>> {
    let mut page = [0; META_BYTES];
    let read = file_read::some(file, &page_view::FILE_NAME, &mut page, at)?;
    Ok((read == META_BYTES).then_some(page))
}
