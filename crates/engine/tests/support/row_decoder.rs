//! Prints stored rows decoded, for golden scripts. The layout of keys is documented in `key/stored_key.rs`.
//!
//! A key holds hashes of key values, so a [`RowDecoder`] learns while it reads: what each space holds from the catalog's
//! records, and the key values behind a hash from the rows that contain them. Every key of an item, index entry or expiry
//! entry is computed again from the row's value and compared.

use partita_api::key_schema::{KeyAttribute, KeySchema};
use partita_store::{Counters, Write};
use partita_value::{ItemRef, ValueRef, ordered_key};
use serde_json::Value;
use std::collections::HashMap;

const CATALOG: u32 = 0;
const COUNTERS: u32 = 1;
const CURSORS: u32 = 2;
const TOKENS: u32 = 3;
const TOKEN_TIMES: u32 = 4;
const SEQUENCES: u32 = 5;
const EXCHANGE: u32 = 6;

const EXCHANGE_KINDS: [&str; 10] = [
    "Export",
    "Import",
    "Token",
    "BulkOperation",
    "BulkCancellation",
    "Backup",
    "Restore",
    "Progress",
    "DataFile",
    "Report",
];
const EVENTS: [&str; 4] = ["Insert", "Modify", "Remove", "Expire"];

/// What the rows of a space are.
#[derive(Clone)]
enum Contents {
    Items,
    IndexEntries(KeySchema),
    Collections,
    Expiries,
    Changes,
    Past,
}

#[derive(Clone)]
struct SpaceInfo {
    /// The table, `table.index`, or `table/label` of a stream.
    name: String,
    contents: Contents,
    /// The key of the table.
    key: KeySchema,
    /// The space of the table's items.
    items: u32,
}

#[derive(Default)]
pub struct RowDecoder {
    spaces: HashMap<u32, SpaceInfo>,
    /// The printed form of hashed keys, by their stored form.
    names: HashMap<Vec<u8>, String>,
    client_tokens: HashMap<[u8; 16], String>,
}

impl RowDecoder {
    /// Client tokens are stored as hashes only.
    pub fn learn_client_token(&mut self, token: &str) {
        let hash = ordered_key::token(std::iter::once(ValueRef::S(token.as_bytes())));
        self.client_tokens.insert(hash, format!("{token:?}"));
    }

    /// Prints the writes of one decision, a line for each.
    pub fn print<'a>(&mut self, writes: impl Iterator<Item = &'a Write> + Clone) -> Vec<String> {
        for write in writes.clone() {
            if let Write::Put { key, value } = write {
                self.learn_spaces(key, value);
            }
        }
        writes.map(|write| self.print_write(write)).collect()
    }

    fn print_write(&mut self, write: &Write) -> String {
        match write {
            Write::Put { key, value } => {
                let text = self.value(key, value);
                let separator = if text.is_empty() { "" } else { " " };
                format!("+ {}{separator}{text}", self.key(key))
            }
            Write::Delete { key } => format!("- {}", self.key(key)),
            Write::Count { key, add: Counters { rows, bytes } } => {
                format!("# {} rows {rows:+} bytes {bytes:+}", self.key(key))
            }
            Write::DropSpace(space) => format!("x all rows of {}", self.space_name(space.0)),
        }
    }

    fn learn_spaces(&mut self, key: &[u8], value: &[u8]) {
        let (CATALOG, [kind @ (1 | 3 | 4), ..]) = split_space(key) else { return };
        let record: Value = serde_json::from_slice(value).unwrap();
        match kind {
            1 => self.learn_table(&record),
            3 => {
                let name = format!("{}/{}", text(&record["table"]), text(&record["label"]));
                self.learn(&record["space"], name, Contents::Changes, schema(&record["key"]), 0);
            }
            _ => {
                let items = number(&record["items"]);
                let key = self.spaces[&items].key.clone();
                let name = text(&record["table"]).to_owned();
                self.learn(&record["space"], name, Contents::Past, key, items);
            }
        }
    }

    fn learn_table(&mut self, record: &Value) {
        let (name, key, items) = (text(&record["name"]), schema(&record["key"]), number(&record["space"]));
        let mut learn = |space: &Value, name: String, contents| {
            self.learn(space, name, contents, key.clone(), items);
        };
        learn(&record["space"], name.to_owned(), Contents::Items);
        for index in
            ["local_indexes", "global_indexes"].iter().flat_map(|kind| record[kind].as_array().unwrap())
        {
            let definition = &index["definition"];
            let contents = Contents::IndexEntries(schema(&definition["key"]));
            learn(&index["space"], format!("{name}.{}", text(&definition["name"])), contents);
        }
        learn(&record["collections"], name.to_owned(), Contents::Collections);
        learn(&record["time_to_live"]["space"], name.to_owned(), Contents::Expiries);
    }

    fn learn(&mut self, space: &Value, name: String, contents: Contents, key: KeySchema, items: u32) {
        if !space.is_null() {
            self.spaces.insert(number(space), SpaceInfo { name, contents, key, items });
        }
    }

    fn space_name(&self, space: u32) -> String {
        let Some(SpaceInfo { name, contents, .. }) = self.spaces.get(&space) else {
            return space.to_string();
        };
        match contents {
            Contents::Items => format!("table {name}"),
            Contents::IndexEntries(_) => format!("index {name}"),
            Contents::Collections => format!("collections of {name}"),
            Contents::Expiries => format!("expiry of {name}"),
            Contents::Changes => format!("stream {name}"),
            Contents::Past => format!("history of {name}"),
        }
    }

    fn key(&self, key: &[u8]) -> String {
        let (space, rest) = split_space(key);
        let side_row = |name: &str| format!("{name} of {}", self.space_name(leading_u32(rest)));
        match space {
            CATALOG => self.catalog_key(rest),
            COUNTERS => side_row("Counters"),
            CURSORS => side_row("BackfillCursor"),
            TOKENS => format!("ClientToken {}", self.client_token(rest)),
            TOKEN_TIMES => {
                let (at, hash) = rest.split_first_chunk().unwrap();
                format!("ClientTokenTime {} {}", u64::from_be_bytes(*at), self.client_token(hash))
            }
            // Tables with a history have the last moment there.
            SEQUENCES => match self.spaces[&leading_u32(rest)].contents {
                Contents::Items => side_row("LastMoment"),
                _ => side_row("NextSequence"),
            },
            EXCHANGE => {
                let (kind, id) = rest.split_first().unwrap();
                let id = std::str::from_utf8(id).map_or_else(|_| hex(id), mask_ids);
                format!("{} {id}", EXCHANGE_KINDS[usize::from(*kind) - 1])
            }
            _ => self.space_key(space, key, rest),
        }
    }

    fn catalog_key(&self, rest: &[u8]) -> String {
        let (kind, rest) = rest.split_first().unwrap();
        let name = || &self.spaces[&leading_u32(rest)].name;
        match kind {
            1 => format!("TableRecord {:?}", std::str::from_utf8(rest).unwrap()),
            2 => "NextSpace".to_owned(),
            3 => format!("Stream {}", name()),
            4 => format!("History {}", name()),
            _ => panic!("a catalog row of kind {kind}"),
        }
    }

    fn client_token(&self, hash: &[u8]) -> String {
        self.client_tokens.get(hash).cloned().unwrap_or_else(|| hex(hash))
    }

    /// The key of a row of a table or of what belongs to one.
    fn space_key(&self, space: u32, key: &[u8], rest: &[u8]) -> String {
        let SpaceInfo { name, contents, items, .. } = &self.spaces[&space];
        let known = |key: &[u8]| self.names.get(key).cloned().unwrap_or_else(|| hex(key));
        match contents {
            Contents::Items => format!("Item {name} {}", known(key)),
            Contents::IndexEntries(_) => format!("IndexEntry {name} {}", known(key)),
            Contents::Collections => format!("Collection {name} {}", known(&in_space(*items, rest))),
            Contents::Expiries => {
                let (at, _) = rest.split_first_chunk().unwrap();
                format!("Expiry {name} {} → {}", u64::from_be_bytes(*at), known(key))
            }
            Contents::Changes => {
                let (shard, sequence) = rest.split_first_chunk().unwrap();
                let shard = u32::from_be_bytes(*shard);
                match sequence.first_chunk() {
                    None => format!("ShardTrim {name} shard {shard}"),
                    Some(sequence) => {
                        let sequence = u64::from_be_bytes(*sequence);
                        format!("ChangeRecord {name} shard {shard} sequence {sequence}")
                    }
                }
            }
            Contents::Past => {
                let (item, moment) = rest.split_last_chunk().unwrap();
                let item = known(&in_space(*items, item));
                format!("Past {name} {item} before {}", u64::from_be_bytes(*moment))
            }
        }
    }

    /// Prints a value, and learns the key values that its key has as hashes.
    fn value(&mut self, key: &[u8], value: &[u8]) -> String {
        let (space, rest) = split_space(key);
        match space {
            CATALOG if rest == [2] => leading_u32(value).to_string(),
            CATALOG | EXCHANGE => mask_ids(std::str::from_utf8(value).unwrap()),
            CURSORS => format!("→ {}", self.key(value)),
            TOKENS => format!("until {}", leading_u64(value)),
            TOKEN_TIMES => String::new(),
            SEQUENCES => leading_u64(value).to_string(),
            _ => self.space_value(space, key, value),
        }
    }

    fn space_value(&mut self, space: u32, key: &[u8], value: &[u8]) -> String {
        let info = self.spaces[&space].clone();
        let (_, rest) = split_space(key);
        match &info.contents {
            Contents::Items => {
                self.learn_item(space, &info.key, key, value);
                item_json(value)
            }
            Contents::IndexEntries(schema) => {
                self.learn_entry(space, schema, &info.key, key, value);
                item_json(value)
            }
            Contents::Collections => leading_u64(value).to_string(),
            Contents::Expiries => {
                let identity = token(info.key.attributes(), value);
                assert_eq!(rest[8..], identity, "an expiry entry is stored under another key");
                self.names.insert(key.to_vec(), key_values(info.key.attributes(), value));
                String::new()
            }
            Contents::Changes if rest.len() == 4 => format!("through {}", leading_u64(value)),
            Contents::Changes => change_record(value),
            Contents::Past => match value {
                [0] => "absent".to_owned(),
                [1, item @ ..] => item_json(item),
                _ => "unreadable".to_owned(),
            },
        }
    }

    fn learn_item(&mut self, space: u32, schema: &KeySchema, key: &[u8], item: &[u8]) {
        let partition = in_space(space, &token(schema.partition.iter(), item));
        let mut expected = partition.clone();
        append_sort(schema, item, &mut expected);
        assert_eq!(key, expected, "an item is stored under another key");
        self.names.insert(key.to_vec(), key_values(schema.attributes(), item));
        // Collections are stored by partition.
        self.names.entry(partition).or_insert_with(|| key_values(schema.partition.iter(), item));
    }

    fn learn_entry(&mut self, space: u32, schema: &KeySchema, table: &KeySchema, key: &[u8], item: &[u8]) {
        let mut expected = in_space(space, &token(schema.partition.iter(), item));
        append_sort(schema, item, &mut expected);
        expected.extend(token(table.attributes(), item));
        assert_eq!(key, expected, "an index entry is stored under another key");
        let (own, of_item) = (key_values(schema.attributes(), item), key_values(table.attributes(), item));
        self.names.insert(key.to_vec(), format!("{own} → {of_item}"));
    }
}

fn split_space(key: &[u8]) -> (u32, &[u8]) {
    let (space, rest) = key.split_first_chunk().unwrap();
    (u32::from_be_bytes(*space), rest)
}

fn in_space(space: u32, rest: &[u8]) -> Vec<u8> {
    [&space.to_be_bytes()[..], rest].concat()
}

fn leading_u32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(*bytes.first_chunk().unwrap())
}

fn leading_u64(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(*bytes.first_chunk().unwrap())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn number(value: &Value) -> u32 {
    value.as_u64().unwrap() as u32
}

fn schema(value: &Value) -> KeySchema {
    serde_json::from_value(value.clone()).unwrap()
}

fn token<'a>(attributes: impl Iterator<Item = &'a KeyAttribute>, item: &[u8]) -> [u8; 16] {
    let item = ItemRef::new(item).unwrap();
    ordered_key::token(attributes.map(|attribute| item.get(&attribute.name).unwrap()))
}

fn append_sort(schema: &KeySchema, item: &[u8], key: &mut Vec<u8>) {
    let item = ItemRef::new(item).unwrap();
    schema.sort.iter().for_each(|attribute| ordered_key::write(item.get(&attribute.name).unwrap(), key));
}

/// `PK="USER#1" SK=7`.
fn key_values<'a>(attributes: impl Iterator<Item = &'a KeyAttribute>, item: &[u8]) -> String {
    let item = ItemRef::new(item).unwrap();
    let value = |attribute: &KeyAttribute| match item.get(&attribute.name).unwrap() {
        ValueRef::S(text) => format!("{:?}", std::str::from_utf8(text).unwrap()),
        ValueRef::B(bytes) => format!("0x{}", hex(bytes)),
        number => number.as_number().unwrap().to_string(),
    };
    let pairs: Vec<_> =
        attributes.map(|attribute| format!("{}={}", attribute.name, value(attribute))).collect();
    pairs.join(" ")
}

fn item_json(bytes: &[u8]) -> String {
    let mut line = Vec::new();
    partita_wire::encode_item_line(ItemRef::new(bytes).unwrap(), &mut line);
    let line = String::from_utf8(line).unwrap();
    line.trim_end().strip_prefix(r#"{"Item":"#).unwrap().strip_suffix('}').unwrap().to_owned()
}

/// The time in milliseconds, the event, and three items, each of which may be absent.
fn change_record(row: &[u8]) -> String {
    let mut printed = format!("at {} {}", leading_u64(row), EVENTS[usize::from(row[8]) - 1]);
    let mut rest = &row[9..];
    for name in ["keys", "new", "old"] {
        let (item, after) = rest[4..].split_at(leading_u32(rest) as usize);
        if !item.is_empty() {
            printed += &format!(" {name} {}", item_json(item));
        }
        rest = after;
    }
    printed
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Replaces ids, which are random: UUIDs, and a time with eight random digits.
pub fn mask_ids(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match ["hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", "dddddddddddddd-hhhhhhhh"]
            .iter()
            .find(|shape| has_shape(rest, shape))
        {
            Some(shape) => {
                masked.push('…');
                rest = &rest[shape.len()..];
            }
            None => {
                masked.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    masked
}

fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(byte, kind): (u8, u8)| match kind {
        b'd' => byte.is_ascii_digit(),
        b'h' => byte.is_ascii_hexdigit(),
        exact => byte == exact,
    };
    text.len() >= shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}
