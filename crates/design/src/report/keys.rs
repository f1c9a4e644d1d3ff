//! The cards of a model's partition keys as text and as JSON.

use crate::capacity::key_card::{KeyCard, basis, cards};
use crate::formatting::{format_bytes, format_number};
use crate::model::Model;
use serde_json::{Value, json};

/// Formats the cards as text.
pub fn text(model: &Model) -> String {
    cards(model).iter().map(card_text).collect::<Vec<_>>().join("\n")
}

fn card_text(card: &KeyCard<'_>) -> String {
    let location = card.mapping.location.index.map_or("table", |index| index.name.as_str());
    let values = card.values.map_or_else(|| "unbounded".to_owned(), |values| values.number());
    let (items, heat) = (card.items, card.heat);
    format!(
        "{location} {} of {}: {}, {}\n  values   {values}\n  hottest  {} of the requests{}\n  items    {} on average, {} at most; {}{}\n  traffic  {} read units and {} write units a second on the hottest value{}\n",
        card.mapping.partition,
        card.mapping.entity.name,
        card.verdict.name(),
        card.reason,
        percent(card.share.value),
        card.share.basis.mark(),
        items.average().number(),
        items.max().number(),
        format_bytes(card.bytes.value),
        card.bytes.basis.mark(),
        format_number(heat.reads),
        format_number(heat.writes),
        heat.basis().mark()
    )
}

/// Formats a share: `80 %`, `0.002 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 1.0 {
        return format!("{percent:.0} %");
    }
    let digits = (1.0 - percent.log10()).floor().clamp(0.0, 12.0) as usize;
    let text = format!("{percent:.digits$}");
    format!("{} %", text.trim_end_matches('0'))
}

/// Formats the cards as JSON.
pub fn json(model: &Model) -> Value {
    let one = |card: &KeyCard<'_>| {
        json!({
            "index": card.mapping.location.index.map(|index| index.name.as_str()),
            "entity": card.mapping.entity.name, "partitionKey": card.mapping.partition.to_string(),
            "verdict": card.verdict.name(), "reason": card.reason, "basis": basis(card).name(),
            "values": card.values.map(|values| values.json()), "hottestShare": card.share.json(),
            "itemsPerKey": card.items.average().json(), "itemsPerKeyAtMost": card.items.max().json(),
            "bytesPerKey": card.bytes.json(),
            "hottestKey": {
                "readUnitsPerSecond": card.heat.reads, "writeUnitsPerSecond": card.heat.writes,
                "basis": card.heat.basis().name(),
            },
        })
    };
    json!({ "table": model.table.name, "keys": cards(model).iter().map(one).collect::<Vec<_>>() })
}
