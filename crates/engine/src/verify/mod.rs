//! The database checks itself: every row is what its key says, and what is kept twice agrees.
//!
//! | looked at | what must hold |
//! |---|---|
//! | catalog | records can be read, lie under their own keys and name what is there; every space has one owner |
//! | items | canonical bytes, key attributes of the schema's types, the row lies where they say |
//! | indexes, order of expiry | each item has its entries, as they should be; each entry has its item |
//! | counters, item collections | rows and bytes are what there is |
//! | streams | records can be read, are in the right shard, and no number is missing |
//! | histories, backups | rows can be read, lie under their item's key, at moments that have been; backups are kept |
//! | tokens, exports, imports … | records can be read; tokens and the times they lapse at fit each other |
//!
//! A decision commits as a whole, so within one snapshot all of this holds, whatever is written meanwhile. The walk takes
//! pages out of a snapshot and takes a new one from time to time ([`Pace`]); what it compares row by row is always of one
//! snapshot. Totals are compared only if the snapshot lasted for the whole of what they count; otherwise that is told
//! ([`Event::NotCompared`]) and is no finding. Alone with the database one snapshot lasts for everything.
//!
//! Nothing here depends on the catalog that runs: a damaged database can be looked at before it can be opened.

mod catalog;
mod entries;
mod finding;
mod histories;
mod items;
mod records;
mod streams;
mod walk;

pub use finding::{Event, Finding, FindingKind, Progress, Summary, hex};
pub(crate) use items::shown_key;

use crate::Engine;
use crate::clock::Clock;
use partita_store::{Decision, Rows, Store, StoreError};
use std::ops::ControlFlow;
use std::time::Duration;
use walk::{Ended, Outcome, Verification};

/// Rows that are mended in one commit.
const MENDED_TOGETHER: usize = 1_024;

/// How a verification goes beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// For how long a snapshot may be held; without a limit if nobody writes. A store keeps what a snapshot sees, so
    /// its file may grow meanwhile.
    hold: Option<Duration>,
    /// The pause behind every page.
    rest: Option<Duration>,
}

impl Pace {
    /// Nobody else uses the database.
    pub const ALONE: Pace = Pace { hold: None, rest: None };
    /// A server answers requests meanwhile.
    pub const BESIDE_OTHERS: Pace =
        Pace { hold: Some(Duration::from_secs(3)), rest: Some(Duration::from_millis(1)) };

    /// A snapshot for every page, for tests of what that must not break.
    #[doc(hidden)]
    pub const RESTLESS: Pace = Pace { hold: Some(Duration::ZERO), rest: None };
}

impl<S: Store> Engine<S> {
    /// Verifies the database while it runs. Takes a thread for as long as it lasts.
    pub fn verify(
        &self,
        pace: Pace,
        tell: impl FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Summary, StoreError> {
        verify(&self.store, &self.clock, pace, tell)
    }
}

/// Verifies the database in a store. `tell` hears of what is found and of progress, and may end it.
pub fn verify<S: Store>(
    store: &S,
    clock: &Clock,
    pace: Pace,
    mut tell: impl FnMut(Event) -> ControlFlow<()>,
) -> Result<Summary, StoreError> {
    let mut verification = Verification::new(store, clock, pace, &mut tell)?;
    match verification.run() {
        Ok(()) => verification.summary.finished = true,
        Err(Ended::Stopped) => {}
        Err(Ended::Failed(error)) => return Err(error),
    }
    Ok(verification.summary)
}

/// Mends what follows from items: entries of indexes and of the order of expiry, and totals. Only for a database that
/// nobody else uses meanwhile. Says how many rows were written. What that changes in turn shows when it is verified again.
pub async fn mend<S: Store>(store: &S, findings: Vec<Finding>) -> Result<usize, StoreError> {
    let writes: Vec<_> = findings.into_iter().flat_map(|finding| finding.remedy).collect();
    let count = writes.len();
    for some in writes.chunks(MENDED_TOGETHER) {
        let some = some.to_vec();
        store.decide(Vec::new(), move |_: &Rows<'_>| Decision::commit(some.clone(), ())).await?;
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
