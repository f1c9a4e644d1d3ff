//! Rules about the bounds of ranges: an upper bound that ends before the keys it stands for, and a number that is not padded as in the key.

use super::Checker;
use crate::finding::{Finding, Severity};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::condition::{Comparator, Comparison, Condition, Constant, Places, Test};
use crate::model::decimal::Decimal;
use crate::model::key_condition::{KeyClause, KeyOperator};
use crate::model::limits::End;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Pattern};
use crate::plan::bounds::{BoundedField, LAST, is_start_of_time, time_length};
use crate::plan::{SortCondition, Step};
use crate::template::{ATTRIBUTE_SEPARATOR, Format, Part, Template};
use std::collections::BTreeMap;

impl<'m> Checker<'m> {
    /// The upper bound of a range must not be shorter than the values in the key, and times have the precision of the attribute.
    pub fn bounds(&mut self, pattern: &Pattern) {
        let Some(range) = &pattern.range else { return };
        let entities = pattern.entities_with(self.model, &range.by);
        let mut attributes = entities.iter().filter_map(|entity| entity.attribute(&range.by));
        let ends = || [(&range.from, End::Lower), (&range.to, End::Upper)].into_iter();
        let given = || ends().filter_map(|(bound, end)| Some((bound.as_ref()?, end)));
        let flaw = attributes.find_map(|attribute| {
            given().find_map(|(bound, end)| Some((imprecise(attribute, bound, end)?, bound)))
        });
        let finding = Finding::new("P107", Severity::Error, pattern.subject(), &range.span);
        if let Some((flaw, bound)) = flaw {
            return self.report(flaw.described(finding, bound));
        }
        let Some(to) = &range.to else { return };
        let is_start = |entity: &&Entity| {
            let kind = entity.attribute(&range.by).map(|attribute| &attribute.kind);
            let format = self.range_format(pattern, entity, &range.by).unwrap_or(Format::Plain);
            let length = kind.and_then(|kind| time_length(kind, format));
            length.is_some_and(|length| is_start_of_time(to, length))
        };
        if entities.iter().any(is_start) {
            self.report(lost(finding, to, to, &format!("{to}~"), true));
        }
    }

    /// The bounds of a range must be values that the key can hold, the lower one first.
    pub fn bounds_fit(&mut self, pattern: &Pattern) {
        let Some(range) = &pattern.range else { return };
        let entities = pattern.entities_with(self.model, &range.by);
        let attributes: Vec<&Attribute> =
            entities.iter().filter_map(|entity| entity.attribute(&range.by)).collect();
        let Some(first) = attributes.first() else { return };
        let steps = self.range_steps(pattern, &range.by);
        let fields: Vec<BoundedField<'_>> =
            steps.filter_map(|step| BoundedField::new(self.model, step)).collect();
        let is_wrong = |bound: &&String| {
            let is_number = Decimal::parse(bound).is_some();
            attributes.iter().any(|attribute| attribute.kind.is_number() && !is_number)
                || fields.iter().any(|field| field.lower(bound).is_none())
        };
        let finding = || Finding::new("P125", Severity::Error, pattern.subject(), &range.span);
        if let Some(bound) = range.from.iter().chain(&range.to).find(is_wrong) {
            let name = &range.by;
            self.report(
                finding()
                    .with_message(format!(
                        "the bound '{bound}' is not a value of {name} that the key can hold"
                    ))
                    .with_help(format!("{name} is {}; check its width in the key", first.kind.described())),
            );
        } else if let (Some(from), Some(to)) = (&range.from, &range.to)
            && attributes.iter().any(|attribute| is_above(&attribute.kind, from, to))
        {
            self.report(
                finding()
                    .with_message(format!("the range from '{from}' to '{to}' holds nothing"))
                    .with_help(format!("write the smaller bound first: from = \"{to}\", to = \"{from}\"")),
            );
        }
    }

    /// The steps of a plan that read a range of an attribute.
    fn range_steps<'a>(
        &'a self,
        pattern: &Pattern,
        by: &'a str,
    ) -> impl Iterator<Item = &'a Step<'m>> + use<'a, 'm> {
        let plan = self.plans.get(pattern.name.as_str()).and_then(|plan| plan.as_ref().ok());
        let bounded =
            move |sort: &SortCondition| matches!(sort, SortCondition::Between { by: own, .. } if own == by);
        plan.into_iter().flat_map(|plan| &plan.steps).filter(move |step| bounded(&step.sort))
    }

    /// How the key of an entity that serves a range writes its attribute.
    fn range_format(&self, pattern: &Pattern, entity: &Entity, by: &str) -> Option<Format> {
        let reads = |step: &&Step<'m>| step.targets.iter().any(|target| target.name == entity.name);
        let sort = self.range_steps(pattern, by).find(reads)?.location.mapping(entity)?.sort?;
        sort.parts.iter().find_map(|part| match part {
            Part::Field { name, format } if name == by => Some(*format),
            _ => None,
        })
    }

    /// Checks the bounds of a declared request against the keys of the entities that it should return.
    pub fn request_bounds(
        &mut self,
        pattern: &'m Pattern,
        location: TableOrIndex<'m>,
        targets: &[&'m Entity],
        clause: &KeyClause,
    ) {
        let is_range = !matches!(clause.operator, KeyOperator::Equals | KeyOperator::BeginsWith);
        for mapping in targets.iter().filter_map(|entity| location.mapping(entity)).filter(|_| is_range) {
            for (number, bound) in clause.values.iter().enumerate() {
                let includes = matches!(clause.operator, KeyOperator::Between | KeyOperator::UpTo);
                let is_upper = includes && number + 1 == clause.values.len();
                // `>` leaves out all keys of its value, as an upper bound includes them.
                let is_behind = is_upper || clause.operator == KeyOperator::Above;
                let end = if is_behind { End::Upper } else { End::Lower };
                let flaw = flaw(bound, &mapping, end);
                let matters = |flaw: &Flaw| match flaw {
                    Flaw::Early { field, value, .. } => {
                        is_upper
                            && !field.as_ref().is_some_and(|field| is_beyond(pattern, &mapping, field, value))
                    }
                    _ => true,
                };
                let Some(flaw) = flaw.filter(matters) else { continue };
                let finding = Finding::new("P107", Severity::Error, pattern.subject(), &clause.span);
                return self.report(flaw.described(finding, &bound.to_string()));
            }
        }
    }
}

/// Returns whether the pattern asks for no item with this value of a field, as the key writes it, so that losing them is meant.
fn is_beyond(pattern: &Pattern, mapping: &KeyMapping<'_>, field: &str, written: &str) -> bool {
    let entity = mapping.entity;
    let Some(attribute) = entity.attribute(field) else { return false };
    let mut formats = mapping.sort.iter().flat_map(|key| &key.parts).filter_map(|part| match part {
        Part::Field { name, format } if name == field => Some(*format),
        _ => None,
    });
    let value = formats.next_back().map_or(written.into(), |format| format.restore(written));
    let to = pattern.range.as_ref().filter(|range| range.by == field).and_then(|range| range.to.as_deref());
    let is_behind = to.is_some_and(|to| match attribute.kind.is_number() {
        true => Decimal::parse(&value) > Decimal::parse(to),
        false => *value > *to && !value.starts_with(to),
    });
    let equal = Comparison::Is(Comparator::Equal, Constant::Text(value.clone().into_owned()));
    let test = Test { attribute: field.to_owned(), comparison: equal, places: Places::default() };
    let meant = || pattern.filter.and(&Condition::Test(test).typed(entity)).is_satisfiable(entity);
    is_behind || (pattern.filter.mentions(field) && !meant())
}

/// Returns whether a bound of a field is before or behind all values of its type: `9999-13` for dates, `g` for UUIDs.
pub fn is_outside(text: &str, entity: &Entity, field: &str, format: Format, end: End) -> bool {
    let Some(attribute) = entity.attribute(field) else { return false };
    let key = Template { parts: vec![Part::Field { name: field.to_owned(), format }] };
    let first = text.chars().next().zip(key.first_characters(entity));
    if first.is_some_and(|(own, (least, most))| if end == End::Upper { own > most } else { own < least }) {
        return true;
    }
    // The key goes on behind a value.
    let is_inside = |value: String| match end {
        End::Upper => value.as_str() < text && !text.starts_with(&value),
        End::Lower => value.as_str() > text,
    };
    let outermost = attribute.kind.outermost();
    !outermost.is_empty() && outermost.iter().all(|own| format.apply(own).is_some_and(is_inside))
}

/// Returns whether a lower bound is larger than the upper one.
fn is_above(kind: &ValueType, from: &str, to: &str) -> bool {
    let is_given = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    match kind {
        ValueType::Int | ValueType::Decimal => Decimal::parse(from) > Decimal::parse(to),
        // The start of a time stands for all of it.
        ValueType::Date | ValueType::Timestamp => {
            is_given(from) && is_given(to) && from > to && !from.starts_with(to)
        }
        _ => from > to,
    }
}

/// Describes an upper bound that loses the keys which go on after it, and how it ends behind them; the start of a time may also be written in full.
pub fn lost(finding: Finding, bound: &str, value: &str, ended: &str, is_start: bool) -> Finding {
    let in_full = if is_start { "write the bound in full, or " } else { "" };
    let help = format!("{in_full}end it with a character that sorts behind what follows: '{ended}'");
    finding
        .with_message(format!(
            "the upper bound '{bound}' sorts before the keys that go on after it, so all of {value} is lost"
        ))
        .with_help(help)
}

/// What is wrong with a bound.
#[derive(Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Keys that hold the value of the bound sort behind it.
    Early { field: Option<String>, value: String, ended: String, is_start: bool },
    /// A number is not padded as the key is.
    Unpadded { field: String, value: String, wanted: Option<String> },
    /// A time has another precision than the values, and sorts on the wrong side of the one that it stands for.
    Imprecise { field: String, value: String, wanted: String },
}

impl Flaw {
    pub fn described(self, finding: Finding, bound: &str) -> Finding {
        let (message, help) = match self {
            Flaw::Early { value, ended, is_start, .. } => {
                return lost(finding, bound, &value, &ended, is_start);
            }
            Flaw::Unpadded { field, value, wanted } => (
                format!(
                    "the bound '{value}' is not written as the key writes {field}, so it sorts elsewhere and the range holds other numbers"
                ),
                match wanted {
                    Some(wanted) => format!("write it with zeros: '{wanted}'"),
                    None => format!("the key has no room for {value}: widen {{{field}}} in the template"),
                },
            ),
            Flaw::Imprecise { field, value, wanted } => (
                format!(
                    "the bound '{value}' has another precision than {field}, so it sorts on the wrong side of '{wanted}'"
                ),
                format!("write it as {field} is written: '{wanted}'"),
            ),
        };
        finding.with_message(message).with_help(help)
    }
}

/// Finds a time that sorts behind the first value it stands for as a lower bound, or before the last one as an upper bound.
pub fn imprecise(attribute: &Attribute, bound: &str, end: End) -> Option<Flaw> {
    let wanted = attribute.limits.bound(bound, end);
    let is_wrong = match end {
        End::Lower => bound > wanted.as_str(),
        End::Upper => bound < wanted.as_str(),
    };
    is_wrong.then(|| Flaw::Imprecise { field: attribute.name.clone(), value: bound.to_owned(), wanted })
}

/// Compares a bound with a sort key, part by part.
fn flaw(bound: &Template, mapping: &KeyMapping<'_>, end: End) -> Option<Flaw> {
    let (key, entity) = (mapping.sort.as_ref()?, mapping.entity);
    let text = sample(bound, entity)?;
    let shown = bound.to_string();
    let at_end = format!("{shown}~");
    let (mut rest, mut value, mut field, mut is_text) = (text.as_str(), shown.clone(), None, false);
    for (number, part) in key.parts.iter().enumerate() {
        match part {
            Part::Text(literal) if literal.starts_with(rest) && literal != rest => {
                let ends = !rest.is_empty() || !literal.starts_with(ATTRIBUTE_SEPARATOR);
                let missing: String = literal.chars().take(usize::from(rest.is_empty())).collect();
                let ended = if is_text { behind_texts(&format!("{shown}{missing}")) } else { at_end };
                return ends.then_some(Flaw::Early { field, value, ended, is_start: false });
            }
            Part::Text(literal) => rest = rest.strip_prefix(literal.as_str())?,
            Part::Field { .. } if rest.is_empty() => {
                return Some(Flaw::Early { field, value, ended: behind_texts(&shown), is_start: false });
            }
            Part::Field { name, format } => {
                let own = value_at(rest, key, number, entity);
                rest = &rest[own.len()..];
                if is_outside(own, entity, name, *format, end) {
                    return None;
                }
                let attribute = entity.attribute(name);
                let kind = attribute.map_or(&ValueType::String, |attribute| &attribute.kind);
                if let Some(flaw) = attribute.and_then(|attribute| imprecise(attribute, own, end)) {
                    return Some(flaw);
                }
                if let Some(length) = time_length(kind, *format) {
                    if !is_time(own) || ends_behind(own, kind, key.parts.get(number + 1)) {
                        return None;
                    }
                    own.clone_into(&mut value);
                    (field, is_text) = (Some(name.clone()), false);
                    if is_start_of_time(own, length) {
                        return rest.is_empty().then_some(Flaw::Early {
                            field,
                            value,
                            ended: at_end,
                            is_start: true,
                        });
                    }
                } else if let Format::Padded { .. } | Format::Signed { .. } = format {
                    if !own.bytes().all(|digit| digit.is_ascii_digit() || matches!(digit, b'.' | b'-')) {
                        return None;
                    }
                    own.clone_into(&mut value);
                    (field, is_text) = (Some(name.clone()), false);
                    if Some(own.len()) != format.length() {
                        let wanted = format.apply(own);
                        return Some(Flaw::Unpadded { field: name.clone(), value, wanted });
                    }
                } else if rest.is_empty() && !ends_with(bound, name) {
                    // The bound may be only the start of a value.
                    return None;
                } else {
                    value = format!("{{{name}}}");
                    (field, is_text) = (None, true);
                }
            }
        }
    }
    None
}

/// A bound behind all that begins with a text: what follows may be any character but the last of all.
fn behind_texts(start: &str) -> String {
    format!("{start}\\U{:08X}", u32::from(LAST))
}

/// Returns whether a bound goes on behind a value of fixed width with what sorts behind the text that follows it in the key.
fn ends_behind(own: &str, kind: &ValueType, next: Option<&Part>) -> bool {
    let behind = kind.fixed_width().and_then(|width| own.get(width..)).unwrap_or_default();
    matches!(next, Some(Part::Text(text)) if behind > text.as_str())
}

/// Returns whether a bound ends with the whole value of a field.
fn ends_with(bound: &Template, field: &str) -> bool {
    matches!(bound.parts.last(), Some(Part::Field { name, .. }) if name == field)
}

/// The value of a field of a key, by its number, at the start of a text.
fn value_at<'t>(text: &'t str, key: &Template, number: usize, entity: &Entity) -> &'t str {
    key.value_end(number, text, entity).and_then(|end| text.get(..end)).unwrap_or(text)
}

fn is_time(text: &str) -> bool {
    text.chars().all(|character| ValueType::Timestamp.may_contain(character))
}

/// A key of this template for example values.
pub fn sample(template: &Template, entity: &Entity) -> Option<String> {
    let value = |name: &str| {
        let Some(attribute) = entity.attribute(name) else { return "x".to_owned() };
        match attribute.kind {
            ValueType::Timestamp => attribute.limits.bound("2026-04-05T10:30:00Z", End::Lower),
            ValueType::Date => "2026-04-05".to_owned(),
            ValueType::Int | ValueType::Decimal => "7".to_owned(),
            _ => "x".to_owned(),
        }
    };
    let values: BTreeMap<String, String> =
        template.fields().map(|name| (name.to_owned(), value(name))).collect();
    template.fill(&values).ok()
}
