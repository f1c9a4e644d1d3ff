//! Transactions that append to lists and read them; in the end they must have been strictly serializable.

use super::{Database, Request, Scenario, exception, is_outcome_unknown};
use partita_list_append::checker;
use partita_list_append::history::{Element, Key, Observation, Outcome, Transaction};
use partita_list_append::lists::Lists;
use partita_list_append::random::Random;
use partita_list_append::request;
use serde_json::Value;
use std::collections::BTreeMap;

const CLIENTS: usize = 5;
const WIDTH: usize = 3;

#[derive(Default)]
pub struct ListAppend {
    lists: Lists,
    /// The length of a list when it was last read.
    lengths: BTreeMap<Key, usize>,
    in_flight: [Option<InFlight>; CLIENTS],
    history: Vec<Transaction>,
    writes: usize,
}

enum InFlight {
    Read(Vec<Key>),
    Append { appends: Vec<(Key, Element)>, expected: Vec<(Key, usize)> },
}

impl ListAppend {
    fn append(&mut self, client: usize, random: &mut Random) -> Request {
        let count = 1 + random.below(WIDTH);
        let appends: Vec<(Key, Element)> = self
            .lists
            .choose(random, count)
            .into_iter()
            .map(|key| (key, self.lists.new_element(key)))
            .collect();
        let others = random.below(WIDTH);
        let compared = self.lists.choose(random, others);
        let length = |key: Key| self.lengths.get(&key).map(|length| (key, *length));
        let expected: Vec<_> = compared.into_iter().filter_map(length).collect();
        self.writes += 1;
        let body = request::transact_write(&format!("token-{}", self.writes), &appends, &expected);
        self.in_flight[client] = Some(InFlight::Append { appends, expected });
        Request { operation: "TransactWriteItems", body }
    }

    fn record_transaction(
        &mut self,
        (begun, ended): (u64, u64),
        appends: Vec<(Key, Element)>,
        observations: Vec<(Key, Observation)>,
        outcome: Outcome,
    ) {
        for (key, seen) in &observations {
            if let Observation::List(list) = seen {
                self.lengths.insert(*key, list.len());
            }
        }
        self.history.push(Transaction { appends, observations, begun, ended, outcome });
    }
}

impl Scenario for ListAppend {
    fn clients(&self) -> usize {
        CLIENTS
    }

    fn set_up(&self) -> Vec<Request> {
        vec![Request { operation: "CreateTable", body: request::create_table() }]
    }

    fn next(&mut self, client: usize, random: &mut Random, _now: u64) -> Option<Request> {
        if random.once_in(2) {
            return Some(self.append(client, random));
        }
        let count = 1 + random.below(WIDTH);
        let keys = self.lists.choose(random, count);
        let body = request::transact_get(&keys);
        self.in_flight[client] = Some(InFlight::Read(keys));
        Some(Request { operation: "TransactGetItems", body })
    }

    fn on_response(&mut self, client: usize, answer: &Value, begun: u64, ended: u64) -> Result<(), String> {
        let outcome = match exception(answer) {
            _ if is_outcome_unknown(answer) => Outcome::Unknown,
            None => Outcome::Done,
            Some("TransactionCanceledException") => Outcome::Refused,
            Some(_) => return Err(format!("a client receives {answer}")),
        };
        match self.in_flight[client].take() {
            Some(InFlight::Read(keys)) if outcome == Outcome::Done => {
                let seen = request::lists(&keys, answer);
                self.record_transaction((begun, ended), Vec::new(), seen, outcome);
            }
            Some(InFlight::Append { appends, expected }) => {
                let held =
                    expected.into_iter().map(|(key, length)| (key, Observation::Length(length))).collect();
                self.record_transaction((begun, ended), appends, held, outcome);
            }
            _ => {}
        }
        Ok(())
    }

    fn on_lost(&mut self, client: usize, begun: u64, ended: u64) {
        if let Some(InFlight::Append { appends, .. }) = self.in_flight[client].take() {
            self.record_transaction((begun, ended), appends, Vec::new(), Outcome::Unknown);
        }
    }

    fn check(&mut self, database: &mut dyn Database) -> Result<(), String> {
        let mut last = BTreeMap::new();
        for key in self.lists.keys() {
            let answer = database.call("GetItem", &request::get(key));
            if exception(&answer).is_some() {
                return Err(format!("a client receives {answer}"));
            }
            last.insert(key, request::list(&answer["Item"]));
        }
        match checker::check(&self.history, &last).first() {
            None => Ok(()),
            Some(anomaly) => Err(anomaly.to_string()),
        }
    }

    fn max_clock_jump(&self) -> i64 {
        // Tokens expire after ten minutes, which nothing here relies on.
        -86_400_000
    }
}
