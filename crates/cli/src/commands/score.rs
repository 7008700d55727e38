//! `score`: rescores a stored run, or scores logs of other frameworks, without running anything.

use crate::args::ScoreArgs;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, RescoreChanges, RunReport, TrialLines};
use crate::stored_runs;
use crate::workspace_source::WorkspaceSource;
use campaign::{RunChanges, rescore_stored, stored_run_workspace};
use model::{Money, RunClaim, UserError};

pub(crate) fn score(io: &CliOutput, source: &WorkspaceSource, args: &ScoreArgs) -> ExitKind {
    match args.what.as_slice() {
        _ if super::logs::names_logs(args) => super::logs::score_logs(io, source, args),
        _ if args.logs.tier.is_some() => {
            let error = UserError::new("--tier is for logs; a stored run has its tier", "leave it out, or name files of logs");
            report::print_refusal(io, "score", &[error])
        }
        [] => score_run(io, source, args, None),
        [run] => score_run(io, source, args, Some(run)),
        [_, second, ..] => {
            let what = format!("\"{second}\" is not a file, and only one run can be scored at a time");
            report::print_refusal(io, "score", &[UserError::new(what, "name one run, or files and folders of logs")])
        }
    }
}

fn score_run(io: &CliOutput, source: &WorkspaceSource, args: &ScoreArgs, run: Option<&str>) -> ExitKind {
    let problems = super::report_files::report_file_problems(io, &args.reports);
    if !problems.is_empty() {
        return report::print_refusal(io, "score", &problems);
    }
    let workspace = match super::open_checked_workspace(io, source, "score") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let stored = match stored_runs::open_run(&args.store.store, run) {
        Ok(stored) => stored,
        Err(why) => return report::print_refusal(io, "score", &[why]),
    };
    let workspace = stored_run_workspace(workspace, &stored.run);
    let before = stored.run.claim;
    let claim = RunClaim {
        tier: before.tier,
        confidence: args.demands.confidence.or(before.confidence),
        rule_out: args.demands.rule_out.or(before.rule_out),
        trust_claims: args.demands.trust_claims.unwrap_or(before.trust_claims),
    };
    let (mut changes, mut lines, mut gone) = (RunChanges::default(), TrialLines::new(&args.reports.formats(io.format)), 0);
    let rescored = rescore_stored(&workspace, &stored.store, &stored.run, claim, |ended, old| {
        changes.add_trial(&ended.trial.case, &ended.trial.id, old, &ended.scores);
        lines.add(ended);
        gone += usize::from(workspace.case(&ended.trial.case).is_none());
    });
    let judged = rescored.and_then(|summary| Ok((summary, stored.store.verdicts(&stored.run)?)));
    let summary = match judged {
        Ok((summary, verdicts)) => {
            changes.add_verdicts(&verdicts.judgements, &summary.verdicts.judgements);
            summary
        }
        Err(why) => return report::print_refusal(io, "score", &[why.into()]),
    };
    let exit = ExitKind::of(&summary);
    let show_flags = Some(args.store.show_flags(stored.short_id()));
    let spent = Money::from_nanos(stored.run.spent);
    let shown = RunReport {
        command: "score",
        source,
        workspace: &workspace,
        summary: &summary,
        lines,
        run: Some(stored.run.short_run_id()),
        baseline: false,
        started: &stored.run.started,
        elapsed: None,
        store_flag: args.store.store_flag(),
        show_flags,
        spent,
        undecided_without_judge: 0,
        left_out: 0,
        judge: None,
        judge_errors: None,
        red_team: vec![],
        comparisons: vec![],
        against: None,
        changed: None,
        is_replay: false,
        sandbox: None,
        exit,
    };
    let changes = RescoreChanges { changes: &changes, gone };
    report::print_run(io, &args.reports, &shown, |io| report::rescored(io, &shown, &stored, &changes))
}
