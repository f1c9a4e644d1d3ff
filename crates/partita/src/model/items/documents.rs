//! JSON documents as a stream of the items in them: a scan of any size is read without keeping more than one item.

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt::Formatter;
use std::io::{BufRead, Read};
use std::rc::Rc;

/// The most bytes of one item, or of a document that is no list of items. A compressed file of a few kilobytes may contain any number.
const MAX_BYTES: u64 = 64 << 20;

/// The members of a response of Scan or Query beside `Items`, as programs print it.
const RESPONSE_MEMBERS: [&str; 7] = [
    "Count",
    "ScannedCount",
    "LastEvaluatedKey",
    "ConsumedCapacity",
    "NextToken",
    "ResponseMetadata",
    "$metadata",
];

/// One thing that a file contains.
pub enum Found {
    /// An element of a list of items.
    Item(Value),
    /// A whole document.
    Document(Map<String, Value>),
}

/// Calls `take` with everything in a file, until it returns an error.
pub fn each(reader: impl BufRead, take: &mut dyn FnMut(Found) -> Result<(), String>) -> Result<(), String> {
    let left = Rc::new(Cell::new(MAX_BYTES));
    let mut documents = serde_json::Deserializer::from_reader(Metered { reader, left: Rc::clone(&left) });
    let mut sink = Sink { take, left, refused: None };
    // There is another document if it is not the end.
    while documents.end().is_err() {
        if let Err(error) = (Document { sink: &mut sink }).deserialize(&mut documents) {
            return Err(sink.refused.unwrap_or_else(|| described(&error)));
        }
    }
    Ok(())
}

fn described(error: &serde_json::Error) -> String {
    let message = error.to_string();
    if error.is_io() {
        return format!("cannot read the items: {message}");
    }
    let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    format!("the items are not JSON: {what} at line {} column {}", error.line(), error.column())
}

/// Reads as many bytes as are left.
struct Metered<R> {
    reader: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.reader.read(buffer)?;
        let left = self.left.get().checked_sub(count as u64);
        let left = left.ok_or_else(|| {
            std::io::Error::other(format!("an item of it has more than {} MB", MAX_BYTES >> 20))
        })?;
        self.left.set(left);
        Ok(count)
    }
}

struct Sink<'t> {
    take: &'t mut dyn FnMut(Found) -> Result<(), String>,
    left: Rc<Cell<u64>>,
    /// Why nothing more is taken.
    refused: Option<String>,
}

impl Sink<'_> {
    fn take<E: Error>(&mut self, found: Found) -> Result<(), E> {
        self.left.set(MAX_BYTES);
        (self.take)(found).map_err(|message| {
            self.refused = Some(message);
            E::custom("refused")
        })
    }

    fn take_all<'d, A: SeqAccess<'d>>(&mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            self.take(Found::Item(item))?;
        }
        Ok(())
    }
}

/// A document: a list of items, an object with such a list in `Items`, or another object.
struct Document<'s, 't> {
    sink: &'s mut Sink<'t>,
}

impl<'d> DeserializeSeed<'d> for Document<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, document: D) -> Result<(), D::Error> {
        document.deserialize_any(self)
    }
}

impl<'d> Visitor<'d> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, text: &mut Formatter<'_>) -> std::fmt::Result {
        text.write_str("items, which are JSON objects")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, items: A) -> Result<(), A::Error> {
        self.sink.take_all(items)
    }

    fn visit_map<A: MapAccess<'d>>(self, mut members: A) -> Result<(), A::Error> {
        let (mut others, mut has_items) = (Map::new(), false);
        while let Some(name) = members.next_key::<String>()? {
            // An item may have an attribute called `Items`, too.
            if name != "Items" || others.keys().any(|other| !RESPONSE_MEMBERS.contains(&other.as_str())) {
                others.insert(name, members.next_value()?);
                continue;
            }
            match members.next_value_seed(Items { sink: &mut *self.sink })? {
                Some(other) => _ = others.insert(name, other),
                None => has_items = true,
            }
        }
        if has_items { Ok(()) } else { self.sink.take(Found::Document(others)) }
    }
}

/// What is in `Items`: a list of items, or anything else, which is returned.
struct Items<'s, 't> {
    sink: &'s mut Sink<'t>,
}

impl<'d> DeserializeSeed<'d> for Items<'_, '_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'d>>(self, items: D) -> Result<Option<Value>, D::Error> {
        items.deserialize_any(self)
    }
}

impl<'d> Visitor<'d> for Items<'_, '_> {
    type Value = Option<Value>;

    fn expecting(&self, text: &mut Formatter<'_>) -> std::fmt::Result {
        text.write_str("a list of items")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, items: A) -> Result<Option<Value>, A::Error> {
        self.sink.take_all(items).map(|()| None)
    }

    fn visit_map<A: MapAccess<'d>>(self, members: A) -> Result<Option<Value>, A::Error> {
        serde::Deserialize::deserialize(MapAccessDeserializer::new(members)).map(Some)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<Value>, E> {
        Ok(Some(text.into()))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Option<Value>, E> {
        Ok(Some(flag.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<Value>, E> {
        Ok(Some(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<Value>, E> {
        Ok(Some(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Option<Value>, E> {
        Ok(Some(number.into()))
    }

    fn visit_unit<E: Error>(self) -> Result<Option<Value>, E> {
        Ok(Some(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, repeat};

    fn count(reader: impl BufRead) -> Result<usize, String> {
        let mut count = 0;
        each(reader, &mut |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    #[test]
    fn items_are_taken_one_by_one() {
        let item = br#"{"PK":{"S":"1"}},"#;
        let endless = b"{\"Items\":[".chain(BufReader::new(repeat(b' ').take(1 << 20)));
        let mut taken = 0;
        let stopped = each(endless.chain(&item.repeat(5)[..]), &mut |_| {
            taken += 1;
            if taken == 3 { Err("enough".to_owned()) } else { Ok(()) }
        });
        assert_eq!((stopped, taken), (Err("enough".to_owned()), 3));
        assert_eq!(count(&b"{\"Items\":[{},{}],\"Count\":2}\n{\"Items\":[{}]}"[..]), Ok(3));
        assert_eq!(count(&b" [{},{}] {\"a\":1}\n{\"Items\":{\"S\":\"x\"}}"[..]), Ok(4));
        assert_eq!(count(&br#"{"PK":"1","Items":["a","b"]}"#[..]), Ok(1), "an item");
        assert_eq!(count(&br#"{"Count":2,"Items":[{},{}]}"#[..]), Ok(2), "a response");
        assert_eq!(count(&b" \n"[..]), Ok(0));
        assert!(count(&b"7"[..]).unwrap_err().contains("expected items, which are JSON objects"));
    }

    /// A few kilobytes of gzip may contain a text of any length.
    #[test]
    fn an_item_that_never_ends_is_refused() {
        let text = b"[{},{\"PK\":{\"S\":\"".chain(BufReader::new(repeat(b'x')));
        assert!(count(text).unwrap_err().contains("more than 64 MB"));
    }
}
