//! A trial for a person.

use super::line::{Teller, seconds};
use super::tree::tree;
use super::{Tone, reading};
use crate::io::Io;
use crate::kept::Found;
use crate::report::escape::visible;
use crate::report::table;
use model::{Event, Happened, Score, Transcript};

pub(super) fn render(io: &Io, teller: &Teller<'_>, trial: &Found<'_>, others: &[String]) -> String {
    let transcript = trial.transcript;
    let mut text = format!(
        "{}  {}\n",
        io.paint.strong(&visible(&transcript.case)),
        io.paint.dim(&format!(
            "trial {}, subject {}{}, run {}",
            transcript.trial.short(),
            visible(&transcript.subject),
            trial.seed.map(|seed| format!(", seed {seed}")).unwrap_or_default(),
            trial.run
        ))
    );
    text.push_str(&timeline(io, teller, transcript, trial.scores));
    text.push_str(&format!("the trial {}\n\n{}\n", visible(&transcript.ending.to_string()), scores(io, trial.scores)));
    if let Some(tree) = tree(&transcript.events) {
        text.push_str(&format!("\n{}\n", tree.lines().join("\n")));
    }
    if !others.is_empty() {
        text.push_str(&io.paint.dim(&format!("\nfurther trials of this case: {}\n", others.join(", "))));
    }
    text
}

/// Returns one line per event, below it its effects and the scores that cite it.
pub(super) fn timeline(io: &Io, teller: &Teller<'_>, transcript: &Transcript, scores: &[Score]) -> String {
    let mut text = String::new();
    let who = |event: &Event| format!("{}{}", "  ".repeat(usize::try_from(event.depth).unwrap_or(0)), visible(&event.by));
    let width = transcript.events.iter().map(|event| who(event).chars().count()).max().unwrap_or(0);
    let claims = |event: &&Event| matches!(event.happened, Happened::Claimed { .. });
    for event in transcript.events.iter().filter(|event| !claims(event)) {
        let name = who(event);
        let pad = " ".repeat(width - name.chars().count());
        let when = io.paint.dim(&format!("{:>4} {:>9}", event.n, seconds(event.at_ms)));
        text.push_str(&format!("{when}  {}{pad}  {}\n", io.paint.strong(&name), teller.line(event)));
        let margin = " ".repeat(18 + width);
        for line in teller.below(event) {
            text.push_str(&format!("{margin}{line}\n"));
        }
        for (score, why) in cited(scores, event.n) {
            let tone = Tone::of(&score.reading);
            text.push_str(&format!("{margin}{} {}\n", tone.paint(io, &format!("{} {}", tone.mark(), score.scorer)), visible(why)));
        }
    }
    // Apart from what was seen, so that nobody takes the one for the other.
    for (n, event) in transcript.events.iter().filter(claims).enumerate() {
        let title = if n == 0 { "claimed by the agent, seen by nobody\n" } else { "" };
        text.push_str(&format!("{title}{:>4}  {}  {}\n", event.n, io.paint.strong(&visible(&event.by)), teller.line(event)));
    }
    text
}

/// Every reason that rests on this event.
fn cited(scores: &[Score], event: u32) -> impl Iterator<Item = (&Score, &str)> {
    scores.iter().flat_map(move |score| {
        score.because.iter().filter(move |because| because.event == Some(event)).map(move |because| (score, because.what.as_str()))
    })
}

fn scores(io: &Io, scores: &[Score]) -> String {
    let shown = scores.iter().filter(|score| io.verbose || score.reading.is_exercised() || !score.because.is_empty());
    let rows: Vec<Vec<String>> = shown
        .map(|score| {
            let because = score.because.iter().map(|because| match because.event {
                Some(event) => format!("#{event}"),
                None => visible(&because.what),
            });
            let mut because: Vec<String> = because.collect();
            because.dedup();
            let tone = Tone::of(&score.reading);
            vec![format!("{} {}", tone.mark(), score.scorer), tone.paint(io, &reading(&score.reading)), because.join("; ")]
        })
        .collect();
    if rows.is_empty() { "no scorer read anything off this trial".to_owned() } else { table(&["scorer", "reading", "because"], rows) }
}
