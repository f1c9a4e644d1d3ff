//! `[write]`: the writes of the application, and the uniqueness and aggregates that they keep.

use super::attribute_names::LONGEST;
use super::field::Section;
use super::pattern::target;
use super::{MAX_ENTRIES, Reader};
use crate::model::expression::{Aliases, ConditionExpression, ExpressionError, UpdateExpression};
use crate::model::{Action, Aggregate, MAX_ACTIONS, MarkerAction, Target, Verb, Write};
use toml_edit::{Item, Value};

const VERBS: [&str; 4] = ["create", "put", "update", "delete"];

impl Reader {
    pub(super) fn write(&mut self, name: String, section: &Section<'_>) -> Write {
        let known = [
            "create",
            "put",
            "update",
            "delete",
            "transact",
            "batch",
            "set",
            "expression",
            "condition",
            "names",
            "values",
            "rps",
            "rps_in_a_year",
            "peak",
            "about",
        ];
        self.only(section, &known);
        let mut write = Write {
            name,
            actions: self.single_actions(section),
            transact: section.get("transact").is_some(),
            batch: section.get("batch").is_some(),
            markers: Vec::new(),
            rps: self.number(section, "rps"),
            rps_in_a_year: self.later(section, "rps_in_a_year"),
            peak: self.peak(section),
            span: section.span.clone(),
        };
        for key in ["transact", "batch"] {
            self.listed_actions(section, key, &mut write);
        }
        if write.actions.is_empty() && self.findings.is_empty() {
            let message = format!("{} does not declare what it writes", section.subject);
            let help = "add create, put, update, delete or transact";
            self.fail("P002", section, &section.span.clone(), message, help);
        }
        write
    }

    /// `create = "Order"`, with what the section says about the request.
    fn single_actions(&mut self, section: &Section<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        for verb in VERBS {
            let Some(entity) = self.text(section, verb) else { continue };
            actions.extend(action(&format!("{verb} {entity}")));
        }
        if actions.is_empty() {
            self.without_action(section);
            return actions;
        }
        let aliases = self.aliases(section, "names", '#');
        let values = self.aliases(section, "values", ':');
        let expression = self.expression(section, "expression", &aliases, UpdateExpression::parse);
        let condition = self.expression(section, "condition", &aliases, ConditionExpression::parse);
        let set = self.texts(section, "set");
        if expression.is_some() && !actions.iter().any(|action| action.verb == Verb::Update) {
            self.wrong(section, "expression", "beside `update`", "\"SET #status = :status\"");
        }
        for action in &mut actions {
            action.condition = condition.clone();
            (action.names, action.values) = (aliases.clone(), values.clone());
            if action.verb == Verb::Update {
                action.set = set.clone();
                action.expression = expression.clone();
            }
        }
        actions
    }

    /// What belongs to one action has none beside it.
    fn without_action(&mut self, section: &Section<'_>) {
        for key in ["set", "expression", "condition", "names", "values"] {
            if section.get(key).is_some() {
                let message = format!("`{key}` belongs to one action, and stands beside none");
                let help = format!("write it into the action: {{ put = \"Order\", {key} = … }}");
                self.fail("P002", section, &section.span_of(key), message, &help);
            }
        }
    }

    /// Actions as texts, or as tables with the request.
    fn listed_actions(&mut self, section: &Section<'_>, key: &str, write: &mut Write) {
        let Some(item) = section.get(key) else { return };
        let example = "[\"create Order\", \"update User set total\"]";
        let one = item.as_str().map(|text| vec![Value::from(text)]);
        let Some(values) = one.or_else(|| item.as_array().map(|array| array.iter().cloned().collect()))
        else {
            return self.wrong(section, key, "a list of actions", example);
        };
        if !self.is_within(section, key, values.len(), MAX_ENTRIES) {
            return;
        }
        for value in &values {
            match value {
                Value::String(text) => match (marker_action(text.value()), action(text.value())) {
                    (Some(marker), _) if key == "transact" => write.markers.push(marker),
                    (None, Some(action)) => write.actions.push(action),
                    _ => {
                        let wanted = format!(
                            "a list of actions that create, put, update or delete; `{}` is none",
                            text.value()
                        );
                        self.wrong(section, key, &wanted, example);
                    }
                },
                Value::InlineTable(table) => {
                    let span = value.span().unwrap_or_else(|| section.span_of(key));
                    let inner = Section { table, subject: section.subject.clone(), span };
                    self.only(
                        &inner,
                        &[
                            "create",
                            "put",
                            "update",
                            "delete",
                            "set",
                            "expression",
                            "condition",
                            "names",
                            "values",
                        ],
                    );
                    write.actions.extend(self.single_actions(&inner));
                }
                _ => self.wrong(section, key, "a list of actions", example),
            }
        }
    }

    /// Reads `names` or `values`: placeholders with what they stand for.
    fn aliases(&mut self, section: &Section<'_>, key: &str, mark: char) -> Aliases {
        let Some(inner) = self.inner(section, key) else { return Aliases::new() };
        let mut aliases = Aliases::new();
        for (name, item) in inner.table.iter() {
            match item.as_str() {
                Some(text) if name.starts_with(mark) => {
                    aliases.insert(name.to_owned(), text.to_owned());
                }
                _ => {
                    let example = format!("{{ \"{mark}status\" = \"status\" }}");
                    self.wrong(
                        section,
                        key,
                        &format!("a table of texts whose names start with {mark}"),
                        &example,
                    );
                }
            }
        }
        aliases
    }

    fn expression<T>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        aliases: &Aliases,
        parse: fn(&str, &Aliases) -> Result<T, ExpressionError>,
    ) -> Option<T> {
        let text = self.text(section, key)?;
        match parse(&text, aliases) {
            Ok(expression) => Some(expression),
            Err(error) => {
                let start =
                    section.get(key).and_then(Item::span).map_or(section.span.start, |span| span.start);
                let at = start + 1 + error.at;
                let help = match key {
                    "expression" => {
                        "for example SET #status = :status, version = version + :one REMOVE dueDate"
                    }
                    _ => "for example attribute_exists(PK) AND version = :version",
                };
                self.fail("P131", section, &(at..at + 1), error.message, help);
                None
            }
        }
    }

    /// Reads `unique`: attributes, and lists of attributes that are unique together.
    pub(super) fn unique(&mut self, section: &Section<'_>) -> Vec<Vec<String>> {
        let unique = self.halves(section, "unique");
        let unique = if section.get("unique").is_some_and(Item::is_str) {
            unique.concat().into_iter().map(|name| vec![name]).collect()
        } else {
            unique
        };
        if unique.iter().any(Vec::is_empty) {
            self.wrong(section, "unique", "a list of attributes", "[\"email\", [\"tenantId\", \"slug\"]]");
        }
        if unique.len() >= MAX_ACTIONS {
            let message = format!(
                "`unique` has {} entries: an item and a marker for each are one transaction, of at most {MAX_ACTIONS} actions",
                unique.len()
            );
            let help = "leave out what nothing else would repeat, or keep some of it in another entity";
            self.fail("P405", section, &section.span_of("unique"), message, help);
        }
        unique
    }

    /// Reads `aggregates`.
    pub(super) fn aggregates(&mut self, section: &Section<'_>) -> Vec<Aggregate> {
        let Some(inner) = self.inner(section, "aggregates") else { return Vec::new() };
        let mut aggregates = Vec::new();
        for (name, _) in inner.table.iter() {
            self.attribute_name(&inner, &inner.name_span(name), name, LONGEST);
            let Some(text) = self.text(&inner, name) else { continue };
            let span = inner.span_of(name);
            match Aggregate::parse(name, &text, span) {
                None => self.wrong(
                    &inner,
                    name,
                    "count, sum, min or max of an entity",
                    "\"count Comment\" or \"sum Order.total where status == 'PAID'\"",
                ),
                Some((mut aggregate, filter)) => {
                    if !filter.is_empty() {
                        aggregate.filter = self.last_condition(&inner, name, filter);
                    }
                    aggregates.push(aggregate);
                }
            }
        }
        aggregates
    }
}

/// `update Order set status, total` or `create OrderItem*`.
fn action(text: &str) -> Option<Action> {
    let (verb, rest) = text.trim().split_once(' ')?;
    let (entity, set) = rest.split_once(" set ").unwrap_or((rest, ""));
    let Target { entity, many } = target(entity.trim());
    let set = set.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    Some(Action { many, set, ..Action::new(Verb::parse(verb)?, &entity) })
}

/// `create marker User.email` or `delete marker Page.tenantId,slug`.
fn marker_action(text: &str) -> Option<MarkerAction> {
    let mut words = text.split_whitespace();
    let verb = Verb::parse(words.next()?).filter(|verb| *verb != Verb::Put)?;
    if words.next()? != "marker" {
        return None;
    }
    let rest: String = words.collect();
    let (entity, names) = rest.split_once('.')?;
    let unique = names.split(',').map(str::to_owned).collect();
    Some(MarkerAction { verb, entity: entity.to_owned(), unique })
}
