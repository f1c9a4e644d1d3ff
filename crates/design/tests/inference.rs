//! Models inferred from items in many styles: every item fits its model, and the templates are those the items were made with.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::draft::{Answers, Draft};
use partita_design::exchange::{item_json, workbench};
use partita_design::inference::{Inference, KnownSchema, infer};
use partita_design::item::{Item, Value};
use partita_design::model::{Entity, Index, Pattern, Projection};
use partita_design::template::Template;
use partita_design::{Model, Severity, check};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use support::{as_read, items_of, violations};

fn keys(entity: &Entity) -> Vec<String> {
    entity.key.iter().map(Template::to_string).collect()
}

fn assert_fits(draft: &Draft, items: &[Item]) {
    let found = violations(&as_read(draft), items);
    assert!(found.is_empty(), "{found}\n{}", draft.text());
}

fn item(pairs: &[(&str, &str)]) -> Item {
    let value = |text: &str| match text.strip_prefix("N:") {
        Some(number) => Value::Number(number.to_owned()),
        None => Value::String(text.to_owned()),
    };
    pairs.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect()
}

fn known(table: &str, keys: &[&str]) -> KnownSchema {
    KnownSchema {
        table: table.to_owned(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        ..KnownSchema::default()
    }
}

/// A style of keys: separators and prefixes.
fn style() -> impl Strategy<Value = (char, char, bool, bool)> {
    let marks = prop::sample::select(vec!['#', '|', '~', ':', '/', '_']);
    let inner = prop::sample::select(vec!['#', '|', '~']);
    (marks, inner, any::<bool>(), any::<bool>())
}

fn model_in((mark, inner, is_upper, has_type): (char, char, bool, bool)) -> (String, Model) {
    let case = |word: &str| if is_upper { word.to_uppercase() } else { word.to_owned() };
    let [user, order, line, profile] = ["user", "order", "line", "profile"].map(case);
    let kind = if has_type { "type_attribute = \"EntityType\"\n" } else { "" };
    let text = format!(
        r#"format = 1
[table]
name = "Shop"
keys = ["PK", "SK"]
{kind}[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = {{ userId = "ulid", email = "string", score = "int" }}
key = ["{user}{mark}{{userId}}", "{profile}"]
expect = {{ count = 40 }}
[entity.Order]
attributes = {{ orderId = "ulid", userId = "ulid", createdAt = "timestamp", state = "OPEN|PAID|SENT", total = "decimal" }}
key = ["{user}{mark}{{userId}}", "{order}{mark}{{createdAt}}{inner}{{orderId}}"]
index.GSI1 = {{ key = ["{order}{mark}{{orderId}}", "{{createdAt}}"], when = "state == 'OPEN'" }}
expect = {{ per = "User", average = 4 }}
[entity.Line]
attributes = {{ orderId = "ulid", number = "int", sku = "ulid" }}
key = ["{order}{mark}{{orderId}}", "{line}{mark}{{number:04}}"]
expect = {{ per = "Order", average = 2 }}
"#
    );
    let model = support::model(&text);
    (text, model)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn templates_are_found_again_in_every_style(style in style()) {
        let (text, model) = model_in(style);
        let items = items_of(&model, 300);
        let draft = infer(&items, &known("Shop", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        let found = as_read(&draft);
        for entity in &model.entities {
            let twin = found.entities.iter().find(|other| keys(other) == keys(entity));
            prop_assert!(twin.is_some(), "{}\n{}\n{}", entity.name, text, draft.text());
            let twin = twin.unwrap();
            for index_key in &entity.indexes {
                let other = twin.index_key(&index_key.index).unwrap();
                prop_assert_eq!(&other.key, &index_key.key, "{}", draft.text());
                prop_assert_eq!(other.when.to_string(), index_key.when.to_string(), "{}", draft.text());
            }
        }
    }
}

#[test]
fn items_of_every_model_fit_the_model_that_is_inferred_from_them() {
    let mut compared = 0;
    for folder in ["models", "crates/design/tests/good"] {
        for entry in std::fs::read_dir(support::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let model = support::model(&std::fs::read_to_string(&path).unwrap());
            let items = items_of(&model, 200);
            // Values that are drawn from few can repeat although they should not.
            if !violations(&model, &items).is_empty() {
                continue;
            }
            compared += 1;
            let known = KnownSchema {
                table: model.table.name.clone(),
                keys: model.table.keys.clone(),
                indexes: model.indexes.clone(),
                ..KnownSchema::default()
            };
            let draft = infer(&items, &known).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_fits(&draft, &items);
        }
    }
    assert!(compared > 30, "{compared}");
}

/// Pipes, a numeric sort key, times in seconds, no type.
#[test]
fn numeric_keys_and_times_in_seconds_are_understood() {
    let mut items = Vec::new();
    for device in 0..5 {
        let id = format!("{device:03}-x");
        items.push(item(&[("pk", &format!("dev|{id}")), ("sk", "N:0"), ("deviceId", &id), ("model", "A b")]));
        for reading in 0..20 {
            let time = format!("N:{}", 1_760_000_000 + reading * 60);
            items.push(item(&[
                ("pk", &format!("log|{id}")),
                ("sk", &time),
                ("deviceId", &id),
                ("expiresAt", "N:1790000000"),
                ("value", &format!("N:{reading}.5")),
            ]));
        }
    }
    let draft = infer(&items, &known("Telemetry", &["pk", "sk"])).unwrap();
    assert_fits(&draft, &items);
    let text = draft.text();
    for part in [
        "key = [\"dev|{deviceId}\", \"{number}\"]",
        "key = [\"log|{deviceId}\", \"{time}\"]",
        "time = \"int\"",
        "ttl = \"expiresAt\"",
        "# ? table.ttl: ",
        "expiresAt looks like seconds since 1970",
        "# 100 of 100 items",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn attributes_are_named_after_words_in_every_script() {
    for (owner, part, names) in [
        ("İL", "İlçe", ["i̇lId", "i̇lçeId"]),
        ("ग्राहक", "आदेश", ["ग्राहकId", "आदेशId"]),
        ("cliénte", "commánde", ["cliénteId", "commándeId"]),
        ("Straße", "ΟΔΟΣ", ["straßeId", "οδοςId"]),
    ] {
        let names = names.map(str::to_owned);
        let mut items = Vec::new();
        for number in 0..20 {
            let key = format!("{owner}#a{number}b");
            items.push(item(&[("PK", &key), ("SK", &key), ("label", &format!("l{number}"))]));
            items.push(item(&[("PK", &key), ("SK", &format!("{part}#c{number}d")), ("total", "N:1")]));
        }
        let draft = infer(&items, &known("Table", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        let [first, second] = &names;
        let expected = [format!("{owner}#{{{first}}}"), format!("{part}#{{{second}}}")];
        let found = draft.model.entities.iter().any(|entity| keys(entity) == expected);
        assert!(found, "{expected:?}\n{}", draft.text());
    }
}

#[test]
fn what_all_domains_end_with_belongs_to_their_addresses() {
    for mark in ['#', ':', '/', '|', '_', '-'] {
        for domain in ["corp.example", "my-corp.co.example"] {
            let mut items = Vec::new();
            for number in 0..20 {
                let address = format!("EMAIL{mark}u{number}@{domain}");
                items.push(item(&[("PK", &address), ("SK", "EMAIL"), ("uid", &format!("i{number}"))]));
                let user = format!("USER{mark}x{number}y");
                items.push(item(&[("PK", &user), ("SK", "USER"), ("label", &format!("l{number}"))]));
            }
            let draft = infer(&items, &known("Table", &["PK", "SK"])).unwrap();
            assert_fits(&draft, &items);
            let expected = format!("EMAIL{mark}{{email}}");
            let found = draft.model.entities.iter().any(|entity| keys(entity)[0] == expected);
            assert!(found, "{expected}\n{}", draft.text());
        }
    }
}

#[test]
fn keys_with_a_meaning_are_attributes() {
    let items: Vec<Item> = (0..12)
        .map(|number| {
            let state = ["OPEN", "DONE"][number % 2];
            let day = format!("2026-04-{:02}T10:00:00Z", number + 1);
            let key = format!("{state}#{day}");
            let device = format!("d#{}", number % 3);
            item(&[("DeviceID", &device), ("State#Date", &key), ("State", state), ("Date", &day)])
        })
        .collect();
    let draft = infer(&items, &known("DeviceStates", &["DeviceID", "State#Date"])).unwrap();
    assert_fits(&draft, &items);
    assert_eq!(draft.model.entities.len(), 1);
    assert_eq!(draft.model.entities[0].name, "DeviceStates");
    assert_eq!(keys(&draft.model.entities[0]), ["{DeviceID}", "{State}#{Date}"]);
}

#[test]
fn separators_in_values_of_named_keys_belong_to_the_values() {
    let artists = ["No One You Know", "The Acme Band", "AC/DC", "A#1"];
    let items: Vec<Item> = (0..60)
        .map(|number| {
            let song = format!("Call Me {number}-Today");
            item(&[("Artist", artists[number % 4]), ("SongTitle", &song), ("Year", "N:1999")])
        })
        .collect();
    let draft = infer(&items, &known("Music", &["Artist", "SongTitle"])).unwrap();
    assert_fits(&draft, &items);
    assert_eq!(draft.model.entities.len(), 1);
    assert_eq!(keys(&draft.model.entities[0]), ["{Artist}", "{SongTitle}"]);
}

#[test]
fn a_number_at_the_start_of_a_key_is_a_shard_if_it_recurs() {
    let identified: Vec<Item> = (0..50)
        .map(|number| item(&[("PK", &format!("{number}#DOC")), ("SK", "META"), ("title", "x")]))
        .collect();
    let draft = infer(&identified, &known("Docs", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &identified);
    let [entity] = draft.model.entities.as_slice() else { panic!("{}", draft.text()) };
    assert!(entity.shard.is_none() && !draft.model.patterns.is_empty(), "{}", draft.text());
    let spread: Vec<Item> = (0..200)
        .map(|number| {
            let time = format!("2026-04-05T10:{:02}:{:02}Z", number / 60, number % 60);
            item(&[("PK", &format!("EVENTS#{}", number % 10)), ("SK", &time), ("kind", "x")])
        })
        .collect();
    let draft = infer(&spread, &known("Events", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &spread);
    let [entity] = draft.model.entities.as_slice() else { panic!("{}", draft.text()) };
    assert_eq!(keys(entity)[0], "EVENTS#{shard}", "{}", draft.text());
    assert_eq!(entity.shard.as_ref().map(|shard| shard.count), Some(10));
}

#[test]
fn a_number_after_a_word_is_no_shard_if_the_word_identifies_something_in_its_own_keys() {
    let items_with = |room: fn(usize) -> String| -> Vec<Item> {
        let rooms = (1..6).flat_map(|floor| (1..9).map(move |number| (floor, number)));
        let items = rooms.flat_map(|(floor, number)| {
            let floor = format!("FLOOR#{floor}");
            let own = item(&[("PK", &floor), ("SK", &format!("ROOM#{}", room(number))), ("seats", "N:5")]);
            let booked = (0..4).map(move |day| {
                let (key, day) = (format!("{floor}#ROOM#{number}"), format!("2026-04-0{}", day + 1));
                item(&[("PK", &key), ("SK", &format!("BOOKING#{day}")), ("day", &day), ("by", "N")])
            });
            std::iter::once(own).chain(booked.collect::<Vec<_>>())
        });
        items.collect()
    };
    let draft_of = |items: &[Item]| {
        let draft = infer(items, &known("Floors", &["PK", "SK"])).unwrap();
        assert_fits(&draft, items);
        draft
    };
    let draft = draft_of(&items_with(|number| number.to_string()));
    assert!(draft.model.entities.iter().all(|entity| entity.shard.is_none()), "{}", draft.text());
    let found = draft.model.entities.iter().any(|entity| keys(entity)[0] == "FLOOR#{floorId}#ROOM#{roomId}");
    assert!(found, "{}", draft.text());
    // Rooms that are called otherwise are not meant by the number.
    let draft = draft_of(&items_with(|number| format!("x{number}y")));
    assert!(draft.model.entities.iter().any(|entity| entity.shard.is_some()), "{}", draft.text());
}

#[test]
fn an_identifier_is_the_same_with_and_without_an_attribute_of_its_own() {
    let mut items = Vec::new();
    for number in 0..40 {
        let id = format!("acc_x{}Y{number}", number * 7919);
        let key = format!("ACCT#{id}");
        items.push(item(&[("PK", &key), ("SK", "ACCT"), ("accountId", &id), ("currency", "EUR")]));
        for day in 1..4 {
            let at = format!("2026-04-{day:02}T10:{number:02}:00Z");
            items.push(item(&[("PK", &key), ("SK", &format!("TXN#{at}")), ("at", &at), ("amount", "N:2.5")]));
        }
    }
    let draft = infer(&items, &known("Accounts", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let is_whole = |entity: &Entity| keys(entity)[0] == "ACCT#{accountId}";
    assert!(draft.model.entities.iter().all(is_whole), "{}", draft.text());
    assert!(!draft.text().contains("acctId"), "{}", draft.text());
}

#[test]
fn a_few_odd_items_do_not_decide_what_a_key_is_made_of() {
    let items: Vec<Item> = (0..100)
        .map(|number| {
            let mark = if number == 42 { ':' } else { '#' };
            let id = format!("{number:08x}-5a3c-4f6e-9b1d-{number:012x}");
            let key = format!("USER{mark}{id}");
            item(&[("PK", &key), ("SK", &key), ("type", "User"), ("userId", &id), ("name", "n")])
        })
        .collect();
    let draft = infer(&items, &known("Users", &["PK", "SK"])).unwrap();
    let [entity] = draft.model.entities.as_slice() else { panic!("{}", draft.text()) };
    assert_eq!(keys(entity), ["USER#{userId}", "USER#{userId}"], "{}", draft.text());
    assert!(draft.text().contains("99 of 100 items"), "{}", draft.text());
    let found = violations(&as_read(&draft), &items);
    assert!(found.contains("USER:0000002a"), "{found}");
}

#[test]
fn relationships_copies_unique_values_and_versions_are_recognised() {
    let text = std::fs::read_to_string(support::root().join("models/users-and-groups.toml")).unwrap();
    let items = items_of(&support::model(&text), 300);
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let text = draft.text();
    assert!(text.contains("edge = [\"userId\", \"groupId\"]"), "{text}");
    assert!(text.contains("copies = \"Membership\""), "{text}");
    assert!(text.contains("# ? entity.GroupMember.copies: "), "{text}");
    assert!(text.contains("per = \"User\""), "{text}");

    let text = std::fs::read_to_string(support::root().join("models/shop-orders.toml")).unwrap();
    let items = items_of(&support::model(&text), 300);
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let user = draft.model.entities.iter().find(|entity| entity.name == "User").unwrap();
    assert_eq!(user.unique, [["email"]]);
    assert_eq!(user.lock.as_deref(), Some("version"));
}

#[test]
fn attributes_with_the_same_values_are_both_named() {
    let items: Vec<Item> = (0..10)
        .map(|number| {
            let id = format!("o{number}");
            item(&[("PK", &format!("ORDER#{id}")), ("SK", "ORDER"), ("orderId", &id), ("orderNumber", &id)])
        })
        .collect();
    let draft = infer(&items, &known("T", &[])).unwrap();
    let question = draft.questions.iter().find(|question| question.id == "entity.Order.key.0").unwrap();
    assert_eq!(question.assumed, "ORDER#{orderId}");
    assert_eq!(question.choices, ["ORDER#{orderNumber}"]);
    let mut other = draft.clone();
    other.answer(&[("entity.Order.key.0".to_owned(), "ORDER#{orderNumber}".to_owned())].into()).unwrap();
    assert_eq!(keys(&other.model.entities[0])[0], "ORDER#{orderNumber}");
    assert_fits(&other, &items);
}

/// Values in lower case, words without a separator before them, and words between separators of several kinds.
#[test]
fn keys_are_made_of_what_the_attributes_show() {
    let template = |key: fn(&str) -> String, value: fn(usize) -> String| {
        let item = |number: usize| {
            let (category, product) = (format!("c{}", number % 4), value(number));
            let sort = format!("C#{category}P#{product}");
            let pairs = [("PK", key(&product)), ("SK", sort), ("product", product), ("category", category)];
            let pairs = pairs.each_ref().map(|(name, text)| (*name, text.as_str()));
            item(&[pairs[0], pairs[1], pairs[2], pairs[3], ("type", "Product"), ("__v", "1")])
        };
        let items: Vec<Item> = (0..12).map(item).collect();
        let draft = infer(&items, &known("Shop", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        (keys(&draft.model.entities[0]), draft.text())
    };
    for (key, expected) in [
        ((|id| format!("app#product:{id}")) as fn(&str) -> String, "app#product:{product}"),
        (|id| format!("$app#product_{id}"), "$app#product_{product}"),
        (|id| format!("$product_1#id_{id}"), "$product_1#id_{product}"),
    ] {
        let (found, text) = template(key, |number| format!("p{number}"));
        assert_eq!(found, [expected, "C#{category}P#{product}"], "{text}");
    }
    let (found, text) = template(|id| format!("P#{}", id.to_lowercase()), |number| format!("Ann{number}"));
    assert_eq!(found[0], "P#{product:lower}", "{text}");
    let (found, text) = template(|id| format!("P#{}", id.to_uppercase()), |number| format!("p{number}"));
    assert_eq!(found[0], "P#{productId}", "{text}");
    assert!(text.contains("? entity.Product.attribute.productId: It is product in other case"), "{text}");
}

/// Without attributes that show the parts, what is the same in many keys is a word, and what is left is asked about.
#[test]
fn what_only_keys_contain_is_asked_about() {
    let item = |number: usize| {
        let (key, sort) = (format!("app#user:{number}"), format!("C#{}P#{number}", number % 4));
        let category = format!("x{number}");
        item(&[("PK", &key), ("SK", &sort), ("categoryId", &category), ("type", "User")])
    };
    let items: Vec<Item> = (0..12).map(item).collect();
    let draft = infer(&items, &known("Shop", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let entity = &draft.model.entities[0];
    assert_eq!(entity.key[0].prefix(), "app#user:", "{}", draft.text());
    for field in entity.key.iter().flat_map(Template::fields) {
        let question = format!("? entity.User.attribute.{field}: ");
        assert!(draft.text().contains(&question), "{question}\n{}", draft.text());
    }
}

#[test]
fn a_choice_between_attributes_names_attributes() {
    let item = |number: usize| {
        let (id, key) = (format!("{number}"), format!("P#{number}#{}", number % 2));
        item(&[("PK", &key), ("SK", "META"), ("a", &id), ("ab", &id), ("a2", &(number % 2).to_string())])
    };
    let items: Vec<Item> = (0..6).map(item).collect();
    let mut draft = infer(&items, &known("Shop", &["PK", "SK"])).unwrap();
    let question = draft.questions.iter().find(|question| !question.choices.is_empty()).unwrap().clone();
    assert_eq!(question.choices, ["P#{ab}#{a2}"], "{}", draft.text());
    draft.answer(&[(question.id, question.choices[0].clone())].into()).unwrap();
    assert_eq!(keys(&as_read(&draft).entities[0])[0], "P#{ab}#{a2}");
}

#[test]
fn a_sparse_index_whose_items_nothing_tells_apart_has_the_keys_that_items_have() {
    let item = |number: usize| {
        let (product, place) = (format!("p#{number}"), format!("w#{}", number % 3));
        let mut item = item(&[("PK", &product), ("SK", &place), ("type", "Stock"), ("quantity", "N:50")]);
        if number.is_multiple_of(2) {
            item.insert("GSI1PK".to_owned(), Value::String(place));
            item.insert("GSI1SK".to_owned(), Value::String(product));
        }
        item
    };
    let items: Vec<Item> = (0..12).map(item).collect();
    let draft = infer(&items, &known("Shop", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let text = draft.text();
    assert_eq!(check(&as_read(&draft)).count(Severity::Error), 0, "{text}");
    for part in [
        "? entity.Stock.index.GSI1.when: 6 of 12 items are in GSI1: which are they?",
        "! The application itself gives the keys of GSI1, because nothing tells which items are in it: GSI1PK like w#{wId} and GSI1SK like p#{pId}.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// A part of the key of a sparse index that no attribute has is a shard, or the model cannot say it.
#[test]
fn parts_that_only_the_key_of_a_sparse_index_has() {
    let draft = |part: fn(usize) -> String| {
        let item = |number: usize| {
            let (id, state) = (format!("o{number}"), ["PENDING", "DONE"][number % 2]);
            let key = format!("ORDER#{id}");
            let mut item = item(&[
                ("PK", &key),
                ("SK", "ORDER"),
                ("orderId", &id),
                ("status", state),
                ("type", "Order"),
            ]);
            if state == "PENDING" {
                item.insert("GSI1PK".to_owned(), Value::String(part(number)));
                item.insert("GSI1SK".to_owned(), Value::String(id));
            }
            item
        };
        let items: Vec<Item> = (0..120).map(item).collect();
        let draft = infer(&items, &known("Shop", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        draft
    };
    let sharded = draft(|number| format!("PENDING#{}", number % 10 / 2)).text();
    let expected =
        "index.GSI1 = { key = [\"PENDING#{shard}\", \"{orderId}\"], when = \"status == 'PENDING'\"";
    assert!(sharded.contains(expected), "{sharded}");
    let open = draft(|number| format!("TEAM#x{}", number % 10));
    let text = open.text();
    assert!(
        text.contains("Assumed: exists(GSI1PK) and exists(GSI1SK)") && !text.contains("teamId ="),
        "{text}"
    );
    assert!(text.contains("because no template fits all items: GSI1PK like TEAM#{teamId}"), "{text}");
    assert!(!open.questions.iter().any(|question| question.id.ends_with("teamId")), "{text}");
}

#[test]
fn nulls_are_absent_and_odd_values_do_not_decide_the_type() {
    let item = |number: usize| {
        let (id, key) = (format!("{number}"), format!("U#{number}"));
        let mut item = item(&[("PK", &key), ("SK", "A"), ("userId", &id), ("total", &format!("N:{number}"))]);
        let age = if number.is_multiple_of(2) { Value::Null } else { Value::Number(id) };
        item.insert("age".to_owned(), age);
        item
    };
    let mut items: Vec<Item> = (0..20).map(item).collect();
    let draft = infer(&items, &known("Shop", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    assert!(draft.text().contains("age = \"int?\", total = \"int\""), "{}", draft.text());
    items[7].insert("total".to_owned(), Value::String("n/a".to_owned()));
    let text = infer(&items, &known("Shop", &["PK", "SK"])).unwrap().text();
    assert!(text.contains("total = \"int\""), "{text}");
    assert!(text.contains("! total is a number in 19 and a string in 1 items: which is right?"), "{text}");
}

#[test]
fn what_identifies_another_entity_is_no_enumeration() {
    for own in ["tenantId", "tenant"] {
        let mut items = Vec::new();
        for tenant in ["acme", "globex", "initech"] {
            let key = format!("TENANT#{tenant}");
            items.push(item(&[("PK", &key), ("SK", "INFO"), (own, tenant), ("type", "Tenant")]));
            items.extend((0..6).map(|number| {
                let (key, state) = (format!("{key}#PROJECT#p{number}"), ["new", "open"][number % 2]);
                let project = format!("p{number}");
                let named = [("projectId", project.as_str()), ("state", state), ("type", "Project")];
                item(&[[("PK", key.as_str()), ("SK", "PROJECT"), (own, tenant)], named].concat())
            }));
        }
        let text = infer(&items, &known("Shop", &["PK", "SK"])).unwrap().text();
        assert!(!text.contains("acme"), "{text}");
        assert!(text.contains("state = \"new|open\""), "{text}");
    }
}

#[test]
fn identifiers_that_contain_the_delimiter_are_texts() {
    let mut items: Vec<Item> = (0..6)
        .map(|number| {
            let (id, key) = (format!("p{number}"), format!("POST_p{number}"));
            item(&[("PK", &key), ("SK", &key), ("postId", &id), ("entityType", "Post")])
        })
        .collect();
    let root = [("PK", "USER_usr_wsWVrLwUXg"), ("SK", "USER_7"), ("rootId", "usr_wsWVrLwUXg")];
    items.push(item(&[&root[..], &[("entityType", "User")]].concat()));
    assert_fits(&infer(&items, &known("Shop", &["PK", "SK"])).unwrap(), &items);
}

#[test]
fn prefixes_in_identifiers_do_not_split_an_entity() {
    let mut items = Vec::new();
    for number in 0..40 {
        let id = format!("{}_{number}x", if number % 3 == 0 { "usr" } else { "cus" });
        let root = format!("{}.r{number}", ["blue", "green"][number % 2]);
        let pairs = [("PK", format!("ORDER.{root}")), ("SK", id.clone()), ("orderId", id), ("rootId", root)];
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, text)| (*name, text.as_str())).collect();
        items.push(item(&[&pairs[..], &[("type", "Order")]].concat()));
    }
    let draft = infer(&items, &known("Shop", &["PK", "SK"])).unwrap();
    let [entity] = draft.model.entities.as_slice() else { panic!("{}", draft.text()) };
    assert_eq!(keys(entity), ["ORDER.{rootId}", "{orderId}"], "{}", draft.text());
    assert_fits(&draft, &items);
}

/// Sixteen to twenty characters, among them `_` and `-`, that differ with the number.
fn random_id(number: u64) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    let mut state = number.wrapping_add(11).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    (0..16 + number % 5).map(|_| char::from(LETTERS[next() as usize % LETTERS.len()])).collect()
}

#[test]
fn random_identifiers_that_only_keys_hold_are_not_cut() {
    for kind in [None, Some("Order")] {
        for seed in 0..6 {
            let order = |number: u64| {
                let (user, order) = (random_id(seed * 10_000 + number / 3), number.to_string());
                let (pk, sk) = (format!("USER#{user}"), format!("ORDER#{order}"));
                let mut item = item(&[("PK", &pk), ("SK", &sk), ("orderId", &order)]);
                item.extend(kind.map(|kind| ("type".to_owned(), Value::String(kind.to_owned()))));
                item
            };
            let items: Vec<Item> = (0..300).map(order).collect();
            let draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
            assert_fits(&draft, &items);
            let model = as_read(&draft);
            assert_eq!(model.entities.len(), 1, "{}", draft.text());
            assert!(keys(&model.entities[0])[0].starts_with("USER#{"), "{}", draft.text());
        }
    }
}

/// `cus_…` and `inv_…`: the word in an identifier is what tells entities apart.
#[test]
fn identifiers_with_their_type_inside_tell_entities_apart() {
    for name in [None, Some("type"), Some("object")] {
        let mut items = Vec::new();
        for number in 0..60 {
            let mut add = |kind: &str, pairs: &[(&str, &str)]| {
                let mut item = item(pairs);
                item.extend(name.map(|name| (name.to_owned(), Value::String(kind.to_owned()))));
                items.push(item);
            };
            let (customer, invoice) =
                (format!("cus_{:05x}", number * 7_919), format!("inv_{:05x}", number * 6_007));
            add("customer", &[("PK", &customer), ("SK", &customer), ("id", &customer), ("email", "a@b.c")]);
            add("invoice", &[("PK", &customer), ("SK", &invoice), ("id", &invoice), ("customer", &customer)]);
            let item = [("PK", &customer as &str), ("SK", "PROFILE"), ("id", &customer), ("name", "Ann")];
            add("profile", &item);
        }
        let draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        let model = as_read(&draft);
        assert_eq!(model.entities.len(), 3, "{}", draft.text());
        let errors: Vec<_> =
            check(&model).findings.into_iter().filter(|own| own.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{errors:?}\n{}", draft.text());
        assert!(draft.text().contains("which tells items apart"), "{}", draft.text());
    }
}

/// What refers to an item has its identifier under another name.
#[test]
fn identifiers_with_their_type_inside_are_cut_alike_in_all_entities() {
    let mut items = Vec::new();
    for number in 0..60 {
        let customer = format!("cus_{:05x}", number * 7_919);
        let order = format!("ord_{:05x}", number * 6_007);
        items.push(item(&[("PK", &customer), ("SK", &customer), ("id", &customer), ("name", "Ann")]));
        items.push(item(&[("PK", &customer), ("SK", &order), ("id", &order), ("buyer", &customer)]));
    }
    let draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let model = as_read(&draft);
    let starts: BTreeSet<&str> = model.entities.iter().map(|entity| entity.key[0].prefix()).collect();
    assert_eq!(starts, BTreeSet::from(["cus_"]), "{}", draft.text());
}

#[test]
fn an_identifier_that_repeats_the_word_before_it_gives_no_name() {
    let mut items = Vec::new();
    for number in 0..60 {
        let customer = format!("CUSTOMER#cus_{:05x}", number * 7_919);
        let order = format!("ORDER#ord_{:05x}", number * 6_007);
        items.push(item(&[("PK", &customer), ("SK", &customer), ("name", "Ann")]));
        items.push(item(&[("PK", &customer), ("SK", &order), ("total", "N:7")]));
    }
    let draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let model = as_read(&draft);
    let keys: Vec<(&str, Vec<String>)> =
        model.entities.iter().map(|entity| (entity.name.as_str(), keys(entity))).collect();
    let customer = "CUSTOMER#cus_{customerId}".to_owned();
    assert_eq!(
        keys,
        [
            ("Customer", vec![customer.clone(), customer.clone()]),
            ("Order", vec![customer, "ORDER#ord_{orderId}".to_owned()])
        ]
    );
}

/// Readings of sensors under keys that `key` makes of the number of the sensor, the day and the shard.
fn of_sensors(key: impl Fn(usize, &str, usize) -> String) -> Vec<String> {
    let mut items = Vec::new();
    for number in 0..60 {
        let at = format!("2026-04-{:02}T10:00:{:02}Z", number % 20 + 1, number);
        let key = key(number / 6, &at[..10], number % 4);
        items.push(item(&[("PK", &key), ("SK", &at), ("at", &at), ("value", "N:7")]));
    }
    let draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    keys(&as_read(&draft).entities[0])
}

#[test]
fn values_of_a_known_form_end_at_weak_separators() {
    let sensor = |number: usize| format!("01ARZ3NDEKTSV4RRFFQ69G5F{number:02}");
    let tenant = |number: usize| format!("697ddd52-6879-4fce-b3c4-98dea5b7fb{number:02}");
    let found = of_sensors(|number, day, shard| format!("SENSOR-{}-{day}-{shard}", sensor(number)));
    assert!(found[0].starts_with("SENSOR-{sensorId}-{at:day}-{"), "{found:?}");
    let found = of_sensors(|number, day, shard| {
        format!("t:{}:se:{}#{day}#{shard}", tenant(number % 3), sensor(number))
    });
    assert!(found[0].contains("}:se:{") && found[0].contains("}#{at:day}#{"), "{found:?}");
}

#[test]
fn a_word_before_a_value_needs_no_separator_behind_a_tenant() {
    let mut items = Vec::new();
    for number in 0..60 {
        let (state, order) = (["OPEN", "HELD", "DONE"][number % 3], format!("o{number:03}"));
        let tenant = format!("697ddd52-6879-4fce-b3c4-98dea5b7fb{:02}", number % 4);
        let key = format!("t#{tenant}#STATE{state}");
        items.push(item(&[
            ("PK", &key),
            ("SK", &order),
            ("tenantId", &tenant),
            ("state", state),
            ("orderId", &order),
        ]));
    }
    let draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    assert_eq!(keys(&as_read(&draft).entities[0]), ["t#{tenantId}#STATE{state}", "{orderId}"]);
}

/// Items of one tenant, whose keys start with what `start` makes of its name.
fn of_one_tenant(start: &str, tenant: &[(&str, &str)]) -> Vec<Item> {
    let mut items = Vec::new();
    for number in 0..40 {
        let user = format!("{:05x}", number * 7_919);
        let key = format!("{start}USER#{user}");
        for (sort, kind) in [("PROFILE".to_owned(), "User"), (format!("ORDER#{number:04x}"), "Order")] {
            let own =
                [("PK", key.as_str()), ("SK", sort.as_str()), ("type", kind), ("userId", user.as_str())];
            items.push(item(&[&own[..], tenant].concat()));
        }
    }
    items
}

#[test]
fn the_only_tenant_of_a_sample_is_a_value() {
    for (start, expected) in
        [("TENANT#acme#", "TENANT#{tenant}#"), ("acme#", "{tenant}#"), ("ACME#", "{tenant}#")]
    {
        let name = start.trim_end_matches('#').rsplit('#').next().unwrap();
        let items = of_one_tenant(start, &[("tenant", name)]);
        let draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        let model = as_read(&draft);
        let expected = format!("{expected}USER#{{userId}}");
        assert!(model.entities.iter().all(|entity| keys(entity)[0] == expected), "{}", draft.text());
    }
}

#[test]
fn whether_what_all_keys_have_is_a_tenant_is_asked() {
    for (start, expected) in
        [("TENANT#acme#", "TENANT#{tenantId}#"), ("ORG#ACME#", "ORG#{orgId}#"), ("acme#", "{tenantId}#")]
    {
        let items = of_one_tenant(start, &[]);
        let mut draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        let template = format!("{expected}USER#{{userId}}");
        for entity in ["Order", "User"] {
            let id = format!("entity.{entity}.key.0");
            let question = draft.questions.iter().find(|question| question.id == id);
            let question = question.unwrap_or_else(|| panic!("{}", draft.text()));
            assert_eq!(question.choices, std::slice::from_ref(&template));
            draft.answer(&Answers::from([(id, template.clone())])).unwrap();
        }
        assert_fits(&draft, &items);
        let model = as_read(&draft);
        assert!(model.entities.iter().all(|entity| keys(entity)[0] == template), "{}", draft.text());
        let errors = check(&model).findings.into_iter().filter(|own| own.severity == Severity::Error);
        assert_eq!(errors.count(), 0, "{}", draft.text());
    }
    let draft = infer(&of_one_tenant("", &[]), &known("Tab", &["PK", "SK"])).unwrap();
    assert!(!draft.questions.iter().any(|question| question.id.ends_with("key.0")), "{}", draft.text());
}

#[test]
fn a_key_with_a_meaning_is_the_same_attribute_of_all_entities() {
    for start in ["", "auth0|"] {
        let mut items = Vec::new();
        for number in 0..20 {
            let org = format!("{start}{number:x}f");
            items.push(item(&[("orgId", &org), ("sk", "org"), ("name", "x")]));
            for member in 0..3 {
                let member = format!("m{number}{member}");
                let sk = format!("member#{member}");
                items.push(item(&[("orgId", &org), ("sk", &sk), ("memberId", &member)]));
            }
        }
        let draft = infer(&items, &known("Tab", &["orgId", "sk"])).unwrap();
        assert_fits(&draft, &items);
        let model = as_read(&draft);
        assert!(model.entities.iter().all(|entity| keys(entity)[0] == "{orgId}"), "{}", draft.text());
    }
}

/// What identifies a copy identifies its original, which is no relationship.
#[test]
fn an_original_whose_copy_has_a_key_of_its_own_is_no_relationship() {
    let mut items = Vec::new();
    for number in 0..40 {
        let (artist, song) = (format!("a{}", number / 4), format!("s{number}"));
        let (artist_key, song_key) = (format!("ARTIST#{artist}"), format!("SONG#{song}"));
        if number % 4 == 0 {
            items.push(item(&[
                ("PK", &artist_key),
                ("SK", &artist_key),
                ("type", "Artist"),
                ("artistId", &artist),
            ]));
        }
        for (kind, pk) in [("Song", &artist_key), ("SongCopy", &song_key)] {
            let pairs = [
                ("PK", pk as &str),
                ("SK", &song_key),
                ("type", kind),
                ("artistId", &artist),
                ("songId", &song),
            ];
            items.push(item(&pairs));
        }
    }
    let draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let model = as_read(&draft);
    assert_eq!(model.entity("SongCopy").unwrap().copies.as_deref(), Some("Song"), "{}", draft.text());
    assert!(model.entity("Song").unwrap().edge.is_empty(), "{}", draft.text());
    assert!(!support::has(&draft.text(), "P203", Severity::Error), "{}", draft.text());
}

#[test]
fn times_with_one_offset_sort_as_texts_in_keys() {
    for (offsets, is_wrong) in [(["+00:00", "+00:00"], false), (["+00:00", "+02:00"], true)] {
        let transaction = |number: usize| {
            let at = format!("2026-01-{:02}T10:00:00.000000{}", number % 28 + 1, offsets[number % 2]);
            let (id, sk) = (format!("t{number}"), format!("TXN#{at}#t{number}"));
            item(&[("PK", "USER#1"), ("SK", &sk), ("userId", "1"), ("txnId", &id), ("at", &at)])
        };
        let items: Vec<Item> = (0..40).map(transaction).collect();
        let draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        assert_eq!(support::has(&draft.text(), "P223", Severity::Error), is_wrong, "{}", draft.text());
        assert_eq!(draft.text().contains("always ends in +00:00"), !is_wrong, "{}", draft.text());
    }
}

#[test]
fn a_local_index_is_asked_in_its_order() {
    let index = Index {
        name: "ByViews".to_owned(),
        local: true,
        keys: vec!["forum".to_owned(), "views".to_owned()],
        partition_keys: 1,
        project: Projection::All,
        span: 0..0,
    };
    let items: Vec<Item> = (0..12)
        .map(|number| {
            let forum = format!("f{}", number % 3);
            let mut row = item(&[("forum", &forum), ("subject", &format!("s{number}"))]);
            if number % 2 == 0 {
                row.insert("views".to_owned(), Value::Number(number.to_string()));
            }
            row
        })
        .collect();
    let known = KnownSchema { indexes: vec![index], ..known("Threads", &["forum", "subject"]) };
    let draft = infer(&items, &known).unwrap();
    assert_fits(&draft, &items);
    assert!(draft.text().contains("order = \"views asc\""), "{}", draft.text());
    let found = check(&as_read(&draft)).findings;
    assert!(!found.iter().any(|finding| ["P303", "P113"].contains(&finding.code)), "{}", draft.text());
}

/// The patterns of a draft, all of which the keys serve.
fn served(draft: &Draft) -> Vec<String> {
    let model = as_read(draft);
    let report = check(&model);
    assert!(report.plans.values().all(Result::is_ok), "{}", draft.text());
    let pattern = |own: &Pattern| {
        let many = if own.targets[0].many { "*" } else { "" };
        format!("{}({}) -> {}{many}", own.name, own.inputs.join(", "), own.targets[0].entity)
    };
    model.patterns.iter().map(pattern).collect()
}

/// The codes of what is wrong with a draft.
fn findings_of(draft: &Draft) -> Vec<&'static str> {
    let found = check(&as_read(draft)).findings;
    found.iter().filter(|found| found.severity == Severity::Error).map(|found| found.code).collect()
}

#[test]
fn an_inverted_index_does_not_ask_for_the_same_item_again() {
    let mut items: Vec<Item> = Vec::new();
    for number in 0..6 {
        let (actor, movie) = (format!("ACTOR#a{number}"), format!("MOVIE#m{number}"));
        items.push(item(&[("PK", &actor), ("SK", &actor), ("born", "1970-01-01")]));
        items.push(item(&[("PK", &movie), ("SK", &movie), ("title", "some words")]));
        items.push(item(&[("PK", &movie), ("SK", &actor), ("role", "some words")]));
    }
    let inverted = Index {
        name: "GSI1".to_owned(),
        local: false,
        keys: vec!["SK".to_owned(), "PK".to_owned()],
        partition_keys: 1,
        project: Projection::All,
        span: 0..0,
    };
    let draft = infer(&items, &KnownSchema { indexes: vec![inverted], ..known("T", &["PK", "SK"]) }).unwrap();
    let names: Vec<&str> = draft.model.patterns.iter().map(|pattern| pattern.name.as_str()).collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("actorBy")).count(), 1, "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("movieActorsByActor")), "{names:?}");
}

#[test]
fn a_constant_partition_key_lists_all_items() {
    let brand = |name: &&str| item(&[("PK", "BRANDS"), ("SK", &format!("BRAND#{name}")), ("name", name)]);
    let items: Vec<Item> = ["nike", "sony", "dell"].iter().map(brand).collect();
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_eq!(served(&draft), ["brands() -> Brand*", "brandByName(name) -> Brand"]);
    let employee = |number: usize| {
        let (id, born) = (format!("e{number}x"), format!("2001-02-{:02}", number + 10));
        item(&[
            ("PK", &format!("EMPLOYEE#{id}")),
            ("SK", "PROFILE"),
            ("employeeId", &id),
            ("born", &born),
            ("GSI1PK", "EMPLOYEES"),
            ("GSI1SK", &born),
        ])
    };
    let items: Vec<Item> = (0..9).map(employee).collect();
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    let expected = ["employeeByEmployeeId(employeeId) -> Employee", "employees() -> Employee*"];
    assert_eq!(served(&draft), expected);
    assert!(
        draft.text().contains("employees = { out = \"Employee*\", order = \"born asc\" }"),
        "{}",
        draft.text()
    );
}

#[test]
fn what_is_spread_over_shards_is_read_from_all_of_them() {
    let counter = |number: usize| {
        let (page, shard) = (["home", "cart", "help"][number % 3], number / 3);
        item(&[("PK", &format!("COUNTER#{page}#{shard}")), ("SK", "COUNT"), ("page", page), ("count", "N:7")])
    };
    let items: Vec<Item> = (0..30).map(counter).collect();
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_eq!(draft.model.entities[0].shard.as_ref().map(|own| own.count), Some(10), "{}", draft.text());
    let (entity, patterns) = (&draft.model.entities[0].name, served(&draft));
    assert!(patterns[0].ends_with(&format!("ByPage(page) -> {entity}*")), "{patterns:?}");
    let event = |number: usize| {
        let id = format!("ev{number}q");
        item(&[("PK", &format!("EVENTS#{}", number % 5)), ("SK", &id), ("eventId", &id)])
    };
    let items: Vec<Item> = (0..40).map(event).collect();
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert!(
        served(&draft)[0].ends_with('*') && !draft.model.patterns[0].inputs.contains(&"shard".to_owned())
    );
}

#[test]
fn values_in_upper_case_that_an_attribute_has_are_no_words() {
    let symbols = ["AAPL", "MSFT", "AMZN"];
    let price = |number: usize| {
        let (symbol, date) = (symbols[number % 3], format!("2026-01-{:02}", number + 1));
        item(&[("PK", symbol), ("SK", &date), ("symbol", symbol), ("date", &date), ("close", "N:101")])
    };
    let city = |number: usize| {
        let (country, id) = (["US", "DE"][number % 2], format!("c{number}x"));
        item(&[("PK", country), ("SK", &format!("CITY#{id}")), ("country", country), ("cityId", &id)])
    };
    let mut items: Vec<Item> = (0..15).map(price).chain((0..8).map(city)).collect();
    for is_typed in [false, true] {
        for own in items.iter_mut().filter(|_| is_typed) {
            let kind = if own.contains_key("symbol") { "price" } else { "city" };
            own.insert("type".to_owned(), Value::String(kind.to_owned()));
        }
        let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        let mut keys: Vec<Vec<String>> = draft.model.entities.iter().map(keys).collect();
        keys.sort();
        assert_eq!(keys, [["{country}", "CITY#{cityId}"], ["{symbol}", "{date}"]], "{}", draft.text());
    }
}

#[test]
fn what_an_attribute_says_goes_before_coincidences() {
    let keys_of = |items: &[Item]| {
        let draft = infer(items, &known("T", &["PK", "SK"])).unwrap();
        assert_fits(&draft, items);
        keys(&draft.model.entities[0])
    };
    let facility =
        |name: &&str| item(&[("PK", "facility::0007"), ("SK", name), ("name", name), ("hour", "N:7")]);
    let key = keys_of(&["Cheakamus", "Rubble"].iter().map(facility).collect::<Vec<_>>());
    assert!(!key[0].contains("hour") && key[1] == "{name}", "{key:?}");
    let park = item(&[("PK", "PARK#1"), ("SK", "Cheakamus"), ("parkId", "1"), ("name", "Cheakamus")]);
    assert_eq!(keys_of(&[park])[1], "{name}");
    let version = |number: usize| {
        let id = format!("d{number}x");
        item(&[("PK", &format!("DOC#{id}")), ("SK", "v0001"), ("docId", &id), ("version", "N:1")])
    };
    assert_eq!(keys_of(&(0..3).map(version).collect::<Vec<_>>())[1], "v{version:04}");
    let user = |number: usize| {
        let (id, active) = (format!("u{number}x"), !number.is_multiple_of(3));
        let mut user = item(&[("PK", &format!("ACTIVE#{active}")), ("SK", &format!("U#{id}")), ("uid", &id)]);
        user.insert("active".to_owned(), Value::Bool(active));
        user
    };
    assert_eq!(keys_of(&(0..20).map(user).collect::<Vec<_>>()), ["ACTIVE#{active}", "U#{uid}"]);
}

#[test]
fn the_latest_version_beside_the_others_is_an_entity() {
    for (latest, format) in [("v0000", "v{version:04}"), ("V#0", "V#{version}"), ("v0", "v{version}")] {
        let mut items = Vec::new();
        for number in 0..20 {
            let (doc, version) = (format!("d{}x", number / 4), number % 4 + 1);
            let key = format
                .replace("{version:04}", &format!("{version:04}"))
                .replace("{version}", &version.to_string());
            let (pk, count) = (format!("DOC#{doc}"), format!("N:{version}"));
            items.push(item(&[
                ("PK", &pk),
                ("SK", &key),
                ("docId", &doc),
                ("title", "x"),
                ("version", &count),
            ]));
            if version == 1 {
                items.push(item(&[
                    ("PK", &pk),
                    ("SK", latest),
                    ("docId", &doc),
                    ("title", "x"),
                    ("latest", "N:4"),
                ]));
            }
        }
        let draft = infer(&items, &known("Docs", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        let mut keys: Vec<String> = draft.model.entities.iter().map(|own| keys(own)[1].clone()).collect();
        keys.sort();
        let mut expected = [latest, format];
        expected.sort_unstable();
        assert_eq!(keys, expected, "{}", draft.text());
        assert!(
            draft.model.entities.iter().any(|own| own.versions.as_deref() == Some("version")),
            "{}",
            draft.text()
        );
        // Numbers without zeros before them sort as texts do, which is a mistake of the table.
        let is_right = findings_of(&draft).is_empty() || !format.contains(":04");
        assert!(is_right, "{:?}\n{}", findings_of(&draft), draft.text());
    }
}

#[test]
fn a_part_of_an_index_key_is_an_attribute() {
    for sparse in [false, true] {
        let product = |number: usize| {
            let key = format!("P#{number}x");
            let mut item = item(&[("PK", &key), ("SK", &key), ("type", "PRODUCT"), ("GSI1PK", "product")]);
            if sparse && number.is_multiple_of(2) {
                item.insert("GSI1SK".to_owned(), Value::String(format!("N#{number}y")));
            }
            item
        };
        let order = |number: usize| {
            let key = format!("O#{number}x");
            item(&[("PK", &key), ("SK", &key), ("type", "ORDER"), ("GSI1PK", &key), ("GSI1SK", &key)])
        };
        let items: Vec<Item> = (0..8).map(product).chain((0..8).map(order)).collect();
        let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        let entity = draft.model.entities.iter().find(|own| own.type_value == "PRODUCT").unwrap();
        assert!(entity.attribute("GSI1PK").is_some(), "{}", draft.text());
        assert_eq!(entity.index_key("GSI1").is_some(), sparse, "{}", draft.text());
        assert_eq!(
            draft.text().contains("items that are not in it have a part of its key"),
            sparse,
            "{}",
            draft.text()
        );
    }
}

#[test]
fn the_type_attribute_is_the_one_whose_values_go_with_the_other_attributes() {
    for name in ["et", "_t", "recordType", "_kind", "model", "$type", "type"] {
        let mut items = Vec::new();
        for number in 0..12 {
            let (user, order) = (random_id(number), random_id(number + 100));
            let status = ["open", "shut", "gone"][number as usize % 3];
            let region = ["eu", "us"][number as usize % 2];
            items.push(item(&[
                ("PK", &user),
                ("SK", &user),
                (name, "user"),
                ("mail", "m"),
                ("region", region),
                ("status", "active"),
            ]));
            items.push(item(&[
                ("PK", &user),
                ("SK", &order),
                (name, "order"),
                ("total", "N:1"),
                ("region", region),
                ("status", status),
            ]));
        }
        let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        assert_eq!(draft.model.table.type_attribute.as_deref(), Some(name), "{}", draft.text());
        let names: Vec<&str> = draft.model.entities.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["Order", "User"], "{}", draft.text());
    }
}

/// A city in the middle of a key is in upper case there.
#[test]
fn what_only_recurs_in_keys_is_no_type() {
    let shop = |number: usize| {
        let (city, state) = (["Lyon", "Nice", "Reno"][number % 3], ["NY", "CA"][number % 2]);
        let key = format!("STATE#{state}#CITY#{}#STORE#s{number}x", city.to_uppercase());
        item(&[("PK", "COUNTRY#FR"), ("SK", &key), ("city", city), ("state", state), ("country", "FR")])
    };
    let items: Vec<Item> = (0..30).map(shop).collect();
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_eq!(draft.model.table.type_attribute, None, "{}", draft.text());
    assert_eq!(draft.model.entities.len(), 1, "{}", draft.text());
}

#[test]
fn the_type_may_be_the_key_of_an_index() {
    let mut items = Vec::new();
    for number in 0..9 {
        let (client, order, at) =
            (format!("c{number}x"), format!("o{number}x"), format!("2026-01-{:02}T10:00:00Z", number + 1));
        let key = format!("CUSTOMER#{client}");
        items.push(item(&[
            ("PK", &key),
            ("SK", &key),
            ("entityType", "Client"),
            ("customerId", &client),
            ("at", &at),
        ]));
        items.push(item(&[
            ("PK", &key),
            ("SK", &format!("ORDER#{order}")),
            ("entityType", "Purchase"),
            ("customerId", &client),
            ("orderId", &order),
            ("at", &at),
        ]));
    }
    let index = Index {
        name: "byType".to_owned(),
        local: false,
        keys: vec!["entityType".to_owned(), "at".to_owned()],
        partition_keys: 1,
        project: Projection::All,
        span: 0..0,
    };
    let draft = infer(&items, &KnownSchema { indexes: vec![index], ..known("Shop", &["PK", "SK"]) }).unwrap();
    assert_fits(&draft, &items);
    assert_eq!(draft.model.table.type_attribute.as_deref(), Some("entityType"), "{}", draft.text());
    let patterns = served(&draft);
    for pattern in ["clients() -> Client*", "purchases() -> Purchase*"] {
        assert!(patterns.iter().any(|own| own == pattern), "{patterns:?}\n{}", draft.text());
    }
    assert!(findings_of(&draft).is_empty(), "{:?}\n{}", findings_of(&draft), draft.text());
}

#[test]
fn counts_are_scaled_to_the_table() {
    let items: Vec<Item> =
        (0..10).map(|number| item(&[("PK", &format!("USER#{number}a")), ("SK", "PROFILE")])).collect();
    let known = KnownSchema { item_count: Some(5_000), ..known("T", &[]) };
    let draft = infer(&items, &known).unwrap();
    assert_eq!(draft.model.entities[0].expect.count, Some(5_000));
}

#[test]
fn a_large_table_is_read_in_a_single_pass() {
    let mut inference = Inference::new(known("Big", &["PK", "SK"]));
    for number in 0..100_000 {
        let (user, order) = (format!("u{}", number / 10), format!("o{number}"));
        let item = if number % 10 == 0 {
            item(&[("PK", &format!("USER#{user}")), ("SK", "PROFILE"), ("userId", &user)])
        } else {
            item(&[
                ("PK", &format!("USER#{user}")),
                ("SK", &format!("ORDER#{order}")),
                ("userId", &user),
                ("orderId", &order),
            ])
        };
        inference.add(item, None).unwrap();
    }
    let start = std::time::Instant::now();
    let draft = inference.finish().unwrap();
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    let text = draft.text();
    assert!(text.contains("# 90,000 items, of which 1,000 were compared"), "{text}");
    assert!(text.contains("expect = { per = \"User\", average = 9, max = 9,"), "{text}");
}

/// Users that have an attribute of this name.
fn users_with(name: &str) -> Vec<Item> {
    let user = |n: u32| item(&[("PK", &format!("USER#u{n}")), ("SK", "PROFILE"), (name, &format!("u{n}"))]);
    (0..20).map(user).collect()
}

#[test]
fn attributes_that_templates_cannot_name_are_left_out_of_keys() {
    for name in ["user id", "user:id", "user#id", "{userId}", "na\u{7f}me", "a\nb"] {
        let items = users_with(name);
        assert_fits(&infer(&items, &known("T", &["PK", "SK"])).unwrap(), &items);
    }
    // No table has such items.
    assert!(infer(&users_with(""), &known("T", &["PK", "SK"])).is_err());
}

#[test]
fn an_index_that_exchanges_the_keys_holds_every_item() {
    let mut items = Vec::new();
    for n in 0..20 {
        let (user, group) = (format!("USER#u{n}"), format!("GROUP#g{}", n % 5));
        items.push(item(&[("PK", &user), ("SK", &user), ("name", "Ann")]));
        items.push(item(&[("PK", &group), ("SK", &user), ("role", "admin")]));
    }
    let index = |name: &str, keys: [&str; 2]| Index {
        name: name.to_owned(),
        keys: keys.map(str::to_owned).to_vec(),
        local: false,
        partition_keys: 1,
        project: Projection::All,
        span: 0..0,
    };
    let indexes = vec![index("inverted", ["SK", "PK"]), index("unused", ["other", "PK"])];
    let draft = infer(&items, &KnownSchema { indexes, ..known("T", &["PK", "SK"]) }).unwrap();
    assert_fits(&draft, &items);
    assert_eq!(draft.model.indexes.len(), 1, "{}", draft.text());
    assert!(
        draft.model.patterns.iter().any(|own| own.inputs == ["userId"] && own.targets[0].many),
        "{}",
        draft.text()
    );
    assert!(draft.remarks.iter().any(|remark| remark.text.contains("The index unused is left out")));
}

#[test]
fn what_only_resembles_markers_is_an_entity() {
    let mut items = Vec::new();
    for n in 0..40 {
        let (key, email) = (format!("USER#u{n}"), format!("a{n}@x.org"));
        items.push(item(&[("PK", &key), ("SK", &key), ("userId", &format!("u{n}")), ("email", &email)]));
        items.push(item(&[("PK", &format!("UNIQUE#User#email#{email}")), ("SK", "UNIQUE")]));
    }
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
}

/// A key that many attributes seem to explain, and none does.
#[test]
fn a_key_with_many_dead_ends_is_given_up_soon() {
    let day = "2026-04-01";
    let days: Vec<String> = (0..6).map(|n| format!("day{n}")).collect();
    let key = format!("{}!z0", day.repeat(12));
    let mut pairs = vec![("PK", key.as_str()), ("SK", "X")];
    pairs.extend(days.iter().map(|name| (name.as_str(), day)));
    let items = [item(&pairs)];
    as_read(&infer(&items, &known("T", &["PK", "SK"])).unwrap());
}

#[test]
fn a_key_of_very_many_parts_is_one_value() {
    for mark in ["#", "/"] {
        let row = |number: usize| {
            let digits: Vec<String> = (0..120).map(|place| ((place + number) % 10).to_string()).collect();
            let key = digits.join(mark);
            let mut row = item(&[("PK", &key), ("SK", &key)]);
            for (place, digit) in digits.into_iter().enumerate() {
                row.insert(format!("a{place}"), Value::String(digit));
            }
            row
        };
        let items: Vec<Item> = (0..60).map(row).collect();
        let start = std::time::Instant::now();
        let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
        assert!(draft.model.entities[0].key[0].bare_field().is_some(), "{}", draft.text());
    }
}

#[test]
fn what_is_no_table_is_refused() {
    assert!(infer(&[], &KnownSchema::default()).unwrap_err().contains("no items"));
    let strange = item(&[("id", "1")]);
    assert!(infer(std::slice::from_ref(&strange), &KnownSchema::default()).unwrap_err().contains("--keys"));
    assert!(infer(&[strange], &known("T", &["id", "at"])).unwrap_err().contains("no at"));
}

/// A shop in the way that sample files of NoSQL Workbench have it: short prefixes, no facets, identifiers only in keys, one item that lacks its
/// index keys.
fn shop(with_facets: bool) -> serde_json::Value {
    let rows = [
        ("k#11", "k#11", "kunde", "", ""),
        ("k#12", "k#12", "kunde", "", ""),
        ("a#21", "a#21", "artikel", "", ""),
        ("a#22", "a#22", "artikel", "", ""),
        ("l#31", "l#31", "lager", "", ""),
        ("l#32", "l#32", "lager", "", ""),
        ("a#21", "l#31", "lagerPlatz", "l#31", "a#21"),
        ("a#22", "l#31", "lagerPlatz", "l#31", "a#22"),
        ("a#22", "l#32", "lagerPlatz", "", ""),
        ("b#41", "k#11", "bestellung", "k#11", "2026-02-03T04:05:06"),
        ("b#41", "a#21", "bestellPosten", "a#21", "2026-02-03T04:05:07"),
        ("b#41", "a#22", "bestellPosten", "a#22", "2026-02-03T04:05:08"),
    ];
    let data: Vec<serde_json::Value> = rows
        .iter()
        .map(|(partition, sort, kind, index, index_sort)| {
            let mut row = json!({ "PK": { "S": partition }, "SK": { "S": sort }, "EntityType": { "S": kind }, "Menge": { "N": "3" } });
            if !index.is_empty() {
                row["G1-PK"] = json!({ "S": index });
                row["G1-SK"] = json!({ "S": index_sort });
            }
            row
        })
        .collect();
    let key = |names: [&str; 2]| json!({ "PartitionKey": { "AttributeName": names[0], "AttributeType": "S" }, "SortKey": { "AttributeName": names[1], "AttributeType": "S" } });
    let mut table = json!({
        "TableName": "Laden",
        "KeyAttributes": key(["PK", "SK"]),
        "NonKeyAttributes": [{ "AttributeName": "Menge", "AttributeType": "N" }],
        "GlobalSecondaryIndexes": [{ "IndexName": "G1", "KeyAttributes": key(["G1-PK", "G1-SK"]), "Projection": { "ProjectionType": "KEYS_ONLY" } }],
        "DataAccess": { "MySql": {} },
    });
    if with_facets {
        let facet = |name: &str| {
            let own: Vec<&serde_json::Value> =
                data.iter().filter(|row| row["EntityType"]["S"] == name).collect();
            json!({ "FacetName": name, "KeyAttributeAlias": { "PartitionKeyAlias": "PK", "SortKeyAlias": "SK" }, "TableData": own, "NonKeyAttributes": ["Menge"] })
        };
        let names = ["kunde", "artikel", "lager", "lagerPlatz", "bestellung", "bestellPosten"];
        table["TableFacets"] = names.map(facet).to_vec().into();
    } else {
        table["TableData"] = data.into();
    }
    let log = json!({
        "TableName": "Log",
        "KeyAttributes": { "PartitionKey": { "AttributeName": "Geraet", "AttributeType": "S" }, "SortKey": { "AttributeName": "Zeit", "AttributeType": "N" } },
        "TableData": [{ "Geraet": { "S": "g#1" }, "Zeit": { "N": "1760000000" } }, { "Geraet": { "S": "g#2" }, "Zeit": { "N": "1760000060" } }],
    });
    let empty = json!({ "TableName": "Leer", "KeyAttributes": key(["PK", "SK"]), "NonKeyAttributes": [] });
    json!({ "ModelName": "Laden", "DataModel": [table, log, empty] })
}

#[test]
fn the_sample_data_of_workbench_files_show_the_keys() {
    for with_facets in [false, true] {
        let file = shop(with_facets);
        let drafts = workbench::import(&file.to_string()).unwrap();
        assert_eq!(drafts.len(), 3);
        for (draft, table) in drafts.iter().zip(file["DataModel"].as_array().unwrap()) {
            let facets = table["TableFacets"].as_array().into_iter().flatten();
            let data =
                facets.chain([table]).flat_map(|owner| owner["TableData"].as_array().into_iter().flatten());
            let items: Vec<Item> = data.map(|row| item_json::decode(row).unwrap()).collect();
            assert_fits(draft, &items);
            let model = as_read(draft);
            let report = partita_design::check(&model);
            assert!(report.plans.values().all(Result::is_ok), "{}", draft.text());
        }
        let text = drafts[0].text();
        for part in [
            "[entity.Kunde]\ntype = \"kunde\"",
            "key = [\"k#{kundeId}\", \"k#{kundeId}\"]",
            "[entity.BestellPosten]",
            "key = [\"b#{bestellungId}\", \"a#{artikelId}\"]",
            "project = \"KEYS_ONLY\"",
            "index.G1 = { key = [\"{G1-PK}\", \"{G1-SK}\"], when = \"exists(G1-PK) and exists(G1-SK)\"",
            "G1-PK like l#{lagerId} and G1-SK like a#{artikelId}",
            "# ? entity.LagerPlatz.index.G1.when: 2 of 3 items are in G1",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(drafts[1].text().contains("key = [\"{Geraet}\", \"{Zeit}\"]"), "{}", drafts[1].text());
        assert!(drafts[2].text().contains("declare the entities"), "{}", drafts[2].text());
    }
}

#[test]
fn indexes_that_a_workbench_file_does_not_declare_are_those_of_the_items() {
    let mut file = shop(false);
    let table = &mut file["DataModel"][0];
    table["GlobalSecondaryIndexes"] = serde_json::Value::Null;
    let text = serde_json::to_string(&file).unwrap().replace("G1-", "GSI1-");
    let draft = workbench::import(&text).unwrap().remove(0);
    let model = as_read(&draft);
    assert_eq!(model.indexes[0].keys, ["GSI1-PK", "GSI1-SK"], "{}", draft.text());
    assert!(model.entities.iter().any(|entity| entity.index_key("GSI1").is_some()), "{}", draft.text());
}

#[test]
fn aliases_of_facets_are_templates_if_the_data_agree() {
    let facet = json!({
        "FacetName": "order",
        "KeyAttributeAlias": { "PartitionKeyAlias": "CUST-<customer>", "SortKeyAlias": "number" },
        "TableData": [{ "PK": { "S": "CUST-7" }, "SK": { "S": "ORD#1" } }, { "PK": { "S": "CUST-8" }, "SK": { "S": "ORD#2" } }],
    });
    let table = json!({
        "TableName": "T",
        "KeyAttributes": { "PartitionKey": { "AttributeName": "PK" }, "SortKey": { "AttributeName": "SK" } },
        "TableFacets": [facet],
    });
    let draft = workbench::import(&json!({ "DataModel": [table] }).to_string()).unwrap().remove(0);
    assert_eq!(keys(&draft.model.entities[0]), ["CUST-{customer}", "ORD#{number}"], "{}", draft.text());
    assert_eq!(draft.model.entities[0].name, "Order");
}

/// Single letters, lists that only a word tells apart, identifiers in upper case, and a key without a word.
#[test]
fn entities_are_named_after_the_words_that_say_something() {
    let mut items = Vec::new();
    for number in 0..4 {
        let (own, other) = (format!("m#{number}1"), format!("m#{number}2"));
        items.push(item(&[("PK", &format!("{own}#fans")), ("SK", &other)]));
        items.push(item(&[("PK", &format!("{own}#idols")), ("SK", &other)]));
        items.push(item(&[
            ("PK", &format!("{own}#feed")),
            ("SK", &format!("x#{number}")),
            ("expires", "N:1"),
        ]));
        items.push(item(&[
            ("PK", &format!("s#{number}")),
            ("SK", ["v#ABC", "v#XYZ"][number % 2]),
            ("token", "t"),
        ]));
        items.push(item(&[
            ("PK", &format!("q{number}")),
            ("SK", "metadata"),
            ("case_id", &format!("q{number}")),
        ]));
    }
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let names: Vec<&str> = draft.model.entities.iter().map(|entity| entity.name.as_str()).collect();
    for name in ["Fans", "Idols", "Feed", "Case"] {
        assert!(names.contains(&name), "{name}\n{}", draft.text());
    }
    assert!(draft.text().contains("key = [\"s#{"), "{}", draft.text());
    assert_eq!(names.len(), 5, "{}", draft.text());
}

#[test]
fn random_identifiers_may_end_in_a_separator() {
    let chats = [
        "GzCGTMxSgUKyI2XR7ESCn",
        "nK7s25j9Zf7xj9vU8xa-_",
        "_b3J9qLmT0pWc1Yk-Ra8Z_",
        "Rk2-fV9sQx1Lz8Bn_Ty4Wc",
    ];
    let messages =
        ["5TrbkBj8Ii3EtVjVhNZ8y", "0olRt2UwfNxXRucrjFu-A", "Xq7_v9PdKs2mLb4HcT1e-", "-Zt3yWn8Gf5RjQ0aVu6Eo"];
    let key = |chat: &str, message: &str| format!("CHAT#{chat}#MSG#{message}");
    let items: Vec<Item> = chats
        .iter()
        .zip(messages)
        .map(|(chat, message)| {
            item(&[("PK", &format!("USER#{chat}")), ("SK", &key(chat, message)), ("type", "Msg")])
        })
        .collect();
    let draft = infer(&items, &known("Tab", &["PK", "SK"])).unwrap();
    assert!(keys(&as_read(&draft).entities[0])[1].contains("}#MSG#{"), "{}", draft.text());
    assert_fits(&draft, &items);
}

/// The other answers to a question of a draft, if it asks it.
fn other_answers<'d>(draft: &'d Draft, id: &str) -> Option<&'d [String]> {
    draft.questions.iter().find(|question| question.id == id).map(|question| question.choices.as_slice())
}

#[test]
fn small_numbers_that_identify_something_are_no_shards() {
    let room = |number: usize| item(&[("PK", &format!("ROOM#{number}")), ("SK", "ROOM"), ("floor", "x")]);
    let stores = |word: &'static str| {
        move |number: usize| {
            let (key, sort) = (format!("{word}#{}", number % 5), format!("DAY#2026-01-{:02}", number + 1));
            item(&[("PK", &key), ("SK", &sort), ("total", "N:7")])
        }
    };
    let infer_keys = |items: Vec<Item>| {
        let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        let first =
            draft.model.entities.iter().map(|entity| keys(entity)[0].clone()).collect::<BTreeSet<_>>();
        let shards = draft.model.entities.iter().filter(|entity| entity.shard.is_some()).count();
        (first.into_iter().collect::<Vec<_>>(), shards, draft)
    };
    // The word is only in the sort key, and each number has one item.
    let (found, shards, _) = infer_keys((0..12).map(room).collect());
    assert_eq!((found, shards), (vec!["ROOM#{roomId}".to_owned()], 0));
    // Nothing says what the numbers are: it is asked.
    let (found, shards, mut draft) = infer_keys((0..25).map(stores("STORES")).collect());
    assert_eq!((found, shards), (vec!["STORES#{shard}".to_owned()], 1));
    let id = format!("entity.{}.key.0", draft.model.entities[0].name);
    let choices = other_answers(&draft, &id).unwrap_or_else(|| panic!("{}", draft.text())).to_vec();
    assert_eq!(choices, ["STORES#{storesId}"]);
    draft.answer(&Answers::from([(id, choices[0].clone())])).unwrap();
    let entity = &as_read(&draft).entities[0];
    assert_eq!((keys(entity)[0].as_str(), entity.shard.is_none()), ("STORES#{storesId}", true));
    // Another entity has an identifier there, or refers to it.
    let beside =
        (0..5).map(|number| item(&[("PK", &format!("STORES#{number}")), ("SK", "INFO"), ("city", "x")]));
    let (found, shards, draft) = infer_keys((0..25).map(stores("STORES")).chain(beside).collect());
    assert_eq!((found, shards), (vec!["STORES#{storesId}".to_owned()], 0), "{}", draft.text());
    let sale = |number: usize| {
        let (key, store) = (format!("SALE#x{number}"), format!("{}", number % 5));
        item(&[("PK", &key), ("SK", "SALE"), ("storeId", &store)])
    };
    let (found, shards, draft) = infer_keys((0..25).flat_map(|n| [stores("STORES")(n), sale(n)]).collect());
    assert_eq!(shards, 0, "{}", draft.text());
    assert!(found.contains(&"STORES#{storesId}".to_owned()), "{}", draft.text());
}

#[test]
fn what_follows_a_word_is_a_value_if_it_is_one_in_other_keys() {
    let customer = |name: &str| {
        item(&[("PK", &format!("C#{name}")), ("SK", &format!("C#{name}")), ("kind", "Customer")])
    };
    let order = |number: usize| {
        let key = format!("O#{number}7");
        let mut order = item(&[("PK", &key), ("SK", &key), ("kind", "Order")]);
        for (name, text) in
            [("GSI1PK", "C#ironman".to_owned()), ("GSI1SK", format!("2026-01-{:02}", number + 1))]
        {
            order.insert(name.to_owned(), Value::String(text));
        }
        order
    };
    let draft = |names: &[&str]| {
        let items: Vec<Item> = names.iter().map(|name| customer(name)).chain((0..20).map(order)).collect();
        let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
        assert_fits(&draft, &items);
        draft
    };
    let known_value = draft(&["hulk", "ironman", "thor"]);
    let order = known_value.model.entity("Order").unwrap();
    assert_eq!(order.indexes[0].key[0].to_string(), "C#{customerId}", "{}", known_value.text());
    let unknown = draft(&["hulk", "loki", "thor"]);
    assert_eq!(
        other_answers(&unknown, "entity.Order.index.GSI1.0"),
        Some(["C#{customerId}".to_owned()].as_slice()),
        "{}",
        unknown.text()
    );
    // Words do not look like identifiers.
    let other = draft(&["h1", "i2", "t3"]);
    assert_eq!(other_answers(&other, "entity.Order.index.GSI1.0"), None, "{}", other.text());
}

#[test]
fn a_category_of_items_of_one_entity_is_no_type() {
    let account = |number: usize| {
        let (key, kind) = (format!("ACC#a{number}"), ["savings", "checking"][number % 2]);
        item(&[("PK", &key), ("SK", "ACC"), ("type", kind), ("owner", "x")])
    };
    let booking = |number: usize| {
        let (key, sort) = (format!("ACC#a{}", number % 10), format!("TXN#t{number}"));
        let kind = ["debit", "credit"][number / 10 % 2];
        item(&[("PK", &key), ("SK", &sort), ("type", kind), ("amount", "N:7")])
    };
    let items: Vec<Item> = (0..10).map(account).chain((0..60).map(booking)).collect();
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let text = draft.text();
    assert!(draft.model.table.type_attribute.is_none() && draft.model.entities.len() == 2, "{text}");
    assert!(text.contains("type = \"credit|debit\"") && text.contains("! type is no type here"), "{text}");
}

#[test]
fn a_word_that_recurs_beside_numbers_is_an_entity_of_its_own() {
    let version = |number: usize| {
        let (id, version) = (format!("d{}", number / 4), number % 4 + 1);
        let sort = if version == 4 { "V#LATEST".to_owned() } else { format!("V#{version:06}") };
        item(&[("PK", &format!("DOC#{id}")), ("SK", &sort), ("docId", &id), ("body", "x")])
    };
    let items: Vec<Item> = (0..80).map(version).collect();
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let sorts: BTreeSet<String> = draft.model.entities.iter().map(|entity| keys(entity)[1].clone()).collect();
    assert_eq!(sorts, BTreeSet::from(["V#LATEST", "V#{v:06}"].map(str::to_owned)), "{}", draft.text());
}

#[test]
fn letters_before_digits_tell_entities_apart() {
    let person = |number: usize| {
        let (letter, kind) = [("P", "patient"), ("D", "doctor")][number % 2];
        item(&[("PK", &format!("{letter}{number}")), ("SK", "A"), ("type", kind), ("name", "x")])
    };
    let visit = |number: usize| {
        let (key, sort) = (format!("P{}", number % 10 * 2), format!("2026-01-{:02}", number + 1));
        item(&[("PK", &key), ("SK", &sort), ("type", "visit"), ("at", &sort)])
    };
    let items: Vec<Item> = (0..20).map(person).chain((0..25).map(visit)).collect();
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let first = |name: &str| keys(draft.model.entity(name).unwrap())[0].clone();
    assert_eq!([first("Patient"), first("Doctor")], ["P{patientId}", "D{doctorId}"], "{}", draft.text());
    assert!(first("Visit").starts_with("P{"), "{}", draft.text());

    let paper = |number: usize| {
        let (word, name) = [("INV", "amount"), ("TKT", "subject")][number % 2];
        item(&[("PK", &format!("C{:05}", number / 4)), ("SK", &format!("{word}{number:08}")), (name, "x")])
    };
    let items: Vec<Item> = (0..60).map(paper).collect();
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    let sorts: BTreeSet<String> = draft.model.entities.iter().map(|entity| keys(entity)[1].clone()).collect();
    assert_eq!(sorts, BTreeSet::from(["INV{part}", "TKT{part}"].map(str::to_owned)), "{}", draft.text());
}

#[test]
fn items_that_only_a_number_tells_apart_are_remarked() {
    let message = |number: usize| {
        let (key, sort) = (format!("ROOM#r{}", number / 6), format!("N:{}", number % 6 * 1_000));
        let name = if number.is_multiple_of(6) { "topic" } else { "text" };
        item(&[("PK", &key), ("SK", &sort), (name, "x")])
    };
    let items: Vec<Item> = (0..60).map(message).collect();
    let draft = infer(&items, &known("T", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    assert!(draft.text().contains("! Those whose SK is 0 have other attributes"), "{}", draft.text());
}

#[test]
fn a_damaged_time_among_many_decides_nothing() {
    let item = |number: usize| {
        let (id, day) = (format!("USER#u{number}x"), number % 28 + 1);
        let time = if number == 137 { "garbage".to_owned() } else { format!("2024-05-{day:02}T10:00:00Z") };
        item(&[("PK", &id), ("SK", "USER"), ("createdAt", &time), ("born", "1990-05-01")])
    };
    let items: Vec<Item> = (0..300).map(item).collect();
    let text = infer(&items, &known("Shop", &["PK", "SK"])).unwrap().text();
    for expected in [
        "createdAt = { type = \"timestamp\", precision = \"second\" }",
        "! createdAt is a timestamp in 299 and a string in 1 items: which is right?",
        "born = \"date\"",
        "299 of 300 items",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn a_value_is_named_after_the_word_before_it_wherever_both_stand() {
    let item = |number: usize| {
        let (tenant, project) = (number % 3, number % 12);
        let key = format!("TENANT#n{tenant}x#PROJECT#p{project}x");
        match number {
            0..12 => item(&[("PK", &key), ("SK", "PROJECT"), ("title", "a b")]),
            _ => item(&[("PK", &key), ("SK", &format!("TASK#k{number}x")), ("text", "a b")]),
        }
    };
    let items: Vec<Item> = (0..60).map(item).collect();
    let draft = infer(&items, &known("Work", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    for entity in &draft.model.entities {
        assert_eq!(keys(entity)[0], "TENANT#{tenantId}#PROJECT#{projectId}", "{}", draft.text());
    }
}

/// The partition keys and the questions of a draft from items of a table `Shop`.
fn partitions(items: &[Item]) -> (BTreeSet<String>, String) {
    let draft = infer(items, &known("Shop", &["PK", "SK"])).unwrap();
    assert_fits(&draft, items);
    (draft.model.entities.iter().map(|entity| keys(entity)[0].clone()).collect(), draft.text())
}

#[test]
fn a_bare_partition_key_that_entities_share_is_one_identifier() {
    let items: Vec<Item> = (0..60)
        .map(|number| {
            let key = format!("k{}x", number % 12);
            let sort = format!("m{number}x");
            match number {
                0..12 => item(&[("PK", &key), ("SK", "ACCOUNT"), ("plan", "free of charge")]),
                12..24 => item(&[("PK", &key), ("SK", "SETTINGS"), ("theme", "light and blue")]),
                _ => item(&[("PK", &key), ("SK", &format!("MEMBER#{sort}")), ("memberId", &sort)]),
            }
        })
        .collect();
    let (found, text) = partitions(&items);
    assert_eq!(found, ["{accountId}".to_owned()].into(), "{text}");
    assert!(text.contains("? entity.Member.attribute.accountId: Only the key contains it"), "{text}");
    let own = |number: u64| item(&[("PK", &format!("o{number}x")), ("SK", "ORDER"), ("total", "N:1")]);
    let items: Vec<Item> = items.iter().take(12).cloned().chain((0..12).map(own)).collect();
    let (found, text) = partitions(&items);
    assert_eq!(found.len(), 2, "{text}");
}

#[test]
fn what_agrees_with_a_name_by_chance_is_no_identifier_where_others_have_their_own() {
    let tenants = |count: usize| -> Vec<Item> {
        let tenant = |number: usize| {
            let name = format!("Company{}", ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][number]);
            let key = format!("TENANT#{}", name.to_lowercase());
            let sort = format!("USER#u{number}x");
            [
                item(&[("PK", &key), ("SK", "TENANT"), ("type", "Tenant"), ("name", &name)]),
                item(&[("PK", &key), ("SK", &sort), ("type", "User"), ("mail", "a b")]),
            ]
        };
        (0..count).flat_map(tenant).collect()
    };
    let (found, text) = partitions(&tenants(4));
    assert_eq!(found, ["TENANT#{tenantId}".to_owned()].into(), "{text}");
    let question = "? entity.Tenant.attribute.tenantId: It is {name:lower} in all items, which may be chance";
    assert!(text.contains(question), "{text}");
    assert!(text.contains("name = \"string\""), "{text}");
    let (found, text) = partitions(&tenants(10));
    assert!(found.contains("TENANT#{name:lower}"), "{text}");
    assert!(text.contains("? entity.User.attribute.tenantId: Tenant has it as {name:lower}"), "{text}");
}

#[test]
fn an_identifier_that_one_entity_has_as_an_attribute_is_called_so_in_all() {
    let items: Vec<Item> = (0..40)
        .map(|number| {
            let name = format!("grove{}", number % 10);
            let key = format!("USER#{name}");
            match number {
                0..10 => item(&[("PK", &key), ("SK", "USER"), ("username", &name)]),
                _ => item(&[("PK", &key), ("SK", &format!("ORDER#o{number}x")), ("total", "N:1")]),
            }
        })
        .collect();
    let (found, text) = partitions(&items);
    assert_eq!(found, ["USER#{username}".to_owned()].into(), "{text}");
}

#[test]
fn identifiers_with_their_type_inside_have_one_form_wherever_one_entity_has_them_cut() {
    let mut items = Vec::new();
    for number in 0..10 {
        let (customer, order) = (format!("cus_2TFu{number}SPG51e5"), format!("ord_9Xq{number}KdtZkwYS"));
        items.push(item(&[("PK", &customer), ("SK", "profile"), ("customerId", &customer)]));
        items.push(item(&[("PK", &customer), ("SK", &order), ("orderId", &order), ("state", "a b")]));
        items.push(item(&[("PK", &order), ("SK", "line_00"), ("quantity", "N:2")]));
        items.push(item(&[("PK", &order), ("SK", "line_01"), ("quantity", "N:3")]));
    }
    let (found, text) = partitions(&items);
    assert_eq!(found, ["cus_{customerIdRest}", "ord_{orderIdRest}"].map(str::to_owned).into(), "{text}");
    for asked in
        ["customerIdRest: customerId is cus_", "customerIdRest: It is that of", "orderIdRest: It is that of"]
    {
        assert!(text.contains(asked), "{asked}\n{text}");
    }
    assert!(text.contains("key = [\"cus_{customerIdRest}\", \"ord_{orderIdRest}\"]"), "{text}");
}

#[test]
fn words_of_every_script_are_words() {
    for (word, name) in [("用户", "用户Id"), ("Übung", "übungId"), ("ÖRN", "örnId")] {
        let items: Vec<Item> = (0..40)
            .map(|number| {
                let key = format!("{word}#k{:03}x", number % 20);
                match number {
                    0..20 => item(&[("PK", &key), ("SK", "INFO"), ("text", "a b")]),
                    _ => item(&[("PK", &key), ("SK", &format!("NOTE#n{number}x")), ("note", "a b c")]),
                }
            })
            .collect();
        let (found, text) = partitions(&items);
        assert_eq!(found, [format!("{word}#{{{name}}}")].into(), "{text}");
    }
    // Names in a script without upper case are values as others are.
    let names = ["张伟", "王芳", "李娜", "刘洋", "陈静"];
    let items: Vec<Item> = names
        .iter()
        .map(|name| item(&[("PK", &format!("user#{name}")), ("SK", &format!("city#{name}")), ("age", "N:7")]))
        .collect();
    let draft = infer(&items, &known("Shop", &["PK", "SK"])).unwrap();
    assert_fits(&draft, &items);
    assert_eq!(draft.model.entities.len(), 1, "{}", draft.text());
}

#[test]
fn sample_items_whose_keys_are_not_of_the_declared_type_are_left_out() {
    let row = |key: serde_json::Value| json!({ "PK": key, "SK": { "S": "INFO" }, "n": { "N": "1" } });
    let rows: Vec<serde_json::Value> =
        (0..9).map(|number| row(json!({ "S": format!("u#{number}x") }))).collect();
    let key = |name: &str| json!({ "AttributeName": name, "AttributeType": "S" });
    let mut file = json!({ "DataModel": [{
        "TableName": "Shop",
        "KeyAttributes": { "PartitionKey": key("PK"), "SortKey": key("SK") },
        "TableData": rows,
    }] });
    let text = workbench::import(&file.to_string()).unwrap()[0].text();
    assert!(!text.contains("Left out"), "{text}");
    let rows = file["DataModel"][0]["TableData"].as_array_mut().unwrap();
    rows.insert(0, row(json!({ "N": "7" })));
    let draft = workbench::import(&file.to_string()).unwrap().remove(0);
    assert_eq!(draft.model.entities.len(), 1, "{}", draft.text());
    let remark = "! Left out: a sample item whose PK is not of the type S.";
    assert!(draft.text().contains(remark), "{}", draft.text());
}
