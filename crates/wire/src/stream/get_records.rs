//! GetRecords: decodes a shard iterator and a limit; encodes a page of records.

use crate::attribute_value::encode_item;
use crate::json::{Reader, Writer};
use crate::members::{length, range, read_valid_request, required, structure};
use crate::validation::present;
use base64::{Engine, engine::general_purpose::STANDARD};
use partita_api::stream::get_records::{ChangeEvent, ChangeRecord, GetRecords, GetRecordsOutput};
use partita_api::{Exception, Request, messages};
use std::borrow::Cow;

/// The maximum and default number of records of a page.
const MAX_RECORDS: i32 = 1_000;

structure! {
    struct GetRecordsMembers<'a> {
        iterator: Cow<'a, str> = "ShardIterator", required, length(1, 2_048);
        limit: i32 = "Limit", range(1, MAX_RECORDS);
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: GetRecordsMembers = read_valid_request(reader)?;
    let iterator = STANDARD
        .decode(present(members.iterator)?.as_bytes())
        .map_err(|_| Exception::validation(messages::INVALID_SHARD_ITERATOR))?;
    let limit = members.limit.unwrap_or(MAX_RECORDS).unsigned_abs();
    Ok(Request::GetRecords(GetRecords { iterator, limit }))
}

pub(crate) fn encode(output: &GetRecordsOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("Records").array(|json| {
            output.records.iter().for_each(|record| encode_record(record, output, json));
        });
        json.member("NextShardIterator", &output.next.as_ref().map(|next| STANDARD.encode(next)));
    });
}

fn encode_record(record: &ChangeRecord, output: &GetRecordsOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("eventID").string(&format!("{:032x}", record.id));
        json.name("eventName").string(record.event.name());
        json.name("eventVersion").string("1.1");
        json.name("eventSource").string("aws:dynamodb");
        json.name("awsRegion").string(&output.region);
        json.name("dynamodb").object(|json| {
            json.name("ApproximateCreationDateTime").integer(record.created_at);
            encode_item(json.name("Keys"), record.keys.view());
            if let Some(image) = &record.new_image {
                encode_item(json.name("NewImage"), image.view());
            }
            if let Some(image) = &record.old_image {
                encode_item(json.name("OldImage"), image.view());
            }
            json.name("SequenceNumber").string(&record.sequence.to_string());
            json.name("SizeBytes").integer(record.size_bytes() as u64);
            json.name("StreamViewType").string(output.view.name());
        });
        // Only an expiry, which no client requested, has an identity.
        if record.event == ChangeEvent::Expire {
            json.name("userIdentity").object(|json| {
                json.name("PrincipalId").string("dynamodb.amazonaws.com");
                json.name("Type").string("Service");
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::stream::get_records::{ChangeEvent, ChangeRecord, GetRecords, GetRecordsOutput};
    use partita_api::stream::sequence_number::SequenceNumber;
    use partita_api::table::StreamViewType;
    use partita_value::{AttributeValue, Item, Number};

    operation_tests!(GetRecords);

    #[test]
    fn an_iterator_and_a_limit_are_read() {
        for (body, limit) in
            [(r#"{"ShardIterator": "AAEC"}"#, 1_000), (r#"{"ShardIterator": "AAEC", "Limit": 5}"#, 5)]
        {
            let request = decoded(body);
            assert_eq!((request.iterator, request.limit), (vec![0, 1, 2], limit));
        }
    }

    #[test]
    fn limits_out_of_bounds_and_broken_iterators_are_refused() {
        assert_eq!(
            refused(r#"{"Limit": 1001}"#),
            errors(&[
                ("null", "shardIterator", NOT_NULL),
                ("'1001'", "limit", "have value less than or equal to 1000"),
            ])
        );
        assert_eq!(refused(r#"{"ShardIterator": "?"}"#), "Invalid ShardIterator");
    }

    #[test]
    fn record_sizes_match_the_example_of_aws() {
        let number = |text: &str| AttributeValue::N(Number::parse(text).unwrap());
        let keys: Item = [("Id", number("101"))].into_iter().collect();
        let image = |message: &str| -> Option<Item> {
            let message = AttributeValue::S(message.into());
            Some([("Id", number("101")), ("Message", message)].into_iter().collect())
        };
        let record = |event, new_image, old_image| ChangeRecord {
            id: 0xab,
            event,
            created_at: 1_479_499_740,
            sequence: SequenceNumber(1),
            keys: keys.clone(),
            new_image,
            old_image,
        };
        let (new, changed) = (image("New item!"), image("This item has changed"));
        let records = vec![
            record(ChangeEvent::Insert, new.clone(), None),
            record(ChangeEvent::Modify, changed.clone(), new),
            record(ChangeEvent::Expire, None, changed),
        ];
        let sizes: Vec<_> = records.iter().map(ChangeRecord::size_bytes).collect();
        assert_eq!(sizes, [26, 59, 38]);
        let view = StreamViewType::NewAndOldImages;
        let output = GetRecordsOutput { records, next: Some(vec![7]), region: "us-west-2".into(), view };
        let json: serde_json::Value = serde_json::from_str(&encoded(Response::GetRecords(output))).unwrap();
        assert_eq!(json["NextShardIterator"], "Bw==");
        assert_eq!(
            json["Records"][2],
            serde_json::json!({
                "eventID": format!("{:032x}", 0xab),
                "eventName": "REMOVE",
                "eventVersion": "1.1",
                "eventSource": "aws:dynamodb",
                "awsRegion": "us-west-2",
                "dynamodb": {
                    "ApproximateCreationDateTime": 1_479_499_740,
                    "Keys": {"Id": {"N": "101"}},
                    "OldImage": {"Id": {"N": "101"}, "Message": {"S": "This item has changed"}},
                    "SequenceNumber": "100000000000000000001",
                    "SizeBytes": 38,
                    "StreamViewType": "NEW_AND_OLD_IMAGES"
                },
                "userIdentity": {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
            })
        );
        assert_eq!(json["Records"][0].get("userIdentity"), None);
    }
}
