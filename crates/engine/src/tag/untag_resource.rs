//! UntagResource: removes tags from a table's record.

use crate::Engine;
use crate::catalog::change_table::SideWrites;
use crate::catalog::table::TableRecord;
use partita_api::tag::untag_resource::{UntagResource, UntagResourceOutput};
use partita_api::{Exception, Operation};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn untag_resource(&self, request: UntagResource) -> Result<UntagResourceOutput, Exception> {
        let table = self.tagged_table(Operation::UntagResource, &request.arn)?;
        let change = move |record: &mut TableRecord, _: &mut _| {
            record.tags.retain(|key, _| !request.keys.contains(key));
            Ok(SideWrites::default())
        };
        self.change_table(&table, change).await?;
        Ok(UntagResourceOutput)
    }
}
