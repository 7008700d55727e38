//! Differences between two transcripts: calls by meaning, net effects on chains, and scores.

mod align;
mod state_changes;

pub use state_changes::{EffectKey, NetChange, net_changes};

use crate::compare::{TypedArgs, ValueMeaning};
use align::{AlignStep, align};
use model::{Event, EventKind, Reading, Score, ScorerName, Transcript, Workspace};
use serde_json::Value;
use std::collections::BTreeSet;

/// Call by its canonical tool name.
#[derive(Debug, Clone, PartialEq)]
pub struct CanonicalCall<'a> {
    pub event: &'a Event,
    pub tool: &'a str,
    pub args: &'a Value,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CallDiff<'a> {
    /// Equal meaning, possibly written differently.
    Same(CanonicalCall<'a>, CanonicalCall<'a>),
    /// Same tool, different arguments.
    Changed(CanonicalCall<'a>, CanonicalCall<'a>, Vec<ArgDiff<'a>>),
    OnlyLeft(CanonicalCall<'a>),
    OnlyRight(CanonicalCall<'a>),
}

/// Argument with different meanings; a side is `None` if the argument is omitted there.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgDiff<'a> {
    pub name: &'a str,
    pub left: Option<&'a Value>,
    pub right: Option<&'a Value>,
}

/// State that changed on one side only, or differently.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectDiff {
    pub key: EffectKey,
    pub left: Option<NetChange>,
    pub right: Option<NetChange>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ScoreDiff<'a> {
    pub scorer: &'a ScorerName,
    pub left: Option<&'a Reading>,
    pub right: Option<&'a Reading>,
}

/// Compares the calls of both transcripts, keeping the order of each.
pub fn calls<'a>(workspace: &'a Workspace, left: &'a Transcript, right: &'a Transcript) -> Vec<CallDiff<'a>> {
    let (left, right) = (transcript_calls(workspace, left), transcript_calls(workspace, right));
    let cost = |a: usize, b: usize| {
        let ((one, one_means), (other, other_means)) = (&left[a], &right[b]);
        (one.tool == other.tool).then(|| differing_args(one_means, other_means).len())
    };
    let steps = align(left.len(), right.len(), cost);
    steps
        .into_iter()
        .map(|step| match step {
            AlignStep::Both(a, b) => {
                let ((one, one_means), (other, other_means)) = (&left[a], &right[b]);
                let args: Vec<ArgDiff<'a>> = differing_args(one_means, other_means)
                    .into_iter()
                    .map(|name| ArgDiff { name, left: one.args.get(name), right: other.args.get(name) })
                    .collect();
                if args.is_empty() {
                    CallDiff::Same(one.clone(), other.clone())
                } else {
                    CallDiff::Changed(one.clone(), other.clone(), args)
                }
            }
            AlignStep::Left(a) => CallDiff::OnlyLeft(left[a].0.clone()),
            AlignStep::Right(b) => CallDiff::OnlyRight(right[b].0.clone()),
        })
        .collect()
}

/// Returns the net chain effects in which the two trials differ.
pub fn effects(left: &Transcript, right: &Transcript) -> Vec<EffectDiff> {
    let (left, right) = (net_changes(left), net_changes(right));
    let slots: BTreeSet<&EffectKey> = left.keys().chain(right.keys()).collect();
    let both =
        slots.into_iter().map(|slot| EffectDiff { key: slot.clone(), left: left.get(slot).cloned(), right: right.get(slot).cloned() });
    both.filter(|diff| diff.left != diff.right).collect()
}

/// Returns the readings that differ, in the order of the left side.
pub fn scores<'a>(left: &'a [Score], right: &'a [Score]) -> Vec<ScoreDiff<'a>> {
    let read = |scores: &'a [Score], scorer: &ScorerName| scores.iter().find(|score| score.scorer == *scorer).map(|score| &score.reading);
    let mut scorers: Vec<&'a ScorerName> = left.iter().map(|score| &score.scorer).collect();
    scorers.extend(right.iter().map(|score| &score.scorer).filter(|scorer| read(left, scorer).is_none()));
    let both = scorers.into_iter().map(|scorer| ScoreDiff { scorer, left: read(left, scorer), right: read(right, scorer) });
    both.filter(|diff| diff.left != diff.right).collect()
}

type CallWithMeanings<'a> = (CanonicalCall<'a>, Vec<(&'a str, ValueMeaning)>);

fn transcript_calls<'a>(workspace: &'a Workspace, transcript: &'a Transcript) -> Vec<CallWithMeanings<'a>> {
    let calls = transcript.events.iter().filter_map(|event| {
        let EventKind::Called { tool, args, .. } = &event.happened else { return None };
        let known = workspace.tool(tool);
        let given = known.map_or_else(|| TypedArgs::untyped(workspace, args), |tool| TypedArgs::for_call(workspace, tool, args));
        Some((CanonicalCall { event, tool: known.map_or(tool.as_str(), |tool| tool.name.as_str()), args }, given.meanings()))
    });
    calls.collect()
}

fn differing_args<'a>(left: &[(&'a str, ValueMeaning)], right: &[(&'a str, ValueMeaning)]) -> BTreeSet<&'a str> {
    let not_in = |one: &[(&'a str, ValueMeaning)], other: &[(&'a str, ValueMeaning)]| -> Vec<&'a str> {
        one.iter().filter(|meant| !other.contains(meant)).map(|(name, _)| *name).collect()
    };
    not_in(left, right).into_iter().chain(not_in(right, left)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorers::{CLEAN_CASE, EvidenceFixture, SampleStep, clean_swap};
    use serde_json::json;

    fn called(call: u32, tool: &str, args: Value) -> SampleStep {
        ("trader", EventKind::Called { call, tool: tool.into(), args })
    }

    fn diff_lines(left: Vec<SampleStep>, right: Vec<SampleStep>) -> Vec<String> {
        let (left, right) = (EvidenceFixture::of(CLEAN_CASE, left), EvidenceFixture::of(CLEAN_CASE, right));
        calls(&left.workspace, &left.transcript, &right.transcript)
            .iter()
            .map(|diff| match diff {
                CallDiff::Same(one, _) => format!("= {}", one.tool),
                CallDiff::Changed(one, _, args) => {
                    format!("~ {} {}", one.tool, args.iter().map(|arg| arg.name).collect::<Vec<_>>().join(","))
                }
                CallDiff::OnlyLeft(one) => format!("- {}", one.tool),
                CallDiff::OnlyRight(one) => format!("+ {}", one.tool),
            })
            .collect()
    }

    #[test]
    fn arguments_are_compared_by_what_they_mean() {
        let quote = |amount: &str, chain: Value| called(1, "swap_get_quote", json!({"token_in": "USDC", "amount": amount, "chain": chain}));
        assert_eq!(diff_lines(vec![quote("250", json!("base"))], vec![quote("250.0", json!("Base"))]), ["= swap_get_quote"]);
        assert_eq!(diff_lines(vec![quote("250", json!("base"))], vec![quote("251", json!("ethereum"))]), ["~ swap_get_quote amount,chain"]);
    }

    #[test]
    fn one_sided_calls_keep_their_position() {
        let call = |tool: &str, token: &str| called(1, tool, json!({"token": token}));
        let left = vec![call("wallet_get_balance", "USDC"), call("tx_simulate", "x"), call("swap_execute", "USDC")];
        let right = vec![call("wallet_get_balance", "USDC"), call("swap_execute", "WETH"), call("token_transfer", "USDC")];
        assert_eq!(diff_lines(left.clone(), right), ["= wallet_get_balance", "- tx_simulate", "~ swap_execute token", "+ token_transfer"]);
        assert_eq!(diff_lines(left.clone(), left).iter().filter(|line| line.starts_with('=')).count(), 3);
        assert!(diff_lines(vec![], vec![]).is_empty());
    }

    #[test]
    fn effects_are_net_and_equal_ones_are_left_out() {
        let clean = EvidenceFixture::of(CLEAN_CASE, clean_swap()).transcript;
        assert!(effects(&clean, &clean).is_empty());
        let mut without = clean.clone();
        without.events.retain(|event| !matches!(event.happened, EventKind::Mined { .. }));
        let lost = effects(&clean, &without);
        assert!(!lost.is_empty() && lost.iter().all(|diff| diff.left.is_some() && diff.right.is_none()), "{lost:?}");
        assert!(lost.iter().any(|diff| diff.key.asset == "USDC" && diff.key.what.starts_with("balance of ")), "{lost:?}");
    }

    #[test]
    fn scores_diff_reports_changed_and_missing() {
        let score = |scorer: &str, good: bool| Score::new(scorer, Reading::from_bool(good), vec![]);
        let (left, right) =
            ([score("a", true), score("b", true), score("c", true)], [score("a", true), score("b", false), score("d", true)]);
        let named: Vec<&str> = scores(&left, &right).iter().map(|diff| diff.scorer.as_str()).collect();
        assert_eq!(named, ["b", "c", "d"]);
    }
}
