//! DescribeStream: decodes a stream and a page or filter of its shards; encodes its description.

use crate::json::{Reader, Writer};
use crate::members::{Choice, enum_names, range, read_valid_request, required, structure};
use crate::stream::stream_arn::{self, arn_length, shard_id_length};
use crate::table::table_description::encode_key;
use crate::validation::present;
use partita_api::stream::describe_stream::{DescribeStream, DescribeStreamOutput, ShardDescription};
use partita_api::{Exception, Request};
use std::borrow::Cow;

/// The maximum and default number of shards of a page.
const MAX_SHARDS: i32 = 100;

#[derive(Clone, Copy)]
enum ShardFilterType {
    ChildShards,
}

enum_names!(ShardFilterType: "CHILD_SHARDS" = ChildShards);

structure! {
    struct DescribeStreamMembers<'a> {
        arn: Cow<'a, str> = "StreamArn", required, arn_length;
        start: Cow<'a, str> = "ExclusiveStartShardId", shard_id_length;
        limit: i32 = "Limit", range(1, MAX_SHARDS);
        filter: ShardFilter<'a> = "ShardFilter";
    }

    struct ShardFilter<'a> as "ShardFilter" {
        kind: Choice<'a, ShardFilterType> = "Type", required;
        shard: Cow<'a, str> = "ShardId", required, shard_id_length;
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: DescribeStreamMembers = read_valid_request(reader)?;
    let arn = present(members.arn)?.into_owned();
    Ok(Request::DescribeStream(DescribeStream {
        name: stream_arn::resolve(&arn)?,
        arn,
        exclusive_start: members.start.map(Cow::into_owned),
        limit: members.limit.unwrap_or(MAX_SHARDS).unsigned_abs(),
        children_of: members.filter.and_then(|filter| filter.shard).map(Cow::into_owned),
    }))
}

pub(crate) fn encode(output: &DescribeStreamOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("StreamDescription").object(|json| {
            json.member("StreamArn", &output.arn)
                .member("StreamLabel", &output.name.label)
                .member("StreamStatus", if output.enabled { "ENABLED" } else { "DISABLED" })
                .member("StreamViewType", output.view.name())
                .member("CreationRequestDateTime", &output.created_at)
                .member("TableName", &output.name.table);
            encode_key(&output.key, json);
            json.objects("Shards", &output.shards, encode_shard)
                .member("LastEvaluatedShardId", &output.last_evaluated);
        });
    });
}

fn encode_shard(shard: &ShardDescription, json: &mut Writer) {
    json.member("ShardId", &shard.id);
    json.name("SequenceNumberRange").object(|json| {
        json.member("StartingSequenceNumber", &shard.first.to_string())
            .member("EndingSequenceNumber", &shard.last.map(|last| last.to_string()));
    });
    json.member("ParentShardId", &shard.parent);
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::key_schema::{KeyAttribute, KeySchema};
    use partita_api::stream::describe_stream::{DescribeStream, DescribeStreamOutput, ShardDescription};
    use partita_api::stream::sequence_number::SequenceNumber;
    use partita_api::table::StreamViewType;
    use partita_value::ScalarType;
    use partita_value::names::StreamName;

    operation_tests!(DescribeStream);

    const ARN: &str = "arn:aws:dynamodb:us-east-1:123456789012:table/abc/stream/2026-11-15T18:44:54.123";
    const SHARD: &str = "shardId-00000001794700800000-00000000";

    #[test]
    fn a_stream_and_a_filter_of_shards_are_read() {
        let body = format!(
            r#"{{"StreamArn": "{ARN}", "Limit": 3, "ExclusiveStartShardId": "{SHARD}",
                "ShardFilter": {{"Type": "CHILD_SHARDS", "ShardId": "{SHARD}"}}}}"#
        );
        let request = decoded(&body);
        assert_eq!((request.arn.as_str(), request.name.table.as_str(), request.limit), (ARN, "abc", 3));
        assert_eq!(request.exclusive_start.as_deref(), Some(SHARD));
        assert_eq!(request.children_of.as_deref(), Some(SHARD));
    }

    #[test]
    fn members_out_of_bounds_are_reported_together() {
        let body = r#"{"ExclusiveStartShardId": "x", "Limit": 0, "ShardFilter": {"Type": "foo"}}"#;
        assert_eq!(
            refused(body),
            errors(&[
                ("null", "streamArn", NOT_NULL),
                ("'x'", "exclusiveStartShardId", "have length greater than or equal to 28"),
                ("'0'", "limit", "have value greater than or equal to 1"),
                ("'foo'", "shardFilter.type", "satisfy enum value set: [CHILD_SHARDS]"),
                ("null", "shardFilter.shardId", NOT_NULL),
            ])
        );
    }

    #[test]
    fn closed_shards_have_an_end_and_children_a_parent() {
        let output = DescribeStreamOutput {
            name: StreamName { table: "abc".into(), label: "l".into() },
            arn: ARN.into(),
            enabled: false,
            view: StreamViewType::KeysOnly,
            created_at: 1.5,
            key: KeySchema {
                partition: vec![KeyAttribute { name: "pk".into(), kind: ScalarType::S }],
                sort: vec![],
            },
            shards: vec![
                ShardDescription {
                    id: "a".into(),
                    parent: None,
                    first: SequenceNumber(1),
                    last: Some(SequenceNumber(2)),
                },
                ShardDescription {
                    id: "b".into(),
                    parent: Some("a".into()),
                    first: SequenceNumber(3),
                    last: None,
                },
            ],
            last_evaluated: Some("b".into()),
        };
        assert_eq!(
            encoded(Response::DescribeStream(output)),
            format!(
                r#"{{"StreamDescription":{{"StreamArn":"{ARN}","StreamLabel":"l","StreamStatus":"DISABLED","StreamViewType":"KEYS_ONLY","CreationRequestDateTime":1.5,"TableName":"abc","KeySchema":[{{"AttributeName":"pk","KeyType":"HASH"}}],"Shards":[{{"ShardId":"a","SequenceNumberRange":{{"StartingSequenceNumber":"100000000000000000001","EndingSequenceNumber":"100000000000000000002"}}}},{{"ShardId":"b","SequenceNumberRange":{{"StartingSequenceNumber":"100000000000000000003"}},"ParentShardId":"a"}}],"LastEvaluatedShardId":"b"}}}}"#
            )
        );
    }
}
