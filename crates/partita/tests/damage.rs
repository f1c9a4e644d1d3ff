//! `partita verify`, `salvage` and `compact` on intact folders and on a damaged one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

use partita_store::{Decision, Store, Write};
use partita_store_embedded::{EmbeddedStore, Options};

fn partita(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_partita")).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

fn fill(folder: &Path) {
    let store = EmbeddedStore::open(folder, Options::default()).unwrap();
    for value in [1_u8, 2, 3] {
        let row =
            |n: u32| Write::Put { key: [99, n].map(u32::to_be_bytes).concat(), value: vec![value; 500] };
        let writes: Vec<_> = (0..500).map(row).collect();
        let decided = store.decide(Vec::new(), move |_| Decision::commit(writes.clone(), ()));
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(decided).unwrap();
    }
    store.close();
}

#[test]
fn damage_is_found_and_the_rest_salvaged() {
    let folder = tempfile::tempdir().unwrap();
    let (data, new) = (folder.path().join("data"), folder.path().join("new"));
    fill(&data);
    let (data_name, new_name) = (data.to_str().unwrap(), new.to_str().unwrap());
    let (code, output) = partita(&["verify", data_name]);
    // These rows belong to no table, which is reported; but they are not damaged.
    assert_eq!(code, Some(3), "{output}");
    assert!(output.contains("pages were checked") && !output.contains("damaged: "), "{output}");
    let (code, output) = partita(&["compact", data_name]);
    assert_eq!(code, Some(0), "{output}");
    assert!(!partita(&["verify", data_name]).1.contains("damaged: "));

    let file = data.join("data.mdb");
    let mut bytes = fs::read(&file).unwrap();
    let hit = bytes.windows(100).position(|window| window == [3; 100]).unwrap();
    bytes[hit + 50] ^= 1;
    fs::write(&file, bytes).unwrap();
    let (code, output) = partita(&["verify", data_name]);
    assert_eq!(code, Some(3), "{output}");
    assert!(output.contains("damaged: "), "{output}");
    let (code, output) = partita(&["salvage", data_name, "--into", new_name]);
    assert_eq!(code, Some(3), "{output}");
    assert!(output.contains("499 rows were copied") && output.contains("lost: "), "{output}");
    assert!(!partita(&["verify", new_name]).1.contains("damaged: "));
    // Nothing is copied into a folder that is not empty, and a folder that is not a store is not verified.
    assert_eq!(partita(&["salvage", data_name, "--into", new_name]).0, Some(1));
    assert_eq!(partita(&["verify", folder.path().to_str().unwrap()]).0, Some(2));
}
