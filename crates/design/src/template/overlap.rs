//! Which keys a template can produce, decided over the characters that the type of each field allows: whether two templates can produce
//! the same key, where a field ends, and which fields could forge another key.

use super::{ATTRIBUTE_SEPARATOR, DELIMITER, FieldTypes, Format, MAX_CHARACTERS, Part, Sign, Template};
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

    /// Returns the fields whose end cannot be found, because what follows can be part of the value; that of a single one is found from the end of the
    /// key. `strict` takes into account that a free string may contain the delimiter.
    pub fn unterminated_fields(&self, types: &dyn FieldTypes, strict: bool) -> Vec<String> {
        let mut found = Vec::new();
        if self.fields().count() < 2 {
            return found;
        }
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

    /// Returns the fields whose values can be read back from a key: not those between free texts, whose ends are lost, nor times of which it
    /// holds only the start.
    pub fn readable_fields(&self, types: &dyn FieldTypes) -> Vec<&str> {
        let free = self.free_fields(types);
        let (unclear, adjacent) = (self.forgeable_fields(types), self.unterminated_fields(types, false));
        let named =
            |names: &[String], part: &Part| matches!(part, Part::Field { name, .. } if names.contains(name));
        let is_unclear = |part: &Part| !unclear.is_empty() && named(&free, part) || named(&adjacent, part);
        let first = self.parts.iter().position(is_unclear).unwrap_or(self.parts.len());
        let last = match adjacent.is_empty() {
            true => self.parts.iter().rposition(is_unclear).map_or(first, |last| last + 1),
            false => self.parts.len(),
        };
        let clear = self.parts[..first].iter().chain(&self.parts[last..]);
        let whole = clear.filter_map(|part| match part {
            Part::Field { name, format } if format.is_readable() => Some(name.as_str()),
            _ => None,
        });
        whole.collect()
    }

    /// Returns the fields whose values may contain the delimiter, so that it does not show where they end.
    pub fn free_fields(&self, types: &dyn FieldTypes) -> Vec<String> {
        let free = |part: &&Part| match part {
            Part::Field { name, format } => {
                let class = CharacterClass::of(types, name, *format, true);
                !class.fixed && class.contains(types.delimiter())
            }
            Part::Text(_) => false,
        };
        let names = self.parts.iter().filter(free).filter_map(|part| match part {
            Part::Field { name, .. } => Some(name.clone()),
            Part::Text(_) => None,
        });
        names.collect()
    }

    /// Returns how many parts of this start of a key show their values: no key of `whole` is, or with `is_open` starts with, a text of this start and
    /// has another value there. From the first text on that may contain what follows it, no end of a value is certain.
    pub fn clear_parts(&self, whole: &Template, types: &dyn FieldTypes, is_open: bool) -> usize {
        let is_unclear = |(number, part): (usize, &Part)| {
            let Part::Field { name, format } = part else { return false };
            let class = CharacterClass::of(types, name, *format, true);
            if class.fixed {
                return false;
            }
            let rest = |parts: &[Part], before: &[Element]| {
                let mut elements = before.to_vec();
                add_elements(&mut elements, parts.get(number + 1..).unwrap_or_default(), types, true);
                elements
            };
            let more = [Element::Run(class)];
            intersect(&rest(&self.parts, &[]), &rest(&whole.parts, &more), is_open)
                || intersect(&rest(&self.parts, &more), &rest(&whole.parts, &[]), is_open)
        };
        self.parts.iter().enumerate().position(is_unclear).unwrap_or(self.parts.len())
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
        intersect(&self.elements(own, strict), &other.elements(others, strict), open)
    }

    /// Returns whether `other` can produce a text that starts with one of this template's and continues with a character between two; with
    /// `None`, with any.
    pub fn overlaps_before(
        &self,
        own: &dyn FieldTypes,
        next: Option<(char, char)>,
        other: &Template,
        others: &dyn FieldTypes,
        strict: bool,
    ) -> bool {
        let mut elements = self.elements(own, strict);
        let (first, last) = next.unwrap_or(('\0', char::MAX));
        elements.push(Element::Between(first, last));
        intersect(&elements, &other.elements(others, strict), true)
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

    /// The template as characters, runs and choices between sequences of characters.
    fn elements(&self, types: &dyn FieldTypes, strict: bool) -> Vec<Element> {
        let mut elements = Vec::new();
        add_elements(&mut elements, &self.parts, types, strict);
        elements
    }
}

/// Adds the elements of parts of a template.
fn add_elements(elements: &mut Vec<Element>, parts: &[Part], types: &dyn FieldTypes, strict: bool) {
    for part in parts {
        match part {
            Part::Text(text) => elements.extend(characters(text)),
            Part::Field { name, format } => match types.type_of(name) {
                Some(ValueType::Choice(choices)) if are_short(choices) => {
                    add_choice(elements, &format.choices(choices).collect::<Vec<_>>());
                }
                _ if format.is_whole_padded() && types.sign(name) == Sign::Positive => {
                    add_positive(elements, CharacterClass::of(types, name, *format, strict));
                }
                _ => elements.extend(CharacterClass::of(types, name, *format, strict).elements()),
            },
        }
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
    /// A character that it lacks: the sign of numbers that are never negative, the digit 0.
    lacks: Option<char>,
}

impl CharacterClass {
    pub(super) fn of(types: &dyn FieldTypes, name: &str, format: Format, strict: bool) -> CharacterClass {
        let kind = types.type_of(name).cloned().unwrap_or(ValueType::Id);
        // A timestamp ends with Z, so none is a prefix of another.
        let prefix_free = kind.has_fixed_width()
            || kind == ValueType::Timestamp
            || (format == Format::Plain && are_prefix_free(&kind));
        let fixed = format.length().is_some() || (format != Format::Escaped && prefix_free);
        let is_unsigned = kind == ValueType::Int && types.sign(name) != Sign::Any;
        let lacks = is_unsigned.then_some('-');
        CharacterClass { kind, format, strict, fixed, delimiter: types.delimiter(), lacks }
    }

    /// As many characters as all texts have, or a run.
    fn elements(self) -> Vec<Element> {
        let own = || self.kind.fixed_width().filter(|_| self.format == Format::Plain);
        match self.format.length().or_else(own) {
            Some(length) => vec![Element::One(self); length],
            None => vec![Element::Run(self)],
        }
    }

    pub(crate) fn contains(&self, character: char) -> bool {
        let delimiter = character == self.delimiter;
        match self.format {
            _ if character == ATTRIBUTE_SEPARATOR => false,
            _ if self.lacks == Some(character) => false,
            Format::Escaped => character != DELIMITER,
            Format::Padded { .. } | Format::Signed { .. } => character.is_ascii_digit() || character == '.',
            Format::Bucket(_) => character.is_ascii_digit() || matches!(character, '-' | ':' | 'T'),
            _ if delimiter && (!self.strict || self.kind == ValueType::Id) && self.is_text() => false,
            Format::Plain => self.kind.may_contain(character),
            Format::Lower => {
                // A capital that has no lower case stays as it is.
                let is_lower = character.to_lowercase().eq([character]);
                let mut upper = character.to_uppercase();
                is_lower
                    && match &self.kind {
                        ValueType::Choice(choices) => {
                            choices.iter().any(|choice| choice.to_lowercase().contains(character))
                        }
                        kind => kind.may_contain(character) || upper.any(|own| kind.may_contain(own)),
                    }
            }
        }
    }

    /// Returns whether values are text without a form of its own.
    fn is_text(&self) -> bool {
        matches!(self.kind, ValueType::String | ValueType::Id)
    }

    /// The characters of choices; others are not listed.
    fn characters(&self) -> Option<Vec<char>> {
        let ValueType::Choice(choices) = &self.kind else { return None };
        Some(self.format.choices(choices).flat_map(|choice| choice.chars().collect::<Vec<_>>()).collect())
    }

    pub(crate) fn overlaps(&self, other: &CharacterClass) -> bool {
        let common = |character: char| self.contains(character) && other.contains(character);
        match self.characters().or_else(|| other.characters()) {
            Some(characters) => characters.into_iter().any(common),
            None => (' '..='~').chain(['é']).any(common),
        }
    }

    /// Returns whether it has a character between two.
    fn has_between(&self, first: char, last: char) -> bool {
        let own = |character: char| (first..=last).contains(&character) && self.contains(character);
        match self.characters() {
            Some(characters) => characters.into_iter().any(own),
            None => ('\0'..='~').chain(['é']).any(own),
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

/// An element of the keys that a template produces, where the lengths of values count.
#[derive(Clone)]
enum Element {
    Character(char),
    /// One character of a class.
    One(CharacterClass),
    /// One or more characters of a class.
    Run(CharacterClass),
    /// One character between two.
    Between(char, char),
    /// What follows starts at one of these elements.
    Fork(Vec<usize>),
}

impl Element {
    /// Where what follows starts, if it produces no character itself.
    fn branches(&self) -> Option<&[usize]> {
        if let Element::Fork(starts) = self { Some(starts) } else { None }
    }
}

fn characters(text: &str) -> impl Iterator<Item = Element> {
    text.chars().map(Element::Character)
}

/// Adds one of several words.
fn add_choice(elements: &mut Vec<Element>, words: &[String]) {
    add_alternatives(elements, words.iter().map(|word| characters(word).collect()).collect());
}

/// Adds a number above zero in a fixed number of digits: zeros, another digit, and any digits.
fn add_positive(elements: &mut Vec<Element>, digit: CharacterClass) {
    let other = CharacterClass { lacks: Some('0'), ..digit.clone() };
    let digits = digit.elements();
    let starting = |zeros: usize| {
        let mut number = digits.clone();
        number[..zeros].fill(Element::Character('0'));
        number[zeros] = Element::One(other.clone());
        number
    };
    add_alternatives(elements, (0..digits.len()).map(starting).collect());
}

/// Adds one of several sequences: a fork to all of them, each with a way to the end of the last.
fn add_alternatives(elements: &mut Vec<Element>, alternatives: Vec<Vec<Element>>) {
    let fork = elements.len();
    let mut starts = Vec::new();
    elements.push(Element::Fork(Vec::new()));
    let end = fork + 1 + alternatives.iter().map(|one| one.len() + 1).sum::<usize>();
    for alternative in alternatives {
        starts.push(elements.len());
        elements.extend(alternative);
        elements.push(Element::Fork(vec![end]));
    }
    elements[fork] = Element::Fork(starts);
}

/// Returns whether no choice is the start of another.
fn are_prefix_free(kind: &ValueType) -> bool {
    let ValueType::Choice(choices) = kind else { return false };
    choices.are_prefix_free()
}

/// Returns whether choices are short enough to be compared character by character.
fn are_short(choices: &[String]) -> bool {
    choices.iter().map(String::len).sum::<usize>() <= MAX_CHARACTERS
}

/// Returns whether two sequences produce a common text; with `open`, anything may follow the left one.
fn intersect(left: &[Element], right: &[Element], open: bool) -> bool {
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
        if let Some(starts) = left.get(i).and_then(Element::branches) {
            open_states.extend(starts.iter().map(|start| (*start, j, false, in_right)));
            continue;
        }
        if let Some(starts) = right.get(j).and_then(Element::branches) {
            open_states.extend(starts.iter().map(|start| (i, *start, in_left, false)));
            continue;
        }
        let (Some(a), Some(b)) = (left.get(i), right.get(j)) else { continue };
        let common = match (a, b) {
            (Element::Character(a), Element::Character(b)) => a == b,
            (Element::Character(character), Element::One(class) | Element::Run(class))
            | (Element::One(class) | Element::Run(class), Element::Character(character)) => {
                class.contains(*character)
            }
            (Element::One(a) | Element::Run(a), Element::One(b) | Element::Run(b)) => a.overlaps(b),
            (Element::Between(first, last), Element::Character(character))
            | (Element::Character(character), Element::Between(first, last)) => {
                (first..=last).contains(&character)
            }
            (Element::Between(first, last), Element::One(class) | Element::Run(class))
            | (Element::One(class) | Element::Run(class), Element::Between(first, last)) => {
                class.has_between(*first, *last)
            }
            (Element::Between(first, last), Element::Between(least, most)) => first <= most && least <= last,
            (Element::Fork(_), _) | (_, Element::Fork(_)) => false,
        };
        if common {
            let (i, in_left) = if matches!(a, Element::Run(_)) { (i, true) } else { (i + 1, false) };
            let (j, in_right) = if matches!(b, Element::Run(_)) { (j, true) } else { (j + 1, false) };
            open_states.push((i, j, in_left, in_right));
        }
    }
    false
}
