//! What a verification tells while it runs and in the end.

use crate::key::stored_key::all_rows;
use partita_store::{Damage, KeyRange, Space, Write};
use std::fmt;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    /// The table that it belongs to, if it belongs to one.
    pub table: Option<String>,
    /// The stored row's key, or the first of several.
    pub key: Vec<u8>,
    pub text: String,
    /// What would make it right, where items tell what that is: entries and totals follow from them.
    pub remedy: Vec<Write>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindingKind {
    /// The store cannot read rows.
    Damaged,
    /// A row is not what its key says.
    Undecodable,
    /// A key that means nothing.
    UnknownRow,
    /// A record of the catalog that fits no other.
    WrongCatalog,
    /// A row of a space that nobody has.
    Ownerless,
    /// An item that is not where its key attributes say.
    Misplaced,
    /// An item without its entry in an index or in the order of expiry.
    MissingEntry,
    /// An entry without its item.
    StaleEntry,
    /// An entry that does not hold what its item has.
    DifferentEntry,
    WrongCounter,
    /// The size of an item collection.
    WrongCollection,
    /// A stream lacks records.
    MissingRecord,
    WrongRecord,
    /// A row of a history, or a backup that has none.
    WrongPast,
    /// A client request token.
    WrongToken,
}

impl FindingKind {
    /// Its name, for people and programs.
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

    /// The same, mended by making its row this one, or by removing it.
    pub fn mended_by(mut self, row: Option<Vec<u8>>) -> Finding {
        let key = self.key.clone();
        self.remedy.push(match row {
            Some(value) => Write::Put { key, value },
            None => Write::Delete { key },
        });
        self
    }

    /// Of what is made anew out of the items once it is gone. A range that begins in another space stays.
    pub fn of_damage_beside_items(table: &str, space: Space, damage: Damage) -> Finding {
        let finding = Finding::of_damage(Some(table), damage);
        if all_rows(space).contains(&finding.key) { finding.mended_by(None) } else { finding }
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

/// The beginning of a key, as people see it.
pub fn hex(key: &[u8]) -> String {
    let mut text: String = key.iter().take(48).map(|byte| format!("{byte:02x}")).collect();
    if key.len() > 48 {
        text.push('…');
    }
    text
}

/// How far a verification has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub rows: u64,
    /// About how many rows there are.
    pub expected_rows: u64,
    /// What is looked at.
    pub at: String,
}

/// What is told as it happens.
#[derive(Clone, Debug)]
pub enum Event {
    Finding(Finding),
    /// Totals that could not be compared, and why.
    NotCompared(String),
    Progress(Progress),
}

/// What there is to say in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub rows: u64,
    pub findings: u64,
    pub not_compared: u64,
    /// Whether it came to the end.
    pub finished: bool,
}
