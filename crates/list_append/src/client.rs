//! A client: runs one transaction after another, and records what each observed and how it ended.

use crate::connection::{Connection, Response};
use crate::server::Server;
use partita_list_append::history::{Element, Key, Observation, Outcome, Transaction};
use partita_list_append::lists::Lists;
use partita_list_append::random::Random;
use partita_list_append::request;
use std::io;
use std::time::Instant;

/// The most lists that one transaction touches.
const MAX_LISTS: usize = 4;

pub struct Client<'a> {
    pub server: &'a Server,
    pub lists: &'a Lists,
    pub start: Instant,
    pub random: Random,
    pub name: u64,
    pub connection: Option<Connection>,
    pub history: Vec<Transaction>,
}

impl Client<'_> {
    /// Runs one transaction, or a read and a write that depends on it.
    pub fn step(&mut self) -> io::Result<()> {
        match self.random.below(10) {
            0 => self.get(),
            1 | 2 => self.transact_get().map(|_| ()),
            3 => self.update(),
            4..=6 => self.append(Vec::new()),
            _ => self.compare_and_append(),
        }
    }

    fn get(&mut self) -> io::Result<()> {
        let key = self.lists.choose(&mut self.random, 1)[0];
        let begun = self.now();
        if let Some(response) = self.call_once("GetItem", &request::get(key)) {
            let seen = Observation::List(request::list(&succeeded(&response)?.body["Item"]).into());
            self.record(begun, Vec::new(), vec![(key, seen)], Outcome::Done);
        }
        Ok(())
    }

    fn transact_get(&mut self) -> io::Result<Vec<(Key, Observation)>> {
        let count = 1 + self.random.below(MAX_LISTS);
        let keys = self.lists.choose(&mut self.random, count);
        let begun = self.now();
        let Some(response) = self.call_once("TransactGetItems", &request::transact_get(&keys)) else {
            return Ok(Vec::new());
        };
        if is_refused(&response) {
            return Ok(Vec::new());
        }
        let seen = request::lists(&keys, &succeeded(&response)?.body);
        self.record(begun, Vec::new(), seen.clone(), Outcome::Done);
        Ok(seen)
    }

    /// Appends outside of a transaction; the response shows what was there before.
    fn update(&mut self) -> io::Result<()> {
        let key = self.lists.choose(&mut self.random, 1)[0];
        let element = self.lists.new_element(key);
        let begun = self.now();
        let Some(response) = self.call_once("UpdateItem", &request::update(key, element)) else {
            self.record(begun, vec![(key, element)], Vec::new(), Outcome::Unknown);
            return Ok(());
        };
        let mut list = request::list(&succeeded(&response)?.body["Attributes"]);
        if list.pop() != Some(element) {
            return Err(io::Error::other(format!("an append of {element} returned {:?}", response.body)));
        }
        self.record(begun, vec![(key, element)], vec![(key, Observation::List(list.into()))], Outcome::Done);
        Ok(())
    }

    /// Reads some lists, and appends to some of them and to others if none has changed.
    fn compare_and_append(&mut self) -> io::Result<()> {
        let seen = self.transact_get()?;
        let length = |seen: &Observation| match seen {
            Observation::List(list) => list.len(),
            Observation::Length(length) => *length,
        };
        self.append(seen.iter().map(|(key, seen)| (*key, length(seen))).collect())
    }

    /// Appends to some lists in a transaction, provided that those of `expected` have the given lengths.
    fn append(&mut self, expected: Vec<(Key, usize)>) -> io::Result<()> {
        let count = 1 + self.random.below(MAX_LISTS);
        let mut keys = self.lists.choose(&mut self.random, count);
        // Often the compared list is also written: a lost update if the condition were not checked.
        if let Some((key, _)) = expected.first()
            && !keys.contains(key)
            && self.random.once_in(2)
        {
            keys[0] = *key;
        }
        let appends: Vec<(Key, Element)> =
            keys.into_iter().map(|key| (key, self.lists.new_element(key))).collect();
        let token = format!("{}-{}", self.name, self.history.len());
        let body = request::transact_write(&token, &appends, &expected);
        let begun = self.now();
        // The token makes a retry safe: the transaction happens once.
        let response = match self.call_once("TransactWriteItems", &body) {
            None if self.random.once_in(2) => self.call_once("TransactWriteItems", &body),
            response => response,
        };
        let outcome = match response {
            None => Outcome::Unknown,
            Some(response) if is_refused(&response) => Outcome::Refused,
            Some(response) => succeeded(&response).map(|_| Outcome::Done)?,
        };
        let observations =
            expected.into_iter().map(|(key, length)| (key, Observation::Length(length))).collect();
        self.record(begun, appends, observations, outcome);
        Ok(())
    }

    /// The response, or `None` if the server was killed before it.
    fn call_once(&mut self, operation: &str, body: &str) -> Option<Response> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.server.address()?).ok()?,
        };
        let response = connection.call(operation, body).ok().filter(|response| response.status < 500)?;
        self.connection = Some(connection);
        Some(response)
    }

    fn record(
        &mut self,
        begun: u64,
        appends: Vec<(Key, Element)>,
        observations: Vec<(Key, Observation)>,
        outcome: Outcome,
    ) {
        let ended = self.now();
        self.history.push(Transaction { appends, observations, begun, ended, outcome });
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

fn is_refused(response: &Response) -> bool {
    matches!(
        response.exception(),
        Some(
            "TransactionCanceledException"
                | "TransactionConflictException"
                | "TransactionInProgressException"
        )
    )
}

fn succeeded(response: &Response) -> io::Result<&Response> {
    match response.status {
        200 => Ok(response),
        status => Err(io::Error::other(format!("{status}: {}", response.body))),
    }
}
