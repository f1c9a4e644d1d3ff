//! Point-in-time recovery of a table: whether it is enabled, and the window of times that can be restored.

use crate::Engine;
use crate::catalog::table::Table;
use crate::history::{Moment, RecoveryRecord};
use partita_api::backup::continuous_backups::{ContinuousBackups, Recovery};
use partita_api::{Exception, ExceptionKind};
use partita_store::Store;

impl<S: Store> Engine<S> {
    /// Returns a table's point-in-time recovery, if enabled.
    pub(crate) fn recovery(&self, table: &Table) -> Option<RecoveryRecord> {
        table.history.and_then(|space| self.catalog.history(space)).and_then(|history| history.recovery)
    }

    /// Describes a table's continuous backups, with the window of its point-in-time recovery as of now.
    pub(crate) fn continuous_backups(&self, table: &Table) -> ContinuousBackups {
        let now = self.clock.now_millis();
        ContinuousBackups { recovery: self.recovery(table).map(|recovery| recovery_window(recovery, now)) }
    }
}

/// The window in whole seconds, because clients send whole seconds back.
pub fn recovery_window(recovery: RecoveryRecord, now: u64) -> Recovery {
    let seconds = |millis: u64| millis / 1_000 * 1_000;
    let earliest_millis = seconds(recovery.earliest(now) / 1_000);
    Recovery { period_days: recovery.days, earliest_millis, latest_millis: seconds(now).max(earliest_millis) }
}

/// The moment at the end of a millisecond, after all of its changes, if it is within the window. Clients send whole seconds, so the
/// first second belongs to the window as a whole.
pub fn recoverable_moment(recovery: RecoveryRecord, millis: i64, now: u64) -> Option<Moment> {
    let millis = u64::try_from(millis).ok()?;
    let earliest = recovery.earliest(now);
    let is_within = millis / 1_000 >= earliest / 1_000_000 && millis <= now;
    is_within.then(|| (millis * 1_000 + 999).max(earliest))
}

pub fn recovery_is_disabled(table: &str) -> Exception {
    let message = format!("Point in time recovery is not enabled for table '{table}'");
    Exception::new(ExceptionKind::PointInTimeRecoveryUnavailableException, message)
}
