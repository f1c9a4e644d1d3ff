//! ExecuteTransaction: statements as one TransactGetItems or one TransactWriteItems.

use crate::Engine;
use crate::catalog::table::Table;
use crate::item::transact_write_items::{NamedWrite, cancellation, cancelled, check_total_size};
use crate::statement::statement_read::single_key;
use crate::statement::statement_write::{action, duplicate_item};
use partita_api::item::transact_get_items::{TransactGet, TransactGetItems};
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
            true => self.read_statements(request).await,
            false => self.write_statements(request).await,
        }
    }

    async fn read_statements(
        &self,
        request: ExecuteTransaction,
    ) -> Result<ExecuteTransactionOutput, Exception> {
        let gets = self.each_with_table(request.statements, |table, one| match one.statement {
            Statement::Select(select) => {
                let key = single_key(table, &select, NO_KEY)?;
                Ok(TransactGet { table: select.table, key, projection: select.projection })
            }
            _ => Err(Exception::internal("A statement that reads was expected")),
        })?;
        let return_consumed_capacity = request.return_consumed_capacity;
        let output = self.transact_get_items(TransactGetItems { gets, return_consumed_capacity }).await?;
        Ok(ExecuteTransactionOutput {
            responses: output.responses,
            consumed_capacity: output.consumed_capacity,
        })
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
        let named =
            writes.iter().map(|write| NamedWrite { table: write.table.name.clone(), metrics_of: None });
        let named = named.collect();
        let written = self
            .write_transaction(writes, named, request.client_request_token, request.return_consumed_capacity)
            .await
            .map_err(|exception| told_as_duplicates(exception, &inserts))?;
        // AWS has a response per item read, and nothing was.
        Ok(ExecuteTransactionOutput { responses: Vec::new(), consumed_capacity: written.consumed_capacity })
    }

    /// Makes something of every statement. One that means no single item is refused by its number; where tables are
    /// missing, the transaction is cancelled.
    fn each_with_table<T>(
        &self,
        statements: Vec<TransactStatement>,
        make: impl Fn(&Arc<Table>, TransactStatement) -> Result<T, Exception>,
    ) -> Result<Vec<T>, Exception> {
        let mut made = Vec::with_capacity(statements.len());
        for (index, one) in statements.into_iter().enumerate() {
            made.push(match self.catalog.table(one.statement.table()) {
                Err(exception) => Err(exception),
                Ok(table) => Ok(make(&table, one).map_err(|exception| {
                    let message = messages::in_transact_statement(index, &exception.message);
                    Exception::new(exception.kind, message)
                })?),
            });
        }
        match made.iter().all(Result::is_ok) {
            true => Ok(made.into_iter().flatten().collect()),
            false => Err(cancelled(made)),
        }
    }
}

/// Reasons that are conditions of INSERTs become those of duplicates.
fn told_as_duplicates(exception: Exception, inserts: &[bool]) -> Exception {
    let Some(mut reasons) = exception.cancellation_reasons.clone() else { return exception };
    let failed = ExceptionKind::ConditionalCheckFailedException;
    for (reason, _) in reasons.iter_mut().zip(inserts).filter(|(_, inserts)| **inserts) {
        if reason.code == failed.reason_code() {
            let duplicate = duplicate_item(Exception::new(failed, ""));
            reason.code = duplicate.kind.reason_code();
            reason.message = Some(duplicate.message);
        }
    }
    cancellation(reasons)
}
