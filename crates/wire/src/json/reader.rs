//! A pull reader, which yields one JSON token of the body at a time.
//!
//! No tree is built, and text without escapes is borrowed from the body. The caller requests the type that it expects;
//! [`Reader::skip`] skips a value of any type. Nesting is bounded, so neither the reader nor a caller that recurses with it can
//! overflow the stack.

use super::plain_run::plain_run;
use partita_api::Exception;
use std::borrow::Cow;

/// The maximum nesting of objects and arrays, far more than DynamoDB's 32 levels need.
const MAX_DEPTH: usize = 512;

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonType {
    Object,
    Array,
    String,
    Number,
    True,
    False,
    Null,
}

pub(crate) struct Reader<'a> {
    text: &'a str,
    position: usize,
    depth: usize,
    /// Whether nothing has been read yet of the innermost open object or array.
    fresh: bool,
}

/// The error for a body that is not JSON, for which AWS has no text.
pub(crate) fn malformed() -> Exception {
    Exception::serialization("")
}

impl<'a> Reader<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Result<Reader<'a>, Exception> {
        let text = std::str::from_utf8(body).map_err(|_| malformed())?;
        Ok(Reader { text, position: 0, depth: 0, fresh: false })
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.position..).unwrap_or(&[])
    }

    /// The byte at the current position.
    #[inline]
    fn here(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    #[inline]
    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.here() {
            self.position += 1;
        }
    }

    /// The next byte that is not white space.
    #[inline]
    fn next_byte(&mut self) -> Option<u8> {
        self.skip_whitespace();
        self.here()
    }

    fn expect(&mut self, byte: u8) -> Result<(), Exception> {
        if self.next_byte() != Some(byte) {
            return Err(malformed());
        }
        self.position += 1;
        Ok(())
    }

    /// The offset of the next value in the body.
    pub(crate) fn offset(&mut self) -> usize {
        self.skip_whitespace();
        self.position
    }

    /// The text of the body since an earlier [`Reader::offset`].
    pub(crate) fn since(&self, offset: usize) -> &'a str {
        self.text.get(offset..self.position).unwrap_or("")
    }

    pub(crate) fn peek(&mut self) -> Result<JsonType, Exception> {
        match self.next_byte() {
            Some(b'{') => Ok(JsonType::Object),
            Some(b'[') => Ok(JsonType::Array),
            Some(b'"') => Ok(JsonType::String),
            Some(b'-' | b'0'..=b'9') => Ok(JsonType::Number),
            Some(b't') => Ok(JsonType::True),
            Some(b'f') => Ok(JsonType::False),
            Some(b'n') => Ok(JsonType::Null),
            _ => Err(malformed()),
        }
    }

    /// Enters an object or an array.
    pub(crate) fn open(&mut self) -> Result<(), Exception> {
        if !matches!(self.next_byte(), Some(b'{' | b'[')) || self.depth == MAX_DEPTH {
            return Err(malformed());
        }
        self.position += 1;
        self.depth += 1;
        self.fresh = true;
        Ok(())
    }

    /// Moves to the next element of the open container, or leaves it.
    fn advance(&mut self, close: u8) -> Result<bool, Exception> {
        if self.next_byte() == Some(close) {
            self.position += 1;
            self.depth = self.depth.saturating_sub(1);
            self.fresh = false;
            return Ok(false);
        }
        if !self.fresh {
            self.expect(b',')?;
        }
        self.fresh = false;
        Ok(true)
    }

    /// The name of the next member of the open object, whose value is read next; `None` at the end of the object.
    pub(crate) fn next_member(&mut self) -> Result<Option<Cow<'a, str>>, Exception> {
        if !self.advance(b'}')? {
            return Ok(None);
        }
        let name = self.string()?;
        self.expect(b':')?;
        Ok(Some(name))
    }

    /// Whether the open array has another element, which is read next; `false` at the end of the array.
    pub(crate) fn next_element(&mut self) -> Result<bool, Exception> {
        self.advance(b']')
    }

    /// Reads a string, borrowed unless it has escapes.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Exception> {
        self.expect(b'"')?;
        let run = self.plain_text();
        if self.here() == Some(b'"') {
            self.position += 1;
            return Ok(Cow::Borrowed(run));
        }
        let mut text = String::with_capacity(run.len() + 16);
        text.push_str(run);
        loop {
            match self.here() {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(malformed()),
            }
            text.push_str(self.plain_text());
        }
    }

    fn plain_text(&mut self) -> &'a str {
        let start = self.position;
        self.position += plain_run(self.rest());
        self.since(start)
    }

    fn escape(&mut self) -> Result<char, Exception> {
        let kind = self.rest().get(1).copied();
        self.position += 2;
        match kind {
            Some(plain @ (b'"' | b'\\' | b'/')) => Ok(char::from(plain)),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            Some(b'u') => self.unicode_escape(),
            _ => Err(malformed()),
        }
    }

    /// Reads what follows `\u`: a code unit or a surrogate pair. A lone surrogate is malformed.
    fn unicode_escape(&mut self) -> Result<char, Exception> {
        let unit = self.code_unit()?;
        if !(0xd800..0xdc00).contains(&unit) {
            return char::from_u32(unit).ok_or_else(malformed);
        }
        if !self.rest().starts_with(b"\\u") {
            return Err(malformed());
        }
        self.position += 2;
        let low = self.code_unit()?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(malformed());
        }
        char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)).ok_or_else(malformed)
    }

    fn code_unit(&mut self) -> Result<u32, Exception> {
        let digits = self.rest().get(..4).ok_or_else(malformed)?;
        let mut unit = 0;
        for &digit in digits {
            unit = unit * 16 + char::from(digit).to_digit(16).ok_or_else(malformed)?;
        }
        self.position += 4;
        Ok(unit)
    }

    /// Reads the text of a number.
    pub(crate) fn number(&mut self) -> Result<&'a str, Exception> {
        self.skip_whitespace();
        let start = self.position;
        if self.here() == Some(b'-') {
            self.position += 1;
        }
        match self.here() {
            Some(b'0') => self.position += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(malformed()),
        }
        if self.here() == Some(b'.') {
            self.position += 1;
            self.digits()?;
        }
        if matches!(self.here(), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.here(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.digits()?;
        }
        Ok(self.since(start))
    }

    fn digits(&mut self) -> Result<(), Exception> {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.position += count;
        if count == 0 { Err(malformed()) } else { Ok(()) }
    }

    /// Reads `true`, `false` or `null`.
    pub(crate) fn literal(&mut self, literal: &str) -> Result<(), Exception> {
        self.skip_whitespace();
        if !self.rest().starts_with(literal.as_bytes()) {
            return Err(malformed());
        }
        self.position += literal.len();
        Ok(())
    }

    /// Skips one value of any type and depth, without recursion.
    pub(crate) fn skip(&mut self) -> Result<(), Exception> {
        let mut open = Vec::new();
        loop {
            match self.peek()? {
                kind @ (JsonType::Object | JsonType::Array) => {
                    self.open()?;
                    open.push(kind);
                }
                kind => self.skip_scalar(kind)?,
            }
            loop {
                let more = match open.last() {
                    None => return Ok(()),
                    Some(JsonType::Object) => self.next_member()?.is_some(),
                    Some(_) => self.next_element()?,
                };
                if more {
                    break;
                }
                open.pop();
            }
        }
    }

    fn skip_scalar(&mut self, kind: JsonType) -> Result<(), Exception> {
        match kind {
            JsonType::String => self.string().map(drop),
            JsonType::Number => self.number().map(drop),
            JsonType::True => self.literal("true"),
            JsonType::False => self.literal("false"),
            _ => self.literal("null"),
        }
    }

    /// Checks that only white space follows the value of the body.
    pub(crate) fn end(mut self) -> Result<(), Exception> {
        match self.next_byte() {
            None => Ok(()),
            Some(_) => Err(malformed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_valid(body: &[u8]) -> bool {
        let read = |body| {
            let mut reader = Reader::new(body)?;
            reader.skip()?;
            reader.end()
        };
        read(body).is_ok()
    }

    fn string(body: &str) -> Option<String> {
        Reader::new(body.as_bytes()).ok()?.string().ok().map(Cow::into_owned)
    }

    #[test]
    fn well_formed_json_is_skipped() {
        for body in
            ["{}", " [ ] ", "null", "-0.5e+10", r#"{"a":[1,{"b":"\"\\\u00e4"},null,true,false]}"#, "\"ä\""]
        {
            assert!(is_valid(body.as_bytes()), "{body}");
        }
    }

    #[test]
    fn malformed_json_is_refused() {
        let bodies = [
            "",
            " ",
            "{",
            "}",
            "[1,]",
            r#"{"a":1,}"#,
            r#"{"a"}"#,
            r#"{a:1}"#,
            "[1 2]",
            "01",
            "1.",
            "1e",
            "-",
            "nul",
            "tru",
            "\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\n\"",
            "{} {}",
            "[}",
            "{]",
            "hi",
            ",",
            "[,1]",
            "{,}",
            "\"\\",
        ];
        for body in bodies {
            assert!(!is_valid(body.as_bytes()), "{body}");
        }
        assert!(!is_valid(b"\"\xff\""));
    }

    #[test]
    fn strings_are_unescaped() {
        assert_eq!(string(r#""plain""#).as_deref(), Some("plain"));
        assert_eq!(string(r#""\"\\\/\b\f\n\r\t""#).as_deref(), Some("\"\\/\u{8}\u{c}\n\r\t"));
        assert_eq!(string(r#""a\u00e4\ud83d\ude00b""#).as_deref(), Some("aä😀b"));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
        assert!(is_valid(&nested(MAX_DEPTH)));
        assert!(!is_valid(&nested(MAX_DEPTH + 1)));
        assert!(!is_valid(&vec![b'['; 10_000_000]));
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json_on_arbitrary_text(body in r#"[\[\]{}",:0-9.eE+\-truefalsn\\u ]{0,24}"#) {
            let expected = serde_json::from_str::<serde_json::Value>(&body).is_ok();
            // serde_json refuses numbers that no f64 can represent, which are JSON nonetheless.
            prop_assume!(!body.contains(['e', 'E']) || expected);
            prop_assert_eq!(is_valid(body.as_bytes()), expected);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(body: Vec<u8>) {
            is_valid(&body);
        }

        #[test]
        fn strings_read_as_serde_json_wrote_them(text in any::<String>()) {
            let written = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(string(&written), Some(text));
        }
    }
}
