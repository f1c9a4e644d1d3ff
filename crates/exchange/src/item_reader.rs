//! Reads puts from a file, one record at a time. An invalid record is reported, and reading continues with the next. The
//! file may arrive in pieces of any size; at most one record, whose size is limited, is in memory.

use crate::byte_order_mark::SkipByteOrderMark;
use crate::csv::{CsvRecords, Progress};
use crate::ion;
use partita_api::ExceptionKind;
use partita_value::{ScalarType, limits};
pub use partita_wire::{PutLine, decode_put_line};
use std::io::BufRead;
use std::ops::Range;

/// The format of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputFormat {
    DynamoDbJson,
    Ion,
    Csv {
        delimiter: u8,
        /// The columns; if `None`, the first record of each file names them.
        header: Option<Vec<String>>,
        /// The types of columns that are keys; all others are strings.
        keys: Vec<(String, ScalarType)>,
    },
}

/// The result of reading the next part of a file.
pub enum NextRecord {
    /// A record.
    Record(Box<Record>),
    /// This many bytes without a record: a blank line or the names of columns.
    Skipped(u64),
    /// The end of the file.
    End,
}

/// One record.
pub struct Record {
    /// The length of the record in the file.
    pub bytes: u64,
    /// The put, or why the record is invalid.
    pub put: Result<PutLine, String>,
}

/// A record this long cannot be an item; the rest of its file is not read.
pub const MAX_RECORD_BYTES: usize = 16 << 20;

enum Records {
    DynamoDbJson,
    Ion,
    Csv(Box<CsvRecords>),
}

/// Reads the records of a file.
pub struct ItemReader<R> {
    source: SkipByteOrderMark<R>,
    records: Result<Records, String>,
    buffer: Vec<u8>,
    /// The last record read, in the buffer.
    record: Range<usize>,
    /// The unread rest of the same line.
    rest_of_line: Range<usize>,
}

impl<R: BufRead> ItemReader<R> {
    /// Creates a reader of a file.
    pub fn new(source: R, format: &InputFormat) -> ItemReader<R> {
        let records = match format {
            InputFormat::DynamoDbJson => Ok(Records::DynamoDbJson),
            InputFormat::Ion => Ok(Records::Ion),
            InputFormat::Csv { delimiter, header, keys } => {
                CsvRecords::new(*delimiter, header.as_deref(), keys)
                    .map(|records| Records::Csv(Box::new(records)))
            }
        };
        ItemReader {
            source: SkipByteOrderMark::new(source),
            records,
            buffer: Vec::new(),
            record: 0..0,
            rest_of_line: 0..0,
        }
    }

    /// Reads the next record. After an error the rest of the file cannot be read.
    pub fn read(&mut self) -> std::io::Result<NextRecord> {
        if !self.rest_of_line.is_empty() {
            return Ok(NextRecord::Record(Box::new(self.next_in_line())));
        }
        self.buffer.clear();
        match &mut self.records {
            Err(reason) => Err(std::io::Error::other(reason.clone())),
            Ok(Records::Csv(_)) => self.csv_record(),
            Ok(Records::DynamoDbJson) => self.line(ItemReader::json_record),
            Ok(Records::Ion) => self.line(|reader| {
                let put = ion::read_line(reader.text());
                Record { bytes: reader.buffer.len() as u64, put: put.and_then(check_size) }
            }),
        }
    }

    /// Returns the text of the last record read.
    pub fn text(&self) -> &[u8] {
        &self.buffer[self.record.clone()]
    }

    /// Reads a line and its record, if it has one.
    fn line(&mut self, record: impl FnOnce(&mut Self) -> Record) -> std::io::Result<NextRecord> {
        std::io::Read::take(&mut self.source, MAX_RECORD_BYTES as u64).read_until(b'\n', &mut self.buffer)?;
        self.check_length()?;
        self.record = 0..self.buffer.trim_ascii_end().len();
        Ok(match (self.buffer.len(), self.has_no_record()) {
            (0, _) => NextRecord::End,
            (bytes, true) => NextRecord::Skipped(bytes as u64),
            _ => NextRecord::Record(Box::new(record(self))),
        })
    }

    /// Returns whether the line is blank or only an Ion version marker.
    fn has_no_record(&self) -> bool {
        let is_ion = matches!(self.records, Ok(Records::Ion));
        self.record.is_empty() || is_ion && self.text().trim_ascii() == ion::VERSION_MARKER.as_bytes()
    }

    fn check_length(&self) -> std::io::Result<()> {
        if self.buffer.len() >= MAX_RECORD_BYTES {
            return Err(std::io::Error::other("a record is too long to be an item"));
        }
        Ok(())
    }

    /// Reads a line that is a record or, if it cannot be decoded as one, several records.
    fn json_record(&mut self) -> Record {
        let put = decode(self.text());
        if put.is_err() && first_object(&self.buffer, self.record.clone()).end < self.record.end {
            self.rest_of_line = self.record.clone();
            return self.next_in_line();
        }
        Record { bytes: self.buffer.len() as u64, put }
    }

    /// Reads the next record of a line that contains several.
    fn next_in_line(&mut self) -> Record {
        self.record = first_object(&self.buffer, self.rest_of_line.clone());
        self.rest_of_line = self.record.end..self.rest_of_line.end;
        if self.buffer[self.rest_of_line.clone()].trim_ascii().is_empty() {
            self.rest_of_line = 0..0;
        }
        Record { bytes: self.record.len() as u64, put: decode(self.text()) }
    }

    fn csv_record(&mut self) -> std::io::Result<NextRecord> {
        loop {
            let piece = self.source.fill_buf()?;
            let Ok(Records::Csv(records)) = &mut self.records else { return Ok(NextRecord::End) };
            let (progress, used) = records.read(piece);
            self.buffer.extend_from_slice(&piece[..used]);
            self.source.consume(used);
            self.check_length()?;
            match progress {
                Progress::Record => return self.csv_put(),
                Progress::End => return Ok(NextRecord::End),
                Progress::Partial if self.buffer.iter().all(is_line_break) => {
                    return Ok(NextRecord::Skipped(self.buffer.len() as u64));
                }
                Progress::Partial => {}
            }
        }
    }

    /// Converts the record in the buffer to a put, unless it is the header or a blank line.
    fn csv_put(&mut self) -> std::io::Result<NextRecord> {
        let start = self.buffer.iter().position(|byte| !is_line_break(byte)).unwrap_or(self.buffer.len());
        let end = self.buffer.iter().rposition(|byte| !is_line_break(byte)).map_or(start, |last| last + 1);
        self.record = start..end;
        let bytes = self.buffer.len() as u64;
        let raw = &self.buffer[start..end];
        let Ok(Records::Csv(records)) = &mut self.records else { return Ok(NextRecord::End) };
        if records.is_single() && raw.trim_ascii().is_empty() {
            return Ok(NextRecord::Skipped(bytes));
        }
        if !records.has_header() {
            records.take_header(raw).map_err(std::io::Error::other)?;
            return Ok(NextRecord::Skipped(bytes));
        }
        let put = records.item(raw).map(|item| PutLine { item, condition: None });
        Ok(NextRecord::Record(Box::new(Record { bytes, put: put.and_then(check_size) })))
    }
}

fn is_line_break(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn decode(text: &[u8]) -> Result<PutLine, String> {
    let put = decode_put_line(text).map_err(|exception| match exception.kind {
        // AWS's error for such a request has no message.
        ExceptionKind::SerializationException if exception.message.is_empty() => {
            "the record is not a JSON object".to_owned()
        }
        _ => exception.message,
    });
    put.and_then(check_size)
}

/// Returns the first of several concatenated objects. Text after the last one counts as another.
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

fn check_size(put: PutLine) -> Result<PutLine, String> {
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
                Ok(NextRecord::End) => return all,
                Ok(NextRecord::Skipped(_)) => {}
                Ok(NextRecord::Record(record)) => all.push(record.put.map(|put| {
                    let mut line = Vec::new();
                    partita_wire::encode_item_line(put.item.view(), &mut line);
                    String::from_utf8(line).unwrap().trim_end().to_owned()
                })),
                Err(error) => {
                    all.push(Err(format!("fatal: {error}")));
                    return all;
                }
            }
        }
    }

    #[test]
    fn reading_continues_after_an_invalid_line() {
        let lines = "{\"Item\":{\"a\":{\"S\":\"1\"}}}\n\n{\"Item\":\n{\"Item\":{\"a\":{\"S\":\"2\"}}}";
        let read = read(InputFormat::DynamoDbJson, lines);
        assert_eq!(read.len(), 3);
        assert!(read[0].is_ok() && read[1].is_err());
        assert_eq!(read[2].as_deref(), Ok("{\"Item\":{\"a\":{\"S\":\"2\"}}}"));
    }

    #[test]
    fn an_ion_version_marker_alone_is_not_a_record() {
        let read_ion =
            read(InputFormat::Ion, "$ion_1_0\n{Item:{a:1}}\n $ion_1_0 \r\n$ion_1_0 {Item:{a:2}}\n$ion_1_1\n");
        let item = |n: u8| Ok(format!(r#"{{"Item":{{"a":{{"N":"{n}"}}}}}}"#));
        assert_eq!(read_ion[..2], [item(1), item(2)]);
        assert!(read_ion[2].is_err() && read_ion.len() == 3);
        assert!(read(InputFormat::DynamoDbJson, "$ion_1_0\n")[0].is_err());
    }

    #[test]
    fn a_line_may_contain_several_records() {
        let lines = "{\"Item\":{\"a\":{\"S\":\"}{\\\"\"}}}{\"Item\":{\"a\":{\"S\":\"2\"}}} {\"Item\":{}}\n{\"Item\":{\"a\":{\"S\":\"4\"}}}]\n";
        let read = read(InputFormat::DynamoDbJson, lines);
        assert_eq!(read.len(), 5);
        assert_eq!(read[0].as_deref(), Ok("{\"Item\":{\"a\":{\"S\":\"}{\\\"\"}}}"));
        assert_eq!(read[1].as_deref(), Ok("{\"Item\":{\"a\":{\"S\":\"2\"}}}"));
        assert_eq!(read[3].as_deref(), Ok("{\"Item\":{\"a\":{\"S\":\"4\"}}}"));
        assert!(read[4].is_err());
    }

    #[test]
    fn a_line_that_is_not_json_is_an_error() {
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

    /// The values of the column `x`; `None` for invalid records.
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
    fn merged_fields_are_errors() {
        let good = || Some("good".to_owned());
        // Text after a closing quote; reading continues with the next line.
        assert_eq!(texts(b',', "1,\"a\"b\n2,good\n"), [None, good()]);
        assert_eq!(texts(b',', "1,\"a\"b\"\n2,good\n"), [None, good()]);
        assert_eq!(texts(b',', "1,\"a\" \n2,good\n"), [None, good()]);
        // A quote that is closed lines later merges the lines into one record, which is an error.
        assert_eq!(texts(b',', "1,\"a\n2,b\n3,\"c\"\n4,good\n"), [None, good()]);
        // A quote that is never closed.
        assert_eq!(texts(b',', "1,good\n2,\"a\n3,b\n"), [good(), None]);
        assert_eq!(texts(b',', "1,\""), [None]);
        assert_eq!(texts(b',', "1,\"\"\"\n"), [None]);
        assert_eq!(texts(b',', "1,good\n2,\u{fffd}\n").len(), 2);
    }

    #[test]
    fn line_breaks_blank_lines_and_delimiters_are_recognized() {
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
    fn a_header_has_distinct_valid_names() {
        let marked = read(csv(b',', None), "\u{feff}\"id\",x\n1,y\n");
        assert_eq!(marked[0].as_deref(), Ok(r#"{"Item":{"id":{"N":"1"},"x":{"S":"y"}}}"#));
        for invalid in ["id,x,x\n1,2,3\n", "id,,x\n1,2,3\n", "id,x,\n1,2,3\n", "id,\"x\"y\n1,2\n"] {
            let rows = read(csv(b',', None), invalid);
            assert!(
                rows.len() == 1 && rows[0].as_ref().is_err_and(|reason| reason.starts_with("fatal")),
                "{rows:?}"
            );
        }
        assert!(read(csv(b',', Some(&["id", "id"])), "1,2\n")[0].is_err());
        assert_eq!(read(csv(b',', None), "id,x\n"), []);
        assert_eq!(read(csv(b',', None), ""), []);
    }

    #[test]
    fn the_size_of_a_record_is_limited() {
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
            assert!(reader.buffer.capacity() <= 2 * MAX_RECORD_BYTES);
        }
    }

    #[test]
    fn endless_blank_lines_are_read_incrementally() {
        for format in [InputFormat::DynamoDbJson, InputFormat::Ion, csv(b',', None)] {
            let mut reader = ItemReader::new(BufReader::new(std::io::repeat(b'\n')), &format);
            assert!((0..100).all(|_| matches!(reader.read(), Ok(NextRecord::Skipped(1..=8192)))));
        }
    }
}
