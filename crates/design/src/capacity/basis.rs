//! Figures, and what they rest on: declarations, figures derived from them, or assumptions.

use crate::formatting::{format_number, format_quantity};
use serde_json::{Value, json};
use std::iter::Sum;
use std::ops::{Add, Mul};

/// What a figure rests on, the strongest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// The model declares it.
    #[default]
    Declared,
    /// It follows from what the model declares.
    Derived,
    /// Nothing declares it: it is a guess.
    Assumed,
}

impl Basis {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Declared => "declared",
            Basis::Derived => "derived",
            Basis::Assumed => "assumed",
        }
    }

    /// Returns the weaker of two bases.
    pub fn and(self, other: Basis) -> Basis {
        self.max(other)
    }

    /// Returns whether nothing declares it.
    pub fn is_assumed(self) -> bool {
        self == Basis::Assumed
    }

    /// Returns the text that follows an assumed figure; others are printed alone.
    pub fn mark(self) -> &'static str {
        if self.is_assumed() { " (assumed)" } else { "" }
    }
}

/// A figure and what it rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// What it rests on: the weakest basis of its parts.
    pub basis: Basis,
}

impl Estimate {
    /// Creates an estimate.
    pub fn new(value: f64, basis: Basis) -> Estimate {
        Estimate { value, basis }
    }

    /// Creates an estimate that the model declares.
    pub fn declared(value: f64) -> Estimate {
        Estimate::new(value, Basis::Declared)
    }

    /// Creates an estimate that follows from what the model declares.
    pub fn derived(value: f64) -> Estimate {
        Estimate::new(value, Basis::Derived)
    }

    /// Creates an estimate that nothing declares.
    pub fn assumed(value: f64) -> Estimate {
        Estimate::new(value, Basis::Assumed)
    }

    /// Returns a figure computed from this one.
    pub fn map(self, compute: impl Fn(f64) -> f64) -> Estimate {
        Estimate::new(compute(self.value), self.basis.and(Basis::Derived))
    }

    /// Returns the text of it with its unit: `2.5 read units (assumed)`.
    pub fn text(self, noun: &str) -> String {
        format!("{}{}", format_quantity(self.value, noun), self.basis.mark())
    }

    /// Returns the text of it: `12 (assumed)`.
    pub fn number(self) -> String {
        format!("{}{}", format_number(self.value), self.basis.mark())
    }

    /// Returns it as JSON: `{"value": 12, "basis": "declared"}`.
    pub fn json(self) -> Value {
        json!({ "value": self.value, "basis": self.basis.name() })
    }
}

impl Mul for Estimate {
    type Output = Estimate;

    fn mul(self, other: Estimate) -> Estimate {
        Estimate::new(self.value * other.value, self.basis.and(other.basis).and(Basis::Derived))
    }
}

impl Add for Estimate {
    type Output = Estimate;

    fn add(self, other: Estimate) -> Estimate {
        Estimate::new(self.value + other.value, self.basis.and(other.basis).and(Basis::Derived))
    }
}

impl Sum for Estimate {
    fn sum<I: Iterator<Item = Estimate>>(estimates: I) -> Estimate {
        estimates.fold(Estimate::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_rests_on_the_weakest_of_its_parts() {
        let (two, three, four) = (Estimate::declared(2.0), Estimate::derived(3.0), Estimate::assumed(4.0));
        assert_eq!(two * two, Estimate::derived(4.0));
        assert_eq!(two + three, Estimate::derived(5.0));
        assert_eq!([two, three, four].into_iter().sum::<Estimate>(), Estimate::assumed(9.0));
        assert_eq!(four.text("item"), "4 items (assumed)");
        assert_eq!(two.map(|value| value / 2.0).text("item"), "1 item");
    }
}
