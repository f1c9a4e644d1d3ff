//! Aggregates kept at write time: what an item adds to them, and what a whole table must add up to.
//!
//! Sums are exact. Several items may have the same identity, as the parts of a counter that is spread over shards do: then theirs together
//! are the aggregate.

use crate::audit::fingerprint::fingerprint;
use crate::item::{Attributes, Item};
use crate::model::decimal::Decimal;
use crate::model::{Aggregate, Entity, Function, Model};
use crate::template::SHARD;
use std::collections::HashMap;

mod amount;
pub(crate) use amount::Amount;

/// The attributes that identify an item, with their values.
pub type Identity = Vec<(String, String)>;

/// What one item adds to an aggregate.
pub(crate) struct Contribution<'m> {
    /// The entity of the item that has the aggregate.
    pub parent: &'m Entity,
    pub identity: Identity,
    pub aggregate: &'m Aggregate,
    pub amount: Amount,
}

/// What an item of an entity adds to the aggregates of others; `values` also has those that only its key contains.
pub(crate) fn contributions<'m>(
    model: &'m Model,
    child: &Entity,
    item: &Item,
    values: &Attributes,
) -> Vec<Contribution<'m>> {
    let mut found = Vec::new();
    for parent in model.entities.iter().filter(|entity| !entity.aggregates.is_empty()) {
        for aggregate in parent.aggregates.iter().filter(|aggregate| aggregate.of == child.name) {
            let amount = aggregate.contribution(child, item, values);
            if let (Some(amount), Some(identity)) = (amount, identity(parent, child, item, values)) {
                found.push(Contribution { parent, identity, aggregate, amount });
            }
        }
    }
    found
}

/// The identity of the parent that an item of an entity names, if all of it has a text.
pub(crate) fn identity(parent: &Entity, own: &Entity, item: &Item, values: &Attributes) -> Option<Identity> {
    let names = parent.identifying().into_iter();
    names.map(|name| Some((name.to_owned(), Amount::of(own, item, values, name)?.to_string()))).collect()
}

/// Whether no two items of an entity have the same identity: it determines their key, or is declared unique.
pub(crate) fn has_own_identity(entity: &Entity) -> bool {
    let names = entity.identifying();
    let shard = entity.shard.as_ref().filter(|shard| shard.is_computed()).and_then(|own| own.by.as_deref());
    let is_known = |field: &str| names.contains(&if field == SHARD { shard.unwrap_or(SHARD) } else { field });
    entity.key_fields().all(is_known) || entity.is_unique_by(|name| names.contains(&name))
}

/// What messages call an aggregate: `commentCount of Post with postId 7`.
pub(crate) fn named(parent: &Entity, identity: &Identity, aggregate: &Aggregate) -> String {
    let by: Vec<String> = identity.iter().map(|(name, value)| format!("{name} {value}")).collect();
    format!("{} of {} with {}", aggregate.name, parent.name, by.join(", "))
}

impl Aggregate {
    /// Returns what an item of the entity adds; `None` if it does not count.
    pub(crate) fn contribution(&self, child: &Entity, item: &Item, values: &Attributes) -> Option<Amount> {
        if !self.filter.holds_for_known(item, values) {
            return None;
        }
        let amount = || Amount::of(child, item, values, &self.attribute);
        match self.function {
            Function::Count => Some(Amount::Number(Decimal::one())),
            Function::Sum => amount().filter(|amount| amount.number().is_some()),
            Function::Min | Function::Max => amount(),
        }
    }

    /// Returns whether a least or greatest value prefers one amount to the other.
    pub(crate) fn prefers(&self, one: &Amount, other: &Amount) -> bool {
        if self.function == Function::Max { one > other } else { one < other }
    }

    /// Returns whether two values are equal; an absent sum is zero.
    pub(crate) fn equal(&self, left: Option<&Amount>, right: Option<&Amount>) -> bool {
        let zero = Amount::Number(Decimal::default());
        let or_zero = |value: Option<&Amount>| value.unwrap_or(&zero).clone();
        if self.function.is_additive() { or_zero(left) == or_zero(right) } else { left == right }
    }
}

/// The sum of some amounts, or the least or greatest one.
#[derive(Default)]
pub(crate) struct Total(Option<Amount>);

impl Total {
    pub fn of<'a>(aggregate: &Aggregate, amounts: impl IntoIterator<Item = &'a Amount>) -> Option<Amount> {
        let mut total = Total::default();
        amounts.into_iter().for_each(|amount| total.add(aggregate, amount.clone()));
        total.value().cloned()
    }

    pub fn add(&mut self, aggregate: &Aggregate, amount: Amount) {
        let best = self.0.take();
        self.0 = match (best, amount) {
            // A text adds nothing to a sum.
            (best, Amount::Text(_)) if aggregate.function.is_additive() => best,
            (Some(Amount::Number(sum)), Amount::Number(number)) if aggregate.function.is_additive() => {
                Some(Amount::Number(sum.plus(&number)))
            }
            (Some(best), amount) if !aggregate.prefers(&amount, &best) => Some(best),
            (_, amount) => Some(amount),
        };
    }

    /// The aggregate: `None` without items.
    pub fn value(&self) -> Option<&Amount> {
        self.0.as_ref()
    }
}

/// The aggregates of a table whose items are added one by one. One entry is kept for each item with an aggregate that has been read, or that
/// an item belongs to: some 200 bytes, whatever the number of items.
#[derive(Default)]
pub struct AggregateTotals<'m> {
    entries: HashMap<u128, Entry<'m>>,
}

struct Entry<'m> {
    aggregate: &'m Aggregate,
    name: String,
    total: Total,
    /// What the items that have the aggregate say; `None` if there is no such item.
    stored: Option<Total>,
}

impl<'m> AggregateTotals<'m> {
    /// Adds an item; `values` also has those that only its key contains.
    pub fn add(&mut self, model: &'m Model, entity: &'m Entity, item: &Item, values: &Attributes) {
        for found in contributions(model, entity, item, values) {
            let entry = self.entry(found.parent, &found.identity, found.aggregate);
            entry.total.add(found.aggregate, found.amount);
        }
        if entity.aggregates.is_empty() {
            return;
        }
        let Some(identity) = identity(entity, entity, item, values) else { return };
        for aggregate in &entity.aggregates {
            let amount = Amount::of(entity, item, values, &aggregate.name);
            let stored = self.entry(entity, &identity, aggregate).stored.get_or_insert_default();
            amount.into_iter().for_each(|amount| stored.add(aggregate, amount));
        }
    }

    fn entry(&mut self, parent: &Entity, identity: &Identity, aggregate: &'m Aggregate) -> &mut Entry<'m> {
        // The name alone may be that of two: values may contain what separates them.
        let entry = fingerprint(&format!("{:?}", (&parent.name, identity, &aggregate.name)));
        let name = || named(parent, identity, aggregate);
        let new = || Entry { aggregate, name: name(), total: Total::default(), stored: None };
        self.entries.entry(entry).or_insert_with(new)
    }

    /// Returns a message for each aggregate that does not match.
    pub fn finish(self) -> Vec<String> {
        let mut messages: Vec<String> = self.entries.into_values().filter_map(Entry::mismatch).collect();
        messages.sort();
        messages
    }
}

impl Entry<'_> {
    fn mismatch(self) -> Option<String> {
        let Entry { aggregate, name, total, stored } = self;
        if aggregate.equal(total.value(), stored.as_ref().and_then(Total::value)) {
            return None;
        }
        let none = if aggregate.function.is_additive() { "0" } else { "absent" };
        let expected = total.value().map_or_else(|| none.to_owned(), Amount::to_string);
        let Some(stored) = stored else {
            return Some(format!("{name} does not exist, but {aggregate} is {expected}"));
        };
        let stored = stored.value().map_or_else(|| "absent".to_owned(), Amount::to_string);
        Some(format!("{name} is {stored}, but {aggregate} is {expected}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::recognise;
    use crate::item::{Item, Value, attributes};

    const MODEL: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Post]
attributes = { postId = "id" }
key = ["POST#{postId}", "POST"]
aggregates = { comments = "count Comment", score = "sum Comment.points where state == 'OK'", newest = "max Comment.at" }
[entity.Comment]
attributes = { postId = "id", commentId = "id", at = "timestamp", points = "decimal", state = "OK|BAD" }
key = ["POST#{postId}", "COMMENT#{commentId}"]
"#;

    fn model() -> Model {
        crate::read(&crate::Source::new("t.toml", MODEL)).unwrap()
    }

    fn item(values: &[(&str, &str)]) -> Item {
        let value = |name: &str, text: &str| match name {
            "comments" | "score" | "points" => Value::Number(text.to_owned()),
            _ => Value::String(text.to_owned()),
        };
        values.iter().map(|(name, text)| ((*name).to_owned(), value(name, text))).collect()
    }

    fn post(values: &[(&str, &str)]) -> Item {
        let mut post = item(&[("PK", "POST#1"), ("SK", "POST"), ("type", "Post"), ("postId", "1")]);
        post.extend(item(values));
        post
    }

    fn comment(id: &str, points: &str, state: &str) -> Item {
        let at = format!("2026-01-0{id}T00:00:00Z");
        item(&[
            ("PK", "POST#1"),
            ("SK", &format!("COMMENT#{id}")),
            ("type", "Comment"),
            ("postId", "1"),
            ("commentId", id),
            ("at", &at),
            ("points", points),
            ("state", state),
        ])
    }

    #[test]
    fn a_table_is_recounted() {
        let model = model();
        let audited = |items: &[Item]| {
            let mut totals = AggregateTotals::default();
            for item in items {
                let texts = attributes(item);
                totals.add(&model, recognise(&model, &texts).unwrap(), item, &texts);
            }
            totals.finish()
        };
        let right = post(&[("comments", "2"), ("score", "1.50"), ("newest", "2026-01-02T00:00:00Z")]);
        let items = [comment("1", "1.5", "OK"), right, comment("2", "9", "BAD")];
        assert_eq!(audited(&items), [""; 0]);
        assert_eq!(audited(&items[..2]), ["comments of Post with postId 1 is 2, but count Comment is 1".to_owned(), "newest of Post with postId 1 is 2026-01-02T00:00:00Z, but max Comment.at is 2026-01-01T00:00:00Z".to_owned()]);
        assert_eq!(audited(&[post(&[])]), [""; 0]);
        let orphan = audited(&[comment("1", "1.5", "BAD")]);
        assert_eq!(orphan[0], "comments of Post with postId 1 does not exist, but count Comment is 1");
    }
}
