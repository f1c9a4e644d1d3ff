//! One test for each design rule that the checker enforces, by its number.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{self, Error, Note, Warning};
use partita_design::audit::table::TableAudit;
use partita_design::capacity::cost::cost;
use partita_design::capacity::key_card::{Verdict, cards};
use partita_design::capacity::prices::{DEFAULT_PRICES, Prices};
use partita_design::item::{Item, Value};
use partita_design::relational;
use partita_design::{Source, read};
use support::{codes, findings, has, with_table};

const USER: &str = r#"
[entity.User]
attributes = { userId = "id", name = "string" }
key = ["USER#{userId}", "PROFILE"]
"#;
const ORDER: &str = r#"
[entity.Order]
attributes = { orderId = "id", userId = "id", createdAt = "timestamp", status = "A|B", note = "string" }
key = ["USER#{userId}", "ORDER#{createdAt}#{orderId}"]
"#;
const GSI1: &str = "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n";

/// A model made of parts.
fn parts(parts: &[&str]) -> String {
    with_table(&parts.join("\n"))
}

/// One entity with this partition key attribute, in the table.
fn keyed_by(name: &str, kind: &str) -> String {
    parts(&[&format!(
        "[entity.Event]\nattributes = {{ {name} = {kind}, eventId = \"ulid\" }}\n\
         key = [\"E#{{{name}}}\", \"EVENT#{{eventId}}\"]\n[pattern]\nevents = {{ in = [\"{name}\"], out = \"Event*\" }}\n"
    )])
}

fn severity_of(text: &str, code: &str) -> Option<Severity> {
    findings(text).into_iter().find(|finding| finding.code == code).map(|finding| finding.severity)
}

fn message_of(text: &str, code: &str) -> String {
    findings(text).into_iter().find(|finding| finding.code == code).map(|f| f.message).unwrap_or_default()
}

#[test]
fn rule_01_patterns_come_first_with_inputs_output_and_rate() {
    assert!(has(&parts(&[USER]), "P119", Warning));
    let text = parts(&[USER, "[pattern]\nuser = { in = [\"userId\"], out = \"User\" }"]);
    assert!(has(&text, "P118", Note));
    assert!(!has(&text.replace("out = \"User\"", "out = \"User\", rps = 5"), "P118", Note));
}

/// An order found by its id in an index, with these options of the pattern.
fn by_id(project: &str, options: &str) -> String {
    parts(&[
        &format!("{GSI1}{project}"),
        USER,
        &format!("{ORDER}index.GSI1 = {{ key = [\"ORDER#{{orderId}}\", \"ORDER\"] }}"),
        &format!(
            "[pattern]\nboth = {{ in = [\"userId\"], out = [\"User\", \"Order*\"], rps = 10 }}\none = {{ in = [\"orderId\"], out = \"Order\"{options} }}"
        ),
    ])
}

#[test]
fn rule_02_critical_patterns_are_served_directly() {
    let keys_only = "project = \"KEYS_ONLY\"\n";
    let critical = ", hydrate = true, importance = \"critical\"";
    assert!(has(&by_id(keys_only, critical), "P605", Warning));
    assert!(!has(&by_id("", critical), "P605", Warning));
    assert!(!has(&by_id(keys_only, ", hydrate = true"), "P605", Warning));
    let scattered = by_status("", ", shard = { by = \"orderId\", count = 3 }")
        .replace("limit = 10", "limit = 10, importance = \"critical\"");
    assert!(
        message_of(&scattered, "P605").contains("3 requests: several shards"),
        "{}",
        message_of(&scattered, "P605")
    );
    let filtered = parts(&[
        USER,
        ORDER,
        "[pattern]\nboth = { in = [\"userId\"], out = [\"User\", \"Order*\"] }\nnoted = { in = [\"userId\"], out = \"Order*\", where = \"note == 'gift'\", importance = \"critical\" }",
    ]);
    assert!(has(&filtered, "P605", Warning) && has(&filtered, "P113", Warning));
}

#[test]
fn rule_03_an_unserved_pattern_is_an_error() {
    let text = parts(&[
        USER,
        ORDER,
        "[pattern]\nu = { in = [\"userId\"], out = \"User\" }\no = { in = [\"orderId\"], out = \"Order\" }",
    ]);
    assert!(has(&text, "P101", Error));
    assert_eq!(codes(&text, "pattern.u"), [""; 0]);
}

#[test]
fn rule_05_a_relational_schema_is_recognised() {
    let text = parts(&[
        USER,
        "[entity.Order]\nattributes = { orderId = \"id\", userId = \"id\" }\nkey = [\"ORDER#{orderId}\", \"METADATA\"]\n",
        "[pattern]\nuser = { in = [\"userId\"], out = \"User\" }\norders = { in = [\"userId\"], out = \"Order*\" }",
    ]);
    assert!(has(&text, "P601", Warning));
    assert!(has(&text, "P101", Error));
}

#[test]
fn rule_10_a_partition_key_has_many_values() {
    assert_eq!(severity_of(&keyed_by("kind", "\"A|B|C\""), "P207"), Some(Error));
    assert_eq!(severity_of(&keyed_by("deviceId", "\"id\""), "P207"), None);
    // What a name implies is no error.
    assert_eq!(severity_of(&keyed_by("orderStatus", "\"string\""), "P207"), Some(Warning));
    assert!(message_of(&keyed_by("orderStatus", "\"string\""), "P207").contains("(assumed)"));
}

#[test]
fn rule_11_access_is_even() {
    let text = keyed_by("city", "{ type = \"string\", values = 5000, top = 0.4 }");
    assert!(has(&text, "P208", Warning));
    // There is one device for each identifier, and nothing to spread.
    let text = parts(&[
        "[entity.Device]\nattributes = { deviceId = { type = \"id\", top = 0.4 } }\nkey = [\"D#{deviceId}\", \"DEVICE\"]",
        "[pattern]\ndevice = { in = [\"deviceId\"], out = \"Device\" }",
    ]);
    assert_eq!(severity_of(&text, "P208"), None);
    assert!(has(&keyed_by("deviceId", "{ type = \"id\", top = 0.4 }"), "P208", Warning));
}

#[test]
fn of_several_sparse_indexes_the_one_with_the_known_key_is_named() {
    let text = parts(&[
        GSI1,
        "[index.GSI2]\nkeys = [\"GSI2PK\", \"GSI2SK\"]\n",
        "[entity.Task]\nattributes = { taskId = \"ulid\", projectId = \"id\", assigneeId = \"id\", status = \"A|B|C\" }\n\
         key = [\"TASK#{taskId}\", \"TASK\"]\n\
         index.GSI1 = { key = [\"PROJECT#{projectId}\", \"{taskId}\"], when = \"status == 'A'\" }\n\
         index.GSI2 = { key = [\"ASSIGNEE#{assigneeId}\", \"{taskId}\"], when = \"status == 'B'\" }",
        "[pattern]\nmine = { in = [\"assigneeId\"], where = \"status == 'C'\", out = \"Task*\" }",
    ]);
    assert!(message_of(&text, "P121").starts_with("GSI2 holds Task only when"));
}

#[test]
fn rule_12_the_table_key_is_natural_to_the_patterns() {
    let text = parts(&[
        GSI1,
        "[entity.User]\nattributes = { userId = \"id\", email = \"string\" }\nkey = [\"USER#{userId}\", \"PROFILE\"]\nunique = [\"email\"]\nindex.GSI1 = { key = [\"EMAIL#{email}\", \"USER\"] }",
        "[pattern]\nbyMail = { in = [\"email\"], out = \"User\" }",
    ]);
    assert!(has(&text, "P221", Warning));
}

#[test]
fn rule_13_keys_are_stable() {
    let text = parts(&[
        USER,
        ORDER,
        "[pattern]\nboth = { in = [\"userId\"], out = [\"User\", \"Order*\"] }\n[write]\ngive = { update = \"Order\", set = [\"userId\"] }",
    ]);
    assert_eq!(codes(&text, "write.give"), ["P206"]);
    // An upsert gives a new item the attributes of its key, and leaves those of an old one as they are.
    let upsert = |value: &str| {
        let update = format!(
            "update = \"Order\", expression = \"SET userId = {value}\", condition = \"attribute_exists(PK)\""
        );
        text.replace("update = \"Order\", set = [\"userId\"]", &update)
    };
    assert!(!has(&upsert("if_not_exists(userId, :userId)"), "P206", Error));
    assert!(has(&upsert(":userId"), "P206", Error));
    assert!(has(&upsert("if_not_exists(orderId, :userId)"), "P206", Error));
}

#[test]
fn rule_14_the_partition_key_is_known_at_query_time() {
    let text = parts(&[
        USER,
        ORDER,
        "[pattern]\nboth = { in = [\"userId\"], out = [\"User\", \"Order*\"] }\nlate = { in = [\"createdAt\"], out = \"Order*\" }",
    ]);
    assert_eq!(codes(&text, "pattern.late"), ["P101"]);
}

#[test]
fn rule_15_common_partition_keys_are_judged() {
    let bad = |text: &str| {
        let found = findings(text);
        let codes = ["P207", "P208", "P209"];
        found.iter().filter(|finding| codes.contains(&finding.code)).map(|finding| finding.severity).max()
    };
    assert_eq!(bad(&keyed_by("userId", "\"ulid\"")), None);
    assert_eq!(bad(&keyed_by("orderId", "\"uuid\"")), None);
    assert_eq!(bad(&keyed_by("deviceId", "{ type = \"id\", values = 5000 }")), None);
    assert_eq!(bad(&keyed_by("status", "\"NEW|ACTIVE|CLOSED\"")), Some(Error));
    assert_eq!(bad(&keyed_by("day", "\"date\"")), Some(Warning));
    assert_eq!(bad(&keyed_by("country", "{ type = \"string\", values = 200, top = 0.8 }")), Some(Warning));
    assert_eq!(bad(&keyed_by("isActive", "\"bool\"")), Some(Error));
    let verdict = |text: &str| {
        let model = support::model(text);
        cards(&model)
            .iter()
            .find(|card| card.mapping.entity.name == "Event")
            .map(|card| card.verdict)
            .unwrap()
    };
    let owned = |name: &str, owner: &str, count: &str| {
        let entity = format!(
            "[entity.{owner}]\nattributes = {{ {name} = \"id\" }}\nkey = [\"O#{{{name}}}\", \"O\"]\nexpect = {{ count = {count} }}\n[pattern]"
        );
        keyed_by(name, "\"id\"").replace("[pattern]", &entity)
    };
    assert_eq!(verdict(&owned("userId", "User", "3_000_000")), Verdict::Excellent);
    assert_eq!(verdict(&keyed_by("orderId", "\"uuid\"")), Verdict::Excellent);
    assert_eq!(verdict(&owned("deviceId", "Device", "5_000")), Verdict::Good);
    assert_eq!(verdict(&keyed_by("status", "\"NEW|ACTIVE|CLOSED\"")), Verdict::Terrible);
    assert_eq!(verdict(&keyed_by("day", "\"date\"")), Verdict::Bad);
    assert_eq!(verdict(&keyed_by("country", "{ type = \"string\", values = 200, top = 0.8 }")), Verdict::Bad);
    assert_eq!(verdict(&keyed_by("isActive", "\"bool\"")), Verdict::Terrible);
}

#[test]
fn rule_16_sequential_ids_cause_a_note() {
    let text = parts(&[
        "[entity.User]\nattributes = { userId = \"int\" }\nkey = [\"USER#{userId}\", \"PROFILE\"]\n[pattern]\nu = { in = [\"userId\"], out = \"User\" }",
    ]);
    assert_eq!(severity_of(&text, "P211"), Some(Note));
}

#[test]
fn rule_17_keys_have_prefixes() {
    let text = parts(&[
        "[entity.User]\nattributes = { userId = \"id\" }\nkey = [\"{userId}\", \"PROFILE\"]\n[pattern]\nu = { in = [\"userId\"], out = \"User\" }",
    ]);
    assert!(has(&text, "P204", Warning));
    let behind_tenant = |key: &str| {
        let entity = format!(
            "[entity.Ticket]\nattributes = {{ tenantId = \"uuid\", ticketId = \"ulid\" }}\nkey = [\"{key}\", \"TICKET\"]"
        );
        parts(&[&entity]).replace("[table]", "[table]\ntenant = \"tenantId\"")
    };
    assert!(!has(&behind_tenant("{tenantId}#TICKET#{ticketId}"), "P204", Warning));
    let bare = behind_tenant("{tenantId}#{ticketId}");
    assert!(has(&bare, "P204", Warning));
    let help = findings(&bare).into_iter().find(|finding| finding.code == "P204").unwrap().help;
    assert_eq!(help, "write TENANT#{tenantId}#{ticketId}");
}

#[test]
fn rule_19_a_primary_key_is_unique() {
    let text = parts(&[
        USER,
        "[entity.Order]\nattributes = { orderId = \"id\", userId = \"id\", day = \"date\" }\nkey = [\"USER#{userId}\", \"ORDER#{day}\"]",
    ]);
    assert!(has(&text, "P203", Error));
    let same = parts(&[
        USER,
        "[entity.Admin]\nattributes = { userId = \"id\", rights = \"string\" }\nkey = [\"USER#{userId}\", \"PROFILE\"]",
    ]);
    assert!(has(&same, "P202", Error));
    let account = |kind: &str, key: &str| {
        parts(&[&format!(
            "[entity.Account]\nattributes = {{ name = \"{kind}\", size = \"int\" }}\nidentity = [\"name\"]\nkey = [\"A#{key}\", \"A\"]\n\
             [pattern]\naccount = {{ in = [\"name\"], out = \"Account\" }}"
        )])
    };
    assert!(has(&account("string", "{name:lower}"), "P203", Warning));
    assert!(has(&account("Ann|ann", "{name:lower}"), "P203", Warning));
    assert!(has(&account("uuid", "{name:lower}"), "P203", Warning), "UUIDs are written in both cases");
    for (kind, key) in [("string", "{name}"), ("NEW|PAID", "{name:lower}"), ("ulid", "{name:lower}")] {
        assert!(!codes(&account(kind, key), "").contains(&"P203"), "{kind} {key}");
    }
    let forged = parts(&[
        "[entity.File]\nattributes = { folder = \"string\", name = \"string\" }\nkey = [\"F#{folder}#{name}\", \"X\"]",
    ]);
    assert!(has(&forged, "P201", Warning));
    let touching =
        parts(&["[entity.File]\nattributes = { a = \"id\", b = \"id\" }\nkey = [\"F#{a}{b}\", \"X\"]"]);
    assert!(has(&touching, "P201", Error));
}

#[test]
fn rule_20_a_query_needs_the_whole_partition_key() {
    let text = parts(&[
        "[entity.Doc]\nattributes = { tenantId = \"id\", docId = \"id\" }\nkey = [\"T#{tenantId}#D#{docId}\", \"X\"]\n[pattern]\nall = { in = [\"tenantId\"], out = \"Doc*\" }",
    ]);
    assert_eq!(codes(&text, "pattern.all"), ["P102"]);
}

#[test]
fn rule_22_a_partition_key_is_granular_enough_for_its_traffic() {
    let text = |rps: u32| {
        parts(&[
            "[entity.Room]\nattributes = { roomId = \"id\", name = \"string\" }\nkey = [\"ROOM#{roomId}\", \"ROOM\"]\nexpect = { count = 10, bytes = 100 }",
            "[entity.Message]\nattributes = { roomId = \"id\", messageId = \"ulid\" }\nkey = [\"ROOM#{roomId}\", \"MSG#{messageId}\"]\nexpect = { per = \"Room\", average = 1000, max = 2000, bytes = 500 }",
            &format!(
                "[pattern]\nroom = {{ in = [\"roomId\"], out = [\"Room\", \"Message*\"], limit = 10 }}\n[write]\nsay = {{ create = \"Message\", rps = {rps} }}"
            ),
        ])
    };
    assert!(has(&text(20_000), "P210", Error));
    assert!(!has(&text(2000), "P210", Error));
}

#[test]
fn rule_24_contains_only_filters() {
    let text = parts(&[
        USER,
        ORDER,
        "[pattern]\nboth = { in = [\"userId\"], out = [\"User\", \"Order*\"] }\nsearch = { in = [\"userId\"], out = \"Order*\", where = \"contains(note, 'gift')\" }",
    ]);
    assert_eq!(codes(&text, "pattern.search"), ["P113"]);
}

/// Tasks that a user is assigned to, found one by one in an index or together by the table's key.
fn assigned(attributes: &str) -> String {
    parts(&[
        GSI1,
        "[entity.Project]\nattributes = { projectId = \"id\" }\nkey = [\"PROJECT#{projectId}\", \"METADATA\"]",
        "[entity.Task]\nattributes = { taskId = \"id\", projectId = \"id\" }\nkey = [\"PROJECT#{projectId}\", \"TASK#{taskId}\"]\nindex.GSI1 = { key = [\"TASK#{taskId}\", \"METADATA\"] }",
        &format!(
            "[entity.Assignment]\nattributes = {{ taskId = \"id\", userId = \"id\"{attributes} }}\nedge = [\"taskId\", \"userId\"]\nkey = [\"TASK#{{taskId}}\", \"ASSIGNEE#{{userId}}\"]\nindex.GSI1 = {{ key = [\"USER#{{userId}}\", \"ASSIGNED#{{taskId}}\"] }}"
        ),
        "[pattern]\nproject = { in = [\"projectId\"], out = [\"Project\", \"Task*\"], rps = 20 }\ntask = { in = [\"taskId\"], out = \"Task\", rps = 1 }\n\
         assignees = { in = [\"taskId\"], out = \"Assignment*\", rps = 1 }\ntasksOfUser = { in = [\"userId\"], out = \"Task*\", via = { entity = \"Assignment\", match = [\"taskId\", \"projectId\"] }, rps = 500 }",
    ])
}

#[test]
fn rule_53_a_query_for_each_item_is_for_rare_patterns() {
    let one_by_one = assigned("").replace("[\"taskId\", \"projectId\"] }, rps", "[\"taskId\"] }, rps");
    let found = findings(&one_by_one).into_iter().find(|finding| finding.code == "P606").unwrap();
    assert_eq!((found.severity, found.subject.as_str()), (Warning, "pattern.tasksOfUser"));
    assert!(found.help.starts_with("store projectId in Assignment"), "{}", found.help);
    // What the index lacks is read after it, and there is a Query for each all the same.
    let hydrated = one_by_one
        .replace("\"GSI1SK\"]\n", "\"GSI1SK\"]\nproject = \"KEYS_ONLY\"\n")
        .replace(
            "taskId = \"id\", projectId = \"id\" }",
            "taskId = \"id\", projectId = \"id\", title = \"string\" }",
        )
        .replace("rps = 500 }", "rps = 500, hydrate = true }");
    assert!(
        message_of(&hydrated, "P606").contains("a Query for each Assignment"),
        "{}",
        message_of(&hydrated, "P606")
    );
    // What the help says.
    assert!(!has(&assigned(", projectId = \"id\""), "P606", Warning));
}

#[test]
fn rule_52_two_patterns_that_ask_the_same_are_told_apart_by_the_relationship() {
    let text = |via: &str| {
        parts(&[
            GSI1,
            "[entity.Article]\nattributes = { articleId = \"id\", userId = \"id\" }\nkey = [\"ARTICLE#{articleId}\", \"METADATA\"]\nindex.GSI1 = { key = [\"USER#{userId}\", \"ARTICLE#{articleId}\"] }",
            "[entity.Favorite]\nattributes = { articleId = \"id\", userId = \"id\" }\nedge = [\"userId\", \"articleId\"]\nkey = [\"USER#{userId}\", \"FAVORITE#{articleId}\"]",
            &format!(
                "[pattern]\nofUser = {{ in = [\"userId\"], out = \"Article*\" }}\nfavorites = {{ in = [\"userId\"], out = \"Article*\"{via} }}"
            ),
        ])
    };
    let same = text("");
    let found = findings(&same).into_iter().find(|finding| finding.code == "P134").unwrap();
    assert_eq!((found.subject.as_str(), found.severity), ("pattern.favorites", Warning));
    assert!(found.help.contains("via = \"Favorite\""), "{}", found.help);
    assert!(!has(&text(", via = \"Favorite\""), "P134", Warning));
    assert!(!has(&text(", limit = 5"), "P134", Warning), "another question");
}

#[test]
fn rule_28_numbers_are_padded() {
    let score = |format: &str| {
        parts(&[&format!(
            "[entity.Score]\nattributes = {{ game = \"id\", playerId = \"id\", points = \"int\" }}\nkey = [\"GAME#{{game}}\", \"S#{{points{format}}}#{{playerId}}\"]\n[pattern]\ntop = {{ in = [\"game\"], out = \"Score*\", order = \"points desc\", limit = 10 }}"
        )])
    };
    assert_eq!(codes(&score(""), "pattern.top"), ["P105"]);
    assert!(codes(&score(":010"), "pattern.top").is_empty());
    // A number in a numeric key attribute sorts as a number.
    let native = "format = 1\n[table]\nname = \"S\"\nkeys = [\"game\", \"points\"]\n[entity.Score]\nattributes = { game = \"id\", points = \"int\" }\n[pattern]\ntop = { in = [\"game\"], out = \"Score*\", order = \"points desc\", limit = 10 }";
    assert!(codes(native, "pattern.top").is_empty());
    // The bounds of a declared request are padded as the key is.
    let request = |bounds: &str| {
        parts(&[&format!(
            "[entity.Version]\nattributes = {{ documentId = \"id\", version = \"int\" }}\nkey = [\"DOC#{{documentId}}\", \"V#{{version:08}}\"]\n[pattern]\nsome = {{ in = [\"documentId\"], out = \"Version*\", range = \"version\", request = {{ condition = \"PK = 'DOC#{{documentId}}' AND SK {bounds}\" }} }}"
        )])
    };
    for bounds in ["BETWEEN 'V#1' AND 'V#9'", ">= 'V#1'", "< 'V#9'", "BETWEEN 'V#{version}' AND 'V#00000009'"]
    {
        assert_eq!(codes(&request(bounds), "pattern.some"), ["P107"], "{bounds}");
    }
    for bounds in ["BETWEEN 'V#{version:08}' AND 'V#{version:08}'", ">= 'V#{version:08}'"] {
        assert!(codes(&request(bounds), "pattern.some").is_empty(), "{bounds}");
    }
    let padded = "BETWEEN 'V#00000001' AND 'V#00000009'";
    assert_eq!(codes(&request(padded), "pattern.some"), ["P132"], "the caller gives the bounds");
    let declared = request(padded)
        .replace("range = \"version\"", "range = { by = \"version\", from = \"1\", to = \"9\" }");
    assert!(codes(&declared, "pattern.some").is_empty());
    assert_eq!(codes(&request("<= 'V#~'"), "pattern.some"), ["P133"], "it bounds nothing");
}

#[test]
fn rule_33_a_single_item_has_a_singleton_sort_key() {
    let text = parts(&[
        "[entity.User]\nattributes = { userId = \"id\", createdAt = \"timestamp\" }\nkey = [\"USER#{userId}\", \"U#{createdAt}\"]\n[pattern]\nu = { in = [\"userId\"], out = \"User\" }",
    ]);
    assert_eq!(codes(&text, "pattern.u"), ["P212"]);
}

#[test]
fn rule_34_sort_keys_have_prefixes() {
    let text = parts(&[
        USER,
        "[entity.Visit]\nattributes = { userId = \"id\", at = \"timestamp\" }\nkey = [\"USER#{userId}\", \"{at}\"]",
    ]);
    assert!(has(&text, "P213", Note));
}

#[test]
fn rule_35_sort_keys_bound_results() {
    let text = parts(&[
        USER,
        &format!("{ORDER}expect = {{ per = \"User\", average = 100, max = 9000, bytes = 900 }}"),
        "[pattern]\nall = { in = [\"userId\"], out = \"Order*\" }\nboth = { in = [\"userId\"], out = [\"User\", \"Order*\"], limit = 5 }",
    ]);
    assert_eq!(severity_of(&text, "P115"), Some(Note));
    assert!(!has(&text.replace("out = \"Order*\"", "out = \"Order*\", limit = 10"), "P115", Note));
}

#[test]
fn rule_38_several_entities_use_generic_key_names() {
    let one = "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"userId\", \"createdAt\"]\n[entity.Event]\nattributes = { userId = \"id\", createdAt = \"timestamp\" }\n[pattern]\ne = { in = [\"userId\"], out = \"Event*\" }\n";
    assert!(codes(one, "").is_empty());
    let two = format!(
        "{one}p = {{ in = [\"userId\"], out = \"User\" }}\n[entity.User]\nattributes = {{ userId = \"id\", createdAt = \"timestamp\" }}\nkey = [\"U#{{userId}}\", \"U\"]\n"
    );
    assert!(has(&two, "P218", Warning));
}

#[test]
fn rule_39_prefixes_are_namespaces() {
    let text = parts(&[
        "[entity.Department]\nattributes = { orgId = \"id\", department = \"id\" }\nkey = [\"ORG#{orgId}\", \"DEPT#{department}\"]\n[entity.Member]\nattributes = { orgId = \"id\", department = \"id\", memberId = \"id\" }\nkey = [\"ORG#{orgId}\", \"DEPT#{department}#USER#{memberId}\"]\n[pattern]\nd = { in = [\"orgId\"], out = \"Department*\" }",
    ]);
    assert_eq!(codes(&text, "pattern.d"), ["P109"]);
}

#[test]
fn rule_40_prefixes_are_consistent() {
    let text = parts(&[
        USER,
        "[entity.Order]\nattributes = { orderId = \"id\", userId = \"id\" }\nkey = [\"user#{userId}\", \"ORDER#{orderId}\"]",
    ]);
    assert!(has(&text, "P205", Warning));
    let marks = parts(&[
        USER,
        "[entity.Order]\nattributes = { orderId = \"id\" }\nkey = [\"ORDER:{orderId}\", \"ORDER\"]",
    ]);
    assert!(has(&marks, "P205", Warning));
}

#[test]
fn rule_48_relationships_have_both_directions() {
    let text = |index: &str| {
        parts(&[
            GSI1,
            USER,
            &format!(
                "[entity.Likes]\nattributes = {{ userId = \"id\", postId = \"id\" }}\nedge = [\"userId\", \"postId\"]\nkey = [\"USER#{{userId}}\", \"LIKES#{{postId}}\"]\n{index}"
            ),
        ])
    };
    assert!(has(&text(""), "P216", Warning));
    assert!(message_of(&text(""), "P216").contains("by postId"));
    // Both ends in one partition key serve neither.
    let both =
        text("").replace("\"USER#{userId}\", \"LIKES#{postId}\"", "\"LIKE#{userId}#{postId}\", \"LIKE\"");
    assert!(message_of(&both, "P216").contains("by userId and postId"), "{}", message_of(&both, "P216"));
    // Under another identifier, the first end of the sort key is enough.
    let tagged = |key: &str| {
        text(&format!("index.GSI1 = {{ key = {key} }}")).replace(
            "userId = \"id\", postId",
            "at = \"timestamp\", tenantId = \"id\", userId = \"id\", postId",
        )
    };
    assert!(!has(&tagged("[\"TENANT#{tenantId}\", \"POST#{postId}#{userId}\"]"), "P216", Warning));
    assert!(has(&tagged("[\"TENANT#{tenantId}\", \"POST#{at}#{postId}\"]"), "P216", Warning));
    assert!(!has(&text("index.GSI1 = { key = [\"POST#{postId}\", \"USER#{userId}\"] }"), "P216", Warning));
}

const COPY: &str = "[entity.OrderById]\ncopies = \"Order\"\nattributes = { orderId = \"id\", userId = \"id\", status = \"A|B\" }\nkey = [\"ORDER#{orderId}\", \"METADATA\"]\n";

#[test]
fn rule_53_query_then_batch_get_is_for_rare_patterns() {
    let keys_only = "project = \"KEYS_ONLY\"\n";
    assert!(has(&by_id(keys_only, ", hydrate = true, rps = 100"), "P606", Note));
    assert!(!has(&by_id(keys_only, ", hydrate = true, rps = 0.1"), "P606", Note));
    let alone = by_id(keys_only, ", hydrate = true, rps = 0.01").replace(", rps = 10 }", " }");
    assert!(!has(&alone, "P606", Note), "all requests, and yet not frequent");
    assert!(!has(&by_id(keys_only, ", hydrate = true, rps = 100, importance = \"rare\""), "P606", Note));
}

#[test]
fn rule_54_copies_are_intended_and_declared() {
    let undeclared = COPY.replace("copies = \"Order\"\n", "").replace("status", "note = \"string\", status");
    assert!(has(&parts(&[USER, ORDER, &undeclared]), "P502", Warning));
    assert!(has(&parts(&[USER, ORDER, &undeclared.replace("note = \"string\", ", "")]), "P502", Note));
    assert!(has(&parts(&[USER, ORDER, COPY]), "P503", Warning));
}

#[test]
fn rule_55_copies_are_kept_in_sync_by_transactions() {
    let text = |write: &str| parts(&[USER, ORDER, COPY, "[write]", write]);
    assert!(has(&text("location = { create = \"Order\" }"), "P501", Error));
    assert!(has(&text("location = { batch = [\"create Order\", \"create OrderById\"] }"), "P501", Error));
    assert!(!has(&text("location = { transact = [\"create Order\", \"create OrderById\"] }"), "P501", Error));
    assert!(!has(&text("mark = { update = \"Order\", set = [\"note\"] }"), "P501", Error));
    assert!(has(&text("mark = { update = \"OrderById\", set = [\"status\"] }"), "P501", Error));
}

#[test]
fn an_original_and_its_copy_change_in_the_same_attributes() {
    let drifts = |transact: &str| {
        let write = format!("w = {{ transact = [{transact}] }}");
        has(&parts(&[USER, ORDER, COPY, "[write]", &write]), "P501", Error)
    };
    for transact in [
        r#""update Order set status", "update OrderById set userId""#,
        r#""update Order set status", "delete OrderById""#,
        r#""update Order set note", "update OrderById set status""#,
        r#""put Order", "delete OrderById""#,
        r#""create Order", "update OrderById set status""#,
        r#""delete Order", "update OrderById set status""#,
        r#"{ update = "Order", expression = "SET #status = :s" }, { update = "OrderById", expression = "SET userId = :u" }"#,
        r#"{ update = "Order", expression = "SET note = :n" }, { delete = "OrderById", condition = "attribute_exists(PK)" }"#,
    ] {
        assert!(drifts(transact), "{transact}");
    }
    for transact in [
        r#""update Order set status, note", "update OrderById set status""#,
        r#""update Order set status", "put OrderById""#,
        r#""put Order", "update OrderById set status, userId""#,
        r#""delete Order", "create Order", "put OrderById""#,
        r#""update Order set status", "delete OrderById", "create OrderById""#,
        r#""delete Order", "delete OrderById""#,
        r#"{ update = "Order", expression = "SET #status = :s, note = :n" }, { update = "OrderById", expression = "SET #status = :s" }"#,
    ] {
        assert!(!drifts(transact), "{transact}");
    }
}

#[test]
fn a_copy_for_some_originals_goes_when_its_original_loses_what_gives_it_one() {
    let drifts = |set: &str| {
        let text = parts(&[
            "[entity.Post]\nattributes = { postId = \"id\", rank = \"int?\", title = \"string\" }\nkey = [\"POST#{postId}\", \"POST\"]",
            "[entity.Ranked]\nattributes = { postId = \"id\", rank = \"int\", title = \"string\" }\ncopies = \"Post\"\nkey = [\"RANKED\", \"{rank:04}#{postId}\"]",
            &format!("[write]\nw = {{ transact = [\"update Post set {set}\", \"delete Ranked\"] }}"),
        ]);
        has(&text, "P501", Error)
    };
    assert!(!drifts("rank"));
    assert!(drifts("title"));
}

#[test]
fn rule_56_the_tenant_is_in_every_partition_key() {
    let text = parts(&[USER]).replace("[table]", "[table]\ntenant = \"tenantId\"");
    assert!(has(&text, "P217", Error));
}

#[test]
fn rule_59_at_most_20_global_indexes() {
    let indexes = |count: usize| -> String {
        (0..count).map(|n| format!("[index.GSI{n}]\nkeys = [\"G{n}PK\"]\n")).collect()
    };
    assert!(has(&parts(&[&indexes(21), USER]), "P301", Error));
    assert!(!has(&parts(&[&indexes(20), USER]), "P301", Error));
}

#[test]
fn rule_60_local_indexes_share_the_partition_key_and_limit_collections() {
    let local = |keys: &str| parts(&[&format!("[index.Local]\nlocal = true\nkeys = {keys}\n"), USER, ORDER]);
    assert!(has(&local("[\"PK\", \"status\"]"), "P302", Note));
    assert!(has(&local("[\"OTHER\", \"status\"]"), "P301", Error));
    let large = parts(&[
        "[index.Local]\nlocal = true\nkeys = [\"PK\", \"note\"]\n",
        USER,
        ORDER,
        "expect = { per = \"User\", average = 10, max = 50_000_000, bytes = 1000 }",
    ]);
    assert!(has(&large, "P403", Error));
    // Without a maximum, the average is judged, and the finding says so; without a size, it is a warning.
    let average = large.replace("average = 10, max = 50_000_000", "average = 20_000_000");
    assert!(
        message_of(&average, "P403").contains("on average 40 GB exceeds"),
        "{}",
        message_of(&average, "P403")
    );
    assert!(has(&average, "P403", Error));
    assert!(has(&average.replace("20_000_000, bytes = 1000", "200_000_000"), "P403", Warning));
    assert!(!has(&average.replace("20_000_000", "20_000"), "P403", Error));
}

#[test]
fn rule_63_a_sparse_index_serves_what_implies_its_condition() {
    let text = |condition: &str| {
        parts(&[
            GSI1,
            USER,
            &format!(
                "{ORDER}index.GSI1 = {{ key = [\"STATUS#{{status}}\", \"{{createdAt}}#{{orderId}}\"], when = \"status == 'A'\" }}"
            ),
            &format!(
                "[pattern]\nboth = {{ in = [\"userId\"], out = [\"User\", \"Order*\"] }}\nopen = {{ {condition}, out = \"Order*\" }}"
            ),
        ])
    };
    assert!(codes(&text("where = \"status == 'A'\""), "pattern.open").is_empty());
    assert_eq!(codes(&text("where = \"status == 'B'\""), "pattern.open"), ["P121"]);
    assert_eq!(codes(&text("in = [\"status\"]"), "pattern.open"), ["P121"]);
    let full = text("where = \"status == 'A'\"").replace(", when = \"status == 'A'\"", "");
    assert!(has(&full, "P304", Note));
}

#[test]
fn rule_67_an_index_that_serves_no_pattern_is_reported() {
    let text = parts(&[GSI1, USER, "[pattern]\nu = { in = [\"userId\"], out = \"User\" }"]);
    assert!(has(&text, "P303", Warning));
}

#[test]
fn rule_67_entries_that_no_pattern_reads_are_noted() {
    let entity = |edge: &str| {
        format!(
            "[entity.Note]\n{edge}attributes = {{ userId = \"id\", topicId = \"id\", text = \"string\" }}\nkey = [\"USER#{{userId}}\", \"NOTE#{{topicId}}\"]\nindex.GSI1 = {{ key = [\"TOPIC#{{topicId}}\", \"USER#{{userId}}\"] }}\n"
        )
    };
    let text = |edge: &str, patterns: &str| {
        let user = format!("{USER}index.GSI1 = {{ key = [\"NAME#{{name}}\", \"USER\"] }}\n");
        let patterns = format!(
            "[pattern]\nuser = {{ in = [\"userId\"], out = [\"User\", \"Note*\"] }}\nnamed = {{ in = [\"name\"], out = \"User*\" }}\n{patterns}[write]\nadd = {{ create = \"Note\", rps = 40 }}\n"
        );
        parts(&[GSI1, &user, &entity(edge), &patterns])
    };
    let unread = text("", "");
    assert_eq!(severity_of(&unread, "P303"), Some(Note));
    assert!(message_of(&unread, "P303").contains("40 write units a second"));
    let topic = "topic = { in = [\"topicId\"], out = \"Note*\" }\n";
    assert_eq!(severity_of(&text("", topic), "P303"), None);
    let asked = "sent = { in = [\"topicId\", \"userId\"], out = \"Note\", request = { index = \"GSI1\", condition = \"GSI1PK = 'TOPIC#{topicId}' AND GSI1SK = 'USER#{userId}'\" } }\n";
    assert_eq!(severity_of(&text("", asked), "P303"), None);
    assert_eq!(severity_of(&text("edge = [\"userId\", \"topicId\"]\n", ""), "P303"), None);
    // An entry that the keys of the others make cannot be removed alone.
    let index = "[index.GSI2]\nkeys = [\"GSI1PK\", \"SK\"]\n[entity.User]";
    let asked = "byUser = { in = [\"name\"], out = \"User*\", request = { index = \"GSI2\", condition = \"GSI1PK = 'NAME#{name}'\" } }\n";
    let implied = text("", &format!("{topic}{asked}")).replacen("[entity.User]", index, 1);
    let note =
        |finding: &&partita_design::Finding| finding.code == "P303" && finding.subject == "entity.Note";
    let help = findings(&implied).iter().find(note).unwrap().help.clone();
    assert!(help.contains("give GSI2 key attributes of its own"), "{help}");
    // What is not served yet may need the entry.
    let open = "open = { in = [\"text\"], out = \"Note*\" }\n";
    assert_eq!(severity_of(&text("", open), "P303"), None);
}

#[test]
fn rule_68_indexes_do_not_copy_attributes_that_are_never_read() {
    let text = parts(&[
        GSI1,
        USER,
        &format!("{ORDER}index.GSI1 = {{ key = [\"ORDER#{{orderId}}\", \"ORDER\"] }}"),
        "[pattern]\nboth = { in = [\"userId\"], out = [\"User\", \"Order*\"] }\norder = { in = [\"orderId\"], out = \"Order\", fields = [\"status\"] }",
    ]);
    assert!(has(&text, "P306", Note));
    assert!(!has(
        &text.replace("[\"GSI1PK\", \"GSI1SK\"]", "[\"GSI1PK\", \"GSI1SK\"]\nproject = [\"status\"]"),
        "P306",
        Note
    ));
}

/// Events under a status in an index, with a rate.
fn by_status(rate: &str, shards: &str) -> String {
    parts(&[
        GSI1,
        USER,
        &format!(
            "{ORDER}index.GSI1 = {{ key = [\"STATUS#{{status}}{}\", \"{{createdAt}}#{{orderId}}\"]{shards} }}",
            if shards.is_empty() { "" } else { "#{shard}" }
        ),
        &format!(
            "[pattern]\nboth = {{ in = [\"userId\"], out = [\"User\", \"Order*\"] }}\nopen = {{ in = [\"status\"], out = \"Order*\", limit = 10 }}\n[write]\nplace = {{ create = \"Order\"{rate} }}"
        ),
    ])
}

#[test]
fn rule_70_a_partition_takes_1000_writes_and_3000_reads() {
    let uneven = |rate: &str, shards: &str| {
        by_status(rate, shards).replace("\"A|B\"", "{ type = \"A|B\", top = 1.0 }")
    };
    assert!(has(&uneven(", rps = 1500", ""), "P210", Error));
    assert!(!has(&uneven(", rps = 900", ""), "P210", Error));
    assert!(!has(&uneven(", rps = 1500", ", shard = { by = \"orderId\", count = 3 }"), "P210", Error));
    // That one of two values takes all traffic is likely; that it takes half of it is certain.
    assert!(has(&by_status(", rps = 1500", ""), "P210", Warning));
    assert!(
        message_of(&by_status(", rps = 1500", ""), "P210").contains("1500 write units a second (assumed)")
    );
    assert!(has(&by_status(", rps = 2500", ""), "P210", Error));
    assert!(!has(&by_status(", rps = 900", ""), "P210", Warning));
    let help = |text: &str| {
        findings(text).into_iter().find(|f| f.code == "P210").map(|f| f.help).unwrap_or_default()
    };
    let busy = by_status(", rps = 5000", "").replace("limit = 10", "limit = 1000, rps = 2000");
    assert!(help(&busy).ends_with("count = 8 }"), "shards are for the writes alone: {}", help(&busy));
    let reads = parts(&[USER, "[pattern]\nall = { in = [\"userId\"], out = \"User\", rps = 100_000 }"])
        .replace("\"id\"", "{ type = \"id\", top = 0.5 }");
    assert!(has(&reads, "P210", Error));
    let match_events = |rate: u32| {
        parts(&[
            "[entity.Match]\nattributes = { matchId = { type = \"id\", top = 1.0 }, score = \"int\" }\nkey = [\"MATCH#{matchId}\", \"MATCH\"]",
            "[entity.Cheer]\nattributes = { matchId = { type = \"id\", top = 1.0 }, cheerId = \"ulid\" }\nkey = [\"MATCH#{matchId}\", \"CHEER#{cheerId}\"]",
            &format!(
                "[write]\ncheer = {{ create = \"Cheer\", rps = {rate} }}\nscore = {{ update = \"Match\", set = [\"score\"], rps = {rate} }}"
            ),
        ])
    };
    // An assumption alone is no error.
    let guessed = parts(&[USER, "[pattern]\nall = { in = [\"userId\"], out = \"User\", rps = 9_000_000 }"]);
    assert!(has(&guessed, "P210", Note) && message_of(&guessed, "P210").contains("(assumed)"));
    assert!(has(&match_events(600), "P210", Error), "two types under one key share its partition");
    assert!(!has(&match_events(400), "P210", Error));
}

/// Jobs that wait, in an index of so many shards that are selected by an attribute.
fn waiting_jobs(when: &str, shard: &str) -> String {
    parts(&[
        GSI1,
        &format!(
            "[entity.Job]\nattributes = {{ jobId = \"ulid\", state = \"WAITING|RUNNING|DONE\", queue = {{ type = \"id\", values = 500, top = 0.9 }}, day = \"date\", level = {{ type = \"int\", values = 2 }} }}\n\
             key = [\"JOB#{{jobId}}\", \"JOB\"]\nexpect = {{ count = 1_000_000, bytes = 500 }}\n\
             index.GSI1 = {{ key = [\"ALL#{{shard}}\", \"{{jobId}}\"]{when}, shard = {{ {shard} }} }}\n\
             [pattern]\nall = {{ out = \"Job*\"{}, limit = 10 }}\n[write]\nenqueue = {{ create = \"Job\", rps = 2400 }}",
            when.replace("when", "where")
        ),
    ])
}

#[test]
fn rule_70_shards_are_as_many_as_the_attribute_has_values_that_selects_them() {
    let waiting = ", when = \"state == 'WAITING'\"";
    let hottest = |text: &str| {
        let found = findings(text).into_iter().find(|finding| finding.code == "P210");
        found.map(|finding| (finding.message.split(" takes ").nth(1).unwrap_or("").to_owned(), finding.help))
    };
    assert_eq!(hottest(&waiting_jobs(waiting, "by = \"jobId\", count = 8")), None);
    assert_eq!(hottest(&waiting_jobs(waiting, "count = 8")), None, "at random");
    for (when, by, units) in
        [(waiting, "state", "2400"), ("", "queue", "2160"), ("", "day", "2400"), ("", "level", "1200")]
    {
        let (message, help) = hottest(&waiting_jobs(when, &format!("by = \"{by}\", count = 8"))).unwrap();
        assert!(message.starts_with(units), "{by}: {message}");
        let expected = format!(
            "{by} does not spread the items over the shards: write shard = {{ by = \"jobId\", count = 8 }}"
        );
        assert!(help.ends_with(&expected), "{help}");
    }
    let model = read(&Source::new("t.toml", waiting_jobs(waiting, "by = \"state\", count = 8"))).unwrap();
    let all = cards(&model);
    let card = all.iter().find(|card| card.mapping.location.index.is_some()).unwrap();
    assert_eq!(card.values.map(|values| values.value), Some(1.0));
    assert_eq!((card.share.value, card.verdict), (1.0, Verdict::Terrible));
    // More shards help only where they are used evenly.
    let (_, help) = hottest(&waiting_jobs(waiting, "by = \"jobId\", count = 2")).unwrap();
    assert_eq!(help, "raise shard.count to 4");
}

#[test]
fn rule_71_an_index_key_with_few_values_is_hot() {
    assert!(has(&by_status("", ""), "P308", Warning));
    // Cool, and yet a year of writes does not fit into a partition.
    assert!(has(&by_status(", rps = 10", ""), "P308", Warning));
    let counted = |count: &str| {
        by_status(", rps = 5", "")
            .replace("[pattern]", &format!("expect = {{ count = {count}, bytes = 500 }}\n[pattern]"))
    };
    assert!(has(&counted("100_000_000"), "P308", Warning));
    let help = |text: &str| findings(text).into_iter().find(|finding| finding.code == "P308").unwrap().help;
    let sharded = "make the index sparse with when, or add #{shard} to the key with shard = { by = \"orderId\", count = 3 }";
    assert_eq!(help(&counted("100_000_000")), sharded, "the rates and the number are declared");
    let plain = counted("100_000_000").replace("\"GSI1PK\", \"GSI1SK\"", "\"status\", \"createdAt\"");
    let plain =
        plain.replace("index.GSI1 = { key = [\"STATUS#{status}\", \"{createdAt}#{orderId}\"] }\n", "");
    assert_eq!(
        help(&plain),
        "give GSI1 key attributes of its own, and #{shard} in the partition key with shard = { by = \"orderId\", count = 3 }"
    );
    let typed = counted("100_000_000")
        .replace("\"GSI1PK\", \"GSI1SK\"", "\"type\", \"SK\"")
        .replace("index.GSI1 = { key = [\"STATUS#{status}\", \"{createdAt}#{orderId}\"] }\n", "");
    assert!(help(&typed).starts_with("give GSI1 key attributes of its own"), "{}", help(&typed));
    assert!(!has(&counted("1_000_000"), "P308", Warning), "small enough at this rate");
}

#[test]
fn rule_75_the_present_is_hot() {
    assert!(has(&keyed_by("day", "\"date\""), "P209", Warning));
}

#[test]
fn rule_78_items_have_at_most_400_kb() {
    let text = parts(&[USER, "expect = { count = 10, bytes = 500_000 }"]);
    assert!(has(&text, "P401", Error));
}

#[test]
fn rule_81_collections_are_bounded() {
    let text = |key: &str, expect: &str| {
        parts(&[&format!(
            "[entity.Device]\nattributes = {{ deviceId = \"id\" }}\nkey = [\"DEVICE#{{deviceId}}\", \"DEVICE\"]\nexpect = {{ count = 100 }}\n\
             [entity.Event]\nattributes = {{ deviceId = \"id\", time = \"timestamp\" }}\nkey = [\"{key}\", \"EVENT#{{time}}\"]\nexpect = {{ per = \"Device\", average = 5_000_000{expect}, bytes = 100 }}"
        )])
    };
    assert!(has(&text("DEVICE#{deviceId}", ""), "P402", Warning));
    assert!(has(&text("DEVICE#{deviceId}", ", max = 900_000_000"), "P402", Warning));
    let help = |max: &str| {
        let all = findings(&text("DEVICE#{deviceId}", max));
        all.into_iter().find(|finding| finding.code == "P402").unwrap().help
    };
    assert!(help("").ends_with("declare expect.max"));
    assert!(help(", max = 900_000_000").ends_with("correct expect.max"));
    assert!(!has(&text("DEVICE#{deviceId}", ", max = 9_000_000"), "P402", Warning));
    assert!(!has(&text("DEVICE#{deviceId}#{time:month}", ""), "P402", Warning));
    let silent = text("DEVICE#{deviceId}", "")
        .replace("expect = { per = \"Device\", average = 5_000_000, bytes = 100 }", "");
    assert!(!has(&silent, "P402", Warning));
    assert!(has(&silent.replace("entity.Event", "entity.SensorReading"), "P402", Warning));
}

#[test]
fn rule_83_no_scan() {
    let text = parts(&[USER, "[pattern]\nall = { out = \"User*\" }"]);
    assert_eq!(codes(&text, "pattern.all"), ["P114"]);
    let written =
        parts(&[USER, "[pattern]\nu = { in = [\"userId\"], out = \"User\", request = { scan = true } }"]);
    assert_eq!(codes(&written, "pattern.u"), ["P114"]);
}

/// A customer with a lock, a unique address and an aggregate, and one write.
fn writing(write: &str) -> String {
    parts(&[
        "[entity.Customer]\nattributes = { customerId = \"id\", email = \"string\", version = \"int\" }\nkey = [\"CUSTOMER#{customerId}\", \"PROFILE\"]\n\
         unique = [\"email\"]\nlock = \"version\"\naggregates = { orders = \"count Order\", last = \"max Order.createdAt\" }",
        "[entity.Order]\nattributes = { orderId = \"id\", customerId = \"id\", createdAt = \"timestamp\" }\nkey = [\"CUSTOMER#{customerId}\", \"ORDER#{createdAt}#{orderId}\"]",
        "[pattern]\nboth = { in = [\"customerId\"], out = [\"Customer\", \"Order*\"] }",
        &format!("[write]\nw = {write}"),
    ])
}

#[test]
fn rule_86_a_put_overwrites() {
    assert!(has(&writing("{ put = \"Customer\" }"), "P515", Warning));
    // What the help of each says is accepted.
    let helps = |write: &str| -> Vec<String> {
        let of = |code: &str| ["P515", "P517"].contains(&code);
        findings(&writing(write)).into_iter().filter(|found| of(found.code)).map(|found| found.help).collect()
    };
    let transact = "transact = [\"create Customer\"]";
    assert_eq!(
        helps("{ batch = [\"put Customer\"] }"),
        [format!(
            "a batch has no conditions: write transact = [\"update Customer set …\"], or {} for a new one",
            transact.trim_start_matches("transact = ")
        )]
    );
    assert_eq!(
        helps("{ batch = [\"create Customer\"] }"),
        ["use transact, or send these actions one by one"]
    );
    assert_eq!(codes(&writing(&format!("{{ {transact} }}")), ""), [""; 0]);
    let existing = writing("{ create = \"Customer\", condition = \"attribute_exists(PK)\" }");
    let finding = findings(&existing).into_iter().find(|finding| finding.code == "P514").unwrap();
    assert_eq!(finding.repair, None, "both conditions together never hold");
    assert!(has(
        &writing("{ create = \"Customer\", condition = \"attribute_not_exists(email)\" }"),
        "P514",
        Warning
    ));
    assert_eq!(
        codes(&writing("{ create = \"Customer\", condition = \"attribute_not_exists(PK)\" }"), ""),
        [""; 0]
    );
    let update = "{ update = \"Order\", expression = \"SET note = :n\" }";
    let text = writing(update)
        .replace("createdAt = \"timestamp\" }", "createdAt = \"timestamp\", note = \"string\" }");
    assert!(has(&text, "P512", Note));
    assert!(!has(&text.replace("= :n\"", "= :n\", condition = \"attribute_exists(PK)\""), "P512", Note));
}

#[test]
fn rule_87_an_update_compares_the_version_and_increases_it() {
    let write = |expression: &str, condition: &str| {
        let markers = "\"delete marker Customer.email\", \"create marker Customer.email\"";
        writing(&format!(
            "{{ transact = [{{ update = \"Customer\", expression = \"{expression}\", condition = \"{condition}\" }}, {markers}] }}"
        ))
    };
    let increased = "SET email = :e, version = version + :one";
    assert_eq!(codes(&write(increased, "version = :v"), ""), [""; 0]);
    assert_eq!(codes(&write(increased, "version = :v OR email = :e"), ""), ["P509"]);
    assert_eq!(codes(&write("SET email = :e", "version = :v"), ""), ["P509"]);
    assert_eq!(codes(&write("SET email = :e, version = :v", "version = :v"), ""), ["P509"]);
    assert_eq!(codes(&writing("{ put = \"Customer\", condition = \"attribute_exists(PK)\" }"), ""), ["P509"]);
}

#[test]
fn rule_88_a_unique_value_has_a_marker() {
    let write = |markers: &str| writing(&format!("{{ transact = [\"create Customer\"{markers}] }}"));
    assert_eq!(codes(&write(""), ""), [""; 0], "the marker follows from the model");
    assert_eq!(codes(&write(", \"create marker Customer.email\""), ""), [""; 0]);
    assert_eq!(codes(&write(", \"delete marker Customer.email\""), ""), ["P513"]);
    let twice = write(", \"create marker Customer.email\"")
        .replace("unique = [\"email\"]", "unique = [\"email\", [\"customerId\", \"email\"]]");
    assert_eq!(codes(&twice, ""), ["P513"], "each of two rules has a marker");
    let single = "{ update = \"Customer\", expression = \"SET email = :e ADD version :one\", condition = \"version = :v\" }";
    assert_eq!(codes(&writing(single), ""), ["P513"]);
    let numbered = |key: &str| {
        let text = "format = 1\n[table]\nname = \"T\"\nkeys = [\"n\"]\n[entity.Seat]\nattributes = { n = \"int\", guest = \"string\" }\nidentity = \"n\"\nunique = [\"guest\"]\n[pattern]\nseat = { in = [\"n\"], out = \"Seat\" }";
        codes(&text.replace("identity", &format!("{key}identity")), "entity.Seat")
    };
    assert!(numbered("").contains(&"P513"), "a marker's key is no number");
    assert!(!numbered("key = [\"SEAT#{n}\"]\n").contains(&"P513"));
    let unique = |name: &str, kind: &str| {
        let text = format!(
            "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\"]\n[entity.Seat]\n\
             attributes = {{ seatId = \"id\", \"{name}\" = \"{kind}\" }}\nkey = [\"SEAT#{{seatId}}\"]\nunique = [\"{name}\"]\n\
             [pattern]\nseat = {{ in = [\"seatId\"], out = \"Seat\" }}"
        );
        codes(&text, "entity.Seat").contains(&"P513")
    };
    assert!(!unique("guest", "string"));
    assert!(unique("guest#name", "string") && unique("a,b", "string"), "two markers would have one key");
    assert!(unique("guest", "list") && unique("guest", "binary"), "all values would have one marker");
}

#[test]
fn versions_leave_the_number_0_to_the_newest() {
    let model = |versions: &str| {
        support::with_table(&format!(
            "[entity.Draft]\nattributes = {{ docId = \"id\", version = \"int\" }}\n\
             identity = [\"docId\", \"version\"]\n{versions}key = [\"DOC#{{docId}}\", \"V#{{version:06}}\"]\n\
             [entity.Latest]\nattributes = {{ docId = \"id\", version = \"int\" }}\nidentity = \"docId\"\nkey = [\"DOC#{{docId}}\", \"V#000000\"]\n"
        ))
    };
    assert!(has(&model(""), "P202", Error));
    assert!(!has(&model("versions = \"version\"\n"), "P202", Error));
    let positive = model("").replace(
        "version = \"int\" }\nidentity = [",
        "version = { type = \"int\", min = 1 } }\nidentity = [",
    );
    assert!(!has(&positive, "P202", Error));
    assert!(has(&positive.replace("V#000000", "V#000100"), "P202", Error));
}

#[test]
fn rule_54_a_copy_leads_to_its_original_or_back() {
    let latest = |attributes: &str| {
        support::with_table(&format!(
            "[entity.Draft]\nattributes = {{ tenantId = \"id\", docId = \"id\", version = \"int\" }}\n\
             identity = [\"docId\", \"version\"]\nversions = \"version\"\n\
             key = [\"TENANT#{{tenantId}}#{{docId}}\", \"V#{{version:06}}\"]\n[entity.Latest]\ncopies = \"Draft\"\nlatest = true\n\
             identity = \"docId\"\nattributes = {{ {attributes}docId = \"id\", version = \"int\" }}\nkey = [\"DOC#{{docId}}\", \"LATEST\"]\n"
        ))
    };
    let found = findings(&latest("")).into_iter().find(|finding| finding.code == "P518").unwrap();
    assert_eq!(found.help, "give Latest the attributes tenantId");
    assert!(!has(&latest("tenantId = \"id\", "), "P518", Warning));
}

#[test]
fn a_request_takes_one_action_on_an_item() {
    let found = |write: &str| {
        let own = findings(&writing(write)).into_iter().filter(|found| found.code == "P520");
        own.map(|found| (found.severity, found.help)).collect::<Vec<_>>()
    };
    // An order has one customer.
    let apart =
        "{ transact = [\"create Order\", \"update Customer set orders\", \"update Customer set last\"] }";
    let help = "write transact = [\"create Order\", \"update Customer set orders, last\"]";
    assert_eq!(found(apart), [(Error, help.to_owned())]);
    assert_eq!(codes(&writing(apart), ""), ["P520"]);
    let orders = "\"create Order\", \"create Order\"";
    let both = "\"update Customer set orders, last\"";
    assert_eq!(found(&format!("{{ transact = [{orders}, {both}] }}")), []);
    // Two customers, unless they are one.
    let two = "{ transact = [\"update Customer set email\", \"update Customer set version\"] }";
    let help = "if they always are, write one: \"update Customer set email, version\"";
    assert_eq!(found(two), [(Note, help.to_owned())]);
    let moved = format!("{{ transact = [\"delete Order\", \"create Order\", {both}] }}");
    assert_eq!(found(&moved), [(Note, "send it only where their keys differ".to_owned())]);
    // One marker for each value.
    let marker = "\"create marker Customer.email\"";
    let twice = |actions: &str| found(&format!("{{ transact = [{actions}, {marker}, {marker}] }}"));
    assert_eq!(twice("\"create Customer\""), [(Error, "list it once for each item".to_owned())]);
    assert_eq!(twice("\"create Customer\", \"create Customer\""), []);
}

#[test]
fn an_item_of_which_there_is_one_is_written_once() {
    let severities = |entity: &str, write: &str| {
        let write = format!("[write]\nw = {write}");
        let own = findings(&parts(&[USER, entity, &write])).into_iter().filter(|found| found.code == "P520");
        own.map(|found| found.severity).collect::<Vec<_>>()
    };
    let settings = "[entity.Settings]\nattributes = { theme = \"string\", limit = \"int\" }\nkey = [\"SETTINGS\", \"SETTINGS\"]";
    let twice = "[\"update Settings set theme\", \"update Settings set limit\"]";
    assert_eq!(severities(settings, &format!("{{ transact = {twice} }}")), [Error]);
    assert_eq!(severities(settings, "{ batch = [\"put Settings*\"] }"), [Error]);
    assert_eq!(severities(settings, "{ transact = [\"update Settings set theme\", \"create User\"] }"), []);
    let copy = "[entity.Name]\ncopies = \"User\"\nattributes = { userId = \"id\", name = \"string\" }\nkey = [\"NAME#{userId}\", \"NAME\"]";
    let twice = "\"put Name\", \"update Name set name\"";
    assert_eq!(severities(copy, &format!("{{ transact = [\"put User\", {twice}] }}")), [Error]);
    assert_eq!(
        severities(copy, &format!("{{ transact = [\"put User\", \"put User\", {twice}] }}")),
        [Note, Note]
    );
}

#[test]
fn rule_92_aggregates_are_kept_in_the_transaction_that_changes_their_items() {
    assert_eq!(codes(&writing("{ create = \"Order\" }"), ""), ["P505"]);
    assert_eq!(
        codes(&writing("{ transact = [\"create Order\", \"update Customer set orders\"] }"), ""),
        ["P505"]
    );
    assert_eq!(
        codes(&writing("{ transact = [\"create Order\", \"update Customer set orders, last\"] }"), ""),
        [""; 0]
    );
    let one = writing("{ transact = [\"create Order\", \"update Customer set orders\"] }");
    let repairs: Vec<String> =
        findings(&one).into_iter().filter_map(|found| found.repair).map(|repair| repair.help).collect();
    assert_eq!(repairs, ["write transact = [\"create Order\", \"update Customer set orders, last\"]"]);
    let batch = "{ batch = [\"create Order\", \"update Customer set orders, last\"] }";
    assert_eq!(codes(&writing(batch), ""), ["P505", "P517"]);
    let deleted = writing("{ transact = [\"delete Order\", \"update Customer set orders, last\"] }");
    assert!(has(&deleted, "P511", Note), "a max cannot be undone");
    assert!(has(
        &writing("{ transact = [\"put Order\", \"update Customer set orders, last\"] }"),
        "P511",
        Warning
    ));
}

#[test]
fn rule_92_a_write_that_shows_that_its_items_are_left_out_needs_no_aggregate() {
    let seats = |write: &str| {
        support::with_table(&format!(
            "[entity.Event]\nattributes = {{ eventId = \"ulid\" }}\nkey = [\"EVENT#{{eventId}}\", \"EVENT\"]\n\
             aggregates = {{ sold = \"count Seat where state == 'SOLD'\" }}\n\
             [entity.Seat]\nattributes = {{ eventId = \"ulid\", seatId = \"id\", state = \"FREE|HELD|SOLD\" }}\n\
             key = [\"EVENT#{{eventId}}\", \"SEAT#{{seatId}}\"]\n\
             [pattern]\nevent = {{ in = [\"eventId\"], out = [\"Event\", \"Seat*\"] }}\n[write]\nhold = {write}\n"
        ))
    };
    let values = "values = { \":free\" = \"FREE\", \":held\" = \"HELD\", \":sold\" = \"SOLD\" }";
    let update = |to: &str, from: &str, values: &str| {
        seats(&format!(
            "{{ update = \"Seat\", expression = \"SET #state = {to}\", condition = \"{from}\"{values} }}"
        ))
    };
    let declared = format!(", {values}");
    for (to, from, values, is_left_out) in [
        (":held", "#state = :free", declared.as_str(), true),
        (":held", "#state IN (:free, :held)", &declared, true),
        (":sold", "#state = :sold", &declared, true),
        (":held", "#state <> :sold", &declared, true),
        (":sold", "#state = :held", &declared, false),
        (":held", "#state = :sold", &declared, false),
        (":held", "attribute_exists(PK)", &declared, false),
        (":held", "#state = :free", "", false),
    ] {
        assert_eq!(!has(&update(to, from, values), "P505", Error), is_left_out, "{to} {from} {values}");
    }
    let delete = |from: &str| seats(&format!("{{ delete = \"Seat\", condition = \"{from}\", {values} }}"));
    assert!(!has(&delete("#state = :free"), "P505", Error));
    assert!(has(&delete("#state = :sold"), "P505", Error));
    // Where nothing shows which items are meant, both answers are named, and none is applied.
    let open = findings(&seats("{ update = \"Seat\", set = [\"state\"] }"));
    let open = open.into_iter().find(|finding| finding.code == "P505").unwrap();
    assert_eq!(open.repair, None);
    assert_eq!(
        open.help,
        "update sold of Event in the same transaction, or, if the Seat does not meet state == 'SOLD' before and after it, declare the expression and the condition that show it, with their values"
    );
}

#[test]
fn rule_92_what_expires_is_not_counted() {
    let text = writing("{ create = \"Customer\" }");
    assert!(!has(&text, "P516", Warning));
    let expiring = text.replace("[entity.Order]", "[entity.Order]\nttl = \"expiresAt\"");
    assert!(has(
        &expiring.replace("createdAt = \"timestamp\" }", "createdAt = \"timestamp\", expiresAt = \"int?\" }"),
        "P516",
        Warning
    ));
}

#[test]
fn an_aggregate_is_of_the_type_of_its_attribute() {
    let declared = |attributes: &str| {
        let text = writing("{ create = \"Customer\" }");
        let text = text.replace("version = \"int\" }", &format!("version = \"int\", {attributes} }}"));
        text.replace(
            "last = \"max Order.createdAt\"",
            "last = \"max Order.createdAt\", due = \"sum Order.price\"",
        )
        .replace("createdAt = \"timestamp\" }", "createdAt = \"timestamp\", price = \"decimal?\" }")
    };
    let right = [
        "orders = \"int\"",
        "orders = \"decimal?\"",
        "due = \"decimal\"",
        "last = \"timestamp?\"",
        "last = \"string?\"",
    ];
    for attributes in right {
        assert!(!has(&declared(attributes), "P521", Error), "{attributes}");
    }
    let wrong = [
        ("orders = \"string\"", "orders = \"int\""),
        ("orders = { type = \"date\", optional = true }", "orders = { type = \"int?\", optional = true }"),
        ("due = \"int?\"", "due = \"decimal?\""),
        ("last = \"date?\"", "last = \"timestamp?\""),
    ];
    for (attributes, repaired) in wrong {
        let found =
            findings(&declared(attributes)).into_iter().find(|finding| finding.code == "P521").unwrap();
        let text =
            partita_design::repair::apply(&declared(attributes), &found.repair.unwrap().edits).unwrap();
        assert!(text.contains(repaired) && !has(&text, "P521", Error), "{text}");
    }
}

#[test]
fn rule_108_aggregates_are_declared_and_audited() {
    let text = writing("{ create = \"Customer\" }");
    let model =
        support::model(&text.replace("\"string\", version = \"int\"", "\"string?\", version = \"int?\""));
    let customer = model.entity("Customer").map(|entity| entity.attributes.len());
    assert_eq!(customer, Some(5), "the attributes that hold aggregates are declared by them");
    let audit = |orders: &str| {
        let text = |value: &str| Value::String(value.to_owned());
        let item = |values: &[(&str, Value)]| -> Item {
            values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
        };
        let keys = |sort: &str, kind: &str| {
            [("PK", text("CUSTOMER#1")), ("SK", text(sort)), ("type", text(kind)), ("customerId", text("1"))]
        };
        let mut customer = item(&keys("PROFILE", "Customer"));
        customer.extend(item(&[
            ("orders", Value::Number(orders.to_owned())),
            ("last", text("2026-01-01T00:00:00Z")),
        ]));
        let mut order = item(&keys("ORDER#2026-01-01T00:00:00Z#7", "Order"));
        order.extend(item(&[("orderId", text("7")), ("createdAt", text("2026-01-01T00:00:00Z"))]));
        let mut audit = TableAudit::new(&model);
        [order, customer].iter().for_each(|item| audit.add(item));
        audit.finish().1.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(audit("1"), [""; 0]);
    assert_eq!(audit("2"), ["aggregate"]);
}

#[test]
fn rule_93_the_latest_copy_is_the_newest_version() {
    let text = |write: &str| {
        parts(&[
            "[entity.Version]\nattributes = { docId = \"id\", version = \"int\", body = \"string\" }\nidentity = [\"docId\", \"version\"]\nkey = [\"DOC#{docId}\", \"V#{version:06}\"]\nversions = \"version\"",
            "[entity.Latest]\ncopies = \"Version\"\nlatest = true\nidentity = \"docId\"\nattributes = { docId = \"id\", version = \"int\", body = \"string\" }\nkey = [\"DOC#{docId}\", \"LATEST\"]",
            "[pattern]\nboth = { in = [\"docId\"], out = [\"Latest\", \"Version*\"] }",
            &format!("[write]\nsave = {write}"),
        ])
    };
    assert_eq!(codes(&text("{ transact = [\"create Version\", \"put Latest\"] }"), "write.save"), [""; 0]);
    assert_eq!(
        codes(
            &text("{ transact = [\"create Version\", \"update Latest set version, body\"] }"),
            "write.save"
        ),
        [""; 0]
    );
    assert_eq!(
        codes(&text("{ transact = [\"create Version\", \"update Latest set version\"] }"), "write.save"),
        ["P506"]
    );
    assert_eq!(codes(&text("{ put = \"Latest\" }"), "write.save"), ["P506"]);
    assert_eq!(codes(&text("{ create = \"Version\" }"), "write.save"), ["P501"]);
    assert_eq!(
        codes(&text("{ transact = [\"create Version\", \"create Latest\"] }"), "write.save"),
        ["P506"]
    );
    let deleting = "{ transact = [\"create Version\", \"delete Latest\", \"create Latest\"] }";
    assert_eq!(codes(&text(deleting), "write.save"), ["P520"]);
    let moving = text(deleting).replace("\"DOC#{docId}\", \"LATEST\"", "\"BODY#{body}\", \"DOC#{docId}\"");
    assert_eq!(codes(&moving, "write.save"), [""; 0]);
    let saving = text("{ transact = [\"create Version\", \"put Latest\"] }");
    let first = |limits: &str| {
        let kind = format!("version = {{ type = \"int\", {limits} }}");
        codes(&saving.replacen("version = \"int\"", &kind, 1), "entity.Version")
    };
    assert_eq!(first("min = 1, max = 999"), [""; 0]);
    assert_eq!((first("min = 0"), first("min = 2")), (vec!["P504"], vec!["P504"]));
    // Versions are removed from the oldest on, or the newest with its copy.
    assert_eq!(codes(&text("{ delete = \"Version\" }"), "write.save"), [""; 0]);
    assert_eq!(codes(&text("{ transact = [\"delete Version*\"] }"), "write.save"), [""; 0]);
    assert_eq!(codes(&text("{ transact = [\"delete Version\", \"put Latest\"] }"), "write.save"), [""; 0]);
    assert_eq!(codes(&moving.replace(deleting, "{ delete = \"Version\" }"), "write.save"), ["P501"]);
}

#[test]
fn rule_94_versions_in_attribute_names() {
    let text = parts(&[
        "[entity.User]\nattributes = { userId = \"id\", v1_address = \"string\", v2_address = \"map\" }\nkey = [\"USER#{userId}\", \"PROFILE\"]",
    ]);
    assert!(has(&text, "P220", Note));
}

/// Two types and a statement about the project.
fn project(context: &str) -> String {
    parts(&[
        &format!("[context]\n{context}"),
        USER,
        ORDER,
        "[pattern]\nboth = { in = [\"userId\"], out = [\"User\", \"Order*\"] }",
    ])
}

#[test]
fn rule_96_a_new_team_starts_with_a_table_per_entity() {
    assert!(has(&project("team = \"new\""), "P604", Warning));
    assert!(!has(&project("team = \"experienced\""), "P604", Warning));
}

#[test]
fn rule_97_unknown_patterns_speak_against_a_single_table() {
    assert!(has(&project("patterns = \"unknown\""), "P604", Warning));
}

#[test]
fn rule_98_very_different_throughput_suggests_separate_tables() {
    let text = parts(&[
        USER,
        "[entity.Click]\nattributes = { page = \"id\", clickId = \"ulid\" }\nkey = [\"PAGE#{page}\", \"CLICK#{clickId}\"]",
        "[pattern]\nu = { in = [\"userId\"], out = \"User\" }\nc = { in = [\"page\"], out = \"Click*\" }\n[write]\nclick = { create = \"Click\", rps = 800 }\nsave = { put = \"User\", rps = 1 }",
    ]);
    assert!(has(&text, "P603", Note));
}

#[test]
fn rule_102_short_lived_projects_start_with_a_table_per_entity() {
    assert!(has(&project("life = \"short\""), "P604", Warning));
}

#[test]
fn rule_103_sharing_a_table_has_a_benefit() {
    let apart = parts(&[
        USER,
        "[entity.Product]\nattributes = { productId = \"id\" }\nkey = [\"PRODUCT#{productId}\", \"PRODUCT\"]",
        "[pattern]\nu = { in = [\"userId\"], out = \"User\" }\np = { in = [\"productId\"], out = \"Product\" }",
    ]);
    assert!(has(&apart, "P602", Warning));
    assert!(!has(&project(""), "P602", Warning));
}

#[test]
fn rule_105_a_relational_schema_becomes_entities_and_relationships() {
    let schema = "CREATE TABLE users (id int PRIMARY KEY, name text NOT NULL);
        CREATE TABLE orders (id int PRIMARY KEY, user_id int NOT NULL REFERENCES users(id), placed timestamp NOT NULL);";
    let observed = relational::Observations {
        queries: Some(
            "SELECT * FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id = 1 ORDER BY o.placed DESC",
        ),
        seconds: Some(1.0),
    };
    let text = relational::draft(schema, &observed, "Shop").expect("this is a schema").text();
    assert!(text.contains("out = [\"User\", \"Order*\"], order = \"placed desc\""), "{text}");
    assert!(!has(&text, "P101", Error), "{text}");
}

#[test]
fn rule_109_rare_patterns_may_cost_more() {
    let filtered = |importance: &str| {
        parts(&[
            USER,
            ORDER,
            &format!(
                "[pattern]\nboth = {{ in = [\"userId\"], out = [\"User\", \"Order*\"] }}\nnoted = {{ in = [\"userId\"], out = \"Order*\", where = \"note == 'gift'\"{importance} }}"
            ),
        ])
    };
    assert_eq!(codes(&filtered(""), "pattern.noted"), ["P113"]);
    assert_eq!(codes(&filtered(", importance = \"rare\""), "pattern.noted"), [""; 0]);
    assert!(has(&by_id("", ", importance = \"rare\""), "P309", Note));
    assert!(!has(&by_id("", ""), "P309", Note));
}

/// Messages in rooms, with these expectations, rates and indexes.
fn rooms(expect: &str, rates: &str, indexes: &str) -> String {
    parts(&[
        indexes,
        "[entity.Room]\nattributes = { roomId = \"id\", name = \"string\" }\nkey = [\"ROOM#{roomId}\", \"ROOM\"]\nexpect = { count = 10, bytes = 100 }",
        &format!(
            "[entity.Message]\nattributes = {{ roomId = \"id\", messageId = \"ulid\", text = \"string\" }}\nkey = [\"ROOM#{{roomId}}\", \"MSG#{{messageId}}\"]\nexpect = {{ per = \"Room\", {expect} }}"
        ),
        &format!(
            "[pattern]\nroom = {{ in = [\"roomId\"], out = [\"Room\", \"Message*\"] }}\n[write]\nsay = {{ create = \"Message\"{rates} }}"
        ),
    ])
}

#[test]
fn rule_110_growth_shows_what_breaks_first() {
    let grows = rooms("average = 100, average_in_a_year = 1300, bytes = 1100", "", "");
    assert!(
        message_of(&grows, "P406").starts_with("in month 9 of 12, a result of on average 1.1 MB"),
        "{}",
        message_of(&grows, "P406")
    );
    assert!(has(&grows, "P406", Note) && !has(&grows, "P406", Warning), "a page is no failure");
    let local = "[index.Local]\nlocal = true\nkeys = [\"PK\", \"text\"]\n";
    let full = rooms("average = 1000, max = 2_000_000, max_in_a_year = 50_000_000, bytes = 1000", "", local);
    assert!(has(&full, "P406", Warning), "a collection of 10 GB");
    let large = rooms(
        "average = 10, max = 20, bytes = 1000, max_bytes = 100_000, max_bytes_in_a_year = 900_000",
        "",
        "",
    );
    assert!(has(&large, "P406", Warning), "an item of 400 KB");
    let hot = rooms("average = 1000, max = 2000, bytes = 500", ", rps = 100, rps_in_a_year = 20_000", "");
    assert!(has(&hot, "P406", Warning), "a hot key");
    assert!(!has(&rooms("average = 10, average_in_a_year = 20, bytes = 500", "", ""), "P406", Note));
}

#[test]
fn declared_numbers_do_not_contradict_a_declared_maximum() {
    let users = |count: u64, max: u64| {
        support::with_table(&format!(
            r#"
[entity.Tenant]
attributes = {{ tenantId = "id" }}
key = ["T#{{tenantId}}", "T"]
expect = {{ count = 10, bytes = 100 }}
[entity.User]
attributes = {{ tenantId = "id", userId = "id" }}
key = ["T#{{tenantId}}", "U#{{userId}}"]
expect = {{ count = {count}, per = "Tenant", max = {max}, bytes = 100 }}
"#
        ))
    };
    assert!(has(&users(1000, 5), "P407", Warning));
    assert_eq!(
        message_of(&users(1000, 5), "P407"),
        "100 items for each Tenant follow from the declared numbers, more than max = 5"
    );
    assert!(!has(&users(1000, 100), "P407", Warning));
    let tags = |kind: &str, max: u64| {
        support::with_table(&format!(
            r#"
[entity.Tag]
attributes = {{ tag = {{ type = "string", values = 200 }}, itemId = "ulid" }}
identity = ["tag", "itemId"]
key = ["TAG#{{tag}}{kind}", "ITEM#{{itemId}}"]
expect = {{ count = 10_000, max = {max} }}
SHARD
"#
        ))
    };
    let plain = |max| tags("", max).replace("SHARD", "");
    let sharded = |max| tags("#{shard}", max).replace("SHARD", "shard = { count = 5 }");
    assert!(has(&plain(49), "P407", Warning) && !has(&plain(50), "P407", Warning));
    assert!(has(&sharded(9), "P407", Warning) && !has(&sharded(10), "P407", Warning));
}

#[test]
fn rule_111_the_shape_of_the_traffic_decides_between_on_demand_and_provisioned() {
    let prices = Prices::parse(DEFAULT_PRICES).unwrap();
    let choice = |traffic: &str| {
        let model =
            support::model(&format!("{}\n{traffic}", rooms("average = 10, bytes = 500", ", rps = 200", "")));
        let cost = cost(&model, &prices);
        (cost.choice(&prices).unwrap(), cost)
    };
    let (even, cost) = choice("");
    assert!(even.is_provisioned() && cost.shape.basis.is_assumed());
    let (spiky, cost) = choice("[traffic]\npeak = 20\nsudden = true");
    assert!(!spiky.is_provisioned() && spiky.utilisation < spiky.break_even);
    assert_eq!(cost.locations[0].load.capacity(&prices, &cost.shape).1[0], (200.0 * 20.0 / 0.7_f64).ceil());
    let (daily, _) = choice("[traffic]\npeak = 5\nidle_hours = 10");
    assert!(
        daily.is_provisioned() && daily.provisioned > even.provisioned && daily.on_demand == even.on_demand
    );
    assert!((even.break_even - 0.289).abs() < 0.001);
}

#[test]
fn items_expire_by_numbers_of_an_attribute_that_exists() {
    let text = |kind: &str| {
        parts(&[&USER.replace("name = \"string\"", &format!("until = \"{kind}\"")), "ttl = \"until\""])
    };
    assert!(has(&text("timestamp"), "P229", Error) && !has(&text("int"), "P229", Error));
    let source = Source::new("model.toml", parts(&[USER, "ttl = \"until\""]));
    assert!(read(&source).unwrap_err().iter().any(|finding| finding.code == "P003"));
}

#[test]
fn names_are_those_that_dynamodb_accepts() {
    let named = |name: &str| parts(&[USER]).replace("\"Tab\"", &format!("\"{name}\""));
    assert!(has(&named("My table!"), "P230", Error) && has(&named("ab"), "P230", Error));
    assert!(!has(&named("my-table_2.x"), "P230", Error));
    let (text, findings) = (named("ab"), findings(&named("ab")));
    let refused = findings.iter().find(|finding| finding.code == "P230").unwrap();
    assert_eq!(&text[refused.span.clone()], "\"ab\"");
    assert!(has(&parts(&["[index.\"by x\"]\nkeys = [\"A\"]", USER]), "P230", Error));
}

#[test]
fn names_of_attributes_are_those_that_dynamodb_accepts() {
    let refused = |text: &str| {
        let source = Source::new("model.toml", text);
        let found = read(&source).map_or_else(|findings| findings, |_| Vec::new());
        let own = found.into_iter().filter(|finding| finding.code == "P230");
        own.map(|finding| text[finding.span].to_owned()).collect::<Vec<_>>()
    };
    let (fits, long) = ("x".repeat(255), "x".repeat(256));
    let index = |keys: &str, project: &str| {
        parts(&[&format!("[index.GSI1]\nkeys = [{keys}]\nproject = [{project}]"), USER])
    };
    assert_eq!(refused(&index(&format!("\"{fits}\""), "\"name\"")), [""; 0]);
    assert_eq!(refused(&index(&format!("\"{long}\""), "\"name\"")), [format!("[\"{long}\"]")]);
    assert_eq!(refused(&index("\"A\", \"\"", "\"name\"")), ["[\"A\", \"\"]"]);
    assert_eq!(refused(&index("\"A\"", &format!("\"{long}\""))), [format!("[\"{long}\"]")]);
    let named = |name: &str| parts(&[USER]).replace("name = \"string\"", &format!("\"{name}\" = \"string\""));
    assert_eq!(refused(&named(&long)), [""; 0]);
    assert_eq!(refused(&named("")), ["\"\""]);
    assert_eq!(refused(&named(&"x".repeat(65_536))).len(), 1);
    assert_eq!(refused(&parts(&[USER]).replace("keys = [\"PK\"", "keys = [\"\"")), ["[\"\", \"SK\"]"]);
}

#[test]
fn a_projection_names_as_many_attributes_as_dynamodb_accepts() {
    let project =
        |count: usize| (0..count).map(|number| format!("\"a{number}\"")).collect::<Vec<_>>().join(", ");
    let found = |counts: &[usize]| {
        let of = |(number, count): (usize, &usize)| {
            format!("[index.GSI{number}]\nkeys = [\"g{number}\"]\nproject = [{}]\n", project(*count))
        };
        let indexes: String = counts.iter().enumerate().map(of).collect();
        let own = findings(&parts(&[&indexes, USER])).into_iter().filter(|finding| finding.code == "P301");
        own.map(|finding| finding.subject).collect::<Vec<_>>()
    };
    assert_eq!(found(&[20, 20, 20, 20, 20]), [""; 0]);
    assert_eq!(found(&[20, 20, 20, 20, 20, 1, 1]), ["index.GSI5"]);
    assert_eq!(found(&[21, 0]), ["index.GSI0", "index.GSI1"]);
}

#[test]
fn a_circle_of_parents_is_shown_where_it_is_declared() {
    let per = |parent: &str| format!("expect = {{ per = \"{parent}\", average = 3 }}");
    let text = parts(&[USER, &per("Order"), ORDER, &per("User")]);
    let found = read(&Source::new("model.toml", text.clone())).unwrap_err();
    assert_eq!(found.iter().map(|finding| &text[finding.span.clone()]).collect::<Vec<_>>(), ["\"Order\""]);
}

#[test]
fn a_lock_grows_and_an_index_key_that_is_set_to_itself_is_stale() {
    let entity = "[entity.Task]\nattributes = { taskId = \"id\", status = \"A|B\", rev = \"int\" }\nkey = [\"TASK#{taskId}\", \"TASK\"]\nlock = \"rev\"\nindex.GSI1 = { key = [\"STATUS#{status}\", \"{taskId}\"] }";
    let sent = |set: &str| {
        let write = format!(
            "[write]\nw = {{ update = \"Task\", expression = \"SET {set}\", condition = \"rev = :rev\" }}"
        );
        codes(&parts(&[GSI1, entity, &write]), "write.w")
    };
    assert!(sent("#status = :s, GSI1PK = :k, rev = rev + :one").is_empty());
    assert_eq!(sent("#status = :s, GSI1PK = :k, rev = rev - :one"), ["P509"]);
    assert_eq!(sent("#status = :s, GSI1PK = GSI1PK, rev = rev + :one"), ["P508"]);
}

#[test]
fn a_copy_under_a_unique_value_of_its_original_is_not_overwritten() {
    let text = |unique: &str| {
        parts(&[
            &format!(
                "[entity.Customer]\nattributes = {{ userId = \"id\", email = \"string\" }}\nkey = [\"CUSTOMER#{{userId}}\", \"CUSTOMER\"]\n{unique}"
            ),
            "[entity.CustomerByEmail]\nattributes = { userId = \"id\", email = \"string\" }\ncopies = \"Customer\"\nkey = [\"EMAIL#{email}\", \"CUSTOMER\"]\n",
        ])
    };
    assert!(has(&text(""), "P203", Error));
    assert!(!has(&text("unique = [\"email\"]\n"), "P203", Error));
    assert!(has(&text("unique = [[\"email\", \"userId\"]]\n"), "P203", Error), "only together");
}

#[test]
fn help_does_not_lead_into_another_finding() {
    let help = |text: &str, code: &str| {
        findings(text).into_iter().find(|finding| finding.code == code).map(|f| f.help).unwrap_or_default()
    };
    // A tenant has one prefix, and stands in a key once.
    let tenants = |key: &str| {
        parts(&[&format!(
            "[entity.Org]\nattributes = {{ orgId = \"id\" }}\nkey = [\"ORG#{{orgId}}\", \"ORG\"]\n\
             [entity.Member]\nattributes = {{ orgId = \"id\", userId = \"id\" }}\nidentity = [\"orgId\", \"userId\"]\nkey = [\"{key}\", \"MEMBER\"]\n"
        )])
        .replace("type_attribute", "tenant = \"orgId\"\ntype_attribute")
    };
    for (key, wanted) in [
        ("USER#{userId}", "write ORG#{orgId}#USER#{userId}"),
        ("USER#{userId}#ORG#{orgId}", "write ORG#{orgId}#USER#{userId}"),
    ] {
        assert_eq!(help(&tenants(key), "P217"), wanted);
    }
    // An account that is put again exists.
    let account = parts(&[
        "[entity.Account]\nattributes = { accountId = \"id\", balance = \"int\", version = \"int\" }\nkey = [\"ACCOUNT#{accountId}\", \"ACCOUNT\"]\nlock = \"version\"\n[write]\npost = { batch = [\"put Account\"] }",
    ]);
    assert!(
        help(&account, "P515").contains("transact = [\"update Account set"),
        "{}",
        help(&account, "P515")
    );
}

#[test]
fn help_names_what_is_to_be_changed() {
    let help = |text: &str, code: &str| {
        findings(text).into_iter().find(|finding| finding.code == code).map(|f| f.help).unwrap_or_default()
    };
    let sharded = by_status(", rps = 10", ", shard = { by = \"orderId\", count = 2 }");
    let more = help(&sharded, "P308");
    assert!(
        more.starts_with("raise shard.count to ") && more.contains(", or declare expect.count"),
        "{more}"
    );
    let coins = |pattern: &str| {
        parts(&[
            GSI1,
            "[entity.Mint]\nattributes = { mint = \"id\", city = \"string\" }\nkey = [\"MINT#{mint}\", \"MINT\"]\n",
            "[entity.Coin]\nattributes = { coinId = \"id\", mint = \"id\", year = \"int\", struckAt = \"timestamp?\" }\nkey = [\"COIN#{coinId}\", \"COIN\"]\nindex.GSI1 = { key = [\"MINT#{mint}\", \"{year:04}#{coinId}\"] }\n",
            &format!("[pattern]\n{pattern}\n"),
        ])
    };
    let one = help(&coins("coin = { in = [\"mint\", \"year\"], out = \"Coin\" }"), "P117");
    assert!(one.contains("unique = [[\"mint\", \"year\"]] on Coin"), "{one}");
    let one = help(&coins("coin = { in = [\"mint\"], out = \"Coin\" }"), "P117");
    assert!(one.contains("unique = [\"mint\"] on Coin"), "{one}");
    let optional = help(&coins("coins = { in = [\"mint\"], out = \"Coin*\", order = \"struckAt\" }"), "P224");
    assert!(optional.contains("type = \"timestamp?\", precision"), "{optional}");
}

#[test]
fn what_a_filter_tests_belongs_into_the_sort_key_of_the_entity_that_has_it() {
    let trams = |rest: &str| {
        parts(&[
            "[entity.Depot]\nattributes = { depotId = \"id\" }\nkey = [\"DEPOT#{depotId}\", \"DEPOT\"]\n",
            "[entity.Tram]\nattributes = { depotId = \"id\", tramId = \"id\", seats = \"int\" }\nkey = [\"DEPOT#{depotId}\", \"TRAM#{tramId}\"]\n",
            &format!("[pattern]\nsome = {{ in = [\"depotId\"], out = [\"Depot\", \"Tram*\"], {rest} }}\n"),
        ])
    };
    let help = |text: &str| findings(text).into_iter().find(|finding| finding.code == "P113").unwrap().help;
    let text = trams("where = \"seats > 5\"");
    assert!(help(&text).contains("put seats into the sort key of Tram"), "{}", help(&text));
    // There it is already, and the caller bounds it.
    let ranged = trams("where = \"seats > 5\", range = \"seats\"")
        .replace("TRAM#{tramId}", "TRAM#{seats:04}#{tramId}")
        .replace("[\"Depot\", \"Tram*\"]", "\"Tram*\"")
        .replace("seats = \"int\"", "seats = { type = \"int\", min = 0, max = 9999 }");
    assert!(help(&ranged).contains("let the caller's bounds keep to it"), "{}", help(&ranged));
}

#[test]
fn a_copy_that_is_changed_and_deleted_is_deleted() {
    let write = "[write]\nw = { transact = [\"update OrderById set status\", \"delete OrderById\"] }\n";
    let text = parts(&[USER, ORDER, COPY, write]);
    let finding = findings(&text).into_iter().find(|finding| finding.code == "P501").unwrap();
    assert!(finding.message.contains("w deletes OrderById without its original"), "{finding:?}");
}

#[test]
fn an_input_has_one_type_in_all_that_is_returned() {
    let held = |first: &str, second: &str, third: &str| {
        let entity = |name: &str, kind: &str| {
            format!(
                "[entity.{name}]\nattributes = {{ x = \"{kind}\", own = \"ulid\" }}\nkey = [\"K#{{x}}\", \"{name}#{{own}}\"]\nidentity = [\"own\"]\n"
            )
        };
        parts(&[
            &entity("A", first),
            &entity("B", second),
            &entity("C", third),
            "[pattern]\np = { in = [\"x\"], out = [\"A*\", \"B*\", \"C*\"] }\n",
        ])
    };
    for kinds in [["string", "uuid", "date"], ["uuid", "string", "date"], ["uuid", "date", "string"]] {
        assert!(has(&held(kinds[0], kinds[1], kinds[2]), "P232", Error), "{kinds:?}");
    }
    assert!(!has(&held("string", "uuid", "uuid"), "P232", Error));
}

#[test]
fn two_items_at_the_same_instant_need_another_identifier_in_the_key() {
    let waiting = |key: &str, more: &str| {
        parts(&[
            "[entity.Event]\nattributes = { eventId = \"id\", venueId = \"id\" }\nkey = [\"EVENT#{eventId}\", \"EVENT\"]",
            USER,
            &format!(
                "[entity.Waiting]\nattributes = {{ eventId = \"id\", userId = \"id\", venueId = \"id\", joinedAt = \"timestamp\" }}\nkey = [\"EVENT#{{eventId}}\", \"{key}\"]\n{more}"
            ),
            "[pattern]\nwaiting = { in = [\"eventId\"], out = \"Waiting*\" }",
        ])
    };
    let text = waiting("WAIT#{joinedAt}", "");
    assert!(has(&text, "P203", Warning));
    let finding = findings(&text).into_iter().find(|finding| finding.code == "P203").unwrap();
    assert!(finding.help.contains("\"WAIT#{joinedAt}#{userId}\""), "{}", finding.help);
    assert!(finding.repair.is_some());
    assert!(!has(&waiting("WAIT#{joinedAt}#{userId}", ""), "P203", Warning));
    assert!(!has(&waiting("WAIT#{joinedAt}", "identity = [\"eventId\", \"joinedAt\"]"), "P203", Warning));
}

#[test]
fn helps_propose_what_can_be_written() {
    let order = |pattern: &str| {
        let text = parts(&[
            "[entity.Order]\nattributes = { userId = \"id\", orderId = \"ulid\", price = { type = \"int\", min = 0, max = 99 }, tags = \"list\" }\nidentity = [\"orderId\"]\nkey = [\"USER#{userId}\", \"{price:02}#{orderId}\"]",
            &format!("[pattern]\nsome = {{ in = [\"userId\"], where = \"{pattern}\", out = \"Order*\" }}"),
        ]);
        findings(&text).into_iter().find(|f| f.code == "P113").map(|f| f.help).unwrap_or_default()
    };
    assert!(!order("price != 20").contains("range ="), "{}", order("price != 20"));
    assert!(!order("contains(tags, 'x')").contains("sort key"), "{}", order("contains(tags, 'x')"));
}

#[test]
fn an_item_has_every_attribute_once() {
    let order = "[entity.Order]\nattributes = { orderId = \"ulid\", customerId = \"ulid\", status = \"A|B\" }\nkey = [\"ORDER#{orderId}\", \"ORDER\"]\n";
    let indexed = |keys: &str, entry: &str| {
        parts(&[
            "[index.ByOther]\n",
            &format!("keys = [{keys}]"),
            order,
            &format!("index.ByOther = {{ key = [{entry}] }}"),
        ])
    };
    let own = indexed("\"status\", \"orderId\"", "\"STATUS#{status}\", \"{orderId}\"");
    assert!(has(&own, "P222", Error));
    assert!(!has(&own.replace("STATUS#{status}", "{status}"), "P222", Error));
    let table = indexed("\"SK\", \"ISK\"", "\"CUSTOMER#{customerId}\", \"{orderId}\"");
    assert!(has(&table, "P222", Error));
    assert!(!has(&table.replace("CUSTOMER#{customerId}", "ORDER"), "P222", Error));
    let typed = indexed("\"type\", \"ISK\"", "\"CUSTOMER#{customerId}\", \"{orderId}\"");
    assert!(message_of(&typed, "P222").contains("the type attribute"));
}

#[test]
fn unique_values_are_written_with_their_markers() {
    let users = |write: &str| {
        parts(&[&format!(
            "[entity.Person]\nattributes = {{ personId = \"ulid\", email = \"string\", slug = \"string?\" }}\nkey = [\"PERSON#{{personId}}\", \"P\"]\nunique = [\"email\", \"slug\"]\n\
             [write]\nw = {write}"
        )])
    };
    for (write, is_wrong) in [
        ("{ batch = [\"put Person\"] }", true),
        ("{ put = \"Person\" }", true),
        ("{ create = \"Person\" }", false),
        ("{ delete = \"Person\" }", false),
        (
            "{ transact = [{ update = \"Person\", expression = \"REMOVE slug\", condition = \"attribute_exists(PK)\" }, \"delete marker Person.slug\"] }",
            false,
        ),
        (
            "{ transact = [{ update = \"Person\", expression = \"SET slug = :s\", condition = \"attribute_exists(PK)\" }, \"delete marker Person.slug\"] }",
            true,
        ),
    ] {
        let is_found = has(&users(write), "P513", Error) || has(&users(write), "P513", Warning);
        assert_eq!(is_found, is_wrong, "{write}");
    }
}

/// A copy whose key holds the month where its original has one a day is that of several originals.
#[test]
fn a_copy_holds_as_much_of_a_time_as_its_original() {
    let text = |original: &str, copy: &str| {
        with_table(&format!(
            "[entity.Page]\nattributes = {{ siteId = \"id\", at = \"timestamp\", rev = \"int\" }}\n\
             key = [\"SITE#{{siteId}}#{original}\", \"V#{{rev:04}}\"]\nversions = \"rev\"\n\
             [entity.Newest]\ncopies = \"Page\"\nlatest = true\n\
             attributes = {{ siteId = \"id\", at = \"timestamp\", rev = \"int\" }}\n\
             key = [\"SITE#{{siteId}}#{copy}\", \"LATEST\"]\n"
        ))
    };
    assert!(has(&text("{at}", "{at:month}"), "P203", Error));
    assert!(has(&text("{at:day}", "{at:month}"), "P203", Error));
    for (original, copy) in [("{at}", "{at}"), ("{at:month}", "{at:month}"), ("{at:month}", "{at:day}")] {
        assert!(!codes(&text(original, copy), "").contains(&"P203"), "{original} {copy}");
    }
}

#[test]
fn rule_72_shards_spread_the_parts_of_a_counter_and_not_one_item() {
    let events = |shard: &str, key: &str, counter: &str, counted: &str| {
        support::with_table(&format!(
            "[entity.Event]\nattributes = {{ eventId = \"ulid\", title = \"string\" }}\nkey = [\"EVENT#{{eventId}}{key}\", \"EVENT\"]\n{shard}\n\
             expect = {{ count = 5, bytes = 300 }}\n{counter}\n\
             [entity.Ticket]\nattributes = {{ ticketId = \"ulid\", eventId = \"ulid\" }}\nkey = [\"TICKET#{{ticketId}}\", \"TICKET\"]\n\
             expect = {{ count = 5_000_000, bytes = 200 }}\n[pattern]\nevent = {{ in = [\"eventId\"], out = \"Event\", rps = 10 }}\n\
             ticket = {{ in = [\"ticketId\"], out = \"Ticket\", rps = 10 }}\n\
             [write]\nsell = {{ transact = [\"create Ticket\", \"update {counted} set sold\"], rps = 4000 }}\n"
        ))
    };
    let help = |text: &str| {
        let mut hot = findings(text).into_iter().filter(|finding| finding.code == "P210");
        hot.next().map(|finding| finding.help)
    };
    let sold = "aggregates = { sold = \"count Ticket\" }";
    for (shard, key) in [("", ""), ("shard = { count = 3 }", "#{shard}")] {
        let help = help(&events(&format!("{shard}\n{sold}"), key, "", "Event")).unwrap();
        assert!(help.contains("identity = [\"eventId\"]") && help.contains("shard = { count = "), "{help}");
    }
    let counter = format!(
        "[entity.Sales]\nattributes = {{ eventId = \"ulid\" }}\nidentity = [\"eventId\"]\nkey = [\"EVENT#{{eventId}}#SALES#{{shard}}\", \"SALES\"]\n\
         shard = {{ count = 10 }}\n{sold}\nexpect = {{ count = 50, bytes = 120 }}\n"
    );
    assert_eq!(help(&events("", "", &counter, "Sales")), None);
}
