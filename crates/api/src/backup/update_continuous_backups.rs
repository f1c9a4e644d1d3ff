//! UpdateContinuousBackups: turns point-in-time recovery on or off.

use crate::backup::describe_continuous_backups::DescribeContinuousBackupsOutput;
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct UpdateContinuousBackups {
    pub table: TableName,
    pub enabled: bool,
    /// How far back a table can be restored. If none is given, it stays what it is, or is 35 where recovery was off.
    pub period_days: Option<u32>,
}

pub type UpdateContinuousBackupsOutput = DescribeContinuousBackupsOutput;
