//! Writes a model as a OneTable schema.

use super::super::Exported;
use crate::model::condition::Condition;
use crate::model::value_type::ValueType;
use crate::model::{Entity, Model, Projection};
use crate::template::{Format, Part, SHARD, Template};
use serde_json::{Map, Value, json};

/// Exports a model as a schema, with what OneTable has nothing for.
pub fn export(model: &Model) -> Exported {
    let mut indexes = Map::new();
    let index = |keys: &[String]| {
        let mut index = Map::new();
        for (part, name) in ["hash", "sort"].iter().zip(keys) {
            index.insert((*part).to_owned(), json!(name));
        }
        index
    };
    indexes.insert("primary".to_owned(), Value::Object(index(&model.table.keys)));
    let mut remarks = Vec::new();
    for own in &model.indexes {
        if own.is_composite() {
            remarks.push(format!("The index {} is left out: its keys are of several attributes.", own.name));
            continue;
        }
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
        .map(|entity| (entity.name.clone(), Value::Object(fields(entity, model, &mut remarks))))
        .collect();
    let document = json!({
        "format": "onetable:1.1.0",
        "version": "0.0.1",
        "indexes": indexes,
        "models": models,
        "params": { "isoDates": true, "timestamps": false, "typeField": model.table.type_attribute.as_deref().unwrap_or("_type") },
    });
    Exported { document, remarks }
}

fn fields(entity: &Entity, model: &Model, remarks: &mut Vec<String>) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut key = |name: &String, template: &Template, condition: Option<&Condition>| {
        if template.bare_field() == Some(name) {
            return;
        }
        let mut field = json!({ "type": "string" });
        match print_value(template).filter(|_| condition.is_none()) {
            Some(value) => field["value"] = json!(value),
            None => {
                let when = condition.map(|condition| format!(" when {condition}")).unwrap_or_default();
                let own = &entity.name;
                remarks.push(format!("{own}.{name} has no value: the application gives {template}{when}."));
            }
        }
        fields.insert(name.clone(), field);
    };
    model.table.keys.iter().zip(&entity.key).for_each(|(name, template)| key(name, template, None));
    for index_key in entity.declared_indexes() {
        let Some(index) = model.index(&index_key.index).filter(|index| !index.is_composite()) else {
            continue;
        };
        // OneTable leaves a key out if an attribute is missing, for no other reason.
        let is_own = index_key.when.is_empty() || index_key.when == entity.presence_of(&index_key.key);
        let condition = Some(&index_key.when).filter(|_| !is_own);
        let keys = index.keys.iter().zip(&index_key.key);
        let own = keys.filter(|(name, _)| !model.table.keys.contains(name));
        own.for_each(|(name, template)| key(name, template, condition));
    }
    for attribute in &entity.attributes {
        let mut field = json!({ "type": type_name(&attribute.kind), "required": !attribute.optional });
        match &attribute.kind {
            ValueType::Ulid => field["generate"] = json!("ulid"),
            ValueType::Uuid => field["generate"] = json!("uuid"),
            ValueType::Choice(choices) => field["enum"] = json!(choices.to_vec()),
            _ => {}
        }
        if entity.unique.contains(&vec![attribute.name.clone()]) {
            field["unique"] = json!(true);
        }
        fields.insert(attribute.name.clone(), field);
    }
    fields
}

/// A template as OneTable writes it; `None` if it has a format that OneTable has not, or the number of a shard.
fn print_value(template: &Template) -> Option<String> {
    let part = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Field { name, .. } if name == SHARD => None,
        Part::Field { name, format: Format::Plain } => Some(format!("${{{name}}}")),
        Part::Field { name, format: Format::Padded { width, decimals: 0 } } => {
            Some(format!("${{{name}:{width}:0}}"))
        }
        Part::Field { .. } => None,
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
