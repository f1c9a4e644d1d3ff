//! Folders of every earlier format can be opened, with all their rows; an upgrade and a creation may be interrupted
//! anywhere.
//!
//! The folders in `tests/formats` were written by the program of that time, their files packed with gzip. In each, space 1
//! had the rows 0 to 99, and space 2 as many. The crashed one was reopened: the rows 100 to 199 were written, the rows 0
//! to 9 deleted and space 2 dropped; then the process aborted, before the data file had any of this.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use partita_store::{Direction, KeyRange, Store};
use partita_store_embedded::{EmbeddedStore, OpenError, Options};
use support::{Random, get, key, put, rows, write};

const FOLDER: &str = "PARTITA_UPGRADE_FOLDER";

/// Opens a folder. A child process that another test spawns briefly holds all files of this process, locked ones included.
fn open(folder: &Path) -> Result<EmbeddedStore, OpenError> {
    let until = Instant::now() + Duration::from_secs(2);
    loop {
        match EmbeddedStore::open(folder, Options::default()) {
            Err(OpenError::InUse { .. }) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

fn unpack(name: &str, to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(name);
    let _ = fs::remove_dir_all(to);
    for folder in ["", "log"] {
        fs::create_dir_all(to.join(folder)).unwrap();
        for file in fs::read_dir(from.join(folder)).unwrap().map(|entry| entry.unwrap().path()) {
            let target = to.join(folder).join(file.file_stem().unwrap());
            if file.extension().is_some_and(|extension| extension == "gz") {
                let mut bytes = Vec::new();
                flate2::read::GzDecoder::new(fs::File::open(&file).unwrap()).read_to_end(&mut bytes).unwrap();
                fs::write(target, bytes).unwrap();
            } else if file.is_file() {
                fs::copy(&file, target).unwrap();
            }
        }
    }
}

fn value(number: u32) -> Vec<u8> {
    let length = if number.is_multiple_of(50) { 9_000 } else { 40 + number as usize % 100 };
    vec![number as u8; length]
}

fn check(store: &EmbeddedStore, first: u32, end: u32, in_space_2: usize) {
    let all = |space: u32| {
        let range = KeyRange { start: key(space, b""), end: key(space + 1, b"") };
        rows(&store.snapshot().unwrap(), &range, Direction::Ascending, usize::MAX).unwrap()
    };
    let expected: Vec<_> =
        (first..end).map(|number| (key(1, &number.to_be_bytes()), value(number))).collect();
    assert!(all(1) == expected);
    assert_eq!(all(2).len(), in_space_2);
}

fn format_of(folder: &Path) -> String {
    fs::read_to_string(folder.join("FORMAT")).unwrap()
}

#[test]
fn folders_of_format_1_are_upgraded() {
    let folder = tempfile::tempdir().unwrap();
    for (name, first, end, in_space_2) in [("1/clean", 0, 100, 100), ("1/crashed", 10, 200, 0)] {
        let to = folder.path().join("upgraded");
        unpack(name, &to);
        let store = open(&to).unwrap();
        check(&store, first, end, in_space_2);
        assert_eq!(format_of(&to), "partita embedded store, format 2\n");
        write(&store, vec![put(&key(3, b"new"), b"1")]).unwrap();
        store.close();
        let store = open(&to).unwrap();
        check(&store, first, end, in_space_2);
        assert_eq!(get(&store, &key(3, b"new")).unwrap().as_deref(), Some(&b"1"[..]));
    }
}

#[test]
fn an_upgrade_survives_being_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(7);
    for _ in 0..12 {
        let to = folder.path().join("upgraded");
        unpack("1/crashed", &to);
        for _ in 0..3 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "the_child_upgrades", "--ignored"])
                .env(FOLDER, &to)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_micros(random.below(60_000)));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        check(&open(&to).unwrap(), 10, 200, 0);
    }
}

#[test]
#[ignore = "started by the test above, to be killed"]
fn the_child_upgrades() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    open(Path::new(&folder)).unwrap();
}

/// A damaged record of a format 1 log is handled as it was then.
#[test]
fn damage_to_a_log_of_format_1_is_reported_if_later_segments_show_it() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("damaged");
    unpack("1/crashed", &to);
    let segment = to.join("log/segment.1");
    let bytes = fs::read(&segment).unwrap();
    // The second half of the records moves to a segment of its own, and the last one before it is damaged.
    let (mut first, mut second) = (bytes.clone(), vec![0; bytes.len()]);
    let half = 60 * 4_096;
    second[..half].copy_from_slice(&bytes[half..2 * half]);
    first[half..].fill(0);
    first[half - 4_096] ^= 1;
    fs::write(&segment, first).unwrap();
    fs::write(to.join("log/segment.2"), second).unwrap();
    assert!(matches!(open(&to), Err(OpenError::Damaged { .. })));
    assert_eq!(format_of(&to), "partita embedded store, format 1\n");
}

/// Every state that a power loss during creation can leave.
#[test]
fn a_creation_may_be_interrupted_anywhere() {
    let complete = tempfile::tempdir().unwrap();
    open(complete.path()).unwrap().close();
    let data = fs::read(complete.path().join("data.mdb")).unwrap();
    let sums = fs::read(complete.path().join("sums")).unwrap();
    let format = format_of(complete.path());
    let states: Vec<Vec<(&str, &[u8])>> = vec![
        vec![("LOCK", b"")],
        vec![("LOCK", b""), ("data.new/data.mdb", b"")],
        vec![("LOCK", b""), ("data.new/data.mdb", &data[..4_096]), ("data.new/lock.mdb", b"")],
        vec![("LOCK", b""), ("data.new/data.mdb", &data[..8_192])],
        vec![("LOCK", b""), ("data.new/data.mdb", &data)],
        vec![("LOCK", b""), ("data.new/data.mdb", &data), ("data.new/sums.new", b"")],
        vec![("LOCK", b""), ("data.new/data.mdb", &data), ("data.new/sums", &sums), ("FORMAT.new", b"")],
        vec![("LOCK", b""), ("data.new/data.mdb", &data), ("FORMAT.new", format.as_bytes())],
        vec![("sums", &sums), ("data.new/data.mdb", &data), ("FORMAT.new", format.as_bytes())],
        vec![
            ("sums", &sums),
            ("data.mdb", &data),
            ("data.new/lock.mdb", b""),
            ("FORMAT.new", format.as_bytes()),
        ],
        vec![("sums", &sums), ("data.mdb", &data), ("data.new/lock.mdb", b""), ("FORMAT", format.as_bytes())],
        vec![("sums", &sums), ("data.mdb", &data), ("lock.mdb", b""), ("FORMAT", format.as_bytes())],
        // What format 1 left.
        vec![("FORMAT", b"partita embedded store, format 1\n")],
        vec![("FORMAT", b"partita embedded store, format 1\n"), ("data.mdb", b""), ("lock.mdb", b"")],
        vec![("FORMAT", b"partita embedded store, format 1\n"), ("data.mdb", &data[..4_096])],
        vec![("FORMAT", b"partita embedded store, format 1\n"), ("data.mdb", &[0; 8_192])],
    ];
    for (number, state) in states.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in state {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        for round in 0..2_u8 {
            let store = open(folder.path()).unwrap_or_else(|error| panic!("state {number}: {error}"));
            write(&store, vec![put(&key(1, &[round]), b"1")]).unwrap();
        }
        let store = open(folder.path()).unwrap();
        assert!(
            get(&store, &key(1, &[0])).unwrap().is_some() && get(&store, &key(1, &[1])).unwrap().is_some()
        );
        assert_eq!(format_of(folder.path()), format);
        assert!(!folder.path().join("data.new").exists());
    }
}

/// A store is never created in place of one whose data file is gone.
#[test]
fn a_lost_data_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    write(&open(folder.path()).unwrap(), vec![put(&key(1, b"a"), b"1")]).unwrap();
    let data = folder.path().join("data.mdb");
    for length in [Some(0), Some(4_096), Some(8_192), None] {
        match length {
            Some(length) => fs::File::options().write(true).open(&data).unwrap().set_len(length).unwrap(),
            None => fs::remove_file(&data).unwrap(),
        }
        let Err(error) = open(folder.path()) else { panic!("opened") };
        assert!(error.to_string().contains("data.mdb"), "{error}");
    }
}

/// All files below a folder, itself included.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(everything(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn only_the_owner_may_read_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (created, upgraded) = (folder.path().join("created"), folder.path().join("upgraded"));
    unpack("1/crashed", &upgraded);
    for path in everything(&upgraded) {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    for (folder, is_created) in [(&created, true), (&upgraded, false)] {
        let store = open(folder).unwrap();
        write(&store, vec![put(&key(1, b"a"), &[1; 20_000])]).unwrap();
        let found = everything(folder);
        assert!(found.len() >= 8, "{found:?}");
        for path in found {
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            // The folder itself keeps its permissions.
            assert!(mode == expected || (!is_created && path == *folder), "{}: {mode:o}", path.display());
        }
        store.close();
    }
}
