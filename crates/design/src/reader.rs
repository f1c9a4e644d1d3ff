//! Reads a model from TOML, or reports every mistake with its position and a remedy.

mod attribute_names;
mod circles;
mod entity;
mod field;
mod implied_indexes;
mod limits;
mod mentions;
mod origin;
mod pattern;
mod references;
pub mod schema;
mod strings;
mod traffic;
mod write;
mod written_names;

use crate::finding::{Finding, Severity, repair};
use crate::model::{Allowance, Context, FORMAT, Index, Model, Projection, ReadRule, Table};
use crate::source::Source;
use crate::template::SHARD;
use attribute_names::{LONGEST, LONGEST_DECLARED};
use field::Section;
use implied_indexes::{add_implied_indexes, leaking_conditions};
use mentions::Mentions;
use toml_edit::{Document, Item, TableLike};
use written_names::add_aggregates;

/// The longest text that is read as a model.
const MAX_BYTES: usize = 4 << 20;
/// The most entities of a model. Some rules compare entities pairwise.
const MAX_ENTITIES: usize = 500;
/// The most indexes of a model.
const MAX_INDEXES: usize = 50;
/// The most patterns, writes or allowances of a model, and the most attributes or names of one entity or pattern.
const MAX_ENTRIES: usize = 1_000;

/// Reads a model.
///
/// # Errors
///
/// Returns the mistakes in the text as findings.
pub fn read(source: &Source) -> Result<Model, Vec<Finding>> {
    read_once(source).map_err(|mut findings| {
        repair::settle_unreadable(&source.text, &mut findings);
        findings
    })
}

/// Reads a model without trying repairs.
pub(crate) fn read_once(source: &Source) -> Result<Model, Vec<Finding>> {
    if source.text.len() > MAX_BYTES {
        return Err(vec![
            Finding::new("P001", Severity::Error, "file", &(0..0))
                .with_message(format!(
                    "this has {} bytes; a model has at most {MAX_BYTES}",
                    source.text.len()
                ))
                .with_help("is it another file?"),
        ]);
    }
    let document = Document::parse(source.text.as_str()).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        vec![
            Finding::new("P001", Severity::Error, "file", &span)
                .with_message(format!("this is not TOML: {}", error.message()))
                .with_help("correct the syntax; https://toml.io describes it"),
        ]
    })?;
    let mut reader = Reader { findings: Vec::new(), text: source.text.clone() };
    let mut model = reader.model(document.as_table());
    model.text = Some(source.text.as_str().into());
    if reader.findings.is_empty() {
        let file = Mentions { root: document.as_table(), text: &source.text };
        references::check(&model, file, &mut reader.findings);
        origin::check(&model, &mut reader.findings);
    }
    if reader.findings.is_empty() { Ok(model) } else { Err(reader.findings) }
}

/// The most attributes of the partition key, or of the sort key, of an index.
const MAX_KEY_ATTRIBUTES: usize = 4;

struct Reader {
    findings: Vec<Finding>,
    /// The text of the model.
    text: String,
}

impl Reader {
    fn model(&mut self, table: &dyn TableLike) -> Model {
        let root = Section { table, subject: "the model".to_owned(), span: 0..1 };
        self.only(
            &root,
            &[
                "format", "table", "context", "traffic", "index", "entity", "pattern", "write", "allow",
                "about",
            ],
        );
        match root.get("format").map(Item::as_integer) {
            Some(Some(FORMAT)) => {}
            Some(_) => {
                let span = root.span_of("format");
                let message = format!("this program reads format {FORMAT}");
                self.fail("P002", &root, &span, message, "write format = 1");
            }
            None => {
                let message = "the model does not declare its format".to_owned();
                self.fail("P002", &root, &(0..1), message, "add format = 1 as the first line");
            }
        }
        let mut model = Model { table: self.table(&root), ..Model::default() };
        model.context = self.context(&root);
        model.traffic = self.traffic(&root);
        for (name, section) in self.sections(&root, "index") {
            let index = self.index(name, &section);
            model.indexes.push(index);
        }
        for (name, section) in self.sections(&root, "entity") {
            let entity = self.entity(name, &section, &model);
            model.entities.push(entity);
        }
        add_aggregates(&mut model);
        leaking_conditions(&model, &mut self.findings);
        add_implied_indexes(&mut model);
        let delimiter = model.usual_delimiter();
        model.entities.iter_mut().for_each(|entity| entity.delimiter = delimiter);
        for (name, section) in self.sections(&root, "pattern") {
            let mut pattern = self.pattern(name, &section);
            pattern.type_conditions(&model);
            model.patterns.push(pattern);
        }
        for (name, section) in self.sections(&root, "write") {
            let mut write = self.write(name, &section);
            write.actions.iter_mut().for_each(|action| written_names::complete(action, &model));
            model.writes.push(write);
        }
        model.allowances = self.allowances(&root);
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
        self.only(&section, &["name", "keys", "type_attribute", "tenant", "ttl", "reads", "about"]);
        let keys = self.texts(&section, "keys");
        if keys.is_empty() || keys.len() > 2 {
            self.wrong(&section, "keys", "one or two attribute names", "[\"PK\", \"SK\"]");
        }
        self.distinct(&section, &keys);
        self.attribute_names(&section, "keys", &keys, LONGEST_DECLARED);
        let (type_attribute, ttl) = (self.text(&section, "type_attribute"), self.text(&section, "ttl"));
        self.attribute_names(&section, "type_attribute", &type_attribute, LONGEST);
        self.attribute_names(&section, "ttl", &ttl, LONGEST_DECLARED);
        Table {
            name: self.required(&section, "name", "\"Shop\""),
            keys,
            type_attribute,
            tenant: self.text(&section, "tenant"),
            ttl,
            reads: self.choice(&section, "reads", &["warn", "enforce"]).as_deref().and_then(ReadRule::parse),
            span: section.span.clone(),
            name_span: section.span_of("name"),
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
        let halves = self.halves(section, "keys");
        let fits = |half: &Vec<String>| (1..=MAX_KEY_ATTRIBUTES).contains(&half.len());
        if halves.is_empty() || halves.len() > 2 || !halves.iter().all(fits) {
            let wanted = "a partition key and a sort key, each an attribute or a list of up to four";
            self.wrong(
                section,
                "keys",
                wanted,
                "[\"GSI1PK\", \"GSI1SK\"] or [[\"tenantId\", \"region\"], \"createdAt\"]",
            );
        }
        let partition_keys = halves.first().map_or(1, Vec::len);
        let keys = halves.concat();
        self.distinct(section, &keys);
        self.attribute_names(section, "keys", &keys, LONGEST_DECLARED);
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
                None => {
                    let names = self.texts(section, "project");
                    self.attribute_names(section, "project", &names, LONGEST_DECLARED);
                    Projection::Include(names)
                }
            },
        };
        let local = self.flag(section, "local");
        Index { name, local, keys, partition_keys, project, span: section.span.clone() }
    }

    /// DynamoDB refuses a key that names an attribute twice.
    fn distinct(&mut self, section: &Section<'_>, keys: &[String]) {
        let repeated = keys.iter().enumerate().find(|(number, key)| keys[..*number].contains(key));
        let Some((_, key)) = repeated else { return };
        let message = format!("`keys` has {key} twice");
        self.fail("P002", section, &section.span_of("keys"), message, "name another attribute");
    }

    fn allowances(&mut self, root: &Section<'_>) -> Vec<Allowance> {
        let Some(item) = root.get("allow") else { return Vec::new() };
        let Some(tables) = item.as_array_of_tables() else {
            self.wrong(root, "allow", "written as [[allow]]", "[[allow]]");
            return Vec::new();
        };
        if !self.is_within(root, "allow", tables.len(), MAX_ENTRIES) {
            return Vec::new();
        }
        let mut allowances = Vec::new();
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
            allowances.push(Allowance { code, on, reason, span });
        }
        allowances
    }
}

/// Returns whether templates may use this field although it is not an attribute.
pub fn is_reserved(field: &str) -> bool {
    field == SHARD
}
