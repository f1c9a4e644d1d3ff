//! DescribeStream: a body → a stream and which of its shards; and the description.

use crate::json::{Reader, Writer};
use crate::stream::stream_arn;
use crate::table::table_description::encode_key;
use crate::table::table_settings::{Text, check_length, read_structure};
use crate::validation::{Validation, present};
use partita_api::stream::describe_stream::{DescribeStream, DescribeStreamOutput, ShardDescription};
use partita_api::{Exception, Request};

/// The most shards of a page, and how many a request gets that does not say.
const MOST_SHARDS: i32 = 100;

/// `ShardFilter` as sent.
#[derive(Default)]
struct SentFilter<'a> {
    kind: Text<'a>,
    shard: Text<'a>,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let (mut arn, mut start): (Text<'_>, Text<'_>) = (None, None);
    let (mut limit, mut filter) = (None, None);
    reader.request(|reader, name| {
        match name {
            "StreamArn" => arn = reader.text()?,
            "ExclusiveStartShardId" => start = reader.text()?,
            "Limit" => limit = reader.integer()?,
            "ShardFilter" => filter = read_filter(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut validation = Validation::new();
    validation.required("streamArn", &arn);
    stream_arn::check(&mut validation, "streamArn", &arn);
    check_shard_id(&mut validation, "exclusiveStartShardId", &start);
    validation.at_least("limit", limit, 1);
    validation.at_most("limit", limit, MOST_SHARDS);
    if let Some(filter) = &filter {
        validation.required("shardFilter.type", &filter.kind);
        validation.one_of("shardFilter.type", filter.kind.as_deref(), &[("CHILD_SHARDS", ())]);
        validation.required("shardFilter.shardId", &filter.shard);
        check_shard_id(&mut validation, "shardFilter.shardId", &filter.shard);
    }
    validation.finish()?;
    let arn = present(arn)?.into_owned();
    Ok(Request::DescribeStream(DescribeStream {
        name: stream_arn::resolve(&arn)?,
        arn,
        exclusive_start: start.map(|id| id.into_owned()),
        limit: limit.unwrap_or(MOST_SHARDS).unsigned_abs(),
        children_of: filter.and_then(|filter| filter.shard).map(|id| id.into_owned()),
    }))
}

fn read_filter<'a>(reader: &mut Reader<'a>) -> Result<Option<SentFilter<'a>>, Exception> {
    read_structure(reader, "ShardFilter", |filter: &mut SentFilter<'a>, reader, name| {
        match name {
            "Type" => filter.kind = reader.text()?,
            "ShardId" => filter.shard = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}

/// Notes a shard id whose length is out of bounds.
pub(crate) fn check_shard_id(validation: &mut Validation, path: &str, id: &Text<'_>) {
    check_length(validation, path, id, 28, 65);
}

pub(crate) fn encode(output: &DescribeStreamOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("StreamDescription").object(|json| {
            json.name("StreamArn").string(&output.arn);
            json.name("StreamLabel").string(&output.name.label);
            json.name("StreamStatus").string(if output.enabled { "ENABLED" } else { "DISABLED" });
            json.name("StreamViewType").string(output.view.name());
            json.name("CreationRequestDateTime").double(output.created_at);
            json.name("TableName").string(&output.name.table);
            encode_key(&output.key, json);
            json.name("Shards").array(|json| {
                output.shards.iter().for_each(|shard| encode_shard(shard, json));
            });
            if let Some(last) = &output.last_evaluated {
                json.name("LastEvaluatedShardId").string(last);
            }
        });
    });
}

fn encode_shard(shard: &ShardDescription, json: &mut Writer) {
    json.object(|json| {
        json.name("ShardId").string(&shard.id);
        json.name("SequenceNumberRange").object(|json| {
            json.name("StartingSequenceNumber").string(&shard.first.to_string());
            if let Some(last) = shard.last {
                json.name("EndingSequenceNumber").string(&last.to_string());
            }
        });
        if let Some(parent) = &shard.parent {
            json.name("ParentShardId").string(parent);
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::{NOT_NULL, decoded, encoded, errors, refusal};
    use partita_api::key_schema::{KeyAttribute, KeySchema};
    use partita_api::stream::describe_stream::{DescribeStreamOutput, ShardDescription};
    use partita_api::stream::sequence_number::SequenceNumber;
    use partita_api::table::StreamViewType;
    use partita_api::{Operation, Request, Response};
    use partita_value::ScalarType;
    use partita_value::names::StreamName;

    const ARN: &str = "arn:aws:dynamodb:us-east-1:123456789012:table/abc/stream/2026-11-15T18:44:54.123";
    const SHARD: &str = "shardId-00000001794700800000-00000000";

    #[test]
    fn takes_the_stream_and_which_shards_to_show() {
        let body = format!(
            r#"{{"StreamArn": "{ARN}", "Limit": 3, "ExclusiveStartShardId": "{SHARD}",
                "ShardFilter": {{"Type": "CHILD_SHARDS", "ShardId": "{SHARD}"}}}}"#
        );
        let Request::DescribeStream(request) = decoded(Operation::DescribeStream, &body) else {
            panic!("another operation")
        };
        assert_eq!((request.arn.as_str(), request.name.table.as_str(), request.limit), (ARN, "abc", 3));
        assert_eq!(request.exclusive_start.as_deref(), Some(SHARD));
        assert_eq!(request.children_of.as_deref(), Some(SHARD));
    }

    #[test]
    fn members_out_of_bounds_are_told_together() {
        let body = r#"{"ExclusiveStartShardId": "x", "Limit": 0, "ShardFilter": {"Type": "foo"}}"#;
        assert_eq!(
            refusal(Operation::DescribeStream, body),
            errors(&[
                ("null", "streamArn", NOT_NULL),
                ("'x'", "exclusiveStartShardId", "Member must have length greater than or equal to 28"),
                ("'0'", "limit", "Member must have value greater than or equal to 1"),
                ("'foo'", "shardFilter.type", "Member must satisfy enum value set: [CHILD_SHARDS]"),
                ("null", "shardFilter.shardId", NOT_NULL),
            ])
        );
    }

    #[test]
    fn closed_shards_end_and_children_name_their_parents() {
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
