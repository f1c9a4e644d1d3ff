//! The storage contract: ordered rows of bytes, exact snapshots, and atomic decisions.
//!
//! A store keeps rows (key → value) in the byte order of their keys. The first four bytes of a key,
//! big-endian, are its **space**: a table, an index or another family of rows, dropped as a whole.
//!
//! Two calls do all the work:
//! - [`Store::snapshot`] reads. A snapshot is exact: it shows every decision that was answered before
//!   it was taken, whole, and nothing of those after.
//! - [`Store::decide`] writes. The caller names the rows it depends on and gives a function from those
//!   rows to writes. The store reads the rows, calls the function and commits what it says, atomically
//!   and serially: between the read and the commit nobody else changes these rows. The future resolves
//!   once the writes are as durable as the store was asked to make them.
//!
//! Nothing here knows what a table, an item or a request is.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod patience;

use std::borrow::Cow;
use std::future::Future;
use std::ops::ControlFlow;

/// A family of rows that share their key's first four bytes and are dropped together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Space(pub u32);

impl Space {
    /// The bytes with which every key of the space begins.
    pub fn prefix(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }
}

/// The longest key a store must accept.
pub const MAX_KEY_BYTES: usize = 1_900;

/// Where the rows of a range come from first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// A part of the key order: from `start` on, up to and without `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    pub start: Vec<u8>,
    pub end: Vec<u8>,
}

impl KeyRange {
    /// The one row of this key.
    pub fn of_row(key: &[u8]) -> KeyRange {
        KeyRange { start: key.to_vec(), end: [key, &[0]].concat() }
    }

    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && key < self.end.as_slice()
    }

    /// The key, if it is the range of one row.
    pub fn row(&self) -> Option<&[u8]> {
        let is_row = self.end.strip_suffix(&[0]) == Some(&self.start);
        is_row.then_some(&self.start)
    }
}

/// A change of one row, or of a whole space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    Put {
        key: Vec<u8>,
        value: Vec<u8>,
    },
    Delete {
        key: Vec<u8>,
    },
    /// Adds to the counters kept at `key`; rows of counters are read with [`Counters::read`]. Many
    /// additions to one row are cheap: a store may add them up and write the row once a commit.
    Count {
        key: Vec<u8>,
        add: Counters,
    },
    /// Forgets all rows of a space. They are gone for readers once the space's owner no longer names
    /// it; their room comes back in the background, also after a restart. A dropped space is never
    /// used again.
    DropSpace(Space),
}

/// What a decision function says.
pub struct Decision<T> {
    /// All of these, or none. A later write to a row wins over an earlier one.
    pub writes: Vec<Write>,
    /// What the caller of [`Store::decide`] is told once the writes are durable.
    pub answer: T,
    /// Called after the commit and before any other decision function is.
    pub on_commit: Option<Box<dyn FnOnce() + Send>>,
}

impl<T> Decision<T> {
    /// A decision that changes nothing.
    pub fn rejection(answer: T) -> Decision<T> {
        Decision { writes: Vec::new(), answer, on_commit: None }
    }

    pub fn commit(writes: Vec<Write>, answer: T) -> Decision<T> {
        Decision { writes, answer, on_commit: None }
    }
}

/// The rows a decision depends on, in the order in which their keys were named.
pub type Rows<'a> = [Option<Cow<'a, [u8]>>];

/// Two running totals kept in one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub rows: i64,
    pub bytes: i64,
}

impl Counters {
    pub fn read(row: Option<&[u8]>) -> Counters {
        let Some(([rows, bytes], _)) = row
            .map(<[u8]>::as_chunks::<8>)
            .and_then(|(chunks, rest)| chunks.first_chunk::<2>().map(|pair| (*pair, rest)))
        else {
            return Counters::default();
        };
        Counters { rows: i64::from_le_bytes(rows), bytes: i64::from_le_bytes(bytes) }
    }

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

/// Why a store could not do what it was asked to. Nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the disk is full: {0}")]
    Full(String),
    #[error("the data folder is read-only: {0}")]
    ReadOnly(String),
    #[error("the commit log failed: {0}")]
    LogFailed(String),
    #[error("the storage failed: {0}")]
    Io(String),
    #[error("stored data are damaged: {0}")]
    Damaged(Damage),
    #[error("the store is shutting down")]
    Closed,
}

/// Whether a store takes writes, and if not, why. It answers reads as long as it lives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    #[default]
    Ok,
    /// There is no room; writes are taken again once there is.
    Full(String),
    /// The folder cannot be written to.
    ReadOnly(String),
    /// Something else failed, and is tried again.
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
    /// Damage of which it is not known yet what it costs.
    pub fn damaged(reason: impl Into<String>) -> StoreError {
        StoreError::Damaged(Damage { keys: None, reason: reason.into() })
    }

    /// The same, of this row: damage that did not know its place knows it now.
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
    /// Whose rows are not known: they may be there or not. None if not even that is known.
    pub keys: Option<KeyRange>,
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

/// How many bytes a store takes and how many of them hold rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub file_bytes: u64,
    pub used_bytes: u64,
}

/// Rows as they were at one moment. Short-lived: take one a page, never while waiting for a client.
pub trait Snapshot {
    fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>, StoreError>;

    /// Shows `visit` the rows of `range` in order until it breaks. Damage among them is an error.
    fn range(
        &self,
        range: &KeyRange,
        direction: Direction,
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// The same, but damage does not end it: `damaged` is shown what cannot be read, in its place in the order and with
    /// its keys, and the rows behind it follow. A row that is not shown is among the damaged keys or not there.
    fn range_past_damage(
        &self,
        range: &KeyRange,
        direction: Direction,
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        damaged: impl FnMut(Damage) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;
}

/// A place to keep rows. See the module's text for what a store promises.
pub trait Store: Send + Sync + 'static {
    type Snapshot<'a>: Snapshot
    where
        Self: 'a;

    fn snapshot(&self) -> Result<Self::Snapshot<'_>, StoreError>;

    /// Reads the rows of `keys`, asks `decision`, commits its writes and answers.
    ///
    /// A store without a single writer may ask again when the rows changed meanwhile, so the function
    /// depends on nothing but the rows. The writes happen even if the returned future is dropped.
    fn decide<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;

    /// The same, also over rows that cannot be read: they look like rows that are not there, and the function is told
    /// the places of their keys besides. Counters that cannot be read are counted from nothing. [`Store::decide`] fails on such rows. What is here suits a store without damage.
    fn decide_over_damage<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        mut decision: impl FnMut(&Rows<'_>, &[usize]) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        self.decide(keys, move |rows| decision(rows, &[]))
    }

    fn usage(&self) -> Result<Usage, StoreError>;

    /// Whether it would take a write now, as far as it is known.
    fn health(&self) -> Health;
}
