//! ListTagsOfResource: a table's tags, ten a page.

use crate::Engine;
use partita_api::list_tags_of_resource::*;
use partita_api::table::Tag;
use partita_api::{Exception, Operation};
use partita_store::Store;
use std::ops::Bound;

const PAGE: usize = 10;

impl<S: Store> Engine<S> {
    /// The token of the next page is the last key shown.
    pub fn list_tags_of_resource(
        &self,
        request: &ListTagsOfResource,
    ) -> Result<ListTagsOfResourceOutput, Exception> {
        let name = self.tagged_table(Operation::ListTagsOfResource, &request.arn)?;
        let table = self.catalog.named_table(&name)?;
        let start = request.next_token.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = table.record.tags.range::<str, _>((start, Bound::Unbounded));
        let tags: Vec<Tag> = rest
            .by_ref()
            .take(PAGE)
            .map(|(key, value)| Tag { key: key.clone(), value: value.clone() })
            .collect();
        let next_token = rest.next().and(tags.last().map(|tag| tag.key.clone()));
        Ok(ListTagsOfResourceOutput { tags, next_token })
    }
}
