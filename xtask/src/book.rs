//! The book in docs/: SUMMARY.md lists every page, links lead somewhere, the source files that
//! pages name exist, and the pictures are up to date.

use crate::pictures;
use crate::step::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

const SUMMARY: &str = "docs/SUMMARY.md";
/// Folders whose Markdown files are checked, with those of the project's own folder.
const FOLDERS: [&str; 6] = [".github", "docs", "examples", "fuzz", "models", "tests"];

pub fn check() -> Result<(), String> {
    println!("\n=== book");
    let pages = pages();
    let mut problems = unlisted(&pages);
    let sources = sources();
    for page in &pages {
        problems.extend(broken_links(page));
        problems.extend(missing_sources(page, &sources));
    }
    problems.extend(pictures::outdated());
    if problems.is_empty() {
        println!("{} pages: every link leads somewhere", pages.len());
        return Ok(());
    }
    problems.iter().for_each(|problem| eprintln!("{problem}"));
    Err(format!("book: {} problems", problems.len()))
}

/// All Markdown files of the project, relative to its folder.
fn pages() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    collect(Path::new(""), "md", false, &mut found);
    FOLDERS.iter().for_each(|folder| collect(Path::new(folder), "md", true, &mut found));
    found
}

/// All Rust files, relative to the project's folder.
fn sources() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    ["crates", "fuzz", "xtask"].iter().for_each(|folder| collect(Path::new(folder), "rs", true, &mut found));
    found
}

fn collect(folder: &Path, extension: &str, deep: bool, found: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = fs::read_dir(root().join(folder)) else { return };
    for entry in entries.flatten() {
        let path = folder.join(entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && deep && !["node_modules", "target"].iter().any(|name| entry.file_name() == *name) {
            collect(&path, extension, deep, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.insert(path);
        }
    }
}

/// Pages of the book that its table of contents leaves out.
fn unlisted(pages: &BTreeSet<PathBuf>) -> Vec<String> {
    let summary = fs::read_to_string(root().join(SUMMARY)).unwrap_or_default();
    let listed: BTreeSet<PathBuf> = links(&summary).map(|link| Path::new("docs").join(link)).collect();
    let book = pages.iter().filter(|page| page.starts_with("docs") && *page != Path::new(SUMMARY));
    book.filter(|page| !listed.contains(*page))
        .map(|page| format!("{}: {SUMMARY} does not list it", page.display()))
        .collect()
}

/// Links of a page to files that do not exist, or to headings that the file does not have.
fn broken_links(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap_or_default();
    let prose = without_code(&text);
    let is_broken = |link: &&str| !is_external(link) && !leads_somewhere(page, link);
    links(&prose)
        .filter(is_broken)
        .map(|link| format!("{}: the link {link} leads nowhere", page.display()))
        .collect()
}

fn is_external(link: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
}

fn leads_somewhere(page: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() {
        page.to_owned()
    } else {
        normalized(&page.parent().unwrap_or(Path::new("")).join(file))
    };
    let path = root().join(&target);
    if heading.is_empty() {
        return path.exists();
    }
    fs::read_to_string(path)
        .is_ok_and(|text| without_code(&text).lines().filter_map(slug).any(|slug| slug == heading))
}

/// Rust files that a page names in code, by the end of their paths, and that do not exist.
fn missing_sources(page: &Path, sources: &BTreeSet<PathBuf>) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap_or_default();
    let is_missing = |name: &&str| !sources.iter().any(|source| source.ends_with(name));
    named_sources(&text)
        .filter(is_missing)
        .map(|name| format!("{}: there is no {name}", page.display()))
        .collect()
}

/// Names of Rust files between backticks. An ellipsis or a placeholder stands for any folder.
fn named_sources(text: &str) -> impl Iterator<Item = &str> {
    let spans = text.split('`').filter(|span| span.ends_with(".rs") && !span.contains(char::is_whitespace));
    spans
        .map(|span| span.rsplit_once("…/").map_or(span, |(_, name)| name))
        .filter(|name| !name.contains(['<', '*', '{']))
}

/// The path without `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => _ = clean.pop(),
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

/// The targets of inline links and images: what is in the parentheses of `](…)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link))
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn slug(line: &str) -> Option<String> {
    let title = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let kept = title.trim().to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    Some(kept.collect::<String>().replace(' ', "-"))
}

/// The text without fenced blocks and inline code, in which nothing is a link.
fn without_code(text: &str) -> String {
    let mut prose = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // A heading's code is part of its anchor.
            let code = if line.starts_with('#') { line.to_owned() } else { outside_code(line) };
            prose.push_str(&code);
            prose.push('\n');
        }
    }
    prose
}

fn outside_code(line: &str) -> String {
    // An odd number of backticks means that a code span continues on the next line: the line stays as it is.
    if line.matches('`').count() % 2 == 1 {
        return line.to_owned();
    }
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code_only() {
        let text = without_code("[a](b.md) and `[c](d.md)`\n```sh\n[e](f.md)\n```\n![g](h.svg)\n");
        assert_eq!(links(&text).collect::<Vec<_>>(), ["b.md", "h.svg"]);
    }

    #[test]
    fn headings_become_the_anchors_of_github() {
        assert_eq!(slug("## Is the data what the model says?").unwrap(), "is-the-data-what-the-model-says");
        assert_eq!(slug("# Codes of `partita model check`").unwrap(), "codes-of-partita-model-check");
        assert_eq!(slug("no heading"), None);
    }

    #[test]
    fn source_files_are_found_between_backticks() {
        let text = "`api/…/put_item.rs`, `write.rs`, `api/<operation>.rs`, `cargo test`, plain.rs";
        assert_eq!(named_sources(text).collect::<Vec<_>>(), ["put_item.rs", "write.rs"]);
    }

    #[test]
    fn a_missing_file_and_a_missing_heading_are_noticed() {
        let page = Path::new("docs/SUMMARY.md");
        assert!(leads_somewhere(page, "models.md"));
        assert!(leads_somewhere(page, "../README.md"));
        assert!(!leads_somewhere(page, "nowhere.md"));
        assert!(!leads_somewhere(page, "models.md#nowhere"));
    }
}
