//! Files of comma-separated values, with their own header and with a given one.
//!
//! Items are canonical and survive a round trip with all fields in quotes.

use crate::inputs::{assert_canonical, puts};
use partita_exchange::item_reader::InputFormat;
use partita_value::{Item, ScalarType, ValueRef};

const COLUMNS: [&str; 3] = ["id", "name", "note"];

pub fn run(input: &[u8]) {
    let Some((choice, file)) = input.split_first() else { return };
    let delimiter = b",\t;:| "[usize::from(*choice) % 6];
    let keys = vec![("id".to_owned(), ScalarType::N), ("b".to_owned(), ScalarType::B)];
    let format = |header| InputFormat::Csv { delimiter, header, keys: keys.clone() };
    for put in puts(format(None), file) {
        assert_canonical(&put.item);
    }
    let columns = || Some(COLUMNS.map(str::to_owned).to_vec());
    for put in puts(format(columns()), file) {
        assert_canonical(&put.item);
        let again: Vec<Item> =
            puts(format(columns()), &quoted(&put.item, delimiter)).into_iter().map(|put| put.item).collect();
        assert_eq!(again, [put.item]);
    }
}

/// Returns the record of an item, which may lack the last columns.
fn quoted(item: &Item, delimiter: u8) -> Vec<u8> {
    let mut line = Vec::new();
    for (number, value) in COLUMNS.iter().map_while(|column| item.get(column)).enumerate() {
        if number > 0 {
            line.push(delimiter);
        }
        let (ValueRef::S(text) | ValueRef::N(text)) = value else { panic!("no column has this type") };
        line.push(b'"');
        for byte in text {
            line.extend(std::iter::repeat_n(*byte, if *byte == b'"' { 2 } else { 1 }));
        }
        line.push(b'"');
    }
    line.push(b'\n');
    line
}
