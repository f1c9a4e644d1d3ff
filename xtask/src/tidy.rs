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
    problems.extend(operations_export_nothing());
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

/// An operation's file is no library: what two operations share is in a file named after the thing.
///
/// In `engine` its only public item is the operation's method, which no other file calls. In `api` it uses nothing of another
/// operation's file but the request: a request may consist of others, as a transaction does of puts, updates and deletes.
fn operations_export_nothing() -> Vec<String> {
    let table = fs::read_to_string(root().join("crates/api/src/operation.rs")).unwrap_or_default();
    let operations = operations(&table);
    let mut problems = Vec::new();
    for (folder, module) in &operations {
        let method = format!("pub async fn {module}(");
        problems.extend(exports("engine", folder, module, |line| line.starts_with(&method)));
        if WIRE_EXPORTS_ARE_CHECKED {
            problems.extend(exports("wire", folder, module, is_wire_stage));
        }
        problems.extend(foreign_types(&format!("crates/api/src/{folder}/{module}.rs"), &operations));
    }
    problems.extend(calls_of_operations(&operations));
    problems
}

/// Whether operation files of `wire` may export only `decode` and `encode`.
const WIRE_EXPORTS_ARE_CHECKED: bool = false;

/// The lines of an operation's file that make something public, other than those allowed.
fn exports(stage: &str, folder: &str, module: &str, is_allowed: impl Fn(&str) -> bool) -> Vec<String> {
    let file = format!("crates/{stage}/src/{folder}/{module}.rs");
    let text = fs::read_to_string(root().join(&file)).unwrap_or_default();
    let lines = text.split("#[cfg(test)]").next().unwrap_or_default().lines().map(str::trim);
    let public = lines.filter(|line| line.starts_with("pub ") || line.starts_with("pub("));
    let others = public.filter(|line| !is_allowed(line));
    others.map(|line| format!("{file}: an operation's file exports nothing else: {line}")).collect()
}

/// Whether a line defines or re-exports `decode` or `encode`.
fn is_wire_stage(line: &str) -> bool {
    ["decode", "encode"].iter().any(|stage| {
        let definition = format!("pub(crate) fn {stage}");
        let re_export = line.starts_with("pub(crate) use ") && line.ends_with(&format!("::{stage};"));
        re_export || line.strip_prefix(&definition).is_some_and(|rest| rest.starts_with(['(', '<']))
    }) || (line.starts_with("pub(crate) use ") && line.ends_with("::{decode, encode};"))
}

/// The lines of an operation's file in `api` that use another operation's types, other than its request.
fn foreign_types(file: &str, operations: &[(&str, &str)]) -> Vec<String> {
    let text = fs::read_to_string(root().join(file)).unwrap_or_default();
    let mut problems = Vec::new();
    for (folder, module) in operations {
        let path = format!("crate::{folder}::{module}::");
        let request = format!("use {path}{};", camel_case(module));
        let lines = text.lines().filter(|line| line.contains(&path) && **line != request);
        problems.extend(lines.map(|line| format!("{file}: uses the types of another operation: {line}")));
    }
    problems
}

/// The calls of an operation's method in the engine: only `dispatch!` makes them.
fn calls_of_operations(operations: &[(&str, &str)]) -> Vec<String> {
    let mut files = Vec::new();
    collect(&root().join("crates/engine/src"), &mut files);
    let mut problems = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let called = operations.iter().filter(|(_, module)| text.contains(&format!("self.{module}(")));
        problems
            .extend(called.map(|(_, module)| format!("{}: calls the operation {module}", file.display())));
    }
    problems
}

/// `put_item` → `PutItem`.
fn camel_case(module: &str) -> String {
    let words = module.split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    words.collect()
}
