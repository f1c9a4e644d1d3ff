//! TagResource: adds or replaces tags of a table.

use crate::table::Tag;

#[derive(Clone, Debug)]
pub struct TagResource {
    pub arn: String,
    pub tags: Vec<Tag>,
}

/// An empty body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagResourceOutput;
