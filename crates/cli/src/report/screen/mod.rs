//! Result of a run on one screen: the verdict, the dimensions, one line per missed gate, the causes, the counts, the next command.

mod causes;
mod counts;
mod dimensions;
mod gates;

use super::escape::escape_control;
use super::gate_lines::{GateLine, gate_lines};
use super::{RunReport, changed, comparison, gate_table, red_team};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::shell::shell_quoted;
pub(super) use counts::aborted_text;
use model::Verdict;

/// Lines of a result without `--verbose`, by the number of gates that are listed.
const MAX_LINES: usize = 45;

pub(super) fn render(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let lines = gate_lines(shown.workspace, &shown.summary.verdicts.judgements);
    let mut text = if io.verbose { gate_table::render(io, shown) } else { String::new() };
    text.push_str(&headline(io, shown, &lines));
    if let Some(compared) = shown.comparison().filter(|_| shown.against.is_some()) {
        // Shows the differences only; `score` prints everything else.
        text.push_str(&changed::text(io, shown));
        text.push_str(&comparison::text::render(io, &compared));
        text.push_str(&next_after(io, comparison::show_commands::first_worse_command(io, &compared), shown));
        return text;
    }
    text.push_str(&changed::text(io, shown));
    text.push_str(&red_team::text(io, &shown.red_team, shown.workspace.policy.is_some()));
    text.push_str(&dimensions::render(io, &lines));
    let mut end = counts::failures_without_gate(io, shown.summary);
    end.push_str(&counts::unjudged_without_gate(io, shown));
    end.push_str(&causes::render(io, shown.summary));
    end.push_str(&counts::render(io, shown, &lines));
    if let Some(compared) = shown.comparison() {
        end.push_str(&format!("\n{}\n", comparison::text::render(io, &compared)));
    }
    end.push_str(&next(io, shown, &lines));
    let room = if io.verbose { usize::MAX } else { MAX_LINES.saturating_sub(text.lines().count() + end.lines().count()) };
    text.push_str(&gates::render(io, shown, &lines, room));
    text + &end
}

/// Returns the exit of the run itself: a comparison has its own verdict.
fn own_exit(shown: &RunReport<'_>) -> ExitKind {
    ExitKind::of(shown.summary)
}

/// Returns the verdict in one word.
fn verdict_word(exit: ExitKind) -> &'static str {
    match exit {
        ExitKind::Clean => "PASSED",
        ExitKind::Missed => "FAILED",
        ExitKind::Usage => "REFUSED",
        ExitKind::Incomplete => "INCOMPLETE",
    }
}

fn paint_verdict(io: &CliOutput, exit: ExitKind, text: &str) -> String {
    match exit {
        ExitKind::Clean => io.paint.good(text),
        ExitKind::Missed | ExitKind::Usage => io.paint.bad(text),
        ExitKind::Incomplete => io.paint.unsure(text),
    }
}

/// Returns the verdict and its counts in one line, for standard error.
pub(super) fn verdict_line(shown: &RunReport<'_>) -> String {
    let gates = gate_counts(shown, &gate_lines(shown.workspace, &shown.summary.verdicts.judgements));
    let outcomes = &shown.summary.outcomes;
    let (passed, failed, unjudged, aborted) = (outcomes.passed, outcomes.failed, outcomes.unjudged, aborted_text(outcomes));
    format!("{}  {gates}; trials: {passed} passed, {failed} failed, {unjudged} unjudged, {aborted}", verdict_word(own_exit(shown)))
}

/// Returns the first line of the screen without colours.
pub(super) fn headline_text(shown: &RunReport<'_>) -> String {
    let lines = gate_lines(shown.workspace, &shown.summary.verdicts.judgements);
    format!("{} {}", verdict_word(own_exit(shown)), gate_counts(shown, &lines))
}

fn headline(io: &CliOutput, shown: &RunReport<'_>, lines: &[GateLine<'_>]) -> String {
    let exit = own_exit(shown);
    format!("{}  {}\n", paint_verdict(io, exit, verdict_word(exit)), gate_counts(shown, lines))
}

fn gate_counts(shown: &RunReport<'_>, lines: &[GateLine<'_>]) -> String {
    let of = |verdict| lines.iter().filter(|line| line.verdict == verdict).count();
    let mut subjects: Vec<&str> = shown.summary.subjects.iter().map(String::as_str).collect();
    subjects.sort_unstable();
    let missed = model::count(of(Verdict::Missed), "gate");
    let (unknown, met) = (of(Verdict::NoEvidence), of(Verdict::Met));
    format!("{}: {missed} missed, {unknown} without evidence, {met} met", escape_control(&subjects.join(", ")))
}

/// Returns the command that shows the first case that got worse, else a failed one, and the one that shows everything.
fn next_after(io: &CliOutput, worse: Option<String>, shown: &RunReport<'_>) -> String {
    match worse {
        Some(command) => format!("next: {}\n{}", io.paint.strong(&command), further(io, shown)),
        None => next(io, shown, &[]),
    }
}

/// Returns the command that shows the worst case, and the one that shows everything.
fn next(io: &CliOutput, shown: &RunReport<'_>, lines: &[GateLine<'_>]) -> String {
    let mut text = String::new();
    let missed = lines.iter().filter(|line| line.verdict == Verdict::Missed);
    if let Some((line, worst)) = missed.filter_map(|line| Some((line, line.worst.worst.first()?))).next() {
        text.push_str(&format!("next: {}\n", io.paint.strong(&shown.show_command(io, line.subject, worst))));
    } else if let (Some(case), Some(run)) = (shown.summary.failed_cases.first(), &shown.show_flags) {
        let show = format!("bardo-eval show {}{run}{}", shell_quoted(case), io.workspace_flag());
        text.push_str(&format!("next: {}\n", io.paint.strong(&show)));
    }
    text + &further(io, shown)
}

/// Returns the commands that show changes since the baseline, and everything of the run.
fn further(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let mut text = String::new();
    if let Some(run) = shown.run.filter(|_| shown.baseline) {
        let diff = format!("bardo-eval golden diff {run}{}{}", shown.store_flag, io.workspace_flag());
        text.push_str(&format!("what changed since the baseline: {}\n", io.paint.strong(&diff)));
    }
    if let Some(run) = shown.run.filter(|_| !io.verbose && shown.show_flags.is_some()) {
        let details =
            format!("all gates, slices and worst cases: bardo-eval score {run} --verbose{}{}\n", shown.store_flag, io.workspace_flag());
        text.push_str(&io.paint.dim(&details));
    }
    text
}
