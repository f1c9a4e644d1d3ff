//! Points: one for each region into which conditions divide the values of an attribute.

use std::cmp::Ordering;

/// One region of an attribute's values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Point {
    Missing,
    Bool(bool),
    /// A mentioned text (odd) or the gap before one (even); which texts of `contains` the value contains.
    Text {
        rank: usize,
        contents: usize,
    },
    /// A mentioned number (odd) or the gap before one (even).
    Number {
        rank: usize,
    },
    /// Null, a list, a set or a map: it exists and equals no constant; which texts of `contains` are among its elements.
    Other {
        contents: usize,
    },
}

/// Where a value is among those that are mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Position {
    Text(usize),
    Number(usize),
    Bool(bool),
}

impl Position {
    pub fn compare(self, other: Position) -> Option<Ordering> {
        match (self, other) {
            (Position::Text(own), Position::Text(other))
            | (Position::Number(own), Position::Number(other)) => Some(own.cmp(&other)),
            (Position::Bool(own), Position::Bool(other)) => (own == other).then_some(Ordering::Equal),
            _ => None,
        }
    }
}

impl Point {
    pub fn position(self) -> Option<Position> {
        match self {
            Point::Missing | Point::Other { .. } => None,
            Point::Bool(own) => Some(Position::Bool(own)),
            Point::Text { rank, .. } => Some(Position::Text(rank)),
            Point::Number { rank } => Some(Position::Number(rank)),
        }
    }
}
