//! ExecuteStatement: JSON → request, response → JSON.

use crate::attribute_value;
use crate::json::{Reader, Writer};
use crate::reporting;
use crate::statement::partiql::{StatementMembers, fingerprint};
use crate::validation::Validation;
use base64::{Engine, engine::general_purpose::STANDARD};
use partita_api::statement::execute_statement::{ExecuteStatement, ExecuteStatementOutput};
use partita_api::{Exception, Request, messages};
use partita_value::limits;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut members = StatementMembers::default();
    let mut limit = None;
    let mut next_token = None;
    let mut capacity = None;
    reader.request(|reader, member| {
        match member {
            "Limit" => limit = reader.integer()?,
            "NextToken" => next_token = reader.text()?,
            "ReturnConsumedCapacity" => capacity = reader.text()?,
            _ if members.read(reader, member)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;

    let mut validation = Validation::new();
    let return_consumed_capacity = reporting::return_consumed_capacity(&mut validation, capacity.as_deref());
    validation.at_least("limit", limit, 1);
    members.validate(&mut validation, "");
    if let Some(token) = &next_token {
        let length = token.chars().count();
        validation.length("nextToken", token, length, 1, limits::NEXT_TOKEN_CHARACTERS);
    }
    validation.finish()?;

    let consistent_read = members.consistent_read.unwrap_or_default();
    let return_item_on_condition_failure = members.return_item_on_condition_failure();
    let checked = members.checked()?;
    let statement = checked.parse_single()?;
    let unreadable = |_| Exception::validation(messages::INVALID_NEXT_TOKEN);
    Ok(Request::ExecuteStatement(ExecuteStatement {
        statement,
        consistent_read,
        limit: limit.map(i32::unsigned_abs),
        next_token: next_token
            .map(|token| STANDARD.decode(token.as_bytes()).map_err(unreadable))
            .transpose()?,
        fingerprint: fingerprint([&checked]),
        return_consumed_capacity,
        return_item_on_condition_failure,
    }))
}

pub(crate) fn encode(output: &ExecuteStatementOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("Items");
        attribute_value::encode_items(json, &output.items);
        if let Some(token) = &output.next_token {
            json.name("NextToken").string(&STANDARD.encode(token));
        }
        if let Some(key) = &output.last_evaluated_key {
            json.name("LastEvaluatedKey");
            attribute_value::encode_item(json, key.view());
        }
        reporting::encode_consumed_capacity(json, output.consumed_capacity.as_ref());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::Response;
    use partita_partiql::Statement;
    use partita_value::{AttributeValue, Item};

    operation_tests!(ExecuteStatement);

    #[test]
    fn a_statement_with_parameters() {
        let body = |value: &str| {
            format!(
                r#"{{"Statement":"SELECT * FROM \"Music\".\"byYear\" WHERE a = ?","Parameters":[{{"S":"{value}"}}],
                    "Limit":3,"ConsistentRead":true,"NextToken":"AAEC","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}"#
            )
        };
        let one = decoded(&body("x"));
        let Statement::Select(select) = &one.statement else { panic!("expected a SELECT") };
        assert_eq!((select.table.as_str(), select.index.as_deref()), ("Music", Some("byYear")));
        assert_eq!((one.limit, one.next_token.as_deref()), (Some(3), Some(&[0, 1, 2][..])));
        assert!(one.consistent_read && one.return_item_on_condition_failure);
        assert_eq!(one.fingerprint, decoded(&body("x")).fingerprint);
        assert_ne!(one.fingerprint, decoded(&body("y")).fingerprint);
    }

    #[test]
    fn members_are_checked() {
        assert_eq!(refused("{}"), errors(&[("null", "statement", NOT_NULL)]));
        let body = r#"{"Statement":"","Parameters":[],"Limit":0,"NextToken":"","ReturnConsumedCapacity":"x",
            "ReturnValuesOnConditionCheckFailure":"x"}"#;
        assert_eq!(
            refused(body),
            errors(&[
                ("'x'", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]"),
                ("'0'", "limit", "have value greater than or equal to 1"),
                ("'[]'", "parameters", "have length greater than or equal to 1"),
                ("'x'", "returnValuesOnConditionCheckFailure", "satisfy enum value set: [ALL_OLD, NONE]"),
                ("''", "statement", "have length greater than or equal to 1"),
                ("''", "nextToken", "have length greater than or equal to 1"),
            ])
        );
        let long = format!(r#"{{"Statement":"{}"}}"#, "x".repeat(8_193));
        assert!(refused(&long).ends_with("Member must have length less than or equal to 8192"));
    }

    #[test]
    fn parameters_are_checked_before_the_statement() {
        assert_eq!(
            refused(r#"{"Statement":"UPDATE t SET WHERE","Parameters":[{"NULL":false}]}"#),
            "One or more parameter values were invalid: Null attribute value types must have the value of true"
        );
        assert_eq!(
            refused(r#"{"Statement":"SELECT * FROM abc WHERE a = ?"}"#),
            "Number of parameters in request and statement don't match."
        );
        assert_eq!(
            refused(r#"{"Statement":"EXISTS(SELECT * FROM abc WHERE a = 1)"}"#),
            "EXISTS can only be used in ExecuteTransaction write requests."
        );
        assert_eq!(refused(r#"{"Statement":"SELECT * FROM abc","NextToken":"%"}"#), "Invalid NextToken");
        let large = format!(
            r#"{{"Statement":"INSERT INTO abc VALUE {{'a':?}}","Parameters":[{{"S":"{}"}}]}}"#,
            "x".repeat(409_600)
        );
        assert_eq!(refused(&large), "Item size has exceeded the maximum allowed size");
    }

    #[test]
    fn the_response_always_has_items() {
        let item: Item = [("a", AttributeValue::Null)].into_iter().collect();
        let output = ExecuteStatementOutput {
            items: vec![item.clone()],
            next_token: Some(vec![0, 1, 2]),
            last_evaluated_key: Some(item),
            consumed_capacity: None,
        };
        assert_eq!(
            encoded(Response::ExecuteStatement(output)),
            r#"{"Items":[{"a":{"NULL":true}}],"NextToken":"AAEC","LastEvaluatedKey":{"a":{"NULL":true}}}"#
        );
        assert_eq!(encoded(Response::ExecuteStatement(ExecuteStatementOutput::default())), r#"{"Items":[]}"#);
    }
}
