//! Records of comma-separated values, as they come in pieces. Quotes around a field keep delimiters and line ends in it, two
//! quotes in these are one; a quote anywhere else is a character like others.
//!
//! The `csv-core` crate takes records apart. It forgives quotes that are never closed and text behind a closing one; both mean that
//! fields or whole lines have run into each other, so here such a record is an error.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use partita_value::{Encoder, Item, ScalarType, limits};
use std::collections::HashSet;

const QUOTE: u8 = b'"';
/// How much room there is for a record's text and fields at first.
const ROOM: usize = 256;

/// What was found in a piece of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// The piece is used up, and the record goes on in the next.
    Part,
    Record,
    /// There are no more records.
    End,
}

/// Takes one record after another apart.
pub struct CsvRecords {
    reader: Reader,
    delimiter: u8,
    columns: Option<Vec<Column>>,
    keys: Vec<(String, ScalarType)>,
    /// The fields of the record one behind another, without quotes, and where each ends. Both have room to spare.
    text: Vec<u8>,
    ends: Vec<usize>,
    text_length: usize,
    fields: usize,
    is_whole: bool,
}

struct Column {
    name: String,
    /// Keys have their types; all else is text.
    kind: ScalarType,
}

impl CsvRecords {
    /// If no header is given, the first record names the columns.
    pub fn new(
        delimiter: u8,
        header: Option<&[String]>,
        keys: &[(String, ScalarType)],
    ) -> Result<CsvRecords, String> {
        let keys = keys.to_vec();
        let columns = header.map(|names| columns(names.iter().map(String::as_str), &keys)).transpose()?;
        Ok(CsvRecords {
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            delimiter,
            columns,
            keys,
            text: vec![0; ROOM],
            ends: vec![0; ROOM],
            text_length: 0,
            fields: 0,
            is_whole: false,
        })
    }

    /// Looks at the next piece of the file, an empty one at its end, and says how much of it was used.
    pub fn read(&mut self, piece: &[u8]) -> (Found, usize) {
        if self.is_whole {
            (self.text_length, self.fields, self.is_whole) = (0, 0, false);
        }
        let mut used = 0;
        loop {
            let (text, ends) = (&mut self.text[self.text_length..], &mut self.ends[self.fields..]);
            let (result, read, written, ended) = self.reader.read_record(&piece[used..], text, ends);
            used += read;
            self.text_length += written;
            self.fields += ended;
            match result {
                ReadRecordResult::OutputFull => self.text.resize(self.text.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::InputEmpty => return (Found::Part, used),
                ReadRecordResult::End => return (Found::End, used),
                ReadRecordResult::Record => {
                    self.is_whole = true;
                    return (Found::Record, used);
                }
            }
            // An empty piece would mean the end of the file.
            if used == piece.len() && used > 0 {
                return (Found::Part, used);
            }
        }
    }

    /// Whether the columns are known.
    pub fn has_header(&self) -> bool {
        self.columns.is_some()
    }

    /// Whether the record has one field only, as a blank line has.
    pub fn is_single(&self) -> bool {
        self.fields == 1
    }

    /// Takes the record for the names of the columns. `raw` is the record as it stands in the file.
    pub fn take_header(&mut self, raw: &[u8]) -> Result<(), String> {
        self.check_quotes(raw)?;
        let names = self.texts().collect::<Result<Vec<_>, _>>()?;
        self.columns = Some(columns(names.into_iter(), &self.keys)?);
        Ok(())
    }

    pub fn item(&self, raw: &[u8]) -> Result<Item, String> {
        self.check_quotes(raw)?;
        let columns = self.columns.as_deref().unwrap_or_default();
        if self.fields > columns.len() {
            return Err(format!("{} fields, but {} columns", self.fields, columns.len()));
        }
        let mut outcome = Ok(());
        let item = Item::build(|encoder| {
            outcome =
                columns.iter().zip(self.texts()).try_for_each(|(column, text)| column.write(text?, encoder));
        });
        outcome.map(|()| item)
    }

    fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends[..self.fields]).map(|(start, end)| &self.text[start..*end])
    }

    fn texts(&self) -> impl Iterator<Item = Result<&str, String>> {
        self.fields().map(|field| std::str::from_utf8(field).map_err(|_| "a field is not UTF-8".to_owned()))
    }

    /// A quoted field must stand in the file as its text would be quoted.
    fn check_quotes(&self, raw: &[u8]) -> Result<(), String> {
        let mut rest = Some(raw);
        for field in self.fields() {
            let here = rest.unwrap_or_default();
            let is_quoted = here.first() == Some(&QUOTE);
            let quotes = field.iter().filter(|byte| **byte == QUOTE).count();
            let length = if is_quoted { field.len() + quotes + 2 } else { field.len() };
            if is_quoted && here.get(length - 1) != Some(&QUOTE) {
                return Err("a quote is not closed, or text is behind a closing one".to_owned());
            }
            rest = match here.get(length) {
                None => None,
                Some(byte) if *byte == self.delimiter => here.get(length + 1..),
                Some(_) => return Err("text is behind a closing quote".to_owned()),
            };
        }
        Ok(())
    }
}

impl Column {
    fn write(&self, text: &str, encoder: &mut Encoder) -> Result<(), String> {
        encoder.name(&self.name);
        let bad = |error: &dyn std::fmt::Display| format!("column {}: {error}", self.name);
        match self.kind {
            ScalarType::S => encoder.string(text),
            ScalarType::N => encoder.number_text(text).map_err(|error| bad(&error))?,
            ScalarType::B => encoder.binary(&STANDARD.decode(text).map_err(|error| bad(&error))?),
        }
        Ok(())
    }
}

/// The columns with these names: each an attribute, and no two the same.
fn columns<'a>(
    names: impl Iterator<Item = &'a str>,
    keys: &[(String, ScalarType)],
) -> Result<Vec<Column>, String> {
    let mut known = HashSet::new();
    let column = |(number, name): (usize, &'a str)| {
        if name.is_empty() || name.len() > limits::ATTRIBUTE_NAME_BYTES {
            return Err(format!("the header's column {} has no name that an attribute can have", number + 1));
        }
        if !known.insert(name) {
            return Err(format!("the header names the column {name} twice"));
        }
        let key = keys.iter().find(|(key, _)| key == name);
        Ok(Column { name: name.to_owned(), kind: key.map_or(ScalarType::S, |(_, kind)| *kind) })
    };
    names.enumerate().map(column).collect()
}
