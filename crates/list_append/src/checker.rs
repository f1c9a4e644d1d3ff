//! Checks a history and the final lists for everything that no serial execution explains.
//!
//! The final state of a list is the order of its versions. From it follow all dependencies between transactions: which wrote
//! before which (ww), which read whose writes (wr), which read what another then overwrote (rw), and real time. In a
//! strictly serializable history they have no cycle. The method and its terms are Adya's and Elle's.

use crate::graph::{Cycle, Dependency, Graph};
use crate::history::{Element, Key, Observation, Outcome, Transaction};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

/// What is wrong with a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anomaly {
    /// An element that no transaction appended.
    Phantom { key: Key, element: Element },
    /// An element that is in the list twice.
    Duplicate { key: Key, element: Element },
    /// An element in the list although its transaction was refused.
    Refused { key: Key, element: Element },
    /// An element that is not in the list although its transaction was acknowledged.
    Lost { key: Key, element: Element },
    /// A transaction with only some of its appends in the lists.
    Partial { transaction: usize },
    /// An observation of a state that the list never had.
    ImpossibleRead { transaction: usize, key: Key },
    /// A cycle of transactions, each of which would have to precede the next.
    Cycle { name: String, cycle: Cycle },
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Anomaly::Phantom { key, element } => {
                write!(f, "{element} of list {key} was appended by no transaction")
            }
            Anomaly::Duplicate { key, element } => write!(f, "{element} is in list {key} twice"),
            Anomaly::Refused { key, element } => {
                write!(f, "{element} of list {key} was refused and is there")
            }
            Anomaly::Lost { key, element } => {
                write!(f, "{element} of list {key} was acknowledged and is lost")
            }
            Anomaly::Partial { transaction } => write!(f, "transaction {transaction} is there only in part"),
            Anomaly::ImpossibleRead { transaction, key } => {
                write!(f, "transaction {transaction} observed a state that list {key} never had")
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
    check_atomicity(history, lists, &mut anomalies);
    check_observations(history, lists, &mut anomalies);
    // Without an order of versions there is no graph.
    if anomalies.is_empty() {
        let graph = graph(history, lists, &writers);
        anomalies.extend(graph.cycles().into_iter().map(name_cycle));
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
                anomalies.push(Anomaly::Duplicate { key, element });
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

fn check_atomicity(history: &[Transaction], lists: &Lists, anomalies: &mut Vec<Anomaly>) {
    let present: HashSet<Element> = lists.values().flatten().copied().collect();
    for (number, transaction) in history.iter().enumerate() {
        let there = transaction.appends.iter().filter(|(_, element)| present.contains(element)).count();
        if transaction.outcome == Outcome::Unknown && there != 0 && there != transaction.appends.len() {
            anomalies.push(Anomaly::Partial { transaction: number });
        }
        if transaction.outcome == Outcome::Done {
            let lost = transaction.appends.iter().filter(|(_, element)| !present.contains(element));
            anomalies.extend(lost.map(|&(key, element)| Anomaly::Lost { key, element }));
        }
    }
}

/// Lists only grow: every observed state is a prefix of the final one.
fn check_observations(history: &[Transaction], lists: &Lists, anomalies: &mut Vec<Anomaly>) {
    for (transaction, done) in history.iter().enumerate().filter(|(_, t)| t.outcome == Outcome::Done) {
        for (key, seen) in &done.observations {
            let list = lists.get(key).map_or(&[][..], Vec::as_slice);
            let was_there = match seen {
                Observation::List(elements) => list.starts_with(elements),
                Observation::Length(length) => *length <= list.len(),
            };
            if !was_there {
                anomalies.push(Anomaly::ImpossibleRead { transaction, key: *key });
            }
        }
    }
}

/// The first nodes are transactions; then follow the ends of acknowledged ones, ordered by time.
fn graph(history: &[Transaction], lists: &Lists, writers: &HashMap<Element, u32>) -> Graph {
    let mut ends: Vec<(u64, u32)> = (0..)
        .zip(history)
        .filter(|(_, transaction)| transaction.outcome == Outcome::Done)
        .map(|(number, transaction)| (transaction.ended, number))
        .collect();
    ends.sort_unstable();
    let mut graph = Graph::with_nodes(history.len() + ends.len());
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
            Observation::List(elements) => elements.len(),
            Observation::Length(length) => *length,
        };
        if let Some(last) = length.checked_sub(1).and_then(|last| list.get(last)) {
            graph.connect(writers[last], number, Dependency::WriteRead);
        }
        if let Some(next) = list.get(length) {
            graph.connect(number, writers[next], Dependency::ReadWrite);
        }
    }
}

/// Connects the ends to a chain: each leads to the next, and to the transactions that began after it.
fn connect_time(graph: &mut Graph, history: &[Transaction], ends: &[(u64, u32)]) {
    let node = |index: usize| (history.len() + index) as u32;
    for (index, (_, number)) in ends.iter().enumerate() {
        graph.connect(*number, node(index), Dependency::Time);
        if index > 0 {
            graph.connect(node(index - 1), node(index), Dependency::Time);
        }
    }
    for (number, transaction) in (0..).zip(history) {
        let ended_before = ends.partition_point(|(ended, _)| *ended < transaction.begun);
        if ended_before > 0 && transaction.outcome != Outcome::Refused {
            graph.connect(node(ended_before - 1), number, Dependency::Time);
        }
    }
}

fn name_cycle(cycle: Cycle) -> Anomaly {
    let count = |kind| cycle.iter().filter(|(_, dependency)| *dependency == kind).count();
    let name = match (count(Dependency::WriteRead), count(Dependency::ReadWrite)) {
        (0, 0) => "G0",
        (_, 0) => "G1c",
        (_, 1) => "G-single",
        _ => "G2",
    };
    let suffix = if count(Dependency::Time) > 0 { "-realtime" } else { "" };
    Anomaly::Cycle { name: format!("{name}{suffix}"), cycle }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn list(elements: &[Element]) -> Observation {
        Observation::List(elements.into())
    }

    /// All concurrent, unless `at` says otherwise.
    fn done(appends: &[(Key, Element)], observations: &[(Key, Observation)]) -> Transaction {
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
    fn lost_duplicate_phantom_refused_and_partial_appends_are_found() {
        let one = [done(&[(1, 10)], &[])];
        assert_eq!(names(&one, &[(1, &[])]), ["Lost"]);
        assert_eq!(names(&one, &[(1, &[10, 10])]), ["Duplicate"]);
        assert_eq!(names(&one, &[(1, &[10, 11])]), ["Phantom"]);
        assert_eq!(names(&one, &[(1, &[10]), (2, &[10])]), ["Phantom"]);
        let refused = [with(Outcome::Refused, done(&[(1, 10)], &[]))];
        assert_eq!(names(&refused, &[(1, &[10])]), ["Refused"]);
        let unknown = [with(Outcome::Unknown, done(&[(1, 10), (2, 11)], &[]))];
        assert_eq!(names(&unknown, &[(1, &[10])]), ["Partial"]);
        assert!(names(&unknown, &[]).is_empty() && names(&unknown, &[(1, &[10]), (2, &[11])]).is_empty());
    }

    #[test]
    fn impossible_reads_are_found() {
        let writes = [done(&[(1, 10)], &[]), done(&[(1, 11)], &[])];
        for seen in [list(&[11]), list(&[11, 10]), list(&[10, 11, 12]), Observation::Length(3)] {
            let history = [&writes[..], &[done(&[], &[(1, seen)])]].concat();
            assert_eq!(names(&history, &[(1, &[10, 11])]), ["ImpossibleRead"]);
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
    fn reading_a_transaction_in_part_is_a_g_single() {
        let history = [done(&[(1, 10), (2, 20)], &[]), done(&[], &[(1, list(&[10])), (2, list(&[]))])];
        assert_eq!(names(&history, &[(1, &[10]), (2, &[20])]), ["G-single"]);
    }

    #[test]
    fn a_lost_update_is_a_g_single() {
        let history = [
            done(&[(1, 10)], &[(1, Observation::Length(0))]),
            done(&[(1, 11)], &[(1, Observation::Length(0))]),
        ];
        assert_eq!(names(&history, &[(1, &[10, 11])]), ["G-single"]);
    }

    #[test]
    fn write_skew_is_a_g2() {
        let history = [
            done(&[(1, 10)], &[(2, Observation::Length(0))]),
            done(&[(2, 20)], &[(1, Observation::Length(0))]),
        ];
        assert_eq!(names(&history, &[(1, &[10]), (2, &[20])]), ["G2"]);
    }

    #[test]
    fn a_stale_read_is_detected_by_real_time() {
        let read = |begun| at(begun, begun + 1, done(&[], &[(1, list(&[]))]));
        let write = at(10, 20, done(&[(1, 10)], &[]));
        assert!(names(&[write.clone(), read(15)], &[(1, &[10])]).is_empty());
        assert_eq!(names(&[write.clone(), read(21)], &[(1, &[10])]), ["G-single-realtime"]);
        let unknown = with(Outcome::Unknown, write);
        assert!(names(&[unknown, read(21)], &[(1, &[10])]).is_empty());
    }

    #[test]
    fn a_write_that_precedes_an_older_one_is_detected_by_real_time() {
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
                    1 => transaction.observations.push((key, Observation::Length(there.len()))),
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
    fn serial_executions_pass_and_alterations_are_found() {
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
