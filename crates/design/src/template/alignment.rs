//! A text that a request compares a key with, beside the template of the key: which fields it gives, and which constants stand in their places.

use super::{CharacterClass, FieldTypes, Format, Part, Template};
use std::cmp::Ordering;

/// A constant of a request in the place of a field of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The field.
    pub field: String,
    /// How the key writes it.
    pub format: Format,
    /// The text.
    pub text: String,
    /// Whether the text is the whole value: the request goes on after it.
    pub is_whole: bool,
}

/// A request's text beside a key.
#[derive(Debug, Default)]
pub struct Alignment {
    /// The constants in the places of fields.
    pub constants: Vec<Constant>,
    /// Where the two differ before the request ends: how the request sorts, if that is known.
    pub departs: Option<Option<Ordering>>,
}

/// Reads the parts of a request one after the other.
struct Remaining<'a> {
    parts: std::slice::Iter<'a, Part>,
    /// The text that is not yet compared.
    text: &'a str,
}

impl<'a> Remaining<'a> {
    /// Goes on to the next text; returns whether there is one.
    fn has_text(&mut self) -> bool {
        if self.text.is_empty()
            && let Some(Part::Text(text)) = self.parts.as_slice().first()
        {
            self.text = text;
            self.parts.next();
        }
        !self.text.is_empty()
    }

    fn is_at_end(&self) -> bool {
        self.text.is_empty() && self.parts.as_slice().is_empty()
    }

    /// The text that stands for the value of a field of the key, by its number, and whether it is the whole value.
    fn value(&mut self, key: &Template, number: usize, types: &dyn FieldTypes) -> (&'a str, bool) {
        let end = key.value_end(number, self.text, types);
        let value = end.and_then(|end| self.text.get(..end)).unwrap_or(self.text);
        self.text = &self.text[value.len()..];
        (value, end.is_some())
    }
}

impl Template {
    /// Returns where the value of a field, by its number, ends at the start of a text: at what follows the field in the template, within which the
    /// text may end. `None` if the text does not go on behind the value.
    pub fn value_end(&self, number: usize, text: &str, types: &dyn FieldTypes) -> Option<usize> {
        let Part::Field { name, format } = self.parts.get(number)? else { return None };
        let literal = match (self.parts.get(number + 1)?, format) {
            (Part::Text(literal), _) => literal,
            (Part::Field { .. }, Format::Bucket(length)) => return Some(text.len().min(*length)),
            (Part::Field { .. }, _) => return None,
        };
        let first = literal.chars().next()?;
        if !CharacterClass::of(types, name, *format, true).contains(first) {
            return text.find(first);
        }
        let ends_within = |start: &usize| literal.starts_with(&text[*start..]);
        let within = || text.char_indices().map(|(start, _)| start).find(ends_within);
        text.find(literal.as_str()).or_else(within)
    }
}

/// Compares a request's text with a key, part by part.
pub fn align(request: &Template, key: &Template, types: &dyn FieldTypes) -> Alignment {
    let mut alignment = Alignment::default();
    let mut rest = Remaining { parts: request.parts.iter(), text: "" };
    for (number, part) in key.parts.iter().enumerate() {
        let has_text = rest.has_text();
        if rest.is_at_end() {
            break;
        }
        match part {
            Part::Text(_) if !has_text => {
                alignment.departs = Some(None);
                break;
            }
            Part::Text(literal) => match rest.text.strip_prefix(literal.as_str()) {
                Some(after) => rest.text = after,
                None if literal.starts_with(rest.text) && rest.parts.as_slice().is_empty() => break,
                None => {
                    let is_known = !literal.starts_with(rest.text);
                    alignment.departs = Some(is_known.then(|| rest.text.cmp(literal.as_str())));
                    break;
                }
            },
            Part::Field { name, format } if !has_text => {
                // A name that the entity does not have is another one for the same value.
                let is_other = |own: &str| own != name && types.type_of(own).is_some();
                // A value that is written otherwise than in the key is another text.
                let differs = |own: &str, written: Format| own == name && written != *format;
                if let Some(Part::Field { name: own, format: written }) = rest.parts.next()
                    && (is_other(own) || differs(own, *written))
                {
                    alignment.departs = Some(None);
                    break;
                }
            }
            Part::Field { name, format } => {
                let (text, is_whole) = rest.value(key, number, types);
                let (field, text) = (name.clone(), text.to_owned());
                alignment.constants.push(Constant { field, format: *format, text, is_whole });
                if !is_whole {
                    break;
                }
            }
        }
    }
    alignment
}
