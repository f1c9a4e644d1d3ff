//! DescribeTable: a table's record with its current counters.

use crate::Engine;
use partita_api::Exception;
use partita_api::table::describe_table::{DescribeTable, DescribeTableOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_table(&self, request: DescribeTable) -> Result<DescribeTableOutput, Exception> {
        let table = self.catalog.named_table(&request.name)?;
        Ok(DescribeTableOutput { table: self.describe(&table)? })
    }
}
