//! Exports, imports and bulk operations are forgotten 90 days after they ended, as on AWS, and their client tokens once they have lapsed.

use crate::Engine;
use crate::bulk_operation::bulk_record::BulkRecord;
use crate::exchange::exchange_record::{ExchangeRecord, has_lapsed, read};
use crate::export::export_step::ExportRecord;
use crate::import::import_step::ImportRecord;
use crate::key::stored_key::{self, ExchangeKind};
use crate::maintenance::Progress;
use crate::storage_failed;
use crate::time_to_live::expiry::STEP;
use partita_api::Exception;
use partita_store::{Decision, Rows, Store, Write};
use std::sync::{Mutex, PoisonError};

/// How long what has ended can be described.
pub const KEPT_MILLIS: u64 = 90 * 24 * 60 * 60 * 1_000;

/// The token at which the next look at tokens begins; at the first one if there is none. Tokens are in no order of time, but there
/// are few: a page of them a step is enough.
#[derive(Default)]
pub struct TokenCursor(Mutex<Option<Vec<u8>>>);

impl<S: Store> Engine<S> {
    pub(crate) async fn forget_exchanges_step(&self) -> Result<Progress, Exception> {
        let pauses = &self.pauses;
        let exports = pauses.step("forgetting exports", self.forget_ended::<ExportRecord>()).await;
        let imports = pauses.step("forgetting imports", self.forget_ended::<ImportRecord>()).await;
        let bulk = pauses.step("forgetting bulk operations", self.forget_ended::<BulkRecord>()).await;
        let tokens = pauses.step("forgetting their tokens", self.forget_exchange_tokens()).await;
        Ok(exports.and(imports).and(bulk).and(tokens))
    }

    /// Those that began before a time are a range; of them, those that ended before it.
    async fn forget_ended<R: ExchangeRecord>(&self) -> Result<Progress, Exception> {
        let horizon = self.clock.now_millis().saturating_sub(KEPT_MILLIS);
        let has_ended = |row: &[u8]| {
            read::<R>(row).is_ok_and(|record| record.ended_millis().is_some_and(|ended| ended < horizon))
        };
        let range = stored_key::exchanges_begun_before(R::KIND, horizon);
        let ended = self.first_rows(&range, |key, row| has_ended(row).then(|| key.to_vec()))?;
        let more = Progress::of(ended.len() == STEP);
        self.forget_rows(ended, |_| true).await?;
        Ok(more)
    }

    async fn forget_exchange_tokens(&self) -> Result<Progress, Exception> {
        let now = self.clock.now_millis();
        let mut range = stored_key::all_exchanges(ExchangeKind::Token);
        if let Some(cursor) = self.token_cursor.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            range.start = cursor;
        }
        let seen = self.first_rows(&range, |key, row| Some((key.to_vec(), has_lapsed(row, now))))?;
        let last = seen.last().filter(|_| seen.len() == STEP);
        let next = last.map(|(key, _)| stored_key::just_behind(key));
        let lapsed = seen.into_iter().filter(|(_, lapsed)| *lapsed).map(|(key, _)| key).collect();
        self.forget_rows(lapsed, move |row| has_lapsed(row, now)).await?;
        *self.token_cursor.0.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(Progress::Done)
    }

    /// Deletes rows of which it still holds.
    async fn forget_rows(
        &self,
        keys: Vec<Vec<u8>>,
        holds: impl Fn(&[u8]) -> bool + Send + 'static,
    ) -> Result<(), Exception> {
        if keys.is_empty() {
            return Ok(());
        }
        let read = keys.clone();
        let decision = move |rows: &Rows<'_>| {
            let held = keys.iter().zip(rows).filter(|(_, row)| row.as_deref().is_some_and(&holds));
            Decision::commit(held.map(|(key, _)| Write::Delete { key: key.clone() }).collect(), ())
        };
        self.store.decide(read, decision).await.map_err(storage_failed)
    }
}
