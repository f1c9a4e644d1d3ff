//! Attributes reads to declared patterns, and counts the keys that they request.

use super::model_watch::{Attribution, ModelWatch};
use super::{attributes, text};
use partita_api::Request;
use partita_api::item::query::Query;
use partita_design::audit::MARKER;
use partita_design::audit::observed_read::{
    ObservedRead, ObservedSort, Proposal, attribute_read, attribute_scan, propose_pattern,
};
use partita_design::keys::key_mapping::TableOrIndex;
use partita_design::plan::bounds::LAST;
use partita_design::template::ATTRIBUTE_SEPARATOR;
use partita_expression::{KeyComparison, KeyTerm};
use partita_value::{Item, Value};
use std::collections::BTreeMap;

/// A request that the model does not declare.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Undeclared {
    /// A description: `Query table, partition key USER#…`.
    pub label: String,
    /// What to do about it, if that is needed.
    pub advice: String,
}

impl Undeclared {
    /// What is said about an undeclared read.
    pub fn message(&self) -> String {
        format!("{} is not a declared pattern{}", self.label, self.advice)
    }
}

/// The texts of a sort condition.
enum SortTexts {
    None,
    Equals(String),
    BeginsWith(String),
    Range(Option<String>, Option<String>),
}

impl SortTexts {
    fn view(&self) -> ObservedSort<'_> {
        match self {
            SortTexts::None => ObservedSort::None,
            SortTexts::Equals(text) => ObservedSort::Equals(text),
            SortTexts::BeginsWith(text) => ObservedSort::BeginsWith(text),
            SortTexts::Range(from, to) => ObservedSort::Range { from: from.as_deref(), to: to.as_deref() },
        }
    }
}

impl ModelWatch {
    /// The patterns that a request reads for; empty if it does not read this table.
    pub fn attribute_read(&self, request: &Request) -> Vec<Attribution> {
        let one = |label| vec![Attribution { label, keys: 1 }];
        match request {
            Request::Query(query) if self.applies_to(&query.table) => one(self.query(query)),
            Request::GetItem(get) if self.applies_to(&get.table) => one(self.get(&get.key, false)),
            Request::Scan(scan) if self.applies_to(&scan.table) => {
                one(self.scan("Scan", scan.index.as_deref()))
            }
            Request::BatchGetItem(batch) => {
                let own = batch.tables.iter().filter(|keys| self.applies_to(&keys.table));
                self.gets(own.flat_map(|keys| &keys.keys), true)
            }
            Request::TransactGetItems(transaction) => {
                let own = transaction.gets.iter().filter(|get| self.applies_to(&get.table));
                self.gets(own.map(|get| &get.key), false)
            }
            _ => self.read_by_statements(request),
        }
    }

    /// Attributes several keys, grouped by pattern.
    fn gets<'a>(&self, keys: impl Iterator<Item = &'a Item>, batch: bool) -> Vec<Attribution> {
        let mut counts: BTreeMap<Result<String, Undeclared>, u64> = BTreeMap::new();
        keys.for_each(|key| *counts.entry(self.get(key, batch)).or_default() += 1);
        counts.into_iter().map(|(label, keys)| Attribution { label, keys }).collect()
    }

    pub(super) fn get(&self, key: &Item, batch: bool) -> Result<String, Undeclared> {
        let texts = attributes(key);
        let names = &self.model.table.keys;
        let part = |position: usize| names.get(position).and_then(|name| texts.get(name)).map(String::as_str);
        let partition = part(0).unwrap_or_default();
        let sort = part(1).map_or(ObservedSort::None, ObservedSort::Equals);
        self.attribute(&ObservedRead {
            query: false,
            batch,
            index: None,
            partition,
            sort,
            forward: true,
            limit: None,
        })
    }

    /// A Scan serves a pattern only if one declares it.
    pub(super) fn scan(&self, operation: &str, index: Option<&str>) -> Result<String, Undeclared> {
        attribute_scan(&self.model, index).map(str::to_owned).ok_or_else(|| Undeclared {
            label: format!("{operation} {}", index.unwrap_or("table")),
            advice: ". Read by key what the application needs; a Scan that is meant is declared by a pattern with request = { scan = true }"
                .to_owned(),
        })
    }

    fn query(&self, query: &Query) -> Result<String, Undeclared> {
        let (forward, limit) = (query.scan_index_forward, query.limit.map(|limit| limit as u64));
        self.keyed_read(query.index.as_deref(), &query.key_condition.terms, forward, limit)
    }

    /// Attributes a read with these conditions on the keys of the table or of an index.
    pub(super) fn keyed_read(
        &self,
        index: Option<&str>,
        terms: &[KeyTerm],
        forward: bool,
        limit: Option<u64>,
    ) -> Result<String, Undeclared> {
        let place = TableOrIndex { index: index.and_then(|name| self.model.index(name)) };
        let (partition_names, sort_names) = place.halves(&self.model);
        let term =
            |name: &String| terms.iter().find(|term| term.attribute == *name).map(|term| &term.comparison);
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
        let texts = match next {
            Some(KeyComparison::BeginsWith(value)) => SortTexts::BeginsWith(bound(value)),
            // What is fixed bounds the other side too.
            Some(KeyComparison::Less(value) | KeyComparison::LessOrEqual(value)) => {
                SortTexts::Range((!fixed.is_empty()).then(begun), Some(bound(value)))
            }
            Some(KeyComparison::Greater(value) | KeyComparison::GreaterOrEqual(value)) => {
                let end = (!fixed.is_empty()).then(|| format!("{}{LAST}", begun()));
                SortTexts::Range(Some(bound(value)), end)
            }
            Some(KeyComparison::Between(from, to)) => SortTexts::Range(Some(bound(from)), Some(bound(to))),
            Some(KeyComparison::Equal(_) | KeyComparison::NotIndexable) | None if fixed.is_empty() => {
                SortTexts::None
            }
            _ if fixed.len() < sort_names.len() => SortTexts::BeginsWith(begun()),
            _ => SortTexts::Equals(fixed.join(&border)),
        };
        self.attribute(&ObservedRead {
            query: true,
            batch: false,
            index,
            partition: &partition,
            sort: texts.view(),
            forward,
            limit,
        })
    }

    /// The pattern's name, or a description of an undeclared request.
    fn attribute(&self, seen: &ObservedRead<'_>) -> Result<String, Undeclared> {
        self.count_key(seen.index, seen.partition);
        let place = seen.index.unwrap_or("table");
        attribute_read(&self.shapes, seen).map(str::to_owned).ok_or_else(|| {
            let operation = if seen.query { "Query" } else { "GetItem" };
            let sort = match seen.sort {
                ObservedSort::None => String::new(),
                ObservedSort::Equals(text) => format!(", sort key = {}", prefix(text)),
                ObservedSort::BeginsWith(text) => format!(", sort key begins_with {}", prefix(text)),
                ObservedSort::Range { from: Some(from), .. } => format!(", sort key from {}", prefix(from)),
                ObservedSort::Range { to, .. } => {
                    format!(", sort key up to {}", prefix(to.unwrap_or_default()))
                }
            };
            Undeclared {
                label: format!("{operation} {place}, partition key {}{sort}", prefix(seen.partition)),
                advice: self.reads.map(|_| self.advice(seen)).unwrap_or_default(),
            }
        })
    }

    /// How the items of an undeclared read can be read.
    fn advice(&self, seen: &ObservedRead<'_>) -> String {
        match propose_pattern(&self.model, &self.shapes, seen) {
            Some(Proposal::Line(line)) => format!(". To declare it, add to [pattern]: {line}"),
            Some(Proposal::OtherRequest(request)) => format!(": {request}. Send that request"),
            None if seen.partition.starts_with(MARKER) => {
                ": a marker of a unique value is for writes, which are cancelled if the value is taken. To look a value up, declare a pattern by it"
                    .to_owned()
            }
            Some(Proposal::Unplanned(entities)) => format!(
                ", and no line that declares it was found: it may return {}, which no request of a pattern reads like this. Declare what the application needs",
                entities.join(", ")
            ),
            None => ", and no entity of the model has such a key".to_owned(),
        }
    }

    /// Counts a partition key under the template that it matches.
    pub(super) fn count_key(&self, index: Option<&str>, partition: &str) {
        let template = match self.shapes.partition_template(index, partition) {
            Some(template) => template,
            None if index.is_none() && partition.starts_with(MARKER) => "markers of unique values",
            None => "no template",
        };
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
