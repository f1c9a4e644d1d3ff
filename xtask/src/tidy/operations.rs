//! An operation's name is its address: every stage has a file of that name, in the folder that the table names.

use super::Repository;
use super::source::SourceFile;

const TABLE: &str = "crates/api/src/operation.rs";

pub fn problems(repository: &Repository) -> Vec<String> {
    let operations = operations(text_of(repository, TABLE));
    if operations.is_empty() {
        return vec![format!("{TABLE}: no line of the table was recognized")];
    }
    let mut problems = missing_stages(repository, &operations);
    problems.extend(operations_export_nothing(repository, &operations));
    problems.extend(undeclared_tests(repository));
    problems
}

/// The file at a path from the project's folder.
fn file<'r>(repository: &'r Repository, path: &str) -> Option<&'r SourceFile> {
    repository.files.iter().find(|file| file.path == path)
}

/// Its text, or nothing if there is no such file.
fn text_of<'r>(repository: &'r Repository, path: &str) -> &'r str {
    file(repository, path).map_or("", |file| &file.text)
}

fn missing_stages(repository: &Repository, operations: &[(&str, &str)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (folder, module) in operations {
        for stage in ["api", "wire", "engine"] {
            let path = format!("crates/{stage}/src/{folder}/{module}.rs");
            if file(repository, &path).is_none() {
                problems.push(format!("{path}: missing, though the operation is in the table"));
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
/// `encode`. In `api` it uses nothing of another operation's file but the request: a request may consist of others, as a
/// transaction does of puts, updates and deletes.
fn operations_export_nothing(repository: &Repository, operations: &[(&str, &str)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (folder, module) in operations {
        let path = |stage: &str| format!("crates/{stage}/src/{folder}/{module}.rs");
        let method = format!("pub async fn {module}(");
        problems.extend(exports(repository, &path("engine"), |line| line.starts_with(&method)));
        problems.extend(exports(repository, &path("wire"), is_wire_stage));
        problems.extend(foreign_types(repository, &path("api"), operations));
    }
    problems.extend(calls_of_operations(repository, operations));
    problems
}

/// The lines of an operation's file that make something public, other than those allowed.
fn exports(repository: &Repository, path: &str, is_allowed: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = file(repository, path).into_iter().flat_map(SourceFile::product_lines).map(|(_, line)| line);
    let public = lines.filter(|line| line.starts_with("pub ") || line.starts_with("pub("));
    let others = public.filter(|line| !is_allowed(line));
    others.map(|line| format!("{path}: an operation's file exports nothing else: {line}")).collect()
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
fn foreign_types(repository: &Repository, path: &str, operations: &[(&str, &str)]) -> Vec<String> {
    let text = text_of(repository, path);
    let mut problems = Vec::new();
    for (folder, module) in operations {
        let types = format!("crate::{folder}::{module}::");
        let request = format!("use {types}{};", camel_case(module));
        let lines = text.lines().filter(|line| line.contains(&types) && **line != request);
        problems.extend(lines.map(|line| format!("{path}: uses the types of another operation: {line}")));
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
    let main = text_of(repository, &format!("{FOLDER}main.rs"));
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
