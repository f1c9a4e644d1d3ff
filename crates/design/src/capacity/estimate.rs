//! Estimates of items and units from the expectations that a model declares.
//!
//! What a model does not declare is assumed, and marked as such: see [`Basis`].

use crate::capacity::basis::{Basis, Estimate};
use crate::keys::key_mapping::KeyMapping;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Expectations, Model};
use crate::template::{SHARD, Template};
use std::collections::BTreeSet;

/// The largest page of a Query.
pub const PAGE_BYTES: f64 = 1_048_576.0;
const ASSUMED_COUNT: f64 = 10_000.0;
const ASSUMED_AVERAGE: f64 = 10.0;
/// How much the largest of several collections is assumed to exceed the average.
const ASSUMED_SKEW: f64 = 10.0;
/// How many generations of parents are followed.
const MAX_DEPTH: u32 = 8;

/// A number of items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ItemCount {
    /// The average.
    pub average: f64,
    /// The maximum.
    pub max: f64,
    /// What the average rests on.
    pub basis: Basis,
    /// What the maximum rests on.
    pub max_basis: Basis,
}

impl ItemCount {
    /// Returns the count of a single item that the keys prove to be the only one.
    pub fn one() -> ItemCount {
        ItemCount::exactly(Estimate::derived(1.0))
    }

    /// Returns the count of exactly this many items.
    pub fn exactly(count: Estimate) -> ItemCount {
        ItemCount { average: count.value, max: count.value, basis: count.basis, max_basis: count.basis }
    }

    /// Returns whether the average rests on declarations.
    pub fn is_known(&self) -> bool {
        !self.basis.is_assumed()
    }

    /// Returns the average.
    pub fn average(&self) -> Estimate {
        Estimate::new(self.average, self.basis)
    }

    /// Returns the maximum.
    pub fn max(&self) -> Estimate {
        Estimate::new(self.max, self.max_basis)
    }

    /// Returns the maximum if it rests on declarations, or the average.
    pub fn most_known(&self) -> Estimate {
        if self.max_basis.is_assumed() { self.average() } else { self.max() }
    }

    /// Returns the same count with at most this many items.
    pub fn at_most(mut self, most: Estimate) -> ItemCount {
        if self.max > most.value {
            self.max = most.value;
            self.max_basis = most.basis.and(Basis::Derived);
        }
        self.average = self.average.min(most.value);
        self
    }

    /// Returns the same count within a maximum that takes the place of an assumed one.
    fn within(self, most: Estimate) -> ItemCount {
        let bounded = self.at_most(most);
        if !self.max_basis.is_assumed() {
            return bounded;
        }
        ItemCount { max: most.value, max_basis: most.basis, ..bounded }
    }

    /// Returns the same count, if it is that of the items under so many partition keys.
    pub fn under_keys(self, mapping: &KeyMapping<'_>, keys: Estimate) -> ItemCount {
        let is_of_table = mapping.location.index.is_none_or(|index| index.local);
        let most = most_of_key(mapping.entity).filter(|_| is_of_table);
        most.map_or(self, |most| self.at_most(most * keys))
    }

    /// Returns the count of as many items for each of others.
    pub fn times(self, other: ItemCount) -> ItemCount {
        ItemCount {
            average: self.average * other.average,
            max: self.max * other.max,
            basis: self.basis.and(other.basis),
            max_basis: self.max_basis.and(other.max_basis),
        }
    }

    /// Returns the sum of two counts.
    pub fn plus(self, other: ItemCount) -> ItemCount {
        ItemCount {
            average: self.average + other.average,
            max: self.max + other.max,
            basis: self.basis.and(other.basis),
            max_basis: self.max_basis.and(other.max_basis),
        }
    }
}

/// Returns the number of all items of an entity.
pub fn total(model: &Model, entity: &Entity) -> Estimate {
    total_within(model, entity, MAX_DEPTH)
}

/// Returns the number of all items of an entity, whatever it rests on.
pub fn count(model: &Model, entity: &Entity) -> f64 {
    total(model, entity).value
}

fn total_within(model: &Model, entity: &Entity, depth: u32) -> Estimate {
    if let Some(count) = entity.expect.count {
        return Estimate::declared(count as f64);
    }
    if depth == 0 {
        return Estimate::assumed(ASSUMED_COUNT);
    }
    if let Some(parent) = parent(model, entity) {
        return total_within(model, parent, depth - 1) * per_parent(model, entity).average();
    }
    let original = entity.copies.as_deref().and_then(|name| model.entity(name));
    original.map_or(Estimate::assumed(ASSUMED_COUNT), |original| total_within(model, original, depth - 1))
}

/// The entity that the expectations refer to.
fn parent<'m>(model: &'m Model, entity: &Entity) -> Option<&'m Entity> {
    entity.expect.per.as_deref().and_then(|name| model.entity(name))
}

/// The items of an entity for each parent: the declared average, or what the declared numbers of both make, and no more than the declared
/// maximum.
pub fn per_parent(model: &Model, entity: &Entity) -> ItemCount {
    let expect = &entity.expect;
    let most = expect.max.map(|max| Estimate::declared(max as f64));
    let average = expect.average.map(Estimate::declared).or_else(|| shared_out(model, entity));
    let average = average.unwrap_or(Estimate::assumed(ASSUMED_AVERAGE));
    let open = Estimate::assumed(average.value * ASSUMED_SKEW);
    let items = ItemCount { max: open.value, max_basis: open.basis, ..ItemCount::exactly(average) };
    most.map_or(items, |most| items.within(most))
}

/// The declared number of items, shared out among the parents, if their number is known, too.
pub fn shared_out(model: &Model, entity: &Entity) -> Option<Estimate> {
    let parents = total(model, parent(model, entity)?);
    let all = entity.expect.count.filter(|_| !parents.basis.is_assumed() && parents.value > 0.0)?;
    Some(parents.map(|parents| all as f64 / parents))
}

/// Returns the most items of an entity that the model declares for one partition key of the table: the maximum that is not that of a parent.
pub fn most_of_key(entity: &Entity) -> Option<Estimate> {
    let most = entity.expect.max.filter(|_| entity.expect.per.is_none());
    most.map(|most| Estimate::declared(most as f64))
}

/// Returns whether the number of an entity's items rests on declarations.
pub fn is_counted(model: &Model, entity: &Entity) -> bool {
    !total(model, entity).basis.is_assumed()
}

/// Returns the number of distinct values of an attribute, if it is known: declared, implied by its type or its name, or the number of the
/// entity that it identifies.
pub fn distinct(model: &Model, entity: &Entity, name: &str) -> Option<Estimate> {
    let own = own_distinct(entity.attribute(name)?);
    let owner = || model.owner_of(name).map(|owner| total(model, owner).map(|all| all));
    let is_known = |values: &Estimate| !values.basis.is_assumed();
    own.filter(is_known).or_else(|| owner().filter(is_known)).or(own)
}

/// Returns the number of distinct values of an attribute that is declared or implied by its type. What its name implies is assumed, and so
/// are the days of a year.
pub fn own_distinct(attribute: &Attribute) -> Option<Estimate> {
    let values = attribute.distinct()? as f64;
    Some(match attribute.kind {
        _ if attribute.values.is_some() => Estimate::declared(values),
        ValueType::Choice(_) | ValueType::Bool => Estimate::derived(values),
        _ => Estimate::assumed(values),
    })
}

/// Returns whether the attribute that identifies an entity is known. What only the name implies does not count where more items are declared
/// than the attribute has values.
pub fn is_identified(model: &Model, entity: &Entity, is_known: impl Fn(&str) -> bool) -> bool {
    let is_meant = |id: &&str| !entity.identity.is_empty() || !is_outnumbered(model, entity, id);
    entity.identity().filter(is_meant).is_some_and(is_known)
}

/// Returns whether the model declares more items than an attribute can have values, so that several have the same.
pub fn is_outnumbered(model: &Model, entity: &Entity, name: &str) -> bool {
    let Some(attribute) = entity.attribute(name) else { return false };
    let limits = attribute.limits.min.as_ref().zip(attribute.limits.max.as_ref());
    let whole = limits.filter(|_| attribute.kind == ValueType::Int);
    let whole = whole.and_then(|(min, max)| max.floor()?.checked_sub(min.ceiling()?)?.checked_add(1));
    let known = own_distinct(attribute).filter(|values| !values.basis.is_assumed());
    let most = known.map(|values| values.value).or(whole.map(|values| values as f64));
    let items = total(model, entity);
    most.is_some_and(|most| !items.basis.is_assumed() && items.value > most)
}

/// Returns the number of items of an entity that agree in the attributes `fixed`.
pub fn items<'a>(model: &'a Model, entity: &Entity, fixed: &'a [String]) -> ItemCount {
    // A key may hold an attribute twice.
    let fixed: BTreeSet<&str> = fixed.iter().map(String::as_str).collect();
    items_within(model, entity, &fixed.into_iter().collect::<Vec<_>>(), MAX_DEPTH)
}

fn items_within<'a>(model: &'a Model, entity: &Entity, fixed: &[&'a str], depth: u32) -> ItemCount {
    let has = |name: &str| fixed.contains(&name);
    let identified = is_identified(model, entity, has) && entity.versions.is_none();
    if identified || entity.is_unique_by(has) || entity.key_fields().all(has) {
        return ItemCount::one();
    }
    let parent = parent(model, entity).filter(|_| depth > 0);
    let in_parent = |name: &&'a str| parent.map_or(*name, |parent| meant_in(model, parent, entity, name));
    let (above, own): (Vec<&str>, Vec<&str>) = fixed
        .iter()
        .map(in_parent)
        .partition(|name| parent.is_some_and(|parent| belongs(model, parent, name, depth - 1)));
    let mut amount = match parent.filter(|_| !above.is_empty()) {
        Some(parent) => times(items_within(model, parent, &above, depth - 1), per_parent(model, entity)),
        None => ItemCount::exactly(total(model, entity)),
    };
    for name in own {
        narrow(model, entity, name, &mut amount);
    }
    let is_fixed = |key: &&Template| key.fields().all(|name| name == SHARD || has(name));
    match (entity.key.first().filter(is_fixed), most_of_key(entity)) {
        (Some(key), Some(most)) => {
            amount.within(shards_of_key(entity, key).map_or(most, |shards| most * shards))
        }
        _ => amount,
    }
}

/// Returns how many items are under each partition key of the table on average, whatever maximum is declared for one.
pub fn average_under_key(model: &Model, mapping: &KeyMapping<'_>) -> Option<Estimate> {
    let open = Expectations { max: None, ..mapping.entity.expect.clone() };
    let entity = Entity { expect: open, ..mapping.entity.clone() };
    let key = entity.key.first()?;
    let fields: Vec<String> = key.fields().filter(|name| *name != SHARD).map(str::to_owned).collect();
    let all = items(model, &entity, &fields).average();
    Some(shards_of_key(&entity, key).map_or(all, |shards| all * shards.map(f64::recip)))
}

/// The number of partition keys over which shards spread what would be under one.
fn shards_of_key(entity: &Entity, key: &Template) -> Option<Estimate> {
    let shard = entity.shard.as_ref().filter(|_| key.has_field(SHARD))?;
    Some(Estimate::declared(shard.count as f64))
}

/// The attribute of a parent that the end of a relationship stands for: the `followerId` of a follower is a `userId`.
fn meant_in<'a>(model: &Model, parent: &'a Entity, entity: &Entity, name: &'a str) -> &'a str {
    let is_end = entity.edge.iter().any(|end| end == name) && model.owner_of(name).is_none();
    parent.identity().filter(|id| is_end && entity.attribute(id).is_none()).unwrap_or(name)
}

/// Returns whether an attribute belongs to the key of an entity, or of a parent of it.
fn belongs(model: &Model, entity: &Entity, name: &str, depth: u32) -> bool {
    let own =
        entity.identity() == Some(name) || (entity.attribute(name).is_some() && entity.has_key_field(name));
    own || (depth > 0 && parent(model, entity).is_some_and(|parent| belongs(model, parent, name, depth - 1)))
}

/// The items of several parents.
fn times(parents: ItemCount, each: ItemCount) -> ItemCount {
    let one = parents.max <= 1.0;
    let combine =
        |parents: Basis, each: Basis| if one { each } else { parents.and(each).and(Basis::Derived) };
    ItemCount {
        average: parents.average * each.average,
        max: parents.max * each.max,
        basis: combine(parents.basis, each.basis),
        max_basis: combine(parents.max_basis, each.max_basis),
    }
}

/// Reduces an amount to the items that have one value of an attribute.
fn narrow(model: &Model, entity: &Entity, name: &str, amount: &mut ItemCount) {
    let Some(attribute) = entity.attribute(name) else { return };
    let known = distinct(model, entity, name).unwrap_or_else(|| Estimate::assumed(amount.average.sqrt()));
    let values = known.value.max(1.0);
    amount.average = (amount.average / values).max(amount.average.min(1.0));
    amount.basis = amount.basis.and(known.basis).and(Basis::Derived);
    let most = match attribute.top {
        // The share is one of all items; a single parent may have no others.
        Some(top) => total(model, entity).map(|all| all * top),
        None => Estimate::assumed(amount.max * (ASSUMED_SKEW / values).min(1.0)),
    };
    amount.max = amount.max.min(most.value).max(amount.average);
    amount.max_basis = amount.max_basis.and(most.basis);
}

/// Returns the number of items of an entity in the table or an index that agree in the attributes `fixed`. The number in a
/// sparse index is declared, or assumed to be small.
pub fn items_at(model: &Model, mapping: &KeyMapping<'_>, fixed: &[String]) -> ItemCount {
    let amount = items(model, mapping.entity, fixed);
    if !mapping.is_sparse() || amount.max <= 1.0 {
        return amount;
    }
    let all = total(model, mapping.entity);
    let here = match mapping.count {
        Some(count) => Estimate::declared(count as f64),
        None => Estimate::assumed((ASSUMED_SKEW * all.value.sqrt()).min(all.value)),
    };
    // The values that the condition leaves of an attribute divide the items here; what it does not list divides them as everywhere.
    let left =
        |name: &String| mapping.when.mentions(name).then(|| mapping.when.values(name, mapping.entity))?;
    let (mut sifted, mut values) = (Vec::new(), 1.0);
    for name in fixed {
        match left(name) {
            Some(listed) => values *= listed.len().max(1) as f64,
            None => sifted.push(name.clone()),
        }
    }
    if sifted.is_empty() && values <= 1.0 {
        return ItemCount::exactly(here);
    }
    let here = here.map(|count| (count / values).max(count.min(1.0)));
    if sifted.is_empty() {
        let max_basis = here.basis.and(Basis::Derived);
        let divided =
            ItemCount { average: here.value, max: here.value * values, basis: max_basis, max_basis };
        return if amount.max_basis.is_assumed() { divided } else { divided.at_most(amount.max()) };
    }
    // No more than there are with the same attributes, in the index or not.
    let whole = items(model, mapping.entity, &sifted);
    let share = (whole.average / all.value.max(1.0)).min(1.0);
    let average = (here.value * share).max(1.0).min(whole.average);
    ItemCount {
        average,
        max: (average * values * 2.0).min(whole.max),
        basis: here.basis.and(whole.basis).and(Basis::Derived),
        max_basis: Basis::Assumed,
    }
}

/// Returns the read units of one request that reads this many bytes.
pub fn read_units(bytes: f64, strong: bool) -> f64 {
    let units = (bytes / 4096.0).ceil().max(1.0);
    if strong { units } else { units / 2.0 }
}

/// Returns the write units of an item of this size.
pub fn write_units(bytes: u64) -> u64 {
    bytes.div_ceil(1024).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, read};

    fn model(text: &str) -> Model {
        let table = "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n";
        read(&Source::new("t.toml", format!("{table}{text}"))).unwrap()
    }

    fn counted(model: &Model, name: &str, fixed: &[&str]) -> ItemCount {
        let fixed: Vec<String> = fixed.iter().map(|name| (*name).to_owned()).collect();
        items(model, model.entity(name).unwrap(), &fixed)
    }

    const TENANTS: &str = r#"
[entity.Tenant]
attributes = { tenantId = "id" }
key = ["T#{tenantId}", "T"]
expect = { count = 1000 }
[entity.Room]
attributes = { tenantId = "id", number = "int" }
key = ["T#{tenantId}", "ROOM#{number:04}"]
expect = { per = "Tenant", average = 20, max = 100 }
[entity.Booking]
attributes = { tenantId = "id", number = "int", bookingId = "ulid", kind = "string" }
key = ["T#{tenantId}#{number:04}", "B#{bookingId}"]
expect = { per = "Room", average = 500, max = 600 }
"#;

    #[test]
    fn items_are_counted_through_the_generations_of_parents() {
        let model = model(TENANTS);
        let room = counted(&model, "Booking", &["tenantId", "number"]);
        assert_eq!((room.average, room.max), (500.0, 600.0));
        assert_eq!((room.basis, room.max_basis), (Basis::Declared, Basis::Declared));
        let tenant = counted(&model, "Booking", &["tenantId"]);
        assert_eq!((tenant.average, tenant.max, tenant.basis), (10_000.0, 60_000.0, Basis::Derived));
        assert_eq!(counted(&model, "Booking", &[]).average, 10_000_000.0);
    }

    #[test]
    fn an_attribute_that_a_key_holds_twice_is_counted_once() {
        let model = model(&TENANTS.replace("kind = \"string\"", "kind = \"A|B\""));
        let once = counted(&model, "Booking", &["tenantId", "number", "kind"]);
        assert_eq!((once.average, once.basis), (250.0, Basis::Derived));
        assert_eq!(counted(&model, "Booking", &["tenantId", "kind", "number", "kind"]), once);
    }

    #[test]
    fn a_guess_never_exceeds_a_declared_maximum() {
        let model = model(TENANTS);
        let kind = counted(&model, "Booking", &["tenantId", "number", "kind"]);
        assert!(kind.average <= kind.max && kind.max <= 600.0, "{kind:?}");
        assert_eq!(kind.basis, Basis::Assumed);
        let text = "[entity.Tag]\nattributes = { tag = \"string\", itemId = \"ulid\" }\nidentity = [\"tag\", \"itemId\"]\n\
                    key = [\"TAG#{tag}\", \"ITEM#{itemId}\"]\nexpect = { count = 10_000_000, max = 100 }\n";
        let tagged = counted(&self::model(text), "Tag", &["tag"]);
        assert_eq!((tagged.average, tagged.max), (100.0, 100.0));
    }

    #[test]
    fn the_items_of_a_sparse_index_are_divided_by_what_its_condition_leaves_open() {
        let text = "[index.G]\nkeys = [\"GPK\", \"GSK\"]\n\
                    [entity.Coach]\nattributes = { coachId = \"id\" }\nkey = [\"COACH#{coachId}\", \"C\"]\nexpect = { count = 400 }\n\
                    [entity.Athlete]\nattributes = { athleteId = \"id\", coachId = \"id?\", state = \"A|B|C\" }\n\
                    key = [\"ATHLETE#{athleteId}\", \"A\"]\nexpect = { count = 120_000 }\n\
                    index.G = { key = [\"KEY\", \"{athleteId}\"], when = \"WHEN\", count = 90_000 }\n";
        let here = |key: &str, when: &str, fixed: &str| {
            let model =
                model(&text.replace("\"KEY", &format!("\"{key}")).replace("\"WHEN", &format!("\"{when}")));
            let location = crate::keys::key_mapping::TableOrIndex { index: model.index("G") };
            let mapping = location.mapping(model.entity("Athlete").unwrap()).unwrap();
            let amount = items_at(&model, &mapping, &[fixed.to_owned()]);
            (amount.average, amount.basis)
        };
        assert_eq!(here("COACH#{coachId}", "exists(coachId)", "coachId"), (225.0, Basis::Derived));
        assert_eq!(here("S#{state}", "state in ('A', 'B')", "state"), (45_000.0, Basis::Derived));
        assert_eq!(here("S#{state}", "state == 'A'", "state"), (90_000.0, Basis::Declared));
    }

    #[test]
    fn what_nothing_declares_is_assumed() {
        let model = model("[entity.User]\nattributes = { userId = \"id\" }\nkey = [\"U#{userId}\", \"U\"]\n");
        let user = &model.entities[0];
        assert!(total(&model, user).basis.is_assumed());
        assert_eq!(counted(&model, "User", &["userId"]), ItemCount::one());
    }
}
