//! What patterns and writes do with each type, gathered once: rules ask about one type after another.

use crate::model::{Model, Verb, Write};
use crate::plan::{Plan, SortCondition, Unserved};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

#[derive(Default)]
pub struct Usage<'m> {
    /// FieldTypes that a pattern returns.
    pub returned: HashSet<&'m str>,
    /// FieldTypes of which a pattern returns a list.
    pub listed: HashSet<&'m str>,
    /// Inputs by which a pattern finds many of a type.
    pub finds_many: HashSet<(&'m str, &'m str)>,
    /// FieldTypes that a pattern wants in vain.
    pub unserved: HashSet<&'m str>,
    /// How a type is read.
    pub reads: HashMap<&'m str, Reads>,
    /// Fields of the sort key that a pattern searches by: location, type, field.
    pub searched: HashSet<(&'m str, &'m str, String)>,
    /// Writes of a type.
    pub writes: HashMap<&'m str, Vec<&'m Write>>,
    /// FieldTypes that are written by their keys, not only made.
    pub written_by_key: HashSet<&'m str>,
}

/// How steps of plans read a type.
#[derive(Clone, Copy, Default)]
pub struct Reads {
    /// By the table's own key.
    pub has_table: bool,
    /// Together with other types.
    pub shares_collections: bool,
}

impl<'m> Usage<'m> {
    pub fn new(model: &'m Model, plans: &BTreeMap<&'m str, Result<Plan<'m>, Unserved<'m>>>) -> Usage<'m> {
        let mut usage = Usage::default();
        for pattern in &model.patterns {
            let is_served = !matches!(plans.get(pattern.name.as_str()), Some(Err(_)));
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
        plans.values().flatten().for_each(|plan| usage.add_reads(plan));
        model.writes.iter().for_each(|write| usage.add_write(write));
        usage
    }

    fn add_reads(&mut self, plan: &Plan<'m>) {
        for step in &plan.steps {
            for target in &step.targets {
                let reads = self.reads.entry(target.name.as_str()).or_default();
                reads.has_table |= step.location.is_consistent();
                reads.shares_collections |= step.targets.len() > 1;
                if let SortCondition::BeginsWith(prefix) | SortCondition::Between { prefix, .. } = &step.sort
                {
                    let location = step.location.name();
                    let fields =
                        prefix.fields().map(|field| (location, target.name.as_str(), field.to_owned()));
                    self.searched.extend(fields);
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
