//! Every file opens with what it is for, has a name that says something, and, in the engine, builds no stored keys.

use super::Repository;
use super::source::SourceFile;

/// Words that name nothing.
const EMPTY_NAMES: [&str; 5] = ["helpers", "utils", "common", "manager", "misc"];

pub fn problems(repository: &Repository) -> Vec<String> {
    repository.files.iter().flat_map(problems_of).collect()
}

fn problems_of(file: &SourceFile) -> Vec<String> {
    let (path, name) = (&file.path, file.stem());
    let mut problems = Vec::new();
    if !file.text.starts_with("//!") {
        problems.push(format!("{path}: does not open with //! and what it is for"));
    }
    if EMPTY_NAMES.contains(&name) {
        problems.push(format!("{path}: the name says nothing"));
    }
    if file.crate_name() == Some("engine")
        && name != "stored_key"
        && file.product_code().contains(".prefix()")
    {
        problems.push(format!("{path}: only stored_key.rs builds stored keys"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_say_what_they_are_for() {
        let file = |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
        assert_eq!(problems_of(&file("crates/a/src/b.rs", "//! What.\n")), [""; 0]);
        assert_eq!(problems_of(&file("crates/a/src/b.rs", "fn a() {}\n")).len(), 1);
        assert_eq!(problems_of(&file("crates/a/src/utils.rs", "//! What.\n")).len(), 1);
        assert_eq!(problems_of(&file("crates/engine/src/read.rs", "//! What.\nkey.prefix()\n")).len(), 1);
    }
}
