//! Repairs the catalog in the background: rewrites a record if one of its two copies is missing or damaged, and the number
//! of the next space if it was lost.

use crate::Engine;
use crate::catalog::{Catalog, store_record};
use crate::key::stored_key::{self, Key};
use crate::maintenance::Progress;
use crate::storage_failed;
use partita_api::Exception;
use partita_store::{Damage, Decision, Direction, KeyRange, Rows, Snapshot, Store, StoreError, Write};
use std::cell::Cell;
use std::ops::ControlFlow;

/// Rows repaired in one step.
const STEP: usize = 256;
/// Spaces skipped after the last known one: spaces without rows are not known.
const SPACES_LEFT_OUT: u32 = 1_024;

impl<S: Store> Engine<S> {
    pub(crate) async fn catalog_step(&self) -> Result<Progress, Exception> {
        let keys = self.catalog.incomplete(STEP);
        if keys.is_empty() {
            return Ok(Progress::Done);
        }
        let (catalog, repaired) = (self.catalog.clone(), keys.clone());
        let decision = move |rows: &Rows<'_>, _: &[usize]| {
            let each = repaired.iter().zip(rows);
            let writes = each.flat_map(|(key, row)| current_row(&catalog, key, row.as_deref())).collect();
            Decision::commit(writes, ())
        };
        self.store.decide_over_damage(keys.clone(), decision).await.map_err(storage_failed)?;
        tracing::info!(rows = keys.len(), "second copies of catalog rows were restored");
        self.catalog.completed(&keys);
        Ok(Progress::More)
    }
}

/// The writes that store the current state of a row of the catalog; none if it has since been removed.
fn current_row(catalog: &Catalog, key: &[u8], row: Option<&[u8]>) -> Vec<Write> {
    if key == Key::NextSpace.to_bytes() {
        return catalog.spaces(row).store().to_vec();
    }
    if let Some(name) = stored_key::table_of_record(key) {
        return catalog.find(name).iter().flat_map(|table| store_record(&table.record)).collect();
    }
    let (streams, histories) = (catalog.streams(), catalog.histories());
    let stream = streams.values().find(|stream| Key::Stream { space: stream.space() }.to_bytes() == key);
    let history = histories.values().find(|known| Key::History { space: known.space() }.to_bytes() == key);
    stream
        .map(|stream| stream.store())
        .into_iter()
        .chain(history.map(|known| known.store()))
        .flatten()
        .collect()
}

/// The first space that was certainly never allocated, for when the row with the next one is lost. `owned` are the spaces
/// that records name.
pub fn next_space(snapshot: &impl Snapshot, owned: impl Iterator<Item = u32>) -> Result<u32, StoreError> {
    let last = Cell::new(owned.max());
    let end = stored_key::all_catalog_copies().start;
    let range = KeyRange { start: stored_key::after_fixed_spaces(), end };
    let take = |key: &[u8]| {
        last.set(last.get().max(key.first_chunk::<4>().map(|space| u32::from_be_bytes(*space))));
        ControlFlow::Break(())
    };
    let damaged = |damage: Damage| damage.keys.map_or(ControlFlow::Continue(()), |keys| take(&keys.start));
    snapshot.range_past_damage(&range, Direction::Descending, |key, _| take(key), damaged)?;
    Ok(last.get().map_or(0, |last| last.saturating_add(SPACES_LEFT_OUT)))
}
