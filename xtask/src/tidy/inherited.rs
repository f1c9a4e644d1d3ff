//! Every crate inherits what the workspace says: edition, oldest supported Rust, licence and lints.

use super::Repository;
use super::manifest::Manifest;

const INHERITED: [&str; 5] = [
    "edition.workspace = true",
    "rust-version.workspace = true",
    "license.workspace = true",
    "publish.workspace = true",
    "[lints]\nworkspace = true",
];

pub fn problems(repository: &Repository) -> Vec<String> {
    repository.manifests.iter().flat_map(problems_of).collect()
}

fn problems_of(manifest: &Manifest) -> Vec<String> {
    let lacking = INHERITED.iter().filter(|line| !manifest.text.contains(**line));
    lacking
        .map(|line| format!("crates/{}/Cargo.toml: lacks {}", manifest.crate_name, line.replace('\n', " ")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_line_is_a_problem() {
        let manifest = |text: String| Manifest { crate_name: "a".to_owned(), text };
        assert_eq!(problems_of(&manifest(INHERITED.join("\n"))), [""; 0]);
        assert_eq!(
            problems_of(&manifest(INHERITED[1..].join("\n"))),
            ["crates/a/Cargo.toml: lacks edition.workspace = true"]
        );
    }
}
