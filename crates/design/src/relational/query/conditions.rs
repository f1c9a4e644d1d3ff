//! The tests of a WHERE or an ON: what equals a value, what is bounded, what equals another column.

use super::{Field, Select, answer};
use crate::model::value_type::ValueType;
use crate::relational::column_types;
use crate::relational::schema::Schema;
use crate::relational::statement::{Cursor, split};
use crate::relational::tokens::{Kind, Token};

/// The tables that a statement's names refer to, with their aliases.
pub(super) struct Names<'a> {
    pub schema: &'a Schema,
    pub tables: Vec<(usize, Option<String>)>,
}

impl Names<'_> {
    /// The column that comes next: `id`, `u.id` or `public.users.id`.
    pub fn field(&self, cursor: &mut Cursor<'_>) -> Option<Field> {
        let mut ahead = cursor.clone();
        let mut path = vec![ahead.next()?.name()?];
        while ahead.sees(".") {
            ahead.next();
            path.push(ahead.next()?.name()?);
        }
        let column = path.pop()?;
        let owner = path.pop();
        let named = |number: usize, alias: &Option<String>| {
            owner.is_none_or(|owner| {
                let name = alias.as_ref().unwrap_or(&self.schema.tables[number].name);
                owner.eq_ignore_ascii_case(name)
            })
        };
        let mut tables = self.tables.iter().filter(|(number, alias)| named(*number, alias));
        let found =
            tables.find_map(|(number, _)| Some((*number, self.schema.tables[*number].column(column)?)));
        let (number, column) = found?;
        *cursor = ahead;
        Some((number, column.name.clone()))
    }
}

/// Adds the tests of a condition to a statement's shape.
///
/// Returns the usual answer if a test is none that keys serve.
pub(super) fn read(tokens: &[Token], names: &Names<'_>, select: &mut Select) -> Result<(), String> {
    if split(tokens, |token| token.is("OR")).len() > 1 {
        return Err(answer::EITHER.to_owned());
    }
    for part in conjuncts(tokens) {
        test(part, names, select)?;
    }
    Ok(())
}

/// The parts between AND; that of BETWEEN does not count.
fn conjuncts(tokens: &[Token]) -> Vec<&[Token]> {
    let between = std::cell::Cell::new(false);
    split(tokens, |token| {
        between.set(between.get() || token.is("BETWEEN"));
        token.is("AND") && !between.replace(false)
    })
}

fn test(tokens: &[Token], names: &Names<'_>, select: &mut Select) -> Result<(), String> {
    let mut cursor = Cursor::new(tokens);
    if cursor.sees("(") {
        let inside = cursor.group().unwrap_or_default();
        // Only the first level of parentheses is looked into: more would be read again and again.
        let nested = inside.first().is_some_and(|token| token.is("("));
        return if cursor.tokens.is_empty() && !nested {
            read_plain(inside, names, select)
        } else {
            Err(answer::EXPRESSION.to_owned())
        };
    }
    read_plain_test(cursor, names, select)
}

fn read_plain(tokens: &[Token], names: &Names<'_>, select: &mut Select) -> Result<(), String> {
    if split(tokens, |token| token.is("OR")).len() > 1 {
        return Err(answer::EITHER.to_owned());
    }
    conjuncts(tokens).into_iter().try_for_each(|part| read_plain_test(Cursor::new(part), names, select))
}

fn read_plain_test(mut cursor: Cursor<'_>, names: &Names<'_>, select: &mut Select) -> Result<(), String> {
    let written = written(cursor.tokens);
    if cursor.eat("NOT") || cursor.eat("EXISTS") {
        select.tests.push(written);
        return Ok(());
    }
    let Some(Operand { field, is_rounded }) = operand(&mut cursor, names)? else {
        return if is_constant(cursor.tokens) { Ok(()) } else { Err(answer::EXPRESSION.to_owned()) };
    };
    let Some(operator) = cursor.next() else {
        select.tests.push(written);
        return Ok(());
    };
    match operator.text.to_uppercase().as_str() {
        "=" if !is_rounded => return equals(cursor, field, names, select),
        "IN" if !is_rounded => {
            values_only(cursor.tokens, names)?;
            select.equals.push(field);
        }
        // All the times of a day.
        "=" | "<" | "<=" | ">" | ">=" | "BETWEEN" => {
            values_only(cursor.tokens, names)?;
            select.ranges.push(field);
        }
        "LIKE" if is_prefix(cursor.tokens) => select.ranges.push(field),
        "LIKE" | "ILIKE" | "@@" | "~" | "~*" | "REGEXP" | "MATCH" => return Err(answer::SEARCH.to_owned()),
        "<>" | "!=" | "IS" | "NOT" => select.tests.push(written),
        _ => return Err(answer::EXPRESSION.to_owned()),
    }
    Ok(())
}

fn equals(
    mut cursor: Cursor<'_>,
    field: Field,
    names: &Names<'_>,
    select: &mut Select,
) -> Result<(), String> {
    if let Some(other) = operand(&mut cursor, names)? {
        if other.is_rounded || !cursor.tokens.is_empty() {
            return Err(answer::EXPRESSION.to_owned());
        }
        select.joins.push((field, other.field));
        return Ok(());
    }
    // `= ANY ($1)` is IN, `= ALL ($1)` is not.
    if cursor.sees("ALL") {
        return Err(answer::EXPRESSION.to_owned());
    }
    values_only(cursor.tokens, names)?;
    select.equals.push(field);
    Ok(())
}

/// A column that is compared, and whether its values lose something before: the time of a day.
struct Operand {
    field: Field,
    is_rounded: bool,
}

/// The column that comes next, also one that is cast: `id::text`, `CAST(id AS text)`. `None` leaves the cursor where it is.
fn operand(cursor: &mut Cursor<'_>, names: &Names<'_>) -> Result<Option<Operand>, String> {
    let mut ahead = cursor.clone();
    let mut types = Vec::new();
    let field = if ahead.eat("CAST") {
        let mut inside = Cursor::new(ahead.group().unwrap_or_default());
        let Some(field) = names.field(&mut inside).filter(|_| inside.eat("AS")) else { return Ok(None) };
        types.extend(inside.type_name());
        field
    } else {
        let Some(field) = names.field(&mut ahead) else { return Ok(None) };
        field
    };
    while ahead.eat("::") {
        types.extend(ahead.type_name());
    }
    let column = names.schema.tables[field.0].column(&field.1);
    let mut is_rounded = false;
    for kind in types {
        match cast(column.map(|column| &column.kind), &kind) {
            Cast::Same => {}
            Cast::Rounded => is_rounded = true,
            Cast::Other => return Err(answer::CAST.to_owned()),
        }
    }
    *cursor = ahead;
    Ok(Some(Operand { field, is_rounded }))
}

/// What a cast makes of the values of a column.
enum Cast {
    /// The same, perhaps written otherwise.
    Same,
    /// Something that they have in common with those around them: the day of a time.
    Rounded,
    Other,
}

fn cast(from: Option<&ValueType>, to: &str) -> Cast {
    // The time of a day is none of a calendar, and text only in a model.
    let Some(to) =
        column_types::builtin(to).filter(|_| !to.starts_with("time") || to.starts_with("timestamp"))
    else {
        return Cast::Other;
    };
    let is_text = |kind: &ValueType| matches!(kind, ValueType::String | ValueType::Id | ValueType::Uuid);
    match (from, &to) {
        (Some(ValueType::Timestamp), ValueType::Date) => Cast::Rounded,
        (Some(ValueType::Date), ValueType::Timestamp) => Cast::Same,
        (Some(ValueType::Int), ValueType::Decimal) => Cast::Same,
        (Some(from), to) if from == to || is_text(to) => Cast::Same,
        _ => Cast::Other,
    }
}

/// Refuses what is compared with a column if it is no value.
fn values_only(tokens: &[Token], names: &Names<'_>) -> Result<(), String> {
    if mentions_column(tokens, names) { Err(answer::EXPRESSION.to_owned()) } else { Ok(()) }
}

/// A test of a write besides those that find its row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::relational) enum Check {
    /// A column compares so with a value.
    Compare(String, String),
    /// A column is null, or is not.
    Null(String, bool),
    /// Anything else, as it was written.
    Other(String),
}

/// The tests of a write's condition that are not on the columns which find its row.
pub(super) fn checks(tokens: &[Token], names: &Names<'_>, by: &[String]) -> Vec<Check> {
    let mut checks: Vec<Check> =
        conjuncts(tokens).into_iter().filter_map(|part| check(part, names, by)).collect();
    checks.sort();
    checks.dedup();
    checks
}

fn check(tokens: &[Token], names: &Names<'_>, by: &[String]) -> Option<Check> {
    let mut cursor = Cursor::new(tokens);
    if cursor.sees("(") {
        cursor = Cursor::new(cursor.group().unwrap_or_default());
    }
    let other = Check::Other(written(tokens));
    let column = match operand(&mut cursor, names) {
        Ok(Some(Operand { field: (_, column), is_rounded: false })) => column,
        Ok(None) if is_constant(tokens) => return None,
        _ => return Some(other),
    };
    if by.contains(&column) {
        return None;
    }
    if cursor.eat_all(&["IS", "NULL"]) && cursor.tokens.is_empty() {
        return Some(Check::Null(column, true));
    }
    if cursor.eat_all(&["IS", "NOT", "NULL"]) && cursor.tokens.is_empty() {
        return Some(Check::Null(column, false));
    }
    let operator = cursor.next().map(|token| token.text.clone()).unwrap_or_default();
    let operator = if operator == "!=" { "<>".to_owned() } else { operator };
    let compares = ["=", "<>", "<", "<=", ">", ">="].contains(&operator.as_str());
    let is_list = ["ANY", "SOME", "ALL"].iter().any(|word| cursor.sees(word));
    let plain = !is_list && conjuncts(cursor.tokens).len() == 1 && !mentions_column(cursor.tokens, names);
    Some(if compares && plain { Check::Compare(column, operator) } else { other })
}

/// `LIKE 'abc%'`: only the start is given.
fn is_prefix(tokens: &[Token]) -> bool {
    let [only] = tokens else { return false };
    let inside = only.text.strip_suffix('%').unwrap_or_default();
    only.kind == Kind::Text && !inside.is_empty() && !inside.contains(['%', '_'])
}

/// Whether there is a column among tokens; the names of types and functions are none.
fn mentions_column(tokens: &[Token], names: &Names<'_>) -> bool {
    let mut cursor = Cursor::new(tokens);
    while let Some(token) = cursor.next() {
        if token.is("::") || token.is("AS") {
            cursor.type_name();
            continue;
        }
        // `lower($1)` and `date '2026-04-05'`.
        let is_other = cursor.peek().is_some_and(|next| next.is("(") || next.kind == Kind::Text);
        let Some(name) = token.name().filter(|_| !is_other) else { continue };
        let is_column =
            |(number, _): &(usize, Option<String>)| names.schema.tables[*number].column(name).is_some();
        if names.tables.iter().any(is_column) {
            return true;
        }
    }
    false
}

/// `1 = 1` and `TRUE`, which programs write to append AND.
fn is_constant(tokens: &[Token]) -> bool {
    tokens.iter().all(|token| token.kind == Kind::Number || token.is("=") || token.is("TRUE"))
}

/// The first words of a test or a statement as it was written, without its values.
pub(super) fn written(tokens: &[Token]) -> String {
    let word = |token: &Token| match token.kind {
        Kind::Text | Kind::Number | Kind::Parameter => "?".to_owned(),
        _ => token.text.clone(),
    };
    let words: Vec<String> = tokens.iter().take(40).map(word).collect();
    words.join(" ").replace(" . ", ".")
}
