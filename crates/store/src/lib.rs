//! The storage contract: ordered rows of bytes, exact snapshots, and atomic decisions.
//!
//! A store holds rows (key → value) in the byte order of their keys. The first four bytes of a key, big-endian, are its
//! **space**: a table, an index or another family of rows that is dropped as a whole. Nothing here knows what a table,
//! an item or a request is.
//!
//! Two calls do all the work:
//! - [`Store::snapshot`] reads.
//! - [`Store::decide`] writes. The caller names the rows it depends on and passes a function from those rows to writes.
//!   The store reads the rows, calls the function and commits the writes it returns.
//!
//! # What a store guarantees
//!
//! - **Snapshots are exact.** A snapshot shows every decision that was acknowledged before it was taken, completely, and
//!   nothing of those decided later. It does not change while it is held.
//! - **Decisions are atomic.** Either all writes of a decision are visible and survive a crash, or none. Of several
//!   writes to one row in a decision the last one wins.
//! - **Decisions are serial.** The effect is that of running them one after another: between reading a decision's rows
//!   and committing its writes, no other decision changes those rows. A decision sees the writes of all earlier ones.
//! - **Acknowledged means durable.** The future of [`Store::decide`] resolves once the writes are as durable as the store
//!   was configured to make them. They happen even if the future is dropped without being polled.
//! - **`on_commit` runs in order.** [`Decision::on_commit`] runs after the decision is committed and before the next
//!   decision function is called.
//! - **A panic is contained.** If a decision function panics, that decision fails with [`StoreError::Io`], writes
//!   nothing, and affects no other decision.
//! - **An error changes nothing.** After a [`StoreError`] none of the decision's writes are stored.
//! - **Damage is reported, never hidden.** A row that cannot be read is an error, not a missing row.
//! - **Keys** of 4 up to [`MAX_KEY_BYTES`] bytes and values of any length are accepted; an empty value is a row.
//!
//! A decision function must depend on nothing but its rows, because a store may call it again if they changed meanwhile.
//!
//! The contract is tested in `store_embedded/tests/contract.rs`, against every store.
//!
//! # Example
//!
//! A store that fulfils the contract with a map behind a lock (`store_memory` is this with cheap snapshots):
//!
//! ```
//! use std::borrow::Cow;
//! use std::collections::BTreeMap;
//! use std::future::{Future, ready};
//! use std::ops::ControlFlow;
//! use std::panic::{AssertUnwindSafe, catch_unwind};
//! use std::sync::Mutex;
//!
//! use partita_store::*;
//!
//! #[derive(Default)]
//! struct MapStore(Mutex<BTreeMap<Vec<u8>, Vec<u8>>>);
//!
//! struct MapSnapshot(BTreeMap<Vec<u8>, Vec<u8>>);
//!
//! impl Store for MapStore {
//!     type Snapshot<'a> = MapSnapshot;
//!
//!     fn snapshot(&self) -> Result<MapSnapshot, StoreError> {
//!         Ok(MapSnapshot(self.0.lock().unwrap().clone()))
//!     }
//!
//!     fn decide<T: Send + 'static>(
//!         &self,
//!         keys: Vec<Vec<u8>>,
//!         mut decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
//!     ) -> impl Future<Output = Result<T, StoreError>> + Send {
//!         // Not inside the future: the writes must happen even if it is never polled.
//!         let mut map = self.0.lock().unwrap();
//!         let rows: Vec<_> = keys.iter().map(|key| map.get(key).cloned().map(Cow::Owned)).collect();
//!         let decided = catch_unwind(AssertUnwindSafe(|| decision(&rows)));
//!         ready(match decided {
//!             Ok(Decision { writes, answer, on_commit }) => {
//!                 writes.into_iter().for_each(|write| apply(&mut map, write));
//!                 on_commit.into_iter().for_each(|call| call());
//!                 Ok(answer)
//!             }
//!             Err(_) => Err(StoreError::Io("a decision panicked".to_string())),
//!         })
//!     }
//!
//!     fn usage(&self) -> Result<Usage, StoreError> {
//!         Ok(Usage::default())
//!     }
//!
//!     fn health(&self) -> Health {
//!         Health::Ok
//!     }
//! }
//!
//! fn apply(map: &mut BTreeMap<Vec<u8>, Vec<u8>>, write: Write) {
//!     match write {
//!         Write::Put { key, value } => drop(map.insert(key, value)),
//!         Write::Delete { key } => drop(map.remove(&key)),
//!         Write::Count { key, add } => {
//!             let mut total = Counters::read(map.get(&key).map(Vec::as_slice));
//!             total += add;
//!             map.insert(key, total.to_row());
//!         }
//!         Write::DropSpace(space) => map.retain(|key, _| !key.starts_with(&space.prefix())),
//!     }
//! }
//!
//! impl Snapshot for MapSnapshot {
//!     fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
//!         Ok(self.0.get(key).map(|value| Cow::Borrowed(&value[..])))
//!     }
//!
//!     fn range(
//!         &self,
//!         range: &KeyRange,
//!         direction: Direction,
//!         mut visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
//!     ) -> Result<(), StoreError> {
//!         let mut rows: Vec<_> = self.0.iter().filter(|(key, _)| range.contains(key)).collect();
//!         if direction == Direction::Descending {
//!             rows.reverse();
//!         }
//!         let _ = rows.into_iter().try_for_each(|(key, value)| visit(key, value));
//!         Ok(())
//!     }
//!
//!     fn range_past_damage(
//!         &self,
//!         range: &KeyRange,
//!         direction: Direction,
//!         visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
//!         _damaged: impl FnMut(Damage) -> ControlFlow<()>,
//!     ) -> Result<(), StoreError> {
//!         self.range(range, direction, visit)
//!     }
//! }
//!
//! // Appends to a row, depending on what it holds.
//! let store = MapStore::default();
//! let key = [&Space(7).prefix()[..], b"row"].concat();
//! let append = {
//!     let key = key.clone();
//!     move |rows: &Rows<'_>| {
//!         let value = [rows[0].as_deref().unwrap_or_default(), b"+"].concat();
//!         Decision::commit(vec![Write::Put { key: key.clone(), value: value.clone() }], value.len())
//!     }
//! };
//! # fn block_on<T>(future: impl Future<Output = T>) -> T {
//! #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! #     match std::pin::pin!(future).poll(&mut context) {
//! #         std::task::Poll::Ready(output) => output,
//! #         std::task::Poll::Pending => unreachable!("this store answers immediately"),
//! #     }
//! # }
//! assert_eq!(block_on(store.decide(vec![key.clone()], append.clone()))?, 1);
//! assert_eq!(block_on(store.decide(vec![key.clone()], append))?, 2);
//! assert_eq!(store.snapshot()?.get(&key)?.as_deref(), Some(&b"++"[..]));
//! # Ok::<(), StoreError>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![warn(missing_docs)]

pub mod blocking;

use std::borrow::Cow;
use std::future::Future;
use std::ops::ControlFlow;

/// A family of rows that share the first four bytes of their keys and are dropped together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Space(pub u32);

impl Space {
    /// Returns the bytes with which every key of the space begins.
    pub fn prefix(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }
}

/// The length of the longest key that a store must accept.
pub const MAX_KEY_BYTES: usize = 1_900;

/// The order in which a range is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the lowest key to the highest.
    Ascending,
    /// From the highest key to the lowest.
    Descending,
}

/// A half-open range of keys. It is empty unless `start` is below `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The lower bound, inclusive.
    pub start: Vec<u8>,
    /// The upper bound, exclusive.
    pub end: Vec<u8>,
}

impl KeyRange {
    /// Returns the range that contains only this key.
    pub fn of_row(key: &[u8]) -> KeyRange {
        KeyRange { start: key.to_vec(), end: [key, &[0]].concat() }
    }

    /// Returns whether the range contains `key`.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && key < self.end.as_slice()
    }

    /// Returns the key if this is the range of a single row.
    pub fn row(&self) -> Option<&[u8]> {
        let is_row = self.end.strip_suffix(&[0]) == Some(&self.start);
        is_row.then_some(&self.start)
    }
}

/// A change to one row, or to a whole space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Inserts or replaces a row.
    Put {
        /// The row's key.
        key: Vec<u8>,
        /// The row's new value.
        value: Vec<u8>,
    },
    /// Deletes a row, if it exists.
    Delete {
        /// The row's key.
        key: Vec<u8>,
    },
    /// Adds to the counters stored at `key`, which are zero if there is no row; they are read with [`Counters::read`].
    /// Many additions to one row are cheap: a store may add them up and write the row once per commit.
    Count {
        /// The key of the row of counters.
        key: Vec<u8>,
        /// What to add.
        add: Counters,
    },
    /// Drops all rows of a space. Readers no longer see them from this decision on; their space on disk is reclaimed in
    /// the background, also after a restart. A dropped space must never be used again.
    DropSpace(Space),
}

/// The result of a decision function.
pub struct Decision<T> {
    /// Committed together or not at all. A later write to a row wins over an earlier one.
    pub writes: Vec<Write>,
    /// Returned to the caller of [`Store::decide`] once the writes are durable.
    pub answer: T,
    /// Called after the commit and before any other decision function.
    pub on_commit: Option<Box<dyn FnOnce() + Send>>,
}

impl<T> Decision<T> {
    /// A decision that changes nothing.
    pub fn rejection(answer: T) -> Decision<T> {
        Decision { writes: Vec::new(), answer, on_commit: None }
    }

    /// A decision that commits these writes.
    pub fn commit(writes: Vec<Write>, answer: T) -> Decision<T> {
        Decision { writes, answer, on_commit: None }
    }
}

/// The rows a decision depends on, in the order of the keys passed to [`Store::decide`]; `None` where there is no row.
pub type Rows<'a> = [Option<Cow<'a, [u8]>>];

/// Two running totals stored in one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// A number of rows.
    pub rows: i64,
    /// A number of bytes.
    pub bytes: i64,
}

impl Counters {
    /// Reads the counters in a row. A missing or malformed row counts as zero.
    pub fn read(row: Option<&[u8]>) -> Counters {
        let Some(([rows, bytes], _)) = row
            .map(<[u8]>::as_chunks::<8>)
            .and_then(|(chunks, rest)| chunks.first_chunk::<2>().map(|pair| (*pair, rest)))
        else {
            return Counters::default();
        };
        Counters { rows: i64::from_le_bytes(rows), bytes: i64::from_le_bytes(bytes) }
    }

    /// Returns the value of the row that stores these counters.
    pub fn to_row(self) -> Vec<u8> {
        [self.rows.to_le_bytes(), self.bytes.to_le_bytes()].concat()
    }
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}

/// Why a call to a store failed. Nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no space left for what would be added.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The data cannot be written to.
    #[error("the data folder is read-only: {0}")]
    ReadOnly(String),
    /// The commit log could not be written or synced.
    #[error("the commit log failed: {0}")]
    LogFailed(String),
    /// Any other failure.
    #[error("the storage failed: {0}")]
    Io(String),
    /// Stored data is not what was written.
    #[error("stored data are damaged: {0}")]
    Damaged(Damage),
    /// The store accepts no more calls.
    #[error("the store is shutting down")]
    Closed,
}

/// Whether a store accepts writes, and if not, why. Reads are answered as long as the store is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// Writes are accepted.
    #[default]
    Ok,
    /// There is no space left; writes are accepted again once there is.
    Full(String),
    /// The data cannot be written to.
    ReadOnly(String),
    /// Something else failed, and is retried.
    Failed(String),
}

impl From<&StoreError> for Health {
    fn from(error: &StoreError) -> Health {
        let text = error.to_string();
        match error {
            StoreError::Full(_) => Health::Full(text),
            StoreError::ReadOnly(_) => Health::ReadOnly(text),
            StoreError::LogFailed(_) | StoreError::Io(_) | StoreError::Damaged(_) | StoreError::Closed => {
                Health::Failed(text)
            }
        }
    }
}

impl StoreError {
    /// Damage whose affected keys are not known yet.
    pub fn damaged(reason: impl Into<String>) -> StoreError {
        StoreError::Damaged(Damage { keys: None, reason: reason.into() })
    }

    /// Attributes damage whose keys are unknown to this row. Other errors are returned unchanged.
    pub fn in_row(self, key: &[u8]) -> StoreError {
        match self {
            StoreError::Damaged(Damage { keys: None, reason }) => {
                StoreError::Damaged(Damage { keys: Some(KeyRange::of_row(key)), reason })
            }
            other => other,
        }
    }
}

/// What cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The keys whose rows are unknown: they may exist or not. `None` if not even the keys are known.
    pub keys: Option<KeyRange>,
    /// A description for operators.
    pub reason: String,
}

impl From<Damage> for StoreError {
    fn from(damage: Damage) -> StoreError {
        StoreError::Damaged(damage)
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

/// The storage a store uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The total size of the store's files.
    pub file_bytes: u64,
    /// How many bytes hold rows.
    pub used_bytes: u64,
}

/// The rows as of one moment. Short-lived: take one per page of results, and never hold one while waiting for a client.
pub trait Snapshot {
    /// Returns the value of a row, or `None` if it does not exist.
    fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>, StoreError>;

    /// Calls `visit` with the key and value of each row of `range`, in order, until it breaks. Stops at damage with an
    /// error.
    fn range(
        &self,
        range: &KeyRange,
        direction: Direction,
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Like [`Snapshot::range`], but continues past damage: `damaged` is called with what cannot be read, at its position
    /// in the order and with its keys set. A row that is not visited is among the damaged keys or does not exist.
    fn range_past_damage(
        &self,
        range: &KeyRange,
        direction: Direction,
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        damaged: impl FnMut(Damage) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;
}

/// A store of rows. See the [crate documentation](crate) for what it guarantees.
pub trait Store: Send + Sync + 'static {
    /// The store's snapshots.
    type Snapshot<'a>: Snapshot
    where
        Self: 'a;

    /// Takes a snapshot of the rows as of now.
    fn snapshot(&self) -> Result<Self::Snapshot<'_>, StoreError>;

    /// Reads the rows of `keys`, calls `decision` with them, commits its writes and returns its answer.
    ///
    /// A store without a single writer may call it again if the rows changed meanwhile, so the function must depend on
    /// nothing but the rows. The writes happen even if the returned future is dropped.
    fn decide<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;

    /// Like [`Store::decide`], but tolerates rows that cannot be read, on which that fails: they are passed as missing,
    /// and the second argument holds their indexes in `keys`. Counters that cannot be read restart from zero. The default
    /// implementation suits a store without damage.
    fn decide_over_damage<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        mut decision: impl FnMut(&Rows<'_>, &[usize]) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        self.decide(keys, move |rows| decision(rows, &[]))
    }

    /// Returns how much storage is used.
    fn usage(&self) -> Result<Usage, StoreError>;

    /// Returns whether the store would accept a write now, as far as is known.
    fn health(&self) -> Health;
}
