//! Key templates: `ORDER#{createdAt}#{orderId}`.
//!
//! A template is a sequence of literal text and fields. It prints back to the text it was parsed from, is filled with values to produce a key,
//! and matches a key to recover the values (`matching`). Which keys it can produce at all, and whether two templates can produce the same key, is
//! decided over the characters that the type of each field allows (`overlap`).
//!
//! A field may have a format: `{version:08}` pads with zeros, `{price:08.2}` also fixes decimals, `{balance:+08.2}` also sorts negative numbers,
//! `{time:month}` keeps the time up to the month (year, month, day, hour, minute), `{name:escaped}` writes `#` and `%` as `%23` and `%25`,
//! `{email:lower}` writes lower case.

pub(crate) mod alignment;
mod format;
mod matching;
mod order;
mod overlap;
mod prefix_set;

pub use format::Format;
pub(crate) use overlap::{CharacterClass, MAX_STATES, Token};
pub(crate) use prefix_set::PrefixSet;

use crate::model::decimal::Decimal;
use crate::model::value_type::ValueType;
use std::collections::BTreeMap;
use std::fmt;
use unicode_ident::is_xid_continue;

/// The usual delimiter between the parts of a key.
pub const DELIMITER: char = '#';
/// The separator between the attributes of a composite index key; no value contains it.
pub const ATTRIBUTE_SEPARATOR: char = '\u{1F}';
/// The field that holds the shard number.
pub const SHARD: &str = "shard";

/// The longest template: a key has at most 2,048 bytes.
const MAX_CHARACTERS: usize = 2_048;
/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Literal text.
    Text(String),
    /// The value of an attribute.
    Field {
        /// The name of the attribute.
        name: String,
        /// How the value is written.
        format: Format,
    },
}

impl Part {
    /// Returns whether it is the value of this field, and not only a part of the value: the month of a time, a text in lower case.
    pub fn holds_whole(&self, field: &str, types: &dyn FieldTypes) -> bool {
        let kind = types.type_of(field).unwrap_or(&ValueType::Id);
        matches!(self, Part::Field { name, format } if name == field && format.holds_whole(kind))
    }
}

/// A key template.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Template {
    /// The parts; no two texts are adjacent.
    pub parts: Vec<Part>,
}

/// A mistake in the text of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// The byte offset of the mistake.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

/// Which signs a number can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sign {
    /// Any.
    #[default]
    Any,
    /// It is zero or above.
    NotNegative,
    /// It is above zero.
    Positive,
}

/// The types of the fields of a template.
pub trait FieldTypes {
    /// Returns the type of a field.
    fn type_of(&self, field: &str) -> Option<&ValueType>;

    /// Returns whether every item has the field.
    fn is_required(&self, _field: &str) -> bool {
        false
    }

    /// Returns whether the field may be null.
    fn may_be_null(&self, field: &str) -> bool {
        !self.is_required(field)
    }

    /// Returns which signs the numbers of the field can have.
    fn sign(&self, _field: &str) -> Sign {
        Sign::Any
    }

    /// Returns the least and the greatest number that the field can be, as far as they are declared.
    fn number_limits(&self, _field: &str) -> (Option<&Decimal>, Option<&Decimal>) {
        (None, None)
    }

    /// Returns the delimiter between the parts of keys; identifiers never contain it.
    fn delimiter(&self) -> char {
        DELIMITER
    }
}

impl FieldTypes for BTreeMap<String, ValueType> {
    fn type_of(&self, field: &str) -> Option<&ValueType> {
        self.get(field)
    }
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// Returns the first mistake and its position.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        if let Some((at, _)) = text.char_indices().nth(MAX_CHARACTERS) {
            let message = format!("the template is too long: a key has at most {MAX_CHARACTERS} characters");
            return Err(TemplateError { at, message });
        }
        Template::parse_parts(text)
    }

    fn parse_parts(text: &str) -> Result<Template, TemplateError> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let at = text.len() - rest.len();
            if let Some(after) = rest.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = rest.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else if character == '{' {
                let error = |message: String| TemplateError { at, message };
                let (field, after) =
                    rest[1..].split_once('}').ok_or_else(|| error("`{` is never closed".into()))?;
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                }
                parts.push(parse_field(field).map_err(error)?);
                rest = after;
            } else if character == '}' {
                let message = "`}` closes nothing; write `}}` for the character itself".into();
                return Err(TemplateError { at, message });
            } else {
                literal.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(Template { parts })
    }

    /// Creates a template of literal text.
    pub fn text(text: &str) -> Template {
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] };
        Template { parts }
    }

    /// Creates a template of a single field.
    pub fn field(name: &str) -> Template {
        Template { parts: vec![Part::Field { name: name.to_owned(), format: Format::Plain }] }
    }

    /// Joins the templates of several key attributes into one.
    pub fn joined(attributes: &[Template]) -> Template {
        let mut parts: Vec<Part> = Vec::new();
        for (number, attribute) in attributes.iter().enumerate() {
            if number > 0 {
                parts.push(Part::Text(ATTRIBUTE_SEPARATOR.to_string()));
            }
            parts.extend(attribute.parts.iter().cloned());
        }
        // Merges adjacent texts.
        Template { parts }.substitute(|_| None)
    }

    /// Splits what [`Self::joined`] joined. If the text ends at a separator, the last template is empty.
    pub fn attributes(&self) -> Vec<Template> {
        let (mut attributes, mut parts) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let Part::Text(text) = part else {
                parts.push(part.clone());
                continue;
            };
            for (number, piece) in text.split(ATTRIBUTE_SEPARATOR).enumerate() {
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

    /// Returns the characters directly behind its fields that end them.
    pub fn field_ends(&self) -> impl Iterator<Item = char> {
        let ends = self.parts.windows(2).filter_map(|pair| match pair {
            [Part::Field { .. }, Part::Text(text)] => text.chars().next(),
            _ => None,
        });
        ends.filter(|mark| !mark.is_alphanumeric())
    }

    /// Returns the texts directly before its fields.
    pub fn words_before_fields(&self) -> impl Iterator<Item = &str> {
        self.parts.windows(2).filter_map(|pair| match pair {
            [Part::Text(text), Part::Field { .. }] => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the names of its fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field { name, .. } => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Returns whether it contains a field.
    pub fn has_field(&self, field: &str) -> bool {
        self.fields().any(|name| name == field)
    }

    /// Returns whether it contains only a part of a field's value: the month of a time.
    pub fn truncates(&self, field: &str) -> bool {
        let is_part =
            |part: &Part| matches!(part, Part::Field { name, format: Format::Bucket(_) } if name == field);
        self.parts.iter().any(is_part)
    }

    /// Returns the length of the text of the shortest time bucket of a field.
    pub fn shortest_bucket(&self, field: &str) -> Option<usize> {
        let lengths = self.parts.iter().filter_map(|part| match part {
            Part::Field { name, format: Format::Bucket(length) } if name == field => Some(*length),
            _ => None,
        });
        lengths.max()
    }

    /// Returns whether a field's value cannot be read back: of a time bucket, and of what is written in lower case.
    pub fn loses(&self, field: &str) -> bool {
        let lossy = |part: &Part| matches!(part, Part::Field { name, format } if name == field && !format.is_readable());
        self.parts.iter().any(lossy)
    }

    /// Returns whether it has no fields.
    pub fn is_constant(&self) -> bool {
        self.fields().next().is_none()
    }

    /// Returns the text before the first field.
    pub fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the field if there is nothing else: the key is the attribute itself.
    pub fn bare_field(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Field { name, format: Format::Plain }] => Some(name),
            _ => None,
        }
    }

    /// Fills in values to produce a key.
    ///
    /// # Errors
    ///
    /// Returns the name of the field that has no value, or none that fits its format.
    pub fn fill(&self, values: &BTreeMap<String, String>) -> Result<String, String> {
        self.fill_with(|name| values.get(name).map(String::as_str))
    }

    /// Fills in values as [`Self::fill`] does, wherever they come from.
    ///
    /// # Errors
    ///
    /// Returns the name of the field that has no value, or none that fits its format.
    pub fn fill_with<'v>(&self, value_of: impl Fn(&str) -> Option<&'v str>) -> Result<String, String> {
        let mut key = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => key.push_str(text),
                Part::Field { name, format } => {
                    // An empty text has no place in a key: nothing could tell where it is.
                    let value =
                        value_of(name).filter(|value| !value.is_empty()).ok_or_else(|| name.clone())?;
                    key.push_str(&format.apply(value).ok_or_else(|| name.clone())?);
                }
            }
        }
        Ok(key)
    }

    /// Replaces the fields whose values are known by text.
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

    /// Returns the start whose fields are all known, and the parts that follow.
    pub fn split_known(&self, known: impl Fn(&str) -> bool) -> (Template, &[Part]) {
        let unknown = |part: &Part| matches!(part, Part::Field { name, .. } if !known(name));
        let end = self.parts.iter().position(unknown).unwrap_or(self.parts.len());
        (Template { parts: self.parts[..end].to_vec() }, &self.parts[end..])
    }

    /// Returns the number of the field inside whose value `text` ends, and what `text` has of the value; `None` if it ends elsewhere or does not
    /// fit.
    pub fn truncated_field<'t>(&self, text: &'t str, types: &dyn FieldTypes) -> Option<(usize, &'t str)> {
        let mut rest = text;
        for (number, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Part::Field { .. } => match self.value_end(number, rest, types) {
                    Some(end) => rest = &rest[end..],
                    None if rest.is_empty() => return None,
                    None => return Some((number, rest)),
                },
            }
        }
        None
    }

    /// Returns the fields that follow text, with the last word of that text.
    pub(crate) fn field_prefixes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts.windows(2).filter_map(|pair| match pair {
            [Part::Text(text), Part::Field { name, .. }] => {
                let word = text.trim_end_matches(DELIMITER).rsplit(DELIMITER).next().unwrap_or_default();
                Some((name.as_str(), word))
            }
            _ => None,
        })
    }

    /// Returns the longest common start of two templates.
    pub fn common_prefix(&self, other: &Template) -> Template {
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

    /// Returns whether it starts with the parts of `start`.
    pub fn starts_with(&self, start: &Template) -> bool {
        self.common_prefix(start) == *start
    }
}

impl fmt::Display for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Text(text) => {
                    out.write_str(
                        &text.replace('{', "{{").replace('}', "}}").replace(ATTRIBUTE_SEPARATOR, " / "),
                    )?;
                }
                Part::Field { name, format } => write!(out, "{{{name}{}}}", format.print())?,
            }
        }
        Ok(())
    }
}

/// Returns whether templates can name an attribute so.
pub(crate) fn is_field_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_in_field_name)
}

/// Returns whether a character can be in the name of an attribute of a template.
pub(crate) fn is_in_field_name(character: char) -> bool {
    is_in_word(character) || "_-.".contains(character)
}

/// Returns whether a character is a letter or a digit.
pub(crate) fn is_in_word(character: char) -> bool {
    is_letter(character) || character.is_numeric()
}

/// Returns whether a character is a letter, or a part of one: accents that are characters of their own, and the vowel signs of many scripts.
pub(crate) fn is_letter(character: char) -> bool {
    let is_mark = || !character.is_ascii() && !character.is_numeric() && is_xid_continue(character);
    character.is_alphabetic() || is_mark()
}

fn parse_field(text: &str) -> Result<Part, String> {
    let (name, format) = text.split_once(':').map_or((text, None), |(name, format)| (name, Some(format)));
    if !is_field_name(name) {
        return Err(format!("`{{{text}}}` does not name an attribute"));
    }
    let format = match format {
        None => Format::Plain,
        Some(format) => Format::parse(format).ok_or_else(|| {
            format!("`{format}` is not a format; use 08, 08.2, +08, +08.2, year, month, day, hour, minute, escaped or lower")
        })?,
    };
    Ok(Part::Field { name: name.to_owned(), format })
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
        for text in [
            "USER#{userId}",
            "V#{v:08}",
            "{t:month}",
            "A{{b}}#{p:06.2}",
            "{n:+08}",
            "{n:+06.2}",
            "PROFILE",
            "{s:escaped}#x",
        ] {
            assert_eq!(template(text).to_string(), text);
        }
        assert_eq!(Template::parse("A#{b").unwrap_err().at, 2);
        assert!(Template::parse("A#{b:wide}").unwrap_err().message.contains("is not a format"));
        assert!(Template::parse("A}").is_err());
        assert_eq!(Template::parse(&"é".repeat(MAX_CHARACTERS + 1)).unwrap_err().at, 2 * MAX_CHARACTERS);
        assert!(Template::parse(&"é".repeat(MAX_CHARACTERS)).is_ok());
    }

    #[test]
    fn padding_is_limited_to_the_digits_of_a_number() {
        assert_eq!(template("{n:08.38}").fill(&[("n".to_owned(), "1".to_owned())].into()).unwrap().len(), 47);
        for text in
            ["{n:08.39}", "{n:08.70000}", "{n:039}", "{n:00}", "{n:+8}", "{n:+039}", "{n:++08}", "{n:+}"]
        {
            assert!(Template::parse(text).unwrap_err().message.contains("is not a format"), "{text}");
        }
    }

    #[test]
    fn templates_that_take_too_long_to_compare_are_assumed_to_overlap() {
        let long = |last: &str| template(&format!("{{s}}{}{last}", "a".repeat(2_000)));
        let start = std::time::Instant::now();
        assert!(long("b").overlaps(&types(), &long("c"), &types(), true, false));
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }

    #[test]
    fn attributes_of_a_key_are_joined_and_split() {
        let pieces = ["{s}", "A#{i}", "B"].map(template);
        let joined = Template::joined(&pieces);
        assert_eq!(joined.attributes(), pieces);
        assert!(
            joined.unterminated_fields(&types(), true).is_empty(),
            "a separator is never part of a value"
        );
        assert_eq!(joined.to_string(), "{s} / A#{i} / B");
        let open = joined.split_known(|name| name == "s").0;
        assert_eq!(open.attributes(), ["{s}", "A#"].map(template));
    }

    #[test]
    fn fields_whose_end_cannot_be_found_are_named() {
        let types = types();
        let unterminated = |text: &str, strict| template(text).unterminated_fields(&types, strict);
        assert_eq!(unterminated("A#{s}#{u}", true), ["s"]);
        assert!(unterminated("A#{s}#{u}", false).is_empty());
        assert!(unterminated("A#{i}#{s}", true).is_empty());
        assert_eq!(unterminated("{i}{n}", false), ["i"]);
        assert!(unterminated("{u}{n}", false).is_empty());
        assert!(unterminated("{s:escaped}#{s}", true).is_empty());
        assert_eq!(template("{s}#{s}").forgeable_fields(&types), ["s"]);
        assert!(template("A#{s}#{u}").forgeable_fields(&types).is_empty());
    }

    #[test]
    fn lower_case_keeps_what_the_type_tells_apart() {
        let kind = |text: &str| ValueType::parse(text).unwrap();
        for (text, apart, ordered) in [
            ("string", false, false),
            ("id", false, false),
            ("NEW|PAID", true, true),
            ("Bee|ant", true, false),
            ("A|a", false, false),
            ("timestamp", true, true),
            ("int", true, false),
        ] {
            assert_eq!(Format::Lower.tells_apart(&kind(text)), apart, "{text}");
            assert_eq!(Format::Lower.keeps_order(&kind(text)), ordered, "{text}");
        }
        let types: BTreeMap<String, ValueType> = [("c".to_owned(), kind("NEW|PAID"))].into();
        let lower = template("S#{c:lower}");
        assert_eq!(lower.to_string(), "S#{c:lower}");
        assert_eq!(lower.fill(&[("c".to_owned(), "PAID".to_owned())].into()).unwrap(), "S#paid");
        assert!(lower.matches("S#paid", &types).is_some() && lower.matches("S#PAID", &types).is_none());
        assert!(lower.overlaps(&types, &template("S#new"), &types, true, false));
        assert!(!lower.overlaps(&types, &template("S#NEW"), &types, true, false));
        assert!(lower.loses("c"));
    }

    #[test]
    fn choices_are_compared_as_keys_write_them() {
        let kind = |text: &str| ValueType::parse(text).unwrap();
        let types: BTreeMap<String, ValueType> =
            [("c".to_owned(), kind("C#|D")), ("n".to_owned(), kind("1|10"))].into();
        for (text, value, key, unlike) in
            [("N#{c:escaped}#x", "C#", "N#C%23#x", "N#C##x"), ("N#{n:03}", "10", "N#010", "N#10")]
        {
            let template_of_choice = template(text);
            let name = template_of_choice.fields().next().unwrap().to_owned();
            let values: BTreeMap<String, String> = [(name, value.to_owned())].into();
            assert_eq!(template_of_choice.fill(&values).unwrap(), key);
            assert_eq!(template_of_choice.matches(key, &types), Some(values));
            let overlaps =
                |other: &str| template_of_choice.overlaps(&types, &template(other), &types, true, false);
            assert!(overlaps(key) && !overlaps(unlike), "{text}");
        }
        // A choice that is not listed is compared by its characters.
        let many = kind(&(0..70).map(|number| format!("#{number}")).collect::<Vec<_>>().join("|"));
        let types: BTreeMap<String, ValueType> =
            [("c".to_owned(), many), ("s".to_owned(), kind("A|%"))].into();
        assert!(template("{c:escaped}").overlaps(&types, &template("{c:escaped}"), &types, true, false));
        let order =
            |text: &str, other: &str| template(text).order(&types, &template(other), &types, |_| false);
        assert_eq!(order("{s:lower}", "Z"), None, "a% are on both sides of Z");
        assert_eq!(order("{c:escaped}", "0"), Some(std::cmp::Ordering::Less));
    }

    #[test]
    fn templates_overlap_if_a_text_fits_both() {
        let types = types();
        let overlaps =
            |a: &str, b: &str, strict, open| template(a).overlaps(&types, &template(b), &types, strict, open);
        assert!(!overlaps("USER#{i}", "ORDER#{i}", true, false));
        assert!(overlaps("DEPT#{s}", "DEPT#{s}#USER#{i}", true, false));
        assert!(!overlaps("DEPT#{s}", "DEPT#{s}#USER#{i}", false, false));
        assert!(overlaps("DEPT#{s}", "DEPT#{s}#USER#{i}", false, true));
        assert!(overlaps("{t}", "{d}", false, false));
        assert!(!overlaps("STATUS#{c}", "STATUS#C", false, false));
    }

    proptest! {
        #[test]
        fn filling_and_matching_are_inverse(
            i in "[a-zA-Z0-9_-]{1,12}", n in 0u64..99_999_999, t in "20[0-9]{2}-0[1-9]-1[0-9]T10:30:00Z",
            s in "[^\n\u{1f}]{1,20}",
        ) {
            let types = types();
            let values: BTreeMap<String, String> =
                [("i", i), ("n", n.to_string()), ("t", t), ("s", s)].map(|(k, v)| (k.to_owned(), v)).into();
            for text in ["A#{i}#{t}#{n:08}#{s}", "{s:escaped}#{i}#B#{n}#{t}", "{n:08}{i}#{t}#{s}"] {
                let template = template(text);
                prop_assert!(template.unterminated_fields(&types, true).is_empty());
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
