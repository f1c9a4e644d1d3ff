//! Follows relationships: reads the entities of `via` one after the other, then what they lead to.
//!
//! Every entity on the way is a pattern of its own, planned like any other: its inputs are the values that the items of the entity before
//! it hold. What the pattern restricts or orders belongs to the first entity on the way that has the attribute.

use super::afterwards::Afterwards;
use super::requirement::Requirement;
use super::{Obstacle, Operation, Plan, Planner, Step, Unserved};
use crate::capacity::estimate::ItemCount;
use crate::formatting::list;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::condition::Condition;
use crate::model::value_type::ValueType;
use crate::model::{Entity, Model, Pattern, Target, Via};
use crate::name_hints;
use crate::template::Template;

/// The number of entities that may have the identity an end of a relationship names.
const MAX_RIVALS: usize = 10;
/// The most keys of a BatchGetItem.
const MAX_BATCH: f64 = 100.0;
/// The most bytes that a BatchGetItem returns.
const MAX_BATCH_BYTES: f64 = 16.0 * 1_048_576.0;

/// How a step finds its items: by values that the items of an earlier step hold.
#[derive(Clone, Debug)]
pub struct Follow<'m> {
    /// The entity whose items are followed.
    pub from: &'m Entity,
    /// How its attributes and those of the entity that is reached correspond.
    pub links: Vec<Link>,
}

/// An attribute of the entity that is reached, and the one that holds its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The attribute of the entity that is reached.
    pub to: String,
    /// The attribute of the entity that is followed.
    pub from: String,
    /// Whether the model declares that both are the same, by the ends of the relationship or by `match`; otherwise only the name says so.
    pub declared: bool,
}

/// The items of one entity on the way, which the next stage follows.
struct Followed<'m> {
    from: &'m Entity,
    number: ItemCount,
    /// What all of them meet.
    condition: Condition,
}

/// One entity on the way, or the last stage: the entities that the pattern returns.
pub(super) struct Stage<'m> {
    pub entities: Vec<&'m Entity>,
    /// The part of the pattern that concerns the stage.
    pub pattern: Pattern,
    /// From the stage before it; empty for the first.
    pub links: Vec<Link>,
}

impl<'m> Planner<'_, 'm> {
    /// The plan of a pattern with `via`.
    pub(super) fn follow(&self) -> Result<Plan<'m>, Unserved<'m>> {
        let stages = self.stages()?;
        let (mut steps, mut split) = (Vec::<Step<'m>>::new(), None);
        let mut before: Option<Followed<'m>> = None;
        for stage in &stages {
            let planner = Planner::new(self.keys, &stage.pattern);
            let mut plan =
                planner.run().map_err(|unserved| self.explain_gap(stage, before.as_ref(), unserved))?;
            if let Some(Followed { from, number, condition }) = before {
                if let Some(step) = plan.sifted_steps().find(|step| lists(step, &stage.links)) {
                    return Err(unlinked(from, step.targets[0], missing_in(&step, &stage.links)));
                }
                let follow = Follow { from, links: stage.links.clone() };
                repeat(&mut plan.steps, &follow, number);
                if let Some(unserved) = plan.steps.iter().find_map(|step| partly_linked(step, &condition)) {
                    return Err(unserved);
                }
                let can_repeat = !is_single_edge(from) || steps.iter().any(|step| step.follow.is_some());
                if let Some(last) = steps.last_mut().filter(|_| can_repeat) {
                    last.afterwards.push(Afterwards::SendOnce);
                }
            }
            let number = plan.steps.iter().map(|step| step.found).reduce(|_, last| last);
            let condition = stage.pattern.condition();
            before =
                stage.entities.first().zip(number).map(|(from, number)| Followed { from, number, condition });
            steps.extend(plan.steps);
            split = plan.split;
        }
        let works = self.after_following(&stages, &steps);
        if let Some(last) = steps.last_mut() {
            last.afterwards.extend(works);
        }
        Ok(Plan { steps, split, is_declared: false })
    }

    /// The entities of `via` one after the other, then what they lead to.
    pub(super) fn stages(&self) -> Result<Vec<Stage<'m>>, Unserved<'m>> {
        let model = self.model;
        let on_the_way = |name: &str| self.pattern.via.iter().any(|via| via.entity == name);
        let via: Vec<&'m Entity> =
            self.pattern.via.iter().filter_map(|via| model.entity(&via.entity)).collect();
        let last: Vec<&Target> =
            self.pattern.targets.iter().filter(|target| !on_the_way(&target.entity)).collect();
        let mut ways: Vec<Vec<&'m Entity>> = via.iter().map(|entity| vec![*entity]).collect();
        ways.push(last.iter().map(|target| self.entity(target)).collect());
        let mut stages: Vec<Stage<'m>> = Vec::new();
        for (number, entities) in ways.iter().enumerate() {
            let mut links = Vec::new();
            if let Some(previous) = number.checked_sub(1) {
                let from = via[previous];
                let known = |name: &str| previous == 0 && self.pattern.is_fixed(name);
                for entity in entities {
                    let found = links_between(model, &self.pattern.via[previous], from, entity, known);
                    if found.is_empty() {
                        return Err(unlinked(from, entity, identifying(entity)));
                    }
                    links.extend(found.into_iter().filter(|link| !links.contains(link)).collect::<Vec<_>>());
                }
            }
            let is_last = number == via.len();
            let targets = if is_last {
                last.iter().map(|target| (*target).clone()).collect()
            } else {
                vec![Target { entity: entities[0].name.clone(), many: true }]
            };
            let pattern = self.stage_pattern(&ways, number, targets, &links);
            stages.push(Stage { entities: entities.clone(), pattern, links });
        }
        self.limit_stages(&mut stages);
        self.choose_fields(&mut stages);
        Ok(stages)
    }

    /// The part of the pattern that concerns one stage.
    fn stage_pattern(
        &self,
        ways: &[Vec<&'m Entity>],
        number: usize,
        targets: Vec<Target>,
        links: &[Link],
    ) -> Pattern {
        let has = |stage: &[&Entity], name: &str| stage.iter().any(|entity| entity.attribute(name).is_some());
        let home_of = |name: &str| ways.iter().position(|stage| has(stage, name));
        let home = |name: &str| home_of(name) == Some(number);
        let mut inputs: Vec<String> = links.iter().map(|link| link.to.clone()).collect();
        inputs.extend(self.pattern.inputs.iter().filter(|input| home(input)).cloned());
        inputs.dedup();
        // A part that tests attributes of several stages can only be decided at the last of them.
        let is_decided =
            |part: &&Condition| part.attributes().into_iter().filter_map(home_of).max() == Some(number);
        let tests = self.pattern.filter.conjuncts().into_iter().filter(is_decided).cloned();
        Pattern {
            name: self.pattern.name.clone(),
            inputs,
            targets,
            order: self.pattern.order.clone().filter(|order| home(&order.by)),
            range: self.pattern.range.clone().filter(|range| home(&range.by)),
            filter: Condition::default().and(&Condition::All(tests.collect())),
            strong: self.pattern.strong,
            hydrate: self.pattern.hydrate,
            fields: self.pattern.fields.clone(),
            ..Pattern::default()
        }
    }

    /// The limit applies to the first entity if every later one only looks up a single item for each; otherwise the caller applies it.
    fn limit_stages(&self, stages: &mut [Stage<'m>]) {
        let looks_up = |stage: &Stage<'_>| {
            let links = &stage.links;
            let restricts = stage.pattern.order.is_some()
                || stage.pattern.range.is_some()
                || !stage.pattern.filter.is_empty()
                || stage.pattern.inputs.iter().any(|input| !links.iter().any(|link| link.to == *input))
                || links.iter().any(|link| stage.entities.iter().any(|entity| is_test(entity, &link.to)));
            let finds_one = |entity: &&Entity| {
                entity.identity().is_some_and(|id| links.iter().any(|link| link.to == id))
                    && entity.versions.is_none()
            };
            !restricts && stage.entities.iter().all(finds_one)
        };
        // Where several items lead to one, more of them must be read than are wanted.
        let (first, on_the_way) = (&stages[0].entities[0].name, &stages[..stages.len() - 1]);
        let is_returned = self.pattern.targets.iter().any(|target| target.entity == *first);
        let leads_apart = on_the_way.iter().all(|stage| is_single_edge(stage.entities[0]));
        if (is_returned || leads_apart) && stages.iter().skip(1).all(looks_up) {
            stages[0].pattern.limit = self.pattern.limit;
        }
    }

    /// Of an entity that is only followed, the attributes that lead on are enough.
    fn choose_fields(&self, stages: &mut [Stage<'m>]) {
        for number in 1..stages.len() {
            let leading: Vec<String> = stages[number].links.iter().map(|link| link.from.clone()).collect();
            let stage = &mut stages[number - 1];
            let is_returned =
                self.pattern.targets.iter().any(|target| target.entity == stage.entities[0].name);
            match (is_returned, stage.pattern.fields.is_empty()) {
                (true, true) => {}
                (true, false) => stage.pattern.fields.extend(leading),
                (false, _) => stage.pattern.fields = leading,
            }
        }
    }

    /// Says which attribute the items before a stage lack.
    fn explain_gap(
        &self,
        stage: &Stage<'m>,
        before: Option<&Followed<'m>>,
        unserved: Unserved<'m>,
    ) -> Unserved<'m> {
        let Some(Followed { from, .. }) = before else { return unserved };
        let linked = |name: &str| stage.pattern.inputs.iter().any(|input| input == name);
        match unserved.obstacle {
            Obstacle::Absent | Obstacle::Partition { .. } => {
                let missing: Vec<String> =
                    unserved.entity.key_fields().filter(|name| !linked(name)).map(str::to_owned).collect();
                unlinked(from, unserved.entity, missing)
            }
            _ => unserved,
        }
    }

    /// What the caller does with the results of all stages.
    fn after_following(&self, stages: &[Stage<'m>], steps: &[Step<'m>]) -> Vec<Afterwards> {
        let mut afterwards = Vec::new();
        let last_has_order = stages.last().is_some_and(|stage| stage.pattern.order.is_some());
        match &self.pattern.order {
            Some(order) if last_has_order || stages[0].pattern.order.is_none() => {
                afterwards.push(Afterwards::Sort { by: order.by.clone(), descending: order.descending });
            }
            _ if steps.iter().any(|step| step.follow.is_some() && step.operation == Operation::BatchGet) => {
                afterwards.push(Afterwards::Arrange { by: stages[0].entities[0].name.clone() });
            }
            _ => {}
        }
        let limit = self.pattern.limit.filter(|_| stages[0].pattern.limit.is_none());
        afterwards.extend(limit.map(Afterwards::Keep));
        afterwards
    }
}

/// Turns the requests for one followed item into those for all of them. What completes the entries of an index follows these.
fn repeat<'m>(steps: &mut [Step<'m>], follow: &Follow<'m>, number: ItemCount) {
    for place in 0..steps.len() {
        let completes = place > 0 && steps[place].completes(&steps[place - 1]);
        steps[place].multiply(number);
        steps[place].follow = (!completes).then(|| follow.clone());
    }
}

impl Step<'_> {
    fn multiply(&mut self, number: ItemCount) {
        self.items = self.items.times(number);
        self.found = self.found.times(number);
        self.bytes *= number.average;
        self.bytes_of_targets.iter_mut().for_each(|bytes| *bytes *= number.average);
        if self.operation == Operation::Query {
            self.fan_out *= number.average;
            self.fan_out_basis = self.fan_out_basis.and(number.basis);
        } else if self.items.max > 1.0 {
            self.operation = Operation::BatchGet;
            self.fan_out = batches(self.items.average, self.bytes);
            self.fan_out_basis = self.items.basis;
            self.max_bytes = 0.0;
        }
    }
}

/// The number of BatchGetItem requests that read this many items of this many bytes together.
pub(super) fn batches(items: f64, bytes: f64) -> f64 {
    let requests = (items / MAX_BATCH).max(bytes / MAX_BATCH_BYTES);
    requests.ceil().max(1.0)
}

/// The attributes of `next` whose values an item of `from` holds; `known` are the inputs by which it was found.
pub fn links_between(
    model: &Model,
    via: &Via,
    from: &Entity,
    next: &Entity,
    known: impl Fn(&str) -> bool,
) -> Vec<Link> {
    let link = |to: &str, from: &str, declared| Link { to: to.to_owned(), from: from.to_owned(), declared };
    let mut links: Vec<Link> = via
        .matches
        .iter()
        .filter(|(to, own)| next.attribute(to).is_some() && from.attribute(own).is_some())
        .map(|(to, own)| link(to, own, true))
        .collect();
    let is_end = |name: &str| from.edge.iter().any(|end| end == name);
    let far: Vec<&str> = from.edge.iter().map(String::as_str).filter(|end| !known(end)).collect();
    let add = |links: &mut Vec<Link>, to: &str, own: &str, declared| {
        if !links.iter().any(|other| other.to == to) {
            links.push(link(to, own, declared));
        }
    };
    if let Some(id) = next.identity() {
        let named = || from.attribute(id).map(|_| id).filter(|id| !known(id) || from.edge.is_empty());
        let (own, declared) = match far.as_slice() {
            [end] if *end == id => (Some(*end), true),
            [end] => match stands_for(model, from, end, next, id) {
                Some(declared) => (Some(*end), declared),
                None => (named(), true),
            },
            _ => (named(), true),
        };
        // What a declared match takes for something else is not the identity as well.
        let is_taken = |own: &&str| via.matches.iter().any(|(_, taken)| taken == own);
        if let Some(own) = own.filter(|own| !is_taken(own)) {
            add(&mut links, id, own, declared);
        }
    }
    // One to many: the next entity refers to what this one refers to, or to this one itself.
    if links.is_empty() {
        let own = from.identity().into_iter().chain(far.iter().copied());
        for name in own.filter(|name| next.attribute(name).is_some()) {
            add(&mut links, name, name, true);
        }
    }
    if links.is_empty() {
        return links;
    }
    let is_tenant = |name: &str| model.table.tenant.as_deref() == Some(name) || name_hints::is_tenant(name);
    for attribute in &from.attributes {
        let name = attribute.name.as_str();
        let same = next.attribute(name).is_some_and(|other| other.kind == attribute.kind);
        let copied = !from.edge.is_empty() && !is_end(name) && is_identifier(&attribute.kind);
        if same && !attribute.optional && (is_tenant(name) || copied) {
            add(&mut links, name, name, is_tenant(name));
        }
    }
    links
}

/// Returns whether a step finds what an item leads to only by reading everything and dropping the rest.
fn lists(step: &Step<'_>, links: &[Link]) -> bool {
    let is_filtered = |link: &Link| step.filter.contains(&Requirement::Input(link.to.clone()));
    links.iter().any(is_filtered) && !links.iter().any(|link| step.partition.has_field(&link.to))
}

/// The fields of the partition key that no link gives.
fn missing_in(step: &Step<'_>, links: &[Link]) -> Vec<String> {
    let is_linked = |name: &str| links.iter().any(|link| link.to == name);
    step.partition.fields().filter(|name| !is_linked(name)).map(str::to_owned).collect()
}

/// Returns whether an end of a relationship is another name for the identity of an entity, `followedId` for `userId`, and if so, whether the
/// model says so: the entity is the only one with such an identity, or the relationship writes it behind the same prefix. An end that is
/// written like another entity is none of this one.
fn stands_for(model: &Model, edge: &Entity, end: &str, next: &Entity, id: &str) -> Option<bool> {
    let kind = |entity: &Entity, name: &str| entity.attribute(name).map(|attribute| attribute.kind.clone());
    if model.owner_of(end).is_some() || kind(edge, end) != kind(next, id) {
        return None;
    }
    let is_rival = |other: &&Entity| {
        let own = other.identity().filter(|_| other.name != next.name && other.copies.is_none());
        own.is_some_and(|own| model.owner_of(own).is_some() && kind(other, own) == kind(next, id))
    };
    let mut rivals = model
        .entities
        .iter()
        .take(MAX_RIVALS)
        .filter(|other| other.name != edge.name)
        .filter(is_rival)
        .peekable();
    if rivals.peek().is_none() || is_written_alike(edge, next) {
        return Some(true);
    }
    (!rivals.any(|rival| is_written_alike(edge, rival))).then_some(false)
}

/// Returns whether a relationship writes one of its ends behind the prefix that the identity of an entity has in its own key.
fn is_written_alike(edge: &Entity, entity: &Entity) -> bool {
    let Some(id) = entity.identity() else { return false };
    let own: Vec<&str> = words_before(&entity.key, |name| name == id).collect();
    let indexes = edge.indexes.iter().map(|index_key| &index_key.key);
    let mut words = std::iter::once(&edge.key)
        .chain(indexes)
        .flat_map(|key| words_before(key, |name| edge.edge.iter().any(|end| end == name)));
    words.any(|word| own.contains(&word))
}

/// The prefixes before some fields of a key.
fn words_before(key: &[Template], is_wanted: impl Fn(&str) -> bool + Copy) -> impl Iterator<Item = &str> {
    let words = key.iter().flat_map(Template::field_prefixes);
    words.filter(move |(name, _)| is_wanted(name)).map(|(_, word)| word)
}

fn is_identifier(kind: &ValueType) -> bool {
    matches!(kind, ValueType::Id | ValueType::Ulid | ValueType::Uuid | ValueType::Ksuid)
}

/// Returns whether a linked attribute is outside the key of an entity, so that an item which is found can have another value of it.
fn is_test(entity: &Entity, name: &str) -> bool {
    entity.attribute(name).is_some() && entity.identity() != Some(name) && !entity.has_key_field(name)
}

/// Returns whether there is at most one item for each pair of ends.
fn is_single_edge(entity: &Entity) -> bool {
    let is_end = |name: &str| entity.edge.iter().any(|end| end == name);
    entity.edge.len() == 2 && entity.key_fields().all(is_end)
}

/// What an item of an entity is found by.
fn identifying(entity: &Entity) -> Vec<String> {
    match entity.identity() {
        Some(id) => vec![id.to_owned()],
        None => entity.key_fields().map(str::to_owned).collect(),
    }
}

fn unlinked<'m>(from: &Entity, to: &'m Entity, missing: Vec<String>) -> Unserved<'m> {
    let obstacle = Obstacle::Unlinked { from: from.name.clone(), missing };
    Unserved { location: TableOrIndex { index: None }, entity: to, obstacle }
}

/// Returns the attributes by which a step finds what an item leads to, and which items that meet the condition may lack nevertheless. An item without the
/// identity of another, or without the only attribute that leads on, refers to none; without any other attribute, what it refers to is not found.
fn partly_linked<'m>(step: &Step<'m>, condition: &Condition) -> Option<Unserved<'m>> {
    let (follow, to) = (step.follow.as_ref()?, *step.targets.first()?);
    let used: Vec<&Link> = follow.links.iter().filter(|link| step.uses(&link.to)).collect();
    let refers = |link: &Link| used.len() == 1 || to.identity() == Some(link.to.as_str());
    let may_lack =
        |name: &str| follow.from.may_lack(name) && !condition.implies(&Condition::exists(name), follow.from);
    let lacking = used.iter().filter(|link| !refers(link) && may_lack(&link.from));
    let optional: Vec<String> = lacking.map(|link| link.from.clone()).collect();
    if optional.is_empty() {
        return None;
    }
    let obstacle = Obstacle::PartlyLinked { from: follow.from.name.clone(), optional };
    Some(Unserved { location: step.location, entity: to, obstacle })
}

impl Follow<'_> {
    /// Returns which values are taken from each item: `userId = followedId of each Follows`.
    pub fn describe(&self) -> String {
        let one = |link: &Link| {
            if link.to == link.from { link.to.clone() } else { format!("{} = its {}", link.to, link.from) }
        };
        let links: Vec<String> = self.links.iter().map(one).collect();
        format!("{} of each {}", list(&links), self.from.name)
    }
}
