//! What a restored table has otherwise than the table it comes from.

use crate::table::update_table::NewIndex;
use crate::table::{BillingMode, Encryption, OnDemandThroughput, Throughput};

#[derive(Clone, Debug, Default)]
pub struct RestoreOverrides {
    pub billing_mode: Option<BillingMode>,
    pub throughput: Option<Throughput>,
    pub on_demand: Option<OnDemandThroughput>,
    pub encryption: Option<Encryption>,
    /// The indexes it has; all of its source's if none are given.
    pub local_indexes: Option<Vec<NewIndex>>,
    pub global_indexes: Option<Vec<NewIndex>>,
}
