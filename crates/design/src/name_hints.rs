//! What a name says where the declaration says nothing: a status has few values and changes, readings never end.
//!
//! Only names whose meaning is beyond doubt are here; whatever the model declares goes before.

/// How many values an attribute of this name usually has, if few.
pub fn few_values(attribute: &str) -> Option<u64> {
    let name = plain(attribute);
    match name.as_str() {
        "country" | "countrycode" => Some(200),
        "gender" | "priority" | "severity" => Some(5),
        _ => name.ends_with("status").then_some(5),
    }
}

/// An attribute that is there to be changed.
pub fn changes(attribute: &str) -> bool {
    let name = plain(attribute);
    ["status", "stage", "phase"].iter().any(|end| name.ends_with(end))
}

/// The time at which an item was made.
pub fn is_creation_time(attribute: &str) -> bool {
    let names = ["createdat", "created", "createdon", "createdtime", "creationtime", "time", "timestamp"];
    names.contains(&plain(attribute).as_str())
}

/// The attribute that separates tenants.
pub fn is_tenant(attribute: &str) -> bool {
    ["tenant", "tenantid"].contains(&plain(attribute).as_str())
}

/// What every item may say about itself: no copy of another's data.
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

/// An entity of which more come for ever.
pub fn is_stream(entity: &str) -> bool {
    let streams = ["reading", "measurement", "telemetry", "metric", "sample", "heartbeat", "log", "logentry"];
    streams.iter().any(|stream| plain(entity).ends_with(stream))
}

/// An entity of which there is one a day or one a month.
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
