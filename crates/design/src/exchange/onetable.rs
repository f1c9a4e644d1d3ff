//! Imports and exports OneTable schemas: `value: 'USER#${userId}'` is a key template; `unique`, `enum` and `generate` are kept.

use super::library::{index_key, require_key_fields};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Index, Model, Projection, Table};
use crate::template::{Format, Part, Template};
use serde_json::{Map, Value, json};

/// Imports a schema as the model of a table.
///
/// # Errors
///
/// Returns a message if the text is not a OneTable schema in JSON.
pub fn import(text: &str, table: &str) -> Result<Model, String> {
    let root: Value = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
    let indexes = root["indexes"].as_object().ok_or("there are no `indexes`: is this a OneTable schema?")?;
    let models = root["models"].as_object().ok_or("there are no `models`: is this a OneTable schema?")?;
    let primary = indexes.get("primary").ok_or("there is no primary index")?;
    let keys = index_keys(primary, &[]);
    let type_attribute = Some(root["params"]["typeField"].as_str().unwrap_or("_type").to_owned());
    let mut model = Model {
        table: Table { name: table.to_owned(), keys: keys.clone(), type_attribute, ..Table::default() },
        ..Model::default()
    };
    for (name, index) in indexes.iter().filter(|(name, _)| *name != "primary") {
        let local = index["type"].as_str() == Some("local") || index.get("hash").is_none();
        let project = match &index["project"] {
            Value::String(word) if word == "keys" => Projection::KeysOnly,
            Value::Array(names) => {
                Projection::Include(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            _ => Projection::All,
        };
        model.indexes.push(Index {
            name: name.clone(),
            local,
            keys: index_keys(index, &keys),
            partition_keys: 1,
            project,
            span: 0..0,
        });
    }
    for (name, fields) in models {
        let entity = entity(name, fields, &model)?;
        model.entities.push(entity);
    }
    Ok(model)
}

/// Partition key and sort key; a local index has the table's partition key.
fn index_keys(index: &Value, table: &[String]) -> Vec<String> {
    let hash = index["hash"].as_str().map(str::to_owned).or_else(|| table.first().cloned());
    hash.into_iter().chain(index["sort"].as_str().map(str::to_owned)).collect()
}

fn entity(name: &str, fields: &Value, model: &Model) -> Result<Entity, String> {
    let fields = fields.as_object().ok_or_else(|| format!("model {name} is not an object"))?;
    let mut entity = Entity { name: name.to_owned(), type_value: name.to_owned(), ..Entity::default() };
    let is_key = |field: &str| {
        let all = model.indexes.iter().flat_map(|index| &index.keys).chain(&model.table.keys);
        all.into_iter().any(|key| key == field)
    };
    for (field, definition) in fields {
        if definition.get("value").is_some() && is_key(field) {
            continue;
        }
        let given = ["required", "default", "generate", "value"];
        let optional = given.iter().all(|word| matches!(definition[*word], Value::Null | Value::Bool(false)));
        entity.attributes.push(Attribute { optional, ..Attribute::new(field, kind_of(definition)) });
        if definition["unique"].as_bool() == Some(true) {
            entity.unique.push(vec![field.clone()]);
        }
    }
    for name in &model.table.keys {
        entity.key.push(key_template(fields, name)?.unwrap_or_else(|| Template::field(name)));
    }
    require_key_fields(&mut entity);
    for index in &model.indexes {
        let mut templates = Vec::new();
        for name in &index.keys {
            templates.extend(key_template(fields, name)?);
        }
        if templates.len() == index.keys.len() {
            entity.indexes.push(index_key(&entity, &index.name, templates));
        }
    }
    Ok(entity)
}

/// The template of a key field, if the model has it.
fn key_template(fields: &Map<String, Value>, name: &str) -> Result<Option<Template>, String> {
    let template = fields.get(name).map(|definition| match definition["value"].as_str() {
        Some(value) => parse_value(value),
        None => Ok(Template::field(name)),
    });
    template.transpose()
}

fn kind_of(definition: &Value) -> ValueType {
    if let Some(choices) = definition["enum"].as_array() {
        let choices: Vec<String> = choices.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if choices.len() > 1 {
            return ValueType::Choice(choices.into());
        }
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
        "date" => ValueType::Timestamp,
        "object" => ValueType::Map,
        "array" => ValueType::List,
        "set" => ValueType::Set,
        "buffer" | "arraybuffer" | "binary" => ValueType::Binary,
        _ => ValueType::String,
    }
}

/// Parses `USER#${userId}` and `V#${version:8:0}`.
fn parse_value(value: &str) -> Result<Template, String> {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let (field, tail) = after.split_once('}').ok_or_else(|| format!("`{value}` never closes `${{`"))?;
        let mut parts = field.split(':');
        let name = parts.next().unwrap_or_default();
        let width: Option<usize> = parts.next().and_then(|width| width.parse().ok());
        text.push_str(&before.replace('{', "{{").replace('}', "}}"));
        text.push_str(&width.map_or_else(|| format!("{{{name}}}"), |width| format!("{{{name}:0{width}}}")));
        rest = tail;
    }
    text.push_str(&rest.replace('{', "{{").replace('}', "}}"));
    Template::parse(&text).map_err(|error| format!("`{value}`: {}", error.message))
}

/// Exports a model as a schema.
pub fn export(model: &Model) -> Value {
    let mut indexes = Map::new();
    let index = |keys: &[String]| {
        let mut index = Map::new();
        for (part, name) in ["hash", "sort"].iter().zip(keys) {
            index.insert((*part).to_owned(), json!(name));
        }
        index
    };
    indexes.insert("primary".to_owned(), Value::Object(index(&model.table.keys)));
    // The format has no composite keys.
    for own in model.indexes.iter().filter(|index| !index.is_composite()) {
        let mut entry = index(&own.keys);
        if own.local {
            entry.remove("hash");
            entry.insert("type".to_owned(), json!("local"));
        }
        let project = match &own.project {
            Projection::All => json!("all"),
            Projection::KeysOnly => json!("keys"),
            Projection::Include(names) => json!(names),
        };
        entry.insert("project".to_owned(), project);
        indexes.insert(own.name.clone(), Value::Object(entry));
    }
    let models: Map<String, Value> = model
        .entities
        .iter()
        .map(|entity| (entity.name.clone(), Value::Object(fields(entity, model))))
        .collect();
    json!({
        "format": "onetable:1.1.0",
        "version": "0.0.1",
        "indexes": indexes,
        "models": models,
        "params": { "isoDates": true, "timestamps": false, "typeField": model.table.type_attribute.as_deref().unwrap_or("_type") },
    })
}

fn fields(entity: &Entity, model: &Model) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut keys = |names: &[String], templates: &[Template]| {
        for (name, template) in names.iter().zip(templates) {
            if template.bare_field() != Some(name) {
                fields.insert(name.clone(), json!({ "type": "string", "value": print_value(template) }));
            }
        }
    };
    keys(&model.table.keys, &entity.key);
    for index_key in &entity.indexes {
        keys(
            model.index(&index_key.index).map(|index| index.keys.as_slice()).unwrap_or_default(),
            &index_key.key,
        );
    }
    for attribute in &entity.attributes {
        let mut field = json!({ "type": type_name(&attribute.kind), "required": !attribute.optional });
        match &attribute.kind {
            ValueType::Ulid => field["generate"] = json!("ulid"),
            ValueType::Uuid => field["generate"] = json!("uuid"),
            ValueType::Choice(choices) => field["enum"] = json!(**choices),
            _ => {}
        }
        if entity.unique.contains(&vec![attribute.name.clone()]) {
            field["unique"] = json!(true);
        }
        fields.insert(attribute.name.clone(), field);
    }
    fields
}

fn print_value(template: &Template) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Field { name, format: Format::Padded { width, .. } } => format!("${{{name}:{width}:0}}"),
        Part::Field { name, .. } => format!("${{{name}}}"),
    };
    template.parts.iter().map(part).collect()
}

fn type_name(kind: &ValueType) -> &'static str {
    match kind {
        ValueType::Int | ValueType::Decimal => "number",
        ValueType::Bool => "boolean",
        ValueType::Timestamp => "date",
        ValueType::Map => "object",
        ValueType::List => "array",
        ValueType::Set => "set",
        ValueType::Binary => "binary",
        _ => "string",
    }
}
