//! The monthly cost of a model at its declared rates and sizes: on demand and provisioned, as one table and as a table per entity.

use crate::capacity::estimate::{self, read_units};
use crate::capacity::prices::Prices;
use crate::capacity::write_effects;
use crate::formatting::{format_bytes, format_number};
use crate::keys::key_mapping::TableOrIndex;
use crate::keys::keyspace::Keyspace;
use crate::model::Model;
use crate::plan::{Operation, Plan, Step, plan};
use serde_json::{Value, json};

/// Hours of a month.
const HOURS: f64 = 730.0;
/// Seconds of a month.
const SECONDS: f64 = HOURS * 3600.0;

/// Traffic per second and stored bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Read units per second.
    pub reads: f64,
    /// Write units per second.
    pub writes: f64,
    /// Requests per second.
    pub requests: f64,
    /// Stored bytes.
    pub bytes: f64,
}

/// The cost of one pattern or write.
#[derive(Clone, Debug, PartialEq)]
pub struct CostLine {
    /// The name of the pattern or write.
    pub name: String,
    /// Requests per second.
    pub rps: f64,
    /// Units of one request.
    pub units: f64,
    /// The cost of a month, on demand.
    pub month: f64,
}

/// The cost of a model.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The load with all entities in one table.
    pub single_table: Load,
    /// The load with a table per entity.
    pub per_entity: Load,
    /// The patterns with a rate.
    pub patterns: Vec<CostLine>,
    /// The writes with a rate.
    pub writes: Vec<CostLine>,
    /// Patterns and writes that are not included: they have no rate or are not served.
    pub unknown: Vec<String>,
}

impl Load {
    /// Returns the monthly price of the traffic on demand.
    pub fn on_demand(&self, prices: &Prices) -> f64 {
        let million = SECONDS / 1e6;
        self.reads * million * prices.million_reads + self.writes * million * prices.million_writes
    }

    /// Returns the monthly price of the traffic with provisioned capacity.
    pub fn provisioned(&self, prices: &Prices) -> f64 {
        let capacity = |units: f64| (units / prices.utilisation).ceil();
        (capacity(self.reads) * prices.read_hour + capacity(self.writes) * prices.write_hour) * HOURS
    }

    /// Returns the monthly price of storage.
    pub fn storage(&self, prices: &Prices) -> f64 {
        (self.bytes / 1e9 - prices.free_gigabytes).max(0.0) * prices.gigabyte
    }
}

/// Computes the cost of a model.
pub fn cost(model: &Model, prices: &Prices) -> Cost {
    let mut cost = Cost {
        single_table: Load::default(),
        per_entity: Load::default(),
        patterns: Vec::new(),
        writes: Vec::new(),
        unknown: Vec::new(),
    };
    let keys = Keyspace::new(model);
    for pattern in &model.patterns {
        let (Some(rps), Ok(plan)) = (pattern.rps, plan(&keys, pattern)) else {
            cost.unknown.push(pattern.name.clone());
            continue;
        };
        let units = plan.units();
        let (units_apart, requests_apart) = per_entity_cost(&plan);
        cost.single_table.reads += units * rps;
        cost.single_table.requests += plan.requests() as f64 * rps;
        cost.per_entity.reads += units_apart * rps;
        cost.per_entity.requests += requests_apart * rps;
        let month = units * rps * SECONDS / 1e6 * prices.million_reads;
        cost.patterns.push(CostLine { name: pattern.name.clone(), rps, units, month });
    }
    for write in &model.writes {
        let Some(rps) = write.rps else {
            cost.unknown.push(write.name.clone());
            continue;
        };
        let units = write_effects::units(model, write);
        for load in [&mut cost.single_table, &mut cost.per_entity] {
            load.writes += units * rps;
            load.requests += rps;
        }
        let month = units * rps * SECONDS / 1e6 * prices.million_writes;
        cost.writes.push(CostLine { name: write.name.clone(), rps, units, month });
    }
    let bytes = stored_bytes(model);
    cost.single_table.bytes = bytes;
    cost.per_entity.bytes = bytes;
    cost
}

/// Read units and requests of a plan with a table per entity: one request for each entity.
fn per_entity_cost(plan: &Plan<'_>) -> (f64, f64) {
    let one = |step: &Step<'_>| {
        let types = step.targets.len() as f64;
        if step.operation == Operation::BatchGet || types <= 1.0 {
            return (step.units(), step.fan_out as f64);
        }
        (
            read_units(step.bytes / types, step.strong) * types * step.fan_out as f64,
            types * step.fan_out as f64,
        )
    };
    plan.steps.iter().map(one).fold((0.0, 0.0), |(units, requests), (u, r)| (units + u, requests + r))
}

/// Returns the bytes of the table and its indexes.
pub fn stored_bytes(model: &Model) -> f64 {
    // Billed for every item and every index entry.
    let overhead = 100.0;
    let mut bytes = 0.0;
    for location in TableOrIndex::all(model) {
        for mapping in location.mappings(model) {
            let all = estimate::count(model, mapping.entity);
            let here =
                if mapping.is_sparse() { mapping.count.map_or(all / 4.0, |count| count as f64) } else { all };
            bytes += here * (mapping.bytes() as f64 + overhead);
        }
    }
    bytes
}

/// Formats the cost as text.
pub fn text(model: &Model, cost: &Cost, prices: &Prices) -> String {
    let mut text = format!(
        "{}: a month at the declared rates, in {} (prices of {}, {})\n\n",
        model.table.name, prices.currency, prices.date, prices.region
    );
    let lines = cost.patterns.iter().chain(&cost.writes);
    let width = lines.clone().map(|line| line.name.len()).max().unwrap_or_default().max(8);
    text.push_str(&format!("{:width$} {:>10} {:>10} {:>12}\n", "", "a second", "units each", "on demand"));
    for line in lines {
        let (name, rps, units) = (&line.name, format_number(line.rps), format_number(line.units));
        text.push_str(&format!("{name:width$} {rps:>10} {units:>10} {:>12.2}\n", line.month));
    }
    text.push_str(&format!("\n{:24} {:>16} {:>18}\n", "", "one table", "table per entity"));
    let mut row = |name: &str, of: &dyn Fn(&Load) -> String| {
        text.push_str(&format!("{name:24} {:>16} {:>18}\n", of(&cost.single_table), of(&cost.per_entity)));
    };
    row("requests a second", &|load| format_number(load.requests));
    row("read units a second", &|load| format_number(load.reads));
    row("write units a second", &|load| format_number(load.writes));
    row("stored", &|load| format_bytes(load.bytes));
    row("on demand", &|load| format!("{:.2}", load.on_demand(prices)));
    row("or provisioned", &|load| format!("{:.2}", load.provisioned(prices)));
    row("storage", &|load| format!("{:.2}", load.storage(prices)));
    if !cost.unknown.is_empty() {
        text.push_str(&format!("\nnot included, no rate or not served: {}\n", cost.unknown.join(", ")));
    }
    text
}

/// Formats the cost as JSON.
pub fn json(cost: &Cost, prices: &Prices) -> Value {
    let load = |load: &Load| {
        json!({
            "requestsPerSecond": load.requests, "readUnitsPerSecond": load.reads, "writeUnitsPerSecond": load.writes,
            "bytes": load.bytes, "onDemand": load.on_demand(prices), "provisioned": load.provisioned(prices),
            "storage": load.storage(prices),
        })
    };
    let lines = |lines: &[CostLine]| -> Vec<Value> {
        let one = |line: &CostLine| json!({ "name": line.name, "rps": line.rps, "units": line.units, "onDemand": line.month });
        lines.iter().map(one).collect()
    };
    json!({
        "pricesOf": prices.date, "region": prices.region, "currency": prices.currency,
        "singleTable": load(&cost.single_table), "tablePerEntity": load(&cost.per_entity),
        "patterns": lines(&cost.patterns), "writes": lines(&cost.writes), "notIncluded": cost.unknown,
    })
}
