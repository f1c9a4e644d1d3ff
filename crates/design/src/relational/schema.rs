//! A relational schema as data.

use crate::model::value_type::ValueType;

/// The tables of a schema, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The tables.
    pub tables: Vec<Table>,
    /// What was not understood, with its line.
    pub(super) remarks: Vec<(usize, String)>,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The name, without the schema's.
    pub name: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The columns of the primary key.
    pub primary_key: Vec<String>,
    /// The unique constraints, each with its columns.
    pub unique: Vec<Vec<String>>,
    /// The indexes, each with its columns.
    pub indexes: Vec<Vec<String>>,
    /// The foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// The line it is created in.
    pub line: usize,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type of the attribute it becomes.
    pub kind: ValueType,
    /// Whether it may be null.
    pub nullable: bool,
}

/// A foreign key.
#[derive(Clone, Debug)]
pub struct ForeignKey {
    /// The columns.
    pub columns: Vec<String>,
    /// The table they refer to.
    pub table: String,
    /// The columns they refer to; its primary key if empty.
    pub to: Vec<String>,
}

impl Schema {
    /// Returns the table with this name, in any case.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }
}

impl Table {
    /// Returns the column with this name, in any case.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    pub(super) fn column_mut(&mut self, name: &str) -> Option<&mut Column> {
        self.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Returns the foreign key of a single column.
    pub fn reference(&self, column: &str) -> Option<&ForeignKey> {
        let of = |key: &&ForeignKey| key.columns.len() == 1 && key.columns[0].eq_ignore_ascii_case(column);
        self.foreign_keys.iter().find(of)
    }

    /// Returns the primary key or the unique constraint whose columns are all among these: they identify one row.
    pub fn key_among(&self, columns: &[&str]) -> Option<&[String]> {
        let covered = |key: &&Vec<String>| {
            !key.is_empty() && key.iter().all(|own| columns.iter().any(|name| name.eq_ignore_ascii_case(own)))
        };
        std::iter::once(&self.primary_key).chain(&self.unique).find(covered).map(Vec::as_slice)
    }
}
