//! What a request wants to be told besides its result.

use partita_value::{Item, Value};

/// `ReturnValues` of the write operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnValues {
    #[default]
    None,
    AllOld,
    UpdatedOld,
    AllNew,
    UpdatedNew,
}

/// `Select` of Query and Scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    AllAttributes,
    AllProjectedAttributes,
    SpecificAttributes,
    Count,
}

/// `ItemCollectionMetrics`: only tables with local secondary indexes have them.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemCollectionMetrics {
    /// The partition key's name and value.
    pub key: (String, Value),
    /// Lower and upper estimate in gigabytes.
    pub size_estimate_gb: (f64, f64),
}

/// A page of Query or Scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// `None` where only a count was asked for.
    pub items: Option<Vec<Item>>,
    pub count: u64,
    pub scanned_count: u64,
    pub last_evaluated_key: Option<Item>,
    /// What could not be read, where that was passed over.
    pub damaged: Vec<String>,
}
