//! What no table can store: items, keys and numbers beyond DynamoDB's limits.

use crate::item::{Item, Value, item_size};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::Model;
use crate::model::decimal::Decimal;

/// The largest item.
const MAX_ITEM_BYTES: usize = 400 << 10;
/// The longest partition key.
const MAX_PARTITION_BYTES: usize = 2_048;
/// The longest sort key.
const MAX_SORT_BYTES: usize = 1_024;

/// Returns why the table of a model cannot store an item.
pub(super) fn obstacle(model: &Model, item: &Item) -> Option<String> {
    if item_size(item) > MAX_ITEM_BYTES {
        return Some("is larger than 400 KB".to_owned());
    }
    let is_unstorable = |value: &Value| match value {
        Value::Number(text) => Decimal::parse(text).is_none_or(|number| !number.is_storable()),
        _ => false,
    };
    if let Some((name, _)) = item.iter().find(|(_, value)| is_unstorable(value)) {
        return Some(format!("has a {name} that is not a number of at most 38 digits"));
    }
    key_obstacle(model, item)
}

/// Returns why the table of a model or one of its indexes cannot have an item with these keys.
pub(super) fn key_obstacle(model: &Model, item: &Item) -> Option<String> {
    TableOrIndex::all(model).into_iter().find_map(|location| {
        let partition_keys = location.halves(model).0.len();
        let keys = location.key_names(model).iter().enumerate();
        keys.filter_map(|(position, name)| Some((position, name, item.get(name)?))).find_map(
            |(position, name, value)| {
                let limit = if position < partition_keys { MAX_PARTITION_BYTES } else { MAX_SORT_BYTES };
                let is_number = location.key_is_number(model, position);
                let problem = match value {
                    Value::String(text) if !is_number && text.is_empty() => "empty".to_owned(),
                    Value::String(text) if !is_number && text.len() > limit => {
                        format!("longer than {limit} bytes")
                    }
                    Value::String(_) if !is_number => return None,
                    Value::Number(_) if is_number => return None,
                    _ => format!("not {}", if is_number { "a number" } else { "text" }),
                };
                Some(format!("has a {name}, a key of {}, that is {problem}", location.name()))
            },
        )
    })
}
