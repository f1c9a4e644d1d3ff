//! What a SELECT lists → projection. A path's last name becomes the attribute's: `a.b` is `b`, `a.b[0]` is `b[0]`.

use crate::condition::bound_path;
use crate::error::{Problem, StatementError};
use crate::syntax::{Expression, ExpressionKind, Selected};
use partita_expression::{Column, Path, Projection, Step};
use std::collections::HashSet;

/// `None` is `*`.
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
        return Err(Problem::UnexpectedPath(expression.place).into());
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
