//! The response of any operation in one shape: plain values, or the name of the exception.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::batch_get_item::BatchGetItemOutput;
use aws_sdk_dynamodb::operation::get_item::GetItemOutput;
use aws_sdk_dynamodb::operation::put_item::PutItemOutput;
use aws_sdk_dynamodb::operation::query::QueryOutput;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsOutput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemOutput;
use serde_json::Value;

use crate::value::{Item, to_plain_item};

#[derive(Default)]
pub struct Answer {
    pub error: Option<String>,
    pub reasons: Vec<String>,
    pub items: Vec<Value>,
    pub item: Option<Value>,
    pub attributes: Option<Value>,
    pub count: Option<i32>,
    pub scanned_count: Option<i32>,
    pub last_evaluated_key: Option<Value>,
    /// A batch returns its items in any order.
    pub unordered: bool,
}

impl Answer {
    /// Turns an exception of the service into a response; a failure to reach the service is an error.
    pub fn of<O: Into<Answer>, E>(result: Result<O, SdkError<E>>) -> Result<Answer, String>
    where
        E: ProvideErrorMetadata + Carries + std::fmt::Debug,
    {
        match result {
            Ok(output) => Ok(output.into()),
            Err(SdkError::ServiceError(failure)) => {
                let exception = failure.into_err();
                let mut answer = Answer { error: exception.code().map(str::to_owned), ..Answer::default() };
                exception.carry(&mut answer);
                Ok(answer)
            }
            Err(failure) => Err(format!("{failure:?}")),
        }
    }
}

/// The members of an exception in addition to its name.
pub trait Carries {
    fn carry(&self, _answer: &mut Answer) {}
}

impl Carries for aws_sdk_dynamodb::operation::get_item::GetItemError {}
impl Carries for aws_sdk_dynamodb::operation::query::QueryError {}
impl Carries for aws_sdk_dynamodb::operation::batch_get_item::BatchGetItemError {}

impl Carries for aws_sdk_dynamodb::operation::put_item::PutItemError {
    fn carry(&self, answer: &mut Answer) {
        if let Self::ConditionalCheckFailedException(failure) = self {
            answer.item = failure.item().map(to_plain_item);
        }
    }
}

impl Carries for aws_sdk_dynamodb::operation::update_item::UpdateItemError {
    fn carry(&self, answer: &mut Answer) {
        if let Self::ConditionalCheckFailedException(failure) = self {
            answer.item = failure.item().map(to_plain_item);
        }
    }
}

impl Carries for aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError {
    fn carry(&self, answer: &mut Answer) {
        if let Self::TransactionCanceledException(failure) = self {
            let reasons = failure.cancellation_reasons().iter();
            answer.reasons = reasons.map(|reason| reason.code().unwrap_or_default().to_owned()).collect();
        }
    }
}

impl From<GetItemOutput> for Answer {
    fn from(output: GetItemOutput) -> Self {
        Self { item: output.item().map(to_plain_item), ..Self::default() }
    }
}

impl From<QueryOutput> for Answer {
    fn from(output: QueryOutput) -> Self {
        Self {
            items: plain(output.items()),
            count: Some(output.count()),
            scanned_count: Some(output.scanned_count()),
            last_evaluated_key: output.last_evaluated_key().map(to_plain_item),
            ..Self::default()
        }
    }
}

impl From<BatchGetItemOutput> for Answer {
    fn from(output: BatchGetItemOutput) -> Self {
        assert!(output.unprocessed_keys().is_none_or(HashMap::is_empty), "a small batch is done at once");
        let tables = output.responses().into_iter().flatten();
        Self {
            items: tables.flat_map(|(_, items)| plain(items)).collect(),
            unordered: true,
            ..Self::default()
        }
    }
}

impl From<UpdateItemOutput> for Answer {
    fn from(output: UpdateItemOutput) -> Self {
        Self { attributes: output.attributes().map(to_plain_item), ..Self::default() }
    }
}

impl From<PutItemOutput> for Answer {
    fn from(output: PutItemOutput) -> Self {
        Self { attributes: output.attributes().map(to_plain_item), ..Self::default() }
    }
}

impl From<TransactWriteItemsOutput> for Answer {
    fn from(_: TransactWriteItemsOutput) -> Self {
        Self::default()
    }
}

fn plain(items: &[Item]) -> Vec<Value> {
    items.iter().map(to_plain_item).collect()
}
