//! Primary keys: taken out of items and requests, checked against the schema.

use crate::catalog::table::{Index, Table};
use crate::key::stored_key::{Key, Token};
use partita_api::key_schema::{KeyAttribute, KeySchema};
use partita_api::{Exception, messages};
use partita_value::{Item, ItemRef, ValueRef, limits, ordered_key};

/// An item's place: its stored key, and what index entries and collections need of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemKey {
    pub stored: Vec<u8>,
    pub partition: Token,
    /// Tells the item apart from all others of its table.
    pub identity: Token,
    /// What the partition's token was made of, encoded.
    partition_value: Vec<u8>,
}

impl ItemKey {
    /// The key of an item about to be put.
    pub fn of_new_item(table: &Table, item: ItemRef<'_>) -> Result<ItemKey, Exception> {
        for attribute in table.key.attributes() {
            let Some(value) = item.get(&attribute.name) else {
                return Err(Exception::validation(format!(
                    "One or more parameter values were invalid: Missing the key {} in the item",
                    attribute.name
                )));
            };
            if value.scalar_type() != Some(attribute.kind) {
                let text = messages::type_mismatch(&attribute.name, attribute.kind.name(), value.type_name());
                return Err(Exception::validation(text));
            }
        }
        check_values(&table.key, item)?;
        Ok(ItemKey::of_stored_item(table, item))
    }

    /// The key of an item about to be put by a batch, which tells less of what is wrong with it.
    pub fn of_batched_item(table: &Table, item: ItemRef<'_>) -> Result<ItemKey, Exception> {
        if !table.key.attributes().all(|attribute| fits(attribute, item)) {
            return Err(Exception::validation(messages::KEY_MISMATCH));
        }
        check_values(&table.key, item)?;
        Ok(ItemKey::of_stored_item(table, item))
    }

    /// The key that a request names: exactly the key's attributes.
    pub fn of_request(table: &Table, key: &Item) -> Result<ItemKey, Exception> {
        check_shape(table.key.attributes(), key.view(), messages::KEY_MISMATCH)?;
        check_values(&table.key, key.view())?;
        Ok(ItemKey::of_stored_item(table, key.view()))
    }

    /// The key of an item that is known to have one.
    pub fn of_stored_item(table: &Table, item: ItemRef<'_>) -> ItemKey {
        let value = |attribute: &KeyAttribute| item.get(&attribute.name).unwrap_or(ValueRef::Null);
        let partition = ordered_key::keyed_token(table.token_key, table.key.partition.iter().map(value));
        let identity = ordered_key::keyed_token(table.token_key, table.key.attributes().map(value));
        let sort = table.key.sort.first().map(value);
        let stored = Key::Item { space: table.space, token: partition, sort }.to_bytes();
        let mut partition_value = Vec::with_capacity(64);
        table.key.partition.iter().for_each(|attribute| value(attribute).write_to(&mut partition_value));
        ItemKey { stored, partition, identity, partition_value }
    }

    /// Whether a stored item has this very key. The sort key stands in the stored key as it is; of the partition key
    /// only a hash does, and another partition's could be the same.
    pub fn is_of(&self, key: &KeySchema, item: ItemRef<'_>) -> bool {
        let mut rest = &self.partition_value[..];
        key.partition.iter().all(|attribute| {
            let Some((value, after)) = ValueRef::split(rest) else { return false };
            rest = after;
            item.get(&attribute.name) == Some(value)
        })
    }

    /// The item that was found where this key's would be; an error if it is another's.
    pub fn checked<'i>(&self, key: &KeySchema, item: ItemRef<'i>) -> Result<ItemRef<'i>, Exception> {
        match self.is_of(key, item) {
            true => Ok(item),
            false => Err(misplaced_item(&self.stored)),
        }
    }
}

/// The error of an item that is found where `wanted` should be.
pub fn misplaced_item(wanted: &dyn std::fmt::Debug) -> Exception {
    tracing::error!(?wanted, "an item lies where another's place is");
    Exception::internal("Internal server error")
}

/// Exactly the attributes of a key, each of its type.
pub fn check_shape<'a>(
    attributes: impl Iterator<Item = &'a KeyAttribute> + Clone,
    key: ItemRef<'_>,
    message: &str,
) -> Result<(), Exception> {
    let exact = key.attributes().len() == attributes.clone().count();
    match exact && attributes.clone().all(|attribute| fits(attribute, key)) {
        true => Ok(()),
        false => Err(Exception::validation(message)),
    }
}

/// Whether the item has this attribute with the type declared.
pub fn fits(attribute: &KeyAttribute, item: ItemRef<'_>) -> bool {
    item.get(&attribute.name).is_some_and(|value| value.scalar_type() == Some(attribute.kind))
}

/// No key value is empty or too long.
fn check_values(schema: &KeySchema, item: ItemRef<'_>) -> Result<(), Exception> {
    check_not_empty(schema, item)?;
    if part_bytes(&schema.partition, item) > limits::PARTITION_KEY_BYTES {
        return Err(Exception::validation(messages::PARTITION_KEY_TOO_LARGE));
    }
    if part_bytes(&schema.sort, item) > limits::SORT_KEY_BYTES {
        return Err(Exception::validation(messages::SORT_KEY_TOO_LARGE));
    }
    Ok(())
}

pub fn check_not_empty(schema: &KeySchema, item: ItemRef<'_>) -> Result<(), Exception> {
    schema.attributes().try_for_each(|attribute| match item.get(&attribute.name) {
        Some(value) => refuse_empty(None, attribute, value),
        None => Ok(()),
    })
}

/// A value of a key, the table's or an index's, is not empty.
pub fn refuse_empty(
    index: Option<&Index>,
    attribute: &KeyAttribute,
    value: ValueRef<'_>,
) -> Result<(), Exception> {
    let Some(empty) = told_if_empty(value) else { return Ok(()) };
    let name = &attribute.name;
    let text = match index {
        None => format!("{empty} Key: {name}"),
        Some(index) => format!(
            "A value specified for a secondary index key is not supported. {empty} IndexName: {}, IndexKey: {name}",
            index.name
        ),
    };
    Err(Exception::validation(format!("One or more parameter values are not valid. {text}")))
}

/// What is wrong with a key value that is empty.
pub fn told_if_empty(value: ValueRef<'_>) -> Option<String> {
    let kind = match value {
        ValueRef::S(b"") => "string",
        ValueRef::B(b"") => "binary",
        _ => return None,
    };
    Some(format!("The AttributeValue for a key attribute cannot contain an empty {kind} value."))
}

/// The size of what an item has of one half of a key.
pub fn part_bytes(part: &[KeyAttribute], item: ItemRef<'_>) -> usize {
    part.iter().filter_map(|attribute| item.get(&attribute.name)).map(|value| value.size()).sum()
}

/// The attributes of an item that these keys name, as an item of their own.
pub fn key_item<'a>(attributes: impl Iterator<Item = &'a KeyAttribute>, item: ItemRef<'_>) -> Item {
    Item::build(|encoder| {
        for attribute in attributes {
            if let Some(value) = item.get(&attribute.name) {
                encoder.entry(&attribute.name, value);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::create_table::{Spaces, new_record};
    use partita_api::{Operation, Request};
    use partita_value::AttributeValue;

    fn table(token_key: Option<[u64; 2]>) -> Table {
        let body = br#"{"TableName":"Table","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
            "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}"#;
        let Ok(Request::CreateTable(request)) = partita_wire::decode(Operation::CreateTable, body) else {
            panic!("no table")
        };
        Table::new(new_record(&request, (String::new(), token_key), 0, &mut Spaces::after(None)))
    }

    fn item(key: &str) -> Item {
        [("pk", AttributeValue::S(key.into()))].into_iter().collect()
    }

    #[test]
    fn an_item_in_anothers_place_is_an_error() {
        let table = table(None);
        let (one, two) = (item("one"), item("two"));
        let key = ItemKey::of_stored_item(&table, one.view());
        assert!(key.checked(&table.key, one.view()).is_ok());
        assert!(key.checked(&table.key, two.view()).is_err());
        assert!(key.checked(&table.key, Item::default().view()).is_err());
    }

    #[test]
    fn tables_place_the_same_key_differently() {
        let place = |secret| ItemKey::of_stored_item(&table(secret), item("one").view()).stored;
        assert_eq!(place(None), place(None));
        assert_ne!(place(Some([1, 2])), place(None));
        assert_ne!(place(Some([1, 2])), place(Some([1, 3])));
    }
}
