//! CancelBulkOperation: decodes the ARN of a bulk operation; encodes its new status.

use crate::exchange::read_arn;
use crate::json::{Reader, Writer};
use partita_api::bulk_operation::cancel_bulk_operation::{CancelBulkOperation, CancelBulkOperationOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let arn = read_arn(reader, "BulkOperationArn")?;
    Ok(Request::CancelBulkOperation(CancelBulkOperation { arn }))
}

pub(crate) fn encode(output: &CancelBulkOperationOutput, json: &mut Writer) {
    json.object(|json| {
        json.member("BulkOperationArn", &output.arn).member("BulkOperationStatus", output.status.name());
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::bulk_operation::cancel_bulk_operation::CancelBulkOperation;

    operation_tests!(CancelBulkOperation);

    #[test]
    fn an_arn_is_required() {
        assert_eq!(refused("{}"), errors(&[("null", "bulkOperationArn", NOT_NULL)]));
        assert_eq!(
            refused(r#"{"BulkOperationArn":"x"}"#),
            errors(&[("'x'", "bulkOperationArn", "have length greater than or equal to 37")])
        );
    }
}
