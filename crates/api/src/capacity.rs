//! Capacity units, exact to the half.

use partita_value::names::TableName;
use std::ops::{Add, AddAssign};

/// Capacity units, counted in halves so that sums stay exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Units(pub u64);

impl Units {
    pub const ZERO: Units = Units(0);

    pub fn whole(units: u64) -> Units {
        Units(units * 2)
    }

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
    #[default]
    None,
    Total,
    Indexes,
}

/// What one request used of one table and its indexes. Whether a breakdown is shown is the request's wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumedCapacity {
    pub table_name: TableName,
    pub table: Units,
    pub local_indexes: Vec<(String, Units)>,
    pub global_indexes: Vec<(String, Units)>,
    /// Show the parts (`INDEXES`), not only the total.
    pub with_indexes: bool,
    /// Transactions say whether the units were read or write units.
    pub transaction: Option<TransactionUnits>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionUnits {
    Read,
    Write,
}

impl ConsumedCapacity {
    pub fn total(&self) -> Units {
        let indexes = self.local_indexes.iter().chain(&self.global_indexes);
        indexes.fold(self.table, |total, (_, units)| total + *units)
    }
}
