//! Texts in sort keys: what follows a text takes part in the order, and a range must lose nothing by it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{Error, Note, Warning};
use partita_design::keys::keyspace::Keyspace;
use partita_design::plan::text_range::wide_range_texts;
use partita_design::plan::{SortCondition, plan};
use partita_design::report::explain;
use support::{findings, has, model, with_table};

/// Singers with this sort key, whose names have this type, and a pattern with these options.
fn singers(sort: &str, kind: &str, options: &str) -> String {
    with_table(&format!(
        "[entity.Singer]\nattributes = {{ choirId = \"uuid\", singerId = \"ulid\", name = \"{kind}\" }}\n\
         key = [\"CHOIR#{{choirId}}\", \"{sort}\"]\nexpect = {{ count = 4000, max = 400, bytes = 200 }}\n\
         [pattern]\nsingers = {{ in = [\"choirId\"], out = \"Singer*\"{options}, rps = 1 }}\n"
    ))
}

#[test]
fn an_order_by_a_text_before_a_delimiter_is_noted() {
    let order = ", order = \"name asc\"";
    for (sort, kind, is_noted) in [
        ("SINGER#{name}#{singerId}", "id", true),
        ("SINGER#{name:escaped}#{singerId}", "string", true),
        ("SINGER#{name}#{singerId}", "Ann|Ann Lee", false),
        ("SINGER#{name}#{singerId}", "Ann|Anna", false),
        ("SINGER#{name}#{singerId}", "uuid", false),
        ("SINGER#{name}", "string", false),
        ("SINGER#{name} {singerId}", "id", true),
        ("SINGER#{name} {singerId}", "Ann|Anna", false),
    ] {
        assert_eq!(has(&singers(sort, kind, order), "P105", Note), is_noted, "{sort} {kind}");
    }
    assert!(!has(&singers("SINGER#{name}#{singerId}", "id", ""), "P105", Note), "no order is asked for");
}

#[test]
fn an_order_by_a_text_before_a_delimiter_behind_letters_is_an_error() {
    let order = ", order = \"name asc\"";
    for (sort, kind, is_wrong) in [
        ("SINGER|{name}|{singerId}", "id", true),
        ("SINGER_{name}_{singerId}", "string", true),
        ("SINGER:{name}:{singerId}", "id", true),
        ("SINGER|{name}|{singerId}", "Ann|Anna", true),
        ("SINGER#{name}{singerId}", "id", true),
        ("SINGER#{name}{singerId}", "Ann|Anna", true),
        ("SINGER#{name}{singerId}", "Ann|Bob", false),
        ("SINGER#{name}#{singerId}", "Ann|Ann Lee", true),
        ("SINGER#{name:lower}#{singerId}", "Ann|Ann Lee", true),
        ("SINGER|{name}|{singerId}", "Ann|Bob", false),
        ("SINGER|{name}|{singerId}", "uuid", false),
        ("SINGER|{name}", "id", false),
        ("SINGER#{name}#{singerId}", "id", false),
    ] {
        assert_eq!(has(&singers(sort, kind, order), "P105", Error), is_wrong, "{sort} {kind}");
    }
    assert!(!has(&singers("SINGER|{name}|{singerId}", "id", ""), "P105", Error), "no order is asked for");
}

#[test]
fn a_range_of_texts_loses_nothing() {
    let names = ["An", "Ann", "Ann Lee", "Ann Z", "Ann Zoe", "Ann!", "Anna", "Ann-Z", "B"];
    for kind in ["id", "An|Ann|Ann Lee|Ann Z|Ann Zoe|Ann!|Anna|Ann-Z|B"] {
        let model = model(&singers("SINGER#{name}#{singerId}", kind, ", range = \"name\""));
        let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
        let step = &plan.steps[0];
        assert_eq!(step.filter_texts(), ["name BETWEEN :from AND :to"]);
        let known = [("choirId".to_owned(), "c".to_owned())].into();
        for (from, to) in names.iter().flat_map(|from| names.iter().map(move |to| (*from, *to))) {
            let (lower, upper) = wide_range_texts(&model, step, &known, Some(from), Some(to)).unwrap();
            for name in names.iter().filter(|name| (from..=to).contains(*name)) {
                let key = format!("SINGER#{name}#01J");
                assert!(lower <= key && key <= upper, "{name} is not between {lower} and {upper}");
            }
        }
    }
}

#[test]
fn the_filter_of_a_range_is_no_waste() {
    let range = ", range = { by = \"name\", from = \"Ann\", to = \"Ann Z\" }";
    let text = singers("SINGER#{name}#{singerId}", "id", range);
    assert!(!has(&text, "P113", Warning));
    let explained = explain::text(&model(&text), None);
    assert!(explained.contains("BETWEEN \"SINGER#Ann\" AND \"SINGER#Ann#"), "{explained}");
    assert!(explained.contains("filter  name BETWEEN :from AND :to"), "{explained}");
    // Escaped characters are elsewhere than in the text: everything is read.
    let text = singers("SINGER#{name:escaped}#{singerId}", "string", range);
    let waste = findings(&text).into_iter().find(|finding| finding.code == "P113").unwrap();
    assert!(waste.severity == Warning && waste.help.contains("holds name escaped"), "{}", waste.help);
    let is_unbounded = |text: &str| {
        let model = model(text);
        let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
        matches!(plan.steps[0].sort, SortCondition::BeginsWith(_))
    };
    assert!(is_unbounded(&text));
    // So it is before a delimiter that sorts behind letters.
    assert!(is_unbounded(&singers("SINGER~{name}~{singerId}", "id", range)));
    // Without one, longer names are before and behind the upper bound.
    assert!(is_unbounded(&singers("SINGER#{name}{singerId}", "id", range)));
}

/// Bids and offers of an auction with these sort keys.
fn auction(bid: &str, offer: &str) -> String {
    with_table(&format!(
        "[entity.Bid]\nattributes = {{ auctionId = \"uuid\", bidId = \"ulid\", price = \"int\", mode = \"ON|OFF\", level = \"ON|ONE\" }}\nkey = [\"A#{{auctionId}}\", \"{bid}\"]\n\
         [entity.Offer]\nattributes = {{ auctionId = \"uuid\", offerId = \"ulid\", price = \"int\" }}\nkey = [\"A#{{auctionId}}\", \"{offer}\"]\n"
    ))
}

#[test]
fn keys_of_different_lengths_are_different() {
    let same = |bid, offer| has(&auction(bid, offer), "P202", Error);
    assert!(!same("P#{price:04}#{bidId}", "P#{price:06}#{offerId}"));
    assert!(same("P#{price:04}#{bidId}", "P#{price:04}#{offerId}"));
    assert!(same("P#{price}#{bidId}", "P#{price:06}#{offerId}"), "4 digits or any other number");
}

#[test]
fn choices_need_no_delimiter_if_none_is_the_start_of_another() {
    let unclear = |bid| has(&auction(bid, "OFFER#{offerId}"), "P201", Error);
    assert!(!unclear("BID{mode}{bidId}"));
    assert!(unclear("BID{level}{bidId}"));
}

#[test]
fn a_key_attribute_has_one_type() {
    let mill = |kind: &str| {
        with_table(&format!(
            "[index.ByWeight]\nlocal = true\nkeys = [\"PK\", \"weight\"]\n\
             [entity.Sack]\nattributes = {{ millId = \"uuid\", sackId = \"ulid\", weight = \"int\" }}\nkey = [\"MILL#{{millId}}\", \"SACK#{{sackId}}\"]\n\
             [entity.Truck]\nattributes = {{ millId = \"uuid\", truckId = \"ulid\", weight = \"{kind}\" }}\nkey = [\"MILL#{{millId}}\", \"TRUCK#{{truckId}}\"]\n\
             [pattern]\nall = {{ in = [\"millId\"], out = [\"Sack*\", \"Truck*\"], range = \"weight\", rps = 1 }}\n"
        ))
    };
    assert!(has(&mill("string"), "P222", Error));
    let padded = findings(&mill("string")).into_iter().any(|finding| finding.help.contains("{weight:"));
    assert!(!padded, "the attribute itself is not padded");
    assert!(!has(&mill("int"), "P222", Error) && !has(&mill("decimal"), "P222", Error));
}

#[test]
fn a_delimiter_in_a_text_can_put_another_entity_into_an_answer() {
    let tags = |kind: &str, prefix: &str| {
        format!(
            r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Tag]
attributes = {{ tagId = "id", name = "{kind}" }}
key = ["TAG#{{tagId}}", "TAG"]
index.GSI1 = {{ key = ["{prefix}#{{name}}", "{{tagId}}"] }}
[entity.Topic]
attributes = {{ topicId = "id", group = "id", label = "id" }}
key = ["TOPIC#{{topicId}}", "TOPIC"]
index.GSI1 = {{ key = ["NAME#{{group}}#{{label}}", "{{topicId}}"] }}
[pattern]
topics = {{ in = ["group", "label"], out = "Topic*" }}
"#
        )
    };
    assert!(has(&tags("string", "NAME"), "P109", Note), "the tag a#b is in the answer about a and b");
    assert!(!has(&tags("id", "NAME"), "P109", Note));
    assert!(!has(&tags("string", "TAG"), "P109", Note));
}

#[test]
fn an_open_range_of_texts_says_where_its_upper_bound_ends() {
    let people = |name: &str| {
        let text = support::with_table(&format!(
            "[entity.Person]\nattributes = {{ teamId = \"id\", name = \"{name}\", personId = \"ulid\" }}\n\
             key = [\"TEAM#{{teamId}}\", \"{{name}}#{{personId}}\"]\n\
             [pattern]\nsome = {{ in = [\"teamId\"], range = \"name\", out = \"Person*\" }}\n"
        ));
        partita_design::report::explain::text(&support::model(&text), None)
    };
    assert!(
        people("string").contains("end name to before its first character that is #"),
        "{}",
        people("string")
    );
    assert!(!people("date").contains("before its first character"), "{}", people("date"));
}

#[test]
fn a_text_that_may_contain_what_follows_it_is_compared_once_more() {
    let filters = |kind: &str, sort: &str, options: &str| {
        let text = with_table(&format!(
            "[entity.Clerk]\nattributes = {{ g = \"id\", clerkId = \"id\", n = \"int\", c = \"NEW|OLD\", day = \"date\", dept = \"{kind}\" }}\n\
             identity = \"clerkId\"\nkey = [\"G#{{g}}\", \"{sort}\"]\n\
             [entity.Desk]\nattributes = {{ a = \"id\", b = \"id\" }}\nkey = [\"DESK#{{a}}#{{b}}#\", \"DESK#{{a}}#{{b}}#\"]\n[pattern]\nclerks = {{ in = [\"g\"{options}, out = \"Clerk*\", rps = 1 }}\n"
        ));
        let model = model(&text);
        let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
        plan.steps[0].filter_texts()
    };
    let of_dept = ", \"dept\"]";
    for (kind, sort) in [
        ("id", "DEPT#{dept}-{clerkId}"),
        ("id", "DEPT#{dept}::{clerkId}"),
        ("id", "DEPT#{dept}{clerkId}"),
        ("int", "DEPT#{dept}{clerkId}"),
        ("int", "DEPT#{dept}{day}#{clerkId}"),
        ("int", "DEPT#{dept}-{clerkId}"),
        ("a|a-NEW|b", "DEPT#{dept}-{c}#{clerkId}"),
        ("string", "DEPT#{dept:escaped}-{clerkId}"),
        ("string", "DEPT#{dept}#{clerkId}"),
    ] {
        assert_eq!(filters(kind, sort, of_dept), ["dept = :dept"], "{kind} {sort}");
    }
    for (kind, sort) in [
        ("id", "DEPT#{dept}#{clerkId}"),
        ("id", "DEPT#{dept}#-{clerkId}"),
        ("int", "DEPT#{dept}#{clerkId}"),
        ("int", "DEPT#{dept:04}{clerkId}"),
        ("uuid", "DEPT#{dept}-{clerkId}"),
        ("a|aNEW|b", "DEPT#{dept}-{c}#{clerkId}"),
        ("a-x|b", "DEPT#{dept}-{c}#{clerkId}"),
        ("string", "DEPT#{dept:escaped}#{clerkId}"),
    ] {
        assert!(filters(kind, sort, of_dept).is_empty(), "{kind} {sort}");
    }
    let fixed = "], where = \"dept == 'a'\"";
    assert_eq!(filters("string", "DEPT#{dept:escaped}-{clerkId}", fixed), ["dept == 'a'"]);
    // What follows such a text is nowhere for certain, unless the whole key is compared and ends in it.
    let also = ", \"dept\", \"day\"]";
    assert_eq!(filters("id", "{dept}-{day}-{clerkId}", also), ["dept = :dept", "day = :day"]);
    assert_eq!(filters("id", "{dept}#{day}-{clerkId}", also), [""; 0]);
    let whole = ", \"dept\", \"clerkId\"]";
    assert_eq!(filters("id", "{dept}-{clerkId}", whole), ["dept = :dept", "clerkId = :clerkId"]);
    assert_eq!(filters("ulid", "{dept}-{clerkId}", whole), [""; 0]);
}
