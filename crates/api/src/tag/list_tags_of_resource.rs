//! ListTagsOfResource: the tags of a table, a page at a time.

use crate::table::Tag;

/// The request of ListTagsOfResource.
#[derive(Clone, Debug)]
pub struct ListTagsOfResource {
    /// The ARN of the table.
    pub arn: String,
    /// The token of the page.
    pub next_token: Option<String>,
}

/// The response to ListTagsOfResource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTagsOfResourceOutput {
    /// The tags.
    pub tags: Vec<Tag>,
    /// The token of the next page; `None` on the last one.
    pub next_token: Option<String>,
}
