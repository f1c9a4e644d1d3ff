//! Sizes on the command line: `512MB`, `2GB`.

const UNITS: [(&str, u64); 4] = [("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30), ("TB", 1 << 40)];
/// Less memory does not suffice for one large request.
const MIN_MEMORY: u64 = 128 << 20;
/// A smaller file would hold less than one large request.
const MIN_FILE: u64 = 32 << 20;

/// Parses the memory for requests, in bytes.
pub fn memory(text: &str) -> Result<u64, String> {
    match parse(text)? {
        size if size >= MIN_MEMORY => Ok(size),
        _ => Err("less than 128MB: a large request would not fit".to_owned()),
    }
}

/// Parses the size of a file of requests, in bytes.
pub fn file(text: &str) -> Result<u64, String> {
    match parse(text)? {
        size if size >= MIN_FILE => Ok(size),
        _ => Err("less than 32MB: a large request would not fit".to_owned()),
    }
}

fn parse(text: &str) -> Result<u64, String> {
    let size = UNITS.iter().find_map(|(unit, bytes)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*bytes)
    });
    size.ok_or_else(|| "not a size such as 512MB or 2GB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_units() {
        for (text, bytes) in
            [("128MB", 128 << 20), ("2GB", 2 << 30), ("1048576KB", 1 << 30), ("1TB", 1 << 40)]
        {
            assert_eq!((memory(text), file(text)), (Ok(bytes), Ok(bytes)));
        }
        for text in ["", "MB", "512", "1 GB", "-1GB", "1.5GB", "0GB", "99999999999TB", "1PB"] {
            assert!(memory(text).is_err() && file(text).is_err(), "{text}");
        }
        assert!(memory("127MB").is_err() && file("127MB").is_ok() && file("31MB").is_err());
    }
}
