//! What one index costs a month: its storage, and the writes that maintain it.

use crate::capacity::cost;
use crate::capacity::prices::Prices;
use crate::capacity::write_effects::effects;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Index, Model};

/// Returns the price of an index for a month, on demand, at the declared rates and sizes.
pub fn month(model: &Model, index: &Index, prices: &Prices) -> f64 {
    let own = |name: &Option<String>| name.as_ref() == Some(&index.name);
    let writes = model.writes.iter().map(|write| {
        let all = effects(model, write);
        let units: f64 = all.iter().filter(|effect| own(&effect.index)).map(|effect| effect.units).sum();
        units * write.rps.unwrap_or_default()
    });
    let load = cost::Load { writes: writes.sum(), ..cost::Load::default() };
    let gigabytes = cost::stored_bytes(model, TableOrIndex { index: Some(index) }).value / 1e9;
    load.on_demand(prices) + gigabytes * prices.gigabyte
}
