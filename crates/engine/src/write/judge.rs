//! The seam for rules about items that the engine does not know: a judge sees what a decision is about to change, and may refuse it.
//!
//! The judge is asked last, when everything else about the writes is decided: it receives the stored item and the resulting one of each
//! write, however the request described the change. A transaction is judged as a whole, independent writes one by one. Expiries,
//! imports and restores are not judged.

use crate::write::draft::Draft;
use crate::write::prepared_drafts::DraftResult;
use crate::write::verdict::MAX_WRITER_STEPS;
use crate::write::{Action, Atomicity, ItemWrite, Outcome, PendingCommit, with_rows};
use partita_api::{Exception, messages};
use partita_store::Rows;
use partita_value::ItemRef;
use partita_value::names::TableName;
use std::sync::Arc;

/// Judges writes before they are committed. It cannot read anything else. The store's writer calls it where it takes few steps.
pub trait WriteJudge: Send + Sync {
    /// The judge of the request that is being executed, in whose task this is called.
    fn of_request(self: Arc<Self>) -> Arc<dyn WriteJudge>;

    /// Whether there is anything to judge.
    fn is_active(&self) -> bool;

    /// A number that changes when the rules do.
    fn generation(&self) -> u64;

    /// About how many steps of a few nanoseconds it takes to judge these writes.
    fn steps(&self, writes: &[JudgedWrite<'_>]) -> usize;

    /// Judges writes that happen together or not at all. Returns the number of each write to refuse, and why.
    fn judge(&self, writes: &[JudgedWrite<'_>]) -> Vec<(usize, Exception)>;
}

/// What a write does to an item. Without a change, as in a condition check, `old` and `new` are equal.
#[derive(Clone, Copy)]
pub struct JudgedWrite<'a> {
    pub table: &'a TableName,
    /// The attributes of the key, and perhaps others.
    pub key: ItemRef<'a>,
    pub old: Option<ItemRef<'a>>,
    pub new: Option<ItemRef<'a>>,
}

/// The writes of a commit with their drafts, to be judged.
pub(super) struct Judging<'a> {
    judge: &'a dyn WriteJudge,
    pending: &'a PendingCommit,
    rows: &'a Rows<'a>,
    drafts: Vec<DraftResult>,
}

impl PendingCommit {
    /// Drafts all writes for the judge; `None` if nobody judges.
    pub(super) fn judging<'a>(
        &'a self,
        rows: &'a Rows<'a>,
        prepared: &[Option<&DraftResult>],
    ) -> Option<Judging<'a>> {
        let judge = self.judge.as_deref().filter(|judge| judge.is_active())?;
        let draft = |(number, (write, old, _)): (usize, (&ItemWrite, Option<ItemRef<'_>>, _))| {
            if let Some(draft) = prepared.get(number).copied().flatten() {
                return draft.clone();
            }
            let table = self.catalog.current(&write.table);
            let table = table.ok_or_else(|| Exception::resource_not_found(messages::TABLE_NOT_FOUND))?;
            let old = old.map(|item| write.key.checked(&table.key, item)).transpose()?;
            Draft::new(&table, write, old)
        };
        let drafts = with_rows(&self.writes, rows).enumerate().map(draft).collect();
        Some(Judging { judge, pending: self, rows, drafts })
    }
}

impl Judging<'_> {
    pub(super) fn drafts(&self) -> Vec<Option<&DraftResult>> {
        self.drafts.iter().map(Some).collect()
    }

    /// The writes that succeed but for the judge: their numbers, and the drafts that refuse them; `None` if to judge them takes too long
    /// for the writer and `is_bounded`.
    pub(super) fn refused(
        &self,
        outcomes: &[Result<Outcome, Exception>],
        is_bounded: bool,
    ) -> Option<Vec<(usize, DraftResult)>> {
        let pending = self.pending;
        let mut judged = Vec::new();
        let writes = with_rows(&pending.writes, self.rows).zip(&self.drafts).zip(outcomes);
        for (number, (((write, old, _), draft), outcome)) in writes.enumerate() {
            let (Ok(draft), Ok(_), Some(key)) = (draft, outcome, write.judged_key()) else { continue };
            let new = draft.new_item.item(write, old);
            judged.push((number, JudgedWrite { table: &write.table.name, key, old, new }));
        }
        let writes: Vec<JudgedWrite<'_>> = judged.iter().map(|(_, write)| *write).collect();
        let is_heavy = is_bounded && self.judge.steps(&writes) > MAX_WRITER_STEPS;
        (!is_heavy).then(|| refusals(self.judge, pending.atomicity, &judged))
    }
}

/// The numbers of the writes that the judge refuses, and the drafts that refuse them. Independent writes are judged one by one.
pub(super) fn refusals(
    judge: &dyn WriteJudge,
    atomicity: Atomicity,
    judged: &[(usize, JudgedWrite<'_>)],
) -> Vec<(usize, DraftResult)> {
    let mut refused = Vec::new();
    let together = if atomicity == Atomicity::AllOrNothing { judged.len().max(1) } else { 1 };
    for part in judged.chunks(together) {
        let writes: Vec<JudgedWrite<'_>> = part.iter().map(|(_, write)| *write).collect();
        for (position, exception) in judge.judge(&writes) {
            refused.extend(part.get(position).map(|(number, _)| (*number, Err(exception))));
        }
    }
    refused
}

impl ItemWrite {
    /// The key's attributes; `None` if the write is not judged.
    pub(super) fn judged_key(&self) -> Option<ItemRef<'_>> {
        match &self.action {
            _ if self.table.record.is_being_created() => None,
            Action::Restore(_) | Action::Expire { .. } => None,
            Action::Put(item) => Some(item.view()),
            Action::Update { key, .. } | Action::Delete { key } | Action::Check { key } => Some(key.view()),
        }
    }
}
