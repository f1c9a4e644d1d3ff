//! GetShardIterator: decodes a shard and a position in it; encodes the iterator.

use crate::json::{Reader, Writer};
use crate::members::{Choice, enum_names, length, read_valid_request, required, structure};
use crate::stream::stream_arn::{self, arn_length, shard_id_length};
use crate::table::table_settings::invalid;
use crate::validation::present;
use base64::{Engine, engine::general_purpose::STANDARD};
use partita_api::stream::get_shard_iterator::{GetShardIterator, GetShardIteratorOutput, ShardPosition};
use partita_api::stream::sequence_number::SequenceNumber;
use partita_api::{Exception, Request, messages};
use std::borrow::Cow;

#[derive(Clone, Copy, PartialEq)]
enum IteratorType {
    TrimHorizon,
    Latest,
    AtSequenceNumber,
    AfterSequenceNumber,
    AtTimestamp,
}

enum_names!(IteratorType:
    "TRIM_HORIZON" = TrimHorizon, "LATEST" = Latest, "AT_SEQUENCE_NUMBER" = AtSequenceNumber,
    "AFTER_SEQUENCE_NUMBER" = AfterSequenceNumber, "AT_TIMESTAMP" = AtTimestamp
);

structure! {
    struct GetShardIteratorMembers<'a> {
        arn: Cow<'a, str> = "StreamArn", required, arn_length;
        shard: Cow<'a, str> = "ShardId", required, shard_id_length;
        kind: Choice<'a, IteratorType> = "ShardIteratorType", required;
        sequence: Cow<'a, str> = "SequenceNumber", length(21, 40);
        time: i64 = "Timestamp";
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: GetShardIteratorMembers = read_valid_request(reader)?;
    let stream = stream_arn::resolve(present(members.arn.as_deref())?)?;
    let position = position(&members)?;
    Ok(Request::GetShardIterator(GetShardIterator {
        stream,
        arn: present(members.arn)?.into_owned(),
        shard: present(members.shard)?.into_owned(),
        position,
    }))
}

/// Checks that the sequence number and the time are present if the iterator type needs them, and absent otherwise.
fn position(members: &GetShardIteratorMembers<'_>) -> Result<ShardPosition, Exception> {
    let GetShardIteratorMembers { sequence, time, .. } = members;
    let choice = present(members.kind.as_ref())?;
    let (kind, name) = (present(choice.value())?, choice.text());
    let needs_number = matches!(kind, IteratorType::AtSequenceNumber | IteratorType::AfterSequenceNumber);
    for (member, is_needed, is_present) in [
        ("SequenceNumber", needs_number, sequence.is_some()),
        ("Timestamp", kind == IteratorType::AtTimestamp, time.is_some()),
    ] {
        if is_needed != is_present {
            let verb = if is_needed { "must" } else { "cannot" };
            return Err(invalid(format_args!(
                "{member} {verb} be specified when ShardIteratorType is {name}"
            )));
        }
    }
    let number = || {
        let number = sequence.as_deref().and_then(SequenceNumber::parse);
        number.ok_or_else(|| Exception::validation(messages::INVALID_SEQUENCE_NUMBER))
    };
    Ok(match kind {
        IteratorType::TrimHorizon => ShardPosition::TrimHorizon,
        IteratorType::Latest => ShardPosition::Latest,
        IteratorType::AtSequenceNumber => ShardPosition::At(number()?),
        IteratorType::AfterSequenceNumber => ShardPosition::After(number()?),
        IteratorType::AtTimestamp => {
            ShardPosition::AtTime(u64::try_from(time.unwrap_or_default()).unwrap_or(0))
        }
    })
}

pub(crate) fn encode(output: &GetShardIteratorOutput, json: &mut Writer) {
    json.object(|json| {
        json.member("ShardIterator", &STANDARD.encode(&output.iterator));
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::stream::get_shard_iterator::{GetShardIterator, GetShardIteratorOutput, ShardPosition};
    use partita_api::stream::sequence_number::SequenceNumber;

    operation_tests!(GetShardIterator);

    fn body(members: &str) -> String {
        format!(
            r#"{{"StreamArn": "arn:aws:dynamodb:us-east-1:123456789012:table/abc/stream/2026-11-15T18:44:54.123",
                "ShardId": "shardId-00000001794700800000-00000000", {members}}}"#
        )
    }

    #[test]
    fn every_iterator_type_is_a_position() {
        let number = r#""SequenceNumber": "100000000000000000007""#;
        for (members, position) in [
            (r#""ShardIteratorType": "TRIM_HORIZON""#.to_owned(), ShardPosition::TrimHorizon),
            (r#""ShardIteratorType": "LATEST""#.to_owned(), ShardPosition::Latest),
            (
                format!(r#""ShardIteratorType": "AT_SEQUENCE_NUMBER", {number}"#),
                ShardPosition::At(SequenceNumber(7)),
            ),
            (
                format!(r#""ShardIteratorType": "AFTER_SEQUENCE_NUMBER", {number}"#),
                ShardPosition::After(SequenceNumber(7)),
            ),
            (
                r#""ShardIteratorType": "AT_TIMESTAMP", "Timestamp": 1.794e3"#.to_owned(),
                ShardPosition::AtTime(1_794),
            ),
        ] {
            assert_eq!(decoded(&body(&members)).position, position);
        }
    }

    #[test]
    fn sequence_numbers_and_timestamps_must_suit_the_type() {
        for (members, text) in [
            (
                r#""ShardIteratorType": "AT_SEQUENCE_NUMBER""#,
                "One or more parameter values were invalid: SequenceNumber must be specified when ShardIteratorType is AT_SEQUENCE_NUMBER",
            ),
            (
                r#""ShardIteratorType": "LATEST", "SequenceNumber": "100000000000000000007""#,
                "One or more parameter values were invalid: SequenceNumber cannot be specified when ShardIteratorType is LATEST",
            ),
            (
                r#""ShardIteratorType": "AT_TIMESTAMP""#,
                "One or more parameter values were invalid: Timestamp must be specified when ShardIteratorType is AT_TIMESTAMP",
            ),
            (
                r#""ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": "10000000000000000000x""#,
                "Invalid SequenceNumber",
            ),
        ] {
            assert_eq!(refused(&body(members)), text);
        }
    }

    #[test]
    fn required_members_are_reported_together() {
        assert_eq!(
            refused(r#"{"SequenceNumber": "1"}"#),
            errors(&[
                ("null", "streamArn", NOT_NULL),
                ("null", "shardId", NOT_NULL),
                ("null", "shardIteratorType", NOT_NULL),
                ("'1'", "sequenceNumber", "have length greater than or equal to 21"),
            ])
        );
    }

    #[test]
    fn iterators_are_base64() {
        let output = GetShardIteratorOutput { iterator: vec![0, 1, 2] };
        assert_eq!(encoded(Response::GetShardIterator(output)), r#"{"ShardIterator":"AAEC"}"#);
    }
}
