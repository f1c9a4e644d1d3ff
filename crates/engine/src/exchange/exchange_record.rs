//! The stored record of an export, import, bulk operation, backup or restore, generically: started once per client token, looked
//! up, listed, and selected for its next step.

use crate::Engine;
use crate::exchange::open_ids::{OpenIds, StepGuard};
use crate::key::stored_key::{self, ExchangeKind, Key};
use crate::storage_failed;
use partita_api::exchange::ListPage;
use partita_api::{Exception, ExceptionKind};
use partita_store::{Decision, Direction, Rows, Snapshot, Store, StoreError, Write};
use partita_value::{ValueRef, ordered_key};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// How long a client token is valid.
const TOKEN_MILLIS: u64 = 8 * 60 * 60 * 1_000;

/// The stored form of an export, import, bulk operation, backup or restore. Fields are only ever added, with a default.
pub trait ExchangeRecord: Clone + Send + Serialize + DeserializeOwned + 'static {
    const KIND: ExchangeKind;
    const NOT_FOUND: ExceptionKind;
    const CONFLICT: ExceptionKind;

    /// The part that changes with every step. While the record is open, it is stored in a separate row.
    type Progress: Serialize + DeserializeOwned;

    fn arn(&self) -> &str;
    fn table_arn(&self) -> &str;

    /// The bucket that its steps use, if any.
    fn bucket(&self) -> Option<&str> {
        None
    }
    fn is_open(&self) -> bool;
    fn ended_millis(&self) -> Option<u64>;

    /// `None` if the record is stored as a whole.
    fn progress(&self) -> Option<Self::Progress>;
    fn resume(&mut self, progress: Self::Progress);

    fn id(&self) -> &str {
        id_of_arn(self.arn())
    }

    fn store(&self) -> Write {
        Write::Put { key: key::<Self>(self.id()), value: to_json(self) }
    }

    /// The write that stores its progress.
    fn store_progress(&self) -> Write {
        match self.progress() {
            Some(progress) => store_progress(self.id(), &progress),
            None => self.store(),
        }
    }

    /// The writes that store its final state and delete its progress.
    fn store_end(&self) -> Vec<Write> {
        vec![self.store(), Write::Delete { key: progress_key(self.id()) }]
    }

    fn delete(&self) -> Write {
        Write::Delete { key: key::<Self>(self.id()) }
    }
}

pub fn not_found<R: ExchangeRecord>(arn: &str) -> Exception {
    Exception::new(R::NOT_FOUND, format!("{:?} not found: {arn}", R::KIND))
}

/// The key of the record with an id.
pub fn key<R: ExchangeRecord>(id: &str) -> Vec<u8> {
    Key::Exchange { kind: R::KIND, id: id.as_bytes() }.to_bytes()
}

/// The write that stores the progress of the record with an id.
pub fn store_progress(id: &str, progress: &impl Serialize) -> Write {
    Write::Put { key: progress_key(id), value: to_json(progress) }
}

fn progress_key(id: &str) -> Vec<u8> {
    Key::Exchange { kind: ExchangeKind::Progress, id: id.as_bytes() }.to_bytes()
}

pub fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| unreachable!("a record is plain data"))
}

pub fn id_of_arn(arn: &str) -> &str {
    arn.rsplit('/').next().unwrap_or_default()
}

/// A record without its progress.
pub fn read<R: ExchangeRecord>(row: &[u8]) -> Result<R, StoreError> {
    from_json(row)
}

pub fn from_json<T: DeserializeOwned>(row: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(row).map_err(|error| StoreError::damaged(format!("an exchange's record: {error}")))
}

/// A record with its progress.
fn read_whole<R: ExchangeRecord>(row: &[u8], snapshot: &impl Snapshot) -> Result<R, StoreError> {
    let mut record: R = read(row)?;
    if record.is_open() && record.progress().is_some() {
        let progress = snapshot.get(&progress_key(record.id()))?;
        if let Some(progress) = progress.as_deref() {
            record.resume(from_json(progress)?);
        }
    }
    Ok(record)
}

/// The client token of a request.
#[derive(Clone)]
pub struct ExchangeToken {
    key: Vec<u8>,
    fingerprint: u64,
    now: u64,
}

/// The stored form of a client token.
#[derive(Serialize, Deserialize)]
pub struct StoredToken {
    id: String,
    fingerprint: u64,
    lapses_millis: u64,
}

impl ExchangeToken {
    /// `request` is everything that must be identical when the token is used again.
    pub fn new(kind: ExchangeKind, token: &str, request: &str, now: u64) -> ExchangeToken {
        let named = format!("{kind:?} {token}");
        let hash = ordered_key::token(std::iter::once(ValueRef::S(named.as_bytes())));
        let key = Key::Exchange { kind: ExchangeKind::Token, id: &hash }.to_bytes();
        let print = ordered_key::token(std::iter::once(ValueRef::S(request.as_bytes())));
        let fingerprint = print.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        ExchangeToken { key, fingerprint, now }
    }

    pub fn key(&self) -> Vec<u8> {
        self.key.clone()
    }

    /// The id that the token was used for already; an exception if that was another request.
    pub fn known_id<R: ExchangeRecord>(&self, row: Option<&[u8]>) -> Result<Option<String>, Exception> {
        let stored = row.and_then(|row| serde_json::from_slice::<StoredToken>(row).ok());
        match stored.filter(|stored| stored.lapses_millis > self.now) {
            None => Ok(None),
            Some(stored) if stored.fingerprint == self.fingerprint => Ok(Some(stored.id)),
            Some(_) => {
                Err(Exception::new(R::CONFLICT, "Duplicate request detected with a different request body"))
            }
        }
    }

    pub fn store(&self, id: &str) -> Write {
        let stored = StoredToken {
            id: id.to_owned(),
            fingerprint: self.fingerprint,
            lapses_millis: self.now + TOKEN_MILLIS,
        };
        Write::Put { key: self.key(), value: to_json(&stored) }
    }
}

/// Whether a stored token is no longer valid.
pub fn has_lapsed(row: &[u8], now: u64) -> bool {
    serde_json::from_slice::<StoredToken>(row).is_ok_and(|stored| stored.lapses_millis <= now)
}

impl<S: Store> Engine<S> {
    /// Returns an id that sorts by time: `01712345678901-a1b2c3d4`. No two ids have the same millisecond.
    pub(crate) fn new_exchange_id(&self) -> String {
        let now = self.clock.now_millis();
        let next = |last: u64| Some(now.max(last + 1));
        let last = self.last_exchange_millis.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let millis = last.map_or(now, |last| now.max(last + 1));
        format!("{}-{}", stored_key::exchange_time(millis), &self.new_id()[..8])
    }

    /// Stores a new record, or returns the one that was started with the same token.
    pub(crate) async fn start_exchange<R: ExchangeRecord>(
        &self,
        record: R,
        token: Option<ExchangeToken>,
    ) -> Result<R, Exception> {
        let keys = token.iter().map(ExchangeToken::key).collect();
        let new = record.clone();
        let decision = move |rows: &Rows<'_>| {
            let mut writes = vec![new.store()];
            if let Some(token) = &token {
                match token.known_id::<R>(rows[0].as_deref()) {
                    Ok(None) => writes.push(token.store(new.id())),
                    known => return Decision::rejection(known),
                }
            }
            Decision::commit(writes, Ok(None))
        };
        match self.store.decide(keys, decision).await.map_err(storage_failed)?? {
            None => Ok(record),
            Some(id) => self.exchange(&id),
        }
    }

    /// Stores rows unconditionally.
    pub(crate) async fn store_rows(&self, writes: Vec<Write>) -> Result<(), Exception> {
        let decision = move |_: &Rows<'_>| Decision::commit(writes.clone(), ());
        self.store.decide(Vec::new(), decision).await.map_err(storage_failed)
    }

    /// Returns the record with an id or an ARN.
    pub(crate) fn exchange<R: ExchangeRecord>(&self, arn: &str) -> Result<R, Exception> {
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let row = snapshot.get(&key::<R>(id_of_arn(arn))).map_err(storage_failed)?;
        let record = row.as_deref().map(|row| read_whole::<R>(row, &snapshot));
        let record = record.transpose().map_err(storage_failed)?;
        record.filter(|record| record.arn() == arn || record.id() == arn).ok_or_else(|| not_found::<R>(arn))
    }

    /// Returns a page of records, newest first, and the id after which the next page starts.
    pub(crate) fn exchanges<R: ExchangeRecord>(
        &self,
        page: &ListPage,
    ) -> Result<(Vec<R>, Option<String>), Exception> {
        let mut found: Vec<R> = Vec::new();
        self.visit_exchanges(page.start_after.as_deref(), Direction::Descending, |record: R| {
            if page.table_arn.as_deref().is_none_or(|arn| arn == record.table_arn()) {
                found.push(record);
            }
            if found.len() > page.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let more = found.len() > page.limit;
        found.truncate(page.limit);
        let next = found.last().filter(|_| more).map(|last| last.id().to_owned());
        Ok((found, next))
    }

    /// Loads the ids of open exchanges once after a start, by reading all rows. A row that cannot be read is skipped.
    pub(crate) fn load_open_exchanges<R: ExchangeRecord>(&self, open: &OpenIds) -> Result<(), Exception> {
        if !open.begin_loading() {
            return Ok(());
        }
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let visit = |_: &[u8], row: &[u8]| {
            match read::<R>(row) {
                Ok(record) if record.is_open() => open.add_older(record.id()),
                Ok(_) => {}
                Err(error) => tracing::error!(%error, kind = ?R::KIND, "an unreadable row is skipped"),
            }
            ControlFlow::Continue(())
        };
        let range = stored_key::all_exchanges(R::KIND);
        snapshot.range(&range, Direction::Descending, visit).map_err(storage_failed)
    }

    /// Returns what an earlier request with this token has started.
    pub(crate) fn started_with_token<R: ExchangeRecord>(
        &self,
        token: Option<&ExchangeToken>,
    ) -> Result<Option<R>, Exception> {
        let Some(token) = token else { return Ok(None) };
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let row = snapshot.get(&token.key).map_err(storage_failed)?;
        token.known_id::<R>(row.as_deref())?.map(|id| self.exchange(&id)).transpose()
    }

    /// Selects the next open record to advance: not one that is backing off or has a running step. All others are selected before
    /// it is selected again.
    pub(crate) fn due_exchange<'a, R: ExchangeRecord>(
        &self,
        open: &'a OpenIds,
    ) -> Result<Option<(R, StepGuard<'a>)>, Exception> {
        self.load_open_exchanges::<R>(open)?;
        for id in open.all() {
            if self.backoffs.is_backing_off(&id) {
                continue;
            }
            // Before the record is read, so that it is what the previous step left.
            let Some(guard) = open.begin_step(&id) else { continue };
            match self.exchange::<R>(&id) {
                Ok(record) if record.is_open() => {
                    if record.bucket().is_none_or(|bucket| guard.reserve_bucket(bucket)) {
                        open.move_to_back(&id);
                        return Ok(Some((record, guard)));
                    }
                }
                // It has ended, and may be deleted already.
                Ok(_) => open.remove(&id),
                Err(exception) if exception.kind == R::NOT_FOUND => open.remove(&id),
                Err(exception) => drop(self.backoffs.record(&id, Err(exception))),
            }
        }
        Ok(None)
    }

    pub(crate) fn visit_exchanges<R: ExchangeRecord>(
        &self,
        after: Option<&str>,
        direction: Direction,
        mut visit: impl FnMut(R) -> ControlFlow<()>,
    ) -> Result<(), Exception> {
        let mut range = stored_key::all_exchanges(R::KIND);
        if let Some(key) = after.map(key::<R>) {
            match direction {
                Direction::Ascending => range.start = stored_key::next_key_after(&key),
                Direction::Descending => range.end = key,
            }
        }
        let mut damaged = None;
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let walked = snapshot.range(&range, direction, |_, row| match read_whole(row, &snapshot) {
            Ok(record) => visit(record),
            Err(error) => {
                damaged = Some(error);
                ControlFlow::Break(())
            }
        });
        walked.and(damaged.map_or(Ok(()), Err)).map_err(storage_failed)
    }
}
