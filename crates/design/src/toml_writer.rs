//! Writes a model as TOML, for imports and inference.

use crate::model::decimal::Decimal;
use crate::model::limits::{Limits, Zone};
use crate::model::shard::ShardHash;
use crate::model::{
    Action, Aggregate, Allowance, Attribute, Context, Entity, Expectations, Importance, Index, IndexKey,
    MarkerAction, Model, Origin, Pattern, Projection, Request, Shard, Traffic, Via, Write,
};
use crate::template::Template;

/// The comments on a part of a model: `table`, `entity.Order`, `entity.Order.key`, `pattern.orderById`.
type Comments<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// Writes a model, with a comment at the top.
pub fn write(model: &Model, comment: &str) -> String {
    write_annotated(model, comment, &|_| Vec::new())
}

/// Writes a model, with a comment at the top and others beside the parts that they are about.
pub fn write_annotated(model: &Model, comment: &str, comments: Comments<'_>) -> String {
    let mut text: String = comment.lines().map(comment_line).collect();
    text.push_str(&format!("format = {}\n\n", crate::model::FORMAT));
    text.push_str(&commented(comments, "table"));
    text.push_str(&format!(
        "[table]\nname = {}\nkeys = {}\n",
        quoted(&model.table.name),
        names(&model.table.keys)
    ));
    for (key, value) in [
        ("type_attribute", &model.table.type_attribute),
        ("tenant", &model.table.tenant),
        ("ttl", &model.table.ttl),
    ] {
        if let Some(value) = value {
            text.push_str(&format!("{key} = {}\n", quoted(value)));
        }
    }
    if let Some(reads) = model.table.reads {
        text.push_str(&format!("reads = {}\n", quoted(reads.name())));
    }
    text.push_str(&context_text(&model.context));
    text.push_str(&traffic_text(&model.traffic));
    for index in &model.indexes {
        text.push_str(&index_text(index, comments));
    }
    for entity in &model.entities {
        text.push_str(&entity_text(entity, model, comments));
    }
    let patterns = model.patterns.iter().map(|pattern| (pattern.subject(), pattern_text(pattern)));
    text.push_str(&section("pattern", patterns, comments));
    let writes = model.writes.iter().map(|write| (write.subject(), write_text(write)));
    text.push_str(&section("write", writes, comments));
    text.extend(model.allowances.iter().map(allowance_text));
    text
}

/// One line for each pattern or write.
fn section(name: &str, lines: impl Iterator<Item = (String, String)>, comments: Comments<'_>) -> String {
    let lines: String = lines.map(|(subject, line)| commented(comments, &subject) + &line).collect();
    let comment = commented(comments, name);
    if lines.is_empty() { lines } else { format!("\n{comment}[{name}]\n{lines}") }
}

/// The comments on a part, one a line.
fn commented(comments: Comments<'_>, subject: &str) -> String {
    comments(subject).iter().map(|comment| comment_line(comment)).collect()
}

/// A comment in a line of its own; what comes from outside cannot end it.
fn comment_line(text: &str) -> String {
    format!("# {}\n", text.replace(|character: char| character.is_control(), " "))
}

fn context_text(context: &Context) -> String {
    let facts = [
        (context.team_is_new, "team = \"new\"\n"),
        (context.patterns_are_unknown, "patterns = \"unknown\"\n"),
        (context.life_is_short, "life = \"short\"\n"),
    ];
    let lines: String = facts.iter().filter(|(holds, _)| *holds).map(|(_, line)| *line).collect();
    if lines.is_empty() { lines } else { format!("\n[context]\n{lines}") }
}

fn index_text(index: &Index, comments: Comments<'_>) -> String {
    let comment = commented(comments, &index.subject());
    let mut text = format!("\n{comment}[index.{}]\nkeys = {}\n", key(&index.name), key_names(index));
    if index.local {
        text.push_str("local = true\n");
    }
    match &index.project {
        Projection::All => {}
        Projection::KeysOnly => text.push_str("project = \"KEYS_ONLY\"\n"),
        Projection::Include(included) => text.push_str(&format!("project = {}\n", names(included))),
    }
    text
}

/// An attribute as a text, several as a list.
fn one_or_several(list: &[String]) -> String {
    match list {
        [one] => quoted(one),
        several => names(several),
    }
}

fn key_names(index: &Index) -> String {
    let (partition, sort) = index.halves();
    let halves: Vec<String> =
        [partition, sort].into_iter().filter(|half| !half.is_empty()).map(one_or_several).collect();
    format!("[{}]", halves.join(", "))
}

fn entity_text(entity: &Entity, model: &Model, comments: Comments<'_>) -> String {
    let subject = entity.subject();
    let about = |part: &str| commented(comments, &format!("{subject}.{part}"));
    let mut text = format!("\n{}[entity.{}]\n", commented(comments, &subject), key(&entity.name));
    if entity.type_value != entity.name {
        text.push_str(&format!("type = {}\n", quoted(&entity.type_value)));
    }
    let was: Vec<String> = entity.was.iter().map(|was| quoted(&was.to_string())).collect();
    match was.as_slice() {
        [] => {}
        [was] => text.push_str(&format!("was = {was}\n")),
        several => text.push_str(&format!("was = [{}]\n", several.join(", "))),
    }
    let attributes: Vec<String> = entity.attributes.iter().map(attribute_text).collect();
    text.push_str(&about("attributes"));
    text.push_str(&format!("attributes = {{ {} }}\n", attributes.join(", ")));
    text.push_str(&about("key"));
    text.push_str(&format!("key = {}\n", templates(&entity.key)));
    if let Some(shard) = &entity.shard {
        text.push_str(&format!("{}shard = {}\n", about("shard"), shard_text(shard)));
    }
    for index_key in entity.declared_indexes() {
        let local = model.index(&index_key.index).is_some_and(|index| index.local);
        text.push_str(&about(&format!("index.{}", index_key.index)));
        text.push_str(&indexed_text(index_key, local));
    }
    text.push_str(&about("unique"));
    if !entity.unique.is_empty() {
        let unique: Vec<String> = entity.unique.iter().map(|unique| one_or_several(unique)).collect();
        text.push_str(&format!("unique = [{}]\n", unique.join(", ")));
    }
    for (name, list) in [("identity", &entity.identity), ("edge", &entity.edge)] {
        text.push_str(&about(name));
        if !list.is_empty() {
            text.push_str(&format!("{name} = {}\n", names(list)));
        }
    }
    let ttl = entity.ttl.clone().filter(|ttl| model.table.ttl.as_ref() != Some(ttl));
    let named =
        [("lock", &entity.lock), ("versions", &entity.versions), ("copies", &entity.copies), ("ttl", &ttl)];
    for (name, value) in named {
        text.push_str(&about(name));
        if let Some(value) = value {
            text.push_str(&format!("{name} = {}\n", quoted(value)));
        }
    }
    if entity.latest {
        text.push_str("latest = true\n");
    }
    if !entity.aggregates.is_empty() {
        let one =
            |aggregate: &Aggregate| format!("{} = {}", key(&aggregate.name), quoted(&aggregate.to_string()));
        let all: Vec<String> = entity.aggregates.iter().map(one).collect();
        text.push_str(&format!("aggregates = {{ {} }}\n", all.join(", ")));
    }
    text.push_str(&about("expect"));
    text.push_str(&expect_text(&entity.expect));
    text
}

fn attribute_text(attribute: &Attribute) -> String {
    let optional = if attribute.optional { "?" } else { "" };
    let kind = quoted(&format!("{}{optional}", attribute.kind.print()));
    let values = attribute.values.map(|values| format!(", values = {values}")).unwrap_or_default();
    let top = attribute.top.map(|top| format!(", top = {top}")).unwrap_or_default();
    let name = key(&attribute.name);
    let limits: String =
        limits_fields(&attribute.limits).into_iter().map(|field| format!(", {field}")).collect();
    let origin = origin_text(&attribute.origin);
    if values.is_empty() && top.is_empty() && limits.is_empty() && origin.is_empty() {
        format!("{name} = {kind}")
    } else {
        format!("{name} = {{ type = {kind}{values}{top}{limits}{origin} }}")
    }
}

/// The limits of an attribute as fields of its declaration: `min = 0`.
pub(crate) fn limits_fields(limits: &Limits) -> Vec<String> {
    // A TOML number keeps 15 digits.
    let number = |number: &Decimal| {
        let text = number.to_string();
        if text.len() <= 15 { text } else { quoted(&text) }
    };
    let mut fields = Vec::new();
    fields.extend(limits.min.as_ref().map(|min| format!("min = {}", number(min))));
    fields.extend(limits.max.as_ref().map(|max| format!("max = {}", number(max))));
    fields.extend(limits.precision.map(|precision| format!("precision = {}", quoted(precision.name()))));
    fields.extend((limits.zone == Zone::Offset).then(|| "zone = \"offset\"".to_owned()));
    fields
}

fn origin_text(origin: &Origin) -> String {
    let computed = origin.computed.as_ref().map(Template::to_string);
    let fields =
        [("was", origin.was.as_ref()), ("default", origin.default.as_ref()), ("computed", computed.as_ref())];
    let written =
        fields.iter().filter_map(|(name, text)| Some(format!(", {name} = {}", quoted(text.as_ref()?))));
    written.collect()
}

fn indexed_text(index_key: &IndexKey, local: bool) -> String {
    let own = if local { &index_key.key[1..] } else { &index_key.key[..] };
    let mut text = format!("index.{} = {{ key = {}", key(&index_key.index), templates(own));
    if !index_key.when.is_empty() {
        text.push_str(&format!(", when = {}", quoted(&index_key.when.to_string())));
    }
    if let Some(count) = index_key.count {
        text.push_str(&format!(", count = {count}"));
    }
    if let Some(shard) = &index_key.shard {
        text.push_str(&format!(", shard = {}", shard_text(shard)));
    }
    text.push_str(" }\n");
    text
}

fn shard_text(shard: &Shard) -> String {
    let by = shard.by.as_ref().map(|by| format!("by = {}, ", quoted(by))).unwrap_or_default();
    let is_default = shard.hash == ShardHash::default();
    let hash = if is_default { String::new() } else { format!("hash = {}, ", quoted(shard.hash.name())) };
    format!("{{ {by}{hash}count = {} }}", shard.count)
}

fn expect_text(expect: &Expectations) -> String {
    let mut parts = Vec::new();
    parts.extend(expect.count.map(|count| format!("count = {count}")));
    parts.extend(expect.per.as_ref().map(|per| format!("per = {}", quoted(per))));
    parts.extend(expect.average.map(|average| format!("average = {average}")));
    parts.extend(expect.max.map(|max| format!("max = {max}")));
    parts.extend(expect.bytes.map(|bytes| format!("bytes = {bytes}")));
    parts.extend(expect.max_bytes.map(|bytes| format!("max_bytes = {bytes}")));
    let later = &expect.in_a_year;
    parts.extend(later.average.map(|average| format!("average_in_a_year = {average}")));
    let whole =
        [("count", later.count), ("max", later.max), ("bytes", later.bytes), ("max_bytes", later.max_bytes)];
    parts.extend(
        whole.iter().filter_map(|(name, later)| later.map(|later| format!("{name}_in_a_year = {later}"))),
    );
    if parts.is_empty() { String::new() } else { format!("expect = {{ {} }}\n", parts.join(", ")) }
}

/// Writes the line of one pattern.
pub fn pattern_line(pattern: &Pattern) -> String {
    pattern_text(pattern).trim_end().to_owned()
}

fn pattern_text(pattern: &Pattern) -> String {
    let mut parts = Vec::new();
    if !pattern.about.is_empty() {
        parts.push(format!("about = {}", quoted(&pattern.about)));
    }
    if !pattern.inputs.is_empty() {
        parts.push(format!("in = {}", names(&pattern.inputs)));
    }
    if !pattern.filter.is_empty() {
        parts.push(format!("where = {}", quoted(&pattern.filter.to_string())));
    }
    let targets: Vec<String> = pattern
        .targets
        .iter()
        .map(|target| format!("{}{}", target.entity, if target.many { "*" } else { "" }))
        .collect();
    parts.push(match targets.as_slice() {
        [one] => format!("out = {}", quoted(one)),
        several => format!("out = {}", names(several)),
    });
    if !pattern.via.is_empty() {
        let via: Vec<String> = pattern.via.iter().map(via_text).collect();
        parts.push(format!("via = [{}]", via.join(", ")));
    }
    parts.extend(pattern.range.as_ref().map(|range| match (&range.from, &range.to) {
        (None, None) => format!("range = {}", quoted(&range.by)),
        (from, to) => {
            let bound = |name: &str, text: &Option<String>| {
                text.as_ref().map(|text| format!(", {name} = {}", quoted(text))).unwrap_or_default()
            };
            format!("range = {{ by = {}{}{} }}", quoted(&range.by), bound("from", from), bound("to", to))
        }
    }));
    parts.extend(pattern.order.as_ref().map(|order| {
        format!(
            "order = {}",
            quoted(&format!("{} {}", order.by, if order.descending { "desc" } else { "asc" }))
        )
    }));
    parts.extend(pattern.limit.map(|limit| format!("limit = {limit}")));
    if !pattern.fields.is_empty() {
        parts.push(format!("fields = {}", names(&pattern.fields)));
    }
    let flags = [
        (pattern.strong, "consistency = \"strong\""),
        (pattern.hydrate, "hydrate = true"),
        (pattern.first_page_only, "pages = \"first\""),
    ];
    parts.extend(flags.iter().filter(|(holds, _)| *holds).map(|(_, text)| (*text).to_owned()));
    parts.extend(pattern.request.as_ref().map(request_text));
    if pattern.importance != Importance::Normal {
        parts.push(format!("importance = {}", quoted(pattern.importance.name())));
    }
    parts.extend(rates(pattern.rps, pattern.rps_in_a_year, pattern.peak));
    format!("{} = {{ {} }}\n", key(&pattern.name), parts.join(", "))
}

fn via_text(via: &Via) -> String {
    if via.matches.is_empty() {
        return quoted(&via.entity);
    }
    let matches: Vec<String> =
        via.matches.iter().map(|(next, own)| format!("{} = {}", key(next), quoted(own))).collect();
    format!("{{ entity = {}, match = {{ {} }} }}", quoted(&via.entity), matches.join(", "))
}

/// The rate of a pattern or a write.
fn rates(rps: Option<f64>, in_a_year: Option<f64>, peak: Option<f64>) -> impl Iterator<Item = String> {
    let rates = [("rps", rps), ("rps_in_a_year", in_a_year), ("peak", peak)];
    rates.into_iter().filter_map(|(name, rate)| rate.map(|rate| format!("{name} = {rate}")))
}

/// The shape of the traffic.
fn traffic_text(traffic: &Traffic) -> String {
    let mut text = String::new();
    for (name, value) in [("peak", traffic.peak), ("idle_hours", traffic.idle_hours)] {
        text.extend(value.map(|value| format!("{name} = {value}\n")));
    }
    if traffic.sudden {
        text.push_str("sudden = true\n");
    }
    if text.is_empty() { text } else { format!("\n[traffic]\n{text}") }
}

fn request_text(request: &Request) -> String {
    let mut parts = Vec::new();
    parts.extend(request.index.as_ref().map(|index| format!("index = {}", quoted(index))));
    if request.scan {
        parts.push("scan = true".to_owned());
    }
    if !request.condition.is_empty() {
        parts.push(format!("condition = {}", quoted(&request.condition)));
    }
    if !request.filter.is_empty() {
        parts.push(format!("filter = {}", quoted(&request.filter.to_string())));
    }
    format!("request = {{ {} }}", parts.join(", "))
}

fn write_text(write: &Write) -> String {
    let rates: String =
        rates(write.rps, write.rps_in_a_year, write.peak).map(|rate| format!(", {rate}")).collect();
    let body = match write.actions.as_slice() {
        [action] if !write.transact && !action.many => sent_action_text(action),
        actions => {
            let form = if write.transact { "transact" } else { "batch" };
            let marker = |marker: &MarkerAction| {
                let verb = marker.verb.name();
                quoted(&format!("{verb} marker {}.{}", marker.entity, marker.unique.join(",")))
            };
            let all: Vec<String> =
                actions.iter().map(action_text).chain(write.markers.iter().map(marker)).collect();
            format!("{form} = [{}]", all.join(", "))
        }
    };
    format!("{} = {{ {body}{rates} }}\n", key(&write.name))
}

/// An action with the request that is sent, as the fields of a table.
fn sent_action_text(action: &Action) -> String {
    let mut text = format!("{} = {}", action.verb.name(), quoted(&action.entity));
    if !action.set.is_empty() {
        text.push_str(&format!(", set = {}", names(&action.set)));
    }
    let expression = action.expression.as_ref().map(|expression| &expression.text);
    let condition = action.condition.as_ref().map(|condition| &condition.text);
    for (name, value) in [("expression", expression), ("condition", condition)] {
        if let Some(value) = value {
            text.push_str(&format!(", {name} = {}", quoted(value)));
        }
    }
    for (name, table) in [("names", &action.names), ("values", &action.values)] {
        if !table.is_empty() {
            let entries: Vec<String> =
                table.iter().map(|(name, value)| format!("{} = {}", key(name), quoted(value))).collect();
            text.push_str(&format!(", {name} = {{ {} }}", entries.join(", ")));
        }
    }
    text
}

/// An action of a list.
fn action_text(action: &Action) -> String {
    if action.expression.is_some() || action.condition.is_some() {
        return format!("{{ {} }}", sent_action_text(action));
    }
    quoted(&action.to_string())
}

fn allowance_text(allowance: &Allowance) -> String {
    let on = allowance.on.as_ref().map(|on| format!("on = {}\n", quoted(on))).unwrap_or_default();
    format!("\n[[allow]]\ncode = {}\n{on}reason = {}\n", quoted(&allowance.code), quoted(&allowance.reason))
}

/// A text in double quotes. TOML escapes as JSON does, and U+007F besides.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn names<T: AsRef<str>>(list: &[T]) -> String {
    let quoted: Vec<String> = list.iter().map(|name| quoted(name.as_ref())).collect();
    format!("[{}]", quoted.join(", "))
}

fn templates(list: &[Template]) -> String {
    names(&list.iter().map(Template::to_string).collect::<Vec<_>>())
}

/// A TOML key, quoted if necessary.
fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name.chars().all(|character| character.is_ascii_alphanumeric() || "_-".contains(character));
    if bare { name.to_owned() } else { quoted(name) }
}
