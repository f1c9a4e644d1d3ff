//! A single-table model as data: table, indexes, entities, access patterns, writes.

pub mod condition;
pub(crate) mod lookup;
pub mod value_type;

use crate::name_hints;
use crate::source::Span;
use crate::template::{DELIMITER, FieldTypes, Template};
use condition::Condition;
use lookup::{AttributeNumbers, Lookup};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use value_type::ValueType;

/// The newest version of the format.
pub const FORMAT: i64 = 1;

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub table: Table,
    pub context: Context,
    pub indexes: Vec<Index>,
    pub entities: Vec<Entity>,
    pub patterns: Vec<Pattern>,
    pub writes: Vec<Write>,
    pub allowances: Vec<Allowance>,
    /// Made when something is first looked up; entities come before that.
    pub(crate) lookup: OnceLock<Lookup>,
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    pub name: String,
    /// The partition key and, mostly, the sort key.
    pub keys: Vec<String>,
    pub type_attribute: Option<String>,
    /// The attribute that must stand in every partition key.
    pub tenant: Option<String>,
    pub ttl: Option<String>,
    pub span: Span,
}

/// What is known about the people and the project.
#[derive(Clone, Debug, Default)]
pub struct Context {
    pub team_is_new: bool,
    pub patterns_are_unknown: bool,
    pub life_is_short: bool,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Index {
    pub name: String,
    pub local: bool,
    /// Attributes of the partition key, then those of the sort key.
    pub keys: Vec<String>,
    /// How many of them are the partition key: one, or up to four.
    pub partition_keys: usize,
    pub project: Projection,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projection {
    All,
    KeysOnly,
    Include(Vec<String>),
}

#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: String,
    pub kind: ValueType,
    /// How many different values there are.
    pub values: Option<u64>,
    /// The part of all items or requests that the most frequent value takes.
    pub top: Option<f64>,
    pub optional: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Entity {
    pub name: String,
    /// What its type attribute says.
    pub type_value: String,
    pub attributes: Vec<Attribute>,
    /// Templates of the table's key.
    pub key: Vec<Template>,
    pub shard: Option<Shard>,
    pub indexes: Vec<IndexKey>,
    pub unique: Vec<String>,
    pub lock: Option<String>,
    /// The attribute that numbers kept versions.
    pub versions: Option<String>,
    /// The entity of which this is a copy.
    pub copies: Option<String>,
    /// The two attributes that a relationship connects: from, to.
    pub edge: Vec<String>,
    /// Attributes that tell one item from every other, if the names do not say it.
    pub identity: Vec<String>,
    pub ttl: Option<String>,
    pub expect: Expectations,
    /// What the model puts between the parts of keys, if it is not `#`.
    pub delimiter: Option<char>,
    pub span: Span,
    pub key_span: Span,
    /// Made when one of many attributes is first looked up.
    pub(crate) numbers: OnceLock<AttributeNumbers>,
}

/// An entity's key in an index.
#[derive(Clone, Debug)]
pub struct IndexKey {
    pub index: String,
    pub key: Vec<Template>,
    pub when: Condition,
    pub shard: Option<Shard>,
    /// Items in it at a time, if it is sparse.
    pub count: Option<u64>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The attribute whose hash chooses the shard; none means at random.
    pub by: Option<String>,
    pub count: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Expectations {
    pub count: Option<u64>,
    pub per: Option<String>,
    pub average: Option<f64>,
    pub max: Option<u64>,
    pub bytes: Option<u64>,
    pub max_bytes: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub struct Pattern {
    pub name: String,
    pub about: String,
    pub inputs: Vec<String>,
    pub targets: Vec<Target>,
    pub order: Option<Order>,
    pub range: Option<Bounds>,
    pub limit: Option<u64>,
    pub filter: Condition,
    pub rps: Option<f64>,
    pub strong: bool,
    pub hydrate: bool,
    pub fields: Vec<String>,
    /// The caller reads one page and does not go on.
    pub first_page_only: bool,
    pub request: Option<Request>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Target {
    pub entity: String,
    pub many: bool,
}

#[derive(Clone, Debug)]
pub struct Order {
    pub by: String,
    pub descending: bool,
}

/// A range over an attribute; the bounds show how the caller writes them.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    pub by: String,
    pub from: Option<String>,
    pub to: Option<String>,
    pub span: Span,
}

/// A request that code already sends, to be checked as it is.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub index: Option<String>,
    pub scan: bool,
    /// `PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#')`.
    pub condition: String,
    pub filter: Condition,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Write {
    pub name: String,
    pub actions: Vec<Action>,
    pub transact: bool,
    pub rps: Option<f64>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Create,
    Put,
    Update,
    Delete,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub verb: Verb,
    pub entity: String,
    /// As many as expected per parent.
    pub many: bool,
    /// Attributes that an update sets.
    pub set: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Allowance {
    pub code: String,
    pub on: Option<String>,
    pub reason: String,
    pub span: Span,
}

impl Verb {
    pub fn name(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Put => "put",
            Verb::Update => "update",
            Verb::Delete => "delete",
        }
    }

    pub fn parse(text: &str) -> Option<Verb> {
        [Verb::Create, Verb::Put, Verb::Update, Verb::Delete].into_iter().find(|verb| verb.name() == text)
    }
}

impl Model {
    /// The character that most often stands before and behind fields of keys.
    pub fn usual_delimiter(&self) -> Option<char> {
        let mut counts: BTreeMap<char, usize> = BTreeMap::new();
        for entity in &self.entities {
            let keys = entity.indexes.iter().flat_map(|index_key| &index_key.key).chain(&entity.key);
            for mark in keys.flat_map(Template::field_delimiters).filter(|mark| !mark.is_alphanumeric()) {
                *counts.entry(mark).or_default() += 1;
            }
        }
        counts.into_iter().max_by_key(|(mark, count)| (*count, *mark == DELIMITER)).map(|(mark, _)| mark)
    }

    pub(crate) fn lookup(&self) -> &Lookup {
        self.lookup.get_or_init(|| Lookup::new(self))
    }

    pub fn entity(&self, name: &str) -> Option<&Entity> {
        self.lookup().entity(self, name)
    }

    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// The entity whose own identifier this attribute is.
    pub fn owner_of(&self, attribute: &str) -> Option<&Entity> {
        self.lookup().owner_of(self, attribute)
    }

    /// A field of any entity by this name, for attributes that patterns share.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.lookup().attribute(self, name)
    }

    /// Copies of an entity.
    pub fn copies_of<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Entity> + use<'a> {
        self.lookup().copies_of(self, name)
    }
}

impl Attribute {
    /// How many different values there are, declared or by its type or name, if that is known to be few.
    pub fn distinct(&self) -> Option<u64> {
        let named = || {
            name_hints::few_values(&self.name)
                .filter(|_| matches!(self.kind, ValueType::String | ValueType::Id))
        };
        self.values.or_else(|| self.kind.distinct()).or_else(named)
    }
}

impl Entity {
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        AttributeNumbers::find(&self.numbers, &self.attributes, name)
    }

    pub fn index_key(&self, index: &str) -> Option<&IndexKey> {
        self.indexes.iter().find(|index_key| index_key.index == index)
    }

    /// The attribute that identifies it: declared alone, named after it, or `id`.
    pub fn identity(&self) -> Option<&str> {
        if let [one] = self.identity.as_slice() {
            return Some(one);
        }
        if !self.identity.is_empty() || !self.edge.is_empty() {
            return None;
        }
        let own = format!("{}id", self.name.to_lowercase());
        let named = |attribute: &&Attribute| {
            let name = attribute.name.to_lowercase().replace(['_', '-'], "");
            name == own || name == "id"
        };
        self.attributes.iter().find(named).map(|attribute| attribute.name.as_str())
    }

    /// Every field of the table's key.
    pub fn key_fields(&self) -> impl Iterator<Item = &str> {
        self.key.iter().flat_map(Template::fields)
    }

    pub fn has_key_field(&self, name: &str) -> bool {
        self.key_fields().any(|field| field == name)
    }

    pub fn bytes(&self) -> u64 {
        self.expect.bytes.unwrap_or_else(|| {
            let attributes = &self.attributes;
            let data: u64 = attributes.iter().map(|a| a.name.len() as u64 + a.kind.typical_bytes()).sum();
            data + self.key.len() as u64 * 30 + self.indexes.len() as u64 * 60 + 20
        })
    }

    pub fn subject(&self) -> String {
        format!("entity.{}", self.name)
    }

    pub fn types_map(&self) -> BTreeMap<String, ValueType> {
        self.attributes.iter().map(|attribute| (attribute.name.clone(), attribute.kind.clone())).collect()
    }
}

const SHARD_TYPE: ValueType = ValueType::Int;

impl FieldTypes for Entity {
    fn delimiter(&self) -> char {
        self.delimiter.unwrap_or(DELIMITER)
    }

    fn type_of(&self, field: &str) -> Option<&ValueType> {
        if field == crate::template::SHARD && self.attribute(field).is_none() {
            return Some(&SHARD_TYPE);
        }
        self.attribute(field).map(|attribute| &attribute.kind)
    }
}

impl Pattern {
    pub fn subject(&self) -> String {
        format!("pattern.{}", self.name)
    }

    /// `limit`, or one if a single item is wanted.
    pub fn has_one_target(&self) -> Option<&Target> {
        match self.targets.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    pub fn is_fixed(&self, attribute: &str) -> bool {
        self.inputs.iter().any(|input| input == attribute) || self.filter.fixed(attribute).is_some()
    }
}

impl Write {
    pub fn subject(&self) -> String {
        format!("write.{}", self.name)
    }
}

impl Index {
    /// Attributes of the partition key, and of the sort key.
    pub fn halves(&self) -> (&[String], &[String]) {
        self.keys.split_at(self.partition_keys.min(self.keys.len()))
    }

    /// A half of its key has several attributes.
    pub fn is_composite(&self) -> bool {
        self.partition_keys > 1 || self.keys.len() > self.partition_keys + 1
    }

    pub fn subject(&self) -> String {
        format!("index.{}", self.name)
    }
}
