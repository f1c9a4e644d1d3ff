//! Random models: a parent, two kinds of children and a relationship between them, in a table with up to two global indexes, an index over plain attributes and a local
//! one, which may share generated key attributes, with random key templates, aggregates, conditions, projections, sizes and patterns. Many of their patterns are not served; those that are must keep their promise.

/// A generator of numbers, reproducible by its seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((number ^ (number >> 31)) % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }

    fn some<'a>(&mut self, texts: &[&'a str], percent: usize) -> Vec<&'a str> {
        texts.iter().copied().filter(|_| self.chance(percent)).collect()
    }
}

/// Partition keys of the child, in the table and in indexes.
const PARTITIONS: [&str; 10] = [
    "PARENT#{parentId}",
    "CHILD#{childId}",
    "STATUS#{status}",
    "KIND#{kind}#{parentId}",
    "STATUS#{status}#{shard}",
    "MONTH#{parentId}#{at:month}",
    "DAY#{day}",
    "ALL#{shard}",
    "FLAG#{flag}",
    "MONTH#{day:month}",
];
const SORTS: [&str; 13] = [
    "CHILD#{at}#{childId}",
    "CHILD#{childId}",
    "{at}#{childId}",
    "{rank:06}#{childId}",
    "CHILD#{day}#{childId}",
    "{status}#{at}#{childId}",
    "CHILD#{status}#{rank:06}#{childId}",
    "{kind}#{childId}",
    "{price:06.2}#{childId}",
    "CHILD#{childId}#{at}",
    "P#{parentId}#CHILD#{childId}",
    "{word}#{childId}",
    "CHILD#{word:escaped}#{childId}",
];
/// Sort keys of a visit, whose partition is its parent's: some are those of a child, written alike or not.
const VISITS: [&str; 9] = [
    "VISIT#{visitId}",
    "VISIT#{status}#{visitId}",
    "CHILD#{at}#{visitId}",
    "CHILD#{at}#V#{visitId}",
    "CHILD#{visitId}",
    "{at}#{visitId}",
    "{rank:06}#{visitId}",
    "{rank:08}#{visitId}",
    "P#{parentId}#VISIT#{at}#{visitId}",
];
/// The types of a time.
const TIMES: [&str; 4] = [
    "\"timestamp\"",
    "{ type = \"timestamp\", precision = \"minute\" }",
    "{ type = \"timestamp\", precision = \"second\" }",
    "{ type = \"timestamp\", precision = \"millisecond\" }",
];
/// The first three are about an attribute of all children.
const CONDITIONS: [&str; 12] = [
    "status == 'OPEN'",
    "status != 'DONE'",
    "status in ('OPEN', 'HELD')",
    "exists(note)",
    "not (status == 'DONE')",
    "status == 'OPEN' or kind == 'A'",
    "rank >= 500000",
    "status == 'OPEN' and exists(note)",
    "flag == true",
    "kind == 'A' and not exists(note)",
    "kind in ('A', 'B')",
    "day in ('2025-06-05', '2025-06-06', '2025-07-01')",
];
/// What selects the shard of a child.
const SELECTING: [&str; 6] =
    ["", "", "by = \"childId\", ", "by = \"childId\", ", "by = \"kind\", ", "by = \"status\", "];
/// The keys of the second index: its own, or with a key attribute of the first.
const SECOND: [&str; 5] = [
    "\"G2PK\", \"G2SK\"",
    "\"G2PK\", \"G2SK\"",
    "\"G1PK\", \"G2SK\"",
    "\"G1PK\", \"rank\"",
    "\"G2PK\", \"G1SK\"",
];
const PROJECTIONS: [&str; 5] =
    ["\"ALL\"", "\"ALL\"", "\"KEYS_ONLY\"", "[\"status\", \"rank\"]", "[\"type\", \"childId\", \"at\"]"];
/// The sizes of a child: as its attributes have it, and up to pages of a few items.
const SIZES: [&str; 6] = ["", "", ", bytes = 700", ", bytes = 5000", ", bytes = 30_000", ", bytes = 130_000"];
const BOUNDS: [&str; 3] = [
    "from = \"2026-01-05T00:00:00Z\", to = \"2026-02-20T23:59:59Z\"",
    "from = \"2025-11-10T00:00:00Z\", to = \"2026-03-01T00:00:00Z\"",
    "from = \"2026-01-01T00:00:00.000000Z\", to = \"2026-01-31T23:59Z\"",
];
/// The first three are attributes of all children.
const ORDERS: [&str; 7] = ["at", "rank", "status", "day", "price", "word", "kind"];
const INPUTS: [&str; 6] = ["parentId", "childId", "status", "kind", "day", "flag"];

/// Returns the text of a model.
pub fn text(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::from(
        "format = 1\n[table]\nname = \"Random\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n",
    );
    let indexes = random.below(3);
    let second = random.pick(&SECOND);
    for keys in ["\"G1PK\", \"G1SK\"", second].iter().take(indexes).enumerate() {
        let (number, project) = (keys.0 + 1, random.pick(&PROJECTIONS));
        text += &format!("[index.GSI{number}]\nkeys = [{}]\nproject = {project}\n", keys.1);
    }
    if indexes > 0 && random.chance(20) {
        text += "[index.BySort]\nlocal = true\nkeys = [\"PK\", \"G1SK\"]\n";
    }
    if random.chance(20) {
        text += "[index.ByLast]\nkeys = [\"region\", \"last\"]\n";
    }
    if random.chance(25) {
        text += "[index.ByRank]\nlocal = true\nkeys = [\"PK\", \"rank\"]\n";
        text += &format!("project = {}\n", random.pick(&PROJECTIONS));
    }
    if random.chance(25) {
        text += "[index.Plain]\nkeys = [[\"kind\", \"status\"], [\"day\", \"rank\"]]\n";
        text += &format!("project = {}\n", random.pick(&PROJECTIONS));
    }
    text += &parent(&mut random, indexes);
    text += &child(&mut random, indexes, second);
    text += &visit(&mut random, indexes);
    text += &edge(&mut random, indexes);
    text += "[pattern]\n";
    for number in 0..12 {
        text += &pattern(&mut random, number);
    }
    text += "last = { in = [\"region\"], out = \"Parent*\" }\n";
    if text.contains("aggregates = { last") {
        text += "latest = { in = [\"region\"], where = \"exists(last)\", order = \"last desc\", limit = 3, out = \"Parent*\" }\n";
    }
    text
}

/// Returns the text of such a model in which little shows where a value ends: one status is the start of another, what follows a value may be part of
/// it, and an index has attributes of several entities as its keys.
pub fn unclear(seed: u64) -> String {
    let pick = |texts: &[&'static str]| texts[seed as usize / 7 % texts.len()];
    let (sort, end) = (pick(&["status", "rank"]), pick(&["-", "", "ED#", " ", "::"]));
    let index = format!("[index.Shared]\nkeys = [\"parentId\", \"{sort}\"]\n[entity.Parent]");
    let several = format!("in = [\"parentId\", \"{sort}\"], out = [\"Child*\", \"Visit*\"]");
    text(seed)
        .replacen("[entity.Parent]", &index, 1)
        .replace("in = [\"parentId\"], out = [\"Child*\", \"Visit*\"]", &several)
        .replace("HELD", "OPENED")
        .replace("#{childId}\"", &format!("{end}{{childId}}\""))
}

/// Starts of sort keys that declared requests compare with.
const STARTS: [&str; 11] = [
    "",
    "CHILD#",
    "CHILD#2025",
    "OPEN#",
    "A#",
    "CHILD#OPEN#",
    "0",
    "{status}#",
    "5",
    "CHILD#OPEN#5",
    "CHILD#DONE#500000~",
];

/// Returns the text of a model whose patterns declare their requests, some of which return less than the pattern means.
pub fn declared(seed: u64) -> String {
    let mut random = Random(seed ^ 0xD0C5);
    let (home, other) = (random.pick(&PARTITIONS), random.pick(&PARTITIONS));
    let (sort, other_sort) = (random.pick(&SORTS), random.pick(&SORTS));
    let when =
        if random.chance(40) { format!(", when = \"{}\"", random.pick(&CONDITIONS)) } else { String::new() };
    let mut text = format!(
        "format = 1\n[table]\nname = \"Random\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n\
         [index.GSI1]\nkeys = [\"G1PK\", \"G1SK\"]\n\
         [entity.Child]\nattributes = {{ childId = \"ulid\", parentId = \"id\", at = \"timestamp\", day = \"date\", \
         status = \"OPEN|HELD|DONE\", kind = \"A|B\", rank = \"int\", price = \"decimal\", flag = \"bool\", word = \"Ann|Ann Lee|Anna|Ann!\", note = \"string?\" }}\n\
         key = [\"{home}\", \"{sort}\"]\nshard = {{ by = \"childId\", count = 3 }}\nexpect = {{ count = 160 }}\n\
         index.GSI1 = {{ key = [\"{other}\", \"{other_sort}\"]{when} }}\n[pattern]\n"
    );
    for number in 0..10 {
        let (index, keys, partition) = match random.chance(50) {
            true => ("", ["PK", "SK"], home),
            false => ("index = \"GSI1\", ", ["G1PK", "G1SK"], other),
        };
        // A constant in the place of a field, now and then.
        let constant = [
            ("{status}", "OPEN"),
            ("{shard}", "1"),
            ("{kind}", "A"),
            ("{at:month}", "2025-06"),
            ("{flag}", "true"),
        ];
        let asked = match random.chance(30) {
            true => {
                constant.iter().fold(partition.to_owned(), |key, (field, value)| key.replace(field, value))
            }
            false => partition.to_owned(),
        };
        let condition = match (random.pick(&STARTS), random.below(4)) {
            ("", _) | (_, 0) => String::new(),
            (start, 1) => format!(" AND {} BETWEEN '{start}' AND '{start}~'", keys[1]),
            (start, 2) => format!(" AND {} >= '{start}'", keys[1]),
            (start, _) => format!(" AND begins_with({}, '{start}')", keys[1]),
        };
        let mut fields: Vec<String> = Vec::new();
        let inputs: Vec<&str> = INPUTS
            .into_iter()
            .filter(|input| format!("{asked}{condition}").contains(&format!("{{{input}}}")))
            .collect();
        fields.push(format!("in = [{}], out = \"Child*\"", quoted(&inputs)));
        if random.chance(40) {
            let one = random.pick(&CONDITIONS);
            let condition = match random.below(4) {
                0 | 1 => format!("({one}) and ({})", random.pick(&CONDITIONS)),
                2 => format!("({one}) or ({})", random.pick(&CONDITIONS)),
                _ => one.to_owned(),
            };
            fields.push(format!("where = \"{condition}\""));
        }
        if random.chance(30) {
            fields.push(format!("order = \"{} asc\"", random.pick(&ORDERS)));
        }
        let filter = match random.chance(30) {
            true => format!(", filter = \"{}\"", random.pick(&CONDITIONS)),
            false => String::new(),
        };
        fields.push(format!(
            "request = {{ {index}condition = \"{} = '{asked}'{condition}\"{filter} }}",
            keys[0]
        ));
        text += &format!("p{number} = {{ {} }}\n", fields.join(", "));
    }
    text
}

/// Returns the text of a model whose patterns test two attributes, with requests that bound one of them, some too narrowly.
pub fn bounded(seed: u64) -> String {
    let mut random = Random(seed ^ 0xB0D5);
    let mut text = String::from(
        "format = 1\n[table]\nname = \"Random\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n\
         [entity.Child]\nattributes = { childId = \"ulid\", status = \"OPEN|HELD|DONE\", rank = { type = \"int\", min = 0, max = 20 } }\n\
         key = [\"STATUS#{status}\", \"{rank:02}#{childId}\"]\nidentity = \"childId\"\nexpect = { count = 160 }\n[pattern]\n",
    );
    for number in 0..12 {
        let status = random.pick(&["OPEN", "HELD", "DONE"]);
        let (meant, least) = (random.pick(&[">=", ">"]), 5 + random.below(5));
        let (read, end) = (random.pick(&[">=", ">"]), random.pick(&["", "~", "#~"]));
        let bound = least + random.below(3) - 1;
        text += &format!(
            "p{number} = {{ where = \"status == '{status}' and rank {meant} {least}\", out = \"Child*\", \
             request = {{ condition = \"PK = 'STATUS#{status}' AND SK {read} '{bound:02}{end}'\" }} }}\n"
        );
    }
    text
}

fn parent(random: &mut Random, indexes: usize) -> String {
    let sort = random.pick(&[
        "PARENT#{parentId}",
        "PROFILE",
        "CHILD",
        "P#{parentId}",
        "P#{parentId}#SUMMARY",
        "ZZZ",
    ]);
    let mut text = format!(
        "[entity.Parent]\nattributes = {{ parentId = \"ulid\", name = \"string\", region = \"id\" }}\n\
         key = [\"PARENT#{{parentId}}\", \"{sort}\"]\nexpect = {{ count = 12 }}\n"
    );
    if random.chance(40) {
        text += random.pick(&[
            "aggregates = { last = \"max Visit.rank\" }\n",
            "aggregates = { last = \"count Visit where status == 'OPEN'\" }\n",
        ]);
    }
    if indexes > 0 && random.chance(40) {
        text += "index.GSI1 = { key = [\"REGION#{region}\", \"PARENT#{parentId}\"] }\n";
    }
    text
}

fn child(random: &mut Random, indexes: usize, second: &str) -> String {
    let (partition, sort) = (random.pick(&PARTITIONS), random.pick(&SORTS));
    let mut text = format!(
        "[entity.Child]\nattributes = {{ childId = \"ulid\", parentId = \"ulid\", at = {}, day = \"date\", \
         status = \"OPEN|HELD|DONE\", kind = \"A|B\", rank = \"int\", price = \"decimal\", flag = \"bool\", word = \"Ann|Ann Lee|Anna|Ann!\", note = \"string?\", body = \"string\" }}\n\
         key = [\"{partition}\", \"{sort}\"]\nshard = {{ {}count = 3 }}\nexpect = {{ per = \"Parent\", average = 8, max = 60{} }}\n",
        random.pick(&TIMES),
        random.pick(&SELECTING),
        random.pick(&SIZES)
    );
    let (first, last) = (random.pick(&PARTITIONS), random.pick(&SORTS));
    for number in 1..=indexes {
        if random.chance(85) {
            // An attribute has one value, for whichever index.
            let is_shared = |name: &str| number == 1 || second.contains(name);
            let own = (random.pick(&PARTITIONS), random.pick(&SORTS));
            let partition = if is_shared("G1PK") { first } else { own.0 };
            let sort = if is_shared("G1SK") { last } else { own.1 };
            let sort = if number == 2 && second.contains("rank") { "{rank}" } else { sort };
            let when = match random.chance(45) {
                true => format!(", when = \"{}\"", random.pick(&CONDITIONS)),
                false => String::new(),
            };
            text += &format!("index.GSI{number} = {{ key = [\"{partition}\", \"{sort}\"]{when} }}\n");
        }
    }
    text
}

fn visit(random: &mut Random, indexes: usize) -> String {
    let mut text = format!(
        "[entity.Visit]\nattributes = {{ visitId = \"ulid\", parentId = \"ulid\", at = {}, status = \"OPEN|HELD|DONE\", rank = \"int\" }}\n\
         key = [\"PARENT#{{parentId}}\", \"{}\"]\nexpect = {{ per = \"Parent\", average = 6, max = 30 }}\n",
        random.pick(&TIMES),
        random.pick(&VISITS)
    );
    if indexes > 0 && random.chance(60) {
        let (partition, sort) =
            (random.pick(&["STATUS#{status}", "PARENT#{parentId}"]), random.pick(&VISITS));
        text += &format!("index.GSI1 = {{ key = [\"{partition}\", \"{sort}\"] }}\n");
    }
    text
}

fn edge(random: &mut Random, indexes: usize) -> String {
    let mut text = String::from(
        "[entity.Link]\nattributes = { parentId = \"ulid\", childId = \"ulid\", since = \"timestamp\" }\n\
         edge = [\"parentId\", \"childId\"]\nkey = [\"PARENT#{parentId}\", \"LINK#{childId}\"]\n\
         expect = { per = \"Parent\", average = 5, max = 40 }\n",
    );
    if indexes > 0 && random.chance(70) {
        text += "index.GSI1 = { key = [\"CHILD#{childId}\", \"LINK#{parentId}\"] }\n";
    }
    text
}

fn pattern(random: &mut Random, number: usize) -> String {
    let (out, via) = match random.below(17) {
        0 => ("\"Parent\"", None),
        1 => ("[\"Parent\", \"Child*\"]", None),
        2 => ("\"Link*\"", None),
        3 => ("\"Child*\"", Some("Link")),
        4 => ("\"Parent*\"", Some("Link")),
        5 => ("\"Child\"", None),
        6 => ("[\"Child*\", \"Visit*\"]", None),
        7 => ("[\"Parent\", \"Visit*\"]", None),
        8 => ("[\"Parent\", \"Child*\", \"Visit*\"]", None),
        9 => ("[\"Child\", \"Visit*\"]", None),
        10 => ("[\"Visit*\", \"Parent\"]", None),
        11 => ("\"Visit*\"", None),
        _ => ("\"Child*\"", None),
    };
    // Several entities have little in common but their parent; what none of them has is no pattern.
    let has_child = out.contains("Child") || via.is_some();
    let inputs = match out.starts_with('[') && random.chance(75) {
        true => vec!["parentId"],
        false if has_child => random.some(&INPUTS, 30),
        false => random.some(&["parentId", "status"], 60),
    };
    let (orders, conditions) =
        if has_child { (&ORDERS[..], &CONDITIONS[..]) } else { (&ORDERS[..3], &CONDITIONS[..3]) };
    let mut fields = vec![format!("in = [{}]", quoted(&inputs)), format!("out = {out}")];
    fields.extend(via.map(|via| format!("via = \"{via}\"")));
    if out.contains(['C', 'V']) && out.contains('*') {
        if random.chance(40) {
            let by = random.pick(orders);
            fields.push(format!("order = \"{by} {}\"", random.pick(&["asc", "desc"])));
        }
        if random.chance(25) {
            let by = random.pick(orders);
            fields.push(match by {
                "at" if random.chance(50) => format!("range = {{ by = \"at\", {} }}", random.pick(&BOUNDS)),
                by => format!("range = \"{by}\""),
            });
        }
        if random.chance(35) {
            fields.push(format!("where = \"{}\"", random.pick(conditions)));
        }
        if random.chance(30) {
            fields.push(format!("limit = {}", 1 + random.below(12)));
        }
        if random.chance(60) {
            fields.push("hydrate = true".to_owned());
        }
        if random.chance(10) {
            fields.push("consistency = \"strong\"".to_owned());
        }
    }
    format!("p{number} = {{ {} }}\n", fields.join(", "))
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}
