//! Plans of several steps keep their promise: the requests of each step, evaluated over generated items by a small evaluator, return exactly
//! the items that the pattern means, in its order, within its limit. What a pattern means is written down here without the planner.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Model;
use partita_design::audit::recognise;
use partita_design::generate::Generator;
use partita_design::item::{Attributes, attributes};
use partita_design::keys::keyspace::Keyspace;
use partita_design::model::{Entity, Pattern};
use partita_design::plan::afterwards::Afterwards;
use partita_design::plan::follow::Follow;
use partita_design::plan::{Operation, SortCondition, Step, plan};
use partita_design::template::SHARD;
use std::collections::BTreeSet;

struct Stored<'m> {
    entity: &'m Entity,
    texts: Attributes,
}

/// A condition on an item that a pattern's `where` means.
type Test = fn(&Attributes) -> bool;

/// What a pattern means.
struct Meaning {
    pattern: &'static str,
    /// Each entity on the way, the attribute that leads on, and the attribute of the next entity that it equals.
    way: &'static [(&'static str, &'static str, &'static str)],
    test: Test,
}

fn any(_: &Attributes) -> bool {
    true
}

/// A request for one partition, with the values that the caller knows.
fn request<'s, 'm>(
    model: &Model,
    step: &Step<'m>,
    values: &Attributes,
    test: Test,
    all: &'s [Stored<'m>],
) -> Vec<&'s Stored<'m>> {
    let names = step.location.key_names(model);
    let (partition, sort) = step.location.halves(model);
    let conditions: Vec<(usize, SortCondition)> = step.clauses();
    let meets = |one: &Stored<'_>| {
        conditions.iter().all(|(position, condition)| {
            let key = one.texts[&names[*position]].as_str();
            match condition {
                SortCondition::Equals(template) => key == template.fill(values).unwrap(),
                SortCondition::BeginsWith(template) => key.starts_with(&template.fill(values).unwrap()),
                other => panic!("{other:?} is not evaluated here"),
            }
        })
    };
    let present = |one: &Stored<'_>| names.iter().all(|name| one.texts.contains_key(name));
    let mut found: Vec<&Stored<'m>> = all.iter().filter(|one| present(one) && meets(one)).collect();
    let key = |one: &Stored<'_>| sort.iter().map(|name| one.texts[name].clone()).collect::<Vec<_>>();
    found.sort_by_key(|one| key(one));
    assert_eq!(partition.len(), 1);
    if !step.forward {
        found.reverse();
    }
    // The limit counts items before anything is dropped.
    if let Some(limit) = step.limit {
        found.truncate(limit as usize);
    }
    if !step.filter.is_empty() {
        found.retain(|one| test(&one.texts));
    }
    found.retain(|one| step.targets.iter().any(|entity| entity.name == one.entity.name));
    if let Some(wanted) = step.wanted() {
        found.truncate(wanted as usize);
    }
    found
}

/// All requests of a step for one set of known values: every shard and every time bucket.
fn requests<'s, 'm>(
    model: &Model,
    step: &Step<'m>,
    known: &Attributes,
    test: Test,
    all: &'s [Stored<'m>],
) -> Vec<&'s Stored<'m>> {
    let free: Vec<&str> = step.partition.fields().filter(|field| !known.contains_key(*field)).collect();
    if free.is_empty() {
        return request(model, step, known, test, all);
    }
    let shards = step.location.mapping(step.targets[0]).unwrap().shards();
    let mut partitions = BTreeSet::new();
    let mut found = Vec::new();
    for shard in 0..shards {
        for one in all.iter().filter(|one| one.entity.name == step.targets[0].name) {
            let mut values = known.clone();
            for field in &free {
                let value =
                    if *field == SHARD { Some(shard.to_string()) } else { one.texts.get(*field).cloned() };
                values.extend(value.map(|value| ((*field).to_owned(), value)));
            }
            if let Ok(partition) = step.partition.fill(&values)
                && partitions.insert(partition)
            {
                found.extend(request(model, step, &values, test, all));
            }
        }
    }
    found
}

fn sort(found: &mut [&Stored<'_>], by: &str, descending: bool) {
    found.sort_by(|a, b| {
        let order = a.texts.get(by).cmp(&b.texts.get(by));
        if descending { order.reverse() } else { order }
    });
}

/// What the caller does with the items of a step.
fn finish(found: &mut Vec<&Stored<'_>>, step: &Step<'_>, test: Test) {
    for work in &step.afterwards {
        match work {
            Afterwards::Merge { by: Some(by), descending } | Afterwards::Sort { by, descending } => {
                sort(found, by, *descending);
            }
            Afterwards::Keep(limit) => found.truncate(*limit as usize),
            Afterwards::Drop(_) => found.retain(|one| test(&one.texts)),
            Afterwards::Continue(_)
            | Afterwards::InTurn { .. }
            | Afterwards::SendOnce
            | Afterwards::Merge { by: None, .. }
            | Afterwards::KeepOfAll(_)
            | Afterwards::Arrange { .. } => {}
        }
    }
}

/// Carries out a plan.
fn execute<'s, 'm>(
    model: &'m Model,
    pattern: &Pattern,
    caller: &Attributes,
    test: Test,
    all: &'s [Stored<'m>],
) -> Vec<&'s Stored<'m>> {
    let keys = Keyspace::new(model);
    let plan = plan(&keys, pattern).unwrap_or_else(|_| panic!("{} is not served", pattern.name));
    let mut before: Vec<&'s Stored<'m>> = Vec::new();
    for step in &plan.steps {
        let mut found = Vec::new();
        let mut requested = BTreeSet::new();
        match &step.follow {
            None => found = requests(model, step, caller, test, all),
            Some(follow) => {
                for one in &before {
                    let mut values = caller.clone();
                    for link in &follow.links {
                        values.insert(link.to.clone(), one.texts[&link.from].clone());
                    }
                    let own: Vec<String> = follow.links.iter().map(|link| values[&link.to].clone()).collect();
                    let once = step.operation == Operation::BatchGet || follow.links.len() == 1;
                    if requested.insert(own) || !once {
                        found.extend(requests(model, step, &values, test, all));
                    }
                }
            }
        }
        finish(&mut found, step, test);
        before = found;
    }
    before
}

/// What the pattern means: the items at the end of the way.
fn meant<'s, 'm>(
    pattern: &Pattern,
    meaning: &Meaning,
    caller: &Attributes,
    all: &'s [Stored<'m>],
) -> Vec<&'s Stored<'m>> {
    let target = &pattern.targets.last().unwrap().entity;
    let names: Vec<&str> = meaning.way.iter().map(|(entity, ..)| *entity).chain([target.as_str()]).collect();
    let knows =
        |one: &Stored<'_>| pattern.inputs.iter().all(|input| one.texts.get(input) == caller.get(input));
    let mut found: Vec<&Stored<'m>> =
        all.iter().filter(|one| one.entity.name == names[0] && knows(one)).collect();
    for (number, (_, from, to)) in meaning.way.iter().enumerate() {
        let values: BTreeSet<&String> = found.iter().filter_map(|one| one.texts.get(*from)).collect();
        let leads = |one: &&Stored<'_>| one.texts.get(*to).is_some_and(|value| values.contains(value));
        found = all.iter().filter(|one| one.entity.name == names[number + 1]).filter(leads).collect();
    }
    found.retain(|one| (meaning.test)(&one.texts));
    found
}

fn check(model: &Model, items: u64, meanings: &[Meaning]) {
    let generated = Generator::new(model, 5, items);
    let known = |item| {
        let texts = attributes(&item);
        recognise(model, &texts).map(|entity| Stored { entity, texts })
    };
    let all: Vec<Stored<'_>> = generated.items().filter_map(known).collect();
    let key =
        |one: &&Stored<'_>| model.table.keys.iter().map(|name| one.texts[name].clone()).collect::<Vec<_>>();
    for meaning in meanings {
        let pattern = model.patterns.iter().find(|pattern| pattern.name == meaning.pattern).unwrap();
        let first = meaning.way.first().map_or(pattern.targets[0].entity.as_str(), |(entity, ..)| entity);
        let mut compared = 0;
        for caller in all.iter().filter(|one| one.entity.name == first).take(12) {
            let inputs: Attributes =
                pattern.inputs.iter().map(|input| (input.clone(), caller.texts[input].clone())).collect();
            let mut expected = meant(pattern, meaning, &inputs, &all);
            let found = execute(model, pattern, &inputs, meaning.test, &all);
            let context = format!("{} {inputs:?}", pattern.name);
            let allowed: BTreeSet<_> = expected.iter().map(key).collect();
            let unique: BTreeSet<_> = found.iter().map(key).collect();
            assert_eq!(unique.len(), found.len(), "{context}: nothing is returned twice");
            assert!(unique.is_subset(&allowed), "{context}: {unique:?}, not {allowed:?}");
            let most = pattern.limit.map_or(usize::MAX, |limit| limit as usize);
            assert_eq!(found.len(), expected.len().min(most), "{context}");
            if let Some(order) = pattern
                .order
                .as_ref()
                .filter(|order| caller.entity.attribute(&order.by).is_none() || meaning.way.is_empty())
            {
                sort(&mut expected, &order.by, order.descending);
                let values = |list: &[&Stored<'_>]| -> Vec<Option<String>> {
                    list.iter().take(most).map(|one| one.texts.get(&order.by).cloned()).collect()
                };
                assert_eq!(values(&found), values(&expected), "{context}");
            }
            compared += expected.len();
        }
        assert!(compared > 0, "{} found nothing", pattern.name);
    }
}

fn model(path: &str) -> Model {
    support::model(&std::fs::read_to_string(support::root().join(path)).unwrap())
}

#[test]
fn relationships_lead_to_exactly_what_they_connect() {
    check(
        &model("models/task-manager.toml"),
        400,
        &[
            Meaning { pattern: "teamsOfUser", way: &[("Membership", "teamId", "teamId")], test: any },
            Meaning { pattern: "membersOfTeam", way: &[("Membership", "userId", "userId")], test: any },
            Meaning { pattern: "tasksOfUser", way: &[("Assignment", "taskId", "taskId")], test: any },
            Meaning { pattern: "tasksWithTag", way: &[("Tag", "taskId", "taskId")], test: any },
        ],
    );
    check(
        &model("models/content-management.toml"),
        400,
        &[Meaning { pattern: "favoriteArticles", way: &[("Favorite", "articleId", "articleId")], test: any }],
    );
    check(
        &model("models/users-and-groups.toml"),
        300,
        &[
            Meaning { pattern: "groupsOfUser", way: &[("Membership", "groupId", "groupId")], test: any },
            Meaning { pattern: "usersOfGroup", way: &[("GroupMember", "userId", "userId")], test: any },
        ],
    );
}

#[test]
fn conditions_and_orders_belong_to_the_entity_that_has_them() {
    let open: Test = |texts| texts.get("state").is_some_and(|state| state == "OPEN");
    check(
        &model("crates/design/tests/planted/tracker.toml"),
        600,
        &[
            Meaning { pattern: "watchers", way: &[("Watch", "personId", "personId")], test: any },
            Meaning { pattern: "labelled", way: &[("Label", "issueId", "issueId")], test: open },
            Meaning { pattern: "watchedNotes", way: &[("Watch", "issueId", "issueId")], test: any },
        ],
    );
}

const SPREAD: &str = r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Group]
attributes = { groupId = "ulid", name = "string" }
key = ["GROUP#{groupId}", "GROUP"]
expect = { count = 3 }
[entity.Event]
attributes = { eventId = "ulid", groupId = "ulid", at = "timestamp", level = "LOW|HIGH" }
key = ["EVENTS#{groupId}#{at:month}", "{at}#{eventId}"]
index.GSI1 = { key = ["LEVEL#{level}#{shard}", "{at}#{eventId}"], shard = { count = 7 } }
expect = { per = "Group", average = 80, max = 500 }
[entity.Seat]
attributes = { groupId = "ulid", place = "id" }
edge = ["groupId", "place"]
key = ["GROUP#{groupId}", "SEAT#{place}"]
index.GSI1 = { key = ["PLACE#{place}#{shard}", "SEAT#{groupId}"], shard = { count = 3 } }
expect = { per = "Group", average = 20, max = 50 }
[pattern]
newest  = { in = ["groupId"], out = "Event*", order = "at desc", limit = 9 }
byLevel = { in = ["level"], out = "Event*", order = "at desc", limit = 10 }
newHigh = { in = ["groupId"], where = "level == 'HIGH'", out = "Event*", order = "at desc", limit = 5 }
atPlace = { in = ["place"], out = "Group*", via = "Seat" }
"#;

#[test]
fn shards_and_time_buckets_are_merged_and_cut() {
    let high: Test = |texts| texts.get("level").is_some_and(|level| level == "HIGH");
    let model = support::model(&support::with_table(SPREAD));
    check(
        &model,
        300,
        &[
            Meaning { pattern: "newest", way: &[], test: any },
            Meaning { pattern: "byLevel", way: &[], test: any },
            Meaning { pattern: "newHigh", way: &[], test: high },
            Meaning { pattern: "atPlace", way: &[("Seat", "groupId", "groupId")], test: any },
        ],
    );
    // Every shard returns up to the limit, and the caller keeps it once.
    let keys = Keyspace::new(&model);
    let pattern = model.patterns.iter().find(|pattern| pattern.name == "byLevel").unwrap();
    let plan = plan(&keys, pattern).ok().unwrap();
    assert_eq!((plan.steps[0].fan_out, plan.steps[0].items.max), (7.0, 70.0));
    assert!(plan.steps[0].afterwards.contains(&Afterwards::Keep(10)));
}

#[test]
fn a_limit_is_the_callers_where_several_items_lead_to_one() {
    let text = |edge: &str, key: &str| {
        support::with_table(&format!(
            "[entity.Post]\nattributes = {{ postId = \"id\", title = \"string\" }}\nkey = [\"POST#{{postId}}\", \"POST\"]\n\
             [entity.Comment]\nattributes = {{ userId = \"id\", postId = \"id\", commentId = \"ulid\" }}\n{edge}key = [\"USER#{{userId}}\", \"{key}\"]\n\
             [pattern]\ncommented = {{ in = [\"userId\"], out = \"Post*\", via = \"Comment\", limit = 5, rps = 1 }}\n"
        ))
    };
    for (edge, key, limit) in [
        ("", "COMMENT#{commentId}", None),
        ("edge = [\"userId\", \"postId\"]\n", "COMMENT#{postId}", Some(5)),
    ] {
        let model = support::model(&text(edge, key));
        let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap_or_else(|_| panic!("not served"));
        assert_eq!(plan.steps[0].limit, limit, "{key}");
        let keeps = plan.steps[1].afterwards.contains(&Afterwards::Keep(5));
        assert_eq!(keeps, limit.is_none(), "{key}");
    }
}

#[test]
fn an_identifier_orders_times_of_its_own_precision() {
    let is_served = |kind: &str, precision: &str| {
        let text = support::with_table(&format!(
            "[entity.Message]\nattributes = {{ room = \"id\", messageId = \"{kind}\", createdAt = {{ type = \"timestamp\", precision = \"{precision}\" }} }}\n\
             key = [\"ROOM#{{room}}\", \"MSG#{{messageId}}\"]\n\
             [pattern]\nnewest = {{ in = [\"room\"], out = \"Message*\", order = \"createdAt desc\", limit = 2, rps = 1 }}\n"
        ));
        let model = support::model(&text);
        plan(&Keyspace::new(&model), &model.patterns[0]).is_ok()
    };
    assert!(is_served("ksuid", "second") && !is_served("ksuid", "millisecond"));
    assert!(is_served("ulid", "millisecond") && !is_served("ulid", "microsecond"));
}

#[test]
fn what_an_index_lacks_is_read_by_the_keys_of_its_entries() {
    let text = support::with_table(
        "[index.ById]\nkeys = [\"GPK\", \"GSK\"]\nproject = \"KEYS_ONLY\"\n\
         [entity.Event]\nattributes = { eventId = \"ulid\", hall = \"id\", at = { type = \"timestamp\", precision = \"second\" }, title = \"string\" }\n\
         key = [\"HALL#{hall}\", \"EVENT#{at}#{eventId}\"]\nindex.ById = { key = [\"EVENT#{eventId}\", \"E\"] }\n\
         [entity.Ticket]\nedge = [\"guestId\", \"eventId\"]\nattributes = { guestId = \"ulid\", eventId = \"ulid\" }\n\
         key = [\"GUEST#{guestId}\", \"TICKET#{eventId}\"]\nexpect = { average = 4, max = 20, per = \"Event\" }\n\
         [pattern]\nevents = { in = [\"guestId\"], out = \"Event*\", via = \"Ticket\", hydrate = true, rps = 1 }\n",
    );
    let model = support::model(&text);
    let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap_or_else(|_| panic!("not served"));
    let followed: Vec<bool> = plan.steps.iter().map(|step| step.follow.is_some()).collect();
    assert_eq!(followed, [false, true, false], "tickets lead to entries of the index, and these to events");
    assert!(plan.steps[2].completes(&plan.steps[1]));
}

/// A network in which several entities have identifiers of one type.
fn network(pattern: &str) -> String {
    support::with_table(&format!(
        r#"[entity.User]
attributes = {{ userId = "ulid", name = "string" }}
key = ["USER#{{userId}}", "USER"]
[entity.Project]
attributes = {{ projectId = "ulid", title = "string" }}
key = ["PROJECT#{{projectId}}", "PROJECT"]
[entity.Follow]
attributes = {{ followerId = "ulid", followedId = "ulid" }}
edge = ["followerId", "followedId"]
key = ["USER#{{followerId}}", "FOLLOWS#{{followedId}}"]
[entity.Post]
attributes = {{ userId = "ulid", postId = "ulid", at = "timestamp" }}
key = ["USER#{{userId}}", "POST#{{at}}#{{postId}}"]
[pattern]
asked = {{ in = ["followerId"], {pattern} }}
"#
    ))
}

#[test]
fn an_end_of_a_relationship_is_the_entity_that_its_key_names() {
    assert!(
        !support::codes(&network("via = \"Follow\", out = \"User*\""), "pattern.asked").contains(&"P128")
    );
    assert!(
        support::codes(&network("via = \"Follow\", out = \"Project*\""), "pattern.asked").contains(&"P128")
    );
}

#[test]
fn a_declared_match_is_the_only_link_of_its_end() {
    let feed = "via = { entity = \"Follow\", match = { userId = \"followedId\" } }, out = \"Post*\"";
    let model = support::model(&network(feed));
    let keys = Keyspace::new(&model);
    let planned = plan(&keys, &model.patterns[0]).unwrap();
    let links: Vec<String> = planned.steps[1].follow.iter().map(Follow::describe).collect();
    assert_eq!(links, ["userId = its followedId of each Follow"]);
}

#[test]
fn an_input_that_selects_nothing_is_noted() {
    let teams = support::with_table(
        r#"[entity.Team]
attributes = { teamId = "ulid", userId = "ulid" }
key = ["TEAM#{teamId}", "TEAM"]
[entity.Post]
attributes = { teamId = "ulid", postId = "ulid", authorId = "ulid" }
key = ["TEAM#{teamId}", "POST#{postId}"]
[pattern]
posts = { in = ["teamId", "userId"], out = "Post*" }
"#,
    );
    assert!(support::has(&teams, "P129", partita_design::Severity::Note));
}

#[test]
fn what_is_read_for_each_followed_item_is_expected_and_need_not_be_whole() {
    let text = r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Member]
attributes = { userId = "id", teamId = "id" }
edge = ["userId", "teamId"]
key = ["USER#{userId}", "TEAM#{teamId}"]
expect = { per = "User", average = 7.2, max = 20, bytes = 100 }
[entity.User]
attributes = { userId = "id" }
key = ["USER#{userId}", "USER"]
expect = { count = 100, bytes = 100 }
[entity.Team]
attributes = { teamId = "id", regionId = "id" }
key = ["REGION#{regionId}", "TEAM#{teamId}"]
index.GSI1 = { key = ["TEAM#{teamId}", "TEAM"] }
expect = { count = 50, bytes = 1000 }
[pattern]
teamsOfUser = { in = ["userId"], out = "Team*", via = "Member", rps = 10 }
"#;
    let model = support::model(&support::with_table(text));
    let plan = plan(&Keyspace::new(&model), &model.patterns[0]).ok().unwrap();
    assert_eq!((plan.requests(), plan.units()), (1.0 + 7.2, 0.5 + 7.2 * 0.5));
    let explained = partita_design::report::explain::text(&model, None);
    assert!(explained.contains("sent    7.2 times"), "{explained}");
    assert!(explained.contains("8.2 requests, 4.1 read units a call"), "{explained}");
}

/// Users of regions, whose followers may not know the region.
fn regional(follow: &str, pattern: &str) -> String {
    support::with_table(&format!(
        r#"[entity.User]
attributes = {{ userId = "ulid", region = "id", name = "string" }}
key = ["REGION#{{region}}", "USER#{{userId}}"]
[entity.Follow]
attributes = {{ followerId = "ulid", followedId = "ulid", region = "id?" }}
edge = ["followerId", "followedId"]
{follow}
[pattern]
asked = {{ in = ["followerId"], out = "User*", via = {{ entity = "Follow", match = {{ userId = "followedId", region = "region" }} }}{pattern} }}
"#
    ))
}

#[test]
fn an_item_that_may_lack_a_part_of_a_key_does_not_lead_there() {
    let by_follower = r#"key = ["USER#{followerId}", "FOLLOWS#{followedId}"]"#;
    let is_reported = |follow: &str, pattern: &str| {
        support::codes(&regional(follow, pattern), "pattern.asked").contains(&"P128")
    };
    assert!(is_reported(by_follower, ""));
    assert!(is_reported(by_follower, ", where = \"missing(region)\""));
    assert!(!is_reported(by_follower, ", where = \"exists(region)\""));
    assert!(!is_reported(by_follower, ", where = \"region == 'eu'\""));
    let required = regional(by_follower, "").replace("\"id?\"", "\"id\"");
    assert!(!support::codes(&required, "pattern.asked").contains(&"P128"));
}

#[test]
fn an_item_may_lack_the_only_attribute_that_leads_on() {
    let text = support::with_table(
        r#"[entity.Room]
attributes = { roomId = "ulid", name = "string" }
key = ["ROOM#{roomId}", "ROOM"]
[entity.Message]
attributes = { roomId = "ulid", messageId = "ulid" }
key = ["ROOM#{roomId}", "MESSAGE#{messageId}"]
[entity.Booking]
attributes = { guestId = "ulid", bookingId = "ulid", roomId = "ulid?" }
key = ["GUEST#{guestId}", "BOOKING#{bookingId}"]
[pattern]
rooms    = { in = ["guestId"], out = "Room*", via = "Booking" }
messages = { in = ["guestId"], out = "Message*", via = { entity = "Booking", match = ["roomId"] } }
"#,
    );
    for pattern in ["pattern.rooms", "pattern.messages"] {
        assert!(!support::codes(&text, pattern).contains(&"P128"), "{pattern}");
    }
}
