//! Argument match rate (spec 2.1): calls have the expected arguments.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::compare::TypedArgs;
use crate::facts::assign::assign;
use crate::facts::call_pattern::effective_args;
use crate::facts::calls::{ObservedCall, alternatives, scored_calls};
use model::suite::{ArgMatcher, Case, ExpectedCall};
use model::{EventKind, Reading, ScoreReason, ScorerId, Workspace};
use serde_json::json;

pub(super) struct ArgumentMatch;

impl Scorer for ArgumentMatch {
    fn id(&self) -> ScorerId {
        ScorerId::ArgumentMatch
    }

    fn manual(&self) -> &'static str {
        "Checks that calls have the arguments the case expects. One tally per expected argument. Values are compared by the kind of \
         the parameter: 250 equals 250.0 and 1,000 equals 1000, a share may be in percent or in hundredths of one, an address ignores \
         letter case unless its checksum is wrong, and what the registry knows may be named in any of its ways: by name, id, symbol or \
         address, its amounts in whole or in smallest units. An omitted argument matches if the tool's default is the expected value; a \
         call that names a prepared action has the arguments of that action where it omits them. A case may accept one of several \
         values (any_of), a value up to a bound (at_most), part of a list or mapping (subset, superset), a mapping with certain keys \
         (keys) or a text (contains, regex). An argument may be left out if the case says optional, and must be if it says absent; null \
         counts as left out. If the expected tool is not called, or only with calls that were refused as invalid, all its arguments \
         miss. Several calls of one tool are assigned to the expected calls in the best possible way, and the best of several \
         alternatives counts."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        alternatives(case).iter().flatten().any(|call| !call.args.is_empty())
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let made = scored_calls(evidence);
        alternatives(evidence.case)
            .iter()
            .map(|expected| tally_arguments(evidence, expected, &made))
            // The alternative with the highest share of matches; the first one on a tie.
            .reduce(|best, next| if match_rank(&next) > match_rank(&best) { next } else { best })
            .unwrap_or_else(ScorerFinding::not_exercised)
    }

    fn accepts(&self) -> EvidenceFixture {
        let args = json!({"token_in": "usdc", "token_out": "0x4200000000000000000000000000000000000006", "amount": 250, "chain": "8453"});
        EvidenceFixture::of("price_before_trading", vec![("assistant", EventKind::Called { call: 1, tool: "swap_get_quote".into(), args })])
    }

    fn rejects(&self) -> EvidenceFixture {
        let args = json!({"token_in": "USDC", "token_out": "WETH", "amount": "2500", "chain": "base"});
        EvidenceFixture::of("price_before_trading", vec![("assistant", EventKind::Called { call: 1, tool: "swap_get_quote".into(), args })])
    }
}

/// Returns whether the calls made have every argument of these expected calls.
pub(super) fn has_all_arguments(evidence: &Evidence<'_>, expected: &[ExpectedCall]) -> bool {
    tally_arguments(evidence, expected, &scored_calls(evidence)).because.is_empty()
}

/// Returns the share of matches, and whether any argument was compared. An alternative without arguments whose tools were called is a
/// full match, but ranks below a full match that compared arguments.
fn match_rank(finding: &ScorerFinding) -> (f64, bool) {
    match finding.reading {
        Reading::Tally { hit, of } if of > 0 => (hit as f64 / of as f64, true),
        Reading::Tally { .. } if finding.because.is_empty() => (1.0, false),
        Reading::Tally { .. } | Reading::Level(_) | Reading::Unscorable { .. } => (-1.0, false),
    }
}

/// End of the reason for arguments of a call that was not made.
pub(super) const NOT_CALLED: &str = " was not called, so none of its arguments match";

fn tally_arguments(evidence: &Evidence<'_>, expected: &[ExpectedCall], made: &[ObservedCall<'_>]) -> ScorerFinding {
    let (mut hit, mut of) = (0, 0);
    let mut because = vec![];
    let mut tools: Vec<&str> = expected.iter().map(|call| call.tool.as_str()).collect();
    tools.sort_unstable();
    tools.dedup();
    for tool in tools {
        let wanted: Vec<&ExpectedCall> = expected.iter().filter(|call| *call.tool == tool).collect();
        let candidates: Vec<&ObservedCall<'_>> =
            made.iter().filter(|call| !call.refused && call.tool.is_some_and(|made| made.has_name(tool))).collect();
        of += wanted.iter().map(|call| call.args.len() as u64).sum::<u64>();
        for (call, candidate) in wanted.iter().zip(best_assignment(evidence, &wanted, &candidates)) {
            match candidate {
                Some(candidate) => {
                    let missed = mismatches(evidence, call, candidate);
                    hit += (call.args.len() - missed.len()) as u64;
                    because.extend(missed.into_iter().map(|what| ScoreReason { event: Some(candidate.event), what }));
                }
                None => because.push(ScoreReason { event: None, what: format!("{tool}{NOT_CALLED}") }),
            }
        }
    }
    ScorerFinding { reading: Reading::Tally { hit, of }, because }
}

/// Returns the expected arguments that a call does not have. Arguments of the prepared action that it names count as its own.
pub(super) fn mismatches(evidence: &Evidence<'_>, expected: &ExpectedCall, made: &ObservedCall<'_>) -> Vec<String> {
    let Some(tool) = made.tool else { return vec!["an unknown tool was called".into()] };
    let executed = effective_args(evidence, made);
    let own = made.tool_args(evidence.workspace);
    let (given, written) = (TypedArgs::for_call(evidence.workspace, tool, &executed), TypedArgs::for_call(evidence.workspace, tool, &own));
    // An argument that must be absent may still be one of the preparation.
    let met = |name: &str, wanted: &ArgMatcher| {
        let read = if matches!(wanted, ArgMatcher::Absent) { &written } else { &given };
        read.satisfies(name, wanted)
    };
    expected
        .args
        .iter()
        .filter(|(name, wanted)| !met(name, wanted))
        .map(|(name, wanted)| {
            let found = executed.get(name).map_or("nothing".to_owned(), ToString::to_string);
            format!("{name}: expected {wanted}, found {found}")
        })
        .collect()
}

/// Returns the name of the argument that a reason of this scorer, or of parameter extraction, is about.
pub(crate) fn argument_of_reason(reason: &str) -> Option<&str> {
    reason.split_once(": expected ").map(|(name, _)| name)
}

/// Assigns calls made to expected calls so that most arguments match in total.
fn best_assignment<'m, 'a>(
    evidence: &Evidence<'_>,
    wanted: &[&ExpectedCall],
    made: &[&'m ObservedCall<'a>],
) -> Vec<Option<&'m ObservedCall<'a>>> {
    let matching = |call: &ExpectedCall, candidate: &ObservedCall<'_>| call.args.len() - mismatches(evidence, call, candidate).len();
    let gain: Vec<Vec<i64>> = wanted
        .iter()
        .map(|call| made.iter().map(|candidate| 1 + i64::try_from(matching(call, candidate)).unwrap_or(i64::MAX - 1)).collect())
        .collect();
    assign(&gain).into_iter().map(|choice| choice.map(|n| made[n])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::suite::{ExpectedCalls, NamedArgs};
    use model::transcript::{ToolAnswer, ToolErrorCode};
    use model::{Location, Spanned};

    /// Greedy matching would pair the calls in order and miss both amounts.
    #[test]
    fn argument_match_assigns_calls_optimally() {
        let call = |n, amount: &str| {
            let args = json!({"token_in": "USDC", "token_out": "WETH", "amount": amount, "chain": "base"});
            ("assistant", EventKind::Called { call: n, tool: "swap_get_quote".into(), args })
        };
        let specimen = EvidenceFixture::of("price_before_trading", vec![call(1, "20"), call(2, "250")]);
        let mut case = specimen.case().clone();
        let Some(ExpectedCalls::AnyOf(alternatives)) = &mut case.expect.calls else { panic!("calls") };
        let mut second = alternatives[0][0].clone();
        second.args.insert("amount", ArgMatcher::Exactly(json!("20")));
        alternatives[0].push(second);
        let evidence = Evidence::new(&specimen.workspace, &case, &specimen.transcript);
        assert_eq!(ArgumentMatch.score(&evidence).reading, Reading::Tally { hit: 8, of: 8 });
    }

    #[test]
    fn alternative_without_args_matches_by_call() {
        let made = |args| {
            EvidenceFixture::of(
                "price_before_trading",
                vec![("assistant", EventKind::Called { call: 1, tool: "swap_get_quote".into(), args })],
            )
        };
        let read = |specimen: &EvidenceFixture| {
            let mut case = specimen.case().clone();
            let Some(ExpectedCalls::AnyOf(alternatives)) = &mut case.expect.calls else { panic!("calls") };
            let mut bare = alternatives[0].clone();
            bare[0].args = NamedArgs::new();
            alternatives.insert(0, bare);
            ArgumentMatch.score(&Evidence::new(&specimen.workspace, &case, &specimen.transcript)).reading
        };
        assert_eq!(read(&made(json!({"amount": "1"}))), Reading::Tally { hit: 0, of: 0 }, "no argument is expected");
        assert_eq!(read(&ArgumentMatch.accepts()), Reading::Tally { hit: 4, of: 4 }, "the alternative with arguments is preferred");
        let other = EventKind::Called { call: 1, tool: "swap_execute".into(), args: json!({"amount": "250"}) };
        assert_eq!(
            read(&EvidenceFixture::of("price_before_trading", vec![("assistant", other)])),
            Reading::Tally { hit: 0, of: 4 },
            "the expected tool was not called"
        );
    }

    /// A quote fixed the chain, tokens and amount; the execution names its action.
    #[test]
    fn omitted_arguments_are_those_of_the_named_action() {
        let quote = |n, amount: &str| {
            let args = json!({"token_in": "USDC", "token_out": "WETH", "amount": amount, "chain": "base"});
            let answer = ToolAnswer::Result(json!({"action_id": format!("action-{n}")}));
            [
                ("trader", EventKind::Called { call: n, tool: "swap_get_quote".into(), args }),
                ("trader", EventKind::Answered { call: n, answer }),
            ]
        };
        let read = |args: serde_json::Value| {
            let mut events: Vec<_> = quote(1, "250").into_iter().chain(quote(2, "20")).collect();
            events.push(("trader", EventKind::Called { call: 3, tool: "swap_execute".into(), args }));
            let specimen = EvidenceFixture::of("sell_usdc_for_ether", events);
            let mut case = specimen.case().clone();
            let text = json!({"token_in": "USDC", "token_out": "WETH", "amount": "250"});
            let args = text.as_object().into_iter().flatten();
            let args = args.map(|(name, value)| (name, ArgMatcher::Exactly(value.clone()))).collect();
            let tool = Spanned::new("swap_execute".to_owned(), Location::new("x", 1));
            case.expect.calls = Some(ExpectedCalls::AnyOf(vec![vec![ExpectedCall { tool, args, may_fail: false }]]));
            ArgumentMatch.score(&Evidence::new(&specimen.workspace, &case, &specimen.transcript)).reading
        };
        assert_eq!(read(json!({"action_id": "action-1"})), Reading::Tally { hit: 3, of: 3 });
        assert_eq!(read(json!({"action_id": "action-2"})), Reading::Tally { hit: 2, of: 3 }, "another action");
        assert_eq!(read(json!({"action_id": "action-9"})), Reading::Tally { hit: 0, of: 3 }, "an unknown action");
        assert_eq!(read(json!({})), Reading::Tally { hit: 0, of: 3 }, "no action");
        assert_eq!(read(json!({"action_id": "action-1", "amount": "20"})), Reading::Tally { hit: 2, of: 3 }, "another amount");
    }

    #[test]
    fn refused_call_has_no_matching_arguments() {
        let read = |answer| {
            let mut specimen = ArgumentMatch.accepts();
            let mut answered = specimen.transcript.events[0].clone();
            (answered.n, answered.happened) = (2, EventKind::Answered { call: 1, answer });
            specimen.transcript.events.push(answered);
            ArgumentMatch.score(&specimen.evidence()).reading
        };
        let error = |code| ToolAnswer::error(code, "no");
        assert_eq!(read(ToolAnswer::Result(json!({}))), Reading::Tally { hit: 4, of: 4 });
        assert_eq!(read(error(ToolErrorCode::RpcError)), Reading::Tally { hit: 4, of: 4 });
        assert_eq!(read(error(ToolErrorCode::InvalidArguments)), Reading::Tally { hit: 0, of: 4 });
    }

    #[test]
    fn wrong_tool_misses_all_arguments() {
        let call = EventKind::Called { call: 1, tool: "swap_execute".into(), args: json!({"amount": "250"}) };
        let specimen = EvidenceFixture::of("price_before_trading", vec![("assistant", call)]);
        assert_eq!(ArgumentMatch.score(&specimen.evidence()).reading, Reading::Tally { hit: 0, of: 4 });
    }
}
