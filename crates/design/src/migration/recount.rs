//! Recounts the aggregates of a table: which items have others than they should, and what they become.

use super::key_of;
use crate::audit::aggregates::{Amount, Contribution, Identity, Total, contributions, identity};
use crate::audit::fingerprint::fingerprint;
use crate::audit::{known_values, recognise};
use crate::generate::typed_value;
use crate::item::{Attributes, Item, attributes};
use crate::keys::key_mapping::is_natural;
use crate::keys::key_sources::KeySources;
use crate::model::decimal::Decimal;
use crate::model::{Aggregate, Entity, Model};
use std::collections::{HashMap, HashSet};

/// The aggregates of a table whose items are added one by one. What is kept is one entry for each item that has aggregates: its key, and some
/// 100 bytes for each of them.
pub struct Recount<'m> {
    model: &'m Model,
    owners: HashMap<u64, Owner<'m>>,
    /// Count only for these.
    only: Option<HashSet<u64>>,
}

/// An item that has aggregates.
struct Owner<'m> {
    entity: &'m Entity,
    /// What its items add up to, for each of the aggregates.
    totals: Vec<Total>,
    /// Its key and the aggregates that it has; of several items with the same identity, each has a part of them.
    stored: Vec<(Item, Item)>,
}

/// An item whose aggregates are not what they should be.
#[derive(Clone, Debug)]
pub struct Correction {
    /// The number of the item in the recount; see [`Recount::owners`].
    pub owner: u64,
    /// Its key.
    pub key: Item,
    /// The aggregates that it has.
    pub before: Item,
    /// Those that it should have.
    pub after: Item,
}

impl<'m> Recount<'m> {
    /// Starts to count; `None` if the model declares no aggregates.
    pub fn new(model: &'m Model) -> Option<Recount<'m>> {
        let has_aggregates = model.entities.iter().any(|entity| !entity.aggregates.is_empty());
        has_aggregates.then(|| Recount { model, owners: HashMap::new(), only: None })
    }

    /// Starts to count for some items only, by their numbers.
    pub fn only(model: &'m Model, owners: HashSet<u64>) -> Recount<'m> {
        Recount { model, owners: HashMap::new(), only: Some(owners) }
    }

    /// Returns whether an item has, or adds to, an aggregate that is counted.
    pub fn is_about(&self, item: &Item) -> bool {
        self.owners(item).iter().any(|owner| self.is_counted(*owner))
    }

    fn is_counted(&self, owner: u64) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&owner))
    }

    /// Adds an item.
    pub fn add(&mut self, item: &Item) {
        let Some((entity, values)) = self.recognised(item) else { return };
        for own in contributions(self.model, entity, item, &values) {
            let Contribution { parent, identity, aggregate, amount } = own;
            let numbered = parent.aggregates.iter().position(|own| own.name == aggregate.name);
            if let Some(total) =
                numbered.and_then(|number| self.owner(parent, &identity).totals.get_mut(number))
            {
                total.add(aggregate, amount);
            }
        }
        let own = identity(entity, entity, item, &values).filter(|_| !entity.aggregates.is_empty());
        if let Some(identity) = own {
            let key = key_of(self.model, item);
            self.owner(entity, &identity).stored.push((key, aggregates_of(entity, item)));
        }
    }

    fn recognised(&self, item: &Item) -> Option<(&'m Entity, Attributes)> {
        let texts = attributes(item);
        let entity = recognise(self.model, &texts)?;
        Some((entity, known_values(self.model, entity, &texts)))
    }

    fn owner(&mut self, entity: &'m Entity, identity: &Identity) -> &mut Owner<'m> {
        let new = || Owner {
            entity,
            totals: entity.aggregates.iter().map(|_| Total::default()).collect(),
            stored: Vec::new(),
        };
        self.owners.entry(number(entity, identity)).or_insert_with(new)
    }

    /// Returns the numbers of the items whose aggregates an item has or adds to.
    pub fn owners(&self, item: &Item) -> Vec<u64> {
        let Some((entity, values)) = self.recognised(item) else { return Vec::new() };
        let others = contributions(self.model, entity, item, &values).into_iter();
        let others = others.map(|own| number(own.parent, &own.identity));
        others.chain(identity(entity, entity, item, &values).map(|own| number(entity, &own))).collect()
    }

    /// Returns the items whose aggregates are not what they should be, in the order of their keys.
    pub fn corrections(&self) -> Vec<Correction> {
        let each = self.owners.iter().filter(|(owner, _)| self.is_counted(**owner));
        let each = each.flat_map(|(owner, own)| own.corrections(*owner));
        let mut corrections: Vec<Correction> = each.collect();
        corrections.sort_by_cached_key(|correction| format!("{:?}", correction.key));
        corrections
    }
}

/// The number of an item in a recount.
fn number(entity: &Entity, identity: &Identity) -> u64 {
    fingerprint(&format!("{:?}", (&entity.name, identity))) as u64
}

/// Returns the aggregates that an item has.
pub fn aggregates_of(entity: &Entity, item: &Item) -> Item {
    let own = |name: &String| Some((name.clone(), item.get(name)?.clone()));
    entity.aggregates.iter().filter_map(|aggregate| own(&aggregate.name)).collect()
}

/// Returns an item without its aggregates and the index keys that follow from them.
pub fn without_aggregates(model: &Model, entity: &Entity, item: &Item) -> Item {
    let mut rest = with_aggregates(entity, item, &Item::new());
    if entity.aggregates.is_empty() {
        return rest;
    }
    let sources = KeySources::new(model, entity);
    for own in entity.declared_indexes() {
        let follows =
            entity.aggregates.iter().map(|aggregate| aggregate.name.as_str()).any(|name| {
                own.when.mentions(name) || own.key.iter().any(|template| template.has_field(name))
            });
        let Some(index) = model.index(&own.index).filter(|_| follows) else { continue };
        for (name, template) in index.keys.iter().zip(&own.key) {
            let is_made_of_them = entity.aggregates.iter().any(|own| template.has_field(&own.name));
            let follows = is_made_of_them || !sources.is_always_generated(name);
            if follows && entity.attribute(name).is_none() && !is_natural(model, name, template) {
                rest.remove(name);
            }
        }
    }
    rest
}

/// Returns an item with other aggregates.
pub fn with_aggregates(entity: &Entity, item: &Item, aggregates: &Item) -> Item {
    let mut changed = item.clone();
    changed.retain(|name, _| entity.aggregates.iter().all(|aggregate| aggregate.name != *name));
    changed.extend(aggregates.clone());
    changed
}

impl Owner<'_> {
    fn corrections(&self, owner: u64) -> Vec<Correction> {
        let mut after: Vec<Item> = self.stored.iter().map(|(_, aggregates)| aggregates.clone()).collect();
        for (aggregate, total) in self.entity.aggregates.iter().zip(&self.totals) {
            self.correct(aggregate, total.value(), &mut after);
        }
        let each = self.stored.iter().zip(after).filter(|((_, before), after)| before != after);
        each.map(|((key, before), after)| Correction {
            owner,
            key: key.clone(),
            before: before.clone(),
            after,
        })
        .collect()
    }

    /// Corrects one of the aggregates: in the first of several items.
    fn correct(&self, aggregate: &Aggregate, expected: Option<&Amount>, after: &mut [Item]) {
        let Some(attribute) = self.entity.attribute(&aggregate.name) else { return };
        let name = &aggregate.name;
        let nothing = Attributes::new();
        let amounts: Vec<Option<Amount>> =
            after.iter().map(|item| Amount::of(self.entity, item, &nothing, name)).collect();
        let is_additive = aggregate.function.is_additive();
        let has_required = attribute.optional || !is_additive || amounts.iter().all(Option::is_some);
        if aggregate.equal(Total::of(aggregate, amounts.iter().flatten()).as_ref(), expected) && has_required
        {
            return;
        }
        let others = Total::of(aggregate, amounts.iter().skip(1).flatten());
        let zero = || Amount::Number(Decimal::default());
        let first = match (expected.cloned(), is_additive) {
            (expected, false) => expected,
            (expected, true) => {
                let (sum, others) = (expected.unwrap_or_else(zero), others.unwrap_or_else(zero));
                let rest = sum.number().zip(others.number());
                rest.map(|(sum, others)| Amount::Number(sum.plus(&others.negated())))
            }
        };
        for (number, item) in after.iter_mut().enumerate() {
            if number > 0 && (is_additive || expected.is_some()) {
                let is_right = |own: &Amount| {
                    is_additive || expected.is_none_or(|expected| !aggregate.prefers(own, expected))
                };
                if amounts[number].as_ref().is_some_and(is_right) {
                    continue;
                }
            }
            item.remove(name);
            let own =
                if number == 0 { first.clone() } else { (is_additive && !attribute.optional).then(zero) };
            if let Some(amount) = own {
                item.insert(name.clone(), typed_value(&attribute.kind, &amount.to_string()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Value;

    const MODEL: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Page]
attributes = { a = "string", b = "string" }
identity = ["a", "b"]
key = ["P#{a:escaped}#{b:escaped}", "P"]
aggregates = { n = "count Line" }
[entity.Line]
attributes = { a = "string", b = "string", lineId = "id" }
key = ["P#{a:escaped}#{b:escaped}", "L#{lineId}"]
"#;

    fn item(kind: &str, sort: &str, a: &str, b: &str) -> Item {
        let partition = format!("P#{a}#{b}");
        let texts = [("type", kind), ("PK", partition.as_str()), ("SK", sort), ("a", a), ("b", b)];
        texts.map(|(name, text)| (name.to_owned(), Value::String(text.to_owned()))).into()
    }

    #[test]
    fn owners_are_told_apart_whatever_their_values_contain() {
        let model = crate::read(&crate::Source::new("t.toml", MODEL)).unwrap();
        let mut recount = Recount::new(&model).unwrap();
        let (owner, other) = (item("Page", "P", "1, b 2", "3"), item("Page", "P", "1", "2, b 3"));
        for item in [&owner, &other, &item("Line", "L#1", "1, b 2", "3")] {
            recount.add(item);
        }
        let corrections = recount.corrections();
        let counted: Vec<&Correction> = corrections
            .iter()
            .filter(|correction| correction.after.get("n") == Some(&Value::Number("1".to_owned())))
            .collect();
        assert_eq!(counted.len(), 1, "{corrections:?}");
        assert_eq!(counted[0].key.get("PK"), owner.get("PK"));
    }
}
