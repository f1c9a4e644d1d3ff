//! The rows of the catalog. Each is kept twice, at both ends of the data file: a damaged one costs nothing while its
//! second copy is readable. Without either, the rest of the database goes on, and what is lost is known by its key.

use crate::catalog::table::TableRecord;
use crate::history::History;
use crate::key::stored_key::{self, Key};
use crate::stream::Stream;
use partita_store::{Damage, Direction, KeyRange, Snapshot, StoreError, Write};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The writes that store a record.
pub fn put_record(key: Key<'_>, record: &impl Serialize) -> [Write; 2] {
    let value = serde_json::to_vec(record).unwrap_or_else(|_| unreachable!("a record is plain data"));
    put(key.to_bytes(), value)
}

/// The writes that store a row.
pub fn put(key: Vec<u8>, value: Vec<u8>) -> [Write; 2] {
    let copy = Write::Put { key: stored_key::catalog_copy(&key), value: value.clone() };
    [Write::Put { key, value }, copy]
}

/// The writes that remove a row.
pub fn delete(key: Key<'_>) -> [Write; 2] {
    delete_row(key.to_bytes())
}

pub fn delete_row(key: Vec<u8>) -> [Write; 2] {
    let copy = Write::Delete { key: stored_key::catalog_copy(&key) };
    [Write::Delete { key }, copy]
}

/// What one snapshot has of the catalog.
#[derive(Default)]
pub struct CatalogRows {
    /// By their keys, each out of the copy that is readable.
    pub rows: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What the store cannot read, of either copy.
    pub damages: Vec<Damage>,
    /// Rows that are not what their keys say.
    pub undecodable: BTreeSet<Vec<u8>>,
    /// Keys of which one copy is not as it should be.
    pub incomplete: BTreeSet<Vec<u8>>,
    /// Second copies of what is not there, by their own keys.
    pub stale_copies: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Keys whose rows are not known: neither copy is readable.
    pub lost: Vec<KeyRange>,
    /// Folders of early versions have no second copies.
    pub has_copies: bool,
}

impl CatalogRows {
    pub fn read(snapshot: &impl Snapshot) -> Result<CatalogRows, StoreError> {
        let mut catalog = CatalogRows::default();
        let mut unread = catalog.take_rows(snapshot)?;
        catalog.take_copies(snapshot, &unread)?;
        unread.retain(|range| range.row().is_none_or(|key| !catalog.rows.contains_key(key)));
        catalog.lost = unread;
        Ok(catalog)
    }

    /// The first copies. Says which keys could not be read.
    fn take_rows(&mut self, snapshot: &impl Snapshot) -> Result<Vec<KeyRange>, StoreError> {
        let Side { rows, damages } = Side::read(snapshot, &stored_key::whole_catalog())?;
        let mut unread: Vec<_> = damages.iter().filter_map(|damage| damage.keys.clone()).collect();
        for (key, row) in rows {
            if is_readable(&key, &row) {
                self.rows.insert(key, row);
            } else {
                unread.push(KeyRange::of_row(&key));
                self.undecodable.insert(key);
            }
        }
        self.damages.extend(damages);
        Ok(unread)
    }

    /// The second copies, for what could not be read of the first ones.
    fn take_copies(&mut self, snapshot: &impl Snapshot, unread: &[KeyRange]) -> Result<(), StoreError> {
        let Side { rows, damages } = Side::read(snapshot, &stored_key::all_catalog_copies())?;
        self.has_copies = !rows.is_empty() || !damages.is_empty();
        self.damages.extend(damages);
        self.incomplete = self.rows.keys().filter(|key| is_known(key)).cloned().collect();
        for (copy, row) in rows {
            let key = stored_key::copied_catalog_row(&copy);
            match self.rows.get(&key) {
                Some(first) if *first == row => {
                    self.incomplete.remove(&key);
                }
                Some(_) => {}
                None if !unread.iter().any(|range| range.contains(&key)) => {
                    self.stale_copies.insert(copy, row);
                }
                None if is_readable(&key, &row) => {
                    self.incomplete.insert(key.clone());
                    self.rows.insert(key, row);
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Rows that are there as second copies only, by the keys of the first.
    pub fn rows_of_stale_copies(self) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
        let rows =
            self.stale_copies.into_iter().map(|(copy, row)| (stored_key::copied_catalog_row(&copy), row));
        rows.filter(|(key, row)| is_readable(key, row))
    }

    /// The records of one kind.
    pub fn records<R: DeserializeOwned>(&self, range: KeyRange) -> impl Iterator<Item = R> {
        let rows = self.rows.range(range.start..range.end);
        rows.filter_map(|(_, row)| serde_json::from_slice(row).ok())
    }
}

/// One copy of the catalog.
#[derive(Default)]
struct Side {
    rows: BTreeMap<Vec<u8>, Vec<u8>>,
    damages: Vec<Damage>,
}

impl Side {
    fn read(snapshot: &impl Snapshot, range: &KeyRange) -> Result<Side, StoreError> {
        let mut side = Side::default();
        let visit = |key: &[u8], row: &[u8]| {
            side.rows.insert(key.to_vec(), row.to_vec());
            ControlFlow::Continue(())
        };
        let damaged = |damage: Damage| {
            side.damages.push(damage);
            ControlFlow::Continue(())
        };
        snapshot.range_past_damage(range, Direction::Ascending, visit, damaged)?;
        Ok(side)
    }
}

/// Whether a key of the catalog means anything.
fn is_known(key: &[u8]) -> bool {
    let records = [stored_key::all_table_records(), stored_key::all_streams(), stored_key::all_histories()];
    key == Key::NextSpace.to_bytes() || records.iter().any(|range| range.contains(key))
}

/// Whether a row is what its key says. Of keys that mean nothing, nothing is said.
fn is_readable(key: &[u8], row: &[u8]) -> bool {
    fn is<R: DeserializeOwned>(row: &[u8]) -> bool {
        serde_json::from_slice::<R>(row).is_ok()
    }
    if stored_key::all_table_records().contains(key) {
        is::<TableRecord>(row)
    } else if stored_key::all_streams().contains(key) {
        is::<Stream>(row)
    } else if stored_key::all_histories().contains(key) {
        is::<History>(row)
    } else {
        key != Key::NextSpace.to_bytes() || row.len() == 4
    }
}
