//! Rules about following relationships: a question about another entity's attribute needs `via`, and `via` needs the attributes that lead on.

use super::FindingText;
use crate::check::Checker;
use crate::finding::Severity;
use crate::formatting::list;
use crate::model::{Entity, Model, Pattern};
use crate::plan::answerable::implied_by;
use crate::plan::follow::Link;
use crate::plan::{Obstacle, Plan, Unserved};
use crate::repair::{Edit, Repair};
use std::collections::{BTreeSet, HashMap};

/// The number of entities that a finding proposes to follow.
const MAX_PROPOSED: usize = 3;
/// The number of entities among which they are searched.
const MAX_COMPARED: usize = 20;

impl<'m> Checker<'m> {
    /// The text for entities that have nothing to do with what the pattern asks for.
    pub(super) fn unrelated(&self, pattern: &Pattern, unserved: &Unserved<'_>) -> Option<FindingText> {
        let name = &unserved.entity.name;
        match &unserved.obstacle {
            Obstacle::Foreign { inputs } => Some((
                "P127",
                format!(
                    "{name} has no {}: no key of {name} can answer this, and listing all of {name} does not",
                    list(inputs)
                ),
                self.ways(pattern, unserved.entity, inputs),
            )),
            Obstacle::Lacking { attribute, purpose } => Some((
                "P130",
                format!(
                    "the list of {name} would have to be {purpose} {attribute}, which {name} does not have"
                ),
                format!("add {attribute} to [entity.{name}], or make {name} a pattern of its own"),
            )),
            Obstacle::Unlinked { from, missing } => Some((
                "P128",
                format!("{from} does not lead to {name}: it does not hold {}", list(missing)),
                format!(
                    "add it to [entity.{from}], give {name} a key in an index by what {from} holds, or say what corresponds: via = {{ entity = \"{from}\", match = {{ {} = \"…\" }} }}",
                    missing.first().map_or("…", String::as_str)
                ),
            )),
            Obstacle::PartlyLinked { from, optional } => {
                let exist: Vec<String> = optional.iter().map(|name| format!("exists({name})")).collect();
                Some((
                    "P128",
                    format!("not every {from} leads to its {name}: it may lack {}", list(optional)),
                    format!(
                        "require it in [entity.{from}], or follow only those that have it: where = \"{}\"",
                        exist.join(" and ")
                    ),
                ))
            }
            _ => None,
        }
    }

    /// The entities that connect inputs with an entity, relationships first.
    fn connecting(&self, entity: &Entity, inputs: &[String]) -> Vec<&'m Entity> {
        let connects = |other: &&Entity| {
            other.name != entity.name
                && inputs.iter().all(|input| other.attribute(input).is_some())
                && leads_to(self.model, other, entity)
        };
        let near = inputs.first().into_iter().flat_map(|input| self.model.holders_of(input));
        let found = near.take(MAX_COMPARED).filter(connects);
        let (mut edges, others): (Vec<&Entity>, Vec<&Entity>) =
            found.partition(|other| !other.edge.is_empty());
        edges.extend(others);
        edges
    }

    /// The entities that a pattern can follow, in words.
    fn ways(&self, pattern: &Pattern, entity: &Entity, inputs: &[String]) -> String {
        let connecting = self.connecting(entity, inputs);
        let proposals: Vec<String> =
            connecting.iter().take(MAX_PROPOSED).map(|edge| format!("via = \"{}\"", edge.name)).collect();
        let id = entity.identity().unwrap_or("…");
        if proposals.is_empty() {
            let ends: Vec<String> =
                inputs.iter().map(String::as_str).chain([id]).map(|end| format!("\"{end}\"")).collect();
            return format!(
                "nothing connects {} with {}: store the relationship as an entity with edge = [{}], and follow it with via",
                list(inputs),
                entity.name,
                ends.join(", ")
            );
        }
        format!("add {} to {}: its items lead to {}", proposals.join(" or "), pattern.name, entity.name)
    }

    /// An input that the returned entity lacks selects nothing: it is taken to follow from another one.
    pub(super) fn implied_inputs(&mut self, pattern: &Pattern) {
        for target in &pattern.targets {
            let Some(entity) = self.model.entity(&target.entity) else { continue };
            let unused = pattern.inputs.iter().filter(|input| entity.attribute(input).is_none());
            let implied = unused.filter_map(|input| {
                Some((input, implied_by(self.model, pattern, input, entity).filter(|_| target.many)?))
            });
            let Some((input, owner)) = implied.into_iter().next() else { continue };
            let (name, owner) = (&entity.name, &owner.name);
            let message = format!(
                "{input} selects nothing: {name} has no {input}, and it is taken for that of the {owner}"
            );
            let finding = self.about_pattern("P129", Severity::Note, pattern).with_message(message);
            let help = format!("leave it out of in, or name the attribute of {name} that is meant");
            self.report(finding.with_help(help));
        }
    }

    /// The entity that a pattern can follow, if there is one alone.
    pub(super) fn only_way(&self, pattern: &Pattern, entity: &Entity, inputs: &[String]) -> Vec<Repair> {
        let [only] = self.connecting(entity, inputs)[..] else { return Vec::new() };
        let edit = Edit::set(&["pattern", &pattern.name, "via"], format!("\"{}\"", only.name));
        vec![Repair { help: self.ways(pattern, entity, inputs), edits: vec![edit] }]
    }

    /// Patterns that ask the same, where a relationship leads to another answer.
    pub(super) fn same_questions(&mut self) {
        let model = self.model;
        let mut asked: HashMap<String, &Pattern> = HashMap::new();
        for pattern in &model.patterns {
            let Some(first) = asked.get(&question(pattern)).copied() else {
                asked.insert(question(pattern), pattern);
                continue;
            };
            let is_served = matches!(self.plans.get(pattern.name.as_str()), Some(Ok(_)));
            let entity = pattern.single_target().and_then(|target| model.entity(&target.entity));
            // What an identifier finds is itself.
            let is_other = |entity: &&Entity| entity.identity().is_none_or(|id| !pattern.is_fixed(id));
            let Some(entity) = entity.filter(|_| is_served && pattern.via.is_empty()).filter(is_other) else {
                continue;
            };
            let ways = self.connecting(entity, &pattern.inputs);
            let Some(edge) = ways.first().filter(|way| !way.edge.is_empty()) else { continue };
            let finding = self.about_pattern("P134", Severity::Warning, pattern);
            let message = format!("asks the same as {}, and gets the same answer", first.name);
            let help = format!(
                "if the {} of {} are meant, add via = \"{1}\"; otherwise leave it out",
                entity.name, edge.name
            );
            self.report(finding.with_message(message).with_help(help));
        }
    }

    /// Rules about a plan that follows relationships.
    pub(super) fn following(&mut self, pattern: &Pattern, plan: &Plan<'m>) {
        let target = pattern.single_target().filter(|target| !target.many && !pattern.via.is_empty());
        let several = plan.steps.last().is_some_and(|step| step.follow.is_some() && step.items.max > 1.0);
        if let Some(target) = target.filter(|_| several && pattern.limit != Some(1)) {
            let finding = self.about_pattern("P117", Severity::Warning, pattern);
            let message =
                format!("one {} is wanted, and {} can lead to several", target.entity, pattern.via[0].entity);
            self.report(
                finding
                    .with_message(message)
                    .with_help(format!("return \"{}*\", or set limit = 1", target.entity)),
            );
        }
        let mut assumed: BTreeSet<(&str, String)> = BTreeSet::new();
        for step in &plan.steps {
            let Some(follow) = &step.follow else { continue };
            let used = |link: &&Link| step.uses(&link.to);
            for link in follow.links.iter().filter(|link| !link.declared).filter(used) {
                assumed.insert((&follow.from.name, link.to.clone()));
            }
        }
        for (from, name) in assumed {
            let finding = self.about_pattern("P129", Severity::Note, pattern);
            let message = format!(
                "{name} of {from} is taken for that of what it leads to, since both have the same name"
            );
            self.report(
                finding
                    .with_message(message)
                    .with_help(format!("confirm it: via = {{ entity = \"{from}\", match = [\"{name}\"] }}")),
            );
        }
    }
}

/// All that a pattern asks for, but not its name, its rate and how much it matters.
fn question(pattern: &Pattern) -> String {
    let inputs: BTreeSet<&String> = pattern.inputs.iter().collect();
    let Pattern { targets, via, order, range, limit, fields, strong, .. } = pattern;
    let range = range.as_ref().map(|range| (&range.by, &range.from, &range.to));
    format!(
        "{inputs:?} {targets:?} {via:?} {order:?} {range:?} {limit:?} {fields:?} {strong} {}",
        pattern.filter
    )
}

/// Returns whether items of one entity hold what another is found by.
fn leads_to(model: &Model, from: &Entity, to: &Entity) -> bool {
    let id = to.identity().filter(|id| from.attribute(id).is_some());
    let end = |name: &&String| model.owner_of(name).is_none() && from.edge.len() == 2;
    id.is_some() || from.edge.iter().any(|name| end(&name))
}
