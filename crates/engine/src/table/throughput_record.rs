//! When the provisioned throughput of a table or an index last changed, and how often it may decrease in a day.
//!
//! Four decreases a day (UTC) are free; each further one is rejected until an hour after the last.

use crate::table::table_description::seconds;
use partita_api::table::{Throughput, ThroughputChanges};
use partita_api::{Exception, ExceptionKind};
use partita_value::calendar::DateTime;
use serde::{Deserialize, Serialize};

const HOUR_MILLIS: u64 = 3_600_000;
const DAY_MILLIS: u64 = 24 * HOUR_MILLIS;
const FREE_DECREASES: u64 = 4;

/// The stored changes of the throughput of a table or an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThroughputRecord {
    #[serde(default, rename = "throughput_increased_millis", skip_serializing_if = "Option::is_none")]
    increased_millis: Option<u64>,
    #[serde(default, rename = "throughput_decreased_millis", skip_serializing_if = "Option::is_none")]
    decreased_millis: Option<u64>,
    /// The number of decreases on the day of the last one.
    #[serde(default, rename = "throughput_decreases", skip_serializing_if = "is_zero")]
    decreases: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ThroughputRecord {
    /// Records a change, unless it is one decrease too many.
    pub fn record_change(&mut self, old: Throughput, new: Throughput, now: u64) -> Result<(), Exception> {
        if new.read < old.read || new.write < old.write {
            let today = self.decreases_today(now);
            if let Some(last) = self.decreased_millis
                && today >= FREE_DECREASES
                && now < last + HOUR_MILLIS
            {
                return Err(too_many(today, last));
            }
            self.decreased_millis = Some(now);
            self.decreases = today + 1;
        }
        if new.read > old.read || new.write > old.write {
            self.increased_millis = Some(now);
        }
        Ok(())
    }

    fn decreases_today(&self, now: u64) -> u64 {
        let is_today = self.decreased_millis.is_some_and(|last| last / DAY_MILLIS == now / DAY_MILLIS);
        if is_today { self.decreases } else { 0 }
    }

    pub fn describe(&self, now: u64) -> ThroughputChanges {
        ThroughputChanges {
            increased_at: self.increased_millis.map(seconds),
            decreased_at: self.decreased_millis.map(seconds),
            decreases_today: self.decreases_today(now),
        }
    }
}

fn too_many(today: u64, last: u64) -> Exception {
    let midnight = (last / DAY_MILLIS + 1) * DAY_MILLIS;
    let message = format!(
        "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. After the first {FREE_DECREASES} decreases, each subsequent decrease in the same UTC day can be performed at most once every 3600 seconds. Number of decreases today: {today}. Last decrease at {}. Next decrease can be made at {}",
        spelled_out(last),
        spelled_out((last + HOUR_MILLIS).min(midnight))
    );
    Exception::new(ExceptionKind::LimitExceededException, message)
}

/// `Friday, October 9, 2026 at 12:21:34 AM Coordinated Universal Time`
fn spelled_out(millis: u64) -> String {
    const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let DateTime { year, month, day, hour, minute, second, .. } = DateTime::from_unix_millis(millis);
    let half = if hour < 12 { "AM" } else { "PM" };
    format!(
        "{}, {} {day}, {year} at {}:{minute:02}:{second:02} {half} Coordinated Universal Time",
        DAYS[(millis / DAY_MILLIS) as usize % 7],
        MONTHS[(month as usize - 1) % 12],
        (hour + 11) % 12 + 1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Friday, 9 October 2026, 00:21:34.
    const START: u64 = 1_791_505_294_000;

    fn units(read: u64) -> Throughput {
        Throughput { read, write: 10 }
    }

    #[test]
    fn a_fifth_decrease_is_allowed_an_hour_after_the_fourth() {
        let mut record = ThroughputRecord::default();
        for read in (6..10).rev() {
            record.record_change(units(read + 1), units(read), START).unwrap();
        }
        assert_eq!(record.describe(START).decreases_today, 4);
        let refused =
            record.record_change(units(6), Throughput { read: 5, write: 20 }, START + HOUR_MILLIS - 1);
        let exception = refused.unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::LimitExceededException);
        assert_eq!(
            exception.message,
            "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. After the first 4 decreases, each subsequent decrease in the same UTC day can be performed at most once every 3600 seconds. Number of decreases today: 4. Last decrease at Friday, October 9, 2026 at 12:21:34 AM Coordinated Universal Time. Next decrease can be made at Friday, October 9, 2026 at 1:21:34 AM Coordinated Universal Time"
        );
        record.record_change(units(6), units(7), START + 1).unwrap();
        record.record_change(units(7), units(5), START + HOUR_MILLIS).unwrap();
        assert_eq!(record.describe(START + HOUR_MILLIS).decreases_today, 5);
        record.record_change(units(5), units(4), START + HOUR_MILLIS + 1).unwrap_err();
    }

    #[test]
    fn the_count_restarts_at_midnight() {
        let evening = START + 23 * HOUR_MILLIS;
        let mut record = ThroughputRecord::default();
        for read in (6..10).rev() {
            record.record_change(units(read + 1), units(read), evening).unwrap();
        }
        let message = record.record_change(units(6), units(5), evening).unwrap_err().message;
        assert!(
            message.ends_with(
                "Last decrease at Friday, October 9, 2026 at 11:21:34 PM Coordinated Universal Time. Next decrease can be made at Saturday, October 10, 2026 at 12:00:00 AM Coordinated Universal Time"
            ),
            "{message}"
        );
        let midnight = (evening / DAY_MILLIS + 1) * DAY_MILLIS;
        assert_eq!(record.describe(midnight).decreases_today, 0);
        assert!(record.describe(midnight).decreased_at.is_some());
        record.record_change(units(6), units(5), midnight).unwrap();
        assert_eq!(record.describe(midnight).decreases_today, 1);
    }
}
