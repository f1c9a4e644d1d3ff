//! The data file is truncated while a store has it open and reads pages again that were intact before: the process ends
//! with a message that names the file and the offset, and with a dedicated exit code.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs::File;
use std::path::Path;
use std::process::Command;

use partita_store_embedded::{EmbeddedStore, Options, UNREADABLE_FILE_EXIT_CODE};
use support::{get, key, put, write};

const FOLDER: &str = "PARTITA_UNREADABLE_FOLDER";

/// Run by the test below in a process of its own.
#[test]
#[ignore = "ends its process"]
fn read_a_truncated_file() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let folder = Path::new(&folder);
    let store = EmbeddedStore::open(folder, Options::default()).unwrap();
    let read_all = || (0..2_000_u32).try_for_each(|n| get(&store, &key(1, &n.to_be_bytes())).map(drop));
    // Once read, they are known to be intact and are read through the map.
    read_all().unwrap();
    let length = File::open(folder.join("data.mdb")).unwrap().metadata().unwrap().len();
    File::options().write(true).open(folder.join("data.mdb")).unwrap().set_len(length / 2).unwrap();
    read_all().unwrap();
}

#[test]
fn a_truncated_file_ends_the_process_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(folder.path(), Options::default()).unwrap();
    write(&store, (0..2_000_u32).map(|n| put(&key(1, &n.to_be_bytes()), &[7; 300])).collect()).unwrap();
    store.close();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "read_a_truncated_file", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(UNREADABLE_FILE_EXIT_CODE), "{message}");
    assert!(message.contains("data.mdb cannot be read at byte "), "{message}");
}
