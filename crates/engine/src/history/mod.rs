//! The history of a table: the former states of its items.
//!
//! ```text
//!  items    A7           C2   D1          current states
//!  history  A│30 → A5    B│20 → B1        the states before the changes at 30 and at 20
//!           A│40 → A6    D│50 → absent
//! ```
//! The table at a moment consists of its current items, each replaced by the first row of its history after that moment, if there
//! is one: at 35 that is A6, C2. So a backup copies nothing, and the past is read in pages like the present ([`past`]). A history,
//! and the items themselves, outlive the table as long as they are needed.
//!
//! With point-in-time recovery every change is recorded. Without it only certain moments must stay readable, the *pins* of backups
//! and of running restores and exports; then the first change of an item after the newest pin is enough. [`history_maintenance`]
//! trims what no pin or recovery period needs.

pub mod change_history;
pub mod history_maintenance;
pub mod past;

use crate::catalog::catalog_rows::put_record;
use crate::catalog::table::TableRecord;
use crate::key::stored_key::Key;
use crate::stream::read_stream::read_number;
use partita_store::{Space, Write};
use serde::{Deserialize, Serialize};

/// Microseconds since 1970, strictly increasing with every decision that changes a table. All changes of one decision have the same
/// moment.
pub type Moment = u64;

const DAY_MILLIS: u64 = 24 * 60 * 60 * 1_000;
/// How often rows are trimmed within a recovery period.
const TRIMS_PER_PERIOD: u64 = 24;

/// The stored record of a history. Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct History {
    pub table: String,
    pub table_id: String,
    /// The space of the table's items.
    pub items: u32,
    pub space: u32,
    /// Point-in-time recovery, if enabled.
    pub recovery: Option<RecoveryRecord>,
    /// Without recovery, the first change of an item after this moment is recorded.
    pub base: Moment,
    pub pins: Vec<Pin>,
    /// The table is deleted; its items stay while there are pins.
    pub table_deleted: bool,
    pub trim: Trim,
}

/// The state of trimming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trim {
    Due,
    Running,
    Done { millis: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryRecord {
    pub days: u32,
    /// Earlier moments cannot be restored.
    pub since: Moment,
}

/// A moment that must stay readable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The id of a backup, an export or a restore.
    pub holder: String,
    pub moment: Moment,
    /// The backup that a restore reads.
    pub backup: Option<String>,
    /// When the pin expires.
    pub expires_millis: Option<u64>,
}

/// Which changes are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    Every,
    /// The first change of an item after the base, under this moment.
    FirstAt(Moment),
}

impl History {
    pub fn of(table: &TableRecord, space: u32) -> History {
        History {
            table: table.name.clone(),
            table_id: table.id.clone(),
            items: table.space,
            space,
            recovery: None,
            base: 0,
            pins: Vec::new(),
            table_deleted: false,
            trim: Trim::Due,
        }
    }

    pub fn space(&self) -> Space {
        Space(self.space)
    }

    pub fn items(&self) -> Space {
        Space(self.items)
    }

    pub fn retention(&self) -> Retention {
        match self.recovery {
            Some(_) => Retention::Every,
            None => Retention::FirstAt(self.base + 1),
        }
    }

    /// Pins the current state, at a moment just returned by [`tick`].
    pub fn pin_now(&mut self, pin: Pin) {
        self.base = self.base.max(pin.moment);
        self.pins.push(pin);
    }

    /// Pins a former state: at a moment within the recovery period, or that of a backup.
    pub fn pin_past(&mut self, pin: Pin) {
        self.pins.push(pin);
    }

    /// Removes a pin, and makes a trim due; with recovery, trims are periodic anyway.
    pub fn unpin(&mut self, holder: &str) {
        self.pins.retain(|pin| pin.holder != holder);
        if self.recovery.is_none() {
            self.trim = Trim::Due;
        }
    }

    pub fn enable_recovery(&mut self, days: u32, moment: Moment) {
        // A longer period does not bring back what is trimmed already.
        let since = self.recovery.map(|known| known.since.max(moment.saturating_sub(known.period_micros())));
        self.recovery = Some(RecoveryRecord { days, since: since.unwrap_or(moment) });
    }

    pub fn disable_recovery(&mut self, moment: Moment) {
        self.recovery = None;
        self.base = moment;
        self.trim = Trim::Due;
    }

    /// Whether any pin or recovery needs it.
    pub fn is_needed(&self) -> bool {
        self.recovery.is_some() || !self.pins.is_empty()
    }

    pub fn trim_is_due(&self, now: u64) -> bool {
        let interval = self.recovery.map(|recovery| u64::from(recovery.days) * DAY_MILLIS / TRIMS_PER_PERIOD);
        match self.trim {
            Trim::Due | Trim::Running => true,
            Trim::Done { millis } => interval.is_some_and(|interval| now >= millis + interval),
        }
    }

    /// Records that a part was trimmed according to an earlier state. If less is needed now, the trim starts over.
    pub fn trimmed(&mut self, earlier: &History, is_last: bool, now: u64) {
        let same_pins = earlier.pins.iter().all(|pin| self.pins.contains(pin));
        let same_needs = same_pins && earlier.recovery == self.recovery;
        if let Some(recovery) = &mut self.recovery {
            // Trimmed rows do not come back if the clock is set back.
            recovery.since = recovery.earliest(now);
        }
        self.trim = match (same_needs, is_last) {
            (false, _) => Trim::Due,
            (true, false) => Trim::Running,
            (true, true) => Trim::Done { millis: now },
        };
    }

    /// Whether a row is needed to read a moment before its own `moment` and not before `previous`, the moment of the item's
    /// preceding row.
    pub fn needs(&self, previous: Moment, moment: Moment, now: u64) -> bool {
        let recoverable = self.recovery.is_some_and(|recovery| moment > recovery.earliest(now));
        recoverable || self.pins.iter().any(|pin| previous <= pin.moment && pin.moment < moment)
    }

    /// The writes that store this record.
    pub fn store(&self) -> [Write; 2] {
        put_record(Key::History { space: self.space() }, self)
    }
}

impl RecoveryRecord {
    fn period_micros(&self) -> u64 {
        u64::from(self.days) * DAY_MILLIS * 1_000
    }

    /// The earliest moment that can be restored.
    pub fn earliest(&self, now: u64) -> Moment {
        self.since.max((now * 1_000).saturating_sub(self.period_micros()))
    }
}

/// The moment of a change made now, after all earlier ones.
pub fn next_moment(last: Option<Moment>, now: u64) -> Moment {
    (now * 1_000).max(last.map_or(0, |last| last + 1))
}

/// The key of the row with a table's last moment.
pub fn last_moment_key(items: Space) -> Vec<u8> {
    Key::NextSequence { of: items }.to_bytes()
}

pub fn store_last_moment(items: Space, moment: Moment) -> Write {
    Write::Put { key: last_moment_key(items), value: moment.to_be_bytes().to_vec() }
}

/// A new moment between all earlier and all later changes. The moment before it is left unused, for
/// [`Retention::FirstAt`].
pub fn tick(last_row: Option<&[u8]>, now: u64) -> Moment {
    next_moment(read_number(last_row).map(|last| last + 1), now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> History {
        History {
            table: "abc".into(),
            table_id: "id".into(),
            items: 16,
            space: 17,
            recovery: None,
            base: 0,
            pins: Vec::new(),
            table_deleted: false,
            trim: Trim::Done { millis: 1 },
        }
    }

    fn pin(holder: &str, moment: Moment) -> Pin {
        Pin { holder: holder.into(), moment, backup: None, expires_millis: None }
    }

    #[test]
    fn moments_never_repeat_and_follow_the_clock() {
        assert_eq!(next_moment(None, 5), 5_000);
        assert_eq!(next_moment(Some(5_000), 5), 5_001);
        assert_eq!(next_moment(Some(9_000), 5), 9_001);
        // The clock was set back: a tick still leaves one moment unused.
        assert_eq!(tick(Some(&9_000u64.to_be_bytes()), 5), 9_002);
        assert_eq!(tick(None, 5), 5_000);
    }

    #[test]
    fn pins_need_the_first_row_after_them() {
        let mut history = history();
        history.pin_now(pin("a", 100));
        history.pin_now(pin("b", 200));
        assert_eq!(history.retention(), Retention::FirstAt(201));
        // Rows at 90, 101, 150, 201 and 300 of one item.
        let needs = |previous, moment| history.needs(previous, moment, 1_000);
        assert!(!needs(0, 90));
        assert!(needs(90, 101));
        assert!(!needs(101, 150));
        assert!(needs(150, 201));
        assert!(!needs(201, 300));
        // If that row does not exist, the next one is needed instead.
        assert!(needs(90, 150));
    }

    #[test]
    fn recovery_needs_the_rows_of_its_period() {
        let mut history = history();
        let now = 100 * DAY_MILLIS;
        history.enable_recovery(2, 1);
        assert_eq!(history.retention(), Retention::Every);
        let earliest = history.recovery.map(|recovery| recovery.earliest(now)).unwrap();
        assert_eq!(earliest, 98 * DAY_MILLIS * 1_000);
        assert!(!history.needs(0, earliest, now) && history.needs(0, earliest + 1, now));
        // A longer period does not bring back what is trimmed already.
        history.enable_recovery(35, now * 1_000);
        assert_eq!(history.recovery.map(|recovery| recovery.since), Some(earliest));
        history.disable_recovery(now * 1_000);
        assert!(!history.is_needed() && history.trim_is_due(now));
    }

    #[test]
    fn trims_are_due_several_times_per_period() {
        let mut history = history();
        history.trim = Trim::Done { millis: 10 * DAY_MILLIS };
        assert!(!history.trim_is_due(u64::MAX));
        history.enable_recovery(1, 0);
        assert!(!history.trim_is_due(10 * DAY_MILLIS + 3_599_999));
        assert!(history.trim_is_due(10 * DAY_MILLIS + 3_600_000));
        history.unpin("unknown");
        assert!(!history.trim_is_due(0));
        history.disable_recovery(0);
        history.trim = Trim::Done { millis: 1 };
        history.unpin("unknown");
        assert!(history.trim_is_due(0));
    }

    #[test]
    fn a_trim_starts_over_if_less_is_needed_meanwhile() {
        let mut history = history();
        history.pin_now(pin("a", 100));
        history.enable_recovery(1, 200);
        let earlier = history.clone();
        history.trimmed(&earlier, false, 1);
        assert_eq!(history.trim, Trim::Running);
        history.disable_recovery(300);
        history.trimmed(&earlier, false, 1);
        assert_eq!(history.trim, Trim::Due);
        let earlier = history.clone();
        history.unpin("a");
        history.trimmed(&earlier, true, 1);
        assert_eq!(history.trim, Trim::Due);
        history.trimmed(&history.clone(), true, 1);
        assert_eq!(history.trim, Trim::Done { millis: 1 });
    }
}
