//! Imports and exports NoSQL Workbench models.
//!
//! The sample data of a table show how its keys are built. A facet is an entity: its name, and its aliases if they are templates
//! (`USER#{userId}` or `USER#<userId>`). What the format cannot express (patterns, conditions, expectations) is lost on export.

use super::{Exported, item_json};
use crate::draft::{Asked, Confidence, Draft};
use crate::inference::{Inference, KnownSchema};
use crate::item::{self, Item};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Index, IndexKey, Model, Projection, Table};
use crate::relational::naming::{field_name, free_name};
use crate::template::{Part, Template};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Imports the tables of a data model.
///
/// # Errors
///
/// Returns a message if the text is not a NoSQL Workbench model.
pub fn import(text: &str) -> Result<Vec<Draft>, String> {
    let root: Value = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
    let tables = root["DataModel"].as_array().filter(|tables| !tables.is_empty());
    let tables = tables.ok_or("there is no DataModel with a table: is this a NoSQL Workbench model?")?;
    tables.iter().map(import_table).collect()
}

fn import_table(table: &Value) -> Result<Draft, String> {
    let name = table["TableName"].as_str().unwrap_or("Table").to_owned();
    let keys = key_names(&table["KeyAttributes"]);
    if keys.is_empty() {
        return Err(format!("the table {name} has no KeyAttributes"));
    }
    let known = KnownSchema { table: name, keys, indexes: indexes(table), ..KnownSchema::default() };
    let facets: Vec<&Value> = table["TableFacets"].as_array().into_iter().flatten().collect();
    let (mut draft, labels) = from_items(table, &facets, known)?;
    let types = attribute_types(table);
    for facet in facets {
        let name = facet_name(facet);
        if labels.contains(&name) {
            continue;
        }
        let mut entity = entity(facet, &types, &draft.model);
        entity.name = free_name(&entity.name, |name| draft.model.entities.iter().any(|own| own.name == name));
        ask_about_aliases(facet, &entity, &mut draft);
        let origin = format!("the facet {name}, which has no sample data");
        draft.note(entity.subject(), Confidence::Likely, origin);
        draft.model.entities.push(entity);
    }
    if draft.model.entities.is_empty() {
        let text = "the file has no sample data and no facets: declare the entities";
        draft.note("table", Confidence::Certain, text);
    }
    draft.about = "Imported from NoSQL Workbench. Add the patterns and writes that are missing, then: partita model check".to_owned();
    Ok(draft)
}

/// A draft from the sample data, and the names of the facets that have some.
fn from_items(
    table: &Value,
    facets: &[&Value],
    known: KnownSchema,
) -> Result<(Draft, BTreeSet<String>), String> {
    let mut known = known;
    let mut items: BTreeMap<Vec<String>, (Item, Option<String>)> = BTreeMap::new();
    let (mut labels, mut remarks) = (BTreeSet::new(), Vec::new());
    let types = key_types(&table["KeyAttributes"]);
    let samples =
        std::iter::once((table, None)).chain(facets.iter().map(|facet| (*facet, Some(facet_name(facet)))));
    for (owner, label) in samples {
        for value in owner["TableData"].as_array().into_iter().flatten() {
            let item = item_json::decode_sample(value).ok_or("the sample data are not in DynamoDB JSON")?;
            let mut keys = known.keys.iter().zip(&types);
            if let Some((name, kind)) = keys.find(|(name, kind)| !is_of_type(item.get(*name), kind)) {
                remarks.push(format!("Left out: a sample item whose {name} is not of the type {kind}."));
                continue;
            }
            let key = known.keys.iter().map(|key| format!("{:?}", item.get(key))).collect();
            labels.extend(label.clone());
            items.insert(key, (item, label.clone()));
        }
    }
    for facet in facets {
        let aliases =
            ["PartitionKeyAlias", "SortKeyAlias"].map(|part| alias_of(&facet["KeyAttributeAlias"][part]));
        known.aliases.insert(facet_name(facet), aliases.to_vec());
    }
    if items.is_empty() {
        let table = Table { name: known.table, keys: known.keys, ..Table::default() };
        let model = Model { table, indexes: known.indexes, ..Model::default() };
        let mut draft = Draft { model, ..Draft::default() };
        remarks.into_iter().for_each(|remark| draft.remark("table", remark));
        return Ok((draft, labels));
    }
    let indexes = known.indexes.clone();
    let mut inference = Inference::new(known);
    for (item, label) in items.into_values() {
        inference.add(item, label)?;
    }
    let mut draft = inference.finish()?;
    remarks.into_iter().for_each(|remark| draft.remark("table", remark));
    // Those that no item is in may have facets; without a declaration, the items show which there are.
    if !indexes.is_empty() {
        draft.model.indexes = indexes;
    }
    Ok((draft, labels))
}

fn facet_name(facet: &Value) -> String {
    let name = facet["FacetName"].as_str().unwrap_or_default();
    let name: String = name.chars().filter(|character| character.is_alphanumeric()).collect();
    if name.is_empty() { "Entity".to_owned() } else { name }
}

/// `USER#<userId>` or `USER#${userId}` as a template.
fn alias_of(alias: &Value) -> String {
    alias.as_str().unwrap_or_default().replace("${", "{").replace('<', "{").replace('>', "}")
}

/// The template that an alias is. Without fields it is the name of the key attribute, unless it is written as a word is: `PROFILE`, `#META`.
fn alias_template(alias: &Value, key: &str) -> Template {
    let text = alias_of(alias);
    let is_word =
        !text.chars().any(char::is_lowercase) || text.chars().any(|c| !c.is_alphanumeric() && c != '_');
    match Template::parse(&text) {
        Ok(template) if !template.is_constant() => template,
        Ok(_) if text.is_empty() || text == key => Template::field(&field_name(key)),
        Ok(template) if is_word => template,
        Ok(_) => Template::field(&text),
        Err(_) => Template::field(&field_name(key)),
    }
}

/// The key attributes of a facet and their aliases.
fn aliases<'f>(facet: &'f Value, model: &Model) -> Vec<(&'f Value, String)> {
    let aliases = ["PartitionKeyAlias", "SortKeyAlias"].map(|part| &facet["KeyAttributeAlias"][part]);
    aliases.into_iter().zip(model.table.keys.clone()).collect()
}

/// An alias that is no template may be what the key attribute is called, or what it holds.
fn ask_about_aliases(facet: &Value, entity: &Entity, draft: &mut Draft) {
    for (position, (alias, key)) in aliases(facet, &draft.model).into_iter().enumerate() {
        let template = &entity.key[position];
        if Template::parse(&alias_of(alias)).is_ok_and(|own| !own.is_constant()) {
            continue;
        }
        let asked = Asked::Template { entity: entity.name.clone(), index: None, position };
        let alias = alias.as_str().unwrap_or_default();
        let text = format!(
            "The facet calls {key} `{alias}`: what does it look like? For example {}#{{id}}.",
            entity.name.to_uppercase()
        );
        draft.ask(asked, text, template.to_string());
    }
}

fn indexes(table: &Value) -> Vec<Index> {
    let index = |index: &Value| Index {
        name: index["IndexName"].as_str().unwrap_or("GSI").to_owned(),
        local: false,
        keys: key_names(&index["KeyAttributes"]),
        partition_keys: 1,
        project: projection(&index["Projection"]),
        span: 0..0,
    };
    let indexes = table["GlobalSecondaryIndexes"].as_array().into_iter().flatten().map(index);
    indexes.filter(|index| !index.keys.is_empty()).collect()
}

fn key_names(keys: &Value) -> Vec<String> {
    ["PartitionKey", "SortKey"]
        .iter()
        .filter_map(|part| keys[part]["AttributeName"].as_str())
        .map(str::to_owned)
        .collect()
}

/// The types of the key attributes: `S`, `N` or `B`.
fn key_types(keys: &Value) -> Vec<String> {
    let parts = ["PartitionKey", "SortKey"].iter().filter(|part| keys[part]["AttributeName"].is_string());
    parts.map(|part| keys[part]["AttributeType"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Whether a key is a text or a number as its type says; of others, the inference says what is wrong.
fn is_of_type(value: Option<&item::Value>, kind: &str) -> bool {
    match value {
        Some(item::Value::Number(_)) => kind != "S",
        Some(item::Value::String(_)) => kind != "N",
        _ => true,
    }
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

fn entity(facet: &Value, types: &Map<String, Value>, model: &Model) -> Entity {
    let name = facet_name(facet);
    let key = aliases(facet, model).into_iter().map(|(alias, key)| alias_template(alias, &key)).collect();
    let mut entity = Entity { type_value: name.clone(), name, key, ..Entity::default() };
    let index_keys: Vec<&String> = model.indexes.iter().flat_map(|index| &index.keys).collect();
    let own = strings(&facet["NonKeyAttributes"]);
    let kind = |name: &String| types.get(name).and_then(Value::as_str).map_or(ValueType::String, kind_of);
    for name in own.iter().filter(|name| !index_keys.contains(name) || model.table.keys.contains(name)) {
        add_attribute(&mut entity, name, kind(name));
    }
    let fields: Vec<String> = entity.key_fields().map(str::to_owned).collect();
    for field in fields {
        add_attribute(&mut entity, &field, ValueType::Id);
    }
    for index in &model.indexes {
        let has = index.keys.iter().all(|key| own.contains(key) || model.table.keys.contains(key));
        // The format has no templates for indexes; the attribute itself is the key.
        if has && index.keys.iter().any(|key| own.contains(key)) {
            for key in index.keys.iter().filter(|key| !model.table.keys.contains(key)) {
                add_attribute(&mut entity, &field_name(key), kind(key));
            }
            let key = index.keys.iter().map(|key| Template::field(&field_name(key))).collect();
            entity.indexes.push(IndexKey::new(&index.name, key, 0..0));
        }
    }
    take_formats(&mut entity);
    entity
}

/// The format has texts and numbers only: `{at:day}` shows that a text is a time, and `{version:08}` that a number is a whole one.
fn take_formats(entity: &mut Entity) {
    for part in entity.key.iter().flat_map(|template| &template.parts) {
        let Part::Field { name, format } = part else { continue };
        let attribute = entity.attributes.iter_mut().find(|own| own.name == *name);
        if let Some((attribute, kind)) = attribute.zip(format.kind()) {
            attribute.kind = kind;
        }
    }
}

fn add_attribute(entity: &mut Entity, name: &str, kind: ValueType) {
    if entity.attributes.iter().all(|own| own.name != name) {
        entity.attributes.push(Attribute::new(name, kind));
    }
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

/// Exports a model, with the indexes that the format has nothing for.
pub fn export(model: &Model) -> Exported {
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
    // The format has no local indexes and no composite keys.
    let (kept, left): (Vec<&Index>, Vec<&Index>) =
        model.indexes.iter().partition(|index| !index.local && !index.is_composite());
    let remark = |index: &&Index| {
        let why = if index.local { "it is local" } else { "its keys are of several attributes" };
        format!("The index {} is left out: {why}.", index.name)
    };
    let remarks = left.iter().map(remark).collect();
    let indexes = kept.into_iter().map(|index| {
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
    let document = json!({
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
    });
    Exported { document, remarks }
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
