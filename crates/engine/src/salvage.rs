//! The catalog of a salvaged database: lost rows are restored from their second copies.

use crate::catalog::catalog_rows::{self, CatalogRows};
use crate::key::stored_key::{self, Key};
use partita_store::{Decision, Rows, Store, StoreError};

/// Restores catalog rows whose second copy alone was salvaged; returns their descriptions.
pub async fn restore_catalog(store: &impl Store) -> Result<Vec<String>, StoreError> {
    let stored = CatalogRows::read(&store.snapshot()?)?;
    let mut restored = Vec::new();
    let mut writes = Vec::new();
    for (key, row) in stored.rows_of_stale_copies() {
        restored.extend(describe_row(&key));
        writes.extend(catalog_rows::put(key, row));
    }
    store.decide(Vec::new(), move |_: &Rows<'_>| Decision::commit(writes.clone(), ())).await?;
    Ok(restored)
}

/// Describes a row of the catalog for the user.
pub fn describe_row(key: &[u8]) -> Option<String> {
    if let Some(name) = stored_key::table_of_record(key) {
        return Some(format!("the record of table {name}"));
    }
    let is_in = |range: partita_store::KeyRange| range.contains(key);
    match () {
        () if is_in(stored_key::all_streams()) => Some("the record of a stream".to_owned()),
        () if is_in(stored_key::all_histories()) => Some("the record of a history".to_owned()),
        () if key == Key::NextSpace.to_bytes() => Some("the number of the next free space".to_owned()),
        () => None,
    }
}
