//! TagResource: adds tags to a table's record.

use crate::Engine;
use crate::catalog::change_table::SideWrites;
use crate::catalog::table::TableRecord;
use partita_api::tag::tag_resource::{TagResource, TagResourceOutput};
use partita_api::{Exception, Operation, messages};
use partita_store::Store;
use partita_value::limits;

impl<S: Store> Engine<S> {
    pub async fn tag_resource(&self, request: TagResource) -> Result<TagResourceOutput, Exception> {
        let table = self.tagged_table(Operation::TagResource, &request.arn)?;
        let change = move |record: &mut TableRecord, _: &mut _| {
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
}
