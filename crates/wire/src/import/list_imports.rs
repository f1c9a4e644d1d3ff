//! ListImports: a body → a page of imports, of one table or of all; and their summaries.

use crate::exchange::{encode_next_token, encode_time, read_page};
use crate::import::describe_import::encode_source;
use crate::json::{Reader, Writer};
use partita_api::import::list_imports::{ListImports, ListImportsOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::ListImports(ListImports { page: read_page(reader, "PageSize", "pageSize")? }))
}

pub(crate) fn encode(output: &ListImportsOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("ImportSummaryList").array(|json| {
            for import in &output.imports {
                json.object(|json| {
                    json.name("ImportArn").string(&import.arn);
                    json.name("ImportStatus").string(import.status.name());
                    json.name("TableArn").string(&import.table_arn);
                    encode_source(&import.source, json);
                    json.name("InputFormat").string(import.format.name());
                    encode_time("StartTime", Some(import.started_millis), json);
                    encode_time("EndTime", import.ended_millis, json);
                });
            }
        });
        if let Some(id) = &output.next {
            encode_next_token(id, json);
        }
    });
}
