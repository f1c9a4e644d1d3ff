//! Where a section of the file mentions a name: the word itself, in a value or as a key.

use super::strings::Places;
use crate::finding::repair::{Edit, Repair};
use crate::source::Span;
use crate::template::is_in_word;
use toml_edit::{Item, TableLike, Value};

/// The file in which names are searched.
#[derive(Clone, Copy)]
pub(super) struct Mentions<'a> {
    pub root: &'a dyn TableLike,
    pub text: &'a str,
}

/// A name in the file.
pub(super) struct Mention {
    pub span: Span,
    /// Whether it stands in braces, as the field of a template.
    is_field: bool,
    /// The value that it is in, and the path of that value; none if it is a key.
    value: Option<(Vec<String>, Span)>,
}

impl<'a> Mentions<'a> {
    /// Returns where a subject such as `pattern.byTitle` mentions a name, fields of templates first.
    pub fn find(self, subject: &str, name: &str) -> Option<Mention> {
        let (kind, own) = subject.split_once('.')?;
        let section = self.root.get(kind)?.as_table_like()?.get(own)?;
        let mut search = Search { text: self.text, name, found: Vec::new() };
        search.item(section, &[kind.to_owned(), own.to_owned()]);
        let field = search.found.iter().position(|mention| mention.is_field).unwrap_or_default();
        search.found.into_iter().nth(field)
    }

    /// Returns where a value is, which a path leads to.
    pub fn value_of(self, path: &[&str]) -> Option<Span> {
        let (last, parents) = path.split_last()?;
        let table = parents.iter().try_fold(self.root, |table, key| table.get(key)?.as_table_like())?;
        table.get(last)?.span()
    }

    /// Returns the repair that writes another name at a place.
    pub fn renamed(self, mention: &Mention, name: &str, help: &str) -> Option<Repair> {
        let (path, whole) = mention.value.as_ref()?;
        let (before, after) =
            (self.text.get(whole.start..mention.span.start)?, self.text.get(mention.span.end..whole.end)?);
        let edit = Edit { path: path.clone(), value: Some(format!("{before}{name}{after}")) };
        Some(Repair { help: help.to_owned(), edits: vec![edit] })
    }
}

struct Search<'a> {
    text: &'a str,
    name: &'a str,
    found: Vec<Mention>,
}

impl Search<'_> {
    fn item(&mut self, item: &Item, path: &[String]) {
        match item {
            Item::Value(value) => self.value(value, path, &value.span().unwrap_or_default()),
            Item::Table(table) => self.table(table, path),
            Item::None | Item::ArrayOfTables(_) => {}
        }
    }

    fn table(&mut self, table: &dyn TableLike, path: &[String]) {
        for (key, item) in table.iter().filter(|(key, _)| *key != "about") {
            let at = table.key(key).and_then(toml_edit::Key::span);
            if let Some(span) = at.filter(|_| key == self.name) {
                self.found.push(Mention { span, is_field: false, value: None });
            }
            self.item(item, &[path, &[key.to_owned()]].concat());
        }
    }

    /// `whole` is the value at the path, of which this one may be an element.
    fn value(&mut self, value: &Value, path: &[String], whole: &Span) {
        match value {
            Value::String(text) => {
                let places = Places::new(self.text, value.span().unwrap_or_default());
                for (at, is_field) in words(text.value(), self.name) {
                    let span = places.of(&(at..at + self.name.len()));
                    self.found.push(Mention { span, is_field, value: Some((path.to_vec(), whole.clone())) });
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.value(value, path, whole)),
            Value::InlineTable(table) => self.table(table, path),
            _ => {}
        }
    }
}

/// Where a text has a name as a word of its own, and whether it is in braces there.
fn words<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (usize, bool)> + 't {
    let is_part = |character: char| is_in_word(character) || character == '_';
    text.match_indices(name).filter_map(move |(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
        let is_word = !before.is_some_and(is_part) && !after.is_some_and(is_part);
        is_word.then_some((at, before == Some('{')))
    })
}
