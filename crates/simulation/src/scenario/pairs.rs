//! Items written two at a time. Both exist or neither; and what a power loss takes, it takes from the last backwards.

use super::{Database, Request, Scenario, exception, is_outcome_unknown, items};
use partita_list_append::random::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CLIENTS: usize = 4;
const TABLE: &str = "pairs";

#[derive(Default)]
pub struct Pairs {
    pairs: Vec<Pair>,
    in_flight: [Option<usize>; CLIENTS],
}

#[derive(Clone, Copy, Default)]
struct Pair {
    started: u64,
    /// When it was acknowledged.
    ended: Option<u64>,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// A power loss may take it.
    #[default]
    Open,
    /// It must survive.
    Kept,
    /// It was missing after a start, and must not come back.
    Gone,
}

impl Pairs {
    /// Compares what is found after a start, by pair number.
    fn reconcile(&mut self, found: &BTreeMap<usize, usize>) -> Result<(), String> {
        let open = |pair: &&Pair| pair.state == State::Open;
        let is_found = |number: usize| found.contains_key(&number);
        let with_numbers = || self.pairs.iter().enumerate();
        let last_begun = with_numbers().filter(|(number, pair)| open(pair) && is_found(*number));
        let last_begun = last_begun.map(|(_, pair)| pair.started).max().unwrap_or_default();
        for (number, pair) in with_numbers() {
            let wrong = match (pair.state, is_found(number)) {
                (State::Kept, false) => "was durable and is lost",
                (State::Gone, true) => "was lost and is back",
                (State::Open, false) if pair.ended.is_some_and(|ended| ended < last_begun) => {
                    "is lost, and a later one exists"
                }
                _ => continue,
            };
            return Err(format!("pair {number} {wrong}"));
        }
        for (number, pair) in self.pairs.iter_mut().enumerate() {
            pair.state = if found.contains_key(&number) { State::Kept } else { State::Gone };
        }
        Ok(())
    }
}

impl Scenario for Pairs {
    fn clients(&self) -> usize {
        CLIENTS
    }

    fn set_up(&self) -> Vec<Request> {
        vec![Request::new(
            "CreateTable",
            json!({
                "TableName": TABLE,
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            }),
        )]
    }

    fn next(&mut self, client: usize, random: &mut Random, _now: u64) -> Option<Request> {
        let number = self.pairs.len();
        self.pairs.push(Pair::default());
        self.in_flight[client] = Some(number);
        let filling = "x".repeat(random.below(3_000));
        let put = |half: &str| {
            let id = format!("{half}-{number}");
            let item =
                json!({"id": {"S": id}, "number": {"N": number.to_string()}, "filling": {"S": filling}});
            json!({"Put": {"TableName": TABLE, "Item": item}})
        };
        Some(Request::new("TransactWriteItems", json!({"TransactItems": [put("left"), put("right")]})))
    }

    fn on_response(&mut self, client: usize, answer: &Value, started: u64, ended: u64) -> Result<(), String> {
        let Some(number) = self.in_flight[client].take() else { return Ok(()) };
        let pair = &mut self.pairs[number];
        pair.started = started;
        match exception(answer) {
            _ if is_outcome_unknown(answer) => {}
            None => pair.ended = Some(ended),
            Some(_) => return Err(format!("a client receives {answer}")),
        }
        Ok(())
    }

    fn on_lost(&mut self, client: usize, started: u64, _ended: u64) {
        if let Some(number) = self.in_flight[client].take() {
            self.pairs[number].started = started;
        }
    }

    fn on_durable(&mut self) {
        for pair in self.pairs.iter_mut().filter(|pair| pair.state == State::Open && pair.ended.is_some()) {
            pair.state = State::Kept;
        }
    }

    fn check(&mut self, database: &mut dyn Database) -> Result<(), String> {
        let mut found = BTreeMap::<usize, usize>::new();
        for item in items(database, TABLE, None)? {
            let number = item["number"]["N"].as_str().and_then(|number| number.parse().ok());
            *found.entry(number.ok_or_else(|| format!("unexpected item {item}"))?).or_default() += 1;
        }
        if let Some((number, _)) = found.iter().find(|(_, halves)| **halves != 2) {
            return Err(format!("only one half of pair {number} exists"));
        }
        self.reconcile(&found)
    }

    fn max_clock_jump(&self) -> i64 {
        -86_400_000
    }
}
