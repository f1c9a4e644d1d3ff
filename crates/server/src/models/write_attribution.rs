//! Attributes the writes of a request to a declared write.

use super::attributes;
use super::model_watch::{Attribution, ModelWatch};
use super::read_attribution::Undeclared;
use partita_api::Request;
use partita_api::item::batch_write_item::BatchWrite;
use partita_api::item::transact_write_items::TransactWrite;
use partita_design::audit::attribution;
use partita_design::audit::{self, EntityWrite, ItemChange};
use partita_design::item::Attributes;
use partita_expression::Update;
use partita_value::Item;
use std::collections::BTreeSet;

/// An item that is written, or its key.
pub(super) struct WrittenItem {
    attributes: Attributes,
    change: ItemChange,
}

/// How the writes of a request are grouped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteGrouping {
    Single,
    /// Not atomic.
    Batch,
    Transaction,
}

impl ModelWatch {
    /// The declared write that a request makes, or its description; empty if it writes nothing to this table.
    pub fn attribute_write(&self, request: &Request) -> Vec<Attribution> {
        let (items, bond) = match request {
            Request::PutItem(put) if self.applies_to(&put.table) => {
                (vec![put_of(&put.item)], WriteGrouping::Single)
            }
            Request::UpdateItem(update) if self.applies_to(&update.table) => {
                (update_of(&update.key, update.update.as_ref()).into_iter().collect(), WriteGrouping::Single)
            }
            Request::DeleteItem(delete) if self.applies_to(&delete.table) => {
                (vec![delete_of(&delete.key)], WriteGrouping::Single)
            }
            Request::BatchWriteItem(batch) => {
                let own = batch.tables.iter().filter(|(table, _)| self.applies_to(table));
                let one = |write: &BatchWrite| match write {
                    BatchWrite::Put(item) => put_of(item),
                    BatchWrite::Delete(key) => delete_of(key),
                };
                (own.flat_map(|(_, writes)| writes).map(one).collect(), WriteGrouping::Batch)
            }
            Request::TransactWriteItems(transaction) => {
                let own = |action: &TransactWrite| match action {
                    TransactWrite::Put(put) if self.applies_to(&put.table) => Some(put_of(&put.item)),
                    TransactWrite::Update(update) if self.applies_to(&update.table) => {
                        update_of(&update.key, update.update.as_ref())
                    }
                    TransactWrite::Delete(delete) if self.applies_to(&delete.table) => {
                        Some(delete_of(&delete.key))
                    }
                    _ => None,
                };
                (transaction.actions.iter().filter_map(own).collect(), WriteGrouping::Transaction)
            }
            _ => self.written_by_statements(request).unwrap_or((Vec::new(), WriteGrouping::Single)),
        };
        if items.is_empty() { Vec::new() } else { vec![self.attribute_items(&items, bond)] }
    }

    fn attribute_items(&self, items: &[WrittenItem], bond: WriteGrouping) -> Attribution {
        let partition = self.model.table.keys.first();
        let keys = items.iter().filter_map(|one| one.attributes.get(partition?));
        keys.for_each(|key| self.count_key(None, key));
        let recognised = items.iter().filter_map(|one| {
            let entity = audit::recognise(&self.model, &one.attributes)?;
            Some(EntityWrite { entity, attributes: one.attributes.clone(), change: one.change.clone() })
        });
        let written: Vec<EntityWrite<'_>> = recognised.collect();
        let declared =
            attribution::attribute_write(&self.model, &written, bond == WriteGrouping::Transaction);
        let undeclared = || Undeclared { label: describe(&written, bond), advice: String::new() };
        let label = declared.map(str::to_owned).ok_or_else(undeclared);
        Attribution { label, keys: items.len() as u64 }
    }
}

pub(super) fn put_of(item: &Item) -> WrittenItem {
    WrittenItem { attributes: attributes(item), change: ItemChange::Put }
}

pub(super) fn delete_of(key: &Item) -> WrittenItem {
    WrittenItem { attributes: attributes(key), change: ItemChange::Delete }
}

/// `None` for an update that changes nothing.
pub(super) fn update_of(key: &Item, update: Option<&Update>) -> Option<WrittenItem> {
    let names = update?.target_roots().map(str::to_owned).collect();
    Some(WrittenItem { attributes: attributes(key), change: ItemChange::Update(names) })
}

/// Describes an undeclared write: `TransactWriteItems: put Order, update User`.
fn describe(written: &[EntityWrite<'_>], bond: WriteGrouping) -> String {
    let verb = |write: &EntityWrite<'_>| match write.change {
        ItemChange::Put => "put",
        ItemChange::Update(_) => "update",
        ItemChange::Delete => "delete",
    };
    let parts: BTreeSet<String> =
        written.iter().map(|write| format!("{} {}", verb(write), write.entity.name)).collect();
    let operation = match bond {
        WriteGrouping::Single => "single write",
        WriteGrouping::Batch => "BatchWriteItem",
        WriteGrouping::Transaction => "TransactWriteItems",
    };
    let parts: Vec<String> = parts.into_iter().collect();
    let parts = if parts.is_empty() { "of no entity".to_owned() } else { parts.join(", ") };
    format!("{operation}: {parts}")
}
