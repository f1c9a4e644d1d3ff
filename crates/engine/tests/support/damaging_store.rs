//! A store in memory whose rows a test can damage: they cannot be read until they are overwritten.

use partita_store::{
    Counters, Damage, Decision, Direction, Health, KeyRange, Rows, Snapshot, Store, StoreError, Usage, Write,
};
use partita_store_memory::MemoryStore;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

type Keys = Arc<Mutex<BTreeSet<Vec<u8>>>>;

#[derive(Clone, Default)]
pub struct DamagingStore {
    pub rows: Arc<MemoryStore>,
    damaged: Keys,
    /// All rows in these ranges are lost, and it is unknown which keys existed.
    lost: Arc<Mutex<Vec<KeyRange>>>,
}

#[allow(dead_code, reason = "each test file uses a part")]
impl DamagingStore {
    pub fn lose(&self, range: KeyRange) {
        self.lost.lock().unwrap().push(range);
    }

    pub fn damage(&self, key: &[u8]) {
        self.damaged.lock().unwrap().insert(key.to_vec());
    }

    fn is_damaged(&self, key: &[u8]) -> bool {
        self.damaged.lock().unwrap().contains(key)
    }
}

fn damage_of(key: &[u8]) -> Damage {
    Damage { keys: Some(KeyRange::of_row(key)), reason: "its checksum does not match".to_owned() }
}

pub struct DamagedSnapshot {
    rows: partita_store_memory::Snapshot,
    damaged: BTreeSet<Vec<u8>>,
    lost: Vec<KeyRange>,
}

impl DamagedSnapshot {
    fn lost(&self, key: &[u8]) -> Option<Damage> {
        let range = self.lost.iter().find(|range| range.contains(key))?.clone();
        Some(Damage { keys: Some(range), reason: "a page is lost".to_owned() })
    }
}

impl Snapshot for DamagedSnapshot {
    fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        if self.damaged.contains(key) {
            return Err(StoreError::Damaged(damage_of(key)));
        }
        if let Some(damage) = self.lost(key) {
            return Err(StoreError::Damaged(damage));
        }
        self.rows.get(key)
    }

    fn range(
        &self,
        range: &KeyRange,
        direction: Direction,
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut found = None;
        self.range_past_damage(range, direction, visit, |damage| {
            found = Some(damage);
            ControlFlow::Break(())
        })?;
        found.map_or(Ok(()), |damage| Err(StoreError::Damaged(damage)))
    }

    fn range_past_damage(
        &self,
        range: &KeyRange,
        direction: Direction,
        mut visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        mut damaged: impl FnMut(Damage) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut reported = None;
        self.rows.range(range, direction, |key, row| match self.lost(key) {
            Some(damage) if reported.as_ref() == Some(&damage) => ControlFlow::Continue(()),
            Some(damage) => {
                reported = Some(damage.clone());
                damaged(damage)
            }
            None if self.damaged.contains(key) => damaged(damage_of(key)),
            None => visit(key, row),
        })
    }
}

impl Store for DamagingStore {
    type Snapshot<'a> = DamagedSnapshot;

    fn snapshot(&self) -> Result<DamagedSnapshot, StoreError> {
        let (damaged, lost) = (self.damaged.lock().unwrap().clone(), self.lost.lock().unwrap().clone());
        Ok(DamagedSnapshot { rows: self.rows.snapshot()?, damaged, lost })
    }

    fn decide<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        mut decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let found = keys.iter().find(|key| self.is_damaged(key)).map(|key| damage_of(key));
        let damaged = Arc::clone(&self.damaged);
        let decided = found.is_none().then(|| {
            self.rows.decide(keys, move |rows| {
                let decided = decision(rows);
                let counts = |write: &Write| match write {
                    Write::Count { key, .. } => damaged.lock().unwrap().contains(key),
                    _ => false,
                };
                // The whole decision fails then.
                if decided.writes.iter().any(counts) {
                    return Decision::rejection(None);
                }
                heal(&damaged, &decided.writes);
                Decision {
                    writes: decided.writes,
                    answer: Some(decided.answer),
                    on_commit: decided.on_commit,
                }
            })
        });
        async move {
            match decided {
                Some(decided) => decided.await?.ok_or_else(|| StoreError::damaged("counters")),
                None => Err(StoreError::Damaged(found.unwrap())),
            }
        }
    }

    fn decide_over_damage<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        mut decision: impl FnMut(&Rows<'_>, &[usize]) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let indexes: Vec<_> = (0..keys.len()).filter(|index| self.is_damaged(&keys[*index])).collect();
        let damaged = Arc::clone(&self.damaged);
        self.rows.decide(keys, move |rows| {
            let mut readable = rows.to_vec();
            indexes.iter().for_each(|index| readable[*index] = None);
            let mut decided = decision(&readable, &indexes);
            reset_damaged_counters(&damaged, &mut decided.writes);
            heal(&damaged, &decided.writes);
            decided
        })
    }

    fn usage(&self) -> Result<Usage, StoreError> {
        self.rows.usage()
    }

    fn health(&self) -> Health {
        self.rows.health()
    }
}

fn reset_damaged_counters(damaged: &Keys, writes: &mut Vec<Write>) {
    let is_damaged = |key: &Vec<u8>| damaged.lock().unwrap().contains(key);
    let damaged_key = |write: &Write| match write {
        Write::Count { key, .. } if is_damaged(key) => Some(key.clone()),
        _ => None,
    };
    let reset: BTreeSet<_> = writes.iter().filter_map(damaged_key).collect();
    let put = |key: Vec<u8>| Write::Put { key, value: Counters::default().to_row() };
    writes.splice(0..0, reset.into_iter().map(put));
}

fn heal(damaged: &Keys, writes: &[Write]) {
    for write in writes {
        if let Write::Put { key, .. } | Write::Delete { key } = write {
            damaged.lock().unwrap().remove(key);
        }
    }
}
