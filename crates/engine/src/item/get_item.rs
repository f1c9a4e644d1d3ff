//! GetItem: reads one item.

use crate::Engine;
use partita_api::Exception;
use partita_api::item::get_item::{GetItem, GetItemOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn get_item(&self, request: GetItem) -> Result<GetItemOutput, Exception> {
        let (item, consumption) = self.read_one(&request)?;
        let consumed_capacity = consumption.report(&request.table, request.return_consumed_capacity, None);
        Ok(GetItemOutput { item, consumed_capacity })
    }
}
