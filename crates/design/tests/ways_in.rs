//! Models drafted from other sources: relational schemas and their queries, sheets, templates, recorded requests.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::draft::Draft;
use partita_design::exchange::infrastructure::{self, DeclaredTable};
use partita_design::exchange::library;
use partita_design::exchange::request_log::{LoggedTables, RequestLog, learn};
use partita_design::inference::Inference;
use partita_design::relational::{Observations, draft, sheet};
use partita_design::{Severity, Source, check, read};
use proptest::prelude::*;

const HOUR: Option<f64> = Some(3_600.0);

fn fixture(name: &str) -> String {
    std::fs::read_to_string(support::root().join("crates/design/tests/relational").join(name)).unwrap()
}

/// Reads the text of a draft as a model; returns errors and warnings of the check.
fn findings(draft: &Draft) -> Vec<String> {
    findings_from(draft, Severity::Warning)
}

/// The findings of the check that are at least as severe.
fn findings_from(draft: &Draft, least: Severity) -> Vec<String> {
    let text = draft.text();
    let model = read(&Source::new("draft.toml", text.as_str()))
        .unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
    let report = check(&model);
    let grave = report.findings.iter().filter(|finding| finding.severity >= least);
    grave.map(|finding| format!("{} {} {}", finding.code, finding.subject, finding.message)).collect()
}

/// The line of a draft's text that starts so.
fn line(draft: &Draft, start: &str) -> String {
    let text = draft.text();
    text.lines()
        .find(|line| line.starts_with(start))
        .unwrap_or_else(|| panic!("no {start}\n{text}"))
        .to_owned()
}

#[test]
fn a_shop_in_postgresql_and_its_statistics() {
    let queries = fixture("shop.csv");
    let observed = Observations { queries: Some(&queries), seconds: HOUR };
    let draft = draft(&fixture("shop.sql"), &observed, "Shop").unwrap();
    assert_eq!(findings(&draft), [""; 0], "{}", draft.text());
    for expected in [
        // Children are stored under their parent, in the order in which they are listed.
        "key = [\"USER#{user_id}\", \"ORDER#{created_at}#{order_id}\"]",
        "key = [\"ORDER#{order_id}\", \"ORDERITEM#{line:019}\"]",
        // What is mutable or may be absent is in an index only.
        "index.GSI1 = { key = [\"USER#{user_id}\", \"ORDER#{state}#{created_at}#{order_id}\"] }",
        "when = \"exists(parent_id)\"",
        "unique = [\"email\"]",
        "userWithOrders = { in = [\"user_id\"], out = [\"User\", \"Order*\"], order = \"created_at desc\", rps = 2 }",
        "ordersByUserIdAndState = { in = [\"user_id\", \"state\"], out = \"Order*\", order = \"created_at desc\", rps = 1 }",
        "updateOrder = { update = \"Order\", set = [\"state\"], rps = 60 }",
        "# the key also holds user_id and created_at",
        "`SELECT count(*) FROM orders WHERE user_id = $1` (line 19",
    ] {
        assert!(draft.text().contains(expected), "{expected}\n{}", draft.text());
    }
    let left_out = draft.remarks.iter().filter(|remark| remark.text.contains("is no access pattern")).count();
    assert_eq!(left_out, 4, "an aggregate, a count, a search, and an update of all rows");
}

#[test]
fn a_social_network_in_mysql_and_its_general_log() {
    let queries = fixture("social.log");
    let observed = Observations { queries: Some(&queries), seconds: None };
    let draft = draft(&fixture("social.sql"), &observed, "Social").unwrap();
    assert_eq!(findings(&draft), [""; 0], "{}", draft.text());
    // Both directions of a relationship, told apart from what the same people have besides.
    for key in [
        "key = [\"USER#{followed_id}\", \"FOLLOW#{follower_id:019}\"]",
        "index.GSI1 = { key = [\"USER#{follower_id}\", \"FOLLOW#{followed_id:019}\"] }",
    ] {
        assert!(draft.text().contains(key), "{}", draft.text());
    }
    assert_eq!(
        line(&draft, "postsByUserId"),
        "postsByUserId = { in = [\"user_id\"], out = \"Post*\", via = [\"Like\"], rps = 0.05 }"
    );
    // 20 seconds pass between the first line and the last.
    assert_eq!(
        line(&draft, "userByUserId"),
        "userByUserId = { in = [\"user_id\"], out = \"User\", rps = 0.1 }"
    );
    assert_eq!(
        line(&draft, "placePost"),
        "placePost = { transact = [\"create Post\", \"create Like*\"], rps = 0.05 }"
    );
    assert!(draft.remarks.iter().any(|remark| remark.text.contains("OR id = ?")));
}

/// The draft of a fixture's schema and queries, which has no errors. A log that never reads a table gives warnings.
fn sound(schema: &str, queries: &str) -> Draft {
    let queries = fixture(queries);
    let observed = Observations { queries: Some(&queries), seconds: HOUR };
    let draft = draft(&fixture(schema), &observed, "Table").unwrap();
    assert_eq!(findings_from(&draft, Severity::Error), [""; 0], "{}", draft.text());
    draft
}

fn assert_contains(draft: &Draft, expected: &[&str]) {
    let text = draft.text();
    for part in expected {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_store_with_twelve_tables_in_postgresql_and_its_log() {
    let draft = sound("store.sql", "store.log");
    assert_contains(
        &draft,
        &[
            // Both of a join are read, and one that has a limit stays apart from one that has none.
            "orderByOrderId = { in = [\"order_id\"], out = \"Order\"",
            "customerByOrderId = { in = [\"order_id\"], out = \"Customer\", via = [\"Order\"]",
            "order = \"placed_at desc\", limit = 10",
            "order = \"placed_at desc\", rps",
            "where = \"exists(paid_at)\"",
            "! Rows without paid_at are not in the list",
            "! OFFSET skips rows",
            // The primary key identifies a line, and the other constraints are kept.
            "key = [\"ORDER#{order_id}\", \"ORDERLINE#{line:019}\"]",
            "unique = [[\"order_id\", \"product_id\"]]",
            "unique = [\"sku\", [\"category_id\", \"title\"]]",
            "putWish = { put = \"Wish\"",
            "set = [\"state\"], condition = \"#state = :before\"",
            "condition = \"#quantity >= :before\"",
            "# line 20: INSERT INTO orders VALUES",
        ],
    );
}

#[test]
fn pages_with_tags_in_mysql_and_their_general_log() {
    let draft = sound("cms.sql", "cms.log");
    assert_contains(
        &draft,
        &[
            "limit = 10",
            "putTag",
            "putAuthor",
            "createPageTag",
            "condition = \"attribute_not_exists(#published_at)\"",
            "unique = [[\"site_id\", \"slug\"]]",
            "pageWithComments",
        ],
    );
}

#[test]
fn tenants_with_composite_keys_in_sqlite_and_their_statistics() {
    let mut draft = sound("saas.sql", "saas.csv");
    assert_contains(
        &draft,
        &["unique = [[\"tenant_id\", \"email\"]]", "putMembership", "? entity.AuditLog.key.identity"],
    );
    let limit = draft.questions.iter().find(|question| question.id.ends_with(".limit")).unwrap().id.clone();
    let answers = [(limit, "25"), ("entity.AuditLog.key.identity".to_owned(), "tenant_id, at, actor")];
    draft.answer(&answers.map(|(id, text)| (id, text.to_owned())).into()).unwrap();
    assert_contains(&draft, &["limit = 25", "\"AUDITLOG#{at}#{actor}\""]);
    assert_eq!(findings_from(&draft, Severity::Error), [""; 0], "{}", draft.text());
}

#[test]
fn a_table_without_keys_is_identified_by_what_is_never_absent() {
    let observed = Observations {
        queries: Some("SELECT * FROM logs\nUPDATE users SET name = 'x' WHERE email = 'y'"),
        seconds: HOUR,
    };
    let schema = "CREATE TABLE logs (msg TEXT, level INT); CREATE TABLE users (id INT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT);";
    let draft = draft(schema, &observed, "Table").unwrap();
    assert_eq!(findings_from(&draft, Severity::Error), [""; 0], "{}", draft.text());
    assert_contains(&draft, &["msg = \"string\", level = \"int?\"", "# the key also holds user_id:"]);
}

/// A value beside an identifier is used by the key, or named; a join towards the rows that refer to one is a second step.
#[test]
fn what_is_known_beside_an_identifier_is_not_lost() {
    let schema = "CREATE TABLE orgs (id bigint PRIMARY KEY, slug text UNIQUE NOT NULL);
        CREATE TABLE users (id bigint PRIMARY KEY, org_id bigint NOT NULL REFERENCES orgs(id), state text NOT NULL);
        CREATE TABLE posts (id bigint PRIMARY KEY, user_id bigint NOT NULL REFERENCES users(id), title text);";
    let queries = "query,calls\nSELECT * FROM posts WHERE id = $1 AND user_id = $2,100\nSELECT * FROM posts WHERE user_id = $1,100\n\
        SELECT * FROM users WHERE id = $1 AND state = $2,90\n\
        SELECT u.* FROM users u JOIN orgs o ON u.org_id = o.id WHERE o.slug = $1,10\n";
    let observed = Observations { queries: Some(queries), seconds: HOUR };
    let text = draft(schema, &observed, "Blog").unwrap().text();
    for part in [
        "key = [\"USER#{user_id}\", \"POST#{post_id:019}\"]",
        "in = [\"user_id\", \"post_id\"], out = \"Post\"",
        "! `state` is not part of the pattern: user_id finds the item, and the application compares it.",
        "orgBySlug = ",
        "! org_id is that of the Org, which is read first.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("POST#{post_id}\", \"POST#{post_id}"), "{text}");
    assert!(!text.contains("no access pattern"), "{text}");
    // Where posts are not listed by user, their identifier alone is the key.
    let single = queries.replace("SELECT * FROM posts WHERE user_id = $1,100\n", "");
    let observed = Observations { queries: Some(&single), seconds: HOUR };
    let text = draft(schema, &observed, "Blog").unwrap().text();
    let remark = "! `user_id` is not part of the pattern: post_id finds the item";
    assert!(text.contains("in = [\"post_id\"], out = \"Post\"") && text.contains(remark), "{text}");
}

#[test]
fn an_answer_removes_the_list_of_all_items() {
    let mut draft = sound("store.sql", "store.log");
    let id = "pattern.categories.all".to_owned();
    assert_eq!(draft.questions.iter().find(|question| question.id == id).unwrap().choices, ["no"]);
    assert!(draft.text().contains("CATEGORY#{shard}"));
    draft.answer(&[(id, "no".to_owned())].into()).unwrap();
    assert!(
        !draft.text().contains("CATEGORY#{shard}") && !draft.text().contains("categories ="),
        "{}",
        draft.text()
    );
}

/// The lines of a draft that are not comments.
fn plain(draft: &Draft) -> String {
    let text = draft.text();
    text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_answer_changes_the_model() {
    let sources = [
        ("store.sql", "store.log"),
        ("cms.sql", "cms.log"),
        ("saas.sql", "saas.csv"),
        ("shop.sql", "shop.csv"),
    ];
    for (schema, queries) in sources {
        let queries = fixture(queries);
        let observed = Observations { queries: Some(&queries), seconds: None };
        let drafted = draft(&fixture(schema), &observed, "Table").unwrap();
        for question in &drafted.questions {
            let others = [(".rps", "1.5"), (".limit", "25"), (".identity", "tenant_id, at, actor")];
            let other =
                others.iter().find(|(end, _)| question.id.ends_with(end)).map(|(_, text)| (*text).to_owned());
            let answer =
                question.choices.first().cloned().or(other).unwrap_or_else(|| panic!("{question:?}"));
            let mut answered = drafted.clone();
            answered.answer(&[(question.id.clone(), answer)].into()).unwrap();
            assert_ne!(plain(&answered), plain(&drafted), "{question:?}");
            assert_eq!(findings_from(&answered, Severity::Error), [""; 0], "{question:?}");
        }
    }
}

#[test]
fn a_schema_alone_gives_the_patterns_that_it_suggests() {
    for name in ["shop.sql", "social.sql", "store.sql", "cms.sql"] {
        let draft = draft(&fixture(name), &Observations::default(), "Table").unwrap();
        assert_eq!(findings(&draft), [""; 0], "{}", draft.text());
        assert!(draft.questions.iter().any(|question| question.id.ends_with(".rps")));
    }
    let draft = draft(&fixture("saas.sql"), &Observations::default(), "Table").unwrap();
    assert_eq!(findings_from(&draft, Severity::Error), [""; 0], "{}", draft.text());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_draft_of_any_sql_is_a_model(cuts in prop::collection::vec((0usize..3000, 0usize..60), 0..6), swaps in prop::collection::vec((0usize..3000, any::<char>()), 0..6)) {
        for (schema, queries) in [("shop.sql", "shop.csv"), ("social.sql", "social.log")] {
            let damaged = |name: &str| damaged(&fixture(name), &cuts, &swaps);
            let (schema, queries) = (damaged(schema), damaged(queries));
            let observed = Observations { queries: Some(&queries), seconds: HOUR };
            if let Ok(draft) = draft(&schema, &observed, "Table") {
                support::as_read(&draft);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Whatever a sheet, a template, a schema of a library or a log says: a draft that is printed is a model.
    #[test]
    fn a_draft_of_any_file_is_a_model(cuts in prop::collection::vec((0usize..3000, 0usize..40), 0..4), swaps in prop::collection::vec((0usize..3000, any::<char>()), 0..6)) {
        let damaged = |text: &str| damaged(text, &cuts, &swaps);
        let drafts = [
            sheet::draft(&damaged(SHEET), "Table").map(|draft| vec![draft]),
            infrastructure::terraform(&damaged(TERRAFORM)).map(|tables| tables.iter().map(DeclaredTable::draft).collect()),
            infrastructure::cloudformation(&damaged(TEMPLATE)).map(|tables| tables.iter().map(DeclaredTable::draft).collect()),
            library::import(&damaged(LIBRARY), "ElectroDB"),
            logged(&damaged(REQUESTS)).map(|draft| vec![draft]),
        ];
        drafts.into_iter().flatten().flatten().for_each(|draft| {
            support::as_read(&draft);
        });
    }
}

const SHEET: &str = "Access pattern;Entity;Parameters;Frequency\n\"Get user; by id\";User;userId;500/s\nGet the latest 10 orders of a user;Order;userId;\"20/s\"\nUpdate order state;Order;orderId;1/s\nFind orders by state, newest first;Order;state;3\n";
const TERRAFORM: &str = "resource \"aws_dynamodb_table\" \"orders\" {\n  name = \"orders\" // its name\n  hash_key = \"userId\" # a\n  range_key = \"orderId\" /* b */\n  attribute {\n    name = \"userId\"\n    type = \"S\"\n  }\n  ttl {\n    attribute_name = \"expires\"\n    enabled = true\n  }\n  global_secondary_index {\n    name = \"ByState\"\n    hash_key = \"state\"\n    range_key = \"at\"\n    projection_type = \"INCLUDE\"\n    non_key_attributes = [\"a\", # first\n      \"b\"]\n  }\n}\n";
const TEMPLATE: &str = "Resources:\n  Shop:\n    Type: AWS::DynamoDB::Table\n    Properties:\n      TableName: shop # note: its name\n      KeySchema: [ { AttributeName: PK, KeyType: HASH }, { AttributeName: SK, KeyType: RANGE } ]\n      GlobalSecondaryIndexes:\n        - IndexName: G1\n          KeySchema:\n          - AttributeName: a\n            KeyType: HASH\n          Projection: { ProjectionType: INCLUDE, NonKeyAttributes: [name, price] }\n      TimeToLiveSpecification: { AttributeName: expires, Enabled: true }\n";
const LIBRARY: &str = r##"{ "tables": [{ "name": "Shop", "keys": ["pk", "sk"], "type_attribute": "t", "indexes": [{ "name": "gsi1", "keys": ["gsi1pk", "gsi1sk"] }],
    "entities": [{ "name": "order", "attributes": { "orderId": { "type": "string" }, "userId": { "type": "string" }, "state": { "type": "NEW|PAID", "optional": true } },
        "key": ["$shop#u_{userId:lower}", "$order#{orderId:lower}"], "index": { "gsi1": ["$shop#{orderId:lower}", "#{state}"] } },
      { "name": "user", "attributes": { "userId": { "type": "string" } }, "key": ["$shop#u_{userId:lower}", "$user"] }] }] }"##;
const REQUESTS: &str = r#"{"PutItem": {"TableName": "Shop", "Item": {"PK": {"S": "USER#u1"}, "SK": {"S": "PROFILE"}, "name": {"S": "Ann"}}}}
{"PutItem": {"TableName": "Shop", "Item": {"PK": {"S": "USER#u2"}, "SK": {"S": "PROFILE"}, "name": {"S": "Bob"}}}}
{"PutItem": {"TableName": "Shop", "Item": {"PK": {"S": "USER#u1"}, "SK": {"S": "ORDER#1"}, "total": {"N": "12"}}}}
{"GetItem": {"TableName": "Shop", "Key": {"PK": {"S": "USER#u1"}, "SK": {"S": "PROFILE"}}}}
{"GetItem": {"TableName": "Shop", "Key": {"PK": {"S": "user→2"}, "SK": {"S": "é"}}}}
{"GetItem": {"TableName": "Other", "Key": {"PK": {"S": "x"}, "SK": {"S": "y"}}}}
{"Query": {"TableName": "Shop", "KeyConditionExpression": "PK = :p AND begins_with(SK, :s)", "ExpressionAttributeValues": {":p": {"S": "USER#u1"}, ":s": {"S": "ORDER#"}}}}
{"UpdateItem": {"TableName": "Shop", "Key": {"PK": {"S": "USER#u1"}, "SK": {"S": "PROFILE"}}, "UpdateExpression": "SET lastLogin = :t", "ExpressionAttributeValues": {":t": {"N": "7"}}}}
{"UpdateItem": {"TableName": "Shop", "Key": {"PK": {"S": "USER#u1"}, "SK": {"S": "PROFILE"}}, "UpdateExpression": "SET phone = :t", "ExpressionAttributeValues": {":t": {"S": "7"}}}}
"#;

/// The draft of a log, whose entities are learned from what it puts.
fn logged(log: &str) -> Result<Draft, String> {
    let mut tables = LoggedTables::default();
    log.lines().for_each(|line| tables.add(line));
    let table = tables.busiest().unwrap_or("Shop").to_owned();
    let mut inference = Inference::new(tables.schema(&table));
    log.lines().try_for_each(|line| learn(line, &table, &mut inference))?;
    let draft = inference.finish()?;
    let mut requests = RequestLog::new(draft, &table, false);
    log.lines().zip(1..).for_each(|(line, number)| requests.add(number, line));
    Ok(requests.finish(Some(60.0)))
}

#[test]
fn updates_of_different_new_attributes_are_different_writes() {
    let draft = logged(REQUESTS).unwrap();
    assert_contains(
        &draft,
        &["lastLogin = \"int?\"", "phone = \"string?\"", "set = [\"lastLogin\"]", "set = [\"phone\"]"],
    );
}

#[test]
fn what_updates_compute_has_the_type_of_the_values_it_is_computed_from() {
    let changes = [
        "hits = if_not_exists(hits, :z) + :one, tags = list_append(tags, :l), score = hits + seen, city = town",
        "city = :c, address.street = :s, scores[0] = :one",
    ];
    let values = r#"{":z": {"N": "0"}, ":one": {"N": "1"}, ":l": {"L": [{"S": "a"}]}, ":s": {"S": "x"}, ":c": {"BOOL": true}}"#;
    let update = |changes: &str| {
        format!(
            r#"{{"UpdateItem": {{"TableName": "Shop", "Key": {{"PK": {{"S": "USER#u1"}}, "SK": {{"S": "PROFILE"}}}}, "UpdateExpression": "SET {changes}", "ExpressionAttributeValues": {values}}}}}"#
        )
    };
    let log = format!("{REQUESTS}{}\n{}\n{}", update(changes[0]), update(changes[0]), update(changes[1]));
    let text = logged(&log).unwrap().text();
    for expected in [
        "hits = \"int?\"",
        "tags = \"list?\"",
        "score = \"int?\"",
        "city = \"bool?\"",
        "address = \"map?\"",
        "scores = \"list?\"",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn what_a_template_computes_is_refused_and_comments_are_not_values() {
    let read = |text: &str| infrastructure::terraform(text).map(|tables| tables[0].draft().text());
    let text = read(TERRAFORM).unwrap();
    for part in ["keys = [\"userId\", \"orderId\"]", "project = [\"a\", \"b\"]", "ttl = \"expires\""] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for (written, computed) in [
        ("\"orderId\" /*", "var.sort /*"),
        ("\"state\"", "local.state"),
        ("\"INCLUDE\"", "var.projection"),
        ("[\"a\",", "[var.a,"),
        ("\"userId\" #", "\"${var.key}\" #"),
    ] {
        let message = read(&TERRAFORM.replace(written, computed)).unwrap_err();
        assert!(message.contains("is not written out"), "{message}");
    }
    // The state of a table without expiry.
    let off = TERRAFORM.replace("\"expires\"", "\"\"").replace("enabled = true", "enabled = false");
    assert!(!read(&off).unwrap().contains("ttl"));
    let read = |text: &str| infrastructure::cloudformation(text).map(|tables| tables[0].draft().text());
    assert!(read(TEMPLATE).unwrap().contains("name = \"shop\""));
    assert!(!read(&TEMPLATE.replace("Enabled: true", "Enabled: false")).unwrap().contains("ttl"));
    for (written, computed) in [
        ("AttributeName: PK", "AttributeName: !Ref Pk"),
        ("AttributeName: a", "AttributeName: !Ref A"),
        ("[name, price]", "[name, !Ref Price]"),
        ("GlobalSecondaryIndexes:\n", "GlobalSecondaryIndexes: !If\n"),
    ] {
        assert!(read(&TEMPLATE.replace(written, computed)).is_err(), "{computed}");
    }
}

#[test]
fn comments_and_colons_are_read_as_yaml_has_them() {
    let text = TEMPLATE.replace("[name, price] }", "[arn:aws:x, \"a #b\"] } # it's: a comment")
        + "  Role:\n    Properties:\n      Names:\n        - name # note: the name\n        - price\n";
    let draft = infrastructure::cloudformation(&text).unwrap()[0].draft();
    assert_contains(&draft, &["project = [\"arn:aws:x\", \"a #b\"]"]);
}

#[test]
fn names_of_indexes_and_columns_are_told_apart() {
    let schema = "CREATE TABLE `people` (`id` int NOT NULL, `name` varchar(20), `date` date, `tenant` int, `email` text, fulltext tsvector, key varchar(20),
        PRIMARY KEY (`id`), KEY `name` (`name`), KEY `date` (`date`(10)), UNIQUE KEY `u` (`tenant`, (lower(`email`))), KEY v ((lower(`email`))));
      ALTER TABLE people ADD COLUMN IF NOT EXISTS email text, ADD COLUMN (a int, b int);
      CREATE UNIQUE INDEX u2 ON people (email) INCLUDE (a) WHERE b IS NULL;";
    let draft = draft(schema, &Observations::default(), "Table").unwrap();
    let model = support::as_read(&draft);
    let names: Vec<&str> = model.entities[0].attributes.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["person_id", "name", "date", "tenant", "email", "fulltext", "key", "a", "b"]);
    assert!(model.entities[0].unique.is_empty(), "{}", draft.text());
    assert_eq!(
        draft.remarks.len(),
        4,
        "an unknown type, two keys of expressions and one of some rows: {:?}",
        draft.remarks
    );
}

#[test]
fn binary_identifiers_are_texts_in_keys() {
    let schema = "CREATE TABLE people (id binary(16) NOT NULL, name text, PRIMARY KEY (id));
      CREATE TABLE sessions (id bytea PRIMARY KEY, person_id binary(16) NOT NULL REFERENCES people(id), at timestamp NOT NULL, photo bytea);
      CREATE INDEX s ON sessions (person_id);";
    let draft = draft(schema, &Observations::default(), "Shop").unwrap();
    let model = support::as_read(&draft);
    let report = partita_design::check(&model);
    assert!(report.plans.len() >= 3 && report.plans.values().all(Result::is_ok), "{}", draft.text());
    assert_contains(
        &draft,
        &[
            "session_id = \"string\", person_id = \"string\", at = \"timestamp\", photo = \"binary?\"",
            "(id) of people is binary, and is written as text",
            "(id, person_id) of sessions is binary, and is written as text",
        ],
    );
}

#[test]
fn indexes_for_other_than_equal_values_are_remarked_on() {
    let schema = "CREATE TABLE films (id int PRIMARY KEY, title text NOT NULL, body tsvector NOT NULL, loc point NOT NULL, year int NOT NULL, code text NOT NULL);
      CREATE INDEX f1 ON films USING gist (body); CREATE INDEX f2 ON films USING gin (title gin_trgm_ops);
      CREATE INDEX ON films USING hnsw (loc vector_cosine_ops); CREATE FULLTEXT INDEX f4 ON films (title); CREATE SPATIAL INDEX f5 ON films (loc);
      CREATE INDEX f6 ON films USING btree (year); CREATE INDEX f7 USING HASH ON films (code);";
    let draft = draft(schema, &Observations::default(), "Shop").unwrap();
    let names: Vec<&str> = draft.model.patterns.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["filmsByCode", "filmByFilmId", "filmsByYear"], "{}", draft.text());
    for why in ["index f1 of films", "finds no equal values: GIN", ": HNSW", ": FULLTEXT", ": SPATIAL"] {
        assert!(draft.remarks.iter().any(|remark| remark.text.contains(why)), "{why}: {:?}", draft.remarks);
    }
}

#[test]
fn ddl_that_is_not_carried_out_is_remarked_on() {
    let schema = "CREATE TABLE base (id int PRIMARY KEY, at timestamp);
      CREATE TABLE child (b text) INHERITS (base);
      CREATE TABLE twin (LIKE base INCLUDING ALL, extra int);
      CREATE TABLE base_p1 (CHECK (at > '2026-01-01')) INHERITS (base);
      CREATE TABLE base_p2 PARTITION OF base FOR VALUES FROM (1) TO (2);
      CREATE TABLE base_p3 (id int, at timestamp);
      ALTER TABLE ONLY base ATTACH PARTITION base_p3 FOR VALUES FROM (2) TO (3);
      CREATE TEMPORARY TABLE scratch (id int);
      CREATE TABLE gone (id int); DROP TABLE gone;
      CREATE TABLE audit.base (id int);
      ALTER TABLE base DROP COLUMN at;
      ALTER TABLE base OWNER TO ann;";
    let draft = draft(schema, &Observations::default(), "Table").unwrap();
    let model = support::as_read(&draft);
    let entities: Vec<(&str, usize)> =
        model.entities.iter().map(|entity| (entity.name.as_str(), entity.attributes.len())).collect();
    assert_eq!(entities, [("Base", 2), ("Child", 3), ("Twin", 3)]);
    let lines: Vec<&str> = draft.remarks.iter().map(|remark| &remark.text[..8]).collect();
    assert_eq!(lines, ["Line 4: ", "Line 5: ", "Line 7: ", "Line 10:", "Line 11:"]);
}

#[test]
fn statements_without_semicolons_are_read_one_by_one() {
    let schema = "USE [Shop]\nGO\nCREATE TABLE [dbo].[a] ([id] int PRIMARY KEY, name text)\nGO\nCREATE TABLE b (id int PRIMARY KEY)
        CREATE TABLE c (id int PRIMARY KEY, b_id int NOT NULL REFERENCES b(id))\n/\nALTER TABLE c ADD CONSTRAINT k UNIQUE (b_id)
        CREATE UNIQUE NONCLUSTERED INDEX u ON a (name)";
    let draft = draft(schema, &Observations::default(), "Shop").unwrap();
    let names: Vec<&str> = draft.model.entities.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!(names, ["A", "B", "C"]);
    assert_eq!(draft.model.entities[0].unique, [["name"]]);
    assert_contains(&draft, &["cByBId = { in = [\"b_id\"], out = \"C\" }"]);
}

#[test]
fn keys_that_a_model_cannot_have_are_remarked_on() {
    let schema = "CREATE TABLE users (id int PRIMARY KEY, email text NOT NULL, org int NOT NULL, gone timestamp, u bytea UNIQUE, j jsonb);
        CREATE UNIQUE INDEX u1 ON users (lower(email));
        CREATE UNIQUE INDEX u2 ON users (org, email) WHERE gone IS NULL;
        CREATE INDEX u3 ON users USING gin (j); CREATE INDEX u4 ON users (j);
        CREATE TABLE posts (id int PRIMARY KEY, org int, u int, FOREIGN KEY (org, u) REFERENCES users (org, id));
        CREATE TABLE sqlite_sequence(name,seq);
        RENAME TABLE users TO people;";
    let draft = draft(schema, &Observations::default(), "Shop").unwrap();
    assert_eq!(findings_from(&draft, Severity::Error), [""; 0]);
    assert_contains(
        &draft,
        &[
            "Line 2: the unique index u1 of users is left out, because it is not one of columns",
            "Line 3: the unique index u2 of users is left out, because it has only some rows: WHERE gone IS NULL",
            "(u) of users is unique, which is left out",
            "Line 4: the index u3 of users is left out, because it finds no equal values: GIN",
            "(j) of users is indexed, which is left out",
            "Line 5: the foreign key (org, u) of posts to users is left out",
            "table sqlite_sequence is SQLite's own",
            "RENAME TABLE is not carried out",
        ],
    );
}

#[test]
fn a_list_by_a_foreign_key_does_not_share_an_index_that_holds_some_rows_only() {
    let schema = "CREATE TABLE orgs (id int PRIMARY KEY); CREATE TABLE units (id int PRIMARY KEY);
        CREATE TABLE bills (id int PRIMARY KEY, org_id int NOT NULL REFERENCES orgs(id), unit_id int NOT NULL REFERENCES units(id), seq int);
        CREATE INDEX i ON bills (unit_id, seq);";
    let draft = draft(schema, &Observations::default(), "Shop").unwrap();
    assert_eq!(findings_from(&draft, Severity::Error), [""; 0], "{}", draft.text());
}

#[test]
fn columns_that_keys_cannot_name_are_renamed() {
    let schema = "CREATE TABLE items (\"item id\" int PRIMARY KEY, \"my state\" text, \"EntityType\" text, \"SK\" text, shard int);";
    let queries = "UPDATE items SET shard = 1 WHERE \"item id\" = 1 AND \"my state\" = 'new'; SELECT * FROM items WHERE \"my state\" = 'x';";
    let observed = Observations { queries: Some(queries), seconds: HOUR };
    let draft = draft(schema, &observed, "Table").unwrap();
    assert_eq!(findings_from(&draft, Severity::Error), [""; 0], "{}", draft.text());
    let text = draft.text();
    for part in [
        "{item_id}",
        "condition = \"#my_state = :before\"",
        "itemsByMyState",
        "item_EntityType",
        "item_SK",
        "set = [\"item_shard\"]",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// A text with pieces cut out and characters replaced.
fn damaged(text: &str, cuts: &[(usize, usize)], swaps: &[(usize, char)]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (at, length) in cuts {
        let at = at % characters.len().max(1);
        let end = (at + length).min(characters.len());
        characters.drain(at..end);
    }
    for (at, character) in swaps {
        let length = characters.len().max(1);
        if let Some(slot) = characters.get_mut(at % length) {
            *slot = *character;
        }
    }
    characters.into_iter().collect()
}

/// Unique constraints of several columns, composite keys, and an order by a column that may be NULL.
#[test]
fn composite_constraints_and_nullable_orders_of_a_multi_tenant_schema() {
    let schema = "
CREATE TABLE tenants (tenant_id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE members (tenant_id TEXT NOT NULL REFERENCES tenants(tenant_id), user_id TEXT NOT NULL, email TEXT NOT NULL,
  PRIMARY KEY (tenant_id, user_id), UNIQUE (tenant_id, email));
CREATE TABLE tasks (tenant_id TEXT NOT NULL, task_id TEXT NOT NULL, assignee TEXT, title TEXT NOT NULL, due DATE,
  PRIMARY KEY (tenant_id, task_id), FOREIGN KEY (tenant_id, assignee) REFERENCES members(tenant_id, user_id));
CREATE UNIQUE INDEX task_title ON tasks (tenant_id, title);";
    let queries = "SELECT * FROM members WHERE tenant_id = ? AND email = ?;
SELECT * FROM tasks WHERE tenant_id = ? AND assignee = ? ORDER BY due LIMIT 20;";
    let observed = Observations { queries: Some(queries), seconds: HOUR };
    let text = draft(schema, &observed, "Saas").unwrap().text();
    for part in [
        "unique = [[\"tenant_id\", \"email\"]]",
        "unique = [[\"tenant_id\", \"title\"]]",
        "where = \"exists(due)\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let model = support::model(&text);
    let report = check(&model);
    assert!(report.plans.values().all(Result::is_ok), "{text}");
}

#[test]
fn a_table_for_each_entity_keeps_what_concerns_it_alone() {
    let queries = fixture("shop.csv");
    let observed = Observations { queries: Some(&queries), seconds: HOUR };
    let whole = draft(&fixture("shop.sql"), &observed, "Shop").unwrap();
    let drafts = whole.per_entity();
    assert_eq!(drafts.len(), whole.model.entities.len());
    let mut patterns = 0;
    for draft in &drafts {
        let model = support::as_read(draft);
        let report = check(&model);
        assert!(report.plans.values().all(Result::is_ok), "{}", draft.text());
        assert_eq!(report.count(Severity::Error), 0, "{}", draft.text());
        patterns += model.patterns.len();
    }
    let texts: String = drafts.iter().map(Draft::text).collect();
    assert!(texts.contains("is no access pattern"), "the remarks are kept");
    assert!(patterns > 0 && patterns < whole.model.patterns.len());
    assert!(texts.contains("which is in another table"), "{texts}");
}

#[test]
fn a_template_that_repeats_a_key_is_refused() {
    let refused = infrastructure::cloudformation(&TEMPLATE.replace("AttributeName: PK", "AttributeName: SK"));
    assert!(refused.unwrap_err().contains("has SK twice in a key"));
}
