//! A trial for a machine.

use super::line::Teller;
use super::tree::{Seat, tree};
use crate::exit::Exit;
use crate::kept::Found;
use crate::report::FORMAT;
use model::{Event, Score, Transcript};
use serde_json::{Value, json};

pub(super) fn render(teller: &Teller<'_>, trial: &Found<'_>, others: &[String]) -> String {
    let transcript = trial.transcript;
    let document = json!({
        "format": FORMAT, "command": "show", "run": trial.run, "trial": transcript.trial, "case": transcript.case,
        "subject": transcript.subject, "seed": trial.seed, "events": timeline(teller, transcript, trial.scores), "ending": transcript.ending, "scores": trial.scores,
        "tree": tree(&transcript.events).as_ref().map(Seat::json), "others": others, "exit": Exit::Clean.code(),
    });
    format!("{document:#}\n")
}

pub(super) fn timeline(teller: &Teller<'_>, transcript: &Transcript, scores: &[Score]) -> Vec<Value> {
    let event = |event: &Event| {
        let cited: Vec<Value> = scores
            .iter()
            .flat_map(|score| score.because.iter().map(move |because| (score, because)))
            .filter(|(_, because)| because.event == Some(event.n))
            .map(|(score, because)| json!({ "scorer": score.scorer, "what": because.what }))
            .collect();
        json!({ "n": event.n, "at_ms": event.at_ms, "by": event.by, "depth": event.depth, "line": teller.line(event),
            "effects": teller.below(event), "happened": event.happened, "scores": cited })
    };
    transcript.events.iter().map(event).collect()
}
