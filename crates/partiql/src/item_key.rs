//! Splits the condition of a write into the key of the item it targets and the remaining conditions.

use crate::error::{Problem, StatementError};
use crate::read_access::{KeyParts, all_of, key_test};
use partita_expression::{Condition, KeyComparison, Node, Path};
use partita_value::{Item, Value};

/// The item that a condition names by equality on key attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedItem {
    /// The key attributes that the condition gives.
    pub key: Item,
    complete: bool,
    /// A key attribute that is compared with two values; the first is in `key`, the second in `rest`.
    repeated: Option<String>,
    /// The remaining conditions.
    rest: Vec<Node>,
    /// The first partition key attribute.
    partition: String,
}

/// Returns the item that a condition names.
pub fn named_item(condition: Option<&Condition>, key: &KeyParts<'_>) -> NamedItem {
    let mut named: Vec<(&str, Value)> = Vec::new();
    let mut repeated = None;
    let mut rest = Vec::new();
    let mut pending: Vec<&Node> = condition.map(Condition::node).into_iter().collect();
    while let Some(node) = pending.pop() {
        if let Node::And(nodes) = node {
            pending.extend(nodes.iter().rev());
            continue;
        }
        let part = key_test(node).and_then(|(name, comparison)| {
            let part = key.partition.iter().chain(&key.sort).find(|part| part.name == name)?;
            Some((part.name, comparison))
        });
        let Some((name, KeyComparison::Equal(value))) = part else {
            rest.push(node.clone());
            continue;
        };
        match named.iter().find(|(other, _)| *other == name) {
            None => named.push((name, value)),
            Some((_, same)) if *same == value => {}
            Some(_) => {
                repeated.get_or_insert_with(|| name.to_owned());
                rest.push(node.clone());
            }
        }
    }
    NamedItem {
        complete: named.len() == key.partition.len() + key.sort.len(),
        key: Item::build(|encoder| named.iter().for_each(|(name, value)| encoder.entry(name, value.view()))),
        repeated,
        rest,
        partition: key.partition.first().map(|part| part.name.to_owned()).unwrap_or_default(),
    }
}

impl NamedItem {
    /// Checks that the condition names exactly one item, as a write must.
    pub fn check(&self) -> Result<(), StatementError> {
        if !self.complete {
            return Err(Problem::IncompleteKey.into());
        }
        match &self.repeated {
            Some(name) => Err(Problem::RepeatedKey(name.clone()).into()),
            None => Ok(()),
        }
    }

    /// Returns whether the condition names one item and has further conditions.
    pub fn is_item_with_condition(&self) -> bool {
        self.complete && !self.rest.is_empty()
    }

    /// Returns the condition that the item exists and the remaining conditions hold.
    pub fn exists_and_matches(self) -> Condition {
        let exists = Node::Exists(Path::attribute(self.partition));
        Condition::from_node(Node::And([vec![exists], self.rest].concat()))
    }

    /// Returns the condition that the item does not exist or the remaining conditions hold; `None` if there are none.
    pub fn is_absent_or_matches(self) -> Option<Condition> {
        let rest = all_of(self.rest)?;
        let absent = Node::NotExists(Path::attribute(self.partition));
        Some(Condition::from_node(Node::Or(vec![absent, rest.node().clone()])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_access::KeyPart;
    use crate::statement::Statement;
    use partita_value::ScalarType;

    fn named(condition: &str) -> NamedItem {
        let part = |name| KeyPart { name, kind: Some(ScalarType::S) };
        let key = KeyParts { partition: vec![part("pk")], sort: vec![part("sk")] };
        match Statement::parse(&format!("DELETE FROM tab WHERE {condition}"), &[]) {
            Ok(Statement::Delete(delete)) => named_item(delete.condition.as_ref(), &key),
            other => panic!("{condition}: {other:?}"),
        }
    }

    fn error(condition: &str) -> String {
        named(condition).check().map_or_else(|error| error.to_string(), |()| "none".into())
    }

    #[test]
    fn a_write_targets_one_item() {
        let item = named("(pk = 'a' AND '1' = sk) AND pk = 'a'");
        assert_eq!(format!("{:?}", item.key), r#"{"pk": S("a"), "sk": S("1")}"#);
        assert_eq!(item.check(), Ok(()));
        assert!(!item.is_item_with_condition());
        assert_eq!(item.is_absent_or_matches(), None);
        let incomplete = "Where clause does not contain a mandatory equality on all key attributes";
        for condition in
            ["pk = 'a'", "pk = 'a' AND sk > '1'", "pk IN ['a'] AND sk = '1'", "pk = 'a' OR sk = '1'"]
        {
            assert_eq!(error(condition), incomplete, "{condition}");
        }
        assert_eq!(
            error("pk = 'a' AND sk = '1' AND pk = 'b'"),
            "Multiple conditions on same key pk. Only single item Update/Insert/Delete are supported"
        );
    }

    #[test]
    fn other_conditions_remain() {
        let item = named("pk = 'a' AND sk = '1' AND x = 1 AND y = 2");
        assert!(item.is_item_with_condition());
        let existing: Item = [("pk", partita_value::AttributeValue::Null)].into_iter().collect();
        assert_eq!(item.clone().exists_and_matches().matches(None), Ok(false));
        assert_eq!(item.clone().exists_and_matches().matches(Some(existing.view())), Ok(false));
        assert_eq!(item.is_absent_or_matches().map(|condition| condition.matches(None)), Some(Ok(true)));
    }
}
