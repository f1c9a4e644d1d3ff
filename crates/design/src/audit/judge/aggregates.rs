//! Aggregates: each changes by what the decision's items add to it and take away, and by nothing else.
//!
//! So the items that an aggregate summarises exist only together with the item that has it, which is deleted after them. A least or greatest
//! value that leaves does not show the next one: the decision contains all the items that remain, as many as a count says.
//!
//! Where several items may have the same identity, a decision shows some of them only: their sums add up, and a least or greatest value that one
//! of them has never leaves.

use super::{SeenChange, SeenItem};
use crate::audit::aggregates::{
    Amount, Contribution, Identity, Total, contributions, has_own_identity, identity, named,
};
use crate::audit::{Violation, violation};
use crate::model::{Aggregate, Entity, Model};
use std::collections::BTreeMap;

/// The item that has an aggregate: its entity and its identity.
type Owner = (String, Identity);

pub fn judge(model: &Model, seen: &[SeenChange<'_, '_>]) -> Vec<(usize, Violation)> {
    if model.entities.iter().all(|entity| entity.aggregates.is_empty()) {
        return Vec::new();
    }
    let mut owners: BTreeMap<Owner, SeenOwner<'_>> = BTreeMap::new();
    for (number, change) in seen.iter().enumerate() {
        let items = [(&change.old, false), (&change.new, true)];
        for (item, is_new) in items.into_iter().filter_map(|(item, is_new)| Some((item.as_ref()?, is_new))) {
            for contribution in contributions(model, item.entity, item.item, &item.values) {
                let owner = (contribution.parent.name.clone(), contribution.identity.clone());
                let new = || SeenOwner::new(contribution.parent, number);
                owners.entry(owner).or_insert_with(new).contribute(contribution, is_new);
            }
            if let Some(identity) = owner_identity(item) {
                let new = || SeenOwner::new(item.entity, number);
                let owner = owners.entry((item.entity.name.clone(), identity)).or_insert_with(new);
                (if is_new { &mut owner.new } else { &mut owner.old }).push(item);
            }
        }
    }
    let problems = |((_, identity), owner): (&Owner, &SeenOwner<'_>)| -> Vec<(usize, Violation)> {
        let all = owner.entity.aggregates.iter().filter_map(|own| owner.problem(identity, own));
        all.map(|message| (owner.number, violation("aggregate", message))).collect()
    };
    owners.iter().flat_map(problems).collect()
}

fn owner_identity(item: &SeenItem<'_, '_>) -> Option<Identity> {
    let has = !item.entity.aggregates.is_empty();
    has.then(|| identity(item.entity, item.entity, item.item, &item.values)).flatten()
}

/// What the items of a decision add to an aggregate, before and after.
#[derive(Default)]
struct Contributed {
    before: Vec<Amount>,
    after: Vec<Amount>,
}

/// The items with aggregates of one identity in a decision, or one that items of the decision belong to.
struct SeenOwner<'a> {
    entity: &'a Entity,
    old: Vec<&'a SeenItem<'a, 'a>>,
    new: Vec<&'a SeenItem<'a, 'a>>,
    /// By the name of the aggregate.
    contributed: BTreeMap<&'a str, Contributed>,
    /// The first change that concerns it.
    number: usize,
}

/// The value of an aggregate in these items.
fn stored(aggregate: &Aggregate, items: &[&SeenItem<'_, '_>]) -> Option<Amount> {
    let amount = |item: &&SeenItem<'_, '_>| Amount::of(item.entity, item.item, &item.values, &aggregate.name);
    Total::of(aggregate, &items.iter().filter_map(amount).collect::<Vec<_>>())
}

impl<'a> SeenOwner<'a> {
    fn new(entity: &'a Entity, number: usize) -> SeenOwner<'a> {
        SeenOwner { entity, old: Vec::new(), new: Vec::new(), contributed: BTreeMap::new(), number }
    }

    fn contribute(&mut self, contribution: Contribution<'a>, is_new: bool) {
        let contributed = self.contributed.entry(&contribution.aggregate.name).or_default();
        let amounts = if is_new { &mut contributed.after } else { &mut contributed.before };
        amounts.push(contribution.amount);
    }

    /// What is wrong with an aggregate.
    fn problem(&self, identity: &Identity, aggregate: &Aggregate) -> Option<String> {
        let none = Contributed::default();
        let contributed = self.contributed.get(aggregate.name.as_str()).unwrap_or(&none);
        let differs = contributed.differs(aggregate);
        let name = || named(self.entity, identity, aggregate);
        if self.old.is_empty() && self.new.is_empty() {
            return differs.then(|| format!("{} is not updated in the same transaction", name()));
        }
        let [old, new] = [&self.old, &self.new].map(|items| stored(aggregate, items));
        let is_kept = match differs || self.new.is_empty() {
            true => {
                let expected = contributed.leads(aggregate, old.as_ref(), || self.shows_all(aggregate));
                expected.is_some_and(|expected| aggregate.equal(expected.as_ref(), new.as_ref()))
            }
            false => aggregate.equal(old.as_ref(), new.as_ref()),
        };
        let lacks_count = !aggregate.function.is_additive()
            && has_own_identity(self.entity)
            && self.count(aggregate).is_none();
        let remedy = || format!("declare one in aggregates of {}", self.entity.name);
        (!is_kept).then(|| match self.new.is_empty() {
            true if lacks_count && old.is_some() => format!(
                "{} is deleted, and without a count of the same items nothing shows that none of {aggregate} remain: {}",
                name(),
                remedy()
            ),
            true => format!(
                "{} is deleted while items of {aggregate} remain: delete them before, or in the same transaction",
                name()
            ),
            false if !differs => format!("{} changes, but no {} does", name(), aggregate.of),
            false if lacks_count && contributed.loses(aggregate, old.as_ref()) => format!(
                "{} leaves with its item, and without a count of the same items nothing shows which of {aggregate} remain: {}",
                name(),
                remedy()
            ),
            false if contributed.loses(aggregate, old.as_ref()) => format!(
                "{} leaves with its item, which requires a transaction with all items of {aggregate} that remain, as many as a count shows",
                name()
            ),
            false => format!("{} does not match {aggregate}", name()),
        })
    }

    /// The count of the items that an aggregate summarises, which shows whether a decision contains all of them.
    fn count(&self, aggregate: &Aggregate) -> Option<&Aggregate> {
        self.entity.aggregates.iter().find(|own| own.counts_for(aggregate))
    }

    /// Whether the decision contains all items that an aggregate summarises afterwards.
    fn shows_all(&self, aggregate: &Aggregate) -> bool {
        let count = self.count(aggregate).filter(|_| has_own_identity(self.entity));
        count.is_some_and(|count| {
            let shown = self.contributed.get(count.name.as_str()).map(|own| Total::of(count, &own.after));
            count.equal(shown.flatten().as_ref(), stored(count, &self.new).as_ref())
        })
    }
}

impl Contributed {
    /// Whether the aggregate may have to change.
    fn differs(&self, aggregate: &Aggregate) -> bool {
        if aggregate.function.is_additive() {
            let [before, after] = [&self.before, &self.after].map(|amounts| Total::of(aggregate, amounts));
            return !aggregate.equal(before.as_ref(), after.as_ref());
        }
        let [mut before, mut after] = [&self.before, &self.after].map(Clone::clone);
        before.sort();
        after.sort();
        before != after
    }

    /// Whether the least or greatest value may leave.
    fn loses(&self, aggregate: &Aggregate, old: Option<&Amount>) -> bool {
        let is_worse = |amount: &Amount| old.is_some_and(|old| aggregate.prefers(old, amount));
        !aggregate.function.is_additive() && !self.before.iter().all(is_worse)
    }

    /// What the aggregate becomes; the outer `None` if that cannot be known.
    fn leads(
        &self,
        aggregate: &Aggregate,
        old: Option<&Amount>,
        shows_all: impl Fn() -> bool,
    ) -> Option<Option<Amount>> {
        let all = Total::of(aggregate, self.after.iter().chain(old));
        if aggregate.function.is_additive() {
            let taken = Total::of(aggregate, &self.before);
            let taken =
                taken.as_ref().and_then(Amount::number).map(|number| Amount::Number(number.negated()));
            return Some(Total::of(aggregate, all.iter().chain(&taken)));
        }
        let shown = Total::of(aggregate, &self.after);
        let replaces = |shown: &Amount| !self.before.iter().any(|gone| aggregate.prefers(gone, shown));
        let is_replaced = shown == all && shown.as_ref().is_some_and(replaces);
        match self.loses(aggregate, old) && !is_replaced {
            false => Some(all),
            true => shows_all().then_some(shown),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::audit::judge::{Change, judge};
    use crate::item::{Item, Value};
    use crate::model::Model;

    const MODEL: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Post]
attributes = { postId = "id" }
key = ["POST#{postId}", "POST"]
aggregates = { comments = "count Comment", score = "sum Comment.points where state == 'OK'", best = "max Comment.points" }
[entity.Comment]
attributes = { postId = "id", commentId = "id", points = "int", state = "OK|BAD" }
key = ["POST#{postId}", "COMMENT#{commentId}"]
"#;

    fn model() -> Model {
        crate::read(&crate::Source::new("t.toml", MODEL)).unwrap()
    }

    fn item(texts: &[(&str, &str)], numbers: &[(&str, i64)]) -> Item {
        let texts = texts.iter().map(|(name, text)| (*name, Value::String((*text).to_owned())));
        let numbers = numbers.iter().map(|(name, number)| (*name, Value::Number(number.to_string())));
        texts.chain(numbers).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn post(comments: i64, score: i64, best: Option<i64>) -> Option<Item> {
        let mut post = item(
            &[("PK", "POST#1"), ("SK", "POST"), ("type", "Post"), ("postId", "1")],
            &[("comments", comments), ("score", score)],
        );
        post.extend(best.map(|best| ("best".to_owned(), Value::Number(best.to_string()))));
        Some(post)
    }

    fn comment(id: &str, points: i64, state: &str) -> Option<Item> {
        let key = format!("COMMENT#{id}");
        let texts = [("PK", "POST#1"), ("SK", &key), ("type", "Comment"), ("postId", "1"), ("state", state)];
        Some(item(&[&texts[..], &[("commentId", id)]].concat(), &[("points", points)]))
    }

    fn judged(decision: &[(Option<Item>, Option<Item>)]) -> Vec<String> {
        let change = |(old, new): &(Option<Item>, Option<Item>)| {
            let key = old.as_ref().or(new.as_ref()).unwrap().clone();
            let key = key.into_iter().filter(|(name, _)| name == "PK" || name == "SK").collect();
            Change { key, old: old.clone(), new: new.clone() }
        };
        let changes: Vec<Change> = decision.iter().map(change).collect();
        judge(&model(), &changes).into_iter().map(|(_, violation)| violation.message).collect()
    }

    #[test]
    fn a_decision_contains_the_changes_that_it_requires() {
        let new = comment("2", 2, "OK");
        assert_eq!(judged(&[(None, new.clone()), (post(1, 1, Some(1)), post(2, 3, Some(2)))]), [""; 0]);
        let alone = judged(&[(None, new.clone())]);
        assert!(
            alone.len() == 3 && alone[0].contains("comments of Post with postId 1 is not updated"),
            "{alone:?}"
        );
        assert_eq!(judged(&[(None, new.clone()), (post(1, 1, Some(1)), post(3, 3, Some(2)))]).len(), 1);
        assert!(judged(&[(post(1, 1, Some(1)), post(2, 1, Some(1)))])[0].contains("no Comment does"));
        let bad = comment("2", 2, "BAD");
        assert_eq!(judged(&[(None, bad.clone()), (post(1, 1, Some(1)), post(2, 1, Some(2)))]), [""; 0]);
        assert_eq!(judged(&[(bad, new.clone()), (post(2, 1, Some(2)), post(2, 3, Some(2)))]), [""; 0]);
        assert_eq!(judged(&[(new.clone(), new.clone())]), [""; 0]);
        assert_eq!(judged(&[(None, new.clone()), (None, post(1, 2, Some(2)))]), [""; 0]);
    }

    #[test]
    fn what_has_aggregates_is_deleted_after_its_items() {
        let last = comment("2", 2, "OK");
        assert_eq!(judged(&[(last.clone(), None), (post(1, 2, Some(2)), None)]), [""; 0]);
        assert_eq!(judged(&[(post(0, 0, None), None)]), [""; 0]);
        let early = judged(&[(post(1, 2, Some(2)), None)]);
        assert!(
            early.len() == 3 && early[0].contains("is deleted while items of count Comment remain"),
            "{early:?}"
        );
        assert_eq!(judged(&[(last, None), (post(2, 5, Some(3)), None)]).len(), 3);
    }

    #[test]
    fn a_greatest_value_leaves_only_where_all_that_remain_are_shown() {
        let (first, second) = (comment("1", 1, "BAD"), comment("2", 2, "BAD"));
        let deleted = (second.clone(), None);
        let parent = (post(2, 0, Some(2)), post(1, 0, Some(1)));
        assert_eq!(judged(&[deleted.clone(), parent.clone(), (first.clone(), first.clone())]), [""; 0]);
        let hidden = judged(&[deleted.clone(), parent]);
        assert!(
            hidden.len() == 1 && hidden[0].contains("requires a transaction with all items"),
            "{hidden:?}"
        );
        let wrong = (post(2, 0, Some(2)), post(1, 0, Some(2)));
        assert_eq!(judged(&[deleted.clone(), wrong, (first.clone(), first)]).len(), 1);
        assert_eq!(judged(&[deleted, (post(1, 0, Some(2)), post(0, 0, None))]), [""; 0]);
        let greater = (second, comment("2", 5, "BAD"));
        assert_eq!(judged(&[greater, (post(2, 0, Some(2)), post(2, 0, Some(5)))]), [""; 0]);
    }
}
