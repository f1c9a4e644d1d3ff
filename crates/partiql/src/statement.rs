//! A statement with its parameters in place: what it asks of which table.

use crate::error::StatementError;
use crate::syntax::ParsedStatement;
use crate::{binding, statement_parser};
use partita_expression::{Condition, Parsed, Projection, parsed_once};
use partita_value::names::TableName;
use partita_value::{Item, Value};
use std::cell::RefCell;

#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Select(Select),
    /// Only transactions that write have these.
    Exists(Select),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    pub table: TableName,
    pub index: Option<String>,
    /// `None` is `*`.
    pub projection: Option<Projection>,
    pub condition: Option<Condition>,
    pub order: Vec<Order>,
}

/// One term of `ORDER BY`.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    pub attribute: String,
    pub descending: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    pub table: TableName,
    pub item: Item,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    pub table: TableName,
    pub update: partita_expression::Update,
    pub condition: Option<Condition>,
    pub returning: Option<Returning>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    pub table: TableName,
    pub condition: Option<Condition>,
    /// Whether the item that was there is wanted.
    pub returning: bool,
}

/// `RETURNING`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returning {
    AllOld,
    ModifiedOld,
    AllNew,
    ModifiedNew,
}

thread_local! {
    static STATEMENTS: Parsed<ParsedStatement> = RefCell::default();
}

impl Statement {
    /// Parses the text, or takes what was parsed before, and puts the parameters in their places.
    pub fn parse(text: &str, parameters: &[Value]) -> Result<Statement, StatementError> {
        let parsed = parsed_once(&STATEMENTS, text, || statement_parser::parse(text))?;
        binding::bind(&parsed, parameters)
    }

    pub fn table(&self) -> &TableName {
        match self {
            Statement::Select(select) | Statement::Exists(select) => &select.table,
            Statement::Insert(insert) => &insert.table,
            Statement::Update(update) => &update.table,
            Statement::Delete(delete) => &delete.table,
        }
    }

    /// Whether it only reads. EXISTS belongs to writes.
    pub fn is_read(&self) -> bool {
        matches!(self, Statement::Select(_))
    }

    /// Whether it wants to be told of the item it changed.
    pub fn has_returning(&self) -> bool {
        match self {
            Statement::Update(update) => update.returning.is_some(),
            Statement::Delete(delete) => delete.returning,
            Statement::Select(_) | Statement::Exists(_) | Statement::Insert(_) => false,
        }
    }
}
