//! TransactWriteItems: up to 100 writes and checks that happen together or not at all.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::item::delete_item::DeleteItem;
use crate::item::put_item::PutItem;
use crate::item::update_item::UpdateItem;
use crate::reporting::ItemCollectionMetrics;
use partita_expression::Condition;
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct TransactWriteItems {
    pub actions: Vec<TransactWrite>,
    pub client_request_token: Option<ClientRequestToken>,
    pub return_consumed_capacity: ReturnConsumedCapacity,
    pub return_item_collection_metrics: bool,
}

/// Repeating a request with the same token within ten minutes changes nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRequestToken {
    pub token: String,
    /// Tells requests with the same token apart: a hash of what the transaction does.
    pub fingerprint: [u8; 16],
}

#[derive(Debug)]
pub enum TransactWrite {
    Put(PutItem),
    Update(UpdateItem),
    Delete(DeleteItem),
    ConditionCheck(ConditionCheck),
}

#[derive(Debug)]
pub struct ConditionCheck {
    pub table: TableName,
    pub key: Item,
    pub condition: Condition,
    pub return_item_on_condition_failure: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactWriteItemsOutput {
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
    pub item_collection_metrics: Option<Vec<(TableName, Vec<ItemCollectionMetrics>)>>,
}
