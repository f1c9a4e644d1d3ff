//! Key schemas: as a request declares them, and resolved against the attribute definitions.

use partita_value::ScalarType;
use serde::{Deserialize, Serialize};

/// `{"AttributeName": …, "AttributeType": …}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeDefinition {
    /// The name of the attribute.
    pub name: String,
    /// Its type.
    pub kind: ScalarType,
}

/// The role of an attribute in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// Part of the partition key.
    Hash,
    /// Part of the sort key.
    Range,
}

/// `{"AttributeName": …, "KeyType": …}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySchemaElement {
    /// The name of the attribute.
    pub name: String,
    /// Its role in the key.
    pub key_type: KeyType,
}

/// One attribute of a key and its type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyAttribute {
    /// The name of the attribute.
    pub name: String,
    /// Its type.
    #[serde(with = "scalar_type")]
    pub kind: ScalarType,
}

/// A table's or an index's key. Only global secondary indexes have more than one attribute in a part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySchema {
    /// The attributes of the partition key.
    pub partition: Vec<KeyAttribute>,
    /// The attributes of the sort key; empty if there is none.
    pub sort: Vec<KeyAttribute>,
}

impl KeySchema {
    /// Resolves declared elements. The error is the name of an attribute that is not defined.
    pub fn resolve(
        elements: &[KeySchemaElement],
        definitions: &[AttributeDefinition],
    ) -> Result<KeySchema, String> {
        let part = |key_type: KeyType| {
            elements
                .iter()
                .filter(|element| element.key_type == key_type)
                .map(|element| {
                    let defined = definitions.iter().find(|definition| definition.name == element.name);
                    let kind = defined.ok_or_else(|| element.name.clone())?.kind;
                    Ok(KeyAttribute { name: element.name.clone(), kind })
                })
                .collect::<Result<Vec<_>, String>>()
        };
        Ok(KeySchema { partition: part(KeyType::Hash)?, sort: part(KeyType::Range)? })
    }

    /// Partition attributes, then sort attributes.
    pub fn attributes(&self) -> impl Iterator<Item = &KeyAttribute> + Clone {
        self.partition.iter().chain(&self.sort)
    }

    /// Returns whether the key has an attribute of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.attributes().any(|attribute| attribute.name == name)
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.partition.len() + self.sort.len()
    }

    /// Returns whether the key has no attributes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Stored as the one-letter name.
mod scalar_type {
    use partita_value::ScalarType;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(kind: &ScalarType, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.name())
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<ScalarType, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "S" => Ok(ScalarType::S),
            "N" => Ok(ScalarType::N),
            "B" => Ok(ScalarType::B),
            other => Err(D::Error::custom(format!("{other} is no key type"))),
        }
    }
}
