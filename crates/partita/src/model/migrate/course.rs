//! How far a migration has come and what it found until then, kept in a file if one is named.

use super::{Migration, Tally};
use crate::transfer::checkpoint::Checkpoint;
use partita_design::toml_writer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a checkpoint is of; no other migration goes on from it.
#[derive(Default, PartialEq, Serialize, Deserialize)]
struct Errand {
    endpoint: Option<String>,
    table: String,
    into: Option<String>,
    /// The models themselves, not their files' names: an edited model is another.
    old: String,
    new: String,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    errand: Errand,
    /// The key behind which it goes on; null at the beginning.
    start: Value,
    tally: Tally,
}

pub struct Course {
    state: State,
    checkpoint: Option<Checkpoint>,
}

impl Course {
    /// From the beginning, and remembered nowhere.
    pub fn unkept() -> Course {
        Course { state: State::default(), checkpoint: None }
    }

    pub fn start(&self) -> &Value {
        &self.state.start
    }

    pub fn tally(&mut self) -> &mut Tally {
        &mut self.state.tally
    }

    pub fn into_tally(self) -> Tally {
        self.state.tally
    }

    /// Goes on behind `next`; whether that is the end.
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
    pub(super) fn resume(&self) -> Result<Course, String> {
        let Some(path) = &self.arguments.checkpoint else { return Ok(Course::unkept()) };
        let (checkpoint, errand) = (Checkpoint::named_by(path.clone(), "--checkpoint"), self.errand());
        let state = match checkpoint.read::<State>()? {
            Some(state) if state.errand == errand => state,
            Some(_) => {
                return Err(format!(
                    "{} belongs to another migration: of another table, into another, or between other models; \
                     remove it to begin anew, or name another with --checkpoint",
                    path.display()
                ));
            }
            None => State { errand, ..State::default() },
        };
        Ok(Course { state, checkpoint: Some(checkpoint) })
    }

    fn errand(&self) -> Errand {
        Errand {
            endpoint: self.arguments.endpoint.endpoint.clone(),
            table: self.table.clone(),
            into: self.arguments.into.clone(),
            old: toml_writer::write(&self.old, ""),
            new: toml_writer::write(&self.new, ""),
        }
    }
}
