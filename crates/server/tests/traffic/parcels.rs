//! Requests to parcels and their copies: one that does not name the original's key, and one in any of several shards.

use super::{Random, Request, Stored, check, delete, item, put, transaction};
use serde_json::{Value, json};

/// The entities, to be added to a model.
pub const ENTITIES: &str = r#"
[entity.Parcel]
attributes = { parcelId = "id", userId = "id", weight = "int" }
key = ["USER#{userId}", "PARCEL#{parcelId}"]
[entity.ParcelById]
copies = "Parcel"
attributes = { parcelId = "id", weight = "int" }
key = ["PARCEL#{parcelId}", "COPY"]
[entity.ParcelInShard]
copies = "Parcel"
attributes = { parcelId = "id", userId = "id", weight = "int" }
key = ["SHARD#{shard}", "PARCEL#{userId}#{parcelId}"]
shard = { count = 3 }
"#;

fn parcel(user: &str, id: &str, weight: i64) -> Value {
    item(&format!("PK=USER#{user} SK=PARCEL#{id} type=Parcel parcelId={id} userId={user} weight={weight}"))
}

fn by_id(id: &str, weight: i64) -> Value {
    item(&format!("PK=PARCEL#{id} SK=COPY type=ParcelById parcelId={id} weight={weight}"))
}

fn in_shard(shard: usize, user: &str, id: &str, weight: i64) -> Value {
    item(&format!(
        "PK=SHARD#{shard} SK=PARCEL#{user}#{id} type=ParcelInShard parcelId={id} userId={user} weight={weight}"
    ))
}

/// A transaction that may or may not keep the rules.
pub fn noise(random: &mut Random) -> Request {
    let (user, id) = (random.pick(&["u", "v"]), random.pick(&["p", "q"]));
    let weight = random.below(2) as i64;
    let mut actions = Vec::new();
    let (first, second) = (random.below(3), random.below(3));
    let other = if user == "u" { "v" } else { "u" };
    let mut shards = vec![in_shard(first, user, id, weight)];
    if second != first {
        shards.push(in_shard(second, user, id, weight));
    }
    let mut copy = by_id(id, weight);
    if random.below(3) == 0 {
        // The copy does not declare whose it is, and any client may write that.
        copy["userId"] = json!({ "S": random.pick(&["u", "v", "w"]) });
    }
    let others = [parcel(user, id, weight), copy, parcel(other, id, weight)];
    for one in others.iter().chain(&shards) {
        actions.extend(match random.below(4) {
            0 => Some(put(one)),
            1 => Some(delete(one)),
            2 => Some(check(one, random.below(2) == 0)),
            _ => None,
        });
    }
    if actions.is_empty() {
        actions.push(delete(&by_id(id, weight)));
    }
    transaction(actions)
}

/// A transaction that keeps the rules: a parcel comes, changes, moves to another user or goes.
pub fn well_formed(random: &mut Random, items: &[Value]) -> Request {
    let stored = Stored(items);
    let (id, weight, shard) = (random.pick(&["p", "q"]), random.below(5) as i64, random.below(3));
    let owner = ["u", "v"].into_iter().find(|user| stored.find(&parcel(user, id, 0)).is_some());
    let Some(owner) = owner else {
        let user = random.pick(&["u", "v"]);
        let all = [parcel(user, id, weight), by_id(id, weight), in_shard(shard, user, id, weight)];
        return transaction(all.iter().map(put).collect());
    };
    let old: Vec<Value> = (0..3).map(|shard| in_shard(shard, owner, id, 0)).collect();
    let old: Vec<&Value> = old.iter().filter(|copy| stored.find(copy).is_some()).collect();
    let gone = || old.iter().map(|copy| delete(copy));
    let new_copy = |user: &str| put(&in_shard(shard, user, id, weight));
    let moved = old.iter().filter(|copy| copy["PK"] != in_shard(shard, owner, id, 0)["PK"]);
    let actions: Vec<Value> = match random.below(3) {
        0 => gone().chain([delete(&parcel(owner, id, 0)), delete(&by_id(id, 0))]).collect(),
        1 => {
            let new = [put(&parcel(owner, id, weight)), put(&by_id(id, weight)), new_copy(owner)];
            moved.map(|copy| delete(copy)).chain(new).collect()
        }
        _ => {
            let user = if owner == "u" { "v" } else { "u" };
            let new = [put(&parcel(user, id, weight)), put(&by_id(id, weight)), new_copy(user)];
            gone().chain([delete(&parcel(owner, id, 0))]).chain(new).collect()
        }
    };
    transaction(actions)
}
