//! Planters: each puts one mistake into a model, if the model has what it takes, and names where it must be found.

use super::good::{Good, list};

/// Puts a mistake into a model.
pub struct Planter {
    /// The letters of the mistakes of the catalogue that it plants.
    pub letters: &'static str,
    pub code: &'static str,
    /// Changes the model, and returns the subject of the finding; `""` is any. `None` if the model does not have what it takes.
    pub plant: fn(&mut Good) -> Option<String>,
}

pub const fn planter(
    letters: &'static str,
    code: &'static str,
    plant: fn(&mut Good) -> Option<String>,
) -> Planter {
    Planter { letters, code, plant }
}

/// The subject of an entity.
pub fn entity(name: &str) -> String {
    format!("entity.{name}")
}

pub fn pattern(name: &str) -> Option<String> {
    Some(format!("pattern.{name}"))
}

/// Goes on only if the model has the entity.
pub fn needs(good: &Good, name: &str) -> Option<()> {
    good.has(name).then_some(())
}

/// Mistakes in the file.
pub const FILE: &[Planter] = &[
    planter("", "P001", |m| {
        m.draft.set("table", "name", "\"open");
        Some(String::new())
    }),
    planter("", "P002", |m| {
        m.draft.set("table", "region", "\"eu\"");
        Some(String::new())
    }),
    planter("", "P003", |m| {
        m.draft.set("pattern.byId", "out", "\"Nothing\"");
        Some(String::new())
    }),
    planter("", "P004", |m| {
        let (section, home) = (entity(&m.record), m.home(&m.owner));
        m.draft.replace(&section, "key", &home, home.trim_end_matches('}'));
        Some(String::new())
    }),
    planter("", "P005", |m| {
        m.draft.set("pattern.work", "where", format!("\"{} is {}\"", m.state, m.open));
        Some(String::new())
    }),
    planter("", "P006", |m| {
        m.draft.add("[allow]", &[("code", "\"P210\""), ("reason", "\"it was hot once\"")]);
        Some("allow".to_owned())
    }),
    planter("", "P131", |m| {
        m.draft.replace("write.finish", "condition", " = ", " == ");
        Some(String::new())
    }),
];

/// Patterns that keys do not serve.
pub const UNSERVED: &[Planter] = &[
    planter("ab", "P101", |m| {
        m.draft.unset(&entity(&m.record), &format!("index.{}", m.by_id));
        pattern("byId")
    }),
    planter("ab", "P101", |m| {
        m.draft.unset(&entity(&m.record), &format!("index.{}", m.by_state));
        pattern("work")
    }),
    planter("d", "P102", |m| {
        needs(m, &m.part)?;
        let (home, part) = (m.home(&m.record), m.under(&m.part, "number:04"));
        let d = m.d;
        m.key(&m.part.clone(), [&format!("{home}{d}{part}"), "PART"]);
        pattern("parts")
    }),
    planter("d", "P102", |m| {
        let prefix = m.prefix(&m.owner);
        request(m, "whole", &format!("begins_with({}, '{prefix}')", m.keys[0].clone()));
        pattern("whole")
    }),
    planter("v", "P102", |m| {
        m.draft.set("pattern.whole", "request", format!("{{ filter = \"{} == 'x'\" }}", m.id(&m.owner)));
        pattern("whole")
    }),
    planter("i", "P103", |m| {
        id_before_time(m)?;
        pattern("newest")
    }),
    planter("s", "P103", |m| {
        needs(m, &m.edge)?;
        let (time, id) = (m.time.clone(), m.id(&m.owner));
        let out = [format!("{}*", m.record), format!("{}*", m.edge)];
        m.draft.attribute(&m.edge.clone(), &format!("{time} = \"timestamp\""));
        m.pattern(
            "activity",
            &[&id],
            &[&out[0], &out[1]],
            &[("order", &format!("\"{time} desc\"")), ("limit", "9")],
        );
        pattern("activity")
    }),
    planter("i", "P104", |m| {
        id_before_time(m)?;
        pattern("between")
    }),
    planter("h", "P105", |m| {
        needs(m, &m.part)?;
        let key = [m.home(&m.record), m.under(&m.part, "number")];
        m.key(&m.part.clone(), [&key[0], &key[1]]);
        pattern("parts")
    }),
    planter("h", "P105", |m| {
        needs(m, "Manual")?;
        let key = [m.home("Manual"), m.under("v", "version")];
        m.key("Manual", [&key[0], &key[1]]);
        pattern("history")
    }),
    planter("j", "P106", |m| {
        needs(m, &m.unit)?;
        let (keys, unit) = (m.keys.clone(), m.unit.clone());
        let (home, level) = (m.under("firm", &m.attribute("firmId")), m.home(&unit));
        request(m, "unit", &format!("{} = '{home}' AND begins_with({}, '{level}')", keys[0], keys[1]));
        pattern("unit")
    }),
    planter("j", "P106", |m| {
        needs(m, &m.unit)?;
        let key = [m.under("firm", &m.attribute("firmId")), m.home(&m.unit)];
        m.key(&m.unit.clone(), [&key[0], &key[1]]);
        pattern("unit")
    }),
    planter("k", "P107", |m| {
        m.draft.replace("pattern.between", "range", "2026-06-30T23:59:59Z", "2026-06");
        pattern("between")
    }),
    planter("k", "P107", |m| {
        m.draft.replace("pattern.between", "range", "2026-06-30T23:59:59Z", "2026-06-30");
        pattern("between")
    }),
    planter("k", "P107", |m| {
        let (keys, home, prefix) = (m.keys.clone(), m.home(&m.owner), m.prefix(&m.record));
        m.draft.unset("pattern.between", "range");
        let bounds =
            format!("{} = '{home}' AND {} BETWEEN '{prefix}2026-01' AND '{prefix}2026-12'", keys[0], keys[1]);
        request(m, "between", &bounds);
        pattern("between")
    }),
    planter("p", "P107", |m| {
        m.draft.replace("pattern.between", "range", "2026-06-30T23:59:59Z", "2026-06-30T10:30");
        pattern("between")
    }),
    planter("c", "P108", |m| {
        needs(m, &m.edge)?;
        let (id, index) = (m.id(&m.owner), m.by_id.clone());
        let condition = format!("{} = '{}'", m.index_keys(&index)[0], m.home(&m.owner));
        let out = [format!("{}*", m.record), format!("{}*", m.edge)];
        let request = format!("{{ index = \"{index}\", condition = \"{condition}\" }}");
        m.pattern("feed", &[&id], &[&out[0], &out[1]], &[("request", &request)]);
        pattern("feed")
    }),
    planter("f", "P108", |m| {
        let (keys, home, prefix) = (m.keys.clone(), m.home(&m.owner), m.prefix(&m.record));
        request(m, "whole", &format!("{} = '{home}' AND begins_with({}, '{prefix}')", keys[0], keys[1]));
        pattern("whole")
    }),
    planter("v", "P109", |m| {
        needs(m, &m.unit)?;
        let (firm, units) = (m.attribute("firmId"), format!("{}*", m.unit));
        m.pattern("units", &[&firm], &[&units], &[]);
        pattern("units")
    }),
    planter("g", "P110", |m| {
        let (keys, home) = (m.keys.clone(), m.home(&m.owner));
        request(m, "whole", &format!("{} = '{home}' AND begins_with({}, '')", keys[0], keys[1]));
        pattern("whole")
    }),
    planter("", "P111", |m| {
        m.draft.set("pattern.byId", "consistency", "\"strong\"");
        pattern("byId")
    }),
    planter("", "P112", |m| {
        m.draft.set(&format!("index.{}", m.by_state), "project", "\"KEYS_ONLY\"");
        m.draft.unset("pattern.work", "hydrate");
        pattern("work")
    }),
    planter("", "P113", |m| {
        let inputs = list(&[m.id(&m.owner), m.state.clone()]);
        m.draft.set("pattern.newest", "in", inputs);
        pattern("newest")
    }),
    planter("", "P113", |m| {
        m.draft.set("pattern.newest", "where", "\"amount > 10\"");
        pattern("newest")
    }),
    planter("", "P114", |m| {
        let out = format!("{}*", m.owner);
        m.pattern("everything", &[], &[&out], &[]);
        pattern("everything")
    }),
    planter("n", "P115", |m| {
        m.draft.set(
            &entity(&m.record),
            "expect",
            format!("{{ per = \"{}\", average = 20, max = 5000, bytes = 1024 }}", m.owner),
        );
        m.draft.set("pattern.whole", "pages", "\"first\"");
        pattern("whole")
    }),
    planter("", "P116", |m| {
        needs(m, &m.part)?;
        let (id, out) = (m.id(&m.record), [m.record.clone(), format!("{}*", m.part)]);
        m.pattern("apart", &[&id], &[&out[0], &out[1]], &[]);
        pattern("apart")
    }),
    planter("", "P117", |m| {
        let (id, record) = (m.id(&m.owner), m.record.clone());
        m.pattern("one", &[&id], &[&record], &[]);
        pattern("one")
    }),
    planter("", "P118", |m| {
        m.draft.unset("pattern.byId", "rps");
        pattern("byId")
    }),
    planter("", "P119", |m| {
        m.draft.remove("pattern.");
        Some("table".to_owned())
    }),
    planter("", "P120", |m| {
        let both = format!("\"{0} == '{1}' and {0} == '{2}'\"", m.state, m.open, m.done);
        m.draft.set("pattern.work", "where", both);
        pattern("work")
    }),
    planter("", "P121", |m| {
        m.draft.set("pattern.work", "where", format!("\"{} == '{}'\"", m.state, m.done));
        pattern("work")
    }),
    planter("", "P121", |m| {
        let either = format!("\"{0} == '{1}' or {0} == '{2}'\"", m.state, m.open, m.done);
        m.draft.set("pattern.work", "where", either);
        pattern("work")
    }),
    planter("", "P121", |m| {
        m.draft.set("pattern.work", "where", format!("\"not {}\"", m.is_open()));
        pattern("work")
    }),
    planter("", "P122", |m| {
        m.draft.set("pattern.work", "where", format!("\"{} == 'NEVER'\"", m.state));
        pattern("work")
    }),
    planter("", "P123", |m| {
        m.draft.replace("pattern.between", "range", "-01T00:00:00Z", "-01T00:00:00+02:00");
        pattern("between")
    }),
    planter("", "P124", |m| {
        let (keys, home, own) = (m.keys.clone(), m.home(&m.owner), m.home(&m.record));
        request(m, "newest", &format!("{} = '{home}' AND begins_with({}, '{own}')", keys[0], keys[1]));
        pattern("newest")
    }),
    planter("", "P125", |m| {
        m.draft.replace("pattern.between", "range", "2026-06-30T23:59:59Z", "2020-06-30T23:59:59Z");
        pattern("between")
    }),
    planter("r", "P127", |m| {
        needs(m, &m.edge)?;
        m.draft.unset("pattern.targets", "via");
        pattern("targets")
    }),
    planter("r", "P128", |m| {
        needs(m, &m.edge)?;
        let (target, home) = (m.target.clone(), m.home(&m.target));
        m.draft.attribute(&target, "city = \"id\"");
        let city = m.under("city", "city");
        m.key(&target, [&city, &home]);
        m.draft.set("pattern.target", "in", list(&["city".to_owned(), m.id(&target)]));
        pattern("targets")
    }),
    planter("", "P130", |m| {
        needs(m, &m.edge)?;
        let (id, out) = (m.id(&m.owner), [format!("{}*", m.record), format!("{}*", m.edge)]);
        let range = format!("\"{}\"", m.time);
        m.pattern("recent", &[&id], &[&out[0], &out[1]], &[("range", &range)]);
        pattern("recent")
    }),
    planter("", "P134", |m| {
        let (owner, id) = (m.id(&m.owner), m.id(&m.record));
        let (home, own) = (m.home(&m.owner), m.under("liked", &id));
        let attributes = format!("{{ {owner} = \"{0}\", {id} = \"{0}\" }}", m.id_type);
        m.draft.set("entity.Liked", "attributes", attributes);
        m.draft.set("entity.Liked", "edge", format!("[\"{owner}\", \"{id}\"]"));
        m.key("Liked", [&home, &own]);
        let out = format!("{}*", m.record);
        m.pattern("written", &[&owner], &[&out], &[]);
        m.pattern("liked", &[&owner], &[&out], &[]);
        pattern("liked")
    }),
    planter("", "P135", |m| {
        let (section, field) = (entity(&m.record), format!("index.{}", m.by_state));
        let entry = m.draft.get(&section, &field)?.to_owned();
        let (start, end) = (entry.find("shard = {")?, entry.find(" }, count")?);
        let entry = format!("{}shard = {{ count = 9000{}", &entry[..start], &entry[end..]);
        m.draft.set(&section, &field, entry);
        pattern("work")
    }),
    planter("", "P132", |m| {
        let (keys, home, prefix) = (m.keys.clone(), m.home(&m.owner), m.prefix(&m.record));
        request(m, "newest", &format!("{} = '{home}' AND begins_with({}, '{prefix}2026')", keys[0], keys[1]));
        pattern("newest")
    }),
    planter("", "P133", |m| {
        let (keys, home, prefix) = (m.keys.clone(), m.home(&m.owner), m.prefix(&m.record));
        request(m, "between", &format!("{} = '{home}' AND begins_with({}, '{prefix}')", keys[0], keys[1]));
        pattern("between")
    }),
];

/// Declares the request of a pattern.
fn request(m: &mut Good, name: &str, condition: &str) {
    m.draft.set(&format!("pattern.{name}"), "request", format!("{{ condition = \"{condition}\" }}"));
}

/// Puts the identifier before the time. A ULID in the place of the creation time sorts as well, so that is no mistake.
fn id_before_time(m: &mut Good) -> Option<()> {
    if m.id_type == "ulid" && m.time.starts_with("created") {
        return None;
    }
    let key = [m.home(&m.owner), format!("{}{}{{{}}}", m.home(&m.record), m.d, m.time)];
    m.key(&m.record.clone(), [&key[0], &key[1]]);
    Some(())
}
