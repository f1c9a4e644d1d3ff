//! Key templates: `ORDER#{createdAt}#{orderId}`.
//!
//! In comes text; out goes a sequence of literal text and fields that prints back to the same text, fills with values to
//! a key, and matches a key back to its values. The questions the checker asks about templates (is it injective, can two
//! of them make the same key, does a prefix end inside a value) are answered here, over the characters that each field's
//! type allows.
//!
//! A field may have a format: `{version:08}` pads with zeros, `{price:08.2}` also fixes decimals, `{time:month}` keeps the
//! time up to the month (year, month, day, hour, minute), `{name:escaped}` writes `#` and `%` as `%23` and `%25`.

mod matching;

use crate::value_type::ValueType;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// What stands between the parts of a key unless a value is escaped.
pub const DELIMITER: char = '#';
/// What stands between the attributes of an index key that has several; no value contains it.
pub const BORDER: char = '\u{1F}';
/// The field that holds a shard's number.
pub const SHARD: &str = "shard";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    Plain,
    Padded {
        width: usize,
        decimals: usize,
    },
    /// Characters of an ISO 8601 time that are kept: 4 (year), 7, 10, 13, 16.
    Bucket(usize),
    Escaped,
}

/// A number has no more digits, before its point or behind it.
const MOST_DIGITS: usize = 38;
/// A longer template would make no key: keys have 2,048 bytes at most.
const MOST_CHARACTERS: usize = 2_048;
/// Places that are looked at to tell whether two templates meet; of those that need more, it is taken that they do.
pub(crate) const MOST_STATES: usize = 1 << 16;

const BUCKETS: [(&str, usize); 5] = [("year", 4), ("month", 7), ("day", 10), ("hour", 13), ("minute", 16)];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Text(String),
    Field { name: String, format: Format },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Template {
    pub parts: Vec<Part>,
}

/// What is wrong with a template's text, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    pub at: usize,
    pub message: String,
}

/// The types of an entity's attributes, as templates need them.
pub trait Types {
    fn type_of(&self, field: &str) -> Option<&ValueType>;

    /// What stands between the parts of keys here; identifiers never contain it.
    fn delimiter(&self) -> char {
        DELIMITER
    }
}

impl Types for BTreeMap<String, ValueType> {
    fn type_of(&self, field: &str) -> Option<&ValueType> {
        self.get(field)
    }
}

impl Template {
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        if let Some((at, _)) = text.char_indices().nth(MOST_CHARACTERS) {
            let message =
                format!("the template is too long: {MOST_CHARACTERS} characters are the most that a key has");
            return Err(TemplateError { at, message });
        }
        Template::parse_parts(text)
    }

    fn parse_parts(text: &str) -> Result<Template, TemplateError> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let at = text.len() - rest.len();
            if let Some(after) = rest.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = rest.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else if letter == '{' {
                let error = |message: String| TemplateError { at, message };
                let (field, after) =
                    rest[1..].split_once('}').ok_or_else(|| error("`{` is never closed".into()))?;
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                }
                parts.push(parse_field(field).map_err(error)?);
                rest = after;
            } else if letter == '}' {
                let message = "`}` closes nothing; write `}}` for the character itself".into();
                return Err(TemplateError { at, message });
            } else {
                literal.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(Template { parts })
    }

    pub fn text(text: &str) -> Template {
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] };
        Template { parts }
    }

    pub fn field(name: &str) -> Template {
        Template { parts: vec![Part::Field { name: name.to_owned(), format: Format::Plain }] }
    }

    /// The templates of several key attributes as one.
    pub fn joined(attributes: &[Template]) -> Template {
        let mut parts: Vec<Part> = Vec::new();
        for (number, attribute) in attributes.iter().enumerate() {
            if number > 0 {
                parts.push(Part::Text(BORDER.to_string()));
            }
            parts.extend(attribute.parts.iter().cloned());
        }
        // Texts that follow each other are one text, as everywhere.
        Template { parts }.substitute(|_| None)
    }

    /// The inverse of `joined`. A text that ends at a border gives an empty template at the end.
    pub fn attributes(&self) -> Vec<Template> {
        let (mut attributes, mut parts) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let Part::Text(text) = part else {
                parts.push(part.clone());
                continue;
            };
            for (number, piece) in text.split(BORDER).enumerate() {
                if number > 0 {
                    attributes.push(Template { parts: std::mem::take(&mut parts) });
                }
                if !piece.is_empty() {
                    parts.push(Part::Text(piece.to_owned()));
                }
            }
        }
        attributes.push(Template { parts });
        attributes
    }

    /// The characters right before and right behind its fields.
    pub fn borders(&self) -> impl Iterator<Item = char> {
        self.parts.windows(2).filter_map(|pair| match pair {
            [Part::Text(text), Part::Field { .. }] => text.chars().last(),
            [Part::Field { .. }, Part::Text(text)] => text.chars().next(),
            _ => None,
        })
    }

    /// Names of its fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field { name, .. } => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    pub fn has_field(&self, field: &str) -> bool {
        self.fields().any(|name| name == field)
    }

    pub fn is_constant(&self) -> bool {
        self.fields().next().is_none()
    }

    /// The text before the first field.
    pub fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// Nothing but one field: the key is the attribute itself.
    pub fn bare_field(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Field { name, format: Format::Plain }] => Some(name),
            _ => None,
        }
    }

    /// The key for these values, or the field that has none.
    pub fn fill(&self, values: &BTreeMap<String, String>) -> Result<String, String> {
        let mut key = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => key.push_str(text),
                Part::Field { name, format } => {
                    let value = values.get(name).ok_or_else(|| name.clone())?;
                    key.push_str(&format.apply(value).ok_or_else(|| name.clone())?);
                }
            }
        }
        Ok(key)
    }

    /// Fields with a known text become text.
    pub fn substitute(&self, known: impl Fn(&str) -> Option<String>) -> Template {
        let mut parts: Vec<Part> = Vec::new();
        for part in &self.parts {
            let constant = match part {
                Part::Text(text) => Some(text.clone()),
                Part::Field { name, format } => known(name).and_then(|value| format.apply(&value)),
            };
            match (constant, parts.last_mut()) {
                (Some(text), Some(Part::Text(last))) => last.push_str(&text),
                (Some(text), _) => parts.push(Part::Text(text)),
                (None, _) => parts.push(part.clone()),
            }
        }
        Template { parts }
    }

    /// The beginning whose fields are all known, and what follows.
    pub fn split_known(&self, known: impl Fn(&str) -> bool) -> (Template, &[Part]) {
        let unknown = |part: &Part| matches!(part, Part::Field { name, .. } if !known(name));
        let end = self.parts.iter().position(unknown).unwrap_or(self.parts.len());
        (Template { parts: self.parts[..end].to_vec() }, &self.parts[end..])
    }

    /// Ends with a field of which one value can be the beginning of another.
    pub fn ends_inside(&self, types: &dyn Types) -> bool {
        match self.parts.last() {
            Some(Part::Field { name, format }) => !Class::of(types, name, *format, false).fixed,
            _ => false,
        }
    }

    /// The field inside which `text` ends, and how much of its value `text` has; `None` if it ends elsewhere or fits nowhere.
    pub fn cut(&self, text: &str) -> Option<(&str, usize)> {
        let mut rest = text;
        for (number, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Part::Field { name, .. } => {
                    let border = self.parts[number + 1..].first().and_then(|next| match next {
                        Part::Text(literal) => rest.find(literal.as_str()),
                        Part::Field { .. } => None,
                    });
                    match border {
                        Some(border) => rest = &rest[border..],
                        None if rest.is_empty() => return None,
                        None => return Some((name, rest.chars().count())),
                    }
                }
            }
        }
        None
    }

    /// The longest common beginning of two templates.
    pub fn common(&self, other: &Template) -> Template {
        let mut parts = Vec::new();
        for (left, right) in self.parts.iter().zip(&other.parts) {
            if left == right {
                parts.push(left.clone());
                continue;
            }
            if let (Part::Text(left), Part::Text(right)) = (left, right) {
                let same = left.chars().zip(right.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a);
                let text: String = same.collect();
                if !text.is_empty() {
                    parts.push(Part::Text(text));
                }
            }
            break;
        }
        Template { parts }
    }

    /// Every text of `self` begins with a text of `start`, part for part.
    pub fn starts_with(&self, start: &Template) -> bool {
        self.common(start) == *start
    }

    /// Two parts meet whose border cannot be found again: the names of the fields that run into what follows.
    /// `strict` also takes into account that a free string may contain the delimiter.
    pub fn run_on_fields(&self, types: &dyn Types, strict: bool) -> Vec<String> {
        let mut found = Vec::new();
        for pair in self.parts.windows(2) {
            let Part::Field { name, format } = &pair[0] else { continue };
            let class = Class::of(types, name, *format, strict);
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

    /// Fields whose values may contain the delimiter, if there are so many that borders are lost. A single one does no
    /// harm: what stands before it is read from the left, what stands behind it from the right.
    pub fn forgeable_fields(&self, types: &dyn Types) -> Vec<String> {
        let free = self.free_fields(types);
        if free.len() < 2 { Vec::new() } else { self.run_on_fields(types, true) }
    }

    /// Fields whose values may contain the delimiter.
    pub fn free_fields(&self, types: &dyn Types) -> Vec<String> {
        let free = |part: &&Part| match part {
            Part::Field { name, format } => Class::of(types, name, *format, true).contains(types.delimiter()),
            Part::Text(_) => false,
        };
        let names = self.parts.iter().filter(free).filter_map(|part| match part {
            Part::Field { name, .. } => Some(name.clone()),
            Part::Text(_) => None,
        });
        names.collect()
    }

    /// Whether one text can be made by both templates. With `open`, whether `other` can make a text that begins with
    /// one of this template's.
    pub fn meets(
        &self,
        own: &dyn Types,
        other: &Template,
        others: &dyn Types,
        strict: bool,
        open: bool,
    ) -> bool {
        let rights = other.tokens(others, strict);
        self.tokens(own, strict).iter().any(|left| rights.iter().any(|right| intersect(left, right, open)))
    }

    /// The template as one sequence of characters and runs: a choice is a run as well, so that it makes too many texts.
    pub(crate) fn runs(&self, types: &dyn Types, strict: bool) -> Vec<Token> {
        let mut tokens = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => tokens.extend(text.chars().map(Token::Letter)),
                Part::Field { name, format } => {
                    tokens.push(Token::Run(Class::of(types, name, *format, strict)));
                }
            }
        }
        tokens
    }

    /// Every alternative of the template's choices as a sequence of characters and runs.
    fn tokens(&self, types: &dyn Types, strict: bool) -> Vec<Vec<Token>> {
        let mut alternatives = vec![Vec::new()];
        for part in &self.parts {
            let choices: Vec<Vec<Token>> = match part {
                Part::Text(text) => vec![text.chars().map(Token::Letter).collect()],
                Part::Field { name, format } => match types.type_of(name) {
                    Some(ValueType::Choice(choices))
                        if choices.len() * alternatives.len() <= 64 && are_short(choices) =>
                    {
                        choices.iter().map(|choice| choice.chars().map(Token::Letter).collect()).collect()
                    }
                    _ => vec![vec![Token::Run(Class::of(types, name, *format, strict))]],
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

impl fmt::Display for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Text(text) => {
                    out.write_str(&text.replace('{', "{{").replace('}', "}}").replace(BORDER, " / "))?;
                }
                Part::Field { name, format } => write!(out, "{{{name}{}}}", format.print())?,
            }
        }
        Ok(())
    }
}

fn parse_field(text: &str) -> Result<Part, String> {
    let (name, format) = text.split_once(':').map_or((text, None), |(name, format)| (name, Some(format)));
    if name.is_empty() || !name.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter)) {
        return Err(format!("`{{{text}}}` does not name an attribute"));
    }
    let format = match format {
        None => Format::Plain,
        Some(format) => Format::parse(format).ok_or_else(|| {
            format!("`{format}` is no format; use 08, 08.2, year, month, day, hour, minute or escaped")
        })?,
    };
    Ok(Part::Field { name: name.to_owned(), format })
}

impl Format {
    fn parse(text: &str) -> Option<Format> {
        if text == "escaped" {
            return Some(Format::Escaped);
        }
        if let Some((_, length)) = BUCKETS.iter().find(|(name, _)| *name == text) {
            return Some(Format::Bucket(*length));
        }
        let (width, decimals) = text.strip_prefix('0')?.split_once('.').unwrap_or((&text[1..], "0"));
        let (width, decimals) = (width.parse().ok()?, decimals.parse().ok()?);
        let fits = (1..=MOST_DIGITS).contains(&width) && decimals <= MOST_DIGITS;
        fits.then_some(Format::Padded { width, decimals })
    }

    fn print(self) -> String {
        match self {
            Format::Plain => String::new(),
            Format::Padded { width, decimals: 0 } => format!(":0{width}"),
            Format::Padded { width, decimals } => format!(":0{width}.{decimals}"),
            Format::Bucket(length) => {
                let name = BUCKETS.iter().find(|(_, candidate)| *candidate == length).map(|(name, _)| *name);
                format!(":{}", name.unwrap_or_default())
            }
            Format::Escaped => ":escaped".to_owned(),
        }
    }

    /// The text of a value inside a key; `None` if the value does not fit the format.
    pub fn apply(self, value: &str) -> Option<String> {
        match self {
            Format::Plain => Some(value.to_owned()),
            Format::Escaped => Some(value.replace('%', "%25").replace(DELIMITER, "%23")),
            Format::Bucket(length) => value.get(..length).map(str::to_owned),
            Format::Padded { width, decimals } => {
                let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
                let digits = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
                if whole.is_empty() || whole.len() > width || fraction.len() > decimals {
                    return None;
                }
                if !digits(whole) || !digits(fraction) {
                    return None;
                }
                let point = if decimals > 0 { "." } else { "" };
                Some(format!("{whole:0>width$}{point}{fraction:0<decimals$}"))
            }
        }
    }

    /// The value of a text that `apply` made.
    fn restore(self, text: &str) -> Cow<'_, str> {
        match self {
            Format::Plain | Format::Bucket(_) => Cow::Borrowed(text),
            Format::Escaped => Cow::Owned(text.replace("%23", "#").replace("%25", "%")),
            Format::Padded { decimals, .. } => {
                let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
                let whole = whole.trim_start_matches('0');
                let whole = if whole.is_empty() { "0" } else { whole };
                let fraction = fraction.trim_end_matches('0');
                Cow::Owned(if decimals == 0 || fraction.is_empty() {
                    whole.to_owned()
                } else {
                    format!("{whole}.{fraction}")
                })
            }
        }
    }

    /// Characters of every text it makes, if that number is fixed.
    fn length(self) -> Option<usize> {
        match self {
            Format::Bucket(length) => Some(length),
            Format::Padded { width, decimals: 0 } => Some(width),
            Format::Padded { width, decimals } => Some(width + 1 + decimals),
            Format::Plain | Format::Escaped => None,
        }
    }

    /// Whether the texts sort as values of this type do.
    pub fn keeps_order(self, kind: &ValueType) -> bool {
        match self {
            Format::Padded { .. } | Format::Bucket(_) => true,
            // Escaping moves only values that contain # or %, and next to their place.
            Format::Plain | Format::Escaped => kind.sorts_as_text(),
        }
    }
}

/// The characters of a field's text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Class {
    kind: ValueType,
    format: Format,
    /// A free string may contain the delimiter.
    strict: bool,
    /// No text of it is the beginning of another.
    fixed: bool,
    delimiter: char,
}

impl Class {
    fn of(types: &dyn Types, name: &str, format: Format, strict: bool) -> Class {
        let kind = types.type_of(name).cloned().unwrap_or(ValueType::Id);
        // A time ends with its Z.
        let prefix_free = kind.has_fixed_width() || kind == ValueType::Timestamp;
        let fixed = format.length().is_some() || (format == Format::Plain && prefix_free);
        Class { kind, format, strict, fixed, delimiter: types.delimiter() }
    }

    pub(crate) fn contains(&self, letter: char) -> bool {
        let delimiter = letter == self.delimiter;
        match self.format {
            _ if letter == BORDER => false,
            Format::Escaped => letter != DELIMITER,
            Format::Padded { .. } => letter.is_ascii_digit() || letter == '.',
            Format::Bucket(_) => letter.is_ascii_digit() || matches!(letter, '-' | ':' | 'T'),
            Format::Plain if delimiter && (!self.strict || self.kind == ValueType::Id) && self.is_text() => {
                false
            }
            Format::Plain => self.kind.may_contain(letter),
        }
    }

    /// Its values are texts of any letters, not of a form of their own.
    fn is_text(&self) -> bool {
        matches!(self.kind, ValueType::String | ValueType::Id)
    }

    pub(crate) fn meets(&self, other: &Class) -> bool {
        let common = |letter: char| self.contains(letter) && other.contains(letter);
        match (&self.kind, &other.kind) {
            (ValueType::Choice(choices), _) | (_, ValueType::Choice(choices)) => {
                choices.iter().flat_map(|choice| choice.chars()).any(common)
            }
            _ => (' '..='~').chain(['é']).any(common),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Token {
    Letter(char),
    /// One or more characters of a class.
    Run(Class),
}

/// Choices whose letters are worth looking at.
fn are_short(choices: &[String]) -> bool {
    choices.iter().map(String::len).sum::<usize>() <= MOST_CHARACTERS
}

/// Whether two token sequences make a common text; with `open`, anything may follow the left one.
fn intersect(left: &[Token], right: &[Token], open: bool) -> bool {
    let mut seen = HashSet::new();
    let mut open_states = vec![(0, 0, false, false)];
    while let Some(state) = open_states.pop() {
        if !seen.insert(state) {
            continue;
        }
        if seen.len() > MOST_STATES {
            return true;
        }
        let (i, j, in_left, in_right) = state;
        // A run that has had its first character may end.
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
            (Token::Letter(a), Token::Letter(b)) => a == b,
            (Token::Letter(letter), Token::Run(class)) | (Token::Run(class), Token::Letter(letter)) => {
                class.contains(*letter)
            }
            (Token::Run(a), Token::Run(b)) => a.meets(b),
        };
        if common {
            let (i, in_left) = if matches!(a, Token::Run(_)) { (i, true) } else { (i + 1, false) };
            let (j, in_right) = if matches!(b, Token::Run(_)) { (j, true) } else { (j + 1, false) };
            open_states.push((i, j, in_left, in_right));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn types() -> BTreeMap<String, ValueType> {
        let pairs = [
            ("s", "string"),
            ("i", "id"),
            ("n", "int"),
            ("t", "timestamp"),
            ("u", "ulid"),
            ("d", "date"),
            ("c", "A|B"),
        ];
        pairs.into_iter().map(|(name, kind)| (name.to_owned(), ValueType::parse(kind).unwrap())).collect()
    }

    fn template(text: &str) -> Template {
        Template::parse(text).unwrap()
    }

    #[test]
    fn templates_print_as_they_were_written() {
        for text in ["USER#{userId}", "V#{v:08}", "{t:month}", "A{{b}}#{p:06.2}", "PROFILE", "{s:escaped}#x"]
        {
            assert_eq!(template(text).to_string(), text);
        }
        assert_eq!(Template::parse("A#{b").unwrap_err().at, 2);
        assert!(Template::parse("A#{b:wide}").unwrap_err().message.contains("is no format"));
        assert!(Template::parse("A}").is_err());
        assert_eq!(Template::parse(&"é".repeat(MOST_CHARACTERS + 1)).unwrap_err().at, 2 * MOST_CHARACTERS);
        assert!(Template::parse(&"é".repeat(MOST_CHARACTERS)).is_ok());
    }

    #[test]
    fn a_number_has_no_more_digits_than_numbers_have() {
        assert_eq!(template("{n:08.38}").fill(&[("n".to_owned(), "1".to_owned())].into()).unwrap().len(), 47);
        for text in ["{n:08.39}", "{n:08.70000}", "{n:039}", "{n:00}"] {
            assert!(Template::parse(text).unwrap_err().message.contains("is no format"), "{text}");
        }
    }

    #[test]
    fn templates_that_are_long_to_compare_are_taken_to_meet() {
        let long = |last: &str| template(&format!("{{s}}{}{last}", "a".repeat(2_000)));
        let start = std::time::Instant::now();
        assert!(long("b").meets(&types(), &long("c"), &types(), true, false));
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }

    #[test]
    fn attributes_of_a_key_are_joined_and_taken_apart() {
        let pieces = ["{s}", "A#{i}", "B"].map(template);
        let joined = Template::joined(&pieces);
        assert_eq!(joined.attributes(), pieces);
        assert!(joined.run_on_fields(&types(), true).is_empty(), "a border is never part of a value");
        assert_eq!(joined.to_string(), "{s} / A#{i} / B");
        let open = joined.split_known(|name| name == "s").0;
        assert_eq!(open.attributes(), ["{s}", "A#"].map(template));
    }

    #[test]
    fn borders_that_cannot_be_found_are_named() {
        let types = types();
        let run_on = |text: &str, strict| template(text).run_on_fields(&types, strict);
        assert_eq!(run_on("A#{s}#{u}", true), ["s"]);
        assert!(run_on("A#{s}#{u}", false).is_empty());
        assert!(run_on("A#{i}#{s}", true).is_empty());
        assert_eq!(run_on("{i}{n}", false), ["i"]);
        assert!(run_on("{u}{n}", false).is_empty());
        assert!(run_on("{s:escaped}#{s}", true).is_empty());
        assert_eq!(template("{s}#{s}").forgeable_fields(&types), ["s"]);
        assert!(template("A#{s}#{u}").forgeable_fields(&types).is_empty());
    }

    #[test]
    fn templates_meet_where_a_text_fits_both() {
        let types = types();
        let meets =
            |a: &str, b: &str, strict, open| template(a).meets(&types, &template(b), &types, strict, open);
        assert!(!meets("USER#{i}", "ORDER#{i}", true, false));
        assert!(meets("DEPT#{s}", "DEPT#{s}#USER#{i}", true, false));
        assert!(!meets("DEPT#{s}", "DEPT#{s}#USER#{i}", false, false));
        assert!(meets("DEPT#{s}", "DEPT#{s}#USER#{i}", false, true));
        assert!(meets("{t}", "{d}", false, false));
        assert!(!meets("STATUS#{c}", "STATUS#C", false, false));
    }

    proptest! {
        #[test]
        fn filling_and_matching_are_inverse(
            i in "[a-zA-Z0-9_-]{1,12}", n in 0u64..99_999_999, t in "20[0-9]{2}-0[1-9]-1[0-9]T10:30:00Z", s in ".{1,20}",
        ) {
            let types = types();
            let values: BTreeMap<String, String> =
                [("i", i), ("n", n.to_string()), ("t", t), ("s", s)].map(|(k, v)| (k.to_owned(), v)).into();
            for text in ["A#{i}#{t}#{n:08}#{s}", "{s:escaped}#{i}#B#{n}#{t}", "{n:08}{i}#{t}#{s}"] {
                let template = template(text);
                prop_assert!(template.run_on_fields(&types, true).is_empty());
                let key = template.fill(&values).unwrap();
                prop_assert_eq!(template.matches(&key, &types), Some(values.clone()));
            }
        }

        #[test]
        fn padding_keeps_order(a in 0u64..1_000_000, b in 0u64..1_000_000, c in 0u64..100, d in 0u64..100) {
            let whole = Format::Padded { width: 8, decimals: 0 };
            let text = |number: u64| whole.apply(&number.to_string()).unwrap();
            prop_assert_eq!(text(a).cmp(&text(b)), a.cmp(&b));
            let price = Format::Padded { width: 8, decimals: 2 };
            let text = |whole: u64, cents: u64| price.apply(&format!("{whole}.{cents:02}")).unwrap();
            prop_assert_eq!(text(a, c).cmp(&text(b, d)), (a, c).cmp(&(b, d)));
        }

        #[test]
        fn buckets_keep_order(a in "20[0-9]{2}-0[1-9]-1[0-9]T10:30:00Z", b in "20[0-9]{2}-0[1-9]-1[0-9]T10:30:00Z") {
            let month = Format::Bucket(7);
            if a <= b {
                prop_assert!(month.apply(&a) <= month.apply(&b));
            }
        }
    }
}
