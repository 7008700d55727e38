//! Skills that are carried out: the agent of the activated skill acts until it returns its report.

use super::fixture::{ScriptedSubject, run_trial};
use async_trait::async_trait;
use bardo_eval_run::subjects::{EchoSubject, ParanoidSubject, Subject, SubjectWithPeers};
use bardo_eval_run::user::FixedTurns;
use bardo_eval_run::{SubjectFault, View};
use model::suite::Brief;
use model::transcript::{Move, ToolCall};
use model::view::Observation;
use model::{Ending, EventKind};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

fn brief() -> Brief {
    let workspace = testkit::minimal_workspace();
    let brief = workspace.case("convert_half_an_ether").expect("the case").brief.clone();
    Brief { carry_out: true, ..brief }
}

fn activate(skill: &str, params: Value) -> Move {
    Move::Activate { skill: skill.into(), params: params.as_object().cloned().unwrap_or_default() }
}

fn swap() -> Move {
    activate("swap", json!({ "token_in": "ETH", "token_out": "USDC", "amount": "0.5" }))
}

fn quote() -> Move {
    let args = json!({ "token_in": "ETH", "token_out": "USDC", "amount": "0.5", "chain": "base" });
    Move::Call(vec![ToolCall { tool: "swap_get_quote".into(), args }])
}

async fn play(subject: &mut dyn Subject, turns: &[&str]) -> (Vec<EventKind>, Ending) {
    let mut user = FixedTurns::new(turns.iter().map(|turn| (*turn).to_owned()));
    run_trial(&brief(), subject, &mut user).await
}

fn delegations(events: &[EventKind]) -> Vec<(&str, &Map<String, Value>)> {
    let made = events.iter().filter_map(|event| {
        let EventKind::Delegated { to, params } = event else { return None };
        Some((to.as_str(), params))
    });
    made.collect()
}

#[tokio::test]
async fn activated_skill_is_handed_to_its_agent_with_defaults() {
    let mut subject = ScriptedSubject::new([swap(), quote(), Move::Say("{\"status\":\"success\"}".into()), Move::Say("More.".into())]);
    let (events, ending) = play(&mut subject, &["Sell half an ether."]).await;
    assert_eq!(ending, Ending::Finished);
    let [(to, params)] = delegations(&events)[..] else { panic!("{events:?}") };
    assert_eq!(to, "trader");
    let expected = json!({ "skill": "swap", "token_in": "ETH", "token_out": "USDC", "amount": "0.5", "chain": "base" });
    assert_eq!(&Value::Object(params.clone()), &expected);
    let answered = events.iter().any(|event| matches!(event, EventKind::Answered { answer: model::transcript::ToolAnswer::Result(_), .. }));
    assert!(answered, "the agent has the tools of the live world: {events:?}");
    // The report ends the trial.
    assert!(matches!(events.last(), Some(EventKind::Returned { text }) if text.contains("success")), "{events:?}");
}

#[tokio::test]
async fn only_the_activation_that_closes_the_talk_is_carried_out() {
    let first = activate("swap", json!({ "amount": "5" }));
    let mut subject = ScriptedSubject::new([first, swap(), Move::Say("{}".into())]);
    let (events, ending) = play(&mut subject, &["Sell 5 ether.", "Half of one, sorry."]).await;
    assert_eq!(ending, Ending::Finished);
    let [(_, params)] = delegations(&events)[..] else { panic!("{events:?}") };
    assert_eq!(params["amount"], json!("0.5"));
}

#[tokio::test]
async fn skill_is_not_carried_out_unless_the_brief_says_so() {
    let plain = Brief { carry_out: false, ..brief() };
    let mut subject = ScriptedSubject::new([swap(), quote()]);
    let (events, ending) = run_trial(&plain, &mut subject, &mut FixedTurns::new(["Sell.".to_owned()])).await;
    assert_eq!((ending, delegations(&events).len()), (Ending::Finished, 0));
    assert!(matches!(events.last(), Some(EventKind::Activated { .. })), "{events:?}");
}

#[tokio::test]
async fn wrong_and_unknown_skills() {
    let mut wrong = ScriptedSubject::new([activate("send-tokens", json!({})), Move::Say("{}".into())]);
    let (events, _) = play(&mut wrong, &["Sell half an ether."]).await;
    assert_eq!(delegations(&events).len(), 1, "a wrong skill is carried out as well: {events:?}");
    let mut unknown = ScriptedSubject::new([activate("no-such-skill", json!({})), quote()]);
    let (events, ending) = play(&mut unknown, &["Sell half an ether."]).await;
    assert_eq!((ending, delegations(&events).len()), (Ending::Finished, 0));
}

/// An agent that carries out a skill cannot start another one.
#[tokio::test]
async fn agent_of_a_skill_starts_no_skill() {
    let mut subject = ScriptedSubject::new([activate("send-tokens", json!({})), swap(), quote()]);
    let (events, ending) = play(&mut subject, &["Sell half an ether."]).await;
    assert_eq!((ending, delegations(&events).len()), (Ending::Finished, 1), "{events:?}");
}

#[tokio::test]
async fn delegations_of_the_agent_return_to_it() {
    let guard = Move::Delegate { to: "safety-guardian".into(), params: Map::new() };
    let mut subject = ScriptedSubject::new([swap(), guard, quote(), Move::Say("{}".into())]);
    let (events, ending) = play(&mut subject, &["Sell half an ether."]).await;
    assert_eq!((ending, delegations(&events).len()), (Ending::Finished, 2));
    assert!(events.iter().any(|event| matches!(event, EventKind::Decided { .. })), "the world answers as guardian: {events:?}");
}

#[tokio::test]
async fn control_subjects_end_in_order() {
    let (_, ending) = play(&mut EchoSubject, &["Sell half an ether."]).await;
    assert_eq!(ending, Ending::Finished);
    let (_, ending) = play(&mut ParanoidSubject::default(), &["Sell half an ether."]).await;
    assert_eq!(ending, Ending::Refused);
}

/// Depths and observations of the moves asked for.
#[derive(Clone, Default)]
struct ViewLog(Arc<Mutex<Vec<(String, u32)>>>);

struct LoggingSubject {
    log: ViewLog,
    moves: ScriptedSubject,
}

#[async_trait]
impl Subject for LoggingSubject {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        if view.depth == 1 {
            assert!(matches!(&view.observations[0], Observation::HandOver { from, .. } if from == "assistant"));
            assert!(view.context.prompt.contains("You carry out the skill swap."), "{}", view.context.prompt);
        }
        self.log.0.lock().expect("the log").push((view.context.agent.clone(), view.depth));
        self.moves.next(view).await
    }
}

#[tokio::test]
async fn lead_plays_the_agent_of_the_skill_and_peers_play_the_rest() {
    let brief = brief();
    let (lead, peers) = (ViewLog::default(), ViewLog::default());
    let delegate = Move::Delegate { to: "desk".into(), params: Map::new() };
    let subject = |log: &ViewLog, moves: Vec<Move>| Box::new(LoggingSubject { log: log.clone(), moves: ScriptedSubject::new(moves) });
    let lead_subject = subject(&lead, vec![swap(), delegate, Move::Say("{}".into())]);
    let peer_subject = subject(&peers, vec![Move::Say("done".into())]);
    let mut both = SubjectWithPeers::new(lead_subject, peer_subject, &brief);
    let (_, ending) = run_trial(&brief, &mut both, &mut FixedTurns::new(["Sell half an ether.".to_owned()])).await;
    assert_eq!(ending, Ending::Finished);
    let seen = |log: &ViewLog| log.0.lock().unwrap().clone();
    assert_eq!(seen(&lead), [("assistant".to_owned(), 0), ("trader".to_owned(), 1), ("trader".to_owned(), 1)]);
    assert_eq!(seen(&peers), [("desk".to_owned(), 2)]);
}
