//! Capacity units from sizes, and the report a request asked for.

pub mod table_consumption;

use crate::catalog::table::IndexKind;
use partita_api::capacity::{ConsumedCapacity, ReturnConsumedCapacity, TransactionUnits, Units};
use partita_value::names::TableName;

const READ_UNIT_BYTES: usize = 4_096;
const WRITE_UNIT_BYTES: usize = 1_024;

/// How strongly a read is promised, which is what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    Eventual,
    Strong,
    Transactional,
}

impl Consistency {
    pub fn of(consistent_read: bool) -> Consistency {
        if consistent_read { Consistency::Strong } else { Consistency::Eventual }
    }
}

/// Units for reading this many bytes; nothing found costs as much as something small.
pub fn read_units(bytes: usize, consistency: Consistency) -> Units {
    let blocks = bytes.div_ceil(READ_UNIT_BYTES).max(1) as u64;
    match consistency {
        Consistency::Eventual => Units(blocks),
        Consistency::Strong => Units::whole(blocks),
        Consistency::Transactional => Units::whole(blocks * 2),
    }
}

/// Units for writing this many bytes.
pub fn write_units(bytes: usize) -> Units {
    Units::whole(bytes.div_ceil(WRITE_UNIT_BYTES).max(1) as u64)
}

/// What an operation used of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consumption {
    pub table: Units,
    pub indexes: Vec<(String, IndexKind, Units)>,
}

impl Consumption {
    pub fn of_table(units: Units) -> Consumption {
        Consumption { table: units, indexes: Vec::new() }
    }

    pub fn charge_index(&mut self, name: &str, kind: IndexKind, units: Units) {
        match self.indexes.iter_mut().find(|(charged, ..)| charged == name) {
            Some((_, _, total)) => *total += units,
            None => self.indexes.push((name.to_owned(), kind, units)),
        }
    }

    pub fn add(&mut self, other: Consumption) {
        self.table += other.table;
        for (name, kind, units) in other.indexes {
            self.charge_index(&name, kind, units);
        }
    }

    /// The report, if one was asked for.
    pub fn report(
        self,
        table: &TableName,
        wanted: ReturnConsumedCapacity,
        transaction: Option<TransactionUnits>,
    ) -> Option<ConsumedCapacity> {
        if wanted == ReturnConsumedCapacity::None {
            return None;
        }
        let (locals, globals): (Vec<_>, Vec<_>) =
            self.indexes.into_iter().partition(|(_, kind, _)| *kind == IndexKind::Local);
        let named = |parts: Vec<(String, IndexKind, Units)>| {
            parts.into_iter().map(|(name, _, units)| (name, units)).collect()
        };
        Some(ConsumedCapacity {
            table_name: table.clone(),
            table: self.table,
            local_indexes: named(locals),
            global_indexes: named(globals),
            with_indexes: wanted == ReturnConsumedCapacity::Indexes,
            transaction,
        })
    }
}
