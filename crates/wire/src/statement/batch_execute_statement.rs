//! BatchExecuteStatement: JSON → request, response → JSON.

use crate::attribute_value;
use crate::json::{Reader, Writer};
use crate::reporting;
use crate::statement::partiql::{self, StatementMembers};
use crate::validation::{Validation, present};
use partita_api::statement::batch_execute_statement::{
    BatchExecuteStatement, BatchExecuteStatementOutput, BatchStatement, BatchStatementResponse,
};
use partita_api::{Exception, Request};
use partita_value::limits;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut statements = None;
    let mut capacity = None;
    reader.request(|reader, member| {
        match member {
            "Statements" => {
                statements = StatementMembers::read_list(reader, "BatchStatementRequest")?;
            }
            "ReturnConsumedCapacity" => capacity = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;

    let mut validation = Validation::new();
    let return_consumed_capacity = reporting::return_consumed_capacity(&mut validation, capacity.as_deref());
    partiql::validate_list(&mut validation, "statements", &statements, limits::BATCH_STATEMENTS);
    validation.finish()?;

    let (statements, _) = present(statements)?;
    let statements: Vec<_> = statements.into_iter().map(read_statement).collect();
    let mut kinds = statements.iter().filter_map(|batched| Some(batched.statement.as_ref().ok()?.is_read()));
    if let Some(first) = kinds.next()
        && kinds.any(|reads| reads != first)
    {
        return Err(Exception::validation(
            "BatchExecuteStatement API does not support both read and write operations in the same request.",
        ));
    }
    Ok(Request::BatchExecuteStatement(BatchExecuteStatement { statements, return_consumed_capacity }))
}

fn read_statement(members: StatementMembers<'_>) -> BatchStatement {
    BatchStatement {
        consistent_read: members.consistent_read.unwrap_or_default(),
        return_item_on_condition_failure: members.return_item_on_condition_failure(),
        statement: members.checked().and_then(|checked| checked.parse_single()),
    }
}

pub(crate) fn encode(output: &BatchExecuteStatementOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("Responses").array(|json| {
            output.responses.iter().for_each(|response| encode_response(response, json));
        });
        reporting::encode_consumed_capacities(json, output.consumed_capacity.as_ref());
    });
}

fn encode_response(response: &BatchStatementResponse, json: &mut Writer) {
    json.object(|json| {
        if let Some(error) = &response.error {
            json.name("Error").object(|json| {
                json.name("Code").string(error.kind.reason_code().unwrap_or(error.kind.name()));
                json.name("Message").string(&error.message);
                if let Some(item) = &error.item {
                    json.name("Item");
                    attribute_value::encode_item(json, item.view());
                }
            });
        }
        if let Some(table) = &response.table {
            json.name("TableName").string(table.as_str());
        }
        if let Some(item) = &response.item {
            json.name("Item");
            attribute_value::encode_item(json, item.view());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::{ExceptionKind, Response};
    use partita_value::Item;
    use partita_value::names::TableName;

    operation_tests!(BatchExecuteStatement);

    #[test]
    fn statements_are_parsed_independently() {
        let body = r#"{"Statements":[{"Statement":"SELECT * FROM abc WHERE a = ?","Parameters":[{"S":"x"}],"ConsistentRead":true},
            {"Statement":"SLECT"},{"Statement":"SELECT * FROM abc WHERE a = ?","Parameters":[{"SS":[]}]}]}"#;
        let request = decoded(body);
        assert!(request.statements[0].statement.is_ok() && request.statements[0].consistent_read);
        assert!(request.statements[1..].iter().all(|batched| batched.statement.is_err()));
    }

    #[test]
    fn a_batch_is_checked_as_a_whole() {
        assert_eq!(refused("{}"), errors(&[("null", "statements", NOT_NULL)]));
        assert_eq!(
            refused(r#"{"Statements":[]}"#),
            errors(&[("'[]'", "statements", "have length greater than or equal to 1")])
        );
        assert_eq!(
            refused(r#"{"Statements":[{}]}"#),
            errors(&[("null", "statements.1.member.statement", NOT_NULL)])
        );
        let many = vec![r#"{"Statement":"x"}"#; 26].join(",");
        let many = refused(&format!(r#"{{"Statements":[{many}]}}"#));
        assert!(many.ends_with("Member must have length less than or equal to 25"));
        let mixed = r#"{"Statements":[{"Statement":"SELECT * FROM abc"},{"Statement":"DELETE FROM abc WHERE a = 1"}]}"#;
        assert!(refused(mixed).contains("does not support both read and write operations"));
    }

    #[test]
    fn the_response_has_an_entry_for_every_statement() {
        let mut error = Exception::new(ExceptionKind::ConditionalCheckFailedException, "m");
        error.item = Some(Item::default());
        let table = Some(TableName::new("abc"));
        let responses = vec![
            BatchStatementResponse { table: table.clone(), item: Some(Item::default()), error: None },
            BatchStatementResponse { table, item: None, error: Some(error) },
            BatchStatementResponse { error: Some(Exception::internal("i")), ..Default::default() },
        ];
        assert_eq!(
            encoded(Response::BatchExecuteStatement(BatchExecuteStatementOutput {
                responses,
                consumed_capacity: None
            })),
            r#"{"Responses":[{"TableName":"abc","Item":{}},{"Error":{"Code":"ConditionalCheckFailed","Message":"m","Item":{}},"TableName":"abc"},{"Error":{"Code":"InternalServerError","Message":"i"}}]}"#
        );
    }
}
