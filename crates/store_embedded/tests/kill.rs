//! A process that writes is killed at random moments, again and again: what it had been answered is there, and no
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
const MANNER: &str = "PARTITA_KILL_MANNER";
const WRITERS: u64 = 6;
/// Then a new one, so that looking through it stays quick.
const KILLS_A_FOLDER: u64 = 25;
/// The spaces in which every decision writes one row.
const PARTS: [u32; 3] = [1, 2, 3];
const COUNT_SPACE: u32 = 9;

#[test]
fn answered_decisions_survive_a_kill() {
    kill_again_and_again("full");
}

#[test]
fn a_relaxed_store_survives_a_kill_as_well() {
    kill_again_and_again("relaxed");
}

/// The data file is written all the time, so that the kill finds it being written.
#[test]
fn a_kill_while_the_data_file_is_written_does_no_harm() {
    kill_again_and_again("hurried");
}

/// The data file is never written, so that all there is comes from the log.
#[test]
fn all_comes_back_from_the_log_alone() {
    kill_again_and_again("lazy");
}

fn kill_again_and_again(manner: &str) {
    let kills: u64 = std::env::var("PARTITA_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(10);
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut in_all = 0;
    for round in 0..kills.div_ceil(KILLS_A_FOLDER) {
        let folder = tempfile::tempdir().unwrap();
        let mut answered = BTreeSet::new();
        for _ in 0..KILLS_A_FOLDER.min(kills - round * KILLS_A_FOLDER) {
            // Mostly while it writes; now and then while it still opens.
            let life = Duration::from_millis(random.below(250));
            answered.extend(kill_after(life, start_child(folder.path(), manner)));
            check(folder.path(), &answered);
        }
        in_all += answered.len();
    }
    println!("{manner}: {in_all} decisions were answered in {kills} lives");
    assert!(kills < 10 || in_all > 0);
}

/// Says which decisions the child was answered before its end.
fn kill_after(life: Duration, mut child: Child) -> Vec<u64> {
    let acknowledgements = BufReader::new(child.stderr.take().unwrap());
    let reading = std::thread::spawn(move || {
        let lines = acknowledgements.lines().map_while(Result::ok);
        lines.filter_map(|line| line.strip_prefix("answered ")?.parse().ok()).collect()
    });
    std::thread::sleep(life);
    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap()
}

fn start_child(folder: &Path, manner: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_child_writes", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .env(MANNER, manner)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "started by the tests above, to be killed"]
fn the_child_writes() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let (durability, pace) = match std::env::var(MANNER).unwrap().as_str() {
        "full" => (Durability::Full, Pace::Usual),
        "relaxed" => (Durability::Relaxed, Pace::Usual),
        "hurried" => (Durability::Full, Pace::Hurried),
        _ => (Durability::Full, Pace::Lazy),
    };
    let store = EmbeddedStore::open_at_pace(Path::new(&folder), Options { durability }, pace).unwrap();
    let everything = KeyRange { start: key(PARTS[0], b""), end: key(PARTS[0] + 1, b"") };
    let last = rows(&store.snapshot().unwrap(), &everything, Direction::Descending, 1).unwrap();
    let first = last.first().map_or(0, |row| u64::from_be_bytes(row.0[4..12].try_into().unwrap()) + 1);
    let next = AtomicU64::new(first);
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    let asked = store.decide(vec![key(COUNT_SPACE, b"")], move |_| {
                        Decision::commit(decision(number), number)
                    });
                    let number = wait(asked).unwrap();
                    // One write a line: a kill cuts between lines or loses a line, it does not mix them.
                    std::io::stderr().write_all(format!("answered {number}\n").as_bytes()).unwrap();
                }
            });
        }
    });
}

/// All rows of a decision, each telling its number, some of them long; and one counted.
fn decision(number: u64) -> Vec<Write> {
    let mut writes: Vec<_> =
        PARTS.iter().map(|part| put(&key(*part, &number.to_be_bytes()), &value(number, *part))).collect();
    // A row that all decisions overwrite, now short, now long.
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
    let store = EmbeddedStore::open_at_pace(folder, Options::default(), Pace::Lazy).unwrap();
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
    assert!(found.iter().all(|numbers| *numbers == found[0]), "a decision is there by half");
    let lost: Vec<_> = answered.difference(&found[0]).collect();
    assert!(lost.is_empty(), "answered decisions are lost: {lost:?}");
    let count = Counters::read(support::get(&store, &key(COUNT_SPACE, b"")).unwrap().as_deref());
    let bytes = found[0].iter().sum::<u64>() as i64;
    assert_eq!(count, Counters { rows: found[0].len() as i64, bytes });
}
