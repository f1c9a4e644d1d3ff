//! ListExports: decodes the start and size of a page, of one table or of all; encodes a page of summaries.

use crate::exchange::{encode_next_token, read_page};
use crate::json::{Reader, Writer};
use partita_api::export::list_exports::{ListExports, ListExportsOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::ListExports(ListExports { page: read_page(reader, "MaxResults")? }))
}

pub(crate) fn encode(output: &ListExportsOutput, json: &mut Writer) {
    json.object(|json| {
        json.objects("ExportSummaries", &output.exports, |export, json| {
            json.member("ExportArn", &export.arn)
                .member("ExportStatus", export.status.name())
                .member("ExportType", export.scope.name());
        });
        encode_next_token(output.next.as_ref(), json);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::export_description::tests::{export, incremental};
    use crate::testing::encoded;
    use partita_api::Response;
    use partita_api::export::ExportScope;

    #[test]
    fn summaries_have_the_export_type() {
        let exports = vec![export(ExportScope::Full, None), export(incremental(), None)];
        assert_eq!(
            encoded(Response::ListExports(ListExportsOutput { exports, next: None })),
            r#"{"ExportSummaries":[{"ExportArn":"a","ExportStatus":"IN_PROGRESS","ExportType":"FULL_EXPORT"},{"ExportArn":"a","ExportStatus":"IN_PROGRESS","ExportType":"INCREMENTAL_EXPORT"}]}"#
        );
    }
}
