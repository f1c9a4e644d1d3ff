//! The codes of findings: title, usual severity, the design rules they belong to, and a page of explanation.
//!
//! Codes are stable and never reused. `docs/codes.md` is generated from these lists.

mod keys;
mod patterns;
mod rest;

use crate::finding::Severity;
use keys::KEYS;
use patterns::PATTERNS;
use rest::REST;

/// A code.
#[derive(Clone, Copy)]
pub struct Code {
    /// The code: `P101`.
    pub code: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The usual severity of its findings.
    pub severity: Severity,
    /// The numbers of the design rules that it belongs to.
    pub rules: &'static [u16],
    /// What it means and what to do.
    pub page: &'static str,
}

/// Returns the code with this name, ignoring case.
pub fn find(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|known| known.code.eq_ignore_ascii_case(code))
}

/// Returns the list of codes as a Markdown document.
pub fn document() -> String {
    let mut text = String::from(
        "# Codes of `partita model check`\n\n\
         Every finding has a code. An error makes the check fail, a warning only with `--deny-warnings`, a note\n\
         never. A model can allow a finding, and must say why:\n\n\
         ```toml\n[[allow]]\ncode = \"P115\"\non = \"pattern.userWithOrders\"\nreason = \"the client pages\"\n```\n\n\
         This page is generated from `crates/design/src/code`.\n",
    );
    for code in CODES {
        let (name, title, severity) = (code.code, code.title, code.severity.name());
        let article = if code.severity == Severity::Error { "an" } else { "a" };
        text.push_str(&format!("\n## {name}: {title}\n\nUsually {article} {severity}.\n\n{}\n", code.page));
    }
    text
}

/// All codes, in order.
pub const CODES: &[Code] = &ALL;

const ALL: [Code; PATTERNS.len() + KEYS.len() + REST.len()] = {
    let groups = [PATTERNS, KEYS, REST];
    let mut all = [PATTERNS[0]; PATTERNS.len() + KEYS.len() + REST.len()];
    let (mut group, mut position, mut number) = (0, 0, 0);
    while group < groups.len() {
        while position < groups[group].len() {
            all[number] = groups[group][position];
            (position, number) = (position + 1, number + 1);
        }
        (group, position) = (group + 1, 0);
    }
    all
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_explained() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert!(CODES.iter().all(|code| code.page.len() > 60 && !code.title.is_empty()));
        assert!(find("p101").is_some());
    }
}
