//! `cargo xtask tidy`: the rules of ARCHITECTURE.md that a machine can check, one file per rule.

mod files;
mod folders;
mod inherited;
mod json;
mod layers;
mod manifest;
mod messages;
mod operations;
mod seams;
mod source;

use crate::step::root;
use manifest::Manifest;
use source::SourceFile;

/// Everything the rules look at.
struct Repository {
    files: Vec<SourceFile>,
    /// The manifests of crates/*.
    manifests: Vec<Manifest>,
}

/// A rule returns what breaks it.
type Rule = fn(&Repository) -> Vec<String>;

const RULES: [Rule; 8] = [
    files::problems,
    folders::problems,
    inherited::problems,
    json::problems,
    layers::problems,
    messages::problems,
    operations::problems,
    seams::problems,
];

pub fn check() -> Result<(), String> {
    let mut files = Vec::new();
    for folder in ["crates", "fuzz", "xtask"] {
        source::collect(&root().join(folder), &mut files)?;
    }
    let repository = Repository { files, manifests: manifest::all()? };
    let problems: Vec<String> = RULES.iter().flat_map(|rule| rule(&repository)).collect();
    if problems.is_empty() {
        println!("{} files are tidy", repository.files.len());
        return Ok(());
    }
    problems.iter().for_each(|problem| eprintln!("{problem}"));
    Err(format!("tidy: {} problems", problems.len()))
}
