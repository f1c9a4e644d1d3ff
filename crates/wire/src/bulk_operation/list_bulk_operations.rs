//! ListBulkOperations: decodes the start and size of a page; encodes a page of summaries.

use crate::bulk_operation::bulk_operation_description::encode_summary_members;
use crate::exchange::{encode_next_token, id_of_token};
use crate::json::{Reader, Writer};
use crate::members::{Path, length, range, read_valid_request, structure};
use crate::validation::Validation;
use partita_api::bulk_operation::list_bulk_operations::{ListBulkOperations, ListBulkOperationsOutput};
use partita_api::exchange::ListPage;
use partita_api::{Exception, Request};
use std::borrow::Cow;

const DEFAULT_RESULTS: i32 = 10;
const MAX_RESULTS: i32 = 25;

structure! {
    struct ListBulkOperationsMembers<'a> {
        limit: i32 = "MaxResults", range(1, MAX_RESULTS);
        token: Cow<'a, str> = "NextToken", token_digits, length(1, 1_024);
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: ListBulkOperationsMembers = read_valid_request(reader)?;
    let start_after = members.token.as_deref().map(id_of_token).transpose()?;
    let limit = members.limit.unwrap_or(DEFAULT_RESULTS).unsigned_abs() as usize;
    let page = ListPage { table_arn: None, limit, start_after };
    Ok(Request::ListBulkOperations(ListBulkOperations { page }))
}

/// Requires a token to be groups of sixteen hexadecimal digits.
fn token_digits(path: &Path<'_>, token: &Option<Cow<'_, str>>, validation: &mut Validation) {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_token =
        |token: &str| !token.is_empty() && token.len().is_multiple_of(16) && token.bytes().all(is_digit);
    if let Some(token) = token.as_deref().filter(|token| !is_token(token)) {
        validation.pattern(path, token, "([0-9a-f]{16})+");
    }
}

pub(crate) fn encode(output: &ListBulkOperationsOutput, json: &mut Writer) {
    json.object(|json| {
        json.objects("BulkOperationsSummaryList", &output.operations, encode_summary_members);
        encode_next_token(output.next.as_ref(), json);
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::bulk_operation::list_bulk_operations::ListBulkOperations;

    operation_tests!(ListBulkOperations);

    #[test]
    fn pages_have_ten_operations_by_default() {
        let limit = |body| decoded(body).page.limit;
        assert_eq!((limit("{}"), limit(r#"{"MaxResults":25}"#)), (10, 25));
        let body = r#"{"MaxResults":26,"NextToken":"00"}"#;
        assert_eq!(
            refused(body),
            errors(&[
                ("'26'", "maxResults", "have value less than or equal to 25"),
                ("'00'", "nextToken", "satisfy regular expression pattern: ([0-9a-f]{16})+"),
            ])
        );
    }
}
