//! Infers a model from items: entities from the type attribute or the form of the keys, templates from what keys and attributes have in
//! common.
//!
//! Items are added one by one. How keys are built is learned from the first ones; of each entity only a random selection of items is kept, so that the
//! memory does not grow with the table. The result is a draft: what the items cannot tell is asked.

mod beside;
mod entity;
mod explain;
mod group;
mod key_template;
mod lettered_ids;
mod markers;
mod names;
mod odd;
mod one_value;
pub(crate) mod patterns;
mod pieces;
mod relations;
mod shared_partitions;
mod sparse;
mod style;
mod type_attribute;
mod typed_ids;
mod values;
mod verify;

use crate::draft::{Asked, Confidence, Draft, NOT_KNOWN};
use crate::formatting::thousands;
use crate::item::{Item, Value};
use crate::model::{Index, IndexKey, Model, Projection, Table};
use entity::Surroundings;
use group::{Group, GroupKey};
use markers::Markers;
use odd::LeftOut;
use std::collections::{BTreeMap, BTreeSet};
use style::{KeyStyle, KeyValue};

/// The number of items from which the style of the keys is learned.
const HEAD: usize = 5_000;
/// The most groups: a model has up to 500 entities.
const MAX_GROUPS: usize = 500;
/// Names of attributes that hold the expiry time of an item.
const TTL_NAMES: [&str; 7] =
    ["ttl", "expiresat", "expireat", "expires", "expiry", "expiration", "timetolive"];

/// What is known about a table besides its items. Empty fields are guessed.
#[derive(Clone, Debug, Default)]
pub struct KnownSchema {
    /// The name of the table.
    pub table: String,
    /// The attributes of the primary key.
    pub keys: Vec<String>,
    /// The indexes of the table.
    pub indexes: Vec<Index>,
    /// The number of items in the table, if not all are read.
    pub item_count: Option<u64>,
    /// The attribute that holds the expiry time.
    pub ttl: Option<String>,
    /// What the source calls the key attributes of the items with a label.
    pub aliases: BTreeMap<String, Vec<String>>,
}

/// An inference in progress.
#[derive(Debug)]
pub struct Inference {
    known: KnownSchema,
    items: u64,
    /// The first items, until the style of the keys is known.
    head: Vec<(Option<String>, Item)>,
    styles: Vec<KeyStyle>,
    groups: BTreeMap<GroupKey, Group>,
    type_attribute: Option<String>,
    /// Groups that stand for others that differ in the middle of their keys.
    stands_for: BTreeMap<GroupKey, GroupKey>,
    markers: Markers,
    /// What to say about attributes that are called like a type and are none.
    categories: Vec<String>,
}

/// Infers a model from items.
///
/// # Errors
///
/// Returns a message if there are no items, or if the key attributes are neither known nor called `PK` and `SK`.
pub fn infer(items: &[Item], known: &KnownSchema) -> Result<Draft, String> {
    let mut inference = Inference::new(known.clone());
    for item in items {
        inference.add(item.clone(), None)?;
    }
    inference.finish()
}

impl Inference {
    /// Starts an inference.
    pub fn new(known: KnownSchema) -> Inference {
        Inference {
            known,
            items: 0,
            head: Vec::new(),
            styles: Vec::new(),
            groups: BTreeMap::new(),
            type_attribute: None,
            stands_for: BTreeMap::new(),
            markers: Markers::default(),
            categories: Vec::new(),
        }
    }

    /// Adds an item, with the name that the source gives to items of its kind.
    ///
    /// # Errors
    ///
    /// Returns a message if the key attributes are not known and cannot be guessed.
    pub fn add(&mut self, item: Item, label: Option<String>) -> Result<(), String> {
        self.items += 1;
        if self.known.keys.is_empty() {
            self.known.keys = guess_keys(&item)
                .ok_or("the items have no PK and SK; name the key attributes with --keys")?;
        }
        if self.markers.take(&item, &self.known.keys) {
            return Ok(());
        }
        if let Some(missing) = self.known.keys.iter().find(|key| text_of(&item, key).is_none()) {
            return Err(format!("an item has no {missing}, or it is neither text nor a number"));
        }
        if self.styles.is_empty() {
            self.head.push((label, item));
            if self.head.len() >= HEAD {
                self.learn();
            }
        } else {
            self.file(item, label);
        }
        Ok(())
    }

    /// Learns the style of the keys from the first items, and groups them.
    fn learn(&mut self) {
        let head = std::mem::take(&mut self.head);
        let items: Vec<&Item> = head.iter().map(|(_, item)| item).collect();
        self.learn_styles(&items);
        let words = self.words();
        let shapes = self.outlines(&items, &words);
        let types = type_attribute::candidates(&items, &shapes, &self.known);
        for type_attribute in types.into_iter().map(Some).chain([None]) {
            self.type_attribute = type_attribute;
            self.learn_styles(&items);
            let mut counts: BTreeMap<GroupKey, u64> = BTreeMap::new();
            for (label, item) in &head {
                *counts.entry(self.key_of(item, label.clone())).or_default() += 1;
            }
            if self.has_types(&counts) && !self.has_category(&items) {
                break;
            }
        }
        let mut grouped: BTreeMap<GroupKey, Vec<Item>> = BTreeMap::new();
        for (label, item) in head {
            grouped.entry(self.key_of(&item, label)).or_default().push(item);
        }
        self.stands_for = group::representatives(&grouped, &self.words());
        for (key, items) in grouped {
            let label = key.label.clone();
            items.into_iter().for_each(|item| self.file(item, label.clone()));
        }
    }

    /// The forms of the keys of items, without the words that may as well be values.
    fn outlines(&self, items: &[&Item], words: &BTreeSet<String>) -> Vec<Vec<String>> {
        let outline = |item: &&Item| -> Vec<String> {
            self.key_of(item, None).shape.iter().map(|shape| group::outline(shape, words)).collect()
        };
        items.iter().map(outline).collect()
    }

    /// Returns whether the type attribute is a category of the items of one entity, and notes it.
    fn has_category(&mut self, items: &[&Item]) -> bool {
        let Some(name) = &self.type_attribute else { return false };
        let shapes = self.outlines(items, &self.words());
        let Some([one, other]) = type_attribute::alike(name, items, &shapes, &self.known) else {
            return false;
        };
        let remark = format!(
            "{name} is no type here: nothing tells the items where it is {one} from those where it is {other}."
        );
        self.categories.push(remark);
        true
    }

    /// The words of the design in all keys.
    fn words(&self) -> BTreeSet<String> {
        self.styles.iter().flat_map(|style| style.words.clone()).collect()
    }

    fn learn_styles(&mut self, items: &[&Item]) {
        self.styles.clear();
        let kinds: Vec<String> = items.iter().map(|item| self.kind(item)).collect();
        for (position, key) in self.known.keys.iter().enumerate() {
            let mut values: Vec<KeyValue<'_>> = items
                .iter()
                .zip(&kinds)
                .filter(|(item, _)| matches!(item.get(key), Some(Value::String(_))))
                .filter_map(|(item, kind)| {
                    Some(KeyValue { text: text_of(item, key)?, kind, item, is_named: false })
                })
                .collect();
            style::mark_named(&mut values, &self.known.keys);
            let is_named = key_template::is_semantic(key);
            let mut style = if is_named { KeyStyle::learn_named(&values) } else { KeyStyle::learn(&values) };
            if position > 0 && !is_named {
                style.words.extend(style::standing_texts(&values));
            }
            if self.type_attribute.is_none() && !is_named {
                style.lettered = style::lettered_starts(&values);
            }
            self.styles.push(style);
        }
    }

    /// Returns whether the type attribute tells entities apart: every item has it, or all but a few have it, and its name or the keys of the
    /// others say so.
    fn has_types(&self, counts: &BTreeMap<GroupKey, u64>) -> bool {
        let Some(name) = &self.type_attribute else { return true };
        let typed = || counts.iter().filter(|(key, _)| key.type_value.is_some());
        let (count, all) = (typed().map(|(_, count)| count).sum::<u64>(), counts.values().sum::<u64>());
        let types: BTreeSet<_> = typed().map(|(key, _)| &key.type_value).collect();
        let shapes: BTreeSet<_> = typed().map(|(key, _)| &key.shape).collect();
        let is_told = types.len() > 1 && shapes.len() == typed().count();
        let says = type_attribute::is_clear(name) || is_told;
        count == all || (says && odd::is_nearly_all(count as usize, all as usize))
    }

    /// What tells kinds of items apart: the type, or the names of the attributes.
    fn kind(&self, item: &Item) -> String {
        let typed = self.type_attribute.as_ref().and_then(|name| text_of(item, name)).map(str::to_owned);
        typed.unwrap_or_else(|| item.keys().map(String::as_str).collect::<Vec<_>>().join(","))
    }

    fn key_of(&self, item: &Item, label: Option<String>) -> GroupKey {
        let shape = self.known.keys.iter().zip(&self.styles).map(|(key, style)| match item.get(key) {
            Some(Value::String(text)) => style.shape(text, item),
            _ => "*".to_owned(),
        });
        let type_value = self.type_attribute.as_ref().and_then(|name| text_of(item, name)).map(str::to_owned);
        GroupKey { label, type_value, shape: shape.collect() }
    }

    fn file(&mut self, item: Item, label: Option<String>) {
        let key = self.key_of(&item, label);
        let key = self.stands_for.get(&key).cloned().unwrap_or(key);
        if !self.groups.contains_key(&key) && self.groups.len() >= MAX_GROUPS {
            return;
        }
        let partition = text_of(&item, &self.known.keys[0]).unwrap_or_default().to_owned();
        self.groups.entry(key).or_default().add(item, &partition);
    }

    /// Returns the draft.
    ///
    /// # Errors
    ///
    /// Returns a message if there are no items.
    pub fn finish(mut self) -> Result<Draft, String> {
        if self.items == 0 {
            return Err("there are no items to learn from".to_owned());
        }
        if self.styles.is_empty() {
            self.learn();
        }
        for stranger in self.markers.strangers(self.groups.values()) {
            self.file(stranger, None);
        }
        let names: BTreeSet<&String> =
            self.groups.values().flat_map(|group| group.attributes.keys()).collect();
        if self.known.indexes.is_empty() {
            self.known.indexes = guess_indexes(&names, &self.known.keys);
        }
        let left_out = self.settle_types();
        let mut groups: Vec<(GroupKey, Group)> = std::mem::take(&mut self.groups).into_iter().collect();
        if self.type_attribute.is_none() {
            // Without a type, an item belongs to the first entity whose key fits: the strictest comes first.
            groups.sort_by_key(|(key, _)| std::cmp::Reverse(strictness(key)));
        }
        let mut draft = self.entities(&groups)?;
        if merge_twins(&mut groups, &draft.model) {
            draft = self.entities(&groups)?;
        }
        lettered_ids::split(&groups, &mut draft);
        typed_ids::split(&groups, &mut draft);
        shared_partitions::unify(&groups, &mut draft);
        one_value::ask(&mut draft);
        self.categories.into_iter().for_each(|remark| draft.remark("table", remark));
        for odd in left_out {
            let beside = groups.iter().position(|(key, _)| odd.beside.as_ref() == Some(key));
            let subject = beside.map_or("table".to_owned(), |number| draft.model.entities[number].subject());
            draft.remark(subject, odd.remark);
        }
        let groups: Vec<Group> = groups.into_iter().map(|(_, group)| group).collect();
        complete(&mut draft, &groups, &self.known, &self.markers, self.items)?;
        Ok(draft)
    }

    /// Decides whether items have types, and takes out those that are odd beside them.
    fn settle_types(&mut self) -> Vec<LeftOut> {
        let counts = self.groups.iter().map(|(key, group)| (key.clone(), group.count)).collect();
        if !self.has_types(&counts) {
            self.type_attribute = None;
            for (key, group) in std::mem::take(&mut self.groups) {
                self.groups.entry(GroupKey { type_value: None, ..key }).or_default().merge(group);
            }
        }
        match &self.type_attribute {
            Some(name) => odd::leave_out(&mut self.groups, name, &self.known.keys),
            None => Vec::new(),
        }
    }

    /// The entities of groups.
    fn entities(&self, groups: &[(GroupKey, Group)]) -> Result<Draft, String> {
        let table = Table {
            name: self.known.table.clone(),
            keys: self.known.keys.clone(),
            type_attribute: self.type_attribute.clone(),
            ttl: self.known.ttl.clone(),
            ..Table::default()
        };
        let model = Model { table, indexes: self.known.indexes.clone(), ..Model::default() };
        let mut draft = Draft { model, ..Draft::default() };
        let words = self.words();
        let keys: Vec<GroupKey> = groups.iter().map(|(key, _)| key.clone()).collect();
        let mut names = names::entity_names(&keys, &self.known.table);
        self.markers.name(groups.iter().map(|(_, group)| group), &mut names);
        let fields = names::FieldNames::new(&keys, &names);
        let around = Surroundings {
            known: &self.known,
            names: &fields,
            words: &words,
            is_shared: keys.len() > 1,
            planned: &names,
        };
        for ((key, group), name) in groups.iter().zip(&names) {
            entity::infer(key, group, name, &around, &mut draft);
        }
        beside::settle(groups, &fields, &mut draft)?;
        Ok(draft)
    }
}

/// Adds what concerns several entities, and holds the draft against the items.
fn complete(
    draft: &mut Draft,
    groups: &[Group],
    known: &KnownSchema,
    markers: &Markers,
    items: u64,
) -> Result<(), String> {
    add_keys_in_other_orders(&mut draft.model);
    remove_unused_indexes(draft);
    relations::identifiers(&mut draft.model);
    verify::verify(groups, draft)?;
    relations::copies(groups, draft);
    relations::edges(draft);
    relations::rules(groups, markers, draft);
    let scale = known.item_count.map_or(1.0, |count| count.max(items) as f64 / items.max(1) as f64);
    relations::expect(groups, scale, draft);
    find_ttl(groups, draft);
    draft.model.lookup = Default::default();
    draft.model.patterns = patterns::infer(&draft.model);
    for pattern in &draft.model.patterns {
        let asked = Asked::PatternRate(pattern.name.clone());
        draft.questions.push(crate::draft::Question::new(asked, "How many requests a second?", NOT_KNOWN));
    }
    draft.about = format!(
        "Proposed from {} items. Correct the names and types, add the patterns and writes that are missing,\nthen: partita model check",
        thousands(items)
    );
    Ok(())
}

/// The attribute that holds the expiry time: a number that looks like a time and is named like one.
fn find_ttl(groups: &[Group], draft: &mut Draft) {
    if draft.model.table.ttl.is_some() {
        draft.note("table", Confidence::Certain, "ttl is that of the table");
        return;
    }
    let is_named = |name: &str| TTL_NAMES.contains(&name.to_lowercase().replace(['_', '-'], "").as_str());
    let summaries = groups.iter().flat_map(|group| &group.attributes);
    let mut times = summaries.filter(|(name, summary)| is_named(name) && summary.epoch() == Some("seconds"));
    if let Some((name, _)) = times.next() {
        draft.model.table.ttl = Some(name.clone());
        draft.ask(Asked::Ttl, format!("Does {name} hold the time at which items expire?"), name.clone());
    }
}

/// Shapes with more words come first.
fn strictness(key: &GroupKey) -> (usize, usize) {
    let words = key.shape.iter().flat_map(|shape| shape.split('#')).filter(|part| *part != "*").count();
    (words, key.shape.iter().map(String::len).sum())
}

fn guess_keys(item: &Item) -> Option<Vec<String>> {
    let find = |wanted: &str| item.keys().find(|name| name.eq_ignore_ascii_case(wanted)).cloned();
    let partition = find("PK")?;
    Some(std::iter::once(partition).chain(find("SK")).collect())
}

/// `GSI1PK` and `GSI1SK` are the keys of GSI1.
fn guess_indexes(names: &BTreeSet<&String>, keys: &[String]) -> Vec<Index> {
    let names: Vec<&String> = names.iter().copied().filter(|name| !keys.contains(name)).collect();
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

/// Joins groups of the same type whose items turned out to have the same key: what is in their keys are values.
fn merge_twins(groups: &mut Vec<(GroupKey, Group)>, model: &Model) -> bool {
    let before = groups.len();
    let mut merged: Vec<(GroupKey, Group)> = Vec::new();
    let mut places: BTreeMap<(Option<String>, Vec<String>), usize> = BTreeMap::new();
    for ((key, group), entity) in std::mem::take(groups).into_iter().zip(&model.entities) {
        let templates = entity.key.iter().map(ToString::to_string).collect();
        let place = *places.entry((key.type_value.clone(), templates)).or_insert(merged.len());
        match merged.get_mut(place).filter(|_| key.type_value.is_some()) {
            Some((_, first)) => first.merge(group),
            None => merged.push((key, group)),
        }
    }
    *groups = merged;
    groups.len() < before
}

/// Every item is in an index whose keys are those of the table, as in one that exchanges partition key and sort key.
fn add_keys_in_other_orders(model: &mut Model) {
    let keys = &model.table.keys;
    for index in &model.indexes {
        let places: Option<Vec<usize>> =
            index.keys.iter().map(|key| keys.iter().position(|own| own == key)).collect();
        let Some(places) = places else { continue };
        for entity in model.entities.iter_mut().filter(|entity| entity.index_key(&index.name).is_none()) {
            let key = places.iter().filter_map(|place| entity.key.get(*place).cloned()).collect();
            entity.indexes.push(IndexKey::new(&index.name, key, 0..0));
        }
    }
}

fn remove_unused_indexes(draft: &mut Draft) {
    let entities = draft.model.entities.iter();
    let used: BTreeSet<String> =
        entities.flat_map(|entity| &entity.indexes).map(|index_key| index_key.index.clone()).collect();
    let (kept, unused): (Vec<Index>, Vec<Index>) =
        std::mem::take(&mut draft.model.indexes).into_iter().partition(|index| used.contains(&index.name));
    draft.model.indexes = kept;
    for index in unused {
        draft.remark(
            "table",
            format!("The index {} is left out: no item that was read is in it.", index.name),
        );
    }
}

/// The text of a string or number attribute.
fn text_of<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    item.get(name).and_then(Value::as_text)
}
