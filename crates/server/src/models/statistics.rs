//! What a watched table did: for each declared pattern and write, and for what is not declared. Bounded in memory.

use super::hot_keys::HotKeys;
use super::latency_histogram::Latency;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Undeclared requests that are kept apart; what comes later is counted together.
const KEPT: usize = 200;
/// Hot keys of each template that are shown.
const SHOWN: usize = 5;
/// Characters of what an undeclared request looks like that are kept, and of what is said about a broken rule.
const LABEL: usize = 100;
const MESSAGE: usize = 1_000;

#[derive(Default)]
pub struct Figures {
    pub patterns: BTreeMap<String, Deeds>,
    pub writes: BTreeMap<String, Deeds>,
    pub undeclared: BTreeMap<String, Deeds>,
    /// By rule: how often, and the last message.
    pub violations: BTreeMap<&'static str, (u64, String)>,
    /// By place and template.
    pub keys: BTreeMap<(String, String), Heat>,
}

#[derive(Default)]
pub struct Heat {
    requests: u64,
    keys: HotKeys,
}

/// What the requests of one pattern or write did.
#[derive(Clone, Default)]
pub struct Deeds {
    requests: u64,
    read: u64,
    returned: u64,
    unfinished: u64,
    units: f64,
    latency: Latency,
}

/// One request, or its part that belongs to one pattern.
pub struct Deed {
    pub read: u64,
    pub returned: u64,
    pub unfinished: bool,
    pub units: f64,
    pub microseconds: u64,
}

/// What is kept and logged of what is said about a broken rule: it quotes the request, which may be large.
pub fn message_of(message: &str) -> Cow<'_, str> {
    cut(message, MESSAGE)
}

fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

impl Deeds {
    pub fn add(&mut self, deed: &Deed) {
        self.requests += 1;
        self.read += deed.read;
        self.returned += deed.returned;
        self.unfinished += u64::from(deed.unfinished);
        self.units += deed.units;
        self.latency.add(deed.microseconds);
    }

    fn json(&self, label: &str, name: &str) -> Value {
        json!({
            label: name, "requests": self.requests, "units": self.units,
            "p50Microseconds": self.latency.percentile(0.5), "p99Microseconds": self.latency.percentile(0.99),
            "itemsRead": self.read, "itemsReturned": self.returned,
            "filterWaste": self.read.saturating_sub(self.returned), "unfinishedPages": self.unfinished,
        })
    }
}

impl Figures {
    pub fn undeclared(&mut self, label: &str) -> &mut Deeds {
        let label = cut(label, LABEL);
        let known = self.undeclared.len() < KEPT || self.undeclared.contains_key(label.as_ref());
        self.undeclared.entry(if known { label.into_owned() } else { "others".to_owned() }).or_default()
    }

    pub fn violation(&mut self, rule: &'static str, message: &str) {
        let (count, last) = self.violations.entry(rule).or_default();
        *count += 1;
        *last = message_of(message).into_owned();
    }

    pub fn key(&mut self, place: &str, template: &str, key: &str) {
        let heat = self.keys.entry((place.to_owned(), template.to_owned())).or_default();
        heat.requests += 1;
        heat.keys.add(key);
    }

    pub fn json(&self, table: &str, mode: &str) -> Value {
        let deeds = |deeds: &BTreeMap<String, Deeds>, label: &str| -> Vec<Value> {
            deeds.iter().map(|(name, deeds)| deeds.json(label, name)).collect()
        };
        let violations = self
            .violations
            .iter()
            .map(|(rule, (times, last))| json!({ "rule": rule, "times": times, "last": last }));
        let mut heats: Vec<_> = self.keys.iter().collect();
        heats.sort_by_key(|(_, heat)| std::cmp::Reverse(heat.requests));
        let keys = heats.into_iter().map(|((place, template), heat)| {
            let top = heat.keys.top(SHOWN).into_iter().map(|(key, count)| {
                json!({ "key": key, "requests": count.requests, "atLeast": count.requests - count.inherited })
            });
            json!({
                "place": place, "template": template, "requests": heat.requests, "keys": top.collect::<Vec<_>>(),
            })
        });
        json!({
            "table": table,
            "mode": mode,
            "patterns": deeds(&self.patterns, "pattern"),
            "writes": deeds(&self.writes, "write"),
            "undeclared": deeds(&self.undeclared, "request"),
            "violations": violations.collect::<Vec<_>>(),
            "hotKeys": keys.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_requests_say_is_kept_in_part() {
        let mut figures = Figures::default();
        let long = "é".repeat(300_000);
        for number in 0..2 * KEPT {
            figures.undeclared(&format!("Query {number} {long}"));
        }
        figures.violation("key", &long);
        assert_eq!(figures.undeclared.len(), KEPT + 1);
        assert!(figures.undeclared.keys().all(|label| label.chars().count() <= LABEL + 1));
        assert_eq!(figures.violations["key"].1.chars().count(), MESSAGE + 1);
        assert_eq!(cut("USER#é", 6), "USER#é");
        assert_eq!(cut("USER#é", 5), "USER#…");
    }
}
