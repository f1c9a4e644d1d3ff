//! A folder that no process has open, read as it is: nothing in it is changed, and it may be on a disk that cannot be
//! written.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::damage::lost_ranges::DamageNotes;
use crate::folder::format;
use crate::folder::lock::FolderLock;
use crate::open_error::OpenError;
use crate::pages::checksums::{self, PageSums};
use crate::pages::data_file::{meta_pages, present_place};
use crate::pages::mapped_faults::MappedRange;
use crate::pages::page::Meta;
use crate::pages::page_view::{self, Pages, View};

pub(crate) struct Offline {
    pub view: View,
    /// Where the trees begin: as the sums say, or else as the data file says. `None` if neither can be read.
    pub meta: Option<Meta>,
    /// Whether the sums say it.
    pub has_sums: bool,
    /// What is wrong with the file that names the format.
    pub format_damage: Option<String>,
    /// For the message if the data file cannot be read where it is mapped.
    _mapped: Vec<MappedRange>,
    _lock: FolderLock,
}

impl Offline {
    /// `no_sums` is an empty file to read instead of sums that are missing.
    pub fn open(folder: &Path, no_sums: Option<&Path>) -> Result<Offline, OpenError> {
        let failed = |error: io::Error| OpenError::io(folder, error);
        if !folder.is_dir() {
            return Err(failed(io::ErrorKind::NotFound.into()));
        }
        let format_damage = match format::check(folder) {
            Err(OpenError::Damaged { what, .. }) => Some(what),
            checked => checked.map(|_| None)?,
        };
        let lock = FolderLock::take_to_read(folder)?;
        let data_file = present_place(folder, page_view::FILE_NAME);
        let file = File::open(&data_file).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let sums = match (PageSums::open_to_read(&present_place(folder, checksums::FILE_NAME)), no_sums) {
            (Err(error), Some(no_sums)) if error.kind() == io::ErrorKind::NotFound => {
                PageSums::create(no_sums)
            }
            (opened, _) => opened,
        };
        let sums = sums.map_err(failed)?;
        let slot = sums.slots().map_err(failed)?.into_iter().next();
        let has_sums = slot.is_some();
        let meta = match slot {
            Some(slot) => Some(slot.meta),
            None => meta_pages(&file).map_err(failed)?.into_iter().max_by_key(|meta| meta.transaction),
        };
        let damage = DamageNotes::open_or_doubt_everything(folder);
        let page_bytes = meta.map_or(PAGE_BYTES, |meta| meta.page_bytes);
        let pages = Arc::new(Pages::of(file, sums, damage));
        let view = View::open(pages, page_bytes, (length as usize).max(page_bytes)).map_err(failed)?;
        let mapped = MappedRange::all_of(&data_file);
        Ok(Offline { view, meta, has_sums, format_damage, _mapped: mapped, _lock: lock })
    }
}

/// What pages usually have.
const PAGE_BYTES: usize = 4_096;
