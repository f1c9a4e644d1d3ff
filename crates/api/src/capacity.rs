//! Capacity units, exact to the half.

use partita_value::names::TableName;
use std::ops::{Add, AddAssign};

/// Capacity units, counted in halves so that sums stay exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Units(pub u64);

impl Units {
    /// No units.
    pub const ZERO: Units = Units(0);

    /// This many whole units.
    pub fn whole(units: u64) -> Units {
        Units(units * 2)
    }

    /// The units as AWS shows them.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 2.0
    }
}

impl Add for Units {
    type Output = Units;
    fn add(self, other: Units) -> Units {
        Units(self.0 + other.0)
    }
}

impl AddAssign for Units {
    fn add_assign(&mut self, other: Units) {
        self.0 += other.0;
    }
}

/// `ReturnConsumedCapacity`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnConsumedCapacity {
    /// Nothing.
    #[default]
    None,
    /// The totals only.
    Total,
    /// The totals, and the parts of the table and of each index.
    Indexes,
}

/// The capacity that one request consumed of one table and its indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumedCapacity {
    /// The table, as the request named it.
    pub table_name: TableName,
    /// The units of the table itself.
    pub table: Units,
    /// The units of each local index.
    pub local_indexes: Vec<(String, Units)>,
    /// The units of each global index.
    pub global_indexes: Vec<(String, Units)>,
    /// Whether to show the parts (`INDEXES`), not only the total.
    pub with_indexes: bool,
    /// The kind of the units, in responses to transactions only.
    pub transaction: Option<TransactionUnits>,
}

/// Whether a transaction consumed read or write units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionUnits {
    /// Read units.
    Read,
    /// Write units.
    Write,
}

impl ConsumedCapacity {
    /// The units of the table and all of its indexes.
    pub fn total(&self) -> Units {
        let indexes = self.local_indexes.iter().chain(&self.global_indexes);
        indexes.fold(self.table, |total, (_, units)| total + *units)
    }
}
