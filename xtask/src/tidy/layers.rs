//! Crates depend on each other only in the directions that ARCHITECTURE.md states.

use super::Repository;
use super::manifest::Manifest;

/// Which crates of this project a crate of the product may depend on, itself and not for its tests.
const PRODUCT: &[(&str, &[&str])] = &[
    ("value", &[]),
    ("expression", &["value"]),
    ("partiql", &["expression", "value"]),
    ("api", &["expression", "partiql", "value"]),
    ("auth", &["api", "value"]),
    ("wire", &["api", "expression", "partiql", "value"]),
    ("exchange", &["api", "value", "wire"]),
    ("store", &[]),
    ("store_memory", &["store"]),
    ("store_embedded", &["store"]),
    ("design", &[]),
    ("engine", &["api", "exchange", "expression", "partiql", "store", "value"]),
    ("bucket_s3", &["api", "engine"]),
    ("server", &["api", "auth", "design", "engine", "expression", "partiql", "store", "value", "wire"]),
    (
        "partita",
        &[
            "auth",
            "bucket_s3",
            "design",
            "engine",
            "exchange",
            "server",
            "store",
            "store_embedded",
            "store_memory",
            "value",
        ],
    ),
];

/// Crates that test and measure: they may depend on any crate of the product, and on each other.
pub const TOOLS: [&str; 4] = ["bench", "fuzz_targets", "list_append", "simulation"];

pub fn problems(repository: &Repository) -> Vec<String> {
    repository.manifests.iter().flat_map(problems_of).collect()
}

fn problems_of(manifest: &Manifest) -> Vec<String> {
    let name = manifest.crate_name.as_str();
    if TOOLS.contains(&name) {
        return Vec::new();
    }
    let Some((_, allowed)) = PRODUCT.iter().find(|(of, _)| *of == name) else {
        return vec![format!("crates/{name}: xtask/src/tidy/layers.rs does not say what it may depend on")];
    };
    let dependencies = manifest.own_dependencies();
    let forbidden = dependencies.filter(|dependency| !allowed.contains(&dependency.as_str()));
    forbidden.map(|dependency| format!("crates/{name}/Cargo.toml: must not depend on {dependency}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_with(crate_name: &str, dependency: &str) -> usize {
        let text = format!("[dependencies]\npartita-{dependency}.workspace = true\n");
        problems_of(&Manifest { crate_name: crate_name.to_owned(), text }).len()
    }

    #[test]
    fn only_stated_directions_are_allowed() {
        assert_eq!(problems_with("engine", "store"), 0);
        assert_eq!(problems_with("engine", "store-memory"), 1);
        assert_eq!(problems_with("value", "api"), 1);
        assert_eq!(problems_with("bench", "engine"), 0);
        assert_eq!(problems_with("new", "value"), 1);
    }
}
