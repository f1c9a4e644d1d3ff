//! Binds SET and REMOVE clauses to an update of the same type as update expressions.

use crate::binding::condition::{bound_path, path_syntax};
use crate::binding::literal;
use crate::error::{Problem, StatementError};
use crate::syntax::token::SourceSpan;
use crate::syntax::{Expression, ExpressionKind, PathExpression, UpdateAction};
use partita_expression::Update;
use partita_expression::syntax::{
    ActionSyntax, Function, FunctionCall, OperandSyntax, SetValueSyntax, ValueSyntax,
};
use partita_value::{Value, ValueRef};

pub(crate) fn bind(actions: &[UpdateAction], parameters: &[Value]) -> Result<Update, StatementError> {
    let binder = UpdateBinder { parameters };
    let actions = actions.iter().map(|action| match action {
        UpdateAction::Remove(path) => path_syntax(path).map(ActionSyntax::Remove),
        UpdateAction::Set(path, value) => binder.assignment(path, value),
    });
    Ok(Update::from_statement(actions.collect::<Result<_, StatementError>>()?)?)
}

struct UpdateBinder<'a> {
    parameters: &'a [Value],
}

type BindResult<T> = Result<T, StatementError>;

impl UpdateBinder<'_> {
    fn assignment(&self, target: &PathExpression, value: &Expression) -> BindResult<ActionSyntax> {
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

    /// Returns the set to add or delete in `a = set_add(a, <<…>>)` or `set_delete`.
    fn set_change(
        &self,
        function: &'static str,
        target: &PathExpression,
        call: &Expression,
        operands: &[Expression],
    ) -> BindResult<ValueSyntax> {
        let [first, second] = operands else {
            return Err(Problem::SetArguments(function, call.span).into());
        };
        let is_target = match &first.kind {
            ExpressionKind::Path(path) => bound_path(path)? == bound_path(target)?,
            _ => false,
        };
        if !is_target {
            return Err(Problem::SetTarget(function, call.span).into());
        }
        let is_value = matches!(second.kind, ExpressionKind::Bag(_) | ExpressionKind::Parameter(_));
        let set = if is_value { Some(literal::value(second, self.parameters)?) } else { None };
        match set {
            Some(set) if matches!(set.view(), ValueRef::Ss(_) | ValueRef::Ns(_) | ValueRef::Bs(_)) => {
                Ok(ValueSyntax::Literal(set))
            }
            _ => Err(Problem::SetOperand(function, first.span).into()),
        }
    }

    fn set_value(&self, value: &Expression) -> BindResult<SetValueSyntax> {
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

    /// Binds a call of a function that update expressions have.
    fn call(&self, name: &str, operands: &[Expression], span: SourceSpan) -> BindResult<OperandSyntax> {
        let function =
            Function::from_name(&name.to_ascii_lowercase()).filter(|function| function.is_for_updates());
        let Some(function) = function else {
            return Err(Problem::UnknownFunction(name.to_owned(), span).into());
        };
        let operands = operands.iter().map(|operand| self.operand(operand)).collect::<BindResult<_>>()?;
        Ok(OperandSyntax::Call(FunctionCall { function, operands }))
    }

    fn operand(&self, expression: &Expression) -> BindResult<OperandSyntax> {
        let operator = match &expression.kind {
            ExpressionKind::Path(path) => return path_syntax(path).map(OperandSyntax::Path),
            ExpressionKind::Infix(..) => {
                return self.set_value(expression).map(|value| OperandSyntax::Computed(Box::new(value)));
            }
            ExpressionKind::Call(name, operands) => return self.call(name, operands, expression.span),
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
