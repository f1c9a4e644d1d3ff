//! The data folder: who may open it, what is rejected, what survives a restart, and the effects of damage.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use partita_store::{Direction, KeyRange, Snapshot, Space, Store, StoreError, Write};
use partita_store_embedded::{EmbeddedStore, OpenError, Options};
use support::{Random, get, key, put, wait, write};

fn open(folder: &Path) -> Result<EmbeddedStore, OpenError> {
    EmbeddedStore::open(folder, Options::default())
}

/// Names, contents and modification times of all files in a folder.
fn files(folder: &Path) -> BTreeMap<String, (Vec<u8>, std::time::SystemTime)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| {
            let modified = entry.metadata().unwrap().modified().unwrap();
            (entry.file_name().into_string().unwrap(), (fs::read(entry.path()).unwrap(), modified))
        })
        .collect()
}

#[test]
fn opening_twice_reports_the_first_owner() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    let Err(error) = open(folder.path()) else { panic!("opened twice") };
    assert!(matches!(&error, OpenError::InUse { by, .. } if by.contains(&std::process::id().to_string())));
    let text = error.to_string();
    assert!(text.contains("which opened it on 20") && text.contains("Stop that process"), "{text}");
    write(&first, vec![put(&key(1, b"a"), b"1")]).unwrap();
    first.close();
    let second = open(folder.path()).unwrap();
    assert_eq!(get(&second, &key(1, b"a")).unwrap().as_deref(), Some(&b"1"[..]));
}

#[test]
fn a_newer_format_is_rejected_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    write(&open(folder.path()).unwrap(), vec![put(&key(1, b"a"), b"1")]).unwrap();
    fs::write(folder.path().join("FORMAT"), "partita embedded store, format 7\n").unwrap();
    let before = files(folder.path());
    let Err(error) = open(folder.path()) else { panic!("opened a newer format") };
    assert!(matches!(error, OpenError::NewerFormat { found: 7, supported: 2, .. }));
    assert_eq!(files(folder.path()), before);
}

#[test]
fn folders_that_are_not_stores_are_rejected_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.txt"), "years of work").unwrap();
    let before = files(folder.path());
    let Err(error) = open(folder.path()) else { panic!("opened a folder of other files") };
    assert!(matches!(&error, OpenError::NotAStore { found, .. } if found == "thesis.txt"), "{error}");
    assert_eq!(files(folder.path()), before);

    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("FORMAT"), "nonsense").unwrap();
    assert!(matches!(open(folder.path()), Err(OpenError::Damaged { .. })));
    let file = folder.path().join("FORMAT");
    assert!(matches!(open(&file), Err(OpenError::Io { .. })));
}

#[test]
fn a_folder_without_one_of_its_files_is_not_taken_for_a_new_one() {
    for missing in ["data.mdb", "sums"] {
        let folder = tempfile::tempdir().unwrap();
        write(&open(folder.path()).unwrap(), vec![put(&key(1, b"a"), b"1")]).unwrap();
        fs::remove_file(folder.path().join(missing)).unwrap();
        let Err(error) = open(folder.path()) else { panic!("opened without {missing}") };
        assert!(matches!(&error, OpenError::Damaged { what, .. } if what.contains(missing)), "{error}");
        assert!(error.to_string().contains("partita salvage "), "{error}");
    }
}

/// A folder of format 1 has no checksum file.
#[test]
fn a_folder_of_format_1_gets_checksums() {
    let folder = tempfile::tempdir().unwrap();
    write(&open(folder.path()).unwrap(), vec![put(&key(1, b"a"), &[1; 9_000])]).unwrap();
    fs::remove_file(folder.path().join("sums")).unwrap();
    fs::write(folder.path().join("FORMAT"), "partita embedded store, format 1\n").unwrap();
    // As a kill during the upgrade leaves it.
    fs::write(folder.path().join("sums.new"), "half").unwrap();
    let store = open(folder.path()).unwrap();
    assert_eq!(get(&store, &key(1, b"a")).unwrap().unwrap(), [1; 9_000]);
    store.close();
    assert!(fs::read_to_string(folder.path().join("FORMAT")).unwrap().contains("format 2"));
    assert!(open(folder.path()).is_ok());
}

#[test]
fn an_interrupted_creation_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let nested = folder.path().join("a/b");
    fs::create_dir_all(&nested).unwrap();
    fs::write(nested.join("LOCK"), "").unwrap();
    fs::write(nested.join("FORMAT.new"), "part").unwrap();
    write(&open(&nested).unwrap(), vec![put(&key(1, b"a"), b"1")]).unwrap();
}

#[test]
fn rows_of_dropped_spaces_are_removed_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    for hundred in 0..50_u32 {
        let number = |index: u32| (hundred * 100 + index).to_be_bytes();
        let mut writes: Vec<_> = (0..100).map(|index| put(&key(5, &number(index)), &[1; 500])).collect();
        writes.push(put(&key(5, &hundred.to_be_bytes()), &[2; 30_000]));
        write(&store, writes).unwrap();
    }
    write(&store, vec![put(&key(6, b"a"), b"stays")]).unwrap();
    let full = store.usage().unwrap();
    write(&store, vec![Write::DropSpace(Space(5))]).unwrap();
    assert_eq!(get(&store, &key(5, &7_u32.to_be_bytes())).unwrap(), None);
    store.close();
    let store = open(folder.path()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while store.usage().unwrap().used_bytes > full.used_bytes / 50 {
        assert!(Instant::now() < deadline, "{full:?} {:?}", store.usage().unwrap());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(get(&store, &key(6, b"a")).unwrap().as_deref(), Some(&b"stays"[..]));
}

#[test]
fn decisions_submitted_before_the_close_are_done() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let submitted: Vec<_> = (0..300_u32)
        .map(|number| {
            let at = key(1, &number.to_be_bytes());
            let writes = vec![put(&at, b"1")];
            store.decide(Vec::new(), move |_| partita_store::Decision::commit(writes.clone(), ()))
        })
        .collect();
    let answers = submitted.into_iter().map(wait).collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(answers.len(), 300);
    // And one that nobody waits for.
    drop(store.decide(Vec::new(), |_| partita_store::Decision::commit(vec![put(&key(2, b""), b"1")], ())));
    store.close();
    assert!(get(&open(folder.path()).unwrap(), &key(2, b"")).unwrap().is_some());
}

#[test]
fn invalid_keys_fail_only_their_own_decision() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let refused = write(&store, vec![put(&key(1, b"good"), b"1"), put(&[1; 1_901], b"1")]);
    assert!(matches!(refused, Err(StoreError::Io(_))));
    assert!(write(&store, vec![put(b"abc", b"1")]).is_err());
    assert_eq!(get(&store, &key(1, b"good")).unwrap(), None);
    write(&store, vec![put(&[1; 1_900], b"1")]).unwrap();
    assert_eq!(get(&store, &[1; 1_900]).unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(get(&store, &[1; 5_000]).unwrap(), None);
}

/// Flips bytes of stored values on disk, short and long ones: reading them is an error, and all others are correct.
#[test]
fn altered_values_are_never_returned() {
    let folder = tempfile::tempdir().unwrap();
    let value = |number: u32| -> Vec<u8> {
        let mut random = Random(number.into());
        let length = if number.is_multiple_of(5) { 20_000 } else { 300 };
        (0..length).map(|_| random.next() as u8).collect()
    };
    let store = open(folder.path()).unwrap();
    write(&store, (0..200).map(|n: u32| put(&key(1, &n.to_be_bytes()), &value(n))).collect()).unwrap();
    store.close();
    let file = folder.path().join("data.mdb");
    let mut bytes = fs::read(&file).unwrap();
    let hit = [3_u32, 40, 77, 150, 199];
    for number in hit {
        let part = &value(number)[100..116];
        // Wherever it is: unused parts of pages contain remnants of other rows.
        let is_part = |at: &usize| &bytes[*at..*at + 16] == part;
        let offsets: Vec<_> = (0..bytes.len() - 16).filter(is_part).collect();
        assert!(!offsets.is_empty());
        offsets.iter().for_each(|at| bytes[at + 7] ^= 0x10);
    }
    fs::write(&file, bytes).unwrap();

    let store = open(folder.path()).unwrap();
    let snapshot = store.snapshot().unwrap();
    for number in 0..200_u32 {
        match snapshot.get(&key(1, &number.to_be_bytes())) {
            Ok(found) => assert!(!hit.contains(&number) && found.unwrap() == value(number), "row {number}"),
            Err(StoreError::Damaged(_)) => assert!(hit.contains(&number)),
            Err(other) => panic!("{other}"),
        }
    }
    let range = KeyRange { start: key(1, b""), end: key(2, b"") };
    let mut seen = 0;
    let result = snapshot.range(&range, Direction::Ascending, |_, _| {
        seen += 1;
        ControlFlow::Continue(())
    });
    let Err(StoreError::Damaged(damage)) = result else { panic!("{result:?}") };
    assert!(is_of_row(&damage.keys.unwrap(), 3));
    assert_eq!(seen, 3);
    for direction in [Direction::Ascending, Direction::Descending] {
        let (seen, mut damaged) = past_damage(&snapshot, &range, direction);
        if direction == Direction::Descending {
            damaged.reverse();
        }
        assert_eq!((seen, damaged.len()), (195, hit.len()));
        assert!(damaged.iter().zip(hit).all(|(keys, number)| is_of_row(keys, number)));
    }
    drop(snapshot);
    let depends = wait(store.decide(vec![key(1, &3_u32.to_be_bytes())], |_| {
        partita_store::Decision::commit(vec![put(&key(1, b"other"), b"1")], ())
    }));
    assert!(matches!(depends, Err(StoreError::Damaged(_))));
    let keys = [2_u32, 3].map(|n| key(1, &n.to_be_bytes())).to_vec();
    let seen = wait(store.decide_over_damage(keys, |rows, damaged| {
        partita_store::Decision::rejection((rows[0].is_some(), rows[1].is_some(), damaged.to_vec()))
    }));
    assert_eq!(seen.unwrap(), (true, false, vec![1]));
    // Once rewritten, the rows are intact again.
    write(&store, hit.iter().map(|n| put(&key(1, &n.to_be_bytes()), &value(*n))).collect()).unwrap();
    for number in hit {
        assert!(get(&store, &key(1, &number.to_be_bytes())).unwrap().unwrap() == value(number));
    }
}

/// Whether these keys contain a row and none of its neighbours, except for the one they begin with.
fn is_of_row(keys: &KeyRange, number: u32) -> bool {
    let contains = |number: u32| keys.contains(&key(1, &number.to_be_bytes()));
    contains(number) && !contains(number - 2) && (number == 199 || !contains(number + 1))
}

/// The number of rows that a range visits past the damage, and the keys of what it cannot read.
fn past_damage(snapshot: &impl Snapshot, range: &KeyRange, direction: Direction) -> (usize, Vec<KeyRange>) {
    let (mut seen, mut damaged) = (0, Vec::new());
    let visit = |_: &[u8], _: &[u8]| {
        seen += 1;
        ControlFlow::Continue(())
    };
    let record = |damage: partita_store::Damage| {
        damaged.push(damage.keys.unwrap());
        ControlFlow::Continue(())
    };
    snapshot.range_past_damage(range, direction, visit, record).unwrap();
    (seen, damaged)
}
