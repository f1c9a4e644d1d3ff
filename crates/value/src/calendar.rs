//! Days since 1970 and dates of the Gregorian calendar. Years are counted from March, so that the leap day is a year's
//! last, and in eras of 400 years, after which the calendar repeats.

/// Days from the first of March of the year 0 to 1970-01-01.
const BEFORE_1970: i64 = 719_468;
const ERA_DAYS: i64 = 146_097;

/// Days since 1970-01-01 of a date.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - BEFORE_1970
}

/// Year, month and day.
pub fn date_of(days_since_1970: i64) -> (i64, i64, i64) {
    let days = days_since_1970 + BEFORE_1970;
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
            assert_eq!(date_of(days), date);
            assert_eq!(days_since_1970(date.0, date.1, date.2), days);
        }
    }

    proptest! {
        #[test]
        fn days_and_dates_are_inverse(days in -1_000_000i64..3_000_000) {
            let (year, month, day) = date_of(days);
            prop_assert_eq!(days_since_1970(year, month, day), days);
            prop_assert!((1..=12).contains(&month) && (1..=31).contains(&day));
        }
    }
}
