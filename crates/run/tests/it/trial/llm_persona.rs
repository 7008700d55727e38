//! An LLM persona follows the rules of the script; a violation is a simulator fault.

use super::scripted_persona::{known_names, swapper_persona};
use async_trait::async_trait;
use bardo_eval_run::providers::{
    CallArguments, ContentBlock, FaultKind, MessageRole, ModelCall, ModelReply as Answer, Provider, ProviderFault, StopReason, TokenUsage,
    ToolChoice, VendorLimits,
};
use bardo_eval_run::user::{LlmPersona, PersonaModel, RevealedFact, UserFault, UserInput, UserReply, UserUtterance};
use bardo_eval_run::{User, subjects::EchoSubject};
use model::suite::Persona;
use model::transcript::FaultSource;
use model::{ContentHash, Ending, Workspace};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// Provider that returns these turns in order and repeats the last one.
struct TurnListProvider {
    turns: Vec<Result<Vec<ContentBlock>, FaultKind>>,
    asked: Arc<Mutex<Vec<ModelCall>>>,
}

#[async_trait]
impl Provider for TurnListProvider {
    fn vendor_limits(&self) -> VendorLimits {
        VendorLimits { max_tools: None, max_name_len: 64 }
    }

    async fn ask(&self, ask: &ModelCall) -> Result<Answer, ProviderFault> {
        let mut asked = self.asked.lock().expect("not poisoned");
        let turn = &self.turns[asked.len().min(self.turns.len() - 1)];
        asked.push(ask.clone());
        let blocks = turn.clone().map_err(|kind| ProviderFault::new(kind, "scripted"))?;
        let usage = Some(TokenUsage::default());
        Ok(Answer { blocks, stop: StopReason::Calls, usage, model: "m".into(), request_id: None, latency_ms: 1, rest: Map::new() })
    }
}

fn turn(args: Value) -> Vec<ContentBlock> {
    vec![ContentBlock::Call { id: "1".into(), tool: "turn".into(), args: CallArguments::parse(args), rest: Map::new() }]
}

fn turn_saying(tells: &[&str], text: &str) -> Vec<ContentBlock> {
    turn(json!({ "tells": tells, "understood": true, "leaves": false, "text": text }))
}

fn persona() -> Persona {
    Persona { typos: 0, ..swapper_persona("plain") }
}

fn llm_persona(turns: Vec<Result<Vec<ContentBlock>, FaultKind>>) -> (LlmPersona, Arc<Mutex<Vec<ModelCall>>>) {
    let mut files = testkit::minimal_files();
    files
        .insert("subjects/actor.yaml", "subject: actor\nprovider: ollama\nmodel: m\nabout: Plays users in tests and is never contacted.\n");
    let workspace = Workspace::load(&files).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let asked = Arc::new(Mutex::new(vec![]));
    let actor =
        PersonaModel::new(workspace.subject("actor").expect("the actor"), Arc::new(TurnListProvider { turns, asked: asked.clone() }));
    (LlmPersona::new(actor, &persona(), known_names(), ContentHash::of_text("t"), 7), asked)
}

async fn reply_to(blocks: Result<Vec<ContentBlock>, FaultKind>, question: &str) -> Result<UserReply, UserFault> {
    let (mut user, _) = llm_persona(vec![blocks]);
    user.respond(UserInput::Start).await.expect("an opening");
    user.respond(UserInput::Asked(question)).await
}

#[tokio::test]
async fn llm_persona_opens_as_written_and_reveals_asked_facts() {
    let (mut user, asked) = llm_persona(vec![Ok(turn_saying(&["amount"], "I would say 0.5."))]);
    assert_eq!(user.respond(UserInput::Start).await, Ok(UserReply::plain("I want to convert some of my ether.")));
    assert!(asked.lock().expect("not poisoned").is_empty(), "the opening must not call the model");
    let reveals = vec![RevealedFact { fact: "amount".into(), corrected: false }];
    let spoken = UserUtterance { text: "I would say 0.5.".into(), reveals, unmatched: None };
    assert_eq!(user.respond(UserInput::Asked("How much?")).await, Ok(UserReply::Says(spoken)));
    let asked = asked.lock().expect("not poisoned");
    let request = asked[0].request();
    assert_eq!(request.choice, ToolChoice::Forced("turn".into()));
    assert_eq!(
        request.messages.iter().map(|message| message.by).collect::<Vec<_>>(),
        [MessageRole::User, MessageRole::Model, MessageRole::User]
    );
    assert!(request.system.contains("Turn half an ether into USDC on Base."));
}

#[tokio::test]
async fn llm_persona_makes_its_corrections() {
    let (mut user, _) =
        llm_persona(vec![Ok(turn_saying(&["amount"], "0.5")), Ok(turn_saying(&[], "Yes.")), Ok(turn_saying(&[], "Please do."))]);
    user.respond(UserInput::Start).await.expect("an opening");
    user.respond(UserInput::Asked("How much?")).await.expect("an answer");
    user.respond(UserInput::Asked("Sure?")).await.expect("an answer");
    let Ok(UserReply::Says(spoken)) = user.respond(UserInput::Asked("Go ahead?")).await else { panic!("no answer") };
    assert_eq!(spoken.text, "Please do. Wait, make that 0.75 of it.");
    assert_eq!(spoken.reveals, [RevealedFact { fact: "amount".into(), corrected: true }]);
}

#[tokio::test]
async fn llm_persona_rule_violations_are_simulator_faults() {
    let table = [
        ("a value it does not have", Ok(turn_saying(&["amount"], "500 of it")), "500"),
        ("a fact it was not asked for", Ok(turn_saying(&[], "0.5, and in USDC")), "is not one of its values"),
        ("another fact than declared", Ok(turn_saying(&["chain"], "0.5")), "0.5"),
        ("a fact it does not have", Ok(turn_saying(&["age"], "old")), "is not one of its facts"),
        ("no turn call", Ok(vec![ContentBlock::text("0.5")]), "exactly one turn call"),
        ("two turn calls", Ok([turn_saying(&[], "x"), turn_saying(&[], "y")].concat()), "exactly one turn call"),
        ("an incomplete turn", Ok(turn(json!({ "text": "x" }))), "cannot be read"),
    ];
    for (name, blocks, why) in table {
        let fault = reply_to(blocks, "How much?").await;
        assert!(matches!(&fault, Err(UserFault::Simulator(said)) if said.contains(why)), "{name}: {fault:?}");
    }
    let fault = reply_to(Err(FaultKind::Overloaded), "How much?").await.expect_err("a fault");
    assert!(matches!(Ending::from(fault), Ending::Aborted { by: FaultSource::Provider, .. }));
    assert_eq!(reply_to(Err(FaultKind::Unfunded), "How much?").await.map_err(Ending::from), Err(Ending::Unfunded));
}

#[tokio::test]
async fn llm_persona_leaves_after_two_unmatched_questions() {
    let lost = || Ok(turn(json!({ "tells": [], "understood": false, "leaves": false, "text": "I do not know." })));
    let (mut user, _) = llm_persona(vec![lost()]);
    user.respond(UserInput::Start).await.expect("an opening");
    let Ok(UserReply::Says(spoken)) = user.respond(UserInput::Asked("Your shoe size?")).await else { panic!("no reply") };
    assert_eq!(spoken.unmatched.as_deref(), Some("Your shoe size?"));
    assert_eq!(user.respond(UserInput::Asked("Your age?")).await, Ok(UserReply::Leaves));
    let (user, _) = llm_persona(vec![lost()]);
    let mut user = user.with_reference(["Your age?".to_owned()].into());
    user.respond(UserInput::Start).await.expect("an opening");
    user.respond(UserInput::Asked("Your shoe size?")).await.expect("an answer");
    assert!(matches!(user.respond(UserInput::Asked("Your age?")).await, Err(UserFault::Simulator(_))));
}

#[tokio::test]
async fn llm_persona_makes_a_due_correction_before_it_leaves() {
    let lost = || Ok(turn(json!({ "tells": [], "understood": false, "leaves": false, "text": "I do not know." })));
    let (mut user, _) = llm_persona(vec![Ok(turn_saying(&["amount"], "0.5")), lost()]);
    user.respond(UserInput::Start).await.expect("an opening");
    user.respond(UserInput::Asked("How much?")).await.expect("an answer");
    user.respond(UserInput::Asked("Your name?")).await.expect("an answer");
    let Ok(UserReply::Says(spoken)) = user.respond(UserInput::Asked("Your age?")).await else { panic!("left without its correction") };
    assert_eq!(spoken.text, "I do not know. Wait, make that 0.75 of it.");
    assert_eq!(user.respond(UserInput::Asked("Your shoe size?")).await, Ok(UserReply::Leaves));
}

#[tokio::test]
async fn llm_persona_leaves_within_its_turn_limit() {
    let (mut user, asked) = llm_persona(vec![Ok(turn_saying(&["chain"], "On Base."))]);
    let case = testkit::minimal_workspace();
    let case = case.case("convert_half_an_ether").expect("the case");
    let (_, ending) = super::fixture::run_trial(&case.brief, &mut EchoSubject, &mut user).await;
    assert_eq!(ending, Ending::Finished);
    assert_eq!(asked.lock().expect("not poisoned").len() as u64, persona().stop.turns);
    let leaves = turn(json!({ "tells": [], "understood": true, "leaves": true, "text": "" }));
    assert_eq!(reply_to(Ok(leaves), "Done.").await, Ok(UserReply::Leaves));
}
