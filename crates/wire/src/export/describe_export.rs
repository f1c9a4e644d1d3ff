//! DescribeExport: decodes the ARN of an export; encodes its description.

use crate::exchange::read_arn;
use crate::export::export_description;
use crate::json::{Reader, Writer};
use partita_api::export::describe_export::{DescribeExport, DescribeExportOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::DescribeExport(DescribeExport { arn: read_arn(reader, "ExportArn")? }))
}

pub(crate) fn encode(output: &DescribeExportOutput, json: &mut Writer) {
    export_description::encode(&output.export, json);
}
