//! Damage to the data file: whatever happened to it, an answer is correct or an error, before and after more writes.
//!
//! `PARTITA_DAMAGES=1000 cargo test -p partita-store-embedded --test page_damage` for a long run; `PARTITA_SEED=N` starts
//! with another seed.
#![allow(clippy::unwrap_used)]

mod support;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use partita_store::{Damage, Direction, KeyRange, Snapshot, Space, Store, StoreError, Write};
use partita_store_embedded::{EmbeddedStore, OpenError, Options, compact, salvage, verify};
use support::{Random, get, key, put, write};

const PAGE: usize = 4_096;
const ROWS: u64 = 1_500;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn value(random: &mut Random) -> Vec<u8> {
    let length = match random.below(40) {
        0 => 5_000 + random.below(30_000),
        1..4 => 2_100 + random.below(1_900),
        _ => random.below(400),
    };
    let seed = random.next();
    (0..length).map(|index| (seed >> (index % 8 * 8)) as u8 ^ index as u8).collect()
}

fn row_key(number: u64) -> Vec<u8> {
    let hash = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let rest = hash.to_be_bytes();
    key(1, &rest.repeat(1 + (number % 4) as usize))
}

fn some_write(random: &mut Random, model: &mut Model) -> Write {
    let at = row_key(random.below(ROWS + 200));
    if random.below(3) == 0 {
        model.remove(&at);
        return Write::Delete { key: at };
    }
    let new = value(random);
    model.insert(at.clone(), new.clone());
    put(&at, &new)
}

/// In memory, where syncs take no time: this tests damage, not power loss.
fn temporary_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn open(folder: &Path) -> Result<EmbeddedStore, OpenError> {
    EmbeddedStore::open(folder, Options::default())
}

/// A store with a history: freed pages, a dropped space, and an older copy of its data file.
struct Stored {
    folder: tempfile::TempDir,
    model: Model,
    older: Vec<u8>,
}

fn stored() -> Stored {
    let folder = temporary_folder();
    let mut random = Random(11);
    let mut model = Model::new();
    let mut older = Vec::new();
    for round in 0..4 {
        let store = open(folder.path()).unwrap();
        for fifty in 0..ROWS / 50 {
            let mut writes = Vec::new();
            for number in fifty * 50..(fifty + 1) * 50 {
                if round == 0 {
                    let at = row_key(number);
                    let new = value(&mut random);
                    model.insert(at.clone(), new.clone());
                    writes.extend([put(&at, &new), put(&key(2, &number.to_be_bytes()), &[7; 100])]);
                } else if number % 5 == round {
                    writes.push(some_write(&mut random, &mut model));
                }
            }
            write(&store, writes).unwrap();
        }
        if round == 2 {
            write(&store, vec![Write::DropSpace(Space(2))]).unwrap();
        }
        store.close();
        if round == 2 {
            older = fs::read(folder.path().join("data.mdb")).unwrap();
        }
    }
    Stored { folder, model, older }
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to.join("log")).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() && entry.file_name() != "lock.mdb" {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    for entry in fs::read_dir(from.join("log")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), to.join("log").join(entry.file_name())).unwrap();
    }
}

fn flip(bytes: &mut [u8], random: &mut Random, from: usize, to: usize) {
    let at = from + random.below((to - from) as u64) as usize;
    bytes[at] ^= 1 << random.below(8);
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Damages the files in one of many ways, and describes how.
fn damage(folder: &Path, older: &[u8], random: &mut Random) -> String {
    let (data_file, sums_file) = (folder.join("data.mdb"), folder.join("sums"));
    let (mut data, mut sums) = (fs::read(&data_file).unwrap(), fs::read(&sums_file).unwrap());
    let pages = data.len() / PAGE;
    let page = 2 + random.below(pages as u64 - 2) as usize;
    let other = 2 + random.below(pages as u64 - 2) as usize;
    let start = page * PAGE;
    let kind = random.below(14);
    match kind {
        0 | 1 => flip(&mut data, random, start, start + PAGE),
        2 => flip(&mut data, random, start, start + 16),
        3 => flip(&mut data, random, start + 16, start + 60),
        4 => data.copy_within(other * PAGE..(other + 1) * PAGE, start),
        5 => {
            let taken = data[start..start + PAGE].to_vec();
            data.copy_within(other * PAGE..(other + 1) * PAGE, start);
            data[other * PAGE..(other + 1) * PAGE].copy_from_slice(&taken);
        }
        6 => data[start..start + PAGE].fill(0),
        7 if start + PAGE <= older.len() => {
            data[start..start + PAGE].copy_from_slice(&older[start..start + PAGE]);
        }
        8 => {
            let sector = start + 512 * random.below(8) as usize;
            match older.get(sector..sector + 512) {
                Some(stale) if random.below(2) == 0 => data[sector..sector + 512].copy_from_slice(stale),
                _ => data[sector..sector + 512].fill(0),
            }
        }
        9 => {
            let length = random.below(data.len() as u64 + 1);
            data.truncate(length as usize);
        }
        10 => flip(&mut data, random, 0, 2 * PAGE),
        11 => {
            // The free list: its root is in the meta page of the last transaction.
            let last = usize::from(u64_at(&data, 144) < u64_at(&data, PAGE + 144));
            let root = u64_at(&data, last * PAGE + 16 + 24 + 40);
            flip(&mut data, random, root * PAGE, (root + 1) * PAGE);
        }
        12 => {
            let end = sums.len();
            flip(&mut sums, random, 0, end);
        }
        _ => {
            let length = random.below(sums.len() as u64 + 1);
            sums.truncate(length as usize);
        }
    }
    fs::write(&data_file, &data).unwrap();
    fs::write(&sums_file, &sums).unwrap();
    format!("damage {kind} of page {page}, with {other}")
}

/// The outcome of reading a store.
#[derive(Debug, Default)]
struct Tally {
    correct: u64,
    errors: u64,
}

/// Whether pages may be repaired meanwhile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Applier {
    Idle,
    Active,
}

/// Every answer is what the model says, or an error.
fn check(store: &EmbeddedStore, model: &Model, applier: Applier, what: &str) -> Tally {
    let mut tally = Tally::default();
    let snapshot = store.snapshot().unwrap();
    for number in 0..ROWS + 200 {
        let at = row_key(number);
        match snapshot.get(&at) {
            Ok(found) => {
                assert!(found.as_deref() == model.get(&at).map(Vec::as_slice), "{what}: wrong row {number}");
                tally.correct += 1;
            }
            Err(StoreError::Damaged(_)) => tally.errors += 1,
            Err(other) => panic!("{what}: {other}"),
        }
    }
    let all = KeyRange { start: key(1, b""), end: key(3, b"") };
    for direction in [Direction::Ascending, Direction::Descending] {
        check_range(&snapshot, model, &all, direction, applier, what);
    }
    let mut random = Random(model.len() as u64);
    for _ in 0..8 {
        let (one, other) = (row_key(random.below(ROWS)), row_key(random.below(ROWS)));
        let range = KeyRange { start: one.clone().min(other.clone()), end: one.max(other) };
        check_range(&snapshot, model, &range, Direction::Ascending, applier, what);
        check_range(&snapshot, model, &range, Direction::Descending, applier, what);
    }
    tally
}

/// The visited rows are correct and in order; what is not visited is in a range reported as damaged; and without
/// continuing past damage a range ends at it.
fn check_range(
    snapshot: &impl Snapshot,
    model: &Model,
    range: &KeyRange,
    direction: Direction,
    applier: Applier,
    what: &str,
) {
    let mut expected: Vec<_> = model.range(range.start.clone()..range.end.clone()).collect();
    if direction == Direction::Descending {
        expected.reverse();
    }
    let (mut visited, damaged) = (Vec::new(), RefCell::new(Vec::new()));
    let mut before_damage = 0;
    let visit = |key: &[u8], value: &[u8]| {
        assert!(model.get(key).is_some_and(|right| right == value), "{what}: a wrong row");
        visited.push(key.to_vec());
        before_damage += usize::from(damaged.borrow().is_empty());
        ControlFlow::Continue(())
    };
    let record = |damage: Damage| {
        damaged.borrow_mut().push(damage.keys.expect("keys"));
        ControlFlow::Continue(())
    };
    snapshot.range_past_damage(range, direction, visit, record).unwrap();
    let damaged = damaged.into_inner();
    let mut left = visited.iter().peekable();
    for (key, _) in expected {
        if left.next_if_eq(&key).is_none() {
            assert!(
                damaged.iter().any(|range| range.contains(key)),
                "{what}: row {key:02x?} is missing, {damaged:02x?}"
            );
        }
    }
    assert!(left.next().is_none(), "{what}: rows out of order");
    if applier == Applier::Active {
        return;
    }
    let mut rows = 0;
    let strict = snapshot.range(range, direction, |_, _| {
        rows += 1;
        ControlFlow::Continue(())
    });
    assert_eq!((strict.is_err(), rows), (!damaged.is_empty(), before_damage), "{what}");
}

/// Salvaged rows are correct, and every missing row is reported as lost.
fn check_salvaged(damaged: &Path, model: &Model, what: &str) {
    let new = damaged.with_extension("salvaged");
    let _ = fs::remove_dir_all(&new);
    let salvaged = salvage(damaged, &new).unwrap_or_else(|error| panic!("{what}: {error}"));
    let store = open(&new).unwrap();
    let may_be_old = salvaged.lost.iter().any(|lost| lost.what.contains("rows may be outdated"));
    let mut found = 0;
    let all = KeyRange { start: key(1, b""), end: key(3, b"") };
    let walked = store.snapshot().unwrap().range(&all, Direction::Ascending, |key, value| {
        let is_correct = model.get(key).is_some_and(|right| right == value);
        assert!(is_correct || may_be_old, "{what}: a wrong row was salvaged");
        found += 1;
        ControlFlow::Continue(())
    });
    walked.unwrap();
    assert!(found == model.len() || !salvaged.lost.is_empty(), "{what}: {found} rows of {}", model.len());
    store.close();
    assert_eq!(verify(&new, |_, _| {}).unwrap().findings, Vec::<String>::new(), "{what}");
}

/// Damages a copy and reads it; then twice: writes to it, reads it, closes and reopens it, and reads it again.
fn try_damage(stored: &Stored, to: &Path, seed: u64) -> Result<(Tally, Tally), String> {
    let mut random = Random(seed);
    copy(stored.folder.path(), to);
    let what = format!("seed {seed}: {}", damage(to, &stored.older, &mut random));
    let mut model = stored.model.clone();
    let refused = |error: OpenError| match error {
        OpenError::Damaged { .. } => what.clone(),
        other => panic!("{what}: {other}"),
    };
    let verified = verify(to, |_, _| {}).unwrap();
    if seed.is_multiple_of(4) || verified.findings.len() > 3 {
        check_salvaged(to, &model, &what);
    }
    let store = open(to).map_err(|error| {
        assert!(!verified.findings.is_empty(), "{what}: {error}");
        check_salvaged(to, &model, &what);
        refused(error)
    })?;
    let before = check(&store, &model, Applier::Idle, &what);
    assert!(before.errors == 0 || !verified.findings.is_empty(), "{what}: {before:?}, yet nothing was found");
    let mut store = store;
    let mut after = Tally::default();
    let mut written = Vec::new();
    for _ in 0..2 {
        for _ in 0..4 {
            let changes: Vec<_> = (0..15).map(|_| some_write(&mut random, &mut model)).collect();
            written.extend(changes.iter().filter_map(|change| match change {
                Write::Put { key, .. } => Some(key.clone()),
                _ => None,
            }));
            write(&store, changes).unwrap_or_else(|error| panic!("{what}: {error}"));
        }
        check(&store, &model, Applier::Active, &what);
        store.close();
        store = open(to).map_err(refused)?;
        after = check(&store, &model, Applier::Idle, &what);
        let snapshot = store.snapshot().unwrap();
        for key in written.iter().filter(|key| model.contains_key(*key)) {
            assert!(snapshot.get(key).unwrap().unwrap() == model[key], "{what}: a row written since");
        }
    }
    Ok((before, after))
}

#[test]
fn an_intact_store_verifies_cleanly_and_can_be_compacted() {
    let stored = stored();
    let folder = stored.folder.path();
    let verified = verify(folder, |_, _| {}).unwrap();
    assert_eq!(verified.findings, Vec::<String>::new());
    assert_eq!(verified.rows, stored.model.len() as u64);
    check_salvaged(folder, &stored.model, "intact");
    let compacted = compact(folder).unwrap();
    assert!(compacted.bytes_after < compacted.bytes_before, "{compacted:?}");
    assert_eq!(verify(folder, |_, _| {}).unwrap().findings, Vec::<String>::new());
    let store = open(folder).unwrap();
    assert_eq!(check(&store, &stored.model, Applier::Idle, "compacted").errors, 0);
    let mut model = stored.model.clone();
    let mut random = Random(5);
    write(&store, (0..200).map(|_| some_write(&mut random, &mut model)).collect()).unwrap();
    store.close();
    assert_eq!(check(&open(folder).unwrap(), &model, Applier::Idle, "compacted").errors, 0);
}

/// The offsets and keys of a page's nodes, if it is a leaf.
fn leaf_nodes(page: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let number = |at: usize| usize::from(u16::from_le_bytes(page[at..at + 2].try_into().unwrap()));
    let offsets = if number(10) == 2 { 16..number(12) } else { 0..0 };
    let nodes = offsets.step_by(2).map(number);
    nodes.map(|at| (at, page[at + 8..at + 8 + number(at + 6)].to_vec())).collect()
}

/// Zeros all leaves whose last key is `selected`, and returns how many there were.
fn zero_leaves(folder: &Path, selected: impl Fn(&[u8]) -> bool) -> usize {
    let file = folder.join("data.mdb");
    let mut data = fs::read(&file).unwrap();
    let mut zeroed = 0;
    for page in data.chunks_exact_mut(PAGE).skip(2) {
        if leaf_nodes(page).last().is_some_and(|(_, key)| selected(key)) {
            page.fill(0);
            zeroed += 1;
        }
    }
    fs::write(file, data).unwrap();
    zeroed
}

/// Without the last leaf of the chunks it is unknown which ids were assigned: ids that rows still reference are not reused.
#[test]
fn lost_long_values_never_become_another_rows() {
    const VALUES: u64 = 60;
    let folder = temporary_folder();
    let to = folder.path();
    let long = |number: u64| -> Vec<u8> { number.to_be_bytes().repeat(2_500) };
    let puts = |numbers: std::ops::Range<u64>| numbers.map(|number| put(&row_key(number), &long(number)));
    let change = |writes: Vec<Write>| {
        let store = open(to).unwrap();
        write(&store, writes).unwrap();
        store.close();
    };
    change(puts(0..VALUES).collect());
    let last = (VALUES - 1).to_be_bytes();
    assert!(zero_leaves(to, |key| key.len() == 12 && key.starts_with(&last)) > 0);
    // Every write passes by where new chunks go: the leaf is repaired, and nothing long is written.
    change(vec![put(&key(2, b"short"), b"1")]);
    change(puts(VALUES..2 * VALUES).collect());
    let store = open(to).unwrap();
    let mut lost = Vec::new();
    for number in 0..2 * VALUES {
        match get(&store, &row_key(number)) {
            Ok(found) => assert!(found.unwrap() == long(number), "row {number} is another's"),
            Err(StoreError::Damaged(_)) => lost.push(number),
            Err(other) => panic!("{other}"),
        }
    }
    assert!(!lost.is_empty() && lost.iter().all(|number| *number < VALUES), "{lost:?}");
    store.close();
    change(lost.iter().map(|number| Write::Delete { key: row_key(*number) }).collect());
    let store = open(to).unwrap();
    for number in VALUES..2 * VALUES {
        assert!(get(&store, &row_key(number)).unwrap().unwrap() == long(number));
    }
}

const ROUNDS: u8 = 30;

/// Rewrites rows of space 3 many times with different values, and returns copies of the file from before each round.
fn overwrite(folder: &Path) -> Vec<Vec<u8>> {
    let mut older = Vec::new();
    for round in 0..ROUNDS {
        older.push(fs::read(folder.join("data.mdb")).unwrap());
        let store = open(folder).unwrap();
        let puts = (0..400_u32).map(|number| put(&key(3, &number.to_be_bytes()), &[round; 300]));
        write(&store, puts.collect()).unwrap();
        store.close();
    }
    older
}

/// Puts older leaves of space 3 in place of later ones, as if writing these had failed unnoticed: reading their rows must
/// be an error.
fn check_lost_writes(folder: &Path, older: &[Vec<u8>], what: &str) {
    let file = folder.join("data.mdb");
    let mut data = fs::read(&file).unwrap();
    let is_of_space =
        |page: &[u8]| leaf_nodes(page).first().is_some_and(|(_, first)| first.starts_with(&key(3, b"")));
    for (index, page) in data.chunks_exact_mut(PAGE).enumerate().filter(|(_, page)| is_of_space(page)) {
        let mut before = older.iter().rev().filter_map(|data| data.get(index * PAGE..(index + 1) * PAGE));
        if let Some(stale) = before.find(|stale| *stale != page && is_of_space(stale)) {
            page.copy_from_slice(stale);
        }
    }
    fs::write(&file, data).unwrap();
    let store = open(folder).unwrap();
    let read = (0..400_u32).map(|number| get(&store, &key(3, &number.to_be_bytes())));
    let errors = read.filter(|read| match read {
        Ok(found) => {
            assert!(found.as_deref() == Some(&[ROUNDS - 1; 300][..]), "{what}: a stale row");
            false
        }
        Err(_) => true,
    });
    assert!(errors.count() > 0, "{what}: no write was lost");
}

/// A folder with many free pages.
fn with_free_pages(folder: &Path) {
    let store = open(folder).unwrap();
    for hundred in 0..25_u32 {
        let puts =
            (0..100_u32).map(|number| put(&key(4, &(hundred * 100 + number).to_be_bytes()), &[1; 500]));
        write(&store, puts.collect()).unwrap();
    }
    store.close();
    let store = open(folder).unwrap();
    write(&store, (0..2_500_u32).map(|n| Write::Delete { key: key(4, &n.to_be_bytes()) }).collect()).unwrap();
    store.close();
}

#[test]
fn pages_that_were_free_at_an_upgrade_are_protected_later() {
    let folder = temporary_folder();
    with_free_pages(folder.path());
    fs::remove_file(folder.path().join("sums")).unwrap();
    fs::write(folder.path().join("FORMAT"), "partita embedded store, format 1\n").unwrap();
    let older = overwrite(folder.path());
    check_lost_writes(folder.path(), &older, "upgraded");
}

#[test]
fn a_damaged_checksum_file_protects_again_once_it_is_repaired() {
    let folder = temporary_folder();
    with_free_pages(folder.path());
    let file = folder.path().join("sums");
    let mut sums = fs::read(&file).unwrap();
    // Blocks that were never written, which no upgrade leaves any more.
    sums[4 * PAGE..].fill(0);
    fs::write(&file, sums).unwrap();
    let older = overwrite(folder.path());
    check_lost_writes(folder.path(), &older, "repaired");
}

/// Damage to the files beside the data file: the server may reject the folder, but the recommended commands work.
#[test]
fn damaged_small_files_do_not_prevent_verify_and_salvage() {
    let stored = stored();
    let folder = temporary_folder();
    let to = folder.path().join("damaged");
    let flip_last = |bytes: &mut Vec<u8>| *bytes.last_mut().unwrap() ^= 0x80;
    let with_damage = |name: &str, damage: &dyn Fn(&mut Vec<u8>)| {
        copy(stored.folder.path(), &to);
        let mut bytes =
            fs::read(to.join(name)).unwrap_or_else(|_| b"from 00 up to 01 at - 00000000\n".into());
        damage(&mut bytes);
        fs::write(to.join(name), bytes).unwrap();
    };
    for name in ["DAMAGE", "FORMAT"] {
        with_damage(name, &|bytes| flip_last(bytes));
        let Err(error) = open(&to) else { panic!("opened") };
        assert!(matches!(&error, OpenError::Damaged { what, .. } if what.contains(name)), "{error}");
        assert!(!verify(&to, |_, _| {}).unwrap().findings.is_empty());
        check_salvaged(&to, &stored.model, name);
    }
    // A meta page that names pages far beyond the end, and no checksum file to contradict it.
    with_damage("data.mdb", &|data| {
        let last = usize::from(u64_at(data, 144) < u64_at(data, PAGE + 144));
        data[last * PAGE + 16 + 120 + 6] ^= 0x10;
    });
    fs::remove_file(to.join("sums")).unwrap();
    check_salvaged(&to, &stored.model, "last page");
}

/// If it is unknown which pages are live, older versions of a readable row are not used.
#[test]
fn readable_rows_are_salvaged_unchanged() {
    let stored = stored();
    let folder = temporary_folder();
    let (to, new) = (folder.path().join("damaged"), folder.path().join("salvaged"));
    copy(stored.folder.path(), &to);
    let file = to.join("data.mdb");
    let mut data = fs::read(&file).unwrap();
    let last = usize::from(u64_at(&data, 144) < u64_at(&data, PAGE + 144));
    let free = u64_at(&data, last * PAGE + 16 + 24 + 40);
    let short = stored.model.iter().filter(|(_, value)| (200..400).contains(&value.len()));
    let lost: BTreeMap<_, _> = short.step_by(9).collect();
    for page in data.chunks_exact_mut(PAGE).skip(2) {
        for (at, key) in leaf_nodes(page) {
            let value = at + 8 + key.len() + 5;
            if lost.get(&key).is_some_and(|right| page[value..].starts_with(right)) {
                page[value + 100] ^= 1;
            }
        }
    }
    data[free * PAGE + 20] ^= 1;
    fs::write(&file, data).unwrap();
    salvage(&to, &new).unwrap();
    let store = open(&new).unwrap();
    for (key, value) in stored.model.iter().filter(|(key, _)| !lost.contains_key(key)) {
        assert!(get(&store, key).unwrap().as_ref() == Some(value), "{key:02x?}");
    }
}

/// Interrupted between the two renames at its end.
#[test]
fn an_interrupted_compaction_is_intact_for_read_only_use() {
    let stored = stored();
    let folder = temporary_folder();
    let (interrupted, compacted) = (folder.path().join("interrupted"), folder.path().join("compacted"));
    copy(stored.folder.path(), &interrupted);
    copy(stored.folder.path(), &compacted);
    compact(&compacted).unwrap();
    fs::create_dir(interrupted.join("data.new")).unwrap();
    fs::write(interrupted.join("data.new/FINISHED"), "").unwrap();
    fs::copy(compacted.join("data.mdb"), interrupted.join("data.new/data.mdb")).unwrap();
    fs::copy(compacted.join("sums"), interrupted.join("sums")).unwrap();
    assert_eq!(verify(&interrupted, |_, _| {}).unwrap().findings, Vec::<String>::new());
    check_salvaged(&interrupted, &stored.model, "interrupted");
}

/// Orphans of rows and of chunks are distinguished, though their keys are not.
#[test]
fn branches_of_both_trees_are_rebuilt() {
    let folder = temporary_folder();
    let to = folder.path();
    let long = |number: u64| -> Vec<u8> { number.to_be_bytes().repeat(2_500) };
    let store = open(to).unwrap();
    write(&store, (0..ROWS).map(|number| put(&row_key(number), &[7; 90])).collect()).unwrap();
    write(&store, (ROWS..ROWS + 150).map(|number| put(&row_key(number), &long(number))).collect()).unwrap();
    store.close();
    let file = to.join("data.mdb");
    let mut data = fs::read(&file).unwrap();
    let branches = data.chunks_exact_mut(PAGE).filter(|page| page[10] == 1);
    assert!(branches.map(|page| page.fill(0)).count() >= 2);
    fs::write(&file, data).unwrap();
    for _ in 0..2 {
        let store = open(to).unwrap();
        write(&store, vec![put(&row_key(0), &[7; 90]), put(&row_key(ROWS), &long(ROWS))]).unwrap();
        store.close();
    }
    let store = open(to).unwrap();
    for number in 0..ROWS + 150 {
        let right = if number < ROWS { vec![7; 90] } else { long(number) };
        assert!(get(&store, &row_key(number)).unwrap() == Some(right), "row {number}");
    }
}

#[test]
fn every_answer_is_correct_or_an_error() {
    let number = |name: &str, usual| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let (damages, first): (u64, u64) = (number("PARTITA_DAMAGES", 45), number("PARTITA_SEED", 0));
    let stored = stored();
    let folder = temporary_folder();
    let (mut refused, mut harmless, mut errors, mut answers) = (Vec::new(), 0, 0, 0);
    for seed in first..first + damages {
        match try_damage(&stored, &folder.path().join("damaged"), seed) {
            Ok((before, after)) => {
                harmless += u64::from(before.errors + after.errors == 0);
                errors += before.errors;
                answers += before.errors + before.correct;
            }
            Err(what) => refused.push(what),
        }
    }
    println!(
        "{damages} damages: {harmless} harmless, {} not opened, {errors} of {answers} gets failed",
        refused.len()
    );
    refused.iter().for_each(|what| println!("  not opened: {what}"));
    // Meta pages and checksum slots have a second copy; few of all pages are of the kinds that a start needs.
    let of_kinds = |kinds: &[u64]| -> Vec<&String> {
        let is_one = |what: &&String| kinds.iter().any(|kind| what.contains(&format!("damage {kind} ")));
        refused.iter().filter(is_one).collect()
    };
    assert_eq!(of_kinds(&[10, 12]), Vec::<&String>::new());
    assert!(of_kinds(&[0, 1, 2, 3, 4, 5, 6, 7, 8]).len() as u64 <= 1 + damages / 20, "{refused:?}");
}
