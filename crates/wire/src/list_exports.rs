//! ListExports: a body → a page of exports, of one table or of all; and their summaries.

use crate::exchange::{encode_next_token, read_page};
use crate::json::{Reader, Writer};
use partita_api::list_exports::{ListExports, ListExportsOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::ListExports(ListExports { page: read_page(reader, "MaxResults", "maxResults")? }))
}

pub(crate) fn encode(output: &ListExportsOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("ExportSummaries").array(|json| {
            for export in &output.exports {
                json.object(|json| {
                    json.name("ExportArn").string(&export.arn);
                    json.name("ExportStatus").string(export.status.name());
                    json.name("ExportType").string("FULL_EXPORT");
                });
            }
        });
        if let Some(id) = &output.next {
            encode_next_token(id, json);
        }
    });
}
