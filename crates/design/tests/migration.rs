//! Migration: what items become under the next version of a model, and the way back.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::audit::table::TableAudit;
use partita_design::generate::Generator;
use partita_design::item::{Item, Value};
use partita_design::migration::recount::Recount;
use partita_design::migration::{Image, NewItem, Transition, is_same, key_of};
use partita_design::{Model, Source, read};
use std::collections::BTreeMap;

fn model(text: &str) -> Model {
    read(&Source::new("model.toml", text)).unwrap_or_else(|findings| panic!("{findings:#?}"))
}

fn shop(changes: &[(&str, &str)]) -> Model {
    let mut text = std::fs::read_to_string(support::root().join("models/shop-orders.toml")).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    model(&text)
}

fn new_item<'m>(old: &'m Model, new: &'m Model, item: &Item) -> NewItem<'m> {
    match (Transition { old, new }).image(item) {
        Image::Item(new_item) => *new_item,
        other => panic!("{item:?} becomes {other:?}"),
    }
}

fn item(texts: &[(&str, &str)]) -> Item {
    texts.iter().map(|(name, text)| ((*name).to_owned(), Value::String((*text).to_owned()))).collect()
}

/// Migrates items as the command line does, and returns the violations of the new model.
fn migrated(old: &Model, new: &Model, items: &[Item]) -> (Vec<Item>, usize) {
    let mut table: BTreeMap<String, Item> = BTreeMap::new();
    for item in items {
        if let Image::Item(made) = (Transition { old, new }).image(item) {
            let written = made.companions.iter().map(|companion| &companion.item).chain([&made.item]);
            table.extend(written.map(|item| (format!("{:?}", key_of(new, item)), item.clone())));
        }
    }
    let mut audit = TableAudit::new(new);
    table.values().for_each(|item| audit.add(item));
    let (_, violations) = audit.finish();
    (table.into_values().collect(), violations.len())
}

#[test]
fn items_migrate_to_the_next_version_and_back() {
    let old = shop(&[]);
    let new = shop(&[
        ("key = [\"USER#{userId}\", \"USER#{userId}\"]", "key = [\"USER#{userId}\", \"PROFILE\"]"),
        ("\"{createdAt}#{orderId}\"], when", "\"PENDING#{createdAt}#{orderId}\"], when"),
    ]);
    let (mut moved, mut changed) = (0, 0);
    for item in Generator::new(&old, 9, 300).items() {
        assert_eq!(new_item(&old, &old, &item).item, item);
        let made = new_item(&old, &new, &item).item;
        moved += usize::from(key_of(&new, &made) != key_of(&old, &item));
        changed += usize::from(made != item);
        assert_eq!(new_item(&old, &new, &made).item, made, "migration is idempotent");
        assert_eq!(new_item(&new, &old, &made).item, item, "and back");
    }
    assert!(moved > 0 && changed > moved, "{moved} {changed}");
}

#[test]
fn an_attribute_that_only_the_old_key_contained_is_kept() {
    let old = shop(&[]);
    let new = shop(&[("\"ITEM#{itemId}\"", "\"ITEM\"")]);
    let is_line = |item: &Item| item["EntityType"] == Value::String("OrderItem".to_owned());
    let mut item = Generator::new(&old, 9, 300).items().find(is_line).unwrap();
    let id = item.remove("itemId").unwrap();
    assert_eq!(new_item(&old, &new, &item).item["itemId"], id);
}

#[test]
fn a_time_bucket_is_not_taken_for_a_time() {
    let text = |key: &str| {
        format!(
            "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\n[entity.Reading]\n\
             attributes = {{ sensorId = \"id\", at = \"timestamp\" }}\nkey = {key}\n"
        )
    };
    let old = model(&text("[\"S#{sensorId}#{at:month}\", \"R\"]"));
    let new = model(&text("[\"S#{sensorId}\", \"R#{at}\"]"));
    let reading = item(&[("PK", "S#7#2026-04"), ("SK", "R")]);
    let image = (Transition { old: &old, new: &new }).image(&reading);
    assert!(matches!(&image, Image::Unknown(reason) if reason == "Reading has no at"), "{image:?}");
    assert_eq!(new_item(&old, &old, &reading).item, reading, "an unchanged key is still right");
}

const USERS: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.User]
attributes = { userId = "id", mail = "string", firstName = "string", lastName = "string" }
key = ["USER#{userId}", "USER"]
"#;

const CUSTOMERS: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Customer]
was = "User"
key = ["CUSTOMER#{userId}", "CUSTOMER"]
unique = ["email"]
[entity.Customer.attributes]
userId = "id"
email = { type = "string", was = "mail" }
name = { type = "string", computed = "{firstName} {lastName}" }
level = { type = "int", default = 1 }
isActive = { type = "bool", default = true }
country = "string"
[entity.CustomerByEmail]
attributes = { userId = "id", email = "string", name = "string" }
copies = "Customer"
key = ["EMAIL#{email}", "CUSTOMER"]
"#;

fn user(number: u32) -> Item {
    let (id, mail) = (number.to_string(), format!("{number}@example.com"));
    let key = format!("USER#{number}");
    item(&[
        ("PK", &key),
        ("SK", "USER"),
        ("type", "User"),
        ("userId", &id),
        ("mail", &mail),
        ("firstName", "Ada"),
        ("lastName", "Byron"),
    ])
}

#[test]
fn entities_and_attributes_are_renamed_and_new_ones_filled() {
    let (old, new) = (model(USERS), model(CUSTOMERS));
    let made = new_item(&old, &new, &user(1));
    assert_eq!(made.missing, ["country"]);
    let mut expected = item(&[
        ("PK", "CUSTOMER#1"),
        ("SK", "CUSTOMER"),
        ("type", "Customer"),
        ("userId", "1"),
        ("email", "1@example.com"),
        ("firstName", "Ada"),
        ("lastName", "Byron"),
        ("name", "Ada Byron"),
    ]);
    expected.insert("level".to_owned(), Value::Number("1".to_owned()));
    expected.insert("isActive".to_owned(), Value::Bool(true));
    assert_eq!(made.item, expected);
    assert!(is_same(&new_item(&old, &new, &made.item).item, &made.item), "idempotent");
    let back = new_item(&new, &old, &made.item).item;
    assert_eq!(
        (&back["mail"], &back["type"]),
        (&user(1)["mail"], &user(1)["type"]),
        "renames are read backwards too"
    );
    assert_eq!(key_of(&old, &back), key_of(&old, &user(1)));
}

#[test]
fn markers_and_copies_that_the_new_model_needs_are_made() {
    let old = model(USERS);
    let users: Vec<Item> = (0..20).map(user).collect();
    let (_, violations) = migrated(&old, &model(CUSTOMERS), &users);
    assert_eq!(violations, 1, "the country is missing");
    let new = model(&CUSTOMERS.replace("country = \"string\"", "country = \"string?\""));
    let (customers, violations) = migrated(&old, &new, &users);
    assert_eq!((customers.len(), violations), (60, 0), "an item, a marker and a copy each");
    let (again, _) = migrated(&old, &new, &customers);
    assert_eq!(again, customers, "idempotent");
}

#[test]
fn old_markers_and_copies_are_given_up() {
    let (old, new) = (model(CUSTOMERS), model(USERS));
    let customer = new_item(&new, &old, &user(1));
    let copy = customer.companions.iter().find(|companion| companion.entity.is_some()).unwrap();
    let marker = customer.companions.iter().find(|companion| companion.entity.is_none()).unwrap();
    let transition = Transition { old: &old, new: &new };
    assert!(matches!(transition.image(&marker.item), Image::Marker));
    assert!(matches!(transition.image(&copy.item), Image::Dropped));
    let mut own = copy.item.clone();
    own.insert("hits".to_owned(), Value::Number("42".to_owned()));
    assert!(matches!(transition.image(&own), Image::Removed(entity) if entity == "CustomerByEmail"));
    assert_eq!(transition.belongings(&customer.item).len(), 2);
    let back = new_item(&old, &new, &customer.item);
    assert!(back.companions.is_empty());
    assert_eq!(back.obsolete.as_slice(), std::slice::from_ref(&marker.item));
}

#[test]
fn attributes_of_copies_are_renamed_in_both_directions() {
    let new = model(CUSTOMERS);
    let renamed = CUSTOMERS
        .replace(
            "email = { type = \"string\", was = \"mail\" }",
            "mail = { type = \"string\", was = \"email\" }",
        )
        .replace(
            "attributes = { userId = \"id\", email = \"string\",",
            "attributes = { userId = \"id\", mail = { type = \"string\", was = \"email\" },",
        )
        .replace("{email}", "{mail}")
        .replace("unique = [\"email\"]", "unique = [\"mail\"]");
    let (later, customer) = (model(&renamed), new_item(&model(USERS), &new, &user(1)).item);
    let copied = |old: &Model, new: &Model, original: &Item| {
        let made = new_item(old, new, original).companions;
        made.into_iter().find_map(|companion| Some((companion.entity?.clone(), companion.item))).unwrap()
    };
    for (old, new, name, former) in [(&new, &later, "mail", "email"), (&later, &new, "email", "mail")] {
        let original = if former == "email" { customer.clone() } else { new_item(new, old, &customer).item };
        let (copy, made) = copied(old, new, &original);
        let (_, present) = copied(old, old, &original);
        assert!(present.contains_key(former), "{present:?}");
        let whole = Transition { old, new }.completed_copy(&copy, &made, &present);
        assert_eq!((whole.contains_key(name), whole.contains_key(former)), (true, false), "{whole:?}");
    }
}

#[test]
fn a_copy_is_found_where_the_old_model_put_it() {
    let old = model(CUSTOMERS);
    let text = CUSTOMERS.replace("\"EMAIL#{email}\", \"CUSTOMER\"", "\"EMAIL#{email}\", \"BY-EMAIL\"");
    let new = model(&text);
    let customer = new_item(&model(USERS), &old, &user(1)).item;
    let made = new_item(&old, &new, &customer);
    let copy = made.companions.iter().find(|companion| companion.entity.is_some()).unwrap();
    assert_eq!(copy.item["SK"], Value::String("BY-EMAIL".to_owned()));
    assert_eq!(copy.old_key, Some(item(&[("PK", "EMAIL#1@example.com"), ("SK", "CUSTOMER")])));
    let transition = Transition { old: &old, new: &new };
    let moved = item(&[("PK", "EMAIL#1@example.com"), ("SK", "CUSTOMER"), ("type", "CustomerByEmail")]);
    assert!(matches!(transition.image(&moved), Image::Copy { is_redundant: true, .. }));
    let (users, customers) = (model(USERS), model(CUSTOMERS));
    let transition = Transition { old: &users, new: &customers };
    let in_new_form = matches!(transition.image(&moved), Image::Copy { is_redundant: true, .. });
    assert!(in_new_form, "the old model has no such items: it is a copy already");
}

#[test]
fn renames_that_could_not_be_repeated_are_refused() {
    let refused = |from: &str, to: &str| {
        let text = CUSTOMERS.replace(from, to);
        assert_ne!(text, CUSTOMERS);
        let findings = read(&Source::new("model.toml", text)).unwrap_err();
        format!("{findings:?}")
    };
    assert!(refused("country =", "mail =").contains("Customer still has an attribute mail"));
    assert!(
        refused("was = \"User\"", "was = \"CustomerByEmail\"")
            .contains("still has an entity CustomerByEmail")
    );
    assert!(refused("{firstName}", "{mail}").contains("computed from mail"));
    assert!(refused("default = 1", "default = \"high\"").contains("a value of type int"));
    assert!(
        refused("country = \"string\"", "country = { type = \"list\", default = \"x\" }")
            .contains("gives text")
    );
}

const BOARDS: &str = r#"
format = 1
[table]
name = "Boards"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Part]
attributes = { boardId = "id", part = "int", posts = "int" }
key = ["BOARD#{boardId}", "PART#{part}"]
identity = ["boardId"]
aggregates = { posts = "count Post", best = "max Post.points" }
[entity.Post]
attributes = { boardId = "id", postId = "id", points = "int" }
key = ["BOARD#{boardId}", "POST#{postId}"]
[pattern]
board = { in = ["boardId"], out = ["Part*", "Post*"] }
"#;

#[test]
fn aggregates_of_several_items_are_corrected_together() {
    let boards = model(BOARDS);
    let number = |text: &str| Value::Number(text.to_owned());
    let mut items = Vec::new();
    for part in ["0", "1", "2"] {
        let sort = format!("PART#{part}");
        let mut item = item(&[("PK", "BOARD#a"), ("SK", &sort), ("type", "Part"), ("boardId", "a")]);
        item.extend([("part".to_owned(), number(part)), ("best".to_owned(), number(part))]);
        items.push(item);
    }
    items[1].insert("posts".to_owned(), number("7"));
    for post in ["1", "2", "3"] {
        let sort = format!("POST#{post}");
        let mut item = item(&[("PK", "BOARD#a"), ("SK", &sort), ("type", "Post"), ("boardId", "a")]);
        item.insert("points".to_owned(), number("1"));
        items.push(item);
    }
    let corrections = |items: &[Item]| {
        let mut recount = Recount::new(&boards).unwrap();
        items.iter().for_each(|item| recount.add(item));
        recount.corrections()
    };
    for correction in corrections(&items) {
        let own = |item: &&mut Item| key_of(&boards, item) == correction.key;
        items.iter_mut().find(own).unwrap().extend(correction.after.clone());
        let own = items.iter_mut().find(|item| key_of(&boards, item) == correction.key).unwrap();
        own.retain(|name, _| name != "best" || correction.after.contains_key("best"));
    }
    assert_eq!(corrections(&items).len(), 0);
    let mut audit = TableAudit::new(&boards);
    items.iter().for_each(|item| audit.add(item));
    let (_, violations) = audit.finish();
    assert!(violations.is_empty(), "{violations:?}");
    assert_eq!(items[1]["posts"], number("7"), "what is right as a part stays");
    assert_eq!(items[0]["posts"], number("-4"));
}

/// A model of one table with these entities.
fn model_with(entities: &str) -> Model {
    model(&format!(
        "format = 1\n[table]\nname = \"Table\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n{entities}"
    ))
}

#[test]
fn items_get_the_shard_that_the_new_model_computes() {
    let order = |key: &str, shard: &str| {
        model_with(&format!(
            "[entity.Order]\nattributes = {{ orderId = \"id\", customer = \"id\" }}\nkey = [\"{key}\", \"ORDER#{{orderId}}\"]\n{shard}\n\
             [pattern]\nall = {{ out = \"Order*\" }}\n"
        ))
    };
    let models = [
        order("ORDERS#{shard}", "shard = { by = \"orderId\", count = 4 }"),
        order("ORDERS#{shard}", "shard = { by = \"orderId\", count = 10 }"),
        order("ORDERS#{shard}", "shard = { by = \"customer\", count = 10 }"),
        order("ORDERS", ""),
    ];
    for old in &models {
        let items: Vec<Item> = Generator::new(old, 5, 80).items().collect();
        for new in &models {
            let (moved, violations) = migrated(old, new, &items);
            assert_eq!((moved.len(), violations), (items.len(), 0));
            let (back, violations) = migrated(new, old, &moved);
            assert_eq!(violations, 0);
            assert!(items.iter().all(|item| back.iter().any(|other| is_same(item, other))));
        }
    }
}

#[test]
fn an_entity_is_split_by_conditions_and_merged_again() {
    let one = model_with(
        "[entity.Pet]\nattributes = { petId = \"id\", kind = \"CAT|DOG\", name = \"string\" }\nkey = [\"PET#{petId}\", \"PET\"]\n",
    );
    let split = |cat: &str, dog: &str| {
        let entity = |name: &str, was: &str| {
            format!(
                "[entity.{name}]\nwas = \"{was}\"\nattributes = {{ petId = \"id\", kind = \"CAT|DOG\", name = \"string\" }}\n\
                 key = [\"{0}#{{petId}}\", \"{0}\"]\n",
                name.to_uppercase()
            )
        };
        model_with(&format!("{}{}", entity("Cat", cat), entity("Dog", dog)))
    };
    let two = split("Pet where kind == 'CAT'", "Pet where kind == 'DOG'");
    let items: Vec<Item> = Generator::new(&one, 5, 60).items().collect();
    let (moved, violations) = migrated(&one, &two, &items);
    assert_eq!((moved.len(), violations), (items.len(), 0));
    assert!(moved.iter().all(|item| (item["type"] == Value::String("Cat".to_owned()))
        == (item["kind"] == Value::String("CAT".to_owned()))));
    assert_eq!(migrated(&two, &one, &moved).0.len(), items.len());
    let written = partita_design::toml_writer::write(&two, "");
    assert!(written.contains("was = \"Pet where kind == 'CAT'\""), "{written}");
    let merged = model_with(
        "[entity.Pet]\nwas = [\"Cat where kind == 'CAT'\", \"Dog where kind == 'DOG'\"]\n\
         attributes = { petId = \"id\", kind = \"CAT|DOG\", name = \"string\" }\nkey = [\"PET#{petId}\", \"PET\"]\n",
    );
    let mut plain = two.clone();
    plain.entities.iter_mut().for_each(|entity| entity.was.clear());
    let (together, violations) = migrated(&plain, &merged, &moved);
    assert_eq!((together.len(), violations), (items.len(), 0));
    let (apart, violations) = migrated(&merged, &plain, &together);
    assert_eq!((apart, violations), (moved, 0));
    let vague = split("Pet", "Pet");
    match (Transition { old: &one, new: &vague }).image(&items[0]) {
        Image::Unknown(reason) => assert!(reason.contains("Pet becomes Cat and Dog"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_get_their_new_types_where_nothing_is_lost() {
    let of = |attributes: &str, kind: &str| {
        let text = format!(
            "[entity.E]\nattributes = {{ id = \"id\", {attributes} }}\nkey = [\"E#{{id}}\", \"E\"]\n"
        );
        let text = format!(
            "format = 1\n[table]\nname = \"Table\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"{kind}\"\n{text}"
        );
        model(&text)
    };
    let old = of("n = \"string\", day = \"date\", f = \"decimal\", on = \"true|false\"", "type");
    let new = of(
        "n = \"int\", day = { type = \"timestamp\", precision = \"millisecond\" }, f = \"string\", on = \"bool\"",
        "kind",
    );
    let mut stored = item(&[
        ("PK", "E#1"),
        ("SK", "E"),
        ("type", "E"),
        ("id", "1"),
        ("n", "42"),
        ("day", "2026-04-05"),
        ("on", "true"),
    ]);
    stored.insert("f".to_owned(), Value::Number("1.50".to_owned()));
    let made = new_item(&old, &new, &stored).item;
    let text = |text: &str| Value::String(text.to_owned());
    assert_eq!(
        (&made["n"], &made["f"], &made["on"]),
        (&Value::Number("42".to_owned()), &text("1.5"), &Value::Bool(true))
    );
    assert_eq!(made["day"], text("2026-04-05T00:00:00.000Z"));
    assert_eq!((made.get("type"), &made["kind"]), (None, &text("E")), "the type attribute is renamed too");
    assert!(is_same(&new_item(&new, &old, &made).item, &stored));
    for (name, value) in [("n", "many"), ("n", "1.5")] {
        stored.insert(name.to_owned(), text(value));
        assert_eq!(
            new_item(&old, &new, &stored).item[name],
            text(value),
            "what does not fit is kept, and found by the audit"
        );
    }
    let mut later = made.clone();
    later.insert("day".to_owned(), text("2026-04-05T10:30:00.000Z"));
    assert_eq!(new_item(&new, &old, &later).item["day"], later["day"], "a time of day is not dropped");
}

#[test]
fn a_number_that_a_key_has_no_room_for_is_named_as_such() {
    let courses = |format: &str| {
        model(&support::with_table(&format!(
            "[entity.Course]\nattributes = {{ area = \"id\", no = \"int\" }}\nkey = [\"AREA#{{area}}\", \"COURSE#{{no{format}}}\"]\n"
        )))
    };
    let (old, new) = (courses(":04"), courses(":02"));
    let mut course = item(&[("PK", "AREA#a"), ("SK", "COURSE#0123"), ("type", "Course"), ("area", "a")]);
    course.insert("no".to_owned(), Value::Number("123".to_owned()));
    let image = (Transition { old: &old, new: &new }).image(&course);
    let expected = "the no of Course does not fit COURSE#{no:02}";
    assert!(matches!(&image, Image::Unknown(reason) if reason == expected), "{image:?}");
}

#[test]
fn an_item_that_has_an_attribute_under_both_names_keeps_both_values() {
    let (old, new) = (model(USERS), model(CUSTOMERS));
    let mut both = user(1);
    both.insert("email".to_owned(), both["mail"].clone());
    assert_eq!(new_item(&old, &new, &both).item.get("mail"), None, "the same value is not kept twice");
    both.insert("email".to_owned(), Value::String("stray".to_owned()));
    let image = (Transition { old: &old, new: &new }).image(&both);
    let expected =
        "Customer has both mail and email, its new name, with different values: remove one of them";
    assert!(matches!(&image, Image::Unknown(reason) if reason == expected), "{image:?}");
}

#[test]
fn what_becomes_something_else_each_time_is_not_in_its_new_form() {
    let follows = |key: &str| {
        model_with(&format!("[entity.Follow]\nattributes = {{ from = \"id\", to = \"id\" }}\nkey = {key}\n"))
    };
    let (old, new) = (follows("[\"N#{from}\", \"F#{to}\"]"), follows("[\"N#{to}\", \"F#{from}\"]"));
    let transition = Transition { old: &old, new: &new };
    let mut edge = item(&[("PK", "N#a"), ("SK", "F#b"), ("type", "Follow")]);
    let made = new_item(&old, &new, &edge).item;
    assert!(
        !transition.is_new_form(&edge) && !transition.is_new_form(&made),
        "only the keys hold the values"
    );
    edge.extend(item(&[("from", "a"), ("to", "b")]));
    let made = new_item(&old, &new, &edge).item;
    assert!(!transition.is_new_form(&edge) && transition.is_new_form(&made));
}

#[test]
fn a_value_that_only_the_key_held_becomes_an_attribute_if_a_filter_tests_it() {
    let tasks = |pattern: &str| {
        let entity = "[entity.Task]\nattributes = { taskId = \"id\", priority = \"int\" }\nkey = [\"TASK\", \"{taskId}#{priority}\"]\n";
        model_with(&format!("{entity}[pattern]\n{pattern}\n"))
    };
    let old = tasks("all = { out = 'Task*' }");
    let new = tasks("urgent = { in = ['priority'], out = 'Task*' }");
    let task = item(&[("PK", "TASK"), ("SK", "t#1"), ("type", "Task")]);
    assert_eq!(new_item(&old, &new, &task).item.get("priority"), Some(&Value::Number("1".to_owned())));
    assert_eq!(new_item(&new, &old, &task).item.get("priority"), None);
}

#[test]
fn a_value_that_only_the_key_held_becomes_an_attribute_if_items_expire_by_it() {
    let entity = "[entity.Task]\nattributes = { taskId = \"id\", end = \"int\" }\nkey = [\"TASK\", \"{taskId}#{end}\"]\n";
    let (old, new) = (model_with(entity), model_with(&format!("{entity}ttl = \"end\"\n")));
    let task = item(&[("PK", "TASK"), ("SK", "t#1"), ("type", "Task")]);
    assert_eq!(new_item(&old, &new, &task).item.get("end"), Some(&Value::Number("1".to_owned())));
}

/// Why an item is left alone.
fn obstacle(old: &Model, new: &Model, item: &Item) -> String {
    match (Transition { old, new }).image(item) {
        Image::Unknown(reason) => reason,
        other => panic!("{item:?} becomes {other:?}"),
    }
}

fn users_with(attributes: &str) -> Model {
    model(&support::with_table(&format!(
        "[entity.User]\nkey = [\"USER#{{userId}}\", \"USER\"]\n[entity.User.attributes]\nuserId = \"id\"\n{attributes}\n"
    )))
}

fn user_with(texts: &[(&str, &str)]) -> Item {
    let mut user = item(&[("PK", "USER#1"), ("SK", "USER"), ("type", "User"), ("userId", "1")]);
    user.extend(item(texts));
    user
}

#[test]
fn a_rename_takes_the_place_of_an_attribute_that_the_old_model_has_too() {
    let old = users_with("name = \"string?\"\nnick = \"string?\"");
    let new = users_with("name = { type = \"string\", was = \"nick\" }");
    let both = user_with(&[("name", "Ann"), ("nick", "annie")]);
    assert!(obstacle(&old, &new, &both).contains("both nick and name, its new name"));
    let renamed = new_item(&old, &new, &user_with(&[("nick", "annie")])).item;
    assert_eq!(renamed, user_with(&[("name", "annie")]));
    assert_eq!(new_item(&old, &new, &renamed).item, renamed, "idempotent");
    assert_eq!(new_item(&new, &old, &renamed).item, renamed, "what has a name of its own keeps it");
}

#[test]
fn text_becomes_a_number_only_if_the_number_has_the_same_text() {
    let (old, new) = (users_with("zip = \"string\""), users_with("zip = \"decimal\""));
    let zip = |text: &str| new_item(&old, &new, &user_with(&[("zip", text)])).item["zip"].clone();
    let digits = "9".repeat(38);
    for text in ["123", "-1.5", "0", &digits] {
        assert_eq!(zip(text), Value::Number(text.to_owned()));
    }
    for text in ["00123", "1.50", "+5", "1e3", "-0", " 1", &format!("{digits}9")] {
        assert_eq!(zip(text), Value::String(text.to_owned()), "it stays, and the audit names it");
    }
}

#[test]
fn what_a_value_is_computed_from_has_a_text() {
    let text = "first = \"string\"\nlast = \"string?\"\ntags = \"list?\"\nlabel = { type = \"string\", computed = \"{first} {last}\" }";
    let (old, new) =
        (users_with("first = \"string\"\nlast = \"string?\"\ntags = \"list?\""), users_with(text));
    let mut user = user_with(&[("first", "Ada"), ("last", "Byron")]);
    assert_eq!(new_item(&old, &new, &user).item["label"], Value::String("Ada Byron".to_owned()));
    user.insert("last".to_owned(), Value::Null);
    assert_eq!(new_item(&old, &new, &user).missing, ["label"], "null is no text");
    let findings = read(&Source::new(
        "model.toml",
        support::with_table(&format!(
            "[entity.User]\nkey = [\"USER#{{userId}}\", \"USER\"]\n[entity.User.attributes]\nuserId = \"id\"\n{}\n",
            text.replace("{last}", "{tags}")
        )),
    ));
    assert!(format!("{findings:?}").contains("label is computed from tags, which has no text"));
    let number = users_with(&text.replace("label = { type = \"string\"", "label = { type = \"int\""));
    user.insert("last".to_owned(), Value::String("Byron".to_owned()));
    assert_eq!(new_item(&old, &number, &user).missing, ["label"], "a name is no number");
}

#[test]
fn what_was_computed_is_told_from_what_the_application_has_set() {
    let names = "first = \"string\"\nlast = \"string\"";
    let label = "label = { type = \"string\", computed = \"{first} {last}\" }\n\
                 short = { type = \"string\", computed = \"{label}.\" }";
    let (old, new) = (users_with(names), users_with(&format!("{names}\n{label}")));
    let transition = Transition { old: &old, new: &new };
    let former = |label: &str| {
        let texts = [("first", "Ada"), ("last", "Byron"), ("label", label), ("short", "Ada Byron.")];
        user_with(&texts)
    };
    let rest = transition.without_computed(&former("Ada Byron"));
    assert!(!rest.contains_key("label") && !rest.contains_key("short"), "{rest:?}");
    let rest = transition.without_computed(&former("Countess"));
    assert!(rest.contains_key("label") && rest.contains_key("short"), "{rest:?}");
}

#[test]
fn a_new_key_is_free_if_it_holds_what_the_old_key_does_not_show() {
    let users = |key: &str| {
        model(&support::with_table(&format!(
            "[entity.User]\nattributes = {{ userId = \"id\", team = \"id\", at = \"timestamp\" }}\nkey = [{key}]\n"
        )))
    };
    let free = |old: &Model, new: &Model| !(Transition { old, new }).entities_with_free_keys().is_empty();
    let (plain, of_team) = ("\"USER#{userId}\", \"USER\"", "\"TEAM#{team}\", \"USER#{userId}\"");
    let (monthly, daily) = ("\"MONTH#{at:month}\", \"USER#{userId}\"", "\"USER#{userId}\", \"DAY#{at:day}\"");
    let lower = "\"USER#{userId:lower}\", \"USER\"";
    let sharded =
        "\"USER#{shard}\", \"USER#{userId}\"]\nshard = { by = \"userId\", count = 4 }\nunique = [\"team\"";
    let random = "\"USER#{shard}\", \"USER#{userId}\"]\nshard = { count = 4 }\nunique = [\"team\"";
    for (old, new, is_free) in [
        (plain, "\"U#{userId}\", \"U\"", false),
        (plain, of_team, true),
        (of_team, plain, false),
        (daily, monthly, false),
        (monthly, daily, true),
        (plain, lower, false),
        (lower, plain, true),
        (plain, sharded, false),
        (plain, random, true),
        (random, random, false),
    ] {
        assert_eq!(free(&users(old), &users(new)), is_free, "{old} {new}");
    }
    let pets = "[entity.Pet]\nattributes = { petId = \"id\", kind = \"string\" }\nkey = [\"PET#{petId}\", \"PET\"]\n";
    let kind = |name: &str| {
        let key = name.to_uppercase();
        format!(
            "[entity.{name}]\nwas = \"Pet where kind == '{key}'\"\nattributes = {{ petId = \"id\", kind = \"string\" }}\n\
             key = [\"{key}#{{petId}}\", \"PET\"]\n"
        )
    };
    let kinds = model(&support::with_table(&(kind("Cat") + &kind("Dog"))));
    assert!(free(&model(&support::with_table(pets)), &kinds), "its kind is not in the key");
}

#[test]
fn new_forms_of_one_item_have_the_same_lineage_and_versions_have_none() {
    let documents = |key: &str, rest: &str| {
        model(&support::with_table(&format!(
            "[entity.Doc]\nattributes = {{ docId = \"id\", number = \"int\" }}\nkey = [\"DOC#{{docId}}\", \"{key}\"]\n{rest}"
        )))
    };
    let old = documents("DOC", "");
    let (numbered, versions) =
        (documents("N#{number:04}", ""), documents("N#{number:04}", "versions = \"number\"\n"));
    let document = |id: &str, number: u32| {
        let (key, sort) = (format!("DOC#{id}"), format!("N#{number:04}"));
        let mut document = item(&[("PK", &key), ("SK", &sort), ("type", "Doc"), ("docId", id)]);
        document.insert("number".to_owned(), Value::Number(number.to_string()));
        document
    };
    let lineage =
        |new: &Model, id: &str, number: u32| Transition { old: &old, new }.lineage(&document(id, number));
    assert!(lineage(&numbered, "7", 1).is_some());
    assert_eq!(lineage(&numbered, "7", 1), lineage(&numbered, "7", 2));
    assert_ne!(lineage(&numbered, "7", 1), lineage(&numbered, "8", 1));
    assert_eq!(lineage(&versions, "7", 1), None);
}

#[test]
fn attributes_of_the_application_are_never_taken_for_keys_or_types() {
    let text = |index: &str| {
        format!(
            "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n{index}\n\
             [entity.User]\nattributes = {{ userId = \"id\" }}\nkey = [\"USER#{{userId}}\", \"USER\"]\n"
        )
    };
    let index = "[index.GSI1]\nkeys = [\"owner\"]\n[entity.Team]\nattributes = { teamId = \"id\", owner = \"string\" }\n\
                 key = [\"TEAM#{teamId}\", \"TEAM\"]\nindex.GSI1 = { key = [\"{owner}\"] }";
    let (plain, indexed) = (model(&text("")), model(&text(index)));
    let user = user_with(&[("owner", "Ann")]);
    let expected = "User has an attribute owner of its own, and the new model a key or a type of that name: rename one of them";
    assert_eq!(obstacle(&plain, &indexed, &user), expected);
    assert_eq!(new_item(&indexed, &indexed, &user).item, user, "what was there before stays");
    assert_eq!(new_item(&indexed, &plain, &user).item, user);
    let people = model(
        "format = 1\n[table]\nname = \"People\"\nkeys = [\"userId\"]\n[entity.User]\nattributes = { userId = \"id\" }\n",
    );
    let person = item(&[("userId", "1")]);
    assert_eq!(new_item(&people, &plain, &person).item, user_with(&[]));
    for (name, value) in [("type", "VIP"), ("PK", "mine")] {
        let mut own = person.clone();
        own.insert(name.to_owned(), Value::String(value.to_owned()));
        assert_eq!(obstacle(&people, &plain, &own), expected.replace("owner", name));
    }
}

#[test]
fn an_index_key_that_does_not_follow_from_the_values_any_more_is_made_anew() {
    let index = "index.GSI1 = { key = [\"MAIL#{mail}\"] }";
    let text = |index: &str| {
        format!(
            "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n[index.GSI1]\nkeys = [\"GSI1PK\"]\n\
             [entity.User]\nattributes = {{ userId = \"id\", mail = \"string?\" }}\nkey = [\"USER#{{userId}}\", \"USER\"]\n{index}\n"
        )
    };
    let (old, new) = (model(&text("")), model(&text(index)));
    let made = new_item(&old, &new, &user_with(&[("mail", "a")])).item;
    assert_eq!(made, user_with(&[("mail", "a"), ("GSI1PK", "MAIL#a")]));
    // The application changes the address and knows nothing of the index.
    let stale = user_with(&[("mail", "b"), ("GSI1PK", "MAIL#a")]);
    assert_eq!(new_item(&old, &new, &stale).item, user_with(&[("mail", "b"), ("GSI1PK", "MAIL#b")]));
    let own = user_with(&[("mail", "a"), ("GSI1PK", "mine")]);
    assert!(obstacle(&old, &new, &own).contains("an attribute GSI1PK of its own"));
}

#[test]
fn what_no_table_can_store_is_left_alone() {
    let old = users_with("mail = \"string\"");
    let long = |bytes: usize| "x".repeat(bytes);
    let level = users_with("mail = \"string\"\nlevel = { type = \"string\", default = \"a longer text\" }");
    let large = user_with(&[("mail", &long(409_560))]);
    assert_eq!(obstacle(&old, &level, &large), "User in its new form is larger than 400 KB");
    assert_eq!(new_item(&old, &old, &large).item, large);
    let keyed = |entity: &str| {
        model(&format!(
            "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n[index.GSI1]\nkeys = [\"GSI1PK\"]\n\
             [entity.User]\nattributes = {{ userId = \"id\", mail = \"string\" }}\n{entity}\n"
        ))
    };
    let key = "key = [\"USER#{userId}\", \"USER\"]";
    for (new, mail, expected) in [
        (
            keyed("key = [\"USER#{userId}\", \"USER#{mail}\"]"),
            long(1_100),
            "User in its new form has a SK, a key of the table, that is longer than 1024 bytes",
        ),
        (
            keyed(&format!("{key}\nindex.GSI1 = {{ key = [\"{{mail}}\"] }}")),
            String::new(),
            "the mail of User does not fit {mail}",
        ),
        (
            keyed(&format!("{key}\nunique = [\"mail\"]")),
            long(1_100),
            "the marker of a unique value of User has a SK, a key of the table, that is longer than 1024 bytes",
        ),
    ] {
        assert_eq!(obstacle(&old, &new, &user_with(&[("mail", &mail)])), expected);
        new_item(&old, &new, &user_with(&[("mail", "a")]));
    }
    let unique = keyed(&format!("{key}\nunique = [\"mail\"]"));
    let back = new_item(&unique, &old, &user_with(&[("mail", &long(2_000))]));
    assert!(back.obsolete.is_empty(), "there is no marker with such a key");
}

#[test]
fn a_marker_is_found_where_the_old_model_put_it() {
    let (old, new) = (
        model(CUSTOMERS),
        model(&CUSTOMERS.replace("Customer", "Client").replace("was = \"User\"", "was = \"Customer\"")),
    );
    let customer = new_item(&model(USERS), &old, &user(1)).item;
    let client = new_item(&old, &new, &customer);
    let marker = client.companions.iter().find(|companion| companion.entity.is_none()).unwrap();
    let key = |name: &str| Value::String(format!("UNIQUE#{name}#email#1@example.com"));
    assert_eq!(marker.item["PK"], key("Client"));
    assert_eq!(marker.old_key.as_ref().unwrap()["PK"], key("Customer"));
    assert_eq!(client.obsolete.len(), 1);
}

#[test]
fn a_value_that_only_the_future_copy_has_is_not_overwritten() {
    let cards = |rest: &str| {
        model(&support::with_table(&format!(
            "[entity.User]\nattributes = {{ userId = \"id\", name = \"string\" }}\nkey = [\"USER#{{userId}}\", \"USER\"]\n\
             [entity.Card]\nattributes = {{ userId = \"id\", name = \"string\", colour = \"string?\" }}\n{rest}\n"
        )))
    };
    let old = cards("key = [\"CARD#{userId}\", \"CARD\"]");
    let new = cards("key = [\"CARD2#{userId}\", \"CARD\"]\ncopies = \"User\"");
    let transition = Transition { old: &old, new: &new };
    let made = new_item(&old, &new, &user_with(&[("name", "Ann")])).companions.remove(0);
    let card = |name: &str| {
        item(&[
            ("PK", "CARD#1"),
            ("SK", "CARD"),
            ("type", "Card"),
            ("userId", "1"),
            ("name", name),
            ("colour", "red"),
        ])
    };
    let original = user_with(&[("name", "Ann")]);
    let overwritten = |card: &Item| {
        let wanted = transition.completed_copy(made.entity.unwrap(), &made.item, card);
        transition.overwritten(made.entity.unwrap(), &original, &wanted, card)
    };
    assert_eq!(overwritten(&card("Ann")), None);
    let expected = "Card becomes a copy, and its name is not that of its original";
    assert_eq!(overwritten(&card("Annie")).as_deref(), Some(expected));
}

/// Users with copies by their names.
const BY_NAME: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.User]
attributes = { userId = "id", name = "string" }
key = ["USER#{userId}", "USER"]
unique = ["name"]
[entity.ByName]
attributes = { userId = "id", name = "string" }
copies = "User"
key = ["NAME#{userId}", "NAME"]
"#;

fn copy_by_name(texts: &[(&str, &str)]) -> Item {
    let own = [("PK", "NAME#1"), ("SK", "NAME"), ("type", "ByName"), ("userId", "1"), ("name", "Ann")];
    let mut copy = item(&own);
    copy.extend(item(texts));
    copy
}

#[test]
fn a_value_that_only_a_copy_has_is_neither_overwritten_nor_deleted() {
    let old = model(BY_NAME);
    let renamed = BY_NAME
        .replace("name = \"string\"", "title = { type = \"string\", was = \"name\" }, level = \"int?\"")
        .replace("unique = [\"name\"]", "unique = [\"title\"]")
        .replace("\"type\"\n", "\"kind\"\n");
    let original = user_with(&[("name", "Ann")]);
    for new in [model(&renamed), model(&renamed.replace("NAME#{userId}", "TITLE#{userId}"))] {
        let transition = Transition { old: &old, new: &new };
        let made = new_item(&old, &new, &original).companions.pop().unwrap();
        let overwritten = |original: &Item, present: &Item| {
            let wanted = transition.completed_copy(made.entity.unwrap(), &made.item, present);
            transition.overwritten(made.entity.unwrap(), original, &wanted, present)
        };
        let is_redundant =
            |copy: &Item| matches!(transition.image(copy), Image::Copy { is_redundant: true, .. });
        for (texts, expected) in [
            (&[][..], None),
            (&[("name", "an earlier name")], None),
            (&[("own", "X")], None),
            (&[("title", "Other")], Some("ByName becomes a copy, and its title is not that of its original")),
            (&[("level", "7")], Some("ByName becomes a copy, and its level is not that of its original")),
            (
                &[("kind", "mine")],
                Some(
                    "ByName has an attribute kind of its own, and the new model a key or a type of that name: rename one of them",
                ),
            ),
        ] {
            let copy = copy_by_name(texts);
            assert_eq!(overwritten(&original, &copy).as_deref(), expected);
            assert_eq!(is_redundant(&copy), texts.iter().all(|(name, _)| *name == "name"), "{texts:?}");
        }
        let mut in_new_form = made.item.clone();
        assert!(is_redundant(&in_new_form), "a repetition knows it");
        in_new_form.extend(item(&[("title", "an earlier title")]));
        let renamed_original = new_item(&old, &new, &original).item;
        assert_eq!(overwritten(&renamed_original, &in_new_form), None, "it gets the value of its original");
    }
}

#[test]
fn an_item_whose_key_and_attributes_disagree_is_left_alone() {
    let users = |key: &str| {
        model_with(&format!(
            "[entity.User]\nattributes = {{ userId = \"id\" }}\nkey = [\"{key}#{{userId}}\", \"USER\"]\n"
        ))
    };
    let (old, new) = (users("USER"), users("CUST"));
    let user = |key: &str| item(&[("PK", key), ("SK", "USER"), ("type", "User"), ("userId", "1")]);
    assert_eq!(new_item(&old, &new, &user("USER#1")).item, user("CUST#1"));
    for key in ["USER#2", "CUST#2"] {
        let expected = "the key of User and its attributes disagree: correct one of them";
        assert_eq!(obstacle(&old, &new, &user(key)), expected);
    }
}

#[test]
fn a_value_is_not_taken_from_a_key_that_leaves_its_end_open() {
    let texts = |key: &str| {
        model_with(&format!(
            "[entity.Text]\nattributes = {{ id = \"id\", a = \"string\", b = \"string\" }}\nkey = [\"T#{{id}}\", \"{key}\"]\n"
        ))
    };
    let (old, new) = (texts("{a}#{b}"), texts("TEXT"));
    let text = |sort: &str| item(&[("PK", "T#1"), ("SK", sort), ("type", "Text"), ("id", "1")]);
    let expected = "Text has its a in its key only, where several delimiters leave its end open";
    assert_eq!(obstacle(&old, &new, &text("x#y#z")), expected);
    let clear = new_item(&old, &new, &text("x#y")).item;
    assert_eq!((&clear["a"], &clear["b"]), (&Value::String("x".to_owned()), &Value::String("y".to_owned())));
    assert_eq!(
        new_item(&old, &old, &text("x#y#z")).item,
        text("x#y#z"),
        "a key that stays says what it said"
    );
}

#[test]
fn items_keep_the_shard_that_they_have_under_another_key() {
    let counters = |key: &str| {
        model_with(&format!(
            "[entity.Part]\nattributes = {{ id = \"id\", votes = \"int\" }}\nkey = [\"{key}#{{id}}#{{shard}}\", \"PART\"]\nshard = {{ count = 10 }}\n"
        ))
    };
    let (old, new) = (counters("CAND"), counters("CANDIDATE"));
    for shard in ["0", "5", "7"] {
        let part = |key: &str| {
            item(&[("PK", &format!("{key}#a#{shard}")), ("SK", "PART"), ("type", "Part"), ("id", "a")])
        };
        assert_eq!(new_item(&old, &new, &part("CAND")).item, part("CANDIDATE"));
    }
}

#[test]
fn a_value_that_only_the_old_key_holds_stays_although_the_new_model_does_not_declare_it() {
    let old = model_with(
        "[entity.User]\nattributes = { userId = \"id\", level = \"int\" }\nkey = [\"USER#{userId}\", \"LEVEL#{level:04}\"]\n",
    );
    let new =
        model_with("[entity.User]\nattributes = { userId = \"id\" }\nkey = [\"USER#{userId}\", \"USER\"]\n");
    let user = item(&[("PK", "USER#1"), ("SK", "LEVEL#0042"), ("type", "User")]);
    assert_eq!(new_item(&old, &new, &user).item["level"], Value::Number("42".to_owned()));
}

#[test]
fn a_value_that_the_key_holds_in_lower_case_only_is_left_where_it_is() {
    let users = |sort: &str| {
        model_with(&format!(
            "[entity.User]\nattributes = {{ userId = \"id\", name = \"string\" }}\nkey = [\"USER#{{userId}}\", \"{sort}\"]\n"
        ))
    };
    let (old, new) = (users("NAME#{name:lower}"), users("USER"));
    let mut user = item(&[("PK", "USER#1"), ("SK", "NAME#ann"), ("type", "User"), ("userId", "1")]);
    assert_eq!(obstacle(&old, &new, &user), "User has its name in its key only, in lower case");
    user.insert("name".to_owned(), Value::String("Ann".to_owned()));
    assert_eq!(new_item(&old, &new, &user).item["SK"], Value::String("USER".to_owned()));
}

#[test]
fn an_item_without_a_type_is_not_taken_for_what_has_such_a_key() {
    let users = "[entity.User]\nattributes = { userId = \"id\", name = \"string\" }\nkey = [\"USER#{userId}\", \"USER\"]\n";
    let copy = "[entity.ByName]\ncopies = \"User\"\nattributes = { userId = \"id\", name = \"string\" }\nkey = [\"NAME#{name}\", \"{userId}\"]\n";
    let (old, new) =
        (model(&support::with_table(users)), model(&support::with_table(&format!("{users}{copy}"))));
    let (forth, back) = (Transition { old: &old, new: &new }, Transition { old: &new, new: &old });
    let own = item(&[("PK", "NAME#order"), ("SK", "7"), ("note", "mine")]);
    let bare = item(&[("PK", "NAME#order"), ("SK", "8")]);
    for foreign in [&own, &bare] {
        for transition in [forth, back] {
            let image = transition.image(foreign);
            assert!(matches!(image, Image::Unknown(_)), "{foreign:?} becomes {image:?}");
        }
        let stays = (Transition { old: &new, new: &new }).image(foreign);
        assert!(matches!(stays, Image::Copy { is_redundant: false, .. }), "it is not removed: {stays:?}");
    }
    let made = new_item(&old, &new, &user_with(&[("name", "Ann")])).companions.remove(0).item;
    assert!(matches!(forth.image(&made), Image::Copy { is_redundant: true, .. }), "a repetition knows it");
    assert!(matches!(back.image(&made), Image::Dropped));
    let mut noted = made.clone();
    noted.extend(item(&[("note", "mine")]));
    assert!(
        matches!(forth.image(&noted), Image::Copy { is_redundant: false, .. }),
        "it has a value of its own"
    );
}

#[test]
fn a_value_that_the_model_does_not_generate_stays_on_the_way_back() {
    let index = "[index.GSI1]\nkeys = [\"G1P\", \"G1S\"]\n";
    let users = "[entity.User]\nattributes = { userId = \"id\", status = \"string\" }\nkey = [\"USER#{userId}\", \"USER\"]\n";
    let indexed = format!("{users}index.GSI1 = {{ key = [\"ST#{{status}}\", \"{{userId}}\"] }}\n");
    let old = model(&support::with_table(users));
    let new = model(&support::with_table(&format!("{index}{indexed}")));
    let user = user_with(&[("status", "x")]);
    for (name, value) in [("G1P", "mine"), ("G1S", "mine")] {
        let mut own = user.clone();
        own.extend(item(&[(name, value)]));
        assert!(obstacle(&old, &new, &own).contains(&format!("an attribute {name} of its own")));
        assert_eq!(new_item(&new, &old, &own).item, own);
    }
    for status in ["x", "an earlier status"] {
        let mut made = user.clone();
        made.extend(item(&[("G1P", &format!("ST#{status}")), ("G1S", "1")]));
        assert_eq!(new_item(&new, &old, &made).item, user);
        assert_eq!(new_item(&new, &new, &made).item["G1P"], Value::String("ST#x".to_owned()), "made anew");
    }
    let untyped = |text: &str| model(&text.replace("type_attribute = \"type\"\n", ""));
    let kinds = |text: &str| model(&text.replace("\"type\"\n", "\"kind\"\n"));
    let text = support::with_table(users);
    let (old, new) = (untyped(&text), kinds(&text));
    let kind = |kind: &str| {
        item(&[("PK", "USER#1"), ("SK", "USER"), ("userId", "1"), ("status", "x"), ("kind", kind)])
    };
    assert_eq!(new_item(&new, &old, &kind("mine")).item, kind("mine"));
    assert_eq!(new_item(&new, &old, &kind("User")).item.get("kind"), None);
}

#[test]
fn a_default_and_a_computed_value_take_the_place_of_null() {
    let old = users_with("name = \"string\"");
    let new = users_with(
        "name = \"string\"\nlevel = { type = \"string\", default = \"low\" }\nlabel = { type = \"string\", computed = \"{name}!\" }",
    );
    let mut user = user_with(&[("name", "Ann")]);
    user.extend([("level".to_owned(), Value::Null), ("label".to_owned(), Value::Null)]);
    let made = new_item(&old, &new, &user);
    assert_eq!(made.item, user_with(&[("name", "Ann"), ("level", "low"), ("label", "Ann!")]));
    assert!(made.missing.is_empty());
}

#[test]
fn a_value_that_only_the_key_holds_gets_its_new_type_there() {
    let events = |kind: &str| {
        model_with(&format!(
            "[entity.Event]\nattributes = {{ cid = \"id\", at = \"{kind}\" }}\nkey = [\"C#{{cid}}\", \"E#{{at}}\"]\n"
        ))
    };
    let event =
        |at: &str| item(&[("PK", "C#1"), ("SK", &format!("E#{at}")), ("type", "Event"), ("cid", "1")]);
    let (old, new) = (events("timestamp"), events("date"));
    assert_eq!(new_item(&old, &new, &event("2026-01-01T00:00:00Z")).item, event("2026-01-01"));
    assert_eq!(new_item(&new, &old, &event("2026-01-01")).item, event("2026-01-01T00:00:00Z"));
    let noon = event("2026-01-01T12:00:00Z");
    assert_eq!(new_item(&old, &new, &noon).item, noon, "it would lose the hour");
}

#[test]
fn what_the_old_model_does_not_describe_becomes_no_item_of_another_table() {
    let old = users_with("name = \"string\"");
    let people = model(
        "format = 1\n[table]\nname = \"People\"\nkeys = [\"userId\"]\n[entity.User]\nattributes = { userId = \"id\", name = \"string\" }\n",
    );
    let invoice =
        item(&[("PK", "INVOICE#7"), ("SK", "INVOICE"), ("type", "Invoice"), ("userId", "1"), ("name", "n")]);
    let transition = Transition { old: &old, new: &people };
    assert!(matches!(transition.image_elsewhere(&invoice), Image::Unknown(_)));
    let Image::Item(user) = transition.image_elsewhere(&user_with(&[("name", "Ann")])) else { panic!() };
    let in_new_form = item(&[("userId", "1"), ("name", "Ann")]);
    assert_eq!(user.item, in_new_form);
    assert_eq!(new_item(&old, &people, &in_new_form).item, in_new_form, "a repetition knows it");
    assert!(
        matches!(transition.image_elsewhere(&in_new_form), Image::Unknown(_)),
        "nobody has written it there"
    );
    let mut other = user_with(&[("name", "Ann")]);
    other.insert("type".to_owned(), Value::String("Guest".to_owned()));
    assert!(matches!(transition.image_elsewhere(&other), Image::Unknown(_)), "a key alone is not enough");
    let untyped = model(
        "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\n[entity.User]\nattributes = { userId = \"id\" }\n\
         key = [\"{userId}\", \"{userId}\"]\n",
    );
    let transition = Transition { old: &old, new: &untyped };
    let mut foreign = item(&[("PK", "7"), ("SK", "7")]);
    assert!(
        matches!(transition.image_elsewhere(&foreign), Image::Item(_)),
        "migrated where it is, but not to its end"
    );
    foreign.insert("type".to_owned(), Value::String("Invoice".to_owned()));
    assert!(matches!(transition.image_elsewhere(&foreign), Image::Unknown(_)));
}

#[test]
fn an_item_that_is_left_alone_has_the_markers_and_copies_of_its_key_and_of_its_attributes() {
    let old = model(BY_NAME);
    let new =
        model(&BY_NAME.replace("USER#{userId}", "USER2#{userId}").replace("NAME#{userId}", "NAME2#{userId}"));
    let transition = Transition { old: &old, new: &new };
    let has = |item: &Item, partition: &str| {
        let mut keys = transition.belongings(item).into_iter();
        keys.any(|key| key["PK"] == Value::String(partition.to_owned()))
    };
    let mut user = user_with(&[("name", "Ann")]);
    user.extend(item(&[("userId", "other")]));
    for key in ["NAME#1", "NAME#other", "UNIQUE#User#name#Ann", "NAME2#other"] {
        assert!(has(&user, key), "{key}");
    }
    user.extend(item(&[("PK", "USER2#1")]));
    assert!(has(&user, "NAME2#1"), "its new form, which the application has changed");
    let name = "k".repeat(2_030);
    assert!(has(&user_with(&[("name", &name)]), "NAME#1"), "although the marker has no room in a key");
    let documents = model(
        "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n\
         [entity.Doc]\nattributes = { docId = \"id\", number = \"int\" }\nkey = [\"DOC#{docId}\", \"V#{number:04}\"]\nversions = \"number\"\n\
         [entity.Latest]\nattributes = { docId = \"id\", number = \"int\" }\ncopies = \"Doc\"\nlatest = true\nkey = [\"DOC#{docId}\", \"LATEST\"]\n",
    );
    let unnumbered = item(&[("PK", "DOC#7"), ("SK", "V#0000"), ("type", "Doc"), ("docId", "7")]);
    let transition = Transition { old: &documents, new: &documents };
    assert!(matches!(transition.image(&unnumbered), Image::Unknown(_)), "versions count from 1");
    assert_eq!(transition.belongings(&unnumbered), [item(&[("PK", "DOC#7"), ("SK", "LATEST")])]);
}

#[test]
fn markers_that_a_migration_makes_expire_with_their_item() {
    let sessions = |unique: &str, ttl: &str| {
        model(&support::with_table(&format!(
            "[entity.Session]\nattributes = {{ sessionId = \"id\", token = \"string\", {ttl} = {{ type = \"int\", min = 1{} }} }}\n\
             key = [\"SESSION#{{sessionId}}\", \"SESSION\"]\nttl = \"{ttl}\"\n{unique}",
            if ttl == "until" { ", was = \"expires\"" } else { "" }
        )))
    };
    let mut session = item(&[
        ("type", "Session"),
        ("PK", "SESSION#s1"),
        ("SK", "SESSION"),
        ("sessionId", "s1"),
        ("token", "t1"),
    ]);
    session.insert("expires".to_owned(), Value::Number("2000000000".to_owned()));
    let unique = "unique = [\"token\"]\n";
    let (plain, kept, renamed) =
        (sessions("", "expires"), sessions(unique, "expires"), sessions(unique, "until"));
    for (old, new, ttl) in [(&plain, &kept, "expires"), (&kept, &renamed, "until")] {
        let made = new_item(old, new, &session);
        assert_eq!(made.companions[0].item[ttl], Value::Number("2000000000".to_owned()), "{ttl}");
        assert!(made.obsolete.is_empty(), "the marker keeps its key");
    }
}
