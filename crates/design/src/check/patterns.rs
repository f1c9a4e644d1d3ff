//! Rules about access patterns: whether they are served, in which order, by how many requests and pages, and what is wasted.

mod following;
mod importance;
mod pages;
mod scattered;
mod unsuitable;

use super::requests::bounds_key;
use super::text_order::padded;
use super::{Checker, remedy};
use crate::capacity::estimate::{is_identified, is_outnumbered};
use crate::finding::{Finding, Severity};
use crate::formatting::{format_bytes, format_number, format_quantity, list};
use crate::keys::keyspace::named;
use crate::model::{Action, Entity, Pattern, Verb};
use crate::plan::requirement::all_of;
use crate::plan::{Obstacle, Operation, Plan, SortCondition, SplitReason, Step, Unserved};
use crate::template::{Format, Part};
use unsuitable::unsuitable;

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
            self.bounds_fit(pattern);
            if pattern.request.is_some() {
                self.request(pattern);
            }
            let subject = pattern.subject();
            // What is wrong with a declared request says more than its plan.
            let is_refused = pattern.request.is_some() && self.has_error(&subject);
            let is_broken = is_refused || self.has("P120", &subject) || self.has("P122", &subject);
            match self.plans.get(pattern.name.as_str()).cloned().filter(|_| !is_broken) {
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
        self.same_questions();
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

    fn unserved(&mut self, pattern: &Pattern, unserved: &Unserved<'_>) {
        let text = |add: &str| {
            self.unrelated(pattern, unserved)
                .or_else(|| self.unreachable(pattern, unserved, add))
                .unwrap_or_else(|| unsuitable(pattern, unserved, self.is_movable(unserved), add))
        };
        let (code, message, help) = text(&remedy::in_words(pattern, unserved.entity));
        let proposals = match &unserved.obstacle {
            _ if pattern.request.is_some() => vec![remedy::without_request(pattern)],
            Obstacle::Unsorted { by, .. } if is_key_itself(unserved, by) => Vec::new(),
            Obstacle::Unsorted { by, template } if is_number(unserved.entity, by) => {
                padded(template, unserved.entity, by)
            }
            Obstacle::Projection { missing } => {
                remedy::attributes_for(self.model, pattern, unserved, missing)
            }
            Obstacle::Order { by, before } | Obstacle::Range { by, before } => {
                let swapped = remedy::moved_first(unserved, by, &before[0]);
                let indexes = remedy::indexes_for(self.model, pattern, unserved.entity);
                swapped.into_iter().chain(indexes).collect()
            }
            // The table's key in full may be another identity, and an index costs writes.
            Obstacle::Coarse { by, .. } => remedy::in_full(unserved, by).into_iter().collect(),
            Obstacle::Foreign { inputs } => self.only_way(pattern, unserved.entity, inputs),
            Obstacle::Scattered { requests, .. } => {
                let fewer = scattered::fewer_shards(unserved.location, unserved.entity, *requests);
                let indexes = remedy::indexes_for(self.model, pattern, unserved.entity);
                fewer.into_iter().chain(indexes).collect()
            }
            Obstacle::Consistency
            | Obstacle::Lacking { .. }
            | Obstacle::Unlinked { .. }
            | Obstacle::PartlyLinked { .. } => Vec::new(),
            _ => remedy::indexes_for(self.model, pattern, unserved.entity),
        };
        let finding =
            self.about_pattern(code, Severity::Error, pattern).with_message(message).with_help(help);
        if !self.has(code, &pattern.subject()) {
            self.report(finding.with_proposals(proposals));
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

    /// Whether the key that was read may be made of what a pattern sorts or bounds by: the table's key must not change.
    fn is_movable(&self, unserved: &Unserved<'_>) -> bool {
        let (Obstacle::Order { by, .. } | Obstacle::Range { by, .. }) = &unserved.obstacle else {
            return true;
        };
        let name = &unserved.entity.name;
        let changes = |action: &Action| {
            action.verb == Verb::Update && action.entity == *name && action.set.contains(by)
        };
        let mut writes = self.usage.writes_of(name).iter();
        unserved.location.index.is_some() || !writes.any(|write| write.actions.iter().any(changes))
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
                match missing.iter().find(|name| template.truncates(name)) {
                    Some(time) => format!(
                        "say from which {time} on, so that its time buckets are known: range = \"{time}\"; or {add}"
                    ),
                    None => format!("move {} into the sort key, or {add}", list(missing)),
                },
            ),
            Obstacle::Sparse { when, .. } => (
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
        self.following(pattern, plan);
        self.scattered(pattern, plan);
        self.implied_inputs(pattern);
        plan.sifted_steps().for_each(|step| self.waste(pattern, &step));
        for step in plan.steps.iter().filter(|step| step.operation != Operation::BatchGet) {
            self.pages(pattern, step);
            self.uniqueness(pattern, step);
            self.text_order(pattern, step);
            self.delimiter_order(pattern, step);
        }
        let Some(split) = plan.split.as_ref().filter(|_| !pattern.is_rare()) else { return };
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
            SplitReason::Narrowed { entity, by } => (
                "P116",
                Severity::Note,
                format!(
                    "{by} narrows {entity} within its sort key, and one Query for all of them would return the rest as well"
                ),
            ),
            SplitReason::Filtered { entity, requirement } => (
                "P116",
                Severity::Note,
                format!("in one Query, the filter {requirement} would drop {entity}"),
            ),
            SplitReason::OppositeEnd { single, many } => (
                "P116",
                Severity::Note,
                format!(
                    "with a limit, one Query may end before it reaches {single}; choose a prefix of {single} that sorts on the other side of {many}"
                ),
            ),
        };
        let requests = format_quantity(plan.requests(), "request");
        let message = format!("{} are read by {requests}, not one", list(&types));
        let finding = self.about_pattern(code, severity, pattern).with_message(message).with_help(help);
        if !self.has(code, &pattern.subject()) {
            self.report(finding);
        }
    }

    /// A free text that contains the delimiter can put an item of another entity into the range that is read.
    fn let_in_by_delimiters(&mut self, pattern: &Pattern, step: &Step<'_>) {
        if step.strays.is_empty() || self.has("P109", &pattern.subject()) {
            return;
        }
        let names = named(step.strays.iter().map(|entity| entity.name.as_str()));
        let finding = self.about_pattern("P109", Severity::Note, pattern).with_message(format!(
            "the request also returns items of {names} if a text in a key contains the delimiter"
        ));
        let help = "give each entity its own prefix, declare texts in keys as \"id\", or write them :escaped";
        self.report(finding.with_help(help));
    }

    fn waste(&mut self, pattern: &Pattern, step: &Step<'_>) {
        if !step.extras.is_empty() && !self.has("P109", &pattern.subject()) {
            let finding = self.about_pattern("P109", Severity::Warning, pattern).with_message(format!(
                "the request also returns {}, which the pattern does not need",
                named(step.extras.iter().map(|entity| entity.name.as_str()))
            ));
            self.report(finding.with_help("give the wanted entity its own prefix, or add the others to out"));
        }
        self.let_in_by_delimiters(pattern, step);
        // A single item must be read anyway, and so must the one that an item leads to.
        let looks_up = step.items.max <= 1.0 || (step.follow.is_some() && step.max_bytes <= UNIT_BYTES);
        let mut filtered =
            step.wasteful_requirements().filter(|requirement| !bounds_key(pattern, step, requirement));
        if filtered.next().is_some() && !looks_up {
            // Within a single unit, the filter does not change the cost; a rare pattern may cost more.
            let cheap = pattern.is_rare() || (step.items.is_known() && step.max_bytes <= UNIT_BYTES);
            let severity = if cheap { Severity::Note } else { Severity::Warning };
            let finding = self.about_pattern("P113", severity, pattern).with_message(format!(
                "{} is a filter: {} items ({}){} are read and billed before it drops any",
                all_of(&step.filter),
                format_number(step.items.average),
                format_bytes(step.bytes),
                step.basis(self.model).mark()
            ));
            let (entity, tested) = remedy::filtered(step);
            let bounded = remedy::bounded_by_where(pattern, step);
            let proposals = match &bounded {
                Some((_, change)) => change.iter().cloned().collect(),
                None => remedy::indexes_for(self.model, pattern, entity),
            };
            let in_words = || {
                let names = list(&tested);
                let is_key = |name: &&str| entity.attribute(name).is_none_or(|own| own.kind.is_scalar());
                let sort = step.location.mapping(entity).and_then(|mapping| mapping.sort).unwrap_or_default();
                let is_escaped = |name: &&str| {
                    let field = |part: &Part| matches!(part, Part::Field { name: own, format: Format::Escaped } if own == name);
                    sort.parts.iter().any(field)
                };
                match tested.iter().all(is_key) {
                    true if tested.iter().all(is_escaped) => format!(
                        "{sort} holds {names} escaped, so that a range of it is not together: declare it as \"id\" and write it as it is"
                    ),
                    true => format!(
                        "put {names} into the sort key of {}, before what the caller does not know",
                        entity.name
                    ),
                    false => {
                        format!("no key holds {names}: store what is searched for as items of their own")
                    }
                }
            };
            let search = || remedy::search_in_words(pattern, entity);
            let help = bounded.map(|(help, _)| help).or_else(search).unwrap_or_else(in_words);
            self.report(finding.with_help(help).with_proposals(proposals));
        }
    }

    /// A pattern that returns one item of an entity must find at most one.
    fn uniqueness(&mut self, pattern: &Pattern, step: &Step<'_>) {
        let is_one_wanted = pattern.limit == Some(1) && pattern.targets.len() == 1;
        if step.operation != Operation::Query || is_one_wanted || !pattern.via.is_empty() {
            return;
        }
        for target in pattern.targets.iter().filter(|target| !target.many) {
            let entity = step.targets.iter().copied().find(|entity| entity.name == target.entity);
            if let Some(entity) = entity.filter(|entity| !self.is_single(pattern, step, entity)) {
                self.not_unique(pattern, step, entity);
            }
        }
    }

    fn not_unique(&mut self, pattern: &Pattern, step: &Step<'_>, entity: &Entity) {
        let own = entity.identity().or_else(|| entity.key.first().and_then(|key| key.fields().last()));
        let singleton = step.targets.len() == 1
            && step.location.index.is_none()
            && own.is_some_and(|id| step.partition.has_field(id))
            && !matches!(step.sort, SortCondition::Equals(_));
        // A filter on the identity is reported as such.
        if singleton && !step.filter.is_empty() {
            return;
        }
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
                    "declare unique = {} on {}, or return \"{}*\"",
                    remedy::unique_by_inputs(pattern, entity),
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
        // What is declared unique only together with others is not unique alone.
        let shared = |name: &String| entity.unique.iter().any(|rule| rule.len() > 1 && rule.contains(name));
        let shared = |name: &String| shared(name) || is_outnumbered(self.model, entity, name);
        let is_single = |name: &String| {
            (named(name) || unique(name)) && !foreign(name) && !finds_many(name) && !shared(name)
        };
        pattern.inputs.iter().any(is_single) && entity.edge.is_empty()
    }

    fn is_single(&self, pattern: &Pattern, step: &Step<'_>, entity: &Entity) -> bool {
        let fixed = |name: &str| pattern.is_fixed(name);
        // An item that is read with others needs no GetItem.
        let singleton = step.targets.len() == 1
            && !matches!(step.sort, SortCondition::Equals(_))
            && step.location.index.is_none();
        let only = entity.versions.as_deref().map_or(!singleton, fixed);
        (is_identified(self.model, entity, fixed) && only)
            || entity.is_unique_by(fixed)
            || entity.key_fields().all(fixed)
    }
}

/// A code, a message and the help.
pub type FindingText = (&'static str, String, String);

/// Returns whether an attribute is a key attribute under its own name: its value is the key, and nothing pads it.
fn is_key_itself(unserved: &Unserved<'_>, attribute: &str) -> bool {
    unserved.location.index.is_some_and(|index| index.keys.iter().any(|key| key == attribute))
}

fn inconsistent(location: &str) -> FindingText {
    (
        "P111",
        format!("{location} is read for this, and a global index is never strongly consistent"),
        "accept consistency = \"eventual\", or serve the pattern by the table's own key".to_owned(),
    )
}

fn is_number(entity: &Entity, name: &str) -> bool {
    entity.attribute(name).is_some_and(|attribute| attribute.kind.is_number())
}
