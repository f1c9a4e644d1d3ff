//! Tries declared requests on items that are made for the purpose: with the values that the request, its pattern and the types mention, and values
//! beside them. An item that the pattern means and the request does not return, or the other way round, is a proof against the request, and is
//! reported as an example. What is not found here is not proved: the rules of `requests` and `narrow` come first.

mod draw;
mod samples;

use super::narrow::about_type;
use crate::check::Checker;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::item::Attributes;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::condition::Condition;
use crate::model::each_once::each_once;
use crate::model::key_condition::{KeyClause, KeyOperator};
use crate::model::limits::End;
use crate::model::value_type::ValueType;
use crate::model::{Pattern, Request};
use crate::plan::bounds::LAST;
use crate::plan::trial::{Call, Known, Sortable, is_meant};
use crate::template::alignment::align;
use crate::template::{Part, SHARD, Template};
use std::cmp::Ordering;

/// How many items and calls a request is tried with.
const MAX_ITEMS: usize = 150;
const MAX_CALLS: usize = 24;
/// How many values are copied and how many tests are carried out for all requests of a model.
pub const MAX_EFFORT: usize = 10_000_000;
/// How many values of an attribute an example names.
const MAX_SHOWN: usize = 3;

/// An item that is tried.
struct Sample<'m> {
    mapping: KeyMapping<'m>,
    known: Known<'m>,
}

/// A declared request, and what it is tried with.
struct Trial<'a, 'm> {
    checker: &'a Checker<'m>,
    pattern: &'m Pattern,
    request: &'m Request,
    location: TableOrIndex<'m>,
}

/// What the trial of a request shows.
enum Outcome {
    Agrees,
    Differs(Difference),
    /// None of the items is one that the pattern means.
    Unmet,
    /// It would take more effort than is left.
    NotTried,
}

/// What a request returns otherwise than its pattern means.
struct Difference {
    is_lost: bool,
    entity: String,
    values: Vec<String>,
}

impl<'m> Checker<'m> {
    /// Tries the requests of all patterns that have no error, as far as the effort suffices.
    pub fn tried_requests(&mut self, mut effort: usize) {
        let model = self.model;
        let declared = model.patterns.iter().filter(|pattern| pattern.via.is_empty());
        let mut outcomes = Vec::new();
        for (pattern, request) in declared.filter_map(|own| Some((own, own.request.as_ref()?))) {
            let is_wrong = self.has_error(&pattern.subject());
            let index = request.index.as_deref().map(|name| model.index(name));
            if is_wrong || request.scan || request.clauses.is_empty() || matches!(index, Some(None)) {
                continue;
            }
            let location = TableOrIndex { index: index.flatten() };
            let trial = Trial { checker: self, pattern, request, location };
            outcomes.push((pattern, request, trial.outcome(&mut effort)));
        }
        for (pattern, request, outcome) in outcomes {
            match outcome {
                Outcome::Agrees => {}
                Outcome::Differs(difference) => self.report_difference(pattern, request, &difference),
                Outcome::Unmet => self.report_untried(
                    pattern,
                    request,
                    "no example item was found that the pattern means",
                    "test the request on items of your own",
                ),
                Outcome::NotTried => self.report_untried(
                    pattern,
                    request,
                    "the requests before it have taken the effort that a check of one model makes",
                    "check the pattern in a smaller model",
                ),
            }
        }
    }

    fn report_untried(&mut self, pattern: &Pattern, request: &Request, why: &str, help: &str) {
        let finding = Finding::new("P132", Severity::Note, pattern.subject(), &request.span);
        self.report(
            finding
                .with_message(format!("the request is not tried on example items: {why}"))
                .with_help(format!("{help}: it may return less than the pattern means")),
        );
    }

    fn report_difference(&mut self, pattern: &Pattern, request: &Request, difference: &Difference) {
        let Difference { is_lost, entity, values } = difference;
        let values = if values.is_empty() { String::new() } else { format!(" with {}", list(values)) };
        let (code, severity, message, help) = match is_lost {
            true => (
                "P132",
                Severity::Error,
                format!("the request never returns a {entity}{values}, which the pattern means"),
                lost_help(request),
            ),
            false => (
                "P133",
                Severity::Warning,
                format!("the request also returns a {entity}{values}, which the pattern does not mean"),
                "narrow the condition, add a filter, or say in the pattern what is meant: in, where, range"
                    .to_owned(),
            ),
        };
        let finding = Finding::new(code, severity, pattern.subject(), &request.span);
        self.report(finding.with_message(message).with_help(help));
    }
}

/// What returns the items that a request loses. Texts may sort behind `~`.
fn lost_help(request: &Request) -> String {
    let has_tilde =
        |value: &Template| matches!(value.parts.last(), Some(Part::Text(text)) if text.ends_with('~'));
    let ends_early = |clause: &&KeyClause| {
        clause.values.last().is_some_and(has_tilde) && clause.is_upper(clause.values.len() - 1)
    };
    let Some(clause) = request.clauses.iter().find(ends_early) else {
        return "compare with what the pattern knows, as the template writes it, and filter by nothing else"
            .to_owned();
    };
    let texts: Vec<String> = clause.values.iter().map(Template::to_string).collect();
    match texts.as_slice() {
        [from, to] if to.strip_suffix('~') == Some(from) => {
            format!("`~` sorts behind ASCII only: begins_with({}, '{from}') returns all", clause.key)
        }
        _ => format!(
            "`~` sorts behind ASCII only: a bound behind all texts ends with \\U{:08X}",
            u32::from(LAST)
        ),
    }
}

impl<'m> Trial<'_, 'm> {
    /// Tries the request, if that takes no more than the effort that is left.
    fn outcome(&self, effort: &mut usize) -> Outcome {
        let targets = self.checker.targets(self.pattern).into_iter();
        let mappings = targets.filter_map(|entity| self.location.mapping(entity));
        let copied = mappings.map(|mapping| self.relevant(&mapping).len() * MAX_ITEMS).sum();
        let Some(left) = effort.checked_sub(copied) else { return Outcome::NotTried };
        *effort = left;
        let samples = self.samples();
        let calls = self.calls(&samples);
        let tests = self.pattern.filter.tests().len() + self.request.filter.tests().len();
        let each = tests + self.pattern.inputs.len() + self.request.clauses.len();
        let compared = samples.len().saturating_mul(calls.len()).saturating_mul(each);
        let Some(left) = effort.checked_sub(compared) else { return Outcome::NotTried };
        *effort = left;
        self.compared(&samples, &calls)
    }

    /// Compares what the request returns with what the pattern means.
    fn compared(&self, samples: &[Sample<'m>], calls: &[Call]) -> Outcome {
        let (mut added, mut is_met) = (None, false);
        for call in calls {
            for sample in samples {
                // What cannot be filled in is reported elsewhere.
                let Some(is_returned) = self.returns(call, sample) else { return Outcome::Agrees };
                let is_meant = is_meant(self.pattern, call, &sample.known);
                is_met |= is_meant;
                match (is_meant, is_returned) {
                    (true, false) => return Outcome::Differs(self.described(sample, true)),
                    (false, true) if added.is_none() => added = Some(self.described(sample, false)),
                    _ => {}
                }
            }
        }
        match added {
            Some(difference) => Outcome::Differs(difference),
            None if is_met => Outcome::Agrees,
            None => Outcome::Unmet,
        }
    }

    fn described(&self, sample: &Sample<'m>, is_lost: bool) -> Difference {
        let Sample { known, .. } = sample;
        let range = self.pattern.range.iter().map(|range| range.by.as_str());
        let tested = self.request.filter.attributes().into_iter().chain(self.pattern.filter.attributes());
        let inputs = self.pattern.inputs.iter().map(String::as_str);
        let keys = sample.mapping.sort.iter().flat_map(Template::fields);
        let own = range.chain(tested).chain(inputs).chain(keys);
        let own = own.filter(|name| known.entity().attribute(name).is_some());
        let shown = each_once(own).take(MAX_SHOWN).map(|name| match known.texts().get(name) {
            Some(text) => format!("{name} '{text}'"),
            None => format!("no {name}"),
        });
        Difference { is_lost, entity: known.entity().name.clone(), values: shown.collect() }
    }

    /// The constants of the key condition in the places of fields.
    fn constants(&self, mapping: &KeyMapping<'m>) -> Vec<(String, String)> {
        let names = self.location.key_names(self.checker.model);
        let mut constants = Vec::new();
        for clause in &self.request.clauses {
            let Some(position) = names.iter().position(|name| *name == clause.key) else { continue };
            let Some(template) = mapping.key.get(position) else { continue };
            for value in &clause.values {
                let found = align(value, template, mapping.entity).constants.into_iter();
                constants.extend(found.map(|own| {
                    let text = own.format.restore(&own.text).into_owned();
                    (own.field, text)
                }));
            }
        }
        constants
    }

    /// Calls of the pattern: for each item one whose inputs and bounds are the values of that item.
    fn calls(&self, samples: &[Sample<'m>]) -> Vec<Call> {
        let mut calls: Vec<Call> = Vec::new();
        let common = samples.iter().map(|sample| sample.known.texts()).next().cloned().unwrap_or_default();
        for sample in samples {
            let texts = sample.known.texts();
            let inputs =
                self.pattern.inputs.iter().map(|input| {
                    Some((input.clone(), texts.get(input).or_else(|| common.get(input))?.clone()))
                });
            let Some(values) = inputs.collect::<Option<Attributes>>() else { continue };
            for range in self.ranges(sample, samples) {
                let call = Call { values: values.clone(), range };
                if calls.len() < MAX_CALLS && !calls.contains(&call) {
                    calls.push(call);
                }
            }
        }
        calls
    }

    /// The declared bounds, or the least and the greatest value, and a single one.
    fn ranges(&self, sample: &Sample<'m>, samples: &[Sample<'m>]) -> Vec<Option<(String, String)>> {
        let Some(range) = &self.pattern.range else { return vec![None] };
        let Some(attribute) = sample.known.entity().attribute(&range.by) else { return vec![None] };
        let mut values: Vec<&String> =
            samples.iter().filter_map(|one| one.known.texts().get(&range.by)).collect();
        values.sort_by_cached_key(|text| Sortable::of_type(&attribute.kind, text));
        let from = range.from.as_ref().or(values.first().copied());
        let to = range.to.as_ref().or(values.last().copied());
        let own = sample.known.texts().get(&range.by).filter(|_| !range.is_declared());
        // A request with one bound leaves the other end open.
        let compares = |operators: [KeyOperator; 2]| {
            self.request.clauses.iter().any(|clause| operators.contains(&clause.operator))
        };
        let opens_below = compares([KeyOperator::Below, KeyOperator::UpTo]);
        let opens_above = compares([KeyOperator::Above, KeyOperator::From]);
        let single = own.zip(from.zip(to)).map(|(own, (from, to))| {
            (if opens_below { from } else { own }, if opens_above { to } else { own })
        });
        let bounds = from.zip(to).into_iter().chain(single);
        bounds.map(|(from, to)| Some((from.clone(), to.clone()))).collect()
    }

    /// Whether the request returns an item; `None` if it cannot be filled in.
    fn returns(&self, call: &Call, sample: &Sample<'m>) -> Option<bool> {
        let model = self.checker.model;
        let names = self.location.key_names(model);
        for clause in &self.request.clauses {
            if clause.fields.iter().any(|(field, _)| self.is_unasked(call, sample, field)) {
                return Some(false);
            }
            let position = names.iter().position(|name| *name == clause.key)?;
            let own = sample.mapping.key.get(position)?.fill(sample.known.texts()).ok()?;
            let filled = |(number, value): (usize, &Template)| {
                value.fill_with(|field| self.value(call, sample, clause, number, value, field)).ok()
            };
            let values: Vec<String> = clause.values.iter().enumerate().map(filled).collect::<Option<_>>()?;
            let is_number = self.location.key_is_number(model, position);
            if !meets(clause.operator, is_number, &own, &values) {
                return Some(false);
            }
        }
        Some(self.request.filter.conjuncts().into_iter().all(|part| self.keeps(call, sample, part)))
    }

    /// Whether the pattern lists values of a field that the caller does not give, and the item has another: no request is sent for it.
    fn is_unasked(&self, call: &Call, sample: &Sample<'m>, field: &str) -> bool {
        let Some(own) = sample.known.texts().get(field).filter(|_| !call.values.contains_key(field)) else {
            return false;
        };
        let condition = self.pattern.filter.and(&sample.mapping.when);
        let values = condition.values(field, sample.known.entity());
        values.is_some_and(|values| values.iter().all(|value| value.as_str() != own))
    }

    /// The value that a caller sends for a field: a request is sent for each shard, time bucket and listed value.
    fn value<'a>(
        &'a self,
        call: &'a Call,
        sample: &'a Sample<'m>,
        clause: &KeyClause,
        number: usize,
        template: &Template,
        field: &str,
    ) -> Option<&'a str> {
        let own = sample.known.texts().get(field).map(String::as_str);
        let is_range = self.pattern.range.as_ref().is_some_and(|range| range.by == field);
        if let Some(value) = call.values.get(field) {
            return Some(value);
        }
        let is_sent_for_each = field == SHARD || template.truncates(field) || !is_range;
        if is_sent_for_each {
            return own;
        }
        let (from, to) = call.range.as_ref()?;
        Some(if clause.is_upper(number) { to } else { from })
    }

    /// Whether a part of the filter keeps an item.
    fn keeps(&self, call: &Call, sample: &Sample<'m>, part: &Condition) -> bool {
        let entity = sample.mapping.entity;
        let part = about_type(self.checker.model, part, entity);
        if part.has_placeholders() {
            return sample.known.meets(&part.filled(&|name, end| self.known(call, name, end)).typed(entity));
        }
        sample.known.meets(&part)
    }

    /// What the caller knows of an attribute.
    fn known(&self, call: &Call, name: &str, end: End) -> Option<String> {
        let range = self.pattern.range.as_ref().filter(|range| range.by == name);
        let bound = range.and(call.range.as_ref()).map(|(from, to)| match end {
            End::Lower => from,
            End::Upper => to,
        });
        let given = call.values.get(name).or(bound).map(String::as_str);
        given.or_else(|| self.pattern.filter.fixed(name)).map(str::to_owned)
    }
}

/// Whether a key meets a comparison.
fn meets(operator: KeyOperator, is_number: bool, own: &str, values: &[String]) -> bool {
    let kind = if is_number { ValueType::Decimal } else { ValueType::String };
    let order = |value: &String| Sortable::of_type(&kind, own).cmp(&Sortable::of_type(&kind, value));
    let (first, last) = (&values[0], &values[values.len() - 1]);
    match operator {
        KeyOperator::Equals => order(first) == Ordering::Equal,
        KeyOperator::BeginsWith => own.starts_with(first.as_str()),
        KeyOperator::Between => order(first) != Ordering::Less && order(last) != Ordering::Greater,
        KeyOperator::Above => order(first) == Ordering::Greater,
        KeyOperator::From => order(first) != Ordering::Less,
        KeyOperator::Below => order(first) == Ordering::Less,
        KeyOperator::UpTo => order(first) != Ordering::Greater,
    }
}
