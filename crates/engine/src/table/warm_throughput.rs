//! Warm throughput: the units that tables and indexes can serve instantly. It can be raised, never lowered.

use crate::catalog::table::TableRecord;
use partita_api::table::{Throughput, WarmThroughput, warm_units};
use partita_api::{Exception, messages};
use std::fmt::Display;

/// The warm throughput of a table and its indexes before a change. They keep it, however their provisioned units change.
pub struct WarmUnits {
    table: Throughput,
    indexes: Vec<(String, Throughput)>,
}

impl WarmUnits {
    pub fn of(record: &TableRecord) -> WarmUnits {
        let indexes = record.global_indexes.iter().map(|index| &index.definition);
        WarmUnits {
            table: warm_units(record.warm, record.billing_mode, Some(record.throughput)),
            indexes: indexes
                .map(|index| {
                    (index.name.clone(), warm_units(index.warm, record.billing_mode, index.throughput))
                })
                .collect(),
        }
    }

    pub fn keep(&self, record: &mut TableRecord) {
        let now = WarmUnits::of(record);
        record.warm = kept_warm(record.warm, self.table, now.table);
        for (name, units) in now.indexes {
            let index = record.global_indexes.iter_mut().find(|index| index.definition.name == name);
            let before = self.indexes.iter().find(|(known, _)| *known == name);
            if let (Some(index), Some((_, before))) = (index, before) {
                index.definition.warm = kept_warm(index.definition.warm, *before, units);
            }
        }
    }
}

fn kept_warm(warm: Option<WarmThroughput>, before: Throughput, now: Throughput) -> Option<WarmThroughput> {
    if now.read >= before.read && now.write >= before.write {
        return warm;
    }
    Some(WarmThroughput { read: Some(now.read.max(before.read)), write: Some(now.write.max(before.write)) })
}

/// The stored warm throughput after a request, which must not be lower than the current one. A half that is not requested
/// stays as it is.
pub fn raised_warm_throughput(
    stored: Option<WarmThroughput>,
    requested: Option<WarmThroughput>,
    current: Throughput,
    owner: &dyn Display,
) -> Result<Option<WarmThroughput>, Exception> {
    let Some(requested) = requested else { return Ok(stored) };
    let halves = [
        ("ReadUnitsPerSecond", requested.read, current.read),
        ("WriteUnitsPerSecond", requested.write, current.write),
    ];
    for (member, requested, current) in halves {
        if requested.is_some_and(|requested| requested < current) {
            return Err(Exception::validation(messages::warm_decrease(member, owner)));
        }
    }
    let stored = stored.unwrap_or_default();
    Ok(Some(WarmThroughput { read: requested.read.or(stored.read), write: requested.write.or(stored.write) }))
}
