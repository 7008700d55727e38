//! Trial as text.

use super::delegation_tree::delegation_tree;
use super::event_formatter::{EventFormatter, seconds};
use super::{ScoreTone, agent_remedy, output_hint, output_lines, reading_text};
use crate::io::CliOutput;
use crate::report::escape::escape_control;
use crate::report::table;
use crate::stored_runs::{LoadedTrial, OtherTrials};
use model::{Event, EventKind, Score, ScorerId, Transcript};

/// Scorers that say almost the same three times; shown with `--verbose`.
const VERBOSE_SCORERS: [ScorerId; 3] = [ScorerId::ToolCallF1, ScorerId::ToolCallF1Multiset, ScorerId::ToolCallF1Ordered];

pub(super) fn render(io: &CliOutput, formatter: &EventFormatter<'_>, trial: &LoadedTrial, others: &OtherTrials) -> String {
    let transcript = &trial.transcript;
    let mut text = format!(
        "{}  {}\n",
        io.paint.strong(&escape_control(&transcript.case)),
        io.paint.dim(&format!(
            "trial {}, subject {}{}, run {}",
            transcript.trial.short(),
            escape_control(&transcript.subject),
            format_args!(", seed {}", trial.seed),
            trial.run
        ))
    );
    text.push_str(&timeline(io, formatter, transcript, &trial.scores));
    text.push_str(&format!("the trial {}\n", escape_control(&transcript.ending.to_string())));
    if let Some(output) = &trial.output {
        let remedy = transcript.ending.fault_kind().map(|_| format!("to do: {}", agent_remedy(&transcript.ending, &output.stderr)));
        let lines = output_hint(&transcript.ending, output).into_iter().chain(output_lines(io, output)).chain(remedy);
        text.extend(lines.map(|line| line + "\n"));
    }
    text.push_str(&format!("\n{}\n", scores(io, &trial.scores)));
    if let Some(tree) = delegation_tree(&transcript.events) {
        text.push_str(&format!("\n{}\n", tree.lines().join("\n")));
    }
    if !others.ids.is_empty() {
        let more = others.count - others.ids.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text.push_str(&io.paint.dim(&format!("\nfurther trials of this case: {}{more}\n", others.ids.join(", "))));
    }
    text
}

/// Returns one line per event, followed by its effects and the scores that cite it.
pub(super) fn timeline(io: &CliOutput, formatter: &EventFormatter<'_>, transcript: &Transcript, scores: &[Score]) -> String {
    let mut text = String::new();
    let who = |event: &Event| format!("{}{}", "  ".repeat(usize::try_from(event.depth).unwrap_or(0)), escape_control(&event.by));
    let width = transcript.events.iter().map(|event| who(event).chars().count()).max().unwrap_or(0);
    let claims = |event: &&Event| matches!(event.happened, EventKind::Claimed { .. });
    for event in transcript.events.iter().filter(|event| !claims(event)) {
        let name = who(event);
        let pad = " ".repeat(width - name.chars().count());
        let when = io.paint.dim(&format!("{:>4} {:>9}", event.n, seconds(event.at_ms)));
        text.push_str(&format!("{when}  {}{pad}  {}\n", io.paint.strong(&name), formatter.event_line(event)));
        let margin = " ".repeat(18 + width);
        for line in formatter.effect_lines(event) {
            text.push_str(&format!("{margin}{line}\n"));
        }
        for (score, why) in cited(scores, event.n).filter(|(score, _)| is_shown(io, score)) {
            let tone = ScoreTone::of(&score.reading);
            text.push_str(&format!("{margin}{} {}\n", tone.paint(io, &format!("{} {}", tone.mark(), score.scorer)), escape_control(why)));
        }
    }
    // Separate from observed events, so that claims are not mistaken for them.
    for (n, event) in transcript.events.iter().filter(claims).enumerate() {
        let title = if n == 0 { "claimed by the agent, not observed\n" } else { "" };
        text.push_str(&format!(
            "{title}{:>4}  {}  {}\n",
            event.n,
            io.paint.strong(&escape_control(&event.by)),
            formatter.event_line(event)
        ));
    }
    text
}

fn is_shown(io: &CliOutput, score: &Score) -> bool {
    io.verbose || score.scorer.known().is_none_or(|id| !VERBOSE_SCORERS.contains(&id))
}

/// Returns the scores that cite this event, with the reason.
fn cited(scores: &[Score], event: u32) -> impl Iterator<Item = (&Score, &str)> {
    scores.iter().flat_map(move |score| {
        score.because.iter().filter(move |because| because.event == Some(event)).map(move |because| (score, because.what.as_str()))
    })
}

fn scores(io: &CliOutput, scores: &[Score]) -> String {
    let has_reading = |score: &&Score| io.verbose || score.reading.is_exercised() || !score.because.is_empty();
    let shown = scores.iter().filter(has_reading).filter(|score| is_shown(io, score));
    let rows: Vec<Vec<String>> = shown
        .map(|score| {
            let because = score.because.iter().map(|because| match because.event {
                Some(event) => format!("#{event}"),
                None => escape_control(&because.what),
            });
            let mut because: Vec<String> = because.collect();
            because.dedup();
            let tone = ScoreTone::of(&score.reading);
            vec![format!("{} {}", tone.mark(), score.scorer), tone.paint(io, &reading_text(&score.reading)), because.join("; ")]
        })
        .collect();
    if rows.is_empty() { "no scorer has a reading for this trial".to_owned() } else { table(&["scorer", "reading", "because"], rows) }
}
