//! Names that passed AWS's rules, as types of their own.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The account every local resource belongs to: the one of AWS's own examples.
pub const ACCOUNT_ID: &str = "123456789012";

/// A table's name: 3–255 of `[a-zA-Z0-9_.-]`. Where a request has an ARN in its place, that is remembered for the answer;
/// it is the same name all the same.
#[derive(Clone)]
pub struct TableName {
    name: Arc<str>,
    arn: Option<Arc<str>>,
}

impl TableName {
    /// Takes a name that was checked already.
    pub fn new(name: &str) -> TableName {
        TableName { name: name.into(), arn: None }
    }

    /// A name as a request has it: by itself or in a table's ARN.
    pub fn as_sent(sent: &str) -> TableName {
        match table_of_arn(sent) {
            Some(name) => TableName { name: name.into(), arn: Some(sent.into()) },
            None => TableName::new(sent),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// What the request called the table.
    pub fn sent(&self) -> &str {
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
        fmt::Debug::fmt(self.sent(), f)
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

/// The table that an ARN names: not an index, a backup or a stream of it.
pub fn table_of_arn(arn: &str) -> Option<&str> {
    let mut parts = arn.splitn(6, ':');
    let (prefix, _partition, service) = (parts.next()?, parts.next()?, parts.next()?);
    let resource = parts.nth(2)?;
    if prefix != "arn" || service != "dynamodb" {
        return None;
    }
    resource.strip_prefix("table/").filter(|name| !name.contains('/'))
}

/// A stream's name: its table's, and the moment it was enabled as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamName {
    pub table: String,
    pub label: String,
}

impl StreamName {
    /// The stream that a stream ARN names.
    pub fn of_arn(arn: &str) -> Option<StreamName> {
        // A label has colons, a table's name has none.
        let (table, label) = arn.split_once("/stream/")?;
        let table = table_of_arn(table).filter(|name| is_resource_name(name))?;
        let is_label =
            !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"-:.".contains(&b));
        is_label.then(|| StreamName { table: table.to_owned(), label: label.to_owned() })
    }

    pub fn arn(&self, region: &str) -> String {
        format!("{}/stream/{}", table_arn(region, &self.table), self.label)
    }
}

/// The account inside an ARN.
pub fn account_of_arn(arn: &str) -> Option<&str> {
    arn.split(':').nth(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_table_is_no_table() {
        let arn = table_arn("eu-west-1", "Orders");
        assert_eq!(table_of_arn(&arn), Some("Orders"));
        for part in ["/index/byDate", "/backup/01234567890123-01234567", "/"] {
            assert_eq!(table_of_arn(&format!("{arn}{part}")), None, "{part}");
        }
    }

    #[test]
    fn an_arn_is_remembered_and_is_the_same_name() {
        let arn = table_arn("eu-west-1", "Orders");
        let (sent, plain) = (TableName::as_sent(&arn), TableName::as_sent("Orders"));
        assert_eq!(sent, plain);
        assert_eq!((sent.as_str(), sent.sent()), ("Orders", arn.as_str()));
        assert_eq!((plain.as_str(), plain.sent()), ("Orders", "Orders"));
    }

    #[test]
    fn streams_are_named_by_their_arns() {
        let name = StreamName { table: "Orders".into(), label: "2026-11-15T18:44:54.123".into() };
        let arn = name.arn("eu-west-1");
        assert_eq!(
            arn,
            "arn:aws:dynamodb:eu-west-1:123456789012:table/Orders/stream/2026-11-15T18:44:54.123"
        );
        assert_eq!(StreamName::of_arn(&arn), Some(name));
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
            assert_eq!(StreamName::of_arn(arn), None, "{arn}");
        }
    }
}
