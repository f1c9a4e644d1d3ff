//! Names for entities and for parts of keys that no attribute has.

use super::group::GroupKey;
use super::style::is_word;
use crate::model::Entity;
use crate::relational::naming;
use crate::template::is_in_word;
use std::collections::{BTreeMap, BTreeSet};

/// Sort keys of these names belong to the item that the partition key names.
const SINGLETONS: [&str; 9] =
    ["Metadata", "Meta", "Profile", "Info", "Details", "Detail", "Settings", "Root", "Summary"];

/// Whether an entity is called as the sort key of an item that its partition key names.
pub(super) fn is_singleton(entity: &str) -> bool {
    SINGLETONS.contains(&entity)
}

/// Names groups, in their order; no two names are the same.
pub(super) fn entity_names(keys: &[GroupKey], table: &str) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    // A single letter says less than the name of a table that has nothing else.
    let says = |word: &String| keys.len() > 1 || word.len() > 1;
    let shapes: Vec<Vec<String>> =
        keys.iter().map(|key| words(key).into_iter().filter(says).collect()).collect();
    let owned: BTreeSet<&String> =
        keys.iter().zip(&shapes).filter_map(|(key, words)| owned_word(key, words)).collect();
    let mut names = Vec::new();
    for (number, key) in keys.iter().enumerate() {
        let by_shape = by_shape(number, &shapes, &owned);
        let given = given_name(key);
        let mut candidates: Vec<String> = Vec::new();
        if keys.len() == 1 && by_shape.is_empty() {
            candidates.push(given.clone().unwrap_or_else(|| type_name(table)));
        }
        candidates.extend(given.clone());
        candidates
            .extend(given.map(|given| format!("{given}{}", by_shape.first().cloned().unwrap_or_default())));
        candidates.extend(by_shape);
        candidates.extend([type_name(table), "Entity".to_owned()]);
        let free = candidates.iter().find(|name| !name.is_empty() && !taken.contains(*name));
        let name = free.cloned().unwrap_or_else(|| format!("Entity{}", number + 1));
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

/// The name that the source gives: that of the items' type if it is the singular of what the source calls them.
fn given_name(key: &GroupKey) -> Option<String> {
    let (label, kind) = (key.label.as_ref(), key.type_value.as_ref().map(|kind| type_name(kind)));
    let is_plural = |kind: &String| label.is_some_and(|label| naming::entity(label) == *kind);
    kind.clone().filter(is_plural).or_else(|| label.map(|label| type_name(label))).or(kind)
}

/// The words of a group's keys. Beside words, single letters say nothing.
fn words(key: &GroupKey) -> Vec<String> {
    let parts = |shape: &String| -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for word in shape.split('#').filter(|part| *part != "*").map(type_name) {
            // An identifier repeats its type: `CUSTOMER#cus_8f3a`.
            let repeats = |before: &String| before.len() > word.len() && is_abbreviation(&word, before);
            if word.is_empty() || !words.last().is_some_and(repeats) {
                words.push(word);
            }
        }
        words
    };
    let keys: Vec<Vec<String>> = key.shape.iter().map(parts).collect();
    let has_word = keys.iter().flatten().any(|word| word.len() > 1);
    let says = |word: &&String| word.len() > 1 || !has_word;
    let joined = keys.iter().map(|parts| parts.iter().filter(says).map(String::as_str).collect::<String>());
    joined.filter(|word| !word.is_empty()).collect()
}

/// The word that a group without a name of its own is named after.
fn owned_word<'a>(key: &GroupKey, words: &'a [String]) -> Option<&'a String> {
    let is_named = key.label.is_some() || key.type_value.is_some();
    match words {
        [one] if !is_named => Some(one),
        [first, second, ..] if first == second || SINGLETONS.contains(&second.as_str()) => Some(first),
        _ => None,
    }
}

/// Names after the words of the keys, the best first: an order under `USER#…` is an Order, a profile under it a User.
fn by_shape(number: usize, shapes: &[Vec<String>], owned: &BTreeSet<&String>) -> Vec<String> {
    match shapes[number].as_slice() {
        [] => Vec::new(),
        [one] => vec![one.clone()],
        [first, second, ..] if first == second || SINGLETONS.contains(&second.as_str()) => {
            vec![first.clone(), format!("{first}{second}")]
        }
        [first, second, ..] => {
            let shared = shapes.iter().filter(|other| other.get(1) == Some(second)).count() > 1;
            let both = format!("{first}{second}");
            if owned.contains(second) || shared { vec![both] } else { vec![second.clone(), both] }
        }
    }
}

/// The name of what the partition key identifies, for an entity that is named after a word such as `metadata`: a `complaint_id` that of a
/// Complaint.
pub(super) fn owner_name(entity: &Entity, taken: &[String]) -> Option<String> {
    let field = entity.key.first()?.bare_field().filter(|_| SINGLETONS.contains(&entity.name.as_str()))?;
    let stem = field.len().checked_sub(2).filter(|_| field.to_lowercase().ends_with("id"))?;
    let name = type_name(field.get(..stem)?);
    (!name.is_empty() && !taken.contains(&name)).then_some(name)
}

/// `ORDER`, `order_line` and `order` as names: `Order`, `OrderLine`, `Order`.
pub(super) fn type_name(text: &str) -> String {
    let words = text.split(|character: char| !is_in_word(character)).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let mut characters = word.chars();
        let first: String = characters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
        let rest: String = characters.collect();
        let is_loud = !rest.chars().any(char::is_lowercase);
        first + &if is_loud { rest.to_lowercase() } else { rest }
    };
    words.map(capital).collect()
}

/// Names for the values that follow a word in keys: `u#…` of a User is a userId.
#[derive(Debug, Default)]
pub(super) struct FieldNames {
    /// Entities by the only word of their keys.
    owners: BTreeMap<String, String>,
    /// The name of each entity and the word that its sort key starts with.
    entities: Vec<(String, String)>,
}

impl FieldNames {
    pub fn new(keys: &[GroupKey], names: &[String]) -> FieldNames {
        let mut fields = FieldNames::default();
        for (key, name) in keys.iter().zip(names) {
            let start = |shape: &String| shape.split('#').next().unwrap_or_default().to_lowercase();
            let starts: Vec<String> = key.shape.iter().map(start).collect();
            let (first, second) = (starts.first().cloned().unwrap_or_default(), starts.get(1).cloned());
            let is_alone = |shape: &&String| shape.split('#').filter(|part| *part != "*").count() <= 1;
            let owns = key.shape.first().filter(is_alone).is_some();
            let is_single = |word: &String| is_word(word) && SINGLETONS.contains(&type_name(word).as_str());
            if owns
                && is_word(&first)
                && second.as_ref().is_none_or(|second| *second == first || is_single(second))
            {
                fields.owners.entry(first).or_insert_with(|| name.clone());
            }
            fields.entities.push((name.clone(), second.unwrap_or_default()));
        }
        fields
    }

    /// Returns the entity that a word of the keys stands for: one with such sort keys before others.
    fn owner(&self, word: &str) -> Option<&String> {
        let is_meant = |(name, _): &&(String, String), exactly: bool| {
            let name = name.to_lowercase();
            if exactly { name.starts_with(word) } else { is_abbreviation(word, &name) }
        };
        let find = |is_own: bool, exactly: bool| {
            let entities = self.entities.iter().filter(|(_, sort)| !is_own || sort == word);
            entities
                .filter(|entity| is_meant(entity, exactly))
                .map(|(name, _)| name)
                .min_by_key(|name| name.len())
        };
        let by_name = || {
            [(true, true), (true, false), (false, true), (false, false)]
                .into_iter()
                .find_map(|(own, exact)| find(own, exact))
        };
        self.owners.get(word).or_else(by_name).filter(|_| !word.is_empty())
    }

    /// Returns whether a word stands for an entity.
    pub fn is_known(&self, word: &str) -> bool {
        self.owner(&letters(word)).is_some()
    }

    /// Returns the name of the identifier after a word.
    pub fn identifier(&self, word: &str) -> String {
        let word = letters(word);
        let base = self.owner(&word).map_or_else(|| word.clone(), |name| lower_first(name));
        if base.to_lowercase().ends_with("id") { base } else { format!("{base}Id") }
    }
}

fn letters(word: &str) -> String {
    word.chars().filter(|character| is_in_word(*character)).collect::<String>().to_lowercase()
}

/// Returns whether the letters of a short word occur in a name in the same order, the first at its start: `pmn` of `payment`.
fn is_abbreviation(word: &str, name: &str) -> bool {
    let mut letters = name.chars();
    word.chars().next() == name.chars().next()
        && !word.is_empty()
        && word.chars().all(|letter| letters.any(|other| other == letter))
}

pub(super) fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(label: Option<&str>, shape: [&str; 2]) -> GroupKey {
        GroupKey {
            label: label.map(str::to_owned),
            type_value: None,
            shape: shape.map(str::to_owned).to_vec(),
        }
    }

    #[test]
    fn entities_are_named_after_what_tells_them_apart() {
        let keys = [
            key(None, ["USER#*", "PROFILE"]),
            key(None, ["USER#*", "ORDER#*"]),
            key(None, ["USER#*", "GROUP#*"]),
            key(None, ["GROUP#*", "GROUP#*"]),
            key(Some("order_line"), ["ORDER#*", "*"]),
        ];
        assert_eq!(entity_names(&keys, "T"), ["User", "Order", "UserGroup", "Group", "OrderLine"]);
        assert_eq!(entity_names(&[key(None, ["*", "*"])], "DeviceLog"), ["DeviceLog"]);
    }

    #[test]
    fn identifiers_are_named_after_the_entity_that_a_prefix_stands_for() {
        let keys = [
            key(Some("customer"), ["c#*", "c#*"]),
            key(Some("payment"), ["o#*", "pmn#*"]),
            key(Some("order"), ["o#*", "c#*"]),
            key(Some("shipment"), ["o#*", "sh#*"]),
            key(Some("shipmentItem"), ["o#*", "shp#*"]),
        ];
        let names = entity_names(&keys, "T");
        let fields = FieldNames::new(&keys, &names);
        let found: Vec<String> =
            ["c", "pmn", "o", "zz", "sh", "shp"].map(|word| fields.identifier(word)).to_vec();
        assert_eq!(found, ["customerId", "paymentId", "orderId", "zzId", "shipmentId", "shipmentItemId"]);
    }
}
