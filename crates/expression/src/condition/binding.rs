//! Binds the syntax tree of a condition to names and values.
//!
//! Like AWS, checks the comparisons and calls one after another: first that the placeholders are defined,
//! then the number of operands, then that they are distinct, then their types.

use crate::binding::Binder;
use crate::condition::{Node, Operand, ParsedCondition, check_bounds};
use crate::error::Problem;
use crate::syntax::{Comparator, ConditionSyntax, Function, FunctionCall, OperandSyntax};
use crate::{Condition, ExpressionError, ExpressionNames, ExpressionValues, Path, Usage};
use partita_value::limits::IN_OPERANDS;

const TYPES: [&str; 10] = ["B", "NULL", "SS", "BOOL", "L", "BS", "N", "NS", "S", "M"];
/// AWS's name for a type that depends on the item.
const ANY_TYPE: &str = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}";

pub(crate) fn bind(
    parsed: &ParsedCondition,
    names: &ExpressionNames,
    values: &ExpressionValues,
    usage: &mut Usage,
) -> Result<Condition, ExpressionError> {
    let mut binder = Binder { kind: parsed.kind, names, values, usage };
    let node = binder.node(&parsed.syntax)?;
    Ok(Condition::from_node(node))
}

/// The first problem of each kind in one comparison or call.
#[derive(Default)]
struct Checks {
    count: Option<Problem>,
    distinct: Option<Problem>,
    operand: Option<Problem>,
}

impl Checks {
    fn operand(&mut self, problem: Problem) {
        self.operand.get_or_insert(problem);
    }

    fn into_problem(self) -> Option<Problem> {
        self.count.or(self.distinct).or(self.operand)
    }
}

impl Binder<'_> {
    fn node(&mut self, syntax: &ConditionSyntax) -> Result<Node, ExpressionError> {
        match syntax {
            ConditionSyntax::And(nodes) => self.nodes(nodes).map(Node::And),
            ConditionSyntax::Or(nodes) => self.nodes(nodes).map(Node::Or),
            ConditionSyntax::Not(node) => Ok(Node::Not(Box::new(self.node(node)?))),
            leaf => self.leaf(leaf),
        }
    }

    fn nodes(&mut self, nodes: &[ConditionSyntax]) -> Result<Vec<Node>, ExpressionError> {
        nodes.iter().map(|node| self.node(node)).collect()
    }

    fn leaf(&mut self, syntax: &ConditionSyntax) -> Result<Node, ExpressionError> {
        let mut checks = Checks::default();
        let node = match syntax {
            ConditionSyntax::Compare(comparator, left, right) => {
                let (left, right) = (self.operand(left, &mut checks)?, self.operand(right, &mut checks)?);
                check_comparison(*comparator, &left, &right, &mut checks);
                Some(Node::Compare(*comparator, left, right))
            }
            ConditionSyntax::Between(operand, from, to) => {
                let operand = self.operand(operand, &mut checks)?;
                let (from, to) = (self.operand(from, &mut checks)?, self.operand(to, &mut checks)?);
                check_between(&operand, &from, &to, &mut checks);
                Some(Node::Between(operand, from, to))
            }
            ConditionSyntax::In(operand, candidates) => {
                let operand = self.operand(operand, &mut checks)?;
                let candidates = self.operands(candidates, &mut checks)?;
                if candidates.len() > IN_OPERANDS {
                    checks.count.get_or_insert(Problem::TooManyInOperands(candidates.len()));
                }
                check_distinct("IN", &operand, &candidates, &mut checks);
                Some(Node::In(operand, candidates))
            }
            ConditionSyntax::Call(call) => {
                let operands = self.operands(&call.operands, &mut checks)?;
                check_call(call.function, &operands, &mut checks);
                call_node(call.function, operands)
            }
            // Only leaves are passed in.
            ConditionSyntax::And(_) | ConditionSyntax::Or(_) | ConditionSyntax::Not(_) => None,
        };
        match (checks.into_problem(), node) {
            (Some(problem), _) => Err(self.error(problem)),
            (None, Some(node)) => Ok(node),
            (None, None) => Err(self.error(Problem::OperandCount("condition", 0))),
        }
    }

    fn operands(
        &mut self,
        operands: &[OperandSyntax],
        checks: &mut Checks,
    ) -> Result<Vec<Operand>, ExpressionError> {
        operands.iter().map(|operand| self.operand(operand, checks)).collect()
    }

    fn operand(&mut self, syntax: &OperandSyntax, checks: &mut Checks) -> Result<Operand, ExpressionError> {
        match syntax {
            OperandSyntax::Path(path) => self.path(path).map(Operand::Path),
            OperandSyntax::Value(value) => self.value(value).map(Operand::Value),
            OperandSyntax::Call(FunctionCall { function, operands }) => {
                let operands = self.operands(operands, checks)?;
                check_call(*function, &operands, checks);
                match operands.into_iter().next() {
                    Some(operand) => Ok(Operand::Size(Box::new(operand))),
                    None => Err(self.error(Problem::OperandCount(function.name(), 0))),
                }
            }
            OperandSyntax::Condition(condition) => {
                self.node(condition).map(|node| Operand::Test(Box::new(node)))
            }
            // Conditions have no arithmetic.
            OperandSyntax::Computed(_) => Err(self.error(Problem::UpdateOperandType)),
        }
    }
}

fn is_orderable(type_name: &str) -> bool {
    matches!(type_name, "S" | "N" | "B")
}

fn check_comparison(comparator: Comparator, left: &Operand, right: &Operand, checks: &mut Checks) {
    check_distinct(comparator.symbol(), left, [right], checks);
    if comparator.is_ordering() {
        check_orderable(comparator.symbol(), &[left, right], checks);
    }
}

fn check_orderable(operator: &'static str, operands: &[&Operand], checks: &mut Checks) {
    let mut types = operands.iter().filter_map(|operand| operand.known_type());
    if let Some(type_name) = types.find(|type_name| !is_orderable(type_name)) {
        checks.operand(Problem::OperandType(operator, type_name));
    }
}

fn check_between(operand: &Operand, from: &Operand, to: &Operand, checks: &mut Checks) {
    check_distinct("BETWEEN", operand, [from, to], checks);
    check_orderable("BETWEEN", &[operand, from, to], checks);
    if let (Operand::Value(from), Operand::Value(to)) = (from, to)
        && let Err(problem) = check_bounds(from, to)
    {
        checks.operand(problem);
    }
}

fn check_distinct<'a>(
    operator: &'static str,
    first: &Operand,
    rest: impl IntoIterator<Item = &'a Operand>,
    checks: &mut Checks,
) {
    if let Operand::Path(path) = first
        && rest.into_iter().any(|operand| matches!(operand, Operand::Path(other) if other == path))
    {
        checks.distinct.get_or_insert_with(|| Problem::SameOperands(operator, path.clone()));
    }
}

fn check_call(function: Function, operands: &[Operand], checks: &mut Checks) {
    let name = function.name();
    if operands.len() != function.operand_count() {
        checks.count.get_or_insert(Problem::OperandCount(name, operands.len()));
        return;
    }
    if let [first, rest @ ..] = operands {
        check_distinct(name, first, rest, checks);
    }
    match function {
        Function::AttributeExists | Function::AttributeNotExists => {
            if !matches!(operands, [Operand::Path(_)]) {
                checks.operand(Problem::PathRequired(name));
            }
        }
        Function::AttributeType => check_type_name(operands.get(1), checks),
        Function::BeginsWith => {
            let mut types = operands.iter().filter_map(Operand::known_type);
            if let Some(type_name) = types.find(|type_name| !matches!(*type_name, "S" | "B")) {
                checks.operand(Problem::OperandType(name, type_name));
            }
        }
        Function::Size => {
            if let Some(type_name @ ("N" | "BOOL" | "NULL")) = operands.first().and_then(Operand::known_type)
            {
                checks.operand(Problem::OperandType(name, type_name));
            }
        }
        Function::Contains | Function::IfNotExists | Function::ListAppend => {}
    }
}

fn check_type_name(operand: Option<&Operand>, checks: &mut Checks) {
    let type_name = operand.and_then(Operand::known_type).unwrap_or(ANY_TYPE);
    let text = match operand {
        Some(Operand::Value(value)) => value.view().as_text().map(str::to_owned),
        _ => None,
    };
    match text {
        None => checks.operand(Problem::OperandType(Function::AttributeType.name(), type_name)),
        Some(text) if !TYPES.contains(&text.as_str()) => checks.operand(Problem::UnknownType(text)),
        Some(_) => {}
    }
}

/// Returns `None` if the operands do not fit the function, which [`check_call`] has reported.
fn call_node(function: Function, operands: Vec<Operand>) -> Option<Node> {
    let mut operands = operands.into_iter();
    let first = operands.next()?;
    let path = |operand: Operand| -> Option<Path> {
        match operand {
            Operand::Path(path) => Some(path),
            _ => None,
        }
    };
    match function {
        Function::AttributeExists => path(first).map(Node::Exists),
        Function::AttributeNotExists => path(first).map(Node::NotExists),
        Function::AttributeType => match operands.next()? {
            Operand::Value(value) => Some(Node::HasType(first, value.view().as_text()?.to_owned())),
            _ => None,
        },
        Function::BeginsWith => Some(Node::BeginsWith(first, operands.next()?)),
        Function::Contains => Some(Node::Contains(first, operands.next()?)),
        Function::Size | Function::IfNotExists | Function::ListAppend => None,
    }
}
