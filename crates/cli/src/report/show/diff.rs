//! Comparison of two trials.

use super::event_formatter::EventFormatter;
use super::reading_text;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::escape::escape_control;
use crate::report::{FORMAT, columns};
use crate::stored_runs::LoadedTrial;
use model::{Reading, Workspace};
use score::diff::{ArgDiff, CallDiff, CanonicalCall, EffectDiff, NetChange, ScoreDiff, calls, effects, scores};
use serde_json::{Value, json};

pub(super) struct TrialDiff<'a> {
    calls: Vec<CallDiff<'a>>,
    effects: Vec<EffectDiff>,
    scores: Vec<ScoreDiff<'a>>,
}

impl<'a> TrialDiff<'a> {
    pub(super) fn of(workspace: &'a Workspace, left: &'a LoadedTrial, right: &'a LoadedTrial) -> Self {
        Self {
            calls: calls(workspace, &left.transcript, &right.transcript),
            effects: effects(&left.transcript, &right.transcript),
            scores: scores(&left.scores, &right.scores),
        }
    }

    pub(super) fn text(&self, io: &CliOutput, formatter: &EventFormatter<'_>, left: &LoadedTrial, right: &LoadedTrial) -> String {
        let mut text = format!("{}\n{}\n\n", io.paint.bad(&head("−", left)), io.paint.good(&head("+", right)));
        text.push_str(&section("calls", self.calls.iter().flat_map(|diff| call_lines(io, diff)).collect()));
        text.push_str(&section("effects", self.effects.iter().flat_map(|diff| effect_lines(io, formatter, diff)).collect()));
        text.push_str(&section("scores", self.scores.iter().map(|diff| score_line(io, diff)).collect()));
        let endings = (left.transcript.ending.to_string(), right.transcript.ending.to_string());
        if endings.0 != endings.1 {
            text.push_str(&format!("the first {}, the second {}\n", escape_control(&endings.0), escape_control(&endings.1)));
        }
        let changed = self.calls.iter().filter(|diff| !matches!(diff, CallDiff::Same(..))).count();
        let (effects, scores) = (model::count(self.effects.len(), "effect"), model::count(self.scores.len(), "score"));
        text.push_str(&format!("different: {}, {effects}, {scores}\n", model::count(changed, "call")));
        text
    }

    pub(super) fn json(&self, left: &LoadedTrial, right: &LoadedTrial) -> String {
        let of = |trial: &LoadedTrial| {
            let transcript = &trial.transcript;
            json!({ "run": trial.run, "trial": transcript.trial, "case": transcript.case, "subject": transcript.subject,
                "ending": transcript.ending })
        };
        let call = |call: &CanonicalCall<'_>| json!({ "event": call.event.n, "tool": call.tool, "args": call.args });
        let arg = |arg: &ArgDiff<'_>| json!({ "name": arg.name, "left": arg.left, "right": arg.right });
        let calls: Vec<Value> = self
            .calls
            .iter()
            .map(|diff| match diff {
                CallDiff::Same(one, other) => json!({ "is": "same", "left": call(one), "right": call(other) }),
                CallDiff::Changed(one, other, args) => {
                    let args: Vec<Value> = args.iter().map(arg).collect();
                    json!({ "is": "changed", "left": call(one), "right": call(other), "args": args })
                }
                CallDiff::OnlyLeft(one) => json!({ "is": "only_left", "left": call(one) }),
                CallDiff::OnlyRight(one) => json!({ "is": "only_right", "right": call(one) }),
            })
            .collect();
        let change = |change: &Option<NetChange>| change.as_ref().map(|change| json!({ "before": change.before, "after": change.after }));
        let effects: Vec<Value> = self
            .effects
            .iter()
            .map(|diff| {
                json!({ "chain": diff.key.chain, "what": diff.key.what, "asset": diff.key.asset, "left": change(&diff.left),
                    "right": change(&diff.right) })
            })
            .collect();
        let scores: Vec<Value> =
            self.scores.iter().map(|diff| json!({ "scorer": diff.scorer, "left": diff.left, "right": diff.right })).collect();
        let document = json!({
            "format": FORMAT, "command": "show --diff", "left": of(left), "right": of(right), "calls": calls, "effects": effects,
            "scores": scores, "exit": ExitKind::Clean.code(),
        });
        format!("{document:#}\n")
    }
}

fn head(sign: &str, trial: &LoadedTrial) -> String {
    let transcript = &trial.transcript;
    let (case, subject) = (escape_control(&transcript.case), escape_control(&transcript.subject));
    let title = format!("trial {}, subject {subject}, run {}", transcript.trial.short(), trial.run);
    columns([&format!("{sign} {case}"), &title])
}

fn section(title: &str, lines: Vec<String>) -> String {
    if lines.is_empty() { format!("{title}: none differ\n\n") } else { format!("{title}\n{}\n\n", lines.join("\n")) }
}

fn call_lines(io: &CliOutput, diff: &CallDiff<'_>) -> Vec<String> {
    let made = |call: &CanonicalCall<'_>| {
        format!(
            "#{} {} {} {}",
            call.event.n,
            escape_control(&call.event.by),
            escape_control(call.tool),
            escape_control(&call.args.to_string())
        )
    };
    match diff {
        CallDiff::Same(one, other) => {
            vec![io.paint.dim(&format!("  = {} #{} and #{}", escape_control(one.tool), one.event.n, other.event.n))]
        }
        CallDiff::OnlyLeft(one) => vec![io.paint.bad(&format!("  − {}", made(one)))],
        CallDiff::OnlyRight(one) => vec![io.paint.good(&format!("  + {}", made(one)))],
        CallDiff::Changed(one, other, args) => {
            let title = format!("  ~ {} #{} and #{}", escape_control(one.tool), one.event.n, other.event.n);
            let arg = |arg: &ArgDiff<'_>| format!("      {}: {} → {}", escape_control(arg.name), arg_text(arg.left), arg_text(arg.right));
            std::iter::once(io.paint.unsure(&title)).chain(args.iter().map(arg)).collect()
        }
    }
}

fn arg_text(value: Option<&Value>) -> String {
    value.map_or("not given".to_owned(), |value| escape_control(&value.to_string()))
}

fn effect_lines(io: &CliOutput, formatter: &EventFormatter<'_>, diff: &EffectDiff) -> Vec<String> {
    let slot = &diff.key;
    let text_of = |change: &Option<NetChange>| match change {
        None => "unchanged".to_owned(),
        Some(change) if slot.asset.is_empty() => escape_control(&change.after),
        Some(change) => escape_control(&formatter.amounts.change(slot.chain, &slot.asset, &change.before, &change.after)),
    };
    vec![
        format!("  {} on {}", escape_control(&slot.what), formatter.amounts.chain(slot.chain)),
        io.paint.bad(&format!("    − {}", text_of(&diff.left))),
        io.paint.good(&format!("    + {}", text_of(&diff.right))),
    ]
}

fn score_line(io: &CliOutput, diff: &ScoreDiff<'_>) -> String {
    let text_of = |read: Option<&Reading>| read.map_or("not scored".to_owned(), reading_text);
    format!("  {}: {} → {}", io.paint.strong(diff.scorer.as_str()), text_of(diff.left), text_of(diff.right))
}
