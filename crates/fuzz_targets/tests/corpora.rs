//! Every input in fuzz/corpus still satisfies its target: what fuzzing has found once is checked on every build.

use partita_fuzz_targets::TARGETS;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn fuzz_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

#[test]
fn every_input_of_a_corpus_satisfies_its_target() {
    for (name, run) in TARGETS {
        let corpus = fuzz_folder().join("corpus").join(name);
        let inputs: Vec<PathBuf> =
            fs::read_dir(&corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!inputs.is_empty(), "{} is empty", corpus.display());
        for input in inputs {
            println!("{}", input.display());
            run(&fs::read(&input).unwrap());
        }
    }
}

#[test]
fn every_target_has_a_corpus_and_a_program() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let stems = |folder: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(fuzz_folder().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
    };
    assert_eq!(stems("corpus"), targets);
    assert_eq!(stems("fuzz_targets"), targets);
    let manifest = fs::read_to_string(fuzz_folder().join("Cargo.toml")).unwrap();
    for name in targets {
        let program = format!("[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        assert!(manifest.contains(&program), "fuzz/Cargo.toml lacks {name}");
    }
}
