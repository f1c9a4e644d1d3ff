//! GetItem: one row.

use crate::Engine;
use crate::capacity::{Consistency, Consumption, read_units};
use crate::key::item_key::ItemKey;
use crate::key::scalar_keys;
use crate::read::{project, read_item};
use crate::storage_failed;
use partita_api::Exception;
use partita_api::item::get_item::{GetItem, GetItemOutput};
use partita_store::Store;
use partita_value::Item;

impl<S: Store> Engine<S> {
    pub async fn get_item(&self, request: GetItem) -> Result<GetItemOutput, Exception> {
        let (item, consumption) = self.read_one(&request)?;
        let consumed_capacity = consumption.report(&request.table, request.return_consumed_capacity, None);
        Ok(GetItemOutput { item, consumed_capacity })
    }

    /// The item, and what reading it used of its table.
    pub(crate) fn read_one(&self, request: &GetItem) -> Result<(Option<Item>, Consumption), Exception> {
        let table = self.catalog.table(&request.table)?;
        let key = ItemKey::of_request(&table, &request.key)?;
        scalar_keys::check(&table, request.projection.iter().flat_map(|paths| paths.nested_roots()))?;
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let (item, size) =
            read_item(&snapshot, &table, &key, |item| project(request.projection.as_ref(), item))?;
        let units = read_units(size, Consistency::of(request.consistent_read));
        Ok((item, Consumption::of_table(units)))
    }
}
