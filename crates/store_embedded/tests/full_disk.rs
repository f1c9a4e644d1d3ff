//! A disk that fills up: writers get an error, nothing acknowledged is lost, rows can be read and deleted all the while,
//! also after a restart, and everything works again once there is space.
//!
//! The small disk is a private in-memory file system, which `unshare` and `mount` create for the test's own process. If
//! that is not allowed, the test says so and does nothing, or fails if `PARTITA_REQUIRE_FULL_DISK` is set.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use partita_store::{Decision, Health, Snapshot, Store, StoreError, Write};
use partita_store_embedded::{Durability, EmbeddedStore, Options, Pace};
use support::{get, key, put, wait, write};

const DISK: &str = "PARTITA_SMALL_DISK";
const RELAXED: &str = "PARTITA_RELAXED";
const REQUIRED: &str = "PARTITA_REQUIRE_FULL_DISK";
const MOUNT: &str = "mount -t tmpfs -o size=100m tmpfs \"$PARTITA_SMALL_DISK\" && exec \"$0\" \"$@\"";

#[test]
fn a_full_disk_loses_nothing_and_is_recovered_from() {
    run_on_a_small_disk("fill_and_free");
}

#[test]
fn on_a_full_disk_rows_can_be_deleted_until_there_is_space() {
    run_on_a_small_disk("fill_and_delete");
}

#[test]
fn a_start_on_a_full_disk_serves_reads_and_deletions() {
    run_on_a_small_disk("fill_and_start_again");
}

#[test]
fn on_a_full_disk_damaged_rows_can_be_deleted() {
    run_on_a_small_disk("fill_and_delete_damaged");
}

/// Runs one of the ignored tests below in a process with a disk of its own.
fn run_on_a_small_disk(test: &str) {
    let disk = tempfile::tempdir().unwrap();
    let shell = |options: &str, script: &str| {
        let mut command = Command::new("unshare");
        command.args([options, "sh", "-c", script]).env(DISK, disk.path()).stdin(Stdio::null());
        command
    };
    let works = |options: &&&str| {
        let tried = shell(options, "mount -t tmpfs -o size=1m tmpfs \"$PARTITA_SMALL_DISK\"").output();
        tried.is_ok_and(|output| output.status.success())
    };
    let Some(options) = ["-m", "-Urm"].iter().find(works) else {
        let why = "no small disk can be mounted here (neither `unshare -m` nor `unshare -Urm`)";
        assert!(std::env::var_os(REQUIRED).is_none(), "{why}");
        println!("NOT RUN: {why}");
        return;
    };
    for relaxed in ["", "yes"] {
        let mut command = shell(options, MOUNT);
        command.arg(std::env::current_exe().unwrap()).args(["--exact", test, "--ignored", "--nocapture"]);
        let output = command.env(RELAXED, relaxed).output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    }
}

struct Disk {
    folder: PathBuf,
    ballast: PathBuf,
    durability: Durability,
}

impl Disk {
    fn new() -> Disk {
        let disk = PathBuf::from(std::env::var(DISK).unwrap());
        let relaxed = std::env::var(RELAXED).is_ok_and(|relaxed| !relaxed.is_empty());
        let durability = if relaxed { Durability::Relaxed } else { Durability::Full };
        Disk { folder: disk.join("store"), ballast: disk.join("ballast"), durability }
    }

    fn open(&self) -> EmbeddedStore {
        EmbeddedStore::open(&self.folder, Options { durability: self.durability }).unwrap()
    }

    /// Uses up the disk, to the last byte.
    fn fill_up(&self) {
        let mut file = fs::File::options().append(true).create(true).open(&self.ballast).unwrap();
        for size in [1 << 20, 4_096, 1] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
    }
}

/// Rows that were acknowledged, by number.
struct Rows {
    next: u32,
    answered: Vec<u32>,
}

impl Rows {
    fn new() -> Rows {
        Rows { next: 0, answered: Vec::new() }
    }

    fn add(&mut self, store: &EmbeddedStore) -> Result<(), StoreError> {
        self.next += 1;
        write(store, vec![put(&at(self.next), &value(self.next))])?;
        self.answered.push(self.next);
        Ok(())
    }

    fn add_until_full(&mut self, store: &EmbeddedStore) -> StoreError {
        loop {
            if let Err(error) = self.add(store) {
                return error;
            }
            assert!(self.answered.len() < 100_000, "the disk is too large for this test");
        }
    }

    fn add_within_ten_seconds(&mut self, store: &EmbeddedStore) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while let Err(error) = self.add(store) {
            assert!(Instant::now() < deadline, "it does not recover: {error}");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(store.health(), Health::Ok);
    }

    /// Deletes some rows; each may only take a moment.
    fn delete(&mut self, store: &EmbeddedStore, count: usize) {
        for number in self.answered.drain(..count) {
            let deadline = Instant::now() + Duration::from_secs(5);
            while let Err(error) = write(store, vec![Write::Delete { key: at(number) }]) {
                assert!(Instant::now() < deadline, "row {number} cannot be deleted: {error}");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    fn check(&self, store: &EmbeddedStore) {
        let snapshot = store.snapshot().unwrap();
        for number in &self.answered {
            assert!(snapshot.get(&at(*number)).unwrap().unwrap() == value(*number), "row {number} is lost");
        }
    }
}

fn at(number: u32) -> Vec<u8> {
    key(1, &number.wrapping_mul(2_654_435_761).to_be_bytes())
}

fn value(number: u32) -> Vec<u8> {
    vec![number as u8; if number.is_multiple_of(50) { 30_000 } else { 1_000 }]
}

#[test]
#[ignore = "started by the tests above, on a small disk"]
fn fill_and_free() {
    let disk = Disk::new();
    fs::write(&disk.ballast, vec![1; 20 << 20]).unwrap();
    let (store, mut rows) = (disk.open(), Rows::new());
    let error = rows.add_until_full(&store);
    assert!(matches!(error, StoreError::Full(_)), "{error}");
    for _ in 0..5 {
        let _ = rows.add(&store);
    }
    rows.check(&store);
    println!("{} rows, then {error}", rows.answered.len());

    fs::remove_file(&disk.ballast).unwrap();
    rows.add_within_ten_seconds(&store);
    rows.check(&store);
    store.close();
    rows.check(&disk.open());
}

#[test]
#[ignore = "started by the tests above, on a small disk"]
fn fill_and_delete() {
    let disk = Disk::new();
    let (store, mut rows) = (disk.open(), Rows::new());
    rows.add_until_full(&store);
    disk.fill_up();
    assert!(matches!(store.health(), Health::Full(_)), "{:?}", store.health());
    let half = rows.answered.len() / 2;
    println!("{} rows", 2 * half);
    rows.delete(&store, half);
    rows.check(&store);
    // The disk is as full as before, but the data file has free space.
    rows.add_within_ten_seconds(&store);
    rows.check(&store);
    store.close();
    rows.check(&disk.open());
}

#[test]
#[ignore = "started by the tests above, on a small disk"]
fn fill_and_start_again() {
    let disk = Disk::new();
    let mut rows = Rows::new();
    for _ in 0..3 {
        // Killed while the log is far ahead of the data file; the first time there is space.
        let (mut child, answered) = start_filler(rows.next);
        child.kill().unwrap();
        child.wait().unwrap();
        rows.next = answered.last().copied().unwrap_or(rows.next).max(rows.next) + 1;
        rows.answered.extend(answered);
        disk.fill_up();
        let store = disk.open();
        rows.check(&store);
        // Whatever could still be added, in the end there is no space.
        let full = rows.add_until_full(&store);
        assert!(matches!(full, StoreError::Full(_)), "{full}");
        rows.check(&store);
        rows.delete(&store, 500);
        store.close();
        rows.check(&disk.open());
    }
    fs::remove_file(&disk.ballast).unwrap();
    let store = disk.open();
    rows.add_within_ten_seconds(&store);
    rows.check(&store);
}

#[test]
#[ignore = "started by the tests above, on a small disk"]
fn fill_and_delete_damaged() {
    let disk = Disk::new();
    let (damaged, mark) = (key(1, b"damaged"), [7; 300]);
    let (store, mut rows) = (disk.open(), Rows::new());
    let others = (0..50_u8).map(|number| put(&key(2, &[number]), &[1; 50]));
    write(&store, others.chain([put(&damaged, &mark)]).collect()).unwrap();
    store.close();
    let file = disk.folder.join("data.mdb");
    let mut bytes = fs::read(&file).unwrap();
    let hits: Vec<_> = (0..bytes.len() - 300).filter(|at| bytes[*at..*at + 300] == mark).collect();
    assert!(!hits.is_empty());
    hits.into_iter().for_each(|hit| bytes[hit + 100] ^= 1);
    fs::write(&file, bytes).unwrap();

    let store = disk.open();
    rows.add_until_full(&store);
    disk.fill_up();
    assert!(matches!(get(&store, &damaged), Err(StoreError::Damaged(_))));
    let deletion = Write::Delete { key: damaged.clone() };
    let beside = put(&key(2, b"a stream record"), &[1; 100]);
    let writes = vec![deletion, beside];
    let delete = move |_: &partita_store::Rows<'_>, damaged: &[usize]| {
        assert_eq!(damaged, [0]);
        Decision::commit(writes.clone(), ())
    };
    wait(store.decide_over_damage(vec![damaged.clone()], delete)).unwrap();
    assert_eq!(get(&store, &damaged).unwrap(), None);
    rows.check(&store);
    store.close();
    let store = disk.open();
    assert_eq!(get(&store, &damaged).unwrap(), None);
    rows.check(&store);
}

/// Starts a process that fills part of the log, and returns which rows it had acknowledged.
fn start_filler(first: u32) -> (Child, Vec<u32>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fill", "--ignored", "--nocapture"])
        .env("PARTITA_FIRST", first.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let answered = lines.take_while(|line| line != "enough").filter_map(|line| line.parse().ok()).collect();
    (child, answered)
}

#[test]
#[ignore = "started by the test above, to be killed"]
fn fill() {
    let Ok(first) = std::env::var("PARTITA_FIRST") else { return };
    let disk = Disk::new();
    let options = Options { durability: disk.durability };
    let store = EmbeddedStore::open_with_pace(Path::new(&disk.folder), options, Pace::Lazy).unwrap();
    let mut rows = Rows { next: first.parse().unwrap(), answered: Vec::new() };
    while rows.answered.len() < 3_000 && rows.add(&store).is_ok() {}
    let lines: String = rows.answered.iter().map(|number| format!("{number}\n")).collect();
    std::io::stderr().write_all(format!("{lines}enough\n").as_bytes()).unwrap();
    loop {
        std::thread::park();
    }
}
