//! Imports and exports OneTable schemas: `value: 'USER#${userId}'` is a key template; `map`, `enum`, `generate` and `ttl` are kept.

mod export;

pub use export::export;

use super::library::{index_key, make_padded_whole, require_key_fields};
use crate::draft::{Asked, Confidence, Draft};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Index, Model, Projection, Table};
use crate::relational::naming::{field_name, free_name};
use crate::template::Template;
use serde_json::{Map, Value};

/// The type of the items with which OneTable itself keeps values unique, and the start of their keys.
const UNIQUE: (&str, &str) = ("_Unique", "_unique#");

/// Imports a schema as the draft of a table.
///
/// # Errors
///
/// Returns a message if the text is not a OneTable schema in JSON.
pub fn import(text: &str, table: &str) -> Result<Draft, String> {
    let root: Value = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
    let indexes = root["indexes"].as_object().ok_or("there are no `indexes`: is this a OneTable schema?")?;
    let models = root["models"].as_object().ok_or("there are no `models`: is this a OneTable schema?")?;
    let primary = indexes.get("primary").ok_or("there is no primary index")?;
    let keys = index_keys(primary, &[]);
    let type_attribute = Some(type_field(&root["params"]).to_owned());
    let mut model = Model {
        table: Table { name: table.to_owned(), keys: keys.clone(), type_attribute, ..Table::default() },
        ..Model::default()
    };
    for (name, index) in indexes.iter().filter(|(name, _)| *name != "primary") {
        model.indexes.push(index_of(name, index, &keys));
    }
    let about = "Imported from OneTable. Add the writes, then: partita model check".to_owned();
    let mut draft = Draft { model, about, ..Draft::default() };
    draft.note("table", Confidence::Certain, "the schema of OneTable");
    for (name, fields) in models {
        let fields = fields.as_object().ok_or_else(|| format!("model {name} is not an object"))?;
        let schema = ModelSchema { name, fields, params: &root["params"] };
        let entity = schema.entity(&mut draft);
        draft.model.entities.push(entity);
    }
    add_unique_markers(&mut draft);
    draft.derive_patterns();
    Ok(draft)
}

fn index_of(name: &str, index: &Value, keys: &[String]) -> Index {
    let project = match &index["project"] {
        Value::String(word) if word == "keys" => Projection::KeysOnly,
        Value::Array(names) => {
            Projection::Include(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        _ => Projection::All,
    };
    Index {
        name: name.to_owned(),
        local: index["type"].as_str() == Some("local") || index.get("hash").is_none(),
        keys: index_keys(index, keys),
        partition_keys: 1,
        project,
        span: 0..0,
    }
}

/// Partition key and sort key; a local index has the table's partition key.
fn index_keys(index: &Value, table: &[String]) -> Vec<String> {
    let hash = index["hash"].as_str().map(str::to_owned).or_else(|| table.first().cloned());
    hash.into_iter().chain(index["sort"].as_str().map(str::to_owned)).collect()
}

/// OneTable keeps values unique with items of its own, which are an entity here.
fn add_unique_markers(draft: &mut Draft) {
    let asked: Vec<(String, String)> = draft
        .questions
        .iter()
        .filter_map(|question| match &question.asked {
            Asked::Unique { entity, attribute } => Some((entity.clone(), attribute.clone())),
            _ => None,
        })
        .collect();
    if asked.is_empty() {
        return;
    }
    let taken = |name: &str| draft.model.entities.iter().any(|own| own.name == name);
    let (kind, start) = UNIQUE;
    let key = [format!("{start}{{value}}"), start.to_owned()]
        .map(|text| Template::parse(&text).unwrap_or_default());
    let entity = Entity {
        name: free_name("UniqueValue", taken),
        type_value: kind.to_owned(),
        attributes: vec![Attribute::new("value", ValueType::String)],
        key: key.into_iter().take(draft.model.table.keys.len()).collect(),
        identity: vec!["value".to_owned()],
        ..Entity::default()
    };
    let values: Vec<String> =
        asked.iter().map(|(entity, attribute)| format!("{entity}.{attribute}")).collect();
    let text = format!("OneTable keeps {} unique with these items.", crate::formatting::list(&values));
    draft.note(entity.subject(), Confidence::Certain, text);
    draft.model.entities.push(entity);
}

/// A model of a schema.
struct ModelSchema<'a> {
    name: &'a str,
    fields: &'a Map<String, Value>,
    params: &'a Value,
}

impl ModelSchema<'_> {
    fn entity(&self, draft: &mut Draft) -> Entity {
        let mut entity =
            Entity { name: self.name.to_owned(), type_value: self.name.to_owned(), ..Entity::default() };
        for (field, definition) in self.fields {
            let is_key = draft
                .model
                .indexes
                .iter()
                .flat_map(|index| &index.keys)
                .chain(&draft.model.table.keys)
                .any(|key| key == field);
            if !(is_key && definition.get("value").is_some()) {
                self.add_attribute(&mut entity, field, definition, draft);
            }
        }
        self.add_times(&mut entity);
        for (position, key) in draft.model.table.keys.clone().iter().enumerate() {
            let template = self
                .template(key)
                .unwrap_or_else(|| self.ask_template(None, position, key, &mut entity, draft));
            entity.key.push(template);
        }
        require_key_fields(&mut entity);
        for index in draft.model.indexes.clone() {
            if !index.keys.iter().all(|key| self.fields.contains_key(key)) {
                continue;
            }
            let template = |(position, key): (usize, &String)| {
                self.template(key).unwrap_or_else(|| {
                    self.ask_template(Some(&index.name), position, key, &mut entity, draft)
                })
            };
            let key = index.keys.iter().enumerate().map(template).collect();
            entity.indexes.push(index_key(&entity, &index.name, key));
        }
        make_padded_whole(&mut entity);
        entity.identify_by_key();
        entity
    }

    /// The attribute that a field is stored as; of a part of a map, the map.
    fn add_attribute(&self, entity: &mut Entity, field: &str, definition: &Value, draft: &mut Draft) {
        let stored = stored(field, definition);
        let (name, kind) = match stored.split_once('.') {
            Some((map, _)) => (map, ValueType::Map),
            None => (stored, self.kind(definition)),
        };
        if entity.attributes.iter().any(|own| own.name == name) {
            return;
        }
        let given = ["required", "default", "generate", "value"];
        let optional = given.iter().all(|word| matches!(definition[*word], Value::Null | Value::Bool(false)));
        entity.attributes.push(Attribute { optional, ..Attribute::new(name, kind) });
        if definition["ttl"] == true {
            draft.model.table.ttl.get_or_insert_with(|| name.to_owned());
        }
        if definition["unique"] == true {
            let asked = Asked::Unique { entity: self.name.to_owned(), attribute: name.to_owned() };
            let text = format!(
                "OneTable keeps {name} unique with items of its own: must it have markers of this model too?"
            );
            draft.ask(asked, text, "no");
        }
    }

    /// The times that OneTable writes into every item.
    fn add_times(&self, entity: &mut Entity) {
        for (when, parameter, usual) in
            [("create", "createdField", "created"), ("update", "updatedField", "updated")]
        {
            let name = self.params[parameter].as_str().unwrap_or(usual);
            let is_written = self.params["timestamps"] == true || self.params["timestamps"] == when;
            if is_written && entity.attributes.iter().all(|own| own.name != name) {
                entity
                    .attributes
                    .push(Attribute { optional: true, ..Attribute::new(name, self.time(&Value::Null)) });
            }
        }
    }

    /// The template of a key attribute; `None` if it is not made of whole attributes.
    fn template(&self, key: &str) -> Option<Template> {
        match self.fields.get(key).map(|definition| &definition["value"]) {
            None | Some(Value::Null) => Some(Template::field(key)),
            Some(Value::String(value)) => self.parse_value(value),
            Some(_) => None,
        }
    }

    /// The key attribute itself, until an answer says what it is made of.
    fn ask_template(
        &self,
        index: Option<&str>,
        position: usize,
        key: &str,
        entity: &mut Entity,
        draft: &mut Draft,
    ) -> Template {
        let name = field_name(key);
        if entity.attributes.iter().all(|own| own.name != name) {
            entity
                .attributes
                .push(Attribute { optional: index.is_some(), ..Attribute::new(&name, ValueType::String) });
        }
        let value = self.fields.get(key).map(|definition| &definition["value"]);
        let value = value.and_then(Value::as_str).unwrap_or("a function");
        let asked =
            Asked::Template { entity: self.name.to_owned(), index: index.map(str::to_owned), position };
        let text = format!(
            "What does {key} of {} look like? OneTable makes it of {value}, which no template does.",
            self.name
        );
        draft.ask(asked, text, format!("{{{name}}}"));
        Template::field(&name)
    }

    fn time(&self, definition: &Value) -> ValueType {
        let is_text = definition["isoDates"].as_bool().or(self.params["isoDates"].as_bool()).unwrap_or(false);
        if is_text { ValueType::Timestamp } else { ValueType::Int }
    }

    fn kind(&self, definition: &Value) -> ValueType {
        let choices: Vec<&str> =
            definition["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if choices.len() > 1 {
            return ValueType::Choice(choices.into_iter().map(str::to_owned).collect::<Vec<_>>().into());
        }
        match definition["generate"].as_str() {
            Some("ulid") => return ValueType::Ulid,
            Some("uuid" | "uid") => return ValueType::Uuid,
            _ => {}
        }
        let kind = definition["type"].as_str().unwrap_or("string").to_lowercase();
        match kind.as_str() {
            "number" => ValueType::Decimal,
            "boolean" => ValueType::Bool,
            // The expiry time of an item is in seconds since 1970.
            "date" if definition["ttl"] == true => ValueType::Int,
            "date" => self.time(definition),
            "object" => ValueType::Map,
            "array" => ValueType::List,
            "set" => ValueType::Set,
            "buffer" | "arraybuffer" | "binary" => ValueType::Binary,
            _ => ValueType::String,
        }
    }

    /// Parses `USER#${userId}` and `V#${version:8:0}`; the type is the same in all items of a model: `${_type}#${id}`.
    fn parse_value(&self, value: &str) -> Option<Template> {
        let mut text = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let (field, tail) = after.split_once('}')?;
            text.push_str(&literal(before));
            text.push_str(&if field == type_field(self.params) {
                literal(self.name)
            } else {
                self.field(field)?
            });
            rest = tail;
        }
        text.push_str(&literal(rest));
        Template::parse(&text).ok()
    }

    /// The field of a template for `version` or `version:8:0`.
    fn field(&self, field: &str) -> Option<String> {
        let mut parts = field.split(':');
        let name = parts.next().unwrap_or_default();
        let name = self
            .fields
            .get(name)
            .map(|definition| stored(name, definition))
            .filter(|name| !name.contains('.'))?;
        let width: Option<usize> = parts.next().and_then(|width| width.parse().ok());
        Some(width.map_or_else(|| format!("{{{name}}}"), |width| format!("{{{name}:0{width}}}")))
    }
}

/// The attribute in which OneTable stores the name of an item's model.
fn type_field(params: &Value) -> &str {
    params["typeField"].as_str().unwrap_or("_type")
}

/// A text as templates have it.
fn literal(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// The name under which a field is stored.
fn stored<'a>(field: &'a str, definition: &'a Value) -> &'a str {
    definition["map"].as_str().unwrap_or(field)
}
