//! Bodies of all operations: the first line is the operation's name, the rest is JSON.

use crate::inputs::{assert_canonical, split_first_line};
use partita_api::item::get_item::GetItemOutput;
use partita_api::{Operation, Request, Response};
use partita_wire::{Rejection, decode, encode, is_json};

pub fn run(input: &[u8]) {
    let (name, body) = split_first_line(input);
    let named = std::str::from_utf8(name).ok().and_then(Operation::from_name);
    let any = name.iter().map(|byte| usize::from(*byte)).sum::<usize>() % Operation::ALL.len();
    let operation = named.unwrap_or(Operation::ALL[any]);
    match decode(operation, body) {
        Ok(Request::PutItem(put)) => {
            assert!(is_json(body));
            assert_canonical(&put.item);
            assert_round_trip(put.item);
        }
        Ok(_) => assert!(is_json(body)),
        Err(Rejection::Malformed(_)) => assert!(!is_json(body)),
        Err(Rejection::Invalid(_)) => {}
    }
}

/// Asserts that an item survives a round trip through a response.
fn assert_round_trip(item: partita_value::Item) {
    let response =
        encode(&Response::GetItem(GetItemOutput { item: Some(item.clone()), ..GetItemOutput::default() }));
    let body = [br#"{"TableName":"Table","#, &response[1..]].concat();
    match decode(Operation::PutItem, &body) {
        Ok(Request::PutItem(again)) => assert_eq!(again.item, item),
        other => panic!("the item of a response is rejected: {other:?}"),
    }
}
