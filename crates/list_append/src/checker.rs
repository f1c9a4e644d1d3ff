//! A history + what the lists were in the end → everything that no serial execution explains.
//!
//! The last state of a list is the order of its versions. From it follow all dependencies between transactions: who wrote
//! before whom (ww), who read whose writes (wr), who read what somebody else then overwrote (rw), and what the clock says. In
//! a strictly serializable history they have no cycle. That and its names are Adya's and Elle's.

use crate::graph::{Cycle, Dependency, Graph};
use crate::history::{Element, Key, Outcome, Seen, Transaction};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

/// What is wrong with a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anomaly {
    /// Nobody appended this.
    Phantom { key: Key, element: Element },
    /// It is in the list twice.
    Doubled { key: Key, element: Element },
    /// Its transaction was refused, and it is in the list all the same.
    Refused { key: Key, element: Element },
    /// Its transaction was acknowledged, and it is not in the list.
    Lost { key: Key, element: Element },
    /// Of the appends of a transaction some are there and some are not.
    Half { transaction: usize },
    /// What was seen was never the list.
    NeverThere { transaction: usize, key: Key },
    /// Transactions that would each have to come before the next.
    Cycle { name: String, cycle: Cycle },
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Anomaly::Phantom { key, element } => write!(f, "{element} of list {key} was appended by nobody"),
            Anomaly::Doubled { key, element } => write!(f, "{element} is in list {key} twice"),
            Anomaly::Refused { key, element } => write!(f, "{element} of list {key} was refused"),
            Anomaly::Lost { key, element } => {
                write!(f, "{element} of list {key} was acknowledged and is lost")
            }
            Anomaly::Half { transaction } => write!(f, "transaction {transaction} is there by half"),
            Anomaly::NeverThere { transaction, key } => {
                write!(f, "what transaction {transaction} saw of list {key} never was the list")
            }
            Anomaly::Cycle { name, cycle } => write!(f, "{name}: {cycle:?}"),
        }
    }
}

type Lists = BTreeMap<Key, Vec<Element>>;

pub fn check(history: &[Transaction], lists: &Lists) -> Vec<Anomaly> {
    let writers = writers(history);
    let mut anomalies = Vec::new();
    check_elements(history, lists, &writers, &mut anomalies);
    check_wholeness(history, lists, &mut anomalies);
    check_observations(history, lists, &mut anomalies);
    // Without an order of versions there is no graph to speak of.
    if anomalies.is_empty() {
        let graph = graph(history, lists, &writers);
        anomalies.extend(graph.cycles().into_iter().map(named));
    }
    anomalies
}

fn writers(history: &[Transaction]) -> HashMap<Element, u32> {
    let mut writers = HashMap::new();
    for (number, transaction) in history.iter().enumerate() {
        writers.extend(transaction.appends.iter().map(|(_, element)| (*element, number as u32)));
    }
    writers
}

fn check_elements(
    history: &[Transaction],
    lists: &Lists,
    writers: &HashMap<Element, u32>,
    anomalies: &mut Vec<Anomaly>,
) {
    for (&key, list) in lists {
        let mut seen = HashSet::new();
        for &element in list {
            if !seen.insert(element) {
                anomalies.push(Anomaly::Doubled { key, element });
            }
            match writers.get(&element).map(|number| &history[*number as usize]) {
                Some(writer) if !writer.appends.contains(&(key, element)) => {
                    anomalies.push(Anomaly::Phantom { key, element });
                }
                Some(writer) if writer.outcome == Outcome::Refused => {
                    anomalies.push(Anomaly::Refused { key, element });
                }
                Some(_) => {}
                None => anomalies.push(Anomaly::Phantom { key, element }),
            }
        }
    }
}

fn check_wholeness(history: &[Transaction], lists: &Lists, anomalies: &mut Vec<Anomaly>) {
    let present: HashSet<Element> = lists.values().flatten().copied().collect();
    for (number, transaction) in history.iter().enumerate() {
        let there = transaction.appends.iter().filter(|(_, element)| present.contains(element)).count();
        if transaction.outcome == Outcome::Unknown && there != 0 && there != transaction.appends.len() {
            anomalies.push(Anomaly::Half { transaction: number });
        }
        if transaction.outcome == Outcome::Done {
            let lost = transaction.appends.iter().filter(|(_, element)| !present.contains(element));
            anomalies.extend(lost.map(|&(key, element)| Anomaly::Lost { key, element }));
        }
    }
}

/// Lists only grow: whatever was seen is the beginning of what there is in the end.
fn check_observations(history: &[Transaction], lists: &Lists, anomalies: &mut Vec<Anomaly>) {
    for (transaction, done) in history.iter().enumerate().filter(|(_, t)| t.outcome == Outcome::Done) {
        for (key, seen) in &done.observations {
            let list = lists.get(key).map_or(&[][..], Vec::as_slice);
            let was_there = match seen {
                Seen::List(elements) => list.starts_with(elements),
                Seen::Length(length) => *length <= list.len(),
            };
            if !was_there {
                anomalies.push(Anomaly::NeverThere { transaction, key: *key });
            }
        }
    }
}

/// Transactions are the first nodes; behind them stand the ends of acknowledged ones, in the order of time.
fn graph(history: &[Transaction], lists: &Lists, writers: &HashMap<Element, u32>) -> Graph {
    let mut ends: Vec<(u64, u32)> = (0..)
        .zip(history)
        .filter(|(_, transaction)| transaction.outcome == Outcome::Done)
        .map(|(number, transaction)| (transaction.ended, number))
        .collect();
    ends.sort_unstable();
    let mut graph = Graph::of_nodes(history.len() + ends.len());
    for list in lists.values() {
        let in_order: Vec<u32> = list.iter().map(|element| writers[element]).collect();
        for pair in in_order.windows(2) {
            graph.connect(pair[0], pair[1], Dependency::WriteWrite);
        }
    }
    for (number, transaction) in (0..).zip(history) {
        if transaction.outcome == Outcome::Done {
            connect_observations(&mut graph, number, transaction, lists, writers);
        }
    }
    connect_time(&mut graph, history, &ends);
    graph
}

fn connect_observations(
    graph: &mut Graph,
    number: u32,
    transaction: &Transaction,
    lists: &Lists,
    writers: &HashMap<Element, u32>,
) {
    for (key, seen) in &transaction.observations {
        let list = lists.get(key).map_or(&[][..], Vec::as_slice);
        let length = match seen {
            Seen::List(elements) => elements.len(),
            Seen::Length(length) => *length,
        };
        if let Some(last) = length.checked_sub(1).and_then(|last| list.get(last)) {
            graph.connect(writers[last], number, Dependency::WriteRead);
        }
        if let Some(next) = list.get(length) {
            graph.connect(number, writers[next], Dependency::ReadWrite);
        }
    }
}

/// A chain of ends: each leads to the next, and to what began behind it.
fn connect_time(graph: &mut Graph, history: &[Transaction], ends: &[(u64, u32)]) {
    let node = |place: usize| (history.len() + place) as u32;
    for (place, (_, number)) in ends.iter().enumerate() {
        graph.connect(*number, node(place), Dependency::Time);
        if place > 0 {
            graph.connect(node(place - 1), node(place), Dependency::Time);
        }
    }
    for (number, transaction) in (0..).zip(history) {
        let ended_before = ends.partition_point(|(ended, _)| *ended < transaction.begun);
        if ended_before > 0 && transaction.outcome != Outcome::Refused {
            graph.connect(node(ended_before - 1), number, Dependency::Time);
        }
    }
}

fn named(cycle: Cycle) -> Anomaly {
    let has = |wanted| cycle.iter().filter(|(_, dependency)| *dependency == wanted).count();
    let name = match (has(Dependency::WriteRead), has(Dependency::ReadWrite)) {
        (0, 0) => "G0",
        (_, 0) => "G1c",
        (_, 1) => "G-single",
        _ => "G2",
    };
    let timely = if has(Dependency::Time) > 0 { "-realtime" } else { "" };
    Anomaly::Cycle { name: format!("{name}{timely}"), cycle }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn list(elements: &[Element]) -> Seen {
        Seen::List(elements.into())
    }

    /// All at the same time, unless told otherwise.
    fn done(appends: &[(Key, Element)], observations: &[(Key, Seen)]) -> Transaction {
        let (appends, observations) = (appends.to_vec(), observations.to_vec());
        Transaction { appends, observations, begun: 0, ended: 1_000, outcome: Outcome::Done }
    }

    fn at(begun: u64, ended: u64, transaction: Transaction) -> Transaction {
        Transaction { begun, ended, ..transaction }
    }

    fn with(outcome: Outcome, transaction: Transaction) -> Transaction {
        Transaction { outcome, ..transaction }
    }

    fn names(history: &[Transaction], lists: &[(Key, &[Element])]) -> Vec<String> {
        let lists = lists.iter().map(|(key, list)| (*key, list.to_vec())).collect();
        let anomalies = check(history, &lists).into_iter();
        anomalies
            .map(|anomaly| match anomaly {
                Anomaly::Cycle { name, .. } => name,
                other => format!("{other:?}").split(' ').next().unwrap_or_default().to_owned(),
            })
            .collect()
    }

    #[test]
    fn lost_doubled_phantom_refused_and_half_appends_are_found() {
        let one = [done(&[(1, 10)], &[])];
        assert_eq!(names(&one, &[(1, &[])]), ["Lost"]);
        assert_eq!(names(&one, &[(1, &[10, 10])]), ["Doubled"]);
        assert_eq!(names(&one, &[(1, &[10, 11])]), ["Phantom"]);
        assert_eq!(names(&one, &[(1, &[10]), (2, &[10])]), ["Phantom"]);
        let refused = [with(Outcome::Refused, done(&[(1, 10)], &[]))];
        assert_eq!(names(&refused, &[(1, &[10])]), ["Refused"]);
        let unknown = [with(Outcome::Unknown, done(&[(1, 10), (2, 11)], &[]))];
        assert_eq!(names(&unknown, &[(1, &[10])]), ["Half"]);
        assert!(names(&unknown, &[]).is_empty() && names(&unknown, &[(1, &[10]), (2, &[11])]).is_empty());
    }

    #[test]
    fn what_never_was_the_list_is_found() {
        let writes = [done(&[(1, 10)], &[]), done(&[(1, 11)], &[])];
        for seen in [list(&[11]), list(&[11, 10]), list(&[10, 11, 12]), Seen::Length(3)] {
            let history = [&writes[..], &[done(&[], &[(1, seen)])]].concat();
            assert_eq!(names(&history, &[(1, &[10, 11])]), ["NeverThere"]);
        }
    }

    #[test]
    fn dirty_writes_are_a_g0() {
        let history = [done(&[(1, 10), (2, 20)], &[]), done(&[(1, 11), (2, 21)], &[])];
        assert!(names(&history, &[(1, &[10, 11]), (2, &[20, 21])]).is_empty());
        assert_eq!(names(&history, &[(1, &[10, 11]), (2, &[21, 20])]), ["G0"]);
    }

    #[test]
    fn circular_information_is_a_g1c() {
        let history = [done(&[(1, 10)], &[(2, list(&[20]))]), done(&[(2, 20)], &[(1, list(&[10]))])];
        assert_eq!(names(&history, &[(1, &[10]), (2, &[20])]), ["G1c"]);
    }

    #[test]
    fn half_a_transaction_seen_is_a_g_single() {
        let history = [done(&[(1, 10), (2, 20)], &[]), done(&[], &[(1, list(&[10])), (2, list(&[]))])];
        assert_eq!(names(&history, &[(1, &[10]), (2, &[20])]), ["G-single"]);
    }

    #[test]
    fn a_lost_update_is_a_g_single() {
        let history = [done(&[(1, 10)], &[(1, Seen::Length(0))]), done(&[(1, 11)], &[(1, Seen::Length(0))])];
        assert_eq!(names(&history, &[(1, &[10, 11])]), ["G-single"]);
    }

    #[test]
    fn write_skew_is_a_g2() {
        let history = [done(&[(1, 10)], &[(2, Seen::Length(0))]), done(&[(2, 20)], &[(1, Seen::Length(0))])];
        assert_eq!(names(&history, &[(1, &[10]), (2, &[20])]), ["G2"]);
    }

    #[test]
    fn a_stale_read_is_told_by_the_clock() {
        let read = |begun| at(begun, begun + 1, done(&[], &[(1, list(&[]))]));
        let write = at(10, 20, done(&[(1, 10)], &[]));
        assert!(names(&[write.clone(), read(15)], &[(1, &[10])]).is_empty());
        assert_eq!(names(&[write.clone(), read(21)], &[(1, &[10])]), ["G-single-realtime"]);
        let unknown = with(Outcome::Unknown, write);
        assert!(names(&[unknown, read(21)], &[(1, &[10])]).is_empty());
    }

    #[test]
    fn a_write_that_comes_before_an_older_one_is_told_by_the_clock() {
        let history = [at(0, 1, done(&[(1, 10)], &[])), at(2, 3, done(&[(1, 11)], &[]))];
        assert!(names(&history, &[(1, &[10, 11])]).is_empty());
        assert_eq!(names(&history, &[(1, &[11, 10])]), ["G0-realtime"]);
    }

    /// Transactions of a serial execution, each somewhere within its interval.
    fn serial(random: &mut Random, transactions: u64) -> (Vec<Transaction>, Lists) {
        let mut lists = Lists::new();
        let mut history = Vec::new();
        for number in 0..transactions {
            let happened = number * 10;
            let mut transaction = at(
                happened.saturating_sub(random.number() % 50),
                happened + random.number() % 50,
                done(&[], &[]),
            );
            for place in 0..1 + random.below(3) {
                let key = (random.below(5) * 3 + place) as Key;
                let there = lists.entry(key).or_default();
                match random.below(3) {
                    0 => transaction.observations.push((key, list(there))),
                    1 => transaction.observations.push((key, Seen::Length(there.len()))),
                    _ => {
                        let element = number as Element * 4 + place as Element;
                        there.push(element);
                        transaction.appends.push((key, element));
                    }
                }
            }
            history.push(transaction);
        }
        (history, lists)
    }

    #[test]
    fn serial_executions_are_in_order_and_what_is_altered_in_them_is_found() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let (history, lists) = serial(&mut random, 400);
            assert_eq!(check(&history, &lists), []);
            let mut lists = lists;
            let longest = lists.values_mut().max_by_key(|list| list.len()).unwrap();
            let place = random.below(longest.len() - 20);
            longest.swap(place, place + 19);
            assert!(!check(&history, &lists).is_empty(), "seed {seed}");
        }
    }
}
