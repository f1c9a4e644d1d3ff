//! ListTagsOfResource: the tags of a table, a page at a time.

use crate::table::Tag;

#[derive(Clone, Debug)]
pub struct ListTagsOfResource {
    pub arn: String,
    pub next_token: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTagsOfResourceOutput {
    pub tags: Vec<Tag>,
    pub next_token: Option<String>,
}
