//! INSERT, UPDATE, DELETE and EXISTS: the action of a transaction that a statement is equivalent to.

use crate::Engine;
use crate::catalog::table::Table;
use crate::statement::statement_read::key_parts;
use partita_api::capacity::ReturnConsumedCapacity;
use partita_api::item::delete_item::DeleteItem;
use partita_api::item::put_item::PutItem;
use partita_api::item::transact_write_items::{ConditionCheck, TransactWrite};
use partita_api::item::update_item::UpdateItem;
use partita_api::reporting::ReturnValues;
use partita_api::{Exception, ExceptionKind, messages};
use partita_expression::{Condition, Node, Path};
use partita_partiql::{NamedItem, Returning, Select, Statement, named_item};
use partita_store::Store;
use partita_value::Item;

/// The action of a statement, and whether a failed condition means a duplicate.
pub struct StatementAction {
    pub action: TransactWrite,
    pub inserts: bool,
}

impl<S: Store> Engine<S> {
    /// The action of a statement outside of a transaction.
    pub(crate) fn single_action(
        &self,
        statement: Statement,
        return_item_on_condition_failure: bool,
    ) -> Result<StatementAction, Exception> {
        let table = self.catalog.table(statement.table())?;
        let condition = match &statement {
            Statement::Update(update) => update.condition.as_ref(),
            Statement::Delete(delete) => delete.condition.as_ref(),
            Statement::Select(_) | Statement::Exists(_) | Statement::Insert(_) => None,
        };
        if matches!(statement, Statement::Update(_) | Statement::Delete(_)) {
            named_item(condition, &key_parts(&table.key)).check()?;
        }
        action(&table, statement, return_item_on_condition_failure)
    }
}

/// The action of a statement. A condition that does not name a single item gives an invalid key, which is rejected with the
/// other invalid actions of a transaction.
pub fn action(
    table: &Table,
    statement: Statement,
    return_item_on_condition_failure: bool,
) -> Result<StatementAction, Exception> {
    let (return_consumed_capacity, return_item_collection_metrics) = (ReturnConsumedCapacity::None, false);
    let named = |condition: Option<&Condition>| named_item(condition, &key_parts(&table.key));
    let action = match statement {
        Statement::Insert(insert) => {
            let partition = table.key.partition.first().map(|attribute| attribute.name.as_str());
            let absent = Node::NotExists(Path::attribute(partition.unwrap_or_default()));
            let put = PutItem {
                table: insert.table,
                item: insert.item,
                condition: Some(Condition::from_node(absent)),
                return_values: ReturnValues::None,
                return_item_on_condition_failure: false,
                return_consumed_capacity,
                return_item_collection_metrics,
            };
            return Ok(StatementAction { action: TransactWrite::Put(put), inserts: true });
        }
        Statement::Update(update) => {
            let item = named(update.condition.as_ref());
            TransactWrite::Update(UpdateItem {
                table: update.table,
                key: key_of(&item),
                update: Some(update.update),
                condition: Some(item.exists_and_matches()),
                return_values: update.returning.map_or(ReturnValues::None, return_values),
                return_item_on_condition_failure,
                return_consumed_capacity,
                return_item_collection_metrics,
            })
        }
        Statement::Delete(delete) => {
            let item = named(delete.condition.as_ref());
            TransactWrite::Delete(DeleteItem {
                table: delete.table,
                key: key_of(&item),
                condition: item.is_absent_or_matches(),
                return_values: if delete.returning { ReturnValues::AllOld } else { ReturnValues::None },
                return_item_on_condition_failure,
                return_consumed_capacity,
                return_item_collection_metrics,
            })
        }
        Statement::Exists(select) | Statement::Select(select) => {
            let item = named(select.condition.as_ref());
            check(select, item, return_item_on_condition_failure)?
        }
    };
    Ok(StatementAction { action, inserts: false })
}

fn key_of(item: &NamedItem) -> Item {
    match item.check() {
        Ok(()) => item.key.clone(),
        Err(_) => Item::default(),
    }
}

fn check(
    select: Select,
    item: NamedItem,
    return_item_on_condition_failure: bool,
) -> Result<TransactWrite, Exception> {
    if !item.is_item_with_condition() {
        return Err(Exception::validation(
            "EXISTS() must contain a single item read with additional condition",
        ));
    }
    Ok(TransactWrite::ConditionCheck(ConditionCheck {
        table: select.table,
        key: item.key.clone(),
        condition: item.exists_and_matches(),
        return_item_on_condition_failure,
    }))
}

fn return_values(returning: Returning) -> ReturnValues {
    match returning {
        Returning::AllOld => ReturnValues::AllOld,
        Returning::ModifiedOld => ReturnValues::UpdatedOld,
        Returning::AllNew => ReturnValues::AllNew,
        Returning::ModifiedNew => ReturnValues::UpdatedNew,
    }
}

/// Turns a failed condition into a duplicate: the only condition of an INSERT is that the item does not exist.
pub fn duplicate_item(exception: Exception) -> Exception {
    match exception.kind {
        ExceptionKind::ConditionalCheckFailedException => {
            Exception::new(ExceptionKind::DuplicateItemException, messages::DUPLICATE_ITEM)
        }
        _ => exception,
    }
}
