//! An operation's name is its address: every stage has a file of that name, in the folder that the table names.

use super::Repository;
use crate::step::root;
use std::fs;

pub fn problems(_: &Repository) -> Vec<String> {
    missing_stages()
}

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
