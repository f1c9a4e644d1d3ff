//! What one request used of several tables, and the item collections it touched.

use crate::capacity::Consumption;
use crate::catalog::table::Table;
use partita_api::capacity::{ConsumedCapacity, ReturnConsumedCapacity, TransactionUnits};
use partita_api::reporting::ItemCollectionMetrics;
use partita_value::names::TableName;
use partita_value::{Item, Value};

const GIGABYTE: f64 = 1024.0 * 1024.0 * 1024.0;

/// Consumption added up by table, in the order in which the tables came.
#[derive(Default)]
pub struct PerTable(Vec<(TableName, Consumption)>);

impl PerTable {
    pub fn add(&mut self, table: &TableName, consumption: Consumption) {
        match self.0.iter_mut().find(|(seen, _)| seen == table) {
            Some((_, total)) => total.add(consumption),
            None => self.0.push((table.clone(), consumption)),
        }
    }

    pub fn report(
        self,
        wanted: ReturnConsumedCapacity,
        transaction: Option<TransactionUnits>,
    ) -> Option<Vec<ConsumedCapacity>> {
        let reports = self.0.into_iter().map(|(table, total)| total.report(&table, wanted, transaction));
        let reports: Vec<_> = reports.flatten().collect();
        (!reports.is_empty()).then_some(reports)
    }
}

/// The estimate of one item collection's size, for tables that count it.
pub fn collection_metrics(table: &Table, key: &Item, bytes: Option<u64>) -> Option<ItemCollectionMetrics> {
    let attribute = table.key.partition.first()?;
    let value = Value::from(key.get(&attribute.name)?);
    let lower = (bytes? as f64 / GIGABYTE).floor();
    Some(ItemCollectionMetrics {
        key: (attribute.name.clone(), value),
        size_estimate_gb: (lower, lower + 1.0),
    })
}

/// Metrics grouped by table; each collection once.
#[derive(Default)]
pub struct CollectionsTouched(Vec<(TableName, Vec<ItemCollectionMetrics>)>);

impl CollectionsTouched {
    pub fn add(&mut self, table: &TableName, metrics: Option<ItemCollectionMetrics>) {
        let Some(metrics) = metrics else { return };
        let position = self.0.iter().position(|(name, _)| name == table);
        let position = position.unwrap_or_else(|| {
            self.0.push((table.clone(), Vec::new()));
            self.0.len() - 1
        });
        let collections = &mut self.0[position].1;
        collections.retain(|seen| seen.key != metrics.key);
        collections.push(metrics);
    }

    pub fn report(self) -> Option<Vec<(TableName, Vec<ItemCollectionMetrics>)>> {
        (!self.0.is_empty()).then_some(self.0)
    }
}
