//! Logs invalid records of imports and bulk operations. There may be as many errors as records, and each may be as long as a
//! record: only the first few are logged, truncated, and the total at the end.

/// Errors logged per import or bulk operation.
const LOGGED_ERRORS: u64 = 20;
/// An error is truncated to this length.
const LOGGED_BYTES: usize = 300;

/// A record of an object; no record if the object itself cannot be read to its end.
#[derive(Clone, Copy)]
pub struct RecordLocation<'a> {
    pub operation: &'a str,
    pub object: &'a str,
    pub record: Option<u64>,
}

/// Logs an error, unless [`LOGGED_ERRORS`] were logged already. `errors_before` is how many errors the operation had before this one.
pub fn log_record_error(errors_before: u64, location: RecordLocation<'_>, reason: &str) {
    if errors_before >= LOGGED_ERRORS {
        return;
    }
    let RecordLocation { operation, object, record } = location;
    let reason = truncated(reason);
    match record {
        Some(record) => tracing::warn!(operation, object, record, reason, "a record is not put"),
        None => tracing::warn!(operation, object, reason, "an object cannot be read to its end"),
    }
}

/// Logs how many errors an operation had, and how many of them were logged.
pub fn log_error_total(operation: &str, errors: u64) {
    if errors > 0 {
        let shown = errors.min(LOGGED_ERRORS);
        tracing::warn!(operation, errors, shown, "records were not put");
    }
}

fn truncated(text: &str) -> &str {
    let ends = text.char_indices().map(|(at, character)| at + character.len_utf8());
    &text[..ends.take_while(|end| *end <= LOGGED_BYTES).last().unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_truncated_at_a_character_boundary() {
        assert_eq!(truncated("short"), "short");
        assert_eq!(truncated(&"ü".repeat(1_000)).len(), LOGGED_BYTES);
        assert_eq!(truncated(&format!("x{}", "ü".repeat(1_000))).len(), LOGGED_BYTES - 1);
    }
}
