//! A persona played by a model keeps the rules of the script, or the trial is nobody's failure but the simulator's.

use super::persona::{known, swapper};
use async_trait::async_trait;
use bardo_eval_run::providers::{Accepts, Args, Ask, Block, By, Choice, FaultKind, Provider, ProviderFault, Reply as Answer, Stop, Usage};
use bardo_eval_run::user::{Actor, Played, Reply, Revealed, Spoken, Told, UserFault};
use bardo_eval_run::{User, subjects::Echo};
use model::suite::Persona;
use model::transcript::Culprit;
use model::{Ending, Hash, Workspace};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// A model that takes these turns, the last one for ever.
struct Model {
    turns: Vec<Result<Vec<Block>, FaultKind>>,
    asked: Arc<Mutex<Vec<Ask>>>,
}

#[async_trait]
impl Provider for Model {
    fn accepts(&self) -> Accepts {
        Accepts { max_tools: None, name_len: 64 }
    }

    async fn ask(&self, ask: &Ask) -> Result<Answer, ProviderFault> {
        let mut asked = self.asked.lock().expect("nobody panicked");
        let turn = &self.turns[asked.len().min(self.turns.len() - 1)];
        asked.push(ask.clone());
        let blocks = turn.clone().map_err(|kind| ProviderFault::new(kind, "so it is"))?;
        let usage = Some(Usage::default());
        Ok(Answer { blocks, stop: Stop::Calls, usage, model: "m".into(), request_id: None, latency_ms: 1, rest: Map::new() })
    }
}

fn turn(args: Value) -> Vec<Block> {
    vec![Block::Call { id: "1".into(), tool: "turn".into(), args: Args::read(args), rest: Map::new() }]
}

fn says(tells: &[&str], text: &str) -> Vec<Block> {
    turn(json!({ "tells": tells, "understood": true, "leaves": false, "text": text }))
}

fn persona() -> Persona {
    Persona { typos: 0, ..swapper("plain") }
}

fn played(turns: Vec<Result<Vec<Block>, FaultKind>>) -> (Played, Arc<Mutex<Vec<Ask>>>) {
    let mut files = testkit::minimal_files();
    files.insert(
        "subjects/actor.yaml",
        "subject: actor\nprovider: ollama\nmodel: m\nabout: Plays users in tests, and nobody ever reaches it.\n",
    );
    let workspace = Workspace::load(&files).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let asked = Arc::new(Mutex::new(vec![]));
    let actor = Actor::new(workspace.subject("actor").expect("the actor"), Arc::new(Model { turns, asked: asked.clone() }));
    (Played::new(actor, &persona(), known(), Hash::of_text("t"), 7), asked)
}

async fn answer(blocks: Result<Vec<Block>, FaultKind>, question: &str) -> Result<Reply, UserFault> {
    let (mut user, _) = played(vec![blocks]);
    user.hear(Told::Nothing).await.expect("an opening");
    user.hear(Told::Asked(question)).await
}

#[tokio::test]
async fn it_opens_as_written_and_tells_what_it_was_asked_for() {
    let (mut user, asked) = played(vec![Ok(says(&["amount"], "I would say 0.5."))]);
    assert_eq!(user.hear(Told::Nothing).await, Ok(Reply::plain("I want to convert some of my ether.")));
    assert!(asked.lock().expect("nobody panicked").is_empty(), "the opening needs no model");
    let told = vec![Revealed { fact: "amount".into(), corrected: false }];
    let spoken = Spoken { text: "I would say 0.5.".into(), reveals: told, unmatched: None };
    assert_eq!(user.hear(Told::Asked("How much?")).await, Ok(Reply::Says(spoken)));
    let asked = asked.lock().expect("nobody panicked");
    let request = asked[0].request();
    assert_eq!(request.choice, Choice::Forced("turn".into()));
    assert_eq!(request.messages.iter().map(|message| message.by).collect::<Vec<_>>(), [By::User, By::Model, By::User]);
    assert!(request.system.contains("Turn half an ether into USDC on Base."));
}

#[tokio::test]
async fn it_changes_its_mind_as_written() {
    let (mut user, _) = played(vec![Ok(says(&["amount"], "0.5")), Ok(says(&[], "Yes.")), Ok(says(&[], "Please do."))]);
    user.hear(Told::Nothing).await.expect("an opening");
    user.hear(Told::Asked("How much?")).await.expect("an answer");
    user.hear(Told::Asked("Sure?")).await.expect("an answer");
    let Ok(Reply::Says(spoken)) = user.hear(Told::Asked("Go ahead?")).await else { panic!("an answer") };
    assert_eq!(spoken.text, "Please do. Wait, make that 0.75 of it.");
    assert_eq!(spoken.reveals, [Revealed { fact: "amount".into(), corrected: true }]);
}

#[tokio::test]
async fn breaking_a_rule_is_the_simulators_fault() {
    let table = [
        ("a value nobody gave it", Ok(says(&["amount"], "500 of it")), "500"),
        ("a fact it was not asked for", Ok(says(&[], "0.5, and in USDC")), "is not its own"),
        ("another fact than it says", Ok(says(&["chain"], "0.5")), "0.5"),
        ("a fact it does not have", Ok(says(&["age"], "old")), "none of its facts"),
        ("no turn", Ok(vec![Block::text("0.5")]), "no single turn"),
        ("two turns", Ok([says(&[], "x"), says(&[], "y")].concat()), "no single turn"),
        ("half a turn", Ok(turn(json!({ "text": "x" }))), "cannot be read"),
    ];
    for (name, blocks, why) in table {
        let fault = answer(blocks, "How much?").await;
        assert!(matches!(&fault, Err(UserFault::Simulator(said)) if said.contains(why)), "{name}: {fault:?}");
    }
    let fault = answer(Err(FaultKind::Overloaded), "How much?").await.expect_err("a fault");
    assert!(matches!(Ending::from(fault), Ending::Aborted { by: Culprit::Provider, .. }));
    assert_eq!(answer(Err(FaultKind::Unfunded), "How much?").await.map_err(Ending::from), Err(Ending::Unfunded));
}

#[tokio::test]
async fn two_questions_it_does_not_understand_are_one_too_many() {
    let lost = || Ok(turn(json!({ "tells": [], "understood": false, "leaves": false, "text": "I do not know." })));
    let (mut user, _) = played(vec![lost()]);
    user.hear(Told::Nothing).await.expect("an opening");
    let Ok(Reply::Says(spoken)) = user.hear(Told::Asked("Your shoe size?")).await else { panic!("a reply") };
    assert_eq!(spoken.unmatched.as_deref(), Some("Your shoe size?"));
    assert!(matches!(user.hear(Told::Asked("Your age?")).await, Err(UserFault::Simulator(_))));
}

#[tokio::test]
async fn it_stops() {
    let (mut user, asked) = played(vec![Ok(says(&["chain"], "On Base."))]);
    let case = testkit::minimal_workspace();
    let case = case.case("convert_half_an_ether").expect("the case");
    let (_, ending) = super::stage::play(&case.brief, &mut Echo, &mut user).await;
    assert_eq!(ending, Ending::Finished);
    assert_eq!(asked.lock().expect("nobody panicked").len() as u64, persona().stop.turns);
    let leaves = turn(json!({ "tells": [], "understood": true, "leaves": true, "text": "" }));
    assert_eq!(answer(Ok(leaves), "Done.").await, Ok(Reply::Leaves));
}
