//! The largest models: findings are bounded, and say what they leave out.

mod support;

use partita_design::Source;
use partita_design::capacity::index_cost;
use partita_design::capacity::prices::{DEFAULT_PRICES, Prices};
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

/// Returns the seconds that reading and checking a model takes.
#[expect(clippy::disallowed_methods, reason = "measures how long a check takes")]
fn seconds_to_check(text: &str) -> f64 {
    let start = std::time::Instant::now();
    findings(&with_table(text));
    start.elapsed().as_secs_f64()
}

#[test]
fn long_keys_with_many_choices_are_compared_at_once() {
    let choices: Vec<String> = (0..64).map(|number| format!("C{number}")).collect();
    let texts: String = (0..100).map(|number| format!("s{number} = \"string\", ")).collect();
    let key: String = (0..100).map(|number| format!("{{s{number}}}")).collect();
    let entity = format!(
        "[entity.E%]\nattributes = {{ {texts}c = \"{}\", id% = \"ulid\" }}\nkey = [\"{key}{{c}}\", \"{{id%}}\"]",
        choices.join("|")
    );
    let seconds = seconds_to_check(&entities(2, &entity));
    assert!(seconds < 20.0, "{seconds} s");
}

#[test]
fn conditions_that_list_many_values_are_decided_once_for_all_of_them() {
    let numbers: Vec<String> = (0..99).map(|number| number.to_string()).collect();
    let indexes: String = entities(20, "[index.I%]\nkeys = [\"I%PK\", \"I%SK\"]");
    let own: String = entities(20, "index.I% = { key = [\"A#{a0}#{a1}\", \"{id}\"] }");
    let entity = format!(
        "[entity.E]\nattributes = {{ id = \"ulid\", a0 = \"int\", a1 = \"int\" }}\nkey = [\"E#{{id}}\", \"E\"]\n{own}"
    );
    let list = numbers.join(", ");
    let pattern =
        format!("[pattern]\none = {{ where = \"a0 in ({list}) and a1 in ({list})\", out = \"E*\" }}\n");
    let seconds = seconds_to_check(&format!("{indexes}{entity}{pattern}"));
    assert!(seconds < 20.0, "{seconds} s");
}

#[test]
fn conditions_with_many_tests_are_compared_at_once() {
    let (indexes, patterns, tests) = (19, 100, 100);
    let mut text: String = entities(indexes, "[index.I%]\nkeys = [\"I%PK\", \"I%SK\"]");
    text += "[entity.E]\nattributes = { id = \"ulid\", a = \"string\", b = \"string\" }\nkey = [\"E#{id}\", \"E\"]\n";
    for index in 0..indexes {
        let when: Vec<String> = (0..tests).map(|test| format!("a == 'v{index}x{test}'")).collect();
        text += &format!(
            "index.I{index} = {{ key = [\"X{index}#{{b}}\", \"{{id}}\"], when = \"{}\" }}\n",
            when.join(" or ")
        );
    }
    text += "[pattern]\n";
    for pattern in 0..patterns {
        let value = pattern % indexes;
        text += &format!(
            "p{pattern} = {{ in = [\"b\"], where = \"a == 'v{value}x1'\", out = \"E*\", rps = 1 }}\n"
        );
    }
    let seconds = seconds_to_check(&text);
    assert!(seconds < 60.0, "{seconds} s");
}

#[test]
fn indexes_are_priced_unless_too_many_writes_maintain_them() {
    let months = |writes: usize| {
        let indexes: String = entities(50, "[index.I%]\nkeys = [\"A%\", \"B%\"]");
        let own: String = entities(50, "index.I% = { key = [\"{y}\", \"{x}\"] }");
        let entity = "[entity.E]\nattributes = { x = \"id\", y = \"id\" }\nkey = [\"E#{x}\", \"S\"]\n";
        let puts = vec!["\"put E\""; 60].join(", ");
        let writes = entities(writes, &format!("w% = {{ transact = [{puts}], rps = 1 }}"));
        let model = support::model(&with_table(&format!("{indexes}{entity}{own}[write]\n{writes}")));
        let prices = Prices::parse(DEFAULT_PRICES).unwrap();
        index_cost::months(&model, &prices).map(|months| months.values().copied().collect::<Vec<_>>())
    };
    assert!(months(1).is_some_and(|months| months.len() == 50 && months.iter().all(|month| *month > 0.0)));
    assert_eq!(months(60), None);
}
