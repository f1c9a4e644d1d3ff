//! Access patterns of a model.

use super::condition::Condition;
use crate::source::Span;

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

/// A request that existing code sends, to be checked as it is.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The index it queries; `None` is the table.
    pub index: Option<String>,
    /// Whether it is a Scan.
    pub scan: bool,
    /// The key condition: `PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#')`.
    pub condition: String,
    /// The filter applied after the read.
    pub filter: Condition,
    /// Where the request is declared.
    pub span: Span,
}

impl Pattern {
    /// Returns the subject of findings about it: `pattern.orderById`.
    pub fn subject(&self) -> String {
        format!("pattern.{}", self.name)
    }

    /// Returns the target if there is exactly one.
    pub fn single_target(&self) -> Option<&Target> {
        match self.targets.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Returns whether the caller knows the value of an attribute, as an input or from the condition.
    pub fn is_fixed(&self, attribute: &str) -> bool {
        self.inputs.iter().any(|input| input == attribute) || self.filter.fixed(attribute).is_some()
    }
}
