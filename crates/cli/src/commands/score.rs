//! `score`: rescores a stored run without running anything.

use crate::args::ScoreArgs;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, RunReport, TrialLine};
use crate::stored_runs;
use crate::workspace_source::WorkspaceSource;
use campaign::{RescoredRun, RunChanges, rescore};
use model::{Money, RunClaim, Transcript, TrialScores};

pub(crate) fn score(io: &CliOutput, source: &WorkspaceSource, args: &ScoreArgs) -> ExitKind {
    let workspace = match super::open_checked_workspace(io, source, "score") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let stored = match stored_runs::load_run(&args.store.store, args.run.as_deref()) {
        Ok(stored) => stored,
        Err(why) => return report::print_refusal(io, "score", &[why]),
    };
    let claim = RunClaim {
        tier: stored.record.claim.tier,
        confidence: args.demands.confidence.or(stored.record.claim.confidence),
        rule_out: args.demands.rule_out.or(stored.record.claim.rule_out),
        trust_claims: args.demands.trust_claims.unwrap_or(stored.record.claim.trust_claims),
    };
    let RescoredRun { record, summary } = rescore(&workspace, stored.record.clone(), claim);
    let changes = RunChanges::between(&stored.record, &record);
    let exit = ExitKind::of(&summary);
    let show_flags = Some(args.store.show_flags(stored.short_id()));
    let pairs = record.transcripts.iter().zip(&record.scores);
    let line = |(transcript, scores): (&Transcript, &TrialScores)| {
        TrialLine::new(&transcript.case, &transcript.subject, &transcript.ending, &scores.scores)
    };
    let lines = if report::needs_trial_lines(io) { pairs.map(line).collect() } else { vec![] };
    let spent = Money::from_nanos(stored.run.spent);
    let shown = RunReport {
        command: "score",
        source,
        workspace: &workspace,
        summary: &summary,
        lines,
        show_flags,
        spent,
        undecided_without_judge: 0,
        left_out: 0,
        judge: None,
        sandbox: None,
        exit,
    };
    io.print_result(&report::rescored(io, &shown, &stored, &changes), exit)
}
