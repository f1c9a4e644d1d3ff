//! ExecuteTransaction: statements as one read transaction or one write transaction.

use crate::Engine;
use crate::catalog::table::Table;
use crate::item::cancellation::{cancelled, cancelled_for};
use crate::item::transaction_write::{ReportedAction, check_total_size};
use crate::statement::statement_read::single_key;
use crate::statement::statement_write::{action, duplicate_item};
use partita_api::item::transact_get_items::TransactGet;
use partita_api::statement::execute_transaction::{
    ExecuteTransaction, ExecuteTransactionOutput, TransactStatement,
};
use partita_api::{Exception, ExceptionKind, messages};
use partita_partiql::Statement;
use partita_store::Store;
use std::sync::Arc;

const NO_KEY: &str =
    "Select statements within ExecuteTransaction must specify the primary key in the where clause.";

impl<S: Store> Engine<S> {
    pub async fn execute_transaction(
        &self,
        request: ExecuteTransaction,
    ) -> Result<ExecuteTransactionOutput, Exception> {
        match request.statements.iter().all(|one| one.statement.is_read()) {
            true => self.read_statements(request),
            false => self.write_statements(request).await,
        }
    }

    fn read_statements(&self, request: ExecuteTransaction) -> Result<ExecuteTransactionOutput, Exception> {
        let gets = self.each_with_table(request.statements, |table, one| match one.statement {
            Statement::Select(select) => {
                let key = single_key(table, &select, NO_KEY)?;
                Ok(TransactGet { table: select.table, key, projection: select.projection })
            }
            _ => Err(Exception::internal("A statement that reads was expected")),
        })?;
        let read = self.read_transaction(&gets, request.return_consumed_capacity)?;
        Ok(ExecuteTransactionOutput { responses: read.items, consumed_capacity: read.consumed_capacity })
    }

    async fn write_statements(
        &self,
        request: ExecuteTransaction,
    ) -> Result<ExecuteTransactionOutput, Exception> {
        let actions = self.each_with_table(request.statements, |table, one| {
            action(table, one.statement, one.return_item_on_condition_failure)
        })?;
        check_total_size(actions.iter().map(|action| &action.action))?;
        let inserts: Vec<bool> = actions.iter().map(|action| action.inserts).collect();
        let planned: Vec<_> = actions.into_iter().map(|action| self.plan_action(action.action)).collect();
        if planned.iter().any(Result::is_err) {
            return Err(cancelled(planned));
        }
        let writes: Vec<_> = planned.into_iter().flatten().collect();
        let reported =
            writes.iter().map(|write| ReportedAction { table: write.table.name.clone(), metrics_key: None });
        let reported = reported.collect();
        let written = self
            .write_transaction(
                writes,
                reported,
                request.client_request_token,
                request.return_consumed_capacity,
            )
            .await
            .map_err(|exception| as_duplicates(exception, &inserts))?;
        // AWS returns a response per item read, and nothing was read.
        Ok(ExecuteTransactionOutput { responses: Vec::new(), consumed_capacity: written.consumed_capacity })
    }

    /// Maps every statement and its table. A statement that fails is rejected by its number; if tables are missing, the
    /// transaction is cancelled.
    fn each_with_table<T>(
        &self,
        statements: Vec<TransactStatement>,
        map: impl Fn(&Arc<Table>, TransactStatement) -> Result<T, Exception>,
    ) -> Result<Vec<T>, Exception> {
        let mut mapped = Vec::with_capacity(statements.len());
        for (index, one) in statements.into_iter().enumerate() {
            mapped.push(match self.catalog.table(one.statement.table()) {
                Err(exception) => Err(exception),
                Ok(table) => Ok(map(&table, one).map_err(|exception| {
                    let message = messages::in_transact_statement(index, &exception.message);
                    Exception::new(exception.kind, message)
                })?),
            });
        }
        match mapped.iter().all(Result::is_ok) {
            true => Ok(mapped.into_iter().flatten().collect()),
            false => Err(cancelled(mapped)),
        }
    }
}

/// Turns the failed conditions of INSERTs into duplicates.
fn as_duplicates(exception: Exception, inserts: &[bool]) -> Exception {
    let Some(mut reasons) = exception.cancellation_reasons.clone() else { return exception };
    let failed = ExceptionKind::ConditionalCheckFailedException;
    for (reason, _) in reasons.iter_mut().zip(inserts).filter(|(_, inserts)| **inserts) {
        if reason.code == failed.reason_code() {
            let duplicate = duplicate_item(Exception::new(failed, ""));
            reason.code = duplicate.kind.reason_code();
            reason.message = Some(duplicate.message);
        }
    }
    cancelled_for(reasons)
}
