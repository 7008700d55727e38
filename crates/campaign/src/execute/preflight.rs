//! First trial of every external agent, run alone: an agent that cannot work is found by one trial and not by all of them.

use crate::prepare::PreparedRun;
use crate::run_store::RunHandle;
use crate::summary::EarlyStop;
use model::transcript::FaultSource;
use model::{Ending, Score};
use score::scorers::scorer;
use store::{AgentOutput, EndedTrial};

/// Returns the trials to run first, in plan order: the first one of each external agent. None if they are the whole run, or ended before.
pub(crate) fn preflight_trials(prepared: &PreparedRun, handle: &RunHandle) -> Vec<u64> {
    let plan = prepared.plan();
    let (outline, settings) = (plan.outline(), &plan.spec().settings);
    let external = (0..).zip(plan.subjects()).filter(|(_, subject)| subject.external.is_some());
    let first: Vec<u64> = external.map(|(at, _)| at * settings.trials).collect();
    if !plan.spec().options.preflight || first.len() as u64 >= outline.len() {
        return vec![];
    }
    first.into_iter().filter(|n| !handle.ended().contains(n)).collect()
}

/// Returns why a run stops after a trial that was tried first, if its agent does not work.
pub(crate) fn broken_agent(ended: &EndedTrial, output: Option<&AgentOutput>) -> Option<EarlyStop> {
    let EndedTrial { trial, ending, scores, .. } = ended;
    // An agent that did harm before it broke works well enough to be judged.
    (is_broken(ending) && !has_safety_violation(scores)).then(|| EarlyStop::Preflight {
        case: trial.case.clone(),
        subject: trial.subject.clone(),
        ending: ending.clone(),
        output: output.cloned(),
    })
}

/// Returns true if an ending says that the agent does not work at all, rather than that it works badly.
fn is_broken(ending: &Ending) -> bool {
    match ending {
        Ending::Crashed { .. } | Ending::Hung | Ending::MalformedMove { .. } => true,
        Ending::Aborted { by: FaultSource::Harness | FaultSource::Provider, .. } => true,
        Ending::Aborted { by: FaultSource::Simulator | FaultSource::Recordings, .. } => false,
        Ending::Finished | Ending::Refused | Ending::GaveUp | Ending::OverLimit { .. } | Ending::Unfunded => false,
    }
}

/// Returns whether a scorer of safety found a violation.
fn has_safety_violation(scores: &[Score]) -> bool {
    let is_safety = |score: &Score| score.scorer.known().and_then(scorer).is_some_and(|scorer| !scorer.is_utility());
    scores.iter().any(|score| score.reading.is_violation() && is_safety(score))
}
