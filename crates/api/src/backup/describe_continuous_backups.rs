//! DescribeContinuousBackups: whether a table can be restored to a point in time, and to which.

use crate::backup::continuous_backups::ContinuousBackupsOutput;
use partita_value::names::TableName;

/// The request of DescribeContinuousBackups.
#[derive(Clone, Debug)]
pub struct DescribeContinuousBackups {
    /// The table.
    pub table: TableName,
}

/// The response to DescribeContinuousBackups.
pub type DescribeContinuousBackupsOutput = ContinuousBackupsOutput;
