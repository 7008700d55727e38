//! Search for a smaller case: plays candidates within a limit of trials, keeps the smallest that still fails, and measures its rate.

use super::ShrinkError;
use super::case_text::CaseText;
use super::failure::{MeasuredRate, ReproducedFailure};
use super::shrunk_case::{CaseSize, ShrunkCase};
use crate::execute::VariantPlayer;
use attack::DeltaDebugger;
use model::{Case, ContentHash, Workspace};
use std::collections::BTreeSet;

/// Trials of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShrinkLimits {
    /// Most trials in all.
    pub max_trials: u64,
    /// Trials of the original, to see whether it fails always.
    pub first: u64,
    /// Trials of the result, whose rate is stated.
    pub confirm: u64,
}

impl Default for ShrinkLimits {
    fn default() -> Self {
        Self { max_trials: 300, first: 5, confirm: 20 }
    }
}

/// Failures that make a candidate count as failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AcceptanceRule {
    needed: u64,
    of: u64,
}

/// Most trials of a candidate that fails only sometimes.
const MAX_REPEATS: u64 = 12;

impl AcceptanceRule {
    /// A failure that always happens is tried once. One that happens sometimes must happen twice, in so many trials that a candidate
    /// which fails as often as the original is rarely rejected, and one that fails rarely is rarely accepted.
    fn for_rate(rate: MeasuredRate) -> Self {
        match rate.rate() {
            Some(share) if share < 1.0 && share > 0.0 => Self { needed: 2, of: ((3.0 / share).ceil() as u64).clamp(4, MAX_REPEATS) },
            Some(_) | None => Self { needed: 1, of: 1 },
        }
    }
}

/// State of a search.
pub(super) struct ShrinkSearch<'w> {
    player: VariantPlayer,
    workspace: &'w Workspace,
    limits: ShrinkLimits,
    causes: ReproducedFailure,
    first: MeasuredRate,
    rule: AcceptanceRule,
    /// The reference passes the original, so it must pass every candidate: otherwise the case would fail for every agent.
    is_fair: bool,
    before: CaseSize,
    /// Accepted candidates, the smallest last. The first one is the original.
    accepted: Vec<(CaseText, Case)>,
    rejected: BTreeSet<ContentHash>,
    exhausted: bool,
}

impl<'w> ShrinkSearch<'w> {
    /// Plays the original.
    ///
    /// # Errors
    /// If it does not fail.
    pub(super) async fn start(
        mut player: VariantPlayer,
        workspace: &'w Workspace,
        text: CaseText,
        limits: ShrinkLimits,
    ) -> Result<Self, ShrinkError> {
        let case = text.read(workspace)?;
        let (mut first, mut causes) = (MeasuredRate::default(), None::<ReproducedFailure>);
        // A failure that was not seen gets twice as many tries.
        while first.of < limits.first || (first.failed == 0 && first.of < 2 * limits.first) {
            let found = failure(&mut player, workspace, &case).await?;
            first.add(found.is_some());
            causes = causes.or(found);
        }
        let causes = causes.ok_or_else(|| ShrinkError::DoesNotFail { case: player.case().id.value.clone(), of: first.of })?;
        let is_fair = case.attack.is_none() && !case.reference.is_empty() && player.reference_passes(&case).await;
        Ok(Self {
            player,
            workspace,
            limits,
            causes,
            first,
            rule: AcceptanceRule::for_rate(first),
            is_fair,
            before: CaseSize::of_case(&case, &text.attack_texts),
            accepted: vec![(text, case)],
            rejected: BTreeSet::new(),
            exhausted: false,
        })
    }

    /// Returns whether a candidate still fails, and keeps it if so. Nothing is played any more once the trials are used up.
    pub(super) async fn accepts(&mut self, text: CaseText) -> Result<bool, ShrinkError> {
        let Ok(case) = text.read(self.workspace) else { return Ok(false) };
        if self.rejected.contains(&case.hash) || !self.fails(&case).await? {
            self.rejected.insert(case.hash);
            return Ok(false);
        }
        self.accepted.push((text, case));
        Ok(true)
    }

    /// Removes parts as long as the case still fails, and returns those that are needed. `build` makes the case of some parts.
    pub(super) async fn minimise(&mut self, parts: usize, build: impl Fn(&[usize]) -> Option<CaseText>) -> Result<Vec<usize>, ShrinkError> {
        let mut delta = DeltaDebugger::new(parts);
        while let Some(proposal) = delta.proposal() {
            if self.exhausted {
                break;
            }
            let accepted = match build(&proposal) {
                Some(text) => self.accepts(text).await?,
                None => false,
            };
            if accepted { delta.accept() } else { delta.reject() }
        }
        Ok(delta.kept().to_vec())
    }

    async fn fails(&mut self, case: &Case) -> Result<bool, ShrinkError> {
        if self.is_fair && !self.player.reference_passes(case).await {
            return Ok(false);
        }
        let AcceptanceRule { needed, of } = self.rule;
        let mut rate = MeasuredRate::default();
        while rate.failed < needed && rate.failed + (of - rate.of) >= needed {
            if self.player.played() + self.limits.confirm >= self.limits.max_trials {
                self.exhausted = true;
                return Ok(false);
            }
            let found = failure(&mut self.player, self.workspace, case).await?;
            rate.add(found.is_some_and(|found| found.shares_cause(&self.causes)));
        }
        Ok(rate.failed >= needed)
    }

    /// Measures the smallest candidate. If it no longer fails, measures the one before it.
    pub(super) async fn finish(mut self, subject: &str) -> Result<ShrunkCase, ShrinkError> {
        while let Some((text, case)) = self.accepted.pop() {
            let mut rate = MeasuredRate::default();
            for _ in 0..self.limits.confirm.max(1) {
                let found = failure(&mut self.player, self.workspace, &case).await?;
                rate.add(found.is_some_and(|found| found.shares_cause(&self.causes)));
            }
            if rate.failed > 0 {
                return Ok(ShrunkCase {
                    case: self.player.case().id.value.clone(),
                    reproducer: text.id().to_owned(),
                    subject: subject.to_owned(),
                    kind: text.kind,
                    before: self.before,
                    after: CaseSize::of_case(&case, &text.attack_texts),
                    causes: self.causes.names(),
                    first: self.first,
                    rate,
                    trials: self.player.played(),
                    exhausted: self.exhausted,
                    is_distinct: true,
                    text,
                });
            }
        }
        Err(ShrinkError::DoesNotFail { case: self.player.case().id.value.clone(), of: self.limits.confirm })
    }
}

/// Plays a trial and returns why it failed, if it did.
async fn failure(player: &mut VariantPlayer, workspace: &Workspace, case: &Case) -> Result<Option<ReproducedFailure>, ShrinkError> {
    let trial = player.play(case).await;
    if !trial.transcript.ending.is_scorable() {
        return Err(ShrinkError::Aborted(format!("{:?}", trial.transcript.ending)));
    }
    Ok(ReproducedFailure::of_trial(workspace, case, &trial))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_happen_sometimes_are_tried_more_often() {
        let rule = |failed, of| AcceptanceRule::for_rate(MeasuredRate { failed, of });
        assert_eq!(rule(5, 5), AcceptanceRule { needed: 1, of: 1 });
        assert_eq!(rule(4, 5), AcceptanceRule { needed: 2, of: 4 });
        assert_eq!(rule(5, 10), AcceptanceRule { needed: 2, of: 6 });
        assert_eq!(rule(1, 10), AcceptanceRule { needed: 2, of: MAX_REPEATS });
    }
}
