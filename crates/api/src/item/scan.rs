//! Scan: all items of a table or an index, or of one of several parallel segments.

use crate::capacity::ReturnConsumedCapacity;
use crate::reporting::Select;
use partita_expression::{Condition, Projection};
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct Scan {
    pub table: TableName,
    pub index: Option<String>,
    pub filter: Option<Condition>,
    pub projection: Option<Projection>,
    pub select: Option<Select>,
    pub limit: Option<u32>,
    pub consistent_read: bool,
    pub segment: Option<Segment>,
    pub exclusive_start_key: Option<Item>,
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// The filter came as legacy `ScanFilter`.
    pub legacy: bool,
    /// Pass over what is damaged, and list it. Partita's own.
    pub past_damage: bool,
}

/// `number` of `total` equal parts; `number < total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub number: u32,
    pub total: u32,
}

pub type ScanOutput = crate::item::query::QueryOutput;
