//! PartiQL statements as writes and reads.

use super::model_watch::{Attribution, ModelWatch};
use super::write_check::{WrittenItem, delete_of, put_of, update_of};
use partita_api::Request;
use partita_design::audit::WriteGrouping;
use partita_expression::Condition;
use partita_partiql::{KeyPart, KeyParts, NamedItem, Select, Statement, named_item};

impl ModelWatch {
    /// The items that the statements of a request write to the table, and how they are grouped.
    pub(super) fn written_by_statements(
        &self,
        request: &Request,
    ) -> Option<(Vec<WrittenItem>, WriteGrouping)> {
        let grouping = match request {
            Request::ExecuteStatement(_) => WriteGrouping::Single,
            Request::BatchExecuteStatement(_) => WriteGrouping::Batch,
            Request::ExecuteTransaction(_) => WriteGrouping::Transaction,
            _ => return None,
        };
        let own = statements(request).into_iter().filter(|statement| self.applies_to(statement.table()));
        Some((own.filter_map(|statement| self.written_item(statement)).collect(), grouping))
    }

    /// The patterns that the statements of a request read for.
    pub(super) fn read_by_statements(&self, request: &Request) -> Vec<Attribution> {
        let own = statements(request).into_iter().filter(|statement| self.applies_to(statement.table()));
        let selects = own.filter_map(|statement| match statement {
            Statement::Select(select) => Some(Attribution { label: self.selected(select), keys: 1 }),
            _ => None,
        });
        selects.collect()
    }

    fn written_item(&self, statement: &Statement) -> Option<WrittenItem> {
        match statement {
            Statement::Insert(insert) => Some(put_of(&insert.item)),
            Statement::Update(update) => {
                update_of(&self.named(update.condition.as_ref()).key, Some(&update.update))
            }
            Statement::Delete(delete) => Some(delete_of(&self.named(delete.condition.as_ref()).key)),
            Statement::Select(_) | Statement::Exists(_) => None,
        }
    }

    /// A SELECT of one item is attributed like a GetItem; others are not compared with the patterns.
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
