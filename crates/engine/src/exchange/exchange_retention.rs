//! Deletes exports, imports and bulk operations 90 days after they ended, as AWS does, and their client tokens once they have lapsed.

use crate::Engine;
use crate::bulk_operation::bulk_record::BulkRecord;
use crate::exchange::exchange_record::{ExchangeRecord, has_lapsed, read};
use crate::export::export_step::ExportRecord;
use crate::import::import_step::ImportRecord;
use crate::key::stored_key::{self, ExchangeKind};
use crate::maintenance::Progress;
use crate::storage_failed;
use crate::time_to_live::expiry::STEP_ROWS;
use partita_api::Exception;
use partita_store::{Decision, Rows, Store, Write};
use std::sync::{Mutex, PoisonError};

/// How long an ended export, import or bulk operation can be described.
pub const RETENTION_MILLIS: u64 = 90 * 24 * 60 * 60 * 1_000;

/// The token at which the next scan of tokens starts; the first one if `None`. Tokens are not ordered by time, but there are few:
/// one page per step is enough.
#[derive(Default)]
pub struct TokenCursor(Mutex<Option<Vec<u8>>>);

impl<S: Store> Engine<S> {
    pub(crate) async fn delete_ended_exchanges_step(&self) -> Result<Progress, Exception> {
        let backoffs = &self.backoffs;
        let exports = backoffs.step("deleting ended exports", self.delete_ended::<ExportRecord>()).await;
        let imports = backoffs.step("deleting ended imports", self.delete_ended::<ImportRecord>()).await;
        let bulk = backoffs.step("deleting ended bulk operations", self.delete_ended::<BulkRecord>()).await;
        let tokens = backoffs.step("deleting their tokens", self.delete_exchange_tokens()).await;
        Ok(exports.or(imports).or(bulk).or(tokens))
    }

    /// Those that started before the horizon are a range; deletes the ones that also ended before it.
    async fn delete_ended<R: ExchangeRecord>(&self) -> Result<Progress, Exception> {
        let horizon = self.clock.now_millis().saturating_sub(RETENTION_MILLIS);
        let has_ended = |row: &[u8]| {
            read::<R>(row).is_ok_and(|record| record.ended_millis().is_some_and(|ended| ended < horizon))
        };
        let range = stored_key::exchanges_begun_before(R::KIND, horizon);
        let ended = self.first_rows(&range, |key, row| has_ended(row).then(|| key.to_vec()))?;
        let more = Progress::of(ended.len() == STEP_ROWS);
        self.delete_rows_if(ended, |_| true).await?;
        Ok(more)
    }

    async fn delete_exchange_tokens(&self) -> Result<Progress, Exception> {
        let now = self.clock.now_millis();
        let mut range = stored_key::all_exchanges(ExchangeKind::Token);
        if let Some(cursor) = self.token_cursor.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            range.start = cursor;
        }
        let scanned = self.first_rows(&range, |key, row| Some((key.to_vec(), has_lapsed(row, now))))?;
        let last = scanned.last().filter(|_| scanned.len() == STEP_ROWS);
        let next = last.map(|(key, _)| stored_key::next_key_after(key));
        let lapsed = scanned.into_iter().filter(|(_, lapsed)| *lapsed).map(|(key, _)| key).collect();
        self.delete_rows_if(lapsed, move |row| has_lapsed(row, now)).await?;
        *self.token_cursor.0.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(Progress::Done)
    }

    /// Deletes the rows that still satisfy `condition`.
    async fn delete_rows_if(
        &self,
        keys: Vec<Vec<u8>>,
        condition: impl Fn(&[u8]) -> bool + Send + 'static,
    ) -> Result<(), Exception> {
        if keys.is_empty() {
            return Ok(());
        }
        let read = keys.clone();
        let decision = move |rows: &Rows<'_>| {
            let deleted = keys.iter().zip(rows).filter(|(_, row)| row.as_deref().is_some_and(&condition));
            Decision::commit(deleted.map(|(key, _)| Write::Delete { key: key.clone() }).collect(), ())
        };
        self.store.decide(read, decision).await.map_err(storage_failed)
    }
}
