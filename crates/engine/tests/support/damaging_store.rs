//! A store in memory of which a test can damage rows: they cannot be read until they are written anew.

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
    /// All rows of these keys are lost, and nobody knows which there were.
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
    Damage { keys: Some(KeyRange::of_row(key)), reason: "its checksum does not fit".to_owned() }
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
        let mut met = None;
        self.range_past_damage(range, direction, visit, |damage| {
            met = Some(damage);
            ControlFlow::Break(())
        })?;
        met.map_or(Ok(()), |damage| Err(StoreError::Damaged(damage)))
    }

    fn range_past_damage(
        &self,
        range: &KeyRange,
        direction: Direction,
        mut visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        mut damaged: impl FnMut(Damage) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut told = None;
        self.rows.range(range, direction, |key, row| match self.lost(key) {
            Some(damage) if told.as_ref() == Some(&damage) => ControlFlow::Continue(()),
            Some(damage) => {
                told = Some(damage.clone());
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
        let met = keys.iter().find(|key| self.is_damaged(key)).map(|key| damage_of(key));
        let damaged = Arc::clone(&self.damaged);
        let decided = met.is_none().then(|| {
            self.rows.decide(keys, move |rows| {
                let decided = decision(rows);
                let counts = |write: &Write| match write {
                    Write::Count { key, .. } => damaged.lock().unwrap().contains(key),
                    _ => false,
                };
                // Nothing of it is written then.
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
                None => Err(StoreError::Damaged(met.unwrap())),
            }
        }
    }

    fn decide_over_damage<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        mut decision: impl FnMut(&Rows<'_>, &[usize]) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let places: Vec<_> = (0..keys.len()).filter(|place| self.is_damaged(&keys[*place])).collect();
        let damaged = Arc::clone(&self.damaged);
        self.rows.decide(keys, move |rows| {
            let mut readable = rows.to_vec();
            places.iter().for_each(|place| readable[*place] = None);
            let mut decided = decision(&readable, &places);
            count_from_nothing(&damaged, &mut decided.writes);
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

fn count_from_nothing(damaged: &Keys, writes: &mut Vec<Write>) {
    let is_damaged = |key: &Vec<u8>| damaged.lock().unwrap().contains(key);
    let begun = |write: &Write| match write {
        Write::Count { key, .. } if is_damaged(key) => Some(key.clone()),
        _ => None,
    };
    let anew: BTreeSet<_> = writes.iter().filter_map(begun).collect();
    let put = |key: Vec<u8>| Write::Put { key, value: Counters::default().to_row() };
    writes.splice(0..0, anew.into_iter().map(put));
}

fn heal(damaged: &Keys, writes: &[Write]) {
    for write in writes {
        if let Write::Put { key, .. } | Write::Delete { key } = write {
            damaged.lock().unwrap().remove(key);
        }
    }
}
