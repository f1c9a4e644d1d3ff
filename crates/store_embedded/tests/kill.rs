//! A writing process is killed at random moments, again and again: its acknowledged decisions are all there, and no
//! decision is there by half.
//!
//! `PARTITA_KILLS=500` kills more often than the default.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use partita_store::{Counters, Decision, Direction, KeyRange, Store, Write};
use partita_store_embedded::{Durability, EmbeddedStore, Options, Pace};
use support::{Random, key, put, rows, wait};

const FOLDER: &str = "PARTITA_KILL_FOLDER";
const MODE: &str = "PARTITA_KILL_MODE";
const WRITERS: u64 = 6;
/// Then a new folder, so that checking it stays quick.
const KILLS_A_FOLDER: u64 = 25;
/// The spaces in which every decision writes one row.
const PARTS: [u32; 3] = [1, 2, 3];
const COUNT_SPACE: u32 = 9;

#[test]
fn answered_decisions_survive_a_kill() {
    kill_repeatedly("full");
}

#[test]
fn a_relaxed_store_survives_a_kill_as_well() {
    kill_repeatedly("relaxed");
}

/// The data file is written all the time, so that the kill interrupts that.
#[test]
fn a_kill_while_the_data_file_is_written_does_no_harm() {
    kill_repeatedly("eager");
}

/// The data file is never written, so that everything comes from the log.
#[test]
fn everything_is_recovered_from_the_log_alone() {
    kill_repeatedly("lazy");
}

fn kill_repeatedly(mode: &str) {
    let kills: u64 = std::env::var("PARTITA_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(10);
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut total = 0;
    for round in 0..kills.div_ceil(KILLS_A_FOLDER) {
        let folder = tempfile::tempdir().unwrap();
        let mut answered = BTreeSet::new();
        for _ in 0..KILLS_A_FOLDER.min(kills - round * KILLS_A_FOLDER) {
            // Usually while it writes; now and then while it is still opening.
            let lifetime = Duration::from_millis(random.below(250));
            answered.extend(kill_after(lifetime, start_child(folder.path(), mode)));
            check(folder.path(), &answered);
        }
        total += answered.len();
    }
    println!("{mode}: {total} decisions were acknowledged in {kills} runs");
    assert!(kills < 10 || total > 0);
}

/// Returns which decisions the child had acknowledged when it was killed.
fn kill_after(lifetime: Duration, mut child: Child) -> Vec<u64> {
    let acknowledgements = BufReader::new(child.stderr.take().unwrap());
    let reading = std::thread::spawn(move || {
        let lines = acknowledgements.lines().map_while(Result::ok);
        lines.filter_map(|line| line.strip_prefix("answered ")?.parse().ok()).collect()
    });
    std::thread::sleep(lifetime);
    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap()
}

fn start_child(folder: &Path, mode: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_child_writes", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .env(MODE, mode)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "started by the tests above, to be killed"]
fn the_child_writes() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let (durability, pace) = match std::env::var(MODE).unwrap().as_str() {
        "full" => (Durability::Full, Pace::Normal),
        "relaxed" => (Durability::Relaxed, Pace::Normal),
        "eager" => (Durability::Full, Pace::Eager),
        _ => (Durability::Full, Pace::Lazy),
    };
    let store = EmbeddedStore::open_with_pace(Path::new(&folder), Options { durability }, pace).unwrap();
    let everything = KeyRange { start: key(PARTS[0], b""), end: key(PARTS[0] + 1, b"") };
    let last = rows(&store.snapshot().unwrap(), &everything, Direction::Descending, 1).unwrap();
    let first = last.first().map_or(0, |row| u64::from_be_bytes(row.0[4..12].try_into().unwrap()) + 1);
    let next = AtomicU64::new(first);
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    let decided = store.decide(vec![key(COUNT_SPACE, b"")], move |_| {
                        Decision::commit(decision(number), number)
                    });
                    let number = wait(decided).unwrap();
                    // One write per line: a kill cuts between lines or loses a line, it does not mix them.
                    std::io::stderr().write_all(format!("answered {number}\n").as_bytes()).unwrap();
                }
            });
        }
    });
}

/// The writes of a decision: rows that hold its number, some of them long, and a count.
fn decision(number: u64) -> Vec<Write> {
    let mut writes: Vec<_> =
        PARTS.iter().map(|part| put(&key(*part, &number.to_be_bytes()), &value(number, *part))).collect();
    // A row that all decisions overwrite, sometimes short, sometimes long.
    writes.push(put(&key(COUNT_SPACE, b"last"), &value(number, number as u32 % 7)));
    writes.push(Write::Count { key: key(COUNT_SPACE, b""), add: Counters { rows: 1, bytes: number as i64 } });
    writes
}

fn value(number: u64, part: u32) -> Vec<u8> {
    let length = match (number + u64::from(part)) % 23 {
        0 => 20_000,
        1 => 5_000,
        other => 50 + other as usize * 40,
    };
    number.to_be_bytes().into_iter().cycle().take(length).collect()
}

fn check(folder: &Path, answered: &BTreeSet<u64>) {
    let store = EmbeddedStore::open_with_pace(folder, Options::default(), Pace::Lazy).unwrap();
    let snapshot = store.snapshot().unwrap();
    let mut found = Vec::new();
    for part in PARTS {
        let range = KeyRange { start: key(part, b""), end: key(part + 1, b"") };
        let mut numbers = BTreeSet::new();
        for (key, row) in rows(&snapshot, &range, Direction::Ascending, usize::MAX).unwrap() {
            let number = u64::from_be_bytes(key[4..12].try_into().unwrap());
            assert!(row == value(number, part), "row {number} of part {part} is not what was written");
            numbers.insert(number);
        }
        found.push(numbers);
    }
    assert!(found.iter().all(|numbers| *numbers == found[0]), "a decision is only partly there");
    let lost: Vec<_> = answered.difference(&found[0]).collect();
    assert!(lost.is_empty(), "answered decisions are lost: {lost:?}");
    let count = Counters::read(support::get(&store, &key(COUNT_SPACE, b"")).unwrap().as_deref());
    let bytes = found[0].iter().sum::<u64>() as i64;
    assert_eq!(count, Counters { rows: found[0].len() as i64, bytes });
}
