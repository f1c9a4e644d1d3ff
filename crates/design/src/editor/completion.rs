//! Completions: fields of the format, attributes in templates and conditions, entities, indexes, types, formats, codes.

use super::cursor::{Cursor, Place, cursor};
use super::outline::{Outline, Symbol, SymbolKind};
use super::schema_path;
use crate::code;
use crate::model::Verb;
use crate::model::value_type::ValueType;
use crate::source::Span;
use crate::template::SHARD;
use std::collections::BTreeMap;

/// A proposal for what is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What is proposed.
    pub label: String,
    /// The text to insert in place of the word so far: with quotes where a string has none yet.
    pub text: String,
    /// What it is.
    pub kind: CompletionKind,
    /// A few words about it.
    pub detail: String,
    /// The word that it replaces.
    pub span: Span,
}

/// What a completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A table or field of the format.
    Field,
    /// An attribute.
    Attribute,
    /// An entity.
    Entity,
    /// An index.
    Index,
    /// A word that the format knows: a type, a choice, a verb, a code.
    Word,
}

type Proposal = (CompletionKind, String, String);

/// Formats of template fields, and what they do.
const FORMATS: [(&str, &str); 10] = [
    ("08", "a number padded with zeros"),
    ("08.2", "a number padded with zeros, with two decimals"),
    ("+08", "a number of either sign that sorts as text"),
    ("year", "the year of a time"),
    ("month", "the month of a time"),
    ("day", "the day of a time"),
    ("hour", "the hour of a time"),
    ("minute", "the minute of a time"),
    ("escaped", "text in which # and % are escaped"),
    ("lower", "text in lower case"),
];

/// Returns the completions at an offset. The outline is that of the text, or the last one that could be read.
pub fn completions(text: &str, offset: usize, outline: &Outline) -> Vec<Completion> {
    let cursor = cursor(text, offset);
    let end = offset.min(text.len());
    let span = end - cursor.word.len()..end;
    let is_boolean = schema_path::is_boolean(&cursor.path);
    let proposals = match cursor.place {
        Place::Comment => Vec::new(),
        Place::Header(header) => headers(header, outline),
        Place::Field => fields(&cursor, outline),
        Place::Value if is_boolean => words(["true", "false"]),
        Place::Value => values(&cursor, outline),
        Place::Text(written) => texts(&cursor, written, outline),
    };
    let word = cursor.word.to_lowercase();
    let fits = |(_, text, _): &Proposal| text.to_lowercase().starts_with(&word);
    let completion = |(kind, label, detail): Proposal| {
        let text =
            if cursor.place == Place::Value && !is_boolean { format!("\"{label}\"") } else { label.clone() };
        Completion { label, text, kind, detail, span: span.clone() }
    };
    proposals.into_iter().filter(fits).map(completion).collect()
}

fn words(words: impl IntoIterator<Item = impl Into<String>>) -> Vec<Proposal> {
    words.into_iter().map(|word| (CompletionKind::Word, word.into(), String::new())).collect()
}

fn headers(header: &str, outline: &Outline) -> Vec<Proposal> {
    match header.split_once('.') {
        None => schema_path::fields(&[])
            .into_iter()
            .map(|field| (CompletionKind::Field, field.name, field.description))
            .collect(),
        Some(("entity", rest)) if rest.ends_with(".index.") => symbols(outline, SymbolKind::Index),
        Some(_) => Vec::new(),
    }
}

fn fields(cursor: &Cursor<'_>, outline: &Outline) -> Vec<Proposal> {
    let path: Vec<&str> = cursor.path.iter().map(String::as_str).collect();
    if let ["entity", _, "index"] = path.as_slice() {
        return symbols(outline, SymbolKind::Index);
    }
    let known = schema_path::fields(&cursor.path);
    known.into_iter().map(|field| (CompletionKind::Field, field.name, field.description)).collect()
}

fn symbols(outline: &Outline, kind: SymbolKind) -> Vec<Proposal> {
    let sort = match kind {
        SymbolKind::Index => CompletionKind::Index,
        _ => CompletionKind::Entity,
    };
    outline.of(kind).map(|symbol| (sort, symbol.name.clone(), String::new())).collect()
}

/// What a pattern returns: one item of an entity, or a list.
fn one_or_many(outline: &Outline) -> Vec<Proposal> {
    let both = |(kind, name, detail): Proposal| {
        let many = (kind, format!("{name}*"), "a list".to_owned());
        [(kind, name, detail), many]
    };
    symbols(outline, SymbolKind::Entity).into_iter().flat_map(both).collect()
}

/// Whole texts. Conditions, actions and keys are proposed word by word, inside their quotes.
fn values(cursor: &Cursor<'_>, outline: &Outline) -> Vec<Proposal> {
    let path: Vec<&str> = cursor.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["entity", _, "index", _, "when"] | ["pattern", _, "where"] | ["write", _, "transact" | "batch"] => {
            Vec::new()
        }
        _ => texts(cursor, "", outline),
    }
}

/// The inside of a string, by the field that it belongs to.
fn texts(cursor: &Cursor<'_>, written: &str, outline: &Outline) -> Vec<Proposal> {
    let path: Vec<&str> = cursor.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["entity", name, "key"] | ["entity", name, "index", _, "key"] => template(written, name, outline),
        ["entity", _, "attributes", _] | ["entity", _, "attributes", _, "type"] => words(ValueType::names()),
        ["pattern", _, "out"] => one_or_many(outline),
        ["entity", _, "copies"] | ["entity", _, "expect", "per"] | ["pattern", _, "via"] => {
            symbols(outline, SymbolKind::Entity)
        }
        ["write", _, "create" | "put" | "update" | "delete"] => symbols(outline, SymbolKind::Entity),
        ["write", _, "transact" | "batch"] => action(written, outline),
        ["entity", name, "unique" | "lock" | "versions" | "edge" | "identity" | "ttl"]
        | ["entity", name, "shard", "by"]
        | ["entity", name, "index", _, "shard", "by"]
        | ["entity", name, "index", _, "when"] => {
            attributes(outline.attributes.get(*name).into_iter().flatten())
        }
        ["pattern", _, "order"] if written.contains(' ') => words(["asc", "desc"]),
        ["pattern", _, "in" | "order" | "range" | "where" | "fields"] | ["pattern", _, "range", "by"] => {
            attributes(outline.attributes.values().flatten())
        }
        ["pattern", _, "request", "index"] => symbols(outline, SymbolKind::Index),
        ["write", _, "set"] | ["table", "tenant" | "ttl"] => {
            attributes(outline.attributes.values().flatten())
        }
        ["allow", "code"] => code::CODES
            .iter()
            .map(|code| (CompletionKind::Word, code.code.to_owned(), code.title.to_owned()))
            .collect(),
        _ => words(schema_path::choices(&cursor.path)),
    }
}

/// Attributes by name, each once, with the type of the first.
fn attributes<'o>(all: impl Iterator<Item = &'o Symbol>) -> Vec<Proposal> {
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for symbol in all {
        found.entry(&symbol.name).or_insert(&symbol.detail);
    }
    found
        .into_iter()
        .map(|(name, kind)| (CompletionKind::Attribute, name.to_owned(), kind.to_owned()))
        .collect()
}

/// Inside the braces of a template: the entity's attributes, then formats.
fn template(written: &str, entity: &str, outline: &Outline) -> Vec<Proposal> {
    let Some(open) = written.rfind('{').filter(|open| !written[*open..].contains('}')) else {
        return Vec::new();
    };
    if written[open..].contains(':') {
        let format =
            |(name, does): &(&str, &str)| (CompletionKind::Word, (*name).to_owned(), (*does).to_owned());
        return FORMATS.iter().map(format).collect();
    }
    let mut proposals = attributes(outline.attributes.get(entity).into_iter().flatten());
    proposals.push((CompletionKind::Word, SHARD.to_owned(), "the number of the shard".to_owned()));
    proposals
}

/// `update Order set status`: a verb, an entity, its attributes.
fn action(written: &str, outline: &Outline) -> Vec<Proposal> {
    let mut before = written.split(' ');
    let (verb, entity) = (before.next(), before.next());
    match (verb, entity, before.next()) {
        (_, None, _) => words([Verb::Create, Verb::Put, Verb::Update, Verb::Delete].map(Verb::name)),
        (_, Some(_), None) => symbols(outline, SymbolKind::Entity),
        (_, Some(entity), Some(_)) => {
            let entity = entity.trim_end_matches('*');
            attributes(outline.attributes.get(entity).into_iter().flatten())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "format = 1\n[table]\nname = \"Shop\"\nkeys = [\"PK\", \"SK\"]\n[index.GSI1]\nkeys = [\"A\"]\n\
                         [entity.Order]\nattributes = { orderId = \"ulid\", createdAt = \"timestamp\" }\n";

    fn at(more: &str) -> Vec<String> {
        let text = format!("{MODEL}{more}");
        let outline = Outline::read(&text, text.len()).unwrap();
        completions(&text, text.len(), &outline).into_iter().map(|completion| completion.text).collect()
    }

    #[test]
    fn a_value_without_quotes_gets_them() {
        for (before, labels, texts) in [
            ("[pattern]\none = { importance = cr", ["critical"].as_slice(), ["\"critical\""].as_slice()),
            ("[pattern]\none = { out = ", &["Order", "Order*"], &["\"Order\"", "\"Order*\""]),
            ("[pattern]\none = { in = [", &["createdAt", "orderId"], &["\"createdAt\"", "\"orderId\""]),
            ("[pattern]\none = { in = [\"createdAt\", o", &["orderId"], &["\"orderId\""]),
            ("[entity.User]\nattributes = { name = str", &["string"], &["\"string\""]),
            ("[index.GSI2]\nlocal = ", &["true", "false"], &["true", "false"]),
            ("[index.GSI2]\nlocal = \"", &[], &[]),
            ("[pattern]\none = { where = ", &[], &[]),
        ] {
            let text = format!("{MODEL}{before}");
            let outline = Outline::read(MODEL, MODEL.len()).unwrap();
            let found = completions(&text, text.len(), &outline);
            let (left, right): (Vec<_>, Vec<_>) =
                found.iter().map(|one| (one.label.as_str(), one.text.as_str())).unzip();
            assert_eq!((left.as_slice(), right.as_slice()), (labels, texts), "{before}");
        }
    }

    #[test]
    fn names_are_proposed_where_they_belong() {
        assert_eq!(at("key = [\"ORDER#{o"), ["orderId"]);
        assert_eq!(at("key = [\"ORDER#{"), ["createdAt", "orderId", "shard"]);
        assert_eq!(at("key = [\"ORDER#{createdAt:mo"), ["month"]);
        assert_eq!(at("key = [\"ORDER#{createdAt:l"), ["lower"]);
        assert_eq!(at("key = [\"ORDER#{createdAt}#"), [""; 0]);
        assert_eq!(at("index.G"), ["GSI1"]);
        assert_eq!(at("uni"), ["unique"]);
        assert_eq!(at("[pattern]\none = { out = \"O"), ["Order", "Order*"]);
        assert_eq!(at("[pattern]\none = { in = [\"c"), ["createdAt"]);
        assert_eq!(at("[pattern]\none = { order = \"createdAt d"), ["desc"]);
        assert_eq!(at("[pattern]\none = { consistency = \"s"), ["strong"]);
        assert_eq!(at("[write]\none = { transact = [\"create O"), ["Order"]);
        assert_eq!(
            at("[[allow]]\ncode = \"P10"),
            code::CODES
                .iter()
                .map(|code| code.code)
                .filter(|code| code.starts_with("P10"))
                .collect::<Vec<_>>()
        );
        assert!(at("[ent").contains(&"entity".to_owned()));
        assert!(at("# uni").is_empty());
    }
}
