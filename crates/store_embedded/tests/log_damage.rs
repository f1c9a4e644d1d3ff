//! Damage to the commit log: what stands before it is all there, no group is there by half, and when something
//! acknowledged cannot be read the store says so.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use partita_store::{Direction, KeyRange, Snapshot, Store};
use partita_store_embedded::{Durability, EmbeddedStore, OpenError, Options, Pace};
use support::{Random, key, put, rows, write};

const GROUPS: u32 = 40;
const ROWS: u32 = 3;
const BLOCK: u64 = 4_096;

/// What a group writes: some rows that tell its number, of other lengths in every group.
fn group(number: u32) -> Vec<partita_store::Write> {
    (0..ROWS)
        .map(|row| put(&key(1, &[&number.to_be_bytes()[..], &[row as u8]].concat()), &value(number, row)))
        .collect()
}

fn value(number: u32, row: u32) -> Vec<u8> {
    let length = [10, 3_000, 5_000, 40_000][(number + row) as usize % 4];
    (0..length).map(|place: u32| (place / 7 + number * 31 + row) as u8).collect()
}

/// A folder as a crash leaves it: all groups in the log, none in the data file. Says where each group's record ends.
fn crashed(folder: &Path, durability: Durability) -> (PathBuf, Vec<u64>) {
    let (open, left) = (folder.join("open"), folder.join("left"));
    let store = EmbeddedStore::open_at_pace(&open, Options { durability }, Pace::Lazy).unwrap();
    let mut ends = Vec::new();
    let mut end = 0;
    for number in 0..GROUPS {
        write(&store, group(number)).unwrap();
        let body: u64 = (0..ROWS).map(|row| value(number, row).len() as u64 + 9 + 9).sum();
        end += (25 + body).next_multiple_of(BLOCK);
        ends.push(end);
    }
    fs::create_dir_all(left.join("log")).unwrap();
    for name in ["FORMAT", "data.mdb", "sums"] {
        fs::copy(open.join(name), left.join(name)).unwrap();
    }
    for entry in fs::read_dir(open.join("log")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), left.join("log").join(entry.file_name())).unwrap();
    }
    store.close();
    (left, ends)
}

/// The segment that holds the groups.
fn segment(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder.join("log")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| fs::read(file).unwrap().iter().any(|byte| *byte != 0)).max().unwrap()
}

/// Checks that the groups up to `end` are there whole, and nothing else.
fn check(store: &EmbeddedStore, end: u32) {
    let range = KeyRange { start: key(1, b""), end: key(2, b"") };
    let snapshot = store.snapshot().unwrap();
    let found = rows(&snapshot, &range, Direction::Ascending, usize::MAX).unwrap();
    assert_eq!(found.len() as u32, end * ROWS);
    for number in 0..end {
        for row in 0..ROWS {
            let at = key(1, &[&number.to_be_bytes()[..], &[row as u8]].concat());
            assert!(snapshot.get(&at).unwrap().unwrap() == value(number, row));
        }
    }
}

fn copy(left: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to.join("log")).unwrap();
    for name in ["FORMAT", "data.mdb", "sums"] {
        fs::copy(left.join(name), to.join(name)).unwrap();
    }
    let from = segment(left);
    fs::copy(&from, to.join("log").join(from.file_name().unwrap())).unwrap();
}

#[test]
fn an_intact_log_gives_everything_back() {
    for durability in [Durability::Full, Durability::Relaxed] {
        let folder = tempfile::tempdir().unwrap();
        let (left, _) = crashed(folder.path(), durability);
        for pace in [Pace::Lazy, Pace::Usual] {
            let store = EmbeddedStore::open_at_pace(&left, Options::default(), pace).unwrap();
            check(&store, GROUPS);
            store.close();
        }
        // The store goes on from there, and the recovered log is not read twice.
        let store = EmbeddedStore::open(&left, Options::default()).unwrap();
        write(&store, vec![partita_store::Write::DropSpace(partita_store::Space(1))]).unwrap();
        store.close();
        check(&EmbeddedStore::open(&left, Options::default()).unwrap(), 0);
    }
}

#[test]
fn a_cut_log_gives_back_what_stands_before_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (left, ends) = crashed(folder.path(), Durability::Full);
    let mut random = Random(1);
    for _ in 0..60 {
        let to = folder.path().join("cut");
        copy(&left, &to);
        let length = random.below(ends[ends.len() - 1] + BLOCK);
        fs::File::options().write(true).open(segment(&to)).unwrap().set_len(length).unwrap();
        let store = EmbeddedStore::open(&to, Options::default()).unwrap();
        // A record whose filling alone is cut is whole.
        let found = rows(
            &store.snapshot().unwrap(),
            &KeyRange { start: key(1, b""), end: key(2, b"") },
            Direction::Descending,
            1,
        );
        let end =
            found.unwrap().first().map_or(0, |row| u32::from_be_bytes(row.0[4..8].try_into().unwrap()) + 1);
        let whole = ends.iter().filter(|end| **end <= length).count() as u32;
        assert!(end == whole || end == whole + 1, "{end} of {whole} groups");
        check(&store, end);
    }
}

#[test]
fn a_torn_last_group_is_left_out_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (left, ends) = crashed(folder.path(), Durability::Full);
    let (start, end) = (ends[ends.len() - 2], ends[ends.len() - 1]);
    let mut random = Random(2);
    for _ in 0..60 {
        let to = folder.path().join("torn");
        copy(&left, &to);
        let file = segment(&to);
        let mut bytes = fs::read(&file).unwrap();
        // Some of its blocks never reached the disk, or one bit of it is wrong.
        if random.below(2) == 0 {
            let lost = start + random.below((end - start) / BLOCK) * BLOCK;
            bytes[lost as usize..(lost + BLOCK) as usize].fill(0);
        } else {
            let used = 25 + (0..ROWS).map(|row| value(GROUPS - 1, row).len() as u64 + 18).sum::<u64>();
            bytes[(start + random.below(used)) as usize] ^= 1 << random.below(8);
        }
        fs::write(&file, bytes).unwrap();
        check(&EmbeddedStore::open(&to, Options::default()).unwrap(), GROUPS - 1);
    }
}

#[test]
fn damage_before_acknowledged_groups_is_reported_and_can_be_salvaged() {
    for durability in [Durability::Full, Durability::Relaxed] {
        let folder = tempfile::tempdir().unwrap();
        let (left, ends) = crashed(folder.path(), durability);
        let mut random = Random(3);
        for _ in 0..20 {
            let to = folder.path().join("damaged");
            copy(&left, &to);
            let file = segment(&to);
            let mut bytes = fs::read(&file).unwrap();
            let hit = random.below(u64::from(GROUPS) - 1) as usize;
            let start = if hit == 0 { 0 } else { ends[hit - 1] };
            bytes[start as usize + random.below(50) as usize] ^= 1 << random.below(8);
            fs::write(&file, bytes).unwrap();
            match EmbeddedStore::open(&to, Options::default()) {
                Ok(store) => {
                    // A power loss may do that to a relaxed store.
                    assert_eq!(durability, Durability::Relaxed);
                    check(&store, hit as u32);
                }
                Err(error) => {
                    assert_eq!(durability, Durability::Full);
                    assert!(matches!(&error, OpenError::Damaged { .. }), "{error}");
                    assert!(matches!(
                        EmbeddedStore::open(&to, Options::default()),
                        Err(OpenError::Damaged { .. })
                    ));
                    let new = folder.path().join("salvaged");
                    let _ = fs::remove_dir_all(&new);
                    partita_store_embedded::salvage(&to, &new).unwrap();
                    check(&EmbeddedStore::open(&new, Options::default()).unwrap(), hit as u32);
                    assert!(matches!(
                        EmbeddedStore::open(&to, Options::default()),
                        Err(OpenError::Damaged { .. })
                    ));
                }
            }
        }
    }
}
