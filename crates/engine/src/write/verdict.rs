//! Verdicts that are reached outside of the writer, because judging many or large items takes long and all writes share one writer.
//!
//! The writer sends such writes back. The caller drafts them, and has the results judged on another thread. The writer takes the verdict if
//! the items are still those that were drafted from, and the judge's rules the same; otherwise it is reached again.

use crate::offload::heavy_work::{HEAVY_WORK, offload};
use crate::write::judge::{JudgedWrite, Judgement, Judging, WriteJudge, judge_parts};
use crate::write::prepared_drafts::{DraftResult, PreparedDrafts};
use crate::write::{Atomicity, Outcome, PendingCommit};
use partita_api::Exception;
use std::sync::Arc;

/// Judging that takes no more steps is done by the writer: a millisecond or two.
pub const MAX_WRITER_STEPS: usize = 1 << 18;

/// What the judge said about drafted writes.
pub struct Verdict {
    /// The rules that were applied.
    generation: u64,
    judgement: Judgement,
}

/// The writes that succeed but for the judge, by its verdict if there is one: their numbers, and why they are refused. `None` if there is
/// none, and to judge them takes too long for the writer and `is_bounded`.
pub(super) fn refused(
    judging: Option<&Judging<'_>>,
    verdict: Option<&Verdict>,
    outcomes: &[Result<Outcome, Exception>],
    is_bounded: bool,
) -> Option<Vec<(usize, Exception)>> {
    let Some(judging) = judging else { return Some(Vec::new()) };
    let Some(verdict) = verdict else {
        let judgement = judging.judgement(outcomes, is_bounded)?;
        judging.record(&judgement);
        return Some(judgement.refused);
    };
    judging.record(&verdict.judgement);
    let succeeds = |(number, _): &&(usize, Exception)| outcomes.get(*number).is_some_and(Result::is_ok);
    Some(verdict.judgement.refused.iter().filter(succeeds).cloned().collect())
}

impl PendingCommit {
    /// The verdict on these drafts, if they are all still valid and the judge's rules have not changed.
    pub(super) fn verdict<'a>(
        &self,
        valid: &[Option<&DraftResult>],
        prepared: &'a PreparedDrafts,
    ) -> Option<&'a Verdict> {
        let verdict = prepared.verdict.as_deref()?;
        let generation = self.rules_of(self.judge.as_deref()?);
        let is_drafted = |(number, draft): (usize, &Option<&DraftResult>)| {
            draft.is_some() || self.catalog.current(&self.writes[number].table).is_none()
        };
        let is_valid = valid.len() == self.writes.len() && valid.iter().enumerate().all(is_drafted);
        (is_valid && verdict.generation == generation).then_some(verdict)
    }

    /// The number of the rules for the tables that are written.
    fn rules_of(&self, judge: &dyn WriteJudge) -> u64 {
        judge.generation(&mut self.writes.iter().map(|write| &write.table.name))
    }

    fn judge_drafts(&self, drafts: &PreparedDrafts) -> Option<Verdict> {
        let judge = self.judge.as_deref()?;
        let generation = self.rules_of(judge);
        // A transaction that fails anyway is not judged.
        let fails =
            self.atomicity == Atomicity::AllOrNothing && drafts.iter().any(|(_, _, draft)| draft.is_err());
        if fails {
            return Some(Verdict { generation, judgement: Judgement::default() });
        }
        let judged: Vec<(usize, JudgedWrite<'_>)> = drafts
            .iter()
            .filter_map(|(number, old, draft)| {
                let (draft, write) = (draft.as_ref().ok()?, &self.writes[number]);
                let new = draft.new_item.item(write, old);
                Some((number, JudgedWrite { table: &write.table.name, key: write.judged_key()?, old, new }))
            })
            .collect();
        Some(Verdict { generation, judgement: judge_parts(judge, self.atomicity, &judged) })
    }
}

impl PreparedDrafts {
    /// Has the drafts judged on another thread.
    pub(super) async fn judged(mut self, pending: &Arc<PendingCommit>) -> Result<PreparedDrafts, Exception> {
        let pending = Arc::clone(pending);
        // It was too long for the writer, whatever the number of bytes.
        offload(HEAVY_WORK, move || {
            self.verdict = pending.judge_drafts(&self).map(Arc::new);
            self
        })
        .await
    }
}
