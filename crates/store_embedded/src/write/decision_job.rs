//! A decision on its way to the writer, with the caller's types erased.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use partita_store::{Decision, StoreError, Write};
use tokio::sync::oneshot;

/// A decision as the writer sees it.
pub(crate) trait DecisionJob: Send {
    fn keys(&self) -> &[Vec<u8>];

    /// Whether the decision also runs over rows that cannot be read.
    fn tolerates_damage(&self) -> bool;

    /// Calls the decision function and stores its answer. `damaged` are the indexes of rows that cannot be read.
    fn decide(
        &mut self,
        rows: &[Option<Cow<'_, [u8]>>],
        damaged: &[usize],
    ) -> Result<DecidedWrites, StoreError>;

    /// Sends the caller the stored answer, or the error.
    fn answer(self: Box<Self>, outcome: Result<(), StoreError>);
}

pub(crate) struct DecidedWrites {
    pub writes: Vec<Write>,
    pub on_commit: Option<Box<dyn FnOnce() + Send>>,
}

pub(crate) struct TypedJob<T, F> {
    keys: Vec<Vec<u8>>,
    tolerates_damage: bool,
    decision: F,
    answer: Option<T>,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> TypedJob<T, F> {
    pub fn new(
        keys: Vec<Vec<u8>>,
        tolerates_damage: bool,
        decision: F,
    ) -> (TypedJob<T, F>, oneshot::Receiver<Result<T, StoreError>>) {
        let (caller, receiver) = oneshot::channel();
        (TypedJob { keys, tolerates_damage, decision, answer: None, caller }, receiver)
    }
}

impl<T, F> DecisionJob for TypedJob<T, F>
where
    T: Send,
    F: FnMut(&[Option<Cow<'_, [u8]>>], &[usize]) -> Decision<T> + Send,
{
    fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }

    fn tolerates_damage(&self) -> bool {
        self.tolerates_damage
    }

    fn decide(
        &mut self,
        rows: &[Option<Cow<'_, [u8]>>],
        damaged: &[usize],
    ) -> Result<DecidedWrites, StoreError> {
        // The function holds nothing of the writer's, so a panic in it leaves nothing half done here.
        let decided = catch_unwind(AssertUnwindSafe(|| (self.decision)(rows, damaged)))
            .map_err(|_| StoreError::Io("a decision panicked; nothing of it was written".to_string()))?;
        self.answer = Some(decided.answer);
        Ok(DecidedWrites { writes: decided.writes, on_commit: decided.on_commit })
    }

    fn answer(self: Box<Self>, outcome: Result<(), StoreError>) {
        let TypedJob { answer, caller, .. } = *self;
        let undecided = || StoreError::Io("the decision was never made".to_string());
        // The caller may have dropped the future: that is its choice.
        let _ = caller.send(outcome.and_then(|()| answer.ok_or_else(undecided)));
    }
}
