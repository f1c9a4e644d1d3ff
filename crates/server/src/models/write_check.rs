//! Checks the writes of a request against the model, and attributes them to a declared write.

use super::attributes;
use super::model_watch::{Attribution, ModelWatch};
use partita_api::Request;
use partita_api::item::batch_write_item::BatchWrite;
use partita_api::item::transact_write_items::TransactWrite;
use partita_design::attribution;
use partita_design::audit::{self, Attributes, Bond, Change, Violation, Written};
use partita_expression::Update;
use partita_value::Item;
use std::collections::BTreeSet;

/// The violations of a request's writes, and the declared write that they are.
#[derive(Default)]
pub struct CheckedWrite {
    pub violations: Vec<Violation>,
    pub attributions: Vec<Attribution>,
}

/// An item that is written, or its key.
pub(super) struct WrittenItem {
    attributes: Attributes,
    change: Change,
}

impl ModelWatch {
    pub fn check_write(&self, request: &Request) -> CheckedWrite {
        let (items, bond) = match request {
            Request::PutItem(put) if self.applies_to(&put.table) => (vec![put_of(&put.item)], Bond::Alone),
            Request::UpdateItem(update) if self.applies_to(&update.table) => {
                (update_of(&update.key, update.update.as_ref()).into_iter().collect(), Bond::Alone)
            }
            Request::DeleteItem(delete) if self.applies_to(&delete.table) => {
                (vec![delete_of(&delete.key)], Bond::Alone)
            }
            Request::BatchWriteItem(batch) => {
                let own = batch.tables.iter().filter(|(table, _)| self.applies_to(table));
                let one = |write: &BatchWrite| match write {
                    BatchWrite::Put(item) => put_of(item),
                    BatchWrite::Delete(key) => delete_of(key),
                };
                (own.flat_map(|(_, writes)| writes).map(one).collect(), Bond::Batch)
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
                (transaction.actions.iter().filter_map(own).collect(), Bond::Transaction)
            }
            _ => self.written_by_statements(request).unwrap_or((Vec::new(), Bond::Alone)),
        };
        if items.is_empty() { CheckedWrite::default() } else { self.check_items(&items, bond) }
    }

    fn check_items(&self, items: &[WrittenItem], bond: Bond) -> CheckedWrite {
        let mut violations: Vec<Violation> = items.iter().flat_map(|one| self.check_item(one)).collect();
        let partition = self.model.table.keys.first();
        let keys: Vec<String> =
            items.iter().filter_map(|one| one.attributes.get(partition?)).cloned().collect();
        let written: Vec<Written<'_>> = items
            .iter()
            .filter_map(|one| {
                let entity = audit::recognise(&self.model, &one.attributes)?;
                Some(Written { entity, attributes: one.attributes.clone(), change: one.change.clone() })
            })
            .collect();
        violations.extend(audit::together(&self.model, &written, &keys, bond));
        keys.iter().for_each(|key| self.count_key(None, key));
        let declared = attribution::write(&self.model, &written, bond == Bond::Transaction);
        let label = declared.map(str::to_owned).ok_or_else(|| describe(&written, bond));
        CheckedWrite { violations, attributions: vec![Attribution { label, keys: items.len() as u64 }] }
    }

    fn check_item(&self, one: &WrittenItem) -> Vec<Violation> {
        match &one.change {
            Change::Put => audit::item(&self.model, &one.attributes),
            Change::Update(names) => {
                let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
                audit::update(&self.model, &one.attributes, &names)
            }
            Change::Delete => Vec::new(),
        }
    }
}

pub(super) fn put_of(item: &Item) -> WrittenItem {
    WrittenItem { attributes: attributes(item), change: Change::Put }
}

pub(super) fn delete_of(key: &Item) -> WrittenItem {
    WrittenItem { attributes: attributes(key), change: Change::Delete }
}

/// `None` for an update that changes nothing.
pub(super) fn update_of(key: &Item, update: Option<&Update>) -> Option<WrittenItem> {
    let names = update?.target_roots().map(str::to_owned).collect();
    Some(WrittenItem { attributes: attributes(key), change: Change::Update(names) })
}

/// Describes an undeclared write: `TransactWriteItems: put Order, update User`.
fn describe(written: &[Written<'_>], bond: Bond) -> String {
    let verb = |write: &Written<'_>| match write.change {
        Change::Put => "put",
        Change::Update(_) => "update",
        Change::Delete => "delete",
    };
    let parts: BTreeSet<String> =
        written.iter().map(|write| format!("{} {}", verb(write), write.entity.name)).collect();
    let operation = match bond {
        Bond::Alone => "single write",
        Bond::Batch => "BatchWriteItem",
        Bond::Transaction => "TransactWriteItems",
    };
    let parts: Vec<String> = parts.into_iter().collect();
    let parts = if parts.is_empty() { "of no entity".to_owned() } else { parts.join(", ") };
    format!("{operation}: {parts}")
}
