//! The template of a key: words of the design are text, everything else is the attribute that has the same values, or a new attribute that only
//! the key contains.

use super::explain::{MIN_GLUED, Texts, Vocabulary, explain, merged};
use super::names::{FieldNames, lower_first};
use super::odd::is_all_but_few;
use super::pieces::{Piece, STRONG, WEAK, pieces};
use super::style::{Column, KeyStyle, KeyValue, MIN_VALUES, columns, is_upper_word, is_word};
use super::values::Summary;
use crate::item::{Item, Value};
use crate::model::shard::ShardHash;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Shard};
use crate::relational::naming::free_name;
use crate::template::{Format, Part, SHARD, Template, is_field_name};
use std::collections::{BTreeMap, BTreeSet};

/// Larger numbers in a key are not shards.
pub(super) const MAX_SHARDS: u64 = 200;
/// A number that fewer items have identifies something.
const MIN_ITEMS_PER_SHARD: usize = 3;
/// Words before the number of a shard.
const SHARD_WORDS: [&str; 4] = [SHARD, "bucket", "partition", "slot"];

/// A value is not cut into more pieces.
const MAX_REFINED: usize = 24;

/// What the keys of an entity are inferred with.
#[derive(Clone)]
pub(super) struct KeyContext<'a> {
    /// Names for new attributes.
    pub names: &'a FieldNames,
    /// The words of the design.
    pub words: &'a BTreeSet<String>,
    /// The values of the attributes that only keys contain, by the address of the item.
    pub key_values: BTreeMap<String, BTreeMap<usize, String>>,
    /// Those of them whose name is made up, each with the attribute that has its letters in another case.
    pub unnamed: BTreeMap<String, Option<String>>,
    /// What the numbers that are taken for shards are called if they identify something, by the template up to them; none if their word says that
    /// they are shards.
    pub sharded: BTreeMap<String, String>,
}

/// A key attribute.
#[derive(Clone, Copy)]
pub(super) struct KeyAttribute<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it is a partition key.
    pub is_partition: bool,
    /// What the source calls it.
    pub alias: Option<&'a str>,
    /// Whether it holds keys of several entities.
    pub is_shared: bool,
}

impl KeyAttribute<'_> {
    /// Returns whether the name says what the attribute is: `userId` and not `PK`.
    pub fn is_semantic(&self) -> bool {
        is_semantic(self.name)
    }
}

/// Returns whether a name says what an attribute is: `userId` and not `GSI1PK`.
pub(super) fn is_semantic(name: &str) -> bool {
    let name = name.trim_end_matches(|last: char| !last.is_alphabetic());
    let lower = name.to_lowercase();
    let is_suffix = |suffix: &str| {
        let Some(stem) = lower.strip_suffix(suffix).and_then(|stem| name.get(..stem.len())) else {
            return false;
        };
        let start = &name[stem.len()..];
        // `GSI1PK`, `byStatePk` and `gsi_pk`, but not `task`.
        stem.is_empty()
            || stem.ends_with(|last: char| !last.is_alphabetic())
            || start.starts_with(|first: char| first.is_uppercase())
            || ["gsi", "lsi", "gs", "ls", "i", "index", "idx"].contains(&stem.to_lowercase().as_str())
    };
    let letters: String = lower.chars().filter(|character| character.is_alphabetic()).collect();
    let generic =
        ["partitionkey", "sortkey", "hashkey", "rangekey"].iter().any(|word| letters.contains(word));
    let alone = ["hash", "range", "partition", "sort", "hk", "rk", "key"].contains(&letters.as_str());
    !["pk", "sk"].into_iter().any(is_suffix) && !generic && !alone
}

/// Infers the template of a key attribute. Values that no attribute has become a new attribute of the entity.
pub(super) fn infer(
    key: KeyAttribute<'_>,
    items: &[&Item],
    entity: &mut Entity,
    context: &mut KeyContext<'_>,
) -> Template {
    let is_number = items.iter().all(|item| matches!(item.get(key.name), Some(Value::Number(_))));
    let texts: Vec<(&str, &Item)> =
        items.iter().filter_map(|item| Some((item.get(key.name)?.as_text()?, *item))).collect();
    if let Some(template) = alias_template(key, &texts, entity) {
        return template;
    }
    // A name with two underscores before it is that of a library, for what it notes about an item.
    let is_other =
        |own: &&Attribute| own.name != key.name && is_field_name(&own.name) && !own.name.starts_with("__");
    let attributes: Vec<Attribute> = entity.attributes.iter().filter(is_other).cloned().collect();
    let words = own_words(&texts, context.words);
    let vocabulary = Vocabulary { attributes: &attributes, words: &words, is_whole: true };
    let explained = if is_number { None } else { explain(&texts, &vocabulary) };
    let explained = explained.or_else(|| same_attribute(&texts, &attributes));
    // A key with a meaning of its own is an attribute, unless it is made of others.
    let is_shown = texts.len() >= MIN_VALUES || key.name.contains(STRONG);
    let is_made = |parts: &Vec<Part>| !key.is_semantic() || (parts.len() > 1 && is_shown);
    if let Some(parts) = explained.filter(is_made) {
        return Template { parts };
    }
    if is_number || (key.is_semantic() && !key.is_shared && is_field_name(key.name)) {
        return natural(key, &texts, is_number, entity);
    }
    let parts = in_tokens(key, &texts, &attributes, &words, entity, context);
    Template { parts: merged(parts) }
}

/// The words of the design, with those that only this key has.
fn own_words(texts: &Texts<'_>, words: &BTreeSet<String>) -> BTreeSet<String> {
    let values: Vec<KeyValue<'_>> =
        texts.iter().map(|(text, item)| KeyValue { text, kind: "", item, is_named: false }).collect();
    KeyStyle::learn(&values).words.union(words).cloned().collect()
}

/// What the source calls the key, if it is a template that all values fit.
fn alias_template(key: KeyAttribute<'_>, texts: &Texts<'_>, entity: &mut Entity) -> Option<Template> {
    let template = Template::parse(key.alias?).ok()?;
    if template.is_constant() || template.bare_field().is_some() {
        return None;
    }
    let free: BTreeMap<String, ValueType> = BTreeMap::new();
    let fits = |(text, item): &(&str, &Item)| {
        template.matches(text, &free).is_some_and(|values| {
            let is_same = |(name, value): (&String, &String)| {
                item.get(name).is_none_or(|own| own.as_text() == Some(value.as_str()))
            };
            values.iter().all(is_same)
        })
    };
    if !texts.iter().all(fits) {
        return None;
    }
    for field in template.fields() {
        if entity.attribute(field).is_none() {
            entity.attributes.push(Attribute::new(field, ValueType::String));
            entity.numbers = Default::default();
        }
    }
    Some(template)
}

/// The attribute that a number is equal to.
fn same_attribute(texts: &Texts<'_>, attributes: &[Attribute]) -> Option<Vec<Part>> {
    let is_same = |attribute: &&Attribute| {
        texts.iter().all(|(text, item)| item.get(&attribute.name).and_then(Value::as_text) == Some(text))
    };
    let attribute = attributes.iter().filter(|_| !texts.is_empty()).find(is_same)?;
    Some(vec![Part::Field { name: attribute.name.clone(), format: Format::Plain }])
}

/// The key attribute as an attribute of the entity.
fn natural(key: KeyAttribute<'_>, texts: &Texts<'_>, is_number: bool, entity: &mut Entity) -> Template {
    let mut summary = Summary::default();
    texts.iter().for_each(|(text, _)| summary.add_text(text));
    let kind = match (is_number, summary.is_integer()) {
        (true, true) => ValueType::Int,
        (true, false) => ValueType::Decimal,
        (false, _) => summary.text_type(),
    };
    let name = match (key.is_semantic() && is_field_name(key.name), summary.epoch()) {
        (true, _) => key.name.to_owned(),
        (false, Some(_)) => "time".to_owned(),
        (false, None) if key.is_partition => format!("{}Number", lower_first(&entity.name)),
        (false, None) => "number".to_owned(),
    };
    if entity.attribute(&name).is_none() {
        entity.attributes.push(Attribute { limits: summary.limits(), ..Attribute::new(&name, kind) });
        entity.numbers = Default::default();
    }
    Template::field(&name)
}

/// The parts of a key between separators.
fn in_tokens(
    key: KeyAttribute<'_>,
    texts: &Texts<'_>,
    attributes: &[Attribute],
    words: &BTreeSet<String>,
    entity: &mut Entity,
    context: &mut KeyContext<'_>,
) -> Vec<Part> {
    let vocabulary = Vocabulary { attributes, words, is_whole: false };
    let tokens: Vec<Token<'_>> =
        split(texts, words).into_iter().flat_map(|token| refine(token, &vocabulary)).collect();
    if key.is_semantic() && is_field_name(key.name) && tokens.iter().all(|token| is_value(token, &vocabulary))
    {
        return natural(key, texts, false, entity).parts;
    }
    let single = tokens.len() == 1;
    let mut parts: Vec<Part> = Vec::new();
    let mut word = String::new();
    for (number, (mark, token)) in tokens.iter().enumerate() {
        parts.push(Part::Text(mark.clone()));
        let follows_value = parts.iter().any(|part| matches!(part, Part::Field { .. }));
        let follows_field = matches!(parts.iter().rev().nth(1), Some(Part::Field { .. }));
        let value = token[0].0;
        let is_constant = token.iter().all(|(text, _)| *text == value);
        let is_design = is_word(value)
            && (is_upper_word(value)
                || words.contains(value)
                || (number == 0 && !single)
                || (number > 0 && follows_field && token.len() > 1));
        if is_constant && (value.is_empty() || (is_design && number == 0)) {
            value.clone_into(&mut word);
            parts.push(Part::Text(value.to_owned()));
            continue;
        }
        // What starts the key, or follows a value, may be a word and a value without a separator: `StateOPEN|3`.
        let is_glued = number > 0 && !is_constant && token.len() >= MIN_GLUED;
        let is_whole = is_glued || (number == 0 && token.len() >= MIN_VALUES);
        let place = Vocabulary { is_whole, ..vocabulary };
        if let Some(explained) = explain(token, &place) {
            if let [Part::Text(text)] = explained.as_slice() {
                text.clone_into(&mut word);
            }
            parts.extend(explained);
        } else if is_constant && is_design {
            value.clone_into(&mut word);
            parts.push(Part::Text(value.to_owned()));
        } else if let Some(count) = shards(key, follows_value, &word, token, attributes) {
            if word.to_lowercase() != SHARD {
                let name = field_name(key, &word, &ValueType::Id, token, entity, context.names);
                let name = free_name(&name, |name| entity.attribute(name).is_some());
                context.sharded.insert(Template { parts: merged(parts.clone()) }.to_string(), name);
            }
            let count = entity.shard.as_ref().map_or(count, |shard| shard.count.max(count));
            entity.shard = Some(Shard { by: None, hash: ShardHash::default(), count });
            parts.push(Part::Field { name: SHARD.to_owned(), format: Format::Plain });
        } else {
            parts.push(new_field(key, &word, token, entity, context));
        }
        if !matches!(parts.last(), Some(Part::Text(_))) {
            word.clear();
        }
    }
    parts
}

/// A separator and the texts after it.
type Token<'a> = (String, Vec<(&'a str, &'a Item)>);

/// Splits texts into words and values. If they have different separators, they are a word and whatever follows it, or values as a whole.
fn split<'a>(texts: &Texts<'a>, words: &BTreeSet<String>) -> Vec<Token<'a>> {
    let rows: Vec<Vec<Column<'a>>> = texts.iter().map(|(text, item)| columns(text, item, words)).collect();
    let length = rows.iter().map(|row| common(row, &rows[0])).min().unwrap_or_default();
    if length == 0 {
        return vec![(String::new(), texts.to_vec())];
    }
    let is_whole = rows.iter().all(|row| row.len() == length);
    let mut tokens: Vec<Token<'a>> = Vec::new();
    for place in 0..length {
        let is_rest = place + 1 == length && !is_whole;
        let column = rows.iter().zip(texts).map(|(row, (text, item))| {
            // The last token takes whatever longer texts have.
            let start: usize = row[..place].iter().map(|column| column.mark.len() + column.text.len()).sum();
            let start = start + row[place].mark.len();
            (if is_rest { &text[start..] } else { row[place].text }, *item)
        });
        tokens.push((rows[0][place].mark.to_owned(), column.collect()));
    }
    tokens
}

/// Whether a token is neither a word nor made of attributes.
fn is_value((_, token): &Token<'_>, vocabulary: &Vocabulary<'_>) -> bool {
    let is_word = is_word(token[0].0) && token.iter().all(|(text, _)| *text == token[0].0);
    let has_field = |parts: Vec<Part>| parts.iter().any(|part| matches!(part, Part::Field { .. }));
    !is_word && !explain(token, vocabulary).is_some_and(has_field)
}

/// Cuts values at a weak separator too, if an attribute has the values of a piece.
fn refine<'a>(token: Token<'a>, vocabulary: &Vocabulary<'_>) -> Vec<Token<'a>> {
    let (mark, texts) = &token;
    let is_one = texts.iter().all(|(text, _)| pieces(text).len() == 1);
    if texts.is_empty() || is_one || explain(texts, vocabulary).is_some() {
        return vec![token];
    }
    let is_whole = |part: &Part| !matches!(part, Part::Field { format: Format::Bucket(_), .. });
    let is_explained =
        |texts: &Texts<'_>| explain(texts, vocabulary).is_some_and(|parts| parts.iter().all(is_whole));
    if let Some(columns) = at_values(&token, vocabulary) {
        return columns;
    }
    for weak in WEAK {
        let rows: Vec<Vec<&'a str>> = texts.iter().map(|(text, _)| text.split(weak).collect()).collect();
        let length = rows[0].len();
        if !(2..=MAX_REFINED).contains(&length) || rows.iter().any(|row| row.len() != length) {
            continue;
        }
        let column = |place: usize| -> Token<'a> {
            let mark = if place == 0 { mark.clone() } else { weak.to_string() };
            (mark, rows.iter().zip(texts).map(|(row, (_, item))| (row[place], *item)).collect())
        };
        let columns: Vec<Token<'a>> = (0..length).map(column).collect();
        if columns.iter().any(|(_, texts)| is_explained(texts)) {
            return columns;
        }
    }
    vec![token]
}

/// The pieces of values, if all have the same separators and an attribute has a piece of a known form: the day before the number of a shard.
fn at_values<'a>((mark, texts): &Token<'a>, vocabulary: &Vocabulary<'_>) -> Option<Vec<Token<'a>>> {
    let rows: Vec<Vec<Piece<'a>>> = texts.iter().map(|(text, _)| pieces(text)).collect();
    let length = rows[0].len();
    let is_alike = |row: &Vec<Piece<'_>>| {
        row.len() == length && row.iter().zip(&rows[0]).all(|(own, first)| own.mark == first.mark)
    };
    if !(2..=MAX_REFINED).contains(&length) || !rows.iter().all(is_alike) {
        return None;
    }
    let column = |place: usize| -> Token<'a> {
        let own = if place == 0 { mark.clone() } else { String::new() } + rows[0][place].mark;
        (own, rows.iter().zip(texts).map(|(row, (_, item))| (row[place].text, *item)).collect())
    };
    let columns: Vec<Token<'a>> = (0..length).map(column).collect();
    let is_own = |(place, (_, texts)): (usize, &Token<'_>)| {
        rows.iter().all(|row| row[place].is_value) && explain(texts, vocabulary).is_some()
    };
    columns.iter().enumerate().any(is_own).then_some(columns)
}

/// The number of columns at the start that have the same separators.
fn common(row: &[Column<'_>], first: &[Column<'_>]) -> usize {
    row.iter().zip(first).take_while(|(left, right)| left.mark == right.mark).count()
}

/// A new attribute, named after the word before it in the key.
fn new_field(
    key: KeyAttribute<'_>,
    word: &str,
    token: &Texts<'_>,
    entity: &mut Entity,
    context: &mut KeyContext<'_>,
) -> Part {
    let mut summary = Summary::default();
    token.iter().for_each(|(text, _)| summary.add_text(text));
    let kind = summary.text_type();
    let format = padding(token);
    let kind = if format == Format::Plain { kind } else { ValueType::Int };
    let values: BTreeMap<usize, String> =
        token.iter().map(|(text, item)| (address(item), (*text).to_owned())).collect();
    let is_same = |name: &str| {
        context.key_values.get(name).is_some_and(|known| {
            values.iter().all(|(item, text)| known.get(item).is_none_or(|own| own == text))
        })
    };
    let wanted = field_name(key, word, &kind, token, entity, context.names);
    let is_telling = values.values().collect::<BTreeSet<_>>().len() > 1;
    let is_known_everywhere = |name: &str| {
        context.key_values.get(name).is_some_and(|known| values.keys().all(|item| known.contains_key(item)))
    };
    let is_reused =
        |name: &&String| is_same(name) && (word.is_empty() || (is_telling && is_known_everywhere(name)));
    let reused = context.key_values.keys().find(is_reused).cloned();
    let mut name = reused.unwrap_or(wanted);
    // A name that is taken belongs to other values.
    let is_taken = |name: &str| entity.attribute(name).is_some() && !is_same(name);
    let is_numbered = is_taken(&name);
    while is_taken(&name) {
        name.push('2');
    }
    if entity.attribute(&name).is_none() {
        entity.attributes.push(Attribute { limits: summary.limits(), ..Attribute::new(&name, kind) });
        entity.numbers = Default::default();
    }
    let recased = recased(token, entity);
    if is_numbered || recased.is_some() || (!context.names.is_known(word) && key.alias != Some(&name)) {
        context.unnamed.insert(name.clone(), recased);
    }
    context.key_values.entry(name.clone()).or_default().extend(values);
    Part::Field { name, format }
}

/// The attribute whose values are the same but for the case of their letters.
fn recased(token: &Texts<'_>, entity: &Entity) -> Option<String> {
    let is_same = |attribute: &&Attribute| {
        let value = |item: &Item| item.get(&attribute.name).and_then(Value::as_text).map(str::to_owned);
        let is_same = |(text, item): &(&str, &Item)| {
            value(item).is_some_and(|value| value.to_lowercase() == text.to_lowercase())
        };
        token.iter().all(is_same) && token.iter().any(|(text, item)| value(item).as_deref() != Some(text))
    };
    entity.attributes.iter().find(is_same).map(|attribute| attribute.name.clone())
}

fn field_name(
    key: KeyAttribute<'_>,
    word: &str,
    kind: &ValueType,
    token: &Texts<'_>,
    entity: &Entity,
    names: &FieldNames,
) -> String {
    let alias = key.alias.filter(|alias| *alias != key.name && is_field_name(alias));
    if let Some(alias) = alias {
        return alias.to_owned();
    }
    let is_email = token.iter().all(|(text, _)| text.contains('@'));
    match (word.is_empty(), kind) {
        _ if is_email => "email".to_owned(),
        (_, ValueType::Date) => "date".to_owned(),
        (_, ValueType::Timestamp) => "time".to_owned(),
        (false, ValueType::Int) => word.to_lowercase(),
        (false, _) => names.identifier(word),
        (true, _) if key.is_partition => format!("{}Id", lower_first(&entity.name)),
        (true, _) => "part".to_owned(),
    }
}

/// Digits of one width, some with zeros before them, are a padded number, also if a few odd texts are not.
fn padding(token: &Texts<'_>) -> Format {
    let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
    let digits = token.iter().filter(|(text, _)| text.chars().all(|c| c.is_ascii_digit()));
    digits.for_each(|(text, _)| *widths.entry(text.len()).or_default() += 1);
    let is_usual = |(_, count): &(&usize, &usize)| is_all_but_few(**count, token.len());
    let width = widths.iter().find(is_usual).map(|(width, _)| *width);
    let has_zero = |width: usize| token.iter().any(|(text, _)| text.len() == width && text.starts_with('0'));
    match width.filter(|width| (2..=38).contains(width) && has_zero(*width)) {
        Some(width) => Format::Padded { width, decimals: 0 },
        None => Format::Plain,
    }
}

/// Small numbers in a partition key that no attribute has are shards; returns how many there are at least. As the first value of a key they
/// recur, or they identify something. A number after a word is an identifier, unless the word is a plural (`EVENTS#7`), says what it
/// is (`SHARD#7`) or is a value of an attribute (`PENDING#7`): the word is in the sort key of a `ROOM#7` too.
fn shards(
    key: KeyAttribute<'_>,
    follows_value: bool,
    word: &str,
    token: &Texts<'_>,
    attributes: &[Attribute],
) -> Option<u64> {
    let is_value = |(_, item): &(&str, &Item)| {
        attributes.iter().any(|own| item.get(&own.name).and_then(Value::as_text) == Some(word))
    };
    let is_state = !word.is_empty() && token.iter().all(is_value);
    let word = word.to_lowercase();
    let named = SHARD_WORDS.contains(&word.as_str());
    let is_plural = word.len() > 3 && word.ends_with('s');
    let follows_singular = !follows_value && !word.is_empty() && !is_plural && !is_state;
    if !key.is_partition || (!named && follows_singular) {
        return None;
    }
    let number = |(text, _): &(&str, &Item)| {
        let plain = text.len() == 1 || !text.starts_with('0');
        text.parse::<u64>().ok().filter(|number| plain && *number < MAX_SHARDS)
    };
    let numbers: Option<BTreeSet<u64>> = token.iter().map(number).collect();
    let numbers = numbers?;
    let count = numbers.last()? + 1;
    let is_dense = numbers.len() as u64 * 3 >= count;
    // A number with one item each is that of the item.
    let recurs = token.len() > numbers.len();
    let is_spread = follows_value
        || (recurs && (named || is_state))
        || token.len() >= numbers.len() * MIN_ITEMS_PER_SHARD;
    (word == SHARD || (is_spread && (named || is_dense))).then_some(count)
}

fn address(item: &Item) -> usize {
    std::ptr::from_ref(item) as usize
}

#[cfg(test)]
mod tests {
    use super::is_semantic;

    #[test]
    fn generic_names_are_told_from_meanings() {
        for name in [
            "PK",
            "sk",
            "GSI1PK",
            "GSI1-SK",
            "gsi2_pk",
            "pk1",
            "partitionKey",
            "hash",
            "x2pk",
            "byStatePk",
            "pk_1",
            "HK",
        ] {
            assert!(!is_semantic(name), "{name}");
        }
        for name in ["userId", "task", "createdAt", "State#Date", "risk", "Operator"] {
            assert!(is_semantic(name), "{name}");
        }
    }
}
