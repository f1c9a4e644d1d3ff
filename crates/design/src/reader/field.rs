//! Fields of a TOML table: read as the expected type, or reported with position and remedy.

use super::traffic::IN_A_YEAR;
use super::{MAX_ENTITIES, MAX_ENTRIES, MAX_INDEXES, Reader, strings};
use crate::finding::{Finding, Severity, closest};
use crate::formatting::thousands;
use crate::model::condition::Condition;
use crate::model::key_condition::{self, KeyClause};
use crate::source::Span;
use crate::template::{Template, TemplateError};
use toml_edit::{Item, TableLike};

/// The most requests a second.
const MAX_RATE: f64 = 1e9;
/// The highest peak, as a multiple of the mean.
const MAX_PEAK: f64 = 1e6;
/// The most items, values or bytes.
const MAX_NUMBER: f64 = 1e15;

/// What conditions can say.
const CONDITION_HELP: &str = "for example status in ('PENDING', 'PAID') and missing(refund) or begins_with(name, 'A') and total >= 100";

/// Names that other tools use for a field, and its name here.
const SYNONYMS: [(&str, &str); 28] = [
    ("input", "in"),
    ("inputs", "in"),
    ("output", "out"),
    ("outputs", "out"),
    ("returns", "out"),
    ("rate", "rps"),
    ("filter", "where"),
    ("sort", "order"),
    ("consistent", "consistency"),
    ("pk", "key"),
    ("sk", "key"),
    ("keys", "key"),
    ("partition_key", "keys"),
    ("sort_key", "keys"),
    ("hash_key", "keys"),
    ("range_key", "keys"),
    ("key", "keys"),
    ("projection", "project"),
    ("condition", "when"),
    ("sparse", "when"),
    ("size", "bytes"),
    ("fields", "attributes"),
    ("version", "lock"),
    ("copy_of", "copies"),
    ("insert", "create"),
    ("add", "create"),
    ("upsert", "put"),
    ("remove", "delete"),
];

/// A TOML table, and the name that messages use for it.
pub(super) struct Section<'a> {
    pub table: &'a dyn TableLike,
    pub subject: String,
    pub span: Span,
}

impl<'a> Section<'a> {
    pub fn get(&self, key: &str) -> Option<&'a Item> {
        self.table.get(key).filter(|item| !item.is_none())
    }

    /// Returns the span of a key itself.
    pub fn name_span(&self, key: &str) -> Span {
        self.table.key(key).and_then(toml_edit::Key::span).unwrap_or_else(|| self.span.clone())
    }

    /// Returns the span of the value of a key, or of the key itself.
    pub fn span_of(&self, key: &str) -> Span {
        self.get(key).and_then(Item::span).unwrap_or_else(|| self.name_span(key))
    }
}

impl Reader {
    pub(super) fn fail(
        &mut self,
        code: &'static str,
        section: &Section<'_>,
        span: &Span,
        message: String,
        help: &str,
    ) {
        self.findings.push(
            Finding::new(code, Severity::Error, &section.subject, span).with_message(message).with_help(help),
        );
    }

    /// Reports keys that are not in `known`.
    pub(super) fn only(&mut self, section: &Section<'_>, known: &[&str]) {
        for (key, item) in section.table.iter() {
            if item.is_none() || known.contains(&key) {
                continue;
            }
            let span = section.name_span(key);
            let synonym = SYNONYMS.iter().find(|(word, meant)| *word == key && known.contains(meant));
            let help = match synonym.map(|(_, meant)| *meant).or_else(|| closest(key, known.iter().copied()))
            {
                _ if key == "index" && section.subject.starts_with("pattern.") => {
                    "a pattern names no index: the check finds the one that serves it".to_owned()
                }
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            self.fail("P002", section, &span, format!("`{key}` is unknown in {}", section.subject), &help);
        }
    }

    /// Returns whether a list is within its limit, and reports it otherwise.
    pub(super) fn is_within(&mut self, section: &Section<'_>, key: &str, number: usize, max: usize) -> bool {
        if number > max {
            let message = format!("`{key}` has {number} entries; the limit is {max}");
            self.fail("P002", section, &section.span_of(key), message, "split the model");
        }
        number <= max
    }

    pub(super) fn wrong(&mut self, section: &Section<'_>, key: &str, wanted: &str, example: &str) {
        let span = section.span_of(key);
        self.fail(
            "P002",
            section,
            &span,
            format!("`{key}` must be {wanted}"),
            &format!("for example {key} = {example}"),
        );
    }

    pub(super) fn text(&mut self, section: &Section<'_>, key: &str) -> Option<String> {
        let item = section.get(key)?;
        let text = item.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong(section, key, "a string", "\"name\"");
        }
        text
    }

    pub(super) fn required(&mut self, section: &Section<'_>, key: &str, example: &str) -> String {
        if section.get(key).is_none() {
            let message = format!("{} needs `{key}`", section.subject);
            self.fail("P002", section, &section.span.clone(), message, &format!("add {key} = {example}"));
        }
        self.text(section, key).unwrap_or_default()
    }

    pub(super) fn flag(&mut self, section: &Section<'_>, key: &str) -> bool {
        let Some(item) = section.get(key) else { return false };
        item.as_bool().unwrap_or_else(|| {
            self.wrong(section, key, "true or false", "true");
            false
        })
    }

    pub(super) fn number(&mut self, section: &Section<'_>, key: &str) -> Option<f64> {
        let item = section.get(key)?;
        let number = item.as_float().or_else(|| item.as_integer().map(|whole| whole as f64));
        let (most, number) = (most(key), number.filter(|number| *number >= 0.0 && !number.is_nan()));
        match number {
            None => self.wrong(section, key, "a number that is not negative", "100"),
            Some(number) if number > most => self.wrong(section, key, &at_most(most), "100"),
            Some(_) => {}
        }
        number.filter(|number| *number <= most)
    }

    pub(super) fn whole(&mut self, section: &Section<'_>, key: &str) -> Option<u64> {
        self.whole_as(section, key, "1_000_000")
    }

    /// Reads a whole number; the example is one that is usual for it.
    fn whole_as(&mut self, section: &Section<'_>, key: &str, example: &str) -> Option<u64> {
        let item = section.get(key)?;
        let number = item.as_integer().and_then(|number| u64::try_from(number).ok()).filter(|n| *n > 0);
        match number {
            None => self.wrong(section, key, "a whole number above zero", example),
            Some(number) if number as f64 > most(key) => {
                self.wrong(section, key, &at_most(most(key)), example)
            }
            Some(_) => {}
        }
        number
    }

    /// Reads the `Limit` of a request, a number of 32 bits.
    pub(super) fn limit(&mut self, section: &Section<'_>) -> Option<u64> {
        let limit = self.whole_as(section, "limit", "20")?;
        if limit > i32::MAX as u64 {
            self.wrong(section, "limit", "at most 2147483647", "100");
        }
        Some(limit)
    }

    /// Reads a list of texts; a single text is a list of one.
    pub(super) fn texts(&mut self, section: &Section<'_>, key: &str) -> Vec<String> {
        let Some(item) = section.get(key) else { return Vec::new() };
        if let Some(one) = item.as_str() {
            return vec![one.to_owned()];
        }
        if !self.is_within(section, key, item.as_array().map_or(0, toml_edit::Array::len), MAX_ENTRIES) {
            return Vec::new();
        }
        let texts = item
            .as_array()
            .and_then(|array| array.iter().map(|value| value.as_str().map(str::to_owned)).collect());
        texts.unwrap_or_else(|| {
            self.wrong(section, key, "a list of strings", "[\"userId\"]");
            Vec::new()
        })
    }

    /// Reads a list of texts and of lists of texts: the partition key and the sort key of an index.
    pub(super) fn halves(&mut self, section: &Section<'_>, key: &str) -> Vec<Vec<String>> {
        let Some(item) = section.get(key) else { return Vec::new() };
        let Some(array) = item.as_array() else { return vec![self.texts(section, key)] };
        let half = |value: &toml_edit::Value| match value.as_array() {
            None => value.as_str().map(|text| vec![text.to_owned()]),
            Some(several) => several.iter().map(|value| value.as_str().map(str::to_owned)).collect(),
        };
        let halves: Option<Vec<Vec<String>>> = array.iter().map(half).collect();
        halves.unwrap_or_else(|| {
            self.wrong(section, key, "a list of strings", "[\"PK\", \"SK\"]");
            Vec::new()
        })
    }

    pub(super) fn choice(&mut self, section: &Section<'_>, key: &str, choices: &[&str]) -> Option<String> {
        let text = self.text(section, key)?;
        if choices.contains(&text.as_str()) {
            return Some(text);
        }
        self.wrong(section, key, &format!("one of {}", choices.join(", ")), &format!("\"{}\"", choices[0]));
        None
    }

    pub(super) fn condition(&mut self, section: &Section<'_>, key: &str) -> Condition {
        let Some(text) = self.text(section, key) else { return Condition::default() };
        let places = strings::Places::new(&self.text, section.span_of(key));
        match Condition::parse(&text) {
            Ok(condition) => condition.placed(&|inside| places.of(inside)),
            Err(error) => {
                self.fail("P005", section, &places.of(&error.at), error.message, CONDITION_HELP);
                Condition::default()
            }
        }
    }

    /// Parses a condition with which the value of a key ends.
    pub(super) fn last_condition(&mut self, section: &Section<'_>, key: &str, text: &str) -> Condition {
        let value = section.get(key).and_then(Item::as_str).map_or(0, str::len);
        let start = value.saturating_sub(text.len());
        let places = strings::Places::new(&self.text, section.span_of(key));
        Condition::parse(text).unwrap_or_else(|error| {
            let at = places.of(&(error.at.start + start..error.at.end + start));
            self.fail("P005", section, &at, error.message, CONDITION_HELP);
            Condition::default()
        })
    }

    /// Reads the key condition of a request.
    pub(super) fn key_condition(&mut self, section: &Section<'_>) -> Vec<KeyClause> {
        let Some(text) = section.get("condition").and_then(Item::as_str) else { return Vec::new() };
        let places = strings::Places::new(&self.text, section.span_of("condition"));
        match key_condition::parse(text) {
            Ok(clauses) => clauses
                .into_iter()
                .map(|clause| KeyClause {
                    span: places.of(&clause.span),
                    fields: clause.fields.iter().map(|(name, at)| (name.clone(), places.of(at))).collect(),
                    ..clause
                })
                .collect(),
            Err(error) => {
                let help = "for example condition = \"PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#')\"";
                self.fail("P005", section, &places.of(&error.at), error.message, help);
                Vec::new()
            }
        }
    }

    /// Reads templates in the order of the key attributes; those of the partition key or the sort key may be nested in a list.
    pub(super) fn templates(&mut self, section: &Section<'_>, key: &str) -> Vec<Template> {
        let texts = self.halves(section, key).concat();
        let values = section.get(key).and_then(Item::as_array).into_iter().flatten();
        let spans: Vec<Span> = values
            .flat_map(|value| match value.as_array() {
                None => vec![value.span()],
                Some(several) => several.iter().map(toml_edit::Value::span).collect(),
            })
            .flatten()
            .collect();
        let whole = section.span_of(key);
        let mut templates = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            match key_template(text) {
                Ok(template) => templates.push(template),
                Err(error) => {
                    let start = spans.get(number).map_or(whole.start, |span| span.start + 1 + error.at);
                    let help = "a template is text with fields in braces: ORDER#{createdAt}#{orderId}";
                    self.fail("P004", section, &(start..start + 1), error.message, help);
                }
            }
        }
        templates
    }

    /// Reads the tables `[name.…]`, in the order of the file.
    pub(super) fn sections<'a>(&mut self, root: &Section<'a>, name: &str) -> Vec<(String, Section<'a>)> {
        let Some(item) = root.get(name) else { return Vec::new() };
        let Some(table) = item.as_table_like() else {
            let message = format!("`{name}` must be a table of tables");
            let help = format!("write [{name}.…] for each, or [{name}] with a line … = {{ … }} for each");
            self.fail("P002", root, &root.span_of(name), message, &help);
            return Vec::new();
        };
        let max = match name {
            "entity" => MAX_ENTITIES,
            "index" => MAX_INDEXES,
            _ => MAX_ENTRIES,
        };
        if !self.is_within(root, name, table.len(), max) {
            return Vec::new();
        }
        let mut sections = Vec::new();
        for (key, item) in table.iter() {
            let key_span = table.key(key).and_then(toml_edit::Key::span).or_else(|| item.span());
            let span = key_span.unwrap_or_default();
            let subject = format!("{name}.{key}");
            match item.as_table_like() {
                Some(table) => sections.push((key.to_owned(), Section { table, subject, span })),
                None => self.findings.push(
                    Finding::new("P002", Severity::Error, &subject, &span)
                        .with_message(format!("{subject} must be a table"))
                        .with_help(format!("write {key} = {{ … }} or [{subject}]")),
                ),
            }
        }
        sections.sort_by_key(|(_, section)| section.span.start);
        sections
    }

    /// Reads a table inside a section.
    pub(super) fn inner<'a>(&mut self, section: &Section<'a>, key: &str) -> Option<Section<'a>> {
        let item = section.get(key)?;
        let span = section.span_of(key);
        match item.as_table_like() {
            Some(table) if self.is_within(section, key, table.len(), MAX_ENTRIES) => {
                Some(Section { table, subject: section.subject.clone(), span })
            }
            Some(_) => None,
            None => {
                let example = if key == "attributes" { "{ userId = \"ulid\" }" } else { "{ … }" };
                self.wrong(section, key, "a table", example);
                None
            }
        }
    }
}

/// The greatest number that a field may have: figures are products of several of them.
fn most(key: &str) -> f64 {
    match key.trim_end_matches(IN_A_YEAR) {
        "rps" => MAX_RATE,
        "peak" => MAX_PEAK,
        _ => MAX_NUMBER,
    }
}

fn at_most(most: f64) -> String {
    format!("at most {}", thousands(most as u64))
}

/// Parses the template of a key attribute, which is never empty in DynamoDB.
fn key_template(text: &str) -> Result<Template, TemplateError> {
    if text.is_empty() {
        return Err(TemplateError { at: 0, message: "a key cannot be empty".to_owned() });
    }
    Template::parse(text)
}
