//! What the reader and the checker have to say: a code, a severity, a place, a message and what to do.

use crate::source::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One thing found in a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable: `P101`.
    pub code: &'static str,
    pub severity: Severity,
    /// What it is about: `pattern.orderById`, `entity.Order`, `index.GSI1`, `table`.
    pub subject: String,
    pub message: String,
    /// The smallest change that helps.
    pub help: String,
    pub span: Span,
    /// The reason, if the model allowances it.
    pub allowed: Option<String>,
}

impl Finding {
    pub fn new(code: &'static str, severity: Severity, subject: impl Into<String>, span: &Span) -> Finding {
        Finding {
            code,
            severity,
            subject: subject.into(),
            message: String::new(),
            help: String::new(),
            span: span.clone(),
            allowed: None,
        }
    }

    pub fn with_message(mut self, message: impl Into<String>) -> Finding {
        self.message = message.into();
        self
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Finding {
        self.help = help.into();
        self
    }

    /// Neither allowed nor a mere note.
    pub fn is_problem(&self) -> bool {
        self.allowed.is_none() && self.severity > Severity::Note
    }
}

/// Longer names are not typed by hand, nor is a name sought among more than these.
const LONGEST_NAME: usize = 64;
const MAX_CANDIDATES: usize = 64;

/// The closest of `known` to `name`, if it is close enough to be meant.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_short = |name: &str| name.len() <= LONGEST_NAME;
    let known =
        known.into_iter().take(MAX_CANDIDATES).filter(|candidate| is_short(name) && is_short(candidate));
    let distances = known.map(|candidate| (distance(name, candidate), candidate));
    distances.min().filter(|(distance, _)| *distance <= name.len() / 3 + 1).map(|(_, candidate)| candidate)
}

/// Letters to change, add or drop, upper and lower case being equal.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, character) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(character != *other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_mistake_is_recognised() {
        assert_eq!(closest("userid", ["userId", "orderId"]), Some("userId"));
        assert_eq!(closest("atributes", ["attributes", "key"]), Some("attributes"));
        assert_eq!(closest("zebra", ["attributes", "key"]), None);
    }
}
