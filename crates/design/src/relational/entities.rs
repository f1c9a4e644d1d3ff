//! The entities of a schema: each table is one, and a table that only connects two others is a relationship.

use super::naming::{self, free_name};
use super::schema::{Column, ForeignKey, Schema, Table};
use crate::model::value_type::ValueType;
use std::collections::BTreeMap;

/// A schema with the names that its tables and columns have in the model.
pub(super) struct Entities<'a> {
    pub schema: &'a Schema,
    /// The entity of each table.
    pub names: Vec<String>,
    columns: Vec<Columns>,
}

/// The columns of a table by name.
struct Columns {
    attributes: Vec<String>,
    /// The number of each column, by its name in lower case.
    by_name: BTreeMap<String, usize>,
    by_attribute: BTreeMap<String, usize>,
    /// The attributes that identify an item.
    identity: Vec<String>,
}

impl<'a> Entities<'a> {
    pub fn new(schema: &'a Schema) -> Entities<'a> {
        let mut names: Vec<String> = Vec::new();
        for table in &schema.tables {
            let own = naming::entity(&table.name);
            let own = if own.is_empty() { "Entity" } else { own.as_str() };
            names.push(free_name(own, |name| names.iter().any(|taken| taken == name)));
        }
        let attributes = naming::attributes(schema);
        let columns = schema.tables.iter().zip(attributes).map(|(table, names)| Columns::new(table, names));
        Entities { schema, names, columns: columns.collect() }
    }

    pub fn table(&self, number: usize) -> &'a Table {
        &self.schema.tables[number]
    }

    /// The attribute of a column.
    pub fn attribute(&self, number: usize, column: &str) -> String {
        self.columns[number].attribute(column)
    }

    /// The attributes of columns.
    pub fn attributes(&self, number: usize, columns: &[String]) -> Vec<String> {
        columns.iter().map(|column| self.attribute(number, column)).collect()
    }

    /// The attributes that identify an item.
    pub fn identity(&self, number: usize) -> Vec<String> {
        self.columns[number].identity.clone()
    }

    /// The type of an attribute.
    pub fn kind(&self, number: usize, attribute: &str) -> Option<&'a ValueType> {
        self.column_of(number, attribute).map(|column| &column.kind)
    }

    /// Whether an attribute may be absent; what identifies an item may not.
    pub fn is_optional(&self, number: usize, attribute: &str) -> bool {
        let nullable = self.column_of(number, attribute).is_some_and(|column| column.nullable);
        nullable && !self.columns[number].identity.iter().any(|own| own == attribute)
    }

    fn column_of(&self, number: usize, attribute: &str) -> Option<&'a Column> {
        self.columns[number].by_attribute.get(attribute).map(|at| &self.table(number).columns[*at])
    }

    /// The number of the table that an attribute refers to by its identifier.
    pub fn parent(&self, number: usize, attribute: &str) -> Option<usize> {
        let column = self.column_of(number, attribute)?;
        self.parent_of(self.table(number).reference(&column.name)?)
    }

    /// The number of the table that a foreign key refers to by its primary key of one column.
    fn parent_of(&self, key: &ForeignKey) -> Option<usize> {
        let parent =
            self.schema.tables.iter().position(|table| table.name.eq_ignore_ascii_case(&key.table))?;
        let primary = &self.table(parent).primary_key;
        let fits = match key.to.as_slice() {
            [] => primary.len() == 1,
            [to] => matches!(primary.as_slice(), [own] if own.eq_ignore_ascii_case(to)),
            _ => false,
        };
        fits.then_some(parent)
    }

    /// The attributes that refer to another table.
    pub fn references(&self, number: usize) -> Vec<String> {
        let table = self.table(number);
        let single =
            table.foreign_keys.iter().filter(|key| key.columns.len() == 1 && self.parent_of(key).is_some());
        let mut names: Vec<String> = single.map(|key| self.attribute(number, &key.columns[0])).collect();
        names.dedup();
        names
    }

    /// The two attributes that a table connects, if it is nothing but a relationship: they identify its rows, and nothing refers to it.
    pub fn edge(&self, number: usize) -> Option<[String; 2]> {
        let table = self.table(number);
        let references = self.references(number);
        let [from, to] = references.as_slice() else { return None };
        let both = [from.as_str(), to.as_str()];
        let identity = self.identity(number);
        let keyed = identity.len() == 2 && identity.iter().all(|name| both.contains(&name.as_str()));
        // A primary key of several columns says what identifies a row.
        let constrained = identity.len() == 1
            && table.unique.iter().any(|columns| {
                columns.len() == 2
                    && self.attributes(number, columns).iter().all(|name| both.contains(&name.as_str()))
            });
        let referred =
            self.schema.tables.iter().any(|other| {
                other.foreign_keys.iter().any(|key| key.table.eq_ignore_ascii_case(&table.name))
            });
        (keyed || (constrained && !referred)).then(|| [from.clone(), to.clone()])
    }

    /// Whether values of these attributes identify one item.
    pub fn identifies(&self, number: usize, attributes: &[String]) -> bool {
        let table = self.table(number);
        let unique = table.unique.iter().filter(|key| !key.is_empty());
        let unique = unique.map(|key| self.attributes(number, key));
        let mut keys = std::iter::once(self.identity(number)).chain(unique);
        keys.any(|key| key.iter().all(|name| attributes.contains(name)))
    }
}

impl Columns {
    fn new(table: &Table, attributes: Vec<String>) -> Columns {
        let names = table.columns.iter().map(|column| column.name.to_lowercase());
        let by_name = names.zip(0..).collect();
        let by_attribute = attributes.iter().cloned().zip(0..).collect();
        let mut columns = Columns { attributes, by_name, by_attribute, identity: Vec::new() };
        columns.identity = identity(table).iter().map(|column| columns.attribute(column)).collect();
        columns
    }

    fn attribute(&self, column: &str) -> String {
        let at = self.by_name.get(&column.to_lowercase());
        at.map_or(column, |at| self.attributes[*at].as_str()).to_owned()
    }
}

/// The columns that identify a row; without a primary key, those of a unique constraint, or the first column, with a time if that refers
/// to another table.
fn identity(table: &Table) -> Vec<String> {
    let unique = table.unique.iter().find(|columns| !columns.is_empty());
    match (table.primary_key.is_empty(), unique) {
        (false, _) => table.primary_key.clone(),
        (true, Some(columns)) => columns.clone(),
        (true, None) => first_columns(table),
    }
}

fn first_columns(table: &Table) -> Vec<String> {
    let columns: Vec<&Column> = table.columns.iter().filter(|column| !column.nullable).collect();
    let mut columns = if columns.is_empty() { table.columns.iter().collect() } else { columns };
    let is_reference = columns.first().is_some_and(|own| table.reference(&own.name).is_some());
    let time = columns.iter().position(|column| column.kind.is_time()).filter(|at| *at > 0);
    if let (true, Some(at)) = (is_reference, time) {
        columns.swap(1, at);
    }
    let count = if is_reference { 2 } else { 1 };
    columns.iter().take(count).map(|column| column.name.clone()).collect()
}
