//! DescribeImport: decodes the ARN of an import; encodes its description.

use crate::exchange::read_arn;
use crate::import::import_description;
use crate::json::{Reader, Writer};
use partita_api::import::describe_import::{DescribeImport, DescribeImportOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::DescribeImport(DescribeImport { arn: read_arn(reader, "ImportArn")? }))
}

pub(crate) fn encode(output: &DescribeImportOutput, json: &mut Writer) {
    import_description::encode(&output.import, json);
}
