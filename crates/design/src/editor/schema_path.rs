//! Finds the part of the JSON schema that describes a table or field of a model.

use crate::reader::schema::SCHEMA;
use serde_json::Value;
use std::sync::OnceLock;

/// A field that a table of a model may have.
#[derive(Clone, Debug)]
pub struct SchemaField {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: String,
}

fn schema() -> &'static Value {
    static PARSED: OnceLock<Value> = OnceLock::new();
    PARSED.get_or_init(|| serde_json::from_str(SCHEMA).unwrap_or_default())
}

/// Returns the schemas that describe a path; several if a field may be written in several ways.
fn at(path: &[String]) -> Vec<&'static Value> {
    let mut schemas = variants(schema());
    for name in path {
        schemas = schemas.into_iter().flat_map(|schema| inner(schema, name)).flat_map(variants).collect();
    }
    schemas
}

/// A schema, or its alternatives.
fn variants(schema: &'static Value) -> Vec<&'static Value> {
    let alternatives = ["oneOf", "anyOf"].into_iter().find_map(|key| schema[key].as_array());
    match alternatives {
        Some(several) => several.iter().flat_map(variants).collect(),
        None => vec![schema],
    }
}

fn inner(schema: &'static Value, name: &str) -> Vec<&'static Value> {
    // A list of tables is written as [[name]].
    let schema = if schema["type"] == "array" { &schema["items"] } else { schema };
    let named = schema["properties"].get(name);
    let other = || schema.get("additionalProperties").filter(|other| other.is_object());
    named.or_else(other).into_iter().collect()
}

/// Returns the fields that the table at a path may have.
pub fn fields(path: &[String]) -> Vec<SchemaField> {
    let schemas =
        at(path).into_iter().map(|schema| if schema["type"] == "array" { &schema["items"] } else { schema });
    let properties = schemas.filter_map(|schema| schema["properties"].as_object()).flatten();
    let text = |value: &Value| value["description"].as_str().unwrap_or_default().to_owned();
    properties.map(|(name, value)| SchemaField { name: name.clone(), description: text(value) }).collect()
}

/// Returns whether the value of the field at a path is true or false.
pub fn is_boolean(path: &[String]) -> bool {
    at(path).into_iter().any(|schema| schema["type"] == "boolean")
}

/// Returns the texts that the field at a path may have as its value.
pub fn choices(path: &[String]) -> Vec<String> {
    let listed = at(path).into_iter().filter_map(|schema| schema["enum"].as_array()).flatten();
    listed.filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

/// Returns what the field at a path means.
pub fn description(path: &[String]) -> Option<String> {
    let (name, table) = path.split_last()?;
    fields(table).into_iter().find(|field| field.name == *name).map(|field| field.description)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn fields_and_choices_follow_the_schema() {
        let names = |text: &str| fields(&path(text)).into_iter().map(|field| field.name).collect::<Vec<_>>();
        assert!(names("entity.Order").contains(&"unique".to_owned()));
        assert!(names("entity.Order.index.GSI1").contains(&"when".to_owned()));
        assert!(names("pattern.any.range").contains(&"from".to_owned()));
        assert!(names("allow").contains(&"reason".to_owned()));
        assert_eq!(choices(&path("pattern.any.consistency")), ["eventual", "strong"]);
        assert!(is_boolean(&path("index.GSI1.local")) && choices(&path("index.GSI1.local")).is_empty());
        assert!(!is_boolean(&path("pattern.any.consistency")));
        assert!(description(&path("pattern.any.limit")).is_some());
        assert!(names("nonsense.x.y").is_empty());
    }
}
