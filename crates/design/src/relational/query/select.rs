//! The shape of a SELECT: its clauses, tables and order.

use super::conditions::{self, Names};
use super::{Select, answer, table};
use crate::relational::schema::Schema;
use crate::relational::statement::{Cursor, split_commas};
use crate::relational::tokens::{Kind, Token};

/// The most tables of a statement that are told apart.
const MAX_TABLES: usize = 16;
/// The most conditions of a statement.
const MAX_CONDITIONS: usize = 64;
const CLAUSES: [&str; 9] = ["FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "FETCH", "FOR"];
const AGGREGATES: [&str; 9] =
    ["count", "sum", "avg", "min", "max", "array_agg", "string_agg", "json_agg", "group_concat"];

/// Reads what follows the word SELECT.
pub(super) fn parse(cursor: Cursor<'_>, schema: &Schema) -> Result<Select, String> {
    let clauses = clauses(cursor.tokens)?;
    let clause = |name: &str| clauses.iter().find(|(word, _)| *word == name).map(|(_, tokens)| *tokens);
    refuse_aggregates(clause("").unwrap_or_default(), &clauses)?;
    let Some(from) = clause("FROM") else { return Err("it reads no table".to_owned()) };
    let mut select = Select::default();
    let mut names = Names { schema, tables: Vec::new() };
    let joined = tables(from, &mut names)?;
    select.tables = names.tables.iter().map(|(number, _)| *number).collect();
    for condition in joined.into_iter().chain(clause("WHERE")) {
        conditions::read(condition, &names, &mut select)?;
    }
    for part in split_commas(clause("ORDER").unwrap_or_default()) {
        order(part, &names, &mut select)?;
    }
    let all = |limit: &[Token]| limit.first().is_some_and(|token| token.is("ALL") || token.is("NULL"));
    select.limited = clause("LIMIT").or(clause("FETCH")).is_some_and(|limit| !all(limit));
    let skips_in_limit = clause("LIMIT").is_some_and(|limit| split_commas(limit).len() > 1);
    select.skips = skips_in_limit || clause("OFFSET").is_some_and(|skipped| !is_zero(skipped));
    for list in [&mut select.equals, &mut select.ranges] {
        list.sort();
        list.dedup();
        if list.len() > MAX_CONDITIONS {
            return Err(format!("it has more than {MAX_CONDITIONS} conditions"));
        }
    }
    select.joins.truncate(MAX_CONDITIONS);
    select.tests.sort();
    select.tests.dedup();
    Ok(select)
}

fn is_zero(tokens: &[Token]) -> bool {
    tokens.first().is_some_and(|token| token.text == "0")
}

/// The number of rows that a SELECT's LIMIT or FETCH names: in `LIMIT 20, 10`, the second; in `FETCH FIRST ROW ONLY`, 1.
pub(in crate::relational) fn limit(tokens: &[Token]) -> Option<u64> {
    let at = tokens.iter().rposition(|token| token.is("LIMIT") || token.is("FETCH"))?;
    let number = |tokens: &[Token]| {
        let found = tokens.iter().take(3).find(|token| token.kind == Kind::Number);
        found.and_then(|token| token.text.parse().ok())
    };
    match &tokens[at..] {
        [_, _, comma, limit, ..] if comma.is(",") => number(std::slice::from_ref(limit)),
        [fetch, _, rows, ..] if fetch.is("FETCH") && (rows.is("ROW") || rows.is("ROWS")) => Some(1),
        clause => number(clause),
    }
}

/// The clauses of a SELECT by their first word; the list of columns has none.
fn clauses(tokens: &[Token]) -> Result<Vec<(&'static str, &[Token])>, String> {
    let (mut clauses, mut word, mut start, mut depth) = (Vec::new(), "", 0, 0);
    for (at, token) in tokens.iter().enumerate() {
        depth += i32::from(token.is("(")) - i32::from(token.is(")"));
        if depth > 0 && token.is("SELECT") {
            return Err(answer::SUBQUERY.to_owned());
        }
        if depth == 0 && ["UNION", "INTERSECT", "EXCEPT"].iter().any(|set| token.is(set)) {
            return Err(answer::SET.to_owned());
        }
        if let Some(next) = CLAUSES.iter().find(|clause| depth == 0 && token.is(clause)) {
            clauses.push((word, &tokens[start..at]));
            (word, start) = (next, at + 1);
        }
    }
    clauses.push((word, &tokens[start..]));
    Ok(clauses)
}

fn refuse_aggregates(columns: &[Token], clauses: &[(&str, &[Token])]) -> Result<(), String> {
    let called = |pair: &[Token]| {
        pair[1].is("(") && AGGREGATES.iter().any(|name| pair[0].is(name))
            || pair[0].is("OVER") && pair[1].is("(")
    };
    let grouped = clauses.iter().any(|(word, _)| ["GROUP", "HAVING"].contains(word));
    let distinct = columns.first().is_some_and(|token| token.is("DISTINCT"));
    if grouped || distinct || columns.windows(2).any(called) {
        Err(answer::AGGREGATE.to_owned())
    } else {
        Ok(())
    }
}

/// The tables of FROM, and the conditions of its joins.
fn tables<'a>(tokens: &'a [Token], names: &mut Names<'_>) -> Result<Vec<&'a [Token]>, String> {
    let mut cursor = Cursor::new(tokens);
    let mut conditions = Vec::new();
    loop {
        let kinds = [
            "INNER",
            "LEFT",
            "RIGHT",
            "FULL",
            "OUTER",
            "CROSS",
            "NATURAL",
            "JOIN",
            ",",
            "LATERAL",
            "ONLY",
            "STRAIGHT_JOIN",
        ];
        while kinds.iter().any(|word| cursor.eat(word)) {}
        if cursor.peek().is_none() {
            return Ok(conditions);
        }
        if names.tables.len() == MAX_TABLES {
            return Err(format!("it joins more than {MAX_TABLES} tables"));
        }
        let number = table(cursor.name(), names.schema)?;
        cursor.eat("AS");
        let ends = |token: &Token| {
            ["ON", "USING", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "JOIN", "STRAIGHT_JOIN"]
                .iter()
                .any(|end| token.is(end))
        };
        let alias =
            cursor.peek().filter(|token| !ends(token)).and_then(|token| token.name()).map(str::to_owned);
        if alias.is_some() {
            cursor.next();
        }
        names.tables.push((number, alias));
        if cursor.sees("USING") {
            return Err("USING joins by a column's name: write ON with both columns".to_owned());
        }
        if cursor.eat("ON") {
            let starts = |token: &Token| ends(token) || token.is(",");
            let end = end_of_condition(cursor.tokens, starts);
            let (condition, rest) = cursor.tokens.split_at(end);
            conditions.push(condition);
            cursor.tokens = rest;
        }
    }
}

fn end_of_condition(tokens: &[Token], starts: impl Fn(&Token) -> bool) -> usize {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        depth += i32::from(token.is("(")) - i32::from(token.is(")"));
        depth == 0 && starts(token)
    });
    end.unwrap_or(tokens.len())
}

/// One part of ORDER BY; the word BY itself precedes the first.
fn order(part: &[Token], names: &Names<'_>, select: &mut Select) -> Result<(), String> {
    let mut cursor = Cursor::new(part);
    cursor.eat("BY");
    let field = names.field(&mut cursor).ok_or_else(|| answer::ORDER.to_owned())?;
    if cursor.eat("COLLATE") {
        cursor.name();
    }
    let descending = cursor.eat("DESC");
    cursor.eat("ASC");
    if cursor.eat("NULLS") {
        cursor.next();
    }
    if !cursor.tokens.is_empty() {
        return Err(answer::ORDER.to_owned());
    }
    select.order.push((field, descending));
    Ok(())
}
