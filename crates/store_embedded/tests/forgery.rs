//! Clients plant what looks like a record of the commit log in their values, in every block of every segment: none of it
//! is ever taken for one.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use partita_store::{Direction, KeyRange, Write};
use partita_store_embedded::{EmbeddedStore, Options, Pace};
use support::{Random, key, put, rows, write};

const BLOCK: usize = 4_096;
const VICTIM: u32 = 1;
const ATTACKER: u32 = 2;
/// The length of a record's header in format 1 and in format 2.
const HEADS: [usize; 2] = [25, 36];

/// A body that drops the victim's space and overwrites one of its rows.
fn malicious_body() -> Vec<u8> {
    let row = key(VICTIM, b"victim");
    let mut body = vec![2];
    body.extend_from_slice(&VICTIM.to_le_bytes());
    body.push(1);
    body.extend_from_slice(&(row.len() as u32).to_le_bytes());
    body.extend_from_slice(&6_u32.to_le_bytes());
    body.extend_from_slice(&row);
    body.extend_from_slice(b"forged");
    body
}

/// A record of format 1, whose checksum anybody can compute.
fn record_of_format_1(run: u64, sequence: u64) -> Vec<u8> {
    let body = malicious_body();
    let mut covered = (body.len() as u32).to_le_bytes().to_vec();
    covered.extend_from_slice(&run.to_le_bytes());
    covered.extend_from_slice(&sequence.to_le_bytes());
    covered.push(0);
    covered.extend_from_slice(&body);
    let sum = crc32fast::hash(&covered).to_le_bytes();
    [&covered[..4], &sum, &covered[4..]].concat()
}

/// A record of format 2, sealed with a guessed salt.
fn record_of_format_2(sequence: u64, salt: &[u8; 16]) -> Vec<u8> {
    let seal = |bytes: &[u8]| siphasher::sip::SipHasher13::new_with_key(salt).hash(bytes).to_le_bytes();
    let body = malicious_body();
    let mut head = (body.len() as u32).to_le_bytes().to_vec();
    head.extend_from_slice(&sequence.to_le_bytes());
    head.extend_from_slice(&(sequence - 1).to_le_bytes());
    head.extend_from_slice(&seal(&body));
    let head_seal = seal(&head);
    [&head[..], &head_seal, &body].concat()
}

/// A value with something planted at the beginning of every block of the log that it will take, if it is the only row of
/// its group under this key.
fn value_with(planted: &[u8], head: usize, key: &[u8], blocks: usize) -> Vec<u8> {
    let begins = head + 9 + key.len();
    let mut value = vec![7; BLOCK - begins];
    for _ in 1..blocks {
        let mut block = planted.to_vec();
        block.resize(BLOCK, 0);
        value.extend_from_slice(&block);
    }
    value
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    for folder in ["", "log"] {
        fs::create_dir_all(to.join(folder)).unwrap();
        for entry in fs::read_dir(from.join(folder)).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), to.join(folder).join(entry.file_name())).unwrap();
            }
        }
    }
}

fn all_rows(folder: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let store = EmbeddedStore::open(folder, Options::default()).unwrap();
    let range = KeyRange { start: key(VICTIM, b""), end: key(ATTACKER + 1, b"") };
    use partita_store::Store;
    let found = rows(&store.snapshot().unwrap(), &range, Direction::Ascending, usize::MAX).unwrap();
    found.into_iter().collect()
}

/// All segments are filled with planted records, twice over; then the log ends somewhere among them.
#[test]
fn planted_records_are_never_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let (open, left) = (folder.path().join("open"), folder.path().join("left"));
    for (head, short_puts) in [(HEADS[0], 3), (HEADS[1], 10)] {
        let store = EmbeddedStore::open_with_pace(&open, Options::default(), Pace::Eager).unwrap();
        let mut expected = BTreeMap::from([(key(VICTIM, b"victim"), b"untouched".to_vec())]);
        write(&store, vec![put(&key(VICTIM, b"victim"), b"untouched")]).unwrap();
        let long_puts = 64;
        let (at, next) = (key(ATTACKER, b"long"), 1 + long_puts + short_puts + 1);
        for number in 0..long_puts {
            let planted = if number % 2 == 0 {
                record_of_format_1(1 + number / 2 % 4, next)
            } else {
                record_of_format_2(next, &[number as u8; 16])
            };
            let value = value_with(&planted, head, &at, 256);
            write(&store, vec![put(&at, &value)]).unwrap();
            expected.insert(at.clone(), value);
        }
        for number in 0..short_puts {
            let at = key(ATTACKER, &number.to_be_bytes());
            write(&store, vec![put(&at, b"short")]).unwrap();
            expected.insert(at, b"short".to_vec());
        }
        copy(&open, &left);
        assert!(all_rows(&left) == expected, "after a crash");
        store.close();
        assert!(all_rows(&open) == expected, "after a clean end");
        fs::remove_dir_all(&open).unwrap();
    }
}

/// Random writes whose values are random, or planted records, or pieces of the log itself.
#[test]
fn whatever_clients_write_the_log_returns_exactly_that() {
    let folder = tempfile::tempdir().unwrap();
    let (open, left) = (folder.path().join("open"), folder.path().join("left"));
    for seed in 0..12 {
        let mut random = Random(seed);
        let mut expected = BTreeMap::new();
        let pace = [Pace::Eager, Pace::Lazy, Pace::Normal][seed as usize % 3];
        for _ in 0..3 {
            let store = EmbeddedStore::open_with_pace(&open, Options::default(), pace).unwrap();
            for _ in 0..random.below(40) {
                let at = key(1 + random.below(2) as u32, &[random.below(9) as u8]);
                if random.below(6) == 0 {
                    expected.remove(&at);
                    write(&store, vec![Write::Delete { key: at }]).unwrap();
                } else {
                    let value = client_bytes(&mut random, &open.join("log"), &at);
                    write(&store, vec![put(&at, &value)]).unwrap();
                    expected.insert(at, value);
                }
            }
            copy(&open, &left);
            assert!(all_rows(&left) == expected, "seed {seed}, after a crash");
            store.close();
        }
        assert!(all_rows(&open) == expected, "seed {seed}, after a clean end");
        fs::remove_dir_all(&open).unwrap();
    }
}

fn client_bytes(random: &mut Random, log: &Path, at: &[u8]) -> Vec<u8> {
    let blocks = 1 + random.below(30) as usize;
    let planted = match random.below(4) {
        0 => return (0..random.below(20_000)).map(|_| random.next() as u8).collect(),
        1 => record_of_format_1(1 + random.below(3), 1 + random.below(200)),
        2 => record_of_format_2(1 + random.below(200), &[0; 16]),
        _ => piece_of_the_log(random, log),
    };
    value_with(&planted, HEADS[random.below(2) as usize], at, blocks)
}

/// A block of the log, mostly from an earlier use of the segment.
fn piece_of_the_log(random: &mut Random, log: &Path) -> Vec<u8> {
    let mut files: Vec<_> = fs::read_dir(log).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let bytes = fs::read(&files[random.below(files.len() as u64) as usize]).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |end| end / BLOCK);
    let from = random.below(used as u64 + 1) as usize * BLOCK;
    bytes.get(from..(from + BLOCK).min(bytes.len())).unwrap_or_default().to_vec()
}
