//! Attribute definitions and key schemas: as sent → checked → the rules between them.
//!
//! Tables and local indexes have one HASH attribute and at most one RANGE attribute; global indexes
//! have up to four of each, HASH ones first.

use super::{Text, check_length, invalid, read_list};
use crate::json::Reader;
use crate::validation::Validation;
use partita_api::Exception;
use partita_api::key_schema::{AttributeDefinition, KeySchema, KeySchemaElement, KeyType};
use partita_value::{ScalarType, limits};
use std::collections::HashSet;

/// `AttributeDefinition` as sent.
#[derive(Default)]
pub(crate) struct SentDefinition<'a> {
    name: Text<'a>,
    kind: Text<'a>,
}

/// `KeySchemaElement` as sent.
#[derive(Default)]
pub(crate) struct SentElement<'a> {
    name: Text<'a>,
    key_type: Text<'a>,
}

pub(crate) fn read_definitions<'a>(
    reader: &mut Reader<'a>,
) -> Result<Option<Vec<SentDefinition<'a>>>, Exception> {
    read_list(reader, "AttributeDefinition", |definition: &mut SentDefinition<'a>, reader, name| {
        match name {
            "AttributeName" => definition.name = reader.text()?,
            "AttributeType" => definition.kind = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}

pub(crate) fn read_key_schema<'a>(
    reader: &mut Reader<'a>,
) -> Result<Option<Vec<SentElement<'a>>>, Exception> {
    read_list(reader, "KeySchemaElement", |element: &mut SentElement<'a>, reader, name| {
        match name {
            "AttributeName" => element.name = reader.text()?,
            "KeyType" => element.key_type = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}

pub(crate) fn check_definitions(
    validation: &mut Validation,
    sent: &Option<Vec<SentDefinition<'_>>>,
) -> Vec<AttributeDefinition> {
    let mut definitions = Vec::new();
    for (index, definition) in sent.iter().flatten().enumerate() {
        let path = format!("attributeDefinitions.{}.member", index + 1);
        let type_path = format!("{path}.attributeType");
        validation.required(&type_path, &definition.kind);
        let types = [("B", ScalarType::B), ("N", ScalarType::N), ("S", ScalarType::S)];
        let kind = validation.one_of(&type_path, definition.kind.as_deref(), &types);
        let name = check_attribute_name(validation, &path, &definition.name);
        definitions.extend(name.zip(kind).map(|(name, kind)| AttributeDefinition { name, kind }));
    }
    definitions
}

fn check_attribute_name(validation: &mut Validation, path: &str, name: &Text<'_>) -> Option<String> {
    let path = format!("{path}.attributeName");
    validation.required(&path, name);
    check_length(validation, &path, name, 1, limits::KEY_NAME_BYTES);
    name.as_deref().map(str::to_owned)
}

/// The elements of a key that the model lets have at most so many.
pub(crate) fn check_key_schema(
    validation: &mut Validation,
    path: &str,
    sent: &Option<Vec<SentElement<'_>>>,
    most: usize,
) -> Vec<KeySchemaElement> {
    let Some(sent) = validation.required(path, sent) else { return Vec::new() };
    validation.length(path, shown(sent), sent.len(), 1, most);
    let mut elements = Vec::new();
    for (index, element) in sent.iter().enumerate() {
        let path = format!("{path}.{}.member", index + 1);
        let name = check_attribute_name(validation, &path, &element.name);
        let type_path = format!("{path}.keyType");
        validation.required(&type_path, &element.key_type);
        let types = [("HASH", KeyType::Hash), ("RANGE", KeyType::Range)];
        let key_type = validation.one_of(&type_path, element.key_type.as_deref(), &types);
        elements.extend(name.zip(key_type).map(|(name, key_type)| KeySchemaElement { name, key_type }));
    }
    elements
}

/// A key schema as AWS repeats it in an error.
fn shown(elements: &[SentElement<'_>]) -> String {
    let one = |element: &SentElement<'_>| {
        let name = element.name.as_deref().unwrap_or("null");
        let key_type = element.key_type.as_deref().unwrap_or("null");
        format!("KeySchemaElement(attributeName={name}, keyType={key_type})")
    };
    format!("[{}]", elements.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// The attributes that keys may be made of, found by name: a body may hold very many.
pub(crate) struct Definitions<'d> {
    list: &'d [AttributeDefinition],
    names: HashSet<&'d str>,
}

impl<'d> Definitions<'d> {
    /// No attribute is defined twice.
    pub(crate) fn new(list: &'d [AttributeDefinition]) -> Result<Definitions<'d>, Exception> {
        let mut names = HashSet::new();
        match list.iter().find(|definition| !names.insert(definition.name.as_str())) {
            Some(twice) => {
                Err(Exception::validation(format!("Attribute Name is duplicated: {}", twice.name)))
            }
            None => Ok(Definitions { list, names }),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// Every attribute of a key has a definition.
    pub(crate) fn check_key(&self, elements: &[KeySchemaElement]) -> Result<(), Exception> {
        if elements.iter().all(|element| self.names.contains(element.name.as_str())) {
            return Ok(());
        }
        Err(invalid(format_args!(
            "Some index key attributes are not defined in AttributeDefinitions. Keys: {}, AttributeDefinitions: {}",
            name_list(elements.iter().map(|element| element.name.as_str())),
            name_list(self.list.iter().map(|definition| definition.name.as_str())),
        )))
    }

    /// Every definition belongs to a key of the table or of one of its indexes.
    pub(crate) fn refuse_unused<'k>(
        &self,
        keys: impl Iterator<Item = &'k KeySchemaElement> + Clone,
    ) -> Result<(), Exception> {
        let used: HashSet<&str> = keys.clone().map(|element| element.name.as_str()).collect();
        if self.list.iter().all(|definition| used.contains(definition.name.as_str())) {
            return Ok(());
        }
        Err(invalid(format_args!(
            "Some AttributeDefinitions are not used. AttributeDefinitions: {}, keys used: {}",
            name_list(self.list.iter().map(|definition| definition.name.as_str())),
            name_list(keys.map(|element| element.name.as_str())),
        )))
    }

    /// The key with its types. All its attributes were found defined before.
    pub(crate) fn resolve(&self, elements: &[KeySchemaElement]) -> Result<KeySchema, Exception> {
        let undefined = |name| Exception::internal(format!("The key attribute {name} was not checked"));
        KeySchema::resolve(elements, self.list).map_err(undefined)
    }
}

/// `[a, b]`, each name once.
fn name_list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut told = HashSet::new();
    let once: Vec<&str> = names.filter(|name| told.insert(*name)).collect();
    format!("[{}]", once.join(", "))
}

/// The rules of a table's own key.
pub(crate) fn check_table_key(
    elements: &[KeySchemaElement],
    definitions: &Definitions<'_>,
) -> Result<(), Exception> {
    if elements.len() > definitions.count() {
        return Err(Exception::validation("Invalid KeySchema: Some index key attribute have no definition"));
    }
    check_single_key(elements, definitions)
}

/// One HASH attribute and at most one RANGE attribute, all defined: tables and local indexes.
pub(crate) fn check_single_key(
    elements: &[KeySchemaElement],
    definitions: &Definitions<'_>,
) -> Result<(), Exception> {
    definitions.check_key(elements)?;
    if let [first, second, ..] = elements
        && first.name == second.name
    {
        return Err(same_name());
    }
    check_first(elements)?;
    match elements.get(1) {
        Some(second) if second.key_type != KeyType::Range => Err(Exception::validation(
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
        )),
        _ => Ok(()),
    }
}

/// The order and number of a global index's key attributes.
pub(crate) fn check_global_key(elements: &[KeySchemaElement]) -> Result<(), Exception> {
    if let [first, second] = elements
        && first.name == second.name
        && first.key_type != second.key_type
    {
        return Err(same_name());
    }
    let mut names = HashSet::new();
    if !elements.iter().all(|element| names.insert(element.name.as_str())) {
        return Err(Exception::validation(
            "The KeySchema contains multiple key attributes with the same name",
        ));
    }
    check_first(elements)?;
    if elements.windows(2).any(|pair| pair[0].key_type == KeyType::Range && pair[1].key_type == KeyType::Hash)
    {
        return Err(invalid("All HASH key attributes must precede RANGE key attributes in the KeySchema"));
    }
    for (key_type, name) in [(KeyType::Hash, "HASH"), (KeyType::Range, "RANGE")] {
        let count = elements.iter().filter(|element| element.key_type == key_type).count();
        if count > limits::KEY_PART_ATTRIBUTES {
            return Err(invalid(format_args!(
                "The KeySchema exceeds the maximum allowed number of {name} key attributes"
            )));
        }
    }
    Ok(())
}

fn same_name() -> Exception {
    Exception::validation("Both the Hash Key and the Range Key element in the KeySchema have the same name")
}

fn check_first(elements: &[KeySchemaElement]) -> Result<(), Exception> {
    match elements.first() {
        Some(first) if first.key_type == KeyType::Hash => Ok(()),
        _ => {
            Err(Exception::validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type"))
        }
    }
}
