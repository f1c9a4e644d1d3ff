//! A declared request is planned as it is: where it reads, in what order, how much, and with which attributes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::Error;
use partita_design::audit::observed_read::{ObservedRead, ObservedSort, attribute_read, request_shapes};
use partita_design::capacity::cost::cost;
use partita_design::capacity::prices::{DEFAULT_PRICES, Prices};
use partita_design::generate::Generator;
use partita_design::item::Item;
use partita_design::keys::keyspace::Keyspace;
use partita_design::plan::afterwards::Afterwards;
use partita_design::plan::trial::{Page, PreparedPlan, calls, difference, expected, known};
use partita_design::plan::{Operation, plan};
use partita_design::report::{explain, sent};
use serde_json::Value;
use support::{codes, findings, has, model, with_table};

/// Cards of a board: an index has them in the order of their moves, another one without their texts.
fn cards(pattern: &str) -> String {
    with_table(&format!(
        "[index.ByMove]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n[index.Keys]\nkeys = [\"GSI2PK\", \"GSI2SK\"]\nproject = \"KEYS_ONLY\"\n\
         [entity.Board]\nattributes = {{ boardId = \"id\", title = \"string\" }}\nkey = [\"BOARD#{{boardId}}\", \"BOARD\"]\n\
         expect = {{ count = 1000, bytes = 200 }}\n\
         [entity.Card]\nattributes = {{ boardId = \"id\", cardId = \"uuid\", movedAt = {{ type = \"timestamp\", precision = \"second\" }}, text = \"string\" }}\n\
         key = [\"BOARD#{{boardId}}\", \"CARD#{{cardId}}\"]\nexpect = {{ per = \"Board\", average = 100, max = 400, bytes = 1000 }}\n\
         index.ByMove = {{ key = [\"BOARD#{{boardId}}\", \"{{movedAt}}#{{cardId}}\"] }}\n\
         index.Keys = {{ key = [\"BOARD#{{boardId}}\", \"{{movedAt}}#{{cardId}}\"] }}\n\
         [pattern]\n{pattern}\nall = {{ in = [\"boardId\"], out = [\"Board\", \"Card*\"], rps = 1 }}\n\
         ids = {{ in = [\"boardId\"], out = \"Card*\", order = \"movedAt desc\", fields = [\"cardId\"], {KEYS} }}\n"
    ))
}

const FILTERED: &str = "request = { condition = \"PK = 'BOARD#{boardId}'\", filter = \"type == 'Board'\" }";
const BY_CARD: &str = "request = { condition = \"PK = 'BOARD#{boardId}' AND begins_with(SK, 'CARD#')\" }";
const BY_MOVE: &str = "request = { index = \"ByMove\", condition = \"GSI1PK = 'BOARD#{boardId}'\" }";
const KEYS: &str = "request = { index = \"Keys\", condition = \"GSI2PK = 'BOARD#{boardId}'\" }";

#[test]
fn items_come_in_the_order_in_which_the_request_reads() {
    let recent = |request: &str| {
        cards(&format!(
            "recent = {{ in = [\"boardId\"], out = \"Card*\", order = \"movedAt desc\", limit = 10, rps = 1, {request} }}"
        ))
    };
    assert_eq!(codes(&recent(BY_CARD), "pattern.recent"), ["P103"]);
    let finding = findings(&recent(BY_CARD)).into_iter().find(|finding| finding.code == "P103").unwrap();
    assert!(finding.help.contains("leave the declared request out"), "{}", finding.help);
    assert!(codes(&recent(BY_MOVE), "pattern.recent").is_empty());
    let ordered = model(&recent(BY_MOVE));
    let text = explain::text(&ordered, Some("recent"));
    assert!(text.contains("\"Limit\":10,\"ScanIndexForward\":false"), "{text}");
    let python = sent::requests(&ordered, Some("recent"), sent::Language::Python);
    assert!(python.contains("\"IndexName\": \"ByMove\""), "{python}");
}

#[test]
fn an_index_is_neither_consistent_nor_complete() {
    let cards = |options: &str| {
        cards(&format!("some = {{ in = [\"boardId\"], out = \"Card*\", rps = 1, {options} }}"))
    };
    assert!(has(&cards(&format!("consistency = \"strong\", {BY_MOVE}")), "P111", Error));
    assert!(!has(&cards(&format!("consistency = \"strong\", {BY_CARD}")), "P111", Error));
    assert!(has(&cards(KEYS), "P112", Error));
    assert!(!has(&cards(&format!("fields = [\"cardId\"], {KEYS}")), "P112", Error));
    let completed = model(&cards(&format!("hydrate = true, {KEYS}")));
    let plan = plan(&Keyspace::new(&completed), &completed.patterns[0]).unwrap();
    let operations: Vec<&str> = plan.steps.iter().map(|step| step.operation.name()).collect();
    assert_eq!(operations, ["Query", "BatchGetItem"]);
}

#[test]
fn a_request_is_billed_for_what_it_reads() {
    let board = |request: &str| {
        model(&cards(&format!("board = {{ in = [\"boardId\"], out = \"Board\", rps = 1, {request} }}")))
    };
    for (request, bytes) in [(FILTERED, 200.0 + 100.0 * 1000.0), ("importance = \"normal\"", 200.0)] {
        let model = board(request);
        let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
        assert_eq!(plan.steps.iter().map(|step| step.bytes).sum::<f64>(), bytes, "{request}");
    }
}

#[test]
fn a_request_that_is_wider_than_necessary_is_that_of_its_pattern() {
    let text = cards(&format!("board = {{ in = [\"boardId\"], out = \"Board\", rps = 1, {FILTERED} }}"));
    // Only this pattern may read the board.
    let model =
        model(&text.replace("all = { in = [\"boardId\"], out = [\"Board\", \"Card*\"], rps = 1 }\n", ""));
    let read = ObservedRead {
        query: true,
        batch: false,
        index: None,
        partition: "BOARD#b1",
        sort: ObservedSort::None,
        forward: true,
        limit: None,
    };
    assert_eq!(attribute_read(&request_shapes(&model), &read), Some("board"));
}

#[test]
fn a_range_over_two_values_is_not_in_the_order_of_what_follows_them() {
    let recent = |condition: &str| {
        with_table(&format!(
            "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n\
             [entity.Card]\nattributes = {{ boardId = \"id\", cardId = \"ulid\", lane = \"TODO|DOING|DONE\", movedAt = \"timestamp\" }}\n\
             key = [\"BOARD#{{boardId}}\", \"CARD#{{cardId}}\"]\nexpect = {{ count = 5000, bytes = 200 }}\n\
             index.GSI1 = {{ key = [\"BOARD#{{boardId}}\", \"{{lane}}#{{movedAt}}#{{cardId}}\"] }}\n\
             [pattern]\nrecent = {{ in = [\"boardId\"], where = \"lane in ('TODO', 'DOING')\", out = \"Card*\", order = \"movedAt desc\", limit = 10, rps = 5,\
             request = {{ index = \"GSI1\", condition = \"GSI1PK = 'BOARD#{{boardId}}' AND {condition}\" }} }}\n"
        ))
    };
    let range = recent("GSI1SK BETWEEN 'DOING#' AND 'TODO#~'");
    assert!(codes(&range, "pattern.recent").contains(&"P103"), "{:?}", findings(&range));
    assert!(!has(&recent("begins_with(GSI1SK, '{lane}#')"), "P103", Error));
}

/// Wares of a brand, whose index has no attributes of theirs, and alarms beside what happens.
fn wares(pattern: &str) -> String {
    with_table(&format!(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\nproject = \"KEYS_ONLY\"\n\
         [entity.Ware]\nattributes = {{ wareId = \"ulid\", brand = \"id\", price = \"int\", state = \"NEW|OPEN|DONE\" }}\n\
         key = [\"WARE#{{wareId}}\", \"WARE\"]\nexpect = {{ count = 500, bytes = 300 }}\n\
         index.GSI1 = {{ key = [\"BRAND#{{brand}}#{{state}}\", \"WARE#{{wareId}}\"] }}\n\
         [entity.Happening]\nattributes = {{ wareId = \"ulid\", at = {{ type = \"timestamp\", precision = \"second\" }} }}\nidentity = [\"wareId\", \"at\"]\n\
         key = [\"HISTORY#{{wareId}}\", \"{{at}}\"]\n\
         [entity.Alarm]\nattributes = {{ wareId = \"ulid\", alarmId = \"id\" }}\nkey = [\"HISTORY#{{wareId}}\", \"X#{{alarmId}}\"]\n\
         [pattern]\n{pattern}\n"
    ))
}

#[test]
fn a_filter_tests_what_the_index_has() {
    let of_brand = |filter: &str| {
        let request = format!(
            "request = {{ index = \"GSI1\", condition = \"GSI1PK = 'BRAND#{{brand}}#{{state}}'\", filter = \"{filter}\" }}"
        );
        wares(&format!(
            "some = {{ in = [\"brand\", \"state\"], where = \"{filter}\", out = \"Ware*\", hydrate = true, {request} }}"
        ))
    };
    assert!(has(&of_brand("price > 5"), "P112", Error));
    let whole = of_brand("price > 5").replace("project = \"KEYS_ONLY\"\n", "");
    assert!(!has(&whole, "P112", Error));
}

#[test]
fn a_request_is_sent_for_each_value_that_the_pattern_lists() {
    let text = wares(
        "some = { in = [\"brand\"], where = \"state in ('NEW', 'OPEN')\", fields = [\"wareId\"], out = \"Ware*\", \
         request = { index = \"GSI1\", condition = \"GSI1PK = 'BRAND#{brand}#{state}'\" } }",
    );
    assert_eq!(codes(&text, "pattern.some"), [""; 0]);
    assert!(explain::text(&model(&text), Some("some")).contains("#NEW\""));
}

#[test]
fn bounds_keep_other_entities_out() {
    for (condition, is_alone) in [
        ("SK BETWEEN '2026-01-01T00:00:00Z' AND '2026-02-01T00:00:00Z'", true),
        ("begins_with(SK, '2026-01')", true),
        ("SK < 'X'", true),
        ("SK < 'X#'", true),
        ("SK <= 'X'", true),
        ("SK <= 'X#~'", false),
        ("SK > '2026-01-01T00:00:00Z'", false),
    ] {
        let text = wares(&format!(
            "some = {{ in = [\"wareId\"], out = \"Happening*\", request = {{ condition = \"PK = 'HISTORY#{{wareId}}' AND {condition}\" }} }}"
        ));
        let warned = findings(&text).iter().any(|finding| finding.code == "P109");
        assert_eq!(warned, !is_alone, "{condition}");
    }
}

/// Users and a few admins, who are in an index of their own.
fn accounts(pattern: &str) -> String {
    with_table(&format!(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n\
         [entity.User]\nattributes = {{ userId = \"id\", name = \"string\" }}\nkey = [\"USER#{{userId}}\", \"PROFILE\"]\n\
         expect = {{ count = 1000, bytes = 2000 }}\n\
         [entity.Admin]\nattributes = {{ adminId = \"id\", name = \"string\", since = \"date\" }}\nkey = [\"ADMIN#{{adminId}}\", \"PROFILE\"]\n\
         index.GSI1 = {{ key = [\"ADMINS\", \"{{adminId}}\"] }}\nexpect = {{ count = 10, bytes = 400 }}\n\
         [pattern]\nadmins = {{ out = \"Admin*\", rps = 1, {pattern} }}\n"
    ))
}

const BY_TYPE: &str = "request = { scan = true, filter = \"type == 'Admin'\" }";
const OF_INDEX: &str = "request = { scan = true, index = \"GSI1\" }";

#[test]
fn a_declared_scan_reads_all_items_whatever_the_keys_are() {
    for (pattern, items, bytes) in [
        (BY_TYPE, 1010.0, 1000.0 * 2000.0 + 10.0 * 400.0),
        (OF_INDEX, 10.0, 10.0 * 400.0),
        (&format!("limit = 5, {OF_INDEX}"), 5.0, 5.0 * 400.0),
        // Which of them are the first is known when all are read.
        (&format!("limit = 5, order = \"since desc\", {OF_INDEX}"), 10.0, 10.0 * 400.0),
    ] {
        for consistency in ["eventual", "strong"] {
            let model = model(&accounts(&format!("consistency = \"{consistency}\", {pattern}")));
            let planned = plan(&Keyspace::new(&model), &model.patterns[0]);
            let Ok(plan) = planned else {
                assert!(pattern.contains("GSI1") && consistency == "strong", "{pattern}");
                continue;
            };
            let step = &plan.steps[0];
            assert_eq!((plan.steps.len(), step.operation), (1, Operation::Scan), "{pattern}");
            assert_eq!((step.items.average, step.bytes), (items, bytes), "{pattern}");
            let each = if consistency == "strong" { 1.0 } else { 0.5 };
            assert_eq!(plan.units(), (bytes / 4096.0).ceil() * each, "{pattern}");
            assert_eq!(step.pages(), 1.0 + (bytes / 1_048_576.0).floor(), "{pattern}");
        }
    }
    let whole = model(&accounts(BY_TYPE));
    assert_eq!(codes(&accounts(BY_TYPE), "pattern.admins"), ["P114"]);
    let cost = cost(&whole, &Prices::parse(DEFAULT_PRICES).unwrap());
    assert_eq!(cost.patterns[0].units.value, 245.0);
}

#[test]
fn a_declared_scan_is_printed_as_it_is_sent() {
    let whole = model(&accounts(BY_TYPE));
    let text = explain::text(&whole, None);
    for line in [
        "1. Scan on the table, as declared\n     options eventually consistent\n",
        "filter  type == 'Admin' (after the read, billed in full)",
        "also    returns User",
        "reads   1010 items, 2 MB: 245 read units, at most 2 pages",
        "1 request, 245 read units a call, 245 a second",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("key  "), "{text}");
    let sorted = model(&accounts(&format!("limit = 5, order = \"since desc\", {OF_INDEX}")));
    let text = explain::text(&sorted, None);
    assert!(text.contains("then    sort by since, descending\n     then    keep the first 5\n"), "{text}");
    for (language, call) in [
        (
            sent::Language::Cli,
            "aws dynamodb scan --cli-input-json '{\"ExpressionAttributeNames\":{\"#f0\":\"type\"}",
        ),
        (sent::Language::Python, "client.scan(**{"),
        (sent::Language::JavaScript, "new ScanCommand({"),
        (sent::Language::Json, "\"operation\": \"Scan\""),
    ] {
        let text = sent::requests(&whole, None, language);
        assert!(text.contains(call) && text.contains("FilterExpression"), "{text}");
        assert!(!text.contains("KeyConditionExpression"), "{text}");
    }
    let text =
        sent::requests(&model(&accounts(&format!("limit = 5, {OF_INDEX}"))), None, sent::Language::Cli);
    assert!(text.contains("{\"IndexName\":\"GSI1\",\"Limit\":5,\"TableName\""), "{text}");
}

#[test]
fn a_trial_sends_the_declared_scan() {
    let text = accounts(&format!(
        "{BY_TYPE} }}\nnamed = {{ in = [\"name\"], out = \"Admin*\", limit = 1, request = {{ scan = true, filter = \"name == '{{name}}'\" }}"
    ));
    let model = model(&text);
    let items: Vec<Item> = Generator::new(&model, 1, 50).items().collect();
    let all = known(&model, &items);
    for (pattern, filter) in model.patterns.iter().zip([None, Some("#f0 = :f0")]) {
        let plan = plan(&Keyspace::new(&model), pattern).unwrap();
        let call = calls(pattern, &all, 1).remove(0);
        let mut sent = Vec::new();
        let send = |operation: &'static str, body: &Value| {
            sent.push((operation, body.clone()));
            Ok::<_, ()>(Page { items: items.clone(), ..Page::default() })
        };
        let answer = PreparedPlan::new(&model, pattern, &plan, &all).execute(&call, send).unwrap();
        let wanted = expected(&model, pattern, &call, &all);
        assert_eq!(sent[0].0, "Scan");
        assert!(sent[0].1.get("KeyConditionExpression").is_none() && sent[0].1.get("Limit").is_none());
        assert_eq!(sent[0].1.get("FilterExpression").and_then(Value::as_str), filter);
        if filter.is_none() {
            assert_eq!(difference((&model, pattern), &wanted, &answer.items, &items), None);
        } else {
            assert_eq!(answer.items.len(), 1, "continued until one is left");
        }
    }
}

/// The profile of a user, which sorts behind the orders, and notes between them.
fn profile_and_orders(pattern: &str) -> String {
    with_table(&format!(
        "[entity.User]\nattributes = {{ userId = \"id\", name = \"string\" }}\nkey = [\"USER#{{userId}}\", \"PROFILE\"]\n\
         expect = {{ count = 100, bytes = 1000 }}\n\
         [entity.Order]\nattributes = {{ userId = \"id\", orderId = \"ulid\" }}\nkey = [\"USER#{{userId}}\", \"ORDER#{{orderId}}\"]\n\
         expect = {{ per = \"User\", average = 50, max = 60, bytes = 1000 }}\n\
         [entity.Cart]\nattributes = {{ userId = \"id\" }}\nkey = [\"USER#{{userId}}\", \"CART\"]\nexpect = {{ count = 100, bytes = 1000 }}\n\
         [pattern]\nstart = {{ in = [\"userId\"], rps = 1, {pattern} }}\n\
         cart = {{ in = [\"userId\"], out = \"Cart\", rps = 1 }}\n"
    ))
}

#[test]
fn a_single_item_behind_a_list_is_read_with_all_of_it() {
    let whole = "out = [\"Cart\", \"User\", \"Order*\"], limit = 5, request = { condition = \"PK = 'USER#{userId}'\" }";
    let range = "out = [\"User\", \"Order*\"], limit = 5, request = { condition = \"PK = 'USER#{userId}' AND SK BETWEEN 'ORDER#' AND 'PROFILE'\" }";
    for (pattern, items) in [(whole, 52.0), (range, 51.0)] {
        let text = profile_and_orders(pattern);
        assert!(codes(&text, "pattern.start").is_empty(), "{:?}", findings(&text));
        let model = model(&text);
        let keys = Keyspace::new(&model);
        let plan = plan(&keys, &model.patterns[0]).unwrap();
        assert_eq!((plan.requests(), plan.split.clone()), (1.0, None), "{pattern}");
        let step = &plan.steps[0];
        assert_eq!((step.items.average, step.bytes, step.limit), (items, items * 1000.0, None), "{pattern}");
        assert_eq!(step.afterwards, [Afterwards::KeepOfAll(5)], "{pattern}");
        assert!(!explain::text(&model, Some("start")).contains("\"Limit\""), "{pattern}");
    }
}

#[test]
fn what_sorts_between_the_entities_of_a_declared_request_is_read_with_them() {
    let text = profile_and_orders(
        "out = [\"User\", \"Cart\"], request = { condition = \"PK = 'USER#{userId}' AND SK BETWEEN 'CART' AND 'PROFILE'\" }",
    );
    let between: Vec<_> =
        findings(&text).into_iter().filter(|finding| finding.subject == "pattern.start").collect();
    assert_eq!(between.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["P109"]);
    assert!(between[0].message.contains("also returns Order,"), "{}", between[0].message);
    let model = model(&text);
    let keys = Keyspace::new(&model);
    let plan = plan(&keys, &model.patterns[0]).unwrap();
    assert_eq!((plan.requests(), plan.steps[0].items.average, plan.units()), (1.0, 52.0, 6.5));
}

#[test]
fn a_single_item_is_read_without_a_limit() {
    let text = profile_and_orders("out = [\"User\", \"Order*\"], limit = 5");
    let text = explain::text(&model(&text), Some("start"));
    assert!(text.contains("1. GetItem on the table\n"), "{text}");
    assert_eq!(text.matches("Limit 5").count(), 1, "{text}");
}
