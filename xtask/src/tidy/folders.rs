//! Folders that can be read like a table of contents, and files that can be read in one sitting.

use super::Repository;
use super::source::SourceFile;
use std::collections::BTreeMap;

/// Files in one folder of a crate's sources.
const MOST_FILES: usize = 25;
/// Lines of a file without the tests at its end.
const MOST_LINES: usize = 500;

/// Files that may be longer, with how many lines.
const LONGER_FILES: &[(&str, usize)] = &[
    // A list: every code with its page.
    ("crates/design/src/code.rs", 520),
    ("crates/design/src/check/keys.rs", 550),
    ("crates/simulation/src/simulator.rs", 540),
];

pub fn problems(repository: &Repository) -> Vec<String> {
    let mut problems: Vec<String> = repository.files.iter().filter_map(too_long).collect();
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for file in repository.files.iter().filter(|file| !file.product_code().is_empty()) {
        *folders.entry(file.path.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
    }
    problems.extend(folders.into_iter().filter_map(|(folder, files)| too_full(folder, files)));
    problems
}

fn too_long(file: &SourceFile) -> Option<String> {
    let lines = file.product_code().lines().count();
    let most = LONGER_FILES.iter().find(|(path, _)| *path == file.path).map_or(MOST_LINES, |(_, most)| *most);
    (lines > most).then(|| format!("{}: {lines} lines without tests, more than {most}", file.path))
}

fn too_full(folder: &str, files: usize) -> Option<String> {
    (files > MOST_FILES).then(|| {
        format!("{folder}: {files} files, more than {MOST_FILES}: group them by what they are about")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_and_full_folders_are_problems() {
        let file =
            |lines: usize| SourceFile { path: "crates/a/src/b.rs".to_owned(), text: "//!\n".repeat(lines) };
        assert_eq!(too_long(&file(MOST_LINES)), None);
        assert!(too_long(&file(MOST_LINES + 1)).is_some());
        assert_eq!(too_full("crates/a/src", MOST_FILES), None);
        assert!(too_full("crates/a/src", MOST_FILES + 1).is_some());
    }
}
