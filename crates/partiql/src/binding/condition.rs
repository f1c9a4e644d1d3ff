//! Binds a WHERE clause to a condition of the same type as condition expressions.

use crate::binding::literal;
use crate::error::{Problem, StatementError};
use crate::syntax::{Expression, ExpressionKind, PathExpression, PathStep};
use partita_expression::syntax::{
    Comparator, ConditionSyntax, Function, FunctionCall, Name, OperandSyntax, PathStep as BoundStep,
    PathSyntax, ValueSyntax,
};
use partita_expression::{Condition, Path, Step};
use partita_value::limits::NESTING_LEVELS;
use partita_value::{Value, ValueRef};

const TYPES: [&str; 10] = ["N", "BS", "L", "B", "NULL", "M", "S", "SS", "NS", "BOOL"];

pub(crate) fn bind(expression: &Expression, parameters: &[Value]) -> Result<Condition, StatementError> {
    let binder = ConditionBinder { parameters };
    let condition = binder.condition(expression)?.ok_or(Problem::NoCondition)?;
    Ok(Condition::from_statement(condition)?)
}

struct ConditionBinder<'a> {
    parameters: &'a [Value],
}

type BindResult<T> = Result<T, StatementError>;

impl ConditionBinder<'_> {
    /// Returns `None` if the expression is not a condition: a value, a path, arithmetic.
    fn condition(&self, expression: &Expression) -> BindResult<Option<ConditionSyntax>> {
        Ok(Some(match &expression.kind {
            ExpressionKind::And(members) => ConditionSyntax::And(self.joined(members)?),
            ExpressionKind::Or(members) => ConditionSyntax::Or(self.joined(members)?),
            ExpressionKind::Not(inner) => {
                let inner = self.condition(inner)?.ok_or(Problem::NegatedOperand)?;
                ConditionSyntax::Not(Box::new(inner))
            }
            ExpressionKind::Infix(symbol, left, right) => {
                let comparator = comparator(symbol).ok_or(Problem::ConditionOperator(symbol))?;
                ConditionSyntax::Compare(comparator, self.operand(left)?, self.operand(right)?)
            }
            ExpressionKind::Between(what, from, to) => {
                ConditionSyntax::Between(self.operand(what)?, self.operand(from)?, self.operand(to)?)
            }
            ExpressionKind::In(what, members) => self.membership(what, members)?,
            ExpressionKind::Is(what, name) => self.type_test(what, name)?,
            ExpressionKind::Call(name, operands) => {
                let call = self.call(name, operands, expression)?;
                if call.function == Function::Size {
                    return Ok(None);
                }
                ConditionSyntax::Call(call)
            }
            _ => return Ok(None),
        }))
    }

    fn joined(&self, members: &[Expression]) -> BindResult<Vec<ConditionSyntax>> {
        let bind = |member| self.condition(member)?.ok_or_else(|| Problem::JoinedOperand.into());
        members.iter().map(bind).collect()
    }

    fn membership(&self, what: &Expression, members: &Expression) -> BindResult<ConditionSyntax> {
        let candidates = match &members.kind {
            ExpressionKind::List(members) | ExpressionKind::Bag(members) if !members.is_empty() => members,
            _ => return Err(Problem::InOperand.into()),
        };
        let candidates =
            candidates.iter().map(|candidate| self.operand(candidate)).collect::<BindResult<_>>()?;
        Ok(ConditionSyntax::In(self.operand(what)?, candidates))
    }

    /// `IS MISSING` tests existence; the other types test the type of the value.
    fn type_test(&self, what: &Expression, name: &str) -> BindResult<ConditionSyntax> {
        if !matches!(what.kind, ExpressionKind::Path(_)) {
            return Err(Problem::IsOperand.into());
        }
        let operand = self.operand(what)?;
        let type_name = match name {
            "missing" => {
                let call = FunctionCall { function: Function::AttributeNotExists, operands: vec![operand] };
                return Ok(ConditionSyntax::Call(call));
            }
            "null" => "NULL",
            "bool" | "boolean" => "BOOL",
            "blob" => "B",
            "string" => "S",
            "numeric" => "N",
            "struct" | "tuple" => "M",
            "list" => "L",
            other => return Err(Problem::IsType(other.to_uppercase()).into()),
        };
        let type_name = OperandSyntax::Value(ValueSyntax::Literal(Value::string(type_name)));
        let operands = vec![operand, type_name];
        Ok(ConditionSyntax::Call(FunctionCall { function: Function::AttributeType, operands }))
    }

    fn call(&self, name: &str, operands: &[Expression], expression: &Expression) -> BindResult<FunctionCall> {
        let function =
            Function::from_name(&name.to_ascii_lowercase()).filter(|function| !function.is_for_updates());
        let Some(function) = function else {
            return Err(Problem::UnknownFunction(name.to_owned(), expression.span).into());
        };
        let operands =
            operands.iter().map(|operand| self.operand(operand)).collect::<BindResult<Vec<_>>>()?;
        if let (Function::AttributeType, [_, OperandSyntax::Value(ValueSyntax::Literal(value))]) =
            (function, operands.as_slice())
            && let ValueRef::S(_) = value.view()
            && let Some(text) = value.view().as_text().filter(|text| !TYPES.contains(text))
        {
            return Err(Problem::UnknownType(text.to_owned()).into());
        }
        Ok(FunctionCall { function, operands })
    }

    fn operand(&self, expression: &Expression) -> BindResult<OperandSyntax> {
        match &expression.kind {
            ExpressionKind::Path(path) => path_syntax(path).map(OperandSyntax::Path),
            ExpressionKind::Missing => Err(Problem::MissingLiteral.into()),
            ExpressionKind::Sign(symbol, _) => Err(Problem::ConditionOperator(symbol).into()),
            ExpressionKind::Infix(symbol, ..) if comparator(symbol).is_none() => {
                Err(Problem::ConditionOperator(symbol).into())
            }
            ExpressionKind::Call(name, operands) => {
                let call = self.call(name, operands, expression)?;
                Ok(match call.function {
                    Function::Size => OperandSyntax::Call(call),
                    _ => OperandSyntax::Condition(Box::new(ConditionSyntax::Call(call))),
                })
            }
            _ => match self.condition(expression)? {
                Some(condition) => Ok(OperandSyntax::Condition(Box::new(condition))),
                None => {
                    let value = literal::value(expression, self.parameters)?;
                    Ok(OperandSyntax::Value(ValueSyntax::Literal(value)))
                }
            },
        }
    }
}

fn comparator(symbol: &str) -> Option<Comparator> {
    Some(match symbol {
        "=" => Comparator::Equal,
        "<>" => Comparator::NotEqual,
        "<" => Comparator::Less,
        "<=" => Comparator::LessOrEqual,
        ">" => Comparator::Greater,
        ">=" => Comparator::GreaterOrEqual,
        _ => return None,
    })
}

/// Converts a path to the syntax of expressions.
pub(crate) fn path_syntax(path: &PathExpression) -> BindResult<PathSyntax> {
    let Path { root, steps, .. } = bound_path(path)?;
    let steps = steps.into_iter().map(|step| match step {
        Step::Attribute(name) => BoundStep::Attribute(Name::Plain(name)),
        Step::Index(index) => BoundStep::Index(index),
    });
    Ok(PathSyntax { root: Name::Plain(root), steps: steps.collect() })
}

/// Checks that the indexes of a path are in range and that it is not too long.
pub(crate) fn bound_path(path: &PathExpression) -> BindResult<Path> {
    let step = |step: &PathStep| match step {
        PathStep::Attribute(name) => Ok(Step::Attribute(name.as_str().into())),
        PathStep::Index(text, span) => {
            let index = text.parse::<i64>().ok().and_then(|index| i32::try_from(index).ok());
            match index.and_then(|index| usize::try_from(index).ok()) {
                Some(index) => Ok(Step::Index(index)),
                None => Err(StatementError::from(Problem::ListIndex(text.clone(), *span))),
            }
        }
    };
    let levels = path.steps.len() + 1;
    if levels > NESTING_LEVELS {
        return Err(Problem::PathNesting(levels).into());
    }
    Ok(Path::new(path.root.as_str().into(), path.steps.iter().map(step).collect::<BindResult<_>>()?))
}
