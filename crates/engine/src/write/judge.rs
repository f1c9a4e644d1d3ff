//! The seam for rules about items that the engine does not know: a judge sees what a decision is about to change, and may refuse it.
//!
//! The judge is asked last, when everything else about the writes is decided: it receives the stored item and the resulting one of each
//! write, however the request described the change. A transaction is judged as a whole, independent writes one by one. Expiries,
//! imports and restores are not judged.

use crate::write::draft::{Draft, NewItem};
use crate::write::prepared_drafts::{DraftResult, Drafts};
use crate::write::verdict::MAX_WRITER_STEPS;
use crate::write::{Action, Atomicity, ItemWrite, Outcome, PendingCommit, RowsOfWrite, with_rows};
use partita_api::{Exception, messages};
use partita_store::Rows;
use partita_value::ItemRef;
use partita_value::names::TableName;
use std::borrow::Cow;
use std::sync::Arc;

/// Judges writes before they are committed. It cannot read anything else. The store's writer calls it where it takes few steps.
pub trait WriteJudge: Send + Sync {
    /// The judge of the request that is being executed, in whose task this is called.
    fn of_request(self: Arc<Self>) -> Arc<dyn WriteJudge>;

    /// Whether there is anything to judge.
    fn is_active(&self) -> bool;

    /// A number that changes when the rules for one of some tables do.
    fn generation(&self, tables: &mut dyn Iterator<Item = &TableName>) -> u64;

    /// About how many steps of a few nanoseconds it takes to judge these writes.
    fn steps(&self, writes: &[JudgedWrite<'_>]) -> usize;

    /// Judges writes that happen together or not at all.
    fn judge(&self, writes: &[JudgedWrite<'_>]) -> Judgement;

    /// Takes note of what was found, now that the decision is made. What is judged outside of the writer may be judged again before.
    fn record(&self, breaches: &[Breach]);
}

/// What a judge says about writes.
#[derive(Default)]
pub struct Judgement {
    /// The number of each write to refuse, and why.
    pub refused: Vec<(usize, Exception)>,
    /// All rules that are broken, whether that is refused or not.
    pub breaches: Vec<Breach>,
}

/// A rule that a write breaks.
pub struct Breach {
    pub table: TableName,
    pub rule: &'static str,
    pub message: String,
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

/// The writes of a commit with the items that they result in, to be judged.
pub(super) struct Judging<'a> {
    judge: &'a dyn WriteJudge,
    pending: &'a PendingCommit,
    rows: &'a Rows<'a>,
    /// The new items; `None` if a write fails.
    new_items: Vec<Option<NewItem>>,
}

impl PendingCommit {
    /// Drafts the writes that have no draft yet, for the judge; `None` if nobody judges.
    pub(super) fn judging<'a>(&'a self, rows: &'a Rows<'a>, drafts: &mut Drafts<'_>) -> Option<Judging<'a>> {
        let judge = self.judge.as_deref().filter(|judge| judge.is_active())?;
        drafts.resize(self.writes.len(), None);
        let new_item = |((write, old, _), draft): (RowsOfWrite<'_>, &mut Option<Cow<'_, DraftResult>>)| {
            let draft = draft.get_or_insert_with(|| Cow::Owned(self.draft(write, old)));
            draft.as_ref().as_ref().ok().map(|draft| draft.new_item.clone())
        };
        let new_items = with_rows(&self.writes, rows).zip(drafts).map(new_item).collect();
        Some(Judging { judge, pending: self, rows, new_items })
    }

    fn draft(&self, write: &ItemWrite, old: Option<ItemRef<'_>>) -> DraftResult {
        let table = self.catalog.current(&write.table);
        let table = table.ok_or_else(|| Exception::resource_not_found(messages::TABLE_NOT_FOUND))?;
        let old = old.map(|item| write.key.checked(&table.key, item)).transpose()?;
        Draft::new(&table, write, old)
    }
}

impl Judging<'_> {
    /// The judgement of the writes that succeed otherwise; `None` if to judge them takes too long for the writer and `is_bounded`.
    pub(super) fn judgement(
        &self,
        outcomes: &[Result<Outcome, Exception>],
        is_bounded: bool,
    ) -> Option<Judgement> {
        let pending = self.pending;
        let mut judged = Vec::new();
        let writes = with_rows(&pending.writes, self.rows).zip(&self.new_items).zip(outcomes);
        for (number, (((write, old, _), new_item), outcome)) in writes.enumerate() {
            let (Some(new_item), Ok(_), Some(key)) = (new_item, outcome, write.judged_key()) else {
                continue;
            };
            let new = new_item.item(write, old);
            judged.push((number, JudgedWrite { table: &write.table.name, key, old, new }));
        }
        let writes: Vec<JudgedWrite<'_>> = judged.iter().map(|(_, write)| *write).collect();
        let is_heavy = is_bounded && self.judge.steps(&writes) > MAX_WRITER_STEPS;
        (!is_heavy).then(|| judge_parts(self.judge, pending.atomicity, &judged))
    }

    /// Has the judge take note of a judgement by which the commit is decided.
    pub(super) fn record(&self, judgement: &Judgement) {
        if !judgement.breaches.is_empty() {
            self.judge.record(&judgement.breaches);
        }
    }
}

/// Judges the writes of a commit, each with its number: a transaction as a whole, independent writes one by one.
pub(super) fn judge_parts(
    judge: &dyn WriteJudge,
    atomicity: Atomicity,
    judged: &[(usize, JudgedWrite<'_>)],
) -> Judgement {
    let mut all = Judgement::default();
    let together = if atomicity == Atomicity::AllOrNothing { judged.len().max(1) } else { 1 };
    for part in judged.chunks(together) {
        let writes: Vec<JudgedWrite<'_>> = part.iter().map(|(_, write)| *write).collect();
        let Judgement { refused, breaches } = judge.judge(&writes);
        all.breaches.extend(breaches);
        for (position, exception) in refused {
            all.refused.extend(part.get(position).map(|(number, _)| (*number, exception)));
        }
    }
    all
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
