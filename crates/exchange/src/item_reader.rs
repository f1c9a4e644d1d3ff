//! Puts out of a file, one record after another. What is wrong with a record is told, and the next one is read. A file may come in
//! pieces of any size; no more of it is held than one record, which is bounded.

use crate::byte_order_mark::Unmarked;
use crate::csv::{CsvRecords, Found};
use crate::ion;
use partita_api::ExceptionKind;
use partita_value::{ScalarType, limits};
pub use partita_wire::{PutLine, decode_put_line};
use std::io::BufRead;
use std::ops::Range;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputFormat {
    DynamoDbJson,
    Ion,
    Csv {
        delimiter: u8,
        /// The columns; if none are given, the first record of each file names them.
        header: Option<Vec<String>>,
        /// Columns that are keys have their types; all others are text.
        keys: Vec<(String, ScalarType)>,
    },
}

/// What comes next in a file.
pub enum Next {
    Record(Box<Record>),
    /// A blank line, or the names of columns: so many bytes without a record.
    Nothing(u64),
    End,
}

/// One record: how long it is, and the put or why there is none.
pub struct Record {
    pub bytes: u64,
    pub put: Result<PutLine, String>,
}

/// A record this long cannot be an item; the rest of its file is not looked at.
pub const MOST_BYTES: usize = 16 << 20;

enum Records {
    DynamoDbJson,
    Ion,
    Csv(Box<CsvRecords>),
}

pub struct ItemReader<R> {
    source: Unmarked<R>,
    records: Result<Records, String>,
    buffer: Vec<u8>,
    /// Where in the buffer the record lies that was read last.
    record: Range<usize>,
    /// Behind it, what is still to be read of the same line.
    further: Range<usize>,
}

impl<R: BufRead> ItemReader<R> {
    pub fn new(source: R, format: &InputFormat) -> ItemReader<R> {
        let records = match format {
            InputFormat::DynamoDbJson => Ok(Records::DynamoDbJson),
            InputFormat::Ion => Ok(Records::Ion),
            InputFormat::Csv { delimiter, header, keys } => {
                CsvRecords::new(*delimiter, header.as_deref(), keys)
                    .map(|records| Records::Csv(Box::new(records)))
            }
        };
        ItemReader { source: Unmarked::new(source), records, buffer: Vec::new(), record: 0..0, further: 0..0 }
    }

    /// The next record. An error means that nothing more can be understood.
    pub fn read(&mut self) -> std::io::Result<Next> {
        if !self.further.is_empty() {
            return Ok(Next::Record(Box::new(self.record_of_many())));
        }
        self.buffer.clear();
        match &mut self.records {
            Err(reason) => Err(std::io::Error::other(reason.clone())),
            Ok(Records::Csv(_)) => self.csv_record(),
            Ok(Records::DynamoDbJson) => self.line(ItemReader::json_record),
            Ok(Records::Ion) => self.line(|reader| {
                let put = ion::read_line(reader.text());
                Record { bytes: reader.buffer.len() as u64, put: put.and_then(of_allowed_size) }
            }),
        }
    }

    /// The text of the record that was read last.
    pub fn text(&self) -> &[u8] {
        &self.buffer[self.record.clone()]
    }

    /// Reads a line, and its record if it is not blank.
    fn line(&mut self, record: impl FnOnce(&mut Self) -> Record) -> std::io::Result<Next> {
        std::io::Read::take(&mut self.source, MOST_BYTES as u64).read_until(b'\n', &mut self.buffer)?;
        self.check_length()?;
        self.record = 0..self.buffer.trim_ascii_end().len();
        Ok(match (self.buffer.len(), self.has_no_record()) {
            (0, _) => Next::End,
            (bytes, true) => Next::Nothing(bytes as u64),
            _ => Next::Record(Box::new(record(self))),
        })
    }

    /// A blank line, or one that only says which Ion the next ones are.
    fn has_no_record(&self) -> bool {
        let is_ion = matches!(self.records, Ok(Records::Ion));
        self.record.is_empty() || is_ion && self.text().trim_ascii() == ion::VERSION_MARKER.as_bytes()
    }

    fn check_length(&self) -> std::io::Result<()> {
        if self.buffer.len() >= MOST_BYTES {
            return Err(std::io::Error::other("a record is too long to be an item"));
        }
        Ok(())
    }

    /// A line that is no single record may hold several.
    fn json_record(&mut self) -> Record {
        let put = decoded(self.text());
        if put.is_err() && first_object(&self.buffer, self.record.clone()).end < self.record.end {
            self.further = self.record.clone();
            return self.record_of_many();
        }
        Record { bytes: self.buffer.len() as u64, put }
    }

    /// The next record in a line that holds several.
    fn record_of_many(&mut self) -> Record {
        self.record = first_object(&self.buffer, self.further.clone());
        self.further = self.record.end..self.further.end;
        if self.buffer[self.further.clone()].trim_ascii().is_empty() {
            self.further = 0..0;
        }
        Record { bytes: self.record.len() as u64, put: decoded(self.text()) }
    }

    fn csv_record(&mut self) -> std::io::Result<Next> {
        loop {
            let piece = self.source.fill_buf()?;
            let Ok(Records::Csv(records)) = &mut self.records else { return Ok(Next::End) };
            let (found, used) = records.read(piece);
            self.buffer.extend_from_slice(&piece[..used]);
            self.source.consume(used);
            self.check_length()?;
            match found {
                Found::Record => return self.csv_put(),
                Found::End => return Ok(Next::End),
                Found::Part if self.buffer.iter().all(is_line_break) => {
                    return Ok(Next::Nothing(self.buffer.len() as u64));
                }
                Found::Part => {}
            }
        }
    }

    /// The put of the record in the buffer; nothing if that is the header, or a blank line.
    fn csv_put(&mut self) -> std::io::Result<Next> {
        let start = self.buffer.iter().position(|byte| !is_line_break(byte)).unwrap_or(self.buffer.len());
        let end = self.buffer.iter().rposition(|byte| !is_line_break(byte)).map_or(start, |last| last + 1);
        self.record = start..end;
        let bytes = self.buffer.len() as u64;
        let raw = &self.buffer[start..end];
        let Ok(Records::Csv(records)) = &mut self.records else { return Ok(Next::End) };
        if records.is_single() && raw.trim_ascii().is_empty() {
            return Ok(Next::Nothing(bytes));
        }
        if !records.has_header() {
            records.take_header(raw).map_err(std::io::Error::other)?;
            return Ok(Next::Nothing(bytes));
        }
        let put = records.item(raw).map(|item| PutLine { item, condition: None });
        Ok(Next::Record(Box::new(Record { bytes, put: put.and_then(of_allowed_size) })))
    }
}

fn is_line_break(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn decoded(text: &[u8]) -> Result<PutLine, String> {
    let put = decode_put_line(text).map_err(|exception| match exception.kind {
        // AWS's answer to such a request has no message.
        ExceptionKind::SerializationException if exception.message.is_empty() => {
            "the record is no JSON object".to_owned()
        }
        _ => exception.message,
    });
    put.and_then(of_allowed_size)
}

/// Where the first of the objects lies that follow each other without a break. What is behind the last one counts as one more.
fn first_object(text: &[u8], within: Range<usize>) -> Range<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for at in within.clone() {
        match text[at] {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted && depth <= 1 => return within.start..at + 1,
            b'}' if !quoted => depth -= 1,
            _ => {}
        }
    }
    within
}

fn of_allowed_size(put: PutLine) -> Result<PutLine, String> {
    if put.item.size() > limits::ITEM_BYTES {
        return Err("Item size has exceeded the maximum allowed size".to_owned());
    }
    Ok(put)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    fn read(format: InputFormat, text: &str) -> Vec<Result<String, String>> {
        let whole = read_in_pieces(&format, text, 8192);
        for capacity in [1, 2, 3, 7, 64] {
            assert_eq!(read_in_pieces(&format, text, capacity), whole, "in pieces of {capacity}");
        }
        whole
    }

    fn read_in_pieces(format: &InputFormat, text: &str, capacity: usize) -> Vec<Result<String, String>> {
        let mut reader = ItemReader::new(BufReader::with_capacity(capacity, text.as_bytes()), format);
        let mut all = Vec::new();
        loop {
            match reader.read() {
                Ok(Next::End) => return all,
                Ok(Next::Nothing(_)) => {}
                Ok(Next::Record(record)) => all.push(record.put.map(|put| {
                    let mut line = Vec::new();
                    partita_wire::encode_item_line(put.item.view(), &mut line);
                    String::from_utf8(line).unwrap().trim_end().to_owned()
                })),
                Err(error) => {
                    all.push(Err(format!("given up: {error}")));
                    return all;
                }
            }
        }
    }

    #[test]
    fn a_bad_line_is_told_and_the_next_is_read() {
        let lines = "{\"Item\":{\"a\":{\"S\":\"1\"}}}\n\n{\"Item\":\n{\"Item\":{\"a\":{\"S\":\"2\"}}}";
        let read = read(InputFormat::DynamoDbJson, lines);
        assert_eq!(read.len(), 3);
        assert!(read[0].is_ok() && read[1].is_err());
        assert_eq!(read[2].as_deref(), Ok("{\"Item\":{\"a\":{\"S\":\"2\"}}}"));
    }

    #[test]
    fn a_line_that_only_says_which_ion_it_is_holds_no_record() {
        let read_ion =
            read(InputFormat::Ion, "$ion_1_0\n{Item:{a:1}}\n $ion_1_0 \r\n$ion_1_0 {Item:{a:2}}\n$ion_1_1\n");
        let item = |n: u8| Ok(format!(r#"{{"Item":{{"a":{{"N":"{n}"}}}}}}"#));
        assert_eq!(read_ion[..2], [item(1), item(2)]);
        assert!(read_ion[2].is_err() && read_ion.len() == 3);
        assert!(read(InputFormat::DynamoDbJson, "$ion_1_0\n")[0].is_err());
    }

    #[test]
    fn records_may_follow_each_other_in_a_line() {
        let lines = "{\"Item\":{\"a\":{\"S\":\"}{\\\"\"}}}{\"Item\":{\"a\":{\"S\":\"2\"}}} {\"Item\":{}}\n{\"Item\":{\"a\":{\"S\":\"4\"}}}]\n";
        let read = read(InputFormat::DynamoDbJson, lines);
        assert_eq!(read.len(), 5);
        assert_eq!(read[0].as_deref(), Ok("{\"Item\":{\"a\":{\"S\":\"}{\\\"\"}}}"));
        assert_eq!(read[1].as_deref(), Ok("{\"Item\":{\"a\":{\"S\":\"2\"}}}"));
        assert_eq!(read[3].as_deref(), Ok("{\"Item\":{\"a\":{\"S\":\"4\"}}}"));
        assert!(read[4].is_err());
    }

    #[test]
    fn a_line_that_is_no_json_is_told_so() {
        for line in ["no json", "{\"Item\":{\"a\":{\"S\":\"1\"}}", "[]", "\u{feff}\u{feff}{}"] {
            let read = read(InputFormat::DynamoDbJson, line);
            assert!(read.len() == 1 && read[0].as_ref().is_err_and(|reason| !reason.is_empty()), "{read:?}");
        }
        let marked = read(InputFormat::DynamoDbJson, "\u{feff}{\"Item\":{\"a\":{\"S\":\"1\"}}}");
        assert_eq!(marked[0].as_deref(), Ok("{\"Item\":{\"a\":{\"S\":\"1\"}}}"));
    }

    fn csv(delimiter: u8, header: Option<&[&str]>) -> InputFormat {
        InputFormat::Csv {
            delimiter,
            header: header.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
            keys: vec![("id".to_owned(), ScalarType::N), ("b".to_owned(), ScalarType::B)],
        }
    }

    #[test]
    fn csv_has_a_header_and_typed_keys() {
        let text = "id,name,b\r\n1,\"a \"\"b\"\",\nc\",AQ==\n2,,\nx,y,AQ==\n1,2,AQ==,4\n";
        let rows = read(csv(b',', None), text);
        assert_eq!(
            rows[0].as_deref(),
            Ok(r#"{"Item":{"b":{"B":"AQ=="},"id":{"N":"1"},"name":{"S":"a \"b\",\nc"}}}"#)
        );
        assert_eq!(rows[1].as_deref(), Ok(r#"{"Item":{"b":{"B":""},"id":{"N":"2"},"name":{"S":""}}}"#));
        assert!(rows[2].is_err() && rows[3].is_err() && rows.len() == 4);
        let named = read(csv(b',', Some(&["id", "x"])), "1,first\n");
        assert_eq!(named[0].as_deref(), Ok(r#"{"Item":{"id":{"N":"1"},"x":{"S":"first"}}}"#));
    }

    /// What is in the column `x`, or that the record is an error.
    fn texts(delimiter: u8, text: &str) -> Vec<Option<String>> {
        let rows = read(csv(delimiter, Some(&["id", "x"])), text);
        let shown =
            |row: String| row.split(r#""x":{"S":""#).nth(1).map(|rest| rest[..rest.len() - 4].to_owned());
        rows.into_iter().map(|row| row.ok().map(|row| shown(row).unwrap_or_default())).collect()
    }

    #[test]
    fn quotes_within_a_field_are_characters() {
        let inches = |text: &str| Some(format!("{text}\\\" pipe"));
        assert_eq!(texts(b',', "1,5\" pipe\n2,6\" pipe\n"), [inches("5"), inches("6")]);
        assert_eq!(texts(b',', "1,5\" pipe"), [inches("5")]);
        assert_eq!(
            texts(b';', "1;a \"b\" c\n2;\"\"\n"),
            [Some(r#"a \"b\" c"#.to_owned()), Some(String::new())]
        );
    }

    #[test]
    fn fields_that_run_into_each_other_are_errors() {
        let good = || Some("good".to_owned());
        // Text behind a closing quote; the next line is read.
        assert_eq!(texts(b',', "1,\"a\"b\n2,good\n"), [None, good()]);
        assert_eq!(texts(b',', "1,\"a\"b\"\n2,good\n"), [None, good()]);
        assert_eq!(texts(b',', "1,\"a\" \n2,good\n"), [None, good()]);
        // A quote that is closed lines later swallows these, and the record that it is in is an error.
        assert_eq!(texts(b',', "1,\"a\n2,b\n3,\"c\"\n4,good\n"), [None, good()]);
        // A quote that is never closed.
        assert_eq!(texts(b',', "1,good\n2,\"a\n3,b\n"), [good(), None]);
        assert_eq!(texts(b',', "1,\""), [None]);
        assert_eq!(texts(b',', "1,\"\"\"\n"), [None]);
        assert_eq!(texts(b',', "1,good\n2,\u{fffd}\n").len(), 2);
    }

    #[test]
    fn line_ends_blank_lines_and_delimiters() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            texts(b',', "\n\r\n1,a\r\n\r\n \n2, b \n\n3,\"c\r\nd\"\r\n"),
            [some("a"), some(" b "), some("c\\r\\nd")]
        );
        assert_eq!(texts(b'\t', "1\ta,b\n2\t\t\n3\t\n"), [some("a,b"), None, some("")]);
        assert_eq!(texts(b' ', "1 a\n2  b\n"), [some("a"), None]);
        assert_eq!(texts(b'|', "1|\"a|b\"\n2\n"), [some("a|b"), some("")]);
    }

    #[test]
    fn a_header_names_attributes_each_once() {
        let marked = read(csv(b',', None), "\u{feff}\"id\",x\n1,y\n");
        assert_eq!(marked[0].as_deref(), Ok(r#"{"Item":{"id":{"N":"1"},"x":{"S":"y"}}}"#));
        for bad in ["id,x,x\n1,2,3\n", "id,,x\n1,2,3\n", "id,x,\n1,2,3\n", "id,\"x\"y\n1,2\n"] {
            let rows = read(csv(b',', None), bad);
            assert!(
                rows.len() == 1 && rows[0].as_ref().is_err_and(|reason| reason.starts_with("given up")),
                "{rows:?}"
            );
        }
        assert!(read(csv(b',', Some(&["id", "id"])), "1,2\n")[0].is_err());
        assert_eq!(read(csv(b',', None), "id,x\n"), []);
        assert_eq!(read(csv(b',', None), ""), []);
    }

    #[test]
    fn a_record_is_never_larger_than_the_bound() {
        let endless = || std::io::repeat(b'x').take(1 << 40);
        let quoted = || b"1,\"".as_slice().chain(endless());
        for (source, format) in [
            (Box::new(endless()) as Box<dyn Read>, InputFormat::DynamoDbJson),
            (Box::new(endless()), InputFormat::Ion),
            (Box::new(endless()), csv(b',', None)),
            (Box::new(quoted()), csv(b',', Some(&["id", "x"]))),
        ] {
            let mut reader = ItemReader::new(BufReader::new(source), &format);
            assert!(reader.read().is_err());
            assert!(reader.buffer.capacity() <= 2 * MOST_BYTES);
        }
    }

    #[test]
    fn blank_lines_without_end_come_bit_by_bit() {
        for format in [InputFormat::DynamoDbJson, InputFormat::Ion, csv(b',', None)] {
            let mut reader = ItemReader::new(BufReader::new(std::io::repeat(b'\n')), &format);
            assert!((0..100).all(|_| matches!(reader.read(), Ok(Next::Nothing(1..=8192)))));
        }
    }
}
