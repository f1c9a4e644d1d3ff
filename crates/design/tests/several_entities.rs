//! Several entities are read by one request only where it returns exactly what the pattern means.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{Error, Warning};
use partita_design::keys::keyspace::Keyspace;
use partita_design::plan::afterwards::Afterwards;
use partita_design::plan::{Operation, SortCondition, plan};
use partita_design::report::explain;
use support::{findings, has, model, with_table};

const HIVE: &str = r#"
[entity.Hive]
attributes = { hiveId = "uuid", label = "string" }
key = ["HIVE#{hiveId}", "HIVE"]
expect = { count = 1000, bytes = 200 }
"#;

/// Hives and their weighings with this sort key, and a pattern that returns both with these options.
fn hives(sort: &str, options: &str) -> String {
    with_table(&format!(
        "{HIVE}[entity.Weighing]\n\
         attributes = {{ hiveId = \"uuid\", weighingId = \"ulid\", at = \"timestamp\", state = \"RAW|CHECKED\", kg = \"decimal\" }}\n\
         key = [\"HIVE#{{hiveId}}\", \"{sort}\"]\nexpect = {{ per = \"Hive\", average = 40, max = 400, bytes = 200 }}\n\
         [pattern]\nboth = {{ in = [\"hiveId\"], out = [\"Hive\", \"Weighing*\"]{options}, rps = 1 }}\n"
    ))
}

/// The operations of the first pattern with their conditions on the sort key, and the filters.
fn requests(text: &str) -> Vec<(&'static str, SortCondition, Vec<String>)> {
    let model = model(text);
    let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
    plan.steps.iter().map(|step| (step.operation.name(), step.sort.clone(), step.filter_texts())).collect()
}

fn is_served_by_one_query(text: &str) -> bool {
    matches!(requests(text).as_slice(), [("Query", ..)])
}

fn help_of(text: &str, code: &str) -> String {
    findings(text).into_iter().find(|finding| finding.code == code).map(|one| one.help).unwrap_or_default()
}

#[test]
fn a_range_is_kept_beside_an_item_that_has_none() {
    let text = hives("W#{at}#{weighingId}", ", range = \"at\"");
    let requests = requests(&text);
    assert!(
        matches!(requests.as_slice(), [("GetItem", ..), ("Query", SortCondition::Between { by, .. }, _)] if by == "at"),
        "{requests:?}"
    );
    assert!(help_of(&text, "P116").contains("at narrows Weighing"), "{}", help_of(&text, "P116"));
    assert!(is_served_by_one_query(&hives("W#{at}#{weighingId}", "")));
}

/// Feedings and checkups of an animal, whose sort keys and times are these, and a pattern that returns both with these options.
fn diary((feeding, time): (&str, &str), (checkup, other): (&str, &str), options: &str) -> String {
    let entity = |name: &str, sort: &str, time: &str| {
        format!(
            "[entity.{name}]\nattributes = {{ animalId = \"uuid\", id{name} = \"ulid\", createdAt = {time}, price = \"int\" }}\n\
             identity = \"id{name}\"\nkey = [\"ANIMAL#{{animalId}}\", \"{sort}\"]\nexpect = {{ count = 3000, max = 99, bytes = 200 }}\n"
        )
    };
    with_table(&format!(
        "{}{}[pattern]\ndiary = {{ in = [\"animalId\"], out = [\"Feeding*\", \"Checkup*\"]{options}, rps = 1 }}\n",
        entity("Feeding", feeding, time),
        entity("Checkup", checkup, other)
    ))
}

const SECONDS: &str = "{ type = \"timestamp\", precision = \"second\" }";
const MILLISECONDS: &str = "{ type = \"timestamp\", precision = \"millisecond\" }";

#[test]
fn one_range_bounds_several_lists_if_their_keys_are_alike() {
    let feeding = ("E#{createdAt}#{idFeeding}", SECONDS);
    let alike = diary(feeding, ("E#{createdAt}#{idCheckup}", SECONDS), ", range = \"createdAt\"");
    let one = requests(&alike);
    assert!(matches!(one.as_slice(), [("Query", SortCondition::Between { .. }, _)]), "{one:?}");
    // What follows the time may differ: the upper bound is behind both.
    let range =
        ", range = { by = \"createdAt\", from = \"2026-01-01T00:00:00Z\", to = \"2026-01-31T23:59:59Z\" }";
    for (one, two) in [("F", "V"), ("V", "F")] {
        let feeding = format!("E#{{createdAt}}#{one}#{{idFeeding}}");
        let text =
            diary((&feeding, SECONDS), (&format!("E#{{createdAt}}#{two}#{{idCheckup}}"), SECONDS), range);
        assert!(is_served_by_one_query(&text));
        let explained = explain::text(&model(&text), None);
        assert_eq!(explained.matches("23:59:59Z#V#").count(), 2, "explained and sent: {explained}");
    }
    for other in [("E#{createdAt}#{idCheckup}", MILLISECONDS), ("F#{createdAt}#{idCheckup}", SECONDS)] {
        let requests = requests(&diary(feeding, other, ", range = \"createdAt\""));
        assert_eq!(requests.len(), 2, "{requests:?}");
        assert!(
            requests.iter().all(|(_, sort, _)| matches!(sort, SortCondition::Between { .. })),
            "{requests:?}"
        );
    }
}

#[test]
fn lists_are_in_one_order_only_if_their_keys_are_written_alike() {
    let order = ", order = \"createdAt desc\", limit = 10";
    let feeding = ("E#{createdAt}#{idFeeding}", SECONDS);
    assert!(is_served_by_one_query(&diary(feeding, ("E#{createdAt}#V#{idCheckup}", SECONDS), order)));
    for other in [("E#{idCheckup}", SECONDS), ("E#{createdAt}#{idCheckup}", MILLISECONDS)] {
        let text = diary(feeding, other, order);
        assert!(has(&text, "P103", Error), "{other:?}");
        // An index with the time in both keys mends only the first.
        let help = help_of(&text, "P103");
        assert_eq!(help.contains("in one type, format and precision"), other.1 == MILLISECONDS, "{help}");
    }
    let prices = |other: &str| {
        diary(("E#{price:04}#{idFeeding}", SECONDS), (other, SECONDS), ", order = \"price asc\"")
    };
    assert!(is_served_by_one_query(&prices("E#{price:04}#V#{idCheckup}")));
    assert!(has(&prices("E#{price:06}#V#{idCheckup}"), "P103", Error));
}

#[test]
fn a_value_in_the_sort_key_is_kept_beside_an_item_that_has_none() {
    let raw = ", where = \"state == 'RAW'\"";
    let text = hives("W#{state}#{weighingId}", raw);
    let plan = requests(&text);
    assert!(
        matches!(plan.as_slice(), [("GetItem", ..), ("Query", SortCondition::BeginsWith(start), _)] if start.to_string() == "W#RAW#"),
        "{plan:?}"
    );
    assert!(help_of(&text, "P116").contains("W#RAW# narrows Weighing"), "{}", help_of(&text, "P116"));
    // The whole value is kept if the other key continues it.
    let inside = text.replace("\"HIVE\"]", "\"W#RAW#A\"]");
    assert!(is_served_by_one_query(&inside), "{:?}", requests(&inside));
    let within = text.replace("\"HIVE\"]", "\"W#RA\"]");
    assert_eq!(requests(&within).len(), 2);
}

#[test]
fn a_filter_does_not_drop_the_item_that_lacks_what_it_tests() {
    let text = hives("W#{weighingId}", ", where = \"state == 'RAW'\"");
    let plan = requests(&text);
    assert_eq!(plan.len(), 2, "{plan:?}");
    assert!(plan[0].2.is_empty() && plan[1].2 == ["state == 'RAW'"], "{plan:?}");
    assert!(help_of(&text, "P116").contains("would drop Hive"));
    assert!(help_of(&text, "P113").contains("Weighing"), "{}", help_of(&text, "P113"));
    let tested = text.replace("label = \"string\"", "label = \"string\", state = \"RAW|CHECKED\"");
    assert!(is_served_by_one_query(&tested), "both have the attribute");
}

#[test]
fn with_a_limit_a_single_item_sorts_where_the_read_begins() {
    let limited = |single: &str, list: &str, options: &str| {
        hives(list, &format!(", limit = 5{options}")).replace("\"HIVE\"]", &format!("\"{single}\"]"))
    };
    let (asc, desc) = (", order = \"weighingId asc\"", ", order = \"weighingId desc\"");
    for (single, list, options, is_one) in [
        ("HIVE", "WEIGHING#{weighingId}", "", true),
        ("HIVE", "FIRST#{weighingId}", "", false),
        ("HIVE", "FIRST#{weighingId}", desc, true),
        ("HIVE", "FIRST#{weighingId}", asc, false),
        ("H#{hiveId}#SUMMARY", "H#{hiveId}#READING#{weighingId}", asc, false),
        ("H#{hiveId}#SUMMARY", "H#{hiveId}#READING#{weighingId}", desc, true),
        ("H#{hiveId}", "H#{hiveId}#READING#{weighingId}", asc, true),
        // A ULID can start with a smaller or a larger letter.
        ("HIVE", "{weighingId}", asc, false),
        ("HIVE", "{weighingId}", desc, false),
        ("HIVE", "{at}#{weighingId}", ", order = \"at desc\"", true),
        // Choices sort as the key writes them.
        ("HIVE", "{state:lower}#{weighingId}", "", true),
        ("HIVE", "{state:lower}#{weighingId}", ", order = \"state desc\"", false),
        ("hive", "{state}#{weighingId}", ", order = \"state desc\"", true),
    ] {
        let text = limited(single, list, options);
        assert_eq!(is_served_by_one_query(&text), is_one, "{single} {list} {options}");
    }
}

#[test]
fn several_limited_lists_are_cut_together() {
    let lists =
        diary(("F#{idFeeding}", SECONDS), ("V#{idCheckup}", SECONDS), ", where = \"price == 3\", limit = 5");
    let lists = lists.replace("\"ANIMAL#{animalId}\", \"V#", "\"VISITS#{animalId}\", \"V#");
    let model = model(&lists);
    let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
    assert_eq!(plan.steps.len(), 2);
    assert!(plan.steps[1].afterwards.contains(&Afterwards::KeepOfAll(5)), "{:?}", plan.steps[1].afterwards);
}

#[test]
fn a_single_item_beside_a_list_is_single() {
    let text = |key: &str, options: &str| {
        with_table(&format!(
            "[entity.Passenger]\nattributes = {{ flightNo = \"id\", paxId = \"ulid\" }}\nidentity = \"paxId\"\nkey = [\"FLIGHT#{{flightNo}}\", \"{key}\"]\n{options}\
             [entity.Bag]\nattributes = {{ flightNo = \"id\", bagId = \"ulid\" }}\nkey = [\"FLIGHT#{{flightNo}}\", \"BAG#{{bagId}}\"]\n\
             [pattern]\nboth = {{ in = [\"flightNo\"], out = [\"Passenger\", \"Bag*\"], limit = 1, rps = 1 }}\n"
        ))
    };
    assert!(has(&text("PAX#{paxId}", ""), "P117", Warning));
    assert!(has(&text("A#{paxId}", ""), "P117", Warning), "also in one Query");
    assert!(!has(&text("PAX#{paxId}", "unique = [\"flightNo\"]\n"), "P117", Warning));
    assert!(!has(&text("CAPTAIN", ""), "P117", Warning));
}

#[test]
fn one_range_reaches_behind_all_keys_of_a_prefix_that_begins_another() {
    // Orders sort on both sides of their items; what else sorts behind the items can be among them.
    let text = |other: &str| {
        let entity = |name: &str, start: &str| {
            format!(
                "[entity.{name}]\nattributes = {{ userId = \"id\", id{name} = \"id\" }}\nidentity = \"id{name}\"\n\
                 key = [\"USER#{{userId}}\", \"{start}{{id{name}}}\"]\n"
            )
        };
        with_table(&format!(
            "{}{}{}[pattern]\nboth = {{ in = [\"userId\"], out = [\"Order*\", \"Item*\"], rps = 1 }}\n",
            entity("Order", "ORDER#"),
            entity("Item", "ORDER#ITEM#"),
            entity("Other", other)
        ))
    };
    assert_eq!(requests(&text("ORDER#ZED#")).len(), 2);
    assert!(is_served_by_one_query(&text("PARCEL#")));
    let apart = text("ORDER#ZED#").replace("\"ORDER#{", "\"ORDER#A#{");
    let requests = requests(&apart);
    let [(_, SortCondition::Range { from, to }, _)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((from.as_str(), to.as_str()), ("ORDER#A#", "ORDER#ITEM#\u{10FFFF}"));
}

#[test]
fn an_index_key_does_not_belong_to_one_entity() {
    let text = |other: &str| {
        with_table(&format!(
            "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n\
             [entity.Tenor]\nattributes = {{ tenorId = \"ulid\", phone = \"id\" }}\nkey = [\"TENOR#{{tenorId}}\", \"TENOR\"]\n\
             index.GSI1 = {{ key = [\"PHONE#{{phone}}\", \"VOICE\"] }}\nunique = [\"phone\"]\n\
             [entity.Bass]\nattributes = {{ bassId = \"ulid\", phone = \"id\" }}\nkey = [\"BASS#{{bassId}}\", \"BASS\"]\n\
             index.GSI1 = {{ key = [\"PHONE#{{phone}}\", \"{other}\"] }}\nunique = [\"phone\"]\n\
             [pattern]\ntenor = {{ in = [\"phone\"], out = \"Tenor\", rps = 1 }}\n"
        ))
    };
    assert!(has(&text("VOICE"), "P109", Warning));
    assert!(!has(&text("BASS"), "P109", Warning));
    let model = model(&text("VOICE"));
    let step = &plan(&Keyspace::new(&model), &model.patterns[0]).unwrap().steps[0];
    assert_eq!((step.operation, step.extras[0].name.as_str()), (Operation::Query, "Bass"));
}

#[test]
fn an_input_of_the_list_does_not_concern_the_item_beside_it() {
    let by_state = |sort: &str| hives(sort, "").replace("in = [\"hiveId\"]", "in = [\"hiveId\", \"state\"]");
    for sort in ["W#{state}#{weighingId}", "W#{weighingId}"] {
        let plan = requests(&by_state(sort));
        assert!(matches!(plan.as_slice(), [("GetItem", ..), ("Query", ..)]), "{plan:?}");
    }
    let without = by_state("W#{state}#{weighingId}").replace("in = [\"hiveId\", ", "in = [");
    assert!(has(&without, "P127", Error), "nothing identifies the hive");
}

#[test]
fn a_range_over_several_entities_compares_one_attribute() {
    let entity = |name: &str, word: &str| {
        format!(
            "[entity.{name}]\nattributes = {{ userId = \"id\", {name}Id = \"id\" }}\nkey = [\"{name}#{{{name}Id}}\", \"X\"]\n\
             index.ByX = {{ key = [\"U#{{userId}}\", \"{word}\", \"{{{name}Id}}\"] }}\n"
        )
    };
    let text = |keys: &str| {
        let entities = [entity("A", "AA"), entity("B", "BB"), entity("Z", "ZZ")].concat();
        with_table(&format!(
            "[index.ByX]\nkeys = {keys}\n{entities}[pattern]\nboth = {{ in = [\"userId\"], out = [\"A*\", \"B*\"] }}\n"
        ))
    };
    let model = model(&text("[[\"gp\"], [\"g1\", \"g2\"]]"));
    let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
    assert_eq!(plan.steps.len(), 2, "the sort key has two attributes");
    assert!(plan.steps.iter().all(|step| !matches!(step.sort, SortCondition::Range { .. })));
}

#[test]
fn a_time_of_another_entity_says_nothing_about_the_times_of_a_pattern() {
    let archive = "[entity.Archive]\nattributes = { archiveId = \"id\", createdAt = \"date\" }\nkey = [\"ARCHIVE#{archiveId}\", \"ARCHIVE\"]\n";
    let time = "{ type = \"timestamp\", precision = \"second\" }";
    let feed = format!(
        "[entity.Comment]\nattributes = {{ commentId = \"id\", userId = \"id\", createdAt = {time} }}\nkey = [\"USER#{{userId}}\", \"{{createdAt}}#{{commentId}}\"]\n\
         [entity.Upload]\nattributes = {{ uploadId = \"id\", userId = \"id\", uploadedAt = {time} }}\nkey = [\"USER#{{userId}}\", \"{{uploadedAt}}#{{uploadId}}\"]\n"
    );
    let recent = "[pattern]\narchive = { in = [\"archiveId\"], out = \"Archive\" }\n\
        recent = { in = [\"userId\"], out = [\"Comment*\", \"Upload*\"], order = \"createdAt desc\", limit = 20 }\n";
    for entities in [format!("{archive}{feed}"), format!("{feed}{archive}")] {
        let text = with_table(&format!("{entities}{recent}"));
        assert!(!has(&text, "P103", Error), "{text}");
    }
}

/// An index with one partition has one item as long as there is one: the partition that the caller names is read.
#[test]
fn a_known_partition_is_read_rather_than_one_for_all_and_a_filter() {
    for count in [1, 30] {
        let text = with_table(&format!(
            "[index.GSI4]\nkeys = [\"PK4\", \"SK4\"]\n\
             [entity.Activity]\nattributes = {{ patientId = \"id\", at = \"id\" }}\n\
             key = [\"P#{{patientId}}\", \"ACT#{{at}}\"]\n\
             [entity.Admission]\nattributes = {{ patientId = \"id\", at = \"id\" }}\n\
             key = [\"P#{{patientId}}\", \"{{at}}\"]\n\
             index.GSI4 = {{ key = [\"hospital\", \"{{at}}\"] }}\nexpect = {{ count = {count} }}\n\
             [pattern]\nadmissions = {{ in = [\"patientId\"], out = \"Admission*\" }}\n"
        ));
        let model = model(&text);
        let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
        assert_eq!(plan.steps[0].partition.to_string(), "P#{patientId}", "{count}");
    }
}

#[test]
fn a_partition_that_an_input_selects_is_read_rather_than_one_of_all_items_with_a_state() {
    let text = support::with_table(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\nproject = \"KEYS_ONLY\"\n\
         [entity.Task]\nattributes = { teamId = \"id\", taskId = \"id\", state = \"OPEN|DONE\", rank = \"int\", note = \"string?\" }\n\
         key = [\"TEAM#{teamId}\", \"TASK#{taskId}\"]\nindex.GSI1 = { key = [\"STATE#{state}\", \"{rank:04}#{taskId}\"], when = \"exists(note)\" }\n\
         [pattern]\nnoted = { in = [\"teamId\"], where = \"state == 'OPEN' and exists(note)\", out = \"Task*\", hydrate = true }\n",
    );
    let model = support::model(&text);
    let keys = Keyspace::new(&model);
    let plan = plan(&keys, &model.patterns[0]).unwrap_or_else(|_| panic!("not served"));
    assert_eq!(plan.steps[0].location.name(), "the table");
}

/// Users and documents of a team, which an index without their attributes finds.
const COMPLETED: &str = "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\nproject = \"KEYS_ONLY\"\n\
     [entity.Team]\nattributes = { teamId = \"id\" }\nkey = [\"TEAM#{teamId}\", \"TEAM\"]\nexpect = { count = 100, bytes = 100 }\n\
     [entity.User]\nattributes = { userId = \"ulid\", teamId = \"id\", name = \"string\" }\nkey = [\"USER#{userId}\", \"PROFILE\"]\n\
     index.GSI1 = { key = [\"TEAM#{teamId}\", \"USER#{userId}\"] }\nexpect = { per = \"Team\", average = 10, bytes = 2000 }\n\
     [entity.Paper]\nattributes = { paperId = \"ulid\", teamId = \"id\", body = \"string\" }\nkey = [\"PAPER#{paperId}\", \"TEXT#{paperId}\"]\n\
     index.GSI1 = { key = [\"TEAM#{teamId}\", \"PAPER#{paperId}\"] }\nexpect = { per = \"Team\", average = 30, bytes = 10000 }\n\
     [pattern]\nall = { in = [\"teamId\"], out = [\"User*\", \"Paper*\"], hydrate = true, rps = 1 }\n";

#[test]
fn entities_that_are_completed_have_their_own_keys_and_sizes() {
    let model = model(&with_table(COMPLETED));
    let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
    let completing = plan.steps.last().unwrap();
    assert_eq!(completing.operation, Operation::BatchGet);
    assert_eq!(completing.bytes.round(), 10.0 * 2000.0 + 30.0 * 10_000.0);
    let text = explain::text(&model, Some("all"));
    for key in
        ["PK = \"USER#{userId}\", SK = \"PROFILE\"", "PK = \"PAPER#{paperId}\", SK = \"TEXT#{paperId}\""]
    {
        assert!(text.contains(key), "{text}");
    }
    let sent = text.lines().rfind(|line| line.contains("RequestItems")).unwrap();
    assert!(sent.contains("\"USER#") && sent.contains("\"PAPER#"), "{sent}");
}

#[test]
fn a_request_that_reads_everything_is_worse_than_one_for_each_entity() {
    let league = |index: &str| {
        model(&with_table(&format!(
            "{index}[entity.Club]\nattributes = {{ league = \"id\", club = \"id\", name = \"string\" }}\nidentity = [\"league\", \"club\"]\n\
             key = [\"LEAGUE#{{league}}\", \"CLUB#{{club}}\"]\nexpect = {{ count = 50000, max = 500, bytes = 300 }}\n\
             [entity.Player]\nattributes = {{ league = \"id\", club = \"id\", player = \"id\", name = \"string\" }}\n\
             identity = [\"league\", \"club\", \"player\"]\nkey = [\"LEAGUE#{{league}}\", \"CLUB#{{club}}#PLAYER#{{player}}\"]\n\
             expect = {{ per = \"Club\", average = 30, max = 50, bytes = 300 }}\n\
             [pattern]\nclub = {{ in = [\"league\", \"club\"], out = [\"Club\", \"Player*\"], rps = 100 }}\n"
        )))
    };
    let units = |index: &str| {
        let model = league(index);
        plan(&Keyspace::new(&model), &model.patterns[0]).unwrap().units()
    };
    assert_eq!(units("[index.ByName]\nlocal = true\nkeys = [\"PK\", \"name\"]\n"), units(""));
}

#[test]
fn entities_whose_shards_follow_from_different_attributes_are_read_apart() {
    let entity = |name: &str, shard: &str| {
        format!(
            "[entity.{name}]\nattributes = {{ x = \"string\", y = \"string\", id{name} = \"ulid\" }}\nidentity = \"id{name}\"\n\
             key = [\"K#{{x}}#{{y}}#{{shard}}\", \"{name}#{{id{name}}}\"]\nshard = {{ {shard} }}\n"
        )
    };
    let both = |alpha: &str, beta: &str| {
        let pattern = "[pattern]\nboth = { in = [\"x\", \"y\"], out = [\"Alpha*\", \"Beta*\"], rps = 1 }\n";
        with_table(&format!("{}{}{pattern}", entity("Alpha", alpha), entity("Beta", beta)))
    };
    for (alpha, beta, is_one) in [
        ("by = \"x\", count = 7", "by = \"y\", count = 7", false),
        ("by = \"x\", count = 7", "by = \"idBeta\", count = 7", false),
        ("by = \"x\", count = 7", "by = \"x\", count = 5", false),
        ("by = \"x\", count = 7", "by = \"x\", hash = \"other\", count = 7", false),
        ("by = \"x\", count = 7", "by = \"x\", count = 7", true),
        ("by = \"idAlpha\", count = 7", "by = \"idBeta\", count = 7", true),
        ("by = \"idAlpha\", count = 7", "count = 7", true),
        ("by = \"idAlpha\", count = 7", "count = 5", false),
    ] {
        assert_eq!(is_served_by_one_query(&both(alpha, beta)), is_one, "{alpha}; {beta}");
    }
}

/// Alphas and betas with these index keys, and a pattern that returns both with these options.
fn both(keys: &str, index_key: &str, options: &str) -> String {
    let entity = |name: &str, id: &str| {
        format!(
            "[entity.{name}]\nattributes = {{ {id} = \"id\", g = \"id\", n = \"int\", state = \"NEW|NEW-ISH|OLD\" }}\n\
             key = [\"{name}#{{{id}}}\", \"X\"]\n{index_key}expect = {{ count = 1000, max = 500, bytes = 400 }}\n"
        )
    };
    with_table(&format!(
        "[index.Both]\nkeys = {keys}\n{}{}[pattern]\nboth = {{ {options}, out = [\"Alpha*\", \"Beta*\"], rps = 1 }}\n",
        entity("Alpha", "alphaId"),
        entity("Beta", "betaId")
    ))
}

#[test]
fn what_is_equal_for_each_is_equal_for_all() {
    let templates = "index.Both = { key = [\"G#{g}\", \"STATE#{state}\"] }\n";
    for (keys, index_key, options) in [
        ("[\"g\", \"n\"]", "", "in = [\"g\", \"n\"]"),
        ("[\"g\", \"n\"]", "", "in = [\"g\"], where = \"n == 5\""),
        ("[\"g\", \"state\"]", "", "in = [\"g\", \"state\"]"),
        ("[\"g\", \"state\"]", "", "in = [\"g\"], where = \"state == 'NEW'\""),
        ("[\"P\", \"S\"]", templates, "in = [\"g\", \"state\"]"),
        ("[\"P\", \"S\"]", templates, "in = [\"g\"], where = \"state == 'NEW'\""),
    ] {
        let text = both(keys, index_key, options);
        let requests = requests(&text);
        assert!(
            matches!(requests.as_slice(), [("Query", SortCondition::Equals(_), _)]),
            "{options}: {requests:?}"
        );
        for code in ["P106", "P109", "P605"] {
            assert!(!findings(&text).iter().any(|finding| finding.code == code), "{code}: {text}");
        }
    }
}

#[test]
fn another_entity_with_the_same_key_does_not_repeat_a_request() {
    let gamma = "[entity.Gamma]\nattributes = { gammaId = \"id\", g = \"id\", n = \"int\" }\nkey = [\"GAMMA#{gammaId}\", \"X\"]\n[pattern]\n";
    let text = both("[\"g\", \"n\"]", "", "in = [\"g\", \"n\"]").replace("[pattern]\n", gamma);
    assert!(is_served_by_one_query(&text), "{:?}", requests(&text));
    assert!(has(&text, "P109", Warning) && !has(&text, "P106", Warning));
}

#[test]
fn a_field_that_the_partition_fixes_has_no_longer_values() {
    let text = |team: &str| {
        with_table(&format!(
            "[entity.Team]\nattributes = {{ teamId = \"id\", name = \"string\" }}\nkey = [\"{team}\", \"TEAM#{{teamId}}\"]\n\
             [entity.Member]\nattributes = {{ teamId = \"id\", userId = \"id\" }}\nidentity = [\"teamId\", \"userId\"]\n\
             key = [\"{team}\", \"TEAM#{{teamId}}#USER#{{userId}}\"]\n\
             [pattern]\nteam = {{ in = [\"teamId\"], out = [\"Team\", \"Member*\"], rps = 1 }}\n"
        ))
    };
    assert!(is_served_by_one_query(&text("TEAM#{teamId}")));
    assert!(!has(&text("TEAM#{teamId}"), "P106", Warning) && !has(&text("TEAM#{teamId}"), "P605", Warning));
    assert!(has(&text("TEAMS"), "P106", Warning));
}

#[test]
fn a_prefix_that_several_keys_share_ends_behind_whole_values() {
    let text = |alpha: &str, beta: &str| {
        let entity = |name: &str, sort: &str| {
            format!(
                "[entity.{name}]\nattributes = {{ g = \"id\", dept = \"id\", {name}Id = \"ulid\", state = \"NEW|NEW-ISH\" }}\n\
                 identity = \"{name}Id\"\nkey = [\"G#{{g}}\", \"{sort}\"]\n"
            )
        };
        with_table(&format!(
            "{}{}[pattern]\nboth = {{ in = [\"g\", \"dept\"], where = \"state == 'NEW'\", out = [\"Alpha*\", \"Beta*\"], rps = 1 }}\n",
            entity("Alpha", alpha),
            entity("Beta", beta)
        ))
    };
    // Each is found by its whole key, but what both start with is that of other departments, too.
    for (alpha, beta, filtered) in [
        ("{state}#{dept}-A#{AlphaId}", "{state}#{dept}-B#{BetaId}", true),
        ("{state}#{dept}#A#{AlphaId}", "{state}#{dept}#B#{BetaId}", false),
    ] {
        let requests = requests(&text(alpha, beta));
        let is_safe = |(_, sort, filter): &(&str, SortCondition, Vec<String>)| {
            let by_both =
                matches!(sort, SortCondition::BeginsWith(start) if start.to_string().ends_with(['-', '#']));
            by_both && filter.iter().any(|one| one == "dept = :dept") == filtered
        };
        assert!(requests.len() == 1 && requests.iter().all(is_safe), "{requests:?}");
    }
    let cut = text("{dept}#{state}", "{dept}#{state}#{BetaId}");
    assert!(has(&cut, "P106", Warning), "NEW is the start of NEW-ISH: {:?}", requests(&cut));
}
