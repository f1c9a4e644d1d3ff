//! Requests to the pages of a month, in versions: keys hold the month of a time, and texts in lower case.

use super::{Random, Request, Stored, check, delete, item, put, transaction};
use serde_json::Value;

/// The entities, to be added to a model.
pub const ENTITIES: &str = r#"
[entity.Page]
attributes = { site = "string", day = "timestamp", rev = "int", body = "string" }
key = ["SITE#{site:lower}#{day:month}", "V#{rev:04}"]
versions = "rev"
[entity.Newest]
copies = "Page"
latest = true
attributes = { site = "string", day = "timestamp", rev = "int", body = "string" }
key = ["SITE#{site:lower}#{day:month}", "LATEST"]
"#;

const DAYS: [&str; 3] = ["2026-01-05", "2026-01-09", "2026-02-05"];

/// A version, and the copy of the newest with the same values.
fn versions(site: &str, day: &str, rev: i64, body: &str) -> [Value; 2] {
    let partition = format!("SITE#{}#{}", site.to_lowercase(), &day[..7]);
    let values = format!("site={site} day={day}T00:00:00Z rev={rev} body={body}");
    [
        item(&format!("PK={partition} SK=V#{rev:04} type=Page {values}")),
        item(&format!("PK={partition} SK=LATEST type=Newest {values}")),
    ]
}

/// A transaction that may or may not keep the rules.
pub fn noise(random: &mut Random) -> Request {
    let first = random.below(3) as i64 + 1;
    let mut made =
        |rev: i64| versions(random.pick(&["a", "A"]), random.pick(&DAYS[..2]), rev, random.pick(&["x", "y"]));
    let [page, newest] = made(first + 1);
    let items = [made(first)[0].clone(), page, newest];
    let mut actions = Vec::new();
    for one in &items {
        actions.extend(match random.below(4) {
            0 | 1 => Some(put(one)),
            2 => Some(check(one, random.below(2) == 0)),
            _ => (random.below(2) == 0).then(|| delete(one)),
        });
    }
    if actions.is_empty() {
        actions.push(delete(&items[2]));
    }
    transaction(actions)
}

/// The next version of a month, whatever its day, or the deletion of the oldest.
pub fn well_formed(random: &mut Random, items: &[Value]) -> Request {
    let (site, day) = (random.pick(&["a", "A"]), random.pick(&DAYS));
    let of = |rev: i64| versions(site, day, rev, "x");
    let stored = Stored(items);
    let newest = stored.number(&of(0)[1], "rev").unwrap_or(0);
    let oldest = (1..=newest).find(|rev| stored.find(&of(*rev)[0]).is_some()).unwrap_or(0);
    if oldest > 0 && oldest < newest && random.below(2) == 0 {
        let [before, copy] = of(oldest - 1);
        let shown = if oldest > 1 { vec![check(&before, false)] } else { Vec::new() };
        return transaction([vec![delete(&of(oldest)[0]), check(&copy, true)], shown].concat());
    }
    transaction(of(newest + 1).iter().map(put).collect())
}
