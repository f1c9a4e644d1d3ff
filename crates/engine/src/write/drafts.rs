//! Writes that take long are drafted ahead of the writer, who serves everybody else as well.
//!
//! A condition may look at an item a few hundred times, an update may take a document apart, an item may have an entry in
//! each of twenty indexes, and a transaction has a hundred of these. The writer, who knows the items, sends such writes
//! back. Then the one who asks drafts them, in slices and elsewhere; the writer compares the items with those that were
//! drafted from, which is quick, and takes the drafts if nothing has changed. Otherwise the drafts that no longer hold are
//! made again, and who is overtaken time after time is told to try later: the writer is not kept by it.

use crate::catalog::table::Table;
use crate::offload::heavy_work::{HEAVY_WORK, elsewhere};
use crate::read::slices::{Slice, let_others};
use crate::storage_failed;
use crate::write::ItemWrite;
use crate::write::lost_item::item_read_failed;
use crate::write::write_draft::{Draft, work};
use partita_api::Exception;
use partita_store::{Snapshot, Store};
use partita_value::{ItemRef, limits};
use std::sync::Arc;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Drafts that look at no more bytes together are the writer's own to make.
pub const LIGHT: usize = 4 << 20;
/// So often writes are drafted before they are given up.
pub const ATTEMPTS: usize = 32;

/// The megabytes that drafts and what they were made from may take together.
const ROOM: u32 = 64;
static FREE_ROOM: Semaphore = Semaphore::const_new(ROOM as usize);

/// Waits for room for the drafts of so many writes, however large their items are. It is free again when this is dropped.
pub async fn room_for(writes: usize) -> Option<SemaphorePermit<'static>> {
    let megabytes = (2 * writes * limits::ITEM_BYTES).div_ceil(1 << 20);
    // Nobody closes it.
    FREE_ROOM.acquire_many(u32::try_from(megabytes).map_or(ROOM, |megabytes| megabytes.min(ROOM))).await.ok()
}

/// What was drafted, by the numbers of the writes.
#[derive(Clone, Default)]
pub struct Drafts(Vec<Option<Arc<Drafted>>>);

/// A draft, and what it was made from.
struct Drafted {
    table: Arc<Table>,
    row: Option<Vec<u8>>,
    draft: MadeDraft,
}

/// A draft, or why the write cannot be.
pub type MadeDraft = Result<Draft, Exception>;

impl Drafted {
    fn is_from(&self, table: &Arc<Table>, item: Option<ItemRef<'_>>) -> bool {
        Arc::ptr_eq(&self.table, table) && self.row.as_deref() == item.map(|item| item.bytes())
    }
}

impl Drafts {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The draft of a write, if it was made from this table and item.
    pub fn of(&self, number: usize, table: &Arc<Table>, item: Option<ItemRef<'_>>) -> Option<&MadeDraft> {
        let drafted = self.0.get(number)?.as_ref()?;
        drafted.is_from(table, item).then_some(&drafted.draft)
    }

    /// Drafts writes from the items that there are now. What was drafted before and still holds is kept. `current` is a
    /// write's table as it is now.
    pub async fn ahead(
        &self,
        store: &impl Store,
        writes: &Arc<Vec<ItemWrite>>,
        current: impl Fn(&ItemWrite) -> Option<Arc<Table>>,
    ) -> Result<Drafts, Exception> {
        let mut drafts = Vec::with_capacity(writes.len());
        let mut slice = Slice::new();
        for (number, write) in writes.iter().enumerate() {
            let Some(table) = current(write) else {
                drafts.push(None);
                continue;
            };
            let row = row(store, write)?;
            let item = row.as_deref().and_then(ItemRef::new);
            let former = self.0.get(number).cloned().flatten();
            let work = work(&table, write, item);
            let drafted = match former.filter(|former| former.is_from(&table, item)) {
                Some(former) => former,
                None => Arc::new(drafted(writes, number, table, row, work).await?),
            };
            drafts.push(Some(drafted));
            if slice.spend(work) {
                slice = Slice::new();
                let_others().await;
            }
        }
        Ok(Drafts(drafts))
    }
}

/// The item's row as it is now.
fn row(store: &impl Store, write: &ItemWrite) -> Result<Option<Vec<u8>>, Exception> {
    let snapshot = store.snapshot().map_err(storage_failed)?;
    let row = snapshot.get(&write.key.stored).map_err(item_read_failed)?;
    Ok(row.map(|row| row.into_owned()))
}

/// Drafts one write, elsewhere if that takes long.
async fn drafted(
    writes: &Arc<Vec<ItemWrite>>,
    number: usize,
    table: Arc<Table>,
    row: Option<Vec<u8>>,
    work: usize,
) -> Result<Drafted, Exception> {
    let writes = Arc::clone(writes);
    let make = move || {
        let item = row.as_deref().and_then(ItemRef::new);
        let draft = Draft::new(&table, &writes[number], item);
        Drafted { table, row, draft }
    };
    if work <= HEAVY_WORK { Ok(make()) } else { elsewhere(work, make).await }
}
