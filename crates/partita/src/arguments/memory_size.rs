//! Sizes on the command line: `512MB`, `2GB`.

const UNITS: [(&str, u64); 4] = [("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30), ("TB", 1 << 40)];
/// Less does not suffice for one large request.
const MIN_BYTES: u64 = 128 << 20;

/// Parses the memory for requests, in bytes.
pub fn parse(text: &str) -> Result<u64, String> {
    let size = UNITS.iter().find_map(|(unit, bytes)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*bytes)
    });
    match size {
        Some(size) if size >= MIN_BYTES => Ok(size),
        Some(_) => Err("less than 128MB: a large request would not fit".to_owned()),
        None => Err("not a size such as 512MB or 2GB".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_units() {
        for (text, bytes) in
            [("128MB", 128 << 20), ("2GB", 2 << 30), ("1048576KB", 1 << 30), ("1TB", 1 << 40)]
        {
            assert_eq!(parse(text), Ok(bytes));
        }
        for text in ["", "MB", "512", "1 GB", "-1GB", "1.5GB", "127MB", "0GB", "99999999999TB", "1PB"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
