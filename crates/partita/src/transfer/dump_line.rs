//! The lines of a dump.

use serde_json::{Value, json};

const VERSION: u64 = 1;

pub enum Line {
    /// The first line of a dump. Files without one (an export's) contain items only.
    Head,
    /// A table's definition; its items follow.
    Table(Value),
    Item(Value),
    /// Rows that the database could not read.
    Damaged(Value),
    /// The last line: a dump without it was cut short.
    End,
    /// Found in files that were joined or edited; imports skip such lines, too.
    Blank,
}

pub fn head(source: &str) -> Vec<u8> {
    text(&json!({ "Dump": { "Version": VERSION, "Source": source } }))
}

pub fn table(definition: &Value) -> Vec<u8> {
    text(&json!({ "Table": definition }))
}

pub fn item(item: &Value) -> Vec<u8> {
    let mut line = b"{\"Item\":".to_vec();
    line.extend(item.to_string().into_bytes());
    line.extend(b"}\n");
    line
}

pub fn damaged(rows: &Value) -> Vec<u8> {
    text(&json!({ "Damaged": rows }))
}

pub fn end(tables: u64, items: u64) -> Vec<u8> {
    text(&json!({ "End": { "Tables": tables, "Items": items } }))
}

fn text(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

pub fn parse(line: &[u8]) -> Result<Line, String> {
    if line.trim_ascii().is_empty() {
        return Ok(Line::Blank);
    }
    let mut value: Value = serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    let mut take = |name: &str| value.as_object_mut().and_then(|members| members.remove(name));
    if let Some(item) = take("Item") {
        return Ok(Line::Item(item));
    }
    if let Some(table) = take("Table") {
        return Ok(Line::Table(table));
    }
    if let Some(head) = take("Dump") {
        return match head["Version"].as_u64() {
            Some(VERSION) => Ok(Line::Head),
            version => Err(format!("a dump of version {version:?}; this program reads version {VERSION}")),
        };
    }
    if let Some(rows) = take("Damaged") {
        return Ok(Line::Damaged(rows));
    }
    match take("End") {
        Some(_) => Ok(Line::End),
        None => Err("neither an item nor a table".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_are_recognized() {
        for line in [&b"\n"[..], b"\r\n", b" \t\n", b""] {
            assert!(matches!(parse(line), Ok(Line::Blank)), "{line:?}");
        }
        assert!(parse(b"x\n").is_err() && parse(b"{}\n").is_err());
    }
}
