//! The table that the ARN of a tag operation names.

use crate::Engine;
use partita_api::{Exception, ExceptionKind, Operation, messages};
use partita_store::Store;
use partita_value::names::{ACCOUNT_ID, TableName, account_of_arn, table_of_arn};

impl<S: Store> Engine<S> {
    /// Finds the table of an ARN. Access to tables of other accounts is denied.
    pub(crate) fn tagged_table(&self, action: Operation, arn: &str) -> Result<TableName, Exception> {
        if account_of_arn(arn).is_some_and(|account| account != ACCOUNT_ID) {
            return Err(Exception::new(
                ExceptionKind::AccessDeniedException,
                format!(
                    "User: arn:aws:iam::{ACCOUNT_ID}:root is not authorized to perform: dynamodb:{} on resource: {arn} because no resource-based policy allows the dynamodb:{} action",
                    action.name(),
                    action.name()
                ),
            ));
        }
        let missing = || match action {
            Operation::UntagResource => Exception::resource_not_found(messages::TABLE_NOT_FOUND),
            _ => Exception::resource_not_found(format!(
                "{}: ResourcArn: {arn} not found",
                messages::TABLE_NOT_FOUND
            )),
        };
        let name = table_of_arn(arn).ok_or_else(missing)?;
        self.catalog.find(name).map(|table| table.name.clone()).ok_or_else(missing)
    }
}
