//! The past of a table: what items were before they changed.
//!
//! ```text
//!  items    A7           C2   D1          as they are
//!  history  A│30 → A5    B│20 → B1        what they were before the change at 30, and before that at 20
//!           A│40 → A6    D│50 → nothing
//! ```
//! What the table was at a moment is its items, each replaced by the first row of its history after that moment, if
//! there is one: at 35 that is A6, C2. So nothing is copied when a backup is made, and the past is read in pages like
//! the present ([`crate::history::past`]). A history outlives its table, and the table's items do too, while somebody needs
//! them.
//!
//! With point-in-time recovery every change is remembered. Without it only certain moments are needed, the *pins* of
//! backups and of what is just being read; then the first change of an item behind the newest pin is enough.

pub mod change_history;
pub mod history_upkeep;
pub mod past;

use crate::catalog::catalog_rows::put_record;
use crate::catalog::table::TableRecord;
use crate::key::stored_key::Key;
use crate::stream::read_stream::read_number;
use partita_store::{Space, Write};
use serde::{Deserialize, Serialize};

/// Microseconds since 1970. Every change of a table has a later one than the change before it, and all changes of one
/// decision have the same.
pub type Moment = u64;

const DAY_MILLIS: u64 = 24 * 60 * 60 * 1_000;
/// How often the rows that nobody needs any more are looked for while recovery is on.
const TRIMS_PER_PERIOD: u64 = 24;

/// What is stored of a history. Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct History {
    pub table: String,
    pub table_id: String,
    /// The space of the table's items.
    pub items: u32,
    pub space: u32,
    /// Point-in-time recovery, if it is on.
    pub recovery: Option<RecoveryRecord>,
    /// Without recovery, the first change of an item behind this moment is remembered.
    pub base: Moment,
    pub pins: Vec<Pin>,
    /// The table is gone; its items stay while there are pins.
    pub table_deleted: bool,
    pub trim: Trim,
}

/// Where the search for rows that nobody needs stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trim {
    Due,
    Running,
    Done { millis: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryRecord {
    pub days: u32,
    /// Nothing is known about earlier moments.
    pub since: Moment,
}

/// A moment that somebody looks at, or will.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The id of a backup, an export or a restore.
    pub holder: String,
    pub moment: Moment,
    /// The backup that a restore reads.
    pub backup: Option<String>,
    /// When it goes by itself.
    pub expires_millis: Option<u64>,
}

/// Which changes are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    Every,
    /// The first change of an item after the base, as if it had been made at this moment.
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

    pub fn keeping(&self) -> Keeping {
        match self.recovery {
            Some(_) => Keeping::Every,
            None => Keeping::FirstAt(self.base + 1),
        }
    }

    /// Keeps what the table is at a moment that has just been [`tick`]ed.
    pub fn pin_now(&mut self, pin: Pin) {
        self.base = self.base.max(pin.moment);
        self.pins.push(pin);
    }

    /// Keeps what the table was at a moment that recovery reaches.
    pub fn pin_past(&mut self, pin: Pin) {
        self.pins.push(pin);
    }

    /// What only this pin needed is due to be trimmed; with recovery that is done from time to time anyway.
    pub fn unpin(&mut self, holder: &str) {
        self.pins.retain(|pin| pin.holder != holder);
        if self.recovery.is_none() {
            self.trim = Trim::Due;
        }
    }

    pub fn turn_recovery_on(&mut self, days: u32, moment: Moment) {
        // What was trimmed already does not come back with a longer period.
        let since = self.recovery.map(|known| known.since.max(moment.saturating_sub(known.period_micros())));
        self.recovery = Some(RecoveryRecord { days, since: since.unwrap_or(moment) });
    }

    pub fn turn_recovery_off(&mut self, moment: Moment) {
        self.recovery = None;
        self.base = moment;
        self.trim = Trim::Due;
    }

    /// Whether anybody needs it.
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

    /// Notes that a part was looked through by what was `seen`. If less is needed than then, all is looked at again.
    pub fn trimmed(&mut self, seen: &History, is_last: bool, now: u64) {
        let pins_stayed = seen.pins.iter().all(|pin| self.pins.contains(pin));
        let needs_stayed = pins_stayed && seen.recovery == self.recovery;
        if let Some(recovery) = &mut self.recovery {
            // What is gone does not come back if the clock is set back.
            recovery.since = recovery.earliest(now);
        }
        self.trim = match (needs_stayed, is_last) {
            (false, _) => Trim::Due,
            (true, false) => Trim::Running,
            (true, true) => Trim::Done { millis: now },
        };
    }

    /// Whether a row is of use: whether somebody may look at a moment before it, but not before `previous`, the
    /// item's row before it.
    pub fn needs(&self, previous: Moment, moment: Moment, now: u64) -> bool {
        let recoverable = self.recovery.is_some_and(|recovery| moment > recovery.earliest(now));
        recoverable || self.pins.iter().any(|pin| previous <= pin.moment && pin.moment < moment)
    }

    /// The writes that store it.
    pub fn store(&self) -> [Write; 2] {
        put_record(Key::History { space: self.space() }, self)
    }
}

impl RecoveryRecord {
    fn period_micros(&self) -> u64 {
        u64::from(self.days) * DAY_MILLIS * 1_000
    }

    /// The first moment that can be restored.
    pub fn earliest(&self, now: u64) -> Moment {
        self.since.max((now * 1_000).saturating_sub(self.period_micros()))
    }
}

/// The moment of a change that is made now, behind all that were before.
pub fn next_moment(last: Option<Moment>, now: u64) -> Moment {
    (now * 1_000).max(last.map_or(0, |last| last + 1))
}

/// The row of a table's last moment.
pub fn last_moment_key(items: Space) -> Vec<u8> {
    Key::NextSequence { of: items }.to_bytes()
}

pub fn store_last_moment(items: Space, moment: Moment) -> Write {
    Write::Put { key: last_moment_key(items), value: moment.to_be_bytes().to_vec() }
}

/// A moment of its own between all changes before and all after it. One is left free before it, for
/// [`Keeping::FirstAt`].
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
        // The clock was set back: a tick still leaves one moment free.
        assert_eq!(tick(Some(&9_000u64.to_be_bytes()), 5), 9_002);
        assert_eq!(tick(None, 5), 5_000);
    }

    #[test]
    fn pins_need_the_first_row_behind_them() {
        let mut history = history();
        history.pin_now(pin("a", 100));
        history.pin_now(pin("b", 200));
        assert_eq!(history.keeping(), Keeping::FirstAt(201));
        // Rows at 90, 101, 150, 201 and 300 of one item.
        let needs = |previous, moment| history.needs(previous, moment, 1_000);
        assert!(!needs(0, 90));
        assert!(needs(90, 101));
        assert!(!needs(101, 150));
        assert!(needs(150, 201));
        assert!(!needs(201, 300));
        // A row that is gone leaves its place to the next one.
        assert!(needs(90, 150));
    }

    #[test]
    fn recovery_needs_what_is_young_enough() {
        let mut history = history();
        let now = 100 * DAY_MILLIS;
        history.turn_recovery_on(2, 1);
        assert_eq!(history.keeping(), Keeping::Every);
        let earliest = history.recovery.map(|recovery| recovery.earliest(now)).unwrap();
        assert_eq!(earliest, 98 * DAY_MILLIS * 1_000);
        assert!(!history.needs(0, earliest, now) && history.needs(0, earliest + 1, now));
        // A longer period does not bring back what was trimmed.
        history.turn_recovery_on(35, now * 1_000);
        assert_eq!(history.recovery.map(|recovery| recovery.since), Some(earliest));
        history.turn_recovery_off(now * 1_000);
        assert!(!history.is_needed() && history.trim_is_due(now));
    }

    #[test]
    fn trims_come_a_few_times_a_period() {
        let mut history = history();
        history.trim = Trim::Done { millis: 10 * DAY_MILLIS };
        assert!(!history.trim_is_due(u64::MAX));
        history.turn_recovery_on(1, 0);
        assert!(!history.trim_is_due(10 * DAY_MILLIS + 3_599_999));
        assert!(history.trim_is_due(10 * DAY_MILLIS + 3_600_000));
        history.unpin("nobody");
        assert!(!history.trim_is_due(0));
        history.turn_recovery_off(0);
        history.trim = Trim::Done { millis: 1 };
        history.unpin("nobody");
        assert!(history.trim_is_due(0));
    }

    #[test]
    fn a_look_by_what_is_no_longer_needed_counts_for_nothing() {
        let mut history = history();
        history.pin_now(pin("a", 100));
        history.turn_recovery_on(1, 200);
        let seen = history.clone();
        history.trimmed(&seen, false, 1);
        assert_eq!(history.trim, Trim::Running);
        history.turn_recovery_off(300);
        history.trimmed(&seen, false, 1);
        assert_eq!(history.trim, Trim::Due);
        let seen = history.clone();
        history.unpin("a");
        history.trimmed(&seen, true, 1);
        assert_eq!(history.trim, Trim::Due);
        history.trimmed(&history.clone(), true, 1);
        assert_eq!(history.trim, Trim::Done { millis: 1 });
    }
}
