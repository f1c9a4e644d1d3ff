//! The one writer. Every change of an item goes this way: PutItem is a transaction of one, BatchWriteItem is several of those,
//! TransactWriteItems is one of many, an expiry is another plan.
//!
//! 1. An operation makes [`ItemWrite`]s: key, action, condition.
//! 2. [`Engine::write_each`] or [`Engine::write_together`] names the rows they depend on to the store.
//! 3. The store reads these rows and calls back. Each write is drafted ([`Draft`]), unless that was done ahead because it takes
//!    long (`drafts.rs`); [`plan`] (`write_plan.rs`) decides what changes, and collects the rows of all writes (`write_batch.rs`).
//! 4. The store commits all rows at once, and the outcomes come back.
//!
//! While an index is being filled, only its rows tell whether an old item's entry is there already. A plan
//! that meets such an entry asks for its row, and the decision is taken again with it ([`Decided::Needs`]).
//! So does one that finds a stream or a history of which its request did not know yet.

pub mod change;
pub mod drafts;
pub mod idempotency;
pub mod lost_item;
pub mod write_batch;
pub mod write_draft;
pub mod write_plan;
pub mod write_report;

use crate::Engine;
use crate::capacity::Consumption;
use crate::catalog::table::Table;
use crate::catalog::{Catalog, lost_companion};
use crate::clock::Clock;
use crate::history::{self, Keeping};
use crate::key::item_key::ItemKey;
use crate::key::stored_key::Key;
use crate::storage_failed;
use crate::write::drafts::{ATTEMPTS, Drafts, LIGHT, MadeDraft};
use crate::write::idempotency::{TokenUse, Verdict};
use crate::write::lost_item::{LostItem, unreadable_item};
use crate::write::write_batch::{Batch, past_key};
use crate::write::write_draft::{Draft, work};
use crate::write::write_plan::{Recording, Stored, plan};
use partita_api::item::transact_write_items::ClientRequestToken;
use partita_api::reporting::ReturnValues;
use partita_api::{Exception, ExceptionKind, messages};
use partita_expression::{Condition, Update};
use partita_store::{Counters, Decision, Rows, Store, StoreError, Write};
use partita_value::{Item, ItemRef, limits};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One change, or check, of one item.
pub struct ItemWrite {
    pub table: Arc<Table>,
    pub key: ItemKey,
    pub action: Action,
    pub condition: Option<Condition>,
    pub return_values: ReturnValues,
    pub return_item_on_condition_failure: bool,
}

pub enum Action {
    Put(Item),
    /// A put of an item that was stored before: where it does not fit an index, it has no entry there.
    Restore(Item),
    /// `key` is what the item is if there was none.
    Update {
        key: Item,
        update: Option<Update>,
    },
    Delete {
        key: Item,
    },
    /// Only the condition counts.
    Check,
    /// Delete, if the item's time is before this second. Of an item that cannot be read, the order of expiry says it.
    Expire {
        key: Item,
        before: u64,
    },
}

/// What one write did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// As `ReturnValues` asked.
    pub attributes: Option<Item>,
    pub consumption: Consumption,
    /// Bytes of the item collection afterwards, where they are counted.
    pub collection_bytes: Option<u64>,
    /// The size of the item that was written; 0 if none was.
    pub written_bytes: usize,
}

/// Whether the writes of one commit depend on each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unity {
    Each,
    Together,
}

/// What became of a commit: an outcome or exception per write, or a repeated transaction.
enum Committed {
    Outcomes(Vec<Result<Outcome, Exception>>),
    Repeated(Vec<usize>),
    TokenMismatch,
    /// The items of a transaction would have so many bytes together.
    TooLarge(usize),
}

/// What a decision came to.
enum Decided {
    Committed(Committed),
    /// Nothing was decided yet: these rows must be known first.
    Needs(Vec<Vec<u8>>),
    /// Nothing was decided yet: this row cannot be read, and more must be known of it.
    Unreadable(Vec<u8>),
    /// Nothing was decided yet: this takes long, and is to be drafted from the items there are now.
    Undrafted,
    /// The store gave other rows than it was asked for; nothing was written.
    Impossible,
}

/// What became of a transaction that was not refused as a whole.
pub enum Transaction {
    Done(Vec<Outcome>),
    /// The same token did this before; the items' sizes now.
    Repeated(Vec<usize>),
}

impl<S: Store> Engine<S> {
    pub async fn write_one(&self, write: ItemWrite) -> Result<Outcome, Exception> {
        let mut outcomes = self.write_each(vec![write]).await?;
        outcomes.pop().unwrap_or_else(|| Err(impossible("a write without an outcome")))
    }

    /// Writes that succeed or fail each on its own, in one commit.
    pub async fn write_each(
        &self,
        writes: Vec<ItemWrite>,
    ) -> Result<Vec<Result<Outcome, Exception>>, Exception> {
        self.write_each_noting(writes, |_| Vec::new()).await
    }

    /// The same, and what there is to note of the outcomes commits with them.
    pub async fn write_each_noting(
        &self,
        writes: Vec<ItemWrite>,
        note: impl Fn(&[Result<Outcome, Exception>]) -> Vec<Write> + Send + Sync + 'static,
    ) -> Result<Vec<Result<Outcome, Exception>>, Exception> {
        match self.commit(writes, Unity::Each, None, note).await? {
            Committed::Outcomes(outcomes) => Ok(outcomes),
            // All are rejections: nothing was written.
            Committed::Repeated(_) | Committed::TokenMismatch | Committed::TooLarge(_) => {
                Err(impossible("writes of their own that were judged as a transaction"))
            }
        }
    }

    /// Writes that all succeed, or of which none happens: then each one's own failure is told.
    pub async fn write_together(
        &self,
        writes: Vec<ItemWrite>,
        token: Option<ClientRequestToken>,
    ) -> Result<Transaction, Exception> {
        match self.commit(writes, Unity::Together, token, |_| Vec::new()).await? {
            Committed::Repeated(sizes) => Ok(Transaction::Repeated(sizes)),
            Committed::TooLarge(bytes) => Err(crate::item::transact_write_items::too_large(bytes)),
            Committed::TokenMismatch => Err(Exception::new(
                ExceptionKind::IdempotentParameterMismatchException,
                messages::TOKEN_MISMATCH,
            )),
            Committed::Outcomes(outcomes) => {
                if outcomes.iter().all(Result::is_ok) {
                    Ok(Transaction::Done(outcomes.into_iter().flatten().collect()))
                } else {
                    Err(crate::item::transact_write_items::cancelled(outcomes))
                }
            }
        }
    }

    /// Decides until no more rows are needed.
    async fn commit(
        &self,
        writes: Vec<ItemWrite>,
        unity: Unity,
        token: Option<ClientRequestToken>,
        note: impl Fn(&[Result<Outcome, Exception>]) -> Vec<Write> + Send + Sync + 'static,
    ) -> Result<Committed, Exception> {
        let token = token.map(|token| TokenUse::new(&token, self.clock.now_seconds()));
        let (catalog, clock) = (self.catalog.clone(), self.clock.clone());
        let plan = Arc::new(Plan { writes: Arc::new(writes), unity, token, catalog, clock });
        let note = Arc::new(note);
        let mut extra_keys = plan.side_keys();
        let (mut attempts, mut drafts, mut room) = (0, Drafts::default(), None);
        loop {
            let (asked, told, named) = (Arc::clone(&plan), Arc::clone(&note), extra_keys.clone());
            let keys = plan.keys(&named);
            let ahead = Ahead { drafts: drafts.clone(), insist: true, gone: Gone::default() };
            let decision = move |rows: &Rows<'_>| asked.decide(&named, rows, &ahead, &*told);
            let decided = match self.store.decide(keys, decision).await {
                Err(StoreError::Damaged(damage)) => {
                    tracing::error!(%damage, "a write meets damage");
                    return self.commit_over_damage(&plan, extra_keys, &note).await;
                }
                decided => decided.map_err(storage_failed)?,
            };
            match decided {
                Decided::Committed(committed) => return Ok(committed),
                Decided::Needs(more) => extra_keys.extend(more),
                Decided::Undrafted if attempts == ATTEMPTS => return Err(overtaken()),
                Decided::Undrafted => {
                    attempts += 1;
                    if room.is_none() {
                        room = Some(drafts::room_for(plan.writes.len()).await);
                    }
                    let current = |write: &ItemWrite| plan.catalog.current(&write.table);
                    drafts = drafts.ahead(&self.store, &plan.writes, current).await?;
                }
                Decided::Unreadable(_) | Decided::Impossible => {
                    return Err(impossible("other rows than were asked for"));
                }
            }
        }
    }

    /// The same, where rows cannot be read: items that are replaced without being looked at, and totals.
    async fn commit_over_damage(
        &self,
        plan: &Arc<Plan>,
        mut extra_keys: Vec<Vec<u8>>,
        note: &Arc<impl Fn(&[Result<Outcome, Exception>]) -> Vec<Write> + Send + Sync + 'static>,
    ) -> Result<Committed, Exception> {
        let mut lost: LostItems = BTreeMap::new();
        loop {
            let (asked, told, named) = (Arc::clone(plan), Arc::clone(note), extra_keys.clone());
            let (keys, known) = (plan.keys(&named), lost.clone());
            let named_keys = keys.clone();
            let decision = move |rows: &Rows<'_>, damaged: &[usize]| {
                let gone = Gone::at(damaged, &named_keys, &known);
                let ahead = Ahead { drafts: Drafts::default(), insist: false, gone };
                asked.decide(&named, rows, &ahead, &*told)
            };
            match self.store.decide_over_damage(keys, decision).await.map_err(storage_failed)? {
                Decided::Committed(committed) => return Ok(committed),
                Decided::Needs(more) => extra_keys.extend(more),
                Decided::Unreadable(key) => {
                    let write = plan.writes.iter().find(|write| write.key.stored == key);
                    let Some(write) = write else { return Err(unreadable_item()) };
                    lost.insert(key, Arc::new(self.lost_item(write).await?));
                }
                Decided::Undrafted | Decided::Impossible => {
                    return Err(impossible("other rows than were asked for"));
                }
            }
        }
    }
}

/// What was found out before the decision.
struct Ahead<'a> {
    drafts: Drafts,
    /// Whether what takes long must have been drafted.
    insist: bool,
    gone: Gone<'a>,
}

/// By their stored keys.
type LostItems = BTreeMap<Vec<u8>, Arc<LostItem>>;

/// The keys of rows that cannot be read, and what is known of items among them.
#[derive(Default)]
struct Gone<'a> {
    keys: Vec<Vec<u8>>,
    known: Option<&'a LostItems>,
}

impl<'a> Gone<'a> {
    /// Of the keys at these places.
    fn at(places: &[usize], keys: &[Vec<u8>], known: &'a LostItems) -> Gone<'a> {
        let keys = places.iter().filter_map(|place| keys.get(*place)).cloned().collect();
        Gone { keys, known: Some(known) }
    }

    fn lost(&self, key: &[u8]) -> Option<&'a LostItem> {
        let is_gone = self.keys.iter().any(|gone| gone == key);
        self.known.filter(|_| is_gone).and_then(|known| known.get(key)).map(AsRef::as_ref)
    }
}

/// All that a commit is decided by, besides the rows.
struct Plan {
    writes: Arc<Vec<ItemWrite>>,
    unity: Unity,
    token: Option<TokenUse>,
    catalog: Catalog,
    clock: Clock,
}

impl Plan {
    /// The rows that the streams and histories of these writes' tables depend on.
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
                add(match history.keeping() {
                    Keeping::Every => history::last_moment_key(history.items()),
                    Keeping::FirstAt(moment) => past_key(&history, write, moment),
                });
            }
        }
        keys
    }

    /// The rows a decision depends on: those of streams, histories and index entries, the token, then each
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
        ahead: &Ahead<'_>,
        note: impl Fn(&[Result<Outcome, Exception>]) -> Vec<Write>,
    ) -> Decision<Decided> {
        if rows.len() != self.row_count(extra_keys) {
            return Decision::rejection(Decided::Impossible);
        }
        if let Some(key) = self.unknown_damage(&ahead.gone) {
            return Decision::rejection(Decided::Unreadable(key));
        }
        let (extra_rows, rows) = rows.split_at(extra_keys.len());
        let (token_row, rows) = rows.split_at(usize::from(self.token.is_some()));
        match self.token.as_ref().map(|token| token.judge(token_row)) {
            Some(Verdict::Repeated) => {
                let sizes = item_sizes(&self.writes, rows);
                return Decision::rejection(Decided::Committed(Committed::Repeated(sizes)));
            }
            Some(Verdict::Mismatch) => {
                return Decision::rejection(Decided::Committed(Committed::TokenMismatch));
            }
            Some(Verdict::New) | None => {}
        }
        let drafts = self.drafts(rows, &ahead.drafts);
        if ahead.insist && self.is_heavy(rows, &drafts) {
            return Decision::rejection(Decided::Undrafted);
        }
        let mut batch = Batch::knowing(extra_keys, extra_rows);
        let outcomes = self.plan_all(&mut batch, rows, &drafts, &ahead.gone);
        if !batch.needed.is_empty() {
            return Decision::rejection(Decided::Needs(batch.needed));
        }
        if self.unity == Unity::Together && outcomes.iter().any(Result::is_err) {
            return Decision::rejection(Decided::Committed(Committed::Outcomes(outcomes)));
        }
        let bytes = outcomes.iter().flatten().map(|outcome| outcome.written_bytes).sum();
        if self.unity == Unity::Together && bytes > limits::TRANSACTION_BYTES {
            return Decision::rejection(Decided::Committed(Committed::TooLarge(bytes)));
        }
        batch.rows.extend(self.token.iter().flat_map(TokenUse::remember));
        batch.rows.extend(note(&outcomes));
        Decision::commit(batch.into_writes(), Decided::Committed(Committed::Outcomes(outcomes)))
    }

    /// A row that cannot be read and of which more must be known. A collection's totals are begun anew.
    fn unknown_damage(&self, gone: &Gone<'_>) -> Option<Vec<u8>> {
        let is_collection =
            |key: &Vec<u8>| self.writes.iter().filter_map(collection_key).any(|known| known == *key);
        gone.keys.iter().find(|key| gone.lost(key).is_none() && !is_collection(key)).cloned()
    }

    /// What was drafted and still holds, by the numbers of the writes; none of them if nothing was drafted.
    fn drafts<'a>(&self, rows: &Rows<'_>, drafts: &'a Drafts) -> Vec<Option<&'a MadeDraft>> {
        if drafts.is_empty() {
            return Vec::new();
        }
        let draft = |(number, (write, old, _)): (usize, RowsOfWrite<'_>)| {
            let table = self.catalog.current(&write.table)?;
            drafts.of(number, &table, old)
        };
        with_rows(&self.writes, rows).enumerate().map(draft).collect()
    }

    /// Whether it takes long to draft what was not drafted yet.
    fn is_heavy(&self, rows: &Rows<'_>, drafts: &[Option<&MadeDraft>]) -> bool {
        let is_undrafted = |number: usize| drafts.get(number).is_none_or(Option::is_none);
        let undrafted = with_rows(&self.writes, rows).enumerate().filter(|(number, _)| is_undrafted(*number));
        undrafted.map(|(_, (write, old, _))| work(&write.table, write, old)).sum::<usize>() > LIGHT
    }

    fn plan_all(
        &self,
        batch: &mut Batch<'_>,
        rows: &Rows<'_>,
        drafts: &[Option<&MadeDraft>],
        gone: &Gone<'_>,
    ) -> Vec<Result<Outcome, Exception>> {
        let each = with_rows(&self.writes, rows).enumerate().map(|(number, (write, old, collection))| {
            // The table as it is now: an index or a stream may have come or gone since the request was checked.
            let Some(table) = self.catalog.current(&write.table) else {
                return Err(Exception::resource_not_found(messages::TABLE_NOT_FOUND));
            };
            let old = old.map(|item| write.key.checked(&table.key, item)).transpose()?;
            let stream = table.stream.as_ref().and_then(|name| self.catalog.stream(name));
            let history = table.history.and_then(|space| self.catalog.history(space));
            if table.stream.is_some() && stream.is_none() {
                return Err(lost_companion(&table.name, "stream", "UpdateTable can disable the stream"));
            }
            if table.history.is_some() && history.is_none() {
                return Err(lost_companion(
                    &table.name,
                    "history",
                    "Turn point-in-time recovery on or off, or make a backup, to begin a new one",
                ));
            }
            let record = Recording {
                stream: stream.as_deref(),
                history: history.as_deref(),
                now: if stream.is_some() || history.is_some() { self.clock.now_millis() } else { 0 },
            };
            let draft = match drafts.get(number).copied().flatten() {
                Some(draft) => draft.clone(),
                None => Draft::new(&table, write, old),
            };
            let lost = gone.lost(&write.key.stored);
            let stored = Stored { old, collection: Counters::read(collection), lost };
            plan(batch, &table, record, (write, draft?), stored)
        });
        each.collect()
    }
}

/// What cannot be is a fault of ours: it is told as one, not taken for success.
fn impossible(what: &str) -> Exception {
    tracing::error!("{what}: this is a bug in Partita; nothing was written");
    Exception::internal("Internal server error")
}

/// Others have changed the items again and again while writes were drafted.
fn overtaken() -> Exception {
    Exception::new(
        ExceptionKind::ServiceUnavailable,
        "The items are changed too often to write them; try again",
    )
}

fn collection_key(write: &ItemWrite) -> Option<Vec<u8>> {
    let space = write.table.collections?;
    Some(Key::Collection { space, token: write.key.partition }.to_bytes())
}

/// A write, its item, and its collection's row.
type RowsOfWrite<'a> = (&'a ItemWrite, Option<ItemRef<'a>>, Option<&'a [u8]>);

/// Walks the writes together with their rows: the item's, then the collection's where there is one.
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
