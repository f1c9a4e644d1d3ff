//! Damage to the commit log: everything before it is there, no group is there by half, and if acknowledged writes cannot
//! be read the store reports that and names the file.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use partita_store::{Direction, KeyRange, Snapshot, Space, Store, Write};
use partita_store_embedded::{Durability, EmbeddedStore, OpenError, Options, Pace, salvage};
use support::{Random, key, put, rows, write};

const GROUPS: u32 = 40;
const ROWS: u32 = 3;
const BLOCK: u64 = 4_096;
const HEAD: u64 = 36;

/// How long the rows of the groups are.
#[derive(Clone, Copy)]
enum Length {
    Mixed,
    /// So that the log has four segments.
    Large,
}

/// The writes of a group: rows that identify it, with different lengths in every group.
fn group(number: u32, length: Length) -> Vec<Write> {
    let rows = 0..ROWS;
    rows.map(|row| {
        put(&key(1, &[&number.to_be_bytes()[..], &[row as u8]].concat()), &value(number, row, length))
    })
    .collect()
}

fn value(number: u32, row: u32, length: Length) -> Vec<u8> {
    let bytes = match length {
        Length::Mixed => [10, 3_000, 5_000, 40_000][(number + row) as usize % 4],
        Length::Large => 230_000,
    };
    (0..bytes).map(|index: u32| (index / 7 + number * 31 + row) as u8).collect()
}

/// A folder as a crash leaves it: all groups in the log, none in the data file.
struct Crashed {
    folder: PathBuf,
    /// Where the record of each group ends, if all are in one segment.
    ends: Vec<u64>,
    /// The log's folder as it was before the last group, and before the last ten.
    older_logs: [PathBuf; 2],
}

fn crashed(folder: &Path, durability: Durability, length: Length) -> Crashed {
    let (open, left) = (folder.join("open"), folder.join("left"));
    let older_logs = [folder.join("older"), folder.join("much older")];
    let store = EmbeddedStore::open_with_pace(&open, Options { durability }, Pace::Lazy).unwrap();
    let mut ends = Vec::new();
    let mut end = BLOCK;
    for number in 0..GROUPS {
        match GROUPS - number {
            1 => copy_files(&open.join("log"), &older_logs[0]),
            10 => copy_files(&open.join("log"), &older_logs[1]),
            _ => {}
        }
        write(&store, group(number, length)).unwrap();
        let body: u64 = (0..ROWS).map(|row| value(number, row, length).len() as u64 + 9 + 9).sum();
        end += (HEAD + body).next_multiple_of(BLOCK);
        ends.push(end);
    }
    copy(&open, &left);
    store.close();
    Crashed { folder: left, ends, older_logs }
}

fn copy_files(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn copy(from: &Path, to: &Path) {
    copy_files(from, to);
    copy_files(&from.join("log"), &to.join("log"));
}

/// The segments in the order in which they were written.
fn segments(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.join("log")).unwrap().map(|entry| entry.unwrap().path());
    let mut segments: Vec<_> = files.filter(|file| file.file_stem().unwrap() == "segment").collect();
    segments.retain(|file| fs::read(file).unwrap().iter().any(|byte| *byte != 0));
    // Each header contains the number of its first record.
    segments.sort_by_key(|file| u64::from_le_bytes(fs::read(file).unwrap()[36..44].try_into().unwrap()));
    segments
}

fn only_segment(folder: &Path) -> PathBuf {
    let segments = segments(folder);
    assert_eq!(segments.len(), 1);
    segments[0].clone()
}

/// Checks that the groups up to `end` are there completely, and nothing else.
fn check(store: &EmbeddedStore, end: u32, length: Length) {
    let range = KeyRange { start: key(1, b""), end: key(2, b"") };
    let snapshot = store.snapshot().unwrap();
    let found = rows(&snapshot, &range, Direction::Ascending, usize::MAX).unwrap();
    assert_eq!(found.len() as u32, end * ROWS);
    for number in 0..end {
        for row in 0..ROWS {
            let at = key(1, &[&number.to_be_bytes()[..], &[row as u8]].concat());
            assert!(snapshot.get(&at).unwrap().unwrap() == value(number, row, length));
        }
    }
}

fn open(folder: &Path) -> Result<EmbeddedStore, OpenError> {
    EmbeddedStore::open(folder, Options::default())
}

/// The folder is rejected, every time, for damage in `file`.
fn assert_refused(folder: &Path, file: &Path, what: &str) {
    for _ in 0..2 {
        let Err(error) = open(folder) else { panic!("{what}: opened") };
        assert!(matches!(error, OpenError::Damaged { .. }), "{what}: {error}");
        let (text, name) = (error.to_string(), file.file_name().unwrap().to_str().unwrap());
        assert!(text.contains(name), "{what}: {text}");
    }
}

#[test]
fn an_intact_log_is_recovered_completely() {
    for (durability, length) in [
        (Durability::Full, Length::Mixed),
        (Durability::Relaxed, Length::Mixed),
        (Durability::Full, Length::Large),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let left = crashed(folder.path(), durability, length).folder;
        for pace in [Pace::Lazy, Pace::Normal] {
            let store = EmbeddedStore::open_with_pace(&left, Options::default(), pace).unwrap();
            check(&store, GROUPS, length);
            store.close();
        }
        // The store continues from there, and the recovered log is not replayed twice.
        let store = open(&left).unwrap();
        write(&store, vec![Write::DropSpace(Space(1))]).unwrap();
        store.close();
        check(&open(&left).unwrap(), 0, length);
    }
}

/// Opened, written to and left as a crash leaves it, repeatedly, without the data file ever being written.
#[test]
fn a_log_continues_after_each_of_many_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let (mut now, mut next) = (folder.path().join("now"), folder.path().join("next"));
    for round in 0..6 {
        let store = EmbeddedStore::open_with_pace(&now, Options::default(), Pace::Lazy).unwrap();
        check(&store, round * 5, Length::Mixed);
        for number in round * 5..(round + 1) * 5 {
            write(&store, group(number, Length::Mixed)).unwrap();
        }
        copy(&now, &next);
        drop(store);
        (now, next) = (next, now);
        // A group that was never acknowledged is being written.
        let segment = segments(&now).pop().unwrap();
        let mut bytes = fs::read(&segment).unwrap();
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() as u64;
        let torn = end.next_multiple_of(BLOCK) as usize;
        bytes[torn..torn + 2_000].fill(9);
        fs::write(&segment, bytes).unwrap();
    }
    check(&open(&now).unwrap(), 30, Length::Mixed);
}

#[test]
fn a_torn_group_that_was_not_acknowledged_is_dropped_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let left = crashed(folder.path(), Durability::Full, Length::Mixed);
    let (start, end) = (left.ends[left.ends.len() - 2], left.ends[left.ends.len() - 1]);
    let mut random = Random(2);
    for round in 0..30 {
        let to = folder.path().join("torn");
        copy(&left.folder, &to);
        let file = only_segment(&to);
        let mut bytes = fs::read(&file).unwrap();
        // Some of its blocks never reached the disk, or one bit of it is wrong.
        if random.below(2) == 0 {
            let lost = start + random.below((end - start) / BLOCK) * BLOCK;
            bytes[lost as usize..(lost + BLOCK) as usize].fill(0);
        } else {
            let body: u64 =
                (0..ROWS).map(|row| value(GROUPS - 1, row, Length::Mixed).len() as u64 + 18).sum();
            bytes[(start + random.below(HEAD + body)) as usize] ^= 1 << random.below(8);
        }
        fs::write(&file, bytes).unwrap();
        if round % 10 == 0 {
            // It was acknowledged, and the durable watermark says so.
            assert_refused(&to, &file, "a damaged last group");
        }
        fs::copy(left.older_logs[0].join("DURABLE"), to.join("log/DURABLE")).unwrap();
        check(&open(&to).unwrap(), GROUPS - 1, Length::Mixed);
    }
}

#[test]
fn damage_before_acknowledged_groups_is_reported_and_can_be_salvaged() {
    for durability in [Durability::Full, Durability::Relaxed] {
        let folder = tempfile::tempdir().unwrap();
        let left = crashed(folder.path(), durability, Length::Mixed);
        let mut random = Random(3);
        for round in 0..20 {
            let to = folder.path().join("damaged");
            copy(&left.folder, &to);
            if round % 2 == 0 {
                // As after a power loss: the other records must show it.
                fs::remove_file(to.join("log/DURABLE")).unwrap();
            }
            let file = only_segment(&to);
            let mut bytes = fs::read(&file).unwrap();
            let hit = random.below(u64::from(GROUPS) - 1) as usize;
            let start = if hit == 0 { BLOCK } else { left.ends[hit - 1] };
            bytes[start as usize + random.below(50) as usize] ^= 1 << random.below(8);
            fs::write(&file, bytes).unwrap();
            match open(&to) {
                Ok(store) => {
                    // A power loss may have this effect on a relaxed store.
                    assert_eq!(durability, Durability::Relaxed);
                    check(&store, hit as u32, Length::Mixed);
                }
                Err(error) => {
                    assert!(error.to_string().contains(&format!("from byte {start} on")), "{error}");
                    assert_refused(&to, &file, "a damaged record");
                    let new = folder.path().join("salvaged");
                    let _ = fs::remove_dir_all(&new);
                    assert_eq!(salvage(&to, &new).unwrap().lost.len(), 1);
                    check(&open(&new).unwrap(), hit as u32, Length::Mixed);
                    assert_refused(&to, &file, "a damaged record");
                }
            }
        }
    }
}

#[test]
fn an_altered_segment_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let left = crashed(folder.path(), Durability::Full, Length::Large);
    let names: Vec<_> =
        segments(&left.folder).iter().map(|file| PathBuf::from(file.file_name().unwrap())).collect();
    assert_eq!(names.len(), 4);
    let to = folder.path().join("altered");
    for (index, name) in names.iter().enumerate() {
        let (file, other) = (to.join("log").join(name), to.join("log").join(&names[(index + 1) % 4]));
        let cut = |length: u64| fs::File::options().write(true).open(&file).unwrap().set_len(length).unwrap();
        let changes: [(&str, &dyn Fn()); 7] = [
            ("missing", &|| fs::remove_file(&file).unwrap()),
            ("emptied", &|| cut(0)),
            ("truncated", &|| cut((8 << 20) - BLOCK)),
            ("truncated within its header", &|| cut(100)),
            ("with another's contents", &|| assert!(fs::copy(&other, &file).unwrap() > 0)),
            ("swapped with another", &|| {
                let (bytes, others) = (fs::read(&file).unwrap(), fs::read(&other).unwrap());
                fs::write(&file, others).unwrap();
                fs::write(&other, bytes).unwrap();
            }),
            ("with a damaged header", &|| {
                let mut bytes = fs::read(&file).unwrap();
                bytes[50] ^= 4;
                fs::write(&file, bytes).unwrap();
            }),
        ];
        for (what, change) in changes {
            copy(&left.folder, &to);
            change();
            let Err(OpenError::Damaged { what: reported, .. }) = open(&to) else {
                panic!("segment {index} {what}")
            };
            let named = if what == "swapped with another" { "segment." } else { name.to_str().unwrap() };
            assert!(reported.contains(named), "{reported}");
        }
    }
}

#[test]
fn older_copies_of_the_logs_files_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let left = crashed(folder.path(), Durability::Full, Length::Large);
    let to = folder.path().join("mixed");
    for older in &left.older_logs {
        for entry in fs::read_dir(older).unwrap().map(Result::unwrap) {
            copy(&left.folder, &to);
            let file = to.join("log").join(entry.file_name());
            if entry.file_name() != "DURABLE" && fs::read(&file).unwrap() != fs::read(entry.path()).unwrap() {
                fs::copy(entry.path(), &file).unwrap();
                let Err(OpenError::Damaged { what, .. }) = open(&to) else { panic!("{}", file.display()) };
                assert!(what.contains("segment."), "{what}");
            }
        }
    }
}

#[test]
fn a_lost_log_is_reported_after_a_crash_and_harmless_after_a_clean_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    let left = crashed(folder.path(), Durability::Full, Length::Mixed);
    let to = folder.path().join("lost");
    let remove = |name: &str| fs::remove_file(to.join("log").join(name)).unwrap();
    copy(&left.folder, &to);
    remove("DURABLE");
    check(&open(&to).unwrap(), GROUPS, Length::Mixed);
    copy(&left.folder, &to);
    remove("MANIFEST");
    assert_refused(&to, Path::new("MANIFEST"), "no manifest");
    let new = folder.path().join("salvaged");
    salvage(&to, &new).unwrap();
    check(&open(&new).unwrap(), GROUPS, Length::Mixed);
    copy(&left.folder, &to);
    fs::remove_dir_all(to.join("log")).unwrap();
    assert_refused(&to, Path::new("MANIFEST"), "no log");

    let closed = folder.path().join("open");
    fs::remove_dir_all(closed.join("log")).unwrap();
    let store = open(&closed).unwrap();
    check(&store, GROUPS, Length::Mixed);
    write(&store, vec![put(&key(2, b"more"), b"1")]).unwrap();
}

/// What the data file has need not be in the log.
#[test]
fn a_log_older_than_the_data_file_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let (now, left) = (folder.path().join("now"), folder.path().join("left"));
    let store = EmbeddedStore::open_with_pace(&now, Options::default(), Pace::Lazy).unwrap();
    write(&store, group(0, Length::Mixed)).unwrap();
    copy(&now, &left);
    store.close();
    let store = EmbeddedStore::open_with_pace(&left, Options::default(), Pace::Eager).unwrap();
    write(&store, group(1, Length::Mixed)).unwrap();
    let older = folder.path().join("older");
    copy_files(&left.join("log"), &older);
    write(&store, group(2, Length::Mixed)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let to = folder.path().join("to");
    copy(&left, &to);
    drop(store);
    copy_files(&older, &to.join("log"));
    check(&open(&to).unwrap(), 3, Length::Mixed);
}

/// A start whose first group is torn does not need the segment it is in; so the next start must not require it, whether
/// the file has been removed by then or reused.
#[test]
fn a_start_that_frees_the_only_segment_does_not_require_it_again() {
    for rows in [1, 30] {
        let folder = tempfile::tempdir().unwrap();
        let [now, torn, started] = ["now", "torn", "started"].map(|name| folder.path().join(name));
        let lazy = |folder: &Path| EmbeddedStore::open_with_pace(folder, Options::default(), Pace::Lazy);
        let store = lazy(&now).unwrap();
        write(&store, group(0, Length::Mixed)).unwrap();
        store.close();
        fs::remove_dir_all(now.join("log")).unwrap();
        let store = lazy(&now).unwrap();
        write(&store, (0..rows).map(|row| put(&key(3, &[row]), &[row; 300_000])).collect()).unwrap();
        copy(&now, &torn);
        store.close();
        fs::remove_file(torn.join("log/DURABLE")).unwrap();
        let segment = only_segment(&torn);
        let mut bytes = fs::read(&segment).unwrap();
        bytes[BLOCK as usize..].fill(0);
        fs::write(&segment, &bytes).unwrap();

        let store = lazy(&torn).unwrap();
        check(&store, 1, Length::Mixed);
        copy(&torn, &started);
        drop(store);
        let reused = started.join("log").join(segment.file_name().unwrap());
        // Only one of the usual size is kept. It is taken into use for the next group, and the power fails.
        assert_eq!(reused.exists(), rows == 1);
        if reused.exists() {
            bytes[..BLOCK as usize].fill(0);
            fs::write(&reused, &bytes).unwrap();
        }
        check(&open(&started).unwrap(), 1, Length::Mixed);
    }
}

/// The data file says that the log was closed, and the log says that more was written: one of them is an older copy.
#[test]
fn older_copies_of_the_data_file_or_its_checksums_are_rejected() {
    for files in [&["sums"][..], &["data.mdb", "sums"]] {
        let folder = tempfile::tempdir().unwrap();
        let (open, left) = (folder.path().join("open"), folder.path().join("left"));
        let store = EmbeddedStore::open(&open, Options::default()).unwrap();
        write(&store, group(0, Length::Mixed)).unwrap();
        store.close();
        copy(&open, &folder.path().join("older"));
        let store = EmbeddedStore::open_with_pace(&open, Options::default(), Pace::Lazy).unwrap();
        write(&store, group(1, Length::Mixed)).unwrap();
        copy(&open, &left);
        store.close();
        for file in files {
            fs::copy(folder.path().join("older").join(file), left.join(file)).unwrap();
        }
        let opened = EmbeddedStore::open(&left, Options::default());
        let error = opened.err().unwrap().to_string();
        assert!(error.contains("older copy"), "{files:?}: {error}");
        // The older data file together with the log is all there is.
        let new = folder.path().join("new");
        salvage(&left, &new).unwrap();
        let store = EmbeddedStore::open(&new, Options::default()).unwrap();
        let all = KeyRange { start: Vec::new(), end: vec![0xFF; 8] };
        let found = rows(&store.snapshot().unwrap(), &all, Direction::Ascending, usize::MAX).unwrap();
        assert_eq!(found.len(), 2 * ROWS as usize, "{files:?}");
    }
}
