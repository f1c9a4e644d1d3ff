//! Conditions that can never hold, and values that an attribute never has.

mod decided;

use super::Checker;
use super::bounds::{imprecise, lost};
use super::value_types::with_offset;
use crate::finding::{Finding, Severity, closest};
use crate::model::condition::{Comparator, Comparison, Condition, Constant, Test};
use crate::model::decimal::Decimal;
use crate::model::limits::{End, Zone};
use crate::model::pattern::PatternTypes;
use crate::model::text_form::{is_date, is_ksuid, is_ulid, is_uuid, time_form};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity};
use crate::plan::bounds::{is_start_of_time, time_length};
use crate::source::Span;
use crate::template::{FieldTypes, Format, Part, Template};

impl Checker<'_> {
    pub fn conditions(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            for index_key in entity.declared_indexes() {
                let (what, subject) = (format!("`when` of {}", index_key.index), entity.subject());
                self.about_items(&index_key.when, &what, &subject, &index_key.span, entity);
            }
            for aggregate in &entity.aggregates {
                let Some(child) = model.entity(&aggregate.of) else { continue };
                let what = format!("`where` of {}", aggregate.name);
                self.about_items(&aggregate.filter, &what, &entity.subject(), &aggregate.span, child);
            }
        }
        for pattern in &model.patterns {
            let types = PatternTypes { model, pattern };
            let (subject, span) = (pattern.subject(), &pattern.span);
            let concerned = |attribute: &str| pattern.entities_with(model, attribute);
            let is_wrong = self.times(&pattern.filter, &subject, concerned);
            self.condition(&pattern.filter, "`where`", &subject, span, &types, is_wrong);
            self.never_met(&pattern.filter, &subject, concerned);
            self.values_without_keys(&pattern.filter, &subject, concerned);
            self.exhausted(pattern);
            if let Some(request) = &pattern.request {
                let filter = request.filter.constant_parts();
                let is_wrong = self.times(&filter, &subject, concerned);
                self.condition(&filter, "`filter`", &subject, &request.span, &types, is_wrong);
                self.exhausted_filter(pattern, request);
            }
        }
    }

    /// A condition that is about the items of one entity.
    fn about_items(
        &mut self,
        condition: &Condition,
        what: &str,
        subject: &str,
        span: &Span,
        entity: &Entity,
    ) {
        let concerned = |_: &str| vec![entity];
        let is_wrong = self.times(condition, subject, concerned);
        self.condition(condition, what, subject, span, entity, is_wrong);
        self.never_met(condition, subject, concerned);
        self.values_without_keys(condition, subject, concerned);
    }

    /// Parts that no value meets which the types admit.
    fn never_met<'e>(
        &mut self,
        condition: &Condition,
        subject: &str,
        concerned: impl Fn(&str) -> Vec<&'e Entity>,
    ) {
        for part in condition.conjuncts() {
            let is_absence = matches!(part, Condition::Not(inner) if matches!(inner.as_ref(), Condition::Test(test) if test.comparison == Comparison::Exists));
            let (Condition::Test(_) | Condition::Not(_)) = part else { continue };
            let Some(test) = part.tests().first().copied() else { continue };
            let entities = concerned(&test.attribute).into_iter();
            let concerned: Vec<(&Entity, &Attribute)> =
                entities.filter_map(|entity| Some((entity, entity.attribute(&test.attribute)?))).collect();
            let is_required =
                |(entity, attribute): &(&Entity, &Attribute)| entity.is_required(&attribute.name);
            let why = match part {
                _ if concerned.is_empty() => continue,
                _ if is_absence && concerned.iter().all(is_required) => {
                    format!("every item has {}", test.attribute)
                }
                Condition::Test(test)
                    if concerned.iter().all(|(_, own)| is_beyond(own, &test.comparison)) =>
                {
                    format!("{} has no such value", test.attribute)
                }
                _ => continue,
            };
            let finding = Finding::new("P120", Severity::Error, subject, &test.places.attribute_at);
            let help = "leave it out, or widen the type of the attribute";
            self.report(finding.with_message(format!("{part} can never hold: {why}")).with_help(help));
        }
    }

    /// Values that no key can hold, so that no item has them.
    fn values_without_keys<'e>(
        &mut self,
        condition: &Condition,
        subject: &str,
        concerned: impl Fn(&str) -> Vec<&'e Entity>,
    ) {
        for test in condition.tests() {
            let entities = concerned(&test.attribute);
            let values = match &test.comparison {
                Comparison::Is(Comparator::Equal, _) | Comparison::Among(_) => test.comparison.constants(),
                _ => continue,
            };
            let found = values.into_iter().find_map(|value| {
                let template =
                    entities.iter().find_map(|entity| template_without(entity, &test.attribute, value));
                template.map(|template| (value, template))
            });
            if let Some((value, template)) = found {
                let finding = Finding::new("P122", Severity::Error, subject, &test.places.values_at);
                let message =
                    format!("{} is never {value}: the key {template} cannot hold it", test.attribute);
                self.report(
                    finding
                        .with_message(message)
                        .with_help("write a value that fits the key, or widen its format"),
                );
            }
        }
    }

    /// Values that no attribute has, and parts that exclude each other, unless a value is known to be wrong.
    fn condition(
        &mut self,
        condition: &Condition,
        what: &str,
        subject: &str,
        span: &Span,
        types: &dyn FieldTypes,
        mut wrong: bool,
    ) {
        for test in condition.tests() {
            let Some((message, help)) =
                types.type_of(&test.attribute).and_then(|kind| impossible_value(test, kind))
            else {
                continue;
            };
            wrong = true;
            let finding = Finding::new("P122", Severity::Error, subject, &test.places.values_at);
            self.report(finding.with_message(message).with_help(help));
        }
        if !wrong && !condition.is_satisfiable(types) {
            let place = condition.tests().first().map_or(span, |test| &test.places.attribute_at).clone();
            let finding = Finding::new("P120", Severity::Error, subject, &place);
            self.report(
                finding
                    .with_message(format!("{what} can never hold: {condition}"))
                    .with_help("its parts exclude each other; did you mean `or` or `in`?"),
            );
        }
    }

    /// Times are compared as text, with values that are written as each attribute writes its own. Returns whether a value is not.
    fn times<'e>(
        &mut self,
        condition: &Condition,
        subject: &str,
        concerned: impl Fn(&str) -> Vec<&'e Entity>,
    ) -> bool {
        let mut is_wrong = false;
        for test in condition.tests() {
            let entities = concerned(&test.attribute);
            let attributes = entities.iter().filter_map(|entity| entity.attribute(&test.attribute));
            let mut times = attributes.filter(|attribute| attribute.kind.is_time());
            let about = |code| Finding::new(code, Severity::Error, subject, &test.places.values_at);
            let constants = compared(&test.comparison);
            let flaw = times.find_map(|attribute| {
                let mut compared = constants.iter();
                compared.find_map(|(constant, side)| wrong_time(attribute, constant.as_str(), *side, &about))
            });
            is_wrong |= flaw.is_some();
            flaw.into_iter().for_each(|finding| self.report(finding));
        }
        is_wrong
    }
}

/// Returns whether a comparison holds for no value that an attribute admits: a number beyond its limits, or a text that is no such identifier.
fn is_beyond(attribute: &Attribute, comparison: &Comparison) -> bool {
    let (least, greatest) = (attribute.limits.min.as_ref(), attribute.limits.max.as_ref());
    let number = |constant: &Constant| Decimal::parse(constant.as_str());
    let above =
        |constant: &Constant| number(constant).is_some_and(|own| greatest.is_some_and(|most| own > *most));
    let below =
        |constant: &Constant| number(constant).is_some_and(|own| least.is_some_and(|least| own < *least));
    let at =
        |constant: &Constant, limit: Option<&Decimal>| limit.is_some() && number(constant).as_ref() == limit;
    let is_foreign = |constant: &Constant| {
        let text = constant.as_str();
        match attribute.kind {
            ValueType::Ulid => !is_ulid(text),
            ValueType::Uuid => !is_uuid(text),
            ValueType::Ksuid => !is_ksuid(text),
            _ => false,
        }
    };
    let is_none = |constant: &Constant| above(constant) || below(constant) || is_foreign(constant);
    match comparison {
        Comparison::Is(Comparator::Equal, one) => is_none(one),
        Comparison::Is(Comparator::Greater, one) => above(one) || at(one, greatest),
        Comparison::Is(Comparator::GreaterOrEqual, one) => above(one),
        Comparison::Is(Comparator::Less, one) => below(one) || at(one, least),
        Comparison::Is(Comparator::LessOrEqual, one) => below(one),
        Comparison::Between(from, to) => above(from) || below(to),
        Comparison::Among(values) => values.iter().all(is_none),
        _ => false,
    }
}

/// How a value is compared with a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Same,
    /// It is a bound, which excludes what is before it or what is behind it; the upper bound of `<=` includes all that it stands for.
    Bound {
        end: End,
        includes: bool,
    },
}

/// The constants of a comparison, and how each is compared.
fn compared(comparison: &Comparison) -> Vec<(&Constant, Side)> {
    let bound = |end, includes| Side::Bound { end, includes };
    match comparison {
        Comparison::Is(Comparator::Less | Comparator::GreaterOrEqual, one) => {
            vec![(one, bound(End::Lower, false))]
        }
        Comparison::Is(Comparator::LessOrEqual, one) => vec![(one, bound(End::Upper, true))],
        Comparison::Is(Comparator::Greater, one) => vec![(one, bound(End::Upper, false))],
        Comparison::Between(from, to) => {
            vec![(from, bound(End::Lower, false)), (to, bound(End::Upper, true))]
        }
        other => other.constants().into_iter().map(|one| (one, Side::Same)).collect(),
    }
}

/// What is wrong with a text that times are compared with.
fn wrong_time(
    attribute: &Attribute,
    text: &str,
    side: Side,
    about: &dyn Fn(&'static str) -> Finding,
) -> Option<Finding> {
    let Attribute { name, kind, limits, .. } = attribute;
    let form = time_form(text).filter(|_| *kind == ValueType::Timestamp);
    if limits.zone == Zone::Utc && form.is_some_and(|form| form.zone == Zone::Offset) {
        return Some(with_offset(about("P123"), text));
    }
    let is_start = time_length(kind, Format::Plain).is_some_and(|length| is_start_of_time(text, length));
    let is_written_so = (form.is_some() || is_date(text)) && limits.bound(text, End::Lower) == text;
    match side {
        Side::Same if is_start => {
            let help = format!("write a whole value, or begins_with({name}, '{text}')");
            Some(about("P122").with_message(format!("{name} is never '{text}'")).with_help(help))
        }
        Side::Same if !is_written_so => Some(never(about("P122"), attribute, text)),
        Side::Bound { .. } if text.starts_with(char::is_alphabetic) => {
            Some(never(about("P122"), attribute, text))
        }
        Side::Bound { includes: true, .. } if is_start => {
            Some(lost(about("P107"), text, text, &format!("{text}~"), true))
        }
        Side::Bound { end, .. } => {
            imprecise(attribute, text, end).map(|flaw| flaw.described(about("P107"), text))
        }
        Side::Same => None,
    }
}

fn never(finding: Finding, attribute: &Attribute, text: &str) -> Finding {
    let Attribute { name, kind, limits, .. } = attribute;
    let example = match kind {
        ValueType::Date => "2026-04-05".to_owned(),
        _ => limits.bound("2026-04-05T10:30:00Z", End::Lower),
    };
    let message = format!("{name} is {}, never '{text}'", kind.described());
    finding.with_message(message).with_help(format!("write it as {name} is written: '{example}'"))
}

/// Returns the template of an entity that cannot write a value of an attribute.
fn template_without<'e>(entity: &'e Entity, attribute: &str, value: &Constant) -> Option<&'e Template> {
    entity.attribute(attribute)?;
    let misfits = |part: &Part| matches!(part, Part::Field { name, format } if name == attribute && format.apply(value.as_str()).is_none());
    let indexes = entity.indexes.iter().flat_map(|index_key| &index_key.key);
    entity.key.iter().chain(indexes).find(|template| template.parts.iter().any(misfits))
}

/// What is wrong with the values of a test, and what to write instead.
fn impossible_value(test: &Test, kind: &ValueType) -> Option<(String, String)> {
    let name = &test.attribute;
    let text = match &test.comparison {
        Comparison::BeginsWith(_) if !kind.is_text() => Some("begins_with"),
        Comparison::Contains(_) if kind.is_number() || *kind == ValueType::Bool => Some("contains"),
        _ => None,
    };
    if let Some(function) = text {
        let message = format!("{name} is {}, so {function} never holds", kind.described());
        return Some((message, "compare it with ==, <, <=, > or >=".to_owned()));
    }
    let ordered = !matches!(
        test.comparison,
        Comparison::Is(Comparator::Equal | Comparator::Differs, _) | Comparison::Among(_)
    );
    let constants = test.comparison.constants();
    let (message, help) = match kind {
        ValueType::Choice(choices) => {
            let odd = constants.iter().find(|value| !choices.has(value.as_str()))?;
            let help = match closest(odd.as_str(), choices.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean '{meant}'?"),
                None => format!("its values are {}", choices.named()),
            };
            (format!("{name} is never '{}'", odd.as_str()), help)
        }
        kind if kind.is_number() => {
            let odd = constants.iter().find(|value| Decimal::parse(value.as_str()).is_none())?;
            (
                format!("{name} is {}, and {odd} is none", kind.described()),
                "write a number without quotes".to_owned(),
            )
        }
        ValueType::Bool => {
            let odd = constants.iter().find(|value| !matches!(value, Constant::Bool(_)));
            let message = match odd {
                Some(odd) => format!("{name} is true or false, never {odd}"),
                None if ordered && !constants.is_empty() => {
                    format!("{name} is true or false, which have no order")
                }
                None => return None,
            };
            (message, format!("write {name} == true or {name} == false"))
        }
        kind if !kind.is_scalar() && !constants.is_empty() => (
            format!("{name} is {}, which equals no such value", kind.described()),
            format!("write exists({name})"),
        ),
        _ => return None,
    };
    Some((message, help))
}
