//! From transcripts to a record: score what can be scored, judge the gates. Needs nothing but them and the workspace.

use model::{Claim, FORMAT, Hash, Plan, RunRecord, Transcript, TrialScores, Workspace};
use score::gates::{Demands, Measured, Scope, judge_with};
use score::scorers::{self, Evidence};

/// A stored run, scored and judged again with the scorers and gates of today.
pub fn rescore(workspace: &Workspace, stored: RunRecord, claim: Claim) -> RunRecord {
    record(workspace, stored.plan, stored.transcripts, claim)
}

pub(crate) fn record(workspace: &Workspace, plan: Plan, transcripts: Vec<Transcript>, claim: Claim) -> RunRecord {
    let scores: Vec<TrialScores> = transcripts
        .iter()
        .map(|transcript| {
            let case = workspace.case(&transcript.case);
            let trusted = (claim.trust_claims && transcript.has_claims()).then(|| transcript.trusting_claims());
            let seen = trusted.as_ref().unwrap_or(transcript);
            let scores = case.map(|case| scorers::score(&Evidence::new(workspace, case, seen))).unwrap_or_default();
            TrialScores { trial: transcript.trial.clone(), scores }
        })
        .collect();
    let contents: Vec<Hash> = transcripts.iter().map(|transcript| transcript.written().content).collect();
    let measured: Vec<Measured<'_>> = transcripts
        .iter()
        .zip(&scores)
        .zip(&contents)
        .filter_map(|((transcript, scores), content)| {
            workspace.case(&transcript.case).map(|case| Measured {
                trial: &transcript.trial,
                subject: &transcript.subject,
                case,
                scores: &scores.scores,
                aborted: !transcript.ending.is_scorable(),
                content: Some(content),
            })
        })
        .collect();
    let scope = claim.tier.map_or(Scope::Selection, Scope::Tier);
    let demands = Demands { confidence: claim.confidence, rule_out: claim.rule_out };
    let judged = judge_with(workspace, &measured, scope, demands);
    RunRecord { format: FORMAT, claim, plan, judgements: judged.judgements, out_of_scope: judged.out_of_scope, transcripts, scores }
}
