//! UntagResource: removes tags of a table.

#[derive(Clone, Debug)]
pub struct UntagResource {
    pub arn: String,
    pub keys: Vec<String>,
}

/// An empty body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntagResourceOutput;
