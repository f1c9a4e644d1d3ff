//! Items as Amazon Ion text, one per line: `$ion_1_0 {Item:{…}}`, or `$ion_1_0 {Record:{…}}` for a changed item. Numbers are
//! decimals, sets are annotated lists (`$dynamodb_SS::["a","b"]`), binary values are blobs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use partita_value::{Encoder, Item, ItemRef, MapRef, Number, ValueRef, limits};
use partita_wire::{ChangeLine, PutLine, condition_of_members};
use std::io::Write;
use std::str::Chars;

/// The optional start of a record. Some writers put it on its own line at the top of a file.
pub const VERSION_MARKER: &str = "$ion_1_0";
/// Limit for nesting, which also keeps hostile text from exhausting the stack. The record and its Item are the first
/// levels, counted from 0.
const MAX_DEPTH: usize = limits::NESTING_LEVELS + 1;

/// Writes an item.
pub fn write_line(item: ItemRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"$ion_1_0 {Item:");
    write_map(item.attributes(), out);
    out.extend_from_slice(b"}\n");
}

/// Writes the change of an item, in the same structure as DynamoDB JSON.
pub fn write_change_line(change: &ChangeLine<'_>, out: &mut Vec<u8>) {
    // Writing to a Vec never fails.
    let _ = write!(out, "$ion_1_0 {{Record:{{Metadata:{{WriteTimestampMicros:{}.}}", change.written_micros);
    for (name, image) in change.images() {
        let _ = write!(out, ",{name}:");
        write_map(image.attributes(), out);
    }
    out.extend_from_slice(b"}}\n");
}

fn write_map(map: MapRef<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (i, (name, value)) in map.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_symbol(name, out);
        out.push(b':');
        write_value(value, out);
    }
    out.push(b'}');
}

fn write_value(value: ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::S(text) => write_quoted(b'"', text, out),
        ValueRef::N(digits) => write_decimal(digits, out),
        ValueRef::B(bytes) => write_blob(bytes, out),
        ValueRef::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        ValueRef::Null => out.extend_from_slice(b"null"),
        ValueRef::M(map) => write_map(map, out),
        ValueRef::L(list) => {
            write_elements(list, out, write_value);
        }
        ValueRef::Ss(set) => {
            out.extend_from_slice(b"$dynamodb_SS::");
            write_elements(set, out, |text, out| write_quoted(b'"', text, out));
        }
        ValueRef::Ns(set) => {
            out.extend_from_slice(b"$dynamodb_NS::");
            write_elements(set, out, write_decimal);
        }
        ValueRef::Bs(set) => {
            out.extend_from_slice(b"$dynamodb_BS::");
            write_elements(set, out, write_blob);
        }
    }
}

fn write_elements<T>(elements: impl IntoIterator<Item = T>, out: &mut Vec<u8>, write: fn(T, &mut Vec<u8>)) {
    out.push(b'[');
    for (i, element) in elements.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

/// A decimal has a point or an exponent written with `d`; digits alone would be an integer.
fn write_decimal(digits: &[u8], out: &mut Vec<u8>) {
    let is_decimal = digits.iter().any(|byte| matches!(byte, b'.' | b'E'));
    out.extend(digits.iter().map(|byte| if *byte == b'E' { b'd' } else { *byte }));
    if !is_decimal {
        out.push(b'.');
    }
}

fn write_blob(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{{");
    out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
    out.extend_from_slice(b"}}");
}

fn write_symbol(name: &[u8], out: &mut Vec<u8>) {
    let is_word = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && name.first().is_some_and(|byte| !byte.is_ascii_digit())
        && !matches!(name, b"null" | b"true" | b"false" | b"nan");
    if is_word { out.extend_from_slice(name) } else { write_quoted(b'\'', name, out) }
}

fn write_quoted(quote: u8, text: &[u8], out: &mut Vec<u8>) {
    out.push(quote);
    for byte in text {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            byte if *byte == quote => out.extend([b'\\', quote]),
            byte if *byte < 0x20 || *byte == 0x7f => out.extend(format!("\\x{byte:02x}").into_bytes()),
            byte => out.push(*byte),
        }
    }
    out.push(quote);
}

/// Reads the put of a line: a struct with an `Item` and an optional condition.
pub fn read_line(line: &[u8]) -> Result<PutLine, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    let mut reader = Reader { rest: text };
    reader.accept(VERSION_MARKER);
    let mut encoder = Encoder::new();
    reader.value(&mut encoder, 0)?;
    reader.skip_space();
    if !reader.rest.is_empty() {
        return Err("text follows the item".to_owned());
    }
    let bytes = encoder.finish();
    let Some(ValueRef::M(members)) = ValueRef::read(&bytes) else {
        return Err("the record is not a struct".to_owned());
    };
    let item = match members.get("Item") {
        Some(ValueRef::M(map)) => Item::build(|encoder| {
            for (name, value) in map {
                // The names are valid UTF-8.
                encoder.entry(&String::from_utf8_lossy(name), value);
            }
        }),
        Some(_) => return Err("the Item is not a struct".to_owned()),
        None => return Err("the record has no Item".to_owned()),
    };
    let condition = condition_of_members(members).map_err(|exception| exception.message)?;
    Ok(PutLine { item, condition })
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// Skips white space and comments.
    fn skip_space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let rest = if let Some(comment) = self.rest.strip_prefix("//") {
                comment.split_once('\n').map_or("", |(_, rest)| rest)
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                comment.split_once("*/").map_or("", |(_, rest)| rest)
            } else {
                return;
            };
            self.rest = rest;
        }
    }

    /// Consumes a token if it comes next.
    fn accept(&mut self, token: &str) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.accept(token) { Ok(()) } else { Err(self.error_here(&format!("{token} is missing"))) }
    }

    fn error_here(&self, what: &str) -> String {
        format!("{what} at: {}", self.rest.chars().take(20).collect::<String>())
    }

    /// Consumes the characters of a word or a number.
    fn word(&mut self) -> &'a str {
        self.skip_space();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '+' | '-');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Reads a field's name or an annotation.
    fn name(&mut self) -> Result<String, String> {
        self.skip_space();
        match self.rest.chars().next() {
            Some('"') => self.quoted('"'),
            Some('\'') => self.quoted('\''),
            _ => match self.word() {
                "" => Err(self.error_here("a name is missing")),
                word => Ok(word.to_owned()),
            },
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        let mut characters = self.rest.chars();
        characters.next();
        while let Some(character) = characters.next() {
            match character {
                '\\' => text.push(escaped(&mut characters)?),
                character if character == quote => {
                    self.rest = characters.as_str();
                    return Ok(text);
                }
                character => text.push(character),
            }
        }
        Err("a quote is not closed".to_owned())
    }

    fn text(&mut self) -> Result<String, String> {
        self.skip_space();
        if self.rest.starts_with('"') {
            self.quoted('"')
        } else {
            Err(self.error_here("a string is missing"))
        }
    }

    fn value(&mut self, out: &mut Encoder, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("values are nested too deeply".to_owned());
        }
        self.skip_space();
        if self.rest.starts_with("{{") {
            out.binary(&self.blob()?);
            return Ok(());
        }
        match self.rest.chars().next() {
            Some('{') => self.structure(out, depth),
            Some('[') => self.list(out, depth),
            Some('"') => self.quoted('"').map(|text| out.string(&text)),
            Some('\'') => {
                let name = self.quoted('\'')?;
                if self.accept("::") {
                    return self.set(&name, out);
                }
                out.string(&name);
                Ok(())
            }
            _ => {
                let word = self.word();
                if self.accept("::") { self.set(word, out) } else { self.scalar(word, out) }
            }
        }
    }

    fn scalar(&self, word: &str, out: &mut Encoder) -> Result<(), String> {
        match word {
            "true" => out.boolean(true),
            "false" => out.boolean(false),
            "null" => out.null(),
            word if word.starts_with("null.") => out.null(),
            "nan" => return Err("nan is not a valid number".to_owned()),
            word if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => out.number(&number(word)?),
            word if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => out.string(word),
            _ => return Err(self.error_here("a value is missing")),
        }
        Ok(())
    }

    fn structure(&mut self, out: &mut Encoder, depth: usize) -> Result<(), String> {
        self.expect("{")?;
        let mark = out.begin_map();
        while !self.accept("}") {
            let name = self.name()?;
            if name.is_empty() || name.len() > limits::ATTRIBUTE_NAME_BYTES {
                return Err("a name is empty or too long".to_owned());
            }
            out.name(&name);
            self.expect(":")?;
            self.value(out, depth + 1)?;
            self.separator('}')?;
        }
        out.end_map(mark);
        Ok(())
    }

    fn list(&mut self, out: &mut Encoder, depth: usize) -> Result<(), String> {
        self.expect("[")?;
        let mark = out.begin_list();
        while !self.accept("]") {
            self.value(out, depth + 1)?;
            self.separator(']')?;
        }
        out.end_list(mark);
        Ok(())
    }

    /// Expects a comma, unless the list or struct ends here.
    fn separator(&mut self, end: char) -> Result<(), String> {
        if self.accept(",") || self.rest.starts_with(end) {
            Ok(())
        } else {
            Err(self.error_here("a comma is missing"))
        }
    }

    fn blob(&mut self) -> Result<Vec<u8>, String> {
        self.expect("{{")?;
        let (text, rest) = self.rest.split_once("}}").ok_or("a blob is not closed")?;
        self.rest = rest;
        let digits: String = text.split_whitespace().collect();
        STANDARD.decode(digits).map_err(|error| error.to_string())
    }

    /// Reads the list that follows an annotation.
    fn set(&mut self, annotation: &str, out: &mut Encoder) -> Result<(), String> {
        let written = match annotation {
            "$dynamodb_SS" => {
                let texts = self.elements(Reader::text)?;
                out.string_set(&texts)
            }
            "$dynamodb_NS" => {
                let numbers = self.elements(|reader| number(reader.word()))?;
                out.number_set(&numbers)
            }
            "$dynamodb_BS" => {
                let blobs = self.elements(Reader::blob)?;
                out.binary_set(&blobs)
            }
            other => return Err(format!("{other} is not a DynamoDB annotation")),
        };
        written.map_err(|error| error.to_string())
    }

    fn elements<T>(&mut self, read: impl Fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        self.expect("[")?;
        let mut elements = Vec::new();
        while !self.accept("]") {
            elements.push(read(self)?);
            self.separator(']')?;
        }
        Ok(elements)
    }
}

fn escaped(characters: &mut Chars<'_>) -> Result<char, String> {
    let kind = characters.next();
    let mut hex = |digits: usize| {
        let code: String = characters.by_ref().take(digits).collect();
        u32::from_str_radix(&code, 16).ok().and_then(char::from_u32)
    };
    let character = match kind {
        Some('n') => Some('\n'),
        Some('r') => Some('\r'),
        Some('t') => Some('\t'),
        Some('0') => Some('\0'),
        Some('a') => Some('\x07'),
        Some('b') => Some('\x08'),
        Some('f') => Some('\x0c'),
        Some('v') => Some('\x0b'),
        Some(itself @ ('"' | '\'' | '\\' | '/' | '?')) => Some(itself),
        Some('x') => hex(2),
        Some('u') => hex(4),
        Some('U') => hex(8),
        _ => None,
    };
    character.ok_or_else(|| "an escape sequence is invalid".to_owned())
}

/// Parses integers, decimals (`103.`, `6d2`) and floats (`1.5e3`).
fn number(word: &str) -> Result<Number, String> {
    let plain = word.replace('_', "");
    let (digits, exponent) = match plain.split_once(['d', 'D', 'e', 'E']) {
        Some((digits, exponent)) => (digits, format!("E{exponent}")),
        None => (&plain[..], String::new()),
    };
    let text = format!("{}{exponent}", digits.strip_suffix('.').unwrap_or(digits));
    Number::parse(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use partita_wire::{decode_put_line, encode_item_line};

    fn ion_of(json: &str) -> String {
        let mut line = Vec::new();
        write_line(decode_put_line(json.as_bytes()).unwrap().item.view(), &mut line);
        String::from_utf8(line).unwrap()
    }

    fn json_of(ion: &str) -> Result<String, String> {
        let mut line = Vec::new();
        encode_item_line(read_line(ion.as_bytes())?.item.view(), &mut line);
        Ok(String::from_utf8(line).unwrap().trim_end().to_owned())
    }

    const ALL: &str = r#"{"Item":{"Id":{"N":"103"},"Price":{"N":"-0.25"},"a b":{"S":"q\"\\\n'ü\u0001"},"b":{"B":"AP8="},"bool":{"BOOL":true},"bs":{"BS":["AQ==","Ag=="]},"l":{"L":[{"NULL":true},{"M":{}},{"L":[]},{"N":"1"}]},"m":{"M":{"null":{"S":""}}},"ns":{"NS":["1","2.5"]},"ss":{"SS":["a","b"]}}}"#;

    #[test]
    fn every_type_survives_a_round_trip() {
        assert_eq!(json_of(&ion_of(ALL)).unwrap(), ALL);
    }

    #[test]
    fn types_are_written_like_aws() {
        let ion = ion_of(ALL);
        for part in [
            "$ion_1_0 {Item:{Id:103.,",
            "Price:-0.25",
            "ss:$dynamodb_SS::[\"a\",\"b\"]",
            "b:{{AP8=}}",
            "'null':\"\"",
        ] {
            assert!(ion.contains(part), "{part} in {ion}");
        }
    }

    #[test]
    fn a_change_is_a_record_with_its_images() {
        let keys = decode_put_line(br#"{"Item":{"Id":{"N":"103"}}}"#).unwrap().item;
        let new = decode_put_line(br#"{"Item":{"Id":{"N":"103"},"a b":{"S":"x"}}}"#).unwrap().item;
        let change = ChangeLine {
            written_micros: 1_712_345_678_901_234,
            keys: keys.view(),
            new_image: Some(new.view()),
            old_image: None,
        };
        let written = |change: &ChangeLine<'_>| {
            let mut line = Vec::new();
            write_change_line(change, &mut line);
            String::from_utf8(line).unwrap()
        };
        let start = "$ion_1_0 {Record:{Metadata:{WriteTimestampMicros:1712345678901234.},Keys:{Id:103.}";
        assert_eq!(written(&change), format!("{start},NewImage:{{Id:103.,'a b':\"x\"}}}}}}\n"));
        let deleted = ChangeLine { new_image: None, old_image: Some(keys.view()), ..change };
        assert_eq!(written(&deleted), format!("{start},OldImage:{{Id:103.}}}}}}\n"));
    }

    #[test]
    fn lines_of_aws_are_read() {
        let line = r#"$ion_1_0 {Item:{Authors:$dynamodb_SS::["Author1","Author2"],Id:103.,InPublication:false,PageCount:6d2,Price:2d3,Title:"Book"}}"#;
        assert_eq!(
            json_of(line).unwrap(),
            r#"{"Item":{"Authors":{"SS":["Author1","Author2"]},"Id":{"N":"103"},"InPublication":{"BOOL":false},"PageCount":{"N":"600"},"Price":{"N":"2000"},"Title":{"S":"Book"}}}"#
        );
        let spaced = "{ Item : { /* a */ x : 1 , 'y' : null.string, z: sym, } } // end";
        assert_eq!(json_of(spaced).unwrap(), r#"{"Item":{"x":{"N":"1"},"y":{"NULL":true},"z":{"S":"sym"}}}"#);
    }

    #[test]
    fn conditions_are_the_same_as_in_json() {
        let ion = r#"{Item:{a:1},ConditionExpression:"attribute_not_exists(a) OR #b < :v",ExpressionAttributeNames:{'#b':"b"},ExpressionAttributeValues:{':v':5}}"#;
        let json = r##"{"Item":{"a":{"N":"1"}},"ConditionExpression":"attribute_not_exists(a) OR #b < :v","ExpressionAttributeNames":{"#b":"b"},"ExpressionAttributeValues":{":v":{"N":"5"}}}"##;
        assert_eq!(read_line(ion.as_bytes()).unwrap(), decode_put_line(json.as_bytes()).unwrap());
        for invalid in [
            "{Item:{a:1},ConditionExpression:1}",
            "{Item:{a:1},ConditionExpression:\"a = :a\"}",
            "{Item:{a:1},ConditionExpression:\"#a = #a\",ExpressionAttributeNames:{'#a':1}}",
        ] {
            assert!(read_line(invalid.as_bytes()).is_err(), "{invalid}");
        }
    }

    #[test]
    fn the_nesting_limit_is_the_same_as_in_json() {
        for levels in [1, 30, 31, 32, 33, 34] {
            for innermost in ["", "1"] {
                let (open, close) = ("[".repeat(levels), "]".repeat(levels));
                let ion = read_line(format!("{{Item:{{a:{open}{innermost}{close}}}}}").as_bytes());
                let innermost = if innermost.is_empty() { "" } else { r#"{"N":"1"}"# };
                let (open, close) = (r#"{"L":["#.repeat(levels), "]}".repeat(levels));
                let json = format!(r#"{{"Item":{{"a":{open}{innermost}{close}}}}}"#);
                assert_eq!(ion.ok(), decode_put_line(json.as_bytes()).ok(), "{levels} {innermost}");
            }
        }
    }

    #[test]
    fn invalid_lines_are_rejected() {
        let deep = format!("{{Item:{{a:{}{}}}}}", "[".repeat(10_000), "]".repeat(10_000));
        for line in [
            "",
            "{",
            "{Item:",
            "{Item:1}",
            "{Other:{}}",
            "{Item:{a:}}",
            "{Item:{a:1}} x",
            "{Item:{a:\"x}}",
            "{Item:{a:x::[1]}}",
            "{Item:{a:$dynamodb_SS::[]}}",
            "{Item:{a:$dynamodb_SS::[1]}}",
            "{Item:{a:{{!}}}}",
            "{Item:{a:1x}}",
            "{Item:{a:nan}}",
            "{Item:{a:[+inf]}}",
            "{Item:{a:-inf}}",
            "{Item:{\"\":1}}",
            "{Item:{a:\"\\q\"}}",
            "{Item:{a:1 b:2}}",
            &deep,
        ] {
            assert!(json_of(line).is_err(), "{line}");
        }
    }
}
