//! Dates of the Gregorian calendar in UTC, and the text forms that AWS uses for them.
//!
//! Years are counted from March, so that the leap day is a year's last, and in eras of 400 years, after which the
//! calendar repeats.

/// Days from the first of March of the year 0 to 1970-01-01.
const DAYS_BEFORE_1970: i64 = 719_468;
const ERA_DAYS: i64 = 146_097;

/// A point in time in UTC, split into calendar date and time of day.
///
/// ```
/// use partita_value::calendar::DateTime;
///
/// let time = DateTime::from_unix_millis(1_794_768_294_123);
/// assert_eq!(time.to_rfc3339(), "2026-11-15T18:44:54.123Z");
/// assert_eq!(time.to_basic(), "20261115T184454Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTime {
    /// The year of the Gregorian calendar.
    pub year: i64,
    /// The month, from 1 to 12.
    pub month: i64,
    /// The day of the month, from 1 to 31.
    pub day: i64,
    /// The hour, from 0 to 23.
    pub hour: i64,
    /// The minute, from 0 to 59.
    pub minute: i64,
    /// The second, from 0 to 59: Unix time has no leap seconds.
    pub second: i64,
    /// The millisecond, from 0 to 999.
    pub millisecond: i64,
}

impl DateTime {
    /// The time that many milliseconds after 1970-01-01.
    pub fn from_unix_millis(millis: u64) -> DateTime {
        let second = DateTime::from_unix_seconds((millis / 1_000) as i64);
        DateTime { millisecond: (millis % 1_000) as i64, ..second }
    }

    /// The time that many seconds after 1970-01-01, or before it if negative.
    pub fn from_unix_seconds(seconds: i64) -> DateTime {
        let (year, month, day) = date_from_days(seconds.div_euclid(86_400));
        let in_day = seconds.rem_euclid(86_400);
        let (hour, minute, second) = (in_day / 3_600, in_day / 60 % 60, in_day % 60);
        DateTime { year, month, day, hour, minute, second, millisecond: 0 }
    }

    /// The extended form with milliseconds and zone: `2026-11-15T18:44:54.123Z`.
    pub fn to_rfc3339(&self) -> String {
        self.to_rfc3339_without_zone() + "Z"
    }

    /// The extended form of stream labels, with milliseconds but no zone: `2026-11-15T18:44:54.123`.
    pub fn to_rfc3339_without_zone(&self) -> String {
        let DateTime { year, month, day, hour, minute, second, millisecond } = self;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}")
    }

    /// The basic form of Signature Version 4, without milliseconds: `20261115T184454Z`.
    pub fn to_basic(&self) -> String {
        let DateTime { year, month, day, hour, minute, second, .. } = self;
        format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }
}

/// Milliseconds since 1970-01-01 as `2026-11-15T18:44:54.123Z`, the form of AWS's messages and manifests.
pub fn timestamp(millis: u64) -> String {
    DateTime::from_unix_millis(millis).to_rfc3339()
}

/// Returns the number of days from 1970-01-01 to a date, negative for earlier dates.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - DAYS_BEFORE_1970
}

/// Year, month and day: the inverse of [`days_since_1970`].
fn date_from_days(days_since_1970: i64) -> (i64, i64, i64) {
    let days = days_since_1970 + DAYS_BEFORE_1970;
    let (era, day_of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_days() {
        for (days, date) in
            [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (20_772, (2026, 11, 15)), (-1, (1969, 12, 31))]
        {
            assert_eq!(date_from_days(days), date);
            assert_eq!(days_since_1970(date.0, date.1, date.2), days);
        }
    }

    #[test]
    fn known_times_in_every_form() {
        let time = DateTime::from_unix_millis(1_604_474_914_028);
        assert_eq!(time.to_rfc3339(), "2020-11-04T07:28:34.028Z");
        assert_eq!(time.to_rfc3339_without_zone(), "2020-11-04T07:28:34.028");
        assert_eq!(time.to_basic(), "20201104T072834Z");
        assert_eq!(DateTime::from_unix_millis(0).to_rfc3339(), "1970-01-01T00:00:00.000Z");
        assert_eq!(DateTime::from_unix_seconds(-1).to_basic(), "19691231T235959Z");
    }

    proptest! {
        #[test]
        fn days_and_dates_are_inverse(days in -1_000_000i64..3_000_000) {
            let (year, month, day) = date_from_days(days);
            prop_assert_eq!(days_since_1970(year, month, day), days);
            prop_assert!((1..=12).contains(&month) && (1..=31).contains(&day));
        }
    }
}
