//! TagResource: a table's tags are part of its record.

use crate::Engine;
use crate::catalog::change_table::SideWrites;
use partita_api::tag::tag_resource::{TagResource, TagResourceOutput};
use partita_api::{Exception, ExceptionKind, Operation, messages};
use partita_store::Store;
use partita_value::limits;
use partita_value::names::{ACCOUNT_ID, TableName, account_of_arn, table_of_arn};

impl<S: Store> Engine<S> {
    pub async fn tag_resource(&self, request: TagResource) -> Result<TagResourceOutput, Exception> {
        let table = self.tagged_table(Operation::TagResource, &request.arn)?;
        let change = move |record: &mut crate::catalog::table::TableRecord, _: &mut _| {
            for tag in &request.tags {
                record.tags.insert(tag.key.clone(), tag.value.clone());
            }
            if record.tags.len() > limits::TAGS {
                return Err(Exception::validation(messages::TOO_MANY_TAGS));
            }
            Ok(SideWrites::default())
        };
        self.change_table(&table, change).await?;
        Ok(TagResourceOutput)
    }

    /// The table that an ARN names. Nobody has a say over another account's.
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
