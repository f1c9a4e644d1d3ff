//! Incremental reader of comma-separated values. A quoted field may contain delimiters and line breaks, and two quotes
//! in it stand for one; a quote anywhere else is an ordinary character.
//!
//! The `csv-core` crate splits records into fields. It accepts quotes that are never closed and text after a closing quote;
//! both mean that fields or whole lines were merged by mistake, so here such a record is an error.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use partita_value::{Encoder, Item, ScalarType, limits};
use std::collections::HashSet;

const QUOTE: u8 = b'"';
/// Initial capacity for the text and for the fields of a record.
const INITIAL_CAPACITY: usize = 256;

/// The state after reading a piece of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    /// The piece is consumed, and the record continues in the next.
    Partial,
    /// A record is complete.
    Record,
    /// There are no more records.
    End,
}

/// Splits records into fields, one record at a time.
pub struct CsvRecords {
    reader: Reader,
    delimiter: u8,
    columns: Option<Vec<Column>>,
    keys: Vec<(String, ScalarType)>,
    /// The concatenated fields of the record, without quotes, and the end of each. Both have spare capacity.
    text: Vec<u8>,
    ends: Vec<usize>,
    text_length: usize,
    fields: usize,
    is_complete: bool,
}

struct Column {
    name: String,
    /// Keys have their types; all other columns are strings.
    kind: ScalarType,
}

impl CsvRecords {
    /// Creates a reader. Without a header, the first record names the columns.
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
            text: vec![0; INITIAL_CAPACITY],
            ends: vec![0; INITIAL_CAPACITY],
            text_length: 0,
            fields: 0,
            is_complete: false,
        })
    }

    /// Reads the next piece of the file, which is empty at its end, and returns how much of it was consumed.
    pub fn read(&mut self, piece: &[u8]) -> (Progress, usize) {
        if self.is_complete {
            (self.text_length, self.fields, self.is_complete) = (0, 0, false);
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
                ReadRecordResult::InputEmpty => return (Progress::Partial, used),
                ReadRecordResult::End => return (Progress::End, used),
                ReadRecordResult::Record => {
                    self.is_complete = true;
                    return (Progress::Record, used);
                }
            }
            // Passing an empty piece would signal the end of the file.
            if used == piece.len() && used > 0 {
                return (Progress::Partial, used);
            }
        }
    }

    /// Returns whether the columns are known.
    pub fn has_header(&self) -> bool {
        self.columns.is_some()
    }

    /// Returns whether the record has only one field, like a blank line.
    pub fn is_single(&self) -> bool {
        self.fields == 1
    }

    /// Reads the names of the columns from the record. `raw` is the record as written in the file.
    pub fn take_header(&mut self, raw: &[u8]) -> Result<(), String> {
        self.check_quotes(raw)?;
        let names = self.texts().collect::<Result<Vec<_>, _>>()?;
        self.columns = Some(columns(names.into_iter(), &self.keys)?);
        Ok(())
    }

    /// Converts the record to an item. `raw` is the record as written in the file.
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

    /// Checks that every quoted field is written exactly as its text would be quoted.
    fn check_quotes(&self, raw: &[u8]) -> Result<(), String> {
        let mut rest = Some(raw);
        for field in self.fields() {
            let remaining = rest.unwrap_or_default();
            let is_quoted = remaining.first() == Some(&QUOTE);
            let quotes = field.iter().filter(|byte| **byte == QUOTE).count();
            let length = if is_quoted { field.len() + quotes + 2 } else { field.len() };
            if is_quoted && remaining.get(length - 1) != Some(&QUOTE) {
                return Err("a quote is not closed, or text follows a closing one".to_owned());
            }
            rest = match remaining.get(length) {
                None => None,
                Some(byte) if *byte == self.delimiter => remaining.get(length + 1..),
                Some(_) => return Err("text follows a closing quote".to_owned()),
            };
        }
        Ok(())
    }
}

impl Column {
    fn write(&self, text: &str, encoder: &mut Encoder) -> Result<(), String> {
        encoder.name(&self.name);
        let invalid = |error: &dyn std::fmt::Display| format!("column {}: {error}", self.name);
        match self.kind {
            ScalarType::S => encoder.string(text),
            ScalarType::N => encoder.number_text(text).map_err(|error| invalid(&error))?,
            ScalarType::B => encoder.binary(&STANDARD.decode(text).map_err(|error| invalid(&error))?),
        }
        Ok(())
    }
}

/// Returns the columns of these names, which must be valid attribute names and distinct.
fn columns<'a>(
    names: impl Iterator<Item = &'a str>,
    keys: &[(String, ScalarType)],
) -> Result<Vec<Column>, String> {
    let mut known = HashSet::new();
    let column = |(number, name): (usize, &'a str)| {
        if name.is_empty() || name.len() > limits::ATTRIBUTE_NAME_BYTES {
            return Err(format!("column {} of the header is not a valid attribute name", number + 1));
        }
        if !known.insert(name) {
            return Err(format!("the header has the column {name} twice"));
        }
        let key = keys.iter().find(|(key, _)| key == name);
        Ok(Column { name: name.to_owned(), kind: key.map_or(ScalarType::S, |(_, kind)| *kind) })
    };
    names.enumerate().map(column).collect()
}
