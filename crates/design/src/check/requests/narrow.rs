//! Finds declared requests that return less than their pattern means: a constant in the place of a shard, a time bucket or any other value of the key, a filter
//! that drops wanted items, an index that does not hold all of them.

use crate::check::Checker;
use crate::check::bounds::is_outside;
use crate::finding::{Finding, Severity};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::condition::{self, Comparator, Comparison, Condition, Places, Test};
use crate::model::key_condition::{KeyClause, KeyOperator};
use crate::model::limits::End;
use crate::model::{Bounds, Entity, Model, Pattern, Request, Target};
use crate::plan;
use crate::source::Span;
use crate::template::alignment::{Alignment, Constant, align};
use crate::template::{Format, Part, SHARD, Template};
use std::cmp::Ordering;

impl<'m> Checker<'m> {
    /// Checks the key condition of a request against the keys of the targets.
    pub fn narrow_keys(
        &mut self,
        pattern: &'m Pattern,
        location: TableOrIndex<'m>,
        (partition, span): (&Template, &Span),
        sort: Option<&KeyClause>,
    ) {
        for target in &pattern.targets {
            let Some(mapping) = self.keys.mapping(location, &target.entity).cloned() else { continue };
            if !pattern.condition().implies(&mapping.when, mapping.entity) {
                self.lost_by_index(pattern, &mapping);
                return;
            }
            let Alignment { constants, departs } = align(partition, &mapping.partition, mapping.entity);
            let excludes = |constant: &Constant| !is_meant(pattern, &mapping, constant, Place::Value);
            let other = departs.map(|_| Narrow::Bound(partition.to_string()));
            let narrow = constants.into_iter().find(excludes).map(Narrow::Value).or(other);
            match narrow
                .map(|narrow| (narrow, span.clone()))
                .or_else(|| narrow_sort(pattern, target, &mapping, sort?))
            {
                Some((Narrow::Value(constant), span)) => {
                    self.report_narrow(pattern, &mapping, &constant, &span);
                }
                Some((Narrow::End(constant, place), span)) => {
                    self.report_end(pattern, &mapping, &constant, place, &span);
                }
                Some((Narrow::Bound(text), span)) => self.report_bound(pattern, &mapping, &text, &span),
                None => continue,
            }
            return;
        }
    }

    fn lost_by_index(&mut self, pattern: &Pattern, mapping: &KeyMapping<'m>) {
        let (location, name, when) = (mapping.location.name(), &mapping.entity.name, &mapping.when);
        let Some(request) = &pattern.request else { return };
        let finding = Finding::new("P121", Severity::Error, pattern.subject(), &request.span);
        self.report(
            finding
                .with_message(format!(
                    "{location} holds {name} only when {when}, which the pattern does not require"
                ))
                .with_help(format!(
                    "add where = \"{when}\" to the pattern if that is intended, or query another key"
                )),
        );
    }

    fn report_narrow(
        &mut self,
        pattern: &Pattern,
        mapping: &KeyMapping<'m>,
        constant: &Constant,
        span: &Span,
    ) {
        let Constant { field, text, .. } = constant;
        let name = &mapping.entity.name;
        let (message, help) = if field == SHARD {
            let shards = mapping.shards();
            (
                format!("the request reads shard {text} of {shards}: {name} in the others is never returned"),
                "write {shard}: the request is sent for each shard".to_owned(),
            )
        } else if matches!(constant.format, Format::Bucket(_)) {
            (
                format!(
                    "the request reads the time bucket {text} of {field} only: {name} in the others is never returned"
                ),
                format!(
                    "write {}: the request is sent for each time bucket of the range",
                    Template { parts: vec![Part::Field { name: field.clone(), format: constant.format }] }
                ),
            )
        } else {
            (
                format!(
                    "the request returns {name} only with {field} of '{text}', which the pattern does not require"
                ),
                format!("end the condition before {{{field}}}, or say so in the pattern: where, range or in"),
            )
        };
        let finding = Finding::new("P132", Severity::Error, pattern.subject(), span);
        self.report(finding.with_message(message).with_help(help));
    }

    fn report_end(
        &mut self,
        pattern: &Pattern,
        mapping: &KeyMapping<'m>,
        constant: &Constant,
        place: Place,
        span: &Span,
    ) {
        let Constant { field, text, .. } = constant;
        if field == SHARD {
            return self.report_narrow(pattern, mapping, constant, span);
        }
        let name = &mapping.entity.name;
        let (bound, side, end) = match place {
            Place::Upper => ("upper", "behind", "to"),
            Place::Lower | Place::Value => ("lower", "before", "from"),
        };
        let is_callers =
            pattern.range.as_ref().is_some_and(|range| range.by == *field && !range.is_declared());
        let other = match is_callers {
            true => format!("compare with the {bound} bound that the caller gives, {{{field}}}"),
            false => "move the bound".to_owned(),
        };
        let finding = Finding::new("P132", Severity::Error, pattern.subject(), span);
        self.report(
            finding
                .with_message(format!(
                    "the {bound} bound loses {name} whose {field} is {side} '{text}', which the pattern does not exclude"
                ))
                .with_help(format!(
                    "bound what the pattern asks for: range = {{ by = \"{field}\", {end} = … }}, or {other}"
                )),
        );
    }

    fn report_bound(&mut self, pattern: &Pattern, mapping: &KeyMapping<'m>, text: &str, span: &Span) {
        let key: Vec<String> = mapping.key.iter().map(ToString::to_string).collect();
        let key = key.join(" / ");
        let finding = Finding::new("P132", Severity::Error, pattern.subject(), span);
        self.report(
            finding
                .with_message(format!("'{text}' excludes keys of {}, which are {key}", mapping.entity.name))
                .with_help("compare with the key as the template writes it"),
        );
    }

    /// A filter must not drop what the pattern means.
    pub fn narrow_filter(&mut self, pattern: &Pattern, request: &Request) {
        let condition = pattern.condition();
        let ranged = |name: &str| pattern.range.as_ref().is_some_and(|range| range.by == name);
        let callers: Vec<Condition> =
            pattern.inputs.iter().map(|input| Condition::equals_input(input)).collect();
        for part in request.filter.conjuncts() {
            let drops = |target: &&Target| {
                let Some(entity) = self.model.entity(&target.entity) else { return false };
                let part = &about_type(self.model, part, entity);
                let names = part.attributes();
                let has = |name: &&str| entity.attribute(name).is_some();
                // What the pattern says about attributes of others does not concern an entity; the filter drops it all the same.
                if !names.iter().any(has) {
                    return !concerning(&condition, entity).implies(part, entity);
                }
                let is_given = names.iter().any(|name| ranged(name)) || callers.contains(part);
                names.iter().all(has) && !is_given && !condition.implies(part, entity)
            };
            let Some(target) = pattern.targets.iter().find(drops) else { continue };
            let span = part.tests().first().map_or(&request.span, |test| &test.places.attribute_at);
            let types = self.model.table.type_attribute.as_deref();
            let is_about_type = types.is_some_and(|name| part.mentions(name));
            let input = pattern.inputs.iter().find(|input| part.mentions(input));
            let finding = Finding::new("P132", Severity::Error, pattern.subject(), span);
            self.report(
                finding
                    .with_message(format!(
                        "the filter {part} drops {}, which the pattern does not exclude",
                        target.entity
                    ))
                    .with_help(match input {
                        _ if is_about_type => format!(
                            "leave {} out of the pattern's `out`, or the test out of the filter",
                            target.entity
                        ),
                        Some(input) => {
                            format!("compare with what the caller knows: {}", Condition::equals_input(input))
                        }
                        None => format!(
                            "add where = \"{part}\" to the pattern if that is intended, or leave it out"
                        ),
                    }),
            );
            return;
        }
    }
}

/// What excludes wanted items.
enum Narrow {
    /// A constant in the place of a field.
    Value(Constant),
    /// A constant as the bound of a field.
    End(Constant, Place),
    /// A text that is not the start of the key.
    Bound(String),
}

/// The first part of a condition on the sort key that excludes wanted items.
fn narrow_sort(
    pattern: &Pattern,
    target: &Target,
    mapping: &KeyMapping<'_>,
    clause: &KeyClause,
) -> Option<(Narrow, Span)> {
    let key = mapping.sort.as_ref()?;
    let is_range = !matches!(clause.operator, KeyOperator::Equals | KeyOperator::BeginsWith);
    clause.values.iter().enumerate().find_map(|(number, value)| {
        let is_upper = clause.is_upper(number);
        let Alignment { constants, departs } = align(value, key, mapping.entity);
        let place = match (is_range, is_upper) {
            (false, _) => Place::Value,
            (true, false) => Place::Lower,
            (true, true) => Place::Upper,
        };
        let excludes = |constant: &Constant| {
            // The single item that is wanted may be the one with this value, unless the caller has another.
            if !target.many && !pattern.inputs.contains(&constant.field) {
                return false;
            }
            let Constant { field, format, text, .. } = constant;
            let end = if is_upper { End::Upper } else { End::Lower };
            let is_outside = || is_outside(text, mapping.entity, field, *format, end);
            let is_open = is_range && (constant.is_open(is_upper) || is_outside());
            !(is_open || is_meant(pattern, mapping, constant, place))
        };
        let beyond = if is_upper { Ordering::Greater } else { Ordering::Less };
        let is_beyond = |order: Option<Ordering>| is_range && order == Some(beyond);
        let departs = departs.filter(|order| target.many && !is_beyond(*order));
        let bound = departs.map(|_| Narrow::Bound(value.to_string()));
        let narrowed = |constant| match place {
            Place::Value => Narrow::Value(constant),
            place => Narrow::End(constant, place),
        };
        let is_reached = |number: usize| !is_range || may_be_meant(pattern, mapping, &constants[..number]);
        let excluding =
            (0..constants.len()).find(|number| is_reached(*number) && excludes(&constants[*number]));
        let narrow = excluding.map(|number| narrowed(constants[number].clone())).or(bound);
        narrow.map(|narrow| (narrow, clause.span.clone()))
    })
}

/// Returns whether the pattern may mean items with these values: only among them does what follows the values in a bound decide.
fn may_be_meant(pattern: &Pattern, mapping: &KeyMapping<'_>, values: &[Constant]) -> bool {
    let condition = pattern.condition().and(&mapping.when);
    let known = values.iter().filter(|value| value.is_whole && value.format.is_readable());
    let equal = known.map(|Constant { field, format, text, .. }| {
        Condition::equals(field, condition::Constant::Text(format.restore(text).into_owned()))
    });
    let bounds = pattern.range.iter().flat_map(|range| bounding(range, mapping.entity));
    let all = equal.chain(bounds).fold(condition, |all, part| all.and(&part.typed(mapping.entity)));
    all.is_satisfiable(mapping.entity)
}

/// What the bounds of a range say about each value. The upper bound of a time includes all times that start so.
fn bounding(range: &Bounds, entity: &Entity) -> impl Iterator<Item = Condition> {
    let is_number = entity.attribute(&range.by).is_some_and(|attribute| attribute.kind.is_number());
    let upper = range.to.as_ref().filter(|_| is_number);
    let bounds = [(Comparator::GreaterOrEqual, range.from.as_ref()), (Comparator::LessOrEqual, upper)];
    bounds.into_iter().filter_map(|(comparator, bound)| {
        let comparison = Comparison::Is(comparator, condition::Constant::Text(bound?.clone()));
        let (attribute, places) = (range.by.clone(), Places::default());
        Some(Condition::Test(Test { attribute, comparison, places }))
    })
}

/// How a constant is compared with the key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Value,
    Lower,
    Upper,
}

/// Returns whether the pattern asks for nothing else: every value that it leaves is this one, or within this bound.
fn is_meant(pattern: &Pattern, mapping: &KeyMapping<'_>, constant: &Constant, place: Place) -> bool {
    let Constant { field, format, text, is_whole } = constant;
    if field == SHARD {
        return mapping.shards() <= 1;
    }
    if let Some(range) = pattern.range.as_ref().filter(|range| range.by == *field) {
        return is_within(range, constant, place);
    }
    let condition = pattern.filter.and(&mapping.when);
    if !condition.mentions(field) {
        return false;
    }
    let fits = |value: &str| {
        let own = format.apply(value).unwrap_or_else(|| value.to_owned());
        match place {
            Place::Value if *is_whole => own == *text,
            Place::Value => own.starts_with(text.as_str()),
            Place::Lower => own >= *text,
            Place::Upper => own <= *text,
        }
    };
    if let Some(values) = condition.values(field, mapping.entity) {
        return values.iter().all(|value| fits(value.as_str()));
    }
    // What the condition says without listing values may be the same bound.
    if place != Place::Value || *format != Format::Plain {
        return true;
    }
    let comparison = match is_whole {
        true => Comparison::Is(Comparator::Equal, condition::Constant::Text(text.clone())),
        false => Comparison::BeginsWith(text.clone()),
    };
    let test = Test { attribute: field.clone(), comparison, places: Places::default() };
    condition.implies(&Condition::Test(test).typed(mapping.entity), mapping.entity)
}

/// Returns whether a constant leaves all of a range: no constant stands for a bound that the caller gives when it asks.
fn is_within(range: &Bounds, constant: &Constant, place: Place) -> bool {
    let Constant { format, text, .. } = constant;
    let written = |bound: &String| format.apply(bound).unwrap_or_else(|| bound.clone());
    let (from, to) = (range.from.as_ref(), range.to.as_ref());
    match (place, from, to) {
        (Place::Value, Some(from), Some(to)) => match format {
            Format::Bucket(length) => plan::buckets_between(from, to, *length) == Some(1),
            _ => written(from).starts_with(text.as_str()) && written(to).starts_with(text.as_str()),
        },
        (Place::Value, ..) => false,
        (Place::Lower, from, _) => from.is_some_and(|from| written(from) >= *text),
        (Place::Upper, _, to) => to.is_some_and(|to| written(to) <= *text),
    }
}

/// What a filter says about the items of an entity, whose type is known.
pub(in crate::check) fn about_type(model: &Model, filter: &Condition, entity: &Entity) -> Condition {
    match &model.table.type_attribute {
        Some(attribute) => filter.given(attribute, &entity.type_value),
        None => filter.clone(),
    }
}

/// The parts of a condition that test an attribute of an entity.
fn concerning(condition: &Condition, entity: &Entity) -> Condition {
    let is_own = |part: &&Condition| part.attributes().iter().any(|name| entity.attribute(name).is_some());
    Condition::All(condition.conjuncts().into_iter().filter(is_own).cloned().collect())
}

impl Constant {
    /// Returns whether it is a bound before or behind all values: `0`, `~`.
    fn is_open(&self, is_upper: bool) -> bool {
        let is_last = |character: char| character >= '~' || matches!(character, '9' | 'z' | 'Z' | ':');
        let is_first = |character: char| character <= '0';
        if is_upper { self.text.chars().all(is_last) } else { self.text.chars().all(is_first) }
    }
}
