//! Statistics of a watched table: for each declared pattern and write, and for what is not declared. Bounded in memory.

use super::hot_keys::HotKeys;
use super::latency_histogram::LatencyHistogram;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How many kinds of undeclared requests are counted separately; later ones are counted together.
const MAX_UNDECLARED: usize = 200;
/// How many hot keys of each template are returned.
const RETURNED_KEYS: usize = 5;
/// How many characters are stored of an undeclared request's description, and of a violation's message.
const LABEL_CHARACTERS: usize = 100;
const MESSAGE_CHARACTERS: usize = 1_000;

#[derive(Default)]
pub struct Statistics {
    pub patterns: BTreeMap<String, RequestStatistics>,
    pub writes: BTreeMap<String, RequestStatistics>,
    pub undeclared: BTreeMap<String, RequestStatistics>,
    /// By rule: the count, and the last message.
    pub violations: BTreeMap<&'static str, (u64, String)>,
    /// By table or index, and template.
    pub keys: BTreeMap<(String, String), TemplateKeys>,
}

/// The partition keys of one template.
#[derive(Default)]
pub struct TemplateKeys {
    requests: u64,
    keys: HotKeys,
}

/// The statistics of one pattern or write.
#[derive(Clone, Default)]
pub struct RequestStatistics {
    requests: u64,
    read: u64,
    returned: u64,
    unfinished: u64,
    failed: u64,
    units: f64,
    latency: LatencyHistogram,
}

/// One request, or its part that belongs to one pattern.
pub struct Sample {
    pub read: u64,
    pub returned: u64,
    pub unfinished: bool,
    pub failed: bool,
    pub units: f64,
    pub microseconds: u64,
}

/// A violation's message, shortened to be stored and logged: it quotes the request, which may be large.
pub fn shortened(message: &str) -> Cow<'_, str> {
    truncated(message, MESSAGE_CHARACTERS)
}

fn truncated(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

impl RequestStatistics {
    pub fn add(&mut self, sample: &Sample) {
        self.requests += 1;
        self.read += sample.read;
        self.returned += sample.returned;
        self.unfinished += u64::from(sample.unfinished);
        self.failed += u64::from(sample.failed);
        self.units += sample.units;
        self.latency.add(sample.microseconds);
    }

    fn json(&self, label: &str, name: &str) -> Value {
        json!({
            label: name, "requests": self.requests, "failed": self.failed, "units": self.units,
            "p50Microseconds": self.latency.percentile(0.5), "p99Microseconds": self.latency.percentile(0.99),
            "itemsRead": self.read, "itemsReturned": self.returned,
            "filterWaste": self.read.saturating_sub(self.returned), "unfinishedPages": self.unfinished,
        })
    }
}

impl Statistics {
    pub fn undeclared(&mut self, label: &str) -> &mut RequestStatistics {
        let label = truncated(label, LABEL_CHARACTERS);
        let known = self.undeclared.len() < MAX_UNDECLARED || self.undeclared.contains_key(label.as_ref());
        self.undeclared.entry(if known { label.into_owned() } else { "others".to_owned() }).or_default()
    }

    pub fn violation(&mut self, rule: &'static str, message: &str) {
        let (count, last) = self.violations.entry(rule).or_default();
        *count += 1;
        *last = shortened(message).into_owned();
    }

    pub fn key(&mut self, place: &str, template: &str, key: &str) {
        let keys = self.keys.entry((place.to_owned(), template.to_owned())).or_default();
        keys.requests += 1;
        keys.keys.add(key);
    }

    /// Returns whether a request has read an index.
    pub fn has_read(&self, index: &str) -> bool {
        self.keys.keys().any(|(place, _)| place == index)
    }

    pub fn json(&self, table: &str, mode: &str) -> Value {
        let list = |entries: &BTreeMap<String, RequestStatistics>, label: &str| -> Vec<Value> {
            entries.iter().map(|(name, entry)| entry.json(label, name)).collect()
        };
        let violations = self
            .violations
            .iter()
            .map(|(rule, (times, last))| json!({ "rule": rule, "times": times, "last": last }));
        let mut templates: Vec<_> = self.keys.iter().collect();
        templates.sort_by_key(|(_, keys)| std::cmp::Reverse(keys.requests));
        let keys = templates.into_iter().map(|((place, template), keys)| {
            let top = keys.keys.top(RETURNED_KEYS).into_iter().map(|(key, count)| {
                json!({ "key": key, "requests": count.requests, "atLeast": count.requests - count.inherited })
            });
            json!({
                "place": place, "template": template, "requests": keys.requests, "keys": top.collect::<Vec<_>>(),
            })
        });
        json!({
            "table": table,
            "mode": mode,
            "patterns": list(&self.patterns, "pattern"),
            "writes": list(&self.writes, "write"),
            "undeclared": list(&self.undeclared, "request"),
            "violations": violations.collect::<Vec<_>>(),
            "hotKeys": keys.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_and_messages_are_shortened() {
        let mut statistics = Statistics::default();
        let long = "é".repeat(300_000);
        for number in 0..2 * MAX_UNDECLARED {
            statistics.undeclared(&format!("Query {number} {long}"));
        }
        statistics.violation("key", &long);
        assert_eq!(statistics.undeclared.len(), MAX_UNDECLARED + 1);
        assert!(statistics.undeclared.keys().all(|label| label.chars().count() <= LABEL_CHARACTERS + 1));
        assert_eq!(statistics.violations["key"].1.chars().count(), MESSAGE_CHARACTERS + 1);
        assert_eq!(truncated("USER#é", 6), "USER#é");
        assert_eq!(truncated("USER#é", 5), "USER#…");
    }
}
