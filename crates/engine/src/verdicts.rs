//! Conditions that take long are decided ahead of the writer, who serves everybody else as well.
//!
//! A condition may look at an item a few hundred times, and a transaction may have a hundred of them. What such
//! conditions say of the rows there are is found out by the one who asks, in slices; the writer compares the rows with
//! these, which is quick, and takes the verdicts if nothing has changed. If something has, it is all done again, and in
//! the end by the writer after all: that is at most one request's work for every change of another.

use crate::heavy_work::Verdict;
use crate::slices::{Slice, let_others};
use crate::storage_failed;
use crate::write::ItemWrite;
use partita_api::Exception;
use partita_store::{Snapshot, Store};
use partita_value::{ItemRef, limits};

/// Conditions that look at no more bytes together are the writer's own to decide.
const LIGHT: usize = 8 << 20;
/// So often conditions are decided ahead before the writer does it.
pub const ATTEMPTS: usize = 4;

/// What conditions say, by the numbers of their writes.
#[derive(Default)]
pub struct Verdicts(Vec<Option<Verdict>>);

impl Verdicts {
    /// Decides the conditions of these writes if they take long together.
    pub async fn ahead(store: &impl Store, writes: &[ItemWrite]) -> Result<Verdicts, Exception> {
        if work(writes, |_| limits::ITEM_BYTES) <= LIGHT {
            return Ok(Verdicts::default());
        }
        let rows = rows(store, writes)?;
        if work(writes, |number| rows[number].as_ref().map_or(0, Vec::len)) <= LIGHT {
            return Ok(Verdicts::default());
        }
        let mut verdicts = Vec::with_capacity(writes.len());
        let mut slice = Slice::new();
        for (write, row) in writes.iter().zip(rows) {
            let Some(condition) = &write.condition else {
                verdicts.push(None);
                continue;
            };
            let work = condition.work(row.as_ref().map_or(0, Vec::len));
            verdicts.push(Some(Verdict::of(condition, row).await?));
            if slice.spend(work) {
                slice = Slice::new();
                let_others().await;
            }
        }
        Ok(Verdicts(verdicts))
    }

    /// What the condition of a write says of an item; nothing if it was not decided, or about another.
    pub fn of(&self, number: usize, item: Option<ItemRef<'_>>) -> Option<bool> {
        let verdict = self.0.get(number)?.as_ref()?;
        verdict.is_about(item).then_some(verdict.holds)
    }

    /// Whether all that was decided still holds of these items.
    pub fn are_about<'a>(&self, items: impl Iterator<Item = Option<ItemRef<'a>>>) -> bool {
        self.0.iter().zip(items).all(|(verdict, item)| verdict.as_ref().is_none_or(|one| one.is_about(item)))
    }
}

/// What the conditions cost, with items of so many bytes.
fn work(writes: &[ItemWrite], item_bytes: impl Fn(usize) -> usize) -> usize {
    let each = writes.iter().enumerate().filter_map(|(number, write)| {
        write.condition.as_ref().map(|condition| condition.work(item_bytes(number)))
    });
    each.sum()
}

/// The items' rows as they are now.
fn rows(store: &impl Store, writes: &[ItemWrite]) -> Result<Vec<Option<Vec<u8>>>, Exception> {
    let snapshot = store.snapshot().map_err(storage_failed)?;
    let row = |write: &ItemWrite| match &write.condition {
        Some(_) => Ok(snapshot.get(&write.key.stored).map_err(storage_failed)?.map(|row| row.into_owned())),
        None => Ok(None),
    };
    writes.iter().map(row).collect()
}
