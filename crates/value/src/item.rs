//! Owned encoded values and items.

use crate::encoding::{Encoder, ITEM_HEADER, Mark};
use crate::{AttributeValue, ItemRef, MapRef, ValueRef, size};
use std::fmt;
use std::sync::Arc;

/// An encoded value. Clones share the bytes, because an expression may use a large value many times.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Value(Arc<Vec<u8>>);

impl Value {
    /// Wraps the bytes that an [`Encoder`] wrote for one value.
    pub fn from_encoder(encoder: Encoder) -> Value {
        Value(Arc::new(encoder.finish()))
    }

    /// Encodes a string.
    pub fn string(text: &str) -> Value {
        Value::build(|encoder| encoder.string(text))
    }

    fn build(write: impl FnOnce(&mut Encoder)) -> Value {
        let mut encoder = Encoder::new();
        write(&mut encoder);
        Value::from_encoder(encoder)
    }

    /// Borrows the value.
    pub fn view(&self) -> ValueRef<'_> {
        ValueRef::read(&self.0).unwrap_or(ValueRef::Null)
    }

    /// Returns the length of the encoded value in bytes.
    pub fn byte_count(&self) -> usize {
        self.0.len()
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Value {
        Value::build(|encoder| encoder.value(value))
    }
}

impl From<&AttributeValue> for Value {
    fn from(value: &AttributeValue) -> Value {
        Value::build(|encoder| value.encode(encoder))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AttributeValue::from(self.view()).fmt(f)
    }
}

/// An encoded item that owns its bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Item(Vec<u8>);

impl Item {
    /// Builds an item: `write` calls [`Encoder::name`] and then writes a value for each attribute, in any order.
    pub fn build(write: impl FnOnce(&mut Encoder)) -> Item {
        let mut builder = ItemBuilder::default();
        write(&mut builder.encoder);
        builder.finish()
    }

    /// Wraps the bytes of an encoded item; `None` if they are too short to be one.
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Item> {
        (bytes.len() >= ITEM_HEADER).then_some(Item(bytes))
    }

    /// Returns the encoded bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Releases unused capacity.
    pub fn shrunk(mut self) -> Item {
        self.0.shrink_to_fit();
        self
    }

    /// Borrows the item.
    pub fn view(&self) -> ItemRef<'_> {
        ItemRef::new(&self.0).unwrap_or_else(|| unreachable!("an item has at least its header"))
    }

    /// Returns the value of a top-level attribute.
    pub fn get(&self, name: &str) -> Option<ValueRef<'_>> {
        self.view().get(name)
    }

    /// Returns DynamoDB's size of the item in bytes.
    pub fn size(&self) -> usize {
        self.view().size()
    }

    /// Returns whether the item has no attributes.
    pub fn is_empty(&self) -> bool {
        self.0.len() == ITEM_HEADER
    }
}

impl Default for Item {
    fn default() -> Item {
        Item(vec![0; ITEM_HEADER])
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.view().attributes().into_iter();
        f.debug_map()
            .entries(
                entries.map(|(name, value)| (String::from_utf8_lossy(name), AttributeValue::from(value))),
            )
            .finish()
    }
}

impl<'a> FromIterator<(&'a str, AttributeValue)> for Item {
    fn from_iter<T: IntoIterator<Item = (&'a str, AttributeValue)>>(attributes: T) -> Item {
        Item::build(|encoder| {
            for (name, value) in attributes {
                encoder.name(name);
                value.encode(encoder);
            }
        })
    }
}

/// Builds an item attribute by attribute, for callers that cannot do it in one closure.
pub struct ItemBuilder {
    encoder: Encoder,
    mark: Mark,
}

impl Default for ItemBuilder {
    fn default() -> ItemBuilder {
        let mut encoder = Encoder::with_capacity(512);
        let mark = encoder.begin_map();
        ItemBuilder { encoder, mark }
    }
}

impl ItemBuilder {
    /// Returns the encoder to which names and values are written.
    pub fn encoder(&mut self) -> &mut Encoder {
        &mut self.encoder
    }

    /// Completes the item.
    pub fn finish(mut self) -> Item {
        self.encoder.end_map(self.mark);
        let mut bytes = self.encoder.finish();
        // The item's map begins with its tag and length; drop the tag and replace the length with the size.
        bytes.remove(0);
        let item_size = size::map_entries_size(MapRef::from_entries(&bytes[ITEM_HEADER..])) as u32;
        bytes[..ITEM_HEADER].copy_from_slice(&item_size.to_le_bytes());
        Item(bytes)
    }
}
