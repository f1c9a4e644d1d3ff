//! What a response can report in addition to its result.

use partita_value::Value;

/// `ReturnValues` of the write operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnValues {
    /// Nothing.
    #[default]
    None,
    /// The whole item before the write.
    AllOld,
    /// The updated attributes before the write.
    UpdatedOld,
    /// The whole item after the write.
    AllNew,
    /// The updated attributes after the write.
    UpdatedNew,
}

/// `Select` of Query and Scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    /// Whole items, fetched from the table where an index does not hold them.
    AllAttributes,
    /// All attributes that the index holds.
    AllProjectedAttributes,
    /// The attributes of the projection.
    SpecificAttributes,
    /// The number of items only.
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
