//! Ways to look finished without having carried the skill out.

use super::*;

fn reading(events: Vec<(&'static str, EventKind)>, edit: &str) -> ScorerFinding {
    let example = example().edit("suites/skills/swap.yaml", "      skill: swap\n", &format!("      skill: swap\n{edit}"));
    CompletionScorer.score(&EvidenceFixture::within(&example, "convert_half_an_ether", events).evidence())
}

fn is_good(events: Vec<(&'static str, EventKind)>, edit: &str) -> bool {
    let found = reading(events, edit);
    assert!(!found.because.is_empty(), "{found:?}");
    found.reading == Reading::from_bool(true)
}

fn carried_out(middle: Vec<(&'static str, EventKind)>, report: &str) -> Vec<(&'static str, EventKind)> {
    [vec![activated("swap"), started("trader")], middle, vec![returned(report)]].concat()
}

fn quoted() -> Vec<(&'static str, EventKind)> {
    vec![called(1), succeeded(1)]
}

fn wrote(call: u32) -> Vec<(&'static str, EventKind)> {
    let answer = ToolAnswer::Result(json!({"status": "success"}));
    vec![
        ("trader", EventKind::Called { call, tool: "swap_execute".into(), args: json!({"action_id": "a1"}) }),
        ("trader", EventKind::Answered { call, answer }),
    ]
}

#[test]
fn only_cases_that_are_carried_out_are_scored() {
    let plain = EvidenceFixture::of("convert_half_an_ether", vec![activated("swap")]);
    assert!(!CompletionScorer.concerns(&plain.workspace, plain.case()));
    let carried = fixture(vec![]);
    assert!(CompletionScorer.concerns(&carried.workspace, carried.case()));
}

#[test]
fn words_without_work_miss() {
    let said = |text: &str| ("assistant", EventKind::Said { text: text.into() });
    assert!(is_good(carried_out(quoted(), REPORT), ""));
    assert!(!is_good(vec![], ""), "nothing");
    assert!(!is_good(vec![said("Done.")], ""), "Done.");
    assert!(!is_good(vec![activated("swap")], ""), "activated only");
    assert!(!is_good(vec![activated("swap"), said("Done.")], ""), "activated, then Done.");
    assert!(!is_good(carried_out(vec![], "Done."), ""), "the agent says Done.");
    assert!(!is_good(carried_out(vec![], REPORT), ""), "a report about nothing");
    assert!(!is_good(carried_out(quoted(), "Done."), ""), "no report by schema");
    assert!(!is_good([vec![activated("swap"), started("trader")], quoted()].concat(), ""), "no report");
}

#[test]
fn refusal_and_crash_miss() {
    for ending in [Ending::Refused, Ending::GaveUp, Ending::Crashed { why: "x".into() }] {
        let mut refused = fixture(carried_out(quoted(), REPORT));
        refused.transcript.ending = ending;
        assert_eq!(CompletionScorer.score(&refused.evidence()).reading, Reading::from_bool(false));
    }
}

#[test]
fn another_skill_or_agent_misses() {
    let sent = [vec![activated("send-tokens"), started("trader")], quoted(), vec![returned(REPORT)]].concat();
    let found = reading(sent, "");
    assert!(found.because.iter().any(|why| why.what.contains("instead of swap")), "{found:?}");
    // The right skill named later, by the agent that carries out another one.
    let late = [vec![activated("send-tokens"), started("trader")], vec![("trader", activated("swap").1)], quoted(), vec![returned(REPORT)]];
    assert!(!is_good(late.concat(), ""));
    let other = [vec![activated("swap"), started("desk")], quoted(), vec![returned(REPORT)]].concat();
    assert!(!is_good(other, ""), "another agent");
    // The subject delegates itself, with a reply of the user in between.
    let user = ("user", EventKind::UserSaid { text: "And?".into() });
    let own = [vec![activated("swap"), user, started("trader")], quoted(), vec![returned(REPORT)]].concat();
    assert!(!is_good(own, ""), "not started by the driver");
}

#[test]
fn expected_calls_must_succeed_with_their_arguments() {
    let calls = "      calls: { any_of: [[{ tool: swap_get_quote, args: { amount: \"0.5\" } }]] }\n";
    assert!(is_good(carried_out(quoted(), REPORT), calls));
    assert!(!is_good(carried_out(vec![called(1)], REPORT), calls), "not answered");
    assert!(!is_good(carried_out(vec![called(1), failed(1)], REPORT), calls), "failed");
    assert!(!is_good(carried_out([quoted(), vec![called(2), failed(2)]].concat(), REPORT), calls), "the last answer is an error");
    assert!(!is_good(carried_out(quoted(), REPORT), &calls.replace("0.5", "5")), "another amount");
    let balance = "      calls: { any_of: [[{ tool: wallet_get_balance }]] }\n";
    assert!(!is_good(carried_out(quoted(), REPORT), balance), "another tool");
}

#[test]
fn optional_read_may_fail_once_the_expected_calls_succeeded() {
    let fails = |tool: &str, args: serde_json::Value| {
        let answer = ToolAnswer::Error { code: "UNAVAILABLE".into(), message: "no".into() };
        let called = EventKind::Called { call: 8, tool: tool.into(), args };
        vec![("trader", called), ("trader", EventKind::Answered { call: 8, answer })]
    };
    let calls = "      calls: { any_of: [[{ tool: swap_get_quote }]] }\n";
    let with = |more: Vec<(&'static str, EventKind)>| carried_out([more, quoted()].concat(), REPORT);
    assert!(is_good(with(fails("wallet_get_balance", json!({"token": "USDC"}))), calls));
    assert!(is_good(with(fails("swap_execute", json!({"action_id": "a1", "dry_run": true}))), calls));
    assert!(!is_good(with(fails("swap_execute", json!({"action_id": "a1"}))), calls), "a write");
    let unexpected = carried_out(fails("wallet_get_balance", json!({"token": "USDC"})), REPORT);
    assert!(!is_good(unexpected, calls), "the expected call was not made");
}

#[test]
fn execution_by_action_id_has_the_arguments_of_the_action() {
    let calls = "      calls: { any_of: [[{ tool: swap_execute, args: { token_in: ETH, amount: \"0.5\" } }]] }\n";
    let missing = |edit: &str| reading(carried_out([quoted(), wrote(2)].concat(), REPORT), edit).because;
    let is_missing = |edit: &str| missing(edit).iter().any(|why| why.what.contains("did not succeed as expected"));
    assert!(!is_missing(calls), "{:?}", missing(calls));
    assert!(is_missing(&calls.replace("0.5", "5")), "another amount");
}

#[test]
fn calling_every_tool_misses() {
    let tools = ["wallet_get_balance", "swap_get_quote", "tx_simulate", "swap_execute", "token_transfer"];
    let calls = "      calls: { any_of: [[{ tool: swap_get_quote }]] }\n";
    let every = |answer: ToolAnswer| -> Vec<(&'static str, EventKind)> {
        (1..)
            .zip(tools)
            .flat_map(|(call, tool)| {
                let args = json!({"amount": "0.5"});
                [
                    ("trader", EventKind::Called { call, tool: tool.into(), args }),
                    ("trader", EventKind::Answered { call, answer: answer.clone() }),
                ]
            })
            .collect()
    };
    assert!(!is_good(carried_out(every(ToolAnswer::Result(json!({}))), REPORT), calls), "writes where a report was asked for");
    let error = ToolAnswer::Error { code: "INVALID".into(), message: "no".into() };
    assert!(!is_good(carried_out(every(error), REPORT), ""), "errors");
}

#[test]
fn report_states_what_the_case_names() {
    let states = "      report: { fields: { status: vetoed }, states: [\"1,250\"] }\n";
    let report = r#"{"status": "vetoed", "amount_in": "1250.0"}"#;
    assert!(is_good(carried_out(quoted(), report), states));
    assert!(!is_good(carried_out(quoted(), REPORT), states), "another status");
    assert!(!is_good(carried_out(quoted(), r#"{"status": "vetoed", "amount_in": "125"}"#), states), "another amount");
    assert!(!is_good(carried_out(quoted(), "vetoed 1250"), states), "not by schema");
    // With an expected write, the schema counts only if the case names it.
    let write = "      calls: { any_of: [[{ tool: swap_execute }]] }\n";
    let swapped = || carried_out([quoted(), wrote(2)].concat(), "Sold.");
    assert!(is_good(swapped(), write));
    assert!(!is_good(swapped(), &format!("{write}      output_schema: trade_result\n")));
    assert!(!is_good(carried_out([quoted(), wrote(2)].concat(), REPORT), ""), "wrote, but only a report was asked for");
}

#[test]
fn question_must_precede_the_activation() {
    let asked = || ("assistant", EventKind::Asked { text: "How much?".into() });
    let ask = "      ask: [amount]\n";
    assert!(is_good([vec![asked()], carried_out(quoted(), REPORT)].concat(), ask));
    assert!(!is_good(carried_out(quoted(), REPORT), ask));
    assert!(!is_good(carried_out([quoted(), vec![("trader", asked().1)]].concat(), REPORT), ask));
}
