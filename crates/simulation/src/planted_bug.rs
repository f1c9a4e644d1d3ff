//! Bugs that are planted to check that the simulation finds them.

use partita_store::{Decision, Health, Rows, Space, Store, StoreError, Usage, Write};
use partita_store_embedded::{EmbeddedSnapshot, EmbeddedStore};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedBug {
    /// Segments of the log are not synced.
    SkipLogSync,
    /// LMDB's pages are not synced before the meta page that references them.
    SkipPageSync,
    /// The slot with a transaction's meta page is not durable when the transaction ends, so that pages it freed are reused too
    /// early.
    ReusePagesEarly,
    /// The tree claims to have records before it has them.
    ApplyOutOfOrder,
    /// An index lacks an entry.
    ForgetIndexEntry,
    /// The last block of a long record is not written, and nothing notices.
    DropTail,
}

impl PlantedBug {
    pub const ALL: [PlantedBug; 6] = [
        PlantedBug::SkipLogSync,
        PlantedBug::SkipPageSync,
        PlantedBug::ReusePagesEarly,
        PlantedBug::ApplyOutOfOrder,
        PlantedBug::ForgetIndexEntry,
        PlantedBug::DropTail,
    ];

    pub fn skips_sync_of(self, path: &Path) -> bool {
        match self {
            PlantedBug::SkipLogSync => is_segment(path),
            PlantedBug::SkipPageSync => path.ends_with("data.mdb"),
            PlantedBug::ReusePagesEarly => path.ends_with("sums"),
            _ => false,
        }
    }

    /// Whether the tail of these bytes is lost: that of a record of several blocks, not of the zeros that fill a new segment.
    pub fn cuts(self, path: &Path, bytes: &[u8]) -> bool {
        let is_long_record = bytes.len() > 4_096 && bytes.first_chunk::<4>() != Some(&[0; 4]);
        self == PlantedBug::DropTail && is_segment(path) && is_long_record
    }
}

fn is_segment(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "segment")
}

/// The space of the first index of the first table.
const FIRST_INDEX: Space = Space(17);
/// Which of its entries is omitted.
const FORGOTTEN: usize = 7;

/// The store, with or without a bug.
pub struct BuggyStore {
    store: EmbeddedStore,
    entries: Option<Arc<AtomicUsize>>,
}

impl BuggyStore {
    pub fn new(store: EmbeddedStore, bug: Option<PlantedBug>) -> BuggyStore {
        BuggyStore { store, entries: (bug == Some(PlantedBug::ForgetIndexEntry)).then(Arc::default) }
    }
}

impl Store for BuggyStore {
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
