//! DescribeBulkOperation: decodes the ARN of a bulk operation; encodes its description.

use crate::bulk_operation::bulk_operation_description;
use crate::exchange::read_arn;
use crate::json::{Reader, Writer};
use partita_api::bulk_operation::describe_bulk_operation::*;
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let arn = read_arn(reader, "BulkOperationArn")?;
    Ok(Request::DescribeBulkOperation(DescribeBulkOperation { arn }))
}

pub(crate) fn encode(output: &DescribeBulkOperationOutput, json: &mut Writer) {
    bulk_operation_description::encode(&output.operation, json);
}
