//! Names that passed AWS's rules, as types of their own.

use std::fmt;
use std::sync::Arc;

/// The account every local resource belongs to: the one of AWS's own examples.
pub const ACCOUNT_ID: &str = "123456789012";

/// A table's name: 3–255 of `[a-zA-Z0-9_.-]`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName(Arc<str>);

impl TableName {
    /// Takes a name that was checked already.
    pub fn new(name: &str) -> TableName {
        TableName(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Whether every character may stand in a table or index name.
pub fn has_name_characters(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// Whether this may be a table's or an index's name.
pub fn is_resource_name(name: &str) -> bool {
    (3..=255).contains(&name.len()) && has_name_characters(name)
}

/// The ARN of a table.
pub fn table_arn(region: &str, table: &str) -> String {
    format!("arn:aws:dynamodb:{region}:{ACCOUNT_ID}:table/{table}")
}

/// The table's name inside a table or index ARN.
pub fn table_of_arn(arn: &str) -> Option<&str> {
    let mut parts = arn.splitn(6, ':');
    let (prefix, _partition, service) = (parts.next()?, parts.next()?, parts.next()?);
    let resource = parts.nth(2)?;
    if prefix != "arn" || service != "dynamodb" {
        return None;
    }
    resource.strip_prefix("table/")?.split('/').next()
}

/// The account inside an ARN.
pub fn account_of_arn(arn: &str) -> Option<&str> {
    arn.split(':').nth(4)
}
