//! The shape of a statement: which table it reads or writes, by which columns, in which order. Values do not belong to it.

mod conditions;
mod select;

pub(super) use conditions::Check;
pub(super) use select::limit;

use super::schema::Schema;
use super::statement::{Cursor, split_commas};
use super::tokens::Token;

/// A column of one of a statement's tables: the number of the table in the schema, and the name as the schema has it.
pub(super) type Field = (usize, String);

/// A statement without its values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Statement {
    Select(Select),
    Insert {
        table: usize,
        /// Whether a row that exists is replaced or changed.
        replaces: bool,
    },
    Update {
        table: usize,
        set: Vec<String>,
        row: Row,
    },
    Delete {
        table: usize,
        row: Row,
    },
    Begin,
    Commit,
    Rollback,
    /// Not about data: SET, SHOW, DDL.
    Other,
    /// What no access pattern is for: its text without values, and the usual answer.
    Unsupported {
        text: String,
        answer: String,
    },
}

/// How a write finds its row.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    /// The columns that identify it.
    pub by: Vec<String>,
    /// What else must hold, so that it is written.
    pub checks: Vec<conditions::Check>,
}

/// A SELECT.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Select {
    /// The tables, in the order of the statement.
    pub tables: Vec<usize>,
    /// The columns that equal a value.
    pub equals: Vec<Field>,
    /// The columns that are equal to each other.
    pub joins: Vec<(Field, Field)>,
    /// The columns that a value bounds.
    pub ranges: Vec<Field>,
    /// The order, and whether it is descending.
    pub order: Vec<(Field, bool)>,
    /// Whether only the first rows are wanted.
    pub limited: bool,
    /// Whether the first rows are skipped.
    pub skips: bool,
    /// What is tested besides, and has to be decided: `deleted_at IS NULL`.
    pub tests: Vec<String>,
}

/// The usual answers to what a key cannot do.
pub(super) mod answer {
    pub const AGGREGATE: &str = "counts and sums are kept at write time, in an item that the same transaction updates; reports belong in an export";
    pub const SUBQUERY: &str =
        "a subquery is a pattern of its own: ask it first, then this one with its result";
    pub const EITHER: &str = "alternatives are several patterns: one for each side of the OR";
    pub const SEARCH: &str = "text is not searched by keys: feed a search service from the table's stream, or query a prefix of the sort key";
    pub const EXPRESSION: &str =
        "a key holds values and not expressions: store the computed value in an attribute of its own";
    pub const CAST: &str = "a key holds the values of the column, which the cast changes: store what it makes of them in an attribute of its own";
    pub const ORDER: &str = "keys sort by attributes: store what it sorts by in an attribute of its own, or sort in the application";
    pub const SET: &str =
        "a union or a common table expression is several patterns, whose results the application combines";
    pub const PREPARED: &str = "the log does not say what was prepared under this name";
    pub const TRANSACTION: &str = "statistics do not tell which writes are in one transaction: write those that belong together as one write with `transact`";
    pub const EVERY: &str = "rows that are chosen by no key are found by reading them all: declare the pattern that finds them, and write them one by one";
}

/// Reads a statement.
pub(super) fn parse(tokens: &[Token], schema: &Schema) -> Statement {
    let mut cursor = Cursor::new(tokens);
    let Some(first) = cursor.next() else { return Statement::Other };
    let word = first.text.to_uppercase();
    let statement = match word.as_str() {
        "PREPARE" => return prepared(cursor.tokens, schema),
        "EXECUTE" => Err(answer::PREPARED.to_owned()),
        "SELECT" => select::parse(cursor, schema).map(Statement::Select),
        "WITH" => Err(answer::SET.to_owned()),
        "INSERT" => insert(cursor, schema, false),
        "REPLACE" => insert(cursor, schema, true),
        "UPDATE" => update(cursor, schema),
        "DELETE" => delete(cursor, schema),
        "BEGIN" | "START" => Ok(Statement::Begin),
        "COMMIT" | "END" => Ok(Statement::Commit),
        "ROLLBACK" => Ok(Statement::Rollback),
        _ => Ok(Statement::Other),
    };
    statement.unwrap_or_else(|answer| Statement::Unsupported { text: conditions::written(tokens), answer })
}

/// The statement of `PREPARE name (types) AS statement`.
fn prepared(tokens: &[Token], schema: &Schema) -> Statement {
    let start = tokens.iter().position(|token| token.is("AS"));
    start.map_or(Statement::Other, |start| parse(&tokens[start + 1..], schema))
}

/// The number of a table, or why there is none.
fn table(name: Option<String>, schema: &Schema) -> Result<usize, String> {
    let name = name.ok_or_else(|| answer::SUBQUERY.to_owned())?;
    let found = schema.tables.iter().position(|table| table.name.eq_ignore_ascii_case(&name));
    found.ok_or_else(|| format!("the schema has no table {name}"))
}

fn insert(mut cursor: Cursor<'_>, schema: &Schema, replaces: bool) -> Result<Statement, String> {
    let replaces = replaces || cursor.eat_all(&["OR", "REPLACE"]);
    while ["OR", "IGNORE", "INTO", "LOW_PRIORITY"].iter().any(|word| cursor.eat(word)) {}
    let table = table(cursor.name(), schema)?;
    if cursor.tokens.iter().any(|token| token.is("SELECT")) {
        return Err(answer::SUBQUERY.to_owned());
    }
    let follows = |words: &[&str]| {
        cursor
            .tokens
            .windows(words.len())
            .any(|found| found.iter().zip(words).all(|(own, word)| own.is(word)))
    };
    let replaces = replaces || follows(&["DO", "UPDATE"]) || follows(&["ON", "DUPLICATE", "KEY", "UPDATE"]);
    Ok(Statement::Insert { table, replaces })
}

fn update(mut cursor: Cursor<'_>, schema: &Schema) -> Result<Statement, String> {
    cursor.eat("ONLY");
    let table = table(cursor.name(), schema)?;
    while cursor.peek().is_some_and(|token| !token.is("SET")) {
        cursor.next();
    }
    cursor.eat("SET");
    let end = cursor.tokens.iter().position(|token| token.is("WHERE")).unwrap_or(cursor.tokens.len());
    let (assignments, rest) = cursor.tokens.split_at(end);
    let mut set: Vec<String> = Vec::new();
    for assignment in split_commas(assignments) {
        let column = Cursor::new(assignment).name().and_then(|name| schema.tables[table].column(&name));
        set.extend(column.map(|column| column.name.clone()));
    }
    set.sort();
    set.dedup();
    let row = row(rest, table, schema)?;
    Ok(Statement::Update { table, set, row })
}

fn delete(mut cursor: Cursor<'_>, schema: &Schema) -> Result<Statement, String> {
    cursor.eat("FROM");
    cursor.eat("ONLY");
    let table = table(cursor.name(), schema)?;
    while cursor.peek().is_some_and(|token| !token.is("WHERE")) {
        cursor.next();
    }
    let row = row(cursor.tokens, table, schema)?;
    Ok(Statement::Delete { table, row })
}

/// How a write finds its row, and what it tests besides.
fn row(tokens: &[Token], table: usize, schema: &Schema) -> Result<Row, String> {
    let mut cursor = Cursor::new(tokens);
    if !cursor.eat("WHERE") {
        return Err(answer::EVERY.to_owned());
    }
    let end = cursor.tokens.iter().position(|token| token.is("RETURNING") || token.is("LIMIT"));
    let condition = &cursor.tokens[..end.unwrap_or(cursor.tokens.len())];
    let mut select = Select { tables: vec![table], ..Select::default() };
    let names = conditions::Names { schema, tables: vec![(table, None)] };
    conditions::read(condition, &names, &mut select)?;
    let equal: Vec<&str> = select.equals.iter().map(|(_, column)| column.as_str()).collect();
    let Some(key) = schema.tables[table].key_among(&equal) else { return Err(answer::EVERY.to_owned()) };
    let mut by: Vec<String> = key.to_vec();
    by.sort();
    Ok(Row { checks: conditions::checks(condition, &names, &by), by })
}
