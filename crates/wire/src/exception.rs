//! Exceptions → JSON: `{"__type": …, "message": …}` and the additional members of some.

use crate::attribute_value;
use crate::json::Writer;
use partita_api::exception::CancellationReason;
use partita_api::{Exception, ExceptionKind};

/// Encodes the body of an error response.
pub fn encode_exception(exception: &Exception) -> Vec<u8> {
    let mut json = Writer::with_prefix(0, 160 + exception.message.len());
    json.object(|json| {
        json.name("__type").string(exception.kind.qualified_name());
        if !exception.message.is_empty() {
            json.name(message_member(exception)).string(&exception.message);
        }
        if let Some(reasons) = &exception.cancellation_reasons {
            json.name("CancellationReasons").array(|json| {
                reasons.iter().for_each(|reason| encode_reason(json, reason));
            });
        }
        if let Some(item) = &exception.item {
            json.name("Item");
            attribute_value::encode_item(json, item.view());
        }
    });
    json.finish()
}

/// AWS capitalises the member for serialization, authorisation and transaction errors, and for errors with an item.
fn message_member(exception: &Exception) -> &'static str {
    match exception.kind {
        _ if exception.item.is_some() => "Message",
        ExceptionKind::SerializationException
        | ExceptionKind::AccessDeniedException
        | ExceptionKind::TransactionCanceledException => "Message",
        _ => "message",
    }
}

fn encode_reason(json: &mut Writer, reason: &CancellationReason) {
    json.object(|json| {
        json.name("Code").string(reason.code.unwrap_or("None"));
        if let Some(message) = &reason.message {
            json.name("Message").string(message);
        }
        if let Some(item) = &reason.item {
            json.name("Item");
            attribute_value::encode_item(json, item.view());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_value::{AttributeValue, Item};

    fn encoded(exception: &Exception) -> String {
        String::from_utf8(encode_exception(exception)).unwrap()
    }

    #[test]
    fn type_and_message() {
        assert_eq!(
            encoded(&Exception::resource_not_found("Requested resource not found")),
            r#"{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}"#
        );
        assert_eq!(
            encoded(&Exception::serialization("x")),
            r#"{"__type":"com.amazon.coral.service#SerializationException","Message":"x"}"#
        );
        assert_eq!(
            encoded(&Exception::serialization("")),
            r#"{"__type":"com.amazon.coral.service#SerializationException"}"#
        );
        assert!(
            encoded(&Exception::validation("x")).contains("com.amazon.coral.validate#ValidationException")
        );
    }

    #[test]
    fn the_item_that_failed_a_condition() {
        let item: Item = [("a", AttributeValue::Null)].into_iter().collect();
        let mut exception = Exception::new(ExceptionKind::ConditionalCheckFailedException, "m");
        exception.item = Some(item);
        assert!(encoded(&exception).ends_with(r#","Message":"m","Item":{"a":{"NULL":true}}}"#));
    }

    #[test]
    fn the_reasons_of_a_cancelled_transaction() {
        let mut exception = Exception::new(ExceptionKind::TransactionCanceledException, "m");
        let failed = CancellationReason {
            code: Some("ConditionalCheckFailed"),
            message: Some("The conditional request failed".into()),
            item: Some(Item::default()),
        };
        exception.cancellation_reasons = Some(vec![CancellationReason::default(), failed]);
        assert!(encoded(&exception).ends_with(
            r#""Message":"m","CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Message":"The conditional request failed","Item":{}}]}"#
        ));
    }
}
