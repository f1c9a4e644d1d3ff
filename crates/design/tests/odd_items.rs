//! A few odd items among many do not decide what a model is made of: the rest decides, and the draft names them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use partita_design::inference::{KnownSchema, infer};
use partita_design::item::{Item, Value};

fn item(pairs: &[(&str, &str)]) -> Item {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::String((*value).to_owned()))).collect()
}

fn text(value: &str) -> Value {
    Value::String(value.to_owned())
}

fn set(item: &mut Item, name: &str, value: &str) {
    item.insert(name.to_owned(), text(value));
}

/// Users with a type, each in an index of its team.
fn users(number: usize) -> Vec<Item> {
    let user = |number: usize| {
        let (id, team) = (format!("u{number}"), format!("t{}", number % 7));
        item(&[
            ("PK", &format!("USER#{id}")),
            ("SK", "PROFILE"),
            ("GSI1PK", &format!("TEAM#{team}")),
            ("GSI1SK", &format!("USER#{id}")),
            ("userId", &id),
            ("team", &team),
            ("name", &format!("Name {number}")),
            ("EntityType", "User"),
        ])
    };
    (0..number).map(user).collect()
}

/// The text of the draft.
fn draft(items: &[Item]) -> String {
    let known = KnownSchema { table: "Shop".to_owned(), ..KnownSchema::default() };
    infer(items, &known).unwrap().text()
}

#[track_caller]
fn assert_has(text: &str, expected: &[&str]) {
    expected.iter().for_each(|expected| assert!(text.contains(expected), "{expected}\n{text}"));
}

/// What the draft of users has, whatever one of them is.
const KEYS: [&str; 4] = [
    "type_attribute = \"EntityType\"",
    "[entity.User]",
    "key = [\"USER#{userId}\", \"PROFILE\"]",
    "index.GSI1 = { key = [\"TEAM#{team}\", \"USER#{userId}\"] }",
];

#[test]
fn a_value_that_is_not_in_the_key_does_not_decide_what_the_key_is_made_of() {
    for (name, value) in [
        ("userId", "zzz"),
        ("team", "zzz"),
        ("GSI1PK", "N/A"),
        ("GSI1PK", "-"),
        ("GSI1PK", "#x"),
        ("GSI1PK", "7"),
        ("GSI1PK", ""),
        ("GSI1PK", "TEAM#"),
        ("GSI1SK", "--"),
        ("GSI1SK", "x"),
    ] {
        for number in [30, 1_000] {
            let mut items = users(number);
            set(&mut items[number / 2], name, value);
            let draft = draft(&items);
            assert_has(&draft, &KEYS);
            assert_has(&draft, &["! An item that does not fit is USER#u"]);
        }
    }
    let mut items = users(1_000);
    items[7].insert("GSI1PK".to_owned(), Value::Number("-5".to_owned()));
    items[8].remove("GSI1PK");
    items[9].remove("team");
    assert_has(&draft(&items), &KEYS);
}

#[test]
fn a_key_that_is_a_separator_is_a_value() {
    for odd in ["-", "#", "--", "#x", "|"] {
        let row =
            |number: &str, key: &str| item(&[("PK", number), ("SK", "P"), ("GSI1PK", key), ("GSI1SK", "x")]);
        let items = [row("USER#1", "TEAM#a"), row("USER#2", odd)];
        assert_has(&draft(&items), &["[entity.User]"]);
    }
}

#[test]
fn padding_is_that_of_nearly_all_items() {
    for has_number in [true, false] {
        let mut items: Vec<Item> = (0..200)
            .map(|number| {
                item(&[
                    ("PK", &format!("USER#u{}", number % 9)),
                    ("SK", &format!("ORDER#{number:04}")),
                    ("userId", &format!("u{}", number % 9)),
                ])
            })
            .collect();
        if has_number {
            items.iter_mut().enumerate().for_each(|(number, item)| {
                item.insert("n".to_owned(), Value::Number(number.to_string()));
            });
        }
        set(&mut items[4], "SK", "ORDER#4");
        let draft = draft(&items);
        assert_has(&draft, &[":04}\"]", "ORDER#4"]);
    }
}

#[test]
fn items_without_a_type_are_left_out() {
    for number in [60, 6_000] {
        let mut items = users(number);
        items[0].remove("EntityType");
        items.push(item(&[("PK", "config"), ("SK", "config"), ("x", "1")]));
        let draft = draft(&items);
        assert_has(&draft, &KEYS);
        assert_has(&draft, &["! 2 items without EntityType are left out, such as "]);
    }
}

#[test]
fn an_attribute_that_is_called_type_is_one_if_the_keys_say_so() {
    let mut items: Vec<Item> = (0..200)
        .map(|n| {
            item(&[
                ("PK", &format!("DEV#{}", n % 9)),
                ("SK", &format!("EV#{n:05}")),
                ("type", ["click", "view"][n % 2]),
            ])
        })
        .collect();
    items.extend((0..5).map(|n| item(&[("PK", &format!("ACCOUNT#{n}")), ("SK", "INFO"), ("name", "x y")])));
    let draft = draft(&items);
    assert_has(&draft, &["[entity.Account]"]);
    assert!(!draft.contains("type_attribute"), "{draft}");
}

#[test]
fn keys_of_another_form_do_not_take_the_name() {
    for (name, value) in [("SK", "PROFIL"), ("PK", "USER#a#b"), ("PK", "USER#"), ("PK", "u7")] {
        let mut items = users(60);
        set(&mut items[30], name, value);
        let draft = draft(&items);
        assert_has(&draft, &KEYS);
        assert_eq!(draft.matches("[entity.").count(), 1, "{draft}");
    }
}
