//! Borrowed views of encoded values and items, for reading without copying.

use crate::encoding::{self, Tag, read_block, read_bytes, write_length};
use crate::{Number, size};
use std::cmp::Ordering;

/// A borrowed encoded value. Views are equal if the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueRef<'a> {
    /// The null value.
    Null,
    /// A boolean.
    Bool(bool),
    /// A string, as UTF-8.
    S(&'a [u8]),
    /// A number, as canonical decimal text.
    N(&'a [u8]),
    /// Binary data.
    B(&'a [u8]),
    /// A string set.
    Ss(SetRef<'a>),
    /// A number set.
    Ns(SetRef<'a>),
    /// A binary set.
    Bs(SetRef<'a>),
    /// A list.
    L(ListRef<'a>),
    /// A map.
    M(MapRef<'a>),
}

/// The types a key attribute may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
}

impl ScalarType {
    /// Returns DynamoDB's name of the type, as in `"AttributeType": "S"`.
    pub fn name(self) -> &'static str {
        match self {
            ScalarType::S => "S",
            ScalarType::N => "N",
            ScalarType::B => "B",
        }
    }
}

impl<'a> ValueRef<'a> {
    /// Returns whether the value has more than `levels` levels; a scalar or an empty container has one.
    pub fn is_nested_beyond(self, levels: usize) -> bool {
        let Some(inner) = levels.checked_sub(1) else { return true };
        match self {
            ValueRef::L(list) => list.into_iter().any(|element| element.is_nested_beyond(inner)),
            ValueRef::M(map) => map.into_iter().any(|(_, member)| member.is_nested_beyond(inner)),
            _ => false,
        }
    }

    /// Reads the value at the start of `bytes`.
    pub fn read(bytes: &'a [u8]) -> Option<ValueRef<'a>> {
        ValueRef::split(bytes).map(|(value, _)| value)
    }

    /// Reads the value at the start of `bytes`; returns it and the rest.
    #[inline]
    pub fn split(bytes: &'a [u8]) -> Option<(ValueRef<'a>, &'a [u8])> {
        let (&tag, rest) = bytes.split_first()?;
        let block =
            |value: fn(&'a [u8]) -> ValueRef<'a>| read_block(rest).map(|(body, after)| (value(body), after));
        match Tag::from_byte(tag)? {
            Tag::S => read_bytes(rest).map(|(body, after)| (ValueRef::S(body), after)),
            Tag::N => read_bytes(rest).map(|(body, after)| (ValueRef::N(body), after)),
            Tag::B => read_bytes(rest).map(|(body, after)| (ValueRef::B(body), after)),
            Tag::Null => Some((ValueRef::Null, rest)),
            Tag::False => Some((ValueRef::Bool(false), rest)),
            Tag::True => Some((ValueRef::Bool(true), rest)),
            Tag::M => block(|body| ValueRef::M(MapRef(body))),
            Tag::L => block(|body| ValueRef::L(ListRef(body))),
            Tag::Ss => block(|body| ValueRef::Ss(SetRef(body))),
            Tag::Ns => block(|body| ValueRef::Ns(SetRef(body))),
            Tag::Bs => block(|body| ValueRef::Bs(SetRef(body))),
        }
    }

    /// Appends the value's canonical bytes.
    pub fn write_to(&self, buffer: &mut Vec<u8>) {
        let scalar = |buffer: &mut Vec<u8>, tag: Tag, bytes: &[u8]| {
            buffer.push(tag as u8);
            write_length(buffer, bytes.len());
            buffer.extend_from_slice(bytes);
        };
        let block = |buffer: &mut Vec<u8>, tag: Tag, bytes: &[u8]| {
            buffer.push(tag as u8);
            buffer.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            buffer.extend_from_slice(bytes);
        };
        match *self {
            ValueRef::Null => buffer.push(Tag::Null as u8),
            ValueRef::Bool(value) => buffer.push(if value { Tag::True } else { Tag::False } as u8),
            ValueRef::S(bytes) => scalar(buffer, Tag::S, bytes),
            ValueRef::N(bytes) => scalar(buffer, Tag::N, bytes),
            ValueRef::B(bytes) => scalar(buffer, Tag::B, bytes),
            ValueRef::Ss(set) => block(buffer, Tag::Ss, set.0),
            ValueRef::Ns(set) => block(buffer, Tag::Ns, set.0),
            ValueRef::Bs(set) => block(buffer, Tag::Bs, set.0),
            ValueRef::L(list) => block(buffer, Tag::L, list.0),
            ValueRef::M(map) => block(buffer, Tag::M, map.0),
        }
    }

    /// Returns DynamoDB's short name of the type, as in `{"S": …}`.
    pub fn type_name(&self) -> &'static str {
        match self {
            ValueRef::Null => "NULL",
            ValueRef::Bool(_) => "BOOL",
            ValueRef::S(_) => "S",
            ValueRef::N(_) => "N",
            ValueRef::B(_) => "B",
            ValueRef::Ss(_) => "SS",
            ValueRef::Ns(_) => "NS",
            ValueRef::Bs(_) => "BS",
            ValueRef::L(_) => "L",
            ValueRef::M(_) => "M",
        }
    }

    /// Returns the type, if a key attribute may have it.
    pub fn scalar_type(&self) -> Option<ScalarType> {
        match self {
            ValueRef::S(_) => Some(ScalarType::S),
            ValueRef::N(_) => Some(ScalarType::N),
            ValueRef::B(_) => Some(ScalarType::B),
            _ => None,
        }
    }

    /// Returns the text of a string.
    pub fn as_text(&self) -> Option<&'a str> {
        match self {
            ValueRef::S(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// Returns a number in parsed form.
    pub fn as_number(&self) -> Option<Number> {
        match self {
            ValueRef::N(digits) => read_number(digits),
            _ => None,
        }
    }

    /// Compares two strings, two numbers or two binaries; `None` for anything else.
    pub fn compare(&self, other: &ValueRef<'_>) -> Option<Ordering> {
        match (self, other) {
            (ValueRef::S(a), ValueRef::S(b)) | (ValueRef::B(a), ValueRef::B(b)) => Some(a.cmp(b)),
            (ValueRef::N(a), ValueRef::N(b)) => Some(read_number(a)?.cmp(&read_number(b)?)),
            _ => None,
        }
    }

    /// Returns DynamoDB's size of the value in bytes.
    pub fn size(&self) -> usize {
        size::value_size(*self)
    }
}

fn read_number(digits: &[u8]) -> Option<Number> {
    Number::parse(std::str::from_utf8(digits).ok()?).ok()
}

/// The elements of a set, in order: text, canonical decimal text, or binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetRef<'a>(&'a [u8]);

impl<'a> SetRef<'a> {
    /// Returns whether the set has this element.
    pub fn contains(&self, element: &[u8]) -> bool {
        self.into_iter().any(|candidate| candidate == element)
    }

    /// Counts the elements.
    pub fn len(&self) -> usize {
        self.into_iter().count()
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> IntoIterator for SetRef<'a> {
    type Item = &'a [u8];
    type IntoIter = SetElements<'a>;
    fn into_iter(self) -> SetElements<'a> {
        SetElements(self.0)
    }
}

/// An iterator over the elements of a set.
pub struct SetElements<'a>(&'a [u8]);

impl<'a> Iterator for SetElements<'a> {
    type Item = &'a [u8];
    fn next(&mut self) -> Option<&'a [u8]> {
        let (element, rest) = read_bytes(self.0)?;
        self.0 = rest;
        Some(element)
    }
}

/// The elements of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRef<'a>(&'a [u8]);

impl<'a> ListRef<'a> {
    /// Returns the element at an index.
    pub fn get(&self, index: usize) -> Option<ValueRef<'a>> {
        self.into_iter().nth(index)
    }

    /// Counts the elements.
    pub fn len(&self) -> usize {
        self.into_iter().count()
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns DynamoDB's size of the elements, without the overhead of the list.
    pub fn elements_size(&self) -> usize {
        size::list_elements_size(*self)
    }
}

impl<'a> IntoIterator for ListRef<'a> {
    type Item = ValueRef<'a>;
    type IntoIter = ListElements<'a>;
    fn into_iter(self) -> ListElements<'a> {
        ListElements(self.0)
    }
}

/// An iterator over the elements of a list.
pub struct ListElements<'a>(&'a [u8]);

impl<'a> Iterator for ListElements<'a> {
    type Item = ValueRef<'a>;
    fn next(&mut self) -> Option<ValueRef<'a>> {
        let (value, rest) = ValueRef::split(self.0)?;
        self.0 = rest;
        Some(value)
    }
}

/// The entries of a map, in the byte order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapRef<'a>(&'a [u8]);

impl<'a> MapRef<'a> {
    /// Wraps the encoded entries of a map.
    pub(crate) fn from_entries(entries: &'a [u8]) -> MapRef<'a> {
        MapRef(entries)
    }

    /// Returns the value of an entry.
    pub fn get(&self, name: &str) -> Option<ValueRef<'a>> {
        for (candidate, value) in *self {
            match candidate.cmp(name.as_bytes()) {
                Ordering::Less => {}
                Ordering::Equal => return Some(value),
                Ordering::Greater => return None,
            }
        }
        None
    }

    /// Counts the entries.
    pub fn len(&self) -> usize {
        self.into_iter().count()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> IntoIterator for MapRef<'a> {
    type Item = (&'a [u8], ValueRef<'a>);
    type IntoIter = Entries<'a>;
    fn into_iter(self) -> Entries<'a> {
        Entries(self.0)
    }
}

/// An iterator over the names (UTF-8) and values of a map or an item.
pub struct Entries<'a>(&'a [u8]);

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a [u8], ValueRef<'a>);
    fn next(&mut self) -> Option<(&'a [u8], ValueRef<'a>)> {
        let (name, rest) = read_bytes(self.0)?;
        let (value, rest) = ValueRef::split(rest)?;
        self.0 = rest;
        Some((name, value))
    }
}

/// A borrowed encoded item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemRef<'a>(&'a [u8]);

impl<'a> ItemRef<'a> {
    /// Views stored bytes as an item; `None` if they are too short to be one.
    pub fn new(bytes: &'a [u8]) -> Option<ItemRef<'a>> {
        (bytes.len() >= encoding::ITEM_HEADER).then_some(ItemRef(bytes))
    }

    /// Returns the encoded bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Returns the item's attributes as a map.
    pub fn attributes(&self) -> MapRef<'a> {
        MapRef(&self.0[encoding::ITEM_HEADER..])
    }

    /// Returns the value of a top-level attribute.
    pub fn get(&self, name: &str) -> Option<ValueRef<'a>> {
        self.attributes().get(name)
    }

    /// Returns DynamoDB's size of the item, which is stored with it.
    pub fn size(&self) -> usize {
        self.0.first_chunk::<4>().map_or(0, |size| u32::from_le_bytes(*size) as usize)
    }

    /// Returns whether a value is nested deeper than `levels`; an attribute's own value is level 1.
    pub fn is_nested_beyond(&self, levels: usize) -> bool {
        self.attributes().into_iter().any(|(_, value)| value.is_nested_beyond(levels))
    }

    /// Copies the item.
    pub fn to_owned(&self) -> crate::Item {
        crate::Item::from_bytes(self.0.to_vec()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::NESTING_LEVELS;
    use crate::{AttributeValue, Item};

    #[test]
    fn nesting_levels_are_counted_per_value() {
        let is_too_deep = |lists: usize, innermost: AttributeValue| {
            let value = (0..lists).fold(innermost, |value, _| AttributeValue::L(vec![value]));
            let item: Item = [("a", value)].into_iter().collect();
            item.view().is_nested_beyond(NESTING_LEVELS)
        };
        assert!(!is_too_deep(31, AttributeValue::Null) && is_too_deep(32, AttributeValue::Null));
        for empty in [AttributeValue::L(Vec::new()), AttributeValue::M([].into())] {
            assert!(!is_too_deep(31, empty.clone()) && is_too_deep(32, empty));
        }
    }
}
