//! The progress and the results of a migration so far, stored in a checkpoint file if one is given.

use super::Migration;
use super::summary::MigrationSummary;
use crate::transfer::checkpoint::Checkpoint;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Identifies the migration: its endpoint, tables and models. No other migration resumes from it.
    migration: String,
    /// The source that is being read.
    source: usize,
    /// The key after which it resumes; null at the beginning.
    start: Value,
    summary: MigrationSummary,
}

pub struct MigrationProgress {
    state: State,
    checkpoint: Option<Checkpoint>,
}

impl MigrationProgress {
    /// From the beginning, without a checkpoint.
    pub fn without_checkpoint() -> MigrationProgress {
        MigrationProgress { state: State::default(), checkpoint: None }
    }

    pub fn source(&self) -> usize {
        self.state.source
    }

    pub fn start(&self) -> &Value {
        &self.state.start
    }

    pub fn summary(&mut self) -> &mut MigrationSummary {
        &mut self.state.summary
    }

    pub fn into_summary(self) -> MigrationSummary {
        self.state.summary
    }

    /// Continues after `next`, or with the next of the sources.
    pub fn advance(&mut self, next: Value, sources: usize) -> Result<(), String> {
        self.state.source += usize::from(next.is_null());
        self.state.start = next;
        match &mut self.checkpoint {
            Some(checkpoint) if self.state.source == sources => checkpoint.remove(),
            Some(checkpoint) => checkpoint.save(&self.state),
            None => Ok(()),
        }
    }
}

impl Migration<'_> {
    /// Where an interrupted migration left off, or the beginning.
    pub(super) fn resume(&self) -> Result<MigrationProgress, String> {
        let Some(path) = &self.options.checkpoint else {
            return Ok(MigrationProgress::without_checkpoint());
        };
        let checkpoint = Checkpoint::with_option(path.clone(), "--checkpoint");
        let endpoint = self.options.endpoint.endpoint.as_deref().unwrap_or_default();
        let migration = format!("{} at {endpoint}", self.tables.id());
        let state = match checkpoint.read::<State>()? {
            Some(state) if state.migration == migration => state,
            Some(_) => {
                return Err(format!(
                    "{} belongs to another migration: of another table, into another, or between other models; \
                     remove it to start over, or choose another with --checkpoint",
                    path.display()
                ));
            }
            None => State { migration, ..State::default() },
        };
        Ok(MigrationProgress { state, checkpoint: Some(checkpoint) })
    }
}
