//! Source files as the rules see them.

use crate::step::root;
use std::fs;
use std::path::Path;

#[derive(Debug)]
pub struct SourceFile {
    /// From the project's folder, with slashes.
    pub path: String,
    pub text: String,
}

impl SourceFile {
    /// The name without folders and ending.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".rs").unwrap_or(name)
    }

    /// The folder of crates/ the file is in.
    pub fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// The code that becomes part of the product: not tests, examples or the tests at a file's end.
    pub fn product_code(&self) -> &str {
        let is_source =
            self.crate_name().is_some_and(|name| self.path.starts_with(&format!("crates/{name}/src/")));
        if !is_source || ["tests", "testing"].contains(&self.stem()) || self.path.contains("/tests/") {
            return "";
        }
        let ends = self.text.match_indices("#[cfg(test)]\n").map(|(at, _)| self.text.split_at(at));
        let mut ends = ends.filter(|(_, rest)| begins_module_of_tests(rest));
        ends.next().map_or(&self.text, |(before, _)| before)
    }

    /// The product's lines with their numbers, without comments.
    pub fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.product_code().lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
        lines.filter(|(_, line)| !line.starts_with("//"))
    }
}

/// Whether attributes and then the module itself follow, not only its name.
fn begins_module_of_tests(text: &str) -> bool {
    let first = text.lines().find(|line| !line.starts_with("#["));
    first.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
}

/// Adds all Rust files below a folder.
pub fn collect(folder: &Path, files: &mut Vec<SourceFile>) -> Result<(), String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(unreadable)?;
            let relative = path.strip_prefix(root()).unwrap_or(&path);
            files.push(SourceFile { path: relative.to_string_lossy().replace('\\', "/"), text });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_not_part_of_the_product() {
        let text = "//! What.\nfn a() {}\n#[cfg(test)]\n#[allow(unused)]\nmod tests {\n}\n".to_owned();
        let file = |path: &str| SourceFile { path: path.to_owned(), text: text.clone() };
        assert_eq!(file("crates/a/src/b.rs").product_lines().collect::<Vec<_>>(), [(2, "fn a() {}")]);
        for path in
            ["crates/a/src/b/tests.rs", "crates/a/tests/b.rs", "crates/a/src/tests/b.rs", "xtask/src/b.rs"]
        {
            assert_eq!(file(path).product_code(), "");
        }
    }
}
