//! UpdateContinuousBackups: enables or disables point-in-time recovery.

use crate::backup::continuous_backups::ContinuousBackupsOutput;
use partita_value::names::TableName;

/// The request of UpdateContinuousBackups.
#[derive(Clone, Debug)]
pub struct UpdateContinuousBackups {
    /// The table.
    pub table: TableName,
    /// Whether point-in-time recovery is to be on.
    pub enabled: bool,
    /// How many days recovery reaches back. If `None`, this stays as it is, or is 35 if recovery was disabled.
    pub period_days: Option<u32>,
}

/// The response to UpdateContinuousBackups.
pub type UpdateContinuousBackupsOutput = ContinuousBackupsOutput;
