//! The texts of the keys of a step's requests: one for every shard, time bucket and alternative value.

use super::call::Known;
use crate::exchange::request_json::KeyTexts;
use crate::item::Attributes;
use crate::model::{Model, Pattern};
use crate::plan::afterwards::Afterwards;
use crate::plan::text_range::wide_range_texts;
use crate::plan::{SortCondition, Step, buckets};
use crate::template::{Format, SHARD};
use std::collections::{BTreeMap, BTreeSet};

/// A step whose requests are to be filled with values.
pub(super) struct RequestValues<'a, 'm> {
    pub model: &'m Model,
    pub pattern: &'a Pattern,
    pub step: &'a Step<'m>,
    /// The bounds of the range, both included.
    pub range: Option<&'a (String, String)>,
    pub existing: &'a Existing,
}

/// Values of existing items that an application knows, by the field of a partition key: one of each time bucket.
pub(super) type Existing = BTreeMap<String, Vec<String>>;

/// Returns what a step knows from existing items: the values of fields that neither the inputs nor followed items give.
pub(super) fn existing(pattern: &Pattern, step: &Step<'_>, all: &[Known<'_>]) -> Existing {
    let links = step.follow.iter().flat_map(|follow| &follow.links);
    let linked: BTreeSet<&str> = links.map(|link| link.to.as_str()).collect();
    let is_input = |field: &str| step.follow.is_none() && pattern.inputs.iter().any(|input| input == field);
    let is_given = |field: &str| field == SHARD || linked.contains(field) || is_input(field);
    let fields = step.partition.fields().filter(|field| !is_given(field));
    let own = || all.iter().filter(|one| step.targets.iter().any(|entity| entity.name == one.entity.name));
    let values = |field: &str| {
        let format = format_of(step, field);
        let mut buckets = BTreeSet::new();
        let is_new = |value: &&String| buckets.insert(format.apply(value));
        own().filter_map(|one| one.texts.get(field)).filter(is_new).cloned().collect()
    };
    fields.map(|field| (field.to_owned(), values(field))).collect()
}

/// How the partition key of a step holds a field.
fn format_of(step: &Step<'_>, field: &str) -> Format {
    step.partition.shortest_bucket(field).map_or(Format::Plain, Format::Bucket)
}

impl RequestValues<'_, '_> {
    /// Returns the texts of every request for these known values. Time buckets that are read in turn are a round each; all other requests are one round.
    pub fn rounds(&self, known: &Attributes) -> Vec<Vec<Vec<(usize, KeyTexts)>>> {
        let mut sets = vec![known.clone()];
        for field in self.unknown_fields(known) {
            if !sets[0].contains_key(field) {
                sets = sets
                    .into_iter()
                    .flat_map(|set| with_each(&set, field, &self.values_of(field, &set)))
                    .collect();
                if sets.is_empty() {
                    return Vec::new();
                }
            }
        }
        let newest_first = self.step.afterwards.iter().find_map(|work| match work {
            Afterwards::InTurn { newest_first, .. } => Some(*newest_first),
            _ => None,
        });
        let order = self.pattern.order.as_ref().filter(|_| newest_first.is_some());
        let mut rounds: BTreeMap<&str, Vec<Vec<(usize, KeyTexts)>>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for set in &sets {
            let texts = self.texts(set).filter(|texts| seen.insert(format!("{texts:?}")));
            let bucket = order.and_then(|order| set.get(&order.by)).map_or("", String::as_str);
            rounds.entry(bucket).or_default().extend(texts);
        }
        let mut rounds: Vec<_> = rounds.into_values().collect();
        if newest_first == Some(true) {
            rounds.reverse();
        }
        rounds
    }

    /// Returns the number of the requests of [`RequestValues::rounds`], without making them.
    pub fn number(&self, known: &Attributes) -> u64 {
        let mut known = known.clone();
        let mut requests = 1_u64;
        for field in self.unknown_fields(&known.clone()) {
            if !known.contains_key(field) {
                let values = self.values_of(field, &known);
                requests = requests.saturating_mul(values.len() as u64);
                known.extend(values.into_iter().next().map(|value| (field.to_owned(), value)));
            }
        }
        requests
    }

    /// The fields whose values the caller does not know. The shard may follow from one of the alternatives, which come first.
    fn unknown_fields(&self, known: &Attributes) -> Vec<&str> {
        let alternatives = self.step.alternatives.keys().map(String::as_str);
        let fields = alternatives.chain(self.step.partition.fields());
        fields.filter(|field| !known.contains_key(*field)).collect()
    }

    /// The values of a field that the caller does not know: all shards, all alternatives, the time buckets of the range or those of existing items.
    fn values_of(&self, field: &str, known: &Attributes) -> Vec<String> {
        if let Some(values) = self.step.alternatives.get(field) {
            return values.clone();
        }
        if field == SHARD {
            return self.step.shards_of(known);
        }
        let format = format_of(self.step, field);
        if let (Format::Bucket(length), Some((from, to))) = (format, self.range)
            && self.pattern.range.as_ref().is_some_and(|range| range.by == field)
            && let Some(buckets) = buckets::between(from, to, length)
        {
            return buckets;
        }
        self.existing.get(field).cloned().unwrap_or_default()
    }

    fn texts(&self, values: &Attributes) -> Option<Vec<(usize, KeyTexts)>> {
        let clauses = self.step.clauses().into_iter();
        let one = |(position, sort): (usize, SortCondition)| {
            let texts = match &sort {
                SortCondition::Any => return None,
                SortCondition::Equals(template) => KeyTexts::Equals(template.fill(values).ok()?),
                SortCondition::BeginsWith(template) => KeyTexts::BeginsWith(template.fill(values).ok()?),
                SortCondition::Between { .. } => {
                    let (from, to) = self.range?;
                    let (from, to) = wide_range_texts(self.model, self.step, values, Some(from), Some(to))?;
                    KeyTexts::Between(from, to)
                }
                SortCondition::Range { from, to } => KeyTexts::Between(from.clone(), to.clone()),
            };
            Some((position, texts))
        };
        clauses.filter(|(_, sort)| *sort != SortCondition::Any).map(one).collect()
    }
}

fn with_each(set: &Attributes, field: &str, values: &[String]) -> Vec<Attributes> {
    let with = |value: &String| {
        let mut set = set.clone();
        set.insert(field.to_owned(), value.clone());
        set
    };
    values.iter().map(with).collect()
}
