//! Scan: all items of a table or an index, or of one of several parallel segments.

use crate::capacity::ReturnConsumedCapacity;
use crate::item::page::PageOutput;
use crate::reporting::Select;
use partita_expression::{Condition, Projection};
use partita_value::{Item, names::TableName};

/// The request of Scan.
#[derive(Debug)]
pub struct Scan {
    /// The table.
    pub table: TableName,
    /// The index to read; `None` reads the table.
    pub index: Option<String>,
    /// The condition that an item must meet to be returned.
    pub filter: Option<Condition>,
    /// The attributes to return; `None` returns all of them.
    pub projection: Option<Projection>,
    /// What to return of each item.
    pub select: Option<Select>,
    /// The maximum number of items to read.
    pub limit: Option<u32>,
    /// Whether the read is strongly consistent.
    pub consistent_read: bool,
    /// The segment to read; `None` reads everything.
    pub segment: Option<Segment>,
    /// The key after which the page starts.
    pub exclusive_start_key: Option<Item>,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether the filter is in the legacy form `ScanFilter`.
    pub legacy: bool,
    /// Whether to skip damaged rows and list them. An extension of Partita.
    pub past_damage: bool,
}

/// `number` of `total` equal parts; `number < total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The number of the segment, from 0.
    pub number: u32,
    /// How many segments there are.
    pub total: u32,
}

/// The response to Scan.
pub type ScanOutput = PageOutput;
