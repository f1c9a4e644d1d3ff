//! Explains texts by the attributes of their items: which attributes, in which format and with which words between them, they consist of.

use super::odd::{few, is_all_but_few};
use super::pieces::{STRONG, is_endless};
use super::style::{MAX_WORD, MIN_VALUES, is_upper_word, is_word};
use crate::item::{Item, Value};
use crate::model::Attribute;
use crate::model::value_type::ValueType;
use crate::name_hints;
use crate::template::{Format, Part, Template};
use std::collections::{BTreeSet, HashSet};

/// How many texts must have the same word behind their values, if no separator is there.
pub(super) const MIN_GLUED: usize = 8;
/// The number of parts that a key has at most.
const MAX_PARTS: usize = 12;
/// The number of attributes that are tried at one place.
const MAX_TRIED: usize = 4;
/// The number of dead ends after which texts are not explained.
const MAX_FAILED: usize = 1_000;
/// The number after which many texts with many attributes are not.
const MIN_FAILED: usize = 20;
/// The number of texts and attributes that are compared at dead ends at most.
const MAX_WORK: usize = 20_000_000;

/// The number of a version in keys is not longer.
const MAX_VERSION: usize = 2;

/// The digits of times in seconds and in milliseconds since 1970: such numbers have no others, and sort as text.
const EPOCH_DIGITS: [usize; 2] = [10, 13];

/// Texts, each with the item that it belongs to.
pub(super) type Texts<'a> = [(&'a str, &'a Item)];

/// What texts can consist of.
#[derive(Clone, Copy)]
pub(super) struct Vocabulary<'a> {
    /// The attributes of the items.
    pub attributes: &'a [Attribute],
    /// The words of the design.
    pub words: &'a BTreeSet<String>,
    /// Whether the texts are whole keys, which start with a word rather than with an attribute that happens to have it.
    pub is_whole: bool,
}

/// Explains texts completely, or all but a few odd ones; `None` if something remains that no attribute has.
pub(super) fn explain(texts: &Texts<'_>, vocabulary: &Vocabulary<'_>) -> Option<Vec<Part>> {
    explain_all(texts, vocabulary).or_else(|| explain_most(texts, vocabulary))
}

/// The explanation that holds for all texts but a few odd ones. The texts are split into one chunk more than there may be odd texts, so that
/// at least one chunk has no odd text and shows the explanation.
fn explain_most(texts: &Texts<'_>, vocabulary: &Vocabulary<'_>) -> Option<Vec<Part>> {
    let few = few(texts.len());
    if few == 0 {
        return None;
    }
    // That such an attribute has the values of a key in most items may be an accident.
    let is_steady = |own: &&Attribute| {
        let name = &own.name;
        !name_hints::changes(name) && (name_hints::is_tenant(name) || !name_hints::is_bookkeeping(name))
    };
    let attributes: Vec<Attribute> = vocabulary.attributes.iter().filter(is_steady).cloned().collect();
    let steady = Vocabulary { attributes: &attributes, ..*vocabulary };
    let explained =
        texts.chunks(texts.len() / (few + 1)).take(few + 1).filter_map(|some| explain_all(some, &steady));
    let counted =
        explained.map(|parts| (texts.iter().filter(|text| is_made_of(text, &parts)).count(), parts));
    let (count, parts) = counted.max_by_key(|(count, _)| *count)?;
    is_all_but_few(count, texts.len()).then_some(parts)
}

/// Whether a text consists of parts.
fn is_made_of((text, item): &(&str, &Item), parts: &[Part]) -> bool {
    let made = parts.iter().map(|part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Field { name, format } => format.apply(text_in_key(item, name)?),
    });
    made.collect::<Option<String>>().is_some_and(|made| made == *text)
}

fn explain_all(texts: &Texts<'_>, vocabulary: &Vocabulary<'_>) -> Option<Vec<Part>> {
    if texts.is_empty() || texts.iter().any(|(text, _)| is_endless(text)) {
        return None;
    }
    let work = texts.len() * vocabulary.attributes.len().max(1);
    let max_failed = (MAX_WORK / work).clamp(MIN_FAILED, MAX_FAILED);
    let mut search = Search { vocabulary, parts: Vec::new(), failed: HashSet::new(), max_failed };
    search.explains(texts).then(|| merged(search.parts))
}

/// A search for the parts of texts.
struct Search<'a> {
    vocabulary: &'a Vocabulary<'a>,
    parts: Vec<Part>,
    /// What could not be explained: the number of parts before it, the word before it, and how much of each text remained.
    failed: HashSet<(usize, String, Vec<usize>)>,
    /// The number of dead ends after which they are given up.
    max_failed: usize,
}

impl Search<'_> {
    fn explains(&mut self, texts: &Texts<'_>) -> bool {
        if texts.iter().all(|(text, _)| text.is_empty()) {
            return true;
        }
        if self.parts.len() >= MAX_PARTS || texts.iter().any(|(text, _)| text.is_empty()) {
            return false;
        }
        let before = match self.parts.last() {
            Some(Part::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let remaining = texts.iter().map(|(text, _)| text.len()).collect();
        let place = (self.parts.len(), before, remaining);
        if self.failed.len() >= self.max_failed || self.failed.contains(&place) {
            return false;
        }
        for (part, lengths) in self.steps(texts, &place.1) {
            let rest: Vec<(&str, &Item)> =
                texts.iter().zip(lengths).map(|((text, item), length)| (&text[length..], *item)).collect();
            self.parts.push(part);
            if self.explains(&rest) {
                return true;
            }
            self.parts.pop();
        }
        self.failed.insert(place);
        false
    }

    /// What all texts can start with, the likeliest first, and its length in each.
    fn steps(&self, texts: &Texts<'_>, before: &str) -> Vec<(Part, Vec<usize>)> {
        let is_start = self.vocabulary.is_whole && self.parts.is_empty();
        let mut steps = fields(texts, self.vocabulary.attributes, before);
        steps.truncate(MAX_TRIED);
        let last = steps.len();
        // A few texts end alike by chance.
        let is_glued = matches!(self.parts.last(), Some(Part::Field { .. })) && texts.len() >= MIN_GLUED;
        let is_design = |word: &str| is_upper_word(word) || self.vocabulary.words.contains(word);
        let is_own =
            |word: &str| word.is_empty() || is_design(word) || ((is_start || is_glued) && is_word(word));
        // A name that is the whole key is rather that name than a word.
        let is_value = |(part, lengths): &(Part, Vec<usize>)| {
            let is_all = texts.iter().zip(lengths).all(|((text, _), length)| text.len() == *length);
            is_all && matches!(part, Part::Field { format: Format::Plain, .. }) && !is_design(texts[0].0)
        };
        // A sample of one tenant has the same text at the start of every key.
        let is_tenant = |(part, _): &(Part, Vec<usize>)| matches!(part, Part::Field { name, format: Format::Plain } if name_hints::is_tenant(name));
        let starts_with_word = is_start && !steps.iter().any(|step| is_tenant(step) || is_value(step));
        let (place, literals) = match literal(texts, is_own) {
            Some(literal) => (if starts_with_word { 0 } else { last }, vec![literal]),
            None if is_start => (last, unmarked_words(texts)),
            None => (last, constant_end(texts, before).into_iter().collect()),
        };
        let written = literals.into_iter().map(|text| {
            let lengths = vec![text.len(); texts.len()];
            (Part::Text(text), lengths)
        });
        steps.splice(place..place, written);
        steps
    }
}

/// The separator, or the longest word of the design and the separator after it, that all texts start with.
fn literal(texts: &Texts<'_>, is_own: impl Fn(&str) -> bool) -> Option<String> {
    let first = texts[0].0;
    let marks = first.char_indices().filter(|(_, character)| !character.is_alphanumeric()).take(MAX_PARTS);
    let ends: Vec<(usize, usize)> =
        marks.map(|(at, mark)| (at, at + mark.len_utf8())).chain([(first.len(), first.len())]).collect();
    // What stands before values that differ is a word too, if many texts have it.
    let differs = texts.len() >= MIN_VALUES && texts.iter().any(|(text, _)| *text != first);
    let is_common = |(word, end): &(usize, usize)| {
        let literal = &first[..*end];
        (is_own(&first[..*word]) || (differs && word < end && is_constant_word(&first[..*word])))
            && texts.iter().all(|(text, _)| text.starts_with(literal) && (word < end || text.len() == *end))
    };
    ends.into_iter().rev().find(is_common).map(|(_, end)| first[..end].to_owned())
}

/// The words that all texts start with and that a value may follow without a separator, the longest first.
fn unmarked_words(texts: &Texts<'_>) -> Vec<String> {
    let is_common = |end: &usize| {
        texts[0]
            .0
            .get(..*end)
            .is_some_and(|start| is_word(start) && texts.iter().all(|(text, _)| text.starts_with(start)))
    };
    (1..=MAX_WORD)
        .take_while(is_common)
        .map(|end| texts[0].0[..end].to_owned())
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect()
}

/// The word after a separator that many texts end with.
fn constant_end(texts: &Texts<'_>, before: &str) -> Option<String> {
    let end = texts[0].0;
    let is_named = is_word(end) || (is_constant_word(end) && !before.ends_with(STRONG));
    let is_end = texts.len() >= MIN_VALUES && is_named && !before.is_empty();
    (is_end && texts.iter().all(|(text, _)| *text == end)).then(|| end.to_owned())
}

/// Whether a text that many keys have at the same place, and no attribute, is a word: also the number of a version.
fn is_constant_word(text: &str) -> bool {
    is_word(text) || (text.len() <= MAX_VERSION && text.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// The attributes that all texts start with, the best first, and the length of each value.
fn fields(texts: &Texts<'_>, attributes: &[Attribute], before: &str) -> Vec<(Part, Vec<usize>)> {
    let mut found: Vec<(usize, bool, u8, Part, Vec<usize>)> = Vec::new();
    for attribute in attributes {
        for format in formats(&attribute.kind, texts) {
            let Some(lengths) = lengths(texts, &attribute.name, format) else { continue };
            let is_lower = format == Format::Lower;
            if is_lower && self::lengths(texts, &attribute.name, Format::Plain).is_some() {
                continue;
            }
            let is_even = lengths.iter().all(|length| *length == lengths[0]);
            let is_fixed = attribute.kind.has_fixed_width()
                || !matches!(format, Format::Plain | Format::Lower)
                || (attribute.kind.is_time() && is_even);
            let ends = |(text, length): (&(&str, &Item), &usize)| {
                text.0[*length..].chars().next().is_none_or(|next| !next.is_alphanumeric())
            };
            if !is_fixed && !texts.iter().zip(&lengths).all(ends) && !precedes_word(texts, &lengths) {
                continue;
            }
            if is_coincidence(texts, &attribute.name, format, &lengths, before) {
                continue;
            }
            let part = Part::Field { name: attribute.name.clone(), format };
            found.push((lengths.iter().sum(), is_lower, rank(&attribute.name, before), part, lengths));
        }
    }
    found
        .sort_by(|left, right| (right.0, left.1, left.2, &left.3).cmp(&(left.0, right.1, right.2, &right.3)));
    found.into_iter().map(|(_, _, _, part, lengths)| (part, lengths)).collect()
}

/// Whether a number with zeros before it is only by chance that of an attribute: it is the same in all texts, and the attribute is not
/// called as the word before it.
fn is_coincidence(texts: &Texts<'_>, name: &str, format: Format, lengths: &[usize], before: &str) -> bool {
    let first = &texts[0].0[..lengths[0]];
    let is_same = texts.iter().all(|(text, _)| text.starts_with(first));
    let is_padded = matches!(format, Format::Padded { .. } | Format::Signed { .. });
    let word = letters(before);
    let is_named = !word.is_empty() && letters(name).starts_with(&word);
    is_padded && first.starts_with('0') && texts.len() > 1 && is_same && !is_named
}

/// Whether the same word and separator follow different values without a separator: `1P#` and `2P#`.
fn precedes_word(texts: &Texts<'_>, lengths: &[usize]) -> bool {
    let rests = || texts.iter().zip(lengths).map(|((text, _), length)| &text[*length..]);
    let values: BTreeSet<&str> =
        texts.iter().zip(lengths).map(|((text, _), length)| &text[..*length]).collect();
    let first = rests().next().unwrap_or_default();
    let end = first.find(|c: char| !c.is_alphanumeric()).map(|end| (end, first[end..].chars().next()));
    let Some((word, Some(mark))) = end else { return false };
    let literal = &first[..word + mark.len_utf8()];
    values.len() > 1 && is_word(&first[..word]) && rests().all(|rest| rest.starts_with(literal))
}

/// The value of an attribute as a key has it.
fn text_in_key<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    match item.get(name)? {
        Value::Bool(true) => Some("true"),
        Value::Bool(false) => Some("false"),
        value => value.as_text(),
    }
}

/// How long the value of an attribute is in each text, if all start with it.
fn lengths(texts: &Texts<'_>, name: &str, format: Format) -> Option<Vec<usize>> {
    let length = |(text, item): &(&str, &Item)| {
        let value = text_in_key(item, name).and_then(|value| format.apply(value))?;
        (!value.is_empty() && text.starts_with(value.as_str())).then_some(value.len())
    };
    texts.iter().map(length).collect()
}

/// The formats in which values of a type can be in texts.
fn formats(kind: &ValueType, texts: &Texts<'_>) -> Vec<Format> {
    let mut formats = vec![Format::Plain];
    if kind.is_time() {
        formats.extend([16, 13, 10, 7, 4].map(Format::Bucket));
    }
    if kind.is_number() {
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
        let places = |text: &str| {
            let whole = digits(text);
            (whole, text[whole..].strip_prefix('.').map_or(0, digits))
        };
        let widths: BTreeSet<(usize, usize)> = texts.iter().map(|(text, _)| places(text)).collect();
        if let (Some((width, decimals)), 1) = (widths.first().copied(), widths.len()) {
            if EPOCH_DIGITS.contains(&width) {
                formats.clear();
            }
            let (padded, signed) = (1..=38, 2..=39);
            formats.extend(
                [0, decimals]
                    .into_iter()
                    .filter(|_| padded.contains(&width))
                    .map(|decimals| Format::Padded { width, decimals }),
            );
            formats.extend(signed.contains(&width).then(|| Format::Signed { width: width - 1, decimals }));
            formats.dedup();
        }
    }
    if matches!(kind, ValueType::String) {
        formats.push(Format::Escaped);
    }
    if !kind.is_number() {
        formats.push(Format::Lower);
    }
    formats
}

/// The letters and digits of a name, in lower case.
fn letters(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// How well a name fits its place in a key: the lower, the better.
fn rank(name: &str, before: &str) -> u8 {
    let (name_text, word) = (letters(name), letters(before));
    match name_text.as_str() {
        text if !word.is_empty() && (text == format!("{word}id") || text == word) => 0,
        text if text.ends_with("id") => 2 - u8::from(!word.is_empty() && text.starts_with(&word)),
        _ if name_hints::changes(name) => 5,
        _ if name_hints::is_creation_time(name) => 3,
        _ if name_hints::is_bookkeeping(name) => 6,
        _ => 4,
    }
}

/// Other attributes that have the same values as a field of a template, in every item.
pub(super) fn alternatives(field: &Part, items: &[Item], attributes: &[Attribute]) -> Vec<String> {
    let Part::Field { name, .. } = field else { return Vec::new() };
    let is_same = |other: &&Attribute| {
        other.name != *name
            && items.iter().all(|item| item.get(name).is_some() && item.get(name) == item.get(&other.name))
    };
    attributes.iter().filter(is_same).map(|attribute| attribute.name.clone()).collect()
}

/// A template with a text before a field, which gets another name or keeps its own.
pub(super) fn with_text_before(template: &Template, name: &str, text: &str, renamed: &str) -> Template {
    let parts = template.parts.iter().flat_map(|part| match part {
        Part::Field { name: own, format: Format::Plain } if own == name => {
            let field = Part::Field { name: renamed.to_owned(), format: Format::Plain };
            vec![Part::Text(text.to_owned()), field]
        }
        part => vec![part.clone()],
    });
    Template { parts: merged(parts.collect()) }
}

/// A template with `*` for its fields.
pub(super) fn form(template: &Template) -> String {
    let parts = template.parts.iter().map(|part| match part {
        Part::Text(text) => text,
        Part::Field { .. } => "*",
    });
    parts.collect()
}

/// Joins adjacent texts.
pub(super) fn merged(parts: Vec<Part>) -> Vec<Part> {
    let mut merged: Vec<Part> = Vec::new();
    for part in parts {
        match (part, merged.last_mut()) {
            (Part::Text(text), Some(Part::Text(last))) => last.push_str(&text),
            (Part::Text(text), _) if text.is_empty() => {}
            (part, _) => merged.push(part),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;

    fn explained(key: &str, attributes: &[(&str, &str, &str)]) -> String {
        let item: Item = attributes
            .iter()
            .map(|(name, _, value)| ((*name).to_owned(), Value::String((*value).to_owned())))
            .collect();
        let attributes: Vec<Attribute> = attributes
            .iter()
            .map(|(name, kind, _)| Attribute::new(name, ValueType::parse(kind).unwrap()))
            .collect();
        let words = BTreeSet::new();
        let vocabulary = Vocabulary { attributes: &attributes, words: &words, is_whole: true };
        let parts = explain(&[(key, &item)], &vocabulary);
        parts.map_or("-".to_owned(), |parts| Template { parts }.to_string())
    }

    #[test]
    fn keys_consist_of_words_and_attributes() {
        let order = [
            ("orderId", "id", "o1"),
            ("userId", "id", "u7"),
            ("at", "timestamp", "2026-04-05T10:30:00Z"),
            ("n", "int", "7"),
        ];
        for (key, template) in [
            ("ORDER#o1", "ORDER#{orderId}"),
            ("TENANT#u7|ORDER#o1", "TENANT#{userId}|ORDER#{orderId}"),
            ("u7_o1", "{userId}_{orderId}"),
            ("2026-04-05T10:30:00Zo1", "{at}{orderId}"),
            ("2026-04#o1", "{at:month}#{orderId}"),
            ("v-00007", "v-{n:05}"),
            ("v-1007", "v-{n:+03}"),
            ("v-007.00", "v-{n:03.2}"),
            ("v7", "v{n}"),
            ("order/o1/lines", "-"),
            ("ORDER#o2", "-"),
            ("ORDER#o11", "-"),
        ] {
            assert_eq!(explained(key, &order), template, "{key}");
        }
    }
}
