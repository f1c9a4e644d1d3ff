//! Recorded requests become access patterns and writes with rates.
//!
//! A log is read line by line: each line is `{"time": …, "operation": "Query", "request": {…}}`, or only `{"Query": {…}}`. First
//! [`LoggedTables`] finds the tables and their keys, then [`learn`] collects the items for an inference, unless there is a model, and
//! [`RequestLog`] groups the requests by what they read and write. The memory grows with the number of different requests only.

mod line;
mod schema;
mod writes;

pub use schema::LoggedTables;

use crate::audit::observed_read::{
    ObservedRead, ObservedSort, RequestShapes, attribute_read, attribute_scan, proposed_pattern,
    request_shapes,
};
use crate::draft::{Asked, Confidence, Draft, NOT_KNOWN};
use crate::formatting::{plural, thousands};
use crate::inference::Inference;
use crate::keys::key_mapping::TableOrIndex;
use crate::keys::keyspace::Keyspace;
use crate::model::{Model, Pattern};
use crate::plan::plan;
use crate::relational::naming::free_name;
use crate::template::ATTRIBUTE_SEPARATOR;
use crate::toml_writer::pattern_line;
use line::{Access, Change, Comparison, Read, accesses, parse};
use std::collections::BTreeMap;
use writes::WriteGroup;

/// The most kinds of requests that are told apart.
const MAX_GROUPS: usize = 2_000;
/// What is said of those that are not.
const TOO_DIFFERENT: &str = "requests that differ too much from each other";
/// How many line numbers of unreadable lines are named.
const NAMED_LINES: usize = 5;

/// Adds the items that a line puts into a table to an inference.
///
/// # Errors
///
/// Returns a message if the key attributes are not known and cannot be guessed.
pub fn learn(line: &str, table: &str, inference: &mut Inference) -> Result<(), String> {
    let Some(recorded) = parse(line) else { return Ok(()) };
    for sent in accesses(&recorded.operation, &recorded.request).unwrap_or_default() {
        let Access::Write(writes, _) = sent.access else { continue };
        let puts = writes.into_iter().filter(|write| matches!(write.change, Change::Put(_)));
        for put in puts.filter(|_| sent.table == table) {
            inference.add(put.item, None)?;
        }
    }
    Ok(())
}

/// Requests of one table, grouped.
pub struct RequestLog {
    draft: Draft,
    table: String,
    /// Whether the entities are those of a given model, which is not extended.
    given: bool,
    shapes: RequestShapes,
    lines: u64,
    first: f64,
    last: f64,
    timed: bool,
    reads: BTreeMap<String, ReadGroup>,
    declared: BTreeMap<String, u64>,
    writes: BTreeMap<String, WriteGroup>,
    declared_writes: BTreeMap<String, u64>,
    /// Requests that become remarks, by what is said about them.
    open: BTreeMap<String, u64>,
    /// Requests to other tables, and operations that are not on items.
    others: BTreeMap<String, u64>,
    unreadable: (u64, Vec<u64>),
}

#[derive(Default)]
struct ReadGroup {
    pattern: Pattern,
    count: u64,
    batched: u64,
    pages: u64,
    limit: Option<u64>,
    unlimited: bool,
    filter: String,
    altered: bool,
}

impl RequestLog {
    /// Starts with a draft: that of a given model, or an inferred one, whose patterns are replaced by those of the log.
    pub fn new(mut draft: Draft, table: &str, given: bool) -> RequestLog {
        if !given {
            draft.model.patterns.clear();
            draft.questions.retain(|question| !matches!(question.asked, Asked::PatternRate(_)));
        }
        RequestLog {
            shapes: request_shapes(&draft.model),
            draft,
            table: table.to_owned(),
            given,
            lines: 0,
            first: f64::INFINITY,
            last: f64::NEG_INFINITY,
            timed: false,
            reads: BTreeMap::new(),
            declared: BTreeMap::new(),
            writes: BTreeMap::new(),
            declared_writes: BTreeMap::new(),
            open: BTreeMap::new(),
            others: BTreeMap::new(),
            unreadable: (0, Vec::new()),
        }
    }

    /// Reads a line; `number` counts from 1.
    pub fn add(&mut self, number: u64, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let Some(recorded) = parse(line) else { return self.unreadable(number) };
        let Some(sent) = accesses(&recorded.operation, &recorded.request) else {
            if ["Item", "Query", "Scan", "Items"].iter().any(|end| recorded.operation.ends_with(end)) {
                return self.unreadable(number);
            }
            return count(&mut self.others, recorded.operation);
        };
        self.lines += 1;
        if let Some(time) = recorded.time {
            self.timed = true;
            (self.first, self.last) = (self.first.min(time), self.last.max(time));
        }
        for sent in sent {
            if sent.table != self.table {
                count(&mut self.others, format!("requests to {}", sent.table));
                continue;
            }
            match sent.access {
                Access::Read(read) => self.read(&read),
                Access::Scan { index, filter } => self.scan(index.as_deref(), &filter),
                Access::Write(writes, transaction) => self.write(&writes, transaction),
            }
        }
    }

    fn unreadable(&mut self, number: u64) {
        self.unreadable.0 += 1;
        if self.unreadable.1.len() < NAMED_LINES {
            self.unreadable.1.push(number);
        }
    }

    fn scan(&mut self, index: Option<&str>, filter: &str) {
        if let Some(name) = attribute_scan(&self.draft.model, index) {
            return count(&mut self.declared, name.to_owned());
        }
        let filter = if filter.is_empty() { String::new() } else { format!(" with the filter {filter}") };
        let place = index.unwrap_or("the whole table");
        count(
            &mut self.open,
            format!(
                "Scan of {place}{filter}: which items does the caller want? A key that selects them costs less than to read all."
            ),
        );
    }

    fn read(&mut self, read: &Read) {
        let (partition, sort) = texts(&self.draft.model, read);
        let observed = ObservedRead {
            query: read.query,
            batch: read.batch,
            index: read.index.as_deref(),
            partition: &partition,
            sort: sort.view(),
            forward: read.forward,
            limit: None,
        };
        if let Some(name) =
            attribute_read(&self.shapes, &ObservedRead { limit: read.limit, ..observed.clone() })
        {
            if !read.continues {
                count(&mut self.declared, name.to_owned());
            }
            return;
        }
        let Some(mut pattern) = proposed_pattern(&self.draft.model, &self.shapes, &observed) else {
            let operation = if read.query { "Query" } else { "GetItem" };
            let place = read.index.as_deref().unwrap_or("the table");
            let start = start(&partition);
            return count(
                &mut self.open,
                format!(
                    "{operation} of {place} with the partition key {start}…: no entity has such a key. Which one is it?"
                ),
            );
        };
        pattern.strong = read.strong && read.index.is_none();
        pattern.fields = projected(&self.draft.model, &pattern, &read.fields);
        let key = format!("{} {}", pattern_line(&pattern), read.filter);
        if self.reads.len() >= MAX_GROUPS && !self.reads.contains_key(&key) {
            return count(&mut self.others, TOO_DIFFERENT.to_owned());
        }
        let group = self.reads.entry(key).or_insert_with(|| ReadGroup {
            pattern,
            filter: read.filter.clone(),
            ..ReadGroup::default()
        });
        if read.continues {
            group.pages += 1;
            return;
        }
        group.count += 1;
        group.batched += u64::from(read.batch);
        group.limit = group.limit.max(read.limit);
        group.unlimited |= read.limit.is_none();
    }

    /// Returns the draft. Rates are for the given time, or the time between the first and the last request.
    pub fn finish(mut self, over: Option<f64>) -> Draft {
        let seconds = over.or((self.timed && self.last > self.first).then_some(self.last - self.first));
        let rate = |count: u64| seconds.map(|seconds| significant(count as f64 / seconds));
        self.add_patterns(&rate);
        self.add_writes(&rate);
        for (text, count) in std::mem::take(&mut self.open) {
            self.draft
                .remark("table", format!("{}: {text} They are not declared.", plural(count, "request")));
        }
        let time = seconds
            .map_or("an unknown time; give it with --over".to_owned(), |s| format!("{} s", significant(s)));
        let mut about =
            format!("From {} recorded requests to {}, over {time}.", thousands(self.lines), self.table);
        if self.unreadable.0 > 0 {
            let lines: Vec<String> = self.unreadable.1.iter().map(u64::to_string).collect();
            let more = if self.unreadable.0 > lines.len() as u64 { " …" } else { "" };
            about.push_str(&format!(
                "\n{} not understood: {}{more}.",
                plural(self.unreadable.0, "line"),
                lines.join(", ")
            ));
        }
        if !self.others.is_empty() {
            let others: Vec<String> =
                self.others.iter().take(10).map(|(name, count)| format!("{name} ({count})")).collect();
            about.push_str(&format!("\nLeft out: {}.", others.join(", ")));
        }
        self.draft.about = format!("{about}\nCheck it: partita model check");
        self.draft
    }

    fn add_patterns(&mut self, rate: &dyn Fn(u64) -> Option<f64>) {
        for (name, count) in std::mem::take(&mut self.declared) {
            if let Some(pattern) = self.draft.model.patterns.iter_mut().find(|own| own.name == name) {
                pattern.rps = rate(count).or(pattern.rps);
            }
        }
        let mut groups: Vec<ReadGroup> = std::mem::take(&mut self.reads).into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.count));
        for mut group in groups {
            group.pattern.limit = group
                .limit
                .filter(|_| !group.unlimited && group.pattern.targets.iter().any(|target| target.many));
            make_served(&self.draft.model, &mut group);
            let taken = |name: &str| self.draft.model.patterns.iter().any(|own| own.name == name);
            group.pattern.name = free_name(&group.pattern.name, taken);
            group.pattern.rps = rate(group.count);
            self.note_pattern(&group);
            self.draft.model.patterns.push(group.pattern);
        }
    }

    fn note_pattern(&mut self, group: &ReadGroup) {
        let subject = group.pattern.subject();
        let mut origin = plural(group.count, "request");
        if group.batched > 0 {
            origin.push_str(&format!(", {} of them keys of BatchGetItem", group.batched));
        }
        if group.pages > 0 {
            origin.push_str(&format!(", and {}", plural(group.pages, "further page")));
        }
        let confidence = if group.altered { Confidence::Guess } else { Confidence::Certain };
        self.draft.note(&subject, confidence, origin);
        if group.pattern.rps.is_none() {
            let asked = Asked::PatternRate(group.pattern.name.clone());
            self.draft.ask(asked, "How many requests a second?", NOT_KNOWN);
        }
        if !group.filter.is_empty() {
            let text = format!(
                "The filter {} is applied after the read, which costs the same without it. If it leaves out many items, a key should select them.",
                group.filter
            );
            self.draft.remark(subject, text);
        }
    }
}

/// Items of several entities may have no common order: what the keys do not serve is left out.
fn make_served(model: &Model, group: &mut ReadGroup) {
    let keys = Keyspace::new(model);
    let pattern = &group.pattern;
    let unordered = Pattern { order: None, ..pattern.clone() };
    let single =
        pattern.targets.iter().map(|target| Pattern { targets: vec![target.clone()], ..pattern.clone() });
    let alternatives = [pattern.clone(), unordered].into_iter().chain(single);
    if let Some((number, served)) = alternatives.enumerate().find(|(_, pattern)| plan(&keys, pattern).is_ok())
    {
        group.altered = number > 0;
        group.pattern = served;
    }
}

/// The projection, if it names attributes of the entities only.
fn projected(model: &Model, pattern: &Pattern, fields: &[String]) -> Vec<String> {
    let known = |name: &String| {
        let mut entities = pattern.targets.iter().filter_map(|target| model.entity(&target.entity));
        entities.any(|entity| entity.attribute(name).is_some())
    };
    if fields.iter().all(known) { fields.to_vec() } else { Vec::new() }
}

/// The sort condition of a read.
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

/// The partition key of a read and its sort condition, over all attributes of a key.
fn texts(model: &Model, read: &Read) -> (String, SortTexts) {
    let place = TableOrIndex { index: read.index.as_deref().and_then(|name| model.index(name)) };
    let (partition, sort) = place.halves(model);
    let term =
        |name: &String| read.terms.iter().find(|(own, _)| own == name).map(|(_, comparison)| comparison);
    let equal = |name: &String| match term(name) {
        Some(Comparison::Equals(text)) => Some(text.clone()),
        _ => None,
    };
    let border = ATTRIBUTE_SEPARATOR.to_string();
    let partition: Vec<String> = partition.iter().filter_map(equal).collect();
    let fixed: Vec<String> = sort.iter().map_while(equal).collect();
    let bound = |text: &String| [fixed.as_slice(), std::slice::from_ref(text)].concat().join(&border);
    let texts = match sort.get(fixed.len()).and_then(term) {
        Some(Comparison::BeginsWith(text)) => SortTexts::BeginsWith(bound(text)),
        Some(Comparison::Range(from, to)) => {
            SortTexts::Range(from.as_ref().map(bound), to.as_ref().map(bound))
        }
        _ if fixed.is_empty() => SortTexts::None,
        _ if fixed.len() < sort.len() => SortTexts::BeginsWith(bound(&String::new())),
        _ => SortTexts::Equals(fixed.join(&border)),
    };
    (partition.join(&border), texts)
}

fn count(counts: &mut BTreeMap<String, u64>, key: String) {
    if counts.len() < MAX_GROUPS || counts.contains_key(&key) {
        *counts.entry(key).or_default() += 1;
    }
}

/// The start of a key, without its values.
fn start(key: &str) -> &str {
    let mark = key.char_indices().find(|(_, letter)| !letter.is_alphanumeric()).filter(|(at, _)| *at < 20);
    mark.map_or("", |(at, letter)| &key[..at + letter.len_utf8()])
}

/// Rounds to three significant digits.
fn significant(number: f64) -> f64 {
    if number <= 0.0 {
        return 0.0;
    }
    let scale = 10_f64.powf(2.0 - number.log10().floor());
    if scale.is_finite() && scale > 0.0 { (number * scale).round() / scale } else { number }
}
