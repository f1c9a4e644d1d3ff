//! Which entity an attribute of another one names, and which of its items: the ends of a relationship are two different items, and no pair repeats.

use super::Generator;
use crate::model::{Entity, Model};
use crate::plan::follow::links_between;
use crate::random::at;
use std::collections::BTreeMap;

/// The entities that attributes of others name, by the other one and the attribute.
pub(super) type Owners<'m> = BTreeMap<(&'m str, &'m str), &'m Entity>;

/// Which item of an entity is generated.
#[derive(Clone, Copy)]
pub(super) struct Place<'e> {
    /// Its number among all.
    pub number: u64,
    /// Its number in its group: the items of one parent.
    pub ordinal: u64,
    /// The number of the group.
    pub group: u64,
    /// The end of a relationship that the parent gives.
    pub given: Option<&'e str>,
}

/// Returns the entities that attributes of others name beside those that they identify: those that summarise items by it, and those that a
/// relationship leads to.
pub(super) fn owners(model: &Model) -> Owners<'_> {
    let mut owners = Owners::new();
    for entity in model.entities.iter().filter(|entity| !entity.aggregates.is_empty()) {
        if let [id] = entity.identifying()[..] {
            owners.extend(entity.aggregates.iter().map(|own| ((own.of.as_str(), id), entity)));
        }
    }
    add_followed_ends(model, &mut owners);
    add_other_ends(model, &mut owners);
    owners
}

/// The ends that patterns follow: `followedId` names a User where `via = "Follows"` leads to users.
fn add_followed_ends<'m>(model: &'m Model, owners: &mut Owners<'m>) {
    for pattern in &model.patterns {
        for (number, via) in pattern.via.iter().enumerate() {
            let Some(from) = model.entity(&via.entity).filter(|from| from.edge.len() == 2) else { continue };
            let targets = pattern.targets.iter().map(|target| &target.entity);
            let next = pattern.via.get(number + 1).map(|via| &via.entity);
            let known = |name: &str| number == 0 && pattern.is_fixed(name);
            for to in next.into_iter().chain(targets).filter_map(|name| model.entity(name)) {
                let links = links_between(model, via, from, to, known);
                let is_identity = |end: &str| {
                    links.iter().any(|link| link.from == end && Some(link.to.as_str()) == to.identity())
                };
                for end in from.edge.iter().filter(|end| is_identity(end) && model.owner_of(end).is_none()) {
                    let original = from.copies.as_deref().unwrap_or(&from.name);
                    owners.entry((original, end)).or_insert(to);
                }
            }
        }
    }
}

/// The other end of a relationship between items of one entity.
fn add_other_ends<'m>(model: &'m Model, owners: &mut Owners<'m>) {
    for entity in &model.entities {
        let [first, second] = entity.edge.as_slice() else { continue };
        let kind = |name: &str| entity.attribute(name).map(|attribute| &attribute.kind);
        if kind(first) != kind(second) || [first, second].iter().any(|end| model.owner_of(end).is_some()) {
            continue;
        }
        for (known, other) in [(first, second), (second, first)] {
            if let Some(owner) = owners.get(&(entity.name.as_str(), known.as_str())).copied() {
                owners.entry((&entity.name, other)).or_insert(owner);
            }
        }
    }
}

/// Returns the entities that attributes name within one parent: the department of a member, where both belong to an organisation.
pub(super) fn siblings(model: &Model) -> Owners<'_> {
    let mut named: Owners<'_> = Owners::new();
    for entity in model.entities.iter().filter(|entity| entity.copies.is_none()) {
        let Some(parent) = entity.expect.per.as_deref() else { continue };
        let id = model.entity(parent).and_then(Entity::identity);
        let [first, second] = entity.identity.as_slice() else { continue };
        let own = [(first, second), (second, first)]
            .into_iter()
            .find(|(of_parent, _)| Some(of_parent.as_str()) == id);
        if let Some((_, own)) = own {
            named.entry((parent, own)).or_insert(entity);
        }
    }
    let mut siblings = Owners::new();
    for entity in model.entities.iter().filter(|entity| entity.copies.is_none()) {
        let Some(parent) = entity.expect.per.as_deref() else { continue };
        let names = entity.attributes.iter().map(|attribute| attribute.name.as_str());
        for name in names.filter(|name| !entity.identifying().contains(name)) {
            siblings
                .extend(named.get(&(parent, name)).map(|sibling| ((entity.name.as_str(), name), *sibling)));
        }
    }
    siblings
}

impl<'m> Generator<'m> {
    /// The value of an attribute that names another item of the same parent, if there is one.
    pub(super) fn value_of_sibling(
        &self,
        entity: &Entity,
        name: &str,
        place: Place<'_>,
        depth: u32,
    ) -> Option<String> {
        let sibling = self.siblings.get(&(entity.name.as_str(), name)).filter(|_| depth > 0)?;
        let parent = self.model.entity(sibling.expect.per.as_deref()?)?;
        let all = self.numbered(sibling);
        let each = all as f64 / self.numbered(parent).max(1) as f64;
        let first = |group: u64| ((group as f64 * each).ceil() as u64).min(all);
        let (start, end) = (first(place.group), first(place.group + 1));
        let number = start + at(self.seed, name, place.number).checked_rem(end - start)?;
        self.values(sibling, number, depth - 1).remove(name)
    }

    /// The entity that an attribute of another one names: the one that it identifies, that summarises items by it, or that it leads to.
    pub(super) fn owner_of(&self, entity: &Entity, name: &str) -> Option<&'m Entity> {
        let owner = self.model.owner_of(name);
        owner.or_else(|| self.owners.get(&(entity.name.as_str(), name)).copied())
    }

    /// The number of the item that an attribute names; among values that distinguish items, the number of the value.
    pub(super) fn turn(&self, entity: &Entity, name: &str, owner: Option<&Entity>, place: Place<'_>) -> u64 {
        if owner.is_some() && entity.has_unique(name) {
            return place.number;
        }
        if let [first, second] = entity.edge.as_slice()
            && (first == name || second == name)
        {
            return self.turn_of_end(entity, (first, second), name, place);
        }
        match owner {
            // It advances with every item of the group, so that none repeats there.
            Some(_) => at(self.seed, name, place.group).wrapping_add(place.ordinal),
            None => place.ordinal,
        }
    }

    /// The ends of a relationship: one goes round all items; the other starts from a place of its own for each of them, so that all are reached, and advances with every round.
    fn turn_of_end(&self, entity: &Entity, ends: (&str, &str), name: &str, place: Place<'_>) -> u64 {
        let (near, far) = if place.given == Some(ends.1) { (ends.1, ends.0) } else { ends };
        let owner = |end: &str| self.owner_of(entity, end);
        let items = |end: &str| owner(end).map_or(self.numbered(entity), |owner| self.numbered(owner)).max(1);
        let (turn, round) = match place.given {
            Some(_) => (place.group, place.ordinal),
            None => (place.number % items(near), place.number / items(near)),
        };
        if name == near {
            return turn;
        }
        let is_same = owner(near).map(|owner| &owner.name) == owner(far).map(|owner| &owner.name);
        let room = items(far).saturating_sub(u64::from(is_same)).max(1);
        let start = at(self.seed, &entity.name, 0) % room;
        let own = u128::from(turn % items(near)) * u128::from(items(far)) / u128::from(items(near));
        let place = u64::try_from(own).unwrap_or_default();
        place.wrapping_add(u64::from(is_same)).wrapping_add((start + round % room) % room)
    }
}
