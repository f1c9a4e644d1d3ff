//! BatchWriteItem: JSON → request, response → JSON.

use crate::attribute_value::{Attributes, ValueError};
use crate::item::item_size::check_size;
use crate::item::request_items::{self, TableEntry};
use crate::json::{Reader, Shape, Writer};
use crate::reporting;
use crate::table::table_name;
use crate::validation::{Validation, present};
use partita_api::item::batch_write_item::{BatchWrite, BatchWriteItem, BatchWriteItemOutput};
use partita_api::{Exception, Request};
use partita_value::limits;

const CLASS: &str = "WriteRequest";

/// The members of one write. Both requests are optional, and the member inside either may be missing.
#[derive(Debug, Default)]
struct WriteRequestMembers {
    put: Option<Option<Attributes>>,
    delete: Option<Option<Attributes>>,
}

fn read_tables<'a>(
    reader: &mut Reader<'a>,
) -> Result<Option<Vec<TableEntry<'a, Vec<WriteRequestMembers>>>>, Exception> {
    let mut tables = Vec::new();
    let present = reader.map(Shape::ListMap(CLASS), |reader, table| {
        let start = reader.offset();
        let value = reader.structures(Shape::ListInMap, read_write)?.unwrap_or_default();
        tables.push(TableEntry { table, json: reader.since(start), value });
        Ok(())
    })?;
    Ok(present.then_some(tables))
}

fn read_write(reader: &mut Reader<'_>) -> Result<WriteRequestMembers, Exception> {
    let mut members = WriteRequestMembers::default();
    reader.structure(Shape::Element(CLASS), |reader, member| {
        match member {
            "PutRequest" => members.put = read_request(reader, "PutRequest", "Item")?,
            "DeleteRequest" => members.delete = read_request(reader, "DeleteRequest", "Key")?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(members)
}

/// Reads `{"PutRequest": {"Item": …}}` or `{"DeleteRequest": {"Key": …}}`.
fn read_request(
    reader: &mut Reader<'_>,
    class: &'static str,
    member: &str,
) -> Result<Option<Option<Attributes>>, Exception> {
    let mut attributes = None;
    let present = reader.structure(Shape::Structure(class), |reader, name| {
        if name == member {
            attributes = Attributes::read_member(reader)?;
            return Ok(());
        }
        reader.skip()
    })?;
    Ok(present.then_some(attributes))
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut tables = None;
    let mut capacity = None;
    let mut metrics = None;
    reader.request(|reader, member| {
        match member {
            "RequestItems" => tables = read_tables(reader)?,
            "ReturnConsumedCapacity" => capacity = reader.text()?,
            "ReturnItemCollectionMetrics" => metrics = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;

    let mut validation = Validation::new();
    let return_consumed_capacity = reporting::return_consumed_capacity(&mut validation, capacity.as_deref());
    let return_item_collection_metrics =
        reporting::return_item_collection_metrics(&mut validation, metrics.as_deref());
    request_items::validate(&mut validation, &tables);
    validate_writes(&mut validation, tables.as_deref().unwrap_or(&[]));
    validation.finish()?;

    let tables = present(tables)?;
    request_items::check_tables(&tables, "BatchWriteItem")?;
    if tables.iter().map(|entry| entry.value.len()).sum::<usize>() > limits::BATCH_WRITE_REQUESTS {
        return Err(Exception::validation("Too many items requested for the BatchWriteItem call"));
    }
    let tables = tables.into_iter().map(|entry| {
        let writes = entry.value.into_iter().map(checked_write).collect::<Result<_, _>>()?;
        Ok((table_name::resolve(&entry.table), writes))
    });
    Ok(Request::BatchWriteItem(BatchWriteItem {
        tables: tables.collect::<Result<_, Exception>>()?,
        return_consumed_capacity,
        return_item_collection_metrics,
    }))
}

fn validate_writes(validation: &mut Validation, tables: &[TableEntry<'_, Vec<WriteRequestMembers>>]) {
    const MAX: usize = limits::BATCH_WRITE_REQUESTS;
    if tables.iter().any(|entry| !(1..=MAX).contains(&entry.value.len())) {
        let constraint = format_args!(
            "Map value must satisfy constraint: [Member must have length less than or equal to {MAX}, \
             Member must have length greater than or equal to 1]"
        );
        validation.fail("requestItems", request_items::echo(tables), constraint);
    }
    for entry in tables {
        for (index, members) in entry.value.iter().enumerate() {
            let path = format_args!("requestItems.{}.member.{}.member", entry.table, index + 1);
            if let Some(key) = &members.delete {
                validation.required(format_args!("{path}.deleteRequest.key"), key);
            }
            if let Some(item) = &members.put {
                validation.required(format_args!("{path}.putRequest.item"), item);
            }
        }
    }
}

fn checked_write(members: WriteRequestMembers) -> Result<BatchWrite, Exception> {
    match (members.put.flatten(), members.delete.flatten()) {
        (Some(item), None) => {
            let item = item.checked()?;
            check_size(&item)?;
            Ok(BatchWrite::Put(item))
        }
        (None, Some(key)) => key.checked().map(BatchWrite::Delete),
        // AWS's text for a write request that is not exactly one of the two.
        _ => Err((&ValueError::SeveralTypes).into()),
    }
}

pub(crate) fn encode(output: &BatchWriteItemOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("UnprocessedItems").object(|_| {});
        reporting::encode_item_collections(json, output.item_collection_metrics.as_ref());
        reporting::encode_consumed_capacities(json, output.consumed_capacity.as_ref());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::Response;

    operation_tests!(BatchWriteItem);

    fn writes(count: usize) -> String {
        let write = |i| format!(r#"{{"PutRequest":{{"Item":{{"pk":{{"N":"{i}"}}}}}}}}"#);
        (0..count).map(write).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn puts_and_deletes() {
        let body = r#"{"RequestItems":{"Music":[{"PutRequest":{"Item":{"pk":{"S":"a"},"v":{"N":"1"}}}},
            {"DeleteRequest":{"Key":{"pk":{"S":"b"}}}}]},"ReturnItemCollectionMetrics":"SIZE"}"#;
        let request = decoded(body);
        let [(table, writes)] = request.tables.as_slice() else { panic!("expected one table") };
        assert_eq!(table.as_str(), "Music");
        assert!(matches!(writes.as_slice(), [BatchWrite::Put(_), BatchWrite::Delete(_)]));
        assert!(request.return_item_collection_metrics);
    }

    #[test]
    fn tables_and_writes_are_required() {
        assert_eq!(refused("{}"), errors(&[("null", "requestItems", NOT_NULL)]));
        assert_eq!(
            refused(r#"{"RequestItems":{}}"#),
            "The requestItems parameter is required for BatchWriteItem"
        );
        let several = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes";
        assert_eq!(refused(r#"{"RequestItems":{"abc":[{}]}}"#), several);
        assert_eq!(
            refused(r#"{"RequestItems":{"abc":[{"PutRequest":{"Item":{}},"DeleteRequest":{"Key":{}}}]}}"#),
            several
        );
        assert_eq!(
            refused(r#"{"RequestItems":{"abc":[{"PutRequest":{},"DeleteRequest":{}}]}}"#),
            errors(&[
                ("null", "requestItems.abc.member.1.member.deleteRequest.key", NOT_NULL),
                ("null", "requestItems.abc.member.1.member.putRequest.item", NOT_NULL),
            ])
        );
    }

    #[test]
    fn twenty_five_writes_are_the_limit() {
        let body = |count| format!(r#"{{"RequestItems":{{"abc":[{}]}}}}"#, writes(count));
        decoded(&body(25));
        for count in [0, 26] {
            assert_eq!(
                refused(&body(count)),
                format!(
                    "1 validation error detected: Value '{{abc=[{}]}}' at 'requestItems' failed to satisfy constraint: \
                     Map value must satisfy constraint: [Member must have length less than or equal to 25, \
                     Member must have length greater than or equal to 1]",
                    writes(count)
                )
            );
        }
        let two = format!(r#"{{"RequestItems":{{"abc":[{}],"def":[{}]}}}}"#, writes(20), writes(6));
        assert_eq!(refused(&two), "Too many items requested for the BatchWriteItem call");
    }

    #[test]
    fn items_are_checked_in_order() {
        let large = "x".repeat(409_600);
        let body = format!(
            r#"{{"RequestItems":{{"abc":[{{"PutRequest":{{"Item":{{"a":{{"S":"{large}"}}}}}}}}]}}}}"#
        );
        assert_eq!(refused(&body), "Item size has exceeded the maximum allowed size");
        let body = r#"{"RequestItems":{"abc":[{"DeleteRequest":{"Key":{"a":{"N":"x"}}}}]}}"#;
        assert_eq!(refused(body), "The parameter cannot be converted to a numeric value: x");
    }

    #[test]
    fn wrong_json_types_are_serialization_exceptions() {
        assert_eq!(
            mismatch(r#"{"RequestItems":[]}"#),
            "Unrecognized collection type java.util.Map<java.lang.String, java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>"
        );
        assert!(mismatch(r#"{"RequestItems":{"abc":"x"}}"#).starts_with("class sun.reflect"));
        assert_eq!(
            mismatch(r#"{"RequestItems":{"abc":{}}}"#),
            "Start of structure or map found where not expected"
        );
        assert_eq!(mismatch(r#"{"RequestItems":{"abc":["x"]}}"#), "Unexpected value type in payload");
        assert_eq!(mismatch(r#"{"RequestItems":{"abc":[{"PutRequest":"x"}]}}"#), "Unexpected field type");
    }

    #[test]
    fn the_response_has_no_unprocessed_items() {
        let output = BatchWriteItemOutput::default();
        assert_eq!(encoded(Response::BatchWriteItem(output)), r#"{"UnprocessedItems":{}}"#);
    }
}
