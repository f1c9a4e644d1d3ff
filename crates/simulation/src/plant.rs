//! Mistakes that are planted to see whether the simulation finds them.

use partita_store::{Decision, Health, Rows, Space, Store, StoreError, Usage, Write};
use partita_store_embedded::{EmbeddedSnapshot, EmbeddedStore};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// Segments of the log are not flushed.
    SkipLogSync,
    /// LMDB's pages are not flushed before the meta page that needs them.
    SkipPageSync,
    /// The slot with a transaction's meta page is not durable when it ends, so that pages it freed are used again too
    /// early.
    ReusePagesEarly,
    /// The tree says that it has records before it has them.
    ApplyOutOfOrder,
    /// An index lacks an entry.
    ForgetIndexEntry,
    /// The last block of a long record is missing, and nobody looks.
    DropTail,
}

impl Plant {
    pub const ALL: [Plant; 6] = [
        Plant::SkipLogSync,
        Plant::SkipPageSync,
        Plant::ReusePagesEarly,
        Plant::ApplyOutOfOrder,
        Plant::ForgetIndexEntry,
        Plant::DropTail,
    ];

    pub fn skips_sync_of(self, path: &Path) -> bool {
        match self {
            Plant::SkipLogSync => is_segment(path),
            Plant::SkipPageSync => path.ends_with("data.mdb"),
            Plant::ReusePagesEarly => path.ends_with("sums"),
            _ => false,
        }
    }

    /// Whether the tail of these bytes is lost: of a record of several blocks, not of the zeros that fill a new segment.
    pub fn cuts(self, path: &Path, bytes: &[u8]) -> bool {
        let is_long_record = bytes.len() > 4_096 && bytes.first_chunk::<4>() != Some(&[0; 4]);
        self == Plant::DropTail && is_segment(path) && is_long_record
    }
}

fn is_segment(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "segment")
}

/// The space of the first index of the first table.
const FIRST_INDEX: Space = Space(17);
/// Which entry of it is forgotten.
const FORGOTTEN: usize = 7;

/// The store, with or without a mistake.
pub struct PlantedStore {
    store: EmbeddedStore,
    entries: Option<Arc<AtomicUsize>>,
}

impl PlantedStore {
    pub fn new(store: EmbeddedStore, plant: Option<Plant>) -> PlantedStore {
        PlantedStore { store, entries: (plant == Some(Plant::ForgetIndexEntry)).then(Arc::default) }
    }
}

impl Store for PlantedStore {
    type Snapshot<'a> = EmbeddedSnapshot<'a>;

    fn snapshot(&self) -> Result<EmbeddedSnapshot<'_>, StoreError> {
        self.store.snapshot()
    }

    fn decide<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        mut decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let entries = self.entries.clone();
        self.store.decide(keys, move |rows| {
            let mut decided = decision(rows);
            if let Some(entries) = &entries {
                decided.writes.retain(|write| {
                    let is_entry =
                        matches!(write, Write::Put { key, .. } if key.starts_with(&FIRST_INDEX.prefix()));
                    !is_entry || entries.fetch_add(1, Ordering::Relaxed) != FORGOTTEN
                });
            }
            decided
        })
    }

    fn usage(&self) -> Result<Usage, StoreError> {
        self.store.usage()
    }

    fn health(&self) -> Health {
        self.store.health()
    }
}
