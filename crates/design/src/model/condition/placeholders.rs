//! Placeholders in the filters of declared requests: `cage == '{cage}'` compares with the value that the caller knows.

use super::{Comparator, Comparison, Condition, Constant, Test};
use crate::model::limits::End;
use crate::template::is_field_name;

impl Constant {
    /// Returns the name for whose value the constant stands.
    pub fn placeholder(&self) -> Option<&str> {
        let Constant::Text(text) = self else { return None };
        let name = text.strip_prefix('{')?.strip_suffix('}')?;
        is_field_name(name).then_some(name)
    }
}

impl Test {
    /// Returns the names of its placeholders.
    pub fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.comparison.constants().into_iter().filter_map(Constant::placeholder)
    }
}

impl Condition {
    /// Creates the condition that an attribute has the value that the caller knows.
    pub fn equals_input(attribute: &str) -> Condition {
        Condition::equals(attribute, Constant::Text(format!("{{{attribute}}}")))
    }

    /// Returns whether it compares with what the caller knows.
    pub fn has_placeholders(&self) -> bool {
        self.tests().into_iter().any(|test| test.placeholders().next().is_some())
    }

    /// Returns the parts that compare with constants only.
    #[must_use]
    pub fn constant_parts(&self) -> Condition {
        let parts = self.conjuncts().into_iter().filter(|part| !part.has_placeholders());
        Condition::All(parts.cloned().collect())
    }

    /// Returns it with the values of placeholders, as far as they are known: as a lower bound, or as an upper one.
    #[must_use]
    pub fn filled(&self, value: &dyn Fn(&str, End) -> Option<String>) -> Condition {
        let fill = |constant: &Constant, end: End| {
            let value = constant.placeholder().and_then(|name| value(name, end));
            value.map_or_else(|| constant.clone(), Constant::Text)
        };
        self.map(&|test| {
            let comparison = match &test.comparison {
                Comparison::Is(comparator, own) => {
                    let is_upper = matches!(comparator, Comparator::Less | Comparator::LessOrEqual);
                    Comparison::Is(*comparator, fill(own, if is_upper { End::Upper } else { End::Lower }))
                }
                Comparison::Among(values) => {
                    Comparison::Among(values.iter().map(|own| fill(own, End::Lower)).collect())
                }
                Comparison::Between(from, to) => {
                    Comparison::Between(fill(from, End::Lower), fill(to, End::Upper))
                }
                other => other.clone(),
            };
            Test { comparison, ..test.clone() }
        })
    }
}
