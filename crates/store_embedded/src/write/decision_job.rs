//! A decision on its way to the writer: the caller's types go in, a [`Job`] without them comes out.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use partita_store::{Decision, StoreError, Write};
use tokio::sync::oneshot;

/// What the writer sees of a decision.
pub(crate) trait Job: Send {
    fn keys(&self) -> &[Vec<u8>];

    /// Whether it decides also over rows that cannot be read.
    fn goes_over_damage(&self) -> bool;

    /// Asks the decision function and keeps its answer. `damaged` are the places of rows that cannot be read.
    fn decide(&mut self, rows: &[Option<Cow<'_, [u8]>>], damaged: &[usize]) -> Result<Decided, StoreError>;

    /// Tells the caller: the kept answer, or why there is none.
    fn answer(self: Box<Self>, outcome: Result<(), StoreError>);
}

pub(crate) struct Decided {
    pub writes: Vec<Write>,
    pub on_commit: Option<Box<dyn FnOnce() + Send>>,
}

pub(crate) struct Asked<T, F> {
    keys: Vec<Vec<u8>>,
    goes_over_damage: bool,
    decision: F,
    answer: Option<T>,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Asked<T, F> {
    pub fn new(
        keys: Vec<Vec<u8>>,
        goes_over_damage: bool,
        decision: F,
    ) -> (Asked<T, F>, oneshot::Receiver<Result<T, StoreError>>) {
        let (caller, receiver) = oneshot::channel();
        (Asked { keys, goes_over_damage, decision, answer: None, caller }, receiver)
    }
}

impl<T, F> Job for Asked<T, F>
where
    T: Send,
    F: FnMut(&[Option<Cow<'_, [u8]>>], &[usize]) -> Decision<T> + Send,
{
    fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }

    fn goes_over_damage(&self) -> bool {
        self.goes_over_damage
    }

    fn decide(&mut self, rows: &[Option<Cow<'_, [u8]>>], damaged: &[usize]) -> Result<Decided, StoreError> {
        // The function holds nothing of the writer's, so a panic in it leaves nothing half done here.
        let decided = catch_unwind(AssertUnwindSafe(|| (self.decision)(rows, damaged)))
            .map_err(|_| StoreError::Io("a decision panicked; nothing of it was written".to_string()))?;
        self.answer = Some(decided.answer);
        Ok(Decided { writes: decided.writes, on_commit: decided.on_commit })
    }

    fn answer(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Asked { answer, caller, .. } = *self;
        let undecided = || StoreError::Io("the decision was never made".to_string());
        // Nobody may be listening any more: that is the caller's choice.
        let _ = caller.send(outcome.and_then(|()| answer.ok_or_else(undecided)));
    }
}
