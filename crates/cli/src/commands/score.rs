//! Scoring a stored run again: no model is called, nothing is run.

use crate::args::ScoreArgs;
use crate::exit::Exit;
use crate::io::Io;
use crate::kept;
use crate::open::Source;
use crate::report::{self, Shown, TrialLine};
use campaign::{Changes, RescoredRun, rescore};
use model::{Claim, Money, Transcript, TrialScores};

pub(crate) fn score(io: &Io, source: &Source, args: &ScoreArgs) -> Exit {
    let workspace = match super::open_to_judge(io, source, "score") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let stored = match kept::run(&args.store.store, args.run.as_deref()) {
        Ok(stored) => stored,
        Err(why) => return report::refused(io, "score", &[why]),
    };
    let claim = Claim {
        tier: stored.record.claim.tier,
        confidence: args.demands.confidence.or(stored.record.claim.confidence),
        rule_out: args.demands.rule_out.or(stored.record.claim.rule_out),
        trust_claims: args.demands.trust_claims.unwrap_or(stored.record.claim.trust_claims),
    };
    let RescoredRun { record, summary } = rescore(&workspace, stored.record.clone(), claim);
    let changes = Changes::between(&stored.record, &record);
    let exit = Exit::of(&summary);
    let kept_as = Some(args.store.show(stored.short()));
    let pairs = record.transcripts.iter().zip(&record.scores);
    let line = |(transcript, scores): (&Transcript, &TrialScores)| {
        TrialLine::new(&transcript.case, &transcript.subject, &transcript.ending, &scores.scores)
    };
    let lines = if report::wants_lines(io) { pairs.map(line).collect() } else { vec![] };
    let spent = Money::nanos(stored.run.spent);
    let shown = Shown { command: "score", source, workspace: &workspace, summary: &summary, lines, kept_as, spent, judge: None, exit };
    io.result(&report::rescored(io, &shown, &stored, &changes), exit)
}
