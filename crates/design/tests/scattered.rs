//! A call sends a bounded number of requests: what no caller would send is not served.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{Error, Warning};
use partita_design::keys::keyspace::Keyspace;
use partita_design::plan::plan;
use partita_design::plan::trial::{PreparedPlan, calls, known};
use partita_design::{Finding, Source, read};
use support::{findings, has, model, with_table};

/// Events of a device under shards and a time bucket, read with these options.
fn events(key: &str, shard: &str, options: &str) -> String {
    with_table(&format!(
        r##"
[entity.Event]
attributes = {{ device = "id", eventId = "id", at = "timestamp" }}
key = ["EVENT#{{device}}{key}", "{{at}}#{{eventId}}"]
{shard}
[pattern]
events = {{ in = ["device"], out = "Event*", rps = 1{options} }}
"##
    ))
}

fn sharded(count: u64) -> String {
    events("#{shard}", &format!("shard = {{ by = \"eventId\", count = {count} }}"), "")
}

fn scattered(text: &str) -> Option<Finding> {
    findings(text).into_iter().find(|finding| finding.code == "P135")
}

#[test]
fn a_key_has_a_bounded_number_of_shards() {
    for (count, severity) in [(1_000, None), (1_001, Some(Warning)), (10_000, Some(Warning))] {
        let found = scattered(&sharded(count)).map(|finding| finding.severity);
        assert_eq!(found, severity, "{count}");
    }
    assert_eq!(scattered(&sharded(10_000).replace("rps = 1", "rps = 1, importance = \"rare\"")), None);
    for count in [10_001, 4_000_000_000] {
        let text = sharded(count);
        let found = read(&Source::new("model.toml", text.clone())).unwrap_err();
        let places: Vec<&str> = found.iter().map(|finding| &text[finding.span.clone()]).collect();
        assert_eq!(places, [count.to_string()], "{found:?}");
        assert!(found[0].message.starts_with("`count` must be at most 10000"), "{found:?}");
    }
}

#[test]
fn a_pattern_is_not_served_by_more_requests_than_a_caller_sends() {
    let shards = |count: u64| format!("shard = {{ count = {count} }}");
    let year = ", range = { by = \"at\", from = \"2026-01-01\", to = \"2026-12-31\" }";
    let text = events("#{shard}#{at:day}", &shards(1_000), year);
    let found = scattered(&text).unwrap();
    assert_eq!(found.severity, Error);
    assert!(
        found
            .message
            .contains("365 thousand requests to the table, one for each of 1000 shards × 365 time buckets"),
        "{}",
        found.message
    );
    assert!(plan(&Keyspace::new(&model(&text)), &model(&text).patterns[0]).is_err());
    assert!(has(&events("#{shard}#{at:day}", &shards(10), year), "P135", Warning));
    assert_eq!(scattered(&events("#{shard}#{at:day}", &shards(2), year)), None);
    // Buckets that are read in turn end where enough is found, and what is assumed is no error.
    let newest = format!("{year}, order = \"at desc\", limit = 10");
    assert_eq!(scattered(&events("#{shard}#{at:minute}", &shards(2), &newest)), None);
    let open = ", range = \"at\"";
    assert_eq!(scattered(&events("#{shard}#{at:day}", &shards(900), open)), None);
    // Whatever the numbers are, they do not overflow.
    let ever = ", range = { by = \"at\", from = \"0001-01-01\", to = \"9999-12-31\" }";
    assert!(has(&events("#{shard}#{at:minute}", &shards(10_000), ever), "P135", Error));
}

#[test]
fn fewer_shards_are_proposed() {
    let proposed = |text: &str| scattered(text).unwrap().repair.map(|repair| repair.help).unwrap_or_default();
    let fewer = |count: u64| format!("declare shard.count = {count} for Event");
    assert_eq!(proposed(&sharded(9_000)), fewer(1_000));
    let year = ", range = { by = \"at\", from = \"2026-01-01\", to = \"2026-12-31\" }";
    assert_eq!(proposed(&events("#{shard}#{at:day}", "shard = { count = 1000 }", year)), fewer(2));
}

#[test]
fn listed_values_multiply() {
    let names = ["s", "t", "u"];
    let choices: Vec<String> = (0..30).map(|number| format!("V{number}")).collect();
    let attributes = names.map(|name| format!("{name} = \"{}\"", choices.join("|"))).join(", ");
    let listed = choices.iter().map(|choice| format!("'{choice}'")).collect::<Vec<_>>().join(", ");
    let text = |names: &[&str]| {
        let tests: Vec<String> = names.iter().map(|name| format!("{name} in ({listed})")).collect();
        let key: String = names.iter().map(|name| format!("#{{{name}}}")).collect();
        with_table(&format!(
            "[entity.Job]\nattributes = {{ jobId = \"id\", {attributes} }}\nkey = [\"JOB{key}\", \"{{jobId}}\"]\n[pattern]\njobs = {{ where = \"{}\", out = \"Job*\", rps = 1 }}\n",
            tests.join(" and ")
        ))
    };
    assert_eq!(scattered(&text(&names[..2])), None);
    let found = scattered(&text(&names)).unwrap();
    assert_eq!(found.severity, Error);
    assert!(found.message.contains("27 thousand requests"), "{}", found.message);
    assert!(found.message.contains("30 values of s × 30 values of t × 30 values of u"), "{}", found.message);
}

/// Without declared bounds, the number of buckets follows from the call.
#[test]
fn the_requests_of_a_call_are_counted_before_they_are_made() {
    let text = events("#{shard}#{at:hour}", "shard = { count = 5000 }", ", range = \"at\"");
    let model = model(&text);
    let items = support::items_of(&model, 50);
    let all = known(&model, &items);
    let pattern = &model.patterns[0];
    let keys = Keyspace::new(&model);
    let plan = plan(&keys, pattern).unwrap();
    let prepared = PreparedPlan::new(&model, pattern, &plan, &all);
    let mut call = calls(pattern, &all, 1).remove(0);
    for (to, expected) in [("2026-01-01T00:59:59Z", 5_000), ("2026-01-01T23:59:59Z", 24 * 5_000)] {
        call.range = Some(("2026-01-01T00:00:00Z".to_owned(), to.to_owned()));
        assert_eq!(prepared.most_requests(&call), expected);
    }
}
