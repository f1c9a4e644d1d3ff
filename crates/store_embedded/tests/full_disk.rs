//! A disk that fills up: writers are told, nothing acknowledged is lost, and all goes on once there is room.
//!
//! Needs a small disk of its own, for instance
//! `mount -t tmpfs -o size=100m tmpfs /mnt/small && PARTITA_SMALL_DISK=/mnt/small cargo test --test full_disk`.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use partita_store::{Snapshot, Store, StoreError};
use partita_store_embedded::{Durability, EmbeddedStore, Options};
use support::{key, put, write};

#[test]
fn a_full_disk_loses_nothing_and_is_got_over() {
    let Ok(disk) = std::env::var("PARTITA_SMALL_DISK") else { return };
    for durability in [Durability::Full, Durability::Relaxed] {
        fill_and_free(Path::new(&disk), durability);
    }
}

fn fill_and_free(disk: &Path, durability: Durability) {
    let (folder, ballast) = (disk.join("store"), disk.join("ballast"));
    let _ = fs::remove_dir_all(&folder);
    fs::write(&ballast, vec![1; 20 << 20]).unwrap();
    let store = EmbeddedStore::open(&folder, Options { durability }).unwrap();
    let mut answered = Vec::new();
    let mut number = 0_u32;
    let mut add = |store: &EmbeddedStore, answered: &mut Vec<u32>| {
        number += 1;
        let outcome = write(store, vec![put(&at(number), &value(number))]);
        if outcome.is_ok() {
            answered.push(number);
        }
        outcome
    };
    let error = loop {
        if let Err(error) = add(&store, &mut answered) {
            break error;
        }
        assert!(answered.len() < 100_000, "the disk is too large for this test");
    };
    assert!(matches!(error, StoreError::Full(_)), "{error}");
    for _ in 0..5 {
        let _ = add(&store, &mut answered);
    }
    check(&store, &answered);
    println!("{durability:?}: {} rows, then {error}", answered.len());

    fs::remove_file(&ballast).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while add(&store, &mut answered).is_err() {
        assert!(Instant::now() < deadline, "it does not recover");
        std::thread::sleep(Duration::from_millis(50));
    }
    check(&store, &answered);
    store.close();
    check(&EmbeddedStore::open(&folder, Options { durability }).unwrap(), &answered);
    fs::remove_dir_all(&folder).unwrap();
}

fn at(number: u32) -> Vec<u8> {
    key(1, &number.wrapping_mul(2_654_435_761).to_be_bytes())
}

fn value(number: u32) -> Vec<u8> {
    vec![number as u8; if number.is_multiple_of(50) { 30_000 } else { 1_000 }]
}

fn check(store: &EmbeddedStore, answered: &[u32]) {
    let snapshot = store.snapshot().unwrap();
    for number in answered {
        assert!(snapshot.get(&at(*number)).unwrap().unwrap() == value(*number), "row {number} is lost");
    }
}
