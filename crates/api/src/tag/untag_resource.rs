//! UntagResource: removes tags from a table.

/// The request of UntagResource.
#[derive(Clone, Debug)]
pub struct UntagResource {
    /// The ARN of the table.
    pub arn: String,
    /// The keys of the tags to remove.
    pub keys: Vec<String>,
}

/// An empty body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntagResourceOutput;
