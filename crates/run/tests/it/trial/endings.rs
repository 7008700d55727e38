//! Endings of trials: user leaves, limits, subject faults and simulator faults.

use super::fixture::{ScriptedSubject, run_trial};
use async_trait::async_trait;
use bardo_eval_run::user::{FixedTurns, UserFault, UserInput, UserReply};
use bardo_eval_run::{SubjectFault, SubjectUsage, User};
use model::transcript::{FaultSource, LimitKind, Move, ToolCall};
use model::{Ending, EventKind};
use serde_json::json;

async fn run_with_fixed_turns(subject: &mut ScriptedSubject) -> (Vec<EventKind>, Ending) {
    let workspace = testkit::minimal_workspace();
    let case = workspace.case("convert_half_an_ether").expect("the case");
    let mut user = FixedTurns::new(["One.".to_owned(), "Two.".to_owned(), "Three.".to_owned()]);
    run_trial(&case.brief, subject, &mut user).await
}

fn say_moves(count: usize) -> Vec<Move> {
    vec![Move::Say("Yes.".into()); count]
}

#[tokio::test]
async fn trial_finishes_when_user_leaves() {
    let (events, ending) = run_with_fixed_turns(&mut ScriptedSubject::new(say_moves(9))).await;
    assert_eq!(ending, Ending::Finished);
    assert_eq!(events.iter().filter(|event| matches!(event, EventKind::Said { .. })).count(), 3, "{events:?}");
}

#[tokio::test]
async fn token_and_time_limits_end_the_trial() {
    let each = |output_tokens, latency_ms| SubjectUsage { output_tokens, latency_ms };
    let table = [
        (each(1365, 0), Ending::Finished),
        (each(1366, 0), Ending::OverLimit { limit: LimitKind::Tokens }),
        (each(0, 40_000), Ending::Finished),
        (each(0, 40_001), Ending::OverLimit { limit: LimitKind::Time }),
    ];
    for (each, expected) in table {
        let mut subject = ScriptedSubject::new(say_moves(3));
        subject.usage_per_move = each;
        let (events, ending) = run_with_fixed_turns(&mut subject).await;
        assert_eq!(ending, expected, "{each:?}");
        // The move that exceeds the limit is not executed.
        let said = events.iter().filter(|event| matches!(event, EventKind::Said { .. })).count();
        assert_eq!(said, if ending == Ending::Finished { 3 } else { 2 }, "{each:?}");
    }
}

#[tokio::test]
async fn move_with_too_many_calls_is_cut_at_the_limit_and_not_executed() {
    let call = ToolCall { tool: "wallet_get_balance".into(), args: json!({ "token": "USDC", "chain": "base" }) };
    let (events, ending) = run_with_fixed_turns(&mut ScriptedSubject::new(vec![Move::Call(vec![call; 80_000])])).await;
    assert_eq!(ending, Ending::OverLimit { limit: LimitKind::Calls });
    let called = events.iter().filter(|event| matches!(event, EventKind::Called { .. })).count();
    assert!((2..1_000).contains(&called), "{called} calls are recorded");
    assert!(!events.iter().any(|event| matches!(event, EventKind::Answered { .. })), "none is executed");
}

#[tokio::test]
async fn bytes_of_all_moves_are_bounded() {
    let (events, ending) = run_with_fixed_turns(&mut ScriptedSubject::new(vec![Move::Say("x".repeat(3 << 20)); 3])).await;
    assert_eq!(ending, Ending::OverLimit { limit: LimitKind::Output });
    assert_eq!(events.iter().filter(|event| matches!(event, EventKind::Said { .. })).count(), 1, "the second move is not recorded");
    let call = ToolCall { tool: "wallet_get_balance".into(), args: json!({ "token": "x".repeat(7 << 20) }) };
    let (events, ending) = run_with_fixed_turns(&mut ScriptedSubject::new(vec![Move::Call(vec![call])])).await;
    assert_eq!(ending, Ending::OverLimit { limit: LimitKind::Output });
    assert!(!events.iter().any(|event| matches!(event, EventKind::Called { .. })));
}

#[tokio::test]
async fn every_subject_fault_maps_to_an_ending() {
    let why = || "because".to_owned();
    let table = [
        (SubjectFault::Crashed(why()), Ending::Crashed { why: why() }),
        (SubjectFault::Hung, Ending::Hung),
        (SubjectFault::Malformed(why()), Ending::MalformedMove { why: why() }),
        (SubjectFault::OverLimit(LimitKind::Calls), Ending::OverLimit { limit: LimitKind::Calls }),
        (SubjectFault::Provider(why()), Ending::Aborted { by: FaultSource::Provider, why: why() }),
        (SubjectFault::Harness(why()), Ending::Aborted { by: FaultSource::Harness, why: why() }),
        (SubjectFault::Unfunded, Ending::Unfunded),
    ];
    for (fault, expected) in table {
        let mut subject = ScriptedSubject::new(say_moves(1));
        subject.final_fault = Some(fault);
        assert_eq!(run_with_fixed_turns(&mut subject).await.1, expected);
    }
}

struct FailingUser;

#[async_trait]
impl User for FailingUser {
    async fn respond(&mut self, input: UserInput<'_>) -> Result<UserReply, UserFault> {
        match input {
            UserInput::Start => Ok(UserReply::plain("Hello.")),
            UserInput::Said(_) | UserInput::Asked(_) | UserInput::Activated(_) => Err(UserFault::Simulator("lost its place".into())),
        }
    }
}

#[tokio::test]
async fn user_fault_aborts_the_trial_as_simulator_fault() {
    let workspace = testkit::minimal_workspace();
    let case = workspace.case("convert_half_an_ether").expect("the case");
    let (_, ending) = run_trial(&case.brief, &mut ScriptedSubject::new(say_moves(1)), &mut FailingUser).await;
    assert_eq!(ending, Ending::Aborted { by: FaultSource::Simulator, why: "lost its place".into() });
}
