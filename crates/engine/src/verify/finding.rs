//! What a verification reports, while it runs and at the end.

use crate::key::stored_key::all_rows;
use partita_store::{Damage, KeyRange, Space, Write};
use std::fmt;

/// Something that is damaged or inconsistent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    /// The table it belongs to, if any.
    pub table: Option<String>,
    /// The key of the row, or of the first of several rows.
    pub key: Vec<u8>,
    pub text: String,
    /// The writes that repair it; empty if it cannot be repaired.
    pub remedy: Vec<Write>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindingKind {
    /// The store cannot read rows.
    Damaged,
    /// A row is not what its key says.
    Undecodable,
    /// A key without a meaning.
    UnknownRow,
    /// A catalog record that contradicts others.
    WrongCatalog,
    /// A row of a space without an owner.
    Ownerless,
    /// An item under another key than its key attributes determine.
    Misplaced,
    /// An item without its index entry or expiry entry.
    MissingEntry,
    /// An entry without its item.
    StaleEntry,
    /// An entry whose content differs from its item.
    DifferentEntry,
    WrongCounter,
    /// The stored size of an item collection.
    WrongCollection,
    /// A stream lacks records.
    MissingRecord,
    WrongRecord,
    /// A row of a history, or a backup that is not pinned.
    WrongPast,
    /// A client request token.
    WrongToken,
}

impl FindingKind {
    /// The name in reports and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Damaged => "damaged",
            FindingKind::Undecodable => "undecodable",
            FindingKind::UnknownRow => "unknown-row",
            FindingKind::WrongCatalog => "wrong-catalog",
            FindingKind::Ownerless => "ownerless",
            FindingKind::Misplaced => "misplaced",
            FindingKind::MissingEntry => "missing-entry",
            FindingKind::StaleEntry => "stale-entry",
            FindingKind::DifferentEntry => "different-entry",
            FindingKind::WrongCounter => "wrong-counter",
            FindingKind::WrongCollection => "wrong-collection",
            FindingKind::MissingRecord => "missing-record",
            FindingKind::WrongRecord => "wrong-record",
            FindingKind::WrongPast => "wrong-past",
            FindingKind::WrongToken => "wrong-token",
        }
    }
}

impl Finding {
    pub fn new(kind: FindingKind, table: Option<&str>, key: &[u8], text: impl Into<String>) -> Finding {
        let (table, key) = (table.map(str::to_owned), key.to_vec());
        Finding { kind, table, key, text: text.into(), remedy: Vec::new() }
    }

    /// Adds the repair: replacing the row, or deleting it.
    pub fn repaired_by(mut self, row: Option<Vec<u8>>) -> Finding {
        let key = self.key.clone();
        self.remedy.push(match row {
            Some(value) => Write::Put { key, value },
            None => Write::Delete { key },
        });
        self
    }

    /// The finding for damaged rows that are derived from items, and can therefore be deleted. A range that starts in another space
    /// is not repaired.
    pub fn of_derived_damage(table: &str, space: Space, damage: Damage) -> Finding {
        let finding = Finding::of_damage(Some(table), damage);
        if all_rows(space).contains(&finding.key) { finding.repaired_by(None) } else { finding }
    }

    pub fn of_damage(table: Option<&str>, damage: Damage) -> Finding {
        let Damage { keys, reason } = damage;
        let keys = keys.unwrap_or_else(|| KeyRange { start: Vec::new(), end: Vec::new() });
        let text = match keys.row() {
            Some(_) => format!("the row cannot be read: {reason}"),
            None => format!("rows up to {} cannot be read: {reason}", hex(&keys.end)),
        };
        Finding::new(FindingKind::Damaged, table, &keys.start, text)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.kind.name())?;
        if let Some(table) = &self.table {
            write!(f, "table {table}: ")?;
        }
        write!(f, "{} (row {})", self.text, hex(&self.key))
    }
}

/// A key in hexadecimal digits, truncated.
pub fn hex(key: &[u8]) -> String {
    let mut text: String = key.iter().take(48).map(|byte| format!("{byte:02x}")).collect();
    if key.len() > 48 {
        text.push('…');
    }
    text
}

/// The progress of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub rows: u64,
    /// The approximate number of rows.
    pub expected_rows: u64,
    /// What is being checked.
    pub at: String,
}

/// What a running verification reports.
#[derive(Clone, Debug)]
pub enum Event {
    Finding(Finding),
    /// Totals that could not be compared, and why.
    NotCompared(String),
    Progress(Progress),
}

/// The result of a verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub rows: u64,
    pub findings: u64,
    pub not_compared: u64,
    /// Whether everything was checked.
    pub finished: bool,
}
