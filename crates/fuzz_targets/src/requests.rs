//! Bodies of all operations: the first line names the operation, the rest is JSON.

use crate::inputs::{assert_canonical, chosen};
use partita_api::item::get_item::GetItemOutput;
use partita_api::{Operation, Request, Response};
use partita_wire::{Rejection, decode, encode, is_json};

pub fn run(input: &[u8]) {
    let (name, body) = chosen(input);
    let named = std::str::from_utf8(name).ok().and_then(Operation::from_name);
    let any = name.iter().map(|byte| usize::from(*byte)).sum::<usize>() % Operation::ALL.len();
    let operation = named.unwrap_or(Operation::ALL[any]);
    match decode(operation, body) {
        Ok(Request::PutItem(put)) => {
            assert!(is_json(body));
            assert_canonical(&put.item);
            read_again(put.item);
        }
        Ok(_) => assert!(is_json(body)),
        Err(Rejection::Malformed(_)) => assert!(!is_json(body)),
        Err(Rejection::Invalid(_)) => {}
    }
}

/// What an answer tells of an item is that item.
fn read_again(item: partita_value::Item) {
    let answer =
        encode(&Response::GetItem(GetItemOutput { item: Some(item.clone()), ..GetItemOutput::default() }));
    let body = [br#"{"TableName":"Table","#, &answer[1..]].concat();
    match decode(Operation::PutItem, &body) {
        Ok(Request::PutItem(again)) => assert_eq!(again.item, item),
        other => panic!("an answer's item is refused: {other:?}"),
    }
}
