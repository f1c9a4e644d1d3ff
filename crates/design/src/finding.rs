//! Findings of the reader and the checker: a code, a severity, a position, a message and a remedy.

pub mod repair;

use crate::source::Span;
use repair::Repair;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Advice.
    Note,
    /// A mistake, unless there is a reason for it.
    Warning,
    /// Something breaks.
    Error,
}

impl Severity {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Something found in a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The stable code: `P101`.
    pub code: &'static str,
    /// How serious it is.
    pub severity: Severity,
    /// What it is about: `pattern.orderById`, `entity.Order`, `index.GSI1`, `table`.
    pub subject: String,
    /// What was found.
    pub message: String,
    /// The smallest change that helps.
    pub help: String,
    /// The change as edits of the text, if one was tried and removes the finding.
    pub repair: Option<Repair>,
    /// Changes that have not been tried yet.
    pub(crate) proposals: Vec<Repair>,
    /// The place in the source.
    pub span: Span,
    /// The reason, if the model allows the finding.
    pub allowed: Option<String>,
}

impl Finding {
    /// Creates a finding without message and help.
    pub fn new(code: &'static str, severity: Severity, subject: impl Into<String>, span: &Span) -> Finding {
        Finding {
            code,
            severity,
            subject: subject.into(),
            message: String::new(),
            help: String::new(),
            repair: None,
            proposals: Vec::new(),
            span: span.clone(),
            allowed: None,
        }
    }

    /// Sets the message.
    pub fn with_message(mut self, message: impl Into<String>) -> Finding {
        self.message = message.into();
        self
    }

    /// Sets the help.
    pub fn with_help(mut self, help: impl Into<String>) -> Finding {
        self.help = help.into();
        self
    }

    /// Proposes changes, the best first. The help is what is said if none of them removes the finding.
    pub(crate) fn with_proposals(mut self, proposals: Vec<Repair>) -> Finding {
        self.proposals = proposals;
        self
    }

    /// Returns whether it is an error or a warning that is not allowed.
    pub fn is_problem(&self) -> bool {
        self.allowed.is_none() && self.severity > Severity::Note
    }
}

/// Longer names are not treated as typing mistakes.
const LONGEST_NAME: usize = 64;
/// The number of candidates that are compared.
const MAX_CANDIDATES: usize = 64;

/// Returns the name among `known` that is closest to `name`, if it is close enough to be a typing mistake.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_short = |name: &str| name.len() <= LONGEST_NAME;
    let known =
        known.into_iter().take(MAX_CANDIDATES).filter(|candidate| is_short(name) && is_short(candidate));
    let distances = known.map(|candidate| (distance(name, candidate), candidate));
    distances.min().filter(|(distance, _)| *distance <= name.len() / 3 + 1).map(|(_, candidate)| candidate)
}

/// The number of characters to change, insert or delete, ignoring case.
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
