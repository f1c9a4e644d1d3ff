//! What the manifests of crates say about dependencies, read line by line.

use crate::step::root;
use std::fs;

#[derive(Debug)]
pub struct Manifest {
    /// The folder of crates/ it is in.
    pub crate_name: String,
    pub text: String,
}

impl Manifest {
    /// The names below `[dependencies]`, not those of tests and build scripts.
    pub fn dependencies(&self) -> impl Iterator<Item = &str> {
        let lines = self.text.lines().skip_while(|line| *line != "[dependencies]").skip(1);
        let lines = lines.take_while(|line| !line.starts_with('['));
        lines.filter_map(|line| line.split(['.', ' ', '=']).next()).filter(|name| !name.is_empty())
    }

    /// The crates of this project below `[dependencies]`, by the names of their folders.
    pub fn own_dependencies(&self) -> impl Iterator<Item = String> {
        self.dependencies()
            .filter_map(|name| name.strip_prefix("partita-"))
            .map(|name| name.replace('-', "_"))
    }
}

/// The manifests of crates/*, by their folders' names.
pub fn all() -> Result<Vec<Manifest>, String> {
    let folder = root().join("crates");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut manifests = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let crate_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path.join("Cargo.toml"));
        let text = text.map_err(|error| format!("crates/{crate_name}/Cargo.toml: {error}"))?;
        manifests.push(Manifest { crate_name, text });
    }
    manifests.sort_by(|a, b| a.crate_name.cmp(&b.crate_name));
    Ok(manifests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_tests_are_left_out() {
        let text = "[dependencies]\npartita-store-memory.workspace = true\nheed = { workspace = true }\nhttp = \"1\"\n\n\
                    [dev-dependencies]\nproptest.workspace = true\n";
        let manifest = Manifest { crate_name: "a".to_owned(), text: text.to_owned() };
        assert_eq!(manifest.dependencies().collect::<Vec<_>>(), ["partita-store-memory", "heed", "http"]);
        assert_eq!(manifest.own_dependencies().collect::<Vec<_>>(), ["store_memory"]);
    }
}
