//! Attacks of a run for the page of the red team.

use crate::report::summarize_attacks;
use campaign::{RedTeamReport, StoredCases};
use model::Workspace;
use serve::pages::AttackSummary;
use store::{Store, StoreError, StoredRun};

/// Summarizes the attacks of a stored run from its transcripts.
pub(super) fn attack_summaries(workspace: &Workspace, store: &Store, run: &StoredRun) -> Result<Vec<AttackSummary>, StoreError> {
    store.check_format(run)?;
    let mut reports: Vec<RedTeamReport> = run.subjects.iter().map(|subject| RedTeamReport::new(subject)).collect();
    let mut cases = StoredCases::new(workspace, run);
    store.for_each_unread(run.run, |unread| {
        let case = cases.case(&unread.trial.case).filter(|case| case.attack.is_some());
        if let Some(case) = case
            && let Some(report) = reports.iter_mut().find(|report| report.subject == unread.trial.subject)
        {
            report.add(workspace, case, &unread.transcript()?, &unread.scores()?);
        }
        Ok(())
    })?;
    let reports: Vec<RedTeamReport> = reports.into_iter().map(RedTeamReport::finish).collect();
    Ok(summarize_attacks(&reports, |id| cases.case(id).cloned()))
}
