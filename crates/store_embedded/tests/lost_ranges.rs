//! Key ranges in which rows were lost with a whole page: how long they remain in the file `DAMAGE`.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use partita_store::{Space, StoreError, Write};
use partita_store_embedded::{EmbeddedStore, Options};
use support::{get, key, put, write};

const PAGE_BYTES: usize = 4_096;
const ROWS: u16 = 300;
/// The row whose page is lost.
const LOST: u16 = 150;

fn at(number: u16) -> Vec<u8> {
    key(2, &number.to_be_bytes())
}

fn open(folder: &Path) -> EmbeddedStore {
    EmbeddedStore::open(folder, Options::default()).unwrap()
}

/// A store that has rewritten a page that was lost completely.
fn with_a_lost_page(folder: &Path) -> EmbeddedStore {
    let store = open(folder);
    let value = |number: u16| [&[7; 100][..], &number.to_be_bytes()].concat();
    write(&store, (0..ROWS).map(|number| put(&at(number), &value(number))).collect()).unwrap();
    store.close();
    let file = folder.join("data.mdb");
    let mut bytes = fs::read(&file).unwrap();
    let wanted = value(LOST);
    let hits: Vec<_> =
        (0..bytes.len() - wanted.len()).filter(|at| bytes[*at..].starts_with(&wanted)).collect();
    assert!(!hits.is_empty());
    for hit in hits {
        let page = hit / PAGE_BYTES * PAGE_BYTES;
        bytes[page..page + PAGE_BYTES].fill(0xA5);
    }
    fs::write(&file, bytes).unwrap();
    let store = open(folder);
    write(&store, vec![put(&at(LOST + 1), b"new")]).unwrap();
    store.close();
    let store = open(folder);
    assert_eq!(get(&store, &at(LOST + 1)).unwrap().as_deref(), Some(&b"new"[..]));
    assert!(matches!(get(&store, &at(LOST)), Err(StoreError::Damaged(_))));
    assert!(!lost_ranges(folder).is_empty());
    store
}

fn lost_ranges(folder: &Path) -> String {
    fs::read_to_string(folder.join("DAMAGE")).unwrap()
}

#[test]
fn they_are_removed_when_the_loss_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let store = with_a_lost_page(folder.path());
    assert_eq!(store.forget_damage().unwrap(), 1);
    assert_eq!(get(&store, &at(LOST)).unwrap(), None);
    store.close();
    assert_eq!(lost_ranges(folder.path()), "");
    assert_eq!(get(&open(folder.path()), &at(LOST)).unwrap(), None);
}

#[test]
fn they_are_removed_with_their_space() {
    let folder = tempfile::tempdir().unwrap();
    let store = with_a_lost_page(folder.path());
    write(&store, vec![Write::DropSpace(Space(2))]).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    // Closing the store makes it finish; rows of dropped spaces are removed in the background.
    let mut store = Some(store);
    while !lost_ranges(folder.path()).is_empty() {
        assert!(Instant::now() < until, "{}", lost_ranges(folder.path()));
        store.take().into_iter().for_each(EmbeddedStore::close);
        store = Some(open(folder.path()));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(get(&store.unwrap(), &at(LOST)).unwrap(), None);
}
