//! The maximum size of an item.

use partita_api::Exception;
use partita_api::messages::ITEM_TOO_LARGE;
use partita_value::{Item, limits};

/// Checks the size of an item to put. The size of an updated item is not known before it is updated.
pub(crate) fn check_size(item: &Item) -> Result<(), Exception> {
    match item.size() > limits::ITEM_BYTES {
        true => Err(Exception::validation(ITEM_TOO_LARGE)),
        false => Ok(()),
    }
}
