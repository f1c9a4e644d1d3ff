//! Verifies a database: every row is what its key says, and redundant data agree.
//!
//! | checked | what must hold |
//! |---|---|
//! | catalog | records can be read, have their own keys and refer to existing records; every space has one owner |
//! | items | canonical bytes, key attributes of the schema's types, stored under the key they determine |
//! | indexes, expiry entries | each item has its entries, with the right content; each entry has its item |
//! | counters, item collections | rows and bytes match the stored ones |
//! | streams | records can be read, are in the right shard, and no sequence number is missing |
//! | histories, backups | rows can be read, have their item's key and a moment in the past; backups are pinned |
//! | tokens, exports, imports … | records can be read; every token has an entry with the time it lapses, and vice versa |
//!
//! A decision commits atomically, so all of this holds within one snapshot, whatever is written at the same time. Pages are read from a
//! snapshot that is replaced from time to time ([`Pace`]); rows are always compared within one snapshot. Totals are compared only
//! if one snapshot lasted for everything they count; otherwise that is reported ([`Event::NotCompared`]) and is not a finding.
//! Without concurrent work one snapshot lasts for the whole verification.
//!
//! Nothing here uses the engine's catalog: a damaged database can be verified before it can be opened.

mod check_catalog;
mod check_entries;
mod check_histories;
mod check_items;
mod check_records;
mod check_streams;
mod finding;
mod verification;

pub(crate) use check_items::shown_key;
pub use finding::{Event, Finding, FindingKind, Progress, Summary, hex};

use crate::Engine;
use crate::clock::Clock;
use partita_store::{Decision, Rows, Store, StoreError};
use std::ops::ControlFlow;
use std::time::Duration;
use verification::{EarlyEnd, Outcome, Verification};

/// Rows repaired in one commit.
const REPAIRED_PER_COMMIT: usize = 1_024;

/// How a verification shares the database with other work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How long a snapshot may be held; unlimited if there are no writers. A store retains what a snapshot sees, so its file may grow
    /// meanwhile.
    max_snapshot_age: Option<Duration>,
    /// The pause after every page.
    pause: Option<Duration>,
}

impl Pace {
    /// There is no other work.
    pub const EXCLUSIVE: Pace = Pace { max_snapshot_age: None, pause: None };
    /// A server handles requests meanwhile.
    pub const SHARED: Pace =
        Pace { max_snapshot_age: Some(Duration::from_secs(3)), pause: Some(Duration::from_millis(1)) };

    /// A new snapshot for every page, for tests.
    #[doc(hidden)]
    pub const NEW_SNAPSHOT_PER_PAGE: Pace = Pace { max_snapshot_age: Some(Duration::ZERO), pause: None };
}

impl<S: Store> Engine<S> {
    /// Verifies the database while the engine runs. Occupies the calling thread.
    pub fn verify(
        &self,
        pace: Pace,
        on_event: impl FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Summary, StoreError> {
        verify(&self.store, &self.clock, pace, on_event)
    }
}

/// Verifies the database in a store. `on_event` is called with findings and progress, and may end the verification.
pub fn verify<S: Store>(
    store: &S,
    clock: &Clock,
    pace: Pace,
    mut on_event: impl FnMut(Event) -> ControlFlow<()>,
) -> Result<Summary, StoreError> {
    let mut verification = Verification::new(store, clock, pace, &mut on_event)?;
    match verification.run() {
        Ok(()) => verification.summary.finished = true,
        Err(EarlyEnd::Stopped) => {}
        Err(EarlyEnd::Failed(error)) => return Err(error),
    }
    Ok(verification.summary)
}

/// Repairs what can be derived from items: index entries, expiry entries and totals. The database must not be used otherwise
/// meanwhile. Returns how many rows were written. A repair may require further ones, which the next verification finds.
pub async fn repair<S: Store>(store: &S, findings: Vec<Finding>) -> Result<usize, StoreError> {
    let writes: Vec<_> = findings.into_iter().flat_map(|finding| finding.remedy).collect();
    let count = writes.len();
    for chunk in writes.chunks(REPAIRED_PER_COMMIT) {
        let chunk = chunk.to_vec();
        store.decide(Vec::new(), move |_: &Rows<'_>| Decision::commit(chunk.clone(), ())).await?;
    }
    Ok(count)
}

impl<S: Store> Verification<'_, S> {
    fn run(&mut self) -> Outcome<()> {
        let records = self.check_catalog()?;
        for table in &records.tables {
            self.check_items(table)?;
            self.check_entries(table)?;
            self.check_collections(table)?;
        }
        for stream in &records.streams {
            self.check_stream(stream)?;
        }
        for history in &records.histories {
            self.check_history(history, &records)?;
        }
        self.check_tokens()?;
        self.check_exchanges()
    }
}
