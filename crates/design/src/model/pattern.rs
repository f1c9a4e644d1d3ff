//! Access patterns of a model.

use super::condition::Condition;
use super::key_condition::KeyClause;
use super::traffic::Importance;
use super::value_type::ValueType;
use super::{Entity, Model};
use crate::source::Span;
use crate::template::FieldTypes;

/// An access pattern: a query that the application makes.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The name of the pattern.
    pub name: String,
    /// A description.
    pub about: String,
    /// The attributes whose values the caller knows.
    pub inputs: Vec<String>,
    /// The entities that it returns.
    pub targets: Vec<Target>,
    /// The relationships that lead from the inputs to the entities, in order.
    pub via: Vec<Via>,
    /// The required order.
    pub order: Option<Order>,
    /// The attribute that the caller bounds.
    pub range: Option<Bounds>,
    /// The largest number of items to return.
    pub limit: Option<u64>,
    /// The condition that returned items meet.
    pub filter: Condition,
    /// Requests per second.
    pub rps: Option<f64>,
    /// Requests per second in a year.
    pub rps_in_a_year: Option<f64>,
    /// The peak of the requests, as a multiple of their mean.
    pub peak: Option<f64>,
    /// How much the pattern matters.
    pub importance: Importance,
    /// Whether reads must be strongly consistent.
    pub strong: bool,
    /// Whether attributes that an index lacks may be read from the table in a second request.
    pub hydrate: bool,
    /// The attributes that are needed; all if empty.
    pub fields: Vec<String>,
    /// Whether the caller reads one page and stops.
    pub first_page_only: bool,
    /// A request that existing code sends for this pattern.
    pub request: Option<Request>,
    /// Where the pattern is declared.
    pub span: Span,
}

/// An entity that a pattern returns.
#[derive(Clone, Debug)]
pub struct Target {
    /// The name of the entity.
    pub entity: String,
    /// Whether the pattern returns a list rather than a single item.
    pub many: bool,
}

/// An entity that is read on the way, usually a relationship: its items lead to the next entity.
#[derive(Clone, Debug)]
pub struct Via {
    /// The name of the entity.
    pub entity: String,
    /// Attributes of the next entity, each with the attribute of this one that holds its value.
    pub matches: Vec<(String, String)>,
}

/// The order of a pattern's result.
#[derive(Clone, Debug)]
pub struct Order {
    /// The attribute to order by.
    pub by: String,
    /// Whether the largest value comes first.
    pub descending: bool,
}

/// A range over an attribute. The bounds show how the caller writes them.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// The attribute.
    pub by: String,
    /// An example of a lower bound.
    pub from: Option<String>,
    /// An example of an upper bound.
    pub to: Option<String>,
    /// Where the range is declared.
    pub span: Span,
}

impl Bounds {
    /// Returns whether a bound is declared. Otherwise the caller gives both when it asks.
    pub fn is_declared(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }
}

/// A request that existing code sends, to be checked as it is.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The index it queries; `None` is the table.
    pub index: Option<String>,
    /// Whether it is a Scan.
    pub scan: bool,
    /// The key condition: `PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#')`.
    pub condition: String,
    /// The comparisons of the key condition.
    pub clauses: Vec<KeyClause>,
    /// The filter applied after the read.
    pub filter: Condition,
    /// Where the request is declared.
    pub span: Span,
}

impl Pattern {
    /// Returns whether it may take several requests and cost more.
    pub fn is_rare(&self) -> bool {
        self.importance == Importance::Rare
    }

    /// Returns the subject of findings about it: `pattern.orderById`.
    pub fn subject(&self) -> String {
        format!("pattern.{}", self.name)
    }

    /// Returns its condition, together with the existence of what the caller knows and bounds.
    pub fn condition(&self) -> Condition {
        let range = self.range.iter().map(|range| &range.by);
        let given = self.inputs.iter().chain(range).map(|name| Condition::exists(name));
        self.filter.and(&Condition::All(given.collect()))
    }

    /// Returns the target if there is exactly one.
    pub fn single_target(&self) -> Option<&Target> {
        match self.targets.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Returns the entities that `range`, `order` and `where` mean by an attribute: those that have it of the first stage on the way where one
    /// has it.
    pub fn entities_with<'m>(&self, model: &'m Model, attribute: &str) -> Vec<&'m Entity> {
        let has = |entity: &&Entity| entity.attribute(attribute).is_some();
        let mut on_the_way = self.via.iter().filter_map(|via| model.entity(&via.entity));
        if let Some(first) = on_the_way.find(has) {
            return vec![first];
        }
        self.targets.iter().filter_map(|target| model.entity(&target.entity)).filter(has).collect()
    }

    /// Gives the values of its conditions the types of the attributes that they are compared with.
    pub(crate) fn type_conditions(&mut self, model: &Model) {
        let types = PatternTypes { model, pattern: self };
        let filter = self.filter.typed(&types);
        let requested = self.request.as_ref().map(|request| request.filter.typed(&types));
        self.filter = filter;
        if let Some((request, filter)) = self.request.as_mut().zip(requested) {
            request.filter = filter;
        }
    }

    /// Returns whether the caller knows the value of an attribute, as an input or from the condition.
    pub fn is_fixed(&self, attribute: &str) -> bool {
        self.inputs.iter().any(|input| input == attribute) || self.filter.fixed(attribute).is_some()
    }
}

/// The types of the attributes that a pattern means.
pub(crate) struct PatternTypes<'a> {
    pub model: &'a Model,
    pub pattern: &'a Pattern,
}

impl FieldTypes for PatternTypes<'_> {
    fn type_of(&self, field: &str) -> Option<&ValueType> {
        let entity = self.pattern.entities_with(self.model, field).into_iter().next()?;
        entity.attribute(field).map(|attribute| &attribute.kind)
    }
}
