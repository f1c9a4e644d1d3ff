//! Binds the syntax tree of an update to names and values.
//!
//! Like AWS, checks the whole expression for undefined names first, then for undefined values, then for
//! overlapping targets, then the operands of ADD and DELETE, then those of functions.

use crate::binding::Binder;
use crate::error::Problem;
use crate::syntax::{ActionSyntax, Function, OperandSyntax, PathSyntax, SetValueSyntax};
use crate::update::evaluated::UpdateStyle;
use crate::update::{Action, ParsedUpdate, SetOperand, SetValue};
use crate::{ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Path, Update, Usage};
use partita_value::{Value, ValueRef};

pub(crate) fn bind(
    parsed: &ParsedUpdate,
    kind: Option<ExpressionKind>,
    names: &ExpressionNames,
    values: &ExpressionValues,
    usage: &mut Usage,
) -> Result<Update, ExpressionError> {
    let mut binder = Binder { kind, names, values, usage };
    for action in &parsed.0 {
        visit_paths(action, &mut |path| binder.path(path).map(|_| ()))?;
    }
    let mut checks = Checks::default();
    let mut actions = Vec::with_capacity(parsed.0.len());
    for action in &parsed.0 {
        actions.push(binder.action(action, &mut checks)?);
    }
    binder.check_paths(&actions.iter().map(|(path, _)| path).collect::<Vec<_>>())?;
    match checks.operand.or(checks.function) {
        Some(problem) => Err(binder.error(problem)),
        None => Ok(Update::from_actions(actions)),
    }
}

/// The first problem of each kind in the whole expression.
#[derive(Default)]
struct Checks {
    operand: Option<Problem>,
    function: Option<Problem>,
}

type Visit<'v> = &'v mut dyn FnMut(&PathSyntax) -> Result<(), ExpressionError>;

fn visit_paths(action: &ActionSyntax, visit: Visit<'_>) -> Result<(), ExpressionError> {
    match action {
        ActionSyntax::Remove(path) | ActionSyntax::Add(path, _) | ActionSyntax::Delete(path, _) => {
            visit(path)
        }
        ActionSyntax::Set(path, value) => {
            visit(path)?;
            visit_value_paths(value, visit)
        }
    }
}

fn visit_value_paths(value: &SetValueSyntax, visit: Visit<'_>) -> Result<(), ExpressionError> {
    match value {
        SetValueSyntax::Operand(operand) => visit_operand_paths(operand, visit),
        SetValueSyntax::Plus(left, right) | SetValueSyntax::Minus(left, right) => {
            visit_operand_paths(left, visit)?;
            visit_operand_paths(right, visit)
        }
    }
}

fn visit_operand_paths(operand: &OperandSyntax, visit: Visit<'_>) -> Result<(), ExpressionError> {
    match operand {
        OperandSyntax::Path(path) => visit(path),
        OperandSyntax::Value(_) => Ok(()),
        OperandSyntax::Call(call) => {
            call.operands.iter().try_for_each(|operand| visit_operand_paths(operand, visit))
        }
        OperandSyntax::Computed(value) => visit_value_paths(value, visit),
        // Updates have no conditions; binding rejects it.
        OperandSyntax::Condition(_) => Ok(()),
    }
}

impl Binder<'_> {
    fn action(
        &mut self,
        action: &ActionSyntax,
        checks: &mut Checks,
    ) -> Result<(Path, Action), ExpressionError> {
        match action {
            ActionSyntax::Set(path, value) => {
                Ok((self.path(path)?, Action::Set(self.set_value(value, checks)?)))
            }
            ActionSyntax::Remove(path) => Ok((self.path(path)?, Action::Remove)),
            ActionSyntax::Add(path, placeholder) => {
                let value = self.value(placeholder)?;
                check_action("ADD", &value, checks);
                Ok((self.path(path)?, Action::Add(value, UpdateStyle::Expression)))
            }
            ActionSyntax::Delete(path, placeholder) => {
                let value = self.value(placeholder)?;
                check_action("DELETE", &value, checks);
                Ok((self.path(path)?, Action::Delete(value, UpdateStyle::Expression)))
            }
        }
    }

    fn set_value(
        &mut self,
        value: &SetValueSyntax,
        checks: &mut Checks,
    ) -> Result<SetValue, ExpressionError> {
        let (symbol, left, right) = match value {
            SetValueSyntax::Operand(operand) => {
                return self.set_operand(operand, checks).map(SetValue::Operand);
            }
            SetValueSyntax::Plus(left, right) => ("+", left, right),
            SetValueSyntax::Minus(left, right) => ("-", left, right),
        };
        let (left, right) = (self.set_operand(left, checks)?, self.set_operand(right, checks)?);
        check_types(symbol, "N", [&left, &right], checks);
        Ok(if symbol == "+" { SetValue::Plus(left, right) } else { SetValue::Minus(left, right) })
    }

    fn set_operand(
        &mut self,
        operand: &OperandSyntax,
        checks: &mut Checks,
    ) -> Result<SetOperand, ExpressionError> {
        let call = match operand {
            OperandSyntax::Path(path) => return self.path(path).map(SetOperand::Path),
            OperandSyntax::Value(value) => return self.value(value).map(SetOperand::Value),
            OperandSyntax::Computed(value) => {
                return self.set_value(value, checks).map(|value| SetOperand::Computed(Box::new(value)));
            }
            OperandSyntax::Condition(_) => return Err(self.error(Problem::UpdateOperandType)),
            OperandSyntax::Call(call) => call,
        };
        let operands = call.operands.iter().map(|operand| self.set_operand(operand, checks));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let name = call.function.name();
        let problem = match (call.function, <[SetOperand; 2]>::try_from(operands)) {
            (_, Err(operands)) => Problem::OperandCount(name, operands.len()),
            (Function::ListAppend, Ok([left, right])) => {
                check_types(name, "L", [&left, &right], checks);
                return Ok(SetOperand::ListAppend(Box::new(left), Box::new(right)));
            }
            (_, Ok([SetOperand::Path(path), SetOperand::Path(other)])) if path == other => {
                Problem::SameOperands(name, path)
            }
            (_, Ok([SetOperand::Path(path), otherwise])) => {
                return Ok(SetOperand::IfNotExists(path, Box::new(otherwise)));
            }
            (_, Ok(_)) => Problem::PathRequired(name),
        };
        checks.function.get_or_insert(problem);
        // A substitute for the rejected operand; the update is never built.
        Ok(SetOperand::Path(Path::attribute("")))
    }
}

/// Checks that operands given as values have the type that the function or operator expects.
fn check_types(name: &'static str, expected: &str, operands: [&SetOperand; 2], checks: &mut Checks) {
    let mut types = operands.into_iter().filter_map(|operand| match operand {
        SetOperand::Value(value) => Some(value.view().type_name()),
        _ => None,
    });
    if let Some(type_name) = types.find(|type_name| *type_name != expected) {
        checks.function.get_or_insert(Problem::OperandType(name, type_name));
    }
}

/// Checks that ADD has a number or a set, and DELETE a set. In this message AWS spells out the types.
fn check_action(action: &'static str, value: &Value, checks: &mut Checks) {
    let type_name = match value.view() {
        ValueRef::Ss(_) | ValueRef::Ns(_) | ValueRef::Bs(_) => return,
        ValueRef::N(_) if action == "ADD" => return,
        ValueRef::N(_) => "NUMBER",
        ValueRef::S(_) => "STRING",
        ValueRef::B(_) => "BINARY",
        ValueRef::Null => "NULL",
        ValueRef::Bool(_) => "BOOLEAN",
        ValueRef::L(_) => "LIST",
        ValueRef::M(_) => "MAP",
    };
    checks.operand.get_or_insert(Problem::ActionOperandType(action, type_name));
}
