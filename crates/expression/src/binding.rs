//! Binding, the second phase of every expression: resolves the placeholders of a syntax tree to the request's
//! names and values and records which were used.

use crate::error::Problem;
use crate::path::Collision;
use crate::path::lookup::FEW_PATHS;
use crate::path::tree::first_collision;
use crate::syntax::{Name, PathStep, PathSyntax, ValueSyntax};
use crate::{ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Path, Step, Usage};
use partita_value::Value;
use std::sync::Arc;

pub(crate) struct Binder<'a> {
    /// `None` for part of a PartiQL statement, whose errors do not name an expression.
    pub(crate) kind: Option<ExpressionKind>,
    pub(crate) names: &'a ExpressionNames,
    pub(crate) values: &'a ExpressionValues,
    pub(crate) usage: &'a mut Usage,
}

impl Binder<'_> {
    pub(crate) fn error(&self, problem: Problem) -> ExpressionError {
        match self.kind {
            Some(kind) => problem.in_expression(kind),
            None => problem.into(),
        }
    }

    pub(crate) fn path(&mut self, path: &PathSyntax) -> Result<Path, ExpressionError> {
        let root = self.name(&path.root)?;
        let steps = path.steps.iter().map(|step| match step {
            PathStep::Attribute(name) => self.name(name).map(Step::Attribute),
            PathStep::Index(index) => Ok(Step::Index(*index)),
        });
        Ok(Path::new(root, steps.collect::<Result<_, _>>()?))
    }

    fn name(&mut self, name: &Name) -> Result<Arc<str>, ExpressionError> {
        match name {
            Name::Plain(name) => Ok(Arc::clone(name)),
            Name::Placeholder(placeholder) => match self.usage.name(self.names, placeholder) {
                Some(name) => Ok(Arc::clone(name)),
                None => Err(self.error(Problem::UndefinedName(placeholder.clone()))),
            },
        }
    }

    pub(crate) fn value(&mut self, value: &ValueSyntax) -> Result<Value, ExpressionError> {
        let placeholder = match value {
            ValueSyntax::Literal(value) => return Ok(value.clone()),
            ValueSyntax::Placeholder(placeholder) => placeholder,
        };
        match self.usage.value(self.values, placeholder) {
            Some(value) => Ok(value.clone()),
            None => Err(self.error(Problem::UndefinedValue(placeholder.to_owned()))),
        }
    }

    /// Checks that no two of these paths collide.
    pub(crate) fn check_paths(&self, paths: &[&Path]) -> Result<(), ExpressionError> {
        let found = if paths.len() > FEW_PATHS { first_collision(paths) } else { pairwise_collision(paths) };
        let Some((collision, one, two)) = found else { return Ok(()) };
        let (one, two) = (paths[one].clone(), paths[two].clone());
        Err(self.error(match collision {
            Collision::Overlap => Problem::PathsOverlap(one, two),
            Collision::Conflict => Problem::PathsConflict(one, two),
        }))
    }
}

/// Returns the same as [`first_collision`], by comparing all pairs.
pub(crate) fn pairwise_collision(paths: &[&Path]) -> Option<(Collision, usize, usize)> {
    let mut conflict = None;
    for (two, path) in paths.iter().enumerate() {
        for (one, earlier) in paths[..two].iter().enumerate() {
            match earlier.collision(path) {
                None => {}
                Some(Collision::Overlap) => return Some((Collision::Overlap, one, two)),
                Some(Collision::Conflict) => {
                    conflict = conflict.or(Some((Collision::Conflict, one, two)));
                }
            }
        }
    }
    conflict
}
