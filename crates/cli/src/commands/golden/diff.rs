//! `golden diff`: compares a stored run with the baselines.

use super::super::{block_on, judge, models, open_workspace};
use super::baselines::baseline_file;
use crate::args::{GoldenDiffArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, FORMAT, columns, escape_control};
use crate::stored_runs;
use crate::workspace_source::WorkspaceSource;
use ::run::judge::LlmJudge;
use ::run::providers::{CassetteMode, ProviderConfig};
use campaign::{ChangedCase, GoldenDiff, GoldenSet, WordingChange, WordingCounts, WordingVerdict, judge_wordings};
use model::{PlanOutline, UserError, Workspace};
use score::golden::GoldenPath;
use serde_json::{Value, json};
use std::collections::HashSet;

const COMMAND: &str = "golden diff";

/// Judge of reworded texts, its calibration in one line, and the money it spent.
struct JudgeUsage {
    judge: String,
    known: Option<String>,
    spent: model::Money,
}

pub(super) fn diff(io: &CliOutput, source: &WorkspaceSource, args: &GoldenDiffArgs) -> ExitKind {
    let workspace = match open_workspace(io, source, COMMAND) {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let golden = match super::read_baselines(source) {
        Ok(golden) if golden.baselines.is_empty() => {
            let why = UserError::new("the workspace has no baseline", "create one with `bardo-eval golden update`");
            return report::print_refusal(io, COMMAND, &[why]);
        }
        Ok(golden) => golden,
        Err(errors) => return report::print_refusal(io, COMMAND, &errors),
    };
    let paid_judge = match args.judge.as_deref().map(|name| open_paid_judge(&workspace, name, args)).transpose() {
        Ok(paid_judge) => paid_judge,
        Err(why) => return report::print_refusal(io, COMMAND, &[why]),
    };
    let (stored, subject) = match super::run_and_subject(io, source, COMMAND, &workspace, &args.run) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let own = golden.of_subject(&subject.name);
    if own.baselines.is_empty() {
        let others: Vec<&str> = golden.subjects().into_iter().collect();
        let what = format!("there is no baseline of subject {}, only of {}", *subject.name, others.join(", "));
        let remedy = format!("create one with `bardo-eval golden update --subject {}`", *subject.name);
        io.print_message(&UserError::new(what, remedy).to_string());
    }
    let new = match GoldenSet::from_stored(&workspace, &stored.store, &stored.run, subject, "") {
        Ok(new) => new,
        Err(why) => return report::print_refusal(io, COMMAND, &[why.into()]),
    };
    if let Some(note) = stored_runs::unfinished_note(io, &stored.run, &args.run.store.store_flag()) {
        io.print_message(&note);
    }
    let planned = stored.run.plan.as_ref().map(planned_cases).unwrap_or_default();
    let mut diff = own.diff(&workspace, (&new, &planned), args.tolerance);
    let asked = match paid_judge.map(|paid_judge| judge_texts(&workspace, &mut diff, paid_judge, args)).transpose() {
        Ok(asked) => asked,
        Err(why) => {
            io.print_message(&format!("the judge could not be run: {why}"));
            return ExitKind::Incomplete;
        }
    };
    let exit = exit_kind(&diff, args.calls_only);
    let text = match io.format {
        ReportFormat::Json => format!("{:#}\n", document(io, &diff, asked.as_ref(), exit)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            text(io, &diff, asked.as_ref(), stored.short_id(), args.calls_only)
        }
    };
    io.print_result(&text, exit)
}

fn planned_cases(plan: &PlanOutline) -> HashSet<&str> {
    plan.cases.iter().map(|planned| planned.case.as_str()).collect()
}

fn open_paid_judge(workspace: &Workspace, name: &str, args: &GoldenDiffArgs) -> Result<(LlmJudge, ProviderConfig), UserError> {
    let config = models::provider_config(Some(args.budget));
    let judge = models::open_judge(models::find_subject(workspace, name)?, &config, CassetteMode::Off)?;
    Ok((judge, config))
}

fn judge_texts(
    workspace: &Workspace,
    diff: &mut GoldenDiff,
    paid_judge: (LlmJudge, ProviderConfig),
    args: &GoldenDiffArgs,
) -> std::io::Result<JudgeUsage> {
    let (llm_judge, config) = paid_judge;
    let at_once = usize::try_from(args.concurrency).unwrap_or(1);
    block_on(judge_wordings(&llm_judge, diff, at_once))?;
    let name = args.judge.clone().unwrap_or_default();
    Ok(JudgeUsage { known: judge::calibration_summary(workspace, &args.run.store.store, &name), judge: name, spent: config.budget.spent() })
}

/// A case that was not compared makes the comparison incomplete; so does a reworded text without the verdict of a judge, unless the user accepts
/// it unread.
fn exit_kind(diff: &GoldenDiff, calls_only: bool) -> ExitKind {
    let is_partial = !diff.missing.is_empty() || !diff.without_baseline.is_empty() || diff.edited > 0 || diff.removed > 0;
    if !diff.changed.is_empty() {
        ExitKind::Missed
    } else if diff.compared == 0 || is_partial || (!calls_only && diff.wording_counts().unjudged > 0) {
        ExitKind::Incomplete
    } else {
        ExitKind::Clean
    }
}

fn document(io: &CliOutput, diff: &GoldenDiff, asked: Option<&JudgeUsage>, exit: ExitKind) -> Value {
    let changed: Vec<_> =
        diff.changed.iter().map(|one| json!({ "file": baseline_file(io, &one.path), "case": one.case, "changes": one.changes })).collect();
    let notes: Vec<_> = diff.notes.iter().map(|(path, note)| json!({ "file": baseline_file(io, path), "note": note })).collect();
    let not_run: Vec<_> = diff.not_run.iter().map(|path| baseline_file(io, path)).collect();
    let WordingCounts { same, different, unjudged } = diff.wording_counts();
    let unread: Vec<_> = texts_without_verdict(diff).map(|(_, case, why)| json!({ "case": case, "why": why })).collect();
    let reworded: Vec<_> = texts_not_compared(diff)
        .map(|one| json!({ "file": baseline_file(io, &one.path), "case": one.case, "before": shown(&one.text.before), "after": shown(&one.text.after) }))
        .collect();
    let mended: Vec<_> = diff.mended.iter().map(|(path, case)| json!({ "file": baseline_file(io, path), "case": case })).collect();
    let judge = asked.map(|asked| json!({ "name": asked.judge, "known": asked.known, "spent_usd": asked.spent.as_usd() }));
    json!({ "format": FORMAT, "command": COMMAND, "compared": diff.compared, "changed": changed, "texts_unjudged": unjudged,
        "texts_same": same, "texts_different": different, "judge": judge, "without_verdict": unread, "not_compared": reworded,
        "known_failures": diff.known_failures, "mended": mended, "missing": diff.missing, "without_baseline": diff.without_baseline, "edited": diff.edited, "removed": diff.removed, "not_run": not_run, "notes": notes, "exit": exit.code() })
}

/// Lines of a kind without `--verbose`.
const MAX_LINES: usize = 10;

fn text(io: &CliOutput, diff: &GoldenDiff, asked: Option<&JudgeUsage>, run: &str, calls_only: bool) -> String {
    let WordingCounts { same, different, unjudged } = diff.wording_counts();
    let word = match exit_kind(diff, calls_only) {
        ExitKind::Clean if unjudged > 0 => io.paint.good("CALLS UNCHANGED"),
        ExitKind::Clean => io.paint.good("UNCHANGED"),
        ExitKind::Incomplete if asked.is_none() && exit_kind(diff, true) == ExitKind::Clean => io.paint.unsure("CALLS UNCHANGED"),
        ExitKind::Missed | ExitKind::Usage => io.paint.bad("CHANGED"),
        ExitKind::Incomplete => io.paint.unsure("INCOMPLETE"),
    };
    let mut text = format!(
        "{word}  {} compared with run {run}: {} changed, {} missing; {} unjudged{}{}\n",
        model::count(diff.compared, "case"),
        diff.changed.len(),
        diff.missing.len(),
        model::count(unjudged, "text"),
        not_compared(diff),
        known_failures(diff)
    );
    if unjudged > 0 && asked.is_none() {
        let texts = model::count(unjudged, "text");
        let accepted = if calls_only { "accepted unread" } else { "use --judge NAME, or --calls-only to accept other words unread" };
        let listed = if io.verbose { "" } else { "; --verbose lists them" };
        text.push_str(&format!("{texts} not compared; {accepted}{listed}\n"));
    }
    if io.verbose {
        text.extend(texts_not_compared(diff).map(|one| {
            let (path, case) = (io.paint.dim(&baseline_file(io, &one.path)), io.paint.strong(&escape_control(&one.case)));
            let (after, before) = (shown(&one.text.after), shown(&one.text.before));
            columns([&path, &case, &format!("now says \"{}\", said \"{}\"\n", escape_control(&after), escape_control(&before))])
        }));
    }
    let changed: Vec<String> = diff.changed.iter().map(|one| changed_lines(io, one)).collect();
    text.push_str(&listed(io, &changed));
    let unread: Vec<String> = texts_without_verdict(diff)
        .map(|(path, case, why)| {
            let (path, case) = (io.paint.dim(&baseline_file(io, path)), io.paint.strong(&escape_control(case)));
            columns([&path, &case, &format!("a text was not judged: {}\n", escape_control(why))])
        })
        .collect();
    text.push_str(&listed(io, &unread));
    let notes: Vec<String> =
        diff.notes.iter().map(|(path, note)| format!("{}  {}\n", io.paint.dim(&baseline_file(io, path)), escape_control(note))).collect();
    text.push_str(&listed(io, &notes));
    let mended: Vec<String> = diff
        .mended
        .iter()
        .map(|(path, case)| {
            let (path, case) = (io.paint.dim(&baseline_file(io, path)), io.paint.strong(&escape_control(case)));
            columns([&path, &case, "no longer fails; `golden update` makes its answer a baseline\n"])
        })
        .collect();
    text.push_str(&listed(io, &mended));
    let missing: Vec<String> = diff.missing.iter().map(|case| columns([&escape_control(case), "no evidence in this run\n"])).collect();
    text.push_str(&listed(io, &missing));
    let new: Vec<String> =
        diff.without_baseline.iter().map(|case| columns([&escape_control(case), "no baseline; `golden update` writes one\n"])).collect();
    text.push_str(&listed(io, &new));
    if !diff.not_run.is_empty() {
        let paths: Vec<String> = diff.not_run.iter().map(|path| baseline_file(io, path)).collect();
        text.push_str(&format!("not in this run: {}\n", paths.join(", ")));
    }
    if let Some(asked) = asked {
        text.push_str(&asked.known.as_ref().map_or_else(String::new, |known| format!("{}\n", escape_control(known))));
        text.push_str(&format!("reworded texts: {same} with the same meaning, {different} with another; judged for {} USD\n", asked.spent));
    }
    if let Some(first) = diff.changed.first() {
        let show = format!("bardo-eval show {} --run {run}{}", escape_control(&first.case), io.workspace_flag());
        text.push_str(&format!("next: {}\n", io.paint.strong(&show)));
    }
    text
}

/// Returns one line per change of a case; without `--verbose` the first.
fn changed_lines(io: &CliOutput, one: &ChangedCase) -> String {
    let (path, case) = (io.paint.dim(&baseline_file(io, &one.path)), io.paint.strong(&escape_control(&one.case)));
    let shown = if io.verbose { one.changes.len() } else { 1 };
    let more = one.changes.len().saturating_sub(shown);
    let more = if more > 0 { format!(" (and {})", model::count(more, "more change")) } else { String::new() };
    one.changes.iter().take(shown).map(|change| format!("{path}  {case}  {}{more}\n", escape_control(change))).collect()
}

fn listed(io: &CliOutput, lines: &[String]) -> String {
    let shown = if io.verbose { lines.len() } else { MAX_LINES };
    let mut text: String = lines.iter().take(shown).map(String::as_str).collect();
    if lines.len() > shown {
        text.push_str(&io.paint.dim(&format!("and {} more; --verbose shows more\n", lines.len() - shown)));
    }
    text
}

/// Returns the numbers of cases without a baseline, with one of an earlier state of the case, and those of a baseline that are gone.
fn not_compared(diff: &GoldenDiff) -> String {
    let cases = |count: usize, why: &str| (count > 0).then(|| format!("{} {why}", model::count(count, "case")));
    let parts = [
        cases(diff.without_baseline.len(), "without a baseline"),
        cases(diff.edited, "edited since the baseline and not compared"),
        cases(diff.removed, "of the baseline removed from the workspace"),
    ];
    parts.into_iter().flatten().map(|part| format!("; {part}")).collect()
}

fn known_failures(diff: &GoldenDiff) -> String {
    match (diff.known_failures, diff.mended.len()) {
        (0, 0) => String::new(),
        (still, mended) => format!("; known failures: {still} still fail, {mended} no longer"),
    }
}

/// Characters of a text in a list.
const MAX_TEXT: usize = 160;

/// Returns a text in one line, cut at a length.
fn shown(text: &str) -> String {
    model::shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_TEXT)
}

/// Returns the reworded texts without a verdict.
fn texts_not_compared(diff: &GoldenDiff) -> impl Iterator<Item = &WordingChange> {
    diff.reworded.iter().filter(|wording| match wording.verdict {
        WordingVerdict::NotAsked | WordingVerdict::NoVerdict { .. } => true,
        WordingVerdict::Same | WordingVerdict::Different { .. } => false,
    })
}

/// Returns the reworded texts for which the judge gave no verdict, with the reason.
fn texts_without_verdict(diff: &GoldenDiff) -> impl Iterator<Item = (&GoldenPath, &str, &str)> {
    diff.reworded.iter().filter_map(|wording| match &wording.verdict {
        WordingVerdict::NoVerdict { why } => Some((&wording.path, wording.case.as_str(), why.as_str())),
        WordingVerdict::NotAsked | WordingVerdict::Same | WordingVerdict::Different { .. } => None,
    })
}
