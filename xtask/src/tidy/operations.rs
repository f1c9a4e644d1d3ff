//! An operation's name is its address: every stage has a file of that name, in the folder that the table names.

use super::Repository;
use crate::step::root;
use std::fs;

pub fn problems(repository: &Repository) -> Vec<String> {
    let mut problems = missing_stages();
    problems.extend(operations_export_nothing(repository));
    problems.extend(undeclared_tests(repository));
    problems
}

fn missing_stages() -> Vec<String> {
    let table = fs::read_to_string(root().join("crates/api/src/operation.rs")).unwrap_or_default();
    let mut problems = Vec::new();
    if operations(&table).is_empty() {
        problems.push("crates/api/src/operation.rs: no line of the table was recognized".to_owned());
    }
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

/// An operation's file is not a library: what two operations share is in a file named after the thing.
///
/// In `engine` its only public item is the operation's method, which no other file calls; in `wire` it exports `decode` and
/// `encode`. In `api` it uses nothing of another
/// operation's file but the request: a request may consist of others, as a transaction does of puts, updates and deletes.
fn operations_export_nothing(repository: &Repository) -> Vec<String> {
    let table = fs::read_to_string(root().join("crates/api/src/operation.rs")).unwrap_or_default();
    let operations = operations(&table);
    let mut problems = Vec::new();
    for (folder, module) in &operations {
        let method = format!("pub async fn {module}(");
        problems.extend(exports("engine", folder, module, |line| line.starts_with(&method)));
        problems.extend(exports("wire", folder, module, is_wire_stage));
        problems.extend(foreign_types(&format!("crates/api/src/{folder}/{module}.rs"), &operations));
    }
    problems.extend(calls_of_operations(repository, &operations));
    problems
}

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
fn calls_of_operations(repository: &Repository, operations: &[(&str, &str)]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in repository.files.iter().filter(|file| file.crate_name() == Some("engine")) {
        let code = file.product_code();
        let called = operations.iter().filter(|(_, module)| code.contains(&format!("self.{module}(")));
        problems.extend(called.map(|(_, module)| format!("{}: calls the operation {module}", file.path)));
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

/// The engine's tests are one program: a file that its `main.rs` does not declare would never run.
fn undeclared_tests(repository: &Repository) -> Vec<String> {
    const FOLDER: &str = "crates/engine/tests/";
    let main = fs::read_to_string(root().join(FOLDER).join("main.rs")).unwrap_or_default();
    let tests = repository.files.iter().filter_map(|file| Some((file, file.path.strip_prefix(FOLDER)?)));
    let tests = tests.filter(|(_, name)| !name.contains('/') && *name != "main.rs");
    let forgotten = tests.filter(|(file, _)| !main.contains(&format!("mod {};", file.stem())));
    forgotten.map(|(file, _)| format!("{}: main.rs beside it does not declare it", file.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::operations;

    #[test]
    fn lines_of_the_table_are_recognized() {
        let table = "        item PutItem put_item PutItemOutput writes \"as \\\"AWS\\\"\";\n    // no line";
        assert_eq!(operations(table), [("item", "put_item")]);
    }
}
