//! Realistic items from a model: any number, repeatable by seed, each computed on its own.
//!
//! An item's values depend only on the seed, its entity and its number. A child takes its parent's identifier, a copy takes
//! its original's values, choices and times are drawn; keys are then filled by the templates, as an application would.

use crate::audit::marker;
use crate::estimate;
use crate::model::{Attribute, Entity, Model};
use crate::random::{at, hash};
use crate::slot::{Place, Slot};
use crate::template::{SHARD, Template};
use crate::value_type::ValueType;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const WORDS: [&str; 24] = [
    "amber", "bridge", "cedar", "delta", "ember", "falcon", "garden", "harbour", "island", "juniper",
    "kettle", "lantern", "meadow", "north", "orchard", "pepper", "quartz", "river", "silver", "timber",
    "umbra", "velvet", "willow", "zephyr",
];
const NAMES: [&str; 16] = [
    "Ada", "Ben", "Chidi", "Dana", "Elif", "Farid", "Grace", "Hana", "Ivan", "June", "Kofi", "Lena", "Mira",
    "Noor", "Omar", "Petra",
];
const CITIES: [&str; 8] = ["Lagos", "Lyon", "Osaka", "Porto", "Quito", "Turin", "Utrecht", "Vienna"];
/// 1 January 2026, the newest time that is drawn.
const NOW: u64 = 1_767_225_600;
const YEAR: u64 = 31_536_000;

/// Values of an item by attribute, as text.
pub type Values = BTreeMap<String, String>;

pub struct Generator<'m> {
    model: &'m Model,
    seed: u64,
    counts: BTreeMap<String, u64>,
}

impl<'m> Generator<'m> {
    /// A generator of about `total` items, shared out as the model expects them.
    pub fn new(model: &'m Model, seed: u64, total: u64) -> Generator<'m> {
        let expected: Vec<f64> = model.entities.iter().map(|entity| estimate::count(model, entity)).collect();
        let sum: f64 = expected.iter().sum::<f64>().max(1.0);
        let scale = total as f64 / sum;
        // A few of every type, so that relationships have something to point at.
        let least = (total / 40).max(1) as f64;
        let share = |expected: f64| (expected * scale).round().max(least.min(expected)).max(1.0) as u64;
        let counts = model.entities.iter().zip(&expected);
        let counts = counts.map(|(entity, expected)| (entity.name.clone(), share(*expected)));
        Generator { model, seed, counts: counts.collect() }
    }

    pub fn count(&self, entity: &Entity) -> u64 {
        let own = self.counts.get(&entity.name).copied().unwrap_or(1);
        // A copy exists for each original, unless it is the newest of several versions.
        let follows = entity.copies.as_ref().filter(|_| self.is_follower(entity));
        follows.and_then(|name| self.counts.get(name)).copied().unwrap_or(own)
    }

    pub fn total(&self) -> u64 {
        self.model.entities.iter().map(|entity| self.count(entity)).sum()
    }

    /// Every item, entity after entity.
    pub fn items(&self) -> impl Iterator<Item = Map<String, Value>> + '_ {
        let each = |entity: &'m Entity| (0..self.count(entity)).map(move |number| (entity, number));
        self.model.entities.iter().flat_map(each).map(|(entity, number)| self.item(entity, number))
    }

    /// One item in DynamoDB JSON, keys and type included.
    pub fn item(&self, entity: &'m Entity, number: u64) -> Map<String, Value> {
        let values = self.values(entity, number, 6);
        let mut item = Map::new();
        for attribute in &entity.attributes {
            if let Some(text) = values.get(&attribute.name) {
                item.insert(attribute.name.clone(), wire_value(&attribute.kind, text));
            }
        }
        for place in Place::all(self.model) {
            let Some(slot) = place.slot(entity) else { continue };
            if place.index.is_none() || meets(&slot, &values) {
                self.add_keys(&mut item, &slot, &values, number);
            }
        }
        if let Some(name) = &self.model.table.type_attribute {
            item.insert(name.clone(), json!({ "S": entity.type_value }));
        }
        self.grow(entity, number, &mut item);
        item
    }

    /// Everything that must be written together: an item, the markers of its unique values, and its copies.
    pub fn bundle(&self, entity: &'m Entity, number: u64) -> Vec<Map<String, Value>> {
        let item = self.item(entity, number);
        let mut bundle = self.markers(entity, &item);
        bundle.push(item);
        let copies = self.model.copies_of(&entity.name).filter(|copy| self.is_follower(copy));
        bundle.extend(copies.flat_map(|copy| self.bundle(copy, number)));
        bundle
    }

    /// A copy of every original, which is written with it and not on its own.
    pub fn is_follower(&self, entity: &Entity) -> bool {
        let original = entity.copies.as_deref().is_some_and(|name| self.model.entity(name).is_some());
        original && entity.identity.is_empty()
    }

    /// The items that keep an item's unique values unique.
    fn markers(&self, entity: &Entity, item: &Map<String, Value>) -> Vec<Map<String, Value>> {
        let mut markers = Vec::new();
        for name in &entity.unique {
            if let Some(value) = item.get(name).and_then(|value| value["S"].as_str()) {
                let key = json!({ "S": marker(entity, name, value) });
                markers.push(self.model.table.keys.iter().map(|own| (own.clone(), key.clone())).collect());
            }
        }
        markers
    }

    fn add_keys(&self, item: &mut Map<String, Value>, slot: &Slot<'m>, values: &Values, number: u64) {
        let mut values = values.clone();
        values.insert(SHARD.to_owned(), self.shard(slot, &values, number).to_string());
        for (position, (name, template)) in slot.place.key_names(self.model).iter().zip(slot.key).enumerate()
        {
            let Ok(key) = template.fill(&values) else { continue };
            let kind = if slot.place.key_is_number(self.model, position) { "N" } else { "S" };
            item.insert(name.clone(), json!({ kind: key }));
        }
    }

    fn shard(&self, slot: &Slot<'_>, values: &Values, number: u64) -> u64 {
        let by = slot.shard.and_then(|shard| shard.by.as_ref()).and_then(|by| values.get(by));
        by.map_or_else(|| at(self.seed, "shard", number), |value| hash(value)) % slot.shards()
    }

    /// Values of an item. Parents and originals are computed on the way; `depth` bounds how far.
    pub fn values(&self, entity: &Entity, number: u64, depth: u32) -> Values {
        let mut values = Values::new();
        let original =
            entity.copies.as_deref().and_then(|name| self.model.entity(name)).filter(|_| depth > 0);
        if let Some(original) = original.filter(|_| entity.identity.is_empty()) {
            values.extend(self.values(original, number, depth - 1));
        }
        let parent =
            entity.expect.per.as_deref().and_then(|name| self.model.entity(name)).filter(|_| depth > 0);
        let (mut ordinal, mut group) = (number, number);
        if let Some(parent) = parent {
            let parents = self.count(parent).max(1);
            let each = (self.count(entity) as f64 / parents as f64).max(0.01);
            group = ((number as f64 / each) as u64).min(parents - 1);
            ordinal = number.saturating_sub((group as f64 * each).ceil() as u64);
            let shared = self.values(parent, group, depth - 1);
            for (name, value) in shared {
                let own = entity.identity() == Some(name.as_str());
                let linked = entity.has_key_field(&name) || self.model.owner_of(&name).is_some();
                if entity.attribute(&name).is_some() && linked && !own {
                    values.entry(name).or_insert(value);
                }
            }
        }
        for attribute in &entity.attributes {
            if values.contains_key(&attribute.name) {
                continue;
            }
            let absent = attribute.optional && at(self.seed, &attribute.name, number) % 10 < 7;
            if !absent {
                let value = self.value(entity, attribute, number, ordinal, group, depth);
                values.insert(attribute.name.clone(), value);
            }
        }
        values
    }

    fn value(
        &self,
        entity: &Entity,
        attribute: &Attribute,
        number: u64,
        ordinal: u64,
        group: u64,
        depth: u32,
    ) -> String {
        let name = attribute.name.as_str();
        let own = entity.identity() == Some(name);
        let owner = self.model.owner_of(name).filter(|owner| owner.name != entity.name && depth > 0 && !own);
        if let Some(owner) = owner {
            // The other end of a relationship moves on with every item of the group, so that no pair comes twice.
            let start = at(self.seed, name, group);
            let other = start.wrapping_add(ordinal) % self.count(owner).max(1);
            return self.values(owner, other, depth - 1).remove(name).unwrap_or_default();
        }
        let telling = own || (entity.identity().is_none() && entity.has_key_field(name));
        let place = if own { entity.name.clone() } else { format!("{}.{name}", entity.name) };
        let drawn = at(self.seed, &place, number);
        match &attribute.kind {
            ValueType::Int if telling => (ordinal + 1).to_string(),
            ValueType::Id | ValueType::String if own => format!("{}{number:06}", initial(&entity.name)),
            ValueType::Id | ValueType::String if telling => {
                format!("{}-{ordinal}", WORDS[(ordinal % 24) as usize])
            }
            kind => plain_value(kind, name, attribute.values, drawn, number),
        }
    }

    /// Lengthens the last free text until the item has the expected size.
    fn grow(&self, entity: &Entity, number: u64, item: &mut Map<String, Value>) {
        let Some(wanted) = entity.expect.bytes else { return };
        let have: usize =
            item.iter().map(|(name, value)| name.len() + value.to_string().len().saturating_sub(8)).sum();
        let free = |attribute: &&Attribute| {
            attribute.kind == ValueType::String
                && !entity.has_key_field(&attribute.name)
                && !attribute.optional
        };
        let keyed =
            |name: &str| entity.indexes.iter().any(|i| i.key.iter().any(|template| template.has_field(name)));
        let named = |name: &str, words: &[&str]| words.iter().any(|word| name.to_lowercase().contains(word));
        let fit = |attribute: &&Attribute| {
            let name = attribute.name.as_str();
            !keyed(name)
                && !entity.unique.contains(&attribute.name)
                && !named(name, &["email", "url", "phone"])
        };
        let long = ["content", "body", "text", "description", "note", "message", "comment"];
        let candidates: Vec<&Attribute> = entity.attributes.iter().rev().filter(free).filter(fit).collect();
        let text = candidates.iter().find(|a| named(&a.name, &long)).or(candidates.first()).copied();
        let Some(attribute) = text.filter(|_| wanted as usize > have) else { return };
        let mut filler =
            item.get(&attribute.name).and_then(|v| v["S"].as_str()).unwrap_or_default().to_owned();
        let mut turn = at(self.seed, "words", number);
        let target = filler.len() + wanted as usize - have;
        while filler.len() < target {
            filler.push(' ');
            filler.push_str(WORDS[(turn % 24) as usize]);
            turn = turn.rotate_right(5).wrapping_add(7);
        }
        filler.truncate(target);
        item.insert(attribute.name.clone(), json!({ "S": filler }));
    }
}

/// Whether an item is in a sparse index.
pub fn meets(slot: &Slot<'_>, values: &Values) -> bool {
    slot.when.tests.iter().all(|test| test.holds(values.get(test.attribute()).map(String::as_str)))
}

fn initial(name: &str) -> String {
    name.chars().next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default()
}

/// A value of a type, told by the attribute's name where that says something.
pub fn plain_value(kind: &ValueType, name: &str, values: Option<u64>, drawn: u64, number: u64) -> String {
    let drawn = values.map_or(drawn, |values| drawn % values.max(1));
    match kind {
        ValueType::Int => (drawn % 100).to_string(),
        ValueType::Decimal => format!("{}.{:02}", drawn % 500, (drawn / 500) % 100),
        ValueType::Bool => (drawn.is_multiple_of(10)).to_string(),
        ValueType::Timestamp => timestamp(NOW - drawn % YEAR),
        ValueType::Date => timestamp(NOW - drawn % YEAR)[..10].to_owned(),
        ValueType::Ulid => ulid(NOW - drawn % YEAR, drawn),
        ValueType::Uuid => uuid(drawn),
        ValueType::Ksuid => format!("{:0>27}", base(drawn as u128 * 0x1_0000_0001, 62)),
        ValueType::Choice(choices) => {
            // The first states of a life are rarer than the last.
            let weight = choices.len() * (choices.len() + 1) / 2;
            let mut point = (drawn % weight.max(1) as u64) as usize;
            let mut chosen = 0;
            while chosen + 1 < choices.len() && point > chosen {
                point -= chosen + 1;
                chosen += 1;
            }
            choices[chosen].clone()
        }
        ValueType::Id => format!("{}-{}", WORDS[(drawn % 24) as usize], drawn / 24 % 100),
        ValueType::String => words(name, drawn, number),
        ValueType::Binary => "AAEC".to_owned(),
        ValueType::List | ValueType::Map | ValueType::Set => WORDS[(drawn % 24) as usize].to_owned(),
    }
}

fn words(name: &str, drawn: u64, number: u64) -> String {
    let lower = name.to_lowercase();
    let pick = |list: &[&'static str], turn: u64| list[(turn % list.len() as u64) as usize];
    if lower.contains("email") {
        return format!("{}.{number}@example.com", pick(&NAMES, drawn).to_lowercase());
    }
    if lower.contains("city") || lower.contains("address") {
        return pick(&CITIES, drawn).to_owned();
    }
    if lower.ends_with("name") {
        return format!("{} {}", pick(&NAMES, drawn), capital(pick(&WORDS, drawn / 16)));
    }
    if lower.contains("url") {
        return format!("https://example.com/{}/{number}", pick(&WORDS, drawn));
    }
    format!("{} {}", capital(pick(&WORDS, drawn)), pick(&WORDS, drawn / 24))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Seconds since 1970 as ISO 8601. `partita_value::calendar` cannot be used here: this crate depends on no other.
fn timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a civil date, by eras of 400 years that begin in March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

fn ulid(seconds: u64, drawn: u64) -> String {
    let time = base(u128::from(seconds) * 1000, 32);
    let random = base(u128::from(drawn) << 16 | u128::from(drawn >> 48), 32);
    format!("{time:0>10}{random:0>16}")
}

fn uuid(drawn: u64) -> String {
    let other = at(drawn, "uuid", 1);
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        drawn >> 32,
        drawn >> 16 & 0xFFFF,
        drawn & 0xFFF,
        0x8000 | other >> 50,
        other & 0xFFFF_FFFF_FFFF
    )
}

/// A number in base 32 (Crockford) or 62.
fn base(mut number: u128, base: u128) -> String {
    const DIGITS: [&[u8]; 2] = [
        b"0123456789ABCDEFGHJKMNPQRSTVWXYZ",
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    ];
    let digits = DIGITS[usize::from(base != 32)];
    let mut text = Vec::new();
    while number > 0 {
        text.push(digits[(number % base) as usize] as char);
        number /= base;
    }
    text.iter().rev().collect()
}

/// A value on the wire.
pub fn wire_value(kind: &ValueType, text: &str) -> Value {
    match kind.wire_type() {
        "BOOL" => json!({ "BOOL": text == "true" }),
        "L" => json!({ "L": [{ "S": text }] }),
        "M" => json!({ "M": { "value": { "S": text } } }),
        "SS" => json!({ "SS": [text] }),
        other => json!({ other: text }),
    }
}

/// A key of a template for example values.
pub fn example_key(entity: &Entity, template: &Template) -> String {
    let mut values = Values::new();
    for name in template.fields() {
        let value = match entity.attribute(name) {
            Some(attribute) if entity.identity() == Some(name) && attribute.kind == ValueType::Id => {
                format!("{}000001", initial(&entity.name))
            }
            Some(attribute) => plain_value(&attribute.kind, name, attribute.values, hash(name), 1),
            None => "0".to_owned(),
        };
        values.insert(name.to_owned(), value);
    }
    template.fill(&values).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_iso_8601() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(NOW), "2026-01-01T00:00:00Z");
        assert_eq!(timestamp(951_827_696), "2000-02-29T12:34:56Z");
    }

    #[test]
    fn identifiers_have_their_length() {
        assert_eq!(ulid(NOW, u64::MAX).len(), 26);
        assert_eq!(uuid(7).len(), 36);
        assert_eq!(plain_value(&ValueType::Ksuid, "k", None, 99, 1).len(), 27);
    }
}
