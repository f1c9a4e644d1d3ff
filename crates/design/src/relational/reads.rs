//! Access patterns from the statements of a log, or from the schema alone.

use super::entities::Entities;
use super::naming::{camel, plural};
use super::query::{Field, Select, Statement};
use super::query_log::{QueryLog, Tally};
use crate::draft::Confidence;
use crate::formatting::lower_first;
use std::collections::{BTreeMap, BTreeSet};

/// A read of one entity, or of one and those that lead to it or belong to it.
#[derive(Clone, Debug)]
pub(super) struct Read {
    /// The table whose keys serve it.
    pub table: usize,
    /// The attributes whose values are known.
    pub equals: Vec<String>,
    /// Other attributes whose values are known, which the key may hold.
    pub also: Vec<String>,
    pub range: Option<String>,
    pub order: Option<(String, bool)>,
    pub limit: Option<u64>,
    /// Whether a limit is wanted that the source does not tell.
    pub limited: bool,
    /// What is read besides.
    pub with: With,
    /// How often it was sent; once if the schema alone suggests it.
    pub count: u64,
    pub confidence: Confidence,
    pub origin: String,
    /// What it leaves out, and what its reader has to know.
    pub remarks: Vec<String>,
}

/// What a read returns besides the items that its keys select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum With {
    Nothing,
    /// The parent, whose identifier is known, in front of them.
    Parent(usize),
    /// Instead of them, the items at the other end of this attribute.
    OtherEnd {
        attribute: String,
        table: usize,
    },
}

/// The reads of a log, most frequent first, and statements that are none with their answers.
pub(super) fn from_log(log: &QueryLog, entities: &Entities<'_>) -> (Vec<Read>, Vec<(Tally, String)>) {
    let (mut reads, mut others) = (Vec::new(), Vec::new());
    for (statement, tally) in &log.observed {
        match statement {
            Statement::Select(select) => match Reading::new(select, entities).reads(tally) {
                Ok(found) => reads.extend(found),
                Err(answer) => others.push((tally.clone(), answer)),
            },
            Statement::Unsupported { answer, .. } => others.push((tally.clone(), answer.clone())),
            _ => {}
        }
    }
    (merged(reads, entities), others)
}

/// The reads that a schema suggests: by identifier, by unique values, by what rows refer to, and by what is indexed.
pub(super) fn from_schema(entities: &Entities<'_>) -> Vec<Read> {
    let mut reads = Vec::new();
    for number in 0..entities.schema.tables.len() {
        let table = entities.table(number);
        let mut add = |equals: Vec<String>, confidence: Confidence, origin: String| {
            reads.push(Read::of(number, equals, confidence, origin));
        };
        if entities.edge(number).is_none() {
            add(entities.identity(number), Confidence::Likely, format!("the primary key of {}", table.name));
        }
        for columns in &table.unique {
            add(
                entities.attributes(number, columns),
                Confidence::Likely,
                format!("a unique constraint of {}", table.name),
            );
        }
        for attribute in entities.references(number) {
            let origin = format!("the foreign key {}.{attribute}", table.name);
            add(vec![attribute], Confidence::Likely, origin);
        }
        for columns in &table.indexes {
            add(
                entities.attributes(number, columns),
                Confidence::Guess,
                format!("an index of {}", table.name),
            );
        }
    }
    merged(reads, entities)
}

/// Joins reads of the same shape; one without an order is part of one with an order.
pub(super) fn merged(reads: Vec<Read>, entities: &Entities<'_>) -> Vec<Read> {
    let mut by_shape: BTreeMap<String, Vec<Read>> = BTreeMap::new();
    for mut read in reads {
        read.equals.sort_by_key(|name| (entities.parent(read.table, name).is_none(), name.clone()));
        read.equals.dedup();
        let shape = format!("{} {:?} {:?} {:?}", read.table, read.equals, read.range, read.with);
        let same = by_shape.entry(shape).or_default();
        match same.iter_mut().find(|own| own.order == read.order && own.has_limit() == read.has_limit()) {
            Some(own) => own.join(read),
            None => same.push(read),
        }
    }
    let mut reads: Vec<Read> = Vec::new();
    for mut same in by_shape.into_values() {
        let (unordered, mut ordered): (Vec<Read>, Vec<Read>) =
            std::mem::take(&mut same).into_iter().partition(|read| read.order.is_none());
        for read in unordered {
            match ordered.iter_mut().find(|own| own.has_limit() == read.has_limit()) {
                Some(own) => own.join(read),
                None => ordered.push(read),
            }
        }
        reads.extend(ordered);
    }
    reads.sort_by_key(|read| std::cmp::Reverse(read.count));
    reads
}

impl Read {
    /// A read by the values of these attributes, sent once.
    pub fn of(table: usize, equals: Vec<String>, confidence: Confidence, origin: String) -> Read {
        Read {
            table,
            equals,
            also: Vec::new(),
            range: None,
            order: None,
            limit: None,
            limited: false,
            with: With::Nothing,
            count: 1,
            confidence,
            origin,
            remarks: Vec::new(),
        }
    }

    /// Adds what another read of the same items asks for.
    fn join(&mut self, other: Read) {
        self.count += other.count;
        self.limit = self.limit.max(other.limit);
        self.limited |= other.limited;
        self.also.retain(|name| other.also.contains(name));
        self.confidence = self.confidence.max(other.confidence);
        self.remarks.extend(other.remarks);
        self.remarks.sort();
        self.remarks.dedup();
    }

    fn has_limit(&self) -> bool {
        self.limited || self.limit.is_some()
    }

    /// The read by identifier that following a relationship takes.
    pub fn lookup(&self, entities: &Entities<'_>) -> Option<Read> {
        let With::OtherEnd { table, .. } = self.with else { return None };
        let equals = entities.identity(table);
        let read = self.clone();
        let with = With::Nothing;
        Some(Read { table, equals, range: None, order: None, limit: None, limited: false, with, ..read })
    }

    /// The attributes of a key that selects at most one item, if all their values are known.
    pub fn whole_key(&self, key: &[String], entities: &Entities<'_>) -> Option<Vec<String>> {
        let is_known = |name: &String| self.equals.contains(name) || self.also.contains(name);
        let holds = self.equals.iter().all(|name| key.contains(name)) && key.iter().all(is_known);
        (holds && self.is_single(entities)).then(|| key.to_vec())
    }

    /// Whether it returns at most one item of its table.
    pub fn is_single(&self, entities: &Entities<'_>) -> bool {
        entities.identifies(self.table, &self.equals)
    }

    /// A name for its pattern, which `taken` does not hold yet.
    pub fn name(&self, entities: &Entities<'_>, taken: &mut BTreeSet<String>) -> String {
        let target = match &self.with {
            With::OtherEnd { table, .. } => *table,
            _ => self.table,
        };
        let entity = &entities.names[target];
        let many = !self.is_single(entities);
        let mut name = if many { plural(entity) } else { lower_first(entity) };
        if let With::Parent(parent) = self.with {
            name = format!(
                "{}With{}",
                lower_first(&entities.names[parent]),
                crate::formatting::upper_first(&name)
            );
        } else if let [first, rest @ ..] = self.equals.as_slice() {
            name.push_str(&format!("By{}", camel(first)));
            name.extend(rest.iter().map(|attribute| format!("And{}", camel(attribute))));
        }
        let mut longer = name.clone();
        longer.extend(self.range.iter().map(|by| format!("Between{}", camel(by))));
        longer.extend(self.order.iter().map(|(by, _)| format!("OrderedBy{}", camel(by))));
        longer.extend(self.limit.iter().map(|limit| format!("First{limit}")));
        let numbered = (2..).map(|number| format!("{longer}{number}"));
        let free = [name, longer.clone()].into_iter().chain(numbered).find(|name| taken.insert(name.clone()));
        free.unwrap_or_default()
    }
}

/// A SELECT, looked at for the reads that it consists of.
struct Reading<'a> {
    select: &'a Select,
    entities: &'a Entities<'a>,
    /// The fields whose values are known, directly or by a join.
    known: BTreeSet<Field>,
}

impl<'a> Reading<'a> {
    fn new(select: &'a Select, entities: &'a Entities<'a>) -> Reading<'a> {
        let mut known: BTreeSet<Field> = select.equals.iter().cloned().collect();
        // Each pass carries a value over one more join.
        for _ in 0..select.tables.len() {
            for (left, right) in &select.joins {
                if known.contains(left) || known.contains(right) {
                    known.extend([left.clone(), right.clone()]);
                }
            }
        }
        Reading { select, entities, known }
    }

    fn reads(&self, tally: &Tally) -> Result<Vec<Read>, String> {
        let distinct: BTreeSet<usize> = self.select.tables.iter().copied().collect();
        if distinct.len() < self.select.tables.len() {
            return Err("a table that is joined with itself is read step by step: one pattern for each step"
                .to_owned());
        }
        let [only] = self.select.tables.as_slice() else { return self.joined(tally) };
        Ok(vec![self.read(*only, tally)?])
    }

    /// The columns of a table whose values are known, as attributes.
    fn known_of(&self, table: usize) -> Vec<String> {
        let own = self.known.iter().filter(|(of, _)| *of == table);
        own.map(|(_, column)| self.entities.attribute(table, column)).collect()
    }

    /// The read of one table: by what is known of it, in the order of the statement.
    fn read(&self, table: usize, tally: &Tally) -> Result<Read, String> {
        let (entities, select) = (self.entities, self.select);
        let attribute = |field: &Field| (field.0 == table).then(|| entities.attribute(table, &field.1));
        let mut remarks: Vec<String> =
            select.tests.iter().map(|test| format!("`{test}` is not part of the pattern: a sparse index (`when`) or the application has to see to it.")).collect();
        let mut equals = self.known_of(table);
        let identity = entities.identity(table);
        let mut also = Vec::new();
        if identity.iter().all(|name| equals.contains(name)) {
            let others = std::mem::replace(&mut equals, identity).into_iter();
            let others = others.filter(|name| !equals.contains(name));
            also = others.filter(|name| !self.is_joined(table, name)).collect();
        }
        let ranges: Vec<String> =
            select.ranges.iter().filter_map(attribute).filter(|by| !equals.contains(by)).collect();
        let orders: Vec<(String, bool)> =
            select.order.iter().filter_map(|(field, down)| Some((attribute(field)?, *down))).collect();
        let single = entities.identifies(table, &equals);
        let mut order = orders.into_iter().find(|(by, _)| !equals.contains(by)).filter(|_| !single);
        let chosen = order.as_ref().map(|(by, _)| by).filter(|by| ranges.contains(by)).or(ranges.first());
        let range = chosen.cloned().filter(|_| !single);
        if ranges.len() > 1 {
            remarks.push(format!(
                "Only {} can be bounded by the key: the other ranges would be filters.",
                ranges[0]
            ));
        }
        if let (Some(range), Some((by, _))) = (&range, &order)
            && range != by
        {
            remarks
                .push(format!("The key sorts by {range}, which is bounded: the application sorts by {by}."));
            order = None;
        }
        if select.order.iter().any(|(field, _)| field.0 != table) {
            remarks.push(
                "The order is that of a joined table: copy the attribute, or sort in the application."
                    .to_owned(),
            );
        }
        let limit = tally.limit.filter(|_| !single && select.limited);
        if select.skips && !single {
            remarks.push(
                "OFFSET skips rows that have been read: continue after the last key of the page before instead."
                    .to_owned(),
            );
        }
        let unbounded = order.iter().map(|(by, _)| by).filter(|by| range.as_ref() != Some(by));
        for name in unbounded.filter(|by| entities.is_optional(table, by)) {
            remarks.push(format!(
                "Rows without {name} are not in the list, because no key holds what is absent."
            ));
        }
        let origin = format!("line {}: {}", tally.line, tally.example);
        let count = tally.count;
        Ok(Read {
            table,
            equals,
            also,
            range,
            order,
            limited: select.limited && limit.is_none() && !single,
            limit,
            with: With::Nothing,
            count,
            confidence: Confidence::Certain,
            origin,
            remarks,
        })
    }

    /// The reads of several tables, joined along foreign keys.
    fn joined(&self, tally: &Tally) -> Result<Vec<Read>, String> {
        let select = self.select;
        let bound = |table: usize| select.ranges.iter().all(|(of, _)| *of == table);
        let covers = |table: usize| {
            select
                .equals
                .iter()
                .all(|field| field.0 == table || self.linked(field).iter().any(|other| other.0 == table))
        };
        let own = |table: &&usize| covers(**table) && bound(**table) && !self.known_of(**table).is_empty();
        // The table with most of the conditions selects the rows.
        let tables = select.tables.iter().filter(own);
        let driver = tables.max_by_key(|table| {
            (select.equals.iter().filter(|field| field.0 == **table).count(), std::cmp::Reverse(**table))
        });
        let Some(driver) = driver.copied() else {
            return Err("its conditions are on several tables, which no key joins: copy the attributes into the entity that is listed".to_owned());
        };
        let main = self.read(driver, tally)?;
        let mut reads = Vec::new();
        for table in select.tables.iter().copied().filter(|table| *table != driver) {
            reads.extend(self.other(&main, table, tally)?);
        }
        let is_edge = self.entities.edge(driver).is_some();
        let replaces = |read: &Read| match read.with {
            With::Nothing => false,
            With::Parent(parent) => parent == driver || read.table == driver,
            With::OtherEnd { .. } => is_edge,
        };
        let replaced = reads.iter().any(replaces);
        if !replaced {
            reads.insert(0, main);
        }
        Ok(reads)
    }

    /// The read of a table that is joined to the one that selects the rows.
    fn other(&self, main: &Read, table: usize, tally: &Tally) -> Result<Option<Read>, String> {
        let entities = self.entities;
        let children = self.known_of(table);
        let reference = children.iter().find(|name| entities.parent(table, name) == Some(main.table));
        if let Some(reference) = reference.filter(|_| main.is_single(entities)) {
            let mut read = self.read(table, tally)?;
            let same_name = entities.identity(main.table) == [reference.clone()];
            let together = same_name
                && main.equals == entities.identity(main.table)
                && read.equals == [reference.clone()];
            if together {
                read.with = With::Parent(main.table);
            }
            return Ok(Some(read));
        }
        let parent = main.equals.iter().find(|name| entities.parent(main.table, name) == Some(table));
        if let Some(parent) = parent.filter(|name| entities.identity(table) == [(*name).clone()]) {
            let together = main.equals == [parent.clone()];
            let with = if together { With::Parent(table) } else { With::Nothing };
            return Ok(Some(Read { with, ..main.clone() }));
        }
        let towards = self.select.joins.iter().find_map(|(left, right)| {
            let (own, other) = if left.0 == main.table { (left, right) } else { (right, left) };
            let attribute = entities.attribute(main.table, &own.1);
            (own.0 == main.table
                && other.0 == table
                && entities.parent(main.table, &attribute) == Some(table))
            .then_some(attribute)
        });
        let Some(attribute) = towards else { return self.belonging(main, table, tally) };
        let mut read = main.clone();
        read.with = With::OtherEnd { attribute, table };
        Ok(Some(read))
    }

    /// The second step of a join that leads from a row to those that refer to it.
    fn belonging(&self, main: &Read, table: usize, tally: &Tally) -> Result<Option<Read>, String> {
        let (entities, names) = (self.entities, &self.entities.names);
        let fields = self.select.joins.iter().flat_map(|(left, right)| [left, right]);
        let attributes =
            fields.filter(|field| field.0 == table).map(|field| entities.attribute(table, &field.1));
        let reference = attributes.into_iter().find(|name| entities.parent(table, name) == Some(main.table));
        match reference {
            Some(reference) if main.is_single(entities) => {
                let mut read = self.read(table, tally)?;
                read.remarks
                    .push(format!("{reference} is that of the {}, which is read first.", names[main.table]));
                read.equals.push(reference);
                Ok(Some(read))
            }
            Some(_) => Err(format!(
                "it leads from several {} to the {} of each: they are two patterns",
                plural(&names[main.table]),
                plural(&names[table])
            )),
            None => Err(format!(
                "{} and {} are not joined along a foreign key: they are two patterns",
                names[main.table], names[table]
            )),
        }
    }

    /// Whether a join alone gives an attribute its value.
    fn is_joined(&self, table: usize, name: &str) -> bool {
        let own = |field: &Field| field.0 == table && self.entities.attribute(table, &field.1) == name;
        !self.select.equals.iter().any(own)
    }

    /// The fields that are equal to one by joins.
    fn linked(&self, field: &Field) -> BTreeSet<Field> {
        let mut linked: BTreeSet<Field> = [field.clone()].into();
        for _ in 0..self.select.tables.len() {
            for (left, right) in &self.select.joins {
                if linked.contains(left) || linked.contains(right) {
                    linked.extend([left.clone(), right.clone()]);
                }
            }
        }
        linked
    }
}
