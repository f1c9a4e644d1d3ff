//! Attribute definitions and key schemas: their members, and the rules between them.
//!
//! Tables and local indexes have one HASH attribute and at most one RANGE attribute; global indexes have up to four of each, HASH
//! attributes first.

use super::invalid;
use crate::members::{Choice, Path, chosen, enum_names, length, required, structure};
use crate::validation::Validation;
use partita_api::Exception;
use partita_api::key_schema::{AttributeDefinition, KeySchema, KeySchemaElement, KeyType};
use partita_value::{ScalarType, limits};
use std::borrow::Cow;
use std::collections::HashSet;

enum_names!(ScalarType: "B" = B, "N" = N, "S" = S);
enum_names!(KeyType: "HASH" = Hash, "RANGE" = Range);

structure! {
    pub(crate) struct AttributeDefinitionMembers<'a> as "AttributeDefinition" {
        kind: Choice<'a, ScalarType> = "AttributeType", required;
        name: Cow<'a, str> = "AttributeName", required, length(1, limits::KEY_NAME_BYTES);
    }

    pub(crate) struct KeySchemaElementMembers<'a> as "KeySchemaElement" {
        name: Cow<'a, str> = "AttributeName", required, length(1, limits::KEY_NAME_BYTES);
        key_type: Choice<'a, KeyType> = "KeyType", required;
    }
}

/// Converts valid definitions.
pub(crate) fn definitions(members: &Option<Vec<AttributeDefinitionMembers<'_>>>) -> Vec<AttributeDefinition> {
    let definition = |members: &AttributeDefinitionMembers<'_>| {
        Some(AttributeDefinition { name: members.name.as_deref()?.to_owned(), kind: chosen(&members.kind)? })
    };
    members.iter().flatten().filter_map(definition).collect()
}

/// Converts the elements of a valid key schema.
pub(crate) fn key_elements(members: &Option<Vec<KeySchemaElementMembers<'_>>>) -> Vec<KeySchemaElement> {
    let element = |members: &KeySchemaElementMembers<'_>| {
        let (name, key_type) = (members.name.as_deref()?.to_owned(), chosen(&members.key_type)?);
        Some(KeySchemaElement { name, key_type })
    };
    members.iter().flatten().filter_map(element).collect()
}

/// Requires a key to have at least one and at most `max` attributes.
pub(crate) fn key_length(
    path: &Path<'_>,
    value: &Option<Vec<KeySchemaElementMembers<'_>>>,
    validation: &mut Validation,
    max: usize,
) {
    if let Some(elements) = value {
        validation.length(path, elements_text(elements), elements.len(), 1, max);
    }
}

/// A key schema in the form in which AWS repeats it in errors.
fn elements_text(elements: &[KeySchemaElementMembers<'_>]) -> String {
    let text = |element: &KeySchemaElementMembers<'_>| {
        let name = element.name.as_deref().unwrap_or("null");
        let key_type = element.key_type.as_ref().map_or("null", Choice::text);
        format!("KeySchemaElement(attributeName={name}, keyType={key_type})")
    };
    format!("[{}]", elements.iter().map(text).collect::<Vec<_>>().join(", "))
}

/// The attribute definitions with an index by name, as a request may have very many.
pub(crate) struct Definitions<'d> {
    list: &'d [AttributeDefinition],
    names: HashSet<&'d str>,
}

impl<'d> Definitions<'d> {
    /// Refuses duplicate definitions.
    pub(crate) fn new(list: &'d [AttributeDefinition]) -> Result<Definitions<'d>, Exception> {
        let mut names = HashSet::new();
        match list.iter().find(|definition| !names.insert(definition.name.as_str())) {
            Some(duplicate) => {
                Err(Exception::validation(format!("Attribute Name is duplicated: {}", duplicate.name)))
            }
            None => Ok(Definitions { list, names }),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// Checks that every attribute of a key has a definition.
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

    /// Checks that every definition is used in a key of the table or of an index.
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

    /// The key with the types of its attributes, which were checked to be defined.
    pub(crate) fn resolve(&self, elements: &[KeySchemaElement]) -> Result<KeySchema, Exception> {
        let undefined = |name| Exception::internal(format!("The key attribute {name} was not checked"));
        KeySchema::resolve(elements, self.list).map_err(undefined)
    }
}

/// `[a, b]`, each name once.
fn name_list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut seen = HashSet::new();
    let names: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
    format!("[{}]", names.join(", "))
}

/// Checks the key of a table.
pub(crate) fn check_table_key(
    elements: &[KeySchemaElement],
    definitions: &Definitions<'_>,
) -> Result<(), Exception> {
    if elements.len() > definitions.count() {
        return Err(Exception::validation("Invalid KeySchema: Some index key attribute have no definition"));
    }
    check_single_key(elements, definitions)
}

/// Checks the key of a table or a local index: one HASH attribute and at most one RANGE attribute, both defined.
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

/// Checks the order and number of the key attributes of a global index.
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
