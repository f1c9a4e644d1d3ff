//! Puts out of a file, one record after another. What is wrong with a record is told, and the next one is read.

use crate::{csv, ion};
use partita_value::{ScalarType, limits};
pub use partita_wire::PutLine;
use partita_wire::decode_put_line;
use std::collections::VecDeque;
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

/// One record: how long it is, and the put or why there is none.
pub struct Record {
    pub bytes: u64,
    pub put: Result<PutLine, String>,
}

/// A record this long cannot be an item; the rest of its file is not looked at.
const MOST_BYTES: usize = 16 << 20;

pub struct ItemReader<R> {
    source: R,
    format: InputFormat,
    buffer: Vec<u8>,
    /// Where in the buffer the record lies that was read last.
    record: Range<usize>,
    /// Records of the same line that are still to be read.
    further: VecDeque<Range<usize>>,
}

impl<R: BufRead> ItemReader<R> {
    pub fn new(source: R, format: InputFormat) -> ItemReader<R> {
        ItemReader { source, format, buffer: Vec::new(), record: 0..0, further: VecDeque::new() }
    }

    /// The next record that is not blank.
    pub fn read(&mut self) -> std::io::Result<Option<Record>> {
        if let Some(next) = self.further.pop_front() {
            self.record = next;
            return Ok(Some(self.record_of_many()));
        }
        loop {
            if !self.next_text()? {
                return Ok(None);
            }
            let bytes = self.buffer.len() as u64;
            let text = self.buffer.trim_ascii_end();
            self.record = 0..text.len();
            if text.is_empty() {
                continue;
            }
            let put = match &mut self.format {
                InputFormat::DynamoDbJson => match decode_put_line(text) {
                    Err(_) if self.is_split() => return Ok(Some(self.record_of_many())),
                    decoded => decoded.map_err(|exception| exception.message),
                },
                InputFormat::Ion => ion::read_line(text),
                InputFormat::Csv { delimiter, header: header @ None, .. } => {
                    *header = Some(csv::fields(text, *delimiter).map_err(std::io::Error::other)?);
                    continue;
                }
                InputFormat::Csv { delimiter, header: Some(header), keys } => {
                    csv::item(text, *delimiter, header, keys).map(|item| PutLine { item, condition: None })
                }
            };
            return Ok(Some(Record { bytes, put: put.and_then(of_allowed_size) }));
        }
    }

    /// The text of the record that was read last.
    pub fn text(&self) -> &[u8] {
        &self.buffer[self.record.clone()]
    }

    /// Whether the line, which is no single record, holds several.
    fn is_split(&mut self) -> bool {
        self.further = objects(&self.buffer[self.record.clone()]).into();
        match self.further.len() {
            0 | 1 => {
                self.further.clear();
                false
            }
            _ => {
                self.record = self.further.pop_front().unwrap_or_default();
                true
            }
        }
    }

    /// The record in a line that holds several.
    fn record_of_many(&self) -> Record {
        let text = self.text();
        let put = decode_put_line(text).map_err(|exception| exception.message);
        Record { bytes: text.len() as u64, put: put.and_then(of_allowed_size) }
    }

    /// Reads a line; of CSV as many as belong together, because a quoted field may have several.
    fn next_text(&mut self) -> std::io::Result<bool> {
        self.buffer.clear();
        loop {
            let start = self.buffer.len();
            let read = std::io::Read::take(&mut self.source, MOST_BYTES as u64)
                .read_until(b'\n', &mut self.buffer)?;
            if self.buffer.len() >= MOST_BYTES {
                return Err(std::io::Error::other("a record is too long to be an item"));
            }
            let is_csv = matches!(self.format, InputFormat::Csv { .. });
            if read == 0 || !is_csv || !csv::is_open(&self.buffer) {
                return Ok(read > 0 || start > 0);
            }
        }
    }
}

/// Where the objects of a line lie that follow each other without a break. What is behind the last one counts as one more.
fn objects(line: &[u8]) -> Vec<Range<usize>> {
    let mut objects = Vec::new();
    let (mut start, mut depth, mut quoted, mut escaped) = (0, 0_usize, false, false);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    objects.push(start..at + 1);
                    start = at + 1;
                }
            }
            _ => {}
        }
    }
    if !line[start..].trim_ascii().is_empty() {
        objects.push(start..line.len());
    }
    objects
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

    fn read(format: InputFormat, text: &str) -> Vec<Result<String, String>> {
        let mut reader = ItemReader::new(text.as_bytes(), format);
        let mut all = Vec::new();
        while let Some(record) = reader.read().unwrap() {
            all.push(record.put.map(|put| {
                let mut line = Vec::new();
                partita_wire::encode_item_line(put.item.view(), &mut line);
                String::from_utf8(line).unwrap().trim_end().to_owned()
            }));
        }
        all
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
    fn csv_has_a_header_and_typed_keys() {
        let csv = |header| InputFormat::Csv {
            delimiter: b',',
            header,
            keys: vec![("id".to_owned(), ScalarType::N), ("b".to_owned(), ScalarType::B)],
        };
        let text = "id,name,b\r\n1,\"a \"\"b\"\",\nc\",AQ==\n2,,\nx,y,AQ==\n1,2,AQ==,4\n";
        let rows = read(csv(None), text);
        assert_eq!(
            rows[0].as_deref(),
            Ok(r#"{"Item":{"b":{"B":"AQ=="},"id":{"N":"1"},"name":{"S":"a \"b\",\nc"}}}"#)
        );
        assert_eq!(rows[1].as_deref(), Ok(r#"{"Item":{"b":{"B":""},"id":{"N":"2"},"name":{"S":""}}}"#));
        assert!(rows[2].is_err() && rows[3].is_err() && rows.len() == 4);
        let named = read(csv(Some(vec!["id".to_owned(), "x".to_owned()])), "1,first\n");
        assert_eq!(named[0].as_deref(), Ok(r#"{"Item":{"id":{"N":"1"},"x":{"S":"first"}}}"#));
    }
}
