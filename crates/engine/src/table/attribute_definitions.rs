//! The attribute definitions of a table: the types of all attributes that some key uses.

use crate::catalog::table::TableRecord;
use partita_api::key_schema::{AttributeDefinition, KeyAttribute, KeySchema};

/// The definitions of a table in the form of the API.
pub fn attribute_definitions(record: &TableRecord) -> Vec<AttributeDefinition> {
    let definition = |key: &KeyAttribute| AttributeDefinition { name: key.name.clone(), kind: key.kind };
    record.attribute_definitions.iter().map(definition).collect()
}

/// The keys of the table and of its indexes.
pub fn keys(record: &TableRecord) -> impl Iterator<Item = &KeySchema> {
    let indexes = record.local_indexes.iter().chain(&record.global_indexes);
    std::iter::once(&record.key).chain(indexes.map(|index| &index.definition.key))
}

/// Adds definitions to a table's own, then drops those that no key uses.
pub fn keep_used_definitions(record: &mut TableRecord, added: &[AttributeDefinition]) {
    let mut definitions = attribute_definitions(record);
    let is_new =
        |definition: &&AttributeDefinition| !definitions.iter().any(|known| known.name == definition.name);
    let new: Vec<_> = added.iter().filter(is_new).cloned().collect();
    definitions.extend(new);
    record.attribute_definitions = definitions
        .into_iter()
        .filter(|definition| keys(record).any(|key| key.contains(&definition.name)))
        .map(|definition| KeyAttribute { name: definition.name, kind: definition.kind })
        .collect();
}
