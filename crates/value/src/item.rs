//! Owned encoded values and items.

use crate::encoding::{Encoder, ITEM_HEADER, Mark};
use crate::{AttributeValue, ItemRef, MapRef, ValueRef, size};
use std::fmt;
use std::sync::Arc;

/// One encoded value that owns its bytes together with its clones: an expression may name a large value often.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Value(Arc<Vec<u8>>);

impl Value {
    /// Takes the bytes that an [`Encoder`] wrote for one value.
    pub fn from_encoder(encoder: Encoder) -> Value {
        Value(Arc::new(encoder.finish()))
    }

    pub fn string(text: &str) -> Value {
        Value::build(|encoder| encoder.string(text))
    }

    fn build(write: impl FnOnce(&mut Encoder)) -> Value {
        let mut encoder = Encoder::new();
        write(&mut encoder);
        Value::from_encoder(encoder)
    }

    pub fn view(&self) -> ValueRef<'_> {
        ValueRef::read(&self.0).unwrap_or(ValueRef::Null)
    }

    /// How many bytes the encoded value takes.
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
    /// Builds an item: `write` calls [`Encoder::name`] and writes a value, for each attribute in any order.
    pub fn build(write: impl FnOnce(&mut Encoder)) -> Item {
        let mut builder = ItemBuilder::default();
        write(&mut builder.encoder);
        builder.finish()
    }

    /// Takes bytes that were an item's before.
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Item> {
        (bytes.len() >= ITEM_HEADER).then_some(Item(bytes))
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The same in no more memory than it needs.
    pub fn shrunk(mut self) -> Item {
        self.0.shrink_to_fit();
        self
    }

    pub fn view(&self) -> ItemRef<'_> {
        ItemRef::new(&self.0).unwrap_or_else(|| unreachable!("an item owns at least its header"))
    }

    pub fn get(&self, name: &str) -> Option<ValueRef<'_>> {
        self.view().get(name)
    }

    pub fn size(&self) -> usize {
        self.view().size()
    }

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
    pub fn encoder(&mut self) -> &mut Encoder {
        &mut self.encoder
    }

    pub fn finish(mut self) -> Item {
        self.encoder.end_map(self.mark);
        let mut bytes = self.encoder.finish();
        // The item's map begins with its tag and length; the size takes the length's place.
        bytes.remove(0);
        let item_size = size::map_entries_size(MapRef::over(&bytes[ITEM_HEADER..])) as u32;
        bytes[..ITEM_HEADER].copy_from_slice(&item_size.to_le_bytes());
        Item(bytes)
    }
}
