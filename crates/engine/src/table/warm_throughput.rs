//! What tables and indexes are ready for at once: more when it is asked for, never less.

use crate::catalog::table::TableRecord;
use partita_api::table::{Throughput, WarmThroughput, warm_units};
use partita_api::{Exception, messages};
use std::fmt::Display;

/// What a table and its indexes were ready for before a change: whatever becomes of their units, they stay ready for it.
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

/// What is asked for is no less than there is; the half that is not asked for stays.
pub fn warmer(
    stored: Option<WarmThroughput>,
    asked: Option<WarmThroughput>,
    has: Throughput,
    owner: &dyn Display,
) -> Result<Option<WarmThroughput>, Exception> {
    let Some(asked) = asked else { return Ok(stored) };
    let halves =
        [("ReadUnitsPerSecond", asked.read, has.read), ("WriteUnitsPerSecond", asked.write, has.write)];
    for (member, asked, has) in halves {
        if asked.is_some_and(|asked| asked < has) {
            return Err(Exception::validation(messages::warm_decrease(member, owner)));
        }
    }
    let stored = stored.unwrap_or_default();
    Ok(Some(WarmThroughput { read: asked.read.or(stored.read), write: asked.write.or(stored.write) }))
}
