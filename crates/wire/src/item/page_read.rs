//! The members that Query and Scan share (the table or index, the filter in either form, the projection, and the start and limit
//! of the page), and their response.

use crate::attribute_value::{self, Attributes};
use crate::item::expressions::Expressions;
use crate::item::legacy::{self, LegacyConditionMembers};
use crate::json::{Reader, Writer};
use crate::reporting;
use crate::table::table_name;
use crate::validation::Validation;
use partita_api::Exception;
use partita_api::capacity::ReturnConsumedCapacity;
use partita_api::item::query::QueryOutput;
use partita_api::reporting::Select;
use partita_expression::{Condition, ExpressionKind, LogicalOperator, Projection};
use std::borrow::Cow;

/// The expressions of a Query, in the order in which AWS lists them in errors.
pub(crate) const QUERY_EXPRESSIONS: &[ExpressionKind] =
    &[ExpressionKind::Projection, ExpressionKind::Filter, ExpressionKind::KeyCondition];

/// The shared members.
#[derive(Debug)]
pub(crate) struct PageReadMembers<'a> {
    /// `QueryFilter` or `ScanFilter`.
    filter_member: &'static str,
    pub(crate) table: Option<Cow<'a, str>>,
    pub(crate) index: Option<Cow<'a, str>>,
    pub(crate) expressions: Expressions<'a>,
    pub(crate) filter: Option<Vec<LegacyConditionMembers<'a>>>,
    pub(crate) conditional_operator: Option<Cow<'a, str>>,
    pub(crate) attributes_to_get: Option<Vec<Cow<'a, str>>>,
    select: Option<Cow<'a, str>>,
    pub(crate) limit: Option<i32>,
    pub(crate) consistent_read: Option<bool>,
    pub(crate) exclusive_start_key: Option<Attributes>,
    return_consumed_capacity: Option<Cow<'a, str>>,
}

impl<'a> PageReadMembers<'a> {
    pub(crate) fn new(filter_member: &'static str, kinds: &'static [ExpressionKind]) -> PageReadMembers<'a> {
        PageReadMembers {
            filter_member,
            table: None,
            index: None,
            expressions: Expressions::new(kinds),
            filter: None,
            conditional_operator: None,
            attributes_to_get: None,
            select: None,
            limit: None,
            consistent_read: None,
            exclusive_start_key: None,
            return_consumed_capacity: None,
        }
    }

    /// Reads a shared member, or skips it if it is unknown.
    pub(crate) fn read(&mut self, reader: &mut Reader<'a>, member: &str) -> Result<(), Exception> {
        match member {
            "TableName" => self.table = reader.text()?,
            "IndexName" => self.index = reader.text()?,
            "ConditionalOperator" => self.conditional_operator = reader.text()?,
            "AttributesToGet" => self.attributes_to_get = reader.text_list()?,
            "Select" => self.select = reader.text()?,
            "Limit" => self.limit = reader.integer()?,
            "ConsistentRead" => self.consistent_read = reader.boolean()?,
            "ExclusiveStartKey" => self.exclusive_start_key = Attributes::read_member(reader)?,
            "ReturnConsumedCapacity" => self.return_consumed_capacity = reader.text()?,
            _ if member == self.filter_member => self.filter = legacy::read_conditions(reader)?,
            _ if self.expressions.read(reader, member)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    }

    pub(crate) fn check_table(&self) -> Result<(), Exception> {
        table_name::check("tableName", self.table.as_ref())
    }

    pub(crate) fn select(&self, validation: &mut Validation) -> Option<Select> {
        let names = [
            ("SPECIFIC_ATTRIBUTES", Select::SpecificAttributes),
            ("COUNT", Select::Count),
            ("ALL_ATTRIBUTES", Select::AllAttributes),
            ("ALL_PROJECTED_ATTRIBUTES", Select::AllProjectedAttributes),
        ];
        validation.one_of("select", self.select.as_deref(), &names)
    }

    pub(crate) fn validate_index(&self, validation: &mut Validation) {
        if let Some(index) = &self.index {
            validation.resource_name("indexName", index, 3);
        }
    }

    pub(crate) fn return_consumed_capacity(&self, validation: &mut Validation) -> ReturnConsumedCapacity {
        reporting::return_consumed_capacity(validation, self.return_consumed_capacity.as_deref())
    }

    pub(crate) fn conditional_operator(&self, validation: &mut Validation) -> Option<LogicalOperator> {
        legacy::validate_conditional_operator(validation, self.conditional_operator.as_deref())
    }

    pub(crate) fn validate_attributes_to_get(&self, validation: &mut Validation) {
        legacy::validate_attributes_to_get(validation, "attributesToGet", self.attributes_to_get.as_deref());
    }

    /// Refuses expressions alongside legacy parameters. `key_conditions` is whether `KeyConditions` conflicts with them as well.
    pub(crate) fn check_use(
        &self,
        joined_by: Option<LogicalOperator>,
        key_conditions: bool,
    ) -> Result<(), Exception> {
        self.expressions.check_use(&[
            ("AttributesToGet", self.attributes_to_get.is_some()),
            (self.filter_member, self.filter.is_some()),
            ("ConditionalOperator", self.conditional_operator.is_some()),
            ("KeyConditions", key_conditions),
        ])?;
        legacy::check_conditional_operator(joined_by, self.filter.as_deref())
    }

    /// Takes the legacy filter.
    pub(crate) fn filter(
        &mut self,
        joined_by: Option<LogicalOperator>,
    ) -> Result<Option<Condition>, Exception> {
        legacy::filter(self.filter.take(), joined_by)
    }

    /// Checks that `Select` agrees with the projection and the index.
    pub(crate) fn check_select(&self, select: Option<Select>) -> Result<(), Exception> {
        let projection = match (&self.attributes_to_get, self.expressions.has(ExpressionKind::Projection)) {
            (Some(_), _) => Some("AttributesToGet"),
            (None, true) => Some("ProjectionExpression"),
            (None, false) => None,
        };
        let selected = match select {
            None => return Ok(()),
            Some(Select::AllAttributes) => "ALL_ATTRIBUTES",
            Some(Select::AllProjectedAttributes) => "ALL_PROJECTED_ATTRIBUTES",
            Some(Select::Count) => "only the Count",
            Some(Select::SpecificAttributes) => "SPECIFIC_ATTRIBUTES",
        };
        match (select, projection) {
            (Some(Select::SpecificAttributes), None) => Err(Exception::validation(format!(
                "Must specify the AttributesToGet or ProjectionExpression when choosing to get {selected}"
            ))),
            (Some(Select::SpecificAttributes), Some(_)) => Ok(()),
            (_, Some(projection)) => Err(Exception::validation(format!(
                "Cannot specify the {projection} when choosing to get {selected}"
            ))),
            (Some(Select::AllProjectedAttributes), None) if self.index.is_none() => {
                Err(Exception::validation(
                    "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Returns the projection in either form.
    pub(crate) fn projection(&mut self, parsed: Option<Projection>) -> Option<Projection> {
        parsed.or(legacy::attributes_to_get(self.attributes_to_get.take()))
    }
}

/// Encodes a page of items and the start key of the next page.
pub(crate) fn encode(output: &QueryOutput, json: &mut Writer) {
    let page = &output.page;
    json.object(|json| {
        if let Some(items) = &page.items {
            attribute_value::encode_items(json.name("Items"), items);
        }
        json.name("Count").integer(page.count);
        json.name("ScannedCount").integer(page.scanned_count);
        if let Some(key) = &page.last_evaluated_key {
            json.name("LastEvaluatedKey");
            attribute_value::encode_item(json, key.view());
        }
        reporting::encode_consumed_capacity(json, output.consumed_capacity.as_ref());
        if !page.damaged.is_empty() {
            json.name("PartitaDamaged").array(|json| page.damaged.iter().for_each(|text| json.string(text)));
        }
    });
}
