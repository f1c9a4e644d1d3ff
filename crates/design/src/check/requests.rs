//! Checks a request that existing code sends: whether it returns what its pattern needs, and nothing else.

use super::Checker;
use super::patterns::{cuts_off, truncated};
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::keys::keyspace::{KeyRange, MAX_NAMED, named};
use crate::model::condition::{Test, call, split_and};
use crate::model::value_type::ValueType;
use crate::model::{Entity, Pattern, Request};
use crate::plan::SortCondition;
use crate::template::Template;
use std::collections::BTreeMap;

/// One comparison with a key attribute.
struct Clause {
    key: String,
    operator: Operator,
    values: Vec<Template>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equals,
    BeginsWith,
    Between,
    Above,
    Below,
}

impl<'m> Checker<'m> {
    pub fn request(&mut self, pattern: &'m Pattern) {
        let Some(request) = &pattern.request else { return };
        let about = |code, severity| Finding::new(code, severity, pattern.subject(), &request.span);
        for test in request.filter.tests.iter().filter(|test| matches!(test, Test::Contains(..))) {
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
        match clauses(&request.condition) {
            Ok(clauses) => self.clauses(pattern, request, &clauses),
            Err(message) => {
                self.report(about("P005", Severity::Error).with_message(message).with_help(
                    "for example condition = \"PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#')\"",
                ))
            }
        }
    }

    fn clauses(&mut self, pattern: &'m Pattern, request: &Request, clauses: &[Clause]) {
        let about = |code, severity| Finding::new(code, severity, pattern.subject(), &request.span);
        let location =
            TableOrIndex { index: request.index.as_deref().and_then(|name| self.model.index(name)) };
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
        let sort = sort_clause(clauses, sort_names);
        if let Some(clause) = &sort {
            if clause.operator == Operator::BeginsWith && clause.values[0].parts.is_empty() {
                self.report(
                    about("P110", Severity::Error)
                        .with_message(
                            "begins_with with an empty text is rejected: a key value must not be empty",
                        )
                        .with_help("leave the sort key out of the condition to read the whole collection"),
                );
                return;
            }
            self.sort_clause(pattern, request, location, clause);
        }
        self.coverage(pattern, request, location, &partition, &region(sort.as_ref()));
    }

    /// Checks the bounds and prefixes of the sort key.
    fn sort_clause(
        &mut self,
        pattern: &'m Pattern,
        request: &Request,
        location: TableOrIndex<'m>,
        clause: &Clause,
    ) {
        let about = |code, severity| Finding::new(code, severity, pattern.subject(), &request.span);
        let mappings: Vec<KeyMapping<'m>> =
            self.targets(pattern).iter().filter_map(|entity| location.mapping(entity)).collect();
        for mapping in mappings {
            let Some(template) = &mapping.sort else { continue };
            let Some(text) = sample(&clause.values[clause.values.len() - 1], mapping.entity) else {
                continue;
            };
            let Some((field, length)) = template.truncated_field(&text) else { continue };
            let Some(attribute) = mapping.entity.attribute(field) else { continue };
            match clause.operator {
                Operator::BeginsWith if !attribute.kind.is_time() && !attribute.kind.has_fixed_width() => {
                    let prefix = &clause.values[0];
                    self.report(
                        about("P106", Severity::Error)
                            .with_message(format!("begins_with '{prefix}' ends inside {field}: it also matches longer values of {field}"))
                            .with_help(format!("end the prefix at a delimiter: '{prefix}#'")),
                    );
                    return;
                }
                Operator::Between | Operator::Below => {
                    let bound: String =
                        text.chars().rev().take(length).collect::<Vec<_>>().into_iter().rev().collect();
                    if cuts_off(&attribute.kind, &bound) {
                        self.report(truncated(about("P107", Severity::Error), &bound));
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn targets(&self, pattern: &Pattern) -> Vec<&'m Entity> {
        pattern.targets.iter().filter_map(|target| self.model.entity(&target.entity)).collect()
    }

    /// Every target must be within the request, and no other entity should be.
    fn coverage(
        &mut self,
        pattern: &'m Pattern,
        request: &Request,
        location: TableOrIndex<'m>,
        partition: &Template,
        sort: &SortCondition,
    ) {
        let about = |code, severity| Finding::new(code, severity, pattern.subject(), &request.span);
        let targets = self.targets(pattern);
        let Some(types) = targets.first().copied() else { return };
        let key_range = KeyRange { partition, sort, types };
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
        let extras = self.keys.within(location, key_range, MAX_NAMED, |mapping| !wanted(mapping.entity));
        let extras: Vec<&str> = extras.into_iter().map(|mapping| mapping.entity.name.as_str()).collect();
        if !extras.is_empty() {
            self.report(
                about("P109", Severity::Warning)
                    .with_message(format!(
                        "the request also returns {}, which the pattern does not need",
                        named(extras.into_iter())
                    ))
                    .with_help(
                        "narrow the condition with a prefix, or give the wanted entities their own partition",
                    ),
            );
        }
    }
}

/// The partition key as one template, if the request fixes all of its attributes.
fn equal_to(clauses: &[Clause], names: &[String]) -> Option<Template> {
    let value = |name: &String| {
        let clause = clauses.iter().find(|clause| clause.key == *name)?;
        (clause.operator == Operator::Equals).then(|| clause.values[0].clone())
    };
    let values: Option<Vec<Template>> = names.iter().map(value).collect();
    values.map(|values| Template::joined(&values))
}

/// The conditions on the attributes of a sort key as one: equality from the left, any operator on the last.
fn sort_clause(clauses: &[Clause], names: &[String]) -> Option<Clause> {
    let given: Vec<&Clause> =
        names.iter().map_while(|name| clauses.iter().find(|clause| clause.key == *name)).collect();
    let (last, before) = given.split_last()?;
    let before: Vec<Template> = before.iter().map(|clause| clause.values[0].clone()).collect();
    let open = last.operator == Operator::Equals && given.len() < names.len();
    let join = |value: &Template| {
        let rest = open.then(Template::default);
        Template::joined(&before.iter().chain([value]).chain(&rest).cloned().collect::<Vec<_>>())
    };
    let operator = if open { Operator::BeginsWith } else { last.operator };
    Some(Clause { key: last.key.clone(), operator, values: last.values.iter().map(join).collect() })
}

/// A key of this template for example values.
fn sample(template: &Template, entity: &Entity) -> Option<String> {
    let value = |name: &str| match entity.attribute(name).map(|attribute| &attribute.kind) {
        Some(ValueType::Timestamp) => "2026-04-05T10:30:00Z",
        Some(ValueType::Date) => "2026-04-05",
        Some(ValueType::Int | ValueType::Decimal) => "7",
        _ => "x",
    };
    let values: BTreeMap<String, String> =
        template.fields().map(|name| (name.to_owned(), value(name).to_owned())).collect();
    template.fill(&values).ok()
}

/// The sort keys that a clause covers.
fn region(clause: Option<&Clause>) -> SortCondition {
    let Some(clause) = clause else { return SortCondition::Any };
    let first = &clause.values[0];
    let text = |template: &Template| template.prefix().to_owned();
    match clause.operator {
        Operator::Equals => SortCondition::Equals(first.clone()),
        Operator::BeginsWith => SortCondition::BeginsWith(first.clone()),
        Operator::Between => {
            let to = clause.values.get(1).unwrap_or(first);
            SortCondition::Range { from: text(first), to: format!("{}\u{10FFFF}", text(to)) }
        }
        Operator::Above => SortCondition::Range { from: text(first), to: "\u{10FFFF}".to_owned() },
        Operator::Below => {
            SortCondition::Range { from: String::new(), to: format!("{}\u{10FFFF}", text(first)) }
        }
    }
}

fn clauses(text: &str) -> Result<Vec<Clause>, String> {
    let mut clauses: Vec<Clause> = Vec::new();
    for part in split_and(text) {
        let open = clauses
            .last_mut()
            .filter(|clause| clause.operator == Operator::Between && clause.values.len() == 1);
        match open {
            Some(clause) => clause.values.push(value(&part)?),
            None => clauses.push(clause(&part)?),
        }
    }
    if clauses.is_empty() { Err("the request has no condition".to_owned()) } else { Ok(clauses) }
}

fn clause(text: &str) -> Result<Clause, String> {
    let make = |key: &str, operator, text: &str| {
        Ok(Clause { key: key.trim().to_owned(), operator, values: vec![value(text)?] })
    };
    if let Some((key, text)) = call(text, "begins_with").and_then(|inside| inside.split_once(',')) {
        return make(key, Operator::BeginsWith, text);
    }
    let words = [
        (" begins_with ", Operator::BeginsWith),
        (" BETWEEN ", Operator::Between),
        (" between ", Operator::Between),
        ("<=", Operator::Below),
        (">=", Operator::Above),
        ("<", Operator::Below),
        (">", Operator::Above),
        ("=", Operator::Equals),
    ];
    for (word, operator) in words {
        if let Some((key, text)) = text.split_once(word) {
            return make(key, operator, text);
        }
    }
    Err(format!("`{text}` is not a key condition"))
}

fn value(text: &str) -> Result<Template, String> {
    let text = text.trim();
    let unquoted = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    Template::parse(unquoted.unwrap_or(text)).map_err(|error| error.message)
}
