//! Declared requests, tried on items made for the purpose: what they lose is an error, what they add a warning.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{Error, Warning};
use support::{findings, has, with_table};

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
