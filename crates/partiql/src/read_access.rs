//! Determines which rows a SELECT reads, from its condition and the key of the table or index.
//!
//! A condition that pins the partition key, by `=`, `IN` or an OR of these, is decomposed into ranges, one for each
//! alternative. Any other condition becomes the filter of a scan.

use crate::error::{Problem, StatementError};
use crate::statement::Order;
use partita_expression::syntax::Comparator;
use partita_expression::{Condition, KeyComparison, KeyCondition, KeyTerm, Node, Operand};
use partita_value::{ScalarType, Value};

/// Limit for the ranges of one statement.
const MAX_RANGES: usize = 50;

/// An attribute of a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyPart<'a> {
    /// The name of the attribute.
    pub name: &'a str,
    /// The required type of the values it is compared with; `None` if that is checked later.
    pub kind: Option<ScalarType>,
}

/// The key of a table or index.
#[derive(Clone, Debug)]
pub struct KeyParts<'a> {
    /// The partition key.
    pub partition: Vec<KeyPart<'a>>,
    /// The sort key.
    pub sort: Vec<KeyPart<'a>>,
}

/// The rows that a SELECT reads.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadAccess {
    /// All rows, with the condition as the filter.
    Scan,
    /// Ranges in the order written.
    Ranges(Vec<ReadRange>),
}

/// A part of one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRange {
    /// The range of keys.
    pub key: KeyCondition,
    /// The remaining conditions.
    pub filter: Option<Condition>,
}

impl ReadRange {
    /// Returns whether the range is a single item without further conditions.
    pub fn names_one_item(&self, key: &KeyParts<'_>) -> bool {
        let pinned = self.key.terms.iter().filter(|term| matches!(term.comparison, KeyComparison::Equal(_)));
        self.filter.is_none() && pinned.count() == key.partition.len() + key.sort.len()
    }

    /// Returns what the keys of the returned rows meet: the range, and the other bound of its sort key if the filter has that.
    pub fn returned_keys(&self) -> Vec<KeyTerm> {
        let mut terms = self.key.terms.clone();
        let filters: &[Node] = match self.filter.as_ref().map(Condition::node) {
            Some(Node::And(nodes)) => nodes,
            Some(node) => std::slice::from_ref(node),
            None => &[],
        };
        if let Some(last) = terms.last_mut() {
            let mut others = filters.iter().filter_map(key_test).filter(|(name, _)| *name == last.attribute);
            if let Some(both) = others.find_map(|(_, other)| between(&last.comparison, &other)) {
                last.comparison = both;
            }
        }
        terms
    }
}

/// Returns a lower and an upper bound as one comparison, with the bounds themselves.
fn between(one: &KeyComparison, other: &KeyComparison) -> Option<KeyComparison> {
    use KeyComparison::{Between, Greater, GreaterOrEqual, Less, LessOrEqual};
    match (one, other) {
        (Greater(from) | GreaterOrEqual(from), Less(to) | LessOrEqual(to))
        | (Less(to) | LessOrEqual(to), Greater(from) | GreaterOrEqual(from)) => {
            Some(Between(from.clone(), to.clone()))
        }
        _ => None,
    }
}

/// The order of the rows that a statement returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOrder {
    /// Whether partitions are in descending order; `None` is the order written.
    pub partitions_descending: Option<bool>,
    /// Whether rows of a partition are in descending order.
    pub descending: bool,
}

/// Decomposes a condition into ranges of keys, if it pins the partition key.
pub fn read_access(condition: Option<&Condition>, key: &KeyParts<'_>) -> Result<ReadAccess, StatementError> {
    let Some(node) = condition.map(Condition::node) else { return Ok(ReadAccess::Scan) };
    if !key.partition.iter().all(|part| pins(node, part.name)) {
        return Ok(ReadAccess::Scan);
    }
    let mut ranges = Vec::new();
    for branch in branches(node, key)? {
        match range(branch, key)? {
            Some(range) => ranges.push(range),
            // The partition key would need two values at once. The filter of a scan decides correctly.
            None => return Ok(ReadAccess::Scan),
        }
    }
    Ok(ReadAccess::Ranges(ranges))
}

/// Returns the order that ORDER BY requests, or an error if the key does not provide it.
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
    // As on AWS, rows are in descending order if only the partition key is ordered.
    let descending = order.iter().find(|term| named(&key.sort, term)).is_none_or(|term| term.descending);
    Ok(ReadOrder { partitions_descending: by_partition.map(|term| term.descending), descending })
}

fn partition<'a>(range: &'a ReadRange, key: &KeyParts<'_>) -> &'a [KeyTerm] {
    range.key.terms.get(..key.partition.len()).unwrap_or_default()
}

/// Returns whether the condition can hold only if this attribute has one of a list of values.
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

/// One alternative of a condition: nodes that must all hold.
type Branch = Vec<Node>;

fn branches(node: &Node, key: &KeyParts<'_>) -> Result<Vec<Branch>, StatementError> {
    let found = match node {
        Node::And(nodes) => {
            let mut product: Vec<Branch> = vec![Vec::new()];
            for node in nodes {
                let alternatives = branches(node, key)?;
                // Nearly all nodes have a single alternative, which is appended without copying the branches.
                if let [only] = alternatives.as_slice() {
                    product.iter_mut().for_each(|branch| branch.extend_from_slice(only));
                    continue;
                }
                let joined = |branch: &Branch| -> Vec<Branch> {
                    alternatives.iter().map(|other| branch.iter().chain(other).cloned().collect()).collect()
                };
                product = limited(product.iter().flat_map(joined))?;
            }
            product
        }
        Node::Or(nodes) if restricts_key(node, key) => {
            let mut all = Vec::new();
            for node in nodes {
                all.extend(branches(node, key)?);
            }
            all
        }
        Node::In(..) if restricts_key(node, key) => {
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
    let branches: Vec<Branch> = branches.take(MAX_RANGES + 1).collect();
    if branches.len() > MAX_RANGES { Err(Problem::TooManyReads.into()) } else { Ok(branches) }
}

/// Returns whether a node restricts a key attribute.
fn restricts_key(node: &Node, key: &KeyParts<'_>) -> bool {
    let is_key = |name: &str| key.partition.iter().chain(&key.sort).any(|part| part.name == name);
    match node {
        Node::And(nodes) | Node::Or(nodes) => nodes.iter().any(|node| restricts_key(node, key)),
        Node::In(..) => members(node).is_some_and(|(name, _)| is_key(name)),
        leaf => key_test(leaf).is_some_and(|(name, _)| is_key(name)),
    }
}

/// Returns `None` if the partition key would need two values at once.
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

/// Removes the first matching test of an attribute from the nodes, with all its repetitions.
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

/// Returns the condition that all of these hold.
pub(crate) fn all_of(mut nodes: Vec<Node>) -> Option<Condition> {
    match nodes.len() {
        0 => None,
        1 => nodes.pop().map(Condition::from_node),
        _ => Some(Condition::from_node(Node::And(nodes))),
    }
}

/// Returns a test of a top-level attribute that selects a range of keys.
pub(crate) fn key_test(node: &Node) -> Option<(&str, KeyComparison)> {
    match node {
        Node::Compare(comparator, left, right) => {
            let (name, value, reversed) = match (attribute(left), right, left, attribute(right)) {
                (Some(name), Operand::Value(value), ..) => (name, value, false),
                (_, _, Operand::Value(value), Some(name)) => (name, value, true),
                _ => return None,
            };
            let comparison = KeyComparison::from_comparator(*comparator, reversed, value.clone())?;
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

/// Returns the attribute and the values of `attribute IN [values]`.
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

    /// The number of terms of each range, and whether it has a filter.
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
    fn rows_are_within_both_bounds_of_their_sort_key() {
        let returned = |condition: &str| match access(condition) {
            Ok(ReadAccess::Ranges(ranges)) => ranges[0].returned_keys().pop().map(|term| term.comparison),
            other => panic!("{condition}: {other:?}"),
        };
        let both = returned("pk = 'a' AND sk BETWEEN '1' AND '2'");
        for condition in ["sk >= '1' AND sk <= '2'", "sk < '2' AND x = 1 AND sk > '1'"] {
            assert_eq!(returned(&format!("pk = 'a' AND {condition}")), both, "{condition}");
        }
        for condition in ["sk > '1' AND x < '2'", "sk > '1' AND sk > '2'", "sk > '1' AND NOT sk < '2'"] {
            let found = returned(&format!("pk = 'a' AND {condition}"));
            assert_eq!(found, returned("pk = 'a' AND sk > '1'"), "{condition}");
        }
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
    fn the_number_of_ranges_is_limited() {
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
    fn key_types_are_checked() {
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
            Ok(ReadOrder { partitions_descending: None, descending: true })
        );
        assert_eq!(
            order("pk IN ['a', 'b'] ORDER BY pk DESC, sk"),
            Ok(ReadOrder { partitions_descending: Some(true), descending: false })
        );
        assert_eq!(
            order("pk = 'a' ORDER BY pk"),
            Ok(ReadOrder { partitions_descending: Some(false), descending: true })
        );
        for (text, message) in [
            ("pk = 'a' ORDER BY x", "Attribute x in ORDER BY clause must be part of the primary key"),
            ("pk > 'a' ORDER BY sk", "Must have at least one non-optional hash key condition"),
            ("pk IN ['a', 'b'] ORDER BY sk", "Must have hash key in ORDER BY clause"),
        ] {
            assert!(order(text).is_err_and(|error| error.starts_with(message)), "{text}");
        }
    }
}
