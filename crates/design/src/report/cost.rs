//! The cost of a model as text and as JSON.

use crate::capacity::cost::{Cost, CostLine, Load, LocationLoad, cost};
use crate::capacity::growth::{self, MONTHS};
use crate::capacity::prices::Prices;
use crate::formatting::{format_bytes, format_number};
use crate::model::Model;
use serde_json::{Value, json};

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
        let (name, rps, units) = (&line.name, format_number(line.rps), format_number(line.units.value));
        let mark = line.units.basis.mark();
        text.push_str(&format!("{name:width$} {rps:>10} {units:>10} {:>12.2}{mark}\n", line.month));
    }
    text.push_str(&format!("\n{:24} {:>16} {:>18}\n", "", "one table", "table per entity"));
    let mut row = |name: &str, of: &dyn Fn(&Load) -> String| {
        text.push_str(&format!("{name:24} {:>16} {:>18}\n", of(&cost.single_table), of(&cost.per_entity)));
    };
    row("requests a second", &|load| format_number(load.requests));
    row("read units a second", &|load| format_number(load.reads));
    row("write units a second", &|load| format_number(load.writes));
    row("stored", &|load| format_bytes(load.bytes));
    row("storage", &|load| format!("{:.2}", load.storage(prices)));
    row("on demand", &|load| format!("{:.2}", load.on_demand(prices)));
    let (one, several) = (cost.provisioned(prices), cost.provisioned_apart(prices));
    text.push_str(&format!("{:24} {one:>16.2} {several:>18.2}\n", "or provisioned"));
    text.push_str(&capacity_text(cost, prices));
    text.push_str(&choice_text(cost, prices));
    text.push_str(&growth_text(model, prices));
    if cost.basis().is_assumed() {
        text.push_str("\nassumed: what rests on a number or size of items that the model does not declare under expect\n");
    }
    if !cost.unknown.is_empty() {
        text.push_str(&format!("\nnot included, no rate or not served: {}\n", cost.unknown.join(", ")));
    }
    text
}

/// The units to provision for the table and each index.
fn capacity_text(cost: &Cost, prices: &Prices) -> String {
    let target = prices.utilisation * 100.0;
    let mut text = format!(
        "\nunits to provision, least and most of a day: {}, auto scaling to {target:.0} %\n",
        cost.shape.text()
    );
    let width = cost.locations.iter().map(|location| location.name.len()).max().unwrap_or_default().max(8);
    text.push_str(&format!("{:width$} {:>18} {:>18} {:>12}\n", "", "read units", "write units", "stored"));
    for LocationLoad { name, load, basis } in &cost.locations {
        let (reads, writes) = load.capacity(prices, &cost.shape);
        let stored = format_bytes(load.bytes);
        let (reads, writes, mark) = (range(&reads), range(&writes), basis.mark());
        text.push_str(&format!("{name:width$} {reads:>18} {writes:>18} {stored:>12}{mark}\n"));
    }
    text
}

/// The least and the most of a day.
fn range(day: &[f64]) -> String {
    let (most, least) = (day.first().copied().unwrap_or_default(), day.last().copied().unwrap_or_default());
    if most > least { format!("{least:.0} to {most:.0}") } else { format!("{most:.0}") }
}

/// Which mode is cheaper, and why.
fn choice_text(cost: &Cost, prices: &Prices) -> String {
    let Some(choice) = cost.choice(prices) else { return String::new() };
    let (mode, comparison) =
        if choice.is_provisioned() { ("provisioned", "above") } else { ("on demand", "below") };
    format!(
        "\ncheaper: {mode} ({:.2} provisioned, {:.2} on demand)\n  {:.0} % of the provisioned capacity is used, {comparison} the break-even of {:.0} %\n",
        choice.provisioned,
        choice.on_demand,
        choice.utilisation * 100.0,
        choice.break_even * 100.0
    )
}

/// The cost in a year, if the model declares what it expects then.
fn growth_text(model: &Model, prices: &Prices) -> String {
    if !growth::is_declared(model) {
        return String::new();
    }
    let later = cost(&growth::model_after(model, MONTHS), prices);
    format!(
        "\nin a year: {:.2} on demand or {:.2} provisioned, {} stored; `partita model growth` shows every month\n",
        later.single_table.on_demand(prices),
        later.provisioned(prices),
        format_bytes(later.single_table.bytes)
    )
}

/// Formats the cost as JSON.
pub fn json(cost: &Cost, prices: &Prices) -> Value {
    let load = |load: &Load, provisioned: f64| {
        json!({
            "requestsPerSecond": load.requests, "readUnitsPerSecond": load.reads, "writeUnitsPerSecond": load.writes,
            "bytes": load.bytes, "onDemand": load.on_demand(prices), "provisioned": provisioned,
            "storage": load.storage(prices),
        })
    };
    let lines = |lines: &[CostLine]| -> Vec<Value> {
        let one = |line: &CostLine| {
            json!({
                "name": line.name, "rps": line.rps, "units": line.units.value, "onDemand": line.month,
                "basis": line.units.basis.name(),
            })
        };
        lines.iter().map(one).collect()
    };
    let location = |one: &LocationLoad| {
        let (reads, writes) = one.load.capacity(prices, &cost.shape);
        json!({
            "name": one.name, "bytes": one.load.bytes, "basis": one.basis.name(),
            "readUnitsPerSecond": one.load.reads, "writeUnitsPerSecond": one.load.writes,
            "readUnitsByHour": reads, "writeUnitsByHour": writes,
            "provisioned": one.load.provisioned(prices, &cost.shape),
        })
    };
    json!({
        "pricesOf": prices.date, "region": prices.region, "currency": prices.currency,
        "basis": cost.basis().name(),
        "traffic": {
            "peak": cost.shape.peak, "idleHours": cost.shape.idle_hours, "sudden": cost.shape.sudden,
            "basis": cost.shape.basis.name(), "targetUtilisation": prices.utilisation,
        },
        "singleTable": load(&cost.single_table, cost.provisioned(prices)),
        "tablePerEntity": load(&cost.per_entity, cost.provisioned_apart(prices)),
        "capacity": cost.locations.iter().map(location).collect::<Vec<_>>(),
        "choice": cost.choice(prices).map(|choice| json!({
            "cheaper": if choice.is_provisioned() { "provisioned" } else { "onDemand" },
            "provisioned": choice.provisioned, "onDemand": choice.on_demand,
            "utilisation": choice.utilisation, "breakEven": choice.break_even,
        })),
        "patterns": lines(&cost.patterns), "writes": lines(&cost.writes), "notIncluded": cost.unknown,
    })
}
