//! TransactWriteItems: up to 100 writes and checks that commit together or not at all.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::item::client_request_token::ClientRequestToken;
use crate::item::delete_item::DeleteItem;
use crate::item::put_item::PutItem;
use crate::item::update_item::UpdateItem;
use crate::reporting::ItemCollectionMetrics;
use partita_expression::Condition;
use partita_value::{Item, names::TableName};

/// The request of TransactWriteItems.
#[derive(Debug)]
pub struct TransactWriteItems {
    /// The writes and checks, in order.
    pub actions: Vec<TransactWrite>,
    /// The token that makes the request idempotent.
    pub client_request_token: Option<ClientRequestToken>,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to report metrics of the item collections written to.
    pub return_item_collection_metrics: bool,
}

/// One action of a transaction.
#[derive(Debug)]
pub enum TransactWrite {
    /// Puts an item.
    Put(PutItem),
    /// Updates an item.
    Update(UpdateItem),
    /// Deletes an item.
    Delete(DeleteItem),
    /// Checks a condition, and writes nothing.
    ConditionCheck(ConditionCheck),
}

/// A condition on an item that the transaction does not write.
#[derive(Debug)]
pub struct ConditionCheck {
    /// The table.
    pub table: TableName,
    /// The key of the item.
    pub key: Item,
    /// The condition that the stored item must meet.
    pub condition: Condition,
    /// Whether an exception for a failed condition carries the item.
    pub return_item_on_condition_failure: bool,
}

/// The response to TransactWriteItems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactWriteItemsOutput {
    /// The consumed capacity, if requested.
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
    /// The metrics of the item collections written to, by table, if requested.
    pub item_collection_metrics: Option<Vec<(TableName, Vec<ItemCollectionMetrics>)>>,
}
