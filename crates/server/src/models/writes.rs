//! Writes of a request held against the model, and the declared write that they are.

use super::attributes;
use super::watch::{Asked, ModelWatch};
use partita_api::Request;
use partita_api::batch_write_item::BatchWrite;
use partita_api::transact_write_items::TransactWrite;
use partita_design::attribution;
use partita_design::audit::{self, Bond, Change, Violation, Written};
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
    change: Change,
}

impl ModelWatch {
    pub fn judge(&self, request: &Request) -> Judged {
        let (touched, bond) = match request {
            Request::PutItem(put) if self.concerns(&put.table) => (vec![put_of(&put.item)], Bond::Alone),
            Request::UpdateItem(update) if self.concerns(&update.table) => {
                (update_of(&update.key, update.update.as_ref()).into_iter().collect(), Bond::Alone)
            }
            Request::DeleteItem(delete) if self.concerns(&delete.table) => {
                (vec![delete_of(&delete.key)], Bond::Alone)
            }
            Request::BatchWriteItem(batch) => {
                let own = batch.tables.iter().filter(|(table, _)| self.concerns(table));
                let one = |write: &BatchWrite| match write {
                    BatchWrite::Put(item) => put_of(item),
                    BatchWrite::Delete(key) => delete_of(key),
                };
                (own.flat_map(|(_, writes)| writes).map(one).collect(), Bond::Batch)
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
                (transaction.actions.iter().filter_map(own).collect(), Bond::Transaction)
            }
            _ => self.written_by_statements(request).unwrap_or((Vec::new(), Bond::Alone)),
        };
        if touched.is_empty() { Judged::default() } else { self.judged(&touched, bond) }
    }

    fn judged(&self, touched: &[Touched], bond: Bond) -> Judged {
        let mut violations: Vec<Violation> = touched.iter().flat_map(|one| self.single(one)).collect();
        let partition = self.model.table.keys.first();
        let keys: Vec<String> =
            touched.iter().filter_map(|one| one.attributes.get(partition?)).cloned().collect();
        let written: Vec<Written<'_>> = touched
            .iter()
            .filter_map(|one| {
                let entity = audit::recognise(&self.model, &one.attributes)?;
                Some(Written { entity, attributes: one.attributes.clone(), change: one.change.clone() })
            })
            .collect();
        violations.extend(audit::together(&self.model, &written, &keys, bond));
        keys.iter().for_each(|key| self.heat(None, key));
        let declared = attribution::write(&self.model, &written, bond == Bond::Transaction);
        let label = declared.map(str::to_owned).ok_or_else(|| described(&written, bond));
        Judged { violations, asked: vec![Asked { label, keys: touched.len() as u64 }] }
    }

    fn single(&self, one: &Touched) -> Vec<Violation> {
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

pub(super) fn put_of(item: &Item) -> Touched {
    Touched { attributes: attributes(item), change: Change::Put }
}

pub(super) fn delete_of(key: &Item) -> Touched {
    Touched { attributes: attributes(key), change: Change::Delete }
}

/// An update that changes nothing is none.
pub(super) fn update_of(key: &Item, update: Option<&Update>) -> Option<Touched> {
    let names = update?.target_roots().map(str::to_owned).collect();
    Some(Touched { attributes: attributes(key), change: Change::Update(names) })
}

/// What an undeclared write looks like: `TransactWriteItems: put Order, update User`.
fn described(written: &[Written<'_>], bond: Bond) -> String {
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
