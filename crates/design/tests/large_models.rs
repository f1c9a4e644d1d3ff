//! The largest models: findings are bounded, and say what they leave out.

mod support;

use partita_design::Source;
use support::{findings, with_table};

/// Returns `count` entities, each with its number in place of `%`.
fn entities(count: usize, text: &str) -> String {
    (0..count).map(|number| text.replace('%', &number.to_string()) + "\n").collect()
}

#[test]
fn a_bounded_number_of_entities_with_the_same_key_is_named() {
    let same = "[entity.E%]\nattributes = { id% = \"ulid\" }\nkey = [\"E#{id%}\", \"E\"]";
    let found = |count: usize| {
        let findings = findings(&with_table(&entities(count, same)));
        let last = format!("entity.E{}", count - 1);
        findings
            .into_iter()
            .filter(|finding| finding.code == "P202" && finding.subject == last)
            .collect::<Vec<_>>()
    };
    let few = found(10);
    assert_eq!(few.len(), 9);
    assert!(few.iter().all(|finding| finding.message.starts_with("E9 and E")), "{few:?}");
    let many = found(500);
    assert_eq!(many.len(), 21);
    let rest = "E499 can have the same key as many other entities";
    assert_eq!(many.iter().filter(|finding| finding.message == rest).count(), 1, "{many:?}");
}

#[test]
fn a_bounded_number_of_other_entities_in_a_result_is_named() {
    let member =
        "[entity.E%]\nattributes = { userId = \"id\", id% = \"ulid\" }\nkey = [\"USER#{userId}\", \"{id%}\"]";
    let message = |count: usize| {
        let pattern = "[pattern]\none = { in = [\"userId\"], out = \"E0*\" }\n";
        let findings = findings(&with_table(&(entities(count, member) + pattern)));
        let extra = findings.into_iter().find(|finding| finding.code == "P109");
        extra.map(|finding| finding.message).unwrap_or_default()
    };
    assert!(message(3).contains("returns E1 and E2, which"), "{}", message(3));
    assert!(message(300).contains(" and perhaps others, which"), "{}", message(300));
    assert!(message(300).len() < 400);
}

#[test]
fn the_number_of_indexes_is_limited() {
    let text = with_table(&entities(51, "[index.I%]\nkeys = [\"A%\"]"));
    let findings = partita_design::read(&Source::new("large.toml", text)).map(|_| ()).unwrap_err();
    assert!(
        findings.iter().any(|finding| finding.message.contains("51 entries; the limit is 50")),
        "{findings:?}"
    );
}
