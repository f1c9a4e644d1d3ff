//! The time buckets between two times, both included.

/// The most buckets that are listed.
const MAX_LISTED: u64 = 10_000;
/// The places of year, month, day, hour and minute in an ISO 8601 time.
const PLACES: [(usize, usize); 5] = [(0, 4), (5, 7), (8, 10), (11, 13), (14, 16)];

/// Returns the number of buckets that the times between the bounds fall into, both included, for buckets that keep `length` characters of a time: 4 (year),
/// 7, 10, 13 or 16 (minute). A bound that lacks its end stands for all of its month or day. Returns `None` if a bound is not a time.
pub(super) fn count(from: &str, to: &str, length: usize) -> Option<u64> {
    let first = number(parts(from, |_, _| [1, 1, 0, 0])?, length)?;
    let last = number(parts(to, |year, month| [12, days_in(year, month), 23, 59])?, length)?;
    Some(u64::try_from(last - first + 1).unwrap_or(0).max(1))
}

/// Returns these buckets, in order; `None` if a bound is not a time or there are too many to list.
pub(super) fn between(from: &str, to: &str, length: usize) -> Option<Vec<String>> {
    let number = count(from, to, length).filter(|number| *number <= MAX_LISTED)?;
    let mut time = parts(from, |_, _| [1, 1, 0, 0])?;
    let mut listed = Vec::new();
    for _ in 0..number {
        let [year, month, day, hour, minute] = time;
        let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}");
        listed.push(text.get(..length)?.to_owned());
        time = after(time, length);
    }
    Some(listed)
}

/// A time in the next bucket.
fn after([year, month, day, hour, minute]: [i64; 5], length: usize) -> [i64; 5] {
    match length {
        16 if minute < 59 => [year, month, day, hour, minute + 1],
        13 | 16 if hour < 23 => [year, month, day, hour + 1, 0],
        10 | 13 | 16 if day < days_in(year, month) => [year, month, day + 1, 0, 0],
        4 => [year + 1, 1, 1, 0, 0],
        _ if month < 12 => [year, month + 1, 1, 0, 0],
        _ => [year + 1, 1, 1, 0, 0],
    }
}

/// The year, month, day, hour and minute of a time; `rest` completes a shorter text of this year and month.
fn parts(text: &str, rest: impl Fn(i64, i64) -> [i64; 4]) -> Option<[i64; 5]> {
    let mut parts = [0; 5];
    for (number, (start, end)) in PLACES.into_iter().enumerate() {
        parts[number] = match text.get(start..end) {
            Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => digits.parse().ok()?,
            None if number > 0 && text.len() <= start => rest(parts[0], parts[1])[number - 1],
            _ => return None,
        };
    }
    let [year, month, day, hour, minute] = parts;
    let is_time = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    (is_time && hour < 24 && minute < 60).then_some(parts)
}

/// The number of the bucket of a time, counted from a fixed one.
fn number([year, month, day, hour, minute]: [i64; 5], length: usize) -> Option<i64> {
    let days = days_before(year, month) + day;
    Some(match length {
        4 => year,
        7 => year * 12 + month,
        10 => days,
        13 => days * 24 + hour,
        16 => (days * 24 + hour) * 60 + minute,
        _ => return None,
    })
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from a fixed day until the first of a month.
fn days_before(year: i64, month: i64) -> i64 {
    let past = year - 1;
    // The year before the first one is negative.
    let leap_days = past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400);
    year * 365 + leap_days + (1..month).map(|month| days_in(year, month)).sum::<i64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_of_every_size_are_counted() {
        for (from, to, length, expected) in [
            ("2026-04-01T00:00:00Z", "2026-05-02T23:59:59Z", 10, 32),
            ("2024-02-01", "2024-03-01", 10, 30),
            ("2025-02-01", "2025-03-01", 10, 29),
            ("2100-02-28", "2100-03-01", 10, 2),
            ("2000-02-28", "2000-03-01", 10, 3),
            ("2023-12-31", "2024-12-31", 10, 367),
            ("2025-11-30", "2026-02-01", 7, 4),
            ("2024-01", "2024-06", 7, 6),
            ("2024-01", "2024-02", 10, 60),
            ("2025-12-31", "2026-01-01", 4, 2),
            ("2024", "2024", 7, 12),
            ("2026-04-05T09:30:00Z", "2026-04-05T10:30:00Z", 13, 2),
            ("2026-04-05", "2026-04-05", 13, 24),
            ("2026-04-05T09:30:00Z", "2026-04-05T10:30:00Z", 16, 61),
            ("2026-04-05T23:59:00Z", "2026-04-06T00:00:00Z", 16, 2),
            ("0000-12-31", "0001-01-01", 10, 2),
            ("2026-04-05", "2026-04-04", 10, 1),
        ] {
            assert_eq!(count(from, to, length), Some(expected), "{from} {to} {length}");
        }
        for text in
            ["", "x", "2026-13-01", "2026-02-30", "2026-4-5", "2026-04-05T24:00:00Z", "ä026-01-01", "now"]
        {
            assert_eq!(count(text, "2026-04-05", 10), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn counting_is_additive(a in 0_i64..9_000, m in 1_i64..=12, n in 1_i64..=12, years in 0_i64..900) {
            let text = |year: i64, month: i64| format!("{year:04}-{month:02}-15");
            let (from, to) = (text(a, m), text(a + years, n));
            prop_assume!(from <= to);
            let days = count(&from, &to, 10).unwrap();
            for length in [4, 7, 10] {
                if let Some(listed) = between(&from, &to, length) {
                    prop_assert_eq!(listed.len() as u64, count(&from, &to, length).unwrap());
                    prop_assert!(listed.windows(2).all(|pair| pair[0] < pair[1]));
                    prop_assert_eq!(listed.last().unwrap(), &to[..length]);
                }
            }
            prop_assert_eq!(count(&from, &to, 13).unwrap(), days * 24);
            prop_assert_eq!(count(&from, &to, 16).unwrap(), days * 1_440);
            let end = format!("{}-12-31", text(a, m).get(..4).unwrap());
            let start = format!("{:04}-01-01", a + years);
            if years == 1 {
                prop_assert_eq!(count(&from, &end, 10).unwrap() + count(&start, &to, 10).unwrap(), days);
            }
        }
    }
}
