//! Reads puts from lines of Ion text.

use crate::ion::VERSION_MARKER;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use partita_value::{Encoder, Item, Number, ValueRef, limits};
use partita_wire::{PutLine, condition_of_members};
use std::str::Chars;

/// Limit for nesting, which also keeps hostile text from exhausting the stack. The record and its Item are the first
/// levels, counted from 0.
const MAX_DEPTH: usize = limits::NESTING_LEVELS + 1;

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
