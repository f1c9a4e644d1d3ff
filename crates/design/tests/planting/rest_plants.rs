//! Planters of mistakes in indexes, sizes, writes and the design as a whole.

use super::good::{Good, list};
use super::plants::{Planter, entity, needs, planter};

/// The subject of the sparse index.
fn sparse(m: &Good) -> String {
    format!("index.{}", m.by_state)
}

/// Mistakes in indexes.
pub const INDEXES: &[Planter] = &[
    planter("", "P301", |m| {
        for number in 0..20 {
            m.draft.set(
                &format!("index.Gsi{number}"),
                "keys",
                list(&[format!("g{number}"), format!("h{number}")]),
            );
        }
        Some("table".to_owned())
    }),
    planter("", "P302", |m| {
        local(m);
        Some("index.Local".to_owned())
    }),
    planter("u", "P303", |m| {
        m.draft.remove("pattern.work");
        Some(sparse(m))
    }),
    planter("u", "P303", |m| {
        let (record, own) = (m.record.clone(), m.home(&m.record));
        m.draft.set("index.Spare", "keys", "[\"sparePK\", \"spareSK\"]");
        let partition = m.under("amount", "amount:08.2");
        m.index_key(&record, "Spare", [&partition, &own]);
        Some("index.Spare".to_owned())
    }),
    planter("", "P304", |m| {
        let (section, field) = (entity(&m.record), format!("index.{}", m.by_state));
        m.draft.replace(&section, &field, &format!("when = \"{}\", ", m.is_open()), "");
        Some(sparse(m))
    }),
    planter("", "P305", |m| {
        for (number, key) in [m.id(&m.record), m.id(&m.owner), m.time.clone()].iter().enumerate() {
            m.draft.set(&format!("index.Gsi{number}"), "keys", list(&[key.as_str(), "amount"]));
        }
        Some("write.finish".to_owned())
    }),
    planter("", "P306", |m| {
        m.draft.unset(&sparse(m), "project");
        m.draft.unset("pattern.work", "hydrate");
        m.draft.set("pattern.work", "fields", list(&[m.id(&m.record)]));
        Some(sparse(m))
    }),
    planter("", "P308", |m| {
        let (owner, home, index) = (m.owner.clone(), m.home(&m.owner), m.by_id.clone());
        m.draft.attribute(&owner, "plan = \"FREE|PAID\"");
        let partition = m.under("plan", "plan");
        m.index_key(&owner, &index, [&partition, &home]);
        m.pattern("onPlan", &["plan"], &[&format!("{owner}*")], &[("limit", "10")]);
        m.draft.unset("write.register", "rps");
        Some(entity(&owner))
    }),
    planter("", "P309", |m| {
        for name in ["pattern.byId", "pattern.joining", "pattern.acted"] {
            if m.draft.has(name) {
                m.draft.set(name, "importance", "\"rare\"");
            }
        }
        Some(format!("index.{}", m.by_id))
    }),
];

fn local(m: &mut Good) {
    m.draft.set("index.Local", "local", "true");
    m.draft.set("index.Local", "keys", list(&[m.keys[0].clone(), "amount".to_owned()]));
}

/// Items, collections and transactions that are too large.
pub const SIZES: &[Planter] = &[
    planter("", "P401", |m| {
        m.draft.replace(&entity(&m.owner), "expect", " }", ", max_bytes = 900_000 }");
        Some(entity(&m.owner))
    }),
    planter("", "P402", |m| {
        let expect = format!("{{ per = \"{}\", average = 90_000, bytes = 500 }}", m.owner);
        m.draft.set(&entity(&m.record), "expect", expect);
        Some(entity(&m.record))
    }),
    planter("o", "P403", |m| {
        local(m);
        let expect = format!("{{ per = \"{}\", average = 30, max = 30_000_000, bytes = 500 }}", m.owner);
        m.draft.set(&entity(&m.record), "expect", expect);
        Some(entity(&m.record))
    }),
    planter("", "P404", |m| {
        let (record, home, index) = (m.record.clone(), m.home(&m.record), m.by_id.clone());
        let long = format!("{}{home}", m.prefix(&"é".repeat(1_100)));
        m.index_key(&record, &index, [&long, &home]);
        Some(entity(&record))
    }),
    planter("", "P405", |m| {
        needs(m, &m.part)?;
        let expect = format!("{{ per = \"{}\", average = 150, max = 800, bytes = 200 }}", m.record);
        m.draft.set(&entity(&m.part), "expect", expect);
        Some("write.place".to_owned())
    }),
    planter("", "P406", |m| {
        let growing = ", max_bytes = 300_000, max_bytes_in_a_year = 500_000 }";
        m.draft.replace(&entity(&m.owner), "expect", " }", growing);
        Some(entity(&m.owner))
    }),
    planter("", "P407", |m| {
        let expect = format!("{{ per = \"{}\", count = 900_000_000, max = 20, bytes = 300 }}", m.owner);
        m.draft.set(&entity(&m.record), "expect", expect);
        Some(entity(&m.record))
    }),
];

/// Mistakes in writes.
pub const WRITES: &[Planter] = &[
    planter("l", "P501", |m| {
        needs(m, &m.copy)?;
        m.draft.replace("write.place", "transact", &format!(", \"create {}\"", m.copy), "");
        Some("write.place".to_owned())
    }),
    planter("l", "P501", |m| {
        needs(m, &m.copy)?;
        let actions = m.draft.get("write.place", "transact")?.to_owned();
        if actions.contains("update") {
            return None;
        }
        m.draft.unset("write.place", "transact");
        m.draft.set("write.place", "batch", actions.replace("create ", "put "));
        Some("write.place".to_owned())
    }),
    planter("l", "P502", |m| {
        needs(m, &m.copy)?;
        for name in [m.record.clone(), m.copy.clone()] {
            m.draft.attribute(&name, "memo = \"string\"");
        }
        m.draft.unset(&entity(&m.copy), "copies");
        Some(entity(&m.copy))
    }),
    planter("", "P503", |m| {
        needs(m, &m.copy)?;
        m.draft.remove("write.place");
        m.draft.remove("write.finish");
        Some(entity(&m.copy))
    }),
    planter("", "P504", |m| {
        needs(m, "Manual")?;
        let key = [m.home("Manual"), m.under("v", "savedAt")];
        m.key("Manual", [&key[0], &key[1]]);
        Some(entity("Manual"))
    }),
    planter("", "P505", |m| {
        m.draft.get(&entity(&m.owner), "aggregates")?;
        let update = format!(", \"update {} set {}\"", m.owner, m.attribute("recordCount"));
        m.draft.replace("write.place", "transact", &update, "");
        Some("write.place".to_owned())
    }),
    planter("", "P506", |m| {
        needs(m, "Manual")?;
        m.draft.replace("write.save", "transact", "\"create Manual\", ", "");
        Some("write.save".to_owned())
    }),
    planter("", "P507", |m| {
        let home = m.home(&m.owner);
        m.draft.set(
            "entity.Lonely",
            "attributes",
            format!("{{ {} = \"{}\", mood = \"string\" }}", m.id(&m.owner), m.id_type),
        );
        m.draft.set("entity.Lonely", "identity", list(&[m.id(&m.owner)]));
        m.key("Lonely", [&home, "ZZ"]);
        Some(entity("Lonely"))
    }),
    planter("", "P508", |m| {
        let [partition, sort] = m.index_keys(&m.by_state);
        m.draft.replace("write.finish", "expression", &format!(" REMOVE {partition}, {sort}"), "");
        Some("write.finish".to_owned())
    }),
    planter("", "P509", |m| {
        m.draft.get(&entity(&m.owner), "lock")?;
        m.draft.set("write.rename", "condition", format!("\"attribute_exists({})\"", m.keys[0]));
        Some("write.rename".to_owned())
    }),
    planter("", "P509", |m| {
        m.draft.get(&entity(&m.owner), "lock")?;
        m.draft.replace("write.rename", "expression", ", version = version + :one", "");
        Some("write.rename".to_owned())
    }),
    planter("", "P510", |m| {
        let set = format!("SET {} = :sort, ", m.keys[1]);
        m.draft.replace("write.rename", "expression", "SET ", &set);
        Some("write.rename".to_owned())
    }),
    planter("", "P511", |m| {
        m.draft.get(&entity(&m.owner), "aggregates")?;
        m.draft.replace(
            "write.place",
            "transact",
            &format!("\"create {}\"", m.record),
            &format!("\"put {}\"", m.record),
        );
        Some("write.place".to_owned())
    }),
    planter("", "P512", |m| {
        m.draft.unset("write.finish", "condition");
        Some("write.finish".to_owned())
    }),
    planter("", "P513", |m| {
        m.draft.get(&entity(&m.owner), "unique")?;
        m.draft.replace("write.move", "transact", &format!(", \"delete marker {}.email\"", m.owner), "");
        Some("write.move".to_owned())
    }),
    planter("", "P514", |m| {
        m.draft.set("write.register", "condition", "\"attribute_not_exists(email)\"");
        Some("write.register".to_owned())
    }),
    planter("", "P515", |m| {
        m.draft.get(&entity(&m.owner), "lock")?;
        m.draft.unset("write.register", "create");
        m.draft.set("write.register", "put", format!("\"{}\"", m.owner));
        Some("write.register".to_owned())
    }),
    planter("", "P516", |m| {
        m.draft.get(&entity(&m.owner), "aggregates")?;
        m.draft.set(&entity(&m.record), "ttl", "\"amount\"");
        Some(entity(&m.owner))
    }),
    planter("", "P521", |m| {
        m.draft.get(&entity(&m.owner), "aggregates")?;
        let (owner, count) = (m.owner.clone(), m.attribute("recordCount"));
        m.draft.attribute(&owner, &format!("{count} = \"string\""));
        Some(entity(&m.owner))
    }),
    planter("", "P519", |m| {
        needs(m, &m.copy)?;
        let record = m.record.clone();
        m.draft.attribute(&record, "gone = \"int\"");
        m.draft.set(&entity(&record), "ttl", "\"gone\"");
        Some(entity(&m.copy))
    }),
    planter("", "P520", |m| {
        m.draft.get(&entity(&m.owner), "unique")?;
        let marker = format!("\"delete marker {}.email\"", m.owner);
        m.draft.replace("write.move", "transact", &marker, &format!("{marker}, {marker}"));
        Some("write.move".to_owned())
    }),
    planter("", "P517", |m| {
        m.draft.unset("write.register", "create");
        m.draft.set("write.register", "batch", format!("[\"create {}\"]", m.owner));
        Some("write.register".to_owned())
    }),
    planter("", "P518", |m| {
        needs(m, &m.copy)?;
        let copy = m.copy.clone();
        m.draft.unset(&entity(&copy), "identity");
        m.draft.set(&entity(&copy), "attributes", "{ cardId = \"ulid\", amount = \"decimal\" }");
        m.key(&copy, ["CARD{cardId}", "CARD"]);
        m.draft.set("pattern.card", "in", "[\"cardId\"]");
        Some(entity(&copy))
    }),
];

/// Designs for which a single table is not the right choice.
pub const WHOLE: &[Planter] = &[
    planter("", "P601", |m| {
        apart(m)?;
        m.draft.unset(&entity(&m.record), &format!("index.{}", m.by_id));
        Some("table".to_owned())
    }),
    planter("", "P602", |m| {
        apart(m)?;
        m.draft.remove("pattern.whole");
        Some("table".to_owned())
    }),
    planter("", "P603", |m| {
        let id = m.id("Click");
        let key = [m.home("Click"), m.home("Click")];
        m.draft.set("entity.Click", "attributes", format!("{{ {id} = \"ulid\", x = \"int\" }}"));
        m.key("Click", [&key[0], &key[1]]);
        m.draft.set("entity.Click", "expect", "{ count = 900_000_000, bytes = 90 }");
        m.pattern("click", &[&id], &["Click"], &[]);
        m.draft.add("write.click", &[("put", "\"Click\""), ("rps", "9000")]);
        Some(entity("Click"))
    }),
    planter("", "P604", |m| {
        m.draft.set("context", "team", "\"new\"");
        Some("context".to_owned())
    }),
    planter("", "P604", |m| {
        m.draft.set("context", "life", "\"short\"");
        Some("context".to_owned())
    }),
    planter("", "P605", |m| {
        m.draft.set("pattern.work", "importance", "\"critical\"");
        Some("pattern.work".to_owned())
    }),
    planter("", "P606", |m| {
        m.draft.get("pattern.work", "hydrate")?;
        m.draft.set("pattern.work", "rps", "2000");
        Some("pattern.work".to_owned())
    }),
];

/// Gives the records a partition each, and lists them by an index.
fn apart(m: &mut Good) -> Option<()> {
    if m.draft.count("entity.") > 2 {
        return None;
    }
    let (record, home, own, index) = (m.record.clone(), m.home(&m.owner), m.home(&m.record), m.by_id.clone());
    let sort = format!("{}{}{{{}}}", m.under(&record, &m.time), m.d, m.id(&record));
    m.key(&record, [&own, &own]);
    m.index_key(&record, &index, [&home, &sort]);
    m.draft.unset("pattern.newest", "request");
    Some(())
}
