//! A range of sort keys: what a read selects, what a pattern's request selects, and where the keys of an entity are.

use crate::plan::bounds::LAST;
use crate::template::{FieldTypes, Part, Template};
use std::cmp::Ordering;

/// The texts from one to another, both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    from: String,
    /// The upper end; none if it is that of the collection.
    to: Option<String>,
}

impl Span {
    pub fn new(from: Option<&str>, to: Option<&str>) -> Span {
        Span { from: from.unwrap_or_default().to_owned(), to: to.map(str::to_owned) }
    }

    /// All texts.
    pub fn everything() -> Span {
        Span::new(None, None)
    }

    /// One text.
    pub fn one(text: &str) -> Span {
        Span::new(Some(text), Some(text))
    }

    /// The texts that start with another.
    pub fn starting_with(start: &str) -> Span {
        Span { from: start.to_owned(), to: (!start.is_empty()).then(|| format!("{start}{LAST}")) }
    }

    /// The shortest span with all the texts of a template.
    pub fn of(template: &Template, types: &dyn FieldTypes) -> Span {
        let start = template.prefix();
        if template.is_constant() {
            return Span::one(start);
        }
        let is_start = |part: &&Part| matches!(part, Part::Text(_));
        let fields = Template { parts: template.parts.iter().skip_while(is_start).cloned().collect() };
        match fields.first_characters(types) {
            Some((least, greatest)) => {
                Span { from: format!("{start}{least}"), to: Some(format!("{start}{greatest}{LAST}")) }
            }
            None => Span::starting_with(start),
        }
    }

    pub fn from(&self) -> &str {
        &self.from
    }

    pub fn to(&self) -> Option<&str> {
        self.to.as_deref()
    }

    /// The texts that both have; `None` if there are none.
    pub fn common(&self, other: &Span) -> Option<Span> {
        let from = self.from.as_str().max(other.from());
        let to = match (self.to(), other.to()) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        to.is_none_or(|to| from <= to).then(|| Span::new(Some(from), to))
    }

    pub fn contains(&self, other: &Span) -> bool {
        self.from() <= other.from() && other.compare_ends(self).is_le()
    }

    /// Which of two ends first.
    pub fn compare_ends(&self, other: &Span) -> Ordering {
        match (self.to(), other.to()) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(own), Some(to)) => own.cmp(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::value_type::ValueType;
    use std::collections::BTreeMap;

    #[test]
    fn spans_of_templates_hold_their_keys_and_little_else() {
        let types: BTreeMap<String, ValueType> = [
            ("at".to_owned(), ValueType::Timestamp),
            ("state".to_owned(), ValueType::Choice(vec!["OPEN".to_owned(), "DONE".to_owned()].into())),
            ("name".to_owned(), ValueType::String),
        ]
        .into();
        let of = |text: &str| Span::of(&Template::parse(text).unwrap(), &types);
        let has = |span: Span, text: &str| span.contains(&Span::one(text));
        assert_eq!(of("PROFILE"), Span::one("PROFILE"));
        assert!(has(of("{at}"), "2026-01-01T00:00:00Z") && !has(of("{at}"), "PROFILE"));
        assert!(has(of("S#{state}#{at}"), "S#OPEN#2026") && !has(of("S#{state}"), "S#PAID"));
        assert!(has(of("{name}"), "") && has(of("{name}"), "\u{10FFFF}"));
        assert!(!of("A#{name}").contains(&Span::everything()) && Span::everything().contains(&of("{name}")));
        assert_eq!(of("A#{name}").common(&of("B#{name}")), None);
        assert_eq!(
            Span::new(Some("A"), None).common(&Span::new(None, Some("B"))),
            Some(Span::new(Some("A"), Some("B")))
        );
    }
}
