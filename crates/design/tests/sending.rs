//! Requests as they are sent: those of declared writes fit the items that `seed` generates, and those of patterns have their filters.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::exchange::item_json::encode;
use partita_design::exchange::write_requests::write_requests;
use partita_design::generate::Generator;
use partita_design::report::sent::{Language, requests};
use serde_json::{Value, json};
use std::collections::HashSet;

#[test]
fn what_is_created_is_new_and_what_is_updated_exists() {
    let text =
        std::fs::read_to_string(support::root().join("crates/design/tests/good/workshop.toml")).unwrap();
    let model = support::model(&text);
    let generator = Generator::of_examples(&model);
    let key = |item: &Value| (item["PK"].to_string(), item["SK"].to_string());
    let mut seeded = HashSet::new();
    for entity in model.entities.iter().filter(|entity| !generator.is_follower(entity)) {
        for number in generator.numbers(entity) {
            let bundle = generator.bundle(entity, number);
            seeded.extend(bundle.iter().map(|item| key(&Value::Object(encode(item)))));
        }
    }
    let mut checked = 0;
    for write in &model.writes {
        for request in write_requests(&generator, write) {
            let parts = match request.input.get("TransactItems").and_then(Value::as_array) {
                Some(items) => items
                    .iter()
                    .map(|item| item.as_object().unwrap().values().next().unwrap().clone())
                    .collect(),
                None => vec![request.input.clone()],
            };
            for part in parts {
                let creates = part["ConditionExpression"]
                    .as_str()
                    .is_some_and(|text| text.contains("attribute_not_exists"));
                let own = if part.get("Item").is_some() { &part["Item"] } else { &part["Key"] };
                assert_eq!(seeded.contains(&key(own)), !creates, "{} {part:#}", write.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 10);
    for language in [Language::Cli, Language::Python, Language::JavaScript, Language::Json] {
        let text = requests(&model, Some("accept"), language);
        assert!(text.contains("jobCount") && text.contains("attribute_not_exists(PK)"), "{text}");
    }
}

#[test]
fn what_must_be_read_before_the_greatest_value_leaves_is_said() {
    let said = |aggregates: &str, write: &str| {
        let text = support::with_table(&format!(
            "[entity.Post]\nattributes = {{ postId = \"id\" }}\nkey = [\"POST#{{postId}}\", \"POST\"]\naggregates = {{ {aggregates} }}\n\
             [entity.Like]\nattributes = {{ postId = \"id\", userId = \"id\", at = \"date\", note = \"string\" }}\nkey = [\"POST#{{postId}}\", \"LIKE#{{userId}}\"]\n\
             [pattern]\npost = {{ in = [\"postId\"], out = [\"Post\", \"Like*\"] }}\n[write]\nw = {{ transact = {write} }}\n"
        ));
        let model = support::model(&text);
        let first = |text: String| {
            text.lines().any(|line| {
                line.trim_start_matches("# ").trim().starts_with("first read all other Like of that Post")
            })
        };
        let (sent, explained) = (
            requests(&model, Some("w"), Language::Cli),
            partita_design::report::explain::text(&model, Some("w")),
        );
        assert_eq!(first(sent.clone()), first(explained.clone()), "{sent}{explained}");
        let refused = sent.contains("only with a count of the same items");
        (first(sent), refused)
    };
    let counted = "likes = \"count Like\", last = \"max Like.at\"";
    let unlike = "[\"delete Like\", \"update Post set likes, last\"]";
    assert_eq!(said(counted, unlike), (true, false));
    assert_eq!(said("last = \"max Like.at\"", "[\"delete Like\", \"update Post set last\"]"), (true, true));
    assert_eq!(said(counted, "[\"update Like set at\", \"update Post set last\"]"), (true, false));
    assert_eq!(said(counted, "[\"update Like set note\", \"update Post set last\"]"), (false, false));
    assert_eq!(said(counted, "[\"create Like\", \"update Post set likes, last\"]"), (false, false));
    assert_eq!(
        said("likes = \"count Like\"", "[\"delete Like\", \"update Post set likes\"]"),
        (false, false)
    );
}

#[test]
fn no_two_writes_of_a_model_create_the_same_item() {
    for entry in std::fs::read_dir(support::root().join("models")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let model = support::model(&std::fs::read_to_string(&path).unwrap());
        let generator = Generator::of_examples(&model);
        let mut created = HashSet::new();
        for write in &model.writes {
            for request in write_requests(&generator, write) {
                let parts = request.input["TransactItems"].as_array().cloned();
                let parts = parts.unwrap_or_else(|| vec![json!({ "Put": request.input })]);
                for put in parts.iter().map(|part| &part["Put"]) {
                    let is_new =
                        put["ConditionExpression"].as_str().is_some_and(|text| text.contains("not_exists"));
                    let key: Vec<String> =
                        model.table.keys.iter().map(|name| put["Item"][name].to_string()).collect();
                    assert!(
                        !is_new || created.insert(key.clone()),
                        "{} {}: {key:?}",
                        path.display(),
                        write.name
                    );
                }
            }
        }
    }
}

#[test]
fn bytes_are_sent_as_bytes() {
    let text = support::with_table(
        "[entity.Photo]\nattributes = { photoId = \"id\", thumbnail = \"binary\" }\nkey = [\"PHOTO#{photoId}\", \"PHOTO\"]\n\
         [pattern]\nphoto = { in = [\"photoId\"], out = \"Photo\" }\n\
         [write]\nupload = { create = \"Photo\" }\n",
    );
    let model = support::model(&text);
    let printed = |language: Language| requests(&model, Some("upload"), language);
    let python = printed(Language::Python);
    assert!(python.starts_with("from base64 import b64decode\n"), "{python}");
    assert!(python.contains("\"thumbnail\": {\"B\": b64decode(\""), "{python}");
    let javascript = printed(Language::JavaScript);
    assert!(javascript.contains("\"thumbnail\":{\"B\":Uint8Array.from(atob(\""), "{javascript}");
    let without = requests(&model, Some("photo"), Language::Python);
    assert!(without.starts_with("import boto3\n"), "{without}");
}

/// The requests that a pattern over trams and their depot sends.
fn tram_requests(pattern: &str) -> Vec<Value> {
    let text = support::with_table(&format!(
        r#"
[entity.Depot]
attributes = {{ depotId = "id", city = "string" }}
key = ["DEPOT#{{depotId}}", "DEPOT"]
[entity.Tram]
attributes = {{ depotId = "id", tramId = "id", state = "UP|DOWN|LOST", seats = "int", clean = "bool", note = "string?", at = "timestamp" }}
key = ["DEPOT#{{depotId}}", "TRAM#{{tramId}}"]
[pattern]
trams = {{ in = ["depotId"], {pattern} }}
"#
    ));
    let sent: Value = serde_json::from_str(&requests(&support::model(&text), None, Language::Json)).unwrap();
    sent[0]["requests"].as_array().unwrap().clone()
}

#[test]
fn what_a_filter_tests_is_sent() {
    for (pattern, expression, values) in [
        ("where = \"seats > 5\"", "#f0 > :f0", json!([{ "N": "5" }])),
        ("where = \"clean == true\"", "#f0 = :f0", json!([{ "BOOL": true }])),
        ("where = \"state != 'UP'\"", "#f0 <> :f0", json!([{ "S": "UP" }])),
        (
            "where = \"state in ('UP', 'LOST') and seats between 3 and 9\"",
            "#f0 IN (:f0, :f1) AND #f1 BETWEEN :f2 AND :f3",
            json!([{ "S": "UP" }, { "S": "LOST" }, { "N": "3" }, { "N": "9" }]),
        ),
        ("where = \"exists(note)\"", "attribute_exists(#f0)", json!([])),
        ("where = \"missing(note)\"", "attribute_not_exists(#f0)", json!([])),
        (
            "where = \"begins_with(note, 'a') or not (contains(note, 'b'))\"",
            "(begins_with(#f0, :f0) OR (NOT contains(#f0, :f1)))",
            json!([{ "S": "a" }, { "S": "b" }]),
        ),
    ] {
        let request = &tram_requests(&format!("out = \"Tram*\", {pattern}"))[0]["input"];
        assert_eq!(request["FilterExpression"], expression, "{pattern}");
        let own = request["ExpressionAttributeValues"].as_object().unwrap();
        let own: Vec<&Value> =
            own.iter().filter(|(name, _)| name.starts_with(":f")).map(|(_, value)| value).collect();
        assert_eq!(json!(own), values, "{pattern}");
    }
}

#[test]
fn a_filter_does_not_drop_the_single_item_beside_a_list() {
    let sent = tram_requests("out = [\"Depot\", \"Tram*\"], where = \"state == 'UP'\"");
    let filters: Vec<&Value> = sent.iter().map(|request| &request["input"]["FilterExpression"]).collect();
    assert_eq!(filters, [&Value::Null, &json!("#f0 = :f0")]);
    let both = tram_requests("out = [\"Depot\", \"Tram*\"], where = \"depotId != 'x'\"");
    assert_eq!(both[0]["input"]["FilterExpression"], "#f0 <> :f0");
}

#[test]
fn the_filter_of_a_declared_request_is_sent() {
    let text = support::with_table(
        r#"
[entity.Tram]
attributes = { depotId = "id", tramId = "id", seats = "int" }
key = ["DEPOT#{depotId}", "TRAM#{tramId}"]
[pattern]
trams = { in = ["depotId"], out = "Tram*", where = "seats > 5", request = { condition = "PK = 'DEPOT#{depotId}'", filter = "seats > 5" } }
"#,
    );
    let text = partita_design::report::explain::text(&support::model(&text), Some("trams"));
    let declared = text.lines().find(|line| line.contains(":k0")).unwrap();
    assert!(declared.contains(r##""FilterExpression":"#f0 > :f0""##), "{text}");
}

#[test]
fn a_declared_filter_compares_inputs_with_what_the_caller_knows() {
    let text = support::with_table(
        r#"
[entity.Tram]
attributes = { depotId = "id", tramId = "id", line = "id", seats = "int" }
key = ["DEPOT#{depotId}", "TRAM#{tramId}"]
[pattern]
trams = { in = ["depotId", "line"], out = "Tram*", request = { condition = "PK = 'DEPOT#{depotId}'", filter = "line == '{line}'" } }
"#,
    );
    let model = support::model(&text);
    let examples = Generator::of_examples(&model);
    let item = encode(&examples.item(&model.entities[0], 0));
    let text = partita_design::report::explain::text(&model, Some("trams"));
    let declared = text.lines().find(|line| line.contains(":k0")).unwrap();
    assert!(declared.contains(&format!("\":f0\":{}", item["line"])), "{declared}");
}

#[test]
fn aggregates_change_by_what_the_written_items_add() {
    let text = support::with_table(
        "[entity.Member]\nattributes = { memberId = \"id\" }\nkey = [\"MEMBER#{memberId}\", \"MEMBER\"]\n\
         aggregates = { paid = \"sum Payment.amount where status == 'PAID'\", payments = \"count Payment\" }\n\
         [entity.Payment]\nattributes = { memberId = \"id\", paymentId = \"id\", status = \"PENDING|PAID\", amount = \"int\" }\n\
         key = [\"MEMBER#{memberId}\", \"PAYMENT#{paymentId}\"]\nexpect = { per = \"Member\", average = 5 }\n\
         [write]\ncharge = { transact = [\"create Payment*\", \"update Member set paid, payments\"] }\n\
         settle = { transact = [\"update Payment set status\", \"update Member set paid\"] }\n",
    );
    let model = support::model(&text);
    let generator = Generator::of_examples(&model);
    let number = |value: &Value| value["N"].as_str().unwrap().parse::<i64>().unwrap();
    let sent = |name: &str| {
        let write = model.writes.iter().find(|write| write.name == name).unwrap();
        let request = write_requests(&generator, write).remove(0);
        let parts = request.input["TransactItems"].as_array().unwrap().clone();
        let values = parts.last().unwrap()["Update"]["ExpressionAttributeValues"].clone();
        (parts, values)
    };
    let (parts, values) = sent("charge");
    let puts: Vec<&Value> =
        parts.iter().map(|part| &part["Put"]["Item"]).filter(|item| !item.is_null()).collect();
    let paid: i64 =
        puts.iter().filter(|item| item["status"]["S"] == "PAID").map(|item| number(&item["amount"])).sum();
    assert_eq!((number(&values[":v0"]), number(&values[":v1"])), (paid, puts.len() as i64));
    let payment = model.entities.iter().find(|entity| entity.name == "Payment").unwrap();
    let (parts, values) = sent("settle");
    let mut all = generator.numbers(payment).map(|number| encode(&generator.item(payment, number)));
    let stored = all.find(|item| item["SK"] == parts[0]["Update"]["Key"]["SK"]).unwrap();
    let sign = if stored["status"]["S"] == "PAID" { -1 } else { 1 };
    assert_eq!(number(&values[":v0"]), sign * number(&stored["amount"]));
}

/// The requests of a write in a model of tickets, in which every event has at most one waiting user.
fn ticket_requests(write: &str) -> Vec<Value> {
    let text = support::with_table(&format!(
        r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Event]
attributes = {{ eventId = "id", title = "string", open = "bool", version = "int" }}
aggregates = {{ waiting = "count Waiting", last = "max Waiting.joinedAt" }}
key = ["EVENT#{{eventId}}", "EVENT"]
lock = "version"
expect = {{ count = 100 }}
[entity.Waiting]
attributes = {{ eventId = "id", userId = "id", joinedAt = "timestamp" }}
key = ["EVENT#{{eventId}}", "WAIT#{{userId}}"]
expect = {{ per = "Event", average = 1 }}
[entity.Seat]
attributes = {{ eventId = "id", seatId = "id", status = "FREE|HELD|SOLD", holderId = "id?" }}
key = ["EVENT#{{eventId}}", "SEAT#{{seatId}}"]
index.GSI1 = {{ key = ["FREE#{{eventId}}", "SEAT#{{seatId}}"], when = "status == 'FREE'" }}
expect = {{ per = "Event", average = 10 }}
[write]
sent = {{ {write} }}
"#
    ));
    let model = support::model(&text);
    let generator = Generator::of_examples(&model);
    let requests = write_requests(&generator, &model.writes[0]);
    requests
        .into_iter()
        .map(|request| json!({ "operation": request.operation, "input": request.input }))
        .collect()
}

#[test]
fn an_update_sends_all_that_it_declares() {
    let hold = &ticket_requests("update = \"Seat\", set = [\"status\", \"holderId\"]")[0]["input"];
    let text = hold["UpdateExpression"].as_str().unwrap();
    assert_eq!(text, "SET holderId = :v0, #status = :v1 REMOVE GSI1PK, GSI1SK");
    assert_eq!(hold["ExpressionAttributeValues"][":v1"]["S"], "HELD");
    let open = &ticket_requests("update = \"Event\", set = [\"open\", \"title\"]")[0]["input"];
    let text = open["UpdateExpression"].as_str().unwrap();
    assert!(text.contains("open") && text.contains("title") && text.contains("version"), "{text}");
}

#[test]
fn aggregates_are_sent_whatever_they_are_and_wherever_their_update_stands() {
    for actions in [
        r#""create Waiting", "update Event set waiting, last""#,
        r#""update Event set waiting, last", "create Waiting""#,
    ] {
        let sent = &ticket_requests(&format!("transact = [{actions}]"))[0]["input"]["TransactItems"];
        let parts = sent.as_array().unwrap();
        let update = parts.iter().find_map(|part| part.get("Update")).unwrap();
        let text = update["UpdateExpression"].as_str().unwrap();
        assert!(text.contains("ADD waiting :") && text.contains("last = :"), "{text}");
        let put = parts.iter().find_map(|part| part.get("Put")).unwrap();
        assert_eq!(put["Item"]["PK"], update["Key"]["PK"], "{sent:#}");
    }
    let both =
        &ticket_requests(r#"transact = ["create Event", "create Waiting*"]"#)[0]["input"]["TransactItems"];
    assert_eq!(both[0]["Put"]["Item"]["waiting"]["N"], "2", "{both:#}");
}

#[test]
fn what_is_created_is_at_its_beginning() {
    let seat = &ticket_requests("create = \"Seat\"")[0]["input"]["Item"];
    assert_eq!(seat["status"]["S"], "FREE");
    assert!(seat.get("GSI1PK").is_some(), "{seat:#}");
    let event = &ticket_requests("create = \"Event\"")[0]["input"]["Item"];
    assert_eq!(event["version"]["N"], "1");
}

#[test]
fn a_batch_is_one_request() {
    let sent = ticket_requests(r#"batch = ["put Seat*", "delete Waiting"]"#);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["operation"], "BatchWriteItem");
    let parts = sent[0]["input"]["RequestItems"].as_object().unwrap().values().next().unwrap();
    let kinds: Vec<&String> =
        parts.as_array().unwrap().iter().flat_map(|part| part.as_object().unwrap().keys()).collect();
    assert_eq!(kinds, ["PutRequest", "PutRequest", "PutRequest", "DeleteRequest"]);
}

#[test]
fn the_command_line_stops_at_a_limit() {
    let text = support::with_table(
        r#"
[entity.Tram]
attributes = { depotId = "id", tramId = "id" }
key = ["DEPOT#{depotId}", "TRAM#{tramId}"]
[pattern]
first = { in = ["depotId"], out = "Tram*", order = "tramId asc", limit = 5 }
all = { in = ["depotId"], out = "Tram*" }
"#,
    );
    let model = support::model(&text);
    let is_once = |name: &str| {
        requests(&model, Some(name), Language::Cli).contains("aws dynamodb query --no-paginate ")
    };
    assert!(is_once("first") && !is_once("all"));
}

#[test]
fn the_caller_is_told_what_no_filter_can_test() {
    let text = r#"
format = 1
[table]
name = "Readings"
keys = ["device", "number"]
[entity.Reading]
attributes = { device = "id", number = { type = "int", min = 0 }, value = "int" }
identity = ["device", "number"]
key = ["{device}", "{number}"]
[pattern]
others = { in = ["device"], where = "number != 5 and value > 3", out = "Reading*" }
"#;
    let model = support::model(text);
    let explained = partita_design::report::explain::text(&model, None);
    assert!(explained.contains("filter  value > 3 (after"), "{explained}");
    assert!(explained.contains("then    drop the items without number != 5\n"), "{explained}");
    let json = partita_design::report::explain::json(&model, None);
    assert_eq!(json["patterns"][0]["steps"][0]["afterwards"][0], "drop the items without number != 5");
    let python = requests(&model, None, Language::Python);
    assert!(python.contains("# then drop the items without number != 5\n"), "{python}");
}

#[test]
fn what_is_created_under_an_existing_parent_is_new() {
    let text = support::with_table(
        r#"
[entity.Job]
attributes = { jobId = "id", state = "NEW|RUNNING|DONE" }
key = ["JOB#{jobId}", "JOB"]
expect = { count = 100 }
[entity.Attempt]
attributes = { jobId = "id", attempt = { type = "int", min = 1, max = 99 }, at = "timestamp" }
identity = ["jobId", "attempt"]
key = ["JOB#{jobId}", "TRY#{attempt:02}"]
expect = { per = "Job", average = 4 }
[write]
take = { transact = ["update Job set state", "create Attempt"] }
"#,
    );
    let model = support::model(&text);
    let generator = Generator::of_examples(&model);
    let sent = write_requests(&generator, &model.writes[0]).remove(0).input;
    let item = sent["TransactItems"][1]["Put"]["Item"].as_object().unwrap();
    let attempts =
        generator.numbers(&model.entities[1]).map(|number| generator.item(&model.entities[1], number));
    let is_same =
        |other: &serde_json::Map<String, Value>| other["PK"] == item["PK"] && other["SK"] == item["SK"];
    assert!(!attempts.map(|other| encode(&other)).any(|other| is_same(&other)), "{item:?}");
}

#[test]
fn an_update_names_only_keys_that_it_does_not_set_itself() {
    let text = support::with_table(
        r#"
[index.Recent]
keys = ["RPK", "at"]
[entity.Event]
attributes = { eventId = "id", kind = "string", at = "timestamp" }
key = ["EVENT#{eventId}", "EVENT"]
index.Recent = { key = ["KIND#{kind}", "{at}"] }
[write]
touch = { update = "Event", set = ["at"] }
rename = { update = "Event", set = ["kind"] }
"#,
    );
    let text = partita_design::report::explain::text(&support::model(&text), None);
    let also: Vec<&str> = text.lines().filter(|line| line.contains("also set")).collect();
    assert_eq!(also, ["  also set RPK: it is built from what this changes"]);
}

#[test]
fn keys_that_are_reserved_words_are_aliased_in_conditions() {
    let text = "format = 1\n[table]\nname = \"Tags\"\nkeys = [\"name\"]\n[entity.Tag]\nattributes = { name = \"id\", uses = \"int\", email = \"string\" }\nidentity = [\"name\"]\nunique = [\"email\"]\n\
                [pattern]\ntag = { in = [\"name\"], out = \"Tag\" }\n[write]\nmake = { create = \"Tag\" }\nuse = { update = \"Tag\", set = [\"uses\"] }\n";
    let model = support::model(text);
    let generator = Generator::of_examples(&model);
    for (write, condition) in
        model.writes.iter().zip(["attribute_not_exists(#name)", "attribute_exists(#name)"])
    {
        for request in write_requests(&generator, write) {
            let text = request.input.to_string();
            assert!(text.contains(condition) && text.contains(r##""#name":"name""##), "{text}");
        }
    }
}

#[test]
fn two_actions_on_one_entity_are_about_two_items() {
    let text = support::with_table(
        "[entity.Account]\nattributes = { accountId = \"ulid\", balance = \"decimal\" }\nkey = [\"ACC#{accountId}\", \"ACC\"]\n\
         [entity.Doc]\nattributes = { docId = \"ulid\", title = \"string\" }\nkey = [\"DOC#{docId}\", \"DOC\"]\n\
         [entity.DocByTitle]\ncopies = \"Doc\"\nattributes = { docId = \"ulid\", title = \"string\" }\nkey = [\"TITLE#{title}\", \"DOC#{docId}\"]\n\
         [write]\ntransfer = { transact = [\"update Account set balance\", \"update Account set balance\"] }\n\
         rename = { transact = [\"update Doc set title\", \"delete DocByTitle\", \"create DocByTitle\"] }\n",
    );
    let model = support::model(&text);
    let generator = Generator::of_examples(&model);
    for write in &model.writes {
        let request = write_requests(&generator, write).remove(0);
        let parts = request.input["TransactItems"].as_array().unwrap().clone();
        let keys: HashSet<String> = parts
            .iter()
            .map(|part| {
                let part = part.as_object().unwrap().values().next().unwrap();
                let own = if part.get("Item").is_some() { &part["Item"] } else { &part["Key"] };
                format!("{} {}", own["PK"], own["SK"])
            })
            .collect();
        assert_eq!(keys.len(), parts.len(), "{}: {}", write.name, request.input);
    }
}

#[test]
fn what_an_item_summarises_is_deleted_before_it() {
    let text = support::with_table(
        "[entity.Member]\nattributes = { memberId = \"id\" }\nkey = [\"MEMBER#{memberId}\", \"MEMBER\"]\n\
         aggregates = { paid = \"sum Payment.amount\", payments = \"count Payment\" }\n\
         [entity.Payment]\nattributes = { memberId = \"id\", paymentId = \"id\", amount = \"int\" }\n\
         key = [\"MEMBER#{memberId}\", \"PAYMENT#{paymentId}\"]\nexpect = { per = \"Member\", average = 5 }\n\
         [write]\nleave = { delete = \"Member\" }\n\
         forget = { transact = [\"delete Member\", \"delete Payment*\"] }\n",
    );
    let model = support::model(&text);
    let explained = |write: &str| partita_design::report::explain::text(&model, Some(write));
    let first = "  first delete its items of Payment, which it summarises\n";
    assert!(explained("leave").contains(first), "{}", explained("leave"));
    assert!(!explained("forget").contains("first"), "{}", explained("forget"));
    for (language, comment) in [(Language::Cli, "#"), (Language::Python, "#"), (Language::JavaScript, "//")] {
        let sent = requests(&model, Some("leave"), language);
        assert!(sent.contains(&format!("{comment} leave\n{comment} {}", first.trim_start())), "{sent}");
    }
}
