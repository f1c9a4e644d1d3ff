//! Writes a model as TOML, for imports and inference.

use crate::model::{Entity, Expectations, Index, IndexKey, Model, Pattern, Projection, Shard};
use crate::template::Template;

/// Writes a model, with a comment at the top.
pub fn write(model: &Model, comment: &str) -> String {
    let mut text = String::new();
    for line in comment.lines() {
        text.push_str(&format!("# {line}\n"));
    }
    text.push_str(&format!("format = {}\n\n[table]\n", crate::model::FORMAT));
    text.push_str(&format!("name = {}\nkeys = {}\n", quoted(&model.table.name), names(&model.table.keys)));
    for (key, value) in [
        ("type_attribute", &model.table.type_attribute),
        ("tenant", &model.table.tenant),
        ("ttl", &model.table.ttl),
    ] {
        if let Some(value) = value {
            text.push_str(&format!("{key} = {}\n", quoted(value)));
        }
    }
    for index in &model.indexes {
        text.push_str(&format!("\n[index.{}]\nkeys = {}\n", key(&index.name), key_names(index)));
        if index.local {
            text.push_str("local = true\n");
        }
        match &index.project {
            Projection::All => {}
            Projection::KeysOnly => text.push_str("project = \"KEYS_ONLY\"\n"),
            Projection::Include(included) => text.push_str(&format!("project = {}\n", names(included))),
        }
    }
    for entity in &model.entities {
        text.push_str(&entity_text(entity, model));
    }
    if !model.patterns.is_empty() {
        text.push_str("\n[pattern]\n");
        for pattern in &model.patterns {
            text.push_str(&pattern_text(pattern));
        }
    }
    text
}

/// The keys of an index: an attribute as a text, several as a list.
fn key_names(index: &Index) -> String {
    let half = |list: &[String]| match list {
        [one] => quoted(one),
        several => names(several),
    };
    let (partition, sort) = index.halves();
    let halves: Vec<String> =
        [partition, sort].into_iter().filter(|half| !half.is_empty()).map(half).collect();
    format!("[{}]", halves.join(", "))
}

fn entity_text(entity: &Entity, model: &Model) -> String {
    let mut text = format!("\n[entity.{}]\n", key(&entity.name));
    if entity.type_value != entity.name {
        text.push_str(&format!("type = {}\n", quoted(&entity.type_value)));
    }
    let attributes: Vec<String> = entity
        .attributes
        .iter()
        .map(|attribute| {
            let optional = if attribute.optional { "?" } else { "" };
            format!("{} = {}", key(&attribute.name), quoted(&format!("{}{optional}", attribute.kind.print())))
        })
        .collect();
    text.push_str(&format!("attributes = {{ {} }}\n", attributes.join(", ")));
    text.push_str(&format!("key = {}\n", templates(&entity.key)));
    if let Some(shard) = &entity.shard {
        text.push_str(&format!("shard = {}\n", shard_text(shard)));
    }
    for index_key in &entity.indexes {
        let local = model.index(&index_key.index).is_some_and(|index| index.local);
        text.push_str(&indexed_text(index_key, local));
    }
    for (name, list) in [("unique", &entity.unique), ("identity", &entity.identity), ("edge", &entity.edge)] {
        if !list.is_empty() {
            text.push_str(&format!("{name} = {}\n", names(list)));
        }
    }
    for (name, value) in [("lock", &entity.lock), ("versions", &entity.versions), ("copies", &entity.copies)]
    {
        if let Some(value) = value {
            text.push_str(&format!("{name} = {}\n", quoted(value)));
        }
    }
    text.push_str(&expect_text(&entity.expect));
    text
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
    format!("{{ {by}count = {} }}", shard.count)
}

fn expect_text(expect: &Expectations) -> String {
    let mut parts = Vec::new();
    parts.extend(expect.count.map(|count| format!("count = {count}")));
    parts.extend(expect.per.as_ref().map(|per| format!("per = {}", quoted(per))));
    parts.extend(expect.average.map(|average| format!("average = {average:.1}")));
    parts.extend(expect.max.map(|max| format!("max = {max}")));
    parts.extend(expect.bytes.map(|bytes| format!("bytes = {bytes}")));
    if parts.is_empty() { String::new() } else { format!("expect = {{ {} }}\n", parts.join(", ")) }
}

fn pattern_text(pattern: &Pattern) -> String {
    let mut parts = Vec::new();
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
    if pattern.hydrate {
        parts.push("hydrate = true".to_owned());
    }
    format!("{} = {{ {} }}\n", key(&pattern.name), parts.join(", "))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
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
