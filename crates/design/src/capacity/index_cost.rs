//! What indexes cost a month: their storage, and the writes that maintain them.

use crate::capacity::contents::contents;
use crate::capacity::cost;
use crate::capacity::prices::Prices;
use crate::capacity::write_effects::effects;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Index, Model};
use std::collections::BTreeMap;

/// The most index entries that declared writes may touch; what it costs to maintain more is not computed.
const MAX_ENTRIES: usize = 100_000;

/// Returns the price of each index for a month, on demand, at the declared rates and sizes; `None` if the model declares too many writes.
pub fn months<'m>(model: &'m Model, prices: &Prices) -> Option<BTreeMap<&'m str, f64>> {
    let actions: usize = model.writes.iter().map(|write| write.actions.len()).sum();
    if actions.saturating_mul(model.indexes.len()) > MAX_ENTRIES {
        return None;
    }
    let mut units: BTreeMap<String, f64> = BTreeMap::new();
    for write in &model.writes {
        let rate = write.rps.unwrap_or_default();
        for effect in effects(model, write) {
            if let Some(index) = effect.index {
                *units.entry(index).or_default() += effect.units * rate;
            }
        }
    }
    let month = |index: &'m Index| {
        let writes = units.get(&index.name).copied().unwrap_or_default();
        let load = cost::Load { writes, ..cost::Load::default() };
        let gigabytes = contents(model, TableOrIndex { index: Some(index) }).stored().value / 1e9;
        (index.name.as_str(), load.on_demand(prices) + gigabytes * prices.gigabyte)
    };
    Some(model.indexes.iter().map(month).collect())
}
