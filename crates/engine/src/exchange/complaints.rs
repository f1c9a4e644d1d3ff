//! What is wrong with records of imports and bulk operations, for the log. There may be as many as there are records, and each may
//! be as long as one: the first few are shown, and at the end all are counted.

/// Complaints of one import or bulk operation that are shown.
const SHOWN: u64 = 20;
/// As much is shown of a complaint.
const SHOWN_BYTES: usize = 300;

/// Which record of which object; no record if the object itself cannot be read to its end.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub operation: &'a str,
    pub object: &'a str,
    pub record: Option<u64>,
}

/// Shows what is wrong, unless `before` as many have been shown already.
pub fn complain(before: u64, place: Place<'_>, reason: &str) {
    if before >= SHOWN {
        return;
    }
    let Place { operation, object, record } = place;
    let reason = beginning(reason);
    match record {
        Some(record) => tracing::warn!(operation, object, record, reason, "a record is not put"),
        None => tracing::warn!(operation, object, reason, "an object cannot be read to its end"),
    }
}

/// Tells how many there were in the end.
pub fn sum_up(operation: &str, errors: u64) {
    if errors > 0 {
        let shown = errors.min(SHOWN);
        tracing::warn!(operation, errors, shown, "records were not put");
    }
}

fn beginning(text: &str) -> &str {
    let ends = text.char_indices().map(|(at, character)| at + character.len_utf8());
    &text[..ends.take_while(|end| *end <= SHOWN_BYTES).last().unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_shown_than_the_beginning() {
        assert_eq!(beginning("short"), "short");
        assert_eq!(beginning(&"ü".repeat(1_000)).len(), SHOWN_BYTES);
        assert_eq!(beginning(&format!("x{}", "ü".repeat(1_000))).len(), SHOWN_BYTES - 1);
    }
}
