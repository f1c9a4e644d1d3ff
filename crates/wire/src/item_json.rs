//! Encoded items → JSON text: the hot path of every read, optimised for speed.
//!
//! Text rarely has a character that JSON escapes. So a value is first written without escapes: names and texts are copied. One
//! pass over the output then checks the assumption: it must have the expected number of quotes, and no backslash or control
//! character. Otherwise the value is written again with escapes. Apart from the lines of exports, nothing else in this crate writes
//! JSON without the [`Writer`](crate::json::Writer).

use crate::json::{quotes_if_plain, write_base64, write_text};
use partita_value::{ListRef, MapRef, SetRef, ValueRef};

/// Writes `{"name":{"S":"…"},…}`.
pub(crate) fn write_map(out: &mut Vec<u8>, map: MapRef<'_>) {
    write(out, |writer| writer.map(map), |writer| writer.map(map));
}

/// Writes `{"S":"…"}`.
pub(crate) fn write_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    write(out, |writer| writer.value(value), |writer| writer.value(value));
}

/// Writes without escapes and, if some are needed, again with them.
fn write(
    out: &mut Vec<u8>,
    plainly: impl FnOnce(&mut ItemWriter<'_, false>),
    escaped: impl FnOnce(&mut ItemWriter<'_, true>),
) {
    let start = out.len();
    let mut writer = ItemWriter { out, quotes: 0 };
    plainly(&mut writer);
    let quotes = writer.quotes;
    if quotes_if_plain(&out[start..]) != Some(quotes) {
        out.truncate(start);
        escaped(&mut ItemWriter { out, quotes: 0 });
    }
}

struct ItemWriter<'o, const ESCAPE: bool> {
    out: &'o mut Vec<u8>,
    /// The number of quotes written around names and texts.
    quotes: usize,
}

impl<const ESCAPE: bool> ItemWriter<'_, ESCAPE> {
    fn map(&mut self, map: MapRef<'_>) {
        self.out.push(b'{');
        let mut separator: &[u8] = b"\"";
        for (name, value) in map {
            self.out.extend_from_slice(separator);
            self.text(name);
            self.quotes += 2;
            match value {
                ValueRef::S(text) => self.scalar(b"\":{\"S\":\"", text),
                ValueRef::N(digits) => self.scalar(b"\":{\"N\":\"", digits),
                value => {
                    self.out.extend_from_slice(b"\":");
                    self.value(value);
                }
            }
            separator = b",\"";
        }
        self.out.push(b'}');
    }

    fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::S(text) => self.scalar(b"{\"S\":\"", text),
            ValueRef::N(digits) => self.scalar(b"{\"N\":\"", digits),
            ValueRef::Bool(true) => self.constant(b"{\"BOOL\":true}"),
            ValueRef::Bool(false) => self.constant(b"{\"BOOL\":false}"),
            ValueRef::Null => self.constant(b"{\"NULL\":true}"),
            ValueRef::B(bytes) => {
                self.quotes += 4;
                self.out.extend_from_slice(b"{\"B\":\"");
                write_base64(self.out, bytes);
                self.out.extend_from_slice(b"\"}");
            }
            ValueRef::M(map) => {
                self.constant(b"{\"M\":");
                self.map(map);
                self.out.push(b'}');
            }
            ValueRef::L(list) => self.list(list),
            ValueRef::Ss(set) => self.set(b"{\"SS\":[", set, ItemWriter::text),
            ValueRef::Ns(set) => self.set(b"{\"NS\":[", set, ItemWriter::text),
            ValueRef::Bs(set) => self.set(b"{\"BS\":[", set, |writer, bytes| write_base64(writer.out, bytes)),
        }
    }

    #[inline]
    fn text(&mut self, text: &[u8]) {
        if ESCAPE {
            write_text(self.out, text);
        } else {
            self.out.extend_from_slice(text);
        }
    }

    /// Writes a constant with two quotes in it.
    #[inline]
    fn constant(&mut self, text: &[u8]) {
        self.quotes += 2;
        self.out.extend_from_slice(text);
    }

    /// Writes a type and a text: four quotes, not counting those of a preceding name.
    #[inline]
    fn scalar<const N: usize>(&mut self, beginning: &[u8; N], text: &[u8]) {
        self.quotes += 4;
        self.out.extend_from_slice(beginning);
        self.text(text);
        self.out.extend_from_slice(b"\"}");
    }

    fn list(&mut self, list: ListRef<'_>) {
        self.constant(b"{\"L\":[");
        for (i, value) in list.into_iter().enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            self.value(value);
        }
        self.out.extend_from_slice(b"]}");
    }

    fn set(&mut self, beginning: &[u8; 7], set: SetRef<'_>, write: fn(&mut Self, &[u8])) {
        self.constant(beginning);
        for (i, element) in set.into_iter().enumerate() {
            self.quotes += 2;
            self.out.extend_from_slice(if i > 0 { b",\"" } else { b"\"" });
            write(self, element);
            self.out.push(b'"');
        }
        self.out.extend_from_slice(b"]}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::item::put_item::PutItem;

    operation_tests!(PutItem);

    fn json(item: &str) -> String {
        let body = format!(r#"{{"TableName":"Table","Item":{item}}}"#);
        let mut out = b"before ".to_vec();
        write_map(&mut out, decoded(&body).item.view().attributes());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_type_is_written_as_it_was_read() {
        let all = r#"{"a":{"S":"text"},"b":{"N":"1.5"},"c":{"B":"AQID"},"d":{"BOOL":true},"e":{"BOOL":false},"f":{"NULL":true},"g":{"M":{"x":{"L":[{"S":""},{"N":"2"},{"M":{}}]}}},"h":{"SS":["p","q"]},"i":{"NS":["1","2"]},"j":{"BS":["AQ==","Ag=="]},"k":{"L":[]}}"#;
        assert_eq!(json(all), format!("before {all}"));
    }

    #[test]
    fn special_characters_are_escaped_everywhere() {
        for special in [r#"\""#, r"\\", r"\n", r"\u0001", r#"\"\""#] {
            for text in [
                format!(r#"{{"name{special}":{{"S":"x"}}}}"#),
                format!(r#"{{"a":{{"S":"{special}"}},"b":{{"S":"{}"}}}}"#, "long ".repeat(50)),
                format!(r#"{{"a":{{"L":[{{"M":{{"b":{{"S":"{} {special}"}}}}}}]}}}}"#, "long ".repeat(50)),
                format!(r#"{{"a":{{"SS":["{special}","p"]}}}}"#),
            ] {
                assert_eq!(json(&text), format!("before {text}"));
            }
        }
    }
}
