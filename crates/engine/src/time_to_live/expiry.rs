//! Deletes expired items, in the order of their expiry times, and lapsed client tokens.

use crate::Engine;
use crate::catalog::table::Table;
use crate::key::item_key::ItemKey;
use crate::key::stored_key::{self, Key};
use crate::maintenance::Progress;
use crate::storage_failed;
use crate::write::idempotency::has_lapsed;
use crate::write::{Action, ItemWrite};
use partita_api::Exception;
use partita_api::reporting::ReturnValues;
use partita_store::{Decision, Direction, KeyRange, Rows, Snapshot, Store, Write};
use partita_value::{Item, ItemRef};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows deleted in one step.
pub const STEP_ROWS: usize = 256;
/// Expiry times further in the past than this are considered mistakes, as on AWS: such items do not expire.
const OLDEST_SECONDS: u64 = 5 * 365 * 24 * 60 * 60;

impl<S: Store> Engine<S> {
    pub(crate) async fn expire_step(&self) -> Result<Progress, Exception> {
        let mut progress = Progress::Done;
        for table in self.catalog.all().values() {
            let name = format!("expiry in table {}", table.name);
            progress = progress.or(self.backoffs.step(&name, self.expire_in(table)).await);
        }
        Ok(progress)
    }

    async fn expire_in(&self, table: &Arc<Table>) -> Result<Progress, Exception> {
        let writes = self.expired(table)?;
        let more = writes.len() == STEP_ROWS;
        if !writes.is_empty() {
            self.write_each(writes).await?;
        }
        Ok(Progress::of(more))
    }

    fn expired(&self, table: &Arc<Table>) -> Result<Vec<ItemWrite>, Exception> {
        let Some(expiry) = &table.expiry else { return Ok(Vec::new()) };
        let now = self.clock.now_seconds();
        let range = stored_key::expired_between(expiry.space, now.saturating_sub(OLDEST_SECONDS), now);
        let keys = self.first_rows(&range, |_, row| ItemRef::new(row).map(|key| key.to_owned()))?;
        let expire = |key: Item| ItemWrite {
            table: Arc::clone(table),
            key: ItemKey::of_stored_item(table, key.view()),
            action: Action::Expire { key, before: now },
            condition: None,
            return_values: ReturnValues::None,
            return_item_on_condition_failure: false,
        };
        Ok(keys.into_iter().map(expire).collect())
    }

    pub(crate) async fn delete_lapsed_tokens_step(&self) -> Result<Progress, Exception> {
        let now = self.clock.now_seconds();
        let range = stored_key::lapsed_before(now);
        let lapsed =
            self.first_rows(&range, |key, _| Some((key.to_vec(), stored_key::trailing_token(key)?)))?;
        if lapsed.is_empty() {
            return Ok(Progress::Done);
        }
        let more = lapsed.len() == STEP_ROWS;
        let token_keys: Vec<_> =
            lapsed.iter().map(|(_, hash)| Key::ClientToken { hash: *hash }.to_bytes()).collect();
        let keys = token_keys.clone();
        let decision = move |rows: &Rows<'_>| {
            let times = lapsed.iter().map(|(key, _)| Write::Delete { key: key.clone() });
            // A token that has been used again has a later time.
            let tokens = token_keys.iter().zip(rows).filter(|(_, row)| has_lapsed(row.as_deref(), now));
            let tokens = tokens.map(|(key, _)| Write::Delete { key: key.clone() });
            Decision::commit(times.chain(tokens).collect(), ())
        };
        self.store.decide(keys, decision).await.map_err(storage_failed)?;
        Ok(Progress::of(more))
    }

    /// Collects what `take` returns for the first readable rows of a range, up to the limit of one step.
    pub(crate) fn first_rows<T>(
        &self,
        range: &KeyRange,
        mut take: impl FnMut(&[u8], &[u8]) -> Option<T>,
    ) -> Result<Vec<T>, Exception> {
        let mut taken = Vec::new();
        let visit = |key: &[u8], row: &[u8]| {
            taken.extend(take(key, row));
            if taken.len() < STEP_ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let damaged = |_| ControlFlow::Continue(());
        snapshot.range_past_damage(range, Direction::Ascending, visit, damaged).map_err(storage_failed)?;
        Ok(taken)
    }
}
