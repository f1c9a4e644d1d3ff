//! Index entries and expiry entries: pure functions of an item.
//!
//! An item has an entry in an index if it has all of the index's key attributes. The entry's key orders
//! it; its value is the part of the item that the index projects, itself an encoded item.

use crate::catalog::table::{Expiry, Index, Table};
use crate::key::item_key::{ItemKey, key_item, part_bytes, refuse_empty, told_if_empty};
use crate::key::scalar_keys;
use crate::key::stored_key::Key;
use partita_api::Exception;
use partita_api::key_schema::KeyAttribute;
use partita_expression::Update;
use partita_value::{Item, ItemRef, ValueRef, limits, ordered_key};
use std::borrow::Cow;

/// A row that is kept beside an item because of what the item holds.
pub struct Entry<'a> {
    pub key: Vec<u8>,
    pub value: Cow<'a, [u8]>,
    /// DynamoDB's size of what is projected; what index capacity counts.
    pub size: usize,
}

/// The item's entry in an index: none if it lacks a key attribute, an error if one cannot be a key.
pub fn in_index<'a>(index: &Index, key: &ItemKey, item: ItemRef<'a>) -> Result<Option<Entry<'a>>, Exception> {
    check_present_keys(index, item)?;
    let values = index.key.attributes().map(|attribute| item.get(&attribute.name));
    let Some(values) = values.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let (partition, sort) = values.split_at(index.key.partition.len());
    let token = ordered_key::keyed_token(index.token_key, partition.iter().copied());
    let stored = Key::IndexEntry { space: index.space, token, sort, identity: key.identity }.to_bytes();
    let value = project(index, item);
    let size = ItemRef::new(&value).map_or(0, |projected| projected.size());
    Ok(Some(Entry { key: stored, value, size }))
}

/// Whether the item can be in the table's indexes, as far as it has their keys.
pub fn check_index_keys(table: &Table, item: ItemRef<'_>) -> Result<(), Exception> {
    table.indexes.iter().try_for_each(|index| check_present_keys(index, item))
}

/// Key attributes that are there must be of the declared type, not empty and not too long.
fn check_present_keys(index: &Index, item: ItemRef<'_>) -> Result<(), Exception> {
    for attribute in index.key.attributes() {
        if let Some(value) = item.get(&attribute.name) {
            check_key_value(index, attribute, value)?;
        }
    }
    check_size(index, "HASH", &index.key.partition, limits::PARTITION_KEY_BYTES, item)?;
    check_size(index, "RANGE", &index.key.sort, limits::SORT_KEY_BYTES, item)
}

/// The values of one half of an index's key are not too long together.
fn check_size(
    index: &Index,
    role: &str,
    half: &[KeyAttribute],
    limit: usize,
    item: ItemRef<'_>,
) -> Result<(), Exception> {
    let size = part_bytes(half, item);
    if size <= limit {
        return Ok(());
    }
    let text = match half {
        [attribute] => format!(
            "Size limit exceeded for Index Key {} Actual Size: {size} bytes Max Size: {limit} bytes IndexName: {}",
            attribute.name, index.name
        ),
        _ => {
            let names: Vec<&str> = half.iter().map(|attribute| attribute.name.as_str()).collect();
            format!(
                "Aggregate size for {role} key attributes [{}] of index {} has exceeded limit {limit} bytes, with actual size {size} bytes",
                names.join(", "),
                index.name
            )
        }
    };
    Err(Exception::validation(format!("One or more parameter values were invalid: {text}")))
}

/// What is known of an update without the old item: whole key attributes get values of the declared
/// type, and nothing is written into one.
pub fn check_update(table: &Table, update: &Update) -> Result<(), Exception> {
    for index in &table.indexes {
        for attribute in index.key.attributes() {
            if let Some(actual) =
                update.known_type(&attribute.name).filter(|known| *known != attribute.kind.name())
            {
                return Err(type_mismatch(index, attribute, actual));
            }
        }
    }
    scalar_keys::check(table, update.nested_roots())
}

/// What an update has written into a key attribute is not empty, and of the declared type also if it was copied from elsewhere
/// in the item.
pub fn check_updated(table: &Table, update: &Update, item: ItemRef<'_>) -> Result<(), Exception> {
    let keys = table.indexes.iter().flat_map(|index| index.key.attributes());
    for attribute in keys.filter(|attribute| update.writes(&attribute.name)) {
        let Some(value) = item.get(&attribute.name) else { continue };
        refuse_update_to_empty(value)?;
        if value.scalar_type() != Some(attribute.kind) {
            return Err(Exception::validation(
                "The update expression attempted to update the secondary index key to unsupported type",
            ));
        }
    }
    Ok(())
}

/// The values that an update brings for key attributes of the table's indexes are not empty.
pub fn check_update_not_empty(table: &Table, update: &Update) -> Result<(), Exception> {
    let keys = table.indexes.iter().flat_map(|index| index.key.attributes());
    let mut values = keys.filter_map(|attribute| update.known_value(&attribute.name));
    values.try_for_each(refuse_update_to_empty)
}

fn refuse_update_to_empty(value: ValueRef<'_>) -> Result<(), Exception> {
    let Some(empty) = told_if_empty(value) else { return Ok(()) };
    Err(Exception::validation(format!(
        "One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. {empty}"
    )))
}

/// The key values that an item has for the table's indexes are not empty.
pub fn check_not_empty(table: &Table, item: ItemRef<'_>) -> Result<(), Exception> {
    for index in &table.indexes {
        for attribute in index.key.attributes() {
            item.get(&attribute.name).map_or(Ok(()), |value| refuse_empty(Some(index), attribute, value))?;
        }
    }
    Ok(())
}

fn type_mismatch(index: &Index, attribute: &KeyAttribute, actual: &str) -> Exception {
    Exception::validation(format!(
        "One or more parameter values were invalid: Type mismatch for Index Key {} Expected: {} Actual: {actual} IndexName: {}",
        attribute.name,
        attribute.kind.name(),
        index.name
    ))
}

/// A key value is of the declared type and not empty.
fn check_key_value(index: &Index, attribute: &KeyAttribute, value: ValueRef<'_>) -> Result<(), Exception> {
    if value.scalar_type() != Some(attribute.kind) {
        return Err(type_mismatch(index, attribute, value.type_name()));
    }
    refuse_empty(Some(index), attribute, value)
}

fn project<'a>(index: &Index, item: ItemRef<'a>) -> Cow<'a, [u8]> {
    let Some(names) = &index.attributes else { return Cow::Borrowed(item.bytes()) };
    // Both are in order, so that one walk finds them all, however many attributes the item has.
    let mut wanted = names.iter().peekable();
    let projected = Item::build(|encoder| {
        for (name, value) in item.attributes() {
            while wanted.next_if(|next| next.as_bytes() < name).is_some() {}
            if let Some(name) = wanted.next_if(|next| next.as_bytes() == name) {
                encoder.entry(name, value);
            }
            if wanted.peek().is_none() {
                break;
            }
        }
    });
    Cow::Owned(projected.into_bytes())
}

/// The item's entry in the order of expiry: none if it never expires.
pub fn in_expiry<'a>(expiry: &Expiry, table: &Table, key: &ItemKey, item: ItemRef<'_>) -> Option<Entry<'a>> {
    let at = expires_at(expiry, item)?;
    let keys = key_item(table.key.attributes(), item);
    Some(Entry {
        key: Key::Expiry { space: expiry.space, at, identity: key.identity }.to_bytes(),
        size: keys.size(),
        value: Cow::Owned(keys.into_bytes()),
    })
}

/// When the item expires, in seconds since 1970.
pub fn expires_at(expiry: &Expiry, item: ItemRef<'_>) -> Option<u64> {
    let seconds = item.get(&expiry.attribute)?.as_number()?.to_i64()?;
    u64::try_from(seconds).ok()
}
