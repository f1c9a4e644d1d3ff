//! ExecuteStatement: executes one statement as the read or write it is equivalent to.

use crate::Engine;
use crate::statement::statement_write::duplicate_item;
use crate::write::write_report::ReportOptions;
use partita_api::Exception;
use partita_api::statement::execute_statement::{ExecuteStatement, ExecuteStatementOutput};
use partita_partiql::Statement;
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn execute_statement(
        &self,
        request: ExecuteStatement,
    ) -> Result<ExecuteStatementOutput, Exception> {
        if let Statement::Select(select) = &request.statement {
            return self.select(select, &request).await;
        }
        let options = ReportOptions {
            table: request.statement.table().clone(),
            capacity: request.return_consumed_capacity,
            metrics_key: None,
        };
        let planned = self.single_action(request.statement, request.return_item_on_condition_failure)?;
        let write = self.plan_action(planned.action)?;
        let written = self.write_and_report(write, options).await;
        let output = if planned.inserts { written.map_err(duplicate_item)? } else { written? };
        Ok(ExecuteStatementOutput {
            items: output.attributes.into_iter().collect(),
            consumed_capacity: output.consumed_capacity,
            ..ExecuteStatementOutput::default()
        })
    }
}
