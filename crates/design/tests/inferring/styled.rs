//! Random models without a mistake, in many styles of keys.

use super::draft::Random;

/// How the keys of a model are written.
#[derive(Clone, Debug)]
pub struct Style {
    /// Between a word and a value.
    mark: &'static str,
    /// Between values.
    inner: &'static str,
    /// How words are written: `ORDER`, `order`, `Order`, `o`.
    case: u64,
    /// Whether the word follows the value: `7#ORDER`.
    is_word_last: bool,
    id: &'static str,
    /// The type of times, and the format in which keys have them.
    time: (&'static str, &'static str),
    tenant: Option<&'static str>,
    keys: [&'static str; 2],
}

/// A model and how it is inferred again.
pub struct Styled {
    /// The text of the model.
    pub text: String,
    /// Attributes that items lack, because only keys contain their values.
    pub is_hidden: bool,
    /// Whether the indexes of the table are known.
    pub knows_indexes: bool,
}

const MARKS: [&str; 9] = ["#", "#", "|", ":", "/", "_", "-", ".", ""];
const INNER: [&str; 5] = ["#", "|", "~", "#", "same"];
const TIMES: [(&str, &str); 6] = [
    ("{ type = \"timestamp\", precision = \"second\" }", ""),
    ("{ type = \"timestamp\", precision = \"millisecond\" }", ""),
    ("\"date\"", ""),
    ("{ type = \"int\", min = 1700000000, max = 1799999999 }", ":010"),
    ("{ type = \"int\", min = 1700000000000, max = 1799999999999 }", ":013"),
    ("{ type = \"timestamp\", precision = \"second\" }", ""),
];
const IDS: [&str; 5] = ["ulid", "uuid", "id", "ksuid", "ulid"];
const OWNERS: [&str; 5] = ["User", "Customer", "Device", "Account", "Team"];
const RECORDS: [&str; 5] = ["Order", "Post", "Invoice", "Session", "Ticket"];
const PARTS: [&str; 4] = ["Line", "Comment", "Page", "Reply"];
const TARGETS: [&str; 4] = ["Group", "Project", "Role", "Venue"];

impl Style {
    fn new(r: &mut Random) -> Style {
        let mark = r.choose(&MARKS);
        let inner = match r.choose(&INNER) {
            "same" => mark,
            other => other,
        };
        let is_word_last = !mark.is_empty() && r.number(0, 5) == 0;
        let inner = if is_word_last { mark } else { inner };
        // Without a separator only values of a fixed width can be told from the word before them.
        let id = if mark.is_empty() { r.choose(&IDS[..2]) } else { r.choose(&IDS) };
        let number = |r: &mut Random, count: usize| r.number(0, count as u64 - 1) as usize;
        let keys = [["PK", "SK"], ["pk", "sk"], ["hk", "rk"], ["PartitionKey", "SortKey"]];
        Style {
            mark,
            inner,
            case: r.number(0, 3),
            is_word_last,
            id,
            time: TIMES[number(r, TIMES.len())],
            tenant: (r.number(0, 4) == 0).then(|| r.choose(&["TENANT", "t", "org"])),
            keys: keys[number(r, keys.len())],
        }
    }

    fn word(&self, name: &str) -> String {
        match self.case {
            0 => name.to_uppercase(),
            1 => name.to_lowercase(),
            2 => name.to_owned(),
            _ => name.to_lowercase().chars().take(2).collect(),
        }
    }

    /// A word with values.
    fn key(&self, name: &str, fields: &[&str]) -> String {
        let fields: Vec<String> = fields.iter().map(|field| format!("{{{field}}}")).collect();
        let (word, values) = (self.word(name), fields.join(self.inner));
        if self.is_word_last {
            format!("{values}{}{word}", self.mark)
        } else {
            format!("{word}{}{values}", self.mark)
        }
    }

    /// A partition key, which starts with the tenant if there is one.
    fn home(&self, name: &str, fields: &[&str]) -> String {
        let key = self.key(name, fields);
        match self.tenant {
            Some(tenant) => {
                format!("{tenant}{0}{{tenantId}}{0}{key}", if self.mark.is_empty() { "#" } else { self.mark })
            }
            None => key,
        }
    }

    fn tenant_attribute(&self) -> &'static str {
        if self.tenant.is_some() { "tenantId = \"uuid\", " } else { "" }
    }
}

fn id_of(entity: &str) -> String {
    format!("{}Id", entity.to_lowercase())
}

/// Adds entities to a model, whose owner and record are given, and whether the table has an index by identifiers.
type More = fn(&mut Random, &Style, [&str; 2], bool) -> String;

/// A table of several entities.
pub fn shared(seed: u64) -> Styled {
    let mut random = Random(seed);
    let r = &mut random;
    let style = Style::new(r);
    let (owner, record) = (r.choose(&OWNERS), r.choose(&RECORDS));
    let kind = if r.coin() { "type_attribute = \"EntityType\"\n" } else { "" };
    let [partition, sort] = style.keys;
    let mut text =
        format!("format = 1\n[table]\nname = \"Data\"\nkeys = [\"{partition}\", \"{sort}\"]\n{kind}");
    let indexes: [(bool, &str); 3] = [
        (r.coin(), "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n"),
        (r.coin(), "[index.GSI2]\nkeys = [\"GSI2PK\", \"GSI2SK\"]\n"),
        (r.number(0, 3) == 0, "[index.byRegion]\nkeys = [\"region\", \"at\"]\n"),
    ];
    indexes.iter().filter(|(has, _)| *has).for_each(|(_, index)| text += index);
    let has_local = r.number(0, 4) == 0;
    if has_local {
        text += &format!("[index.byAmount]\nlocal = true\nkeys = [\"{partition}\", \"amount\"]\n");
    }
    let [by_id, by_state, _] = indexes.map(|(has, _)| has);
    text += &owner_entity(r, &style, owner);
    text += &record_entity(r, &style, [owner, record], [by_id, by_state]);
    let parts: [More; 5] = [part, edge, version, reading, copy];
    for part in parts {
        if r.number(0, 2) == 0 {
            text += &part(r, &style, [owner, record], by_id);
        }
    }
    let knows_indexes = text.contains("byRegion") || has_local || r.coin();
    Styled { text, is_hidden: r.number(0, 2) == 0, knows_indexes }
}

fn owner_entity(r: &mut Random, style: &Style, owner: &str) -> String {
    let id = id_of(owner);
    let home = style.home(owner, &[&id]);
    let sort = match r.number(0, 3) {
        0 => style.key(owner, &[&id]),
        1 => "PROFILE".to_owned(),
        2 => "metadata".to_owned(),
        _ => "#META".to_owned(),
    };
    let unique = if r.number(0, 3) == 0 { "unique = [\"email\"]\n" } else { "" };
    format!(
        "[entity.{owner}]\nattributes = {{ {}{id} = \"{}\", name = \"string\", email = \"string\", version = \"int\" }}\n\
         key = [\"{home}\", \"{sort}\"]\n{unique}expect = {{ count = 40 }}\n",
        style.tenant_attribute(),
        style.id
    )
}

fn record_entity(r: &mut Random, style: &Style, [owner, record]: [&str; 2], has: [bool; 2]) -> String {
    let (owner_id, id) = (id_of(owner), id_of(record));
    let time = format!("at{}", style.time.1);
    let sort = match r.number(0, 2) {
        0 => style.key(record, &[&id]),
        1 => format!("{{{time}}}{}{{{id}}}", if style.inner.is_empty() { "#" } else { style.inner }),
        _ => style.key(record, &[&time, &id]),
    };
    let region = if r.coin() { "region = \"north|south|east\", " } else { "region = \"id\", " };
    let mut text = format!(
        "[entity.{record}]\nattributes = {{ {}{id} = \"{2}\", {owner_id} = \"{2}\", at = {1}, state = \"OPEN|HELD|DONE\", {region}\
         amount = \"int\", note = \"string?\" }}\nkey = [\"{3}\", \"{sort}\"]\nexpect = {{ per = \"{owner}\", average = 4, max = 20 }}\n",
        style.tenant_attribute(),
        style.time.0,
        style.id,
        style.home(owner, &[&owner_id]),
    );
    if has[0] {
        let own = style.home(record, &[&id]);
        let other = if r.coin() { own.clone() } else { format!("{{{time}}}") };
        text += &format!("index.GSI1 = {{ key = [\"{own}\", \"{other}\"] }}\n");
    }
    if has[1] {
        let shard = if r.number(0, 2) == 0 { format!("{}{{shard}}", style.inner) } else { String::new() };
        let when =
            ["", ", when = \"state == 'OPEN'\"", ", when = \"state != 'DONE'\"", ", when = \"exists(note)\""]
                [r.number(0, 3) as usize];
        let shards = if shard.is_empty() { "" } else { ", shard = { count = 3 }" };
        text += &format!(
            "index.GSI2 = {{ key = [\"{}{shard}\", \"{{{time}}}{}{{{id}}}\"]{when}{shards} }}\n",
            style.home("State", &["state"]),
            if style.inner.is_empty() { "#" } else { style.inner },
        );
    }
    text
}

fn part(r: &mut Random, style: &Style, [_, record]: [&str; 2], _: bool) -> String {
    let (name, id) = (r.choose(&PARTS), id_of(record));
    let width = r.number(3, 6);
    format!(
        "[entity.{name}]\nattributes = {{ {}{id} = \"{}\", number = {{ type = \"int\", min = 0, max = {} }}, content = \"string\" }}\n\
         identity = [\"{id}\", \"number\"]\nkey = [\"{}\", \"{}\"]\nexpect = {{ per = \"{record}\", average = 2, max = 9 }}\n",
        style.tenant_attribute(),
        style.id,
        10_u64.pow(width as u32) - 1,
        style.home(record, &[&id]),
        style.key(name, &[&format!("number:0{width}")]),
    )
}

fn edge(r: &mut Random, style: &Style, [owner, _]: [&str; 2], by_id: bool) -> String {
    let name = r.choose(&TARGETS);
    let (from, to) = (id_of(owner), id_of(name));
    let tenant = style.tenant_attribute();
    let index = match by_id {
        true => format!(
            "index.GSI1 = {{ key = [\"{}\", \"{}\"] }}\n",
            style.home(name, &[&to]),
            style.key(owner, &[&from])
        ),
        false => String::new(),
    };
    format!(
        "[entity.{name}]\nattributes = {{ {tenant}{to} = \"{id}\", title = \"string\" }}\nkey = [\"{home}\", \"{home}\"]\nexpect = {{ count = 25 }}\n\
         [entity.Member]\nattributes = {{ {tenant}{from} = \"{id}\", {to} = \"{id}\", since = \"date\" }}\nedge = [\"{from}\", \"{to}\"]\n\
         key = [\"{owner}\", \"{sort}\"]\n{index}expect = {{ per = \"{owner_name}\", average = 3, max = 9 }}\n",
        id = style.id,
        home = style.home(name, &[&to]),
        owner = style.home(owner, &[&from]),
        owner_name = owner,
        sort = style.key(name, &[&to]),
    )
}

fn version(_: &mut Random, style: &Style, _: [&str; 2], _: bool) -> String {
    format!(
        "[entity.Draft]\nattributes = {{ {}draftId = \"{}\", revision = {{ type = \"int\", min = 1, max = 99999 }}, body = \"string\" }}\n\
         identity = [\"draftId\", \"revision\"]\nversions = \"revision\"\nkey = [\"{}\", \"{}\"]\nexpect = {{ count = 60 }}\n",
        style.tenant_attribute(),
        style.id,
        style.home("Draft", &["draftId"]),
        style.key("V", &["revision:05"]),
    )
}

fn reading(r: &mut Random, style: &Style, _: [&str; 2], _: bool) -> String {
    let day = if style.time.0.contains("timestamp") { vec!["sensorId", "at:day"] } else { vec!["sensorId"] };
    let shard = r.coin();
    let fields: Vec<&str> = day.into_iter().chain(shard.then_some("shard")).collect();
    format!(
        "[entity.Reading]\nattributes = {{ {}sensorId = \"{}\", at = {}, value = \"decimal\" }}\nidentity = [\"sensorId\", \"at\"]\n{}\
         key = [\"{}\", \"{{at{}}}\"]\nexpect = {{ count = 80 }}\n",
        style.tenant_attribute(),
        style.id,
        style.time.0,
        if shard { "shard = { by = \"at\", count = 4 }\n" } else { "" },
        style.home("Sensor", &fields),
        style.time.1
    )
}

fn copy(_: &mut Random, style: &Style, [_, record]: [&str; 2], _: bool) -> String {
    let id = id_of(record);
    format!(
        "[entity.{record}Card]\nattributes = {{ {}{id} = \"{}\", amount = \"int\" }}\ncopies = \"{record}\"\n\
         key = [\"{}\", \"{}\"]\n",
        style.tenant_attribute(),
        style.id,
        style.home(&format!("{record}Card"), &[&id]),
        style.word("card"),
    )
}

/// A table of one entity, with keys that have a meaning, numbers, or one key only.
pub fn alone(seed: u64) -> Styled {
    let mut random = Random(seed);
    let r = &mut random;
    let (kind, _) = TIMES[r.number(0, 5) as usize];
    let id = r.choose(&["ulid", "uuid", "id", "int"]);
    let word = r.choose(&["dev#", "DEVICE|", "d:", ""]);
    let (keys, key) = match r.number(0, 4) {
        0 => ("[\"deviceId\", \"createdAt\"]".to_owned(), "[\"{deviceId}\", \"{createdAt}\"]".to_owned()),
        1 => ("[\"PK\", \"createdAt\"]".to_owned(), format!("[\"{word}{{deviceId}}\", \"{{createdAt}}\"]")),
        2 => ("[\"deviceId\"]".to_owned(), "[\"{deviceId}\"]".to_owned()),
        3 => ("[\"id\"]".to_owned(), "[\"{id}\"]".to_owned()),
        _ => ("[\"pk\"]".to_owned(), format!("[\"{word}{{deviceId}}\"]")),
    };
    let identity = if key.contains("createdAt") { "identity = [\"deviceId\", \"createdAt\"]\n" } else { "" };
    let id_name = if key.contains("{id}") { "id" } else { "deviceId" };
    let index = r.coin();
    let mut text = format!("format = 1\n[table]\nname = \"Devices\"\nkeys = {keys}\n");
    if index {
        text += "[index.byState]\nkeys = [\"state\", \"at\"]\n";
    }
    text += &format!(
        "[entity.Device]\nattributes = {{ {id_name} = \"{id}\", createdAt = {kind}, state = \"ON|OFF\", at = {kind}, site = \"string\" }}\n\
         key = {key}\n{identity}expect = {{ count = 90 }}\n"
    );
    if index {
        text += "index.byState = { key = [\"{state}\", \"{at}\"] }\n";
    }
    Styled { text, is_hidden: false, knows_indexes: true }
}
