//! How the values of a key attribute are built: which characters separate their parts, and which parts are words of the design rather
//! than values.

use super::key_template::is_semantic;
use super::pieces::{Piece, is_strong, pieces};
use crate::item::{Item, Value};
use crate::template::is_letter;
use std::collections::{BTreeMap, BTreeSet};

/// Words that stand alone in a sort key.
const SINGLETONS: [&str; 9] =
    ["metadata", "meta", "profile", "info", "details", "detail", "settings", "root", "summary"];
/// A longer text is not a word of the design.
pub(super) const MAX_WORD: usize = 24;
/// More different words than this are values, unless the items differ with them.
const MAX_WORDS: usize = 20;

/// Fewer values than this do not show that a part is the same in all of them.
pub(super) const MIN_VALUES: usize = 3;

/// As many values show that what stands before a weak separator is the same in all of them.
const MANY_VALUES: usize = 8;

/// A word beside a weak separator is in one of at most as many values.
const MAX_RECURRENCE: usize = 8;

/// What the values of one key attribute have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyStyle {
    /// The words of the design.
    pub words: BTreeSet<String>,
    /// The letters that digits follow without a separator.
    pub lettered: BTreeSet<String>,
    /// Whether values have no parts: separators belong to them.
    is_plain: bool,
}

/// A part of a key: a word of the design or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column<'a> {
    /// The separators before it.
    pub mark: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whether it is a word.
    pub is_word: bool,
}

/// A value of a key attribute.
#[derive(Clone, Copy)]
pub(super) struct KeyValue<'a> {
    /// The value.
    pub text: &'a str,
    /// Tells items of different kinds apart: the type, or the names of their attributes.
    pub kind: &'a str,
    /// The item.
    pub item: &'a Item,
    /// Whether what the value starts with is that of an attribute, as in all items of the kind.
    pub is_named: bool,
}

/// A piece of a value, and the value.
type PlacedText<'a> = (&'a str, &'a KeyValue<'a>);

/// A value and its pieces.
type CutValue<'a> = (Vec<Piece<'a>>, &'a KeyValue<'a>);

/// Returns whether an attribute other than the type has a word as its value.
fn is_attribute(item: &Item, word: &str, kind: &str) -> bool {
    word != kind && item.values().any(|value| matches!(value, Value::String(text) if text == word))
}

/// Marks the values that start with the value of an attribute that is no key, the same one in all items of a kind: what differs with it is no
/// word of the design.
pub(super) fn mark_named(values: &mut [KeyValue<'_>], keys: &[String]) {
    let mut kinds: BTreeMap<&str, (BTreeSet<&str>, Vec<&String>)> = BTreeMap::new();
    for value in &*values {
        let start = pieces(value.text)[0].text;
        let has = |name: &String| matches!(value.item.get(name), Some(Value::String(text)) if text == start);
        match kinds.get_mut(value.kind) {
            Some((starts, names)) => {
                starts.insert(start);
                names.retain(|name| has(name));
            }
            None => {
                let is_other = |name: &&String| !keys.contains(name) && is_semantic(name) && has(name);
                let names = value.item.keys().filter(is_other).collect();
                kinds.insert(value.kind, (BTreeSet::from([start]), names));
            }
        }
    }
    let is_named =
        |kind: &str| kinds.get(kind).is_some_and(|(starts, names)| starts.len() > 1 && !names.is_empty());
    let marks: Vec<bool> = values.iter().map(|value| is_named(value.kind)).collect();
    values.iter_mut().zip(marks).for_each(|(value, is_named)| value.is_named = is_named);
}

/// Texts other than words that stand for one kind of items beside others whose sort keys differ: `v0` of the latest version beside `v1`, `v2`, …
pub(super) fn standing_texts(values: &[KeyValue<'_>]) -> BTreeSet<String> {
    let mut kinds: BTreeMap<&str, Vec<&KeyValue<'_>>> = BTreeMap::new();
    let mut owners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for value in values {
        kinds.entry(value.kind).or_default().push(value);
        for piece in pieces(value.text) {
            owners.entry(piece.text).or_default().insert(value.kind);
        }
    }
    let is_varied = |own: &[&KeyValue<'_>]| own.iter().any(|value| value.text != own[0].text);
    if !kinds.values().any(|own| is_varied(own)) {
        return BTreeSet::new();
    }
    let has = |value: &KeyValue<'_>, text: &str| {
        let mut own = value.item.iter().filter(|(name, _)| is_semantic(name));
        own.any(|(_, own)| own.as_text() == Some(text))
    };
    let standing = kinds.values().filter_map(|own| {
        let last = pieces(own[0].text).pop()?;
        let is_text = !last.is_value && !is_word(last.text) && (1..=MAX_WORD).contains(&last.text.len());
        let is_alone = own.len() >= MIN_VALUES && !is_varied(own) && owners[last.text].len() == 1;
        let stands = is_text && is_alone && !own.iter().any(|value| has(value, last.text));
        stands.then(|| last.text.to_owned())
    });
    standing.collect()
}

/// The letters of values that are letters and digits, if they tell kinds of items apart: `INV00000017` and `TKT00000003`.
pub(super) fn lettered_starts(values: &[KeyValue<'_>]) -> BTreeSet<String> {
    let mut starts: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for value in values {
        if let Some(start) = lettered_start(value.text) {
            let (kinds, texts) = starts.entry(start).or_default();
            kinds.insert(value.kind);
            texts.insert(value.text);
        }
    }
    let distinct: BTreeSet<&BTreeSet<&str>> = starts.values().map(|(kinds, _)| kinds).collect();
    let is_telling = starts.len() > 1
        && distinct.len() == starts.len()
        && starts.values().all(|(_, texts)| texts.len() >= MIN_VALUES);
    starts.into_keys().filter(|_| is_telling).map(str::to_owned).collect()
}

/// The letters of a text that is letters and digits.
pub(super) fn lettered_start(text: &str) -> Option<&str> {
    let (start, digits) = text.split_at(text.find(|c: char| c.is_ascii_digit())?);
    (is_word(start) && start.chars().all(char::is_alphabetic) && digits.chars().all(|c| c.is_ascii_digit()))
        .then_some(start)
}

/// Returns whether a word stands alone in sort keys.
pub(super) fn is_singleton(word: &str) -> bool {
    SINGLETONS.contains(&word.to_lowercase().as_str())
}

/// Returns whether a text is the start of an attribute.
fn starts(item: &Item, start: &str) -> bool {
    item.values().any(|value| matches!(value, Value::String(text) if text.starts_with(start)))
}

impl KeyStyle {
    /// Learns from values.
    pub fn learn(values: &[KeyValue<'_>]) -> KeyStyle {
        let recurring = recurring_words(values);
        let mut words: BTreeSet<String> =
            recurring.iter().filter(|word| is_upper_word(word)).map(|word| (*word).to_owned()).collect();
        words.extend(leading_words(values, None));
        words.extend(leading_words(values, Some(&recurring)));
        words.extend(constant_words(values));
        words.extend(telling_words(values));
        words.extend(words_beside_numbers(values));
        KeyStyle { words, ..KeyStyle::default() }
    }

    /// Learns from the values of an attribute whose name says what it is: they have parts only if nearly all of them start with a word.
    pub fn learn_named(values: &[KeyValue<'_>]) -> KeyStyle {
        let style = KeyStyle::learn(values);
        let starts = |value: &&KeyValue<'_>| {
            let first = columns(value.text, value.item, &style.words).into_iter().next();
            first.is_some_and(|first| first.is_word && !first.text.is_empty())
        };
        let is_made = values.iter().filter(starts).count() * 10 >= values.len() * 9;
        if is_made { style } else { KeyStyle { is_plain: true, ..KeyStyle::default() } }
    }

    /// Returns the value of an item with everything but its words replaced by `*`: `ORDER#*#ITEM#*`.
    pub fn shape(&self, text: &str, item: &Item) -> String {
        if self.is_plain {
            return "*".to_owned();
        }
        if let Some(start) = lettered_start(text).filter(|start| self.lettered.contains(*start)) {
            return format!("{start}#*");
        }
        let columns = columns(text, item, &self.words);
        let shapes: Vec<&str> =
            columns.iter().map(|column| if column.is_word { column.text } else { "*" }).collect();
        shapes.join("#")
    }
}

/// Cuts a key into words and values. Weak separators between values belong to the value, unless both are values by their form.
pub(super) fn columns<'a>(text: &'a str, item: &Item, words: &BTreeSet<String>) -> Vec<Column<'a>> {
    let is_field = |piece: &str| text.len() > piece.len() && is_attribute(item, piece, "");
    let mut columns: Vec<Column<'a>> = Vec::new();
    let mut before: Option<Piece<'a>> = None;
    let mut end = 0;
    let pieces = pieces(text);
    for (number, piece) in pieces.iter().copied().enumerate() {
        let start = end + piece.mark.len();
        end = start + piece.text.len();
        let is_inner = before.is_some()
            && is_upper_word(piece.text)
            && !is_beside_weak(&pieces, number)
            && !is_field(piece.text);
        let is_end = piece.text.is_empty() && (before.is_none() || is_strong(piece.mark));
        let is_word = !piece.is_value && (is_inner || words.contains(piece.text)) || is_end;
        let joins =
            before.is_some_and(|before| !(before.is_value && piece.is_value)) && !is_strong(piece.mark);
        match columns.last_mut() {
            Some(last) if joins && !is_word && !last.is_word => {
                let whole = start - piece.mark.len() - last.text.len();
                last.text = &text[whole..end];
            }
            _ => columns.push(Column { mark: piece.mark, text: piece.text, is_word }),
        }
        before = Some(piece);
    }
    columns
}

/// Returns whether a weak separator is before or behind a piece: random identifiers contain such separators too.
fn is_beside_weak(pieces: &[Piece<'_>], number: usize) -> bool {
    let before = pieces[number].mark;
    let behind = pieces.get(number + 1).map(|next| next.mark);
    (!before.is_empty() && !is_strong(before)) || behind.is_some_and(|mark| !is_strong(mark))
}

/// The words beside weak separators that recur in the values of the kinds of items that have them. What is left between two separators of a
/// random identifier is in a few only.
fn recurring_words<'a>(values: &[KeyValue<'a>]) -> BTreeSet<&'a str> {
    let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut words: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for value in values {
        kinds.entry(value.kind).or_default().insert(value.text);
        let pieces = pieces(value.text);
        for (number, piece) in pieces.iter().enumerate() {
            let is_word = !piece.is_value && is_word(piece.text) && is_beside_weak(&pieces, number);
            if is_word && !is_attribute(value.item, piece.text, value.kind) {
                let (own_kinds, texts) = words.entry(piece.text).or_default();
                own_kinds.insert(value.kind);
                texts.insert(value.text);
            }
        }
    }
    let all: usize = kinds.values().map(BTreeSet::len).sum();
    let recurs = |own_kinds: &BTreeSet<&str>, texts: usize| {
        let of_kinds: usize = own_kinds.iter().map(|kind| kinds[kind].len()).sum();
        texts * MAX_RECURRENCE >= of_kinds && (texts > 1 || all < MANY_VALUES)
    };
    words.retain(|_, (own_kinds, texts)| recurs(own_kinds, texts.len()));
    words.into_keys().collect()
}

/// The words that values start with, if they are words of the design: upper case, or telling kinds of items apart. They are followed by a
/// strong separator, or by a weak one if they are among those that recur.
fn leading_words(values: &[KeyValue<'_>], recurring: Option<&BTreeSet<&str>>) -> BTreeSet<String> {
    let strong = recurring.is_none();
    let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for value in values {
        let pieces = pieces(value.text);
        let word = pieces[0].text;
        let is_alone = pieces.len() == 1;
        let stands = match pieces.get(1) {
            Some(next) => is_strong(next.mark) == strong,
            None => strong && (is_upper_word(word) || is_singleton(word) || is_strong(pieces[0].mark)),
        };
        let recurs = recurring.is_none_or(|recurring| recurring.contains(word));
        let is_value = if is_alone { value.is_named } else { is_attribute(value.item, word, value.kind) };
        if is_word(word) && stands && recurs && !is_value {
            kinds.entry(word).or_default().insert(value.kind);
        }
    }
    let distinct: BTreeSet<&BTreeSet<&str>> = kinds.values().collect();
    let is_telling = kinds.len() <= 1 || distinct.len() * 2 > kinds.len();
    let is_small = kinds.len() <= MAX_WORDS;
    let words = kinds
        .keys()
        .filter(|word| is_telling || is_singleton(word) || (is_small && strong && is_upper_word(word)));
    words.map(|word| (*word).to_owned()).collect()
}

/// The words after strong separators that tell kinds of items apart: `u#7#post` and `u#7#timeline`.
fn telling_words(values: &[KeyValue<'_>]) -> BTreeSet<String> {
    let mut places: BTreeMap<(Vec<&str>, usize), Vec<PlacedText<'_>>> = BTreeMap::new();
    for value in values {
        let pieces = pieces(value.text);
        let marks: Vec<&str> = pieces.iter().map(|piece| piece.mark).collect();
        for place in (1..pieces.len()).filter(|_| marks[1..].iter().all(|mark| is_strong(mark))) {
            places.entry((marks.clone(), place)).or_default().push((pieces[place].text, value));
        }
    }
    let mut words = BTreeSet::new();
    for texts in places.values() {
        let is_design =
            |(text, value): &PlacedText<'_>| is_word(text) && !is_attribute(value.item, text, value.kind);
        let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        texts.iter().for_each(|(text, value)| {
            kinds.entry(text).or_default().insert(value.kind);
        });
        let distinct: BTreeSet<&BTreeSet<&str>> = kinds.values().collect();
        let is_telling =
            distinct.len() > 1 && distinct.len() * 2 > kinds.len() && kinds.len() * 2 <= texts.len();
        if is_telling && texts.iter().all(is_design) {
            words.extend(kinds.keys().map(|word| (*word).to_owned()));
        }
    }
    words
}

/// The words at the end of several values that have nothing but digits there otherwise: `v#LATEST` beside `v#000001`.
fn words_beside_numbers(values: &[KeyValue<'_>]) -> BTreeSet<String> {
    let mut ends: BTreeMap<(&str, Vec<&str>), Vec<&str>> = BTreeMap::new();
    for value in values {
        let pieces = pieces(value.text);
        let marks: Vec<&str> = pieces.iter().map(|piece| piece.mark).collect();
        if let [first, .., last] = pieces.as_slice()
            && is_strong(last.mark)
        {
            ends.entry((first.text, marks)).or_default().push(last.text);
        }
    }
    let mut words = BTreeSet::new();
    for texts in ends.into_values() {
        let (numbers, others): (Vec<&str>, Vec<&str>) =
            texts.into_iter().partition(|text| text.chars().all(|c| c.is_ascii_digit()));
        let recurs = |text: &&str| others.iter().filter(|other| *other == text).count() >= MIN_VALUES;
        if numbers.len() >= MIN_VALUES && others.iter().all(|text| is_upper_word(text) && recurs(text)) {
            words.extend(others.into_iter().map(str::to_owned));
        }
    }
    words
}

/// The words at the same place of all values of a kind with the same separators.
fn constant_words(values: &[KeyValue<'_>]) -> BTreeSet<String> {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut alike: BTreeMap<(&str, Vec<&str>), Vec<CutValue<'_>>> = BTreeMap::new();
    for value in values {
        let pieces = pieces(value.text);
        *kinds.entry(value.kind).or_default() += 1;
        let marks = pieces.iter().map(|piece| piece.mark).collect();
        alike.entry((value.kind, marks)).or_default().push((pieces, value));
    }
    let mut words = BTreeSet::new();
    for ((kind, marks), values) in alike {
        let texts: BTreeSet<&str> = values.iter().map(|(_, value)| value.text).collect();
        if texts.len() < MIN_VALUES || values.len() * 2 < kinds[kind] {
            continue;
        }
        let is_mixed = marks.iter().any(|mark| is_strong(mark));
        // Whether all since the last strong separator is the same.
        let mut leads = false;
        for place in 1..marks.len() {
            let piece = values[0].0[place];
            let is_same = |(pieces, value): &CutValue<'_>| {
                pieces[place].text == piece.text && !is_attribute(value.item, piece.text, value.kind)
            };
            let is_constant = is_word(piece.text) && !piece.is_value && values.iter().all(is_same);
            leads = (leads || is_strong(piece.mark)) && is_constant;
            // Beside strong separators, others belong to values, unless many have the same before them.
            let next = marks.get(place + 1).copied();
            let stands = match next.filter(|next| !is_strong(next)) {
                None => is_strong(piece.mark),
                Some(next) => {
                    let start = format!("{}{next}", piece.text);
                    leads
                        && texts.len() >= MANY_VALUES
                        && !values.iter().any(|(_, value)| starts(value.item, &start))
                }
            };
            // No value consists of two values of a known form and a word.
            let is_between = values.iter().all(|(pieces, _)| {
                pieces[place - 1].is_value && pieces.get(place + 1).is_some_and(|next| next.is_value)
            });
            if is_constant && (stands || is_between || !is_mixed) {
                words.insert(piece.text.to_owned());
            }
        }
    }
    words
}

/// Returns whether a text can be a word of the design; those of ElectroDB start with `$`.
pub(super) fn is_word(text: &str) -> bool {
    let mut characters = text.strip_prefix('$').unwrap_or(text).chars();
    characters.next().is_some_and(char::is_alphabetic)
        && text.len() <= MAX_WORD
        && characters.all(|character| is_letter(character) || character == '_' || character == '-')
}

/// Returns whether a text is a word in upper case, in a script that has one.
pub(super) fn is_upper_word(text: &str) -> bool {
    is_word(text) && text.chars().all(|character| character.is_uppercase() || !character.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(values: &[(&str, &str)]) -> KeyStyle {
        let item = Item::new();
        let values: Vec<KeyValue<'_>> =
            values.iter().map(|(text, kind)| KeyValue { text, kind, item: &item, is_named: false }).collect();
        KeyStyle::learn(&values)
    }

    fn shape(style: &KeyStyle, text: &str) -> String {
        style.shape(text, &Item::new())
    }

    #[test]
    fn words_are_learned() {
        let style = learn(&[("c#12345", "a"), ("p#9", "b"), ("o#7", "c")]);
        assert_eq!(shape(&style, "c#1"), "c#*");
        let style = learn(&[("TENANT#a|USER#b", "a"), ("TENANT#a|USER#c", "a")]);
        assert_eq!(shape(&style, "TENANT#x|USER#y"), "TENANT#*#USER#*");
        let style = learn(&[("user_1", "a"), ("user_2", "a"), ("order_1", "b")]);
        assert_eq!(shape(&style, "order_7"), "order#*");
    }

    #[test]
    fn values_are_not_words() {
        let ids = ["kettle-1", "bolt-2", "lamp-3", "kettle-4", "drum-9"].map(|id| (id, "same attributes"));
        assert_eq!(shape(&learn(&ids), "kettle-7"), "*");
        let times = ["2026-01-01T10:00:00Z", "2026-01-02T10:00:00Z"].map(|time| (time, "a"));
        assert_eq!(shape(&learn(&times), times[0].0), "*");
        let tenants = ["acme#1", "globex#2", "initech#3"].map(|key| (key, "same"));
        assert_eq!(shape(&learn(&tenants), "acme#1"), "*#*");
        assert_eq!(shape(&learn(&[("PROFILE", "a"), ("alice", "b")]), "PROFILE"), "PROFILE");
        let item = Item::from([("state".to_owned(), Value::String("NEW".to_owned()))]);
        let style = KeyStyle::learn(&[KeyValue { text: "NEW#1", kind: "a", item: &item, is_named: false }]);
        assert_eq!(style.shape("NEW#1", &item), "*#*");
        assert_eq!(style.shape("A#NEW#PAID", &item), "*#*#PAID");
    }

    #[test]
    fn words_are_found_anywhere_in_keys() {
        let ids = ["a1", "b2", "c3"];
        let texts = ids.map(|id| format!("{id}/order"));
        let values: Vec<(&str, &str)> = texts.iter().map(|text| (text.as_str(), "o")).collect();
        assert_eq!(shape(&learn(&values), "d4/order"), "*#order");
        let texts = ids.map(|id| format!("org_x{id}_venue_{id}"));
        let values: Vec<(&str, &str)> = texts.iter().map(|text| (text.as_str(), "o")).collect();
        assert_eq!(shape(&learn(&values), "org_y_venue_z"), "org#*#venue#*");
        let random = [
            "V1StGXR8_Z5j-KFHi6B-myT",
            "Uakgb_J5m9g-KX0JDMcJqLJ",
            "_rOd-f9NPxq2K8_sW-zT-e1",
            "hQ3-c7TbNd2v0_LmRkX-ba4",
        ]
        .map(|id| (format!("USER#{id}"), format!("USER#{id}-")));
        let values: Vec<(&str, &str)> =
            random.iter().flat_map(|(one, other)| [(one.as_str(), "u"), (other.as_str(), "u")]).collect();
        for (text, _) in &values {
            assert_eq!(shape(&learn(&values), text), "USER#*", "{text}");
        }
        let slugs = ["the-end-of-it", "a-lot-of-it", "b-bit-of-more"].map(|slug| (slug, "s"));
        assert_eq!(shape(&learn(&slugs[..2]), "the-end-of-it"), "*");
    }
}
