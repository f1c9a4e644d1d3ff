//! The catalog of a database that was salvaged: rows that were lost come back out of their second copies.

use crate::catalog::catalog_rows::{self, CatalogRows};
use crate::key::stored_key::{self, Key};
use partita_store::{Decision, Rows, Store, StoreError};

/// Puts the rows of the catalog back of which only the second copy could be copied. Says which they are.
pub async fn restore_catalog(store: &impl Store) -> Result<Vec<String>, StoreError> {
    let stored = CatalogRows::read(&store.snapshot()?)?;
    let mut told = Vec::new();
    let mut writes = Vec::new();
    for (key, row) in stored.rows_of_stale_copies() {
        told.extend(told_row(&key));
        writes.extend(catalog_rows::put(key, row));
    }
    store.decide(Vec::new(), move |_: &Rows<'_>| Decision::commit(writes.clone(), ())).await?;
    Ok(told)
}

/// What a row of the catalog is, for people.
pub fn told_row(key: &[u8]) -> Option<String> {
    if let Some(name) = stored_key::table_of_record(key) {
        return Some(format!("the record of table {name}"));
    }
    let is_in = |range: partita_store::KeyRange| range.contains(key);
    match () {
        () if is_in(stored_key::all_streams()) => Some("the record of a stream".to_owned()),
        () if is_in(stored_key::all_histories()) => Some("the record of a history".to_owned()),
        () if key == Key::NextSpace.to_bytes() => Some("which space is free".to_owned()),
        () => None,
    }
}
