//! GetRecords: the changes of items, in order, from one shard of a stream.

use crate::stream::sequence_number::SequenceNumber;
use crate::table::StreamViewType;
use partita_value::Item;

/// The request of GetRecords.
#[derive(Clone, Debug)]
pub struct GetRecords {
    /// The iterator that GetShardIterator or the previous page returned.
    pub iterator: Vec<u8>,
    /// The maximum number of records to return.
    pub limit: u32,
}

/// The response to GetRecords.
#[derive(Clone, Debug, PartialEq)]
pub struct GetRecordsOutput {
    /// The records, in order.
    pub records: Vec<ChangeRecord>,
    /// The iterator of the next page; `None` at the end of a closed shard.
    pub next: Option<Vec<u8>>,
    /// The region of the stream.
    pub region: String,
    /// What the records show of an item.
    pub view: StreamViewType,
}

/// What happened to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeEvent {
    /// It was created.
    Insert,
    /// It was changed.
    Modify,
    /// It was deleted.
    Remove,
    /// It was deleted because it had expired.
    Expire,
}

impl ChangeEvent {
    /// The name on the wire; an expiry is a `REMOVE`.
    pub fn name(self) -> &'static str {
        match self {
            ChangeEvent::Insert => "INSERT",
            ChangeEvent::Modify => "MODIFY",
            ChangeEvent::Remove | ChangeEvent::Expire => "REMOVE",
        }
    }
}

/// One change of one item, with what the stream's view shows of the item.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeRecord {
    /// An id that is unique across all streams.
    pub id: u128,
    /// What happened.
    pub event: ChangeEvent,
    /// When the item changed, in seconds since 1970.
    pub created_at: u64,
    /// The position in the stream.
    pub sequence: SequenceNumber,
    /// The key of the item.
    pub keys: Item,
    /// The item after the change, if the view shows it.
    pub new_image: Option<Item>,
    /// The item before the change, if the view shows it.
    pub old_image: Option<Item>,
}

impl ChangeRecord {
    /// The size of the record, which counts towards the megabyte of a page.
    pub fn size_bytes(&self) -> usize {
        let image = |image: &Option<Item>| image.as_ref().map_or(0, Item::size);
        self.keys.size() + image(&self.new_image) + image(&self.old_image)
    }
}
