//! The canonical encoding of values and items: the form that is stored and passed between all stages.
//!
//! ```text
//! value  := tag body            tag: one byte, see `Tag`
//! body   := (nothing)                                    NULL, true, false
//!         | length bytes                                 S, N (canonical decimal text), B
//!         | u32 (length bytes)*                          SS, NS, BS: elements in order, no duplicates
//!         | u32 value*                                   L
//!         | u32 (length name value)*                     M: names in byte order, each once
//! item   := u32 (length name value)*                     the u32 is DynamoDB's size of the item
//! ```
//! `length` is a LEB128 number, `u32` is little-endian; inside a value it is the length of the rest in
//! bytes, so any value can be skipped in one step. Names and set elements are sorted, numbers canonical: equal
//! values have equal bytes, and comparing two maps is comparing two slices.

use crate::{Number, NumberError, ValueRef};

/// Bytes of an item before its first entry.
pub(crate) const ITEM_HEADER: usize = 4;

/// The first byte of every encoded value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// NULL.
    Null = 0,
    /// BOOL, false.
    False = 1,
    /// BOOL, true.
    True = 2,
    /// String.
    S = 3,
    /// Number.
    N = 4,
    /// Binary.
    B = 5,
    /// String set.
    Ss = 6,
    /// Number set.
    Ns = 7,
    /// Binary set.
    Bs = 8,
    /// List.
    L = 9,
    /// Map.
    M = 10,
}

impl Tag {
    #[inline]
    pub(crate) fn from_byte(byte: u8) -> Option<Tag> {
        use Tag::*;
        [Null, False, True, S, N, B, Ss, Ns, Bs, L, M].get(usize::from(byte)).copied()
    }
}

/// Why elements do not form a set. The messages are AWS's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// There are no elements; holds the name of the element type.
    #[error("One or more parameter values were invalid: An {0} set  may not be empty")]
    Empty(&'static str),
    /// An element occurs more than once; holds the elements as AWS prints them.
    #[error("One or more parameter values were invalid: Input collection {0} contains duplicates.")]
    Duplicate(String),
}

/// Writes values one after another into one buffer.
///
/// Lists and maps are opened with `begin_…`, which returns a [`Mark`], and closed with `end_…`.
#[derive(Default)]
pub struct Encoder {
    buffer: Vec<u8>,
    /// The start of each entry of all open maps; a map's own begin at its mark's `first_entry`.
    entries: Vec<usize>,
}

/// An open list or map.
#[must_use]
pub struct Mark {
    start: usize,
    first_entry: usize,
}

/// A position to which an [`Encoder`] can be rewound.
#[derive(Clone, Copy)]
pub struct EncoderPosition {
    length: usize,
    entries: usize,
}

impl Encoder {
    /// Creates an encoder with an empty buffer.
    pub fn new() -> Encoder {
        Encoder::default()
    }

    /// Creates an encoder whose buffer has space for that many bytes.
    pub fn with_capacity(bytes: usize) -> Encoder {
        Encoder { buffer: Vec::with_capacity(bytes), entries: Vec::with_capacity(32) }
    }

    /// Writes NULL.
    pub fn null(&mut self) {
        self.buffer.push(Tag::Null as u8);
    }

    /// Writes a boolean.
    pub fn boolean(&mut self, value: bool) {
        self.buffer.push(if value { Tag::True } else { Tag::False } as u8);
    }

    /// Writes a string.
    pub fn string(&mut self, value: &str) {
        self.scalar(Tag::S, value.as_bytes());
    }

    /// Writes binary data.
    pub fn binary(&mut self, value: &[u8]) {
        self.scalar(Tag::B, value);
    }

    /// Writes a number.
    pub fn number(&mut self, value: &Number) {
        let text = value.to_string();
        self.scalar(Tag::N, text.as_bytes());
    }

    /// Parses and writes a number; short canonical integers are copied without parsing.
    pub fn number_text(&mut self, text: &str) -> Result<(), NumberError> {
        if is_short_canonical_integer(text) {
            self.scalar(Tag::N, text.as_bytes());
        } else {
            self.number(&Number::parse(text)?);
        }
        Ok(())
    }

    fn scalar(&mut self, tag: Tag, bytes: &[u8]) {
        self.buffer.push(tag as u8);
        self.bytes(bytes);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        write_length(&mut self.buffer, bytes.len());
        self.buffer.extend_from_slice(bytes);
    }

    /// Writes a string set; sorts the elements.
    pub fn string_set<T: AsRef<str>>(&mut self, elements: &[T]) -> Result<(), SetError> {
        let mut sorted: Vec<&str> = elements.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        if sorted.is_empty() {
            return Err(SetError::Empty("string"));
        }
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(duplicates(elements.iter().map(|e| e.as_ref().to_owned())));
        }
        self.set(Tag::Ss, sorted.iter().map(|element| element.as_bytes()));
        Ok(())
    }

    /// Writes a number set; sorts the elements.
    pub fn number_set(&mut self, elements: &[Number]) -> Result<(), SetError> {
        let mut sorted = elements.to_vec();
        sorted.sort_unstable();
        if sorted.is_empty() {
            return Err(SetError::Empty("number"));
        }
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(duplicates(elements.iter().map(Number::to_string)));
        }
        self.set(Tag::Ns, sorted.iter().map(Number::to_string));
        Ok(())
    }

    /// Writes a binary set; sorts the elements.
    pub fn binary_set<T: AsRef<[u8]>>(&mut self, elements: &[T]) -> Result<(), SetError> {
        let mut sorted: Vec<&[u8]> = elements.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        if sorted.is_empty() {
            return Err(SetError::Empty("binary"));
        }
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(SetError::Duplicate("of type BS".into()));
        }
        self.set(Tag::Bs, sorted.iter());
        Ok(())
    }

    fn set<T: AsRef<[u8]>>(&mut self, tag: Tag, elements: impl Iterator<Item = T>) {
        let mark = self.begin(tag);
        elements.for_each(|element| self.bytes(element.as_ref()));
        self.close(&mark);
    }

    /// Copies a value that is already encoded.
    pub fn value(&mut self, value: ValueRef<'_>) {
        value.write_to(&mut self.buffer);
    }

    /// Writes a name and its encoded value inside an open map.
    pub fn entry(&mut self, name: &str, value: ValueRef<'_>) {
        self.name(name);
        self.value(value);
    }

    /// Opens a list; its elements are written next.
    pub fn begin_list(&mut self) -> Mark {
        self.begin(Tag::L)
    }

    /// Closes a list.
    pub fn end_list(&mut self, mark: Mark) {
        self.close(&mark);
    }

    /// Opens a map; its entries are written next, in any order.
    pub fn begin_map(&mut self) -> Mark {
        self.begin(Tag::M)
    }

    /// Starts an entry of the innermost open map; its value is written next.
    pub fn name(&mut self, name: &str) {
        self.entries.push(self.buffer.len());
        self.bytes(name.as_bytes());
    }

    /// Closes a map: sorts its entries by name; of entries with the same name, the last one wins.
    pub fn end_map(&mut self, mark: Mark) {
        self.sort_entries(mark.start + 5, mark.first_entry);
        self.close(&mark);
    }

    /// Returns the current position, where the next value or entry will be written.
    pub fn position(&self) -> EncoderPosition {
        EncoderPosition { length: self.buffer.len(), entries: self.entries.len() }
    }

    /// Discards everything written since `position` was taken.
    pub fn rewind(&mut self, position: EncoderPosition) {
        self.buffer.truncate(position.length);
        self.entries.truncate(position.entries);
    }

    fn begin(&mut self, tag: Tag) -> Mark {
        let mark = Mark { start: self.buffer.len(), first_entry: self.entries.len() };
        self.buffer.extend_from_slice(&[tag as u8, 0, 0, 0, 0]);
        mark
    }

    fn close(&mut self, mark: &Mark) {
        let body = (self.buffer.len() - mark.start - 5) as u32;
        self.buffer[mark.start + 1..mark.start + 5].copy_from_slice(&body.to_le_bytes());
    }

    fn sort_entries(&mut self, body: usize, first_entry: usize) {
        let starts = &self.entries[first_entry..];
        let name_at = |start: usize| read_bytes(&self.buffer[start..]).map_or(&[][..], |(name, _)| name);
        let in_order = starts.windows(2).all(|pair| name_at(pair[0]) < name_at(pair[1]));
        if !in_order {
            let ends = starts.iter().skip(1).copied().chain([self.buffer.len()]);
            let mut ranges: Vec<_> = starts.iter().copied().zip(ends).collect();
            // A stable sort, so that the last of several equal names is the last written.
            ranges.sort_by(|a, b| name_at(a.0).cmp(name_at(b.0)));
            let mut sorted = Vec::with_capacity(self.buffer.len() - body);
            for (i, range) in ranges.iter().enumerate() {
                if ranges.get(i + 1).is_none_or(|next| name_at(next.0) != name_at(range.0)) {
                    sorted.extend_from_slice(&self.buffer[range.0..range.1]);
                }
            }
            self.buffer.truncate(body);
            self.buffer.extend_from_slice(&sorted);
        }
        self.entries.truncate(first_entry);
    }

    /// Returns the bytes written.
    pub fn finish(self) -> Vec<u8> {
        self.buffer
    }
}

/// Lists the elements in the order given, as AWS does.
fn duplicates(elements: impl Iterator<Item = String>) -> SetError {
    SetError::Duplicate(format!("[{}]", elements.collect::<Vec<_>>().join(", ")))
}

/// Recognizes small integers, which most numbers are, as canonical without arithmetic.
fn is_short_canonical_integer(text: &str) -> bool {
    match text.as_bytes() {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 38 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

pub(crate) fn write_length(buffer: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        buffer.push((length as u8 & 0x7f) | 0x80);
        length >>= 7;
    }
    buffer.push(length as u8);
}

/// Reads a length and that many bytes; returns them and the rest.
#[inline]
pub(crate) fn read_bytes(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    // Nearly all names and most values are this short.
    if first < 0x80 { rest.split_at_checked(usize::from(first)) } else { read_long(bytes) }
}

fn read_long(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut length = 0usize;
    for (i, &byte) in bytes.iter().take(5).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return bytes[i + 1..].split_at_checked(length);
        }
    }
    None
}

/// Reads a `u32` and that many bytes; returns them and the rest.
pub(crate) fn read_block(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}
