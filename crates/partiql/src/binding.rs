//! Binds the syntax tree of a statement to its parameters.

mod columns;
mod condition;
mod literal;
mod update;

use crate::error::{Problem, StatementError};
use crate::statement::{Delete, Insert, Order, Returning, Select, Statement, Update};
use crate::syntax::statement_parser::kind_name;
use crate::syntax::{
    Expression, ExpressionKind, OrderSyntax, ParsedStatement, ReturningSyntax, SelectSyntax, Source,
    StatementSyntax,
};
use partita_expression::Condition;
use partita_value::Value;
use partita_value::names::{self, TableName};

pub(crate) fn bind(parsed: &ParsedStatement, parameters: &[Value]) -> Result<Statement, StatementError> {
    if parsed.parameters != parameters.len() {
        return Err(Problem::ParameterCount.into());
    }
    Ok(match &parsed.syntax {
        StatementSyntax::Select(select) => Statement::Select(bind_select(select, parameters)?),
        StatementSyntax::Exists(select) => Statement::Exists(bind_select(select, parameters)?),
        StatementSyntax::Insert { source, item } => {
            if source.index.is_some() {
                return Err(Problem::InsertIntoIndex.into());
            }
            Statement::Insert(Insert { table: table_name(source)?, item: literal::item(item, parameters)? })
        }
        StatementSyntax::Update { source, actions, condition, returning } => Statement::Update(Update {
            table: table_to_write(source)?,
            update: update::bind(actions, parameters)?,
            condition: bind_condition(condition.as_ref(), parameters)?,
            returning: returning.map(bind_returning),
        }),
        StatementSyntax::Delete { source, condition, returning } => {
            let table = table_to_write(source)?;
            check_delete_returning(*returning)?;
            let condition = bind_condition(condition.as_ref(), parameters)?;
            Statement::Delete(Delete { table, condition, returning: returning.is_some() })
        }
    })
}

fn bind_select(select: &SelectSyntax, parameters: &[Value]) -> Result<Select, StatementError> {
    if !select.order.is_empty() && select.condition.is_none() {
        return Err(Problem::OrderWithoutCondition.into());
    }
    Ok(Select {
        table: table_name(&select.source)?,
        index: select.source.index.clone(),
        projection: columns::bind(&select.selected)?,
        condition: bind_condition(select.condition.as_ref(), parameters)?,
        order: select.order.iter().map(bind_order).collect::<Result<_, _>>()?,
    })
}

fn bind_condition(
    condition: Option<&Expression>,
    parameters: &[Value],
) -> Result<Option<Condition>, StatementError> {
    condition.map(|condition| condition::bind(condition, parameters)).transpose()
}

fn bind_order(order: &OrderSyntax) -> Result<Order, StatementError> {
    match &order.by.kind {
        ExpressionKind::Path(path) if path.steps.is_empty() => {
            Ok(Order { attribute: path.root.clone(), descending: order.descending })
        }
        _ => Err(Problem::OrderExpression(kind_name(&order.by)).into()),
    }
}

fn table_to_write(source: &Source) -> Result<TableName, StatementError> {
    match source.index {
        Some(_) => Err(Problem::WriteToIndex.into()),
        None => table_name(source),
    }
}

fn table_name(source: &Source) -> Result<TableName, StatementError> {
    let name = names::table_of_arn(&source.table).unwrap_or(&source.table);
    match names::is_resource_name(name) {
        true => Ok(TableName::new(name)),
        false => Err(Problem::TableName.into()),
    }
}

fn bind_returning(returning: ReturningSyntax) -> Returning {
    match (returning.modified, returning.new) {
        (false, false) => Returning::AllOld,
        (true, false) => Returning::ModifiedOld,
        (false, true) => Returning::AllNew,
        (true, true) => Returning::ModifiedNew,
    }
}

fn check_delete_returning(returning: Option<ReturningSyntax>) -> Result<(), StatementError> {
    let clause = match returning.map(bind_returning) {
        None | Some(Returning::AllOld) => return Ok(()),
        Some(Returning::ModifiedOld) => "MODIFIED OLD",
        Some(Returning::AllNew) => "ALL NEW",
        Some(Returning::ModifiedNew) => "MODIFIED NEW",
    };
    Err(Problem::DeleteReturning(clause).into())
}
