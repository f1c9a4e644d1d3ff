//! Typed relations out of a table: rows of comma-separated values for each entity, and the SQL that creates and loads their tables.
//!
//! The SQL is what PostgreSQL, SQLite and DuckDB have in common. NULL is written as `\N`, so that an item with this very text has no row.
//! The programs that load the files run commands as well as SQL: names keep only what none of them takes for a command.

use super::naming::free_name;
use super::values::plain_number;
use crate::audit::{known_values, marker_key, recognise};
use crate::item::{Item, Value, attributes};
use crate::model::decimal::Decimal;
use crate::model::text_form::{is_date, is_uuid, time_form};
use crate::model::value_type::ValueType;
use crate::model::{Entity, Model};
use crate::template::{SHARD, Template};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// NULL in the files.
const NULL: &str = "\\N";
/// The column of what an item has and its entity does not declare.
const OTHERS: &str = "other_attributes";
/// The digits of a number, and those after its decimal point.
const DIGITS: (usize, usize) = (38, 10);

/// A program that loads the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loader {
    /// `psql`.
    PostgreSql,
    /// `sqlite3`.
    Sqlite,
    /// `duckdb`.
    DuckDb,
}

/// The relation of an entity.
pub struct Relation<'m> {
    /// The entity.
    pub entity: &'m Entity,
    /// The name of its table and of its file, which is unique in any case of its letters.
    name: String,
    /// The names of the columns: one for each attribute, and one for what is not declared.
    columns: Vec<String>,
    /// The columns that identify a row; empty if nothing does.
    key: Vec<String>,
}

/// What becomes of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A line of the relation of this number.
    Of(usize, String),
    /// Nothing: it only keeps a value unique.
    Marker,
    /// It does not fit any relation.
    Unrecognised {
        /// Its key.
        key: String,
        /// Why.
        reason: String,
    },
}

/// The relations of a model.
pub struct Relations<'m> {
    model: &'m Model,
    /// One for each entity, in the order of the model.
    pub relations: Vec<Relation<'m>>,
    /// Attributes of keys, and the type: no columns, unless entities declare them.
    generated: BTreeSet<&'m str>,
}

impl<'m> Relations<'m> {
    /// Returns the relations of a model.
    pub fn new(model: &'m Model) -> Relations<'m> {
        let index_keys = model.indexes.iter().flat_map(|index| &index.keys);
        let generated = model.table.keys.iter().chain(index_keys).chain(&model.table.type_attribute);
        let mut relations: Vec<Relation<'m>> = Vec::new();
        for entity in &model.entities {
            let taken =
                |name: &str| relations.iter().any(|other| other.name.to_lowercase() == name.to_lowercase());
            let name = free_name(&harmless(&entity.name), taken);
            relations.push(Relation::new(entity, name));
        }
        Relations { model, relations, generated: generated.map(String::as_str).collect() }
    }

    /// Returns what becomes of an item.
    pub fn row(&self, item: &Item) -> Row {
        let texts = attributes(item);
        let keys: Vec<&String> = self.model.table.keys.iter().filter_map(|name| texts.get(name)).collect();
        if marker_key(self.model, &keys).is_some() {
            return Row::Marker;
        }
        let unrecognised = |reason: String| {
            let key: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
            Row::Unrecognised { key: key.join(" / "), reason }
        };
        let Some(entity) = recognise(self.model, &texts) else {
            return unrecognised("they belong to no entity".to_owned());
        };
        let number = self.relations.iter().position(|relation| relation.entity.name == entity.name);
        let known = known_values(self.model, entity, &texts);
        let mut line = String::new();
        for attribute in &entity.attributes {
            let own = item.get(&attribute.name).cloned();
            let value = own.or_else(|| of_key(&attribute.kind, known.get(&attribute.name)?));
            match field(&attribute.kind, value.as_ref()) {
                Ok(field) => push(&mut line, field.as_deref()),
                Err(reason) => {
                    return unrecognised(format!("{}.{} {reason}", entity.name, attribute.name));
                }
            }
        }
        push(&mut line, self.others(entity, item).as_deref());
        line.truncate(line.len() - 1);
        number.map_or(Row::Marker, |number| Row::Of(number, line))
    }

    /// What an item has and its entity does not declare, as JSON.
    fn others(&self, entity: &Entity, item: &Item) -> Option<String> {
        let is_other =
            |name: &&String| !self.generated.contains(name.as_str()) && entity.attribute(name).is_none();
        let others: Item = item
            .iter()
            .filter(|(name, _)| is_other(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        (!others.is_empty()).then(|| json(&Value::Map(others)))
    }

    /// Returns the SQL that creates the tables.
    pub fn schema(&self) -> String {
        let mut sql = format!(
            "-- The relations of {}: a table for each entity. PostgreSQL, SQLite and DuckDB read this file.\n",
            harmless(&self.model.table.name)
        );
        let mut owners: BTreeMap<&str, Vec<&Relation<'_>>> = BTreeMap::new();
        for relation in self.relations.iter().filter(|relation| relation.entity.copies.is_none()) {
            relation.key.iter().take(1).for_each(|first| owners.entry(first).or_default().push(relation));
        }
        for relation in &self.relations {
            relation.write_table(&owners, &mut sql);
        }
        sql
    }

    /// Returns the commands that load the files, after they have created the tables.
    pub fn load(&self, loader: Loader) -> String {
        let mut commands = match loader {
            Loader::PostgreSql => "\\ir schema.sql\n".to_owned(),
            Loader::Sqlite | Loader::DuckDb => ".read schema.sql\n".to_owned(),
        };
        for relation in &self.relations {
            let (file, table) = (relation.file(), quoted(&relation.name));
            let _ = match loader {
                Loader::PostgreSql => {
                    writeln!(
                        commands,
                        "\\copy {table} FROM '{file}' WITH (FORMAT csv, HEADER, NULL '{NULL}')"
                    )
                }
                Loader::DuckDb => {
                    writeln!(commands, "COPY {table} FROM '{file}' (FORMAT csv, HEADER, NULLSTR '{NULL}');")
                }
                Loader::Sqlite => {
                    let set = |name: &String| format!("{0} = NULLIF({0}, '{NULL}')", quoted(name));
                    let set: Vec<String> = relation.columns.iter().map(set).collect();
                    let import = format!(".import --csv --skip 1 \"{file}\" {table}");
                    writeln!(commands, "{import}\nUPDATE {table} SET {};", set.join(", "))
                }
            };
        }
        commands
    }
}

impl<'m> Relation<'m> {
    fn new(entity: &'m Entity, name: String) -> Relation<'m> {
        let mut columns: Vec<String> = Vec::new();
        let names = entity.attributes.iter().map(|attribute| attribute.name.as_str());
        for name in names.chain([OTHERS]) {
            let mut column = name.replace(|character: char| character.is_control(), "_");
            // SQL does not tell upper case from lower case.
            while columns.iter().any(|other| other.eq_ignore_ascii_case(&column)) {
                column.push('_');
            }
            columns.push(column);
        }
        let is_random = entity.key.iter().any(|template| template.has_field(SHARD))
            && entity.shard.as_ref().is_none_or(|shard| shard.by.is_none());
        let fields: BTreeSet<&str> = entity.key.iter().flat_map(Template::fields).collect();
        let is_key =
            |(attribute, _): &(&crate::model::Attribute, &String)| fields.contains(attribute.name.as_str());
        let key = entity.attributes.iter().zip(&columns).filter(is_key).map(|(_, column)| column.clone());
        let key = if is_random { Vec::new() } else { key.collect() };
        Relation { entity, name, columns, key }
    }

    /// Returns the name of the file.
    pub fn file(&self) -> String {
        format!("{}.csv", self.name)
    }

    /// Returns the first line of the file.
    pub fn header(&self) -> String {
        let mut line = String::new();
        self.columns.iter().for_each(|name| push(&mut line, Some(name)));
        line.truncate(line.len() - 1);
        line
    }

    fn write_table(&self, owners: &BTreeMap<&str, Vec<&Relation<'_>>>, sql: &mut String) {
        sql.push('\n');
        if let Some(original) = &self.entity.copies {
            let _ = writeln!(
                sql,
                "-- Each row is a copy of one of {}: count the originals, not the copies.",
                quoted(&harmless(original))
            );
        }
        for owner in self.columns.iter().filter_map(|column| owners.get(column.as_str())).flatten() {
            let is_own = owner.entity.name == self.entity.name
                || self.entity.copies.as_ref() == Some(&owner.entity.name);
            if !is_own
                && owner.key != self.key
                && owner.key.iter().all(|column| self.columns.contains(column))
            {
                let columns = list(&owner.key);
                let table = quoted(&owner.name);
                let _ = writeln!(sql, "-- FOREIGN KEY ({columns}) REFERENCES {table} ({columns})");
            }
        }
        let types = self.entity.attributes.iter().map(|attribute| sql_type(&attribute.kind)).chain(["JSON"]);
        let mut lines: Vec<String> = Vec::new();
        for (column, kind) in self.columns.iter().zip(types) {
            let required = if self.key.contains(column) { " NOT NULL" } else { "" };
            lines.push(format!("  {} {kind}{required}", quoted(column)));
        }
        if !self.key.is_empty() {
            lines.push(format!("  PRIMARY KEY ({})", list(&self.key)));
        }
        let _ = writeln!(sql, "CREATE TABLE {} (\n{}\n);", quoted(&self.name), lines.join(",\n"));
    }
}

/// A name without what a program that loads the files could take for a command, or a system for a path.
fn harmless(name: &str) -> String {
    let other = |character: char| !character.is_alphanumeric() && !"_- ".contains(character);
    let name = name.replace(other, "_");
    if name.starts_with(['-', ' ']) || name.is_empty() { format!("_{name}") } else { name }
}

/// Whether a program that loads the files would take a text for something else: for NULL, for the end of the data, or for damage.
fn is_mistaken(text: &str) -> bool {
    text == NULL || text.contains('\0') || text.lines().any(|line| line == "\\.")
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn sql_type(kind: &ValueType) -> &'static str {
    match kind {
        ValueType::Int => "BIGINT",
        ValueType::Decimal => "DECIMAL(38, 10)",
        ValueType::Bool => "BOOLEAN",
        ValueType::Timestamp => "TIMESTAMPTZ",
        ValueType::Date => "DATE",
        ValueType::Uuid => "UUID",
        ValueType::List | ValueType::Map | ValueType::Set => "JSON",
        _ => "TEXT",
    }
}

/// The value of an attribute that only the key has.
fn of_key(kind: &ValueType, text: &str) -> Option<Value> {
    let text = text.to_owned();
    Some(match kind {
        ValueType::Int | ValueType::Decimal => Value::Number(text),
        ValueType::Bool => Value::Bool(text == "true"),
        _ => Value::String(text),
    })
}

/// The text of a value in a column of this type; `None` is NULL.
fn field(kind: &ValueType, value: Option<&Value>) -> Result<Option<String>, String> {
    let Some(value) = value.filter(|value| **value != Value::Null) else { return Ok(None) };
    let text = value.to_text().unwrap_or_default();
    let number = || matches!(value, Value::Number(_)).then(|| plain_number(&text)).flatten();
    let fitting = match kind {
        ValueType::Int => number().filter(|number| number.parse::<i64>().is_ok()),
        ValueType::Decimal => number().filter(|number| fits(number)),
        ValueType::Bool => match value {
            Value::Bool(flag) => Some(if *flag { "1" } else { "0" }.to_owned()),
            _ => None,
        },
        ValueType::List | ValueType::Map | ValueType::Set => Some(json(value)),
        ValueType::Timestamp => string(value).filter(|text| time_form(text).is_some()),
        ValueType::Date => string(value).filter(|text| is_date(text)),
        ValueType::Uuid => string(value).filter(|text| is_uuid(text)),
        ValueType::Binary => match value {
            Value::Binary(bytes) => Some(bytes.clone()),
            _ => None,
        },
        _ => string(value),
    };
    let fitting = fitting.ok_or_else(|| format!("does not fit {}", sql_type(kind)))?;
    if is_mistaken(&fitting) {
        return Err("is a text that PostgreSQL, SQLite or DuckDB would not load as it is".to_owned());
    }
    Ok(Some(fitting))
}

fn string(value: &Value) -> Option<String> {
    if let Value::String(text) = value { Some(text.clone()) } else { None }
}

fn fits(number: &str) -> bool {
    let (digits, decimals) = DIGITS;
    Decimal::parse(number)
        .is_some_and(|number| number.whole_digits() <= digits - decimals && number.decimals() <= decimals)
}

/// A value as plain JSON; bytes are text in base 64. Numbers keep all their digits.
fn json(value: &Value) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let list = |texts: Vec<String>| format!("[{}]", texts.join(","));
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => plain_number(number).unwrap_or_else(|| text(number)),
        Value::String(own) | Value::Binary(own) => text(own),
        Value::List(values) => list(values.iter().map(json).collect()),
        Value::StringSet(texts) | Value::BinarySet(texts) => {
            list(texts.iter().map(|own| text(own)).collect())
        }
        Value::NumberSet(texts) => list(texts.iter().filter_map(|number| plain_number(number)).collect()),
        Value::Map(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{}:{}", text(name), json(value))).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

/// Adds a field and a comma to a line.
fn push(line: &mut String, field: Option<&str>) {
    let is_plain = |text: &str| {
        !text.is_empty() && text != NULL && !text.contains([',', '"', '\n', '\r']) && text.trim() == text
    };
    match field {
        None => line.push_str(NULL),
        Some(text) if is_plain(text) => line.push_str(text),
        Some(text) => {
            let _ = write!(line, "\"{}\"", text.replace('"', "\"\""));
        }
    }
    line.push(',');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, read};

    const MODEL: &str = r#"
format = 1
[table]
name = "Shop"
keys = ["PK", "SK"]
type_attribute = "kind"
[entity.User]
attributes = { userId = "id", email = "string", active = "bool", tags = "set?", photo = "binary?" }
key = ["USER#{userId}", "PROFILE"]
unique = ["email"]
[entity.Order]
attributes = { userId = "id", number = "int", total = "decimal", at = "timestamp?" }
key = ["USER#{userId}", "ORDER#{number:04}"]
[entity.OrderCard]
attributes = { userId = "id", number = "int", total = "decimal" }
copies = "Order"
key = ["CARD#{userId}", "ORDER#{number:04}"]
"#;

    fn item(pairs: &[(&str, Value)]) -> Item {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    fn text(text: &str) -> Value {
        Value::String(text.to_owned())
    }

    fn unrecognised(key: &str, reason: &str) -> Row {
        Row::Unrecognised { key: key.to_owned(), reason: reason.to_owned() }
    }

    fn number(text: &str) -> Value {
        Value::Number(text.to_owned())
    }

    #[test]
    fn items_become_rows_with_what_only_their_keys_have() {
        let model = read(&Source::new("m.toml", MODEL)).unwrap();
        let relations = Relations::new(&model);
        let user = item(&[
            ("PK", text("USER#u1")),
            ("SK", text("PROFILE")),
            ("kind", text("User")),
            ("email", text("a,\"b\"")),
            ("active", Value::Bool(true)),
            ("tags", Value::StringSet(vec!["x".to_owned()])),
            ("photo", Value::Binary("AAEC".to_owned())),
            ("extra", number("7")),
        ]);
        assert_eq!(relations.relations[0].header(), "userId,email,active,tags,photo,other_attributes");
        let line = "u1,\"a,\"\"b\"\"\",1,\"[\"\"x\"\"]\",AAEC,\"{\"\"extra\"\":7}\"".to_owned();
        assert_eq!(relations.row(&user), Row::Of(0, line));
        let order = |total: Value| {
            item(&[
                ("PK", text("USER#u1")),
                ("SK", text("ORDER#0007")),
                ("kind", text("Order")),
                ("total", total),
            ])
        };
        assert_eq!(relations.row(&order(number("1.25E1"))), Row::Of(1, "u1,7,12.5,\\N,\\N".to_owned()));
        for wrong in [text("12"), number("0.00000000001"), number(&"9".repeat(38))] {
            assert_eq!(
                relations.row(&order(wrong)),
                unrecognised("USER#u1 / ORDER#0007", "Order.total does not fit DECIMAL(38, 10)")
            );
        }
        let marker = text("UNIQUE#User#email#a");
        assert_eq!(relations.row(&item(&[("PK", marker.clone()), ("SK", marker)])), Row::Marker);
        let stranger = item(&[("PK", text("X")), ("SK", text("Y")), ("kind", text("Z"))]);
        assert_eq!(relations.row(&stranger), unrecognised("X / Y", "they belong to no entity"));
    }

    #[test]
    fn no_name_is_a_command_or_a_path() {
        let text = MODEL
            .replace("name = \"Shop\"", "name = \"Shop\\n.shell touch pwned\\n\\\\! touch pwned\"")
            .replace("[entity.User]", "[entity.\"../x |y'\\n.shell z\"]")
            .replace("[entity.Order]", "[entity.\"My Order\"]")
            .replace("[entity.OrderCard]", "[entity.\"my order\"]")
            .replace("copies = \"Order\"", "copies = \"My Order\"")
            .replace("total = \"decimal\", at", "\"a\\n.shell b\" = \"string?\", total = \"decimal\", at");
        let model = read(&Source::new("m.toml", text)).unwrap();
        let relations = Relations::new(&model);
        let files: Vec<String> = relations.relations.iter().map(Relation::file).collect();
        assert_eq!(files, ["___x _y___shell z.csv", "My Order.csv", "my order2.csv"]);
        let loads = [Loader::PostgreSql, Loader::Sqlite, Loader::DuckDb].map(|loader| relations.load(loader));
        for (number, sql) in loads.iter().chain([&relations.schema()]).enumerate() {
            let is_command = |line: &&str| line.starts_with(['.', '\\']);
            let own = ["\\ir schema.sql", ".read schema.sql", "\\copy \"", ".import --csv --skip 1 \""];
            let strange =
                sql.lines().filter(is_command).find(|line| !own.iter().any(|start| line.starts_with(start)));
            assert_eq!(strange, None, "{number}\n{sql}");
        }
        assert!(loads[1].contains(".import --csv --skip 1 \"My Order.csv\" \"My Order\"\n"), "{}", loads[1]);
    }

    #[test]
    fn a_text_that_would_not_be_loaded_has_no_row() {
        let model = read(&Source::new("m.toml", MODEL)).unwrap();
        let user = |email: &str| {
            let keys = [("PK", text("USER#u1")), ("SK", text("PROFILE")), ("kind", text("User"))];
            let rest = [("email", text(email)), ("active", Value::Bool(true))];
            Relations::new(&model).row(&item(&[keys.as_slice(), &rest].concat()))
        };
        for email in ["\\N", "a\n\\.\nb", "a\0b"] {
            assert!(matches!(user(email), Row::Unrecognised { .. }), "{email}");
        }
        for email in ["", "\\n", "a\\.", "\\N "] {
            assert!(matches!(user(email), Row::Of(0, _)), "{email}");
        }
    }

    #[test]
    fn the_schema_has_types_keys_and_relationships() {
        let model = read(&Source::new("m.toml", MODEL)).unwrap();
        let relations = Relations::new(&model);
        let schema = relations.schema();
        for part in [
            "CREATE TABLE \"User\" (\n  \"userId\" TEXT NOT NULL,",
            "  \"active\" BOOLEAN,\n  \"tags\" JSON,\n  \"photo\" TEXT,\n  \"other_attributes\" JSON,\n  PRIMARY KEY (\"userId\")\n);",
            "-- FOREIGN KEY (\"userId\") REFERENCES \"User\" (\"userId\")\nCREATE TABLE \"Order\"",
            "  PRIMARY KEY (\"userId\", \"number\")",
            "-- Each row is a copy of one of \"Order\"",
        ] {
            assert!(schema.contains(part), "{part}\n{schema}");
        }
        assert!(relations.load(Loader::PostgreSql).contains("\\copy \"Order\" FROM 'Order.csv'"));
    }
}
