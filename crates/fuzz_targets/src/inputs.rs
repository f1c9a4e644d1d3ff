//! Shared parts of the fuzz targets: an item with a value of every type, placeholders, and invariants of items.

use partita_exchange::item_reader::{InputFormat, ItemReader, NextRecord, PutLine};
use partita_expression::{ExpressionNames, ExpressionValues};
use partita_partiql::{KeyPart, KeyParts};
use partita_value::{AttributeValue, Item, Number, ScalarType, Value};

/// Values of every type. `:a` is the first, `:b` the second and so on; statements take them as parameters.
pub fn values() -> Vec<AttributeValue> {
    let number = |value: u64| Number::from(value);
    let text = |text: &str| AttributeValue::S(text.to_owned());
    vec![
        text("abc"),
        AttributeValue::N(number(7)),
        AttributeValue::B(vec![0, 1, 255]),
        AttributeValue::Bool(true),
        AttributeValue::Null,
        AttributeValue::Ss(["abc", "x"].map(str::to_owned).into()),
        AttributeValue::Ns([number(7), number(100)].into()),
        AttributeValue::Bs([vec![0, 1, 255], Vec::new()].into()),
        AttributeValue::L(vec![text("abc"), AttributeValue::N(number(7)), AttributeValue::L(Vec::new())]),
        AttributeValue::M(
            [("a".to_owned(), text("b")), ("l".to_owned(), AttributeValue::L(vec![text("z")]))].into(),
        ),
    ]
}

/// The names of the values above, as attributes and as placeholders.
const LETTERS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// An item with the keys `pk` and `sk`, and an attribute of every type.
pub fn item() -> Item {
    let keys = [("pk", AttributeValue::S("abc".to_owned())), ("sk", AttributeValue::N(Number::from(7)))];
    keys.into_iter().chain(LETTERS.into_iter().zip(values())).collect()
}

pub fn key() -> KeyParts<'static> {
    KeyParts {
        partition: vec![KeyPart { name: "pk", kind: Some(ScalarType::S) }],
        sort: vec![KeyPart { name: "sk", kind: Some(ScalarType::N) }],
    }
}

pub fn expression_names() -> ExpressionNames {
    let mut names = ExpressionNames::new();
    LETTERS.into_iter().for_each(|letter| names.insert(&format!("#{letter}"), letter));
    names
}

pub fn expression_values() -> ExpressionValues {
    let mut bound = ExpressionValues::new();
    for (letter, value) in LETTERS.into_iter().zip(values()) {
        bound.insert(&format!(":{letter}"), Value::from(&value));
    }
    bound
}

/// Asserts that an item built from external input has canonical bytes and the right stored size.
pub fn assert_canonical(item: &Item) {
    let again: Item = item
        .view()
        .attributes()
        .into_iter()
        .map(|(name, value)| {
            (std::str::from_utf8(name).expect("names are UTF-8"), AttributeValue::from(value))
        })
        .collect();
    assert_eq!(&again, item, "the bytes are not canonical");
    assert_eq!(again.size(), item.size(), "the stored size is wrong");
}

/// Returns all puts of a file; invalid records are skipped.
pub fn puts(format: InputFormat, file: &[u8]) -> Vec<PutLine> {
    let mut reader = ItemReader::new(file, &format);
    let mut puts = Vec::new();
    loop {
        match reader.read() {
            Ok(NextRecord::Record(record)) => {
                assert!(reader.text().len() <= file.len());
                puts.extend(record.put);
            }
            Ok(NextRecord::Skipped(_)) => {}
            Ok(NextRecord::End) | Err(_) => return puts,
        }
    }
}

/// Splits an input into its first line, which selects how the rest is interpreted, and the rest.
pub fn split_first_line(input: &[u8]) -> (&[u8], &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    (&input[..end], input.get(end + 1..).unwrap_or_default())
}
