//! BatchExecuteStatement: several statements, of which each succeeds or fails on its own.

use crate::Engine;
use crate::capacity::table_consumption::PerTable;
use crate::statement::statement_read::single_key;
use crate::statement::statement_write::duplicate_item;
use crate::write::ItemWrite;
use partita_api::Exception;
use partita_api::capacity::ReturnConsumedCapacity;
use partita_api::item::get_item::GetItem;
use partita_api::statement::batch_execute_statement::{
    BatchExecuteStatement, BatchExecuteStatementOutput, BatchStatement, BatchStatementResponse,
};
use partita_partiql::{Select, Statement};
use partita_store::Store;

const NO_KEY: &str =
    "Select statements within BatchExecuteStatement must specify the primary key in the where clause.";

/// A write of one statement that waits for its turn.
struct Waiting {
    /// Which statement.
    number: usize,
    write: ItemWrite,
    inserts: bool,
}

impl<S: Store> Engine<S> {
    pub async fn batch_execute_statement(
        &self,
        request: BatchExecuteStatement,
    ) -> Result<BatchExecuteStatementOutput, Exception> {
        let mut responses = vec![BatchStatementResponse::default(); request.statements.len()];
        let mut consumed = PerTable::default();
        let mut waiting: Vec<Waiting> = Vec::new();
        for (number, sent) in request.statements.into_iter().enumerate() {
            match sent {
                BatchStatement { statement: Ok(Statement::Select(select)), consistent_read, .. } => {
                    let read = self.select_one(select, consistent_read, &mut consumed);
                    responses[number] = read.unwrap_or_else(failed);
                }
                BatchStatement { statement, return_item_on_condition_failure, .. } => {
                    let planned = statement.and_then(|statement| {
                        let planned = self.single_action(statement, return_item_on_condition_failure)?;
                        let write = self.plan_action(planned.action)?;
                        Ok(Waiting { number, write, inserts: planned.inserts })
                    });
                    match planned {
                        Ok(write) => waiting.push(write),
                        Err(exception) => responses[number] = failed(exception),
                    }
                }
            }
        }
        while !waiting.is_empty() {
            waiting = self.write_first_of_each_item(waiting, &mut responses, &mut consumed).await?;
        }
        let consumed_capacity = consumed.report(request.return_consumed_capacity, None);
        Ok(BatchExecuteStatementOutput { responses, consumed_capacity })
    }

    fn select_one(
        &self,
        select: Select,
        consistent_read: bool,
        consumed: &mut PerTable,
    ) -> Result<BatchStatementResponse, Exception> {
        let key = single_key(&*self.catalog.table(&select.table)?, &select, NO_KEY)?;
        let table = select.table.clone();
        let (item, consumption) = self.read_one(&GetItem {
            table: select.table,
            key,
            projection: select.projection,
            consistent_read,
            return_consumed_capacity: ReturnConsumedCapacity::None,
        })?;
        consumed.add(&table, consumption);
        Ok(BatchStatementResponse { table: Some(table), item, error: None })
    }

    /// Writes in one commit what does not touch the same item; the rest comes back, in order.
    async fn write_first_of_each_item(
        &self,
        waiting: Vec<Waiting>,
        responses: &mut [BatchStatementResponse],
        consumed: &mut PerTable,
    ) -> Result<Vec<Waiting>, Exception> {
        let mut now: Vec<Waiting> = Vec::new();
        let mut later = Vec::new();
        for one in waiting {
            match now.iter().any(|other| other.write.key.stored == one.write.key.stored) {
                true => later.push(one),
                false => now.push(one),
            }
        }
        let reports: Vec<_> =
            now.iter().map(|one| (one.number, one.write.table.clone(), one.inserts)).collect();
        let outcomes = self.write_each(now.into_iter().map(|one| one.write).collect()).await?;
        for ((number, table, inserts), outcome) in reports.into_iter().zip(outcomes) {
            let response = &mut responses[number];
            response.table = Some(table.name.clone());
            match outcome {
                Ok(outcome) => {
                    response.item = outcome.attributes;
                    consumed.add(&table.name, outcome.consumption);
                }
                Err(exception) if inserts => response.error = Some(duplicate_item(exception)),
                Err(exception) => response.error = Some(exception),
            }
        }
        Ok(later)
    }
}

/// A statement that did not get as far as its table.
fn failed(exception: Exception) -> BatchStatementResponse {
    BatchStatementResponse { error: Some(exception), ..BatchStatementResponse::default() }
}
