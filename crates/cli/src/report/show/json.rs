//! A trial for a machine.

use super::line::Teller;
use super::tree::{Seat, tree};
use crate::exit::Exit;
use crate::kept::Found;
use crate::report::FORMAT;
use serde_json::{Value, json};

pub(super) fn render(teller: &Teller<'_>, trial: &Found<'_>, others: &[String]) -> String {
    let transcript = trial.transcript;
    let events: Vec<Value> = transcript
        .events
        .iter()
        .map(|event| {
            let cited: Vec<Value> = trial
                .scores
                .iter()
                .flat_map(|score| score.because.iter().map(move |because| (score, because)))
                .filter(|(_, because)| because.event == Some(event.n))
                .map(|(score, because)| json!({ "scorer": score.scorer, "what": because.what }))
                .collect();
            json!({ "n": event.n, "at_ms": event.at_ms, "by": event.by, "depth": event.depth, "line": teller.line(event),
                "effects": teller.below(event), "happened": event.happened, "scores": cited })
        })
        .collect();
    let document = json!({
        "format": FORMAT, "command": "show", "run": trial.run, "trial": transcript.trial, "case": transcript.case,
        "subject": transcript.subject, "seed": trial.seed, "events": events, "ending": transcript.ending, "scores": trial.scores,
        "tree": tree(&transcript.events).as_ref().map(Seat::json), "others": others, "exit": Exit::Clean.code(),
    });
    format!("{document:#}\n")
}
