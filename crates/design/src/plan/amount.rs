//! How much the requests of a step read, and how much of it is left for the caller.

use super::Planner;
use super::access::Access;
use super::requirement::Requirement;
use crate::capacity::basis::{Basis, Estimate};
use crate::capacity::estimate::{self, ItemCount};
use crate::capacity::{size, time_buckets};
use crate::model::{Entity, Model, Target};

/// What all requests of a step read together.
pub(super) struct Amount {
    pub items: ItemCount,
    pub bytes: f64,
    pub bytes_of_targets: Vec<f64>,
    pub max_bytes: f64,
    /// The items that are left for the caller.
    pub found: ItemCount,
}

impl Amount {
    fn nothing() -> Amount {
        let none = ItemCount::exactly(Estimate::declared(0.0));
        Amount { items: none, bytes: 0.0, bytes_of_targets: Vec::new(), max_bytes: 0.0, found: none }
    }

    fn add(&mut self, items: ItemCount, each: f64) {
        self.items = self.items.plus(items);
        self.bytes += items.average * each;
        self.max_bytes += items.max * each;
    }
}

impl<'m> Planner<'_, 'm> {
    /// What accesses to one partition read. `is_sifted` is whether many items are dropped after the read, so that no `Limit` is sent.
    pub(super) fn amount(
        &self,
        accesses: &[(&Target, Access<'m>)],
        extras: &[&'m Entity],
        is_sifted: bool,
    ) -> Amount {
        let first = &accesses[0].1;
        // Every shard and every time bucket returns up to the limit.
        let limit = self.pattern.limit.map(|limit| limit as f64);
        let requests = first.fan_out as f64;
        let most = limit.map(|limit| Estimate::new(limit * requests, first.fan_out_basis));
        let most = most.filter(|_| !is_sifted);
        let (mut amount, mut lists) = (Amount::nothing(), Amount::nothing());
        for (target, access) in accesses {
            let each = size::entry(self.model, &access.mapping).value;
            let is_sifted = access.filter.len() > access.confirmations.len() || !access.unfiltered.is_empty();
            let is_sure = !target.many && !is_sifted;
            let items = if is_sure { ItemCount::one() } else { collection(self.model, access) };
            amount.bytes_of_targets.push(items.average * each);
            let part = if target.many { &mut lists } else { &mut amount };
            part.add(items, each);
            part.found = part.found.plus(self.left_by_inputs(access, items));
        }
        if let Some(most) = most {
            let whole = lists.items;
            lists.items = whole.at_most(most);
            let read = share(lists.items.average, whole.average);
            lists.bytes *= read;
            let targets = accesses.iter().map(|(target, _)| target);
            let of_lists = amount.bytes_of_targets.iter_mut().zip(targets).filter(|(_, target)| target.many);
            of_lists.for_each(|(bytes, _)| *bytes *= read);
            lists.max_bytes *= share(lists.items.max, whole.max);
        }
        // What the caller tests itself is whole before it is tested.
        let limit = limit.filter(|_| accesses.iter().all(|(_, access)| access.unfiltered.is_empty()));
        let kept = limit.map_or(lists.found, |limit| lists.found.at_most(Estimate::declared(limit)));
        amount.found = amount.found.plus(kept);
        amount.items = amount.items.plus(lists.items);
        amount.bytes += lists.bytes;
        amount.max_bytes += lists.max_bytes;
        for mapping in
            extras.iter().filter_map(|entity| self.keys.mapping(first.mapping.location, &entity.name))
        {
            let keys = Estimate::new(requests, first.fan_out_basis);
            amount.add(
                time_buckets::items_of_value(self.model, mapping, first.buckets as f64)
                    .under_keys(mapping, keys),
                size::entry(self.model, mapping).value,
            );
        }
        amount
    }

    /// The items that a filter on inputs leaves; what other tests leave is not known.
    pub(super) fn left_by_inputs(&self, access: &Access<'m>, read: ItemCount) -> ItemCount {
        let tested = access.filter.iter().filter_map(|requirement| match requirement {
            Requirement::Input(name) => Some(name),
            _ => None,
        });
        let inputs: Vec<&String> = tested.collect();
        if inputs.is_empty() {
            return read;
        }
        let fixed: Vec<String> = access.fixed.iter().chain(inputs).cloned().collect();
        let left = estimate::items_at(self.model, &access.mapping, &fixed);
        ItemCount { average: left.average.min(read.average), max: left.max.min(read.max), ..left }
    }
}

pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 1.0 }
}

/// The items under the keys that are read. A hash spreads them evenly over the shards, but not exactly.
fn collection(model: &Model, access: &Access<'_>) -> ItemCount {
    let (mapping, buckets) = (&access.mapping, access.buckets as f64);
    let all = time_buckets::part(mapping, alternatives(model, access), &access.fixed, buckets);
    let average = (all.average * access.shards.share).max(all.average.min(1.0));
    // How much of a collection is in a range, a time bucket or the shards of some values is not declared.
    let is_in_some_shards = !access.shards.numbers.is_empty() && access.shards.share < 1.0;
    let is_part = access.is_selective || access.is_bounded() || is_in_some_shards;
    let basis = if is_part && all.max > 1.0 { Basis::Assumed } else { all.basis };
    let keys = Estimate::new(access.fan_out as f64, access.fan_out_basis);
    ItemCount { average, basis, ..all }.under_keys(mapping, keys)
}

/// The items of all values that requests take in turn: as many as there are for one value, for each of them, and no more than without the test.
fn alternatives(model: &Model, access: &Access<'_>) -> ItemCount {
    let one = estimate::items_at(model, &access.mapping, &access.fixed);
    if access.alternatives.is_empty() {
        return one;
    }
    let is_open = |name: &&String| !access.alternatives.contains_key(*name);
    let open: Vec<String> = access.fixed.iter().filter(is_open).cloned().collect();
    let all = estimate::items_at(model, &access.mapping, &open);
    let number: f64 = access.alternatives.values().map(|values| values.len() as f64).product();
    ItemCount {
        average: (one.average * number).min(all.average),
        max: (one.max * number).min(all.max),
        ..one
    }
}
