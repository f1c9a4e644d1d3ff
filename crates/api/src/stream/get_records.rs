//! GetRecords: the changes of items, in order, from one shard of a stream.

use crate::stream::sequence_number::SequenceNumber;
use crate::table::StreamViewType;
use partita_value::Item;

#[derive(Clone, Debug)]
pub struct GetRecords {
    /// What GetShardIterator or the page before has given out.
    pub iterator: Vec<u8>,
    pub limit: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GetRecordsOutput {
    pub records: Vec<ChangeRecord>,
    /// `None` once a closed shard is read to its end.
    pub next: Option<Vec<u8>>,
    pub region: String,
    pub view: StreamViewType,
}

/// What happened to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeEvent {
    Insert,
    Modify,
    Remove,
    /// Removed because its time had come.
    Expire,
}

impl ChangeEvent {
    pub fn name(self) -> &'static str {
        match self {
            ChangeEvent::Insert => "INSERT",
            ChangeEvent::Modify => "MODIFY",
            ChangeEvent::Remove | ChangeEvent::Expire => "REMOVE",
        }
    }
}

/// One change of one item, with as much of the item as the stream's view shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeRecord {
    /// Tells the record apart from those of all streams.
    pub id: u128,
    pub event: ChangeEvent,
    /// Seconds since 1970.
    pub created_at: u64,
    pub sequence: SequenceNumber,
    pub keys: Item,
    pub new_image: Option<Item>,
    pub old_image: Option<Item>,
}

impl ChangeRecord {
    /// What it counts towards the megabyte of a page, and is said to have.
    pub fn size_bytes(&self) -> usize {
        let image = |image: &Option<Item>| image.as_ref().map_or(0, Item::size);
        self.keys.size() + image(&self.new_image) + image(&self.old_image)
    }
}
