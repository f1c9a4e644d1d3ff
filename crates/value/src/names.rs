//! Names of tables and streams, and the ARNs that contain them.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The account that owns every local resource: the one in AWS's own examples.
pub const ACCOUNT_ID: &str = "123456789012";

/// A table's name: 3–255 of `[a-zA-Z0-9_.-]`. If the request gave an ARN instead, it is kept for the response, but
/// comparisons ignore it.
#[derive(Clone)]
pub struct TableName {
    name: Arc<str>,
    arn: Option<Arc<str>>,
}

impl TableName {
    /// Wraps a name that is already validated.
    pub fn new(name: &str) -> TableName {
        TableName { name: name.into(), arn: None }
    }

    /// Reads a name from a request: either a plain name or a table's ARN.
    pub fn from_request(name_or_arn: &str) -> TableName {
        match table_of_arn(name_or_arn) {
            Some(name) => TableName { name: name.into(), arn: Some(name_or_arn.into()) },
            None => TableName::new(name_or_arn),
        }
    }

    /// Returns the plain name.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Returns the name or ARN by which the request named the table.
    pub fn as_requested(&self) -> &str {
        self.arn.as_deref().unwrap_or(&self.name)
    }
}

impl PartialEq for TableName {
    fn eq(&self, other: &TableName) -> bool {
        self.name == other.name
    }
}

impl Eq for TableName {}

impl PartialOrd for TableName {
    fn partial_cmp(&self, other: &TableName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TableName {
    fn cmp(&self, other: &TableName) -> Ordering {
        self.name.cmp(&other.name)
    }
}

impl Hash for TableName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_requested(), f)
    }
}

/// Returns whether every character is allowed in a table or index name.
pub fn has_name_characters(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// Returns whether this is a valid table or index name.
pub fn is_resource_name(name: &str) -> bool {
    (3..=255).contains(&name.len()) && has_name_characters(name)
}

/// Returns the ARN of a table.
pub fn table_arn(region: &str, table: &str) -> String {
    format!("arn:aws:dynamodb:{region}:{ACCOUNT_ID}:table/{table}")
}

/// Returns the table that an ARN names; `None` for the ARN of an index, backup or stream.
pub fn table_of_arn(arn: &str) -> Option<&str> {
    let mut parts = arn.splitn(6, ':');
    let (prefix, _partition, service) = (parts.next()?, parts.next()?, parts.next()?);
    let resource = parts.nth(2)?;
    if prefix != "arn" || service != "dynamodb" {
        return None;
    }
    resource.strip_prefix("table/").filter(|name| !name.contains('/'))
}

/// A stream's name: its table and its label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamName {
    /// The name of the table.
    pub table: String,
    /// The time at which the stream was enabled, as text.
    pub label: String,
}

impl StreamName {
    /// Returns the stream that an ARN names.
    pub fn from_arn(arn: &str) -> Option<StreamName> {
        // A label contains colons, a table's name does not.
        let (table, label) = arn.split_once("/stream/")?;
        let table = table_of_arn(table).filter(|name| is_resource_name(name))?;
        let is_label =
            !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"-:.".contains(&b));
        is_label.then(|| StreamName { table: table.to_owned(), label: label.to_owned() })
    }

    /// Returns the stream's ARN.
    pub fn arn(&self, region: &str) -> String {
        format!("{}/stream/{}", table_arn(region, &self.table), self.label)
    }
}

/// Returns the account in an ARN.
pub fn account_of_arn(arn: &str) -> Option<&str> {
    arn.split(':').nth(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arns_of_indexes_and_backups_name_no_table() {
        let arn = table_arn("eu-west-1", "Orders");
        assert_eq!(table_of_arn(&arn), Some("Orders"));
        for part in ["/index/byDate", "/backup/01234567890123-01234567", "/"] {
            assert_eq!(table_of_arn(&format!("{arn}{part}")), None, "{part}");
        }
    }

    #[test]
    fn an_arn_is_kept_but_ignored_in_comparisons() {
        let arn = table_arn("eu-west-1", "Orders");
        let (with_arn, plain) = (TableName::from_request(&arn), TableName::from_request("Orders"));
        assert_eq!(with_arn, plain);
        assert_eq!((with_arn.as_str(), with_arn.as_requested()), ("Orders", arn.as_str()));
        assert_eq!((plain.as_str(), plain.as_requested()), ("Orders", "Orders"));
    }

    #[test]
    fn stream_arns_are_written_and_parsed() {
        let name = StreamName { table: "Orders".into(), label: "2026-11-15T18:44:54.123".into() };
        let arn = name.arn("eu-west-1");
        assert_eq!(
            arn,
            "arn:aws:dynamodb:eu-west-1:123456789012:table/Orders/stream/2026-11-15T18:44:54.123"
        );
        assert_eq!(StreamName::from_arn(&arn), Some(name));
    }

    #[test]
    fn other_arns_name_no_stream() {
        for arn in [
            "",
            "stream",
            "arn:aws:dynamodb:us-east-1:123456789012:table/Orders",
            "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/stream/",
            "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/index/a/stream",
            "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/stream/a/b",
            "arn:aws:kinesis:us-east-1:123456789012:table/Orders/stream/2026-11-15T18:44:54.123",
            "arn:aws:dynamodb:us-east-1:123456789012:table/O!/stream/2026-11-15T18:44:54.123",
        ] {
            assert_eq!(StreamName::from_arn(arn), None, "{arn}");
        }
    }
}
