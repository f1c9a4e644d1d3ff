//! Attributes reads to declared patterns, and counts the keys that they request.

use super::model_watch::{Attribution, ModelWatch};
use super::{attributes, text};
use partita_api::Request;
use partita_api::item::query::Query;
use partita_design::audit::attribution::{ObservedRead, ObservedSort, attribute_read};
use partita_design::keys::key_mapping::TableOrIndex;
use partita_design::template::ATTRIBUTE_SEPARATOR;
use partita_expression::KeyComparison;
use partita_value::{Item, Value};
use std::collections::BTreeMap;

impl ModelWatch {
    /// The patterns that a request reads for; empty if it does not read this table.
    pub fn attribute_read(&self, request: &Request) -> Vec<Attribution> {
        let one = |label| vec![Attribution { label, keys: 1 }];
        match request {
            Request::Query(query) if self.applies_to(&query.table) => one(self.query(query)),
            Request::GetItem(get) if self.applies_to(&get.table) => one(self.get(&get.key)),
            Request::Scan(scan) if self.applies_to(&scan.table) => {
                one(Err(format!("Scan {}", scan.index.as_deref().unwrap_or("table"))))
            }
            Request::BatchGetItem(batch) => {
                let own = batch.tables.iter().filter(|keys| self.applies_to(&keys.table));
                self.gets(own.flat_map(|keys| &keys.keys))
            }
            Request::TransactGetItems(transaction) => {
                let own = transaction.gets.iter().filter(|get| self.applies_to(&get.table));
                self.gets(own.map(|get| &get.key))
            }
            _ => self.read_by_statements(request),
        }
    }

    /// Attributes several keys, grouped by pattern.
    fn gets<'a>(&self, keys: impl Iterator<Item = &'a Item>) -> Vec<Attribution> {
        let mut counts: BTreeMap<Result<String, String>, u64> = BTreeMap::new();
        keys.for_each(|key| *counts.entry(self.get(key)).or_default() += 1);
        counts.into_iter().map(|(label, keys)| Attribution { label, keys }).collect()
    }

    pub(super) fn get(&self, key: &Item) -> Result<String, String> {
        let texts = attributes(key);
        let names = &self.model.table.keys;
        let part = |position: usize| names.get(position).and_then(|name| texts.get(name)).map(String::as_str);
        let partition = part(0).unwrap_or_default();
        let sort = part(1).map_or(ObservedSort::None, ObservedSort::Equals);
        self.attribute(&ObservedRead {
            query: false,
            index: None,
            partition,
            sort,
            forward: true,
            limited: false,
        })
    }

    fn query(&self, query: &Query) -> Result<String, String> {
        let index = query.index.as_deref();
        let place = TableOrIndex { index: index.and_then(|name| self.model.index(name)) };
        let (partition_names, sort_names) = place.halves(&self.model);
        let term = |name: &String| {
            query.key_condition.terms.iter().find(|term| term.attribute == *name).map(|term| &term.comparison)
        };
        let equal = |name: &String| match term(name) {
            Some(KeyComparison::Equal(value)) => Some(value_text(value)),
            _ => None,
        };
        let border = ATTRIBUTE_SEPARATOR.to_string();
        let partition = partition_names.iter().filter_map(equal).collect::<Vec<_>>().join(&border);
        let fixed: Vec<String> = sort_names.iter().map_while(equal).collect();
        let next = sort_names.get(fixed.len()).and_then(term);
        let bound = |value: &Value| [fixed.as_slice(), &[value_text(value)]].concat().join(&border);
        // Of several sort key attributes the first few can be fixed, which is a common prefix.
        let begun = || fixed.iter().map(|text| format!("{text}{border}")).collect::<String>();
        let (bound, make): (String, fn(&str) -> ObservedSort<'_>) = match next {
            Some(KeyComparison::BeginsWith(value)) => (bound(value), |text| ObservedSort::BeginsWith(text)),
            Some(
                KeyComparison::Less(value)
                | KeyComparison::LessOrEqual(value)
                | KeyComparison::Greater(value)
                | KeyComparison::GreaterOrEqual(value)
                | KeyComparison::Between(value, _),
            ) => (bound(value), |text| ObservedSort::Range(text)),
            Some(KeyComparison::Equal(_) | KeyComparison::NotIndexable) | None if fixed.is_empty() => {
                (String::new(), |_| ObservedSort::None)
            }
            _ if fixed.len() < sort_names.len() => (begun(), |text| ObservedSort::BeginsWith(text)),
            _ => (fixed.join(&border), |text| ObservedSort::Equals(text)),
        };
        let (forward, limited) = (query.scan_index_forward, query.limit.is_some());
        self.attribute(&ObservedRead {
            query: true,
            index,
            partition: &partition,
            sort: make(&bound),
            forward,
            limited,
        })
    }

    /// The pattern's name, or a description of an undeclared request.
    fn attribute(&self, seen: &ObservedRead<'_>) -> Result<String, String> {
        self.count_key(seen.index, seen.partition);
        let place = seen.index.unwrap_or("table");
        attribute_read(&self.shapes, seen).map(str::to_owned).ok_or_else(|| {
            let operation = if seen.query { "Query" } else { "GetItem" };
            let sort = match seen.sort {
                ObservedSort::None => String::new(),
                ObservedSort::Equals(text) => format!(", sort key = {}", prefix(text)),
                ObservedSort::BeginsWith(text) => format!(", sort key begins_with {}", prefix(text)),
                ObservedSort::Range(text) => format!(", sort key from {}", prefix(text)),
            };
            format!("{operation} {place}, partition key {}{sort}", prefix(seen.partition))
        })
    }

    /// Counts a partition key under the template that it matches.
    pub(super) fn count_key(&self, index: Option<&str>, partition: &str) {
        let here = self.partitions.iter().filter(|own| own.index.as_deref() == index);
        let own = here.into_iter().find(|own| own.template.matches(partition, &own.types).is_some());
        let template = own.map_or("no template", |own| own.text.as_str());
        // Requests may name any index; only the model's are counted separately.
        let place = match index {
            Some(name) if self.model.index(name).is_none() => "unknown indexes",
            index => index.unwrap_or("table"),
        };
        self.statistics().key(place, template, &partition.replace(ATTRIBUTE_SEPARATOR, " / "));
    }
}

/// A key's prefix without its values: `USER#…`.
fn prefix(key: &str) -> String {
    let end = key.find(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-');
    end.map_or_else(
        || "…".to_owned(),
        |end| key.chars().take(key[..end].chars().count() + 1).chain(['…']).collect(),
    )
}

fn value_text(value: &Value) -> String {
    text(value.view())
}
