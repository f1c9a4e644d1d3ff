//! A client: one transaction after another, noted with what it saw and how it ended.

use crate::connection::{Answer, Connection};
use crate::history::{Element, Key, Outcome, Seen, Transaction};
use crate::lists::Lists;
use crate::random::Random;
use crate::request;
use crate::server::Server;
use std::io;
use std::time::Instant;

/// The most lists one transaction touches.
const WIDTH: usize = 4;

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
    /// One transaction, or a read and a write that depends on it.
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
        let key = self.lists.some(&mut self.random, 1)[0];
        let begun = self.now();
        if let Some(answer) = self.ask_once("GetItem", &request::get(key)) {
            let seen = Seen::List(request::list(&succeeded(&answer)?.body["Item"]).into());
            self.note(begun, Vec::new(), vec![(key, seen)], Outcome::Done);
        }
        Ok(())
    }

    fn transact_get(&mut self) -> io::Result<Vec<(Key, Seen)>> {
        let count = 1 + self.random.below(WIDTH);
        let keys = self.lists.some(&mut self.random, count);
        let begun = self.now();
        let Some(answer) = self.ask_once("TransactGetItems", &request::transact_get(&keys)) else {
            return Ok(Vec::new());
        };
        if is_refused(&answer) {
            return Ok(Vec::new());
        }
        let seen = request::lists(&keys, &succeeded(&answer)?.body);
        self.note(begun, Vec::new(), seen.clone(), Outcome::Done);
        Ok(seen)
    }

    /// An append outside of transactions, told by its answer what was there before.
    fn update(&mut self) -> io::Result<()> {
        let key = self.lists.some(&mut self.random, 1)[0];
        let element = self.lists.element(key);
        let begun = self.now();
        let Some(answer) = self.ask_once("UpdateItem", &request::update(key, element)) else {
            self.note(begun, vec![(key, element)], Vec::new(), Outcome::Unknown);
            return Ok(());
        };
        let mut list = request::list(&succeeded(&answer)?.body["Attributes"]);
        if list.pop() != Some(element) {
            return Err(io::Error::other(format!("an append of {element} answers with {:?}", answer.body)));
        }
        self.note(begun, vec![(key, element)], vec![(key, Seen::List(list.into()))], Outcome::Done);
        Ok(())
    }

    /// Reads some lists, and appends to some of them and to others if all are still as they were.
    fn compare_and_append(&mut self) -> io::Result<()> {
        let seen = self.transact_get()?;
        let length = |seen: &Seen| match seen {
            Seen::List(list) => list.len(),
            Seen::Length(length) => *length,
        };
        self.append(seen.iter().map(|(key, seen)| (*key, length(seen))).collect())
    }

    /// A transaction that appends to some lists, provided that those of `expected` have their lengths.
    fn append(&mut self, expected: Vec<(Key, usize)>) -> io::Result<()> {
        let count = 1 + self.random.below(WIDTH);
        let mut keys = self.lists.some(&mut self.random, count);
        // Often what is compared is also written: updates that would be lost if nobody looked.
        if let Some((key, _)) = expected.first()
            && !keys.contains(key)
            && self.random.once_in(2)
        {
            keys[0] = *key;
        }
        let appends: Vec<(Key, Element)> =
            keys.into_iter().map(|key| (key, self.lists.element(key))).collect();
        let token = format!("{}-{}", self.name, self.history.len());
        let body = request::transact_write(&token, &appends, &expected);
        let begun = self.now();
        // The token makes it safe to send it again: it happens once.
        let answer = match self.ask_once("TransactWriteItems", &body) {
            None if self.random.once_in(2) => self.ask_once("TransactWriteItems", &body),
            answer => answer,
        };
        let outcome = match answer {
            None => Outcome::Unknown,
            Some(answer) if is_refused(&answer) => Outcome::Refused,
            Some(answer) => succeeded(&answer).map(|_| Outcome::Done)?,
        };
        let observations = expected.into_iter().map(|(key, length)| (key, Seen::Length(length))).collect();
        self.note(begun, appends, observations, outcome);
        Ok(())
    }

    /// An answer, or none if the server did not live to give one.
    fn ask_once(&mut self, operation: &str, body: &str) -> Option<Answer> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.server.address()?).ok()?,
        };
        let answer = connection.ask(operation, body).ok().filter(|answer| answer.status < 500)?;
        self.connection = Some(connection);
        Some(answer)
    }

    fn note(
        &mut self,
        begun: u64,
        appends: Vec<(Key, Element)>,
        observations: Vec<(Key, Seen)>,
        outcome: Outcome,
    ) {
        let ended = self.now();
        self.history.push(Transaction { appends, observations, begun, ended, outcome });
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

fn is_refused(answer: &Answer) -> bool {
    matches!(
        answer.exception(),
        Some(
            "TransactionCanceledException"
                | "TransactionConflictException"
                | "TransactionInProgressException"
        )
    )
}

fn succeeded(answer: &Answer) -> io::Result<&Answer> {
    match answer.status {
        200 => Ok(answer),
        status => Err(io::Error::other(format!("{status}: {}", answer.body))),
    }
}
