//! The largest item.

use partita_api::Exception;
use partita_api::messages::ITEM_TOO_LARGE;
use partita_value::{Item, limits};

/// An item to be stored whole must not be too large; what an update makes of one is not known yet.
pub(crate) fn check_size(item: &Item) -> Result<(), Exception> {
    match item.size() > limits::ITEM_BYTES {
        true => Err(Exception::validation(ITEM_TOO_LARGE)),
        false => Ok(()),
    }
}
