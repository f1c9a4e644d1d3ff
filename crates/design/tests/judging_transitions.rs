//! Decisions about a table that is migrated: right if they follow one of its two models, whichever form the stored items have by then.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::audit::judge::{Change, judge};
use partita_design::migration::Transition;
use support::change;

const OLD: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[index.GSI1]
keys = ["GP", "GS"]
[entity.User]
attributes = { userId = "id", mail = "string", team = "id", rev = "int", nick = "string?" }
key = ["U#{userId}", "U"]
index.GSI1 = { key = ["TEAM#{team}", "U#{userId}"] }
unique = ["mail"]
lock = "rev"
aggregates = { jobs = "count Job" }
[entity.UserOfTeam]
copies = "User"
attributes = { userId = "id", mail = "string", team = "id" }
key = ["T#{team}", "U#{userId}"]
[entity.Job]
attributes = { userId = "id", jobId = "id", state = "NEW|DONE" }
key = ["U#{userId}", "J#{jobId}"]
"#;

/// Every entity and most attributes are renamed, and no item moves.
const NEW: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[index.GSI2]
keys = ["HP", "HS"]
[entity.Person]
was = "User"
key = ["U#{userId}", "U"]
index.GSI2 = { key = ["IN#{team}", "{userId}"] }
unique = ["email"]
lock = "rev"
aggregates = { tasks = "count Task" }
[entity.Person.attributes]
userId = "id"
email = { type = "string", was = "mail" }
team = "id"
rev = "int"
nick = "string?"
[entity.PersonOfTeam]
was = "UserOfTeam"
copies = "Person"
attributes = { userId = "id", email = { type = "string", was = "mail" }, team = "id" }
key = ["T#{team}", "U#{userId}"]
[entity.Task]
was = "Job"
attributes = { userId = "id", jobId = "id", status = { type = "NEW|DONE", was = "state" } }
key = ["U#{userId}", "J#{jobId}"]
"#;

fn verdict(changes: &[Change]) -> Vec<(usize, &'static str)> {
    let (old, new) = (support::model(OLD), support::model(NEW));
    let found = Transition { old: &old, new: &new }.judge(changes);
    found.into_iter().map(|(number, violation)| (number, violation.rule)).collect()
}

const FINE: [(usize, &str); 0] = [];

fn user(mail: &str, rev: i64, jobs: i64) -> String {
    format!("PK=U#u SK=U type=User userId=u mail={mail} team=t rev={rev} jobs={jobs} GP=TEAM#t GS=U#u")
}

/// The same in the new form, its aggregate not counted yet.
fn person(email: &str, rev: i64) -> String {
    format!("PK=U#u SK=U type=Person userId=u email={email} team=t rev={rev} HP=IN#t HS=u")
}

fn copy(mail: &str) -> String {
    format!("PK=T#t SK=U#u type=UserOfTeam userId=u team=t mail={mail}")
}

fn new_copy(email: &str) -> String {
    format!("PK=T#t SK=U#u type=PersonOfTeam userId=u team=t email={email}")
}

fn job(id: &str, state: &str) -> String {
    format!("PK=U#u SK=J#{id} type=Job userId=u jobId={id} state={state}")
}

fn task(id: &str, status: &str) -> String {
    format!("PK=U#u SK=J#{id} type=Task userId=u jobId={id} status={status}")
}

fn marker(owner: &str, value: &str) -> String {
    format!("PK=UNIQUE#{owner}#{value} SK=UNIQUE#{owner}#{value}")
}

#[test]
fn an_item_is_put_in_its_old_form_over_its_new_one_and_the_other_way_round() {
    assert_eq!(verdict(&[change(&task("j", "NEW"), &job("j", "DONE"))]), FINE);
    assert_eq!(verdict(&[change(&job("j", "NEW"), &task("j", "DONE"))]), FINE);
    assert_eq!(verdict(&[change(&person("a", 1), &user("a", 2, 0))]), FINE);
    assert_eq!(verdict(&[change(&task("j", "NEW"), &job("j", "LATE"))]).len(), 1, "no state");
    assert_eq!(verdict(&[change(&person("a", 1), &user("a", 3, 0))]), [(0, "lock")]);
    let wrong_index = user("a", 2, 0).replace("TEAM#t", "TEAM#other");
    assert_eq!(verdict(&[change(&person("a", 1), &wrong_index)]), [(0, "index")]);
}

#[test]
fn a_unique_value_changes_with_its_old_marker_though_the_item_has_its_new_form() {
    let change_of_item = change(&person("a", 1), &user("b", 2, 0));
    let change_of_copy = change(&new_copy("a"), &copy("b"));
    let [given_up, taken] = ["a", "b"].map(|value| marker("User#mail", value));
    let whole = [change_of_item.clone(), change_of_copy.clone(), change(&given_up, ""), change("", &taken)];
    assert_eq!(verdict(&whole), FINE);
    // The migration may have deleted the old marker.
    let absent = Change { old: None, ..whole[2].clone() };
    assert_eq!(verdict(&[whole[0].clone(), whole[1].clone(), absent, whole[3].clone()]), FINE);
    assert_eq!(verdict(&whole[..3]), [(0, "unique")], "the new value has no marker");
    assert_eq!(verdict(&[whole[0].clone(), whole[2].clone(), whole[3].clone()]), [(0, "copy")]);
    let deleted = [change(&person("a", 1), ""), change(&new_copy("a"), ""), change(&given_up, "")];
    assert_eq!(verdict(&deleted), FINE);
    assert_eq!(verdict(&deleted[..2]), [(0, "unique")]);
}

#[test]
fn a_transaction_changes_some_items_in_place_and_puts_others() {
    let put = change(&task("j", "NEW"), &job("j", "DONE"));
    // Neither an update of an attribute that keeps its name nor a check shows which model the application knows.
    let updated = change(&person("a", 1), &format!("{} nick=x", person("a", 2)));
    let checked = change(&task("k", "NEW"), &task("k", "NEW"));
    assert_eq!(verdict(&[put.clone(), updated.clone(), checked]), FINE);
    let skipped = change(&person("a", 1), &format!("{} nick=x", person("a", 3)));
    assert_eq!(verdict(&[put.clone(), skipped]), [(1, "lock")]);
    assert_eq!(verdict(&[put.clone(), change("", &task("l", "NEW"))]), [(0, "type")], "one of each model");
    assert_eq!(verdict(&[put, change(&job("l", "NEW"), &task("l", "DONE"))]), [(0, "type")]);
}

#[test]
fn an_aggregate_that_the_new_form_does_not_have_is_not_compared() {
    let counted = change(&person("a", 1), &user("a", 2, 4));
    assert_eq!(verdict(&[change("", &job("j", "NEW")), counted.clone()]), FINE);
    assert_eq!(verdict(&[change("", &job("j", "NEW"))]), [(0, "aggregate")], "without what counts it");
    let stored = change(&user("a", 1, 3), &user("a", 2, 5));
    assert_eq!(verdict(&[change("", &job("j", "NEW")), stored])[0].1, "aggregate", "its old form has it");
}

#[test]
fn what_one_of_the_models_accepts_is_accepted() {
    let (old, new) = (support::model(OLD), support::model(NEW));
    let in_old = [change("", &job("j", "NEW")), change(&user("a", 1, 0), &user("a", 2, 1))];
    assert!(judge(&old, &in_old).is_empty() && verdict(&in_old).is_empty());
    let in_new = [change(&person("a", 1), &format!("{} nick=x", person("a", 2)))];
    assert!(judge(&new, &in_new).is_empty() && verdict(&in_new).is_empty());
}

#[test]
fn a_transaction_does_not_change_what_only_one_model_has_in_both_forms() {
    let by_new = change(&task("i", "NEW"), &task("i", "DONE"));
    let by_old = change(&job("j", "NEW"), &job("j", "DONE"));
    assert_eq!(verdict(&[by_new.clone(), by_old.clone()]), [(0, "type")]);
    // What has one name in both is changed by either application, whatever form is stored.
    let by_either = change(&user("a", 1, 2), &user("a", 2, 2));
    assert_eq!(verdict(&[by_new, by_either.clone()]), FINE);
    assert_eq!(verdict(&[by_old, by_either]), FINE);
}

#[test]
fn an_item_does_not_get_an_attribute_under_both_its_names() {
    let both = format!("{} state=DONE", task("j", "NEW"));
    assert_eq!(verdict(&[change(&task("j", "NEW"), &both)]), [(0, "type")]);
    // One that has both is mended.
    assert_eq!(verdict(&[change(&both, &task("j", "NEW"))]), FINE);
}
