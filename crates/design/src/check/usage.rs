//! How patterns and writes use each entity, collected once for all rules.

use crate::model::{Model, Pattern, Verb, Write};
use crate::plan::{Plan, SortCondition, Unserved};
use crate::template::Template;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

#[derive(Default)]
pub struct Usage<'m> {
    /// Entities that a pattern returns or follows.
    pub returned: HashSet<&'m str>,
    /// Entities that a pattern returns a list of.
    pub listed: HashSet<&'m str>,
    /// Inputs by which a pattern finds many items of an entity: input, entity.
    pub finds_many: HashSet<(&'m str, &'m str)>,
    /// Entities that an unserved pattern needs.
    pub unserved: HashSet<&'m str>,
    /// How an entity is read.
    pub reads: HashMap<&'m str, Reads>,
    /// Fields of the sort key that a pattern searches by: location, entity, field.
    pub searched: HashSet<(&'m str, &'m str, String)>,
    /// The writes of an entity.
    pub writes: HashMap<&'m str, Vec<&'m Write>>,
    /// Entities that are written by their keys, not only created.
    pub written_by_key: HashSet<&'m str>,
}

/// How the steps of plans read an entity.
#[derive(Clone, Copy, Default)]
pub struct Reads {
    /// By the table's own key.
    pub by_table_key: bool,
    /// Together with other entities.
    pub with_others: bool,
}

impl<'m> Usage<'m> {
    pub fn new(model: &'m Model, plans: &BTreeMap<&'m str, Result<Plan<'m>, Unserved<'m>>>) -> Usage<'m> {
        let mut usage = Usage::default();
        for pattern in &model.patterns {
            let is_served = !matches!(plans.get(pattern.name.as_str()), Some(Err(_)));
            for via in &pattern.via {
                usage.returned.insert(&via.entity);
                usage.listed.insert(&via.entity);
                if !is_served {
                    usage.unserved.insert(&via.entity);
                }
            }
            for target in &pattern.targets {
                let entity = target.entity.as_str();
                usage.returned.insert(entity);
                if !is_served {
                    usage.unserved.insert(entity);
                }
                if target.many {
                    usage.listed.insert(entity);
                    usage.finds_many.extend(pattern.inputs.iter().map(|input| (input.as_str(), entity)));
                }
            }
        }
        for pattern in &model.patterns {
            let plan = plans.get(pattern.name.as_str()).and_then(|plan| plan.as_ref().ok());
            plan.into_iter().for_each(|plan| usage.add_reads(pattern, plan));
        }
        model.writes.iter().for_each(|write| usage.add_write(write));
        usage
    }

    fn add_reads(&mut self, pattern: &Pattern, plan: &Plan<'m>) {
        for step in &plan.steps {
            for target in &step.targets {
                let reads = self.reads.entry(target.name.as_str()).or_default();
                reads.by_table_key |= step.location.is_consistent();
                reads.with_others |= step.targets.len() > 1;
                if let SortCondition::BeginsWith(prefix) | SortCondition::Between { prefix, .. } = &step.sort
                {
                    let location = step.location.name();
                    // Constants of the conditions have taken the place of some fields.
                    let mapping = step.location.mapping(target);
                    let is_constant = |name: &str| {
                        pattern.filter.fixed(name).is_some()
                            || mapping.as_ref().is_some_and(|own| own.when.fixed(name).is_some())
                    };
                    let is_known = |name: &str| prefix.has_field(name) || is_constant(name);
                    let start = mapping.as_ref().and_then(|mapping| mapping.sort.as_ref());
                    let start = start.map(|sort| sort.split_known(is_known).0);
                    let constant = start.iter().flat_map(Template::fields).filter(|name| is_constant(name));
                    let fields = prefix.fields().chain(constant);
                    let fields = fields.map(|field| (location, target.name.as_str(), field.to_owned()));
                    self.searched.extend(fields.collect::<Vec<_>>());
                }
            }
        }
    }

    fn add_write(&mut self, write: &'m Write) {
        let mut entities = BTreeSet::new();
        for action in &write.actions {
            entities.insert(action.entity.as_str());
            if action.verb != Verb::Create {
                self.written_by_key.insert(&action.entity);
            }
        }
        for entity in entities {
            self.writes.entry(entity).or_default().push(write);
        }
    }

    pub fn writes_of(&self, entity: &str) -> &[&'m Write] {
        self.writes.get(entity).map_or(&[], Vec::as_slice)
    }
}
