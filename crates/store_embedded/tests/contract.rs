//! The storage contract, tested on both stores: scripts of operations with their expected results, and many concurrent
//! callers.
#![allow(clippy::unwrap_used)]

mod support;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use partita_store::{
    Counters, Decision, Direction, KeyRange, Snapshot, Space, Store, StoreError, Write, blocking,
};
use partita_store_embedded::{Durability, EmbeddedStore, Options, Pace};
use partita_store_memory::MemoryStore;
use support::{get, key, put, rows, wait, write};

/// Runs a test on both stores, and on the embedded one with both durabilities and at all paces: with the rows in the
/// tree, in the overlays, and on the way from one to the other.
macro_rules! on_both {
    ($($test:ident)*) => {
        mod memory {
            $(#[test] fn $test() { super::$test(&super::MemoryStore::new()); })*
        }
        mod embedded {
            use super::*;
            $(#[test] fn $test() { embedded_with(Durability::Full, Pace::Normal, |store| super::$test(store)); })*
        }
        mod eager {
            use super::*;
            $(#[test] fn $test() { embedded_with(Durability::Full, Pace::Eager, |store| super::$test(store)); })*
        }
        mod relaxed {
            use super::*;
            $(#[test] fn $test() { embedded_with(Durability::Relaxed, Pace::Normal, |store| super::$test(store)); })*
        }
        mod blocking_allowed {
            use super::*;
            $(#[test] fn $test() {
                blocking::set_allowed(true);
                embedded_with(Durability::Full, Pace::Normal, |store| super::$test(store));
            })*
        }
        mod lazy {
            use super::*;
            $(#[test] fn $test() { embedded_with(Durability::Relaxed, Pace::Lazy, |store| super::$test(store)); })*
        }
    };
}

on_both! {
    rows_are_ordered_and_ranges_half_open
    the_last_write_wins_and_counters_add_up
    a_dropped_space_is_gone_and_its_neighbours_stay
    long_values_come_back_whole
    a_decision_sees_its_rows_in_the_order_of_its_keys
    a_panic_fails_one_decision_only
    a_dropped_future_still_writes
    on_commit_runs_before_the_next_decision
    a_snapshot_stays_as_it_was
    counters_of_many_callers_are_exact
    snapshots_show_whole_decisions_only
    usage_grows_with_rows
}

fn embedded_with(durability: Durability, pace: Pace, test: impl FnOnce(&EmbeddedStore)) {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open_with_pace(folder.path(), Options { durability }, pace).unwrap();
    test(&store);
    store.close();
}

/// Runs a script: each line starting with `>` is an operation, the lines after it are its expected output.
fn script(store: &impl Store, text: &str) {
    let mut output = String::new();
    for operation in text.lines().map(str::trim).filter_map(|line| line.strip_prefix("> ")) {
        writeln!(output, "> {operation}").unwrap();
        let words: Vec<_> = operation.split(' ').collect();
        match words[..] {
            ["get", at] => match get(store, &named(at)).unwrap() {
                Some(value) => writeln!(output, "{}", String::from_utf8_lossy(&value)).unwrap(),
                None => writeln!(output, "none").unwrap(),
            },
            ["counters", at] => {
                let total = Counters::read(get(store, &named(at)).unwrap().as_deref());
                writeln!(output, "{} rows, {} bytes", total.rows, total.bytes).unwrap();
            }
            ["up" | "down", start, end, limit] => {
                let direction = if words[0] == "up" { Direction::Ascending } else { Direction::Descending };
                let range = KeyRange { start: named(start), end: named(end) };
                let limit = limit.parse().unwrap();
                for (key, value) in rows(&store.snapshot().unwrap(), &range, direction, limit).unwrap() {
                    let space = u32::from_be_bytes(*key.first_chunk().unwrap());
                    let (rest, value) = (String::from_utf8_lossy(&key[4..]), String::from_utf8_lossy(&value));
                    writeln!(output, "{space}/{rest}={value}").unwrap();
                }
            }
            _ => write(store, operation.split(", ").map(parsed).collect()).unwrap(),
        }
    }
    let expected: String = text.lines().map(|line| format!("{}\n", line.trim())).skip(1).collect();
    assert_eq!(output.trim(), expected.trim());
}

/// Parses `7/abc` as the key abc in space 7.
fn named(text: &str) -> Vec<u8> {
    let (space, rest) = text.split_once('/').unwrap();
    key(space.parse().unwrap(), rest.as_bytes())
}

fn parsed(write: &str) -> Write {
    match write.split(' ').collect::<Vec<_>>()[..] {
        ["put", at, value] => put(&named(at), value.as_bytes()),
        ["delete", at] => Write::Delete { key: named(at) },
        ["count", at, rows, bytes] => Write::Count {
            key: named(at),
            add: Counters { rows: rows.parse().unwrap(), bytes: bytes.parse().unwrap() },
        },
        ["drop", space] => Write::DropSpace(Space(space.parse().unwrap())),
        _ => panic!("no such write: {write}"),
    }
}

fn rows_are_ordered_and_ranges_half_open(store: &impl Store) {
    script(
        store,
        "
        > get 1/a
        none
        > put 1/b two
        > put 1/a one, put 1/c three, put 2/a other
        > get 1/b
        two
        > get 1/
        none
        > up 1/a 1/c 9
        1/a=one
        1/b=two
        > down 1/a 1/c 9
        1/b=two
        1/a=one
        > up 0/ 3/ 9
        1/a=one
        1/b=two
        1/c=three
        2/a=other
        > down 0/ 4294967295/ 2
        2/a=other
        1/c=three
        > up 1/aa 1/bb 9
        1/b=two
        > down 1/aa 1/bb 9
        1/b=two
        > up 1/c 1/a 9
        > up 1/b 1/b 9
        > down 1/d 2/ 9
        > delete 1/b
        > up 0/ 3/ 2
        1/a=one
        1/c=three
        ",
    );
    let everything = KeyRange { start: Vec::new(), end: vec![255; 5] };
    let snapshot = store.snapshot().unwrap();
    assert_eq!(rows(&snapshot, &everything, Direction::Ascending, 9).unwrap().len(), 3);
    assert_eq!(rows(&snapshot, &everything, Direction::Descending, 9).unwrap().len(), 3);
    assert_eq!(snapshot.get(b"").unwrap(), None);
}

fn the_last_write_wins_and_counters_add_up(store: &impl Store) {
    script(
        store,
        "
        > put 1/a 1, put 1/a 2, delete 1/b, put 1/b 3, put 1/c 4, delete 1/c
        > up 1/ 2/ 9
        1/a=2
        1/b=3
        > counters 1/n
        0 rows, 0 bytes
        > count 1/n 1 100, count 1/n 1 50
        > count 1/n -1 -20
        > counters 1/n
        1 rows, 130 bytes
        > delete 1/n, count 1/n 7 7
        > counters 1/n
        7 rows, 7 bytes
        > count 1/n 1 1, delete 1/n
        > get 1/n
        none
        ",
    );
}

fn a_dropped_space_is_gone_and_its_neighbours_stay(store: &impl Store) {
    script(
        store,
        "
        > put 1/a 1, put 2/a 2, put 2/b 3, put 3/a 4, put 4294967295/a 5
        > put 2/c 5, drop 2
        > up 0/ 9/ 9
        1/a=1
        3/a=4
        > get 2/a
        none
        > drop 4294967295, drop 77
        > down 0/ 4294967295/zzz 9
        3/a=4
        1/a=1
        ",
    );
}

fn long_values_come_back_whole(store: &impl Store) {
    let lengths = [0, 1, 2_000, 4_074, 4_075, 4_076, 4_077, 8_152, 8_153, 100_000, 409_600, 500_000];
    let value = |length: usize, salt: usize| -> Vec<u8> {
        (0..length).map(|index| (index.wrapping_mul(31) / 7 + salt) as u8).collect()
    };
    // Each row holds values of all lengths in turn: longer over shorter and the other way round.
    for turn in 0..lengths.len() {
        let writes: Vec<_> = (0..lengths.len())
            .map(|row| put(&key(1, &[row as u8]), &value(lengths[(row + turn * 5) % lengths.len()], turn)))
            .collect();
        write(store, writes).unwrap();
        let range = KeyRange { start: key(1, b""), end: key(2, b"") };
        let stored = rows(&store.snapshot().unwrap(), &range, Direction::Descending, 99).unwrap();
        for (row, (at, found)) in stored.iter().rev().enumerate() {
            let expected = value(lengths[(row + turn * 5) % lengths.len()], turn);
            assert!(*found == expected, "row {row} in turn {turn}");
            assert_eq!(get(store, at).unwrap().as_deref(), Some(&expected[..]));
        }
        assert_eq!(stored.len(), lengths.len());
    }
    let deletes = (0..lengths.len()).map(|row| Write::Delete { key: key(1, &[row as u8]) }).collect();
    write(store, deletes).unwrap();
    assert_eq!(get(store, &key(1, &[3])).unwrap(), None);
}

fn a_decision_sees_its_rows_in_the_order_of_its_keys(store: &impl Store) {
    write(store, vec![put(&key(1, b"a"), b"1"), put(&key(1, b"b"), &[2; 9_000])]).unwrap();
    let named = vec![key(1, b"b"), key(1, b"none"), key(1, b"a"), key(1, b"a")];
    let seen = wait(store.decide(named, |rows| {
        Decision::rejection(rows.iter().map(|row| row.as_ref().map(|row| row.len())).collect::<Vec<_>>())
    }));
    assert_eq!(seen.unwrap(), [Some(9_000), None, Some(1), Some(1)]);
}

fn a_panic_fails_one_decision_only(store: &impl Store) {
    let failed = wait(store.decide(vec![key(1, b"a")], |_| -> Decision<()> { panic!("on purpose") }));
    assert!(matches!(failed, Err(StoreError::Io(_))));
    write(store, vec![put(&key(1, b"a"), b"1")]).unwrap();
    assert_eq!(get(store, &key(1, b"a")).unwrap().as_deref(), Some(&b"1"[..]));
}

fn a_dropped_future_still_writes(store: &impl Store) {
    let at = key(1, b"a");
    drop(store.decide(Vec::new(), move |_| Decision::commit(vec![put(&at, b"1")], ())));
    // Decisions are serial: once this one is answered, the one before is done.
    write(store, vec![put(&key(1, b"b"), b"2")]).unwrap();
    assert_eq!(get(store, &key(1, b"a")).unwrap().as_deref(), Some(&b"1"[..]));
}

fn on_commit_runs_before_the_next_decision(store: &impl Store) {
    let committed = Arc::new(AtomicU64::new(0));
    let mut answers = Vec::new();
    for number in 1..=50_u64 {
        let before = Arc::clone(&committed);
        answers.push(store.decide(Vec::new(), move |_| {
            let after = Arc::clone(&before);
            Decision {
                writes: vec![put(&key(1, b"a"), &number.to_be_bytes())],
                answer: before.load(Ordering::SeqCst),
                on_commit: Some(Box::new(move || after.store(number, Ordering::SeqCst))),
            }
        }));
    }
    for (before, answer) in answers.into_iter().enumerate() {
        assert_eq!(wait(answer).unwrap(), before as u64);
    }
}

fn a_snapshot_stays_as_it_was(store: &impl Store) {
    write(store, vec![put(&key(1, b"a"), b"old"), put(&key(1, b"b"), &[1; 10_000])]).unwrap();
    let before = store.snapshot().unwrap();
    let changes = vec![
        put(&key(1, b"a"), b"new"),
        Write::Delete { key: key(1, b"b") },
        put(&key(1, b"c"), b"more"),
        Write::DropSpace(Space(2)),
    ];
    write(store, changes).unwrap();
    let range = KeyRange { start: key(1, b""), end: key(3, b"") };
    assert_eq!(before.get(&key(1, b"a")).unwrap(), Some(Cow::Borrowed(&b"old"[..])));
    assert_eq!(rows(&before, &range, Direction::Ascending, 9).unwrap().len(), 2);
    assert_eq!(before.get(&key(1, b"b")).unwrap().unwrap().len(), 10_000);
    drop(before);
    let after = store.snapshot().unwrap();
    let keys: Vec<_> =
        rows(&after, &range, Direction::Ascending, 9).unwrap().into_iter().map(|row| row.0).collect();
    assert_eq!(keys, [key(1, b"a"), key(1, b"c")]);
}

fn counters_of_many_callers_are_exact(store: &impl Store) {
    const CALLERS: u64 = 32;
    const EACH: u64 = 40;
    let read = |row: Option<&[u8]>| row.map_or(0, |row| u64::from_be_bytes(row.try_into().unwrap()));
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            scope.spawn(move || {
                // Some callers commit on their own thread whenever nobody else is writing.
                blocking::set_allowed(caller % 4 == 0);
                for _ in 0..EACH {
                    let decided = store.decide(vec![key(1, b"total")], move |rows| {
                        let next = read(rows[0].as_deref()) + 1;
                        let count =
                            Write::Count { key: key(1, b"count"), add: Counters { rows: 1, bytes: 3 } };
                        Decision::commit(vec![put(&key(1, b"total"), &next.to_be_bytes()), count], next)
                    });
                    wait(decided).unwrap();
                }
            });
        }
    });
    assert_eq!(read(get(store, &key(1, b"total")).unwrap().as_deref()), CALLERS * EACH);
    let count = Counters::read(get(store, &key(1, b"count")).unwrap().as_deref());
    let expected = (CALLERS * EACH) as i64;
    assert_eq!(count, Counters { rows: expected, bytes: 3 * expected });
}

fn snapshots_show_whole_decisions_only(store: &impl Store) {
    let over = AtomicBool::new(false);
    let answered = AtomicU64::new(0);
    let range = KeyRange { start: key(1, b""), end: key(2, b"") };
    std::thread::scope(|scope| {
        for direction in [Direction::Ascending, Direction::Descending] {
            let (over, answered, range) = (&over, &answered, &range);
            scope.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    let at_least = answered.load(Ordering::SeqCst);
                    let snapshot = store.snapshot().unwrap();
                    let seen = rows(&snapshot, range, direction, 99).unwrap();
                    let first = seen.first().map(|row| row.1[..8].to_vec()).unwrap_or_default();
                    assert!(seen.iter().all(|row| row.1[..8] == first), "half a decision is visible");
                    assert!(seen.is_empty() || seen.len() == 20);
                    let number =
                        seen.first().map_or(0, |_| u64::from_be_bytes(first.clone().try_into().unwrap()));
                    assert!(number >= at_least, "an answered decision is not visible");
                    for row in [0_u8, 10, 19] {
                        let row = snapshot.get(&key(1, &[row])).unwrap();
                        assert_eq!(row.map(|row| row[..8].to_vec()).unwrap_or_default(), first);
                    }
                }
            });
        }
        for number in 1..=600_u64 {
            let value = [&number.to_be_bytes()[..], &[0; 100]].concat();
            let writes = (0..20).map(|row| put(&key(1, &[row]), &value)).collect();
            write(store, writes).unwrap();
            answered.store(number, Ordering::SeqCst);
        }
        over.store(true, Ordering::SeqCst);
    });
}

fn usage_grows_with_rows(store: &impl Store) {
    let before = store.usage().unwrap();
    let writes = (0..100).map(|row| put(&key(1, &[row]), &[7; 5_000])).collect();
    write(store, writes).unwrap();
    let after = store.usage().unwrap();
    assert!(after.used_bytes >= before.used_bytes + 500_000, "{before:?} {after:?}");
}

#[test]
fn a_caller_that_may_block_is_answered_immediately() {
    embedded_with(Durability::Full, Pace::Normal, |store| {
        blocking::set_allowed(true);
        for number in 0..100u8 {
            let row = put(&key(1, &[number]), b"row");
            let mut decided =
                std::pin::pin!(store.decide(vec![], move |_| Decision::commit(vec![row.clone()], ())));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(decided.as_mut().poll(&mut context).is_ready());
        }
    });
}
