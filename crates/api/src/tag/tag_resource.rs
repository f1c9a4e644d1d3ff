//! TagResource: adds or replaces tags of a table.

use crate::table::Tag;

/// The request of TagResource.
#[derive(Clone, Debug)]
pub struct TagResource {
    /// The ARN of the table.
    pub arn: String,
    /// The tags to add or replace.
    pub tags: Vec<Tag>,
}

/// An empty body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagResourceOutput;
