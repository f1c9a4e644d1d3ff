//! Requests to a post with aggregates and its comments, to pages with values that are unique together, and to editions of a book with a copy
//! of the newest.

use super::{Random, Request, Stored, check, delete, item, key, put, transaction};
use serde_json::{Value, json};

fn comment(id: &str, points: i64, state: &str) -> Value {
    item(&format!(
        "PK=POST#p SK=COMMENT#{id} type=Comment postId=p commentId={id} points={points} state={state}"
    ))
}

/// The post with these comments.
fn post(comments: &[&Value]) -> Value {
    let points = |comment: &&Value| -> i64 {
        comment["points"]["N"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
    };
    let approved = comments.iter().copied().filter(|comment| comment["state"]["S"] == "OK");
    let score: i64 = approved.map(|comment| points(&comment)).sum();
    let best = comments.iter().map(points).max().map(|best| format!("best={best}")).unwrap_or_default();
    item(&format!("PK=POST#p SK=POST type=Post postId=p comments={} score={score} {best}", comments.len()))
}

fn page(id: &str, tenant: &str, slug: &str) -> Value {
    item(&format!("PK=PAGE#{id} SK=PAGE type=Page pageId={id} tenantId={tenant} slug={slug}"))
}

fn marker(tenant: &str, slug: &str) -> Value {
    let text = format!("UNIQUE#Page#tenantId,slug#{tenant}#{slug}");
    item(&format!("PK={text} SK={text}"))
}

fn edition(number: i64, state: &str) -> Value {
    item(&format!("PK=BOOK#b SK=V#{number:08} type=Edition bookId=b version={number} state={state}"))
}

fn current(number: i64, state: &str) -> Value {
    item(&format!("PK=STATE#{state} SK=BOOK#b type=Current bookId=b version={number} state={state}"))
}

pub fn valid_item(random: &mut Random) -> Value {
    let number = random.below(4) as i64;
    let (id, state) = (random.pick(&["c", "e"]), random.pick(&["OK", "BAD"]));
    let (tenant, slug) = (random.pick(&["t", "v"]), random.pick(&["x", "y"]));
    match random.below(9) {
        0 | 1 => comment(id, number, state),
        2 | 3 => post(&[&comment(id, number, state)][..random.below(2)]),
        4 => page(id, tenant, slug),
        5 => marker(tenant, slug),
        6 => current(number, state),
        _ => edition(number, state),
    }
}

pub fn well_formed(random: &mut Random, stored: &Stored<'_>) -> Request {
    match random.below(3) {
        0 => well_formed_comment(random, stored),
        1 => well_formed_page(random, stored),
        _ => well_formed_edition(random, stored),
    }
}

fn well_formed_comment(random: &mut Random, stored: &Stored<'_>) -> Request {
    let own = post(&[]);
    if stored.find(&own).is_none() {
        return ("PutItem", json!({ "TableName": "Mixed", "Item": own }));
    }
    let all: Vec<&Value> = stored.0.iter().filter(|item| item["type"]["S"] == "Comment").collect();
    let made = comment(random.pick(&["c", "e", "f"]), random.below(5) as i64, random.pick(&["OK", "BAD"]));
    let others: Vec<&Value> = all.iter().copied().filter(|other| key(other) != key(&made)).collect();
    let shown = others.iter().map(|other| check(other, true));
    match random.below(3) {
        0 if all.is_empty() => ("DeleteItem", json!({ "TableName": "Mixed", "Key": key(&own) })),
        0 => transaction([delete(&made), put(&post(&others))].into_iter().chain(shown).collect()),
        _ => {
            let after = post(&[&others[..], &[&made]].concat());
            transaction([put(&made), put(&after)].into_iter().chain(shown).collect())
        }
    }
}

fn well_formed_page(random: &mut Random, stored: &Stored<'_>) -> Request {
    let (id, tenant) = (random.pick(&["c", "e"]), random.pick(&["t", "v"]));
    let is_free = |slug: &&str| stored.find(&marker(tenant, slug)).is_none();
    let slug = ["x", "y", "z"].into_iter().find(is_free).unwrap_or("w");
    let made = page(id, tenant, slug);
    let Some(old) = stored.find(&made) else {
        return transaction(vec![put(&made), put(&marker(tenant, slug))]);
    };
    let text = |name: &str| old[name]["S"].as_str().unwrap_or_default();
    let given_up = delete(&marker(text("tenantId"), text("slug")));
    match random.below(2) {
        0 => transaction(vec![delete(old), given_up]),
        _ => transaction(vec![put(&made), given_up, put(&marker(tenant, slug))]),
    }
}

fn well_formed_edition(random: &mut Random, stored: &Stored<'_>) -> Request {
    let old = stored.0.iter().find(|item| item["type"]["S"] == "Current");
    let newest: i64 = old.and_then(|old| old["version"]["N"].as_str()?.parse().ok()).unwrap_or_default();
    let (actions, after) = match random.below(3) {
        0 if newest == 1 => (vec![delete(&edition(1, "OK"))], None),
        0 if newest > 1 => {
            let before = edition(newest - 1, "OK");
            let state = stored.find(&before).and_then(|found| found["state"]["S"].as_str()).unwrap_or("OK");
            (vec![delete(&edition(newest, "OK")), check(&before, true)], Some(current(newest - 1, state)))
        }
        _ => {
            let state = random.pick(&["OK", "BAD"]);
            (vec![put(&edition(newest + 1, state))], Some(current(newest + 1, state)))
        }
    };
    // The copy whose key contains the state moves.
    let gone = old.filter(|old| after.as_ref().is_none_or(|after| key(after) != key(old)));
    transaction(actions.into_iter().chain(after.as_ref().map(put)).chain(gone.map(delete)).collect())
}
