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
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && key < self.end.as_slice()
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
    #[error("the storage failed: {0}")]
    Io(String),
    #[error("stored data are damaged: {0}")]
    Damaged(String),
    #[error("the store is shutting down")]
    Closed,
}

/// Rows that are damaged: what stood in this range, other than what was shown of it, cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub range: KeyRange,
    pub what: String,
}

impl From<Damage> for StoreError {
    fn from(damage: Damage) -> StoreError {
        StoreError::Damaged(damage.what)
    }
}

/// How many bytes a store takes and how many of them hold rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub file_bytes: u64,
    pub used_bytes: u64,
}

/// What a walk along a range comes across.
pub enum Shown<'a> {
    /// A row's key and value.
    Row(&'a [u8], &'a [u8]),
    Damage(Damage),
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
    ) -> Result<(), StoreError> {
        let mut damage = None;
        let mut visit = visit;
        self.range_around_damage(range, direction, |shown| match shown {
            Shown::Row(key, value) => visit(key, value),
            Shown::Damage(found) => {
                damage = Some(found);
                ControlFlow::Break(())
            }
        })?;
        damage.map_or(Ok(()), |damage| Err(damage.into()))
    }

    /// Shows `visit` the rows of `range` in order until it breaks, and between them what is damaged.
    fn range_around_damage(
        &self,
        range: &KeyRange,
        direction: Direction,
        visit: impl FnMut(Shown<'_>) -> ControlFlow<()>,
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

    fn usage(&self) -> Result<Usage, StoreError>;
}
