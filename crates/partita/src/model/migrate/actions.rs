//! The writes of a migration. Each expects what was read, so that no change of the application is lost.

use partita_design::capacity::estimate::write_units;
use partita_design::exchange::item_json::encode;
use partita_design::item::{Item, Value as ItemValue, item_size};
use partita_design::model::MAX_ACTIONS;
use serde_json::{Map, Value, json};

/// The most tests of a condition; DynamoDB limits the operators of an expression. One of them is that the item exists.
const MAX_TESTS: usize = 140;
/// The longest condition; what it compares fits, what it expects to be absent may not.
const MAX_CONDITION_BYTES: usize = 4096;
const AND: &str = " AND ";
/// The most attributes that a condition compares.
pub const MAX_COMPARED: usize = MAX_TESTS - 1;
/// The most bytes of the items of a transaction.
const MAX_TRANSACTION_BYTES: usize = 4 << 20;

/// What must be there for a write to take place.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Nothing with this key.
    Absent,
    /// This item, and none of these attributes, as far as a condition can say it.
    Same { item: Item, without: Vec<String> },
}

impl Expected {
    /// An item as it was read, which has no other attributes out of these.
    pub fn same<'n>(item: &Item, names: impl IntoIterator<Item = &'n String>) -> Expected {
        let mut without: Vec<String> = Vec::new();
        for name in names {
            if !item.contains_key(name) && !without.contains(name) {
                without.push(name.clone());
            }
        }
        Expected::Same { item: item.clone(), without }
    }
}

#[derive(Clone, Debug)]
pub enum Change {
    Put(Item),
    /// Only what differs is written.
    Update(Item),
    Delete,
    /// Nothing is written: the others depend on the item. Only in a transaction.
    Check,
}

/// A write to one item.
#[derive(Clone, Debug)]
pub struct Action {
    pub table: String,
    pub key: Item,
    pub change: Change,
    pub expected: Expected,
}

/// The parts of a request that its expressions need.
#[derive(Default)]
struct Expression {
    names: Map<String, Value>,
    values: Map<String, Value>,
}

impl Expression {
    fn name(&mut self, name: &str) -> String {
        let place = format!("#{}", self.names.len());
        self.names.insert(place.clone(), json!(name));
        place
    }

    fn value(&mut self, value: Value) -> String {
        let place = format!(":{}", self.values.len());
        self.values.insert(place.clone(), value);
        place
    }
}

impl Action {
    pub fn put(table: &str, key: Item, item: Item, expected: Expected) -> Action {
        Action { table: table.to_owned(), key, change: Change::Put(item), expected }
    }

    /// Writes what differs from an item that was read.
    pub fn update(table: &str, key: Item, old: &Item, new: Item) -> Action {
        let expected = Expected::same(old, new.keys());
        Action { table: table.to_owned(), key, change: Change::Update(new), expected }
    }

    pub fn delete(table: &str, key: Item, item: Item) -> Action {
        let expected = Expected::Same { item, without: Vec::new() };
        Action { table: table.to_owned(), key, change: Change::Delete, expected }
    }

    /// The operation's name alone and in a transaction, and its input.
    pub fn request(&self) -> (&'static str, &'static str, Value) {
        let mut expression = Expression::default();
        let condition = self.condition(&mut expression);
        let mut request = json!({ "TableName": self.table, "ConditionExpression": condition });
        let names = match &self.change {
            Change::Put(item) => {
                request["Item"] = Value::Object(encode(item));
                ("PutItem", "Put")
            }
            Change::Update(item) => {
                request["Key"] = Value::Object(encode(&self.key));
                request["UpdateExpression"] = json!(self.update_expression(item, &mut expression));
                ("UpdateItem", "Update")
            }
            Change::Delete => {
                request["Key"] = Value::Object(encode(&self.key));
                ("DeleteItem", "Delete")
            }
            Change::Check => {
                request["Key"] = Value::Object(encode(&self.key));
                ("GetItem", "ConditionCheck")
            }
        };
        request["ExpressionAttributeNames"] = Value::Object(expression.names);
        if !expression.values.is_empty() {
            request["ExpressionAttributeValues"] = Value::Object(expression.values);
        }
        (names.0, names.1, request)
    }

    fn condition(&self, expression: &mut Expression) -> String {
        let partition = self.key.keys().next().map_or("", String::as_str);
        let Expected::Same { item, without } = &self.expected else {
            return format!("attribute_not_exists({})", expression.name(partition));
        };
        let mut tests = vec![format!("attribute_exists({})", expression.name(partition))];
        let mut compared: Vec<(String, Value)> =
            encode(item).into_iter().filter(|(name, _)| !self.key.contains_key(name)).collect();
        if let Change::Update(new) = &self.change {
            // What is overwritten is compared in any case.
            compared.sort_by_key(|(name, _)| new.get(name) == item.get(name));
        }
        for (name, value) in compared {
            tests.push(format!("{} = {}", expression.name(&name), expression.value(value)));
        }
        for name in without {
            tests.push(format!("attribute_not_exists({})", expression.name(name)));
        }
        tests.truncate(MAX_TESTS);
        let mut bytes = 0;
        tests.retain(|test| {
            bytes += test.len() + AND.len();
            bytes <= MAX_CONDITION_BYTES
        });
        let used =
            |place: &str| tests.iter().any(|test| test.split([' ', '(', ')']).any(|word| word == place));
        expression.names.retain(|place, _| used(place));
        expression.values.retain(|place, _| used(place));
        tests.join(AND)
    }

    /// Sets and removes what differs from the expected item.
    fn update_expression(&self, item: &Item, expression: &mut Expression) -> String {
        let nothing = Item::new();
        let old = match &self.expected {
            Expected::Same { item, .. } => item,
            Expected::Absent => &nothing,
        };
        let (mut set, mut remove) = (Vec::new(), Vec::new());
        for (name, value) in encode(item) {
            if old.get(&name) != item.get(&name) {
                set.push(format!("{} = {}", expression.name(&name), expression.value(value)));
            }
        }
        for name in old.keys().filter(|name| !item.contains_key(*name)) {
            remove.push(expression.name(name));
        }
        let part = |word: &str, list: &[String]| {
            if list.is_empty() { String::new() } else { format!("{word} {} ", list.join(", ")) }
        };
        format!("{}{}", part("SET", &set), part("REMOVE", &remove))
    }

    /// The item that is written, if it is not deleted.
    pub fn item(&self) -> Option<&Item> {
        match &self.change {
            Change::Put(item) | Change::Update(item) => Some(item),
            Change::Delete | Change::Check => None,
        }
    }

    /// The bytes that a transaction counts.
    fn size(&self) -> usize {
        match &self.change {
            Change::Put(item) | Change::Update(item) => item_size(item),
            Change::Delete | Change::Check => item_size(&self.key),
        }
    }

    pub fn write_units(&self) -> u64 {
        match (&self.change, &self.expected) {
            (Change::Put(item) | Change::Update(item), _) => item_units(item),
            (Change::Delete | Change::Check, Expected::Same { item, .. }) => item_units(item),
            (Change::Delete | Change::Check, Expected::Absent) => 1,
        }
    }
}

/// The write units of an item.
pub fn item_units(item: &Item) -> u64 {
    write_units(Value::Object(encode(item)).to_string().len() as u64)
}

/// The write units of writes that are made at once: a transaction takes twice the units.
pub fn transaction_units(units: &[u64]) -> u64 {
    let sum: u64 = units.iter().sum();
    if units.len() > 1 { sum * 2 } else { sum }
}

/// Writes as transactions that the database accepts, one if possible.
pub fn transactions(actions: &[Action]) -> Vec<&[Action]> {
    let mut bytes = 0;
    let mut sizes = Vec::new();
    for action in actions {
        bytes += action.size();
        match sizes.last_mut().filter(|size| **size < MAX_ACTIONS && bytes <= MAX_TRANSACTION_BYTES) {
            Some(size) => *size += 1,
            None => {
                bytes = action.size();
                sizes.push(1);
            }
        }
    }
    let mut rest = actions;
    let mut next = |size: usize| {
        let (first, others) = rest.split_at(size);
        rest = others;
        first
    };
    sizes.into_iter().map(&mut next).collect()
}

/// The text of a key for messages: `USER#1 / PROFILE`.
pub fn key_text(key: &Item) -> String {
    let texts: Vec<String> =
        key.values().map(|value| ItemValue::to_text(value).unwrap_or_default()).collect();
    texts.join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(texts: &[(&str, &str)]) -> Item {
        texts.iter().map(|(name, text)| ((*name).to_owned(), ItemValue::String((*text).to_owned()))).collect()
    }

    #[test]
    fn an_update_writes_what_differs_and_expects_what_was_read() {
        let old = item(&[("PK", "1"), ("a", "x"), ("b", "y")]);
        let expected = Expected::Same { item: old, without: vec!["d".to_owned()] };
        let change = Change::Update(item(&[("PK", "1"), ("a", "x"), ("c", "z")]));
        let action = Action { table: "T".to_owned(), key: item(&[("PK", "1")]), change, expected };
        let (operation, _, request) = action.request();
        assert_eq!(operation, "UpdateItem");
        assert_eq!(
            request["ConditionExpression"],
            "attribute_exists(#0) AND #1 = :0 AND #2 = :1 AND attribute_not_exists(#3)"
        );
        assert_eq!(request["UpdateExpression"], "SET #4 = :2 REMOVE #5 ");
        assert_eq!(
            request["ExpressionAttributeNames"],
            // What changes is compared first.
            json!({ "#0": "PK", "#1": "b", "#2": "a", "#3": "d", "#4": "c", "#5": "b" })
        );
    }

    #[test]
    fn a_transaction_has_100_writes_and_4_mb_at_most() {
        let put = |bytes: usize| {
            Action::put("T", item(&[("PK", "1")]), item(&[("PK", &"x".repeat(bytes))]), Expected::Absent)
        };
        let sizes = |actions: &[Action]| -> Vec<usize> {
            transactions(actions).iter().map(|actions| actions.len()).collect()
        };
        assert_eq!(sizes(&[]), [0; 0]);
        assert_eq!(sizes(&vec![put(1); 250]), [100, 100, 50]);
        assert_eq!(sizes(&vec![put(400_000); 12]), [10, 2]);
    }

    #[test]
    fn conditions_have_no_more_operators_than_dynamodb_allows() {
        let many: Item = (0..400).map(|number| (format!("a{number}"), ItemValue::Null)).collect();
        let action = Action::delete("T", item(&[("PK", "1")]), many);
        let (_, _, request) = action.request();
        assert_eq!(request["ConditionExpression"].as_str().unwrap().matches(" AND ").count(), MAX_TESTS - 1);
        assert_eq!(request["ExpressionAttributeValues"].as_object().unwrap().len(), MAX_COMPARED);
    }
}
