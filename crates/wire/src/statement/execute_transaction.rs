//! ExecuteTransaction: JSON → request, response → JSON.

use crate::item::transaction::{check_token, encode_responses};
use crate::json::{Reader, Writer};
use crate::reporting;
use crate::statement::partiql::{self, CheckedStatement, StatementMembers, fingerprint};
use crate::validation::{Validation, present};
use partita_api::item::client_request_token::ClientRequestToken;
use partita_api::statement::execute_transaction::{
    ExecuteTransaction, ExecuteTransactionOutput, TransactStatement,
};
use partita_api::{Exception, Request, messages};
use partita_partiql::Statement;
use partita_value::limits;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut statements = None;
    let mut token = None;
    let mut capacity = None;
    reader.request(|reader, member| {
        match member {
            "TransactStatements" => {
                statements = StatementMembers::read_list(reader, "ParameterizedStatement")?;
            }
            "ClientRequestToken" => token = reader.text()?,
            "ReturnConsumedCapacity" => capacity = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;

    let mut validation = Validation::new();
    let return_consumed_capacity = reporting::return_consumed_capacity(&mut validation, capacity.as_deref());
    partiql::validate_list(&mut validation, "transactStatements", &statements, limits::TRANSACTION_ITEMS);
    check_token(&mut validation, &token);
    validation.finish()?;

    let (statements, _) = present(statements)?;
    let return_items: Vec<bool> =
        statements.iter().map(StatementMembers::return_item_on_condition_failure).collect();
    let checked = statements.into_iter().map(StatementMembers::checked).collect::<Result<Vec<_>, _>>()?;
    let parsed = checked.iter().enumerate().map(|(index, statement)| {
        parse(statement).map_err(|exception| {
            Exception::validation(messages::in_transact_statement(index, &exception.message))
        })
    });
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    check_alike(&parsed)?;
    let statements =
        parsed.into_iter().zip(return_items).map(|(statement, return_item_on_condition_failure)| {
            TransactStatement { statement, return_item_on_condition_failure }
        });
    Ok(Request::ExecuteTransaction(ExecuteTransaction {
        statements: statements.collect(),
        client_request_token: token.map(|token| ClientRequestToken {
            token: token.into_owned(),
            fingerprint: fingerprint(&checked),
        }),
        return_consumed_capacity,
    }))
}

fn parse(checked: &CheckedStatement<'_>) -> Result<Statement, Exception> {
    let statement = checked.parse()?;
    let problem = match &statement {
        _ if statement.has_returning() => "RETURNING clause is not supported in ExecuteTransaction.",
        Statement::Select(select) if select.index.is_some() => {
            "Reads on indices are not supported within transactions."
        }
        Statement::Exists(select) if select.index.is_some() => {
            "Operations on indices are not supported in transactions"
        }
        _ => return Ok(statement),
    };
    Err(Exception::validation(problem))
}

/// Checks that all statements read or all write.
fn check_alike(statements: &[Statement]) -> Result<(), Exception> {
    match statements.windows(2).all(|pair| pair[0].is_read() == pair[1].is_read()) {
        true => Ok(()),
        false => Err(Exception::validation(
            "ExecuteTransaction API does not support both read and write operations in the same request.",
        )),
    }
}

pub(crate) fn encode(output: &ExecuteTransactionOutput, json: &mut Writer) {
    encode_responses(&output.responses, output.consumed_capacity.as_ref(), json);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::Response;

    operation_tests!(ExecuteTransaction);

    fn body(statements: &[&str]) -> String {
        let statements: Vec<_> =
            statements.iter().map(|text| format!(r#"{{"Statement":{}}}"#, serde_json::json!(text))).collect();
        format!(r#"{{"TransactStatements":[{}],"ClientRequestToken":"t"}}"#, statements.join(","))
    }

    #[test]
    fn the_fingerprint_distinguishes_transactions() {
        let fingerprint = |statements: &[&str]| {
            decoded(&body(statements)).client_request_token.map(|token| token.fingerprint)
        };
        let one = fingerprint(&["DELETE FROM abc WHERE a = 1"]);
        assert!(one.is_some());
        assert_eq!(one, fingerprint(&["DELETE FROM abc WHERE a = 1"]));
        assert_ne!(one, fingerprint(&["DELETE FROM abc WHERE a = 2"]));
    }

    #[test]
    fn errors_name_their_statement() {
        let delete = "DELETE FROM abc WHERE a = 1";
        for (statement, text) in [
            ("DELETE", "Statement wasn't well formed, can't be processed: Expected FROM"),
            (
                "UPDATE abc SET b = 1 WHERE a = 1 RETURNING ALL NEW *",
                "RETURNING clause is not supported in ExecuteTransaction.",
            ),
            ("SELECT * FROM abc.i WHERE a = 1", "Reads on indices are not supported within transactions."),
            (
                "EXISTS(SELECT * FROM abc.i WHERE a = 1)",
                "Operations on indices are not supported in transactions",
            ),
        ] {
            assert_eq!(
                refused(&body(&[delete, statement])),
                format!("Validation failed in TransactStatements[1]: {text}")
            );
        }
        assert_eq!(
            refused(&body(&[delete, "SELECT * FROM abc WHERE a = 1"])),
            "ExecuteTransaction API does not support both read and write operations in the same request."
        );
        decoded(&body(&[delete, "EXISTS(SELECT * FROM abc WHERE a = 1 AND b = 2)"]));
    }

    #[test]
    fn members_are_checked() {
        assert_eq!(refused("{}"), errors(&[("null", "transactStatements", NOT_NULL)]));
        assert_eq!(
            refused(r#"{"TransactStatements":[],"ClientRequestToken":""}"#),
            errors(&[
                ("'[]'", "transactStatements", "have length greater than or equal to 1"),
                ("''", "clientRequestToken", "have length greater than or equal to 1"),
            ])
        );
        let many = vec![r#"{"Statement":"x"}"#; 101].join(",");
        let many = refused(&format!(r#"{{"TransactStatements":[{many}]}}"#));
        assert!(many.ends_with("Member must have length less than or equal to 100"));
    }

    #[test]
    fn the_response_has_an_entry_for_every_item_read() {
        let output = ExecuteTransactionOutput { responses: vec![None, None], consumed_capacity: None };
        assert_eq!(encoded(Response::ExecuteTransaction(output)), r#"{"Responses":[{},{}]}"#);
    }
}
