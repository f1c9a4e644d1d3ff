//! Imports and exports NoSQL Workbench models.
//!
//! A facet is an entity: its aliases are its key templates (`USER#{userId}` or `USER#<userId>`). What the format cannot express (patterns,
//! conditions, expectations) is lost on export and has to be added after an import.

use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Index, IndexKey, Model, Projection, Table};
use crate::template::Template;
use serde_json::{Map, Value, json};

/// Imports the first table of a data model.
///
/// # Errors
///
/// Returns a message if the text is not a NoSQL Workbench model with facets.
pub fn import(text: &str) -> Result<Model, String> {
    let root: Value = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
    let table = root["DataModel"]
        .get(0)
        .ok_or("there is no DataModel with a table: is this a NoSQL Workbench model?")?;
    let keys = key_names(&table["KeyAttributes"]);
    if keys.is_empty() {
        return Err("the table has no KeyAttributes".to_owned());
    }
    let name = table["TableName"].as_str().unwrap_or("Table").to_owned();
    let mut model = Model { table: Table { name, keys, ..Table::default() }, ..Model::default() };
    for index in table["GlobalSecondaryIndexes"].as_array().into_iter().flatten() {
        model.indexes.push(Index {
            name: index["IndexName"].as_str().unwrap_or("GSI").to_owned(),
            local: false,
            keys: key_names(&index["KeyAttributes"]),
            partition_keys: 1,
            project: projection(&index["Projection"]),
            span: 0..0,
        });
    }
    let types = attribute_types(table);
    for facet in table["TableFacets"].as_array().into_iter().flatten() {
        let entity = entity(facet, &types, &model)?;
        model.entities.push(entity);
    }
    if model.entities.is_empty() {
        return Err("the table has no facets; import its items with `partita model infer` instead".to_owned());
    }
    Ok(model)
}

fn key_names(keys: &Value) -> Vec<String> {
    ["PartitionKey", "SortKey"]
        .iter()
        .filter_map(|part| keys[part]["AttributeName"].as_str())
        .map(str::to_owned)
        .collect()
}

fn projection(value: &Value) -> Projection {
    match value["ProjectionType"].as_str() {
        Some("KEYS_ONLY") => Projection::KeysOnly,
        Some("INCLUDE") => Projection::Include(strings(&value["NonKeyAttributes"])),
        _ => Projection::All,
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn attribute_types(table: &Value) -> Map<String, Value> {
    let attributes = table["NonKeyAttributes"].as_array().into_iter().flatten();
    attributes
        .filter_map(|attribute| {
            Some((attribute["AttributeName"].as_str()?.to_owned(), attribute["AttributeType"].clone()))
        })
        .collect()
}

fn entity(facet: &Value, types: &Map<String, Value>, model: &Model) -> Result<Entity, String> {
    let name: String =
        facet["FacetName"].as_str().unwrap_or("Entity").chars().filter(|c| c.is_alphanumeric()).collect();
    let alias = &facet["KeyAttributeAlias"];
    let mut key = Vec::new();
    for part in ["PartitionKeyAlias", "SortKeyAlias"].iter().take(model.table.keys.len()) {
        key.push(template(alias[part].as_str().unwrap_or_default())?);
    }
    let mut entity = Entity { type_value: name.clone(), name, key, ..Entity::default() };
    let index_keys: Vec<&String> = model.indexes.iter().flat_map(|index| &index.keys).collect();
    let own = strings(&facet["NonKeyAttributes"]);
    for name in own.iter().filter(|name| !index_keys.contains(name) || model.table.keys.contains(name)) {
        let kind = types.get(name.as_str()).and_then(Value::as_str).map_or(ValueType::String, kind_of);
        entity.attributes.push(Attribute::new(name, kind));
    }
    let fields: Vec<String> = entity.key_fields().map(str::to_owned).collect();
    for field in fields {
        if entity.attribute(&field).is_none() {
            entity.attributes.push(Attribute::new(&field, ValueType::Id));
        }
    }
    for index in &model.indexes {
        let has = index.keys.iter().all(|key| own.contains(key) || model.table.keys.contains(key));
        // The format has no templates for indexes; the attribute itself is the key.
        if has && index.keys.iter().any(|key| own.contains(key)) {
            for key in index.keys.iter().filter(|key| !model.table.keys.contains(key)) {
                entity.attributes.push(Attribute::new(key, ValueType::String));
            }
            let key = index.keys.iter().map(|key| Template::field(key)).collect();
            entity.indexes.push(IndexKey::new(&index.name, key, 0..0));
        }
    }
    Ok(entity)
}

/// Parses `USER#<userId>`, `USER#{userId}`, or a bare name.
fn template(alias: &str) -> Result<Template, String> {
    let text = alias.replace('<', "{").replace('>', "}");
    Template::parse(&text)
        .map_err(|error| format!("the alias `{alias}` is not a template: {}", error.message))
}

fn kind_of(tag: &str) -> ValueType {
    match tag {
        "N" => ValueType::Decimal,
        "B" => ValueType::Binary,
        "BOOL" => ValueType::Bool,
        "L" => ValueType::List,
        "M" => ValueType::Map,
        "SS" | "NS" | "BS" => ValueType::Set,
        _ => ValueType::String,
    }
}

/// Exports a model.
pub fn export(model: &Model) -> Value {
    let key = |names: &[String]| {
        let mut keys = Map::new();
        for (part, name) in ["PartitionKey", "SortKey"].iter().zip(names) {
            let kind = model.attribute(name).map_or("S", |attribute| type_tag(&attribute.kind));
            keys.insert((*part).to_owned(), json!({ "AttributeName": name, "AttributeType": kind }));
        }
        Value::Object(keys)
    };
    let mut attributes = Map::new();
    for attribute in model.entities.iter().flat_map(|entity| &entity.attributes) {
        attributes.insert(attribute.name.clone(), json!(type_tag(&attribute.kind)));
    }
    for name in model.indexes.iter().flat_map(|index| &index.keys).chain(&model.table.type_attribute) {
        if !model.table.keys.contains(name) {
            attributes.entry(name.clone()).or_insert(json!("S"));
        }
    }
    // The format has no composite keys.
    let indexes = model.indexes.iter().filter(|index| !index.local && !index.is_composite()).map(|index| {
        let projection = match &index.project {
            Projection::All => json!({ "ProjectionType": "ALL" }),
            Projection::KeysOnly => json!({ "ProjectionType": "KEYS_ONLY" }),
            Projection::Include(names) => json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": names }),
        };
        json!({ "IndexName": index.name, "KeyAttributes": key(&index.keys), "Projection": projection })
    });
    let attributes: Vec<Value> = attributes
        .iter()
        .map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind }))
        .collect();
    json!({
        "ModelName": model.table.name,
        "ModelMetadata": { "Author": "", "Description": "", "AWSService": "Amazon DynamoDB", "Version": "3.0" },
        "DataModel": [{
            "TableName": model.table.name,
            "KeyAttributes": key(&model.table.keys),
            "NonKeyAttributes": attributes,
            "TableFacets": model.entities.iter().map(|entity| facet(entity, model)).collect::<Vec<_>>(),
            "GlobalSecondaryIndexes": indexes.collect::<Vec<_>>(),
            "TableData": [],
            "DataAccess": { "MySql": {} },
            "BillingMode": "PAY_PER_REQUEST",
        }],
    })
}

fn facet(entity: &Entity, model: &Model) -> Value {
    let mut names: Vec<&str> = entity.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    for index_key in &entity.indexes {
        let keys = model.index(&index_key.index).map(|index| index.keys.as_slice()).unwrap_or_default();
        names.extend(
            keys.iter().map(String::as_str).filter(|key| !model.table.keys.iter().any(|own| own == key)),
        );
    }
    names.sort_unstable();
    names.dedup();
    let mut alias = Map::new();
    for (part, template) in ["PartitionKeyAlias", "SortKeyAlias"].iter().zip(&entity.key) {
        alias.insert((*part).to_owned(), json!(template.to_string()));
    }
    json!({ "FacetName": entity.name, "KeyAttributeAlias": alias, "TableData": [], "NonKeyAttributes": names, "DataAccess": { "MySql": {} } })
}

/// The tag of an attribute type: `S`, `N`, `B`, `BOOL`, `L`, `M` or `SS`.
fn type_tag(kind: &ValueType) -> &'static str {
    match kind {
        ValueType::Int | ValueType::Decimal => "N",
        ValueType::Bool => "BOOL",
        ValueType::Binary => "B",
        ValueType::List => "L",
        ValueType::Map => "M",
        ValueType::Set => "SS",
        _ => "S",
    }
}
