//! The growth of a model as text and as JSON.

use crate::capacity::growth::{self, Break, Month};
use crate::capacity::prices::Prices;
use crate::formatting::{format_bytes, format_number};
use crate::model::Model;
use serde_json::{Value, json};

/// Formats sizes, bill and limits of the next twelve months as text.
pub fn text(model: &Model, prices: &Prices) -> String {
    let mut text = format!(
        "{}: the next twelve months, in {} a month (prices of {}, {})\n\n",
        model.table.name, prices.currency, prices.date, prices.region
    );
    let months = growth::months(model, prices);
    let names = months.first().map(|now| &now.cost.locations).into_iter().flatten();
    text.push_str(&format!("{:5} {:>14}", "month", "items"));
    names.for_each(|location| text.push_str(&format!(" {:>12}", location.name)));
    text.push_str(&format!(" {:>12} {:>12} {:>12}\n", "on demand", "provisioned", "storage"));
    for month in &months {
        text.push_str(&month_line(month, prices));
    }
    text.push_str("\nwhat breaks, and when\n");
    let breaks = growth::breaks(model);
    for one in &breaks {
        text.push_str(&format!("  {}\n", break_text(one)));
    }
    if breaks.is_empty() {
        text.push_str("  nothing within a year\n");
    }
    if !growth::is_declared(model) {
        text.push_str("\nnothing grows: declare count_in_a_year (or average_in_a_year, max_in_a_year) under expect, and rps_in_a_year of patterns and writes\n");
    }
    text
}

fn month_line(month: &Month, prices: &Prices) -> String {
    let name = if month.month == 0 { "now".to_owned() } else { month.month.to_string() };
    let mut line = format!("{name:5} {:>14}", format_number(month.items.value));
    for location in &month.cost.locations {
        line.push_str(&format!(" {:>12}", format_bytes(location.load.bytes)));
    }
    let load = &month.cost.single_table;
    let (on_demand, provisioned) = (load.on_demand(prices), month.cost.provisioned(prices));
    let mark = month.cost.basis().and(month.items.basis).mark();
    format!("{line} {on_demand:>12.2} {provisioned:>12.2} {:>12.2}{mark}\n", load.storage(prices))
}

/// Describes a limit that is exceeded: `month 7: pattern.orders, 1 MB page: a result of up to 1.2 MB`.
pub fn break_text(one: &Break) -> String {
    let when = if one.month == 0 { "now".to_owned() } else { format!("month {}", one.month) };
    let excess = &one.excess;
    format!("{when}: {}, {}: {}{}", excess.subject, excess.limit.name(), excess.text, excess.basis.mark())
}

/// Formats sizes, bill and limits of the next twelve months as JSON.
pub fn json(model: &Model, prices: &Prices) -> Value {
    let month = |month: &Month| {
        let load = &month.cost.single_table;
        let sizes: Vec<Value> = month
            .cost
            .locations
            .iter()
            .map(|location| json!({ "name": location.name, "bytes": location.load.bytes }))
            .collect();
        json!({
            "month": month.month, "items": month.items.json(), "sizes": sizes,
            "onDemand": load.on_demand(prices), "provisioned": month.cost.provisioned(prices),
            "storage": load.storage(prices), "basis": month.cost.basis().name(),
        })
    };
    let one = |one: &Break| {
        json!({
            "month": one.month, "subject": one.excess.subject, "limit": one.excess.limit.name(),
            "text": one.excess.text, "basis": one.excess.basis.name(),
        })
    };
    json!({
        "declared": growth::is_declared(model), "pricesOf": prices.date, "region": prices.region, "currency": prices.currency,
        "months": growth::months(model, prices).iter().map(month).collect::<Vec<_>>(),
        "breaks": growth::breaks(model).iter().map(one).collect::<Vec<_>>(),
    })
}
