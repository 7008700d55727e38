//! Trial as JSON.

use super::delegation_tree::{DelegationNode, delegation_tree};
use super::event_formatter::EventFormatter;
use crate::exit::ExitKind;
use crate::report::FORMAT;
use crate::stored_runs::{LoadedTrial, OtherTrials};
use model::{Event, Score, Transcript};
use serde_json::{Value, json};

pub(super) fn render(formatter: &EventFormatter<'_>, trial: &LoadedTrial, others: &OtherTrials) -> String {
    let transcript = &trial.transcript;
    let output = trial.output.as_ref().map(|output| json!({ "stdout_bytes": output.stdout_bytes, "stderr": output.stderr }));
    let document = json!({
        "format": FORMAT, "command": "show", "run": trial.run, "trial": transcript.trial, "case": transcript.case,
        "subject": transcript.subject, "seed": trial.seed, "events": timeline(formatter, transcript, &trial.scores), "ending": transcript.ending, "output": output, "scores": trial.scores,
        "tree": delegation_tree(&transcript.events).as_ref().map(DelegationNode::json), "others": others.ids, "others_count": others.count, "exit": ExitKind::Clean.code(),
    });
    format!("{document:#}\n")
}

pub(super) fn timeline(formatter: &EventFormatter<'_>, transcript: &Transcript, scores: &[Score]) -> Vec<Value> {
    let event = |event: &Event| {
        let cited: Vec<Value> = scores
            .iter()
            .flat_map(|score| score.because.iter().map(move |because| (score, because)))
            .filter(|(_, because)| because.event == Some(event.n))
            .map(|(score, because)| json!({ "scorer": score.scorer, "what": because.what }))
            .collect();
        json!({ "n": event.n, "at_ms": event.at_ms, "by": event.by, "depth": event.depth, "line": formatter.event_line(event),
            "effects": formatter.effect_lines(event), "happened": event.happened, "scores": cited })
    };
    transcript.events.iter().map(event).collect()
}
