//! Puts entities, keys, patterns and writes together.

use super::entities::Entities;
use super::placements::{Placement, Placements, choose};
use super::query::Statement;
use super::query_log::{QueryLog, Tally};
use super::reads::{self, Read, With};
use super::schema::Schema;
use super::sheet::sentence::Sentence;
use super::sheet::table::Row;
use super::writes::{self, Found, Observed};
use crate::draft::{Asked, Confidence, Draft, NOT_KNOWN, Question};
use crate::formatting::{format_number, list, lower_first, upper_first};
use crate::model::condition::Condition;
use crate::model::shard::ShardHash;
use crate::model::value_type::ValueType;
use crate::model::{
    Action, Attribute, Bounds, Entity, Index, IndexKey, Model, Order, Pattern, Projection, Shard, Table,
    Target, Verb, Via, Write,
};
use std::collections::BTreeSet;

/// What else is known besides the schema.
#[derive(Clone, Debug, Default)]
pub struct Observations<'a> {
    /// A log of queries.
    pub queries: Option<&'a str>,
    /// How many seconds the log covers, if it does not say so itself.
    pub seconds: Option<f64>,
}

/// Drafts a model from a schema and, if there is one, a log of its queries.
///
/// # Errors
///
/// Returns a message if the text is not a schema, or the log not one of queries.
pub fn draft(sql: &str, observed: &Observations<'_>, table: &str) -> Result<Draft, String> {
    let schema = Schema::parse(sql)?;
    let entities = Entities::new(&schema);
    let log = observed.queries.map(|text| QueryLog::parse(text, &schema)).transpose()?;
    let (reads, others) = match &log {
        Some(log) => reads::from_log(log, &entities),
        None => (reads::from_schema(&entities), Vec::new()),
    };
    let seconds = log.as_ref().and_then(|log| observed.seconds.or(log.seconds));
    let measured = Measured { log: log.as_ref(), seconds, others };
    let mut drafting = Drafting::new(&entities, reads.clone(), measured.clone(), table);
    drafting.entities();
    let lookups = drafting.lookups();
    if !lookups.is_empty() {
        drafting = Drafting::new(&entities, [reads, lookups].concat(), measured, table);
        drafting.entities();
    }
    let source = if log.is_some() { "a relational schema and its queries" } else { "a relational schema" };
    drafting.draft.about = format!("Drafted from {source}: correct it, then run `partita model check`.");
    drafting.patterns();
    drafting.writes();
    drafting.remarks();
    Ok(drafting.draft)
}

/// What was observed besides reads.
#[derive(Clone, Default)]
pub(super) struct Measured<'a> {
    pub log: Option<&'a QueryLog>,
    /// In how many seconds the reads were counted.
    pub seconds: Option<f64>,
    /// Statements that no pattern is for.
    pub others: Vec<(Tally, String)>,
}

/// A draft while it is put together.
pub(super) struct Drafting<'a> {
    entities: &'a Entities<'a>,
    reads: Vec<Read>,
    measured: Measured<'a>,
    pub draft: Draft,
}

impl<'a> Drafting<'a> {
    pub fn new(
        entities: &'a Entities<'a>,
        reads: Vec<Read>,
        measured: Measured<'a>,
        table: &str,
    ) -> Drafting<'a> {
        let table = Table {
            name: table.to_owned(),
            keys: vec!["PK".to_owned(), "SK".to_owned()],
            type_attribute: Some("EntityType".to_owned()),
            ..Table::default()
        };
        let draft = Draft { model: Model { table, ..Model::default() }, ..Draft::default() };
        Drafting { entities, reads, measured, draft }
    }

    pub fn entities(&mut self) {
        for number in 0..self.entities.schema.tables.len() {
            let followed: Vec<Read> =
                self.reads.iter().filter_map(|read| read.lookup(self.entities)).collect();
            let reads: Vec<&Read> =
                self.reads.iter().chain(&followed).filter(|read| read.table == number).collect();
            let is_parent = self.reads.iter().any(|read| read.with == With::Parent(number));
            let placements = choose(number, &reads, is_parent, &self.changed(number), self.entities);
            self.entity(number, &placements);
        }
    }

    /// The attributes of a table that updates set.
    fn changed(&self, number: usize) -> BTreeSet<String> {
        let Some(log) = self.measured.log else { return BTreeSet::new() };
        let statements = log.observed.keys().chain(log.transactions.keys().flatten());
        let set = statements.filter_map(|statement| match statement {
            Statement::Update { table, set, .. } if *table == number => Some(set),
            _ => None,
        });
        set.flatten().map(|column| self.entities.attribute(number, column)).collect()
    }

    fn entity(&mut self, number: usize, placements: &Placements) {
        let (entities, table) = (self.entities, self.entities.table(number));
        let name = entities.names[number].clone();
        let attribute = |column: &super::schema::Column| {
            let attribute = Attribute::new(&entities.attribute(number, &column.name), column.kind.clone());
            Attribute { optional: entities.is_optional(number, &attribute.name), ..attribute }
        };
        let attributes: Vec<Attribute> = table.columns.iter().map(attribute).collect();
        let mut entity =
            Entity { name: name.clone(), type_value: name.clone(), attributes, ..Entity::default() };
        let Some(key) = placements.key.templates(number, entities) else { return };
        entity.key = key.to_vec();
        // What identifies a row has a text in its key.
        let fields: Vec<String> = entity.key_fields().map(str::to_owned).collect();
        let keyed =
            entity.attributes.iter_mut().filter(|own| fields.contains(&own.name) && !own.kind.is_scalar());
        keyed.for_each(|own| own.kind = ValueType::String);
        let identity = entities.identity(number);
        match entities.edge(number) {
            Some(ends) => entity.edge = ends.to_vec(),
            None if entity.identity().is_none_or(|own| identity != [own.to_owned()]) => {
                entity.identity = identity
            }
            None => {}
        }
        for (slot, placement) in placements.indexes.iter().enumerate() {
            let index_key = self.index_key(number, slot, placement);
            entity.indexes.extend(index_key);
        }
        self.unique(number, &mut entity);
        if table.line > 0 {
            self.draft.note(
                format!("entity.{name}"),
                Confidence::Certain,
                format!("CREATE TABLE {}, line {}", table.name, table.line),
            );
        }
        if table.primary_key.is_empty() {
            self.draft.ask(
                Asked::Identity(name),
                format!("{} has no primary key: what identifies a row?", table.name),
                entities.identity(number).join(", "),
            );
        }
        self.draft.model.entities.push(entity);
    }

    /// The key of a placement in the index of this slot, which is created with the first entity that needs it.
    fn index_key(&mut self, number: usize, slot: usize, placement: &Placement) -> Option<IndexKey> {
        let name = format!("GSI{}", slot + 1);
        let key = placement
            .templates(number, self.entities)
            .filter(|_| placement.has_texts(number, self.entities))?;
        if self.draft.model.index(&name).is_none() {
            self.draft.model.indexes.push(Index {
                keys: vec![format!("{name}PK"), format!("{name}SK")],
                name: name.clone(),
                local: false,
                partition_keys: 1,
                project: Projection::All,
                span: 0..0,
            });
        }
        let mut index_key = IndexKey::new(&name, key.to_vec(), 0..0);
        let optional = placement
            .partition
            .iter()
            .chain(&placement.sort)
            .filter(|name| self.entities.is_optional(number, name));
        let tests: Vec<String> = optional.map(|name| format!("exists({name})")).collect();
        index_key.when = Condition::parse(&tests.join(" and ")).unwrap_or_default();
        let by = self.entities.identity(number).into_iter().next();
        index_key.shard = placement.shards().map(|count| Shard { by, hash: ShardHash::default(), count });
        Some(index_key)
    }

    /// What is unique besides the key.
    fn unique(&self, number: usize, entity: &mut Entity) {
        let identity = self.entities.identity(number);
        for columns in &self.entities.table(number).unique {
            let attributes = self.entities.attributes(number, columns);
            let held = |by: &[String]| !by.is_empty() && by.iter().all(|name| attributes.contains(name));
            let new = !held(&identity) && !held(&entity.edge) && !entity.unique.contains(&attributes);
            if new && !attributes.is_empty() {
                entity.unique.push(attributes);
            }
        }
    }

    pub fn patterns(&mut self) {
        for (read, name) in self.reads.clone().into_iter().zip(self.names()) {
            let pattern = self.pattern(&read, name);
            let subject = pattern.subject();
            self.draft.note(subject.clone(), read.confidence, read.origin.clone());
            for remark in &read.remarks {
                self.draft.remark(subject.clone(), remark.clone());
            }
            for name in read.also.iter().filter(|name| !pattern.inputs.contains(name)) {
                let found = list(&pattern.inputs);
                let remark = format!(
                    "`{name}` is not part of the pattern: {found} finds the item, and the application compares it."
                );
                self.draft.remark(subject.clone(), remark);
            }
            if read.limited {
                let text = "It stops after a number of rows that the log does not tell: which `limit`?";
                self.draft.ask(Asked::Limit(pattern.name.clone()), text, "none");
            }
            if read.equals.is_empty() {
                let text = "No value selects the items: are there few enough to list them all, spread over 4 shards?";
                let question = Question::new(Asked::ListsAll(pattern.name.clone()), text, "yes");
                self.draft.questions.push(question.with_choices(["no".to_owned()]));
            }
            if pattern.rps.is_none() {
                self.draft.ask(
                    Asked::PatternRate(pattern.name.clone()),
                    "How many requests a second?",
                    NOT_KNOWN,
                );
            }
            self.draft.model.patterns.push(pattern);
        }
    }

    /// The names of the reads' patterns; the plainest read of the same items has the plainest name.
    fn names(&self) -> Vec<String> {
        let plainness = |read: &Read| (read.range.is_some(), read.order.is_some(), read.limit.is_some());
        let mut order: Vec<usize> = (0..self.reads.len()).collect();
        order.sort_by_key(|number| plainness(&self.reads[*number]));
        let (mut names, mut taken) = (vec![String::new(); self.reads.len()], BTreeSet::new());
        for number in order {
            names[number] = self.reads[number].name(self.entities, &mut taken);
        }
        names
    }

    fn pattern(&self, read: &Read, name: String) -> Pattern {
        let entities = self.entities;
        let target = |table: usize, many: bool| Target { entity: entities.names[table].clone(), many };
        let many = !read.is_single(entities);
        let entity = self.draft.model.entity(&entities.names[read.table]);
        let mut key: Vec<String> = Vec::new();
        for field in entity.into_iter().flat_map(Entity::key_fields) {
            if !key.iter().any(|own| own == field) {
                key.push(field.to_owned());
            }
        }
        let mut pattern = Pattern {
            name,
            inputs: read.whole_key(&key, entities).unwrap_or_else(|| read.equals.clone()),
            targets: vec![target(read.table, many)],
            order: read.order.clone().map(|(by, descending)| Order { by, descending }),
            range: read.range.clone().map(|by| Bounds { by, ..Bounds::default() }),
            limit: read.limit,
            rps: self.rate(read.count),
            filter: self.present(read),
            ..Pattern::default()
        };
        match &read.with {
            With::Nothing => {}
            With::Parent(parent) => pattern.targets.insert(0, target(*parent, false)),
            With::OtherEnd { attribute, table } => {
                let matches = entities.identity(*table).into_iter().filter(|own| own != attribute);
                let matches = matches.map(|own| (own, attribute.clone())).collect();
                pattern.via = vec![Via { entity: entities.names[read.table].clone(), matches }];
                pattern.targets = vec![target(*table, many)];
            }
        }
        pattern
    }

    /// The condition that what orders or bounds the items is not absent.
    fn present(&self, read: &Read) -> Condition {
        let names: BTreeSet<&String> = read.order.iter().map(|(by, _)| by).chain(&read.range).collect();
        let optional = names.into_iter().filter(|name| self.entities.is_optional(read.table, name));
        let tests: Vec<String> = optional.map(|name| format!("exists({name})")).collect();
        Condition::parse(&tests.join(" and ")).unwrap_or_default()
    }

    /// Requests per second, with three digits.
    fn rate(&self, count: u64) -> Option<f64> {
        let rate = count as f64 / self.measured.seconds.filter(|_| count > 0)?;
        let scale = 10f64.powf(2.0 - rate.log10().floor());
        Some((rate * scale).round() / scale)
    }

    fn writes(&mut self) {
        let Some(log) = self.measured.log else { return };
        for observed in writes::from_log(log, self.entities, |count| self.rate(count)) {
            let Observed { write, tally, found, untested } = observed;
            for test in untested {
                self.draft.remark(
                    write.subject(),
                    format!("`{test}` is not part of the write: add it to its condition."),
                );
            }
            self.draft.note(
                write.subject(),
                Confidence::Certain,
                format!("line {}: {}", tally.line, tally.example),
            );
            for one in &found {
                let (missing, entity) = (list(&self.unknown(one)), &self.entities.names[one.table]);
                let whose = if write.actions.len() > 1 { format!(" of {entity}") } else { String::new() };
                if !missing.is_empty() {
                    let note = format!(
                        "the key{whose} also holds {missing}: the caller knows it, or reads the item first"
                    );
                    self.draft.note(write.subject(), Confidence::Certain, note);
                }
            }
            if write.rps.is_none() {
                self.draft.ask(Asked::WriteRate(write.name.clone()), "How many a second?", NOT_KNOWN);
            }
            self.draft.model.writes.push(write);
        }
    }

    /// The attributes of an item's key that a statement does not know.
    fn unknown(&self, found: &Found) -> Vec<&str> {
        let entity = self.draft.model.entity(&self.entities.names[found.table]);
        let mut missing: Vec<&str> = Vec::new();
        for field in entity.into_iter().flat_map(Entity::key_fields) {
            if !found.by.iter().any(|own| own == field) && !missing.contains(&field) {
                missing.push(field);
            }
        }
        missing
    }

    /// The reads that find the items of updates and deletes whose statements do not know the whole key, as far as the log has none.
    fn lookups(&self) -> Vec<Read> {
        let Some(log) = self.measured.log else { return Vec::new() };
        let is_read = |found: &Found| {
            let same = |read: &Read| {
                read.table == found.table && read.equals.iter().all(|name| found.by.contains(name))
            };
            self.reads.iter().any(|read| same(read) && read.is_single(self.entities))
        };
        let lookup = |found: Found| {
            let missing = list(&self.unknown(&found));
            (!missing.is_empty() && self.entities.identifies(found.table, &found.by) && !is_read(&found))
                .then(|| {
                    let origin = format!(
                        "a write knows only {}, and reads the key first: remove this if it knows {missing}",
                        list(&found.by)
                    );
                    Read { count: found.count, ..Read::of(found.table, found.by, Confidence::Guess, origin) }
                })
        };
        let found = writes::all_found(log, self.entities);
        reads::merged(found.into_iter().filter_map(lookup).collect(), self.entities)
    }

    /// A write of one entity, unless the draft has it already.
    pub fn sheet_write(&mut self, sentence: &Sentence, row: &Row) {
        let (verb, entity, set) = (sentence.verb.model(), &sentence.noun, sentence.set.clone());
        let changed: String = set.iter().map(|attribute| upper_first(attribute)).collect();
        let name = format!("{}{entity}{changed}", verb.name());
        if self.draft.model.writes.iter().any(|write| write.name == name)
            || self.draft.model.entity(entity).is_none()
        {
            return;
        }
        let actions = vec![Action { set, ..Action::new(verb, entity) }];
        let write = Write { name, actions, rps: row.rate, ..Write::default() };
        self.draft.note(write.subject(), Confidence::Likely, row.origin());
        row.rate_remark().into_iter().for_each(|remark| self.draft.remark(write.subject(), remark));
        if verb == Verb::Update && sentence.set.is_empty() {
            let text = format!(
                "The sentence does not say what changes: add `set`, or write `Update the {}'s …`.",
                lower_first(entity)
            );
            self.draft.remark(write.subject(), text);
        }
        self.draft.model.writes.push(write);
    }

    /// Leaves out what concerns tables of which no key can be made.
    fn leave_out_tables_without_keys(&mut self) {
        let names: BTreeSet<String> = self.draft.model.entities.iter().map(|own| own.name.clone()).collect();
        let lost: Vec<String> =
            self.entities.names.iter().filter(|name| !names.contains(*name)).cloned().collect();
        self.draft.model.writes.retain(|write| write.actions.iter().all(|own| names.contains(&own.entity)));
        self.draft.model.patterns.retain(|pattern| {
            let via = pattern.via.iter().map(|via| &via.entity);
            pattern.targets.iter().map(|target| &target.entity).chain(via).all(|name| names.contains(name))
        });
        for name in lost {
            self.draft.remark("table", format!("{name} is left out: no key can be made of its columns."));
        }
    }

    /// What was not understood, and statements that no pattern is for.
    pub fn remarks(&mut self) {
        self.leave_out_tables_without_keys();
        for (line, remark) in &self.entities.schema.remarks {
            self.draft.remark("table", format!("Line {line}: {remark}"));
        }
        for (tally, answer) in std::mem::take(&mut self.measured.others) {
            let sent = if tally.count == 1 {
                "once".to_owned()
            } else {
                format!("{} times", format_number(tally.count as f64))
            };
            let remark = format!(
                "`{}` (line {}, sent {sent}) is no access pattern: {answer}.",
                tally.example, tally.line
            );
            self.draft.remark("table", remark);
        }
    }
}
