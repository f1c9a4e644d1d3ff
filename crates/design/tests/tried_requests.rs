//! Declared requests, tried on items made for the purpose: what they lose is an error, what they add a warning.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{Error, Note, Warning};
use partita_design::{Source, read};
use support::{codes, findings, has, with_table};

/// Bookings, people and scores of a hotel, and a pattern over one of them.
fn hotel(pattern: &str) -> String {
    with_table(&format!(
        r#"[index.Multi]
keys = [["state"], ["day", "weight"]]
[entity.Booking]
attributes = {{ hotelId = "ulid", bookingId = "ulid", arrival = "date", guestId = "id", price = "int" }}
key = ["HOTEL#{{hotelId}}", "BOOKING#{{arrival}}#{{bookingId}}"]
[entity.Person]
attributes = {{ hotelId = "ulid", personId = "ulid", name = "string" }}
key = ["HOTEL#{{hotelId}}", "NAME#{{name}}#{{personId}}"]
[entity.Score]
attributes = {{ hotelId = "ulid", scoreId = "ulid", n = {{ type = "int", min = 0, max = 99999999 }} }}
key = ["HOTEL#{{hotelId}}", "N#{{n:08}}#{{scoreId}}"]
[entity.Hotel]
attributes = {{ hotelId = "ulid", title = "string" }}
key = ["HOTEL#{{hotelId}}", "A"]
[entity.Slot]
attributes = {{ hotelId = "ulid", slotId = "ulid", at = {{ type = "timestamp", precision = "minute" }}, channel = "id" }}
key = ["SLOTS#{{hotelId}}", "SLOT#{{at}}#{{channel}}#{{slotId}}"]
[entity.Job]
attributes = {{ jobId = "ulid", state = "NEW|OLD", day = "date", weight = "int" }}
key = ["JOB#{{jobId}}", "JOB"]
[pattern]
asked = {{ {pattern} }}
"#
    ))
}

/// A pattern of bookings, and the rest of its key condition.
fn bookings(pattern: &str, condition: &str) -> String {
    let condition = format!("PK = 'HOTEL#{{hotelId}}' AND {condition}");
    hotel(&format!("{pattern}, out = \"Booking*\", request = {{ condition = \"{condition}\" }}"))
}

const IN: &str = "in = [\"hotelId\"]";
const JANUARY: &str =
    "in = [\"hotelId\"], range = { by = \"arrival\", from = \"2026-01-01\", to = \"2026-01-31\" }";

#[test]
fn what_a_request_loses_is_an_error() {
    let until = "in = [\"hotelId\"], range = { by = \"arrival\", to = \"2026-01-31\" }";
    let since = "in = [\"hotelId\"], where = \"arrival >= '2026-01-01'\"";
    let by_day = "in = [\"hotelId\", \"arrival\"]";
    for (pattern, condition) in [
        (until, "SK < 'BOOKING#2026-01-31'"),
        (since, "SK > 'BOOKING#2026-01-02'"),
        (since, "SK > 'BOOKING#2030-01-01'"),
        (IN, "SK < 'BOOKING#'"),
        (by_day, "SK < 'BOOKING#{arrival}'"),
        ("in = [\"hotelId\"], range = \"arrival\"", "begins_with(SK, 'BOOKING#{arrival}')"),
    ] {
        assert!(has(&bookings(pattern, condition), "P132", Error), "{pattern} {condition}");
    }
    for request in [
        "out = \"Person*\", request = { condition = \"PK = 'HOTEL#{hotelId}' AND SK BETWEEN 'NAME#0' AND 'NAME#9'\" }",
        "out = \"Person*\", request = { condition = \"PK = 'HOTEL#{hotelId}' AND SK BETWEEN 'NAME#0' AND 'NAME#Z'\" }",
        "where = \"n > 10\", out = \"Score*\", request = { condition = \"PK = 'HOTEL#{hotelId}' AND SK >= 'N#00000500#'\" }",
        "out = [\"Hotel\", \"Booking*\"], request = { condition = \"PK = 'HOTEL#{hotelId}'\", filter = \"price == 5 or title == 'x'\" }",
    ] {
        assert!(has(&hotel(&format!("{IN}, {request}")), "P132", Error), "{request}");
    }
    let channel = "in = [\"hotelId\", \"slotId\"], out = \"Slot\", request = { condition = \"PK = 'SLOTS#{hotelId}' AND begins_with(SK, 'SLOT#{slotId}#')\" }";
    assert!(has(&hotel(channel), "P132", Error), "the wrong attribute is compared");
    for filter in ["arrival < '2026-01-15'", "arrival > '2026-01-01'"] {
        let request = format!(
            "{JANUARY}, out = \"Booking*\", request = {{ condition = \"PK = 'HOTEL#{{hotelId}}' AND begins_with(SK, 'BOOKING#')\", filter = \"{filter}\" }}"
        );
        assert!(has(&hotel(&request), "P132", Error), "{filter}");
    }
}

#[test]
fn a_minute_is_lost_by_a_bound_without_what_follows() {
    let slots = "in = [\"hotelId\"], range = { by = \"at\", from = \"2026-01-01T09:30Z\", to = \"2026-01-01T10:30Z\" }, out = \"Slot*\", \
                 request = { condition = \"PK = 'SLOTS#{hotelId}' AND SK BETWEEN 'SLOT#2026-01-01T09:30Z' AND 'SLOT#2026-01-01T10:30Z'\" }";
    assert!(has(&hotel(slots), "P107", Error));
}

#[test]
fn what_a_request_adds_is_a_warning() {
    for (pattern, condition) in [
        ("in = [\"hotelId\", \"arrival\"]", "begins_with(SK, 'BOOKING#')"),
        ("in = [\"hotelId\", \"guestId\"]", "begins_with(SK, 'BOOKING#')"),
        ("in = [\"hotelId\"], where = \"price > 100\"", "begins_with(SK, 'BOOKING#')"),
        (JANUARY, "begins_with(SK, 'BOOKING#')"),
    ] {
        assert!(has(&bookings(pattern, condition), "P133", Warning), "{pattern} {condition}");
    }
}

/// Members whose sort key in an index is an attribute of a type, and a request with a bound.
fn members(kind: &str, format: &str, bound: &str) -> String {
    with_table(&format!(
        "[index.GSI1]\nkeys = [\"G1\", \"G2\"]\n[entity.Member]\nattributes = {{ teamId = \"id\", memberId = \"id\", own = {kind} }}\n\
         key = [\"TEAM#{{teamId}}\", \"MEMBER#{{memberId}}\"]\nindex.GSI1 = {{ key = [\"TEAM#{{teamId}}\", \"{{own{format}}}#{{memberId}}\"] }}\n\
         [pattern]\nall = {{ in = [\"teamId\"], out = \"Member*\", request = {{ index = \"GSI1\", condition = \"G1 = 'TEAM#{{teamId}}' AND G2 {bound}\" }} }}\n"
    ))
}

#[test]
fn a_lower_bound_loses_what_sorts_before_it() {
    for (kind, bound) in [
        ("\"id\"", ">= '0'"),
        ("\"id\"", "BETWEEN '-' AND '\u{10FFFF}'"),
        ("\"id\"", "> '$'"),
        ("\"string\"", ">= 'A'"),
        ("\"string\"", ">= 'A0'"),
    ] {
        assert!(has(&members(kind, "", bound), "P132", Error), "{kind} {bound}");
    }
    assert!(!has(&members("\"id\"", "", ">= ' '"), "P132", Error), "nothing that is printed sorts before it");
}

#[test]
fn a_bound_that_no_value_of_the_type_exceeds_is_none() {
    let number = "{ type = \"int\", min = 0, max = 9999 }";
    for (kind, format, bound) in [
        ("\"date\"", "", "< '9999-13'"),
        ("\"date\"", "", "< '99999'"),
        ("\"date\"", "", "< '9999-12-32'"),
        ("\"date\"", ":month", "< '9999-13'"),
        ("{ type = \"timestamp\", precision = \"second\" }", "", "< '9999-13'"),
        ("\"timestamp\"", "", "<= 'A'"),
        ("\"uuid\"", "", "< 'g'"),
        ("\"uuid\"", "", "< 'fg'"),
        ("\"ulid\"", "", "< '8'"),
        ("\"OPEN|DONE\"", "", "< 'P'"),
        ("\"OPEN|DONE\"", "", ">= 'C'"),
        (number, ":04", "< 'A'"),
    ] {
        assert!(!has(&members(kind, format, bound), "P132", Error), "{kind} {bound}");
        if let Some(upper) = bound.strip_prefix("< ") {
            for included in [format!("<= {upper}"), format!("BETWEEN ' ' AND {upper}")] {
                let text = members(kind, format, &included);
                assert!(!has(&text, "P107", Error) && !has(&text, "P132", Error), "{kind} {included}");
            }
        }
    }
    for (kind, format, bound) in [
        ("\"date\"", "", "< '9999-12'"),
        ("\"uuid\"", "", "< 'f0'"),
        ("\"OPEN|DONE\"", "", "< 'OPEN'"),
        ("\"OPEN|DONE\"", "", ">= 'E'"),
        (number, ":04", "< '5000'"),
    ] {
        assert!(has(&members(kind, format, bound), "P132", Error), "{kind} {bound}");
    }
}

#[test]
fn the_last_of_many_requests_is_tried_too() {
    let right = |number: usize| {
        format!(
            "p{number} = {{ in = [\"userId\"], out = \"Order*\", request = {{ condition = \"PK = 'USER#{{userId}}' AND begins_with(SK, 'ORDER#')\" }} }}\n"
        )
    };
    let patterns: String = (0..300).map(right).collect();
    let text = with_table(&format!(
        "[entity.Order]\nattributes = {{ userId = \"id\", orderId = \"id\" }}\nkey = [\"USER#{{userId}}\", \"ORDER#{{orderId}}\"]\n\
         [pattern]\n{patterns}last = {{ in = [\"userId\"], out = \"Order*\", request = {{ condition = \"PK = 'USER#{{userId}}' AND SK BETWEEN 'ORDER#' AND 'ORDER#~'\" }} }}\n"
    ));
    let found: Vec<_> = findings(&text).into_iter().filter(|one| one.code == "P132").collect();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].subject.as_str(), found[0].severity), ("pattern.last", Error));
}

#[test]
fn right_requests_are_not_accused() {
    for (pattern, condition) in [
        (IN, "begins_with(SK, 'BOOKING#')"),
        ("in = [\"hotelId\", \"arrival\"]", "begins_with(SK, 'BOOKING#{arrival}#')"),
        (JANUARY, "SK BETWEEN 'BOOKING#2026-01-01' AND 'BOOKING#2026-01-31~'"),
        (JANUARY, "SK BETWEEN 'BOOKING#2026-01-01' AND 'BOOKING#2026-02'"),
        (
            "in = [\"hotelId\"], range = \"arrival\"",
            "SK BETWEEN 'BOOKING#{arrival}' AND 'BOOKING#{arrival}~'",
        ),
    ] {
        let found = findings(&bookings(pattern, condition));
        let wrong: Vec<_> = found.iter().filter(|one| ["P132", "P133", "P107"].contains(&one.code)).collect();
        assert!(wrong.is_empty(), "{pattern} {condition}: {wrong:?}");
    }
}

#[test]
fn what_dynamodb_refuses_is_an_error() {
    let jobs = |rest: &str| {
        hotel(&format!(
            "in = [\"state\", \"weight\"], out = \"Job*\", request = {{ index = \"Multi\", {rest} }}"
        ))
    };
    for rest in [
        "condition = \"state = '{state}' AND weight = '{weight}'\"",
        "condition = \"state = '{state}' AND day > '2026-01-01' AND weight = '{weight}'\"",
        "condition = \"state = '{state}'\", filter = \"weight > 5\"",
    ] {
        assert!(has(&jobs(rest), "P131", Error), "{rest}");
    }
}

#[test]
fn a_filter_may_test_the_type_attribute() {
    let hotels = |out: &str, filter: &str| {
        hotel(&format!(
            "{IN}, out = {out}, request = {{ condition = \"PK = 'HOTEL#{{hotelId}}'\", filter = \"{filter}\" }}"
        ))
    };
    let one = hotels("\"Hotel\"", "type = 'Hotel'");
    let billed = findings(&one).into_iter().find(|finding| finding.code == "P109").unwrap();
    assert!(billed.message.contains("billed before the filter drops it"), "{}", billed.message);
    assert!(!has(&one, "P132", Error));
    for filter in ["type = 'Hotel'", "type <> 'Hotel'", "type = 'hotel' AND attribute_exists(title)"] {
        assert!(has(&hotels("[\"Hotel\", \"Booking*\"]", filter), "P132", Error), "{filter}");
    }
    let both = hotels("[\"Hotel\", \"Booking*\"]", "type IN ('Hotel', 'Booking')");
    assert!(!has(&both, "P132", Error));
    let by_where = hotel(&format!("{IN}, where = \"type == 'Hotel'\", out = \"Hotel\""));
    let refused = read(&Source::new("t.toml", by_where)).unwrap_err();
    assert!(refused.iter().any(|finding| finding.code == "P003" && finding.help.contains("`out`")));
}

/// Orders by status and total, and a request for some of them.
fn totals(pattern: &str, condition: &str) -> String {
    with_table(&format!(
        "[index.GSI1]\nkeys = [\"GPK\", \"GSK\"]\n\
         [entity.Order]\nattributes = {{ orderId = \"id\", status = \"NEW|DONE|LOST\", \
         total = {{ type = \"int\", min = 0, max = 99999 }}, at = {{ type = \"timestamp\", precision = \"second\" }} }}\n\
         key = [\"ORDER#{{orderId}}\", \"ORDER\"]\nindex.GSI1 = {{ key = [\"STATUS#{{status}}\", \"{{total:05}}#{{at}}#{{orderId}}\"] }}\n\
         [pattern]\nsome = {{ {pattern}, out = \"Order*\", request = {{ index = \"GSI1\", condition = \"GPK = 'STATUS#{{status}}'{condition}\" }} }}\n"
    ))
}

/// The items that a request is tried with are such as the pattern means, whichever value of a type comes first.
#[test]
fn a_request_is_tried_with_items_that_meet_all_tests() {
    for status in ["NEW", "DONE", "LOST"] {
        let of_status = |rest: &str| format!("where = \"status == '{status}' and {rest}\"");
        for (rest, condition) in [
            ("total >= 1000", " AND GSK > '01000~'"),
            ("total >= 1000", " AND GSK < '00100'"),
            ("total >= 1000", " AND GSK >= '02000'"),
            ("total between 1000 and 2000", " AND GSK BETWEEN '01000' AND '01999~'"),
            ("total between 10 and 20", " AND GSK > '00100'"),
            ("(total == 7 or total >= 1000)", " AND GSK >= '00100'"),
            ("(total >= 1000 or at < '2020-01-01')", " AND GSK >= '01000'"),
            ("total >= 1000 and at >= '2026-01-01'", " AND GSK >= '01000#2026-06-01'"),
        ] {
            let text = totals(&of_status(rest), condition);
            assert!(has(&text, "P132", Error), "{status} {rest} {condition}");
        }
        for (rest, condition) in [
            ("total <= 9", ""),
            ("total > 99", " AND GSK > '00099'"),
            ("total >= 1000", " AND GSK >= '00999'"),
        ] {
            let text = totals(&of_status(rest), condition);
            let is_lost = has(&text, "P132", Error);
            assert!(!is_lost && has(&text, "P133", Warning), "{status} {rest} {condition}");
        }
        for (rest, condition) in [
            ("total >= 1000", " AND GSK >= '01000'"),
            ("total > 1000", " AND GSK > '01000#~'"),
            ("total between 1000 and 2000", " AND GSK BETWEEN '01000' AND '02000~'"),
        ] {
            let text = totals(&of_status(rest), condition);
            assert!(
                codes(&text, "pattern.some").is_empty(),
                "{status} {rest} {condition}: {:?}",
                findings(&text)
            );
        }
    }
}

#[test]
fn a_request_that_is_tried_with_nothing_that_is_meant_says_so() {
    let lists = |kind: &str| {
        with_table(&format!(
            "[entity.Page]\nattributes = {{ siteId = \"id\", pageId = \"id\", tags = \"{kind}\" }}\n\
             identity = [\"siteId\", \"pageId\"]\nkey = [\"SITE#{{siteId}}\", \"PAGE#{{pageId}}\"]\n\
             [pattern]\npages = {{ in = [\"siteId\"], where = \"contains(tags, 'new')\", out = \"Page*\", \
             request = {{ condition = \"PK = 'SITE#{{siteId}}'\", filter = \"contains(tags, 'new')\" }} }}\n"
        ))
    };
    assert!(has(&lists("list"), "P132", Note) && !has(&lists("list"), "P132", Error));
    assert!(!has(&lists("string"), "P132", Note), "{:?}", findings(&lists("string")));
}

#[test]
fn a_prefix_that_ends_in_what_a_value_may_contain_returns_more() {
    let clerks = |delimiter: &str, filter: &str| {
        with_table(&format!(
            "[entity.Clerk]\nattributes = {{ g = \"id\", clerkId = \"id\", dept = \"id\", n = \"int\" }}\nidentity = \"clerkId\"\n\
             key = [\"G#{{g}}\", \"DEPT#{{dept}}{delimiter}{{clerkId}}\"]\n[pattern]\nclerks = {{ in = [\"g\", \"dept\"], out = \"Clerk*\", \
             request = {{ condition = \"PK = 'G#{{g}}' AND begins_with(SK, 'DEPT#{{dept}}{delimiter}')\"{filter} }} }}\n"
        ))
    };
    assert!(has(&clerks("-", ""), "P133", Warning) && has(&clerks("::", ""), "P133", Warning));
    assert!(!has(&clerks("#", ""), "P133", Warning));
    assert!(!has(&clerks("-", ", filter = \"dept == '{dept}'\""), "P133", Warning));
}

/// Animals of a zoo with this sort key, and a pattern over them with a declared request.
fn zoo(sort: &str, asked: &str, request: &str) -> String {
    with_table(&format!(
        "[entity.Animal]\nattributes = {{ zooId = \"id\", kind = \"BIRD|FISH|CAT\", house = \"id\", age = {{ type = \"int\", min = 0, max = 99 }}, born = \"date\", tame = \"bool\", animalId = \"id\" }}\n\
         identity = \"animalId\"\nkey = [\"ZOO#{{zooId}}\", \"{sort}\"]\n\
         [pattern]\nsome = {{ {asked}, out = \"Animal*\", rps = 1, request = {{ condition = \"PK = 'ZOO#{{zooId}}' AND {request} }} }}\n"
    ))
}

#[test]
fn a_filter_compares_an_input_with_what_the_caller_knows() {
    for (input, constant) in
        [("kind", "'BIRD'"), ("house", "'h1'"), ("age", "7"), ("born", "'2026-01-01'"), ("tame", "true")]
    {
        let filtered = |test: &str| {
            let asked = format!("in = [\"zooId\", \"{input}\"]");
            zoo("ANIMAL#{animalId}", &asked, &format!("begins_with(SK, 'ANIMAL#')\", filter = \"{test}\""))
        };
        let own = format!("{input} == '{{{input}}}'");
        let found = findings(&filtered(&own));
        assert!(found.iter().all(|finding| finding.code == "P113"), "{own}: {found:?}");
        let found = findings(&filtered(&format!("{input} == {constant}")));
        let lost = found.iter().find(|finding| finding.code == "P132").unwrap();
        assert!(lost.severity == Error && lost.help.ends_with(&own), "{lost:?}");
        assert!(has(&filtered(&format!("{input} != '{{{input}}}'")), "P132", Error), "{input}");
        assert!(has(&filtered(&format!("{input} == '{{animalId}}'")), "P124", Error), "{input}");
    }
    let other = zoo(
        "ANIMAL#{animalId}",
        "in = [\"zooId\", \"house\"]",
        "begins_with(SK, 'ANIMAL#')\", filter = \"house == '{zooId}'\"",
    );
    assert!(has(&other, "P132", Error));
    let meant = zoo(
        "ANIMAL#{animalId}",
        "in = [\"zooId\", \"kind\"], where = \"kind == 'BIRD'\"",
        "begins_with(SK, 'ANIMAL#')\", filter = \"kind == 'BIRD'\"",
    );
    assert!(!has(&meant, "P132", Error));
}

#[test]
fn a_filter_may_compare_with_the_bounds_of_a_range() {
    let born = |test: &str| {
        let request = format!("begins_with(SK, 'ANIMAL#')\", filter = \"{test}\"");
        zoo("ANIMAL#{animalId}", "in = [\"zooId\"], range = \"born\"", &request)
    };
    assert!(!has(&born("born between '{born}' and '{born}'"), "P132", Error));
    assert!(has(&born("born > '{born}'"), "P132", Error), "the bound is included");
}

#[test]
fn a_constant_is_no_bound_that_the_caller_gives() {
    let asked = "in = [\"zooId\"], range = \"born\"";
    let born = |bounds: &str| zoo("{born}#{animalId}", asked, &format!("SK {bounds}\""));
    for (bounds, lost) in [
        ("BETWEEN '2025-03-01' AND '2025-04-30~'", "lower"),
        ("BETWEEN '2025-03-01' AND '{born}~'", "lower"),
        ("BETWEEN '{born}' AND '2025-04-30~'", "upper"),
        (">= '2025-03-01'", "lower"),
        ("< '2025-05'", "upper"),
    ] {
        let text = born(bounds);
        let found = findings(&text).into_iter().find(|finding| finding.code == "P132").unwrap();
        assert!(found.severity == Error && found.message.contains(&format!("the {lost} bound")), "{found:?}");
        assert!(found.help.ends_with("that the caller gives, {born}"), "{found:?}");
    }
    for bounds in ["BETWEEN '{born}' AND '{born}~'", "BETWEEN '0' AND '{born}~'", "< '9999-13'"] {
        assert!(!has(&born(bounds), "P132", Error), "{bounds}: {:?}", findings(&born(bounds)));
    }
    let aged = |range: &str, test: &str| {
        let asked = format!("in = [\"zooId\"], range = {range}");
        zoo("ANIMAL#{animalId}", &asked, &format!("begins_with(SK, 'ANIMAL#')\", filter = \"{test}\""))
    };
    for test in ["age between 2 and 5", "age == 3", "age >= 7", "age >= '{age}' and age < 50"] {
        assert!(has(&aged("\"age\"", test), "P132", Error), "{test}");
    }
    let declared = "{ by = \"age\", from = 2, to = 5 }";
    for (range, test) in [
        ("\"age\"", "age between '{age}' and '{age}'"),
        ("\"age\"", "age between '{age}' and '{age}' and age >= 0"),
        (declared, "age between 2 and 5"),
    ] {
        let text = aged(range, test);
        let wrong = ["P132", "P133"].iter().any(|code| codes(&text, "pattern.some").contains(code));
        assert!(!wrong, "{test}: {:?}", findings(&text));
    }
}

#[test]
fn a_prefix_that_ends_with_a_period_adds_the_rest_of_the_period() {
    let timestamp = |precision: &str| format!("{{ type = \"timestamp\", precision = \"{precision}\" }}");
    let calls = |kind: &str, period: &str, filter: &str| {
        with_table(&format!(
            "[entity.Call]\nattributes = {{ line = \"id\", callId = \"id\", at = {kind} }}\n\
             key = [\"LINE#{{line}}\", \"CALL#{{at:{period}}}#{{callId}}\"]\n[pattern]\nsome = {{ in = [\"line\", \"at\"], out = \"Call*\", \
             request = {{ condition = \"PK = 'LINE#{{line}}' AND begins_with(SK, 'CALL#{{at:{period}}}#')\"{filter} }} }}\n"
        ))
    };
    let (minutes, seconds, fractions) = (timestamp("minute"), timestamp("second"), timestamp("millisecond"));
    for (kind, periods) in [
        ("\"date\"", &["year", "month"][..]),
        ("\"timestamp\"", &["year", "month", "day", "hour", "minute"]),
        (&minutes, &["year", "month", "day", "hour"]),
        (&seconds, &["year", "month", "day", "hour", "minute"]),
        (&fractions, &["year", "month", "day", "hour", "minute"]),
    ] {
        for period in periods {
            let text = calls(kind, period, "");
            assert!(has(&text, "P133", Warning), "{kind} {period}: {:?}", findings(&text));
            let text = calls(kind, period, ", filter = \"at == '{at}'\"");
            let wrong = ["P132", "P133"].iter().any(|code| codes(&text, "pattern.some").contains(code));
            assert!(!wrong, "{kind} {period}: {:?}", findings(&text));
        }
    }
}

#[test]
fn a_range_over_a_value_adds_those_that_begin_with_it() {
    let house = |rest: &str| zoo("HOUSE#{house}#{animalId}", "in = [\"zooId\", \"house\"]", rest);
    for upper in ["~", "\u{10FFFF}", "z", "Z"] {
        let text = house(&format!("SK BETWEEN 'HOUSE#{{house}}' AND 'HOUSE#{{house}}{upper}'\""));
        assert!(has(&text, "P133", Warning), "{upper}");
    }
    let text = house("SK BETWEEN 'HOUSE#{house}#' AND 'HOUSE#{house}#\u{10FFFF}'\"");
    assert!(codes(&text, "pattern.some").is_empty(), "{:?}", findings(&text));
}

#[test]
fn an_identifier_may_sort_behind_a_tilde() {
    for (sort, asked, start) in [
        ("KIND#{kind}#{animalId}", "where = \"kind == 'BIRD'\", in = [\"zooId\"]", "KIND#BIRD#"),
        ("HOUSE#{house}#{animalId}", "in = [\"zooId\", \"house\"]", "HOUSE#{house}#"),
        ("ANIMAL#{animalId}", "in = [\"zooId\"]", "ANIMAL#"),
    ] {
        let text = zoo(sort, asked, &format!("SK BETWEEN '{start}' AND '{start}~'\""));
        let lost = findings(&text).into_iter().find(|finding| finding.code == "P132").unwrap();
        let right = format!("begins_with(SK, '{start}')");
        assert!(lost.severity == Error && lost.help.contains(&right), "{lost:?}");
        assert!(codes(&zoo(sort, asked, &format!("{right}\"")), "pattern.some").is_empty());
    }
    for upper in ["~", "Z", "$"] {
        let condition = format!("SK BETWEEN '{{born}}' AND '{{born}}{upper}'\"");
        let text = zoo("{born}#{animalId}", "in = [\"zooId\"], range = \"born\"", &condition);
        assert!(codes(&text, "pattern.some").is_empty(), "a delimiter follows a date: {:?}", findings(&text));
    }
    let early = "SK BETWEEN '{born}' AND '{born}!'\"";
    let text = zoo("{born}#{animalId}", "in = [\"zooId\"], range = \"born\"", early);
    assert!(findings(&text).iter().any(|finding| finding.severity == Error));
}

#[test]
fn a_request_may_end_within_what_follows_a_value() {
    for (field, value) in
        [("house", "{house}"), ("age", "{age}"), ("kind", "{kind}"), ("kind", "BIRD"), ("age", "7")]
    {
        let asked = match value.starts_with('{') {
            true => format!("in = [\"zooId\", \"{field}\"]"),
            false => format!("in = [\"zooId\"], where = \"{field} == '{value}'\""),
        };
        let part = |condition: &str| {
            zoo(&format!("PART#{{{field}}}#ANIMAL#{{animalId}}"), &asked, &format!("{condition}\""))
        };
        for behind in ["#", "#AN", "#ANIMAL", "#ANIMAL#"] {
            let text = part(&format!("begins_with(SK, 'PART#{value}{behind}')"));
            assert!(codes(&text, "pattern.some").is_empty(), "{value}{behind}: {:?}", findings(&text));
        }
        let text = part(&format!("SK BETWEEN 'PART#{value}#' AND 'PART#{value}#~'"));
        assert!(codes(&text, "pattern.some").is_empty(), "{value}: {:?}", findings(&text));
        if field != "kind" {
            let cut = findings(&part(&format!("begins_with(SK, 'PART#{value}')")));
            let cut = cut.iter().find(|finding| finding.code == "P106").unwrap();
            assert!(cut.help.ends_with(&format!("'PART#{value}#'")), "{cut:?}");
        }
    }
}

#[test]
fn a_prefix_may_end_with_a_choice_that_begins_no_other() {
    for (asked, prefix) in [
        ("in = [\"zooId\"], where = \"kind == 'BIRD'\"", "KIND#BIRD"),
        ("in = [\"zooId\", \"kind\"]", "KIND#{kind}"),
    ] {
        let text = zoo("KIND#{kind}#{animalId}", asked, &format!("begins_with(SK, '{prefix}')\""));
        assert!(codes(&text, "pattern.some").is_empty(), "{:?}", findings(&text));
        let longer = text.replace("BIRD|FISH", "BIRD|BIRDLIKE");
        assert!(has(&longer, "P106", Error), "{prefix}");
    }
}

#[test]
fn a_prefix_that_is_a_whole_key_is_compared() {
    let text =
        zoo("ANIMAL#{animalId}", "in = [\"zooId\", \"animalId\"]", "begins_with(SK, 'ANIMAL#{animalId}')\"");
    let cut = findings(&text).into_iter().find(|finding| finding.code == "P106").unwrap();
    assert_eq!(cut.help, "compare with the whole key: SK = 'ANIMAL#{animalId}'");
}
