//! The names that a model's text declares, and where: also of a text with mistakes that keep it from being a model.

use crate::source::Span;
use std::collections::BTreeMap;
use toml_edit::{Document, Item, TableLike};

/// The names that a text declares.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Everything that has a name, in the order of the text.
    pub symbols: Vec<Symbol>,
    /// The attributes of each entity, with their types.
    pub attributes: BTreeMap<String, Vec<Symbol>>,
}

/// A name and where it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it names.
    pub kind: SymbolKind,
    /// A few words about it: the type of an attribute.
    pub detail: String,
    /// Where it is declared.
    pub span: Span,
}

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SymbolKind {
    /// An index.
    Index,
    /// An entity.
    Entity,
    /// An attribute of an entity.
    Attribute,
    /// An access pattern.
    Pattern,
    /// A write.
    Write,
}

impl Outline {
    /// Reads the names that a text declares. If it is not TOML, the line at `offset` is left out; `None` if that does not help either.
    pub fn read(text: &str, offset: usize) -> Option<Outline> {
        let whole = Document::parse(text).ok().map(|document| outline(document.as_table()));
        whole.or_else(|| {
            let rest = without_line(text, offset);
            Document::parse(rest.as_str()).ok().map(|document| outline(document.as_table()))
        })
    }

    /// Returns the names of a kind.
    pub fn of(&self, kind: SymbolKind) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(move |symbol| symbol.kind == kind)
    }

    /// Returns the symbol with a name and kind.
    pub fn find(&self, kind: SymbolKind, name: &str) -> Option<&Symbol> {
        self.of(kind).find(|symbol| symbol.name == name)
    }

    /// Returns an attribute of an entity or, without one, the first with this name of any.
    pub fn attribute(&self, entity: Option<&str>, name: &str) -> Option<&Symbol> {
        let own = entity.and_then(|entity| self.attributes.get(entity)).into_iter().flatten();
        own.chain(self.attributes.values().flatten()).find(|symbol| symbol.name == name)
    }
}

/// The text with the characters of one line replaced by spaces, so that offsets stay the same.
fn without_line(text: &str, offset: usize) -> String {
    let bytes = text.as_bytes();
    let offset = offset.min(bytes.len());
    let start = bytes[..offset].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let end = bytes[offset..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| offset + at);
    format!("{}{}{}", &text[..start], " ".repeat(end - start), &text[end..])
}

const SECTIONS: [(&str, SymbolKind); 4] = [
    ("index", SymbolKind::Index),
    ("entity", SymbolKind::Entity),
    ("pattern", SymbolKind::Pattern),
    ("write", SymbolKind::Write),
];

fn outline(root: &dyn TableLike) -> Outline {
    let mut outline = Outline::default();
    for (section, kind) in SECTIONS {
        let table = root.get(section).and_then(Item::as_table_like);
        for symbol in table.into_iter().flat_map(|table| symbols(table, kind)) {
            outline.symbols.push(symbol);
        }
    }
    outline.symbols.sort_by_key(|symbol| symbol.span.start);
    let entities = root.get("entity").and_then(Item::as_table_like);
    for (name, entity) in entities.into_iter().flat_map(TableLike::iter) {
        let attributes = entity.as_table_like().and_then(|entity| entity.get("attributes")?.as_table_like());
        let own = attributes.map(|table| symbols(table, SymbolKind::Attribute)).unwrap_or_default();
        outline.attributes.insert(name.to_owned(), own);
    }
    outline
}

fn symbols(table: &dyn TableLike, kind: SymbolKind) -> Vec<Symbol> {
    let symbol = |(name, item): (&str, &Item)| {
        let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span())?;
        let typed = item.as_str().or_else(|| item.get("type")?.as_str());
        Some(Symbol { name: name.to_owned(), kind, detail: typed.unwrap_or_default().to_owned(), span })
    };
    table.iter().filter_map(symbol).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_beside_an_unfinished_line() {
        let text = "[entity.Order]\nattributes = { orderId = \"ulid\", total = { type = \"decimal\" } }\nkey = [\"\n[pattern]\none = { out = \"Order\" }\n";
        let outline = Outline::read(text, text.find("key").unwrap() + 3).unwrap();
        assert_eq!(outline.find(SymbolKind::Entity, "Order").unwrap().span.start, 8);
        assert_eq!(outline.attribute(Some("Order"), "total").unwrap().detail, "decimal");
        let pattern = outline.find(SymbolKind::Pattern, "one").unwrap();
        assert_eq!(&text[pattern.span.clone()], "one");
        assert!(Outline::read(text, 0).is_none());
    }
}
