//! Checks a request that existing code sends: whether it returns what its pattern needs, and nothing else.

pub(super) mod narrow;
pub(super) mod tried;
mod values_beside;

use super::Checker;
use super::bounds::sample;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::keys::keyspace::{KeyRange, MAX_NAMED, named};
use crate::model::condition::{Comparison, Test};
use crate::model::decimal::Decimal;
use crate::model::key_condition::{KeyClause, KeyOperator};
use crate::model::value_type::ValueType;
use crate::model::{Entity, Pattern, Request};
use crate::plan::Step;
use crate::plan::declared::{equal_to, read_by, region, sort_clause};
use crate::plan::requirement::Requirement;
use crate::source::Span;
use crate::template::{ATTRIBUTE_SEPARATOR, FieldTypes, Part, SHARD, Template};
use narrow::about_type;

impl<'m> Checker<'m> {
    pub fn request(&mut self, pattern: &'m Pattern) {
        let Some(request) = &pattern.request else { return };
        let about = |code, severity| Finding::new(code, severity, pattern.subject(), &request.span);
        let searches = |comparison: &Comparison| matches!(comparison, Comparison::Contains(_));
        for test in request.filter.tests().into_iter().filter(|test| searches(&test.comparison)) {
            self.report(
                about("P113", Severity::Warning)
                    .with_message(format!(
                        "{test} is a filter: all items are read and billed before it drops any"
                    ))
                    .with_help("put the searched attribute into the sort key, or use a search engine"),
            );
        }
        if request.scan {
            self.report(
                about("P114", Severity::Error)
                    .with_message("the request is a Scan: it reads and bills every item of the table")
                    .with_help("give the pattern a key and use Query"),
            );
            return;
        }
        if request.clauses.is_empty() {
            let finding = about("P102", Severity::Error);
            let message =
                "a Query without a key condition is rejected; a filter only drops items that were read";
            self.report(finding.with_message(message).with_help(
                "for example condition = \"PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#')\", or scan = true",
            ));
            return;
        }
        self.clauses(pattern, request, &request.clauses);
    }

    fn clauses(&mut self, pattern: &'m Pattern, request: &Request, clauses: &[KeyClause]) {
        let about = |code, severity| Finding::new(code, severity, pattern.subject(), &request.span);
        let location =
            TableOrIndex { index: request.index.as_deref().and_then(|name| self.model.index(name)) };
        self.values_at_hand(pattern, location, request);
        if let Some((message, help, span)) = self.refused_value(location, clauses) {
            let finding = Finding::new("P110", Severity::Error, pattern.subject(), span);
            self.report(finding.with_message(message).with_help(help));
            return;
        }
        let names = location.key_names(self.model);
        let (partition_names, sort_names) = location.halves(self.model);
        for clause in clauses.iter().filter(|clause| !names.contains(&clause.key)) {
            self.report(
                about("P101", Severity::Error)
                    .with_message(format!("{} is not a key of {}", clause.key, location.name()))
                    .with_help(format!("its keys are {}; anything else can only be filtered", list(names))),
            );
        }
        let Some(partition) = equal_to(clauses, partition_names) else {
            self.report(
                about("P102", Severity::Error)
                    .with_message(format!(
                        "a Query needs equality on {}; begins_with and ranges work on the sort key only",
                        list(partition_names)
                    ))
                    .with_help("put the known attributes into the partition key, the rest into the sort key"),
            );
            return;
        };
        if let Some(refusal) = refusal(clauses, sort_names, request, names) {
            let finding = about("P131", Severity::Error).with_message(refusal);
            let help = "fix the keys from the left, compare only the last one otherwise, and filter by other attributes";
            self.report(finding.with_help(help));
            return;
        }
        self.unprojected_filter(pattern, request, location);
        let sort = sort_clause(clauses, sort_names);
        if let Some(clause) = &sort {
            let targets = self.targets(pattern);
            match clause.operator {
                KeyOperator::BeginsWith => self.prefix(pattern, location, &targets, clause),
                _ => self.request_bounds(pattern, location, &targets, clause),
            }
        }
        let is_covered = self.coverage(pattern, request, location, &partition, sort.as_ref());
        // A bound or a prefix that ends inside a value is reported as such.
        let is_cut = ["P106", "P107"].iter().any(|code| self.has(code, &pattern.subject()));
        if is_covered && !is_cut {
            let own = clauses.iter().find(|clause| partition_names.contains(&clause.key));
            let span = own.map_or(&request.span, |clause| &clause.span);
            self.narrow_keys(pattern, location, (&partition, span), sort.as_ref());
            self.narrow_filter(pattern, request);
        }
    }

    /// A filter tests attributes that the index has.
    fn unprojected_filter(&mut self, pattern: &Pattern, request: &Request, location: TableOrIndex<'m>) {
        let mappings: Vec<KeyMapping<'m>> =
            self.targets(pattern).into_iter().filter_map(|entity| location.mapping(entity)).collect();
        let tests = request.filter.tests();
        let is_lacking = |test: &&&Test| {
            mappings.iter().any(|mapping| !mapping.has_attribute(self.model, &test.attribute))
        };
        let Some(test) = tests.iter().find(is_lacking) else { return };
        let (name, index) = (&test.attribute, location.name());
        let finding = Finding::new("P112", Severity::Error, pattern.subject(), &test.places.attribute_at);
        let message = format!("the filter tests {name}, which {index} does not hold: DynamoDB refuses it");
        let help = format!("add {name} to the project of {index}, or test it after the read");
        self.report(finding.with_message(message).with_help(help));
    }

    /// A comparison with a key that DynamoDB refuses whatever is stored: why, and what to write.
    fn refused_value<'a>(
        &self,
        location: TableOrIndex<'m>,
        clauses: &'a [KeyClause],
    ) -> Option<(String, String, &'a Span)> {
        let names = location.key_names(self.model);
        clauses.iter().find_map(|clause| {
            let KeyClause { key, operator, values, span, .. } = clause;
            let position = names.iter().position(|name| name == key)?;
            let is_number = location.key_is_number(self.model, position);
            let (message, help) = if values.iter().any(|value| value.parts.is_empty()) {
                let help = match location.halves(self.model).0.contains(key) {
                    true => format!("compare {key} with the value that the template writes"),
                    false => format!("leave {key} out of the condition to read the whole collection, or bound one end only"),
                };
                (format!("{key} is compared with an empty text, which is rejected: a key value must not be empty"), help)
            } else if *operator == KeyOperator::BeginsWith && is_number {
                let help = format!("compare {key} as a number: BETWEEN 10 AND 19");
                (format!("{key} holds numbers, for which begins_with is rejected"), help)
            } else if let [from, to] = values.as_slice() && is_reversed(from, to, is_number) {
                let help = format!("write the smaller bound first: BETWEEN '{to}' AND '{from}'");
                (format!("the lower bound '{from}' is above the upper bound '{to}', which is rejected"), help)
            } else {
                return None;
            };
            Some((message, help, span))
        })
    }

    /// A request compares with values that the caller has: inputs, values that a condition fixes, the bounds of the range.
    fn values_at_hand(&mut self, pattern: &'m Pattern, location: TableOrIndex<'m>, request: &Request) {
        let Request { clauses, filter, .. } = request;
        let targets = self.targets(pattern);
        let listed = |name: &str| {
            targets.iter().any(|entity| {
                let when = location.mapping(entity).map(|mapping| mapping.when).unwrap_or_default();
                pattern.filter.and(&when).values(name, *entity).is_some()
            })
        };
        let read_before = |name: &str| {
            let mut entities = pattern.via.iter().filter_map(|via| self.model.entity(&via.entity));
            entities.any(|entity| entity.attribute(name).is_some())
        };
        let ranged = |name: &str| pattern.range.as_ref().is_some_and(|range| range.by == name);
        // Time buckets are read one after the other, from that of now, until the limit is reached.
        let in_turn = |clause: &KeyClause, name: &str| {
            let ordered = pattern.order.as_ref().is_some_and(|order| order.by == name && order.descending);
            ordered && pattern.limit.is_some() && clause.values.iter().any(|value| value.truncates(name))
        };
        let mut unknown = Vec::new();
        for clause in clauses {
            let is_known = |name: &str| {
                pattern.is_fixed(name)
                    || name == SHARD
                    || ranged(name)
                    || in_turn(clause, name)
                    || listed(name)
                    || read_before(name)
            };
            let fields = clause.fields.iter().map(|(name, place)| (name.as_str(), place));
            unknown.extend(fields.filter(|(name, _)| !is_known(name)));
        }
        let is_given = |name: &str| pattern.is_fixed(name) || ranged(name);
        for test in filter.tests() {
            let asked = test.placeholders().filter(|name| !is_given(name));
            unknown.extend(asked.map(|name| (name, &test.places.values_at)));
        }
        for (name, place) in unknown {
            self.report(
                Finding::new("P124", Severity::Error, pattern.subject(), place)
                    .with_message(format!("the request needs {name}, which the caller does not have"))
                    .with_help(format!(
                        "add \"{name}\" to in, fix it with where, bound it with range, or end the condition before {{{name}}}"
                    )),
            );
        }
    }

    /// A prefix must not end inside a value that can be longer.
    fn prefix(
        &mut self,
        pattern: &'m Pattern,
        location: TableOrIndex<'m>,
        targets: &[&'m Entity],
        clause: &KeyClause,
    ) {
        let prefix = &clause.values[0];
        for mapping in targets.iter().filter_map(|entity| location.mapping(entity)) {
            let Some((key, text)) = mapping.sort.as_ref().zip(sample(prefix, mapping.entity)) else {
                continue;
            };
            let Some((number, begun)) = key.truncated_field(&text, mapping.entity) else { continue };
            let ends_in_field = matches!(prefix.parts.last(), Some(Part::Field { .. }));
            let begun = (!ends_in_field).then_some(begun);
            let Some(Part::Field { name: field, .. }) =
                key.parts.get(number).filter(|part| goes_on(part, begun, mapping.entity))
            else {
                continue;
            };
            let finding = Finding::new("P106", Severity::Error, pattern.subject(), &clause.span);
            self.report(
                finding
                    .with_message(format!(
                        "begins_with '{prefix}' ends inside {field}: it also matches longer values of {field}"
                    ))
                    .with_help(match delimiter_behind(key, number) {
                        Some(delimiter) => format!("end the prefix at a delimiter: '{prefix}{delimiter}'"),
                        None => format!("compare with the whole key: {} = '{prefix}'", clause.key),
                    }),
            );
            return;
        }
    }

    pub(super) fn targets(&self, pattern: &Pattern) -> Vec<&'m Entity> {
        pattern.targets.iter().filter_map(|target| self.model.entity(&target.entity)).collect()
    }

    /// Every target must be within the request, and no other entity should be. Returns whether every target is.
    fn coverage(
        &mut self,
        pattern: &'m Pattern,
        request: &Request,
        location: TableOrIndex<'m>,
        partition: &Template,
        clause: Option<&KeyClause>,
    ) -> bool {
        let about = |code, severity| Finding::new(code, severity, pattern.subject(), &request.span);
        let targets = self.targets(pattern);
        let Some(types) = targets.first().copied() else { return false };
        let (sort, read) = (&region(clause), &read_by(clause));
        let key_range = KeyRange { partition, sort, types, strict: false };
        let found = |entity: &Entity| {
            self.keys.mapping(location, &entity.name).is_some_and(|mapping| key_range.holds(mapping))
        };
        let missing: Vec<&str> =
            targets.iter().filter(|entity| !found(entity)).map(|entity| entity.name.as_str()).collect();
        if !missing.is_empty() {
            self.report(
                about("P108", Severity::Error)
                    .with_message(format!(
                        "the request never returns {}: its keys in {} do not match the condition",
                        list(&missing),
                        location.name()
                    ))
                    .with_help("widen the condition, or give the entity a key that matches it"),
            );
        }
        let wanted = |entity: &Entity| targets.iter().any(|target| target.name == entity.name);
        let read = KeyRange { sort: read, ..key_range };
        let extras = self.keys.within(location, read, MAX_NAMED, |mapping| !wanted(mapping.entity));
        let filter = request.filter.constant_parts();
        let is_dropped = |entity: &Entity| !about_type(self.model, &filter, entity).is_satisfiable(entity);
        let all_dropped = extras.iter().all(|mapping| is_dropped(mapping.entity));
        let extras: Vec<&str> = extras.into_iter().map(|mapping| mapping.entity.name.as_str()).collect();
        if !extras.is_empty() {
            let extras = named(extras.into_iter());
            let message = if all_dropped {
                format!("the request also reads {extras}, which is billed before the filter drops it")
            } else {
                format!("the request also returns {extras}, which the pattern does not need")
            };
            self.report(about("P109", Severity::Warning).with_message(message).with_help(
                "narrow the condition with a prefix, or give the wanted entities their own partition",
            ));
        }
        missing.is_empty()
    }
}

/// Returns whether a declared request can see to a requirement by its key condition, and has no filter for it.
pub fn bounds_key(pattern: &Pattern, step: &Step<'_>, requirement: &Requirement) -> bool {
    let is_key = |name: &str| {
        step.targets.iter().all(|entity| {
            step.location.mapping(entity).is_some_and(|own| own.fields().any(|field| field == name))
        })
    };
    let attributes = requirement.attributes();
    let bounds =
        |request: &Request| attributes.iter().all(|name| is_key(name) && !request.filter.mentions(name));
    pattern.request.as_ref().is_some_and(bounds)
}

/// Returns whether several values of a field begin with a text; without one, whether some value begins with another.
fn goes_on(part: &Part, begun: Option<&str>, entity: &Entity) -> bool {
    let Part::Field { name, format } = part else { return false };
    if let (Some(begun), Some(ValueType::Choice(choices))) = (begun, entity.type_of(name)) {
        let begins =
            |choice: &&String| format.apply(choice).is_some_and(|written| written.starts_with(begun));
        return choices.iter().filter(begins).count() > 1;
    }
    Template { parts: vec![part.clone()] }.ends_in_variable_field(entity)
}

/// What a key has behind a field, by its number, as far as it is punctuation; `None` where the key attribute ends.
fn delimiter_behind(key: &Template, number: usize) -> Option<&str> {
    let Part::Text(literal) = key.parts.get(number + 1)? else { return None };
    let end = literal.find(char::is_alphanumeric).filter(|end| *end > 0).unwrap_or(literal.len());
    Some(&literal[..end]).filter(|_| !literal.starts_with(ATTRIBUTE_SEPARATOR))
}

/// Returns whether the lower bound of a range is above the upper one, whatever is in the keys. A bound that only lacks its end is reported as such.
fn is_reversed(from: &Template, to: &Template, is_number: bool) -> bool {
    let is_constant = from.fields().chain(to.fields()).next().is_none();
    let (from, to) = (from.to_string(), to.to_string());
    let is_above = match is_number {
        true => Decimal::parse(&from) > Decimal::parse(&to),
        false => from > to && !from.starts_with(&to),
    };
    is_constant && is_above
}

/// Why DynamoDB refuses a key condition or its filter.
fn refusal(
    clauses: &[KeyClause],
    sort_names: &[String],
    request: &Request,
    names: &[String],
) -> Option<String> {
    let clause = |name: &String| clauses.iter().find(|clause| clause.key == *name);
    let is_open = |name: &&String| clause(name).is_none_or(|clause| clause.operator != KeyOperator::Equals);
    let first = sort_names.iter().position(|name| is_open(&name)).unwrap_or(sort_names.len());
    let later = sort_names.iter().skip(first + 1).find(|name| clause(name).is_some());
    if let Some(later) = later {
        let name = &sort_names[first];
        return Some(format!(
            "{later} is compared, and {name} before it is not fixed, which DynamoDB refuses"
        ));
    }
    let filtered = request.filter.attributes();
    let key = filtered.into_iter().find(|name| names.iter().any(|key| key == name))?;
    Some(format!("the filter tests {key}, a key of what is read, which DynamoDB refuses"))
}
