//! The attribute that holds the type of an item: its name says so, or each of its values goes with other attributes or another form of the keys.

use super::key_template::is_semantic;
use super::pieces::STRONG;
use super::{KnownSchema, odd, text_of};
use crate::item::{Item, Value};
use crate::name_hints;
use std::collections::{BTreeMap, BTreeSet};

/// Names of attributes that hold the type of an item, the clearest first.
const NAMES: [&str; 11] = [
    "entitytype",
    "entity_type",
    "_entity",
    "_type",
    "__typename",
    "_et",
    "__edb_e__",
    "entity",
    "type",
    "kind",
    "object",
];
/// Those of them that may as well say something else about an item.
const VAGUE_NAMES: [&str; 4] = ["entity", "type", "kind", "object"];
/// As few items that could say otherwise agree by chance.
const MIN_AGREEING: usize = 6;
/// A longer text is no type.
const MAX_TYPE: usize = 64;

/// Returns whether a name says that an attribute holds the type of an item, and nothing else.
pub(super) fn is_clear(name: &str) -> bool {
    rank(name).is_some() && !VAGUE_NAMES.contains(&name.to_lowercase().as_str())
}

/// What the items of a type have in common.
struct Kind<'a> {
    /// The attributes that all of them have.
    common: BTreeSet<&'a str>,
    /// The attributes that any of them has.
    all: BTreeSet<&'a str>,
    /// What the parts of their keys start with.
    starts: BTreeSet<Vec<char>>,
}

impl Kind<'_> {
    /// Whether nothing tells two kinds of items apart: each has what all of the other have, and their keys start alike.
    fn is_like(&self, other: &Kind<'_>) -> bool {
        self.common.is_subset(&other.all)
            && other.common.is_subset(&self.all)
            && !self.starts.is_disjoint(&other.starts)
    }
}

/// Two values of an attribute with a vague name that nothing else tells apart, neither the attributes nor the keys of their items: it is a
/// category, and no type.
pub(super) fn alike<'a>(
    name: &str,
    items: &[&'a Item],
    shapes: &[Vec<String>],
    known: &KnownSchema,
) -> Option<[&'a str; 2]> {
    if is_clear(name) {
        return None;
    }
    let keys: BTreeSet<&String> =
        known.keys.iter().chain(known.indexes.iter().flat_map(|index| &index.keys)).collect();
    let mut kinds: BTreeMap<&Vec<String>, BTreeMap<&str, Kind<'_>>> = BTreeMap::new();
    for (item, shape) in items.iter().copied().zip(shapes) {
        let Some(value) = text_of(item, name) else { continue };
        let own = item.keys().filter(|own| is_semantic(own) && !keys.contains(own));
        let own: BTreeSet<&str> = own.map(String::as_str).collect();
        let kind = kinds.entry(shape).or_default().entry(value).or_insert_with(|| Kind {
            common: own.clone(),
            all: BTreeSet::new(),
            starts: BTreeSet::new(),
        });
        kind.common.retain(|name| own.contains(name));
        kind.all.extend(own);
        kind.starts.insert(starts(item, &known.keys));
    }
    kinds.values().find_map(|kinds| {
        let kinds: Vec<(&str, &Kind<'_>)> = kinds.iter().map(|(value, kind)| (*value, kind)).collect();
        kinds.iter().enumerate().find_map(|(at, (value, kind))| {
            let other = kinds[..at].iter().find(|(_, other)| other.is_like(kind))?;
            Some([other.0, *value])
        })
    })
}

/// The first letter of each part of the keys of an item; one digit is as good as another.
fn starts(item: &Item, keys: &[String]) -> Vec<char> {
    let texts = keys.iter().map(|key| text_of(item, key).unwrap_or_default());
    let firsts =
        texts.flat_map(|text| text.split(STRONG)).map(|part| part.chars().next().unwrap_or_default());
    firsts.map(|first| if first.is_ascii_digit() { '0' } else { first }).collect()
}

fn rank(name: &str) -> Option<usize> {
    NAMES.iter().position(|known| *known == name.to_lowercase())
}

/// The attributes that may hold the type, the likeliest first: those whose names are clear, those whose values are, and those with a vague name.
/// `shapes` are the forms of the keys of the items, without
/// the words that may as well be values.
pub(super) fn candidates(items: &[&Item], shapes: &[Vec<String>], known: &KnownSchema) -> Vec<String> {
    let is_index_key = |name: &String| known.indexes.iter().any(|index| index.keys.contains(name));
    let kinds = kinds(items, shapes, &is_index_key);
    let names: BTreeSet<&String> = items.iter().flat_map(|item| item.keys()).collect();
    let candidate = |name: &String| {
        if known.keys.contains(name) {
            return None;
        }
        let values = values(items, name)?;
        let order = match rank(name) {
            Some(rank) if is_clear(name) => (0, rank),
            named if is_told(&values, shapes, &kinds) && (named.is_some() || is_steady(name)) => {
                let distinct: BTreeSet<&str> = values.iter().copied().flatten().collect();
                (1, if named.is_some() { 0 } else { usize::MAX - distinct.len() })
            }
            Some(rank) if !is_index_key(name) => (2, rank),
            _ => return None,
        };
        Some((order, name.clone()))
    };
    let mut candidates: Vec<((u8, usize), String)> = names.into_iter().filter_map(candidate).collect();
    candidates.sort();
    candidates.into_iter().map(|(_, name)| name).collect()
}

/// The values of an attribute, if nearly every item has it, as a text, and they are few.
fn values<'a>(items: &[&'a Item], name: &str) -> Option<Vec<Option<&'a str>>> {
    let is_text = |item: &&&'a Item| matches!(item.get(name), Some(Value::String(_)));
    let value = |item: &&'a Item| Some(item).filter(is_text).and_then(|item| text_of(item, name));
    let values: Vec<Option<&str>> = items.iter().map(value).collect();
    let having = values.iter().flatten().count();
    let is_common = having == items.len() || odd::is_nearly_all(having, items.len());
    let distinct: BTreeSet<&str> = values.iter().copied().flatten().collect();
    (is_common && distinct.len() <= 50.max(items.len() / 100)).then_some(values)
}

/// What an item says of itself now, and who wrote it when, is not what it is.
fn is_steady(name: &str) -> bool {
    let is_named = rank(&name.replace(['_', '-'], "")).is_some();
    is_named || (!name_hints::changes(name) && !name_hints::is_bookkeeping(name))
}

/// What else tells items apart: which attributes they have, and the form of their keys. The items of a kind have its number. The attributes of an
/// index key do not count: a state decides too whether an item is in a sparse index.
fn kinds<'i>(
    items: &[&'i Item],
    shapes: &'i [Vec<String>],
    is_index_key: &impl Fn(&String) -> bool,
) -> Vec<usize> {
    let mut numbers: BTreeMap<(Vec<&'i String>, &'i Vec<String>), usize> = BTreeMap::new();
    let mut number = |item: &'i Item, shape: &'i Vec<String>| {
        let next = numbers.len();
        *numbers.entry((item.keys().filter(|name| !is_index_key(name)).collect(), shape)).or_insert(next)
    };
    items.iter().zip(shapes).map(|(item, shape)| number(item, shape)).collect()
}

/// Whether the values, which look like types, follow from what other attributes an item has and from the form of its keys, and tell the forms apart.
fn is_told(values: &[Option<&str>], shapes: &[Vec<String>], numbers: &[usize]) -> bool {
    let few = odd::few(values.len());
    let mut kinds: BTreeMap<usize, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut forms: BTreeMap<&Vec<String>, usize> = BTreeMap::new();
    for ((number, value), shape) in numbers.iter().zip(values).zip(shapes) {
        let Some(value) = value else { continue };
        *kinds.entry(*number).or_default().entry(value).or_default() += 1;
        *forms.entry(shape).or_default() += 1;
    }
    let usual = |values: &BTreeMap<&str, usize>| values.values().copied().max().unwrap_or_default();
    let agreeing: usize = kinds.values().map(|values| usual(values) - 1).sum();
    let odd: usize = kinds.values().map(|values| values.values().sum::<usize>() - usual(values)).sum();
    let types: BTreeSet<&str> = kinds
        .values()
        .filter_map(|values| values.iter().max_by_key(|(_, count)| **count).map(|(value, _)| *value))
        .collect();
    let forms = forms.values().filter(|count| **count > few).count();
    types.len() > 1
        && types.len() >= forms
        && types.iter().all(|value| is_type(value))
        && agreeing >= MIN_AGREEING.max(types.len())
        && odd <= few
}

fn is_type(value: &str) -> bool {
    value.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && value.len() <= MAX_TYPE
        && !value.contains(char::is_whitespace)
}
