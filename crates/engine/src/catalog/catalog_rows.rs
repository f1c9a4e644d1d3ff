//! The rows of the catalog. Each is stored twice, at both ends of the data file: a damaged row does no harm while its second
//! copy is readable. If both are damaged, the rest of the database keeps working, and what is lost is known by its key.

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

/// The rows of the catalog in one snapshot.
#[derive(Default)]
pub struct CatalogRows {
    /// Rows by their keys, each from the copy that is readable.
    pub rows: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What the store cannot read of either copy.
    pub damages: Vec<Damage>,
    /// The keys of rows that cannot be decoded.
    pub undecodable: BTreeSet<Vec<u8>>,
    /// The keys of rows with one copy missing or different.
    pub incomplete: BTreeSet<Vec<u8>>,
    /// Second copies without a first, by their own keys.
    pub stale_copies: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The keys of rows that are lost: neither copy is readable.
    pub lost: Vec<KeyRange>,
    /// Data folders of early versions have no second copies.
    pub has_copies: bool,
}

impl CatalogRows {
    pub fn read(snapshot: &impl Snapshot) -> Result<CatalogRows, StoreError> {
        let mut catalog = CatalogRows::default();
        let mut unread = catalog.read_first_copies(snapshot)?;
        catalog.read_second_copies(snapshot, &unread)?;
        unread.retain(|range| range.row().is_none_or(|key| !catalog.rows.contains_key(key)));
        catalog.lost = unread;
        Ok(catalog)
    }

    /// Reads the first copies; returns the keys that could not be read.
    fn read_first_copies(&mut self, snapshot: &impl Snapshot) -> Result<Vec<KeyRange>, StoreError> {
        let CatalogCopy { rows, damages } = CatalogCopy::read(snapshot, &stored_key::whole_catalog())?;
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

    /// Reads the second copies, to replace the first copies that could not be read.
    fn read_second_copies(
        &mut self,
        snapshot: &impl Snapshot,
        unread: &[KeyRange],
    ) -> Result<(), StoreError> {
        let CatalogCopy { rows, damages } = CatalogCopy::read(snapshot, &stored_key::all_catalog_copies())?;
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

    /// Rows that exist as second copies only, by the keys of the first.
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
struct CatalogCopy {
    rows: BTreeMap<Vec<u8>, Vec<u8>>,
    damages: Vec<Damage>,
}

impl CatalogCopy {
    fn read(snapshot: &impl Snapshot, range: &KeyRange) -> Result<CatalogCopy, StoreError> {
        let mut copy = CatalogCopy::default();
        let visit = |key: &[u8], row: &[u8]| {
            copy.rows.insert(key.to_vec(), row.to_vec());
            ControlFlow::Continue(())
        };
        let damaged = |damage: Damage| {
            copy.damages.push(damage);
            ControlFlow::Continue(())
        };
        snapshot.range_past_damage(range, Direction::Ascending, visit, damaged)?;
        Ok(copy)
    }
}

/// Whether a key is one of the catalog's.
fn is_known(key: &[u8]) -> bool {
    let records = [stored_key::all_table_records(), stored_key::all_streams(), stored_key::all_histories()];
    key == Key::NextSpace.to_bytes() || records.iter().any(|range| range.contains(key))
}

/// Whether a row can be decoded; true for keys that are not the catalog's.
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
