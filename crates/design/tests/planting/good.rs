//! Random models without a mistake: an owner with records, and parts, copies, relationships, hierarchies and versions as chance decides.

use super::draft::{Draft, Random};

/// What chance has chosen. Entities, attributes and prefixes have other names in every model.
#[derive(Clone)]
pub struct Good {
    pub draft: Draft,
    /// The delimiter of keys.
    pub d: char,
    /// Whether prefixes are in upper case.
    upper: bool,
    /// Whether attributes have underscores.
    snake: bool,
    pub owner: String,
    pub record: String,
    pub part: String,
    pub copy: String,
    pub target: String,
    pub edge: String,
    pub verb: String,
    pub unit: String,
    pub text: String,
    /// The time of a record.
    pub time: String,
    pub state: String,
    pub open: String,
    pub done: String,
    /// The names of the table's keys.
    pub keys: [String; 2],
    pub by_id: String,
    pub by_state: String,
    pub id_type: String,
}

const OWNERS: &[&str] =
    &["Customer", "Member", "Patient", "Author", "Driver", "Employee", "Person", "Account"];
const RECORDS: &[&str] = &["Order", "Visit", "Article", "Ride", "Invoice", "Shipment", "Ticket", "Essay"];
const PARTS: &[&str] = &["Line", "Step", "Page", "Remark", "Leg", "Chapter"];
const TARGETS: &[&str] = &["Club", "Course", "Project", "Channel", "Guild", "Library"];
const EDGES: &[&str] = &["Enrolment", "Subscription", "Membership", "Bookmark", "Participation"];
const VERBS: &[&str] = &["follow", "block", "mentor", "employ"];
const UNITS: &[&str] = &["Division", "Region", "Zone", "Quarter"];

impl Good {
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let r = &mut random;
        let lower_keys = r.coin();
        let name = |r: &mut Random, from: &[&str]| r.choose(from).to_owned();
        let case = |text: &str| if lower_keys { text.to_lowercase() } else { text.to_owned() };
        let mut good = Self {
            draft: Draft::default(),
            d: ['#', '|', '/', '#'][r.number(0, 3) as usize],
            upper: r.coin(),
            snake: r.coin(),
            owner: name(r, OWNERS),
            record: name(r, RECORDS),
            part: name(r, PARTS),
            copy: String::new(),
            target: name(r, TARGETS),
            edge: name(r, EDGES),
            verb: name(r, VERBS),
            unit: name(r, UNITS),
            text: name(r, &["title", "caption", "label", "note"]),
            time: name(r, &["createdAt", "openedAt", "bookedAt", "sentAt"]),
            state: name(r, &["status", "state", "phase"]),
            open: name(r, &["OPEN", "PENDING", "NEW"]),
            done: name(r, &["DONE", "CLOSED", "PAID"]),
            keys: [case("PK"), case("SK")],
            by_id: name(r, &["GSI1", "ById", "inverted"]),
            by_state: name(r, &["GSI2", "ByState", "work"]),
            id_type: name(r, &["ulid", "uuid", "id"]),
        };
        good.copy = format!("{}{}", good.record, r.choose(&["Card", "Head", "Info"]));
        good.time = good.attribute(&good.time);
        good.build(r);
        good
    }

    /// The name of an attribute in the style of the model.
    pub fn attribute(&self, camel: &str) -> String {
        let underscored = |text: String, character: char| {
            if character.is_ascii_uppercase() {
                format!("{text}_{}", character.to_ascii_lowercase())
            } else {
                format!("{text}{character}")
            }
        };
        if self.snake { camel.chars().fold(String::new(), underscored) } else { camel.to_owned() }
    }

    /// The identifier of an entity: `orderId`.
    pub fn id(&self, entity: &str) -> String {
        let (first, rest) = entity.split_at(1);
        self.attribute(&format!("{}{rest}Id", first.to_lowercase()))
    }

    /// A prefix with its delimiter.
    pub fn prefix(&self, word: &str) -> String {
        let word = if self.upper { word.to_uppercase() } else { word.to_lowercase() };
        format!("{word}{}", self.d)
    }

    /// A prefix and a field: `ORDER#{orderId}`.
    pub fn under(&self, word: &str, field: &str) -> String {
        format!("{}{{{field}}}", self.prefix(word))
    }

    /// The partition key of an entity's own items.
    pub fn home(&self, entity: &str) -> String {
        self.under(entity, &self.id(entity))
    }

    pub fn has(&self, entity: &str) -> bool {
        self.draft.has(&format!("entity.{entity}"))
    }

    /// The attributes of the keys of an index.
    pub fn index_keys(&self, index: &str) -> [String; 2] {
        let number = if index == self.by_id { 1 } else { 2 };
        self.keys.clone().map(|key| format!("x{number}{key}"))
    }

    /// The condition of an open record.
    pub fn is_open(&self) -> String {
        format!("{} == '{}'", self.state, self.open)
    }

    /// Sets the key of an entity.
    pub fn key(&mut self, entity: &str, keys: [&str; 2]) {
        self.draft.set(&format!("entity.{entity}"), "key", list(&keys));
    }

    /// Sets the key of an entity in an index.
    pub fn index_key(&mut self, entity: &str, index: &str, keys: [&str; 2]) {
        let field = format!("index.{index}");
        self.draft.set(&format!("entity.{entity}"), &field, format!("{{ key = {} }}", list(&keys)));
    }

    /// Adds a pattern with more fields in TOML.
    pub fn pattern(&mut self, name: &str, inputs: &[&str], out: &[&str], more: &[(&str, &str)]) {
        let section = format!("pattern.{name}");
        self.draft.set(&section, "in", list(inputs));
        let out = if let [one] = out { format!("\"{one}\"") } else { list(out) };
        self.draft.set(&section, "out", out);
        self.draft.add(&section, more);
        if self.draft.get(&section, "rps").is_none() {
            self.draft.set(&section, "rps", "1");
        }
    }

    fn build(&mut self, r: &mut Random) {
        self.draft.inline = r.coin();
        let (keys, name) = (list(&self.keys.clone()), r.choose(&["Main", "App", "Data"]));
        let kind = r.choose(&["EntityType", "kind", "type"]);
        self.draft.add(
            "table",
            &[("name", &format!("\"{name}\"")), ("keys", &keys), ("type_attribute", &format!("\"{kind}\""))],
        );
        for index in [self.by_id.clone(), self.by_state.clone()] {
            self.draft.set(&format!("index.{index}"), "keys", list(&self.index_keys(&index)));
        }
        self.owner(r);
        self.record(r);
        let mut options = [0, 1, 2, 3, 4, 5];
        r.shuffle(&mut options);
        for option in options.into_iter().take(r.number(0, 4) as usize) {
            if self.draft.count("entity.") > 4 {
                break;
            }
            match option {
                0 => self.parts(r),
                1 => self.copies(),
                2 => self.edges(r),
                3 => self.followers(r),
                4 => self.hierarchy(r),
                _ => self.versions(r),
            }
        }
        self.record_writes(r);
        self.draft.shuffle_entities(r);
    }

    fn owner(&mut self, r: &mut Random) {
        let (owner, id) = (self.owner.clone(), self.id(&self.owner));
        let section = format!("entity.{owner}");
        let attributes = format!(
            "{{ {id} = \"{}\", {} = \"string\", email = \"string\", version = \"int\" }}",
            self.id_type, self.text
        );
        self.draft.set(&section, "attributes", attributes);
        let home = self.home(&owner);
        let single = if r.coin() { home.clone() } else { r.choose(&["PROFILE", "METADATA", "A"]).to_owned() };
        self.key(&owner, [&home, &single]);
        let expect = format!("{{ count = {}, bytes = {} }}", r.number(10_000, 5_000_000), r.number(200, 900));
        self.draft.set(&section, "expect", expect);
        let rps = r.number(1, 500).to_string();
        self.pattern("owner", &[&id], &[&owner], &[("rps", &rps)]);
        self.draft.add("write.register", &[("create", &format!("\"{owner}\"")), ("rps", "0.5")]);
        let (mut expression, mut condition) =
            (format!("SET #{0} = :{0}", self.text), format!("attribute_exists({})", self.keys[0]));
        if r.coin() {
            self.draft.set(&section, "lock", "\"version\"");
            expression += ", version = version + :one";
            condition = "version = :version".to_owned();
        }
        let update = format!(
            "{{ update = \"{owner}\", expression = \"SET email = :email{}\", condition = \"{condition}\" }}",
            if condition.starts_with('v') { ", version = version + :one" } else { "" }
        );
        self.draft.add(
            "write.rename",
            &[
                ("update", &format!("\"{owner}\"")),
                ("expression", &format!("\"{expression}\"")),
                ("condition", &format!("\"{condition}\"")),
                ("rps", "0.5"),
            ],
        );
        if r.coin() {
            self.draft.set(&section, "unique", "[\"email\"]");
            let markers =
                format!("[{update}, \"delete marker {owner}.email\", \"create marker {owner}.email\"]");
            self.draft.add("write.move", &[("transact", &markers), ("rps", "0.1")]);
        }
        if r.coin() {
            let count = self.attribute("recordCount");
            self.draft.set(&section, "aggregates", format!("{{ {count} = \"count {}\" }}", self.record));
        }
    }

    fn record(&mut self, r: &mut Random) {
        let (owner, record, time) = (self.owner.clone(), self.record.clone(), self.time.clone());
        let (owner_id, id) = (self.id(&owner), self.id(&record));
        let section = format!("entity.{record}");
        let attributes = format!(
            "{{ {id} = \"{0}\", {owner_id} = \"{0}\", {time} = {{ type = \"timestamp\", precision = \"second\" }}, {1} = \"{2}|{3}\", amount = \"decimal\" }}",
            self.id_type, self.state, self.open, self.done
        );
        self.draft.set(&section, "attributes", attributes);
        let (home, own) = (self.home(&owner), self.home(&record));
        let sort = format!("{}{}{{{id}}}", self.under(&record, &time), self.d);
        self.key(&record, [&home, &sort]);
        self.index_key(&record, &self.by_id.clone(), [&own, &own]);
        let (d, by_state) = (self.d, self.by_state.clone());
        let entry = format!(
            "{{ key = [\"{}{d}{{shard}}\", \"{{{time}}}{d}{{{id}}}\"], when = \"{}\", shard = {{ by = \"{id}\", count = {} }}, count = {} }}",
            self.under("state", &self.state),
            self.is_open(),
            r.number(2, 5),
            r.number(100, 2_000)
        );
        self.draft.set(&section, &format!("index.{by_state}"), entry);
        let expect = format!(
            "{{ per = \"{owner}\", average = {}, max = {}, bytes = {} }}",
            r.number(3, 40),
            r.number(100, 900),
            r.number(300, 900)
        );
        self.draft.set(&section, "expect", expect);
        self.record_patterns(r);
    }

    fn record_patterns(&mut self, r: &mut Random) {
        let (owner, records, time) = (self.owner.clone(), format!("{}*", self.record), self.time.clone());
        let (owner_id, id, record) = (self.id(&owner), self.id(&self.record), self.record.clone());
        let (newest, oldest) = (format!("\"{time} desc\""), format!("\"{time} asc\""));
        self.pattern("whole", &[&owner_id], &[&owner, &records], &[]);
        let condition = format!(
            "{{ condition = \"{} = '{}' AND begins_with({}, '{}')\" }}",
            self.keys[0],
            self.home(&owner),
            self.keys[1],
            self.prefix(&record)
        );
        let mut more = vec![("order", newest.as_str()), ("limit", "20")];
        if r.coin() {
            more.push(("request", &condition));
        }
        self.pattern("newest", &[&owner_id], &[&records], &more);
        let range = format!(
            "{{ by = \"{time}\", from = \"2026-0{}-01T00:00:00Z\", to = \"2026-06-30T23:59:59Z\" }}",
            r.number(1, 6)
        );
        self.pattern("between", &[&owner_id], &[&records], &[("range", &range)]);
        let rps = r.number(1, 100).to_string();
        self.pattern("byId", &[&id], &[&record], &[("rps", &rps)]);
        let condition = format!("\"{}\"", self.is_open());
        let mut more = vec![("where", condition.as_str()), ("order", &oldest), ("limit", "50")];
        if r.coin() {
            self.draft.set(&format!("index.{}", self.by_state), "project", "\"KEYS_ONLY\"");
            more.push(("hydrate", "true"));
        }
        self.pattern("work", &[], &[&records], &more);
    }

    fn record_writes(&mut self, r: &mut Random) {
        let (owner, record) = (self.owner.clone(), self.record.clone());
        let mut actions = vec![format!("create {record}")];
        if self.has(&self.part) {
            actions.push(format!("create {}*", self.part));
        }
        if self.has(&self.copy) {
            actions.push(format!("create {}", self.copy));
        }
        if self.draft.get(&format!("entity.{owner}"), "aggregates").is_some() {
            actions.push(format!("update {owner} set {}", self.attribute("recordCount")));
        }
        let rps = r.number(1, 20).to_string();
        if let [_] = &actions[..] {
            self.draft.add("write.place", &[("create", &format!("\"{record}\"")), ("rps", &rps)]);
        } else {
            self.draft.add("write.place", &[("transact", &list(&actions)), ("rps", &rps)]);
        }
        let [partition, sort] = self.index_keys(&self.by_state);
        let expression = format!("\"SET #{0} = :{0} REMOVE {partition}, {sort}\"", self.state);
        let condition = format!("\"#{} = :before\"", self.state);
        self.draft.add(
            "write.finish",
            &[
                ("update", &format!("\"{record}\"")),
                ("expression", &expression),
                ("condition", &condition),
                ("rps", &rps),
            ],
        );
    }
}

/// A TOML list of strings.
pub fn list<T: AsRef<str>>(values: &[T]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("\"{}\"", value.as_ref())).collect();
    format!("[{}]", quoted.join(", "))
}
