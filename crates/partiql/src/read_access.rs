//! The condition of a SELECT + the key of a table or index → which rows to read, and what to ask of them.
//!
//! A condition that pins the partition key, by `=`, `IN` or an OR of these, is taken apart into ranges: one for each
//! way in which it can hold. Any other condition is the filter of a scan.

use crate::error::{Problem, StatementError};
use crate::statement::Order;
use partita_expression::syntax::Comparator;
use partita_expression::{Condition, KeyComparison, KeyCondition, KeyTerm, Node, Operand};
use partita_value::{ScalarType, Value};

/// Ranges that one statement may be taken apart into.
const MOST_RANGES: usize = 50;

/// An attribute of a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyPart<'a> {
    pub name: &'a str,
    /// The type it is compared with; `None` where that is checked later.
    pub kind: Option<ScalarType>,
}

/// The key of a table or index.
#[derive(Clone, Debug)]
pub struct KeyParts<'a> {
    pub partition: Vec<KeyPart<'a>>,
    pub sort: Vec<KeyPart<'a>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReadAccess {
    /// All rows, with the condition as the filter.
    Scan,
    /// In the order written.
    Ranges(Vec<ReadRange>),
}

/// A part of one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRange {
    pub key: KeyCondition,
    pub filter: Option<Condition>,
}

impl ReadRange {
    /// Whether this is the item with a key, whatever it is.
    pub fn names_one_item(&self, key: &KeyParts<'_>) -> bool {
        let pinned = self.key.terms.iter().filter(|term| matches!(term.comparison, KeyComparison::Equal(_)));
        self.filter.is_none() && pinned.count() == key.partition.len() + key.sort.len()
    }
}

/// In which order a statement wants to see what it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOrder {
    /// Whether partitions come in descending order; `None` is as written.
    pub partitions_descend: Option<bool>,
    pub descends: bool,
}

pub fn read_access(condition: Option<&Condition>, key: &KeyParts<'_>) -> Result<ReadAccess, StatementError> {
    let Some(node) = condition.map(Condition::node) else { return Ok(ReadAccess::Scan) };
    if !key.partition.iter().all(|part| pins(node, part.name)) {
        return Ok(ReadAccess::Scan);
    }
    let mut ranges = Vec::new();
    for branch in branches(node, key)? {
        match range(branch, key)? {
            Some(range) => ranges.push(range),
            // No partition is meant twice over; what the condition says still decides.
            None => return Ok(ReadAccess::Scan),
        }
    }
    Ok(ReadAccess::Ranges(ranges))
}

/// The order that ORDER BY asks for, if the key can give it.
pub fn read_order(
    order: &[Order],
    access: &ReadAccess,
    key: &KeyParts<'_>,
) -> Result<ReadOrder, StatementError> {
    if order.is_empty() {
        return Ok(ReadOrder::default());
    }
    let named = |parts: &[KeyPart<'_>], term: &Order| parts.iter().any(|part| part.name == term.attribute);
    if let Some(term) = order.iter().find(|term| !named(&key.partition, term) && !named(&key.sort, term)) {
        return Err(Problem::OrderAttribute(term.attribute.clone()).into());
    }
    let ReadAccess::Ranges(ranges) = access else { return Err(Problem::OrderWithoutKey.into()) };
    let by_partition = order.iter().find(|term| named(&key.partition, term));
    let one_partition = ranges.windows(2).all(|pair| partition(&pair[0], key) == partition(&pair[1], key));
    if by_partition.is_none() && !one_partition {
        return Err(Problem::OrderOfSeveralKeys.into());
    }
    // Rows come backwards where only the partition key's order is asked for, as on AWS.
    let descends = order.iter().find(|term| named(&key.sort, term)).is_none_or(|term| term.descending);
    Ok(ReadOrder { partitions_descend: by_partition.map(|term| term.descending), descends })
}

fn partition<'a>(range: &'a ReadRange, key: &KeyParts<'_>) -> &'a [KeyTerm] {
    range.key.terms.get(..key.partition.len()).unwrap_or_default()
}

/// Whether the condition can only hold where this attribute has one of some values.
fn pins(node: &Node, attribute: &str) -> bool {
    match node {
        Node::And(nodes) => nodes.iter().any(|node| pins(node, attribute)),
        Node::Or(nodes) => nodes.iter().all(|node| pins(node, attribute)),
        Node::In(..) => members(node).is_some_and(|(name, _)| name == attribute),
        leaf => matches!(
            key_test(leaf), Some((name, KeyComparison::Equal(_))) if name == attribute
        ),
    }
}

/// What all must hold in one of the ways in which a condition can.
type Branch = Vec<Node>;

fn branches(node: &Node, key: &KeyParts<'_>) -> Result<Vec<Branch>, StatementError> {
    let found = match node {
        Node::And(nodes) => {
            let mut product: Vec<Branch> = vec![Vec::new()];
            for node in nodes {
                let ways = branches(node, key)?;
                // Nearly all parts hold in one way only: they join what is there, and nothing is copied over.
                if let [way] = ways.as_slice() {
                    product.iter_mut().for_each(|branch| branch.extend_from_slice(way));
                    continue;
                }
                let joined = |branch: &Branch| -> Vec<Branch> {
                    ways.iter().map(|way| branch.iter().chain(way).cloned().collect()).collect()
                };
                product = limited(product.iter().flat_map(joined))?;
            }
            product
        }
        Node::Or(nodes) if asks_key(node, key) => {
            let mut all = Vec::new();
            for node in nodes {
                all.extend(branches(node, key)?);
            }
            all
        }
        Node::In(..) if asks_key(node, key) => {
            let (name, values) = members(node).unwrap_or_default();
            let equal = |value: &&Value| {
                let path = Operand::Path(partita_expression::Path::attribute(name));
                vec![Node::Compare(Comparator::Equal, path, Operand::Value((*value).clone()))]
            };
            values.iter().map(equal).collect()
        }
        leaf => vec![vec![leaf.clone()]],
    };
    limited(found.into_iter())
}

fn limited(branches: impl Iterator<Item = Branch>) -> Result<Vec<Branch>, StatementError> {
    let branches: Vec<Branch> = branches.take(MOST_RANGES + 1).collect();
    if branches.len() > MOST_RANGES { Err(Problem::TooManyReads.into()) } else { Ok(branches) }
}

/// Whether a part of the condition narrows what is read.
fn asks_key(node: &Node, key: &KeyParts<'_>) -> bool {
    let is_key = |name: &str| key.partition.iter().chain(&key.sort).any(|part| part.name == name);
    match node {
        Node::And(nodes) | Node::Or(nodes) => nodes.iter().any(|node| asks_key(node, key)),
        Node::In(..) => members(node).is_some_and(|(name, _)| is_key(name)),
        leaf => key_test(leaf).is_some_and(|(name, _)| is_key(name)),
    }
}

/// `None` where the partition key would have to be two values at once.
fn range(branch: Branch, key: &KeyParts<'_>) -> Result<Option<ReadRange>, StatementError> {
    let mut rest = branch;
    let mut terms = Vec::with_capacity(key.partition.len() + key.sort.len());
    for part in &key.partition {
        let Some(term) = take_term(&mut rest, part, true)? else { return Ok(None) };
        let is_other = |node: &Node| matches!(key_test(node), Some((name, KeyComparison::Equal(_))) if name == part.name);
        if rest.iter().any(is_other) {
            return Ok(None);
        }
        terms.push(term);
    }
    for part in &key.sort {
        if let Some(term) = take_term(&mut rest, part, true)? {
            terms.push(term);
            continue;
        }
        terms.extend(take_term(&mut rest, part, false)?);
        break;
    }
    Ok(Some(ReadRange { key: KeyCondition { terms }, filter: all_of(rest) }))
}

/// Takes the first fitting test of an attribute out of the nodes, and all that repeat it.
fn take_term(
    nodes: &mut Vec<Node>,
    part: &KeyPart<'_>,
    equal: bool,
) -> Result<Option<KeyTerm>, StatementError> {
    let fits = |node: &Node| {
        let (name, comparison) = key_test(node)?;
        let is_equal = matches!(comparison, KeyComparison::Equal(_));
        (name == part.name && is_equal == equal).then_some(comparison)
    };
    let Some(comparison) = nodes.iter().find_map(fits) else { return Ok(None) };
    if part.kind.is_some() && comparison.operands().any(|value| value.view().scalar_type() != part.kind) {
        return Err(Problem::KeyType(part.name.to_owned()).into());
    }
    nodes.retain(|node| fits(node).as_ref() != Some(&comparison));
    Ok(Some(KeyTerm { attribute: part.name.to_owned(), comparison }))
}

/// The condition that all of these hold.
pub(crate) fn all_of(mut nodes: Vec<Node>) -> Option<Condition> {
    match nodes.len() {
        0 => None,
        1 => nodes.pop().map(Condition::from_node),
        _ => Some(Condition::from_node(Node::And(nodes))),
    }
}

/// A test of a top-level attribute that a range of keys can answer.
pub(crate) fn key_test(node: &Node) -> Option<(&str, KeyComparison)> {
    match node {
        Node::Compare(comparator, left, right) => {
            let (name, value, turned) = match (attribute(left), right, left, attribute(right)) {
                (Some(name), Operand::Value(value), ..) => (name, value, false),
                (_, _, Operand::Value(value), Some(name)) => (name, value, true),
                _ => return None,
            };
            let comparison = KeyComparison::from_comparator(*comparator, turned, value.clone())?;
            Some((name, comparison))
        }
        Node::Between(what, Operand::Value(from), Operand::Value(to)) => {
            Some((attribute(what)?, KeyComparison::Between(from.clone(), to.clone())))
        }
        Node::BeginsWith(what, Operand::Value(prefix)) => {
            Some((attribute(what)?, KeyComparison::BeginsWith(prefix.clone())))
        }
        _ => None,
    }
}

/// The attribute and the values of `attribute IN [values]`.
fn members<'a>(node: &'a Node) -> Option<(&'a str, Vec<&'a Value>)> {
    let Node::In(what, candidates) = node else { return None };
    let value = |candidate: &'a Operand| match candidate {
        Operand::Value(value) => Some(value),
        _ => None,
    };
    Some((attribute(what)?, candidates.iter().map(value).collect::<Option<_>>()?))
}

fn attribute(operand: &Operand) -> Option<&str> {
    match operand {
        Operand::Path(path) if !path.is_nested() => Some(&path.root),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::{Select, Statement};

    const KEY: [KeyPart<'_>; 2] = [
        KeyPart { name: "pk", kind: Some(ScalarType::S) },
        KeyPart { name: "sk", kind: Some(ScalarType::S) },
    ];

    fn key() -> KeyParts<'static> {
        KeyParts { partition: vec![KEY[0]], sort: vec![KEY[1]] }
    }

    fn select(condition: &str) -> Select {
        match Statement::parse(&format!("SELECT * FROM tab WHERE {condition}"), &[]) {
            Ok(Statement::Select(select)) => select,
            other => panic!("{condition}: {other:?}"),
        }
    }

    fn access(condition: &str) -> Result<ReadAccess, String> {
        read_access(select(condition).condition.as_ref(), &key()).map_err(|error| error.to_string())
    }

    /// The terms of each range and whether more is asked.
    fn ranges(condition: &str) -> Vec<(usize, bool)> {
        match access(condition) {
            Ok(ReadAccess::Ranges(ranges)) => {
                ranges.iter().map(|range| (range.key.terms.len(), range.filter.is_some())).collect()
            }
            other => panic!("{condition}: {other:?}"),
        }
    }

    #[test]
    fn a_pinned_partition_key_gives_ranges() {
        assert_eq!(ranges("pk = 'a'"), [(1, false)]);
        assert_eq!(ranges("'1' = sk AND (pk = 'a')"), [(2, false)]);
        assert_eq!(ranges("pk = 'a' AND pk = 'a' AND sk > '1' AND sk <> '2'"), [(2, true)]);
        assert_eq!(ranges("pk = 'a' AND sk > '1' AND sk = '2'"), [(2, true)]);
        assert_eq!(ranges("pk IN ['a', 'b'] AND x = 1"), [(1, true), (1, true)]);
        assert_eq!(ranges("pk = 'a' OR pk = 'b' AND sk BETWEEN '1' AND '2'"), [(1, false), (2, false)]);
        assert_eq!(ranges("pk = 'a' AND (sk = '1' OR begins_with(sk, '2'))"), [(2, false), (2, false)]);
        assert_eq!(ranges("pk = 'a' AND (x = 1 OR y = 2)"), [(1, true)]);
        assert_eq!(ranges("pk = 'a' AND NOT sk = '1'"), [(1, true)]);
    }

    #[test]
    fn everything_else_is_a_scan() {
        for condition in [
            "pk > 'a'",
            "x = 1",
            "pk = 'a' OR sk = '1'",
            "NOT pk = 'a'",
            "pk = 'a' AND pk = 'b'",
            "pk = 'a' AND (pk = 'b' OR x = 1)",
            "pk = x",
            "pk.a = 'b'",
        ] {
            assert_eq!(access(condition), Ok(ReadAccess::Scan), "{condition}");
        }
        assert_eq!(read_access(None, &key()), Ok(ReadAccess::Scan));
    }

    #[test]
    fn there_is_an_end_to_ranges() {
        let values = |count: usize| (0..count).map(|i| format!("'{i}'")).collect::<Vec<_>>().join(",");
        assert_eq!(ranges(&format!("pk IN [{}]", values(50))).len(), 50);
        let too_many = Err("Too many decomposed read operations for a given query.".to_owned());
        assert_eq!(access(&format!("pk IN [{}]", values(51))), too_many);
        assert_eq!(access(&format!("pk IN [{}] AND sk IN ['1', '2']", values(26))), too_many);
        assert_eq!(access(&format!("pk IN [{}] OR x = 1", values(51))), Ok(ReadAccess::Scan));
        let pairs = vec!["(sk = '1' OR sk = '2')"; 100].join(" AND ");
        assert_eq!(access(&format!("pk = 'a' AND {pairs}")), too_many);
    }

    #[test]
    fn keys_are_compared_with_their_type() {
        let error = |name| {
            Err(format!("Key attribute's data type should match its data type in table's schema: Key {name}"))
        };
        assert_eq!(access("pk = 1 OR pk = 'a'"), error("pk"));
        assert_eq!(access("pk = 'a' AND sk IN ['1', 2]"), error("sk"));
    }

    #[test]
    fn order_follows_the_key() {
        let order = |text: &str| {
            let select = select(text);
            let access = read_access(select.condition.as_ref(), &key()).unwrap_or(ReadAccess::Scan);
            read_order(&select.order, &access, &key()).map_err(|error| error.to_string())
        };
        assert_eq!(order("pk = 'a'"), Ok(ReadOrder::default()));
        assert_eq!(
            order("pk = 'a' ORDER BY sk DESC"),
            Ok(ReadOrder { partitions_descend: None, descends: true })
        );
        assert_eq!(
            order("pk IN ['a', 'b'] ORDER BY pk DESC, sk"),
            Ok(ReadOrder { partitions_descend: Some(true), descends: false })
        );
        assert_eq!(
            order("pk = 'a' ORDER BY pk"),
            Ok(ReadOrder { partitions_descend: Some(false), descends: true })
        );
        for (text, refusal) in [
            ("pk = 'a' ORDER BY x", "Attribute x in ORDER BY clause must be part of the primary key"),
            ("pk > 'a' ORDER BY sk", "Must have at least one non-optional hash key condition"),
            ("pk IN ['a', 'b'] ORDER BY sk", "Must have hash key in ORDER BY clause"),
        ] {
            assert!(order(text).is_err_and(|error| error.starts_with(refusal)), "{text}");
        }
    }
}
