//! Which keys a template can produce, decided over the characters that the type of each field allows: whether two templates can produce
//! the same key, where a field ends, and which fields could forge another key.

use super::{ATTRIBUTE_SEPARATOR, DELIMITER, FieldTypes, Format, MAX_CHARACTERS, Part, Template};
use crate::model::value_type::ValueType;
use std::collections::HashSet;

/// The number of states visited to decide whether two templates overlap; beyond it, they are assumed to.
pub(crate) const MAX_STATES: usize = 1 << 16;

impl Template {
    /// Returns whether it ends with a field one of whose values can be a prefix of another.
    pub fn ends_in_variable_field(&self, types: &dyn FieldTypes) -> bool {
        match self.parts.last() {
            Some(Part::Field { name, format }) => !CharacterClass::of(types, name, *format, false).fixed,
            _ => false,
        }
    }

    /// Returns the fields whose end cannot be found, because what follows can be part of the value. `strict` takes into
    /// account that a free string may contain the delimiter.
    pub fn unterminated_fields(&self, types: &dyn FieldTypes, strict: bool) -> Vec<String> {
        let mut found = Vec::new();
        for pair in self.parts.windows(2) {
            let Part::Field { name, format } = &pair[0] else { continue };
            let class = CharacterClass::of(types, name, *format, strict);
            let runs = match &pair[1] {
                Part::Text(text) => text.chars().next().is_some_and(|next| class.contains(next)),
                Part::Field { .. } => true,
            };
            if runs && !class.fixed {
                found.push(name.clone());
            }
        }
        found
    }

    /// Returns the fields whose values may contain the delimiter, if there are several, so that their ends are lost. A
    /// single one does no harm: what precedes it is read from the left, what follows it from the right.
    pub fn forgeable_fields(&self, types: &dyn FieldTypes) -> Vec<String> {
        let free = self.free_fields(types);
        if free.len() < 2 { Vec::new() } else { self.unterminated_fields(types, true) }
    }

    /// Returns the fields whose values may contain the delimiter.
    pub fn free_fields(&self, types: &dyn FieldTypes) -> Vec<String> {
        let free = |part: &&Part| match part {
            Part::Field { name, format } => {
                CharacterClass::of(types, name, *format, true).contains(types.delimiter())
            }
            Part::Text(_) => false,
        };
        let names = self.parts.iter().filter(free).filter_map(|part| match part {
            Part::Field { name, .. } => Some(name.clone()),
            Part::Text(_) => None,
        });
        names.collect()
    }

    /// Returns whether both templates can produce the same text. With `open`, whether `other` can produce a text that starts with
    /// one of this template's.
    pub fn overlaps(
        &self,
        own: &dyn FieldTypes,
        other: &Template,
        others: &dyn FieldTypes,
        strict: bool,
        open: bool,
    ) -> bool {
        let rights = other.tokens(others, strict);
        self.tokens(own, strict).iter().any(|left| rights.iter().any(|right| intersect(left, right, open)))
    }

    /// Returns the template as one sequence of characters and runs. A choice becomes a run, which matches too many texts.
    pub(crate) fn runs(&self, types: &dyn FieldTypes, strict: bool) -> Vec<Token> {
        let mut tokens = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => tokens.extend(text.chars().map(Token::Character)),
                Part::Field { name, format } => {
                    tokens.push(Token::Run(CharacterClass::of(types, name, *format, strict)));
                }
            }
        }
        tokens
    }

    /// Every alternative of the template's choices as a sequence of characters and runs.
    fn tokens(&self, types: &dyn FieldTypes, strict: bool) -> Vec<Vec<Token>> {
        let mut alternatives = vec![Vec::new()];
        for part in &self.parts {
            let choices: Vec<Vec<Token>> = match part {
                Part::Text(text) => vec![text.chars().map(Token::Character).collect()],
                Part::Field { name, format } => match types.type_of(name) {
                    Some(ValueType::Choice(choices))
                        if choices.len() * alternatives.len() <= 64 && are_short(choices) =>
                    {
                        choices.iter().map(|choice| choice.chars().map(Token::Character).collect()).collect()
                    }
                    _ => vec![vec![Token::Run(CharacterClass::of(types, name, *format, strict))]],
                },
            };
            alternatives = alternatives
                .iter()
                .flat_map(|start| choices.iter().map(|choice| [start.as_slice(), choice].concat()))
                .collect();
        }
        alternatives
    }
}

/// The characters that the text of a field can have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CharacterClass {
    kind: ValueType,
    format: Format,
    /// Whether a free string may contain the delimiter.
    strict: bool,
    /// Whether no text is a prefix of another.
    fixed: bool,
    delimiter: char,
}

impl CharacterClass {
    pub(super) fn of(types: &dyn FieldTypes, name: &str, format: Format, strict: bool) -> CharacterClass {
        let kind = types.type_of(name).cloned().unwrap_or(ValueType::Id);
        // A timestamp ends with Z, so none is a prefix of another.
        let prefix_free = kind.has_fixed_width() || kind == ValueType::Timestamp;
        let fixed = format.length().is_some() || (format == Format::Plain && prefix_free);
        CharacterClass { kind, format, strict, fixed, delimiter: types.delimiter() }
    }

    pub(crate) fn contains(&self, character: char) -> bool {
        let delimiter = character == self.delimiter;
        match self.format {
            _ if character == ATTRIBUTE_SEPARATOR => false,
            Format::Escaped => character != DELIMITER,
            Format::Padded { .. } => character.is_ascii_digit() || character == '.',
            Format::Bucket(_) => character.is_ascii_digit() || matches!(character, '-' | ':' | 'T'),
            Format::Plain if delimiter && (!self.strict || self.kind == ValueType::Id) && self.is_text() => {
                false
            }
            Format::Plain => self.kind.may_contain(character),
        }
    }

    /// Returns whether values are text without a form of its own.
    fn is_text(&self) -> bool {
        matches!(self.kind, ValueType::String | ValueType::Id)
    }

    pub(crate) fn overlaps(&self, other: &CharacterClass) -> bool {
        let common = |character: char| self.contains(character) && other.contains(character);
        match (&self.kind, &other.kind) {
            (ValueType::Choice(choices), _) | (_, ValueType::Choice(choices)) => {
                choices.iter().flat_map(|choice| choice.chars()).any(common)
            }
            _ => (' '..='~').chain(['é']).any(common),
        }
    }
}

/// An element of the keys that a template produces.
#[derive(Clone, Debug)]
pub(crate) enum Token {
    Character(char),
    /// One or more characters of a class.
    Run(CharacterClass),
}

/// Returns whether choices are short enough to be compared character by character.
fn are_short(choices: &[String]) -> bool {
    choices.iter().map(String::len).sum::<usize>() <= MAX_CHARACTERS
}

/// Returns whether two token sequences produce a common text; with `open`, anything may follow the left one.
fn intersect(left: &[Token], right: &[Token], open: bool) -> bool {
    let mut visited = HashSet::new();
    let mut open_states = vec![(0, 0, false, false)];
    while let Some(state) = open_states.pop() {
        if !visited.insert(state) {
            continue;
        }
        if visited.len() > MAX_STATES {
            return true;
        }
        let (i, j, in_left, in_right) = state;
        // A run may end after its first character.
        if in_left {
            open_states.push((i + 1, j, false, in_right));
        }
        if in_right {
            open_states.push((i, j + 1, in_left, false));
        }
        if i == left.len() && (open || j == right.len()) {
            return true;
        }
        let (Some(a), Some(b)) = (left.get(i), right.get(j)) else { continue };
        let common = match (a, b) {
            (Token::Character(a), Token::Character(b)) => a == b,
            (Token::Character(character), Token::Run(class))
            | (Token::Run(class), Token::Character(character)) => class.contains(*character),
            (Token::Run(a), Token::Run(b)) => a.overlaps(b),
        };
        if common {
            let (i, in_left) = if matches!(a, Token::Run(_)) { (i, true) } else { (i + 1, false) };
            let (j, in_right) = if matches!(b, Token::Run(_)) { (j, true) } else { (j + 1, false) };
            open_states.push((i, j, in_left, in_right));
        }
    }
    false
}
