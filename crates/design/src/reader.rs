//! TOML in, a model out, or every mistake with its place and what to do.

use crate::condition::Condition;
use crate::finding::{Finding, Severity, closest};
use crate::model::{
    Action, Allow, Attribute, Bounds, Context, Entity, Expect, FORMAT, Index, Indexed, Model, Order, Pattern,
    Projection, Request, Shard, Table, Target, Verb, Write,
};
use crate::source::{Source, Span};
use crate::template::{SHARD, Template};
use crate::value_type::ValueType;
use toml_edit::{Document, Item, TableLike};

/// Reads a model; the findings are errors in its text.
pub fn read(source: &Source) -> Result<Model, Vec<Finding>> {
    let document = Document::parse(source.text.as_str()).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        vec![
            Finding::new("P001", Severity::Error, "file", &span)
                .says(format!("this is not TOML: {}", error.message()))
                .helps("correct the syntax; https://toml.io describes it"),
        ]
    })?;
    let mut reader = Reader { findings: Vec::new() };
    let model = reader.model(document.as_table());
    if reader.findings.is_empty() {
        crate::reference::check(&model, &mut reader.findings);
    }
    if reader.findings.is_empty() { Ok(model) } else { Err(reader.findings) }
}

struct Reader {
    findings: Vec<Finding>,
}

/// A table with the name under which messages speak of it.
struct Section<'a> {
    table: &'a dyn TableLike,
    subject: String,
    span: Span,
}

impl<'a> Section<'a> {
    fn get(&self, key: &str) -> Option<&'a Item> {
        self.table.get(key).filter(|item| !item.is_none())
    }

    /// Where a key or its value stands.
    fn span_of(&self, key: &str) -> Span {
        let value = self.get(key).and_then(Item::span);
        let name = || self.table.key(key).and_then(toml_edit::Key::span);
        value.or_else(name).unwrap_or_else(|| self.span.clone())
    }
}

impl Reader {
    fn fail(&mut self, code: &'static str, section: &Section<'_>, span: &Span, message: String, help: &str) {
        self.findings
            .push(Finding::new(code, Severity::Error, &section.subject, span).says(message).helps(help));
    }

    /// Every key must be one of `known`.
    fn only(&mut self, section: &Section<'_>, known: &[&str]) {
        for (key, item) in section.table.iter() {
            if item.is_none() || known.contains(&key) {
                continue;
            }
            let place = section.table.key(key).and_then(toml_edit::Key::span);
            let span = place.unwrap_or_else(|| section.span.clone());
            let help = match closest(key, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            self.fail("P002", section, &span, format!("`{key}` is not known in {}", section.subject), &help);
        }
    }

    fn wrong(&mut self, section: &Section<'_>, key: &str, wanted: &str, example: &str) {
        let span = section.span_of(key);
        self.fail(
            "P002",
            section,
            &span,
            format!("`{key}` must be {wanted}"),
            &format!("for example {key} = {example}"),
        );
    }

    fn text(&mut self, section: &Section<'_>, key: &str) -> Option<String> {
        let item = section.get(key)?;
        let text = item.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong(section, key, "a text", "\"name\"");
        }
        text
    }

    fn required(&mut self, section: &Section<'_>, key: &str, example: &str) -> String {
        if section.get(key).is_none() {
            let message = format!("{} needs `{key}`", section.subject);
            self.fail("P002", section, &section.span.clone(), message, &format!("add {key} = {example}"));
        }
        self.text(section, key).unwrap_or_default()
    }

    fn flag(&mut self, section: &Section<'_>, key: &str) -> bool {
        let Some(item) = section.get(key) else { return false };
        item.as_bool().unwrap_or_else(|| {
            self.wrong(section, key, "true or false", "true");
            false
        })
    }

    fn number(&mut self, section: &Section<'_>, key: &str) -> Option<f64> {
        let item = section.get(key)?;
        let number = item.as_float().or_else(|| item.as_integer().map(|whole| whole as f64));
        let number = number.filter(|number| *number >= 0.0 && number.is_finite());
        if number.is_none() {
            self.wrong(section, key, "a number that is not negative", "100");
        }
        number
    }

    fn whole(&mut self, section: &Section<'_>, key: &str) -> Option<u64> {
        let item = section.get(key)?;
        let number = item.as_integer().and_then(|number| u64::try_from(number).ok()).filter(|n| *n > 0);
        if number.is_none() {
            self.wrong(section, key, "a whole number above zero", "1_000_000");
        }
        number
    }

    /// A list of texts; one text stands for a list of one.
    fn texts(&mut self, section: &Section<'_>, key: &str) -> Vec<String> {
        let Some(item) = section.get(key) else { return Vec::new() };
        if let Some(one) = item.as_str() {
            return vec![one.to_owned()];
        }
        let texts = item
            .as_array()
            .and_then(|array| array.iter().map(|value| value.as_str().map(str::to_owned)).collect());
        texts.unwrap_or_else(|| {
            self.wrong(section, key, "a list of texts", "[\"userId\"]");
            Vec::new()
        })
    }

    fn choice(&mut self, section: &Section<'_>, key: &str, choices: &[&str]) -> Option<String> {
        let text = self.text(section, key)?;
        if choices.contains(&text.as_str()) {
            return Some(text);
        }
        self.wrong(section, key, &format!("one of {}", choices.join(", ")), &format!("\"{}\"", choices[0]));
        None
    }

    fn condition(&mut self, section: &Section<'_>, key: &str) -> Condition {
        let Some(text) = self.text(section, key) else { return Condition::default() };
        Condition::parse(&text).unwrap_or_else(|message| {
            let span = section.span_of(key);
            self.fail("P005", section, &span, message, "several parts are joined by `and`");
            Condition::default()
        })
    }

    fn templates(&mut self, section: &Section<'_>, key: &str) -> Vec<Template> {
        let texts = self.texts(section, key);
        let spans: Vec<Span> = section
            .get(key)
            .and_then(Item::as_array)
            .map(|array| array.iter().filter_map(toml_edit::Value::span).collect())
            .unwrap_or_default();
        let whole = section.span_of(key);
        let mut templates = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            match Template::parse(text) {
                Ok(template) => templates.push(template),
                Err(error) => {
                    let start = spans.get(number).map_or(whole.start, |span| span.start + 1 + error.at);
                    let help = "a template is text with fields in braces: ORDER#{createdAt}#{orderId}";
                    self.fail("P004", section, &(start..start + 1), error.message, help);
                }
            }
        }
        templates
    }

    /// The tables below `[name.…]`, in the order of the file.
    fn sections<'a>(&mut self, root: &Section<'a>, name: &str) -> Vec<(String, Section<'a>)> {
        let Some(item) = root.get(name) else { return Vec::new() };
        let Some(table) = item.as_table_like() else {
            self.wrong(root, name, "a table", "{ }");
            return Vec::new();
        };
        let mut sections = Vec::new();
        for (key, item) in table.iter() {
            let place = table.key(key).and_then(toml_edit::Key::span).or_else(|| item.span());
            let span = place.unwrap_or_default();
            let subject = format!("{name}.{key}");
            match item.as_table_like() {
                Some(table) => sections.push((key.to_owned(), Section { table, subject, span })),
                None => self.findings.push(
                    Finding::new("P002", Severity::Error, &subject, &span)
                        .says(format!("{subject} must be a table"))
                        .helps(format!("write {key} = {{ … }} or [{subject}]")),
                ),
            }
        }
        sections.sort_by_key(|(_, section)| section.span.start);
        sections
    }

    /// A table below a section.
    fn inner<'a>(&mut self, section: &Section<'a>, key: &str) -> Option<Section<'a>> {
        let item = section.get(key)?;
        let span = section.span_of(key);
        match item.as_table_like() {
            Some(table) => Some(Section { table, subject: section.subject.clone(), span }),
            None => {
                self.wrong(section, key, "a table", "{ … }");
                None
            }
        }
    }

    fn model(&mut self, table: &dyn TableLike) -> Model {
        let root = Section { table, subject: "the model".to_owned(), span: 0..1 };
        self.only(
            &root,
            &["format", "table", "context", "index", "entity", "pattern", "write", "allow", "about"],
        );
        match root.get("format").map(Item::as_integer) {
            Some(Some(FORMAT)) => {}
            Some(_) => {
                let span = root.span_of("format");
                let message = format!("this program reads format {FORMAT}");
                self.fail("P002", &root, &span, message, "write format = 1");
            }
            None => {
                let message = "the model does not say which format it has".to_owned();
                self.fail("P002", &root, &(0..1), message, "add format = 1 as the first line");
            }
        }
        let mut model = Model { table: self.table(&root), ..Model::default() };
        model.context = self.context(&root);
        for (name, section) in self.sections(&root, "index") {
            let index = self.index(name, &section);
            model.indexes.push(index);
        }
        for (name, section) in self.sections(&root, "entity") {
            let entity = self.entity(name, &section, &model);
            model.entities.push(entity);
        }
        for (name, section) in self.sections(&root, "pattern") {
            let pattern = self.pattern(name, &section);
            model.patterns.push(pattern);
        }
        for (name, section) in self.sections(&root, "write") {
            let write = self.write(name, &section);
            model.writes.push(write);
        }
        model.allows = self.allows(&root);
        model
    }

    fn table(&mut self, root: &Section<'_>) -> Table {
        let Some(mut section) = self.inner(root, "table") else {
            let message = "the model has no [table]".to_owned();
            self.fail(
                "P002",
                root,
                &(0..1),
                message,
                "add [table] with name = \"…\" and keys = [\"PK\", \"SK\"]",
            );
            return Table::default();
        };
        section.subject = "table".to_owned();
        self.only(&section, &["name", "keys", "type_attribute", "tenant", "ttl", "about"]);
        let keys = self.texts(&section, "keys");
        if keys.is_empty() || keys.len() > 2 {
            self.wrong(&section, "keys", "one or two attribute names", "[\"PK\", \"SK\"]");
        }
        Table {
            name: self.required(&section, "name", "\"Shop\""),
            keys,
            type_attribute: self.text(&section, "type_attribute"),
            tenant: self.text(&section, "tenant"),
            ttl: self.text(&section, "ttl"),
            span: section.span.clone(),
        }
    }

    fn context(&mut self, root: &Section<'_>) -> Context {
        let Some(mut section) = self.inner(root, "context") else { return Context::default() };
        section.subject = "context".to_owned();
        self.only(&section, &["team", "patterns", "life", "about"]);
        let team = self.choice(&section, "team", &["experienced", "new"]);
        let patterns = self.choice(&section, "patterns", &["known", "unknown"]);
        let life = self.choice(&section, "life", &["long", "short"]);
        Context {
            team_is_new: team.as_deref() == Some("new"),
            patterns_are_unknown: patterns.as_deref() == Some("unknown"),
            life_is_short: life.as_deref() == Some("short"),
            span: section.span,
        }
    }

    fn index(&mut self, name: String, section: &Section<'_>) -> Index {
        self.only(section, &["keys", "project", "local", "about"]);
        let keys = self.texts(section, "keys");
        if keys.is_empty() || keys.len() > 2 {
            self.wrong(section, "keys", "one or two attribute names", "[\"GSI1PK\", \"GSI1SK\"]");
        }
        let project = match section.get("project") {
            None => Projection::All,
            Some(item) => match item.as_str() {
                Some("ALL") => Projection::All,
                Some("KEYS_ONLY") => Projection::KeysOnly,
                Some(_) => {
                    self.wrong(
                        section,
                        "project",
                        "\"ALL\", \"KEYS_ONLY\" or a list of attributes",
                        "\"ALL\"",
                    );
                    Projection::All
                }
                None => Projection::Include(self.texts(section, "project")),
            },
        };
        let local = self.flag(section, "local");
        Index { name, local, keys, project, span: section.span.clone() }
    }

    fn entity(&mut self, name: String, section: &Section<'_>, model: &Model) -> Entity {
        let known = [
            "attributes",
            "key",
            "index",
            "shard",
            "type",
            "unique",
            "lock",
            "versions",
            "copies",
            "edge",
            "identity",
            "ttl",
            "expect",
            "about",
        ];
        self.only(section, &known);
        let mut entity = Entity {
            type_value: self.text(section, "type").unwrap_or_else(|| name.clone()),
            name,
            attributes: self.attributes(section),
            key: self.templates(section, "key"),
            shard: self.shard(section),
            unique: self.texts(section, "unique"),
            lock: self.text(section, "lock"),
            versions: self.text(section, "versions"),
            copies: self.text(section, "copies"),
            edge: self.texts(section, "edge"),
            identity: self.texts(section, "identity"),
            ttl: self.text(section, "ttl").or_else(|| model.table.ttl.clone()),
            expect: self.expect(section),
            span: section.span.clone(),
            key_span: section.span_of("key"),
            ..Entity::default()
        };
        let semantic = model.table.keys.iter().all(|key| entity.attribute(key).is_some());
        if section.get("key").is_none() && !semantic {
            let message = format!("{} needs `key`: how its primary key is made", section.subject);
            let help = "add key = [\"USER#{userId}\", \"PROFILE\"]";
            self.fail("P002", section, &section.span.clone(), message, help);
        } else if section.get("key").is_none() {
            entity.key = model.table.keys.iter().map(|key| Template::field(key)).collect();
        } else if entity.key.len() != model.table.keys.len() && self.findings.is_empty() {
            let message = format!(
                "the table has {} key attributes, this key {}",
                model.table.keys.len(),
                entity.key.len()
            );
            self.fail(
                "P002",
                section,
                &entity.key_span.clone(),
                message,
                "give one template for each key attribute",
            );
        }
        let Some(inner) = self.inner(section, "index") else {
            add_natural_indexes(&mut entity, model);
            return entity;
        };
        for (index, _) in inner.table.iter() {
            let Some(place) = self.inner(&inner, index) else { continue };
            let indexed = self.indexed(index, &place, &entity, model);
            entity.indexes.push(indexed);
        }
        add_natural_indexes(&mut entity, model);
        entity
    }

    fn indexed(&mut self, index: &str, place: &Section<'_>, entity: &Entity, model: &Model) -> Indexed {
        self.only(place, &["key", "when", "shard", "count", "about"]);
        let mut key = self.templates(place, "key");
        let declared = model.index(index);
        if let Some(declared) = declared {
            if declared.local && key.len() == 1 {
                key.insert(0, entity.key.first().cloned().unwrap_or_default());
            }
            if key.len() != declared.keys.len() && self.findings.is_empty() {
                let message =
                    format!("{index} has {} key attributes, this key {}", declared.keys.len(), key.len());
                self.fail(
                    "P002",
                    place,
                    &place.span.clone(),
                    message,
                    "give one template for each key attribute",
                );
            }
        }
        let when = self.condition(place, "when");
        Indexed {
            index: index.to_owned(),
            key,
            when,
            shard: self.shard(place),
            count: self.whole(place, "count"),
            span: place.span.clone(),
        }
    }

    fn attributes(&mut self, section: &Section<'_>) -> Vec<Attribute> {
        let Some(inner) = self.inner(section, "attributes") else { return Vec::new() };
        let mut attributes = Vec::new();
        for (name, item) in inner.table.iter() {
            let (text, details) = match item.as_table_like() {
                None => (self.text(&inner, name), None),
                Some(_) => {
                    let Some(details) = self.inner(&inner, name) else { continue };
                    self.only(&details, &["type", "values", "top", "optional", "about"]);
                    (self.text(&details, "type"), Some(details))
                }
            };
            let Some(text) = text else { continue };
            let text_kind = text.strip_suffix('?').unwrap_or(&text);
            let Some(kind) = ValueType::parse(text_kind) else {
                let span = inner.span_of(name);
                let meant = ValueType::synonym(text_kind).or_else(|| closest(text_kind, ValueType::names()));
                let help = match meant {
                    Some(meant) => format!("did you mean \"{meant}\"?"),
                    None => {
                        let names: Vec<&str> = ValueType::names().collect();
                        format!("types are {}, or choices as in \"PENDING|PAID\"", names.join(", "))
                    }
                };
                self.fail("P002", section, &span, format!("`{text}` is no type"), &help);
                continue;
            };
            let mut attribute = Attribute {
                name: name.to_owned(),
                kind,
                values: None,
                top: None,
                optional: text.ends_with('?'),
            };
            if let Some(details) = details {
                attribute.values = self.whole(&details, "values");
                attribute.top = self.number(&details, "top").map(|top| top.min(1.0));
                attribute.optional |= self.flag(&details, "optional");
            }
            attributes.push(attribute);
        }
        attributes
    }

    fn shard(&mut self, section: &Section<'_>) -> Option<Shard> {
        let inner = self.inner(section, "shard")?;
        self.only(&inner, &["by", "count"]);
        let count = self.whole(&inner, "count").unwrap_or(1);
        Some(Shard { by: self.text(&inner, "by").filter(|by| by != "random"), count })
    }

    fn expect(&mut self, section: &Section<'_>) -> Expect {
        let Some(inner) = self.inner(section, "expect") else { return Expect::default() };
        self.only(&inner, &["count", "per", "average", "max", "bytes", "max_bytes"]);
        let expect = Expect {
            count: self.whole(&inner, "count"),
            per: self.text(&inner, "per"),
            average: self.number(&inner, "average"),
            max: self.whole(&inner, "max"),
            bytes: self.whole(&inner, "bytes"),
            max_bytes: self.whole(&inner, "max_bytes"),
        };
        if expect.per.is_none() && expect.average.is_some() {
            let message = "`average` needs `per`: the entity of which each has so many".to_owned();
            self.fail(
                "P002",
                section,
                &inner.span.clone(),
                message,
                "for example per = \"User\", average = 10",
            );
        }
        expect
    }

    fn pattern(&mut self, name: String, section: &Section<'_>) -> Pattern {
        let known = [
            "in",
            "out",
            "order",
            "range",
            "limit",
            "where",
            "rps",
            "consistency",
            "hydrate",
            "fields",
            "pages",
            "request",
            "about",
        ];
        self.only(section, &known);
        let targets = self.texts(section, "out").iter().map(|text| target(text)).collect::<Vec<_>>();
        if targets.is_empty() {
            let message = format!("{} does not say what it returns", section.subject);
            self.fail(
                "P002",
                section,
                &section.span.clone(),
                message,
                "add out = \"Order\" or out = [\"User\", \"Order*\"]",
            );
        }
        let consistency = self.choice(section, "consistency", &["eventual", "strong"]);
        let pages = self.choice(section, "pages", &["all", "first"]);
        Pattern {
            name,
            about: self.text(section, "about").unwrap_or_default(),
            inputs: self.texts(section, "in"),
            targets,
            order: self.order(section),
            range: self.range(section),
            limit: self.whole(section, "limit"),
            filter: self.condition(section, "where"),
            rps: self.number(section, "rps"),
            strong: consistency.as_deref() == Some("strong"),
            hydrate: self.flag(section, "hydrate"),
            fields: self.texts(section, "fields"),
            first_page_only: pages.as_deref() == Some("first"),
            request: self.request(section),
            span: section.span.clone(),
        }
    }

    fn order(&mut self, section: &Section<'_>) -> Option<Order> {
        let text = self.text(section, "order")?;
        let mut words = text.split_whitespace();
        let by = words.next().unwrap_or_default().to_owned();
        let direction = words.next().unwrap_or("asc").to_lowercase();
        if by.is_empty() || !["asc", "desc"].contains(&direction.as_str()) || words.next().is_some() {
            self.wrong(section, "order", "an attribute and asc or desc", "\"createdAt desc\"");
        }
        Some(Order { by, descending: direction == "desc" })
    }

    fn range(&mut self, section: &Section<'_>) -> Option<Bounds> {
        let item = section.get("range")?;
        let span = section.span_of("range");
        if let Some(by) = item.as_str() {
            return Some(Bounds { by: by.to_owned(), span, ..Bounds::default() });
        }
        let inner = self.inner(section, "range")?;
        self.only(&inner, &["by", "from", "to"]);
        let by = self.required(&inner, "by", "\"createdAt\"");
        Some(Bounds { by, from: self.text(&inner, "from"), to: self.text(&inner, "to"), span })
    }

    fn request(&mut self, section: &Section<'_>) -> Option<Request> {
        let inner = self.inner(section, "request")?;
        self.only(&inner, &["index", "scan", "condition", "filter"]);
        Some(Request {
            index: self.text(&inner, "index"),
            scan: self.flag(&inner, "scan"),
            condition: self.text(&inner, "condition").unwrap_or_default(),
            filter: self.condition(&inner, "filter"),
            span: inner.span.clone(),
        })
    }

    fn write(&mut self, name: String, section: &Section<'_>) -> Write {
        self.only(
            section,
            &["create", "put", "update", "delete", "transact", "batch", "set", "rps", "about"],
        );
        let mut actions = Vec::new();
        for verb in ["create", "put", "update", "delete"] {
            let Some(entity) = self.text(section, verb) else { continue };
            let set = if verb == "update" { self.texts(section, "set") } else { Vec::new() };
            actions.extend(action(&format!("{verb} {entity}")).map(|action| Action { set, ..action }));
        }
        for key in ["transact", "batch"] {
            for text in self.texts(section, key) {
                match action(&text) {
                    Some(action) => actions.push(action),
                    None => self.wrong(
                        section,
                        key,
                        "a list of actions",
                        "[\"create Order\", \"update User set total\"]",
                    ),
                }
            }
        }
        if actions.is_empty() && self.findings.is_empty() {
            let message = format!("{} does not say what it writes", section.subject);
            let help = "add create, put, update, delete or transact";
            self.fail("P002", section, &section.span.clone(), message, help);
        }
        let transact = section.get("transact").is_some();
        Write { name, actions, transact, rps: self.number(section, "rps"), span: section.span.clone() }
    }

    fn allows(&mut self, root: &Section<'_>) -> Vec<Allow> {
        let Some(item) = root.get("allow") else { return Vec::new() };
        let Some(tables) = item.as_array_of_tables() else {
            self.wrong(root, "allow", "written as [[allow]]", "[[allow]]");
            return Vec::new();
        };
        let mut allows = Vec::new();
        for table in tables {
            let span = table.span().unwrap_or_default();
            let section = Section { table, subject: "allow".to_owned(), span: span.clone() };
            self.only(&section, &["code", "on", "reason"]);
            let code = self.required(&section, "code", "\"P115\"");
            let on = self.text(&section, "on");
            let reason = self.required(&section, "reason", "\"why this is right here\"");
            if crate::code::find(&code).is_none() && !code.is_empty() {
                let help = "`partita model explain-code` lists all codes";
                self.fail(
                    "P003",
                    &section,
                    &section.span_of("code"),
                    format!("there is no code {code}"),
                    help,
                );
            }
            allows.push(Allow { code, on, reason, span });
        }
        allows
    }
}

/// An index whose key attributes the entity has as plain attributes holds its items, whether declared or not.
fn add_natural_indexes(entity: &mut Entity, model: &Model) {
    for index in &model.indexes {
        if entity.indexed(&index.name).is_some() {
            continue;
        }
        let templates: Option<Vec<Template>> =
            index.keys.iter().map(|key| natural(entity, model, key)).collect();
        let Some(key) = templates else { continue };
        let indexed = Indexed {
            index: index.name.clone(),
            key,
            when: Condition::default(),
            shard: None,
            count: None,
            span: entity.span.clone(),
        };
        entity.indexes.push(indexed);
    }
}

/// What an item has under a key attribute that its index declaration does not mention.
fn natural(entity: &Entity, model: &Model, key: &str) -> Option<Template> {
    if let Some(position) = model.table.keys.iter().position(|candidate| candidate == key) {
        return entity.key.get(position).cloned();
    }
    entity.attribute(key).filter(|attribute| !attribute.optional).map(|_| Template::field(key))
}

fn target(text: &str) -> Target {
    let entity = text.trim_end_matches('*').trim();
    Target { entity: entity.to_owned(), many: text.ends_with('*') }
}

/// `update Order set status, total` or `create OrderItem*`.
fn action(text: &str) -> Option<Action> {
    let (verb, rest) = text.trim().split_once(' ')?;
    let (entity, set) = rest.split_once(" set ").unwrap_or((rest, ""));
    let Target { entity, many } = target(entity.trim());
    let set = set.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    Some(Action { verb: Verb::parse(verb)?, entity, many, set })
}

/// Fields that every template may use besides the entity's attributes.
pub fn is_reserved(field: &str) -> bool {
    field == SHARD
}
