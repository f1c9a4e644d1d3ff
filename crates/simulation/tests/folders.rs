//! Compaction, repair and upgrade through a crash at every call; and disks that reject writes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use partita_simulation::crash_testing::{crash_at_each_call, on_a_failing_disk, set_faults};
use partita_simulation::disk::Faults;
use partita_simulation::image::Image;
use partita_store::{Decision, Health, Snapshot, Store, StoreError, Write};
use partita_store_embedded::{Driver, EmbeddedStore, Options, compact, verify};
use std::future::Future;
use std::io::Read;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

const ROWS: u32 = 150;

fn key(number: u32) -> Vec<u8> {
    [7_u32, number].map(u32::to_be_bytes).concat()
}

fn value(number: u32) -> Vec<u8> {
    vec![number as u8; if number.is_multiple_of(100) { 20_000 } else { 100 }]
}

fn put(number: u32) -> Write {
    Write::Put { key: key(number), value: value(number) }
}

/// Writes, driving the store.
fn written(store: &EmbeddedStore, driver: &mut Driver, writes: Vec<Write>) -> Result<(), StoreError> {
    let mut decided = pin!(store.decide(Vec::new(), move |_| Decision::commit(writes.clone(), ())));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match decided.as_mut().poll(&mut context) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => drop(driver.write()),
        }
    }
}

/// A folder with rows, many of them rewritten, so that there is something to compact.
fn filled() -> Image {
    let folder = tempfile::tempdir().unwrap();
    let (store, mut driver) = EmbeddedStore::open_single_threaded(folder.path(), Options::default()).unwrap();
    for _ in 0..3 {
        written(&store, &mut driver, (0..2 * ROWS).map(put).collect()).unwrap();
        driver.apply().unwrap();
    }
    let gone = (ROWS..2 * ROWS).map(|number| Write::Delete { key: key(number) });
    written(&store, &mut driver, gone.collect()).unwrap();
    driver.close().unwrap();
    drop((store, driver));
    Image::read(folder.path()).unwrap()
}

fn get(store: &EmbeddedStore, number: u32) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(store.snapshot()?.get(&key(number))?.map(|row| row.into_owned()))
}

fn check_all(folder: &Path, when: &str) {
    let store =
        EmbeddedStore::open(folder, Options::default()).unwrap_or_else(|error| panic!("{error}\n{when}"));
    for number in 0..2 * ROWS {
        let expected = (number < ROWS).then(|| value(number));
        assert!(get(&store, number).unwrap() == expected, "row {number}\n{when}");
    }
    store.close();
    let findings = verify(folder, |_, _| {}).unwrap().findings;
    assert!(findings.is_empty(), "{findings:?}\n{when}");
}

#[test]
fn compaction_survives_a_crash_at_every_call() {
    let image = filled();
    for only_kills in [true, false] {
        let work = |folder: &Path| drop(compact(folder));
        let calls = crash_at_each_call(&image, only_kills, work, check_all);
        assert!(calls > 10, "{calls}");
    }
}

#[test]
fn a_repair_survives_a_crash_at_every_call() {
    let mut image = filled();
    let file = image.0.get_mut(Path::new("data.mdb")).unwrap().as_mut().unwrap();
    // All copies of this row, both the value and the key.
    let hits: Vec<_> = (0..file.len() - 100).filter(|at| file[*at..*at + 100] == [33; 100]).collect();
    assert!(!hits.is_empty());
    for hit in hits {
        file[hit + 50] ^= 1;
        file[hit - 6] ^= 1;
    }
    let work = |folder: &Path| {
        let Ok((store, mut driver)) = EmbeddedStore::open_single_threaded(folder, Options::default()) else {
            return;
        };
        let _ = written(&store, &mut driver, vec![put(34), put(ROWS)]);
        let _ = driver.apply();
        let _ = driver.close();
    };
    let check = |folder: &Path, when: &str| {
        let store =
            EmbeddedStore::open(folder, Options::default()).unwrap_or_else(|error| panic!("{error}\n{when}"));
        let mut lost = 0;
        for number in 0..ROWS {
            match get(&store, number) {
                Ok(found) => assert!(found == Some(value(number)), "row {number}\n{when}"),
                Err(StoreError::Damaged(_)) => lost += 1,
                Err(error) => panic!("{error}\n{when}"),
            }
        }
        assert!((1..100).contains(&lost), "{lost} are lost\n{when}");
    };
    for only_kills in [true, false] {
        let calls = crash_at_each_call(&image, only_kills, work, check);
        assert!(calls > 10, "{calls}");
    }
}

/// A folder of format 1 whose process was aborted; see store_embedded/tests/formats.rs.
fn of_format_1() -> Image {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store_embedded/tests/formats/1/crashed");
    let packed = Image::read(&folder).unwrap();
    let unpacked = packed.0.into_iter().map(|(path, bytes)| match (path.extension(), bytes) {
        (Some(extension), Some(bytes)) if extension == "gz" => {
            let mut whole = Vec::new();
            flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut whole).unwrap();
            (path.with_extension(""), Some(whole))
        }
        (_, bytes) => (path, bytes),
    });
    Image(unpacked.collect())
}

#[test]
fn an_upgrade_survives_a_crash_at_every_call() {
    let work = |folder: &Path| {
        let Ok((store, mut driver)) = EmbeddedStore::open_single_threaded(folder, Options::default()) else {
            return;
        };
        let _ = driver.close();
        drop(store);
    };
    let check = |folder: &Path, when: &str| {
        let store =
            EmbeddedStore::open(folder, Options::default()).unwrap_or_else(|error| panic!("{error}\n{when}"));
        let snapshot = store.snapshot().unwrap();
        for number in 0..200_u32 {
            let found = snapshot.get(&[1, number].map(u32::to_be_bytes).concat()).unwrap();
            assert_eq!(found.is_some(), number >= 10, "row {number}\n{when}");
            assert!(found.is_none_or(|row| row.iter().all(|byte| *byte == number as u8)), "{number}\n{when}");
        }
    };
    for only_kills in [true, false] {
        let calls = crash_at_each_call(&of_format_1(), only_kills, work, check);
        assert!(calls > 10, "{calls}");
    }
}

/// After LMDB could not write a meta page it does nothing more: that is detected at once, and a restart fixes it.
#[test]
fn a_failed_meta_page_write_is_detected_at_once() {
    on_a_failing_disk(&filled(), |folder| {
        let (store, mut driver) = EmbeddedStore::open_single_threaded(folder, Options::default()).unwrap();
        written(&store, &mut driver, vec![put(ROWS)]).unwrap();
        set_faults(Faults { meta: true, ..Faults::default() });
        assert!(!driver.is_broken());
        driver.apply().unwrap_err();
        assert!(driver.is_broken());
        assert!(matches!(store.health(), Health::Failed(_)), "{:?}", store.health());
        set_faults(Faults::default());
        driver.apply().unwrap_err();
        drop((store, driver));
        let store = EmbeddedStore::open(folder, Options::default()).unwrap();
        assert!(get(&store, ROWS).unwrap() == Some(value(ROWS)));
    });
}

/// A file system that becomes read-only has an error of its own; reads continue, and so do writes when it is over.
#[test]
fn a_disk_that_becomes_read_only_is_reported_and_recovered_from() {
    on_a_failing_disk(&filled(), |folder| {
        let (store, mut driver) = EmbeddedStore::open_single_threaded(folder, Options::default()).unwrap();
        written(&store, &mut driver, vec![put(ROWS)]).unwrap();
        set_faults(Faults { read_only: true, ..Faults::default() });
        let refused = written(&store, &mut driver, vec![put(ROWS + 1)]);
        assert!(matches!(refused, Err(StoreError::ReadOnly(_))), "{refused:?}");
        assert!(matches!(store.health(), Health::ReadOnly(_)), "{:?}", store.health());
        assert!(get(&store, ROWS).unwrap() == Some(value(ROWS)) && get(&store, 1).unwrap() == Some(value(1)));
        let applied = driver.apply();
        assert!(matches!(applied, Err(StoreError::ReadOnly(_))), "{applied:?}");
        assert!(!driver.is_broken());
        set_faults(Faults::default());
        driver.apply().unwrap();
        written(&store, &mut driver, vec![put(ROWS + 1)]).unwrap();
        driver.close().unwrap();
        assert_eq!(store.health(), Health::Ok);
        drop((store, driver));
        let store = EmbeddedStore::open(folder, Options::default()).unwrap();
        assert!(get(&store, ROWS + 1).unwrap() == Some(value(ROWS + 1)));
    });
}
