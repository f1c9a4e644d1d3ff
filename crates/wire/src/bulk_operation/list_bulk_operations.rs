//! ListBulkOperations: a body → a page of bulk operations; and their summaries.

use crate::bulk_operation::describe_bulk_operation::encode_summary_members;
use crate::exchange::{encode_next_token, id_of_token};
use crate::json::{Reader, Writer};
use crate::table::table_settings::{Text, check_length};
use crate::validation::Validation;
use partita_api::bulk_operation::list_bulk_operations::{ListBulkOperations, ListBulkOperationsOutput};
use partita_api::exchange::ListPage;
use partita_api::{Exception, Request};

const USUAL_RESULTS: i32 = 10;
const MOST_RESULTS: i32 = 25;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let (mut limit, mut token): (Option<i32>, Text<'_>) = (None, None);
    reader.request(|reader, name| {
        match name {
            "MaxResults" => limit = reader.integer()?,
            "NextToken" => token = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut validation = Validation::new();
    validation.at_least("maxResults", limit, 1);
    validation.at_most("maxResults", limit, MOST_RESULTS);
    if let Some(token) = token.as_deref().filter(|token| !is_token(token)) {
        validation.pattern("nextToken", token, "([0-9a-f]{16})+");
    }
    check_length(&mut validation, "nextToken", &token, 1, 1024);
    validation.finish()?;
    let behind = token.as_deref().map(id_of_token).transpose()?;
    let limit = limit.unwrap_or(USUAL_RESULTS).unsigned_abs() as usize;
    let page = ListPage { table_arn: None, limit, behind };
    Ok(Request::ListBulkOperations(ListBulkOperations { page }))
}

fn is_token(token: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    !token.is_empty() && token.len().is_multiple_of(16) && token.bytes().all(is_digit)
}

pub(crate) fn encode(output: &ListBulkOperationsOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("BulkOperationsSummaryList").array(|json| {
            for operation in &output.operations {
                json.object(|json| encode_summary_members(operation, json));
            }
        });
        if let Some(id) = &output.next {
            encode_next_token(id, json);
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::{Operation, Request};

    fn limit(body: &str) -> usize {
        match decoded(Operation::ListBulkOperations, body) {
            Request::ListBulkOperations(request) => request.page.limit,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pages_have_ten_unless_told() {
        assert_eq!((limit("{}"), limit(r#"{"MaxResults":25}"#)), (10, 25));
        let body = r#"{"MaxResults":26,"NextToken":"00"}"#;
        assert_eq!(
            refusal(Operation::ListBulkOperations, body),
            errors(&[
                ("'26'", "maxResults", "Member must have value less than or equal to 25"),
                ("'00'", "nextToken", "Member must satisfy regular expression pattern: ([0-9a-f]{16})+"),
            ])
        );
    }
}
