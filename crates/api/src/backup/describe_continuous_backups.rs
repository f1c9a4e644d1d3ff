//! DescribeContinuousBackups: whether a table can be restored to a point in time, and to which.

use crate::backup::continuous_backups::ContinuousBackups;
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct DescribeContinuousBackups {
    pub table: TableName,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DescribeContinuousBackupsOutput {
    pub backups: ContinuousBackups,
}
