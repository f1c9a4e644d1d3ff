//! Rates as people write them: `100/s`, `1,000 per minute`, `10k rps`, `5/day`, `hourly`, `<1/s`, `10-20/s`.

/// The seconds of the time in which reads of a sheet are counted: long enough that what happens once a month counts.
pub(super) const YEAR: f64 = 31_536_000.0;

/// Requests per second, at most; `None` if the text is not a number with a unit of time.
pub(super) fn parse(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase().replace([',', '~', '_'], "");
    let text = highest(&text);
    let words = [("hourly", 3_600.0), ("daily", 86_400.0), ("weekly", 604_800.0), ("monthly", 2_592_000.0)];
    if let Some((_, seconds)) = words.iter().find(|(word, _)| *word == text) {
        return Some(1.0 / seconds);
    }
    let text = match text.strip_prefix("every ") {
        Some(unit) => format!("1 {unit}"),
        None => text.replacen("once", "1", 1).replacen("twice", "2", 1),
    };
    let end =
        text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let rest = text[end..].trim();
    let (factor, rest) = match rest.chars().next() {
        Some('k') => (1e3, &rest[1..]),
        Some('m') if !rest.starts_with("mi") && !rest.starts_with("mo") => (1e6, &rest[1..]),
        _ => (1.0, rest),
    };
    let unit = rest.rsplit([' ', '/']).next().unwrap_or_default().trim_end_matches('.');
    let seconds = if unit.is_empty() { 1.0 } else { seconds(unit)? };
    Some(number * factor / seconds).filter(|rate| rate.is_finite())
}

/// The upper bound of a rate: of `<1/s` and `1-2/s`, what comes last.
fn highest(text: &str) -> &str {
    let text = ["<=", "<", "≤", "up to "]
        .iter()
        .find_map(|sign| text.strip_prefix(sign))
        .unwrap_or(text)
        .trim_start();
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    let bounds = ["-", "–", "to", ".."].iter().find_map(|sign| text.split_once(sign));
    bounds.filter(|(low, _)| is_number(low)).map_or(text, |(_, high)| high.trim_start())
}

/// The rate of a cell; a number without a unit is in that of its column.
pub(super) fn of_cell(cell: &str, unit: Option<&str>) -> Option<f64> {
    let is_plain = cell.trim_end().ends_with(|last: char| last.is_ascii_digit() || "kKmM".contains(last));
    match unit.filter(|_| is_plain) {
        Some(unit) => parse(&format!("{cell} per {unit}")),
        None => parse(cell),
    }
}

/// The unit of time that the header of a column names: `Calls per day`, `req/s`.
pub(super) fn unit(header: &str) -> Option<String> {
    let header = header.to_lowercase();
    let (_, unit) = header.rsplit_once("per ").or_else(|| header.rsplit_once('/'))?;
    let unit = unit.trim().trim_end_matches(|last: char| !last.is_alphabetic());
    seconds(unit).map(|_| unit.to_owned())
}

fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" | "sec" | "second" | "seconds" | "rps" | "tps" | "qps" => 1.0,
        "m" | "min" | "minute" | "rpm" => 60.0,
        "h" | "hour" | "hr" => 3_600.0,
        "d" | "day" => 86_400.0,
        "week" => 604_800.0,
        "month" => 2_592_000.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_in_any_unit() {
        for (text, expected) in [
            ("100/s", 100.0),
            ("1,200 per minute", 20.0),
            ("10k rps", 10_000.0),
            ("86400/day", 1.0),
            ("5", 5.0),
            ("60 requests/min", 1.0),
            ("hourly", 1.0 / 3_600.0),
            ("Weekly", 1.0 / 604_800.0),
            ("every minute", 1.0 / 60.0),
            ("twice a day", 2.0 / 86_400.0),
            ("5 times a day", 5.0 / 86_400.0),
            ("<1/s", 1.0),
            ("up to 20 rps", 20.0),
            ("1-2/s", 2.0),
            ("10 – 20 per minute", 20.0 / 60.0),
            ("5 to 10/s", 10.0),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
        for text in ["High", "", "10 apples", "often", ">100/s", "1-/s"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
