//! What a random model has besides owners and records.

use super::draft::Random;
use super::good::{Good, list};

impl Good {
    /// Numbered parts under each record.
    pub fn parts(&mut self, r: &mut Random) {
        let (part, id) = (self.part.clone(), self.id(&self.record));
        let section = format!("entity.{part}");
        self.draft.set(
            &section,
            "attributes",
            format!("{{ {id} = \"{}\", number = \"int\", content = \"string\" }}", self.id_type),
        );
        self.draft.set(&section, "identity", format!("[\"{id}\", \"number\"]"));
        let (home, sort) =
            (self.home(&self.record), self.under(&part, &format!("number:0{}", r.number(4, 9))));
        self.key(&part, [&home, &sort]);
        let expect = format!(
            "{{ per = \"{}\", average = {}, max = {}, bytes = 200 }}",
            self.record,
            r.number(2, 9),
            r.number(20, 60)
        );
        self.draft.set(&section, "expect", expect);
        self.pattern("parts", &[&id], &[&format!("{part}*")], &[("order", "\"number asc\"")]);
    }

    /// A copy of each record under its own key.
    pub fn copies(&mut self) {
        let (copy, id) = (self.copy.clone(), self.id(&self.record));
        let section = format!("entity.{copy}");
        self.draft.set(&section, "copies", format!("\"{}\"", self.record));
        self.draft.set(
            &section,
            "attributes",
            format!(
                "{{ {id} = \"{0}\", {1} = \"{0}\", amount = \"decimal\" }}",
                self.id_type,
                self.id(&self.owner)
            ),
        );
        self.draft.set(&section, "identity", format!("[\"{id}\"]"));
        let home = self.home(&self.record);
        self.key(&copy, [&home, "CARD"]);
        self.draft.set(&section, "expect", "{ count = 1_000_000, bytes = 200 }");
        self.pattern("card", &[&id], &[&copy], &[]);
    }

    /// A relationship between owners and something else, read from both ends.
    pub fn edges(&mut self, r: &mut Random) {
        let (owner, target, edge, d) = (self.owner.clone(), self.target.clone(), self.edge.clone(), self.d);
        let (owner_id, id) = (self.id(&owner), self.id(&target));
        let section = format!("entity.{target}");
        self.draft.set(
            &section,
            "attributes",
            format!("{{ {id} = \"{}\", about = \"string\" }}", self.id_type),
        );
        let home = self.home(&target);
        self.key(&target, [&home, "HEAD"]);
        self.draft.set(&section, "expect", format!("{{ count = {}, bytes = 300 }}", r.number(5_000, 90_000)));
        let section = format!("entity.{edge}");
        self.draft.set(&section, "edge", format!("[\"{owner_id}\", \"{id}\"]"));
        self.draft.set(
            &section,
            "attributes",
            format!("{{ {owner_id} = \"{0}\", {id} = \"{0}\", since = \"timestamp\" }}", self.id_type),
        );
        let (start, word) = (self.home(&owner), self.prefix(&edge));
        self.key(&edge, [&start, &self.under(&edge, &id)]);
        self.index_key(&edge, &self.by_id.clone(), [&home, &format!("{word}{{since}}{d}{{{owner_id}}}")]);
        self.draft.set(
            &section,
            "expect",
            format!("{{ per = \"{owner}\", average = {}, max = 300, bytes = 150 }}", r.number(2, 20)),
        );
        self.draft.replace("pattern.whole", "out", "]", &format!(", \"{edge}*\"]"));
        let edges = format!("{edge}*");
        self.pattern("target", &[&id], &[&target], &[]);
        self.pattern("joined", &[&owner_id], &[&edges], &[]);
        self.pattern("joining", &[&id], &[&edges], &[("order", "\"since desc\""), ("limit", "30")]);
        self.pattern(
            "targets",
            &[&owner_id],
            &[&format!("{target}*")],
            &[("via", &format!("\"{edge}\"")), ("limit", "20")],
        );
        self.draft.add("write.join", &[("create", &format!("\"{edge}\"")), ("rps", "2")]);
        self.draft.add("write.found", &[("create", &format!("\"{target}\"")), ("rps", "0.1")]);
    }

    /// The two ends of a relationship between owners, and its entity.
    pub fn follow(&self) -> (String, String, String) {
        let (first, rest) = self.verb.split_at(1);
        let (actor, other) = (format!("{}erId", self.verb), format!("{}edId", self.verb));
        (format!("{}{rest}Link", first.to_uppercase()), self.attribute(&actor), self.attribute(&other))
    }

    /// A relationship between owners.
    pub fn followers(&mut self, r: &mut Random) {
        let (entity, actor, other) = self.follow();
        let (section, owner) = (format!("entity.{entity}"), self.owner.clone());
        self.draft.set(&section, "edge", format!("[\"{actor}\", \"{other}\"]"));
        self.draft.set(
            &section,
            "attributes",
            format!("{{ {actor} = \"{0}\", {other} = \"{0}\", since = \"timestamp\" }}", self.id_type),
        );
        let verb = self.verb.clone();
        let keys = [self.under(&owner, &actor), self.under(&format!("{verb}s"), &other)];
        self.key(&entity, [&keys[0], &keys[1]]);
        let keys = [self.under(&owner, &other), self.under(&format!("{verb}ed_by"), &actor)];
        self.index_key(&entity, &self.by_id.clone(), [&keys[0], &keys[1]]);
        self.draft.set(
            &section,
            "expect",
            format!("{{ per = \"{owner}\", average = {}, max = 400, bytes = 150 }}", r.number(2, 30)),
        );
        let links = format!("{entity}*");
        self.pattern("acting", &[&actor], &[&links], &[]);
        self.pattern("acted", &[&other], &[&links], &[]);
        self.draft.add("write.act", &[("create", &format!("\"{entity}\"")), ("rps", "2")]);
    }

    /// Units and their places, two levels of one sort key.
    pub fn hierarchy(&mut self, r: &mut Random) {
        let (unit, d) = (self.unit.clone(), self.d);
        let id = self.id(&unit);
        let firm = self.attribute("firmId");
        let place = self.attribute("placeId");
        let (home, level) = (self.under("firm", &firm), self.under(&unit, &id));
        let section = format!("entity.{unit}");
        self.draft.set(
            &section,
            "attributes",
            format!("{{ {firm} = \"id\", {id} = \"id\", about = \"string\" }}"),
        );
        self.draft.set(&section, "identity", list(&[&firm, &id]));
        self.key(&unit, [&home, &format!("{level}{d}")]);
        self.draft.set(
            &section,
            "expect",
            format!("{{ count = {}, max = 200, bytes = 300 }}", r.number(2_000, 90_000)),
        );
        self.draft.set(
            "entity.Place",
            "attributes",
            format!("{{ {firm} = \"id\", {id} = \"id\", {place} = \"id\", hint = \"string\" }}"),
        );
        self.draft.set("entity.Place", "identity", list(&[&firm, &id, &place]));
        self.key("Place", [&home, &format!("{level}{d}{}", self.under("place", &place))]);
        self.draft.set(
            "entity.Place",
            "expect",
            format!("{{ per = \"{unit}\", average = {}, max = 90, bytes = 200 }}", r.number(2, 9)),
        );
        self.pattern("unit", &[&firm, &id], &[&unit, "Place*"], &[]);
    }

    /// Versions of manuals, and a copy of the newest.
    pub fn versions(&mut self, r: &mut Random) {
        let id = self.id("Manual");
        let attributes = format!(
            "{{ {id} = \"{}\", version = \"int\", body = \"string\", savedAt = \"timestamp\" }}",
            self.id_type
        );
        let home = self.home("Manual");
        self.draft.set("entity.Manual", "attributes", attributes.as_str());
        self.draft.set("entity.Manual", "identity", list(&[id.as_str(), "version"]));
        self.draft.set("entity.Manual", "versions", "\"version\"");
        self.key("Manual", [&home, &self.under("v", &format!("version:0{}", r.number(4, 9)))]);
        self.draft.set("entity.Manual", "expect", "{ count = 40_000, max = 200, bytes = 900 }");
        self.draft.add(
            "entity.CurrentManual",
            &[("copies", "\"Manual\""), ("latest", "true"), ("attributes", &attributes)],
        );
        self.draft.set("entity.CurrentManual", "identity", list(&[&id]));
        self.key("CurrentManual", [&home, "LATEST"]);
        self.draft.set("entity.CurrentManual", "expect", "{ count = 4_000, bytes = 900 }");
        self.pattern("current", &[&id], &["CurrentManual"], &[]);
        self.pattern("history", &[&id], &["Manual*"], &[("order", "\"version desc\""), ("limit", "10")]);
        self.draft
            .add("write.save", &[("transact", "[\"create Manual\", \"put CurrentManual\"]"), ("rps", "0.1")]);
    }
}
