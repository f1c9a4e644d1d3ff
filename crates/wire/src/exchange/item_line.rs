//! `{"Item":{…}}`: an item as a line of an export. Bulk operations also read a condition alongside it, with the members of
//! PutItem.

use crate::attribute_value::{Attributes, encode_item};
use crate::item::expressions::Expressions;
use crate::item::item_size::check_size;
use crate::item_json;
use crate::json::{Reader, Writer};
use partita_api::Exception;
use partita_expression::{Condition, ExpressionKind};
use partita_value::{Item, ItemRef, MapRef, ValueRef};

/// A put, read from a record of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct PutLine {
    pub item: Item,
    pub condition: Option<Condition>,
}

const EXPRESSIONS: &[ExpressionKind] = &[ExpressionKind::Condition];

/// Decodes the put of a line, with the checks of PutItem.
pub fn decode_put_line(line: &[u8]) -> Result<PutLine, Exception> {
    let mut item = None;
    let mut expressions = Expressions::new(EXPRESSIONS);
    Reader::new(line)?.request(|reader, name| {
        match name {
            "Item" => item = Attributes::read_member(reader)?,
            _ if expressions.read(reader, name)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let item = item.ok_or_else(|| Exception::validation("The line has no Item"))?.checked()?;
    check_size(&item)?;
    expressions.check_use(&[])?;
    Ok(PutLine { item, condition: expressions.parse()?.condition })
}

/// Decodes the condition alongside the item of a record that is not JSON, given the record's members as values.
pub fn condition_of_members(members: MapRef<'_>) -> Result<Option<Condition>, Exception> {
    let text = match members.get("ConditionExpression") {
        None => None,
        Some(ValueRef::S(text)) => Some(String::from_utf8_lossy(text)),
        Some(_) => return Err(Exception::validation("The ConditionExpression is not a string")),
    };
    let map = |name: &str| match members.get(name) {
        None => Ok(None),
        Some(ValueRef::M(map)) => Ok(Some(map)),
        Some(_) => Err(Exception::validation(format!("{name} is not a struct"))),
    };
    let texts = text.map(|text| (ExpressionKind::Condition, text)).into_iter().collect();
    let (names, values) = (map("ExpressionAttributeNames")?, map("ExpressionAttributeValues")?);
    let expressions = Expressions::of_values(EXPRESSIONS, texts, names, values)?;
    expressions.check_use(&[])?;
    Ok(expressions.parse()?.condition)
}

pub fn encode_item_line(item: ItemRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"Item\":");
    item_json::write_map(out, item.attributes());
    out.extend_from_slice(b"}\n");
}

/// A record that a bulk operation failed to put.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailedPut<'a> {
    pub object: &'a str,
    /// The number of the record in the object, from 1; `None` if the object itself cannot be read.
    pub number: Option<u64>,
    pub code: &'a str,
    pub message: &'a str,
    pub item: Option<ItemRef<'a>>,
    /// The existing item, which failed the condition.
    pub existing: Option<ItemRef<'a>>,
    /// The text of the record, if it is not an item.
    pub text: Option<&'a str>,
}

pub fn encode_failed_put(failed: &FailedPut<'_>, out: &mut Vec<u8>) {
    let mut json = Writer::with_prefix(0, 512);
    json.object(|json| {
        json.name("S3Key").string(failed.object);
        if let Some(number) = failed.number {
            json.name("RecordNumber").integer(number);
        }
        json.name("ErrorCode").string(failed.code);
        json.name("ErrorMessage").string(failed.message);
        for (name, item) in [("Item", failed.item), ("ExistingItem", failed.existing)] {
            if let Some(item) = item {
                json.name(name);
                encode_item(json, item);
            }
        }
        if let Some(text) = failed.text {
            json.name("Record").string(text);
        }
    });
    out.extend_from_slice(&json.finish());
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let line = "{\"Item\":{\"a\":{\"S\":\"x\\n\"},\"b\":{\"NS\":[\"1\",\"2\"]}}}\n";
        let put = decode_put_line(line.as_bytes()).unwrap();
        let mut written = Vec::new();
        encode_item_line(put.item.view(), &mut written);
        assert_eq!(put.condition, None);
        assert_eq!(String::from_utf8(written).unwrap(), line);
    }

    #[test]
    fn lines_without_a_valid_item_are_refused() {
        for line in
            ["", "{}", "[]", "{\"Item\":{\"a\":{\"N\":\"x\"}}}", "{\"Item\":{\"a\":1}}", "{\"Item\":{}} x"]
        {
            assert!(decode_put_line(line.as_bytes()).is_err(), "{line}");
        }
        let large = format!("{{\"Item\":{{\"a\":{{\"S\":\"{}\"}}}}}}", "x".repeat(410_000));
        assert!(decode_put_line(large.as_bytes()).unwrap_err().message.contains("size"));
    }

    #[test]
    fn conditions_are_members_alongside_the_item() {
        let line = r##"{"Item":{"a":{"S":"x"}},"ConditionExpression":"attribute_not_exists(#a) OR #a < :v","ExpressionAttributeNames":{"#a":"a"},"ExpressionAttributeValues":{":v":{"S":"b"}}}"##;
        let condition = decode_put_line(line.as_bytes()).unwrap().condition.unwrap();
        assert!(condition.matches(None).unwrap());
        let members = Item::build(|encoder| {
            encoder.name("ConditionExpression");
            encoder.string("attribute_not_exists(#a) OR #a < :v");
            for (name, placeholder, text) in
                [("ExpressionAttributeNames", "#a", "a"), ("ExpressionAttributeValues", ":v", "b")]
            {
                encoder.name(name);
                let mark = encoder.begin_map();
                encoder.name(placeholder);
                encoder.string(text);
                encoder.end_map(mark);
            }
        });
        assert_eq!(condition_of_members(members.view().attributes()), Ok(Some(condition)));
        for bad in [
            r#"{"Item":{},"ConditionExpression":""}"#,
            r#"{"Item":{},"ConditionExpression":"a = :a"}"#,
            r##"{"Item":{},"ExpressionAttributeNames":{"#a":"a"}}"##,
            r#"{"Item":{},"ConditionExpression":7}"#,
        ] {
            assert!(decode_put_line(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn failed_puts_are_written_as_lines() {
        let item = decode_put_line(br#"{"Item":{"a":{"S":"x"}}}"#).unwrap().item;
        let mut out = Vec::new();
        let failed = FailedPut { object: "in/a", code: "C", message: "m", ..FailedPut::default() };
        encode_failed_put(&FailedPut { text: Some("{\n"), ..failed.clone() }, &mut out);
        encode_failed_put(&FailedPut { number: Some(2), item: Some(item.view()), ..failed }, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"S3Key\":\"in/a\",\"ErrorCode\":\"C\",\"ErrorMessage\":\"m\",\"Record\":\"{\\n\"}\n\
             {\"S3Key\":\"in/a\",\"RecordNumber\":2,\"ErrorCode\":\"C\",\"ErrorMessage\":\"m\",\"Item\":{\"a\":{\"S\":\"x\"}}}\n"
        );
    }
}
