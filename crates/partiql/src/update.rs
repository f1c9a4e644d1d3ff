//! SET and REMOVE → update, of the same kind that update expressions give.

use crate::condition::{bound_path, path_syntax};
use crate::error::{Problem, StatementError};
use crate::literal;
use crate::syntax::{Expression, ExpressionKind, PathExpression, UpdateAction};
use crate::token::Place;
use partita_expression::Update;
use partita_expression::syntax::{
    ActionSyntax, Function, FunctionCall, OperandSyntax, SetValueSyntax, ValueSyntax,
};
use partita_value::{Value, ValueRef};

pub(crate) fn bind(actions: &[UpdateAction], parameters: &[Value]) -> Result<Update, StatementError> {
    let reader = Assignments { parameters };
    let actions = actions.iter().map(|action| match action {
        UpdateAction::Remove(path) => path_syntax(path).map(ActionSyntax::Remove),
        UpdateAction::Set(path, value) => reader.assignment(path, value),
    });
    Ok(Update::from_statement(actions.collect::<Result<_, StatementError>>()?)?)
}

struct Assignments<'a> {
    parameters: &'a [Value],
}

type Read<T> = Result<T, StatementError>;

impl Assignments<'_> {
    fn assignment(&self, target: &PathExpression, value: &Expression) -> Read<ActionSyntax> {
        if let ExpressionKind::Call(name, operands) = &value.kind {
            match name.to_ascii_lowercase().as_str() {
                "set_add" => {
                    let set = self.set_change("SET_ADD", target, value, operands)?;
                    return Ok(ActionSyntax::Add(path_syntax(target)?, set));
                }
                "set_delete" => {
                    let set = self.set_change("SET_DELETE", target, value, operands)?;
                    return Ok(ActionSyntax::Delete(path_syntax(target)?, set));
                }
                _ => {}
            }
        }
        Ok(ActionSyntax::Set(path_syntax(target)?, self.set_value(value)?))
    }

    /// `a = set_add(a, <<…>>)`: the set that is added or taken away.
    fn set_change(
        &self,
        function: &'static str,
        target: &PathExpression,
        call: &Expression,
        operands: &[Expression],
    ) -> Read<ValueSyntax> {
        let [first, second] = operands else {
            return Err(Problem::SetArguments(function, call.place).into());
        };
        let is_target = match &first.kind {
            ExpressionKind::Path(path) => bound_path(path)? == bound_path(target)?,
            _ => false,
        };
        if !is_target {
            return Err(Problem::SetTarget(function, call.place).into());
        }
        let is_value = matches!(second.kind, ExpressionKind::Bag(_) | ExpressionKind::Parameter(_));
        let set = if is_value { Some(literal::value(second, self.parameters)?) } else { None };
        match set {
            Some(set) if matches!(set.view(), ValueRef::Ss(_) | ValueRef::Ns(_) | ValueRef::Bs(_)) => {
                Ok(ValueSyntax::Literal(set))
            }
            _ => Err(Problem::SetOperand(function, first.place).into()),
        }
    }

    fn set_value(&self, value: &Expression) -> Read<SetValueSyntax> {
        let ExpressionKind::Infix(symbol, left, right) = &value.kind else {
            return self.operand(value).map(SetValueSyntax::Operand);
        };
        let combine = match *symbol {
            "+" => SetValueSyntax::Plus,
            "-" => SetValueSyntax::Minus,
            other => return Err(Problem::UpdateOperator(other).into()),
        };
        Ok(combine(self.operand(left)?, self.operand(right)?))
    }

    /// The functions that update expressions have.
    fn call(&self, name: &str, operands: &[Expression], place: Place) -> Read<OperandSyntax> {
        let function =
            Function::from_name(&name.to_ascii_lowercase()).filter(|function| function.is_for_updates());
        let Some(function) = function else {
            return Err(Problem::UnknownFunction(name.to_owned(), place).into());
        };
        let operands = operands.iter().map(|operand| self.operand(operand)).collect::<Read<_>>()?;
        Ok(OperandSyntax::Call(FunctionCall { function, operands }))
    }

    fn operand(&self, expression: &Expression) -> Read<OperandSyntax> {
        let operator = match &expression.kind {
            ExpressionKind::Path(path) => return path_syntax(path).map(OperandSyntax::Path),
            ExpressionKind::Infix(..) => {
                return self.set_value(expression).map(|value| OperandSyntax::Computed(Box::new(value)));
            }
            ExpressionKind::Call(name, operands) => return self.call(name, operands, expression.place),
            ExpressionKind::Is(..) => return Err(Problem::IsInUpdate.into()),
            ExpressionKind::And(_) => "AND",
            ExpressionKind::Or(_) => "OR",
            ExpressionKind::Not(_) => "NOT",
            ExpressionKind::Between(..) => "BETWEEN",
            ExpressionKind::In(..) => "IN",
            ExpressionKind::Sign(symbol, _) => symbol,
            _ => {
                let value = literal::value(expression, self.parameters)?;
                return Ok(OperandSyntax::Value(ValueSyntax::Literal(value)));
            }
        };
        Err(Problem::UpdateOperator(operator).into())
    }
}
