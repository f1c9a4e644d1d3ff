//! A folder that no process has open, read as it is: nothing in it is changed, and it may be on a read-only disk.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::damage::lost_ranges::LostRanges;
use crate::folder::format;
use crate::folder::lock::FolderLock;
use crate::open_error::OpenError;
use crate::pages::checksums::{self, ChecksumFile};
use crate::pages::data_file::{current_path, meta_pages};
use crate::pages::mapped_faults::MappedRange;
use crate::pages::page::Meta;
use crate::pages::page_view::{self, PageFile, PageView};

pub(crate) struct ReadOnlyFolder {
    pub view: PageView,
    /// The roots of the trees: from the checksum file, or else from the data file. `None` if neither is readable.
    pub meta: Option<Meta>,
    /// Whether they come from the checksum file.
    pub has_checksums: bool,
    /// What is wrong with the `FORMAT` file.
    pub format_damage: Option<String>,
    /// For the error message if the data file cannot be read where it is mapped.
    _mapped: Vec<MappedRange>,
    _lock: FolderLock,
}

impl ReadOnlyFolder {
    /// `no_sums` is the path of an empty checksum file to use if there is none.
    pub fn open(folder: &Path, empty_checksums: Option<&Path>) -> Result<ReadOnlyFolder, OpenError> {
        let failed = |error: io::Error| OpenError::io(folder, error);
        if !folder.is_dir() {
            return Err(failed(io::ErrorKind::NotFound.into()));
        }
        let format_damage = match format::check(folder) {
            Err(OpenError::Damaged { what, .. }) => Some(what),
            checked => checked.map(|_| None)?,
        };
        let lock = FolderLock::acquire_read_only(folder)?;
        let data_file = current_path(folder, page_view::FILE_NAME);
        let file = File::open(&data_file).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let checksums = match (
            ChecksumFile::open_read_only(&current_path(folder, checksums::FILE_NAME)),
            empty_checksums,
        ) {
            (Err(error), Some(empty_checksums)) if error.kind() == io::ErrorKind::NotFound => {
                ChecksumFile::create(empty_checksums)
            }
            (opened, _) => opened,
        };
        let checksums = checksums.map_err(failed)?;
        let slot = checksums.slots().map_err(failed)?.into_iter().next();
        let has_checksums = slot.is_some();
        let meta = match slot {
            Some(slot) => Some(slot.meta),
            None => meta_pages(&file).map_err(failed)?.into_iter().max_by_key(|meta| meta.transaction),
        };
        let damage = LostRanges::open_or_assume_all_lost(folder);
        let page_bytes = meta.map_or(PAGE_BYTES, |meta| meta.page_bytes);
        let pages = Arc::new(PageFile::of(file, checksums, damage));
        let view = PageView::open(pages, page_bytes, (length as usize).max(page_bytes)).map_err(failed)?;
        let mapped = MappedRange::all_of(&data_file);
        Ok(ReadOnlyFolder { view, meta, has_checksums, format_damage, _mapped: mapped, _lock: lock })
    }
}

/// The usual page size.
const PAGE_BYTES: usize = 4_096;
