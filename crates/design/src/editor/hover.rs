//! What is shown about the word under the pointer: the plan of a pattern, the keys of an entity, the meaning of a field, a type or a code.

use super::cursor::{Cursor, Place, cursor};
use super::definition::word_at;
use super::outline::Outline;
use super::schema_path;
use crate::capacity::{estimate, size};
use crate::code;
use crate::formatting::format_bytes;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Entity, Model};
use crate::report::explain;
use crate::source::{Source, Span};

/// Returns what is to be shown about the word at an offset, as Markdown, and where the word is.
pub fn hover(source: &Source, offset: usize, outline: &Outline) -> Option<(String, Span)> {
    let span = word_at(&source.text, offset)?;
    let word = &source.text[span.clone()];
    let cursor = cursor(&source.text, span.end);
    let model = crate::read(source).ok();
    let named = model.as_ref().and_then(|model| described(model, &cursor, word));
    let text = named.or_else(|| known(&cursor, word, outline))?;
    Some((text, span))
}

/// What the model says about a name.
fn described(model: &Model, cursor: &Cursor<'_>, word: &str) -> Option<String> {
    let path: Vec<&str> = cursor.path.iter().map(String::as_str).collect();
    let entity = || model.entity(word).map(|entity| entity_text(model, entity));
    match (path.as_slice(), cursor.place) {
        (["pattern" | "write"], Place::Field) => Some(plan_text(model, word)),
        (_, Place::Header(header)) => match header.split('.').next() {
            Some("pattern" | "write") => Some(plan_text(model, word)),
            _ => entity(),
        },
        (
            ["pattern" | "write", ..] | ["entity", _, "copies"] | ["entity", _, "expect", ..],
            Place::Text(_),
        ) => entity(),
        _ => None,
    }
    .filter(|text| !text.is_empty())
}

/// What the format says about a field or a word, and the type of an attribute.
fn known(cursor: &Cursor<'_>, word: &str, outline: &Outline) -> Option<String> {
    match cursor.place {
        Place::Field | Place::Value => {
            let path: Vec<String> = cursor.path.iter().cloned().chain([word.to_owned()]).collect();
            schema_path::description(&path).filter(|text| !text.is_empty())
        }
        Place::Text(_) if cursor.path.first().is_some_and(|first| first == "allow") => {
            code::find(word).map(|code| format!("**{}: {}**\n\n{}", code.code, code.title, code.page))
        }
        Place::Text(_) => {
            let entity = match cursor.path.as_slice() {
                [first, name, ..] if first == "entity" => Some(name.as_str()),
                _ => None,
            };
            let attribute = outline.attribute(entity, word)?;
            Some(format!("`{}`: {}", attribute.name, attribute.detail))
        }
        Place::Header(_) | Place::Comment => None,
    }
}

fn plan_text(model: &Model, name: &str) -> String {
    let text = explain::text(model, Some(name));
    if text.is_empty() { text } else { format!("```text\n{}\n```", text.trim_end()) }
}

/// The keys of an entity in the table and each index, and what is expected of it.
fn entity_text(model: &Model, entity: &Entity) -> String {
    let mut text = format!("**{}**\n\n| | partition key | sort key | |\n|---|---|---|---|\n", entity.name);
    for mapping in TableOrIndex::all(model).iter().filter_map(|location| location.mapping(entity)) {
        let name = mapping.location.index.map_or("table", |index| index.name.as_str());
        let sort = mapping.sort.as_ref().map(|sort| format!("`{sort}`")).unwrap_or_default();
        let when = if mapping.is_sparse() { format!("when {}", mapping.when) } else { String::new() };
        text.push_str(&format!("| {name} | `{}` | {sort} | {when} |\n", mapping.partition));
    }
    let (count, size) = (estimate::total(model, entity), size::item(model, entity));
    let bytes = format_bytes(size.value);
    text.push_str(&format!("\n{}, {bytes}{} each\n", count.text("item"), size.basis.mark()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = r##"format = 1
[table]
name = "Shop"
keys = ["PK", "SK"]
[entity.Order]
attributes = { orderId = "ulid", createdAt = "timestamp" }
key = ["ORDER#{orderId}", "AT#{createdAt}"]
[pattern]
orderById = { in = ["orderId"], out = "Order", limit = 3 }
[[allow]]
code = "P115"
reason = "few"
"##;

    fn at(word: &str) -> String {
        let source = Source::new("m.toml", MODEL);
        let outline = Outline::read(MODEL, 0).unwrap();
        let offset = MODEL.rfind(word).unwrap() + 1;
        hover(&source, offset, &outline).map(|(text, _)| text).unwrap_or_default()
    }

    #[test]
    fn the_word_under_the_pointer_is_explained() {
        assert!(at("orderById").contains("Query on the table"), "{}", at("orderById"));
        assert!(at("Order\"").contains("`ORDER#{orderId}`"), "{}", at("Order\""));
        assert!(at("Order]").contains("AT#{createdAt}"));
        assert_eq!(at("createdAt}"), "`createdAt`: timestamp");
        assert!(at("P115").contains("**P115"));
        assert!(!at("limit").is_empty());
        assert!(at("Shop").is_empty());
    }
}
