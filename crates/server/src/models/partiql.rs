//! PartiQL statements as writes and reads.

use super::model_watch::{Attribution, ModelWatch};
use super::read_attribution::Undeclared;
use super::write_attribution::{WriteGrouping, WrittenItem, delete_of, put_of, update_of};
use partita_api::Request;
use partita_design::keys::key_mapping::TableOrIndex;
use partita_expression::Condition;
use partita_partiql::{KeyPart, KeyParts, NamedItem, ReadAccess, Select, Statement, named_item, read_access};

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
            Statement::Select(select) => Some(self.selected(select)),
            _ => None,
        });
        selects.flatten().map(|label| Attribution { label, keys: 1 }).collect()
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

    /// A SELECT is attributed like the requests that it is executed as: a GetItem, Queries, or a Scan.
    fn selected(&self, select: &Select) -> Vec<Result<String, Undeclared>> {
        let index = select.index.as_deref();
        let item = self.named(select.condition.as_ref());
        if index.is_none() && item.check().is_ok() {
            return vec![self.get(&item.key, false)];
        }
        let place = TableOrIndex { index: index.and_then(|name| self.model.index(name)) };
        let (partition, sort) = place.halves(&self.model);
        let keys = KeyParts { partition: key_parts(partition), sort: key_parts(sort) };
        let forward = !select.order.iter().any(|order| order.descending);
        match read_access(select.condition.as_ref(), &keys) {
            Ok(ReadAccess::Ranges(ranges)) => {
                let read = |keys: Vec<_>| self.keyed_read(index, &keys, forward, None);
                ranges.iter().map(|range| read(range.returned_keys())).collect()
            }
            Ok(ReadAccess::Scan) | Err(_) => vec![self.scan("SELECT", index)],
        }
    }

    fn named(&self, condition: Option<&Condition>) -> NamedItem {
        let (partition, sort) = TableOrIndex { index: None }.halves(&self.model);
        named_item(condition, &KeyParts { partition: key_parts(partition), sort: key_parts(sort) })
    }
}

fn key_parts(names: &[String]) -> Vec<KeyPart<'_>> {
    names.iter().map(|name| KeyPart { name, kind: None }).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{Mode, Origin};
    use partita_api::Operation;
    use partita_design::model::ReadRule;
    use partita_design::{Source, read};

    const MODEL: &str = r#"
format = 1
[table]
name = "Shop"
keys = ["PK", "SK"]
[entity.User]
attributes = { userId = "id", name = "string" }
key = ["USER#{userId}", "PROFILE"]
[entity.Order]
attributes = { userId = "id", orderId = "id" }
key = ["USER#{userId}", "ORDER#{orderId}"]
[pattern]
orders = { in = ["userId"], out = "Order*" }
"#;

    #[test]
    fn a_select_within_two_bounds_is_a_read_between_them() {
        let model = read(&Source::new("model", MODEL)).unwrap();
        let watch = ModelWatch::new(model, Mode::Warn).with_reads(Some(ReadRule::Enforce));
        let is_declared = |sort: &str| {
            let statement = format!("SELECT * FROM Shop WHERE PK = 'USER#a' AND {sort}");
            let body = serde_json::json!({ "Statement": statement }).to_string();
            let Ok(request) = partita_wire::decode(Operation::ExecuteStatement, body.as_bytes()) else {
                panic!("{statement}");
            };
            watch.attribute_request(&request, Origin::Application).is_ok()
        };
        assert!(is_declared("SK BETWEEN 'ORDER#' AND 'ORDER$'"));
        assert!(is_declared("SK >= 'ORDER#' AND SK <= 'ORDER$'"));
        assert!(is_declared("SK < 'ORDER$' AND SK > 'ORDER#'"));
        assert!(!is_declared("SK >= 'ORDER#' AND SK <= 'Q'"), "it returns the profile");
        assert!(!is_declared("SK >= 'ORDER#'"));
    }
}
