//! The one writer. Every change of an item is planned here as a pure function from the old item to rows:
//! the item, its index entries, its expiry entry, the counters, the stream's record, what its history remembers. PutItem is a transaction of one,
//! BatchWriteItem is several of those, TransactWriteItems is one of many, an expiry is another plan.
//!
//! 1. An operation makes [`ItemWrite`]s: key, action, condition.
//! 2. [`Engine::write_each`] or [`Engine::write_together`] names the rows they depend on to the store.
//! 3. The store reads these rows and calls back; [`plan`] decides for each write what changes.
//! 4. The store commits all rows at once, and the outcomes come back.
//!
//! While an index is being filled, only its rows tell whether an old item's entry is there already. A plan
//! that meets such an entry asks for its row, and the decision is taken again with it ([`Committed::Needs`]).
//! So does one that finds a stream or a history of which its request did not know yet.

use crate::Engine;
use crate::capacity::{Consumption, write_units};
use crate::catalog::Catalog;
use crate::change::Change;
use crate::clock::Clock;
use crate::history::{self, History, Keeping, Moment};
use crate::idempotency::{TokenUse, Verdict};
use crate::index_entry::{self, Entry};
use crate::item_key::ItemKey;
use crate::past;
use crate::read_stream::read_number;
use crate::storage_failed;
use crate::stored_key::{Key, within_space};
use crate::stream::{FIRST_SEQUENCE, Stream};
use crate::stream_record;
use crate::table::{IndexKind, Table};
use partita_api::capacity::Units;
use partita_api::reporting::ReturnValues;
use partita_api::transact_write_items::ClientRequestToken;
use partita_api::{Exception, ExceptionKind, messages};
use partita_expression::{Condition, Update};
use partita_store::{Counters, Decision, Rows, Space, Store, Write};
use partita_value::{Item, ItemRef, limits};
use std::borrow::Cow;
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
    Delete,
    /// Only the condition counts.
    Check,
    /// Delete, if the item's time is before this second.
    Expire {
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
    /// Nothing was decided yet: these rows must be known first.
    Needs(Vec<Vec<u8>>),
    Repeated(Vec<usize>),
    TokenMismatch,
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
        outcomes.pop().unwrap_or_else(|| Ok(Outcome::default()))
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
            Committed::Repeated(_) | Committed::TokenMismatch | Committed::Needs(_) => Ok(Vec::new()),
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
            Committed::Needs(_) => Ok(Transaction::Done(Vec::new())),
            Committed::TokenMismatch => Err(Exception::new(
                ExceptionKind::IdempotentParameterMismatchException,
                messages::TOKEN_MISMATCH,
            )),
            Committed::Outcomes(outcomes) => {
                if outcomes.iter().all(Result::is_ok) {
                    Ok(Transaction::Done(outcomes.into_iter().flatten().collect()))
                } else {
                    Err(crate::transact_write_items::cancelled(outcomes))
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
        let plan = Arc::new(Plan { writes, unity, token, catalog, clock });
        let note = Arc::new(note);
        let mut extra_keys = plan.side_keys();
        loop {
            let (plan, note, named) = (Arc::clone(&plan), Arc::clone(&note), extra_keys.clone());
            let keys = plan.keys(&named);
            let decision = move |rows: &Rows<'_>| plan.decide(&named, rows, &*note);
            match self.store.decide(keys, decision).await.map_err(storage_failed)? {
                Committed::Needs(more) => extra_keys.extend(more),
                committed => return Ok(committed),
            }
        }
    }
}

/// All that a commit is decided by, besides the rows.
struct Plan {
    writes: Vec<ItemWrite>,
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
        for write in &self.writes {
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
        for write in &self.writes {
            keys.push(write.key.stored.clone());
            keys.extend(collection_key(write));
        }
        keys
    }

    fn decide(
        &self,
        extra_keys: &[Vec<u8>],
        rows: &Rows<'_>,
        note: impl Fn(&[Result<Outcome, Exception>]) -> Vec<Write>,
    ) -> Decision<Committed> {
        let (extra_rows, rows) = rows.split_at(extra_keys.len());
        let (token_row, rows) = rows.split_at(usize::from(self.token.is_some()));
        match self.token.as_ref().map(|token| token.judge(token_row)) {
            Some(Verdict::Repeated) => {
                return Decision::rejection(Committed::Repeated(item_sizes(&self.writes, rows)));
            }
            Some(Verdict::Mismatch) => return Decision::rejection(Committed::TokenMismatch),
            Some(Verdict::New) | None => {}
        }
        let mut batch = Batch::knowing(extra_keys, extra_rows);
        let outcomes = self.plan_all(&mut batch, rows);
        if !batch.needed.is_empty() {
            return Decision::rejection(Committed::Needs(batch.needed));
        }
        if self.unity == Unity::Together && outcomes.iter().any(Result::is_err) {
            return Decision::rejection(Committed::Outcomes(outcomes));
        }
        batch.rows.extend(self.token.iter().flat_map(TokenUse::remember));
        batch.rows.extend(note(&outcomes));
        Decision::commit(batch.into_writes(), Committed::Outcomes(outcomes))
    }

    fn plan_all(&self, batch: &mut Batch<'_>, rows: &Rows<'_>) -> Vec<Result<Outcome, Exception>> {
        let each = with_rows(&self.writes, rows).map(|(write, old, collection)| {
            // The table as it is now: an index or a stream may have come or gone since the request was checked.
            let Some(table) = self.catalog.current(&write.table) else {
                return Err(Exception::resource_not_found(messages::TABLE_NOT_FOUND));
            };
            let stream = table.stream.as_ref().and_then(|name| self.catalog.stream(name));
            let history = table.history.and_then(|space| self.catalog.history(space));
            let record = Recording {
                stream: stream.as_deref(),
                history: history.as_deref(),
                now: if stream.is_some() || history.is_some() { self.clock.now_millis() } else { 0 },
            };
            plan(batch, &table, record, write, (old, Counters::read(collection)))
        });
        each.collect()
    }
}

fn collection_key(write: &ItemWrite) -> Option<Vec<u8>> {
    let space = write.table.collections?;
    Some(Key::Collection { space, token: write.key.partition }.to_bytes())
}

/// Walks the writes together with their rows: the item's, then the collection's where there is one.
fn with_rows<'a, 'r>(
    writes: &'a [ItemWrite],
    rows: &'a Rows<'r>,
) -> impl Iterator<Item = (&'a ItemWrite, Option<ItemRef<'a>>, Option<&'a [u8]>)> {
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

/// The rows one commit changes.
#[derive(Default)]
struct Batch<'r> {
    rows: Vec<Write>,
    counters: Vec<(Vec<u8>, Counters)>,
    /// The numbers that the next records of streams get.
    sequences: Vec<(Vec<u8>, u64)>,
    /// The moments at which histories remember this commit.
    moments: Vec<(Vec<u8>, Moment)>,
    /// Rows that were asked for besides those of the items: sequences, moments, what histories remember
    /// already, and entries of indexes that are being filled.
    known: Vec<(&'r [u8], Option<&'r [u8]>)>,
    /// Such rows that were not named.
    needed: Vec<Vec<u8>>,
}

impl<'r> Batch<'r> {
    fn knowing(extra_keys: &'r [Vec<u8>], extra_rows: &'r Rows<'_>) -> Batch<'r> {
        let known = extra_keys.iter().zip(extra_rows).map(|(key, row)| (&key[..], row.as_deref()));
        Batch { known: known.collect(), ..Batch::default() }
    }

    /// A row that was asked for besides the items'; if it was not, it will be.
    fn known_row(&mut self, key: &[u8]) -> Option<Option<&'r [u8]>> {
        let known = self.known.iter().find(|(known, _)| *known == key).map(|(_, row)| *row);
        if known.is_none() {
            self.needed.push(key.to_vec());
        }
        known
    }

    /// An old item's entry, if it is stored: in an index that is being filled it may not be yet.
    fn stored<'a>(&mut self, entry: Option<Entry<'a>>, backfilling: bool) -> Option<Entry<'a>> {
        let entry = entry?;
        if !backfilling {
            return Some(entry);
        }
        self.known_row(&entry.key)?.map(|_| entry)
    }

    /// Tells a stream of a change.
    fn tell(&mut self, stream: &Stream, now: u64, write: &ItemWrite, change: &Change<'_>) {
        let space = stream.space();
        let key = Key::NextSequence { of: space }.to_bytes();
        let at = match self.sequences.iter().position(|(known, _)| *known == key) {
            Some(at) => at,
            None => {
                let Some(row) = self.known_row(&key) else { return };
                self.sequences.push((key, read_number(row).unwrap_or(FIRST_SEQUENCE)));
                self.sequences.len() - 1
            }
        };
        let Some(shard) = stream.shard_of(&write.key.partition).map(|shard| shard.number) else {
            return;
        };
        let sequence = self.sequences[at].1;
        self.sequences[at].1 += 1;
        let expires = matches!(write.action, Action::Expire { .. });
        let record = stream_record::encode(stream, change, expires, now);
        self.put(Key::ChangeRecord { space, shard, sequence }.to_bytes(), record);
    }

    /// Has a history remember what an item was before a change.
    fn remember(&mut self, history: &History, now: u64, write: &ItemWrite, change: &Change<'_>) {
        let moment = match history.keeping() {
            Keeping::Every => self.moment(history, now),
            Keeping::FirstAt(moment) => match self.known_row(&past_key(history, write, moment)) {
                // Nothing is remembered yet, so this is the first change.
                Some(None) => Some(moment),
                Some(Some(_)) | None => None,
            },
        };
        if let Some(moment) = moment {
            self.put(past_key(history, write, moment), past::encode_row(change.before()));
        }
    }

    /// The moment of this commit in a history.
    fn moment(&mut self, history: &History, now: u64) -> Option<Moment> {
        let key = history::last_moment_key(history.items());
        if let Some((_, moment)) = self.moments.iter().find(|(known, _)| *known == key) {
            return Some(*moment);
        }
        let last = read_number(self.known_row(&key)?);
        let moment = history::next_moment(last, now);
        self.moments.push((key, moment));
        Some(moment)
    }

    fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.rows.push(Write::Put { key, value });
    }

    fn delete(&mut self, key: Vec<u8>) {
        self.rows.push(Write::Delete { key });
    }

    fn count(&mut self, key: Vec<u8>, add: Counters) {
        match self.counters.iter_mut().find(|(counted, _)| *counted == key) {
            Some((_, total)) => *total += add,
            None => self.counters.push((key, add)),
        }
    }

    fn count_in(&mut self, space: Space, before: Option<usize>, after: Option<usize>) {
        let add = difference(before, after);
        if add != Counters::default() {
            self.count(Key::Counters { of: space }.to_bytes(), add);
        }
    }

    /// What earlier writes of this commit added to a row of counters.
    fn pending(&self, key: &[u8]) -> Counters {
        self.counters.iter().find(|(counted, _)| counted == key).map_or(Counters::default(), |(_, add)| *add)
    }

    fn into_writes(mut self) -> Vec<Write> {
        let counts = self.counters.into_iter().filter(|(_, add)| *add != Counters::default());
        self.rows.extend(counts.map(|(key, add)| Write::Count { key, add }));
        let numbers = self.sequences.into_iter().chain(self.moments);
        self.rows
            .extend(numbers.map(|(key, number)| Write::Put { key, value: number.to_be_bytes().to_vec() }));
        self.rows
    }
}

fn difference(before: Option<usize>, after: Option<usize>) -> Counters {
    Counters {
        rows: i64::from(after.is_some()) - i64::from(before.is_some()),
        bytes: after.unwrap_or(0) as i64 - before.unwrap_or(0) as i64,
    }
}

/// What keeps track of a table's changes, and the time of a change.
#[derive(Clone, Copy)]
struct Recording<'a> {
    stream: Option<&'a Stream>,
    history: Option<&'a History>,
    now: u64,
}

fn past_key(history: &History, write: &ItemWrite, moment: Moment) -> Vec<u8> {
    Key::Past { space: history.space(), item: within_space(&write.key.stored), moment }.to_bytes()
}

/// Decides one write: checks it, and adds the rows it changes to the batch. It is given what is stored of
/// the item and of its collection.
fn plan(
    batch: &mut Batch<'_>,
    table: &Table,
    record: Recording<'_>,
    write: &ItemWrite,
    (old, collection): (Option<ItemRef<'_>>, Counters),
) -> Result<Outcome, Exception> {
    // Index keys that are known without the old item are checked before the condition.
    let put_entries = match &write.action {
        Action::Put(item) => Some(entries(table, &write.key, Some(item.view()))?),
        Action::Update { update: Some(update), .. } => {
            index_entry::check_update(table, update)?;
            None
        }
        _ => None,
    };
    check_condition(write, old)?;
    let new = new_item(table, write, old)?;
    let new = new.as_ref().map(Cow::as_ref).map(Item::view);
    let after = match (put_entries, &write.action) {
        (Some(entries), _) => entries,
        (None, Action::Restore(_)) => fitting_entries(table, &write.key, new),
        (None, _) => entries(table, &write.key, new)?,
    };
    let (old_size, new_size) = (old.map(|item| item.size()), new.map(|item| item.size()));
    let size = old_size.unwrap_or(0).max(new_size.unwrap_or(0));
    let mut outcome = Outcome {
        attributes: attributes(write, old, new),
        consumption: Consumption::of_table(write_units(size)),
        collection_bytes: None,
    };
    let before = fitting_entries(table, &write.key, old);
    let added = collection_growth(table, (old_size, new_size), &before, &after);
    outcome.collection_bytes = grow_collection(batch, table, write, collection, added)?;
    if let Some(change) = Change::between(old, new) {
        change_rows(batch, table, write, old, new);
        if let Some(stream) = record.stream {
            batch.tell(stream, record.now, write, &change);
        }
        if let Some(history) = record.history {
            batch.remember(history, record.now, write, &change);
        }
        for (index, (before, after)) in table.indexes.iter().zip(before.into_iter().zip(after)) {
            let before = batch.stored(before, index.backfilling);
            let units = change_entry(batch, index.space, before, after);
            if units != Units::ZERO {
                outcome.consumption.charge_index(&index.name, index.kind, units);
            }
        }
    }
    Ok(outcome)
}

fn check_condition(write: &ItemWrite, old: Option<ItemRef<'_>>) -> Result<(), Exception> {
    let Some(condition) = &write.condition else { return Ok(()) };
    if condition.matches(old)? {
        return Ok(());
    }
    let mut exception =
        Exception::new(ExceptionKind::ConditionalCheckFailedException, messages::CONDITION_FAILED);
    if write.return_item_on_condition_failure {
        exception.item = old.map(|item| item.to_owned());
    }
    Err(exception)
}

/// The item after the write; `None` if there is none then.
fn new_item<'a>(
    table: &Table,
    write: &'a ItemWrite,
    old: Option<ItemRef<'_>>,
) -> Result<Option<Cow<'a, Item>>, Exception> {
    match &write.action {
        Action::Put(item) | Action::Restore(item) => Ok(Some(Cow::Borrowed(item))),
        Action::Delete => Ok(None),
        Action::Check => Ok(old.map(|item| Cow::Owned(item.to_owned()))),
        Action::Expire { before } => {
            let due = |item: &ItemRef<'_>| {
                let expiry = table.expiry.as_ref();
                expiry
                    .and_then(|expiry| index_entry::expires_at(expiry, *item))
                    .is_some_and(|at| at < *before)
            };
            Ok(old.filter(|item| !due(item)).map(|item| Cow::Owned(item.to_owned())))
        }
        Action::Update { key, update } => {
            let creates = update.as_ref().is_none_or(Update::creates_item);
            let item = match (update, old) {
                (Some(update), old) => update.apply(old, key.view())?,
                (None, Some(old)) => old.to_owned(),
                (None, None) => key.clone(),
            };
            if item.size() > limits::ITEM_BYTES {
                return Err(Exception::validation(messages::ITEM_TOO_LARGE_AFTER_UPDATE));
            }
            if item.view().is_nested_beyond(limits::NESTING_LEVELS) {
                return Err(Exception::validation(messages::NESTED_TOO_DEEP));
            }
            update.iter().try_for_each(|update| index_entry::check_updated(table, update, item.view()))?;
            Ok((old.is_some() || creates).then_some(Cow::Owned(item)))
        }
    }
}

fn attributes(write: &ItemWrite, old: Option<ItemRef<'_>>, new: Option<ItemRef<'_>>) -> Option<Item> {
    let touched = || match &write.action {
        Action::Update { update: Some(update), .. } => Some(update.touched()),
        _ => None,
    };
    let item = match write.return_values {
        ReturnValues::None => None,
        ReturnValues::AllOld => old.map(|item| item.to_owned()),
        ReturnValues::AllNew => new.map(|item| item.to_owned()),
        ReturnValues::UpdatedOld => old.and_then(|item| Some(touched()?.apply(item))),
        ReturnValues::UpdatedNew => new.and_then(|item| Some(touched()?.apply(item))),
    };
    item.filter(|item| !item.is_empty())
}

/// The item's entry in each index, in the table's order.
fn entries<'a>(
    table: &Table,
    key: &ItemKey,
    item: Option<ItemRef<'a>>,
) -> Result<Vec<Option<Entry<'a>>>, Exception> {
    let entry = |index| match item {
        Some(item) => index_entry::in_index(index, key, item),
        None => Ok(None),
    };
    table.indexes.iter().map(entry).collect()
}

/// The same of an item that was stored before: where it could not be indexed when an index was added, it has no
/// entry.
fn fitting_entries<'a>(table: &Table, key: &ItemKey, item: Option<ItemRef<'a>>) -> Vec<Option<Entry<'a>>> {
    let entry = |index| item.and_then(|item| index_entry::in_index(index, key, item).ok().flatten());
    table.indexes.iter().map(entry).collect()
}

/// Changes the item's row, its expiry entry and the table's counters.
fn change_rows(
    batch: &mut Batch<'_>,
    table: &Table,
    write: &ItemWrite,
    old: Option<ItemRef<'_>>,
    new: Option<ItemRef<'_>>,
) {
    match new {
        Some(item) => batch.put(write.key.stored.clone(), item.bytes().to_vec()),
        None => batch.delete(write.key.stored.clone()),
    }
    batch.count_in(table.space, old.map(|item| item.size()), new.map(|item| item.size()));
    if let Some(expiry) = &table.expiry {
        let entry = |item| index_entry::in_expiry(expiry, table, &write.key, item);
        let before = batch.stored(old.and_then(entry), expiry.backfilling);
        change_entry(batch, expiry.space, before, new.and_then(entry));
    }
}

/// Replaces one entry by another, if they differ; returns what an index is charged for it.
fn change_entry(
    batch: &mut Batch<'_>,
    space: Space,
    before: Option<Entry<'_>>,
    after: Option<Entry<'_>>,
) -> Units {
    batch.count_in(space, before.as_ref().map(|e| e.size), after.as_ref().map(|e| e.size));
    match (before, after) {
        (None, None) => Units::ZERO,
        (Some(before), Some(after)) if before.key == after.key => {
            if before.value == after.value {
                return Units::ZERO;
            }
            let units = write_units(before.size.max(after.size));
            batch.put(after.key, after.value.into_owned());
            units
        }
        (before, after) => {
            let mut units = Units::ZERO;
            if let Some(entry) = before {
                units += write_units(entry.size);
                batch.delete(entry.key);
            }
            if let Some(entry) = after {
                units += write_units(entry.size);
                batch.put(entry.key, entry.value.into_owned());
            }
            units
        }
    }
}

/// How much an item collection grows: the item and its entries in local indexes.
fn collection_growth(
    table: &Table,
    item: (Option<usize>, Option<usize>),
    before: &[Option<Entry<'_>>],
    after: &[Option<Entry<'_>>],
) -> Counters {
    let mut total = difference(item.0, item.1);
    for (index, (before, after)) in table.indexes.iter().zip(before.iter().zip(after)) {
        if index.kind == IndexKind::Local {
            let size = |entry: &Option<Entry<'_>>| entry.as_ref().map(|entry| entry.size);
            total.bytes += difference(size(before), size(after)).bytes;
        }
    }
    total
}

fn grow_collection(
    batch: &mut Batch<'_>,
    table: &Table,
    write: &ItemWrite,
    stored: Counters,
    added: Counters,
) -> Result<Option<u64>, Exception> {
    let Some(space) = table.collections else { return Ok(None) };
    let key = Key::Collection { space, token: write.key.partition }.to_bytes();
    let total = stored.bytes + batch.pending(&key).bytes + added.bytes;
    let total = u64::try_from(total).unwrap_or(0);
    if added.bytes > 0 && total > limits::COLLECTION_BYTES {
        return Err(Exception::new(
            ExceptionKind::ItemCollectionSizeLimitExceededException,
            messages::COLLECTION_TOO_LARGE,
        ));
    }
    batch.count(key, added);
    Ok(Some(total))
}
