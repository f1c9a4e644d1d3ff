//! The progress and the results of a migration so far, stored in a checkpoint file if one is given.

use super::{Migration, MigrationSummary};
use crate::transfer::checkpoint::Checkpoint;
use partita_design::emission::toml;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Identifies the migration of a checkpoint; no other migration resumes from it.
#[derive(Default, PartialEq, Serialize, Deserialize)]
struct MigrationId {
    endpoint: Option<String>,
    table: String,
    into: Option<String>,
    /// The models themselves, not their file names: an edited model is another one.
    old: String,
    new: String,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    #[serde(rename = "errand")]
    id: MigrationId,
    /// The key after which it resumes; null at the beginning.
    start: Value,
    #[serde(rename = "tally")]
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

    pub fn start(&self) -> &Value {
        &self.state.start
    }

    pub fn summary(&mut self) -> &mut MigrationSummary {
        &mut self.state.summary
    }

    pub fn into_summary(self) -> MigrationSummary {
        self.state.summary
    }

    /// Continues after `next`. Returns whether that is the end.
    pub fn advance(&mut self, next: Value) -> Result<bool, String> {
        self.state.start = next;
        let is_end = self.state.start.is_null();
        match &mut self.checkpoint {
            Some(checkpoint) if is_end => checkpoint.remove()?,
            Some(checkpoint) => checkpoint.save(&self.state)?,
            None => {}
        }
        Ok(is_end)
    }
}

impl Migration<'_> {
    /// Where an interrupted migration left off, or the beginning.
    pub(super) fn resume(&self) -> Result<MigrationProgress, String> {
        let Some(path) = &self.arguments.checkpoint else {
            return Ok(MigrationProgress::without_checkpoint());
        };
        let (checkpoint, id) = (Checkpoint::with_option(path.clone(), "--checkpoint"), self.id());
        let state = match checkpoint.read::<State>()? {
            Some(state) if state.id == id => state,
            Some(_) => {
                return Err(format!(
                    "{} belongs to another migration: of another table, into another, or between other models; \
                     remove it to start over, or choose another with --checkpoint",
                    path.display()
                ));
            }
            None => State { id, ..State::default() },
        };
        Ok(MigrationProgress { state, checkpoint: Some(checkpoint) })
    }

    fn id(&self) -> MigrationId {
        MigrationId {
            endpoint: self.arguments.endpoint.endpoint.clone(),
            table: self.table.clone(),
            into: self.arguments.into.clone(),
            old: toml(&self.old, ""),
            new: toml(&self.new, ""),
        }
    }
}
