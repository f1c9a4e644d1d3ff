//! Whether a table can be restored to a point in time, and to which.

/// The continuous backups of a table. Every table has them; point-in-time recovery is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContinuousBackups {
    /// The point-in-time recovery; `None` if it is off.
    pub recovery: Option<Recovery>,
}

/// The point-in-time recovery of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// How many days recovery reaches back.
    pub period_days: u32,
    /// The earliest time it reaches, in milliseconds since 1970.
    pub earliest_millis: u64,
    /// The latest time it reaches, in milliseconds since 1970.
    pub latest_millis: u64,
}

/// The response to DescribeContinuousBackups and UpdateContinuousBackups.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuousBackupsOutput {
    /// The table's continuous backups.
    pub backups: ContinuousBackups,
}
