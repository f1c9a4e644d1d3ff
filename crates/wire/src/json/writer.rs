//! A writer of JSON text into one buffer, without white space.

use super::plain_run::plain_run;
use std::io::Write;

#[derive(Default)]
pub(crate) struct Writer {
    buffer: Vec<u8>,
    /// Whether the innermost open container has a value, so that the next one needs a comma.
    separate: bool,
}

impl Writer {
    /// Reserves `prefix_bytes` zero bytes at the start of the buffer, and capacity for so many bytes of JSON.
    pub(crate) fn with_prefix(prefix_bytes: usize, capacity: usize) -> Writer {
        let mut buffer = Vec::with_capacity(prefix_bytes + capacity);
        buffer.resize(prefix_bytes, 0);
        Writer { buffer, separate: false }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.buffer
    }

    pub(crate) fn finish_text(self) -> String {
        String::from_utf8(self.buffer).unwrap_or_else(|_| unreachable!("JSON is text"))
    }

    /// Writes any value, after a comma if one is needed.
    fn value(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.separate {
            self.buffer.push(b',');
        }
        write(&mut self.buffer);
        self.separate = true;
    }

    fn open(&mut self, byte: u8) {
        self.value(|buffer| buffer.push(byte));
        self.separate = false;
    }

    fn close(&mut self, byte: u8) {
        self.buffer.push(byte);
        self.separate = true;
    }

    /// Writes an object, whose members `write` writes.
    pub(crate) fn object(&mut self, write: impl FnOnce(&mut Writer)) {
        self.open(b'{');
        write(self);
        self.close(b'}');
    }

    /// Writes a value whose JSON `write` appends to the buffer.
    pub(crate) fn written_by(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.value(write);
    }

    /// Reserves capacity for about this many more bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.buffer.reserve(bytes);
    }

    /// Writes an array, whose elements `write` writes.
    pub(crate) fn array(&mut self, write: impl FnOnce(&mut Writer)) {
        self.open(b'[');
        write(self);
        self.close(b']');
    }

    /// Writes the name of a member; its value is written next.
    pub(crate) fn name(&mut self, name: &str) -> &mut Writer {
        self.name_bytes(name.as_bytes())
    }

    /// Writes the name of a member, given in UTF-8.
    pub(crate) fn name_bytes(&mut self, name: &[u8]) -> &mut Writer {
        self.value(|buffer| {
            write_string(buffer, name);
            buffer.push(b':');
        });
        self.separate = false;
        self
    }

    pub(crate) fn string(&mut self, text: &str) {
        self.string_bytes(text.as_bytes());
    }

    /// Writes a string, given in UTF-8.
    pub(crate) fn string_bytes(&mut self, text: &[u8]) {
        self.value(|buffer| write_string(buffer, text));
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.value(|buffer| buffer.extend_from_slice(if value { b"true" } else { b"false" }));
    }

    pub(crate) fn integer(&mut self, value: impl Into<i128>) {
        let value: i128 = value.into();
        // Writing into a Vec never fails.
        self.value(|buffer| drop(write!(buffer, "{value}")));
    }

    /// Writes a number with at least one decimal, as AWS does: `1.0`, `0.5`.
    pub(crate) fn double(&mut self, value: f64) {
        let value = if value.is_finite() { value } else { 0.0 };
        self.value(|buffer| drop(write!(buffer, "{value:?}")));
    }
}

/// Writes base64, without quotes.
pub(crate) fn write_base64(buffer: &mut Vec<u8>, bytes: &[u8]) {
    use base64::{Engine, encoded_len, engine::general_purpose::STANDARD};
    let start = buffer.len();
    buffer.resize(start + encoded_len(bytes.len(), true).unwrap_or(0), 0);
    // The slice is as long as the text, so this cannot fail.
    let written = STANDARD.encode_slice(bytes, &mut buffer[start..]).unwrap_or(0);
    buffer.truncate(start + written);
}

fn write_string(buffer: &mut Vec<u8>, text: &[u8]) {
    buffer.reserve(text.len() + 2);
    buffer.push(b'"');
    write_text(buffer, text);
    buffer.push(b'"');
}

/// Writes a string with the necessary escapes, without quotes.
#[inline]
pub(crate) fn write_text(buffer: &mut Vec<u8>, text: &[u8]) {
    let (plain, rest) = text.split_at(plain_run(text));
    buffer.extend_from_slice(plain);
    if !rest.is_empty() {
        write_escaped(buffer, rest);
    }
}

/// Writes the rest of a string, from the first character to escape.
#[cold]
fn write_escaped(buffer: &mut Vec<u8>, mut text: &[u8]) {
    while let Some((&special, rest)) = text.split_first() {
        write_escape(buffer, special);
        let (plain, rest) = rest.split_at(plain_run(rest));
        buffer.extend_from_slice(plain);
        text = rest;
    }
}

fn write_escape(buffer: &mut Vec<u8>, special: u8) {
    let short = match special {
        b'"' => b"\\\"",
        b'\\' => b"\\\\",
        b'\n' => b"\\n",
        b'\r' => b"\\r",
        b'\t' => b"\\t",
        0x08 => b"\\b",
        0x0c => b"\\f",
        // Writing into a Vec never fails.
        _ => return drop(write!(buffer, "\\u{special:04x}")),
    };
    buffer.extend_from_slice(short);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(write: impl FnOnce(&mut Writer)) -> String {
        let mut writer = Writer::default();
        write(&mut writer);
        String::from_utf8(writer.finish()).unwrap()
    }

    #[test]
    fn commas_separate_values_only() {
        let text = written(|json| {
            json.object(|json| {
                json.name("a").array(|json| {
                    json.integer(1);
                    json.array(|_| {});
                    json.boolean(true);
                });
                json.name("b").object(|_| {});
                json.name("c").string("x");
            });
        });
        assert_eq!(text, r#"{"a":[1,[],true],"b":{},"c":"x"}"#);
    }

    #[test]
    fn doubles_always_have_a_fraction() {
        for (value, expected) in [(1.0, "1.0"), (0.5, "0.5"), (12.5, "12.5"), (0.0, "0.0")] {
            assert_eq!(written(|json| json.double(value)), expected);
        }
    }

    #[test]
    fn binary_is_base64() {
        for (bytes, expected) in [(&b""[..], ""), (b"a", "YQ=="), (b"abc", "YWJj")] {
            let mut text = Vec::new();
            write_base64(&mut text, bytes);
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }

    proptest! {
        #[test]
        fn strings_are_what_serde_json_reads(text in any::<String>()) {
            let written = written(|json| json.string(&text));
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}
