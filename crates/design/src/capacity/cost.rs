//! The monthly cost of a model at its declared rates and sizes: on demand and provisioned, as one table and as a table per entity.

use crate::capacity::basis::{Basis, Estimate};
use crate::capacity::contents::contents;
use crate::capacity::estimate::read_units;
use crate::capacity::prices::Prices;
use crate::capacity::traffic::{DAY, Shape};
use crate::capacity::write_effects;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::keys::keyspace::Keyspace;
use crate::model::{Index, Model, Pattern, Write};
use crate::plan::{Operation, Plan, Step, plan};
use std::collections::BTreeMap;

/// Hours of a month.
const HOURS: f64 = 730.0;
/// Seconds of a month.
const SECONDS: f64 = HOURS * 3600.0;

/// Traffic per second and stored bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Read units per second, on average.
    pub reads: f64,
    /// Write units per second, on average.
    pub writes: f64,
    /// Read units per second at the peak.
    pub peak_reads: f64,
    /// Write units per second at the peak.
    pub peak_writes: f64,
    /// Requests per second.
    pub requests: f64,
    /// Stored bytes.
    pub bytes: f64,
}

/// The load of the table, local indexes included, or of a global index.
#[derive(Clone, Debug, PartialEq)]
pub struct LocationLoad {
    /// `table`, or the name of the index.
    pub name: String,
    /// Its load.
    pub load: Load,
    /// What the traffic rests on.
    pub basis: Basis,
}

/// The cost of one pattern or write.
#[derive(Clone, Debug, PartialEq)]
pub struct CostLine {
    /// The name of the pattern or write.
    pub name: String,
    /// Requests per second.
    pub rps: f64,
    /// Units of one request.
    pub units: Estimate,
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
    /// The load of the table and of each global index.
    pub locations: Vec<LocationLoad>,
    /// The load of each of the tables of a design with one for each entity, and of their global indexes, by entity and index.
    apart: BTreeMap<(String, Option<String>), Load>,
    /// The shape of the traffic.
    pub shape: Shape,
    /// The patterns with a rate.
    pub patterns: Vec<CostLine>,
    /// The writes with a rate.
    pub writes: Vec<CostLine>,
    /// Patterns and writes that are not included: they have no rate or are not served.
    pub unknown: Vec<String>,
    /// What the stored bytes rest on.
    pub storage_basis: Basis,
}

/// On demand against provisioned capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The price of a month on demand.
    pub on_demand: f64,
    /// The price of a month with provisioned capacity.
    pub provisioned: f64,
    /// The share of the provisioned capacity that is used.
    pub utilisation: f64,
    /// The share from which on provisioned capacity is cheaper.
    pub break_even: f64,
}

impl Choice {
    /// Returns whether provisioned capacity is cheaper.
    pub fn is_provisioned(&self) -> bool {
        self.provisioned < self.on_demand
    }
}

impl Load {
    /// Returns the monthly price of the traffic on demand.
    pub fn on_demand(&self, prices: &Prices) -> f64 {
        let million = SECONDS / 1e6;
        self.reads * million * prices.million_reads + self.writes * million * prices.million_writes
    }

    /// Returns the read units and the write units to provision in each hour of a day, the busiest first.
    pub fn capacity(&self, prices: &Prices, shape: &Shape) -> (Vec<f64>, Vec<f64>) {
        (
            shape.capacity(self.reads, self.peak_reads, prices.utilisation),
            shape.capacity(self.writes, self.peak_writes, prices.utilisation),
        )
    }

    /// Returns the monthly price of the traffic with provisioned capacity.
    pub fn provisioned(&self, prices: &Prices, shape: &Shape) -> f64 {
        let (reads, writes) = self.capacity(prices, shape);
        let day =
            reads.iter().sum::<f64>() * prices.read_hour + writes.iter().sum::<f64>() * prices.write_hour;
        day * HOURS / DAY
    }

    /// Returns the monthly price of storage.
    pub fn storage(&self, prices: &Prices) -> f64 {
        (self.bytes / 1e9 - prices.free_gigabytes).max(0.0) * prices.gigabyte
    }

    fn add_reads(&mut self, units: f64, peak: f64) {
        self.reads += units;
        self.peak_reads += units * peak;
    }

    fn add_writes(&mut self, units: f64, peak: f64) {
        self.writes += units;
        self.peak_writes += units * peak;
    }
}

impl Cost {
    /// Returns the monthly price of one table with provisioned capacity: that of the table and each index.
    pub fn provisioned(&self, prices: &Prices) -> f64 {
        self.locations.iter().map(|location| location.load.provisioned(prices, &self.shape)).sum()
    }

    /// Returns the monthly price of a table per entity with provisioned capacity: that of each table and each of their indexes.
    pub fn provisioned_apart(&self, prices: &Prices) -> f64 {
        self.apart.values().map(|load| load.provisioned(prices, &self.shape)).sum()
    }

    /// Returns the price of both modes and what decides between them; `None` without traffic.
    pub fn choice(&self, prices: &Prices) -> Option<Choice> {
        let load = &self.single_table;
        let (on_demand, provisioned) = (load.on_demand(prices), self.provisioned(prices));
        let used = (load.reads * prices.read_hour + load.writes * prices.write_hour) * HOURS;
        (on_demand > 0.0).then(|| Choice {
            on_demand,
            provisioned,
            utilisation: used / provisioned,
            break_even: used / on_demand,
        })
    }

    /// Returns what the cost rests on.
    pub fn basis(&self) -> Basis {
        let lines = self.patterns.iter().chain(&self.writes).map(|line| line.units.basis);
        lines.fold(self.storage_basis, Basis::and)
    }
}

/// Computes the cost of a model.
pub fn cost(model: &Model, prices: &Prices) -> Cost {
    let mut cost = Cost {
        single_table: Load::default(),
        per_entity: Load::default(),
        locations: locations(model),
        apart: apart(model),
        shape: Shape::of(model),
        patterns: Vec::new(),
        writes: Vec::new(),
        unknown: Vec::new(),
        storage_basis: Basis::Declared,
    };
    let keys = Keyspace::new(model);
    for pattern in &model.patterns {
        match (pattern.rps, plan(&keys, pattern)) {
            (Some(rps), Ok(plan)) => cost.add_pattern(model, prices, pattern, &plan, rps),
            _ => cost.unknown.push(pattern.name.clone()),
        }
    }
    for write in &model.writes {
        match write.rps {
            Some(rps) => cost.add_write(model, prices, write, rps),
            None => cost.unknown.push(write.name.clone()),
        }
    }
    cost.add_storage(model);
    cost
}

/// The table, then the global indexes, without load. Local indexes use the table's capacity.
fn locations(model: &Model) -> Vec<LocationLoad> {
    let global = model.indexes.iter().filter(|index| !index.local).map(|index| index.name.as_str());
    let one =
        |name: &str| LocationLoad { name: name.to_owned(), load: Load::default(), basis: Basis::Declared };
    std::iter::once("table").chain(global).map(one).collect()
}

/// The tables of a design with one for each entity, and their global indexes, without load.
fn apart(model: &Model) -> BTreeMap<(String, Option<String>), Load> {
    let mappings = TableOrIndex::all(model).into_iter().flat_map(|location| location.mappings(model));
    let place = |mapping: &KeyMapping<'_>| place_apart(&mapping.entity.name, mapping.location.index);
    mappings.map(|mapping| (place(&mapping), Load::default())).collect()
}

/// Where a table per entity holds what the table or an index has of an entity. Local indexes are in the table.
fn place_apart(entity: &str, index: Option<&Index>) -> (String, Option<String>) {
    (entity.to_owned(), index.filter(|index| !index.local).map(|index| index.name.clone()))
}

impl Cost {
    /// The load of an index, or of the table.
    fn location(&mut self, index: Option<&str>) -> &mut LocationLoad {
        let found = index.and_then(|name| self.locations.iter().position(|location| location.name == name));
        &mut self.locations[found.unwrap_or_default()]
    }

    fn add_pattern(&mut self, model: &Model, prices: &Prices, pattern: &Pattern, plan: &Plan<'_>, rps: f64) {
        let peak = self.shape.peak_of(pattern.peak);
        self.single_table.add_reads(plan.units() * rps, peak);
        self.single_table.requests += plan.requests() * rps;
        for step in &plan.steps {
            self.per_entity.requests += requests_apart(step) * rps;
            for (entity, units) in step.targets.iter().zip(units_apart(step)) {
                self.per_entity.add_reads(units * rps, peak);
                let load = self.apart.entry(place_apart(&entity.name, step.location.index)).or_default();
                load.add_reads(units * rps, peak);
            }
            let location = self.location(step.location.index.map(|index| index.name.as_str()));
            location.load.add_reads(step.units() * rps, peak);
            location.basis = location.basis.and(step.basis(model));
        }
        let units = Estimate::new(plan.units(), plan.basis(model));
        let month = units.value * rps * SECONDS / 1e6 * prices.million_reads;
        self.patterns.push(CostLine { name: pattern.name.clone(), rps, units, month });
    }

    fn add_write(&mut self, model: &Model, prices: &Prices, write: &Write, rps: f64) {
        let peak = self.shape.peak_of(write.peak);
        let mut units = Estimate::default();
        for effect in write_effects::effects(model, write) {
            let location = self.location(effect.index.as_deref());
            location.load.add_writes(effect.units * rps, peak);
            location.basis = location.basis.and(effect.basis);
            let index = effect.index.as_deref().and_then(|name| model.index(name));
            let load = self.apart.entry(place_apart(&effect.entity, index)).or_default();
            load.add_writes(effect.units * rps, peak);
            units = units + Estimate::new(effect.units, effect.basis);
        }
        for load in [&mut self.single_table, &mut self.per_entity] {
            load.add_writes(units.value * rps, peak);
            load.requests += rps;
        }
        let month = units.value * rps * SECONDS / 1e6 * prices.million_writes;
        self.writes.push(CostLine { name: write.name.clone(), rps, units, month });
    }

    fn add_storage(&mut self, model: &Model) {
        for location in TableOrIndex::all(model) {
            let stored = contents(model, location).stored();
            self.location(location.index.map(|index| index.name.as_str())).load.bytes += stored.value;
            self.single_table.bytes += stored.value;
            self.per_entity.bytes += stored.value;
            self.storage_basis = self.storage_basis.and(stored.basis);
        }
    }
}

/// The requests of a step with a table per entity: as many for each entity, while one batch reads several tables.
fn requests_apart(step: &Step<'_>) -> f64 {
    let requests = step.fan_out;
    if step.operation == Operation::BatchGet { requests } else { step.targets.len() as f64 * requests }
}

/// The read units of a step with a table per entity, of each of its entities: nothing else is read beside it.
fn units_apart(step: &Step<'_>) -> Vec<f64> {
    let bytes: f64 = step.bytes_of_targets.iter().sum();
    let requests = step.fan_out;
    let units = |own: &f64| match step.operation {
        Operation::BatchGet if bytes > 0.0 => step.units() * own / bytes,
        Operation::BatchGet => step.units() / step.targets.len() as f64,
        _ => read_units(own / requests, step.strong) * requests,
    };
    step.bytes_of_targets.iter().map(units).collect()
}
