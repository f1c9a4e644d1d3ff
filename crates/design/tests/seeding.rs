//! Generated items match the model that they come from: the audit of a seeded table finds nothing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Model;
use partita_design::audit::table::TableAudit;
use partita_design::finding::Severity;
use partita_design::generate::Generator;
use partita_design::item::{Item, Value};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn the_audit_of_generated_items_finds_nothing() {
    for folder in ["models", "crates/design/tests/good", "crates/design/tests/planted"] {
        for entry in std::fs::read_dir(support::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let model = support::model(&std::fs::read_to_string(&path).unwrap());
            let generator = Generator::new(&model, 1, 200);
            let mut audit = TableAudit::new(&model);
            for entity in model.entities.iter().filter(|entity| !generator.is_follower(entity)) {
                for number in generator.numbers(entity) {
                    generator.bundle(entity, number).iter().for_each(|item| audit.add(item));
                }
            }
            let (items, violations) = audit.finish();
            assert!(items >= 50 && violations.is_empty(), "{}: {violations:#?}", path.display());
        }
    }
}

#[test]
fn what_is_counted_belongs_to_what_counts_it_whatever_the_identifier_is_called() {
    let text = "[entity.Customer]\nattributes = { userId = \"id\" }\nkey = [\"USER#{userId}\", \"USER\"]\n\
                aggregates = { posts = \"count Post\" }\n[entity.Post]\nattributes = { userId = \"id\", postId = \"id\" }\n\
                key = [\"USER#{userId}\", \"POST#{postId}\"]\n";
    let model = support::model(&support::with_table(text));
    let mut audit = TableAudit::new(&model);
    support::items_of(&model, 60).iter().for_each(|item| audit.add(item));
    let (items, violations) = audit.finish();
    assert!(items >= 30 && violations.is_empty(), "{violations:#?}");
}

/// The keys of generated items, and how many there are.
fn keys(model: &Model, total: u64) -> (usize, BTreeSet<Vec<String>>) {
    let items: Vec<_> = Generator::new(model, 5, total).items().collect();
    let key = |item: &Item| ["PK", "SK"].map(|name| item[name].to_text().unwrap()).to_vec();
    (items.len(), items.iter().map(key).collect())
}

#[test]
fn no_two_items_have_one_key_and_aggregates_match() {
    let likes = r##"
[entity.User]
attributes = { userId = "id" }
key = ["USER#{userId}", "USER"]
expect = { count = 12 }
[entity.Post]
attributes = { postId = "id", userId = "id" }
key = ["POST#{postId}", "POST"]
aggregates = { likes = "count Like" }
expect = { count = 10 }
[entity.Like]
edge = ["userId", "postId"]
attributes = { userId = "id", postId = "id" }
key = ["POST#{postId}", "LIKE#{userId}"]
expect = { count = 60 }
"##;
    let per_post = likes.replace("{ count = 60 }", "{ per = \"Post\", average = 6 }");
    for text in [likes, &per_post] {
        let model = support::model(&support::with_table(text));
        let (items, keys) = keys(&model, 82);
        assert_eq!((items, keys.len()), (82, 82));
        assert_eq!(support::violations(&model, &support::items_of(&model, 82)), "");
    }
    // More items than pairs: the rest is left out, and the counts say so.
    let model = support::model(&support::with_table(&likes.replace("count = 60", "count = 600")));
    let generator = Generator::new(&model, 5, 622);
    let (items, keys) = keys(&model, 622);
    assert_eq!((items, keys.len(), generator.total()), (142, 142, 142));
    assert_eq!(generator.seeded_model().entities[2].expect.count, Some(120));
    assert_eq!(support::violations(&model, &support::items_of(&model, 622)), "");
}

#[test]
fn a_copy_is_in_indexes_by_the_aggregates_of_its_original() {
    for (cnt, last) in [("int", "int?"), ("int?", "int?")] {
        let text = format!(
            r##"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Post]
attributes = {{ postId = "id", title = "string" }}
key = ["POST#{{postId}}", "POST"]
aggregates = {{ cnt = "count Like", last = "max Like.at" }}
expect = {{ count = 10 }}
[entity.Card]
copies = "Post"
attributes = {{ postId = "id", cnt = "{cnt}", last = "{last}" }}
key = ["CARD#{{postId}}", "CARD#{{cnt}}"]
index.GSI1 = {{ key = ["CNT#{{cnt}}", "LAST#{{last}}"] }}
[entity.Like]
attributes = {{ likeId = "id", postId = "id", at = "int" }}
key = ["LIKE#{{likeId}}", "LIKE"]
expect = {{ count = 7 }}
"##
        );
        let model = support::model(&support::with_table(&text));
        let items = support::items_of(&model, 27);
        let with = |name: &str| items.iter().filter(|item| item.contains_key(name)).count();
        assert!(with("GSI1PK") > 0 && with("last") == 2 * with("GSI1PK"), "{items:?}");
        assert_eq!(support::violations(&model, &items), "");
    }
}

#[test]
fn items_whose_values_are_too_few_for_all_keys_are_left_out_with_their_copies() {
    let text = r##"
[entity.Room]
attributes = { floor = { type = "int", min = 1, max = 3 }, wing = "A|B", name = "string" }
key = ["FLOOR#{floor}", "WING#{wing}"]
expect = { count = 100 }
[entity.RoomCard]
copies = "Room"
attributes = { floor = { type = "int", min = 1, max = 3 }, wing = "A|B", name = "string" }
key = ["WING#{wing}", "FLOOR#{floor}"]
"##;
    let model = support::model(&support::with_table(text));
    let (items, keys) = keys(&model, 200);
    assert_eq!((items, keys.len()), (12, 12));
    assert_eq!(support::violations(&model, &support::items_of(&model, 200)), "");
}

#[test]
fn the_ends_of_a_relationship_are_two_items_that_exist() {
    let text = r##"
[entity.User]
attributes = { userId = "id" }
key = ["USER#{userId}", "USER"]
expect = { count = 20 }
[entity.Follows]
edge = ["followerId", "followedId"]
attributes = { followerId = "id", followedId = "id" }
key = ["USER#{followerId}", "FOLLOWS#{followedId}"]
expect = { count = 100 }
[pattern]
following = { in = ["followerId"], via = "Follows", out = "User*", limit = 10, rps = 1 }
"##;
    let per_user = text.replace("{ count = 100 }", "{ per = \"User\", average = 5 }");
    let own = per_user.replace("followerId", "userId");
    let unfollowed = text.split("[pattern]").next().unwrap();
    for text in [text, &per_user, &own, unfollowed] {
        let model = support::model(&support::with_table(text));
        let items: Vec<_> = Generator::new(&model, 5, 120).items().collect();
        let is_user = |item: &&Item| item["SK"].as_text() == Some("USER");
        let users: Vec<_> = items.iter().filter(is_user).map(|item| &item["userId"]).collect();
        let follows: Vec<_> = items.iter().filter(|item| item.contains_key("followedId")).collect();
        assert_eq!(follows.len(), 100, "{text}");
        for item in follows {
            let near = item.get("followerId").unwrap_or_else(|| &item["userId"]);
            assert_ne!(near, &item["followedId"], "{text}");
            let exist = [near, &item["followedId"]].iter().all(|user| users.contains(user));
            assert!(exist || !text.contains("[pattern]"), "{item:?}");
        }
        assert_eq!(keys(&model, 120).1.len(), 120);
    }
}

#[test]
fn numbers_have_one_text_in_keys_and_shards() {
    let text = r##"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Vote]
attributes = { pollId = { type = "id", values = 4 }, voteId = "ulid", w = { type = "decimal", min = 0, max = 20 } }
key = ["POLL#{pollId}#{shard}", "{w}#{voteId}"]
index.GSI1 = { key = ["POLL#{pollId}", "{w:02.1}#{voteId}"] }
shard = { by = "w", count = 4 }
expect = { count = 500 }
"##;
    let model = support::model(&support::with_table(text));
    let mut items = support::items_of(&model, 500);
    assert_eq!(support::violations(&model, &items), "");
    // The database keeps a number, and not how it was written.
    for item in &mut items {
        let number = item["w"].to_text().unwrap();
        assert!(!number.contains('.') || !number.ends_with('0'), "{number}");
        item.insert("w".to_owned(), Value::Number(format!("{number}e0")));
    }
    assert_eq!(support::violations(&model, &items), "");
}

#[test]
fn a_copy_that_names_its_originals_identity_follows_it() {
    let quilts = support::with_table(
        r##"
[entity.Quilt]
attributes = { quiltId = "id", maker = "string" }
key = ["QUILT#{quiltId}", "QUILT"]
expect = { count = 30 }
[entity.QuiltCard]
copies = "Quilt"
identity = "quiltId"
attributes = { quiltId = "id", maker = "string" }
key = ["CARD#{quiltId}", "CARD"]
"##,
    );
    let model = support::model(&quilts);
    let items = support::items_of(&model, 60);
    assert_eq!(support::violations(&model, &items), "");
    let is_card =
        |item: &&partita_design::item::Item| item["PK"].to_text().is_some_and(|key| key.starts_with("CARD#"));
    assert_eq!(items.iter().filter(is_card).count() * 2, items.len());
    let without_a_card: Vec<_> = items.iter().filter(|item| !is_card(item)).cloned().collect();
    assert!(support::violations(&model, &without_a_card).contains("is missing"));
}

#[test]
fn sparse_indexes_have_as_many_items_as_the_model_expects() {
    let orders = support::with_table(
        r##"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Order]
attributes = { orderId = "id", status = "PENDING|PAID|SHIPPED", claimedBy = "string?" }
key = ["ORDER#{orderId}", "ORDER"]
index.GSI1 = { key = ["PENDING", "{orderId}"], when = "status == 'PENDING'", count = 200 }
expect = { count = 20000 }
"##,
    );
    let declared = support::model(&orders);
    let in_index = |model: &Model, total: u64| {
        let items = support::items_of(model, total);
        assert_eq!(support::violations(model, &items), "");
        items.iter().filter(|item| item.contains_key("GSI1PK")).count()
    };
    assert_eq!(in_index(&declared, 20_000), 200);
    assert_eq!(in_index(&declared, 2_000), 20);
    // Enough for patterns to find something.
    assert_eq!(in_index(&declared, 100), 3);
    // An optional attribute in the key is a condition, too.
    for (count, condition) in [(200, ""), (15_000, ""), (200, ", when = \"exists(claimedBy)\"")] {
        let claimed = orders.replace(
            "key = [\"PENDING\", \"{orderId}\"], when = \"status == 'PENDING'\", count = 200",
            &format!("key = [\"BY#{{claimedBy}}\", \"{{orderId}}\"], count = {count}{condition}"),
        );
        assert_eq!(in_index(&support::model(&claimed), 2_000), count / 10, "{count}{condition}");
    }
    let unclaimed = orders.replace("status == 'PENDING'", "status != 'PAID' and not exists(claimedBy)");
    assert_eq!(in_index(&support::model(&unclaimed), 2_000), 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_audit_of_items_of_random_models_finds_nothing(
        section in prop::sample::select(vec!["id", "ulid", "uuid", "A|B|C", "date"]),
        separator in prop::sample::select(vec!["#", "-", "_", "|", "--", "/"]),
        format in prop::sample::select(vec!["+02", "+02.1", "+02.2", "+03.3"]),
        (count, has_unique, has_copy) in (1_u64..500, any::<bool>(), any::<bool>()),
        seed in any::<u64>(),
    ) {
        let unique = if has_unique { "unique = [\"label\"]" } else { "" };
        let copy = format!(
            "[entity.Card]\ncopies = \"Part\"\nidentity = \"partId\"\nattributes = {{ partId = \"id\", celsius = \"decimal\" }}\n\
             key = [\"C{separator}{{partId}}\", \"CARD\"]"
        );
        let text = support::with_table(&format!(r##"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Part]
key = ["S{separator}{{section}}{separator}{{partId}}", "PART"]
{unique}
index.GSI1 = {{ key = ["STATUS{separator}{{status}}", "{{celsius:{format}}}{separator}{{partId}}"], when = "status == 'NEW'", count = {count} }}
expect = {{ count = 500 }}
[entity.Part.attributes]
partId = "id"
section = "{section}"
label = "id"
status = "NEW|USED|SOLD"
celsius = {{ type = "decimal", min = -99.9, max = 99.9 }}
{}
"##, if has_copy { &copy } else { "" }));
        prop_assume!(!support::findings(&text).iter().any(|finding| finding.severity == Severity::Error));
        let model = support::model(&text);
        let generator = Generator::new(&model, seed, 120);
        let leaders = model.entities.iter().filter(|entity| !generator.is_follower(entity));
        let numbered = leaders.flat_map(|entity| generator.numbers(entity).map(move |number| (entity, number)));
        let items: Vec<_> = numbered.flat_map(|(entity, number)| generator.bundle(entity, number)).collect();
        prop_assert_eq!(support::violations(&model, &items), "", "{}", text);
    }
}

#[test]
fn what_its_parent_alone_identifies_has_the_identity_of_one_that_exists() {
    let sales = |shard: &str, key: &str, expect: &str| {
        support::with_table(&format!(
            r#"
[entity.Event]
attributes = {{ eventId = "ulid", title = "string" }}
key = ["EVENT#{{eventId}}", "EVENT"]
expect = {{ count = 50 }}
[entity.Sales]
attributes = {{ eventId = "ulid" }}
identity = ["eventId"]
key = ["EVENT#{{eventId}}{key}", "SALES"]
{shard}
aggregates = {{ sold = "count Ticket" }}
expect = {{ {expect} }}
[entity.Ticket]
attributes = {{ ticketId = "ulid", eventId = "ulid", holder = "string" }}
key = ["TICKET#{{ticketId}}", "TICKET"]
expect = {{ count = 5000 }}
"#
        ))
    };
    let one = "per = \"Event\", average = 1, max = 1";
    for (shard, key, expect) in [
        ("", "", one),
        ("", "", "count = 50"),
        ("shard = { count = 10 }", "#SALES#{shard}", "count = 500"),
        ("shard = { count = 10 }", "#SALES#{shard}", "per = \"Event\", average = 10, max = 10"),
    ] {
        let model = support::model(&sales(shard, key, expect));
        let items = support::items_of(&model, 1000);
        assert_eq!(support::violations(&model, &items), "", "{key}");
        let ids = |entity: &str| -> BTreeSet<String> {
            let own = items.iter().filter(|item| item["type"].as_text() == Some(entity));
            own.filter_map(|item| item["eventId"].as_text().map(str::to_owned)).collect()
        };
        assert!(ids("Sales").is_subset(&ids("Event")) && !ids("Sales").is_empty());
    }
}

#[test]
fn unique_numbers_and_times_are_generated_once() {
    for kind in ["int", "decimal", "date", "timestamp"] {
        let text = support::with_table(&format!(
            "[entity.Ticket]\nattributes = {{ ticketId = \"ulid\", value = \"{kind}\" }}\nkey = [\"TICKET#{{ticketId}}\", \"T\"]\nunique = [\"value\"]\n"
        ));
        let model = support::model(&text);
        let values: BTreeSet<String> =
            Generator::new(&model, 1, 500).items().map(|item| item["value"].to_text().unwrap()).collect();
        assert_eq!(values.len(), 500, "{kind}");
    }
}

#[test]
fn identifiers_that_contain_a_time_contain_that_of_the_creation() {
    for kind in ["ulid", "ksuid"] {
        let text = support::with_table(&format!(
            "[entity.Ticket]\nattributes = {{ ticketId = \"{kind}\", createdAt = \"timestamp\" }}\nkey = [\"TICKET#{{ticketId}}\", \"T\"]\n"
        ));
        let model = support::model(&text);
        let created = |item: &Item| ["ticketId", "createdAt"].map(|name| item[name].to_text().unwrap());
        let mut items: Vec<[String; 2]> =
            Generator::new(&model, 1, 500).items().map(|item| created(&item)).collect();
        items.sort();
        assert!(items.is_sorted_by_key(|[_, at]| at.clone()), "{kind}");
    }
}

#[test]
fn what_names_an_item_of_the_same_parent_names_one_that_exists() {
    let text = std::fs::read_to_string(support::root().join("models/organisation.toml")).unwrap();
    let model = support::model(&text);
    let place = |item: &Item| ["orgId", "department"].map(|name| item.get(name).cloned());
    let items: Vec<Item> = Generator::new(&model, 1, 4000).items().collect();
    let of = |entity: &'static str| {
        items.iter().filter(move |item| item["EntityType"].as_text() == Some(entity)).map(place)
    };
    let departments: Vec<_> = of("Department").collect();
    let members: Vec<_> = of("Member").collect();
    assert!(departments.len() >= 20 && members.len() >= 100);
    let known = members.iter().filter(|member| departments.contains(member)).count();
    assert!(known * 10 >= members.len() * 9, "{known} of {}", members.len());
}

#[test]
fn versions_are_numbered_from_1() {
    for (number, versions) in [
        ("number = \"int\"", ""),
        ("number = { type = \"int\", min = 0, max = 99 }", ""),
        ("number = { type = \"int\", min = 1 }", "identity = [\"docId\", \"number\"]\n"),
    ] {
        let text = support::with_table(&format!(
            r#"
[entity.Doc]
attributes = {{ docId = "id", {number}, title = "string" }}
key = ["DOC#{{docId}}", "V#{{number:04}}"]
versions = "number"
{versions}expect = {{ count = 40 }}
[entity.Latest]
copies = "Doc"
latest = true
attributes = {{ docId = "id", {number}, title = "string" }}
key = ["DOC#{{docId}}", "LATEST"]
expect = {{ count = 10 }}
"#
        ));
        let model = support::model(&text);
        let items = support::items_of(&model, 50);
        assert_eq!(support::violations(&model, &items), "");
        let numbers: std::collections::BTreeSet<String> =
            items.iter().map(|item| item["number"].to_text().unwrap()).collect();
        assert_eq!(numbers.into_iter().collect::<Vec<_>>(), ["1", "2", "3", "4"], "{number}");
    }
}
