//! The scripted persona is deterministic per seed, reveals only facts that were asked for, and always stops.

use super::fixture::{ScriptedSubject, run_trial};
use bardo_eval_run::user::{ScriptedPersona, UserFault, UserInput, UserReply, scripted_user};
use bardo_eval_run::{User, subjects::EchoSubject};
use model::suite::{Persona, UserScript};
use model::transcript::Move;
use model::{Ending, EventKind, Workspace, WorkspaceFiles};
use proptest::prelude::*;
use std::collections::BTreeSet;
use testkit::minimal_files;

/// Minimal workspace in which the first skill case has a persona.
fn files_with_persona(persona: &str) -> WorkspaceFiles {
    let mut files = minimal_files();
    let text = files.get("suites/skills/swap.yaml").expect("the suite").to_owned();
    let turns = text.lines().find(|line| line.trim_start().starts_with("turns:")).expect("turns");
    files.insert("suites/skills/swap.yaml", text.replacen(turns, &format!("      persona: {}", persona.replace('\n', " ")), 1));
    files
}

fn workspace_with_persona(persona: &str) -> Workspace {
    Workspace::load(&files_with_persona(persona)).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

const SWAPPER: &str = r#"{
    opening: "I want to convert some of my ether.", goal: "Turn half an ether into USDC on Base.",
    facts: {
      amount: { says: "0.5 of it.", asked: [how much, how many] },
      token_out: { says: "Into USDC, please.", asked: [which token, into what] },
      chain: "It lies on Base." },
    corrections: [{ fact: amount, after: 2, says: "Wait, make that 0.75 of it." }],
    temper: TEMPER, typos: 20, stop: { turns: 6 } }"#;

fn persona_of(workspace: &Workspace) -> Persona {
    let talk = workspace.cases().find_map(|case| match &case.brief.user_script {
        UserScript::Persona(persona) => Some((**persona).clone()),
        UserScript::Turns(_) => None,
    });
    talk.expect("a persona")
}

pub(crate) fn swapper_persona(temper: &str) -> Persona {
    persona_of(&workspace_with_persona(&SWAPPER.replace("TEMPER", temper)))
}

pub(crate) fn known_names() -> BTreeSet<String> {
    ["usdc", "eth", "weth", "base"].map(str::to_owned).into()
}

async fn reply_text(user: &mut dyn User, input: UserInput<'_>) -> Option<String> {
    match user.respond(input).await.expect("no fault") {
        UserReply::Says(spoken) => Some(spoken.text),
        UserReply::Leaves => None,
    }
}

#[tokio::test]
async fn scripted_persona_reveals_asked_facts_and_corrects_them() {
    let persona = Persona { typos: 0, ..swapper_persona("plain") };
    let mut user = ScriptedPersona::new(&persona, &known_names(), 1);
    assert_eq!(reply_text(&mut user, UserInput::Start).await.as_deref(), Some("I want to convert some of my ether."));
    assert_eq!(
        reply_text(&mut user, UserInput::Asked("How much, and on which chain?")).await.as_deref(),
        Some("0.5 of it. It lies on Base.")
    );
    assert_eq!(reply_text(&mut user, UserInput::Said("Into what?")).await.as_deref(), Some("Into USDC, please."));
    assert_eq!(
        reply_text(&mut user, UserInput::Asked("Shall I go ahead?")).await.as_deref(),
        Some("Yes, if it is what I asked for. Wait, make that 0.75 of it.")
    );
    assert_eq!(reply_text(&mut user, UserInput::Asked("How much was it?")).await.as_deref(), Some("Wait, make that 0.75 of it."));
    assert_eq!(reply_text(&mut user, UserInput::Said("Done.")).await, None);
}

#[tokio::test]
async fn correction_of_an_unrevealed_fact_is_not_made() {
    let persona = Persona { typos: 0, ..swapper_persona("plain") };
    let mut user = ScriptedPersona::new(&persona, &known_names(), 1);
    reply_text(&mut user, UserInput::Start).await;
    for _ in 0..4 {
        let said = reply_text(&mut user, UserInput::Asked("Which chain?")).await.expect("an answer");
        assert!(!said.contains("0.75"), "{said}");
    }
}

#[tokio::test]
async fn persona_leaves_only_after_its_stop_word() {
    let mut persona = Persona { typos: 0, ..swapper_persona("plain") };
    persona.stop.said = vec!["converted".into()];
    let mut user = ScriptedPersona::new(&persona, &known_names(), 1);
    reply_text(&mut user, UserInput::Start).await;
    assert!(reply_text(&mut user, UserInput::Said("I am looking for a price.")).await.is_some());
    assert_eq!(reply_text(&mut user, UserInput::Said("It is converted.")).await, None);
}

#[tokio::test]
async fn impatient_persona_leaves_after_repeated_questions() {
    let persona = swapper_persona("impatient");
    let mut user = ScriptedPersona::new(&persona, &known_names(), 1);
    reply_text(&mut user, UserInput::Start).await;
    for turn in 1..=3 {
        assert!(reply_text(&mut user, UserInput::Asked("Which chain?")).await.is_some(), "turn {turn}");
    }
    assert_eq!(reply_text(&mut user, UserInput::Asked("Which chain?")).await, None);
}

#[tokio::test]
async fn user_leaves_after_two_unmatched_questions_in_a_row() {
    let persona = swapper_persona("plain");
    let mut user = ScriptedPersona::new(&persona, &known_names(), 1);
    reply_text(&mut user, UserInput::Start).await;
    let Ok(UserReply::Says(spoken)) = user.respond(UserInput::Asked("What is your favourite colour?")).await else { panic!("no reply") };
    assert_eq!(spoken.unmatched.as_deref(), Some("What is your favourite colour?"));
    assert!(reply_text(&mut user, UserInput::Asked("Which chain?")).await.is_some());
    assert!(user.respond(UserInput::Asked("What is your favourite colour?")).await.is_ok(), "an answer in between resets the count");
    assert_eq!(reply_text(&mut user, UserInput::Asked("And your shoe size?")).await, None);
}

#[tokio::test]
async fn user_makes_a_due_correction_before_it_leaves() {
    let persona = Persona { typos: 0, ..swapper_persona("plain") };
    let mut user = ScriptedPersona::new(&persona, &known_names(), 1);
    reply_text(&mut user, UserInput::Start).await;
    assert!(reply_text(&mut user, UserInput::Asked("How much?")).await.is_some());
    assert!(reply_text(&mut user, UserInput::Asked("Your name?")).await.is_some());
    let Ok(UserReply::Says(spoken)) = user.respond(UserInput::Asked("Your age?")).await else { panic!("left without its correction") };
    assert!(spoken.text.ends_with("Wait, make that 0.75 of it."), "{}", spoken.text);
    assert_eq!(spoken.unmatched.as_deref(), Some("Your age?"));
    assert!(spoken.reveals.iter().any(|one| one.fact == "amount" && one.corrected));
    assert_eq!(reply_text(&mut user, UserInput::Asked("And your shoe size?")).await, None);
}

#[tokio::test]
async fn impatient_user_makes_a_due_correction_before_it_leaves() {
    let mut persona = Persona { typos: 0, ..swapper_persona("impatient") };
    persona.corrections[0].after = 3;
    let mut user = ScriptedPersona::new(&persona, &known_names(), 1);
    reply_text(&mut user, UserInput::Start).await;
    for turn in 1..=3 {
        assert!(reply_text(&mut user, UserInput::Asked("How much?")).await.is_some(), "turn {turn}");
    }
    let said = reply_text(&mut user, UserInput::Asked("How much?")).await;
    assert!(said.is_some_and(|said| said.contains("0.75")), "left without its correction");
    assert_eq!(reply_text(&mut user, UserInput::Asked("How much?")).await, None);
}

#[tokio::test]
async fn unmatched_question_of_the_reference_is_a_simulator_fault() {
    let reference = ["And your shoe size?".to_owned()].into();
    let mut user = ScriptedPersona::new(&swapper_persona("plain"), &known_names(), 1).with_reference(reference);
    reply_text(&mut user, UserInput::Start).await;
    assert!(reply_text(&mut user, UserInput::Asked("What is your favourite colour?")).await.is_some());
    let fault = user.respond(UserInput::Asked("And your shoe size?")).await;
    assert!(matches!(fault, Err(UserFault::Simulator(why)) if why.contains("shoe size")));
}

#[tokio::test]
async fn off_topic_questions_end_the_trial_as_the_subjects_own() {
    let workspace = workspace_with_persona(&SWAPPER.replace("TEMPER", "plain"));
    let case = workspace.cases().find(|case| matches!(case.brief.user_script, UserScript::Persona(_))).expect("the case");
    let ask = |text: &str| Move::Ask(text.into());
    let mut user = scripted_user(&workspace, &case.brief.user_script, 1);
    let mut subject = ScriptedSubject::new([ask("How much?"), ask("Your name?"), ask("Your age?")]);
    let (events, ending) = run_trial(&case.brief, &mut subject, user.as_mut()).await;
    assert_eq!(ending, Ending::Finished);
    let revealed = events.iter().filter(|event| matches!(event, EventKind::Revealed { fact, corrected: false } if fact == "amount"));
    let unmatched = events.iter().filter(|event| matches!(event, EventKind::Unmatched { question } if question == "Your name?"));
    assert_eq!((revealed.count(), unmatched.count()), (1, 1), "{events:#?}");
}

#[tokio::test]
async fn persona_leaves_an_echo_subject() {
    let workspace = workspace_with_persona(&SWAPPER.replace("TEMPER", "plain"));
    let case = workspace.cases().find(|case| matches!(case.brief.user_script, UserScript::Persona(_))).expect("the case");
    let mut user = scripted_user(&workspace, &case.brief.user_script, 1);
    let (events, ending) = run_trial(&case.brief, &mut EchoSubject, user.as_mut()).await;
    assert_eq!(ending, Ending::Finished);
    assert_eq!(events.len(), 2, "{events:#?}");
}

#[test]
fn invalid_personas_are_rejected_on_load() {
    let refused = |from: &str, to: &str| {
        let files = files_with_persona(&SWAPPER.replace("TEMPER", "plain").replace(from, to));
        let problems = Workspace::load(&files).expect_err("a problem");
        problems.into_iter().map(|problem| problem.what).collect::<Vec<_>>().join("; ")
    };
    assert!(refused("some of my ether.", "0.5 of it.").contains("the opening already says amount"));
    assert!(refused("fact: amount", "fact: sum").contains("corrects sum"));
    assert!(refused("[which token, into what]", "[how much]").contains("asks for both amount and token_out"));
    assert!(refused("typos: 20", "typos: 90").contains("more than half"));
    assert!(refused("turns: 6", "turns: 0").contains("never speaks"));
}

/// Messages that a subject might send: questions for facts, other questions, statements.
fn messages() -> impl Strategy<Value = Vec<(bool, String)>> {
    let text = prop_oneof![
        Just("How much do you want to convert?".to_owned()),
        Just("Which chain?".to_owned()),
        Just("Into what, and which token?".to_owned()),
        Just("Shall I proceed with the chain and the amount?".to_owned()),
        Just("I am working on it.".to_owned()),
        Just("The amount and the chain are noted.".to_owned()),
        Just("What is your favourite colour?".to_owned()),
        "[a-zA-Z0-9 ?.,]{0,60}",
    ];
    proptest::collection::vec((any::<bool>(), text), 0..12)
}

fn converse(persona: &Persona, seed: u64, messages: &[(bool, String)]) -> (Vec<String>, bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let mut user = ScriptedPersona::new(persona, &known_names(), seed);
        let mut said = vec![];
        let start = std::iter::once(UserInput::Start);
        let inputs = messages.iter().map(|(asked, text)| if *asked { UserInput::Asked(text) } else { UserInput::Said(text) });
        for input in start.chain(inputs) {
            match user.respond(input).await {
                Ok(UserReply::Says(spoken)) => said.push(spoken.text),
                Ok(UserReply::Leaves) => return (said, true),
                Err(fault) => {
                    said.push(fault.to_string());
                    return (said, true);
                }
            }
        }
        (said, false)
    })
}

fn asks_for(name: &str, persona: &Persona, text: &str) -> bool {
    let fold = |text: &str| {
        let words = text.to_lowercase();
        let words: Vec<&str> = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        format!(" {} ", words.join(" "))
    };
    persona.facts[name].asked.iter().any(|phrase| fold(text).contains(&fold(phrase)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn same_seed_gives_the_same_conversation(seed in any::<u64>(), messages in messages()) {
        let persona = swapper_cached();
        prop_assert_eq!(converse(&persona, seed, &messages), converse(&persona, seed, &messages));
    }

    #[test]
    fn persona_reveals_only_asked_facts(seed in any::<u64>(), messages in messages()) {
        let persona = Persona { typos: 50, ..swapper_cached() };
        let (said, _) = converse(&persona, seed, &messages);
        // Values reveal a fact and never get typos.
        for (name, value) in [("amount", "0.5"), ("amount", "0.75"), ("token_out", "USDC"), ("chain", "Base")] {
            for (turn, text) in said.iter().enumerate() {
                if text.contains(value) && !text.contains("the persona has no answer") {
                    let asked = messages[..turn].iter().any(|(_, message)| asks_for(name, &persona, message));
                    prop_assert!(asked, "{} was revealed in {:?} after {:?}", name, text, &messages[..turn]);
                }
            }
        }
    }

    #[test]
    fn scripted_persona_leaves_within_its_turn_limit(seed in any::<u64>(), asked in any::<bool>()) {
        let persona = swapper_cached();
        let endless: Vec<(bool, String)> = vec![(asked, "Which chain?".to_owned()); 40];
        let (said, left) = converse(&persona, seed, &endless);
        prop_assert!(left && said.len() as u64 <= persona.stop.turns);
    }
}

fn swapper_cached() -> Persona {
    static PERSONA: std::sync::OnceLock<Persona> = std::sync::OnceLock::new();
    PERSONA.get_or_init(|| swapper_persona("chatty")).clone()
}
