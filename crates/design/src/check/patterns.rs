//! Rules about access patterns: whether they are served, in which order, by how many requests and pages, and what is wasted.

use super::{Checker, remedy};
use crate::capacity::estimate::PAGE_BYTES;
use crate::finding::{Finding, Severity};
use crate::formatting::{format_bytes, format_number, list, plural};
use crate::keys::keyspace::named;
use crate::model::value_type::ValueType;
use crate::model::{Entity, Pattern};
use crate::plan::{Obstacle, Operation, Plan, SortCondition, SplitReason, Step, Unserved};
use crate::template::{Part, Template};

/// The bytes that one read unit covers, eventually consistent.
const UNIT_BYTES: f64 = 8192.0;

impl<'m> Checker<'m> {
    pub fn patterns(&mut self) {
        let model = self.model;
        if model.patterns.is_empty() {
            self.report(
                Finding::new("P119", Severity::Warning, "table", &model.table.span)
                    .with_message("the model declares no access patterns, so nothing can be proved")
                    .with_help("add [pattern] with one line for each query: orderById = { in = [\"orderId\"], out = \"Order\" }"),
            );
        }
        for pattern in &model.patterns {
            self.bounds(pattern);
            if pattern.request.is_some() {
                self.request(pattern);
            }
            match self.plans.get(pattern.name.as_str()).cloned() {
                Some(Ok(plan)) => self.served(pattern, &plan),
                Some(Err(unserved)) => self.unserved(pattern, &unserved),
                None => {}
            }
            if pattern.rps.is_none() {
                let finding = self.about_pattern("P118", Severity::Note, pattern);
                self.report(
                    finding.with_message("the pattern declares no request rate").with_help("add rps = 10"),
                );
            }
        }
        for entity in &model.entities {
            if !self.usage.returned.contains(entity.name.as_str()) && !model.patterns.is_empty() {
                let finding = self.about_entity("P507", Severity::Warning, entity);
                self.report(
                    finding
                        .with_message(format!("no pattern returns {}", entity.name))
                        .with_help("add the pattern that reads it, or leave it out of this table"),
                );
            }
        }
    }

    /// The upper bound of a range must not be shorter than the values.
    fn bounds(&mut self, pattern: &Pattern) {
        let Some(range) = &pattern.range else { return };
        let Some(to) = &range.to else { return };
        let kind = self.model.attribute(&range.by).map(|attribute| attribute.kind.clone());
        if kind.is_some_and(|kind| cuts_off(&kind, to)) {
            let finding = Finding::new("P107", Severity::Error, pattern.subject(), &range.span);
            self.report(truncated(finding, to));
        }
    }

    fn unserved(&mut self, pattern: &Pattern, unserved: &Unserved<'_>) {
        let add = remedy::index_for(self.model, pattern, unserved.entity);
        let (code, message, help) =
            self.unreachable(pattern, unserved, &add).unwrap_or_else(|| unsuitable(pattern, unserved, &add));
        let finding =
            self.about_pattern(code, Severity::Error, pattern).with_message(message).with_help(help);
        if !self.has(code, &pattern.subject()) {
            self.report(finding);
        }
        if let Obstacle::Unsorted { template, .. } = &unserved.obstacle {
            self.text_sorted.insert(template.clone());
        }
        let reached = !matches!(
            unserved.obstacle,
            Obstacle::Absent | Obstacle::Partition { .. } | Obstacle::Consistency
        );
        if pattern.strong && reached && !unserved.location.is_consistent() {
            let (code, message, help) = inconsistent(unserved.location.name());
            let finding =
                self.about_pattern(code, Severity::Error, pattern).with_message(message).with_help(help);
            self.report(finding);
        }
    }

    /// The text for items that no key finds.
    fn unreachable(&self, pattern: &Pattern, unserved: &Unserved<'_>, add: &str) -> Option<FindingText> {
        let (location, name) = (unserved.location.name(), &unserved.entity.name);
        let add = add.to_owned();
        let scans = pattern.inputs.is_empty() && pattern.filter.is_empty();
        let text = match &unserved.obstacle {
            Obstacle::Absent | Obstacle::Partition { partial: false, .. } if scans => {
                ("P114", format!("without inputs, only a Scan of the whole table returns {name}"), add)
            }
            Obstacle::Absent | Obstacle::Partition { partial: false, .. } => {
                let message =
                    format!("no key serves this: {name} cannot be found by {}", self.known_values(pattern));
                ("P101", message, add)
            }
            Obstacle::Partition { template, missing, partial: true } => (
                "P102",
                format!(
                    "{location} has {template} as partition key of {name}; with {} but not {} known, this would need begins_with on the partition key, which DynamoDB does not support",
                    self.known_values(pattern),
                    list(missing)
                ),
                format!("move {} into the sort key, or {add}", list(missing)),
            ),
            Obstacle::Sparse { when } => (
                "P121",
                format!("{location} holds {name} only when {when}, which the pattern does not require"),
                format!("add where = \"{when}\" to the pattern if that is intended; otherwise {add}"),
            ),
            _ => return None,
        };
        Some(text)
    }

    /// What the caller knows, in words.
    fn known_values(&self, pattern: &Pattern) -> String {
        let mut parts: Vec<String> = pattern.inputs.clone();
        if !pattern.filter.is_empty() {
            parts.push(format!("where {}", pattern.filter));
        }
        if parts.is_empty() { "nothing".to_owned() } else { list(&parts) }
    }

    fn served(&mut self, pattern: &Pattern, plan: &Plan<'m>) {
        for step in plan.steps.iter().filter(|step| step.operation != Operation::BatchGet) {
            self.waste(pattern, step);
            self.pages(pattern, step);
            self.uniqueness(pattern, step);
            self.text_order(pattern, step);
        }
        let Some(split) = &plan.split else { return };
        let types: Vec<&str> = pattern.targets.iter().map(|target| target.entity.as_str()).collect();
        let (code, severity, help) = match split {
            SplitReason::Separate => (
                "P116",
                Severity::Note,
                "they are not under one partition key; that is fine if the pattern is rare".to_owned(),
            ),
            SplitReason::AmbiguousPrefix(prefix) => (
                "P106",
                Severity::Warning,
                format!(
                    "one Query with begins_with {prefix} would also match longer values; end the shorter key with a delimiter: {prefix}#"
                ),
            ),
            SplitReason::OthersBetween(others) => (
                "P116",
                Severity::Note,
                format!(
                    "one Query would also return {}; choose prefixes that sort next to each other",
                    named(others.iter().map(String::as_str))
                ),
            ),
            SplitReason::OppositeEnd { single, many } => (
                "P116",
                Severity::Note,
                format!(
                    "{single} sorts at the opposite end from where {many} is read; choose a prefix on the other side of {many}"
                ),
            ),
        };
        let requests = plural(plan.requests(), "request");
        let message = format!("{} are read by {requests}, not one", list(&types));
        let finding = self.about_pattern(code, severity, pattern).with_message(message).with_help(help);
        if !self.has(code, &pattern.subject()) {
            self.report(finding);
        }
    }

    fn waste(&mut self, pattern: &Pattern, step: &Step<'_>) {
        if !step.extras.is_empty() && !self.has("P109", &pattern.subject()) {
            let finding = self.about_pattern("P109", Severity::Warning, pattern).with_message(format!(
                "the request also returns {}, which the pattern does not need",
                named(step.extras.iter().map(|entity| entity.name.as_str()))
            ));
            self.report(finding.with_help("give the wanted entity its own prefix, or add the others to out"));
        }
        if !step.filter.is_empty() {
            // Within a single unit, the filter does not change the cost.
            let cheap = step.items.known && step.max_bytes <= UNIT_BYTES;
            let severity = if cheap { Severity::Note } else { Severity::Warning };
            let finding = self.about_pattern("P113", severity, pattern).with_message(format!(
                "{} is a filter: {} items ({}) are read and billed before it drops any",
                step.filter.join(" and "),
                format_number(step.items.average),
                format_bytes(step.bytes)
            ));
            let entity = step.targets[0];
            self.report(finding.with_help(remedy::index_for(self.model, pattern, entity)));
        }
    }

    fn pages(&mut self, pattern: &Pattern, step: &Step<'_>) {
        if step.operation != Operation::Query || pattern.limit.is_some() {
            return;
        }
        let large = step.max_bytes > PAGE_BYTES;
        let open = !step.items.known && pattern.targets.iter().any(|target| target.many);
        let severity = match (large, pattern.first_page_only) {
            (true, true) => Severity::Error,
            (true, false) => Severity::Note,
            (false, true) if open => Severity::Warning,
            _ => return,
        };
        let amount = if large {
            format!("up to {}", format_bytes(step.max_bytes))
        } else {
            "an unknown size".to_owned()
        };
        let pages = plural(step.pages() as u64, "page");
        let message = if pattern.first_page_only {
            format!(
                "only the first page is read, and the result has {amount} ({pages}): the rest is silently lost"
            )
        } else {
            format!("the result has {amount}: {pages}")
        };
        let finding = self.about_pattern("P115", severity, pattern).with_message(message);
        self.report(finding.with_help("continue from LastEvaluatedKey until there is none, or set a limit"));
    }

    /// A list comes in the order of its sort keys even if none is requested, and 1, 10, 2 is rarely intended.
    fn text_order(&mut self, pattern: &Pattern, step: &Step<'m>) {
        if step.operation != Operation::Query || pattern.order.is_some() || pattern.range.is_some() {
            return;
        }
        for entity in step.targets.iter().copied() {
            let many = pattern.targets.iter().any(|target| target.many && target.entity == entity.name);
            let Some(mapping) = step.location.mapping(entity).filter(|_| many) else { continue };
            let Some(template) = &mapping.sort else { continue };
            let (_, rest) = template.split_known(|name| pattern.is_fixed(name));
            let Some(Part::Field { name, format }) = rest.first() else { continue };
            let number = entity.attribute(name).is_some_and(|attribute| !format.keeps_order(&attribute.kind));
            if !number || self.text_sorted.contains(template) || mapping.sorts_as_number(self.model, name) {
                continue;
            }
            // The order of identifiers rarely matters.
            let severity = if entity.identity() == Some(name) { Severity::Note } else { Severity::Warning };
            let finding = self.about_pattern("P105", severity, pattern).with_message(format!(
                "{} is ordered by {name} as text in {template}: 1, 10, 2",
                entity.name
            ));
            self.report(finding.with_help(pad(template, entity, name)));
            self.text_sorted.insert(template.clone());
        }
    }

    /// A pattern that returns one item must find at most one.
    fn uniqueness(&mut self, pattern: &Pattern, step: &Step<'_>) {
        let Some(target) = pattern.single_target().filter(|target| !target.many) else { return };
        if step.operation != Operation::Query || pattern.limit == Some(1) || !step.filter.is_empty() {
            return;
        }
        let entity = step.targets[0];
        if target.entity != entity.name || self.is_single(pattern, step, entity) {
            return;
        }
        let own = entity.identity().or_else(|| entity.key.first().and_then(|key| key.fields().last()));
        let singleton = step.location.index.is_none()
            && own.is_some_and(|id| step.partition.has_field(id))
            && !matches!(step.sort, SortCondition::Equals(_));
        let usually_single = !singleton && self.is_usually_single(pattern, entity);
        let severity = if usually_single { Severity::Note } else { Severity::Warning };
        let (code, message, help) = if singleton {
            let sort = entity.key.get(1).map(ToString::to_string).unwrap_or_default();
            (
                "P212",
                format!(
                    "one {} is wanted, but its sort key {sort} is not known, so GetItem is impossible",
                    entity.name
                ),
                "make the sort key a constant such as METADATA, or repeat the partition key".to_owned(),
            )
        } else {
            let known = self.known_values(pattern);
            (
                "P117",
                format!("nothing ensures that {known} belongs to only one {}", entity.name),
                format!(
                    "declare unique = [\"{}\"] on {}, or return \"{}*\"",
                    pattern.inputs.first().map_or("", String::as_str),
                    entity.name,
                    entity.name
                ),
            )
        };
        let finding = self.about_pattern(code, severity, pattern).with_message(message).with_help(help);
        self.report(finding);
    }

    /// An email address or a UUID usually belongs to one item even if the model does not declare it, unless it identifies
    /// another entity or another pattern finds many by it.
    fn is_usually_single(&self, pattern: &Pattern, entity: &Entity) -> bool {
        let natural = ["email", "username", "handle", "slug", "token", "phone", "sku", "isbn", "code"];
        let named = |name: &str| natural.iter().any(|word| name.to_lowercase().contains(word));
        let unique = |name: &str| entity.attribute(name).is_some_and(|a| a.kind.is_globally_unique());
        let foreign = |name: &str| self.model.owner_of(name).is_some_and(|owner| owner.name != entity.name);
        let finds_many =
            |name: &String| self.usage.finds_many.contains(&(name.as_str(), entity.name.as_str()));
        pattern.inputs.iter().any(|name| (named(name) || unique(name)) && !foreign(name) && !finds_many(name))
            && entity.edge.is_empty()
    }

    fn is_single(&self, pattern: &Pattern, step: &Step<'_>, entity: &Entity) -> bool {
        let fixed = |name: &str| pattern.is_fixed(name);
        let singleton = !matches!(step.sort, SortCondition::Equals(_)) && step.location.index.is_none();
        (entity.identity().is_some_and(fixed) && !(singleton && entity.versions.is_none()))
            || (entity.unique.iter().any(|name| fixed(name)))
            || entity.key_fields().all(fixed)
    }
}

/// Returns whether an upper bound is shorter than the values that it should include.
pub fn cuts_off(kind: &ValueType, bound: &str) -> bool {
    let enough = match kind {
        ValueType::Timestamp => 16,
        ValueType::Date => 10,
        _ => return false,
    };
    let length = bound.chars().count();
    let digits =
        bound.chars().all(|character| character.is_ascii_digit() || matches!(character, '-' | ':' | 'T'));
    digits && length > 0 && length < enough
}

pub fn truncated(finding: Finding, bound: &str) -> Finding {
    finding
        .with_message(format!(
            "the upper bound '{bound}' sorts before the values that start with it, so all of {bound} is lost"
        ))
        .with_help(format!("write the bound in full, or end it with a character that sorts last: '{bound}~'"))
}

/// A code, a message and the help.
type FindingText = (&'static str, String, String);

/// The text for items that are found, but not in the order, within the range or with the attributes that the pattern needs.
fn unsuitable(pattern: &Pattern, unserved: &Unserved<'_>, add: &str) -> FindingText {
    let (location, name) = (unserved.location.name(), &unserved.entity.name);
    match &unserved.obstacle {
        Obstacle::NoSortKey { wanted } => {
            let message = format!(
                "{location} has no sort key, so results can be neither ordered nor bounded by {wanted}"
            );
            ("P104", message, add.to_owned())
        }
        Obstacle::Order { by, before } => {
            let message = format!("{name} is not ordered by {by}: in {location}, {} comes first", before[0]);
            ("P103", message, move_first(by, &before[0], add))
        }
        Obstacle::Range { by, before } => {
            let message =
                format!("{name} cannot be bounded by {by}: in {location}, {} comes first", before[0]);
            ("P104", message, move_first(by, &before[0], add))
        }
        Obstacle::Unsorted { by, template } => (
            "P105",
            format!("{by} is a number, and as text in {template} 10 sorts before 2"),
            pad(template, unserved.entity, by),
        ),
        Obstacle::Consistency => inconsistent(location),
        Obstacle::Projection { missing } => (
            "P112",
            format!("{location} serves this, but lacks {}", list(missing)),
            format!(
                "add them to its project, name only the fields needed, or set hydrate = true on {}",
                pattern.name
            ),
        ),
        Obstacle::Interleave { by } => {
            let types: Vec<&str> = pattern.targets.iter().map(|target| target.entity.as_str()).collect();
            let help =
                format!("give all of them one partition in an index, with {by} first in the sort key: {add}");
            ("P103", format!("{} are not stored together in the order of {by}", list(&types)), help)
        }
        Obstacle::Absent | Obstacle::Partition { .. } | Obstacle::Sparse { .. } => {
            ("P101", format!("no key serves this: {name} cannot be found"), add.to_owned())
        }
    }
}

/// The help that pads a number in a template.
fn pad(template: &Template, entity: &Entity, name: &str) -> String {
    format!("pad it: {}", template.to_string().replace(&format!("{{{name}}}"), &remedy::padded(entity, name)))
}

fn inconsistent(location: &str) -> FindingText {
    (
        "P111",
        format!("only {location} serves this, and a global index is never strongly consistent"),
        "accept consistency = \"eventual\", or serve the pattern by the table's own key".to_owned(),
    )
}

fn move_first(by: &str, before: &str, add: &str) -> String {
    format!("put {{{by}}} before {{{before}}} in the sort key, or {add}")
}
