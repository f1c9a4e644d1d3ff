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

/// Returns whether an attribute says since when a relationship is there: `joinedAt`, and not `visitedAt`.
pub fn is_time_of_beginning(attribute: &str) -> bool {
    let beginnings = [
        "joined",
        "followed",
        "added",
        "subscribed",
        "favorited",
        "favourited",
        "liked",
        "starred",
        "bookmarked",
        "pinned",
        "saved",
        "assigned",
        "invited",
        "enrolled",
        "befriended",
        "blocked",
        "muted",
    ];
    let name = plain(attribute);
    let verb = ["at", "on"].iter().find_map(|end| name.strip_suffix(end));
    verb.is_some_and(|verb| beginnings.contains(&verb)) || name.ends_with("since")
}

/// Returns whether a number measures something, so that two items can have the same: `points`, `amount`. Numbers that start a tier do not.
pub fn is_measure(attribute: &str) -> bool {
    let measures = [
        "points",
        "score",
        "amount",
        "total",
        "cost",
        "fare",
        "bid",
        "salary",
        "revenue",
        "balance",
        "rating",
        "stars",
        "votes",
        "likes",
        "views",
        "plays",
        "downloads",
        "wins",
        "goals",
        "kills",
        "karma",
        "xp",
        "reputation",
        "popularity",
        "distance",
        "duration",
        "temperature",
        "speed",
        "percent",
        "percentage",
    ];
    let thresholds = ["min", "max", "minimum", "maximum", "from", "to", "up", "upto", "least", "threshold"];
    let words = words(attribute);
    let starts_tier = words.first().is_some_and(|word| thresholds.contains(&word.as_str()));
    !starts_tier && words.last().is_some_and(|word| measures.contains(&word.as_str()))
}

/// Returns whether an attribute identifies the tenant.
pub fn is_tenant(attribute: &str) -> bool {
    ["tenant", "tenantid"].contains(&plain(attribute).as_str())
}

/// Returns whether an attribute is what people call something, which may change.
pub fn is_label(attribute: &str) -> bool {
    ["name", "title", "label", "displayname", "fullname"].contains(&plain(attribute).as_str())
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

/// Returns whether an entity is a relationship that two others have once at a time, if it is followed as one.
pub fn is_lasting(entity: &str) -> bool {
    let words = [
        "member",
        "subscriber",
        "subscription",
        "enrollment",
        "enrolment",
        "participant",
        "follower",
        "friend",
    ];
    let name = plain(entity);
    is_relationship(entity) || words.iter().any(|word| name.ends_with(word))
}

/// Returns whether an entity is something that happens, to the same two any number of times.
pub fn is_event(entity: &str) -> bool {
    let words = [
        "event", "visit", "session", "call", "attempt", "log", "entry", "history", "login", "checkin",
        "activity", "action",
    ];
    let name = plain(entity);
    words.iter().any(|word| name.ends_with(word))
}

/// Returns whether the items of an entity are the steps of a scale, each of which starts at an amount of its own.
pub fn is_tier(entity: &str) -> bool {
    let words =
        ["tier", "level", "band", "bracket", "step", "threshold", "grade", "range", "bucket", "scale"];
    let name = plain(entity);
    words.iter().any(|word| name.ends_with(word))
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

/// The words of a name, in lower case: `minQuantity` and `min_quantity` have two.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = None;
    for letter in name.chars() {
        let starts = letter.is_uppercase() && before.is_some_and(|before: char| !before.is_uppercase());
        if starts || matches!(letter, '_' | '-') {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        before = Some(letter);
    }
    words.retain(|word| !word.is_empty());
    words
}
