//! No code inspects a message to decide anything: errors have kinds.

use super::Repository;
use super::layers::TOOLS;
use super::source::SourceFile;

/// How code reaches the text of an error.
const TEXTS: [&str; 4] = [".message", ".message()", ".message.as_str()", ".to_string()"];
/// How it looks for something in it.
const SEARCHES: [&str; 6] =
    [".contains(", ".starts_with(", ".ends_with(", ".find(", ".strip_prefix(", ".split_once("];
/// How it is compared; things other than errors are also compared by their text.
const COMPARISONS: [&str; 4] = [".message == ", ".message != ", ".message() == ", ".message() != "];

pub fn problems(repository: &Repository) -> Vec<String> {
    repository.files.iter().flat_map(problems_of).collect()
}

fn problems_of(file: &SourceFile) -> Vec<String> {
    if file.crate_name().is_some_and(|name| TOOLS.contains(&name)) {
        return Vec::new();
    }
    let lines = file.product_lines().filter(|(_, line)| inspects(line));
    lines
        .map(|(number, _)| {
            format!("{}:{number}: a message decides something; give the error a kind", file.path)
        })
        .collect()
}

fn inspects(line: &str) -> bool {
    let mut searches =
        TEXTS.iter().flat_map(|text| SEARCHES.iter().map(move |search| format!("{text}{search}")));
    searches.any(|search| line.contains(&search))
        || COMPARISONS.iter().any(|comparison| line.contains(comparison))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inspected_messages_are_found() {
        for line in [
            "if error.message.contains(\"full\") {",
            "if error.to_string().starts_with(\"no\") {",
            "exception.message == OTHER",
            "finding.message() != shown",
        ] {
            assert!(inspects(line), "{line}");
        }
        assert!(!inspects("message: error.to_string(),"));
    }
}
