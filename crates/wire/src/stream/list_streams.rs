//! ListStreams: decodes a table and the start of a page; encodes a page of streams.

use crate::json::{Reader, Writer};
use crate::members::{range, read_valid_request, structure};
use crate::stream::stream_arn::{self, arn_length};
use crate::table::table_name::resource_name;
use partita_api::stream::list_streams::{ListStreams, ListStreamsOutput};
use partita_api::{Exception, Request};
use std::borrow::Cow;

/// The maximum and default number of streams of a page.
const MAX_STREAMS: i32 = 100;

structure! {
    struct ListStreamsMembers<'a> {
        table: Cow<'a, str> = "TableName", resource_name;
        start: Cow<'a, str> = "ExclusiveStartStreamArn", arn_length;
        limit: i32 = "Limit", range(1, MAX_STREAMS);
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: ListStreamsMembers = read_valid_request(reader)?;
    Ok(Request::ListStreams(ListStreams {
        table: members.table.map(Cow::into_owned),
        exclusive_start: members.start.map(|arn| stream_arn::resolve(&arn)).transpose()?,
        limit: members.limit.unwrap_or(MAX_STREAMS).unsigned_abs(),
    }))
}

pub(crate) fn encode(output: &ListStreamsOutput, json: &mut Writer) {
    json.object(|json| {
        json.objects("Streams", &output.streams, |stream, json| {
            json.member("StreamArn", &stream.arn)
                .member("TableName", &stream.name.table)
                .member("StreamLabel", &stream.name.label);
        });
        json.member("LastEvaluatedStreamArn", &output.last_evaluated);
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::stream::list_streams::{ListStreams, ListStreamsOutput, ListedStream};
    use partita_value::names::StreamName;

    operation_tests!(ListStreams);

    const ARN: &str = "arn:aws:dynamodb:us-east-1:123456789012:table/abc/stream/2026-11-15T18:44:54.123";

    fn name() -> StreamName {
        StreamName { table: "abc".into(), label: "2026-11-15T18:44:54.123".into() }
    }

    #[test]
    fn a_page_has_a_hundred_streams_of_all_tables_by_default() {
        let all = decoded("{}");
        assert_eq!((all.table, all.exclusive_start, all.limit), (None, None, 100));
        let page =
            decoded(&format!(r#"{{"TableName": "abc", "ExclusiveStartStreamArn": "{ARN}", "Limit": 7}}"#));
        assert_eq!((page.table.as_deref(), page.exclusive_start, page.limit), (Some("abc"), Some(name()), 7));
    }

    #[test]
    fn members_out_of_bounds_and_invalid_arns_are_refused() {
        assert_eq!(
            refused(r#"{"ExclusiveStartStreamArn": "arn", "Limit": 101}"#),
            errors(&[
                ("'arn'", "exclusiveStartStreamArn", "have length greater than or equal to 37"),
                ("'101'", "limit", "have value less than or equal to 100"),
            ])
        );
        let no_arn = format!(r#"{{"ExclusiveStartStreamArn": "{}"}}"#, "x".repeat(40));
        assert_eq!(refused(&no_arn), "Invalid StreamArn");
    }

    #[test]
    fn streams_are_listed_with_table_and_label() {
        let streams = vec![ListedStream { name: name(), arn: ARN.into() }];
        let page = ListStreamsOutput { streams, last_evaluated: Some(ARN.into()) };
        assert_eq!(
            encoded(Response::ListStreams(page)),
            format!(
                r#"{{"Streams":[{{"StreamArn":"{ARN}","TableName":"abc","StreamLabel":"2026-11-15T18:44:54.123"}}],"LastEvaluatedStreamArn":"{ARN}"}}"#
            )
        );
    }
}
