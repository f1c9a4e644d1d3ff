//! Optional parts of a response (consumed capacity, item collection metrics, old and new values): the members that request
//! them, and their JSON.

use crate::attribute_value;
use crate::json::Writer;
use crate::validation::Validation;
use partita_api::capacity::{ConsumedCapacity, ReturnConsumedCapacity, TransactionUnits, Units};
use partita_api::reporting::{ItemCollectionMetrics, ReturnValues};
use partita_value::names::TableName;
use std::fmt::Display;

pub(crate) fn return_consumed_capacity(
    validation: &mut Validation,
    value: Option<&str>,
) -> ReturnConsumedCapacity {
    let names = [
        ("INDEXES", ReturnConsumedCapacity::Indexes),
        ("TOTAL", ReturnConsumedCapacity::Total),
        ("NONE", ReturnConsumedCapacity::None),
    ];
    validation.one_of("returnConsumedCapacity", value, &names).unwrap_or_default()
}

pub(crate) fn return_item_collection_metrics(validation: &mut Validation, value: Option<&str>) -> bool {
    let names = [("SIZE", true), ("NONE", false)];
    validation.one_of("returnItemCollectionMetrics", value, &names).unwrap_or_default()
}

pub(crate) fn return_values(validation: &mut Validation, value: Option<&str>) -> ReturnValues {
    let names = [
        ("ALL_NEW", ReturnValues::AllNew),
        ("UPDATED_OLD", ReturnValues::UpdatedOld),
        ("ALL_OLD", ReturnValues::AllOld),
        ("NONE", ReturnValues::None),
        ("UPDATED_NEW", ReturnValues::UpdatedNew),
    ];
    validation.one_of("returnValues", value, &names).unwrap_or_default()
}

/// `ReturnValuesOnConditionCheckFailure`: whether to return the item that failed the condition.
pub(crate) fn return_item_on_condition_failure(
    validation: &mut Validation,
    path: impl Display,
    value: Option<&str>,
) -> bool {
    validation.one_of(path, value, &[("ALL_OLD", true), ("NONE", false)]).unwrap_or_default()
}

/// Encodes the member `ConsumedCapacity` of an operation on one table.
pub(crate) fn encode_consumed_capacity(json: &mut Writer, capacity: Option<&ConsumedCapacity>) {
    if let Some(capacity) = capacity {
        json.name("ConsumedCapacity");
        encode_capacity(json, capacity);
    }
}

/// Encodes the member `ConsumedCapacity` of an operation on several tables.
pub(crate) fn encode_consumed_capacities(json: &mut Writer, capacities: Option<&Vec<ConsumedCapacity>>) {
    if let Some(capacities) = capacities {
        json.name("ConsumedCapacity")
            .array(|json| capacities.iter().for_each(|one| encode_capacity(json, one)));
    }
}

fn encode_capacity(json: &mut Writer, capacity: &ConsumedCapacity) {
    json.object(|json| {
        json.name("TableName").string(capacity.table_name.as_requested());
        encode_units(json, capacity.total(), capacity.transaction);
        if !capacity.with_indexes {
            return;
        }
        json.name("Table").object(|json| encode_units(json, capacity.table, capacity.transaction));
        for (member, indexes) in [
            ("LocalSecondaryIndexes", &capacity.local_indexes),
            ("GlobalSecondaryIndexes", &capacity.global_indexes),
        ] {
            if indexes.is_empty() {
                continue;
            }
            json.name(member).object(|json| {
                for (index, units) in indexes {
                    json.name(index).object(|json| encode_units(json, *units, capacity.transaction));
                }
            });
        }
    });
}

fn encode_units(json: &mut Writer, units: Units, transaction: Option<TransactionUnits>) {
    json.name("CapacityUnits").double(units.as_f64());
    match transaction {
        Some(TransactionUnits::Read) => json.name("ReadCapacityUnits").double(units.as_f64()),
        Some(TransactionUnits::Write) => json.name("WriteCapacityUnits").double(units.as_f64()),
        None => {}
    }
}

/// Encodes the member `ItemCollectionMetrics` of an operation on one item.
pub(crate) fn encode_item_collection(json: &mut Writer, metrics: Option<&ItemCollectionMetrics>) {
    if let Some(metrics) = metrics {
        json.name("ItemCollectionMetrics");
        encode_metrics(json, metrics);
    }
}

/// Encodes the member `ItemCollectionMetrics` of an operation on several tables.
pub(crate) fn encode_item_collections(
    json: &mut Writer,
    metrics: Option<&Vec<(TableName, Vec<ItemCollectionMetrics>)>>,
) {
    let Some(metrics) = metrics else { return };
    json.name("ItemCollectionMetrics").object(|json| {
        for (table, metrics) in metrics {
            json.name(table.as_requested())
                .array(|json| metrics.iter().for_each(|one| encode_metrics(json, one)));
        }
    });
}

fn encode_metrics(json: &mut Writer, metrics: &ItemCollectionMetrics) {
    let (name, value) = &metrics.key;
    let (lower, upper) = metrics.size_estimate_gb;
    json.object(|json| {
        json.name("ItemCollectionKey")
            .object(|json| attribute_value::encode_value(json.name(name), value.view()));
        json.name("SizeEstimateRangeGB").array(|json| {
            json.double(lower);
            json.double(upper);
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_value::Value;

    fn written(write: impl FnOnce(&mut Writer)) -> String {
        let mut json = Writer::default();
        json.object(write);
        String::from_utf8(json.finish()).unwrap()
    }

    fn capacity() -> ConsumedCapacity {
        ConsumedCapacity {
            table_name: TableName::new("Music"),
            table: Units(1),
            local_indexes: vec![],
            global_indexes: vec![("ByYear".into(), Units::whole(2))],
            with_indexes: false,
            transaction: None,
        }
    }

    #[test]
    fn a_total_is_one_number() {
        assert_eq!(
            written(|json| encode_consumed_capacity(json, Some(&capacity()))),
            r#"{"ConsumedCapacity":{"TableName":"Music","CapacityUnits":2.5}}"#
        );
    }

    #[test]
    fn capacity_is_broken_down_by_index_on_request() {
        let capacity =
            ConsumedCapacity { with_indexes: true, transaction: Some(TransactionUnits::Write), ..capacity() };
        assert_eq!(
            written(|json| encode_consumed_capacities(json, Some(&vec![capacity]))),
            r#"{"ConsumedCapacity":[{"TableName":"Music","CapacityUnits":2.5,"WriteCapacityUnits":2.5,"Table":{"CapacityUnits":0.5,"WriteCapacityUnits":0.5},"GlobalSecondaryIndexes":{"ByYear":{"CapacityUnits":2.0,"WriteCapacityUnits":2.0}}}]}"#
        );
    }

    #[test]
    fn collections_are_identified_by_their_key() {
        let metrics =
            ItemCollectionMetrics { key: ("pk".into(), Value::string("a")), size_estimate_gb: (0.0, 1.0) };
        assert_eq!(
            written(|json| encode_item_collection(json, Some(&metrics))),
            r#"{"ItemCollectionMetrics":{"ItemCollectionKey":{"pk":{"S":"a"}},"SizeEstimateRangeGB":[0.0,1.0]}}"#
        );
    }
}
