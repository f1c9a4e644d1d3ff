//! Conditions that are decided before an item is looked at: they never hold, or always.

use crate::check::Checker;
use crate::check::requests::narrow::about_type;
use crate::finding::{Finding, Severity};
use crate::model::condition::Condition;
use crate::model::{Entity, Model, Pattern, Request};
use crate::repair::{Edit, Repair, quoted};
use crate::source::Span;
use crate::template::Template;
use std::collections::{BTreeMap, BTreeSet};

/// The most entities for which a condition is decided.
const MAX_ENTITIES: usize = 20;

/// A condition that all items of some entities are tested by.
struct Decidable<'a> {
    condition: &'a Condition,
    /// What messages call it.
    what: &'a str,
    subject: &'a str,
    span: &'a Span,
    /// Where it is declared, if a part of it can be left out there.
    path: &'a [&'a str],
}

impl<'m> Checker<'m> {
    /// Conditions of patterns that leave no value of what they test.
    pub(super) fn exhausted(&mut self, pattern: &Pattern) {
        let subject = pattern.subject();
        for (condition, entities) in by_stage(self.model, pattern) {
            let tested: Vec<(&Entity, Condition)> =
                entities.into_iter().map(|entity| (entity, condition.clone())).collect();
            let (what, span, path) = ("`where`", &pattern.span, &[]);
            self.never(&Decidable { condition: &condition, what, subject: &subject, span, path }, &tested);
        }
    }

    /// Parts of conditions that test nothing. Whether a pattern needs them to list the values of a key is known once it is planned.
    pub fn idle_conditions(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            for index_key in entity.declared_indexes() {
                let (what, subject) = (format!("`when` of {}", index_key.index), entity.subject());
                let path = ["entity", entity.name.as_str(), "index", index_key.index.as_str(), "when"];
                let (condition, span) = (&index_key.when, &index_key.span);
                let keys = index_key.key.iter().flat_map(Template::fields).map(str::to_owned).collect();
                let decidable = Decidable { condition, what: &what, subject: &subject, span, path: &path };
                self.always(&decidable, &[entity], &keys);
            }
        }
        for pattern in &model.patterns {
            let Some(keys) = self.planned_fields(pattern) else { continue };
            let (subject, path) = (pattern.subject(), ["pattern", pattern.name.as_str(), "where"]);
            let path: &[&str] = if pattern.via.is_empty() { &path } else { &[] };
            for (condition, entities) in by_stage(model, pattern) {
                let (what, span) = ("`where`", &pattern.span);
                let decidable = Decidable { condition: &condition, what, subject: &subject, span, path };
                self.always(&decidable, &entities, &keys);
            }
        }
    }

    /// What the filter of a declared request says about the items that the pattern wants.
    pub(super) fn exhausted_filter(&mut self, pattern: &Pattern, request: &Request) {
        let model = self.model;
        let targets = pattern.targets.iter().filter_map(|target| model.entity(&target.entity));
        let filter = &request.filter.constant_parts();
        let tested: Vec<(&Entity, Condition)> =
            targets.map(|entity| (entity, about_type(model, filter, entity))).collect();
        let (subject, span) = (pattern.subject(), &request.span);
        let decidable = Decidable { condition: filter, what: "`filter`", subject: &subject, span, path: &[] };
        self.never(&decidable, &tested);
    }

    /// A condition that no item of the entities meets.
    fn never(&mut self, decidable: &Decidable<'_>, tested: &[(&Entity, Condition)]) {
        let Decidable { condition, what, subject, span, .. } = decidable;
        let is_open = tested.is_empty() || tested.len() > MAX_ENTITIES;
        let is_known = ["P120", "P122"].iter().any(|code| self.has(code, subject));
        if is_open || is_known || tested.iter().any(|(entity, own)| own.is_satisfiable(*entity)) {
            return;
        }
        let finding = Finding::new("P120", Severity::Error, *subject, &place(condition, span));
        self.report(
            finding
                .with_message(format!("{what} can never hold: {condition}"))
                .with_help("its parts leave no value that the types admit; did you mean `or` or `in`?"),
        );
    }

    /// Parts of a condition that every item of the entities meets. Listed values of a key say for which of them requests are sent.
    fn always(&mut self, decidable: &Decidable<'_>, entities: &[&Entity], keys: &BTreeSet<String>) {
        let Decidable { condition, what, subject, span, path } = decidable;
        if entities.is_empty() || entities.len() > MAX_ENTITIES {
            return;
        }
        let holds = |part: &&Condition| {
            let is_met = |entity: &&Entity| Condition::default().implies(part, *entity);
            !part.attributes().into_iter().any(|name| keys.contains(name)) && entities.iter().all(is_met)
        };
        let (idle, rest): (Vec<&Condition>, Vec<&Condition>) =
            condition.conjuncts().into_iter().partition(holds);
        let Some(first) = idle.first() else { return };
        let idle = Condition::All(idle.iter().map(|part| (*part).clone()).collect());
        let rest = Condition::All(rest.into_iter().cloned().collect());
        let proposals = if path.is_empty() { Vec::new() } else { vec![without_idle(path, &rest)] };
        let finding = Finding::new("P120", Severity::Note, *subject, &place(first, span));
        self.report(
            finding
                .with_message(format!("{what} tests nothing with {idle}: all items meet it"))
                .with_help(format!("leave {idle} out"))
                .with_proposals(proposals),
        );
    }

    /// The fields of the keys that the plan of a pattern compares, if it is served.
    fn planned_fields(&self, pattern: &Pattern) -> Option<BTreeSet<String>> {
        let plan = self.plans.get(pattern.name.as_str())?.as_ref().ok()?;
        let fields = plan.steps.iter().flat_map(|step| {
            let sort = step.sort.template().into_iter().flat_map(Template::fields);
            step.alternatives.keys().map(String::as_str).chain(step.partition.fields()).chain(sort)
        });
        Some(fields.map(str::to_owned).collect())
    }
}

/// The rest of a condition in its place.
fn without_idle(path: &[&str], rest: &Condition) -> Repair {
    let name = path.last().copied().unwrap_or_default();
    if rest.is_empty() {
        return Repair { help: format!("leave {name} out"), edits: vec![Edit::remove(path)] };
    }
    let value = quoted(&rest.to_string()).trim().to_owned();
    Repair { help: format!("write {name} = {value}"), edits: vec![Edit::set(path, value)] }
}

/// Where a condition is written.
fn place(condition: &Condition, span: &Span) -> Span {
    condition.tests().first().map_or(span, |test| &test.places.attribute_at).clone()
}

/// The parts of a pattern's condition that test the items of each stage on its way, with the entities of that stage that have what they test.
/// A part about several stages is left out.
fn by_stage<'m>(model: &'m Model, pattern: &Pattern) -> Vec<(Condition, Vec<&'m Entity>)> {
    let has =
        |entity: &str, name: &str| model.entity(entity).is_some_and(|own| own.attribute(name).is_some());
    let stage_of = |name: &str| {
        let first = pattern.via.iter().position(|via| has(&via.entity, name));
        first.unwrap_or(pattern.via.len())
    };
    let mut by_stage: BTreeMap<usize, Vec<Condition>> = BTreeMap::new();
    for part in pattern.filter.conjuncts() {
        let stages: BTreeSet<usize> = part.attributes().into_iter().map(stage_of).collect();
        if let (Some(stage), 1) = (stages.first(), stages.len()) {
            by_stage.entry(*stage).or_default().push(part.clone());
        }
    }
    let with_entities = |(stage, parts): (usize, Vec<Condition>)| {
        let names: Vec<&str> = match pattern.via.get(stage) {
            Some(via) => vec![&via.entity],
            None => pattern.targets.iter().map(|target| target.entity.as_str()).collect(),
        };
        let condition = Condition::All(parts);
        let is_tested = |entity: &&Entity| {
            condition.attributes().into_iter().any(|name| entity.attribute(name).is_some())
        };
        let entities = names.into_iter().filter_map(|name| model.entity(name)).filter(is_tested).collect();
        (condition, entities)
    };
    by_stage.into_iter().map(with_entities).collect()
}
