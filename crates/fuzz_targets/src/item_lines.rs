//! Files of DynamoDB JSON: items are canonical and survive a round trip.

use crate::inputs::{assert_canonical, puts};
use partita_api::export::ExportFormat;
use partita_exchange::{item_reader::InputFormat, item_writer};

pub fn run(file: &[u8]) {
    for put in puts(InputFormat::DynamoDbJson, file) {
        assert_canonical(&put.item);
        let mut line = Vec::new();
        item_writer::write(ExportFormat::DynamoDbJson, put.item.view(), &mut line);
        let again: Vec<_> = puts(InputFormat::DynamoDbJson, &line).into_iter().map(|put| put.item).collect();
        assert_eq!(again, [put.item], "{}", String::from_utf8_lossy(&line));
    }
}
