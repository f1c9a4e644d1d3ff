//! A single-table model as data: table, indexes, entities, access patterns, writes.

mod admission;
mod aggregate;
pub mod choices;
pub mod condition;
pub mod decimal;
mod delimiter;
pub(crate) mod each_once;
pub mod expression;
mod field_types;
mod identity;
pub mod key_condition;
pub mod limits;
pub(crate) mod lookup;
mod originals;
pub(crate) mod pattern;
pub mod shard;
pub mod text_form;
mod traffic;
pub mod value_type;
mod write;

pub use aggregate::{Aggregate, Function};
pub use pattern::{Bounds, Order, Pattern, Request, Target, Via};
pub use shard::Shard;
pub use traffic::{Importance, Traffic};
pub use write::{Action, MAX_ACTIONS, MarkerAction, Verb, Write};

use crate::name_hints;
use crate::plan::needed::Need;
use crate::source::Span;
use crate::template::Template;
use condition::Condition;
use limits::Limits;
use lookup::{AttributeNumbers, Lookup};
use std::fmt;
use std::sync::{Arc, OnceLock};
use value_type::ValueType;

/// The newest version of the model format.
pub const FORMAT: i64 = 1;

/// A single-table model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The table.
    pub table: Table,
    /// What is known about the project.
    pub context: Context,
    /// The shape of the traffic.
    pub traffic: Traffic,
    /// The secondary indexes.
    pub indexes: Vec<Index>,
    /// The entities that share the table.
    pub entities: Vec<Entity>,
    /// The access patterns.
    pub patterns: Vec<Pattern>,
    /// The declared writes.
    pub writes: Vec<Write>,
    /// The findings that the model allows.
    pub allowances: Vec<Allowance>,
    /// The text that it was read from.
    pub(crate) text: Option<Arc<str>>,
    /// Built on the first lookup, when all entities are present.
    pub(crate) lookup: OnceLock<Lookup>,
}

/// The table of a model.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The name of the table.
    pub name: String,
    /// The partition key attribute and, in most tables, the sort key attribute.
    pub keys: Vec<String>,
    /// The attribute that names the entity of an item.
    pub type_attribute: Option<String>,
    /// The attribute that every partition key must start with.
    pub tenant: Option<String>,
    /// The attribute that holds the expiry time of items.
    pub ttl: Option<String>,
    /// What a server does about reads that no pattern declares; `None` only counts them.
    pub reads: Option<ReadRule>,
    /// Where the table is declared.
    pub span: Span,
    /// Where its name is declared.
    pub name_span: Span,
}

/// What a server does about reads that no pattern declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadRule {
    /// They are logged.
    Warn,
    /// They are refused.
    Enforce,
}

impl ReadRule {
    /// Returns its name in a model.
    pub fn name(self) -> &'static str {
        match self {
            ReadRule::Warn => "warn",
            ReadRule::Enforce => "enforce",
        }
    }

    /// Parses its name in a model.
    pub fn parse(name: &str) -> Option<ReadRule> {
        [ReadRule::Warn, ReadRule::Enforce].into_iter().find(|rule| rule.name() == name)
    }
}

/// Facts about the team and the project that speak for or against a single table.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The team has no experience with DynamoDB.
    pub team_is_new: bool,
    /// The access patterns are not known yet.
    pub patterns_are_unknown: bool,
    /// The project is short-lived.
    pub life_is_short: bool,
    /// Where the context is declared.
    pub span: Span,
}

/// A secondary index.
#[derive(Clone, Debug)]
pub struct Index {
    /// The name of the index.
    pub name: String,
    /// Whether it is a local index, which shares the table's partition key.
    pub local: bool,
    /// The attributes of the partition key, followed by those of the sort key.
    pub keys: Vec<String>,
    /// How many of `keys` form the partition key: one to four.
    pub partition_keys: usize,
    /// The attributes that are copied into the index.
    pub project: Projection,
    /// Where the index is declared.
    pub span: Span,
}

/// The attributes that an index holds besides the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projection {
    /// All attributes.
    All,
    /// No other attributes.
    KeysOnly,
    /// The named attributes.
    Include(Vec<String>),
}

/// An attribute of an entity.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name of the attribute.
    pub name: String,
    /// Its type.
    pub kind: ValueType,
    /// The declared number of distinct values.
    pub values: Option<u64>,
    /// The share of all items or requests that have the most frequent value, between 0 and 1.
    pub top: Option<f64>,
    /// Whether an item may lack it.
    pub optional: bool,
    /// What narrows its type.
    pub limits: Limits,
    /// Where a migration takes its value from.
    pub origin: Origin,
}

/// Where a migration takes the value of an attribute from that items do not have under its name.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The name that the attribute had in the model before.
    pub was: Option<String>,
    /// The text of the value of items that have none.
    pub default: Option<String>,
    /// Other attributes that the value is made from.
    pub computed: Option<Template>,
}

/// An entity of the model before.
#[derive(Clone, Debug)]
pub struct Predecessor {
    /// Its name.
    pub name: String,
    /// Which of its items, if it was split.
    pub filter: Condition,
}

impl fmt::Display for Predecessor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        if self.filter.is_empty() { Ok(()) } else { write!(out, " where {}", self.filter) }
    }
}

/// A type of item.
#[derive(Clone, Debug, Default)]
pub struct Entity {
    /// The name of the entity.
    pub name: String,
    /// The value of the type attribute in its items.
    pub type_value: String,
    /// The entities of the model before whose items are its items now; one if it was renamed, several if they were merged.
    pub was: Vec<Predecessor>,
    /// Its attributes, without the generated keys.
    pub attributes: Vec<Attribute>,
    /// The templates of the table's key attributes.
    pub key: Vec<Template>,
    /// How `{shard}` in its templates is chosen.
    pub shard: Option<Shard>,
    /// Its keys in indexes.
    pub indexes: Vec<IndexKey>,
    /// What is unique among its items: the value of one attribute, or those of several taken together.
    pub unique: Vec<Vec<String>>,
    /// The version attribute that every update must match.
    pub lock: Option<String>,
    /// The attribute that numbers the versions that are kept.
    pub versions: Option<String>,
    /// The entity that this one is a copy of.
    pub copies: Option<String>,
    /// Whether this copy is of the newest version only.
    pub latest: bool,
    /// Counts, sums and extremes of other entities' items that every write keeps up to date.
    pub aggregates: Vec<Aggregate>,
    /// The two attributes that a relationship connects: from, to.
    pub edge: Vec<String>,
    /// The attributes that identify an item, where the names do not show it.
    pub identity: Vec<String>,
    /// The attribute that holds the expiry time.
    pub ttl: Option<String>,
    /// The expected number and size of its items.
    pub expect: Expectations,
    /// The delimiter between the parts of keys in this model, if it is not `#`.
    pub delimiter: Option<char>,
    /// Where the entity is declared.
    pub span: Span,
    /// Where its key is declared.
    pub key_span: Span,
    /// Built on the first lookup of an attribute, if there are many.
    pub(crate) numbers: OnceLock<AttributeNumbers>,
}

/// The key of an entity in an index.
#[derive(Clone, Debug)]
pub struct IndexKey {
    /// The name of the index.
    pub index: String,
    /// The templates of the index's key attributes.
    pub key: Vec<Template>,
    /// The condition that items in a sparse index meet.
    pub when: Condition,
    /// How `{shard}` is chosen, if not as for the table's key.
    pub shard: Option<Shard>,
    /// The number of items in a sparse index at a time.
    pub count: Option<u64>,
    /// Whether the model does not declare it: attributes that items have for other purposes are the keys of the index.
    pub is_implied: bool,
    /// Where the index key is declared.
    pub span: Span,
}

/// The expected number and size of an entity's items.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    /// The total number of items.
    pub count: Option<u64>,
    /// The parent entity that `average` and `max` refer to.
    pub per: Option<String>,
    /// The average number of items per parent.
    pub average: Option<f64>,
    /// The largest number of items per parent.
    pub max: Option<u64>,
    /// The average size of an item.
    pub bytes: Option<u64>,
    /// The largest size of an item.
    pub max_bytes: Option<u64>,
    /// What is expected in a year.
    pub in_a_year: YearAhead,
}

/// What is expected of an entity in a year, where it differs from today.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct YearAhead {
    /// The total number of items.
    pub count: Option<u64>,
    /// The average number of items per parent.
    pub average: Option<f64>,
    /// The largest number of items per parent.
    pub max: Option<u64>,
    /// The average size of an item.
    pub bytes: Option<u64>,
    /// The largest size of an item.
    pub max_bytes: Option<u64>,
}

impl YearAhead {
    /// Returns whether nothing is expected to change.
    pub fn is_empty(&self) -> bool {
        *self == YearAhead::default()
    }
}

/// A finding that the model allows, and why.
#[derive(Clone, Debug)]
pub struct Allowance {
    /// The code of the finding.
    pub code: String,
    /// The subject it is allowed on; `None` is any.
    pub on: Option<String>,
    /// Why it is right here.
    pub reason: String,
    /// Where the allowance is declared.
    pub span: Span,
}

impl Model {
    /// Returns the text that the model was read from.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    pub(crate) fn lookup(&self) -> &Lookup {
        self.lookup.get_or_init(|| Lookup::new(self))
    }

    /// Returns why the items of an entity must have an attribute outside their keys; `None` if a key may hold it alone.
    pub(crate) fn need_outside_keys(&self, entity: &Entity, attribute: &str) -> Option<&Need> {
        self.lookup().needed(self).need(&entity.name, attribute)
    }

    /// Returns the entity with this name.
    pub fn entity(&self, name: &str) -> Option<&Entity> {
        self.lookup().entity(self, name)
    }

    /// Returns the index with this name.
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// Returns the attribute of the expiry time, of which a table has at most one.
    pub fn expiry_attribute(&self) -> Option<&str> {
        let own = || self.entities.iter().find_map(|entity| entity.ttl.as_deref());
        self.table.ttl.as_deref().or_else(own)
    }

    /// Returns the entity with this name, whatever the case of its letters.
    pub fn entity_in_any_case(&self, name: &str) -> Option<&Entity> {
        self.lookup().entity_in_any_case(self, name)
    }

    /// Returns the entity that this attribute identifies.
    pub fn owner_of(&self, attribute: &str) -> Option<&Entity> {
        self.lookup().owner_of(self, attribute)
    }

    /// Returns the entities that have this attribute.
    pub fn holders_of(&self, attribute: &str) -> impl Iterator<Item = &Entity> {
        self.lookup().holders_of(self, attribute)
    }

    /// Returns the first attribute with this name of any entity.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.lookup().attribute(self, name)
    }

    /// Returns the copies of an entity.
    pub fn copies_of<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Entity> + use<'a> {
        self.lookup().copies_of(self, name)
    }
}

impl Attribute {
    /// Creates a required attribute without declared values.
    pub fn new(name: &str, kind: ValueType) -> Attribute {
        Attribute {
            name: name.to_owned(),
            kind,
            values: None,
            top: None,
            optional: false,
            limits: Limits::default(),
            origin: Origin::default(),
        }
    }

    /// Returns the number of distinct values if it is declared, or if the type or the name implies that it is small.
    pub fn distinct(&self) -> Option<u64> {
        let named = || {
            name_hints::few_values(&self.name)
                .filter(|_| matches!(self.kind, ValueType::String | ValueType::Id))
        };
        self.values.or_else(|| self.kind.distinct()).or_else(named)
    }
}

impl IndexKey {
    /// Creates the key of an entity whose items are all in the index.
    pub fn new(index: &str, key: Vec<Template>, span: Span) -> IndexKey {
        IndexKey {
            index: index.to_owned(),
            key,
            when: Condition::default(),
            shard: None,
            count: None,
            is_implied: false,
            span,
        }
    }
}

impl Entity {
    /// Returns the attribute with this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        AttributeNumbers::find(&self.numbers, &self.attributes, name)
    }

    /// Returns its key in the index with this name.
    pub fn index_key(&self, index: &str) -> Option<&IndexKey> {
        self.indexes.iter().find(|index_key| index_key.index == index)
    }

    /// Returns its keys in the indexes that the model declares for it.
    pub fn declared_indexes(&self) -> impl Iterator<Item = &IndexKey> {
        self.indexes.iter().filter(|index_key| !index_key.is_implied)
    }

    /// Returns the condition that an item has every attribute of a key: those that may be absent exist.
    pub fn presence_of(&self, key: &[Template]) -> Condition {
        let names = key.iter().flat_map(Template::fields).filter(|name| self.may_lack(name));
        names.fold(Condition::default(), |all, name| all.and(&Condition::exists(name)))
    }

    /// Returns the fields of the table's key templates.
    pub fn key_fields(&self) -> impl Iterator<Item = &str> {
        self.key.iter().flat_map(Template::fields)
    }

    /// Returns whether the table's key contains this field.
    pub fn has_key_field(&self, name: &str) -> bool {
        self.key_fields().any(|field| field == name)
    }

    /// Returns whether known values determine at most one item by a declared uniqueness.
    pub fn is_unique_by(&self, known: impl Fn(&str) -> bool) -> bool {
        self.unique.iter().any(|names| names.iter().all(|name| known(name)))
    }

    /// Returns whether an attribute is part of something unique.
    pub fn has_unique(&self, name: &str) -> bool {
        self.unique.iter().flatten().any(|unique| unique == name)
    }

    /// Returns the subject of findings about it: `entity.Order`.
    pub fn subject(&self) -> String {
        format!("entity.{}", self.name)
    }
}

impl Index {
    /// Returns the attributes of the partition key and those of the sort key.
    pub fn halves(&self) -> (&[String], &[String]) {
        self.keys.split_at(self.partition_keys.min(self.keys.len()))
    }

    /// Returns whether the partition key or the sort key has several attributes.
    pub fn is_composite(&self) -> bool {
        self.partition_keys > 1 || self.keys.len() > self.partition_keys + 1
    }

    /// Returns the subject of findings about it: `index.GSI1`.
    pub fn subject(&self) -> String {
        format!("index.{}", self.name)
    }
}
