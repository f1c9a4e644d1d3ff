//! Converts literals to values. Error messages give the path of the invalid part, such as `root.a[0]`.

use crate::error::{Problem, StatementError};
use crate::syntax::statement_parser::kind_name;
use crate::syntax::token::SourceSpan;
use crate::syntax::{Expression, ExpressionKind};
use partita_value::limits::NESTING_LEVELS;
use partita_value::{Encoder, Item, ItemBuilder, Number, Value};
use std::collections::HashSet;

/// Returns the value of a literal or a parameter.
pub(crate) fn value(expression: &Expression, parameters: &[Value]) -> Result<Value, StatementError> {
    if let ExpressionKind::Parameter(position) = expression.kind {
        return parameters.get(position).cloned().ok_or_else(|| Problem::ParameterCount.into());
    }
    let mut encoder = Encoder::new();
    write(&mut encoder, expression, &mut vec!["root".to_owned()])?;
    Ok(Value::from_encoder(encoder))
}

/// Returns the item of an INSERT.
pub(crate) fn item(expression: &Expression, parameters: &[Value]) -> Result<Item, StatementError> {
    let ExpressionKind::Map(members) = &expression.kind else { return Err(Problem::ItemFormat.into()) };
    let mut builder = ItemBuilder::default();
    let mut names = HashSet::with_capacity(members.len());
    for (name, member) in members {
        let name = new_name(name, &mut names, &["root".to_owned()])?;
        let value = value(member, parameters)?;
        builder.encoder().entry(name, value.view());
    }
    Ok(builder.finish())
}

/// Checks that a name is valid and not in the map yet.
fn new_name<'a>(
    name: &'a Expression,
    names: &mut HashSet<&'a str>,
    path: &[String],
) -> Result<&'a str, StatementError> {
    let ExpressionKind::Text(text) = &name.kind else {
        return Err(Problem::NameType(kind_name(name), path.concat()).into());
    };
    if text.is_empty() {
        return Err(Problem::EmptyName.into());
    }
    if !names.insert(text) {
        return Err(Problem::DuplicateName(text.clone(), path.concat()).into());
    }
    Ok(text)
}

/// Writes the value at `path`, whose length is the nesting level.
fn write(
    encoder: &mut Encoder,
    expression: &Expression,
    path: &mut Vec<String>,
) -> Result<(), StatementError> {
    if path.len() > NESTING_LEVELS {
        return Err(Problem::ValueNesting(path.concat()).into());
    }
    match &expression.kind {
        ExpressionKind::Text(text) => encoder.string(text),
        ExpressionKind::Number(number) => {
            encoder.number_text(number).map_err(|error| Problem::Number(error, path.concat()))?;
        }
        ExpressionKind::Boolean(value) => encoder.boolean(*value),
        ExpressionKind::Null => encoder.null(),
        ExpressionKind::Missing => return Err(Problem::MissingLiteral.into()),
        ExpressionKind::List(members) => {
            let mark = encoder.begin_list();
            for (index, member) in members.iter().enumerate() {
                path.push(format!("[{index}]"));
                write(encoder, member, path)?;
                path.pop();
            }
            encoder.end_list(mark);
        }
        ExpressionKind::Map(members) => {
            let mark = encoder.begin_map();
            let mut names = HashSet::with_capacity(members.len());
            for (name, member) in members {
                let name = new_name(name, &mut names, path)?;
                encoder.name(name);
                path.push(format!(".{name}"));
                write(encoder, member, path)?;
                path.pop();
            }
            encoder.end_map(mark);
        }
        ExpressionKind::Bag(members) => write_bag(encoder, members, expression.span, path)?,
        _ => return Err(not_a_literal(expression, &path.concat()).into()),
    }
    Ok(())
}

fn not_a_literal(expression: &Expression, path: &str) -> Problem {
    let name = match &expression.kind {
        ExpressionKind::Call(name, _) => name.clone(),
        _ => kind_name(expression).to_owned(),
    };
    Problem::DataType(name, path.to_owned(), expression.span)
}

/// Writes a set: strings or numbers, without duplicates.
fn write_bag(
    encoder: &mut Encoder,
    members: &[Expression],
    span: SourceSpan,
    path: &[String],
) -> Result<(), StatementError> {
    let mut texts = Vec::new();
    let mut numbers = Vec::new();
    for (index, member) in members.iter().enumerate() {
        match &member.kind {
            ExpressionKind::Text(text) => texts.push(text.as_str()),
            ExpressionKind::Number(number) => numbers.push(number.as_str()),
            ExpressionKind::Parameter(_) => {
                return Err(not_a_literal(member, &format!("{}[{index}]", path.concat())).into());
            }
            _ => return Err(Problem::BagMember(member.span).into()),
        }
    }
    match (texts.as_slice(), numbers.as_slice()) {
        ([], []) => Err(Problem::EmptyBag(span).into()),
        (texts, []) => {
            encoder.string_set(texts).map_err(|_| Problem::DuplicateTexts(texts.join(", ")).into())
        }
        ([], numbers) => {
            let parse =
                |number: &&str| Number::parse(number).map_err(|error| Problem::Number(error, path.concat()));
            let values = numbers.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
            let duplicates = |_| Problem::DuplicateNumbers(numbers.join(", "), path.concat()).into();
            encoder.number_set(&values).map_err(duplicates)
        }
        _ => Err(Problem::MixedBag.into()),
    }
}
