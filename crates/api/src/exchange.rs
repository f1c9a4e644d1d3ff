//! What exports and imports have in common.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExchangeStatus {
    InProgress,
    Completed,
    Failed,
}

impl ExchangeStatus {
    pub fn name(self) -> &'static str {
        match self {
            ExchangeStatus::InProgress => "IN_PROGRESS",
            ExchangeStatus::Completed => "COMPLETED",
            ExchangeStatus::Failed => "FAILED",
        }
    }
}

/// Why an export or import has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeFailure {
    pub code: String,
    pub message: String,
}

/// Which page of a list, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage {
    pub table_arn: Option<String>,
    pub limit: usize,
    /// The id behind which the page begins.
    pub behind: Option<String>,
}
