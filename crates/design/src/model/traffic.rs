//! How often and how evenly patterns and writes are requested, and how much each pattern matters.

use crate::source::Span;

/// The shape of the traffic over a day.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// The peak, as a multiple of the mean.
    pub peak: Option<f64>,
    /// The hours of a day without traffic.
    pub idle_hours: Option<f64>,
    /// Whether peaks come within minutes, faster than auto scaling follows.
    pub sudden: bool,
    /// Where it is declared.
    pub span: Span,
}

/// How much a pattern matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Importance {
    /// It must be served by one request.
    Critical,
    /// As most patterns.
    #[default]
    Normal,
    /// It may take several requests and cost more.
    Rare,
}

impl Importance {
    /// The words for it in a model.
    pub const NAMES: [&'static str; 3] = ["critical", "normal", "rare"];

    /// Parses the word for it in a model.
    pub fn parse(text: &str) -> Importance {
        match text {
            "critical" => Importance::Critical,
            "rare" => Importance::Rare,
            _ => Importance::Normal,
        }
    }

    /// Returns the word for it in a model.
    pub fn name(self) -> &'static str {
        match self {
            Importance::Critical => "critical",
            Importance::Normal => "normal",
            Importance::Rare => "rare",
        }
    }
}
