//! Placeholders → names and values: the second phase of every expression.
//!
//! In come parts of a syntax tree and the request's names and values; out go paths and values, while
//! the usage of the placeholders is recorded.

use crate::error::Problem;
use crate::path::Collision;
use crate::syntax::{Name, PathStep, PathSyntax, ValueSyntax};
use crate::{ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Path, Step, Usage};
use partita_value::Value;

pub(crate) struct Binder<'a> {
    /// `None` for a part of a PartiQL statement, whose errors do not say where they are.
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
        Ok(Path { root, steps: steps.collect::<Result<_, _>>()? })
    }

    fn name(&mut self, name: &Name) -> Result<String, ExpressionError> {
        match name {
            Name::Plain(name) => Ok(name.clone()),
            Name::Placeholder(placeholder) => match self.usage.name(self.names, placeholder) {
                Some(name) => Ok(name.to_owned()),
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

    /// No two of these paths may get in each other's way.
    pub(crate) fn check_paths(&self, paths: &[&Path]) -> Result<(), ExpressionError> {
        let mut conflict = None;
        for (i, two) in paths.iter().enumerate() {
            for one in &paths[..i] {
                match one.collision(two) {
                    None => {}
                    Some(Collision::Overlap) => {
                        return Err(self.error(Problem::PathsOverlap((*one).clone(), (*two).clone())));
                    }
                    Some(Collision::Conflict) => conflict = conflict.or(Some((*one, *two))),
                }
            }
        }
        match conflict {
            None => Ok(()),
            Some((one, two)) => Err(self.error(Problem::PathsConflict(one.clone(), two.clone()))),
        }
    }
}
