//! ListImports: decodes the start and size of a page, of one table or of all; encodes a page of summaries.

use crate::exchange::{encode_next_token, read_page};
use crate::import::import_description::encode_source;
use crate::json::{Reader, Seconds, Writer};
use partita_api::import::list_imports::{ListImports, ListImportsOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::ListImports(ListImports { page: read_page(reader, "PageSize")? }))
}

pub(crate) fn encode(output: &ListImportsOutput, json: &mut Writer) {
    json.object(|json| {
        json.objects("ImportSummaryList", &output.imports, |import, json| {
            json.member("ImportArn", &import.arn)
                .member("ImportStatus", import.status.name())
                .member("TableArn", &import.table_arn);
            encode_source(&import.source, json);
            json.member("InputFormat", import.format.name())
                .member("StartTime", &Seconds(import.started_millis))
                .member("EndTime", &import.ended_millis.map(Seconds));
        });
        encode_next_token(output.next.as_ref(), json);
    });
}
