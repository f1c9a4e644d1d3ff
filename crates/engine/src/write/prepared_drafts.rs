//! Drafts that are prepared outside of the writer, because they are expensive and all writes share one writer.
//!
//! A condition may look at an item a few hundred times, an update may take a document apart, an item may have an entry in
//! each of twenty indexes, and a transaction has a hundred of these. The writer, which knows the items, sends such writes
//! back. The caller then drafts them, in slices and on other threads; the writer compares the items with those that were
//! drafted from, which is quick, and takes the drafts if nothing has changed. Otherwise the drafts that are no longer valid
//! are prepared again. After [`MAX_ATTEMPTS`] the write fails and can be retried: the writer is not held up by it.

use crate::catalog::table::Table;
use crate::offload::heavy_work::{HEAVY_WORK, offload};
use crate::read::work_budget::{WorkBudget, yield_now};
use crate::storage_failed;
use crate::write::draft::{Draft, work};
use crate::write::lost_item::item_read_failed;
use crate::write::verdict::Verdict;
use crate::write::{ItemWrite, PendingCommit, RowsOfWrite, with_rows};
use partita_api::Exception;
use partita_store::{Rows, Snapshot, Store};
use partita_value::{ItemRef, limits};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Drafts that look at no more bytes in total are made by the writer.
const MAX_WRITER_WORK: usize = 4 << 20;
/// How often writes are drafted before they fail.
pub const MAX_ATTEMPTS: usize = 32;

/// The memory for all prepared drafts and the items they were made from, in megabytes.
const BUDGET_MEGABYTES: u32 = 64;
static BUDGET: Semaphore = Semaphore::const_new(BUDGET_MEGABYTES as usize);

/// Waits for enough memory to draft this many writes, however large their items are. Dropping the permit frees it.
pub async fn reserve_memory(writes: usize) -> Option<SemaphorePermit<'static>> {
    let megabytes = (2 * writes * limits::ITEM_BYTES).div_ceil(1 << 20);
    // The semaphore is never closed.
    BUDGET
        .acquire_many(
            u32::try_from(megabytes).map_or(BUDGET_MEGABYTES, |megabytes| megabytes.min(BUDGET_MEGABYTES)),
        )
        .await
        .ok()
}

/// The prepared drafts of a commit, by write.
#[derive(Clone, Default)]
pub struct PreparedDrafts {
    drafts: Vec<Option<Arc<PreparedDraft>>>,
    /// What the judge says about them, if it was asked.
    pub(super) verdict: Option<Arc<Verdict>>,
}

/// A draft, and the table and row it was made from.
struct PreparedDraft {
    table: Arc<Table>,
    row: Option<Vec<u8>>,
    draft: DraftResult,
}

/// A draft, or why the write is rejected.
pub type DraftResult = Result<Draft, Exception>;

/// The drafts of writes, by write; those that are missing are made when they are applied.
pub type Drafts<'a> = Vec<Option<Cow<'a, DraftResult>>>;

/// The drafts that were prepared; others are missing.
pub fn borrowed<'a>(drafts: &[Option<&'a DraftResult>]) -> Drafts<'a> {
    drafts.iter().map(|draft| draft.map(Cow::Borrowed)).collect()
}

impl PreparedDraft {
    fn is_from(&self, table: &Arc<Table>, item: Option<ItemRef<'_>>) -> bool {
        Arc::ptr_eq(&self.table, table) && self.row.as_deref() == item.map(|item| item.bytes())
    }
}

impl PreparedDrafts {
    pub fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// The draft of a write, if it was made from this table and item.
    pub fn of(&self, number: usize, table: &Arc<Table>, item: Option<ItemRef<'_>>) -> Option<&DraftResult> {
        let prepared = self.drafts.get(number)?.as_ref()?;
        prepared.is_from(table, item).then_some(&prepared.draft)
    }

    /// The drafts, each with the number of its write and the item it was made from.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Option<ItemRef<'_>>, &DraftResult)> {
        let drafts = self.drafts.iter().enumerate();
        drafts.filter_map(|(number, prepared)| {
            let prepared = prepared.as_ref()?;
            Some((number, prepared.row.as_deref().and_then(ItemRef::new), &prepared.draft))
        })
    }

    /// Drafts the writes from the current items, and keeps the drafts that are still valid. `current` returns the current
    /// table of a write.
    pub async fn refresh(
        &self,
        store: &impl Store,
        writes: &Arc<Vec<ItemWrite>>,
        current: impl Fn(&ItemWrite) -> Option<Arc<Table>>,
    ) -> Result<PreparedDrafts, Exception> {
        let mut drafts = Vec::with_capacity(writes.len());
        let mut budget = WorkBudget::new();
        for (number, write) in writes.iter().enumerate() {
            let Some(table) = current(write) else {
                drafts.push(None);
                continue;
            };
            let row = row(store, write)?;
            let item = row.as_deref().and_then(ItemRef::new);
            let former = self.drafts.get(number).cloned().flatten();
            let work = work(&table, write, item);
            let prepared = match former.filter(|former| former.is_from(&table, item)) {
                Some(former) => former,
                None => Arc::new(prepare(writes, number, table, row, work).await?),
            };
            drafts.push(Some(prepared));
            if budget.spend(work) {
                budget = WorkBudget::new();
                yield_now().await;
            }
        }
        Ok(PreparedDrafts { drafts, verdict: None })
    }
}

impl PendingCommit {
    /// The prepared drafts that are still valid, by write; empty if there are none.
    pub(super) fn drafts<'a>(
        &self,
        rows: &Rows<'_>,
        drafts: &'a PreparedDrafts,
    ) -> Vec<Option<&'a DraftResult>> {
        if drafts.is_empty() {
            return Vec::new();
        }
        let draft = |(number, (write, old, _)): (usize, RowsOfWrite<'_>)| {
            let table = self.catalog.current(&write.table)?;
            drafts.of(number, &table, old)
        };
        with_rows(&self.writes, rows).enumerate().map(draft).collect()
    }

    /// Whether drafting the writes that have no draft yet takes too long for the writer.
    pub(super) fn is_heavy(&self, rows: &Rows<'_>, drafts: &[Option<&DraftResult>]) -> bool {
        let is_undrafted = |number: usize| drafts.get(number).is_none_or(Option::is_none);
        let undrafted = with_rows(&self.writes, rows).enumerate().filter(|(number, _)| is_undrafted(*number));
        undrafted.map(|(_, (write, old, _))| work(&write.table, write, old)).sum::<usize>() > MAX_WRITER_WORK
    }
}

/// The current row of the item.
fn row(store: &impl Store, write: &ItemWrite) -> Result<Option<Vec<u8>>, Exception> {
    let snapshot = store.snapshot().map_err(storage_failed)?;
    let row = snapshot.get(&write.key.stored).map_err(item_read_failed)?;
    Ok(row.map(|row| row.into_owned()))
}

/// Drafts one write, on another thread if that is expensive.
async fn prepare(
    writes: &Arc<Vec<ItemWrite>>,
    number: usize,
    table: Arc<Table>,
    row: Option<Vec<u8>>,
    work: usize,
) -> Result<PreparedDraft, Exception> {
    let writes = Arc::clone(writes);
    let make = move || {
        let item = row.as_deref().and_then(ItemRef::new);
        let draft = Draft::new(&table, &writes[number], item);
        PreparedDraft { table, row, draft }
    };
    if work <= HEAVY_WORK { Ok(make()) } else { offload(work, make).await }
}
