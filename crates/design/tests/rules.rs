//! One test for each design rule that the checker enforces, by its number.

mod support;

use partita_design::Severity::{self, Error, Note, Warning};
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

#[test]
fn rule_01_patterns_come_first_with_inputs_output_and_rate() {
    assert!(has(&parts(&[USER]), "P119", Warning));
    let text = parts(&[USER, "[pattern]\nuser = { in = [\"userId\"], out = \"User\" }"]);
    assert!(has(&text, "P118", Note));
    assert!(!has(&text.replace("out = \"User\"", "out = \"User\", rps = 5"), "P118", Note));
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
}

#[test]
fn rule_11_access_is_even() {
    let text = keyed_by("city", "{ type = \"string\", values = 5000, top = 0.4 }");
    assert!(has(&text, "P208", Warning));
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
    let one = "format = 1\n[table]\nname = \"T\"\nkeys = [\"userId\", \"createdAt\"]\n[entity.Event]\nattributes = { userId = \"id\", createdAt = \"timestamp\" }\n[pattern]\ne = { in = [\"userId\"], out = \"Event*\" }\n";
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
    assert!(!has(&text("index.GSI1 = { key = [\"POST#{postId}\", \"USER#{userId}\"] }"), "P216", Warning));
}

const COPY: &str = "[entity.OrderById]\ncopies = \"Order\"\nattributes = { orderId = \"id\", userId = \"id\", status = \"A|B\" }\nkey = [\"ORDER#{orderId}\", \"METADATA\"]\n";

#[test]
fn rule_54_copies_are_intended_and_declared() {
    let undeclared = COPY.replace("copies = \"Order\"\n", "").replace("status", "note = \"string\", status");
    assert!(has(&parts(&[USER, ORDER, &undeclared]), "P502", Warning));
    assert!(has(&parts(&[USER, ORDER, COPY]), "P503", Warning));
}

#[test]
fn rule_55_copies_are_kept_in_sync_by_transactions() {
    let text = |write: &str| parts(&[USER, ORDER, COPY, "[write]", write]);
    assert!(has(&text("location = { create = \"Order\" }"), "P501", Error));
    assert!(has(&text("location = { batch = [\"create Order\", \"create OrderById\"] }"), "P501", Error));
    assert!(!has(&text("location = { transact = [\"create Order\", \"create OrderById\"] }"), "P501", Error));
    assert!(!has(&text("mark = { update = \"Order\", set = [\"note\"] }"), "P501", Error));
}

#[test]
fn rule_56_the_tenant_is_in_every_partition_key() {
    let text = parts(&[USER]).replace("[table]", "[table]\ntenant = \"tenantId\"");
    assert!(has(&text, "P217", Error));
}

#[test]
fn rule_59_at_most_20_global_indexes() {
    let indexes = |count: usize| -> String {
        (0..count).map(|n| format!("[index.G{n}]\nkeys = [\"G{n}PK\"]\n")).collect()
    };
    assert!(has(&parts(&[&indexes(21), USER]), "P301", Error));
    assert!(!has(&parts(&[&indexes(20), USER]), "P301", Error));
}

#[test]
fn rule_60_local_indexes_share_the_partition_key_and_limit_collections() {
    let local = |keys: &str| parts(&[&format!("[index.L]\nlocal = true\nkeys = {keys}\n"), USER, ORDER]);
    assert!(has(&local("[\"PK\", \"status\"]"), "P302", Note));
    assert!(has(&local("[\"OTHER\", \"status\"]"), "P301", Error));
    let large = parts(&[
        "[index.L]\nlocal = true\nkeys = [\"PK\", \"note\"]\n",
        USER,
        ORDER,
        "expect = { per = \"User\", average = 10, max = 50_000_000, bytes = 1000 }",
    ]);
    assert!(has(&large, "P403", Error));
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
    assert!(has(&by_status(", rps = 1500", ""), "P210", Error));
    assert!(!has(&by_status(", rps = 900", ""), "P210", Error));
    assert!(!has(&by_status(", rps = 1500", ", shard = { by = \"orderId\", count = 3 }"), "P210", Error));
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
    assert!(has(&match_events(600), "P210", Error), "two types under one key share its partition");
    assert!(!has(&match_events(400), "P210", Error));
}

#[test]
fn rule_71_an_index_key_with_few_values_is_hot() {
    assert!(has(&by_status("", ""), "P308", Warning));
    assert!(!has(&by_status(", rps = 10", ""), "P308", Warning));
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
