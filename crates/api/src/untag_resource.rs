//! UntagResource: removes tags of a table.

#[derive(Clone, Debug)]
pub struct UntagResource {
    pub arn: String,
    pub keys: Vec<String>,
}
