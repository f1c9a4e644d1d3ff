//! What a name implies where the model declares nothing: a status has few values and changes, readings never end.
//!
//! Contains only names whose meaning is beyond doubt; a declaration always takes precedence.

/// The usual number of values of an attribute with this name, if small.
pub fn few_values(attribute: &str) -> Option<u64> {
    let name = plain(attribute);
    match name.as_str() {
        "country" | "countrycode" => Some(200),
        "gender" | "priority" | "severity" => Some(5),
        _ => name.ends_with("status").then_some(5),
    }
}

/// Returns whether an attribute is meant to change.
pub fn changes(attribute: &str) -> bool {
    let name = plain(attribute);
    ["status", "stage", "phase"].iter().any(|end| name.ends_with(end))
}

/// Returns whether an attribute holds the creation time of the item.
pub fn is_creation_time(attribute: &str) -> bool {
    let names = ["createdat", "created", "createdon", "createdtime", "creationtime", "time", "timestamp"];
    names.contains(&plain(attribute).as_str())
}

/// Returns whether an attribute says since when something is there: `joinedAt`, `createdAt`, and not `scheduledAt`.
pub fn is_time_of_beginning(attribute: &str) -> bool {
    let name = plain(attribute);
    let is_past = ["edat", "edon"].iter().any(|end| name.ends_with(end));
    let is_planned = ["scheduled", "planned", "expected"].iter().any(|start| name.starts_with(start));
    (is_past && !is_planned) || is_creation_time(attribute) || name == "since"
}

/// Returns whether a number counts items or moments, so that no two have the same: `lineNo`, `sequence`, `week`.
pub fn is_ordinal(attribute: &str) -> bool {
    let start =
        attribute.rfind(|letter: char| letter.is_uppercase() || letter == '_' || letter == '-').unwrap_or(0);
    let word = plain(&attribute[start..]);
    let ordinals = [
        "no",
        "num",
        "number",
        "nr",
        "index",
        "idx",
        "seq",
        "sequence",
        "version",
        "revision",
        "position",
        "rank",
        "place",
        "slot",
        "page",
        "step",
        "round",
        "ordinal",
        "offset",
        "part",
        "day",
        "week",
        "month",
        "year",
        "at",
        "time",
        "timestamp",
        "ts",
        "epoch",
        "id",
        "sort",
        "order",
    ];
    ordinals.contains(&word.as_str())
}

/// Returns whether an attribute identifies the tenant.
pub fn is_tenant(attribute: &str) -> bool {
    ["tenant", "tenantid"].contains(&plain(attribute).as_str())
}

/// Returns whether an attribute is bookkeeping that any item may have, not a copy of another item's data.
pub fn is_bookkeeping(attribute: &str) -> bool {
    let name = plain(attribute);
    let stems = ["created", "updated", "modified", "deleted", "changed"];
    let own = [
        "version",
        "revision",
        "ttl",
        "expiresat",
        "expires",
        "type",
        "entitytype",
        "kind",
        "tenantid",
        "etag",
    ];
    stems.iter().any(|stem| name.starts_with(stem)) || own.contains(&name.as_str())
}

/// Returns whether an attribute identifies a person.
pub fn is_person(attribute: &str) -> bool {
    ["userid", "memberid", "personid", "employeeid", "accountid"].contains(&plain(attribute).as_str())
}

/// Returns whether an attribute says what a person may do with something.
pub fn is_role(attribute: &str) -> bool {
    ["role", "permission", "accesslevel", "accessrole"].contains(&plain(attribute).as_str())
}

/// Returns whether an entity is a relationship that two others have or do not have, and never several times.
pub fn is_relationship(entity: &str) -> bool {
    let words = [
        "favorite",
        "favourite",
        "like",
        "follow",
        "follows",
        "bookmark",
        "membership",
        "star",
        "friendship",
    ];
    words.contains(&plain(entity).as_str())
}

/// Returns whether items of an entity arrive without end.
pub fn is_stream(entity: &str) -> bool {
    let streams = ["reading", "measurement", "telemetry", "metric", "sample", "heartbeat", "log", "logentry"];
    streams.iter().any(|stream| plain(entity).ends_with(stream))
}

/// Returns whether an entity has one item a day or a month.
pub fn is_periodic(entity: &str) -> bool {
    let words = [
        "day",
        "daily",
        "month",
        "week",
        "year",
        "hour",
        "summary",
        "stat",
        "total",
        "count",
        "aggregate",
        "rate",
        "price",
        "quote",
        "balance",
        "snapshot",
        "availability",
        "calendar",
        "attendance",
        "usage",
        "quota",
        "report",
        "schedule",
        "slot",
        "menu",
        "inventory",
        "forecast",
        "streak",
        "score",
        "bucket",
        "period",
    ];
    let name = plain(entity);
    words.iter().any(|word| name.contains(word))
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', '-'], "")
}
