//! Where the name under the pointer is declared.

use super::cursor::{Cursor, Place, cursor};
use super::outline::{Outline, Symbol, SymbolKind};
use crate::source::Span;
use crate::template::is_in_word;

/// Returns where the name at an offset is declared.
pub fn definition(text: &str, offset: usize, outline: &Outline) -> Option<Span> {
    let span = word_at(text, offset)?;
    let (word, cursor) = (&text[span.clone()], cursor(text, span.end));
    symbol(&cursor, word, outline).map(|symbol| symbol.span.clone())
}

fn symbol<'o>(cursor: &Cursor<'_>, word: &str, outline: &'o Outline) -> Option<&'o Symbol> {
    let path: Vec<&str> = cursor.path.iter().map(String::as_str).collect();
    match (path.as_slice(), cursor.place) {
        (["entity", _, "index"], Place::Field) => outline.find(SymbolKind::Index, word),
        (["entity", name, ..], Place::Text(_)) => {
            outline.find(SymbolKind::Entity, word).or_else(|| outline.attribute(Some(name), word))
        }
        (["pattern" | "write", ..], Place::Text(_)) => outline
            .find(SymbolKind::Entity, word)
            .or_else(|| outline.find(SymbolKind::Index, word))
            .or_else(|| outline.attribute(None, word)),
        (["allow", "on"], Place::Text(_)) => outline.symbols.iter().find(|symbol| symbol.name == word),
        _ => None,
    }
}

/// Returns the word around an offset.
pub(super) fn word_at(text: &str, offset: usize) -> Option<Span> {
    let is_word = |character: char| is_in_word(character) || matches!(character, '_' | '-');
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = text[..offset].chars().rev().take_while(|c| is_word(*c)).map(char::len_utf8).sum::<usize>();
    let after = text[offset..].chars().take_while(|c| is_word(*c)).map(char::len_utf8).sum::<usize>();
    (before + after > 0).then(|| offset - before..offset + after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_declarations() {
        let text = "[index.GSI1]\nkeys = [\"A\"]\n[entity.Order]\nattributes = { orderId = \"ulid\" }\nkey = [\"O#{orderId}\"]\n\
                    index.GSI1 = { key = [\"X\"] }\n[pattern]\none = { out = \"Order*\" }\n";
        let outline = Outline::read(text, 0).unwrap();
        let to =
            |word: &str| definition(text, text.rfind(word).unwrap() + 1, &outline).map(|span| span.start);
        assert_eq!(to("Order*"), text.find("Order]"));
        assert_eq!(to("orderId}"), text.find("orderId ="));
        assert_eq!(to("GSI1 ="), text.find("GSI1]"));
        assert_eq!(to("keys"), None);
    }
}
