//! How the keys of two templates sort, where the templates decide it for all values.

use super::{ATTRIBUTE_SEPARATOR, CharacterClass, FieldTypes, Format, Part, Template};
use crate::model::value_type::ValueType;
use std::cmp::Ordering;

/// A character of a template, or a field.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Character(char),
    Field(&'a str, Format),
}

impl Template {
    /// Returns how every text of this template sorts relative to every text of another; `None` if that depends on the values. The fields that
    /// `is_same` accepts have the same value in both.
    pub fn order(
        &self,
        own: &dyn FieldTypes,
        other: &Template,
        others: &dyn FieldTypes,
        is_same: impl Fn(&str) -> bool,
    ) -> Option<Ordering> {
        let (mut left, mut right) = (self.pieces(), other.pieces());
        loop {
            let (one, two) = match (left.next(), right.next()) {
                (None, None) => return None,
                (None, Some(_)) => return Some(Ordering::Less),
                (Some(_), None) => return Some(Ordering::Greater),
                (Some(one), Some(two)) => (one, two),
            };
            match (one, two) {
                (Piece::Character(one), Piece::Character(two)) if one == two => {}
                (Piece::Field(one, format), Piece::Field(two, other))
                    if one == two && format == other && is_same(one) => {}
                _ => return compare(first_characters(own, one)?, first_characters(others, two)?),
            }
        }
    }

    /// Returns the delimiter after a text that characters of the text can sort before, so that keys do not sort exactly as their values do: `Ann
    /// Lee#` sorts before `Ann#`. Without a delimiter, it is the last character that can follow. `None` if keys sort as the values of the field do.
    pub fn late_delimiter(&self, field: &str, types: &dyn FieldTypes) -> Option<char> {
        let at =
            self.parts.iter().position(|part| matches!(part, Part::Field { name, .. } if name == field))?;
        let [Part::Field { format, .. }, after, ..] = &self.parts[at..] else { return None };
        let is_text =
            matches!(types.type_of(field)?, ValueType::String | ValueType::Id | ValueType::Choice(_))
                && format.length().is_none();
        // Key attributes are compared one by one.
        let delimiter = match after {
            Part::Text(text) => text.chars().next().filter(|first| *first != ATTRIBUTE_SEPARATOR)?,
            Part::Field { name, format } => {
                first_characters(types, Piece::Field(name, *format)).map_or('~', |(_, last)| last)
            }
        };
        if !is_text {
            return None;
        }
        let is_late = match types.type_of(field)? {
            ValueType::Choice(choices) => {
                choices_sort_otherwise(&format.choices(choices).collect::<Vec<_>>(), delimiter)
            }
            _ => {
                let class = CharacterClass::of(types, field, *format, false);
                ('\0'..delimiter).any(|character| class.contains(character))
            }
        };
        is_late.then_some(delimiter)
    }

    /// Returns the smallest and the largest character that it can start with; `None` if it starts with free text.
    pub fn first_characters(&self, types: &dyn FieldTypes) -> Option<(char, char)> {
        first_characters(types, self.pieces().next()?)
    }

    fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.parts.iter().flat_map(|part| match part {
            Part::Text(text) => text.chars().map(Piece::Character).collect::<Vec<_>>(),
            Part::Field { name, format } => vec![Piece::Field(name, *format)],
        })
    }
}

/// Whether a choice that continues another one sorts before it as soon as the delimiter follows both.
fn choices_sort_otherwise(choices: &[impl AsRef<str>], delimiter: char) -> bool {
    let continues = |one: &str, other: &str| {
        other.strip_prefix(one).and_then(|rest| rest.chars().next()).is_some_and(|next| next < delimiter)
    };
    let mut sorted: Vec<&str> = choices.iter().map(AsRef::as_ref).collect();
    sorted.sort_unstable();
    // What continues a text stands behind it, until the first that does not.
    sorted.iter().enumerate().any(|(number, one)| {
        sorted[number + 1..]
            .iter()
            .take_while(|other| other.starts_with(one))
            .any(|other| continues(one, other))
    })
}

fn compare(one: (char, char), two: (char, char)) -> Option<Ordering> {
    if one.1 < two.0 {
        return Some(Ordering::Less);
    }
    (one.0 > two.1).then_some(Ordering::Greater)
}

/// The smallest and the largest character that a piece can start with; `None` if it is free text.
fn first_characters(types: &dyn FieldTypes, piece: Piece<'_>) -> Option<(char, char)> {
    let (name, format) = match piece {
        Piece::Character(character) => return Some((character, character)),
        Piece::Field(name, format) => (name, format),
    };
    let bounds = |characters: Vec<char>| Some((*characters.iter().min()?, *characters.iter().max()?));
    match types.type_of(name)? {
        ValueType::String | ValueType::Id => None,
        ValueType::Choice(choices) => choices.first_characters(format),
        kind if kind.is_time() => Some(('0', '9')),
        _ => {
            let class = CharacterClass::of(types, name, format, false);
            bounds((' '..='~').filter(|character| class.contains(*character)).collect())
        }
    }
}
