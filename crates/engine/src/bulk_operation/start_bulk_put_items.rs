//! StartBulkPutItems: notes a bulk operation, which goes on in the background (`bulk_step.rs`).

use crate::Engine;
use crate::bulk_operation::bulk_record::BulkRecord;
use crate::catalog::change_table::check_created;
use crate::catalog::table::Table;
use crate::exchange::exchange_record::{ExchangeRecord, ExchangeToken};
use crate::key::stored_key::ExchangeKind;
use partita_api::bulk_operation::start_bulk_put_items::{StartBulkPutItems, StartBulkPutItemsOutput};
use partita_api::bulk_operation::{BulkOperation, BulkStatus, BulkUsage};
use partita_api::{Exception, ExceptionKind};
use partita_store::Store;
use partita_value::names::table_arn;

/// Operations that may be in progress at a time.
const MOST_OPEN: usize = 50;

impl<S: Store> Engine<S> {
    pub async fn start_bulk_put_items(
        &self,
        request: StartBulkPutItems,
    ) -> Result<StartBulkPutItemsOutput, Exception> {
        let now = self.clock.now_millis();
        let print = format!("{request:?}");
        let token = request.client_token.as_ref();
        let token = token.map(|token| ExchangeToken::new(ExchangeKind::BulkOperation, token, &print, now));
        if let Some(record) = self.begun_before::<BulkRecord>(token.as_ref())? {
            return Ok(StartBulkPutItemsOutput { operation: Box::new(self.shown(record)?) });
        }
        let table = self.catalog.named_table(&request.table)?;
        check_is_steady(&table)?;
        self.look_for_open::<BulkRecord>(&self.open_bulk_operations)?;
        if self.open_bulk_operations.all().len() >= MOST_OPEN {
            let message =
                format!("Subscriber limit exceeded: Only {MOST_OPEN} bulk operations can be in progress");
            return Err(Exception::new(ExceptionKind::LimitExceededException, message));
        }
        let record = self.begin(self.new_bulk_operation(request, &table, now), token).await?;
        self.open_bulk_operations.add(record.id());
        self.wake_maintenance();
        Ok(StartBulkPutItemsOutput { operation: Box::new(self.shown(record)?) })
    }

    fn new_bulk_operation(&self, request: StartBulkPutItems, table: &Table, now: u64) -> BulkRecord {
        let table_arn = table_arn(&self.region, table.name.as_str());
        let operation = BulkOperation {
            arn: format!("{table_arn}/bulk-operation/{}", self.new_exchange_id()),
            status: BulkStatus::InProgress,
            table_name: request.table_name,
            table_arn,
            table_id: table.record.id.clone(),
            client_token: request.client_token,
            input: request.input,
            output: request.output,
            started_millis: now,
            ended_millis: None,
            processed_items: 0,
            processed_bytes: 0,
            total_bytes: None,
            usage: BulkUsage::default(),
            failed_items: 0,
            failure: None,
            max_write_units: request.max_write_units,
            tier: request.tier,
        };
        BulkRecord::new(operation, table.name.to_string())
    }
}

/// Neither the table nor one of its indexes is being made.
fn check_is_steady(table: &Table) -> Result<(), Exception> {
    check_created(&table.record)?;
    match table.indexes.iter().find(|index| index.backfilling) {
        None => Ok(()),
        Some(index) => Err(Exception::new(
            ExceptionKind::ResourceInUseException,
            format!(
                "Attempt to change a resource which is still in use: Index is being created: {} of table {}",
                index.name, table.name
            ),
        )),
    }
}
