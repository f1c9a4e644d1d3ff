//! The keys of all types at all places, made once for a model, so that each pattern and rule finds the types it concerns
//! without going through all of them.

use crate::finding::list;
use crate::key_tree::KeyTree;
use crate::model::{Entity, Model};
use crate::plan::{Sort, sort_meets};
use crate::slot::{Place, Slot};
use crate::template::{BORDER, Template, Token};
use std::collections::{BTreeSet, HashMap};

/// Of more types than this, it is only said that there are others.
pub const MOST_NAMED: usize = 20;

pub struct Keyspace<'m> {
    pub model: &'m Model,
    /// The table first, then its indexes.
    places: Vec<PlaceKeys<'m>>,
}

/// The keys of all types at one place.
struct PlaceKeys<'m> {
    place: Place<'m>,
    slots: Vec<Slot<'m>>,
    by_entity: HashMap<&'m str, usize>,
    tree: KeyTree,
}

/// What a request reads: a partition and a stretch of it, with the types of the fields in both.
#[derive(Clone, Copy)]
pub struct Stretch<'a> {
    pub partition: &'a Template,
    pub sort: &'a Sort,
    pub types: &'a Entity,
}

impl<'m> Keyspace<'m> {
    pub fn new(model: &'m Model) -> Keyspace<'m> {
        Keyspace {
            model,
            places: Place::all(model).into_iter().map(|place| PlaceKeys::new(place, model)).collect(),
        }
    }

    pub fn places(&self) -> impl Iterator<Item = Place<'m>> {
        self.places.iter().map(|keys| keys.place)
    }

    /// Every type at every place.
    pub fn all_slots(&self) -> impl Iterator<Item = &Slot<'m>> {
        self.places.iter().flat_map(|keys| &keys.slots)
    }

    pub fn slots(&self, place: Place<'_>) -> &[Slot<'m>] {
        self.at(place).map_or(&[], |keys| &keys.slots)
    }

    pub fn slot(&self, place: Place<'_>, entity: &str) -> Option<&Slot<'m>> {
        let keys = self.at(place)?;
        keys.by_entity.get(entity).map(|number| &keys.slots[*number])
    }

    /// A table has few places.
    fn at(&self, place: Place<'_>) -> Option<&PlaceKeys<'m>> {
        self.places.iter().find(|keys| keys.place.name() == place.name())
    }

    /// Types that have items within a stretch and are sought: all of them if there are fewer than `most`.
    pub fn within(
        &self,
        place: Place<'_>,
        stretch: Stretch<'_>,
        most: usize,
        is_sought: impl Fn(&Slot<'m>) -> bool,
    ) -> Vec<&Slot<'m>> {
        let Some(keys) = self.at(place) else { return Vec::new() };
        let (wanted, open) = stretch.tokens();
        let (mut looked_at, mut found) = (BTreeSet::new(), BTreeSet::new());
        keys.tree.meet(&wanted, open, |number| {
            let slot = &keys.slots[number];
            if looked_at.insert(number) && is_sought(slot) && stretch.holds(slot) {
                found.insert(number);
            }
            found.len() < most
        });
        found.into_iter().map(|number| &keys.slots[number]).collect()
    }

    /// Another type can be in the collections of this one in the table.
    pub fn has_company(&self, entity: &Entity) -> bool {
        !self.company(entity, 1, |other| other.name != entity.name).is_empty()
    }

    /// Types that can be in the collections of a type in the table, itself included.
    pub fn company(
        &self,
        entity: &Entity,
        most: usize,
        is_sought: impl Fn(&Entity) -> bool,
    ) -> Vec<&'m Entity> {
        let Some(partition) = entity.key.first() else { return Vec::new() };
        let stretch = Stretch { partition, sort: &Sort::Any, types: entity };
        let slots = self.within(Place { index: None }, stretch, most, |slot| is_sought(slot.entity));
        slots.into_iter().map(|slot| slot.entity).collect()
    }
}

impl<'m> PlaceKeys<'m> {
    fn new(place: Place<'m>, model: &'m Model) -> PlaceKeys<'m> {
        let slots = place.slots(model);
        let by_entity = slots.iter().enumerate().map(|(number, slot)| (slot.entity.name.as_str(), number));
        let mut tree = KeyTree::default();
        for (number, slot) in slots.iter().enumerate() {
            tree.insert(&key_tokens(slot, false), number);
        }
        PlaceKeys { place, by_entity: by_entity.collect(), tree, slots }
    }
}

impl Stretch<'_> {
    /// A beginning of all its keys, and whether more follows.
    fn tokens(&self) -> (Vec<Token>, bool) {
        let (sort, open) = match self.sort {
            Sort::Any | Sort::Span { .. } => (Vec::new(), true),
            Sort::Equals(template) => (template.runs(self.types, false), false),
            Sort::BeginsWith(prefix) | Sort::Between { prefix, .. } => (prefix.runs(self.types, false), true),
        };
        let border = [Token::Letter(BORDER)];
        ([self.partition.runs(self.types, false).as_slice(), &border, &sort].concat(), open)
    }

    /// Items of a type can be within it.
    pub fn holds(&self, slot: &Slot<'_>) -> bool {
        self.partition.meets(self.types, &slot.partition, slot.entity, false, false)
            && sort_meets(self.sort, self.types, slot)
    }
}

/// The names of types that were found within a stretch. Of many, not all were sought.
pub fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    if names.len() == MOST_NAMED {
        names.push("perhaps others");
    }
    list(&names)
}

/// The partition key, a border, and the sort key if there is one.
pub(crate) fn key_tokens(slot: &Slot<'_>, strict: bool) -> Vec<Token> {
    let mut tokens = slot.partition.runs(slot.entity, strict);
    tokens.push(Token::Letter(BORDER));
    tokens.extend(slot.sort.iter().flat_map(|sort| sort.runs(slot.entity, strict)));
    tokens
}
