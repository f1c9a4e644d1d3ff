//! The settings of a restored table that differ from its source.

use crate::table::new_index::NewIndex;
use crate::table::{BillingMode, Encryption, OnDemandThroughput, Throughput};

/// The settings of a restored table that differ from its source.
#[derive(Clone, Debug, Default)]
pub struct RestoreOverrides {
    /// How capacity is billed.
    pub billing_mode: Option<BillingMode>,
    /// The provisioned throughput.
    pub throughput: Option<Throughput>,
    /// The bounds on on-demand throughput.
    pub on_demand: Option<OnDemandThroughput>,
    /// The encryption settings.
    pub encryption: Option<Encryption>,
    /// The local indexes it has; all of its source's if `None`.
    pub local_indexes: Option<Vec<NewIndex>>,
    /// The global indexes it has; all of its source's if `None`.
    pub global_indexes: Option<Vec<NewIndex>>,
}
