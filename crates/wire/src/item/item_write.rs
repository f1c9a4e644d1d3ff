//! The members that PutItem, UpdateItem and DeleteItem share (the table, the condition in either form, and what to return), and
//! their response.

use crate::attribute_value;
use crate::item::expressions::Expressions;
use crate::item::legacy::{self, LegacyConditionMembers};
use crate::json::{Reader, Writer};
use crate::reporting;
use crate::table::table_name;
use crate::validation::Validation;
use partita_api::Exception;
use partita_api::capacity::ReturnConsumedCapacity;
use partita_api::item::put_item::PutItemOutput;
use partita_api::reporting::ReturnValues;
use partita_expression::{Condition, ExpressionKind, LogicalOperator};
use std::borrow::Cow;

/// The shared members.
#[derive(Debug)]
pub(crate) struct ItemWriteMembers<'a> {
    pub(crate) table: Option<Cow<'a, str>>,
    pub(crate) expressions: Expressions<'a>,
    expected: Option<Vec<LegacyConditionMembers<'a>>>,
    conditional_operator: Option<Cow<'a, str>>,
    return_values: Option<Cow<'a, str>>,
    return_on_failure: Option<Cow<'a, str>>,
    return_consumed_capacity: Option<Cow<'a, str>>,
    return_item_collection_metrics: Option<Cow<'a, str>>,
}

impl<'a> ItemWriteMembers<'a> {
    pub(crate) fn new(kinds: &'static [ExpressionKind]) -> ItemWriteMembers<'a> {
        ItemWriteMembers {
            table: None,
            expressions: Expressions::new(kinds),
            expected: None,
            conditional_operator: None,
            return_values: None,
            return_on_failure: None,
            return_consumed_capacity: None,
            return_item_collection_metrics: None,
        }
    }

    /// Reads a shared member, or skips it if it is unknown.
    pub(crate) fn read(&mut self, reader: &mut Reader<'a>, member: &str) -> Result<(), Exception> {
        match member {
            "TableName" => self.table = reader.text()?,
            "Expected" => self.expected = legacy::read_expected(reader)?,
            "ConditionalOperator" => self.conditional_operator = reader.text()?,
            "ReturnValues" => self.return_values = reader.text()?,
            "ReturnValuesOnConditionCheckFailure" => self.return_on_failure = reader.text()?,
            "ReturnConsumedCapacity" => self.return_consumed_capacity = reader.text()?,
            "ReturnItemCollectionMetrics" => self.return_item_collection_metrics = reader.text()?,
            _ if self.expressions.read(reader, member)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    }

    /// Checks the name of the table, whose errors are reported alone.
    pub(crate) fn check_table(&self) -> Result<(), Exception> {
        table_name::check("tableName", self.table.as_ref())
    }

    pub(crate) fn return_consumed_capacity(&self, validation: &mut Validation) -> ReturnConsumedCapacity {
        reporting::return_consumed_capacity(validation, self.return_consumed_capacity.as_deref())
    }

    pub(crate) fn return_item_collection_metrics(&self, validation: &mut Validation) -> bool {
        reporting::return_item_collection_metrics(validation, self.return_item_collection_metrics.as_deref())
    }

    pub(crate) fn return_values(&self, validation: &mut Validation) -> ReturnValues {
        reporting::return_values(validation, self.return_values.as_deref())
    }

    pub(crate) fn return_item_on_condition_failure(&self, validation: &mut Validation) -> bool {
        let path = "returnValuesOnConditionCheckFailure";
        reporting::return_item_on_condition_failure(validation, path, self.return_on_failure.as_deref())
    }

    /// Validates the operators of the legacy condition; returns the one that joins its parts.
    pub(crate) fn validate_expected(&self, validation: &mut Validation) -> Option<LogicalOperator> {
        let joined_by =
            legacy::validate_conditional_operator(validation, self.conditional_operator.as_deref());
        legacy::validate_conditions(validation, "expected", self.expected.as_deref());
        joined_by
    }

    /// Refuses expressions alongside legacy parameters. `updates` is whether `AttributeUpdates` is present.
    pub(crate) fn check_use(
        &self,
        joined_by: Option<LogicalOperator>,
        updates: bool,
    ) -> Result<(), Exception> {
        self.expressions.check_use(&[
            ("AttributeUpdates", updates),
            ("Expected", self.expected.is_some()),
            ("ConditionalOperator", self.conditional_operator.is_some()),
        ])?;
        legacy::check_conditional_operator(joined_by, self.expected.as_deref())
    }

    /// Takes the legacy condition.
    pub(crate) fn expected(
        &mut self,
        joined_by: Option<LogicalOperator>,
    ) -> Result<Option<Condition>, Exception> {
        legacy::expected(self.expected.take(), joined_by)
    }
}

/// PutItem and DeleteItem have no new or updated attributes to return.
pub(crate) fn check_old_values_only(return_values: ReturnValues) -> Result<(), Exception> {
    match return_values {
        ReturnValues::None | ReturnValues::AllOld => Ok(()),
        _ => Err(Exception::validation("ReturnValues can only be ALL_OLD or NONE")),
    }
}

pub(crate) fn encode(output: &PutItemOutput, json: &mut Writer) {
    json.object(|json| {
        if let Some(attributes) = &output.attributes {
            json.name("Attributes");
            attribute_value::encode_item(json, attributes.view());
        }
        reporting::encode_consumed_capacity(json, output.consumed_capacity.as_ref());
        reporting::encode_item_collection(json, output.item_collection_metrics.as_ref());
    });
}
