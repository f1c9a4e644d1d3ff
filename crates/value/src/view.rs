//! Borrowed views of encoded values and items: reading without copying.

use crate::encoding::{self, Tag, read_block, read_bytes, write_length};
use crate::{Number, size};
use std::cmp::Ordering;

/// An encoded value, looked at in place. Two views are equal when the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueRef<'a> {
    Null,
    Bool(bool),
    /// UTF-8 text.
    S(&'a [u8]),
    /// Canonical decimal text.
    N(&'a [u8]),
    B(&'a [u8]),
    Ss(SetRef<'a>),
    Ns(SetRef<'a>),
    Bs(SetRef<'a>),
    L(ListRef<'a>),
    M(MapRef<'a>),
}

/// The types a key attribute may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarType {
    S,
    N,
    B,
}

impl ScalarType {
    pub fn name(self) -> &'static str {
        match self {
            ScalarType::S => "S",
            ScalarType::N => "N",
            ScalarType::B => "B",
        }
    }
}

impl<'a> ValueRef<'a> {
    /// Whether the value has more than so many levels; a scalar and an empty container have one.
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

    /// Reads the value at the start of `bytes`; returns it and what follows.
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

    /// DynamoDB's short name of the type, as in `{"S": …}`.
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

    /// The type, if it is one that a key may have.
    pub fn scalar_type(&self) -> Option<ScalarType> {
        match self {
            ValueRef::S(_) => Some(ScalarType::S),
            ValueRef::N(_) => Some(ScalarType::N),
            ValueRef::B(_) => Some(ScalarType::B),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&'a str> {
        match self {
            ValueRef::S(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<Number> {
        match self {
            ValueRef::N(digits) => read_number(digits),
            _ => None,
        }
    }

    /// Order of two strings, two numbers or two binaries; `None` for anything else.
    pub fn compare(&self, other: &ValueRef<'_>) -> Option<Ordering> {
        match (self, other) {
            (ValueRef::S(a), ValueRef::S(b)) | (ValueRef::B(a), ValueRef::B(b)) => Some(a.cmp(b)),
            (ValueRef::N(a), ValueRef::N(b)) => Some(read_number(a)?.cmp(&read_number(b)?)),
            _ => None,
        }
    }

    /// DynamoDB's size of the value in bytes.
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
    pub fn contains(&self, element: &[u8]) -> bool {
        self.into_iter().any(|candidate| candidate == element)
    }

    pub fn len(&self) -> usize {
        self.into_iter().count()
    }

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
    pub fn get(&self, index: usize) -> Option<ValueRef<'a>> {
        self.into_iter().nth(index)
    }

    pub fn len(&self) -> usize {
        self.into_iter().count()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// DynamoDB's size of the elements, without what the list itself costs.
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
    /// The map whose encoded entries these are.
    pub(crate) fn over(entries: &'a [u8]) -> MapRef<'a> {
        MapRef(entries)
    }

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

    pub fn len(&self) -> usize {
        self.into_iter().count()
    }

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

/// Names (UTF-8) and values of a map or an item.
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

/// An encoded item, looked at in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemRef<'a>(&'a [u8]);

impl<'a> ItemRef<'a> {
    /// Views stored bytes as an item; `None` if they are too short to be one.
    pub fn new(bytes: &'a [u8]) -> Option<ItemRef<'a>> {
        (bytes.len() >= encoding::ITEM_HEADER).then_some(ItemRef(bytes))
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// The item's attributes as a map.
    pub fn attributes(&self) -> MapRef<'a> {
        MapRef(&self.0[encoding::ITEM_HEADER..])
    }

    pub fn get(&self, name: &str) -> Option<ValueRef<'a>> {
        self.attributes().get(name)
    }

    /// DynamoDB's size of the item; kept with it, not counted again.
    pub fn size(&self) -> usize {
        self.0.first_chunk::<4>().map_or(0, |size| u32::from_le_bytes(*size) as usize)
    }

    /// Whether values stand inside each other more than `levels` deep; an attribute's own is the first.
    pub fn is_nested_beyond(&self, levels: usize) -> bool {
        self.attributes().into_iter().any(|(_, value)| value.is_nested_beyond(levels))
    }

    pub fn to_owned(&self) -> crate::Item {
        crate::Item::from_bytes(self.0.to_vec()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::NESTING_LEVELS;
    use crate::{AttributeValue, Item};

    #[test]
    fn levels_are_counted_in_values() {
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
