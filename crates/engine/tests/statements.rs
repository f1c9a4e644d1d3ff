//! A SELECT finds the items that its condition matches, however the condition is taken apart into ranges, and in the
//! order and the pages that were asked for.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_partiql::Statement;
use partita_store_memory::MemoryStore;
use partita_value::{AttributeValue, Item, Number};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::Database;

const CREATE: &str = r#"{"TableName":"Cells","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},{"AttributeName":"g","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"GlobalSecondaryIndexes":[{"IndexName":"byG","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}"#;
/// Refusals that depend on how a condition is taken apart.
const REFUSALS: [&str; 2] = ["Overlapping conditions", "Too many decomposed read operations"];

/// An item: partition, sort key, group and a number, the last two of which may be missing.
type Row = (u8, u8, Option<u8>, Option<u8>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0..3_u8, 0..6_u8, prop::option::of(0..3_u8), prop::option::of(0..4_u8));
    prop::collection::btree_map((0..3_u8, 0..6_u8), row, 0..14)
        .prop_map(|rows| rows.into_iter().map(|((pk, sk), (_, _, g, n))| (pk, sk, g, n)).collect())
}

fn text(letter: u8) -> String {
    char::from(b'a' + letter).to_string()
}

fn number(digit: u8) -> AttributeValue {
    AttributeValue::N(Number::from(u64::from(digit)))
}

fn item((pk, sk, g, n): Row) -> Item {
    let mut attributes =
        vec![("pk", AttributeValue::S(text(pk))), ("sk", number(sk)), ("id", number(pk * 10 + sk))];
    attributes.extend(g.map(|g| ("g", AttributeValue::S(text(g)))));
    attributes.extend(n.map(|n| ("n", number(n))));
    attributes.into_iter().collect()
}

fn comparisons() -> impl Strategy<Value = String> {
    let letter = || (0..3_u8).prop_map(|letter| format!("'{}'", text(letter)));
    let digit = || (0..6_u8).prop_map(|digit| digit.to_string());
    let symbol = || prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]);
    prop_oneof![
        4 => letter().prop_map(|value| format!("pk = {value}")),
        2 => prop::collection::btree_set(letter(), 1..3)
            .prop_map(|values| format!("pk IN [{}]", values.into_iter().collect::<Vec<_>>().join(", "))),
        1 => letter().prop_map(|value| format!("{value} < pk")),
        3 => letter().prop_map(|value| format!("g = {value}")),
        4 => (symbol(), digit()).prop_map(|(symbol, value)| format!("sk {symbol} {value}")),
        1 => (digit(), symbol()).prop_map(|(value, symbol)| format!("{value} {symbol} sk")),
        1 => (0..3_u8, 3..6_u8).prop_map(|(from, to)| format!("sk BETWEEN {from} AND {to}")),
        1 => prop::collection::btree_set(digit(), 1..4)
            .prop_map(|values| format!("sk IN [{}]", values.into_iter().collect::<Vec<_>>().join(", "))),
        2 => (symbol(), digit()).prop_map(|(symbol, value)| format!("n {symbol} {value}")),
        1 => Just("n IS MISSING".to_owned()),
        1 => Just("attribute_exists(g)".to_owned()),
    ]
}

fn conditions() -> impl Strategy<Value = String> {
    comparisons().prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|parts| format!("({})", parts.join(" AND "))),
            3 => prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|parts| format!("({})", parts.join(" OR "))),
            1 => inner.prop_map(|part| format!("NOT {part}")),
        ]
    })
}

async fn filled(rows: &[Row]) -> Database<MemoryStore> {
    let database = Database::new(MemoryStore::new());
    database.run("CreateTable", CREATE).await;
    for (pk, sk, g, n) in rows {
        let mut fields =
            vec![format!("'pk': '{}'", text(*pk)), format!("'sk': {sk}"), format!("'id': {}", pk * 10 + sk)];
        fields.extend(g.map(|g| format!("'g': '{}'", text(g))));
        fields.extend(n.map(|n| format!("'n': {n}")));
        let statement = format!("INSERT INTO Cells VALUE {{{}}}", fields.join(", "));
        let answer = database.run("ExecuteStatement", &json!({ "Statement": statement }).to_string()).await;
        assert_eq!(answer, r#"{"Items":[]}"#);
    }
    database
}

/// The ids found, page by page, or the refusal.
async fn selected(
    database: &Database<MemoryStore>,
    statement: &str,
    limit: Option<u32>,
) -> Result<Vec<u64>, String> {
    let mut found = Vec::new();
    let mut request = json!({ "Statement": statement });
    if let Some(limit) = limit {
        request["Limit"] = limit.into();
    }
    for _ in 0..200 {
        let answer = database.run("ExecuteStatement", &request.to_string()).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        if let Some(message) = answer["message"].as_str() {
            return Err(message.to_owned());
        }
        let items = answer["Items"].as_array().unwrap();
        assert!(limit.is_none_or(|limit| items.len() <= limit as usize));
        found.extend(items.iter().map(|item| item["id"]["N"].as_str().unwrap().parse::<u64>().unwrap()));
        match answer.get("NextToken") {
            Some(token) => request["NextToken"] = token.clone(),
            None => return Ok(found),
        }
    }
    panic!("{statement}: the pages do not end");
}

/// The ids of the rows that the condition matches, whatever its keys.
fn matching(rows: &[Row], statement: &str) -> Vec<u64> {
    let Ok(Statement::Select(select)) = Statement::parse(statement, &[]) else { panic!("{statement}") };
    let condition = select.condition.unwrap();
    let matches = |row: &&Row| {
        let in_index = select.index.is_none() || row.2.is_some();
        in_index && condition.matches(Some(item(**row).view())).unwrap()
    };
    rows.iter().filter(matches).map(|(pk, sk, ..)| u64::from(pk * 10 + sk)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_select_finds_what_its_condition_matches(
        rows in rows(),
        condition in conditions(),
        source in prop::sample::select(vec!["Cells", "Cells.byG"]),
        limit in prop::option::of(1..4_u32),
    ) {
        let statement = format!("SELECT id FROM {source} WHERE {condition}");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let outcome = runtime.block_on(async {
            let database = filled(&rows).await;
            selected(&database, &statement, limit).await
        });
        match outcome {
            Err(message) => prop_assert!(
                REFUSALS.iter().any(|refusal| message.starts_with(refusal)), "{}: {}", statement, message
            ),
            Ok(mut found) => {
                found.sort_unstable();
                prop_assert_eq!(found, matching(&rows, &statement), "{}", statement);
            }
        }
    }

    #[test]
    fn order_by_orders(
        rows in rows(),
        partitions in prop::sample::subsequence(vec!["'a'", "'b'", "'c'"], 1..=3),
        (partitions_descend, descend) in any::<(bool, bool)>(),
        limit in prop::option::of(1..4_u32),
    ) {
        let word = |descends| if descends { "DESC" } else { "ASC" };
        let statement = format!(
            "SELECT id FROM Cells WHERE pk IN [{}] AND sk IN [4, 1, 3] ORDER BY pk {}, sk {}",
            partitions.join(", "), word(partitions_descend), word(descend),
        );
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(async {
            let database = filled(&rows).await;
            selected(&database, &statement, limit).await
        });
        let mut expected = matching(&rows, &statement);
        expected.sort_by(|one, two| {
            let directed = |order: std::cmp::Ordering, reverse| if reverse { order.reverse() } else { order };
            directed((one / 10).cmp(&(two / 10)), partitions_descend).then(directed(one.cmp(two), descend))
        });
        prop_assert_eq!(found, Ok(expected), "{}", statement);
    }
}
