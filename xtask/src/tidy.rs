//! Rules of ARCHITECTURE.md that a machine can check.

use crate::step::root;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that name nothing.
const EMPTY_NAMES: [&str; 5] = ["helpers", "utils", "common", "manager", "misc"];

pub fn check() -> Result<(), String> {
    println!("\n=== tidy");
    let mut files = Vec::new();
    for folder in ["crates", "fuzz", "xtask"] {
        collect(&root().join(folder), &mut files);
    }
    let mut problems: Vec<String> = files.iter().flat_map(|file| problems_of(file)).collect();
    problems.extend(missing_stages());
    if problems.is_empty() {
        println!("{} files are tidy", files.len());
        return Ok(());
    }
    problems.iter().for_each(|problem| eprintln!("{problem}"));
    Err(format!("tidy: {} problems", problems.len()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn problems_of(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let shown = file.display();
    let mut problems = Vec::new();
    if !text.starts_with("//!") {
        problems.push(format!("{shown}: does not open with //! and what it is for"));
    }
    if EMPTY_NAMES.contains(&name) {
        problems.push(format!("{shown}: the name says nothing"));
    }
    if shown.to_string().contains("/engine/src/") && name != "stored_key" && text.contains(".prefix()") {
        problems.push(format!("{shown}: only stored_key.rs builds stored keys"));
    }
    problems
}

/// An operation's name is its address: every stage has a file of that name, in the folder that the table names.
fn missing_stages() -> Vec<String> {
    let table = fs::read_to_string(root().join("crates/api/src/operation.rs")).unwrap_or_default();
    let mut problems = Vec::new();
    for (folder, module) in operations(&table) {
        for stage in ["api", "wire", "engine"] {
            let file = format!("crates/{stage}/src/{folder}/{module}.rs");
            if !root().join(&file).exists() {
                problems.push(format!("{file}: missing, though the operation is in the table"));
            }
        }
    }
    problems
}

/// Folder and module of each line of the table: `item PutItem put_item PutItemOutput writes "…";`.
fn operations(table: &str) -> Vec<(&str, &str)> {
    let lines = table.lines().map(str::trim).filter(|line| line.ends_with("\";"));
    let words = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    words.filter(|words| words.len() > 5).map(|words| (words[0], words[2])).collect()
}
