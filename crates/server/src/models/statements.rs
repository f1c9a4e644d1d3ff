//! PartiQL statements, seen as what they write and read.

use super::watch::{Asked, ModelWatch};
use super::writes::{Touched, delete_of, put_of, update_of};
use partita_api::Request;
use partita_design::audit::WriteGrouping;
use partita_expression::Condition;
use partita_partiql::{KeyPart, KeyParts, NamedItem, Select, Statement, named_item};

impl ModelWatch {
    /// What the statements of a request write to the table, and how they belong together.
    pub(super) fn written_by_statements(&self, request: &Request) -> Option<(Vec<Touched>, WriteGrouping)> {
        let bond = match request {
            Request::ExecuteStatement(_) => WriteGrouping::Single,
            Request::BatchExecuteStatement(_) => WriteGrouping::Batch,
            Request::ExecuteTransaction(_) => WriteGrouping::Transaction,
            _ => return None,
        };
        let own = statements(request).into_iter().filter(|statement| self.concerns(statement.table()));
        Some((own.filter_map(|statement| self.touched_by(statement)).collect(), bond))
    }

    /// What the statements of a request read.
    pub(super) fn read_by_statements(&self, request: &Request) -> Vec<Asked> {
        let own = statements(request).into_iter().filter(|statement| self.concerns(statement.table()));
        let selects = own.filter_map(|statement| match statement {
            Statement::Select(select) => Some(Asked { label: self.selected(select), keys: 1 }),
            _ => None,
        });
        selects.collect()
    }

    fn touched_by(&self, statement: &Statement) -> Option<Touched> {
        match statement {
            Statement::Insert(insert) => Some(put_of(&insert.item)),
            Statement::Update(update) => {
                update_of(&self.named(update.condition.as_ref()).key, Some(&update.update))
            }
            Statement::Delete(delete) => Some(delete_of(&self.named(delete.condition.as_ref()).key)),
            Statement::Select(_) | Statement::Exists(_) => None,
        }
    }

    /// One item is what a GetItem reads; the rest is not compared with the patterns.
    fn selected(&self, select: &Select) -> Result<String, String> {
        let item = self.named(select.condition.as_ref());
        match &select.index {
            None if item.check().is_ok() => self.get(&item.key),
            None => Err("SELECT table".to_owned()),
            Some(index) => Err(format!("SELECT {index}")),
        }
    }

    fn named(&self, condition: Option<&Condition>) -> NamedItem {
        let keys = &self.model.table.keys;
        let half =
            |place: usize| keys.get(place).map(|name| KeyPart { name, kind: None }).into_iter().collect();
        named_item(condition, &KeyParts { partition: half(0), sort: half(1) })
    }
}

fn statements(request: &Request) -> Vec<&Statement> {
    match request {
        Request::ExecuteStatement(one) => vec![&one.statement],
        Request::BatchExecuteStatement(batch) => {
            batch.statements.iter().filter_map(|one| one.statement.as_ref().ok()).collect()
        }
        Request::ExecuteTransaction(transaction) => {
            transaction.statements.iter().map(|one| &one.statement).collect()
        }
        _ => Vec::new(),
    }
}
