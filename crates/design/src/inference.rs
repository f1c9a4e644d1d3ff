//! A model proposed from items: types by their attribute or prefix, templates from what keys and attributes have in common.
//!
//! In come items in DynamoDB JSON and the table's keys; out goes a model to be read, corrected and completed.

use crate::audit::MARKER;
use crate::condition::{Condition, Test};
use crate::model::{
    Attribute, Entity, Expect, Index, Indexed, Model, Pattern, Projection, Shard, Table, Target,
};
use crate::slot::Place;
use crate::template::{Format, Part, SHARD, Template};
use crate::value_type::ValueType;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

type Item = Map<String, Value>;

/// What is known besides the items.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub table: String,
    pub keys: Vec<String>,
    pub indexes: Vec<Index>,
}

pub fn infer(items: &[Item], known: &Known) -> Result<Model, String> {
    let first = items.first().ok_or("there are no items to learn from")?;
    let mut known = known.clone();
    if known.keys.is_empty() {
        known.keys = guess_keys(first)
            .ok_or("the items have no PK and SK; say which attributes are the keys with --keys")?;
    }
    // Markers of unique values are no type of their own.
    let marks = |item: &Item| text_of(item, &known.keys[0]).is_some_and(|key| key.starts_with(MARKER));
    let items: Vec<Item> = items.iter().filter(|item| !marks(item)).cloned().collect();
    let items = items.as_slice();
    if known.indexes.is_empty() {
        known.indexes = guess_indexes(items, &known.keys);
    }
    let type_attribute = guess_type(items, &known);
    let mut groups: BTreeMap<String, Vec<&Item>> = BTreeMap::new();
    for item in items {
        groups.entry(group_of(item, type_attribute.as_deref(), &known.keys)).or_default().push(item);
    }
    let mut model = Model {
        table: Table {
            name: known.table.clone(),
            keys: known.keys.clone(),
            type_attribute,
            ..Table::default()
        },
        indexes: known.indexes.clone(),
        ..Model::default()
    };
    for (name, group) in &groups {
        let entity = entity(name, group, &model);
        model.entities.push(entity);
    }
    let used: BTreeSet<String> = model
        .entities
        .iter()
        .flat_map(|entity| entity.indexes.iter().map(|indexed| indexed.index.clone()))
        .collect();
    model.indexes.retain(|index| used.contains(&index.name));
    model.patterns = patterns(&model);
    Ok(model)
}

fn guess_keys(item: &Item) -> Option<Vec<String>> {
    let find = |wanted: &str| item.keys().find(|name| name.eq_ignore_ascii_case(wanted)).cloned();
    let partition = find("PK")?;
    Some(std::iter::once(partition).chain(find("SK")).collect())
}

/// `GSI1PK` and `GSI1SK` are the keys of GSI1.
fn guess_indexes(items: &[Item], keys: &[String]) -> Vec<Index> {
    let names: BTreeSet<&String> =
        items.iter().flat_map(Map::keys).filter(|name| !keys.contains(name)).collect();
    let mut indexes = Vec::new();
    for name in &names {
        let Some(stem) = name.strip_suffix("PK").or(name.strip_suffix("pk")).filter(|stem| !stem.is_empty())
        else {
            continue;
        };
        let sort = names.iter().find(|other| other.eq_ignore_ascii_case(&format!("{stem}SK")));
        let keys = std::iter::once((*name).clone()).chain(sort.map(|sort| (*sort).clone())).collect();
        indexes.push(Index {
            name: stem.trim_end_matches(['_', '-']).to_owned(),
            local: false,
            keys,
            partition_keys: 1,
            project: Projection::All,
            span: 0..0,
        });
    }
    indexes
}

/// An attribute that every item has, with few values, and a name that says type.
fn guess_type(items: &[Item], known: &Known) -> Option<String> {
    let is_key = |name: &str| known.keys.iter().any(|key| key == name);
    let named = |name: &str| {
        let lower = name.to_lowercase();
        ["type", "entitytype", "_type", "entity", "kind", "__typename", "_et", "entity_type", "__edb_e__"]
            .contains(&lower.as_str())
    };
    let everywhere = |name: &&String| items.iter().all(|item| text_of(item, name).is_some());
    let name = items[0].keys().filter(|name| named(name) && !is_key(name)).find(everywhere)?;
    Some(name.clone())
}

/// The type attribute's value, or the prefixes of the keys.
fn group_of(item: &Item, type_attribute: Option<&str>, keys: &[String]) -> String {
    if let Some(kind) = type_attribute.and_then(|name| text_of(item, name)) {
        // One type may be stored under several keys: a copy is another entity.
        let shape: String = keys
            .iter()
            .map(|key| words(&text_of(item, key).unwrap_or_default()))
            .collect::<Vec<_>>()
            .join("/");
        return format!("{kind}\u{0}{shape}");
    }
    keys.iter().map(|key| words(&text_of(item, key).unwrap_or_default())).collect::<Vec<_>>().join("/")
}

/// The constant-looking segments of a key: `ORDER#2026-04-05#o1` gives `ORDER`.
fn words(key: &str) -> String {
    let first = key.split('#').next().unwrap_or_default();
    let constant =
        first.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_') && !first.is_empty();
    if constant || key.contains('#') { first.to_owned() } else { "*".to_owned() }
}

fn text_of(item: &Item, name: &str) -> Option<String> {
    let value = item.get(name)?;
    let inner = value.get("S").or_else(|| value.get("N"))?;
    inner.as_str().map(str::to_owned)
}

fn entity(group: &str, items: &[&Item], model: &Model) -> Entity {
    let (kind, shape) = group.split_once('\u{0}').unwrap_or((group, group));
    let name = entity_name(kind, shape, model);
    let mut entity = Entity { type_value: kind.to_owned(), name, ..Entity::default() };
    if kind == shape {
        entity.type_value = entity.name.clone();
    }
    let is_key = |name: &str| {
        // Keys of several attributes are attributes as they are.
        let made = model.indexes.iter().filter(|index| !index.is_composite());
        made.flat_map(|index| &index.keys).chain(&model.table.keys).any(|key| key == name)
    };
    let names: BTreeSet<&String> = items.iter().flat_map(|item| item.keys()).collect();
    for name in
        names.into_iter().filter(|name| !is_key(name) && Some(*name) != model.table.type_attribute.as_ref())
    {
        let values: Vec<&Value> = items.iter().filter_map(|item| item.get(name)).collect();
        let optional = values.len() < items.len();
        entity.attributes.push(Attribute {
            name: name.clone(),
            kind: kind_of(&values),
            values: None,
            top: None,
            optional,
        });
    }
    for key in &model.table.keys {
        let template = template(key, items, &mut entity);
        entity.key.push(template);
    }
    for index in &model.indexes {
        let within: Vec<&Item> = items
            .iter()
            .copied()
            .filter(|item| index.keys.iter().all(|key| item.contains_key(key)))
            .collect();
        let own = |key: &&String| !model.table.keys.contains(key);
        if within.is_empty() || !index.keys.iter().any(|key| own(&key)) {
            continue;
        }
        let mut key = Vec::new();
        for (position, name) in index.keys.iter().enumerate() {
            let table = model.table.keys.iter().position(|own| own == name);
            key.push(match table {
                _ if index.is_composite() => Template::field(name),
                Some(own) if own == position || index.local => entity.key[own].clone(),
                _ => template(name, &within, &mut entity),
            });
        }
        let when = if within.len() < items.len() {
            condition(&within, items, &entity)
        } else {
            Condition::default()
        };
        let count = (!when.is_empty()).then_some(within.len() as u64);
        entity.indexes.push(Indexed { index: index.name.clone(), key, when, shard: None, count, span: 0..0 });
    }
    let bytes: usize = items
        .iter()
        .map(|item| item.iter().map(|(k, v)| k.len() + v.to_string().len() - 8).sum::<usize>())
        .sum();
    entity.expect = Expect {
        count: Some(items.len() as u64),
        bytes: Some((bytes / items.len()).max(1) as u64),
        ..Expect::default()
    };
    if entity.identity().is_some_and(|id| !entity.has_key_field(id)) {
        entity.identity = entity.key_fields().map(str::to_owned).collect();
    }
    entity
}

/// A name for a group that no other entity has.
fn entity_name(kind: &str, shape: &str, model: &Model) -> String {
    let word = |text: &str| -> String {
        let mut letters = text.chars().filter(|letter| letter.is_alphanumeric());
        let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        let rest: String = letters.collect();
        let shouted = rest.chars().all(|letter| letter.is_uppercase() || letter.is_numeric());
        first + &if shouted { rest.to_lowercase() } else { rest }
    };
    let parts: Vec<String> = shape.split('/').map(word).filter(|part| !part.is_empty()).collect();
    let singleton = ["Metadata", "Profile", "Info"];
    let by_shape = match parts.as_slice() {
        [first, second] if first == second || singleton.contains(&second.as_str()) => first.clone(),
        [first, second] => format!("{first}{second}"),
        [one] => one.clone(),
        _ => "Entity".to_owned(),
    };
    let candidates = [
        if kind == shape { by_shape.clone() } else { word(kind) },
        format!("{}{by_shape}", word(kind)),
        by_shape,
    ];
    let free = candidates
        .iter()
        .find(|name| !name.is_empty() && !model.entities.iter().any(|entity| entity.name == **name));
    free.cloned().unwrap_or_else(|| format!("Entity{}", model.entities.len() + 1))
}

/// A key's template: constant segments are text, others are named after the attribute with the same values.
fn template(key: &str, items: &[&Item], entity: &mut Entity) -> Template {
    let keys: Vec<String> = items.iter().filter_map(|item| text_of(item, key)).collect();
    let segments: Vec<Vec<&str>> = keys.iter().map(|key| key.split('#').collect()).collect();
    let length = segments.iter().map(Vec::len).min().unwrap_or_default();
    if length == 0 {
        return Template::field(key);
    }
    let even = segments.iter().all(|parts| parts.len() == length);
    let mut parts: Vec<Part> = Vec::new();
    let mut literal = String::new();
    for position in 0..length {
        if position > 0 {
            literal.push('#');
        }
        let last = position + 1 == length && !even;
        let values: Vec<String> = segments
            .iter()
            .map(|parts| if last { parts[position..].join("#") } else { parts[position].to_owned() })
            .collect();
        let before = segments[0].get(position.wrapping_sub(1)).copied();
        match field(&values, items, entity, before) {
            None => literal.push_str(&values[0]),
            Some(part) => {
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                }
                parts.push(part);
            }
        }
    }
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    Template { parts }
}

/// The field that has these values, or none if they are a constant.
fn field(values: &[String], items: &[&Item], entity: &mut Entity, before: Option<&str>) -> Option<Part> {
    let constant = values.iter().all(|value| value == &values[0]);
    let worded = values[0].chars().all(|letter| letter.is_ascii_uppercase() || "_-".contains(letter));
    if constant && (worded || values[0].is_empty()) {
        return None;
    }
    let having: Vec<&Item> = items.to_vec();
    let formats = [
        Format::Plain,
        Format::Bucket(4),
        Format::Bucket(7),
        Format::Bucket(10),
        Format::Bucket(13),
        Format::Bucket(16),
    ];
    let widths = values.iter().map(String::len).collect::<BTreeSet<_>>();
    let padded = match widths.iter().next() {
        Some(width) if widths.len() == 1 => Some(Format::Padded { width: *width, decimals: 0 }),
        _ => None,
    };
    for format in formats.into_iter().chain(padded) {
        for attribute in &entity.attributes {
            let bucket = matches!(format, Format::Bucket(_));
            if bucket && !attribute.kind.is_time()
                || (!bucket && format != Format::Plain && !attribute.kind.is_number())
            {
                continue;
            }
            let same = having.len() == values.len()
                && having.iter().zip(values).all(|(item, value)| {
                    text_of(item, &attribute.name).and_then(|text| format.apply(&text)).as_ref()
                        == Some(value)
                });
            if same {
                return Some(Part::Field { name: attribute.name.clone(), format });
            }
        }
    }
    if constant && before.is_none() {
        return None;
    }
    if let Some(shards) = shards(values) {
        let most = entity.shard.as_ref().map_or(shards, |shard| shard.count.max(shards));
        entity.shard = Some(Shard { by: None, count: most });
        return Some(Part::Field { name: SHARD.to_owned(), format: Format::Plain });
    }
    let word = before.map(|word| word.to_lowercase()).filter(|word| !word.is_empty() && word.len() < 20);
    let word = word.map(|word| word.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>());
    let values: Vec<Value> = values.iter().map(|value| serde_json::json!({ "S": value })).collect();
    let kind = kind_of(&values.iter().collect::<Vec<_>>());
    let mut name = word.filter(|word| !word.is_empty()).map_or_else(
        || if kind.is_time() { "time".to_owned() } else { "part".to_owned() },
        |word| if kind.is_time() { format!("{word}Time") } else { format!("{word}Id") },
    );
    // A name that is taken belongs to other values.
    while entity.attribute(&name).is_some_and(|_| !entity.has_key_field(&name)) {
        name.push('2');
    }
    if entity.attribute(&name).is_none() {
        entity.attributes.push(Attribute {
            name: name.clone(),
            kind,
            values: None,
            top: None,
            optional: false,
        });
    }
    Some(Part::Field { name, format: Format::Plain })
}

/// Small numbers that no attribute has: the shards of a key.
fn shards(values: &[String]) -> Option<u64> {
    let numbers: Option<Vec<u64>> =
        values.iter().map(|value| value.parse().ok().filter(|n| *n < 200)).collect();
    let unpadded = values.iter().all(|value| value.len() == 1 || !value.starts_with('0'));
    numbers.filter(|_| unpadded).and_then(|numbers| numbers.into_iter().max()).map(|most| most + 1)
}

/// What the items of a sparse index have in common and the others have not.
fn condition(within: &[&Item], all: &[&Item], entity: &Entity) -> Condition {
    let inside = |item: &&Item| within.iter().any(|own| std::ptr::eq(*own, *item));
    let outside: Vec<&Item> = all.iter().copied().filter(|item| !inside(item)).collect();
    for attribute in &entity.attributes {
        let name = &attribute.name;
        let value = plain(within[0], name);
        let same = within.iter().all(|item| plain(item, name) == value);
        if let Some(value) = value.filter(|_| same)
            && outside.iter().all(|item| plain(item, name).as_ref() != Some(&value))
        {
            return Condition { tests: vec![Test::Equals(name.clone(), value)] };
        }
    }
    let telling = entity.attributes.iter().find(|attribute| {
        within.iter().all(|item| item.contains_key(&attribute.name))
            && outside.iter().all(|item| !item.contains_key(&attribute.name))
    });
    let tests = telling.map(|attribute| Test::Exists(attribute.name.clone())).into_iter().collect();
    Condition { tests }
}

fn plain(item: &Item, name: &str) -> Option<String> {
    text_of(item, name).or_else(|| item.get(name)?.get("BOOL")?.as_bool().map(|flag| flag.to_string()))
}

fn kind_of(values: &[&Value]) -> ValueType {
    let of = |kind: &str| values.iter().all(|value| value.get(kind).is_some());
    let texts: Vec<&str> = values
        .iter()
        .filter_map(|value| value.get("S").or_else(|| value.get("N")).and_then(Value::as_str))
        .collect();
    let all = |test: &dyn Fn(&str) -> bool| texts.iter().all(|text| test(text));
    match () {
        () if of("BOOL") => ValueType::Bool,
        () if of("N") && all(&|text| text.parse::<i64>().is_ok()) => ValueType::Int,
        () if of("N") => ValueType::Decimal,
        () if of("B") => ValueType::Binary,
        () if of("L") => ValueType::List,
        () if of("M") => ValueType::Map,
        () if of("SS") || of("NS") || of("BS") => ValueType::Set,
        () if !of("S") => ValueType::String,
        () if all(&is_date) => ValueType::Date,
        () if all(&|text| {
            text.len() >= 16 && text.get(..10).is_some_and(is_date) && text.as_bytes()[10] == b'T'
        }) =>
        {
            ValueType::Timestamp
        }
        () if all(&|text| {
            text.len() == 26
                && text.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
        }) =>
        {
            ValueType::Ulid
        }
        () if all(&|text| text.len() == 36 && text.matches('-').count() == 4) => ValueType::Uuid,
        () => choice(&texts).unwrap_or_else(|| {
            let plain = |text: &str| !text.is_empty() && !text.contains(['#', ' ', '@']) && text.len() <= 40;
            if all(&plain) { ValueType::Id } else { ValueType::String }
        }),
    }
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.len() == 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && text.chars().all(|letter| letter.is_ascii_digit() || letter == '-')
}

/// Few short words that come again and again.
fn choice(texts: &[&str]) -> Option<ValueType> {
    let distinct: BTreeSet<&str> = texts.iter().copied().collect();
    let words =
        distinct.iter().all(|text| text.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '_'));
    let repeated =
        texts.len() >= 8 && distinct.len() >= 2 && distinct.len() <= 6 && texts.len() >= distinct.len() * 4;
    (words && repeated).then(|| ValueType::Choice(distinct.into_iter().map(str::to_owned).collect()))
}

/// The questions that the keys were evidently made for.
fn patterns(model: &Model) -> Vec<Pattern> {
    let mut patterns: Vec<Pattern> = Vec::new();
    for entity in &model.entities {
        for slot in Place::all(model).iter().filter_map(|place| place.slot(entity)) {
            let (index, when) = (slot.place.index, slot.when);
            let fixed = |name: &&str| when.fixed(name).is_none() && *name != SHARD;
            let inputs: Vec<String> = slot.partition.fields().filter(fixed).map(str::to_owned).collect();
            let sort: Vec<&str> = slot
                .sort
                .as_ref()
                .map(|sort| sort.fields().filter(|f| !inputs.iter().any(|i| i == f)).collect())
                .unwrap_or_default();
            if inputs.is_empty() && when.is_empty() {
                continue;
            }
            let many = !sort.is_empty();
            let by: Vec<String> = if inputs.is_empty() { vec![when.to_string()] } else { inputs.clone() };
            let by: String = by.join("And").chars().filter(|letter| letter.is_alphanumeric()).collect();
            let mut name =
                format!("{}{}By{}", lower_first(&entity.name), if many { "s" } else { "" }, upper_first(&by));
            if patterns.iter().any(|pattern| pattern.name == name) {
                name.push_str(index.map_or("Table", |index| &index.name));
            }
            let targets = vec![Target { entity: entity.name.clone(), many }];
            let narrow = index.is_some_and(|index| index.project != Projection::All);
            patterns.push(Pattern {
                name,
                inputs,
                targets,
                filter: when,
                hydrate: narrow,
                ..Pattern::default()
            });
        }
    }
    patterns
}

fn upper_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
