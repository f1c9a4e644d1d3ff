//! Planters of mistakes in keys and relationships.

use super::good::{Good, list};
use super::plants::{Planter, entity, needs, pattern, planter};

/// Mistakes in keys.
pub const KEYS: &[Planter] = &[
    planter("", "P201", |m| {
        needs(m, &m.unit)?;
        let (section, id) = (entity(&m.unit), m.id(&m.unit));
        for section in [section, entity("Place")] {
            m.draft.replace(&section, "attributes", &format!("{id} = \"id\""), &format!("{id} = \"string\""));
        }
        Some(entity("Place"))
    }),
    planter("", "P202", |m| {
        let (section, id) = (entity(&m.owner), m.id(&m.owner));
        let twin = m.draft.get(&section, "key")?.to_owned();
        m.draft.set(
            "entity.Twin",
            "attributes",
            format!("{{ {id} = \"{}\", other = \"string\" }}", m.id_type),
        );
        m.draft.set("entity.Twin", "identity", list(&[&id]));
        m.draft.set("entity.Twin", "key", twin);
        m.pattern("twin", &[&id], &["Twin"], &[]);
        Some(String::new())
    }),
    planter("e", "P203", |m| {
        let (section, d) = (entity(&m.record), m.d);
        let id = format!("{d}{{{}}}\"]", m.id(&m.record));
        m.draft.replace(&section, "key", &id, "\"]");
        Some(section)
    }),
    planter("", "P204", |m| {
        needs(m, &m.edge)?;
        let target = m.target.clone();
        m.key(&target, [&format!("{{{}}}", m.id(&target)), "HEAD"]);
        Some(entity(&target))
    }),
    planter("", "P205", |m| {
        let (prefix, plural) = (m.prefix(&m.owner), m.prefix(&format!("{}s", m.owner)));
        m.draft.replace(&entity(&m.record), "key", &prefix, &plural);
        Some(String::new())
    }),
    planter("", "P206", |m| {
        let (set, record) = (list(&[&m.time]), format!("\"{}\"", m.record));
        m.draft.add("write.move_time", &[("update", &record), ("set", &set), ("rps", "1")]);
        Some("write.move_time".to_owned())
    }),
    planter("", "P207", |m| {
        by_attribute(m, "shift = \"DAY|NIGHT\"", "shift")?;
        Some(entity(&m.target))
    }),
    planter("", "P208", |m| {
        for section in [entity(&m.owner), entity(&m.record)] {
            let id = m.id(&m.owner);
            let plain = format!("{id} = \"{}\"", m.id_type);
            m.draft.replace(
                &section,
                "attributes",
                &plain,
                &format!("{id} = {{ type = \"{}\", top = 0.6 }}", m.id_type),
            );
        }
        Some(entity(&m.record))
    }),
    planter("", "P209", |m| {
        by_attribute(m, "day = \"date\"", "day")?;
        Some(entity(&m.target))
    }),
    planter("", "P210", |m| {
        let section = entity(&m.record);
        let field = format!("index.{}", m.by_state);
        let entry = m.draft.get(&section, &field)?.to_owned();
        let (start, end) = (entry.find("shard = {")?, entry.find(" }, count")?);
        let entry = format!("{}shard = {{ count = 2{}", &entry[..start], &entry[end..]);
        m.draft.set(&section, &field, entry);
        m.draft.set("write.place", "rps", "9000");
        Some(section)
    }),
    planter("", "P211", |m| {
        needs(m, &m.edge)?;
        let (target, edge, id) = (m.target.clone(), m.edge.clone(), m.id(&m.target));
        for name in [&target, &edge] {
            let plain = format!("{id} = \"{}\"", m.id_type);
            m.draft.replace(&entity(name), "attributes", &plain, &format!("{id} = \"int\""));
        }
        Some(entity(&target))
    }),
    planter("", "P212", |m| {
        needs(m, &m.edge)?;
        let (target, home) = (m.target.clone(), m.home(&m.target));
        m.draft.attribute(&target, "foundedAt = \"timestamp\"");
        let sort = m.under("at", "foundedAt");
        m.key(&target, [&home, &sort]);
        pattern("target")
    }),
    planter("", "P213", |m| {
        needs(m, &m.part)?;
        needs(m, &m.copy)?;
        let home = m.home(&m.record);
        m.key(&m.part.clone(), [&home, "{number:05}"]);
        Some(entity(&m.part))
    }),
    planter("", "P217", |m| {
        m.draft.set("table", "tenant", format!("\"{}\"", m.id(&m.owner)));
        Some(entity(&m.record))
    }),
    planter("", "P218", |m| {
        let text = m.draft.text();
        if text.contains("attribute_exists(") || text.contains("request = ") {
            return None;
        }
        let keys = list(&[m.id(&m.owner), m.keys[1].clone()]);
        m.draft.set("table", "keys", keys);
        Some("table".to_owned())
    }),
    planter("", "P219", |m| {
        m.draft.unset("table", "type_attribute");
        Some("table".to_owned())
    }),
    planter("", "P220", |m| {
        m.draft.attribute(&m.owner.clone(), "v1_note = \"string\", v2_note = \"map\"");
        Some(entity(&m.owner))
    }),
    planter("", "P221", |m| {
        needs(m, &m.edge)?;
        let (target, home, index) = (m.target.clone(), m.home(&m.target), m.by_id.clone());
        m.draft.attribute(&target, "reference = \"uuid\"");
        let own = m.under("ref", "reference");
        m.key(&target, [&own, "HEAD"]);
        m.index_key(&target, &index, [&home, "HEAD"]);
        Some(entity(&target))
    }),
    planter("", "P222", |m| {
        needs(m, &m.part)?;
        let signed = "number = { type = \"int\", min = -1, max = 60 }";
        m.draft.replace(&entity(&m.part), "attributes", "number = \"int\"", signed);
        Some(entity(&m.part))
    }),
    planter("", "P223", |m| {
        let section = entity(&m.record);
        m.draft.replace(&section, "attributes", "precision = \"second\"", "zone = \"offset\"");
        Some(section)
    }),
    planter("", "P224", |m| {
        let section = entity(&m.record);
        m.draft.replace(&section, "attributes", ", precision = \"second\"", "");
        Some(section)
    }),
];

/// Puts the relationship's target under a partition key of one attribute, and writes it often.
fn by_attribute(m: &mut Good, declaration: &str, name: &str) -> Option<()> {
    needs(m, &m.edge)?;
    let (target, home) = (m.target.clone(), m.home(&m.target));
    m.draft.attribute(&target, declaration);
    let partition = m.under(name, name);
    m.key(&target, [&partition, &home]);
    m.draft.set("pattern.target", "in", list(&[name.to_owned(), m.id(&target)]));
    m.draft.remove("pattern.targets");
    m.draft.set("write.found", "rps", "3000");
    m.draft.set(&entity(&target), "expect", "{ count = 5_000_000, bytes = 300 }");
    Some(())
}

/// Mistakes in relationships.
pub const RELATIONSHIPS: &[Planter] = &[
    planter("m", "P215", |m| {
        let (link, actor, other) = m.follow();
        needs(m, &link)?;
        let (owner, verb) = (m.owner.clone(), m.verb.clone());
        let key = [m.under(&owner, &other), m.under(&format!("{verb}s"), &actor)];
        m.key(&link, [&key[0], &key[1]]);
        Some(entity(&link))
    }),
    planter("m", "P215", |m| {
        let (link, actor, other) = m.follow();
        needs(m, &link)?;
        let (owner, verb, index) = (m.owner.clone(), m.verb.clone(), m.by_id.clone());
        let key = [m.under(&owner, &actor), m.under(&format!("{verb}ed_by"), &other)];
        m.index_key(&link, &index, [&key[0], &key[1]]);
        Some(entity(&link))
    }),
    planter("", "P216", |m| {
        needs(m, &m.edge)?;
        m.draft.unset(&entity(&m.edge), &format!("index.{}", m.by_id));
        m.draft.remove("pattern.joining");
        Some(entity(&m.edge))
    }),
    planter("", "P229", |m| {
        let record = m.record.clone();
        m.draft.attribute(&record, "gone = \"timestamp\"");
        m.draft.set(&entity(&record), "ttl", "\"gone\"");
        Some(entity(&record))
    }),
    planter("", "P230", |m| {
        m.draft.set("table", "name", "\"My table!\"");
        Some("table".to_owned())
    }),
    planter("", "P231", |m| {
        m.draft.replace(&entity(&m.owner), "attributes", "email = \"string\"", "email = \"string | null\"");
        Some(entity(&m.owner))
    }),
    planter("", "P232", |m| {
        let (section, id) = (entity(&m.record), m.id(&m.owner));
        let other = if m.id_type == "int" { "uuid" } else { "int" };
        let (own, changed) = (format!("{id} = \"{}\"", m.id_type), format!("{id} = \"{other}\""));
        m.draft.replace(&section, "attributes", &own, &changed);
        Some("pattern.whole".to_owned())
    }),
    planter("", "P228", |m| {
        let (section, id) = (entity(&m.record), m.id(&m.owner));
        let (required, optional) =
            (format!("{id} = \"{}\"", m.id_type), format!("{id} = \"{}?\"", m.id_type));
        m.draft.replace(&section, "attributes", &required, &optional);
        Some(section)
    }),
    planter("q", "P225", |m| {
        needs(m, &m.edge)?;
        let id = format!("{{{}}}\"]", m.id(&m.target));
        let longer = id.replace("\"]", &format!("{}{{since}}\"]", m.d));
        m.draft.replace(&entity(&m.edge), "key", &id, &longer);
        Some(entity(&m.edge))
    }),
    planter("t", "P226", |m| {
        needs(m, &m.part)?;
        if m.has(&m.copy) {
            return None;
        }
        let (record, id, index) = (m.record.clone(), m.id(&m.record), m.by_id.clone());
        let section = entity(&record);
        for field in ["attributes", "key", &format!("index.{}", m.by_state)] {
            m.draft.replace(&section, field, &id, "serial");
        }
        m.draft.set(&section, "identity", "[\"serial\"]");
        let own = m.under("serial", "serial");
        m.index_key(&record, &index, [&own, "SERIAL"]);
        m.draft.set("pattern.byId", "in", "[\"serial\"]");
        Some(entity(&m.part))
    }),
    planter("u", "P227", |m| {
        needs(m, &m.edge)?;
        let person = ["Member", "Person", "Employee", "Account"].contains(&m.owner.as_str());
        if !person {
            return None;
        }
        let (target, index, id, d) = (m.target.clone(), m.by_id.clone(), m.id(&m.owner), m.d);
        m.draft.attribute(&target, &format!("{id} = \"{}\", role = \"Admin|Reader\"", m.id_type));
        let key = [m.home(&m.owner), format!("{}{d}{}", m.under("role", "role"), m.home(&target))];
        m.index_key(&target, &index, [&key[0], &key[1]]);
        m.pattern("allowed", &[&id, "role"], &[&format!("{target}*")], &[]);
        Some(entity(&target))
    }),
];
