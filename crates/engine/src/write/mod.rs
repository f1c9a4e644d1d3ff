//! The writer. Every change of an item goes through here: PutItem is a transaction of one write, BatchWriteItem is several of
//! those, TransactWriteItems is one of many, an expiry is a write with a different action.
//!
//! 1. An operation makes [`ItemWrite`]s: key, action, condition.
//! 2. [`Engine::write_each`] or [`Engine::write_together`] passes the keys of the rows they depend on to the store.
//! 3. The store reads these rows and calls back ([`PendingCommit::decide`]). Each write is drafted ([`Draft`]), unless that was
//!    done before because it is expensive ([`prepared_drafts`]); [`apply_draft`](mod@apply_draft) decides what changes, and
//!    [`row_batch`] collects the rows of all writes. If there is a [`judge`], it is asked last.
//! 4. The store commits all rows together, and returns the outcomes.
//!
//! While an index is being backfilled, only its rows show whether it already has the entry of an old item. A write that would
//! change such an entry requests its row, and the decision is made again with it ([`Decided::NeedsRows`]). So does a write
//! that finds a stream or a history that was enabled after its keys were collected.

pub mod apply_draft;
pub mod change;
pub mod draft;
pub mod idempotency;
pub mod judge;
pub mod lost_item;
pub mod prepared_drafts;
pub mod row_batch;
mod verdict;
pub mod write_report;

use crate::Engine;
use crate::capacity::Consumption;
use crate::catalog::table::Table;
use crate::catalog::{Catalog, lost_stream_or_history};
use crate::clock::Clock;
use crate::history::{self, Retention};
use crate::key::item_key::ItemKey;
use crate::key::stored_key::Key;
use crate::storage_failed;
use crate::write::apply_draft::{Recorders, StoredState, apply_draft};
use crate::write::draft::Draft;
use crate::write::idempotency::{TokenState, TokenUse};
use crate::write::judge::WriteJudge;
use crate::write::lost_item::{LostItems, UnreadableRows, unreadable_item};
use crate::write::prepared_drafts::{Drafts, MAX_ATTEMPTS, PreparedDrafts, borrowed};
use crate::write::row_batch::{RowBatch, past_key};
use partita_api::item::client_request_token::ClientRequestToken;
use partita_api::reporting::ReturnValues;
use partita_api::{Exception, ExceptionKind, messages};
use partita_expression::{Condition, Update};
use partita_store::{Counters, Decision, Rows, Store, StoreError, Write};
use partita_value::{Item, ItemRef, limits};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One change or check of one item.
pub struct ItemWrite {
    pub table: Arc<Table>,
    pub key: ItemKey,
    pub action: Action,
    pub condition: Option<Condition>,
    pub return_values: ReturnValues,
    pub return_item_on_condition_failure: bool,
}

/// What a write does to its item.
pub enum Action {
    Put(Item),
    /// Puts an item that was stored before: it has no entry in an index whose key types it does not match.
    Restore(Item),
    /// `key` is the new item if there was none.
    Update {
        key: Item,
        update: Option<Update>,
    },
    Delete {
        key: Item,
    },
    /// Only checks the condition.
    Check {
        key: Item,
    },
    /// Deletes the item if it expires before this second. An item that cannot be read expires by its expiry entry alone.
    Expire {
        key: Item,
        before: u64,
    },
}

/// The result of one write.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The attributes that `ReturnValues` selects.
    pub attributes: Option<Item>,
    pub consumption: Consumption,
    /// The size of the item collection after the write, if the table counts it.
    pub collection_bytes: Option<u64>,
    /// The size of the item written; 0 if nothing was.
    pub written_bytes: usize,
}

/// Whether the writes of one commit succeed or fail independently.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Atomicity {
    PerWrite,
    /// Like `PerWrite`, but if the judge refuses one write, none is made.
    Batch,
    AllOrNothing,
}

/// The result of a commit: an outcome or exception per write, or why it was rejected as a whole.
enum Committed {
    Outcomes(Vec<Result<Outcome, Exception>>),
    Repeated(Vec<usize>),
    TokenMismatch,
    /// The total size of the transaction's items exceeds the limit.
    TooLarge(usize),
}

/// The result of one decision.
enum Decided {
    Committed(Committed),
    /// Not decided yet: these rows must be read too.
    NeedsRows(Vec<Vec<u8>>),
    /// Not decided yet: this row is damaged, and its item must be examined.
    Unreadable(Vec<u8>),
    /// Not decided yet: drafting takes too long for the writer, and must be done before the next attempt.
    NeedsDrafts,
    /// Not decided yet: judging takes too long for the writer, and must be done before the next attempt.
    NeedsVerdict,
    /// The store passed a wrong number of rows; nothing was written.
    Impossible,
}

/// The result of a transaction that was not cancelled.
pub enum Transaction {
    Done(Vec<Outcome>),
    /// A transaction with the same token was committed before. Holds the current sizes of the items.
    Repeated(Vec<usize>),
}

impl<S: Store> Engine<S> {
    /// Commits a single write.
    pub async fn write_one(&self, write: ItemWrite) -> Result<Outcome, Exception> {
        let mut outcomes = self.write_each(vec![write]).await?;
        outcomes.pop().unwrap_or_else(|| Err(impossible("a write has no outcome")))
    }

    /// Commits writes that succeed or fail independently, in one commit.
    pub async fn write_each(
        &self,
        writes: Vec<ItemWrite>,
    ) -> Result<Vec<Result<Outcome, Exception>>, Exception> {
        self.write_each_with(writes, |_| Vec::new()).await
    }

    /// Like [`Engine::write_each`], with further rows that `also` derives from the outcomes in the same commit.
    pub async fn write_each_with(
        &self,
        writes: Vec<ItemWrite>,
        also: impl Fn(&[Result<Outcome, Exception>]) -> Vec<Write> + Send + Sync + 'static,
    ) -> Result<Vec<Result<Outcome, Exception>>, Exception> {
        independent(self.commit(writes, Atomicity::PerWrite, None, also).await?)
    }

    /// Like [`Engine::write_each`]; if the judge refuses one of the writes, none is made.
    pub async fn write_batch(
        &self,
        writes: Vec<ItemWrite>,
    ) -> Result<Vec<Result<Outcome, Exception>>, Exception> {
        independent(self.commit(writes, Atomicity::Batch, None, |_| Vec::new()).await?)
    }

    /// Commits all writes or none. If any fails, the exception has a reason for each.
    pub async fn write_together(
        &self,
        writes: Vec<ItemWrite>,
        token: Option<ClientRequestToken>,
    ) -> Result<Transaction, Exception> {
        match self.commit(writes, Atomicity::AllOrNothing, token, |_| Vec::new()).await? {
            Committed::Repeated(sizes) => Ok(Transaction::Repeated(sizes)),
            Committed::TooLarge(bytes) => Err(crate::item::transaction_write::too_large(bytes)),
            Committed::TokenMismatch => Err(Exception::new(
                ExceptionKind::IdempotentParameterMismatchException,
                messages::TOKEN_MISMATCH,
            )),
            Committed::Outcomes(outcomes) => {
                if outcomes.iter().all(Result::is_ok) {
                    Ok(Transaction::Done(outcomes.into_iter().flatten().collect()))
                } else {
                    Err(crate::item::cancellation::cancelled(outcomes))
                }
            }
        }
    }

    /// Repeats the decision until it has all the rows and drafts it needs.
    async fn commit(
        &self,
        writes: Vec<ItemWrite>,
        atomicity: Atomicity,
        token: Option<ClientRequestToken>,
        also: impl Fn(&[Result<Outcome, Exception>]) -> Vec<Write> + Send + Sync + 'static,
    ) -> Result<Committed, Exception> {
        let token = token.map(|token| TokenUse::new(&token, self.clock.now_seconds()));
        let (catalog, clock) = (self.catalog.clone(), self.clock.clone());
        let judge = self.judge.get().map(|judge| Arc::clone(judge).of_request());
        let writes = Arc::new(writes);
        let pending = Arc::new(PendingCommit { writes, atomicity, token, catalog, clock, judge });
        let also = Arc::new(also);
        let mut extra_keys = pending.side_keys();
        let (mut attempts, mut drafts, mut memory) = (0, PreparedDrafts::default(), None);
        let mut needs_verdict = false;
        loop {
            let (deciding, also_now, extra) = (Arc::clone(&pending), Arc::clone(&also), extra_keys.clone());
            let keys = pending.keys(&extra);
            let prepared = Preparation {
                drafts: drafts.clone(),
                requires_drafts: true,
                unreadable: UnreadableRows::default(),
            };
            let decision = move |rows: &Rows<'_>| deciding.decide(&extra, rows, &prepared, &*also_now);
            let decided = match self.store.decide(keys, decision).await {
                Err(StoreError::Damaged(damage)) => {
                    tracing::error!(%damage, "a write reads damaged rows");
                    return self.commit_over_damage(&pending, extra_keys, &also).await;
                }
                decided => decided.map_err(storage_failed)?,
            };
            needs_verdict |= matches!(decided, Decided::NeedsVerdict);
            match decided {
                Decided::Committed(committed) => return Ok(committed),
                Decided::NeedsRows(more) => extra_keys.extend(more),
                Decided::NeedsDrafts | Decided::NeedsVerdict if attempts == MAX_ATTEMPTS => {
                    return Err(too_much_contention());
                }
                Decided::NeedsDrafts | Decided::NeedsVerdict => {
                    attempts += 1;
                    if memory.is_none() {
                        memory = Some(prepared_drafts::reserve_memory(pending.writes.len()).await);
                    }
                    let current = |write: &ItemWrite| pending.catalog.current(&write.table);
                    drafts = drafts.refresh(&self.store, &pending.writes, current).await?;
                    if needs_verdict {
                        drafts = drafts.judged(&pending).await?;
                    }
                }
                Decided::Unreadable(_) | Decided::Impossible => {
                    return Err(impossible("the store passed other rows than requested"));
                }
            }
        }
    }

    /// Like [`Engine::commit`], when some rows cannot be read. Items that are replaced without being looked at, and the totals of
    /// collections, can be written all the same.
    async fn commit_over_damage(
        &self,
        pending: &Arc<PendingCommit>,
        mut extra_keys: Vec<Vec<u8>>,
        also: &Arc<impl Fn(&[Result<Outcome, Exception>]) -> Vec<Write> + Send + Sync + 'static>,
    ) -> Result<Committed, Exception> {
        let mut lost: LostItems = BTreeMap::new();
        loop {
            let (deciding, also_now, extra) = (Arc::clone(pending), Arc::clone(also), extra_keys.clone());
            let (keys, known) = (pending.keys(&extra), lost.clone());
            let named_keys = keys.clone();
            let decision = move |rows: &Rows<'_>, damaged: &[usize]| {
                let unreadable = UnreadableRows::at(damaged, &named_keys, &known);
                let prepared =
                    Preparation { drafts: PreparedDrafts::default(), requires_drafts: false, unreadable };
                deciding.decide(&extra, rows, &prepared, &*also_now)
            };
            match self.store.decide_over_damage(keys, decision).await.map_err(storage_failed)? {
                Decided::Committed(committed) => return Ok(committed),
                Decided::NeedsRows(more) => extra_keys.extend(more),
                Decided::Unreadable(key) => {
                    let write = pending.writes.iter().find(|write| write.key.stored == key);
                    let Some(write) = write else { return Err(unreadable_item()) };
                    lost.insert(key, Arc::new(self.lost_item(write).await?));
                }
                Decided::NeedsDrafts | Decided::NeedsVerdict | Decided::Impossible => {
                    return Err(impossible("the store passed other rows than requested"));
                }
            }
        }
    }
}

/// What was prepared before the decision.
struct Preparation<'a> {
    drafts: PreparedDrafts,
    /// Whether writes that are expensive to draft must be in `drafts`.
    requires_drafts: bool,
    unreadable: UnreadableRows<'a>,
}

/// A commit that is not decided yet: everything the decision depends on, apart from the rows.
struct PendingCommit {
    writes: Arc<Vec<ItemWrite>>,
    atomicity: Atomicity,
    token: Option<TokenUse>,
    catalog: Catalog,
    clock: Clock,
    judge: Option<Arc<dyn WriteJudge>>,
}

impl PendingCommit {
    /// The keys of the rows that the streams and histories of the writes' tables depend on.
    fn side_keys(&self) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        let mut add = |key: Vec<u8>| {
            if !keys.contains(&key) {
                keys.push(key);
            }
        };
        for write in self.writes.iter() {
            if let Some(stream) = write.table.stream.as_ref().and_then(|name| self.catalog.stream(name)) {
                add(Key::NextSequence { of: stream.space() }.to_bytes());
            }
            if let Some(history) = write.table.history.and_then(|space| self.catalog.history(space)) {
                add(match history.retention() {
                    Retention::Every => history::last_moment_key(history.items()),
                    Retention::FirstAt(moment) => past_key(&history, write, moment),
                });
            }
        }
        keys
    }

    /// The keys of all rows that the decision depends on: those of streams, histories and index entries, the token, then each
    /// item and its collection.
    fn keys(&self, extra_keys: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut keys = Vec::with_capacity(extra_keys.len() + self.writes.len() * 2 + 1);
        keys.extend_from_slice(extra_keys);
        keys.extend(self.token.iter().map(TokenUse::key));
        for write in self.writes.iter() {
            keys.push(write.key.stored.clone());
            keys.extend(collection_key(write));
        }
        keys
    }

    fn row_count(&self, extra_keys: &[Vec<u8>]) -> usize {
        let collections = self.writes.iter().filter(|write| write.table.collections.is_some()).count();
        extra_keys.len() + usize::from(self.token.is_some()) + self.writes.len() + collections
    }

    fn decide(
        &self,
        extra_keys: &[Vec<u8>],
        rows: &Rows<'_>,
        prepared: &Preparation<'_>,
        also: impl Fn(&[Result<Outcome, Exception>]) -> Vec<Write>,
    ) -> Decision<Decided> {
        if rows.len() != self.row_count(extra_keys) {
            return Decision::rejection(Decided::Impossible);
        }
        if let Some(key) = self.unknown_damage(&prepared.unreadable) {
            return Decision::rejection(Decided::Unreadable(key));
        }
        let (extra_rows, rows) = rows.split_at(extra_keys.len());
        let (token_row, rows) = rows.split_at(usize::from(self.token.is_some()));
        match self.token.as_ref().map(|token| token.state(token_row)) {
            Some(TokenState::Repeated) => {
                let sizes = item_sizes(&self.writes, rows);
                return Decision::rejection(Decided::Committed(Committed::Repeated(sizes)));
            }
            Some(TokenState::Mismatch) => {
                return Decision::rejection(Decided::Committed(Committed::TokenMismatch));
            }
            Some(TokenState::New) | None => {}
        }
        let valid = self.drafts(rows, &prepared.drafts);
        if prepared.requires_drafts && self.is_heavy(rows, &valid) {
            return Decision::rejection(Decided::NeedsDrafts);
        }
        let verdict = self.verdict(&valid, &prepared.drafts);
        let mut drafts = borrowed(&valid);
        let judging = self.judging(rows, &mut drafts);
        let mut batch = RowBatch::with_rows(extra_keys, extra_rows);
        let mut outcomes = self.apply_all(&mut batch, rows, drafts, &prepared.unreadable);
        if !batch.needed.is_empty() {
            return Decision::rejection(Decided::NeedsRows(batch.needed));
        }
        if self.atomicity == Atomicity::AllOrNothing && outcomes.iter().any(Result::is_err) {
            return Decision::rejection(Decided::Committed(Committed::Outcomes(outcomes)));
        }
        let bytes = outcomes.iter().flatten().map(|outcome| outcome.written_bytes).sum();
        if self.atomicity == Atomicity::AllOrNothing && bytes > limits::TRANSACTION_BYTES {
            return Decision::rejection(Decided::Committed(Committed::TooLarge(bytes)));
        }
        let refused = verdict::refused(judging.as_ref(), verdict, &outcomes, prepared.requires_drafts);
        let Some(refused) = refused else { return Decision::rejection(Decided::NeedsVerdict) };
        if !refused.is_empty() && self.atomicity != Atomicity::PerWrite {
            refused.into_iter().for_each(|(number, why)| outcomes[number] = Err(why));
            return Decision::rejection(Decided::Committed(Committed::Outcomes(outcomes)));
        }
        if !refused.is_empty() {
            let mut drafts = borrowed(&valid);
            drafts.resize(self.writes.len(), None);
            refused.into_iter().for_each(|(number, why)| drafts[number] = Some(Cow::Owned(Err(why))));
            batch = RowBatch::with_rows(extra_keys, extra_rows);
            outcomes = self.apply_all(&mut batch, rows, drafts, &prepared.unreadable);
        }
        batch.rows.extend(self.token.iter().flat_map(TokenUse::store));
        batch.rows.extend(also(&outcomes));
        Decision::commit(batch.into_writes(), Decided::Committed(Committed::Outcomes(outcomes)))
    }

    /// An unreadable row that must be examined. The totals of a collection need not be: they restart from zero.
    fn unknown_damage(&self, unreadable: &UnreadableRows<'_>) -> Option<Vec<u8>> {
        let is_collection =
            |key: &Vec<u8>| self.writes.iter().filter_map(collection_key).any(|known| known == *key);
        unreadable.keys.iter().find(|key| unreadable.lost(key).is_none() && !is_collection(key)).cloned()
    }

    fn apply_all(
        &self,
        batch: &mut RowBatch<'_>,
        rows: &Rows<'_>,
        drafts: Drafts<'_>,
        unreadable: &UnreadableRows<'_>,
    ) -> Vec<Result<Outcome, Exception>> {
        let drafts = drafts.into_iter().chain(std::iter::repeat(None));
        let each = with_rows(&self.writes, rows).zip(drafts).map(|((write, old, collection), draft)| {
            // The current table: an index or a stream may have been added or removed since the request was checked.
            let Some(table) = self.catalog.current(&write.table) else {
                return Err(Exception::resource_not_found(messages::TABLE_NOT_FOUND));
            };
            let old = old.map(|item| write.key.checked(&table.key, item)).transpose()?;
            let stream = table.stream.as_ref().and_then(|name| self.catalog.stream(name));
            let history = table.history.and_then(|space| self.catalog.history(space));
            if table.stream.is_some() && stream.is_none() {
                return Err(lost_stream_or_history(
                    &table.name,
                    "stream",
                    "UpdateTable can disable the stream",
                ));
            }
            if table.history.is_some() && history.is_none() {
                return Err(lost_stream_or_history(
                    &table.name,
                    "history",
                    "Enable or disable point-in-time recovery, or create a backup, to start a new one",
                ));
            }
            let recorders = Recorders {
                stream: stream.as_deref(),
                history: history.as_deref(),
                now: if stream.is_some() || history.is_some() { self.clock.now_millis() } else { 0 },
            };
            let draft = draft.map_or_else(|| Draft::new(&table, write, old), Cow::into_owned);
            let lost = unreadable.lost(&write.key.stored);
            let stored = StoredState { old, collection: Counters::read(collection), lost };
            apply_draft(batch, &table, recorders, (write, draft?), stored)
        });
        each.collect()
    }
}

/// The outcomes of independent writes.
fn independent(committed: Committed) -> Result<Vec<Result<Outcome, Exception>>, Exception> {
    match committed {
        Committed::Outcomes(outcomes) => Ok(outcomes),
        // All are rejections: nothing was written.
        Committed::Repeated(_) | Committed::TokenMismatch | Committed::TooLarge(_) => {
            Err(impossible("independent writes were decided as a transaction"))
        }
    }
}

/// The exception for a state that cannot occur: a bug must not pass for success.
fn impossible(what: &str) -> Exception {
    tracing::error!("{what}: this is a bug in Partita; nothing was written");
    Exception::internal("Internal server error")
}

/// The exception for items that kept changing while the writes were drafted.
fn too_much_contention() -> Exception {
    Exception::new(ExceptionKind::ServiceUnavailable, "The items keep changing; try again")
}

fn collection_key(write: &ItemWrite) -> Option<Vec<u8>> {
    let space = write.table.collections?;
    Some(Key::Collection { space, token: write.key.partition }.to_bytes())
}

/// A write, its item, and its collection's row.
type RowsOfWrite<'a> = (&'a ItemWrite, Option<ItemRef<'a>>, Option<&'a [u8]>);

/// Iterates over the writes and their rows: the item's, then the collection's if there is one.
fn with_rows<'a, 'r>(writes: &'a [ItemWrite], rows: &'a Rows<'r>) -> impl Iterator<Item = RowsOfWrite<'a>> {
    let mut rows = rows.iter().map(Option::as_deref);
    writes.iter().map(move |write| {
        let old = rows.next().flatten().and_then(ItemRef::new);
        let collection = if write.table.collections.is_some() { rows.next().flatten() } else { None };
        (write, old, collection)
    })
}

fn item_sizes(writes: &[ItemWrite], rows: &Rows<'_>) -> Vec<usize> {
    with_rows(writes, rows).map(|(_, old, _)| old.map_or(0, |item| item.size())).collect()
}
