//! The values that a caller of a pattern knows, taken from items that exist.

use crate::audit::recognise;
use crate::item::{Attributes, Item, attributes};
use crate::model::condition::Condition;
use crate::model::decimal::Decimal;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Model, Pattern};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// One call of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The inputs.
    pub values: Attributes,
    /// The lower and the upper bound of the range, both included.
    pub range: Option<(String, String)>,
}

/// An item with its entity and the text of its attributes.
pub struct Known<'m> {
    pub(super) entity: &'m Entity,
    pub(super) item: Cow<'m, Item>,
    pub(super) texts: Attributes,
}

impl<'m> Known<'m> {
    /// An item that exists nowhere; `texts` also has what only its keys contain.
    pub(crate) fn new(entity: &'m Entity, item: Item, texts: Attributes) -> Known<'m> {
        Known { entity, item: Cow::Owned(item), texts }
    }

    /// Returns its entity.
    pub fn entity(&self) -> &'m Entity {
        self.entity
    }

    /// Returns the text of its attributes.
    pub fn texts(&self) -> &Attributes {
        &self.texts
    }

    /// Returns whether it meets a condition.
    pub(crate) fn meets(&self, condition: &Condition) -> bool {
        condition.holds_for_known(&self.item, &self.texts)
    }
}

/// Recognises items: those of no entity are left out.
pub fn known<'m>(model: &'m Model, items: &'m [Item]) -> Vec<Known<'m>> {
    let one = |item: &'m Item| {
        let texts = attributes(item);
        recognise(model, &texts).map(|entity| Known { entity, item: Cow::Borrowed(item), texts })
    };
    items.iter().filter_map(one).collect()
}

/// Returns up to `count` calls of a pattern that find something among these items, as far as such items exist. They are spread evenly over all keys
/// that can be asked for, however many items each of them has.
pub fn calls(pattern: &Pattern, all: &[Known<'_>], count: usize) -> Vec<Call> {
    let keys = asked(pattern, all);
    let number = count.min(keys.len());
    let spread = (0..number).map(|turn| turn * keys.len() / number);
    let call = |place: usize| {
        let range = range(pattern, all, &keys[place]);
        (pattern.range.is_none() || range.is_some()).then(|| Call { values: keys[place].clone(), range })
    };
    // Where a key has no bounds of the range, another one is asked for.
    let mut seen = BTreeSet::new();
    let places = spread.chain(0..keys.len()).filter(|place| seen.insert(*place));
    places.filter_map(call).take(count).collect()
}

/// Returns the inputs of all calls that find something, each once.
pub(super) fn asked(pattern: &Pattern, all: &[Known<'_>]) -> Vec<Attributes> {
    let meets = |one: &&Known<'_>| !pattern.via.is_empty() || one.meets(&pattern.filter);
    let candidates = all.iter().filter(|one| is_asked(pattern, one.entity)).filter(meets);
    let mut seen = BTreeSet::new();
    let mut keys: Vec<Attributes> = candidates.filter_map(|one| inputs_of(pattern, one)).collect();
    keys.retain(|key| seen.insert(key.clone()));
    keys
}

/// Returns whether calls of a pattern ask for items of an entity: one that it returns, or the first that it follows.
pub(super) fn is_asked(pattern: &Pattern, entity: &Entity) -> bool {
    match pattern.via.first() {
        Some(first) => first.entity == entity.name,
        None => pattern.targets.iter().any(|target| target.entity == entity.name),
    }
}

/// Returns the inputs of the call that finds an item, if it has them.
pub(super) fn inputs_of(pattern: &Pattern, one: &Known<'_>) -> Option<Attributes> {
    pattern.inputs.iter().map(|input| Some((input.clone(), one.texts.get(input)?.clone()))).collect()
}

/// The declared bounds, or the middle of the values that these inputs find.
fn range(pattern: &Pattern, all: &[Known<'_>], inputs: &Attributes) -> Option<(String, String)> {
    let bounds = pattern.range.as_ref()?;
    if let (Some(from), Some(to)) = (&bounds.from, &bounds.to) {
        return Some((from.clone(), to.clone()));
    }
    let is_read = |entity: &Entity| {
        let targets = pattern.targets.iter().map(|target| &target.entity);
        targets.chain(pattern.via.iter().map(|via| &via.entity)).any(|name| *name == entity.name)
    };
    let read = || all.iter().filter(|one| is_read(one.entity));
    let attribute = read().find_map(|one| one.entity.attribute(&bounds.by));
    let sortable = |text: &String| Sortable::of_kind(attribute, text);
    let mut values: Vec<&String> = read()
        .filter(|one| inputs.iter().all(|(name, value)| one.texts.get(name) == Some(value)))
        .filter_map(|one| one.texts.get(&bounds.by))
        .collect();
    values.sort_by_cached_key(|text| sortable(text));
    // An end that is not declared beside one that is stays open.
    let cut = if bounds.is_declared() { 0 } else { values.len() / 4 };
    let middle = values.get(cut..values.len() - cut)?;
    let from = bounds.from.as_ref().or(middle.first().copied())?;
    let to = bounds.to.as_ref().or(middle.last().copied())?;
    (sortable(from) <= sortable(to)).then(|| (from.clone(), to.clone()))
}

/// A value, which sorts as the type of its attribute does: a number by its size, everything else as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sortable {
    Number(Decimal),
    Text(String),
}

impl Sortable {
    /// The value of an attribute of an entity.
    pub(super) fn of(entity: Option<&Entity>, name: &str, text: &str) -> Sortable {
        Sortable::of_kind(entity.and_then(|entity| entity.attribute(name)), text)
    }

    /// The value of an attribute.
    pub(crate) fn of_kind(attribute: Option<&Attribute>, text: &str) -> Sortable {
        let text_only = || Sortable::Text(text.to_owned());
        attribute.map_or_else(text_only, |attribute| Sortable::of_type(&attribute.kind, text))
    }

    /// The value of a type.
    pub(crate) fn of_type(kind: &ValueType, text: &str) -> Sortable {
        let number = if kind.is_number() { Decimal::parse(text) } else { None };
        number.map_or_else(|| Sortable::Text(text.to_owned()), Sortable::Number)
    }
}
