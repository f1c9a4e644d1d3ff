//! What the caller does with the results of a plan's requests: DynamoDB neither merges requests nor keeps the order of a batch.

use super::requirement::{Requirement, all_of};
use super::{Operation, Planner, Step};
use crate::model::Model;
use std::fmt;

/// What the caller does with the items of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// Drops items that do not meet the requirements: GetItem and BatchGetItem have no filter, and that of a Query does not take attributes of its key.
    Drop(Vec<Requirement>),
    /// Reads pages until this many items are left, since `Limit` counts items before any are dropped.
    Continue(u64),
    /// Reads the time buckets one after the other until enough items are found.
    InTurn {
        /// Whether the newest bucket comes first.
        newest_first: bool,
        /// How many items are enough.
        wanted: u64,
    },
    /// Requests each key once, since several items lead to it and BatchGetItem rejects duplicates.
    SendOnce,
    /// Merges the results of several requests in order.
    Merge {
        /// The attribute of the order; `None` if any order will do.
        by: Option<String>,
        /// Whether the largest value comes first.
        descending: bool,
    },
    /// Sorts the result.
    Sort {
        /// The attribute.
        by: String,
        /// Whether the largest value comes first.
        descending: bool,
    },
    /// Puts the items of a BatchGetItem, which keeps no order, into the order of the keys that were requested.
    Arrange {
        /// The entity or index whose items held the keys.
        by: String,
    },
    /// Keeps the first items and drops the rest.
    Keep(u64),
    /// Keeps so many items of all lists together, which this request and those before it return.
    KeepOfAll(u64),
}

impl fmt::Display for Afterwards {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = |descending: &bool| if *descending { "descending" } else { "ascending" };
        match self {
            Afterwards::Drop(requirements) => write!(out, "drop the items without {}", all_of(requirements)),
            Afterwards::Continue(number) => write!(
                out,
                "continue from LastEvaluatedKey until {number} are left: Limit counts items before any are dropped"
            ),
            Afterwards::InTurn { newest_first, wanted } => {
                let first = if *newest_first { "newest" } else { "oldest" };
                write!(
                    out,
                    "begin with the {first} time bucket and go on with the next until {wanted} are found"
                )
            }
            Afterwards::SendOnce => out.write_str("request each key once: several items can lead to it"),
            Afterwards::Merge { by: Some(by), descending } => {
                write!(out, "merge the results by {by}, {}", direction(descending))
            }
            Afterwards::Merge { by: None, .. } => out.write_str("put the results together"),
            Afterwards::Sort { by, descending } => write!(out, "sort by {by}, {}", direction(descending)),
            Afterwards::Arrange { by } => {
                write!(out, "arrange the items as their keys in {by}: BatchGetItem keeps no order")
            }
            Afterwards::Keep(number) => write!(out, "keep the first {number}"),
            Afterwards::KeepOfAll(number) => write!(out, "keep {number} of all lists together"),
        }
    }
}

impl Step<'_> {
    /// Returns what the caller drops of the items.
    pub fn dropped(&self) -> impl Iterator<Item = &Requirement> {
        let all = self.afterwards.iter().filter_map(|work| match work {
            Afterwards::Drop(requirements) => Some(requirements),
            _ => None,
        });
        all.flatten()
    }

    /// Returns what is not sent as a filter: all of a GetItem or BatchGetItem, and of a Query what concerns attributes of the key that it reads by.
    pub fn unsent_requirements(&self, model: &Model) -> Vec<Requirement> {
        let keys = self.location.key_names(model);
        let is_key = |name: &str| keys.iter().any(|key| key == name);
        let is_unsent = |requirement: &&Requirement| match self.operation {
            Operation::Get | Operation::BatchGet => true,
            Operation::Query => requirement.attributes().into_iter().any(is_key),
            Operation::Scan => false,
        };
        self.filter.iter().filter(is_unsent).cloned().collect()
    }
}

impl<'m> Planner<'_, 'm> {
    /// What the caller, who wants this many items, does with those of one step. `in_turn` is whether time buckets are read one after the other.
    pub(super) fn afterwards(&self, step: &Step<'m>, wanted: Option<u64>, in_turn: bool) -> Vec<Afterwards> {
        let mut afterwards = Vec::new();
        let unsent = step.unsent_requirements(self.model);
        if !unsent.is_empty() {
            afterwards.push(Afterwards::Drop(unsent));
        }
        let is_whole = step.filter.is_empty() && step.extras.is_empty() && step.strays.is_empty();
        let is_sifted = step.operation == Operation::Query && !is_whole;
        afterwards.extend(wanted.filter(|_| is_sifted).map(Afterwards::Continue));
        let newest_first = !step.forward;
        let in_turn = wanted.filter(|_| in_turn);
        afterwards.extend(in_turn.map(|wanted| Afterwards::InTurn { newest_first, wanted }));
        let many =
            |name: &str| self.pattern.targets.iter().any(|target| target.many && target.entity == name);
        let order = self.pattern.order.as_ref();
        // A single item that an order chooses is one of those that all requests return.
        let is_chosen = order.is_some() || step.targets.iter().any(|entity| many(&entity.name));
        if step.fan_out > 1.0 && is_chosen {
            let descending = order.is_some_and(|order| order.descending);
            afterwards.push(Afterwards::Merge { by: order.map(|order| order.by.clone()), descending });
            afterwards.extend(wanted.map(Afterwards::Keep));
        }
        afterwards
    }

    /// What the caller does with the items of a BatchGetItem that reads what an index lacks.
    pub(super) fn arranged(&self, step: &Step<'m>) -> Vec<Afterwards> {
        let by = step.location.name().to_owned();
        self.pattern.order.iter().map(|_| Afterwards::Arrange { by: by.clone() }).collect()
    }
}
