//! The storage contract in memory: an ordered map behind a lock.
//!
//! It answers exactly like a store on disk, and nothing survives the process. It is the reference model: if another store
//! disagrees with this one, one of the two is wrong. Both are tested with `store_embedded/tests/contract.rs`.
//!
//! The rows are behind an `Arc`, so a snapshot is a pointer to the map as it was and never waits. A decision changes the
//! map in place if no snapshot holds it and copies it otherwise: slow for a large map that is read all the time, which is
//! fine for a model.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use partita_store::{
    Counters, Damage, Decision, Direction, Health, KeyRange, Rows, Space, Store, StoreError, Usage, Write,
};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// A store whose rows are in memory.
#[derive(Default)]
pub struct MemoryStore {
    /// Held from the start of a decision until its `on_commit` has returned.
    deciding: Mutex<()>,
    rows: RwLock<Arc<Map>>,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    fn current(&self) -> Arc<Map> {
        Arc::clone(&self.rows.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Serializes decisions: no other decision runs while the guard lives.
    fn lock_decisions(&self) -> MutexGuard<'_, ()> {
        self.deciding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide_now<T>(
        &self,
        keys: &[Vec<u8>],
        mut decision: impl FnMut(&Rows<'_>) -> Decision<T>,
    ) -> Result<T, StoreError> {
        let _deciding = self.lock_decisions();
        let rows = self.current();
        let found: Vec<_> = keys.iter().map(|key| rows.get(key).map(|row| Cow::Borrowed(&row[..]))).collect();
        let decided = catch_unwind(AssertUnwindSafe(|| decision(&found)))
            .map_err(|_| StoreError::Io("a decision panicked".to_string()))?;
        drop(found);
        // Released before the write, so that the map is copied only if a snapshot holds it.
        drop(rows);
        if !decided.writes.is_empty() {
            let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
            apply(Arc::make_mut(&mut rows), decided.writes);
        }
        if let Some(on_commit) = decided.on_commit {
            on_commit();
        }
        Ok(decided.answer)
    }
}

impl Store for MemoryStore {
    type Snapshot<'a> = Snapshot;

    fn snapshot(&self) -> Result<Snapshot, StoreError> {
        Ok(Snapshot { rows: self.current() })
    }

    fn decide<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        // Decided here and not in the future: the writes happen even if it is never polled.
        std::future::ready(self.decide_now(&keys, decision))
    }

    fn usage(&self) -> Result<Usage, StoreError> {
        let bytes = self.current().iter().map(|(key, value)| (key.len() + value.len()) as u64).sum();
        Ok(Usage { file_bytes: 0, used_bytes: bytes })
    }

    fn health(&self) -> Health {
        Health::Ok
    }
}

fn apply(rows: &mut Map, writes: Vec<Write>) {
    for write in writes {
        match write {
            Write::Put { key, value } => {
                rows.insert(key, value);
            }
            Write::Delete { key } => {
                rows.remove(&key);
            }
            Write::Count { key, add } => {
                let mut total = Counters::read(rows.get(&key).map(Vec::as_slice));
                total += add;
                rows.insert(key, total.to_row());
            }
            Write::DropSpace(space) => drop_space(rows, space),
        }
    }
}

fn drop_space(rows: &mut Map, space: Space) {
    let mut after = rows.split_off(&space.prefix()[..]);
    if let Some(next) = space.0.checked_add(1) {
        rows.append(&mut after.split_off(&Space(next).prefix()[..]));
    }
}

/// The rows as of when the snapshot was taken.
pub struct Snapshot {
    rows: Arc<Map>,
}

impl partita_store::Snapshot for Snapshot {
    fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        Ok(self.rows.get(key).map(|row| Cow::Borrowed(&row[..])))
    }

    fn range(
        &self,
        range: &KeyRange,
        direction: Direction,
        mut visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        if range.start >= range.end {
            return Ok(());
        }
        let mut rows = self.rows.range::<[u8], _>((
            std::ops::Bound::Included(&range.start[..]),
            std::ops::Bound::Excluded(&range.end[..]),
        ));
        loop {
            let next = match direction {
                Direction::Ascending => rows.next(),
                Direction::Descending => rows.next_back(),
            };
            let Some((key, value)) = next else { return Ok(()) };
            if visit(key, value).is_break() {
                return Ok(());
            }
        }
    }

    /// Memory has no damage.
    fn range_past_damage(
        &self,
        range: &KeyRange,
        direction: Direction,
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        _: impl FnMut(Damage) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.range(range, direction, visit)
    }
}
