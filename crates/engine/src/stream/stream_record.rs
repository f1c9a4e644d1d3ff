//! A change as a row of a stream: written by the writer, read by GetRecords.
//!
//! ```text
//! milliseconds since 1970 (8) │ event (1) │ keys │ new image │ old image     each: length (4), encoded item
//! ```
//! An image that the stream's view does not show, or that there is not, has no bytes.

use crate::key::item_key::key_item;
use crate::stream::Stream;
use crate::write::change::Change;
use partita_api::stream::get_records::{ChangeEvent, ChangeRecord};
use partita_api::stream::sequence_number::SequenceNumber;
use partita_api::table::StreamViewType;
use partita_value::Item;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;

const EVENTS: [(u8, ChangeEvent); 4] =
    [(1, ChangeEvent::Insert), (2, ChangeEvent::Modify), (3, ChangeEvent::Remove), (4, ChangeEvent::Expire)];

/// The row that tells of a change.
pub fn encode(stream: &Stream, change: &Change<'_>, expires: bool, now: u64) -> Vec<u8> {
    let keys = key_item(stream.key.attributes(), change.item());
    let shows_new = matches!(stream.view, StreamViewType::NewImage | StreamViewType::NewAndOldImages);
    let shows_old = matches!(stream.view, StreamViewType::OldImage | StreamViewType::NewAndOldImages);
    let new = change.after().filter(|_| shows_new);
    let old = change.before().filter(|_| shows_old);
    let parts = [Some(keys.view()), new, old].map(|item| item.map_or(&[][..], |item| item.bytes()));
    let event = change.event(expires);
    let byte = EVENTS.iter().find(|(_, known)| *known == event).map_or(0, |(byte, _)| *byte);
    let mut row = Vec::with_capacity(9 + parts.iter().map(|part| 4 + part.len()).sum::<usize>());
    row.extend(now.to_be_bytes());
    row.push(byte);
    for part in parts {
        // An item has far less than four gigabytes.
        row.extend((part.len() as u32).to_be_bytes());
        row.extend(part);
    }
    row
}

/// The change that a row tells of; `None` if it is no such row.
pub fn decode(stream: &Stream, sequence: u64, row: &[u8]) -> Option<ChangeRecord> {
    let (created_at, rest) = row.split_first_chunk::<8>()?;
    let (byte, rest) = rest.split_first()?;
    let (keys, rest) = split_item(rest)?;
    let (new_image, rest) = split_item(rest)?;
    let (old_image, _) = split_item(rest)?;
    Some(ChangeRecord {
        id: id(stream, sequence),
        event: EVENTS.iter().find(|(known, _)| known == byte)?.1,
        created_at: u64::from_be_bytes(*created_at) / 1_000,
        sequence: SequenceNumber(sequence),
        keys: keys?,
        new_image,
        old_image,
    })
}

/// When the change was made, in milliseconds since 1970.
pub fn created_at_millis(row: &[u8]) -> u64 {
    row.first_chunk::<8>().map_or(0, |millis| u64::from_be_bytes(*millis))
}

fn split_item(bytes: &[u8]) -> Option<(Option<Item>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (item, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    Some((Item::from_bytes(item.to_vec()), rest))
}

/// The same whenever the record is read, and no other record's.
fn id(stream: &Stream, sequence: u64) -> u128 {
    let mut hasher = SipHasher24::new();
    hasher.write(stream.table_id.as_bytes());
    hasher.write(stream.label.as_bytes());
    hasher.write_u64(sequence);
    hasher.finish128().as_u128()
}
