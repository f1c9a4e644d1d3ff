//! Members and parts of responses that TransactGetItems, TransactWriteItems and ExecuteTransaction share.

use crate::attribute_value;
use crate::json::Writer;
use crate::reporting;
use crate::validation::Validation;
use partita_api::capacity::ConsumedCapacity;
use partita_value::{Item, ValueRef};
use siphasher::sip128::{Hasher128, SipHasher13};
use std::borrow::Cow;
use std::hash::Hasher;

const TOKEN_CHARACTERS: usize = 36;

/// Checks the member `ClientRequestToken`.
pub(crate) fn check_token(validation: &mut Validation, token: &Option<Cow<'_, str>>) {
    if let Some(token) = token {
        validation.length("clientRequestToken", token, token.chars().count(), 1, TOKEN_CHARACTERS);
    }
}

/// A hash to recognise a repeated transaction. Each part is hashed with its length, so that parts cannot run into each other.
#[derive(Default)]
pub(crate) struct Fingerprint(SipHasher13);

impl Fingerprint {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.write_u64(bytes.len() as u64);
        self.0.write(bytes);
    }

    /// Adds a value in its canonical encoding.
    pub(crate) fn add_value(&mut self, value: ValueRef<'_>) {
        let mut bytes = Vec::new();
        value.write_to(&mut bytes);
        self.add(&bytes);
    }

    pub(crate) fn finish(&self) -> [u8; 16] {
        self.0.finish128().as_bytes()
    }
}

/// Encodes a response with an entry for every read, with or without an item.
pub(crate) fn encode_responses(
    responses: &[Option<Item>],
    consumed_capacity: Option<&Vec<ConsumedCapacity>>,
    json: &mut Writer,
) {
    json.object(|json| {
        json.name("Responses").array(|json| {
            for item in responses {
                json.object(|json| {
                    if let Some(item) = item {
                        attribute_value::encode_item(json.name("Item"), item.view());
                    }
                });
            }
        });
        reporting::encode_consumed_capacities(json, consumed_capacity);
    });
}
