//! Writes of a request held against the model, and the declared write that they are.

use super::attributes;
use super::watch::{Asked, ModelWatch};
use partita_api::Request;
use partita_api::batch_write_item::BatchWrite;
use partita_api::transact_write_items::TransactWrite;
use partita_design::audit::attribution;
use partita_design::audit::{self, EntityWrite, ItemChange, Violation, WriteGrouping};
use partita_design::item::Attributes;
use partita_expression::Update;
use partita_value::Item;
use std::collections::BTreeSet;

/// What a request writes to the table: what is wrong with it, and what it is called.
#[derive(Default)]
pub struct Judged {
    pub violations: Vec<Violation>,
    pub asked: Vec<Asked>,
}

/// One item that is written, or its key.
pub(super) struct Touched {
    attributes: Attributes,
    change: ItemChange,
}

impl ModelWatch {
    pub fn judge(&self, request: &Request) -> Judged {
        let (touched, bond) = match request {
            Request::PutItem(put) if self.concerns(&put.table) => {
                (vec![put_of(&put.item)], WriteGrouping::Single)
            }
            Request::UpdateItem(update) if self.concerns(&update.table) => {
                (update_of(&update.key, update.update.as_ref()).into_iter().collect(), WriteGrouping::Single)
            }
            Request::DeleteItem(delete) if self.concerns(&delete.table) => {
                (vec![delete_of(&delete.key)], WriteGrouping::Single)
            }
            Request::BatchWriteItem(batch) => {
                let own = batch.tables.iter().filter(|(table, _)| self.concerns(table));
                let one = |write: &BatchWrite| match write {
                    BatchWrite::Put(item) => put_of(item),
                    BatchWrite::Delete(key) => delete_of(key),
                };
                (own.flat_map(|(_, writes)| writes).map(one).collect(), WriteGrouping::Batch)
            }
            Request::TransactWriteItems(transaction) => {
                let own = |action: &TransactWrite| match action {
                    TransactWrite::Put(put) if self.concerns(&put.table) => Some(put_of(&put.item)),
                    TransactWrite::Update(update) if self.concerns(&update.table) => {
                        update_of(&update.key, update.update.as_ref())
                    }
                    TransactWrite::Delete(delete) if self.concerns(&delete.table) => {
                        Some(delete_of(&delete.key))
                    }
                    _ => None,
                };
                (transaction.actions.iter().filter_map(own).collect(), WriteGrouping::Transaction)
            }
            _ => self.written_by_statements(request).unwrap_or((Vec::new(), WriteGrouping::Single)),
        };
        if touched.is_empty() { Judged::default() } else { self.judged(&touched, bond) }
    }

    fn judged(&self, touched: &[Touched], bond: WriteGrouping) -> Judged {
        let mut violations: Vec<Violation> = touched.iter().flat_map(|one| self.single(one)).collect();
        let partition = self.model.table.keys.first();
        let keys: Vec<String> =
            touched.iter().filter_map(|one| one.attributes.get(partition?)).cloned().collect();
        let written: Vec<EntityWrite<'_>> = touched
            .iter()
            .filter_map(|one| {
                let entity = audit::recognise(&self.model, &one.attributes)?;
                Some(EntityWrite { entity, attributes: one.attributes.clone(), change: one.change.clone() })
            })
            .collect();
        violations.extend(audit::check_request(&self.model, &written, &keys, bond));
        keys.iter().for_each(|key| self.heat(None, key));
        let declared =
            attribution::attribute_write(&self.model, &written, bond == WriteGrouping::Transaction);
        let label = declared.map(str::to_owned).ok_or_else(|| described(&written, bond));
        Judged { violations, asked: vec![Asked { label, keys: touched.len() as u64 }] }
    }

    fn single(&self, one: &Touched) -> Vec<Violation> {
        match &one.change {
            ItemChange::Put => audit::check_item(&self.model, &one.attributes),
            ItemChange::Update(names) => {
                let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
                audit::check_update(&self.model, &one.attributes, &names)
            }
            ItemChange::Delete => Vec::new(),
        }
    }
}

pub(super) fn put_of(item: &Item) -> Touched {
    Touched { attributes: attributes(item), change: ItemChange::Put }
}

pub(super) fn delete_of(key: &Item) -> Touched {
    Touched { attributes: attributes(key), change: ItemChange::Delete }
}

/// An update that changes nothing is none.
pub(super) fn update_of(key: &Item, update: Option<&Update>) -> Option<Touched> {
    let names = update?.target_roots().map(str::to_owned).collect();
    Some(Touched { attributes: attributes(key), change: ItemChange::Update(names) })
}

/// What an undeclared write looks like: `TransactWriteItems: put Order, update User`.
fn described(written: &[EntityWrite<'_>], bond: WriteGrouping) -> String {
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
