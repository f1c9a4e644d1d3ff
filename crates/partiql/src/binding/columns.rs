//! Binds the columns of a SELECT to a projection. A column is named after the last name of its path: `b` for `a.b`,
//! `b[0]` for `a.b[0]`.

use crate::binding::condition::bound_path;
use crate::error::{Problem, StatementError};
use crate::syntax::{Expression, ExpressionKind, Selected};
use partita_expression::{Column, Path, Projection, Step};
use std::collections::HashSet;

/// Returns `None` for `*`.
pub(crate) fn bind(selected: &Selected) -> Result<Option<Projection>, StatementError> {
    let Selected::Expressions(expressions) = selected else { return Ok(None) };
    let mut columns: Vec<Column> = Vec::with_capacity(expressions.len());
    let mut names = HashSet::with_capacity(expressions.len());
    for expression in expressions {
        let column = column(expression)?;
        if !names.insert(column.name.clone()) {
            return Err(Problem::DuplicateColumn(column.name).into());
        }
        columns.push(column);
    }
    Ok(Some(Projection::from_columns(columns)))
}

fn column(expression: &Expression) -> Result<Column, StatementError> {
    let ExpressionKind::Path(path) = &expression.kind else {
        return Err(Problem::UnexpectedPath(expression.span).into());
    };
    let path = bound_path(path)?;
    Ok(Column { name: column_name(&path), path })
}

fn column_name(path: &Path) -> String {
    let mut name = path.root.to_string();
    for step in &path.steps {
        match step {
            Step::Attribute(attribute) => name = attribute.to_string(),
            Step::Index(index) => name.push_str(&format!("[{index}]")),
        }
    }
    name
}
