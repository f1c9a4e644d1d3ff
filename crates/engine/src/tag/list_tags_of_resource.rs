//! ListTagsOfResource: a table's tags, all of them in one page.

use crate::Engine;
use partita_api::table::Tag;
use partita_api::tag::list_tags_of_resource::*;
use partita_api::{Exception, Operation};
use partita_store::Store;
use std::ops::Bound;

impl<S: Store> Engine<S> {
    /// A token is the last key shown; there is never more to show, but a client may keep one.
    pub async fn list_tags_of_resource(
        &self,
        request: ListTagsOfResource,
    ) -> Result<ListTagsOfResourceOutput, Exception> {
        let name = self.tagged_table(Operation::ListTagsOfResource, &request.arn)?;
        let table = self.catalog.named_table(&name)?;
        let start = request.next_token.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let rest = table.record.tags.range::<str, _>((start, Bound::Unbounded));
        let tags = rest.map(|(key, value)| Tag { key: key.clone(), value: value.clone() }).collect();
        Ok(ListTagsOfResourceOutput { tags, next_token: None })
    }
}
