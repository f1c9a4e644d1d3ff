//! Rows of a relational table as items of a model, and what makes two items equal.

use super::naming;
use crate::audit::{check_item, marker, marker_of};
use crate::item::{Attributes, Item, Value};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Entity, Model};
pub use crate::relational::values::from_hexadecimal;
use crate::relational::values::{plain_number, value};
use crate::template::{FieldTypes, SHARD};

/// Returns the entity of a table: `orders` is that of `Order`.
pub fn entity_of<'m>(model: &'m Model, table: &str) -> Option<&'m Entity> {
    let wanted = naming::entity(table);
    let named = |entity: &&Entity| {
        entity.name.eq_ignore_ascii_case(&wanted) || entity.name.eq_ignore_ascii_case(table)
    };
    model.entities.iter().find(named)
}

/// Returns the attribute of a column: of the same name, or of the one that an import gives it. The entity's identifier is the column `id`.
///
/// # Errors
///
/// Returns a message if the entity has no such attribute.
pub fn attribute_of<'e>(entity: &'e Entity, column: &str) -> Result<&'e str, String> {
    let called = |name: &str| entity.attributes.iter().find(|own| own.name.eq_ignore_ascii_case(name));
    let renamed = || naming::attribute_names(&entity.name, column).iter().find_map(|name| called(name));
    let identifier = || entity.identity().filter(|_| column.eq_ignore_ascii_case("id"));
    let attribute = called(column).or_else(renamed).map(|attribute| attribute.name.as_str());
    attribute.or_else(identifier).ok_or_else(|| {
        format!(
            "column `{column}` is no attribute of {}: add it to the model, or leave it out of the rows",
            entity.name
        )
    })
}

/// Returns the items that a row becomes: its own, the markers of its unique values, and its copies.
///
/// # Errors
///
/// Returns a message if a value does not fit its type, one that a key needs is absent, or an audit would refuse an item.
pub fn items(model: &Model, entity: &Entity, row: &[(&str, Option<&str>)]) -> Result<Vec<Item>, String> {
    let mut item = Item::new();
    for (column, text) in row {
        let Some(text) = text else { continue };
        let name = attribute_of(entity, column)?;
        let Some(attribute) = entity.attribute(name) else { continue };
        let value = value(attribute, text).map_err(|message| format!("`{column}`: {message}"))?;
        if let Err(reason) = attribute.admits(&value, entity.delimiter()) {
            return Err(format!("`{column}`: {reason}"));
        }
        if item.insert(name.to_owned(), value).is_some() {
            return Err(format!("`{column}` and another column are both the attribute {name}"));
        }
    }
    if let Some(missing) =
        entity.attributes.iter().find(|attribute| !attribute.optional && !item.contains_key(&attribute.name))
    {
        return Err(format!("there is no `{}`, which {} requires", missing.name, entity.name));
    }
    let texts: Attributes =
        item.iter().filter_map(|(name, value)| Some((name.clone(), value.to_text()?))).collect();
    let markers = entity.unique.iter().filter_map(|names| marker(entity, names, &texts));
    let mut items: Vec<Item> = markers.map(|key| marker_of(model, entity, &item, &key)).collect();
    let copies = model.copies_of(&entity.name).filter(|copy| !model.has_own_identity(copy));
    for own in std::iter::once(entity).chain(copies) {
        let attributes = item.iter().filter(|(name, _)| own.attribute(name).is_some());
        let attributes: Item = attributes.map(|(name, value)| (name.clone(), value.clone())).collect();
        items.push(with_keys(model, own, attributes)?);
    }
    match items.iter().flat_map(|item| check_item(model, item)).next() {
        Some(violation) => Err(violation.message),
        None => Ok(items),
    }
}

/// Adds the keys and the type of an entity to its attributes.
fn with_keys(model: &Model, entity: &Entity, mut item: Item) -> Result<Item, String> {
    let values: Attributes =
        item.iter().filter_map(|(name, value)| Some((name.clone(), value.to_text()?))).collect();
    for location in TableOrIndex::all(model) {
        let Some(mapping) = location.mapping(entity) else { continue };
        if location.index.is_some() && !mapping.includes(&values) {
            continue;
        }
        let mut filled = values.clone();
        let number = mapping.shard.map_or(0, |shard| shard.reproducible(&values));
        filled.insert(SHARD.to_owned(), number.to_string());
        for (position, (name, template)) in location.key_names(model).iter().zip(mapping.key).enumerate() {
            let key = template.fill(&filled).map_err(|field| {
                format!("the key of {} needs `{field}`, which is absent or does not fit", entity.name)
            })?;
            generate(&mut item, name, location.key_value(model, position, key))?;
        }
    }
    if let Some(name) = &model.table.type_attribute {
        generate(&mut item, name, Value::String(entity.type_value.clone()))?;
    }
    Ok(item)
}

/// Adds an attribute that is not a column, unless a column of the same name has another value.
fn generate(item: &mut Item, name: &str, value: Value) -> Result<(), String> {
    match item.insert(name.to_owned(), value.clone()) {
        Some(own) if plain(&own) != plain(&value) => Err(format!(
            "`{name}` is a column, and the table itself uses the attribute: rename it in the model"
        )),
        _ => Ok(()),
    }
}

/// Returns a text that two items share exactly if they have the same primary key.
pub fn identity(model: &Model, item: &Item) -> String {
    canonical(&model.table.keys.iter().filter_map(|key| item.get_key_value(key)).map(owned).collect())
}

fn owned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// Returns the text of an item's primary key.
pub fn key_text(model: &Model, item: &Item) -> String {
    let keys: Vec<String> = model
        .table
        .keys
        .iter()
        .map(|key| item.get(key).and_then(Value::to_text).unwrap_or_default())
        .collect();
    keys.join(" / ")
}

/// Returns a text that two items share exactly if they are equal: numbers by value, sets in any order.
pub fn canonical(item: &Item) -> String {
    let values: Item = item.iter().map(|(name, value)| (name.clone(), plain(value))).collect();
    format!("{values:?}")
}

fn plain(value: &Value) -> Value {
    let sorted = |texts: &[String]| {
        let mut texts = texts.to_vec();
        texts.sort();
        texts
    };
    match value {
        Value::Number(text) => Value::Number(plain_number(text).unwrap_or_else(|| text.clone())),
        Value::List(values) => Value::List(values.iter().map(plain).collect()),
        Value::Map(values) => {
            Value::Map(values.iter().map(|(name, value)| (name.clone(), plain(value))).collect())
        }
        Value::StringSet(texts) => Value::StringSet(sorted(texts)),
        Value::BinarySet(texts) => Value::BinarySet(sorted(texts)),
        Value::NumberSet(texts) => {
            let plain: Vec<String> =
                texts.iter().map(|text| plain_number(text).unwrap_or_else(|| text.clone())).collect();
            Value::NumberSet(sorted(&plain))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, read};

    fn model() -> Model {
        let text = r#"
format = 1
[table]
name = "Shop"
keys = ["PK", "SK"]
type_attribute = "EntityType"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { user_id = "int", email = "string", joined = "timestamp", city = "string?" }
key = ["USER#{user_id}", "USER#{user_id}"]
index.GSI1 = { key = ["CITY#{city}", "USER#{user_id}"], when = "exists(city)" }
unique = ["email"]
"#;
        read(&Source::new("m.toml", text)).unwrap()
    }

    #[test]
    fn a_row_becomes_an_item_with_its_keys_and_markers() {
        let model = model();
        let user = entity_of(&model, "users").unwrap();
        let row = [
            ("id", Some("7")),
            ("email", Some("a@b.c")),
            ("joined", Some("2026-04-05 12:30:00+02")),
            ("city", None),
        ];
        let found = items(&model, user, &row).unwrap();
        assert_eq!(key_text(&model, &found[0]), "UNIQUE#User#email#a@b.c / UNIQUE#User#email#a@b.c");
        let item = &found[1];
        assert_eq!(item["PK"], Value::String("USER#7".to_owned()));
        assert_eq!(item["user_id"], Value::Number("7".to_owned()));
        assert_eq!(item["joined"], Value::String("2026-04-05T10:30:00.000000Z".to_owned()));
        assert!(!item.contains_key("GSI1PK") && !item.contains_key("city"));
    }

    #[test]
    fn a_row_that_does_not_fit_is_refused() {
        let model = model();
        let user = entity_of(&model, "users").unwrap();
        let refused = |row: &[(&str, Option<&str>)]| items(&model, user, row).unwrap_err();
        assert!(refused(&[("age", Some("7"))]).contains("`age` is no attribute of User"));
        assert!(refused(&[("id", Some("seven"))]).contains("`id`"));
        assert!(refused(&[("id", Some("7"))]).contains("no `email`"));
    }

    #[test]
    fn what_a_row_becomes_is_what_an_audit_accepts() {
        let text = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "EntityType"
[entity.Doc]
attributes = { id = "int", at = "timestamp?", ms = { type = "timestamp?", precision = "millisecond" }, day = "date?", code = "uuid?", extra = "map?", bytes = "binary?", SK = "string?" }
key = ["DOC#{id}", "DOC#{id}"]
"#;
        let model = read(&Source::new("m.toml", text)).unwrap();
        let found = |column: &str, text: &str| {
            let row = [("id", Some("1")), (column, Some(text))];
            items(&model, &model.entities[0], &row).map(|items| items[0].clone())
        };
        let refused = [
            ("at", "2026-13-45 99:99:99"),
            ("at", "2026-02-00 00:00:00"),
            ("at", "2026/04/05 10:30:00"),
            ("at", "2026-04-05 10:30:00123"),
            ("at", "20260405"),
            ("ms", "2026-04-05 10:30:00.1234"),
            ("day", "5/4/26"),
            ("day", "2026-02-31"),
            ("code", "not-a-uuid"),
            ("extra", "[1]"),
            ("bytes", "+f"),
            ("SK", "hello"),
        ];
        for (column, text) in refused {
            assert!(found(column, text).is_err(), "{column} {text}");
        }
        let time = found("ms", "2026-04-05 10:30:00.25").unwrap();
        assert_eq!(time["ms"], Value::String("2026-04-05T10:30:00.250Z".to_owned()));
        let item =
            found("extra", r#"{"big":12345678901234567890123,"s":"0.12345678901234567890123"}"#).unwrap();
        let Value::Map(extra) = &item["extra"] else { panic!("{item:?}") };
        assert_eq!(extra["big"], Value::Number("12345678901234567890123".to_owned()));
    }

    #[test]
    fn a_row_whose_items_an_audit_refuses_is_refused() {
        let text = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "EntityType"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Bin]
attributes = { name = "string", place = "string?" }
key = ["BIN#{name}", "BIN#{name}"]
index.GSI1 = { key = ["PLACE#{place}", "BIN#{name}"], when = "exists(place)" }
unique = ["place"]
[entity.Page]
attributes = { pageId = "id", version = "int" }
key = ["PAGE#{pageId}", "V#{version:04}"]
versions = "version"
"#;
        let model = read(&Source::new("m.toml", text)).unwrap();
        let rows = |number: usize, row: [(&str, &str); 2]| {
            items(&model, &model.entities[number], &row.map(|(column, text)| (column, Some(text))))
        };
        assert!(rows(0, [("name", "a\tb"), ("place", "c\u{1e}d")]).is_ok());
        for (name, place) in [("a\u{1f}b", "c"), ("a\u{10ffff}", "c"), ("a", "\u{10ffff}")] {
            assert!(rows(0, [("name", name), ("place", place)]).is_err(), "{name:?} {place:?}");
        }
        assert!(rows(1, [("pageId", "p"), ("version", "1")]).is_ok());
        let refused = rows(1, [("pageId", "p"), ("version", "0")]).unwrap_err();
        assert!(refused.contains("V#0000 is not a key of Page"), "{refused}");
    }

    #[test]
    fn keys_that_only_look_the_same_are_different() {
        let model = model();
        let item = |own: Value, other: &str| {
            Item::from([("PK".to_owned(), own), ("SK".to_owned(), Value::String(other.to_owned()))])
        };
        let text = |text: &str| Value::String(text.to_owned());
        let one = identity(&model, &item(text("x / y"), "z"));
        assert_ne!(one, identity(&model, &item(text("x"), "y / z")));
        let number = |text: &str| identity(&model, &item(Value::Number(text.to_owned()), "z"));
        assert_ne!(number("1"), identity(&model, &item(text("1"), "z")));
        assert_eq!(number("1"), number("1.0"));
    }

    #[test]
    fn equal_items_have_the_same_text() {
        let number = |text: &str| Item::from([("n".to_owned(), Value::Number(text.to_owned()))]);
        assert_eq!(canonical(&number("12.50")), canonical(&number("1.25E1")));
        assert_ne!(canonical(&number("12.5")), canonical(&number("12.51")));
    }
}
