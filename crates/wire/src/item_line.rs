//! `{"Item":{…}}`: an item as a line of a file, as exports have them.

use crate::attribute_value::Attributes;
use crate::item_json;
use crate::json::Reader;
use crate::put_item::check_size;
use partita_api::Exception;
use partita_value::{Item, ItemRef};

/// The item of a line, checked as PutItem checks it.
pub fn decode_item_line(line: &[u8]) -> Result<Item, Exception> {
    let mut sent = None;
    Reader::new(line)?.request(|reader, name| {
        match name {
            "Item" => sent = Attributes::read_member(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let item = sent.ok_or_else(|| Exception::validation("The line has no Item"))?.checked()?;
    check_size(&item)?;
    Ok(item)
}

pub fn encode_item_line(item: ItemRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"Item\":");
    item_json::write_map(out, item.attributes());
    out.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let line = "{\"Item\":{\"a\":{\"S\":\"x\\n\"},\"b\":{\"NS\":[\"1\",\"2\"]}}}\n";
        let item = decode_item_line(line.as_bytes()).unwrap();
        let mut written = Vec::new();
        encode_item_line(item.view(), &mut written);
        assert_eq!(String::from_utf8(written).unwrap(), line);
    }

    #[test]
    fn what_is_no_item_is_refused() {
        for line in
            ["", "{}", "[]", "{\"Item\":{\"a\":{\"N\":\"x\"}}}", "{\"Item\":{\"a\":1}}", "{\"Item\":{}} x"]
        {
            assert!(decode_item_line(line.as_bytes()).is_err(), "{line}");
        }
        let large = format!("{{\"Item\":{{\"a\":{{\"S\":\"{}\"}}}}}}", "x".repeat(410_000));
        assert!(decode_item_line(large.as_bytes()).unwrap_err().message.contains("size"));
    }
}
