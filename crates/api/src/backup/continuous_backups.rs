//! Whether a table can be restored to a point in time, and to which.

/// A table's continuous backups, which every table has; and its point-in-time recovery, if that is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContinuousBackups {
    pub recovery: Option<Recovery>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    pub period_days: u32,
    pub earliest_millis: u64,
    pub latest_millis: u64,
}
