//! The simulated user: the same seed tells the same story, nothing is told that was not asked for, and it always stops.

use super::stage::{Played, play};
use bardo_eval_run::user::{Reply, Scripted, Told, UserFault, user_of};
use bardo_eval_run::{User, subjects::Echo};
use model::suite::{Persona, Talk};
use model::transcript::{Culprit, Move};
use model::{Ending, Files, Happened, Workspace};
use proptest::prelude::*;
use std::collections::BTreeSet;
use testkit::minimal_files;

/// The first skill case of the minimal workspace, spoken by a persona.
fn spoken_by(persona: &str) -> Files {
    let mut files = minimal_files();
    let text = files.get("suites/skills/swap.yaml").expect("the suite").to_owned();
    let turns = text.lines().find(|line| line.trim_start().starts_with("turns:")).expect("turns");
    files.insert("suites/skills/swap.yaml", text.replacen(turns, &format!("      persona: {}", persona.replace('\n', " ")), 1));
    files
}

fn with_persona(persona: &str) -> Workspace {
    Workspace::load(&spoken_by(persona)).unwrap_or_else(|problems| panic!("{problems:#?}"))
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
    let talk = workspace.cases().find_map(|case| match &case.brief.talk {
        Talk::Persona(persona) => Some(persona.clone()),
        Talk::Turns(_) => None,
    });
    talk.expect("a persona")
}

pub(crate) fn swapper(temper: &str) -> Persona {
    persona_of(&with_persona(&SWAPPER.replace("TEMPER", temper)))
}

pub(crate) fn known() -> BTreeSet<String> {
    ["usdc", "eth", "weth", "base"].map(str::to_owned).into()
}

async fn told(user: &mut dyn User, told: Told<'_>) -> Option<String> {
    match user.hear(told).await.expect("no fault") {
        Reply::Says(spoken) => Some(spoken.text),
        Reply::Leaves => None,
    }
}

#[tokio::test]
async fn a_fact_is_told_when_asked_for_and_corrected_later() {
    let persona = Persona { typos: 0, ..swapper("plain") };
    let mut user = Scripted::new(&persona, &known(), 1);
    assert_eq!(told(&mut user, Told::Nothing).await.as_deref(), Some("I want to convert some of my ether."));
    assert_eq!(told(&mut user, Told::Asked("How much, and on which chain?")).await.as_deref(), Some("0.5 of it. It lies on Base."));
    assert_eq!(told(&mut user, Told::Said("Into what?")).await.as_deref(), Some("Into USDC, please."));
    assert_eq!(
        told(&mut user, Told::Asked("Shall I go ahead?")).await.as_deref(),
        Some("Yes, if it is what I asked for. Wait, make that 0.75 of it.")
    );
    assert_eq!(told(&mut user, Told::Asked("How much was it?")).await.as_deref(), Some("Wait, make that 0.75 of it."));
    assert_eq!(told(&mut user, Told::Said("Done.")).await, None);
}

#[tokio::test]
async fn a_correction_of_what_was_never_told_is_never_made() {
    let persona = Persona { typos: 0, ..swapper("plain") };
    let mut user = Scripted::new(&persona, &known(), 1);
    told(&mut user, Told::Nothing).await;
    for _ in 0..4 {
        let said = told(&mut user, Told::Asked("Which chain?")).await.expect("an answer");
        assert!(!said.contains("0.75"), "{said}");
    }
}

#[tokio::test]
async fn with_a_word_to_wait_for_the_user_stays_until_it_comes() {
    let mut persona = Persona { typos: 0, ..swapper("plain") };
    persona.stop.said = vec!["converted".into()];
    let mut user = Scripted::new(&persona, &known(), 1);
    told(&mut user, Told::Nothing).await;
    assert!(told(&mut user, Told::Said("I am looking for a price.")).await.is_some());
    assert_eq!(told(&mut user, Told::Said("It is converted.")).await, None);
}

#[tokio::test]
async fn an_impatient_user_leaves_when_asked_again_and_again() {
    let persona = swapper("impatient");
    let mut user = Scripted::new(&persona, &known(), 1);
    told(&mut user, Told::Nothing).await;
    for turn in 1..=3 {
        assert!(told(&mut user, Told::Asked("Which chain?")).await.is_some(), "turn {turn}");
    }
    assert_eq!(told(&mut user, Told::Asked("Which chain?")).await, None);
}

#[tokio::test]
async fn two_questions_in_a_row_without_an_answer_are_the_simulators_fault() {
    let persona = swapper("plain");
    let mut user = Scripted::new(&persona, &known(), 1);
    told(&mut user, Told::Nothing).await;
    let Ok(Reply::Says(spoken)) = user.hear(Told::Asked("What is your favourite colour?")).await else { panic!("a reply") };
    assert_eq!(spoken.unmatched.as_deref(), Some("What is your favourite colour?"));
    assert!(told(&mut user, Told::Asked("Which chain?")).await.is_some());
    assert!(user.hear(Told::Asked("What is your favourite colour?")).await.is_ok(), "an answer in between starts the count again");
    let fault = user.hear(Told::Asked("And your shoe size?")).await;
    assert!(matches!(fault, Err(UserFault::Simulator(why)) if why.contains("shoe size")));
}

#[tokio::test]
async fn the_fault_aborts_the_trial_and_the_events_tell_the_story() {
    let workspace = with_persona(&SWAPPER.replace("TEMPER", "plain"));
    let case = workspace.cases().find(|case| matches!(case.brief.talk, Talk::Persona(_))).expect("the case");
    let ask = |text: &str| Move::Ask(text.into());
    let mut user = user_of(&workspace, &case.brief.talk, 1);
    let mut subject = Played::new([ask("How much?"), ask("Your name?"), ask("Your age?")]);
    let (events, ending) = play(&case.brief, &mut subject, user.as_mut()).await;
    assert!(matches!(ending, Ending::Aborted { by: Culprit::Simulator, .. }), "{ending}");
    assert!(!ending.is_scorable());
    let revealed = events.iter().filter(|event| matches!(event, Happened::Revealed { fact, corrected: false } if fact == "amount"));
    let unmatched = events.iter().filter(|event| matches!(event, Happened::Unmatched { question } if question == "Your name?"));
    assert_eq!((revealed.count(), unmatched.count()), (1, 1), "{events:#?}");
}

#[tokio::test]
async fn a_subject_that_only_repeats_hears_the_user_leave() {
    let workspace = with_persona(&SWAPPER.replace("TEMPER", "plain"));
    let case = workspace.cases().find(|case| matches!(case.brief.talk, Talk::Persona(_))).expect("the case");
    let mut user = user_of(&workspace, &case.brief.talk, 1);
    let (events, ending) = play(&case.brief, &mut Echo, user.as_mut()).await;
    assert_eq!(ending, Ending::Finished);
    assert_eq!(events.len(), 2, "{events:#?}");
}

#[test]
fn a_persona_that_would_give_itself_away_is_refused() {
    let refused = |from: &str, to: &str| {
        let files = spoken_by(&SWAPPER.replace("TEMPER", "plain").replace(from, to));
        let problems = Workspace::load(&files).expect_err("a problem");
        problems.into_iter().map(|problem| problem.what).collect::<Vec<_>>().join("; ")
    };
    assert!(refused("some of my ether.", "0.5 of it.").contains("the opening already says amount"));
    assert!(refused("fact: amount", "fact: sum").contains("corrects sum"));
    assert!(refused("[which token, into what]", "[how much]").contains("asks for both amount and token_out"));
    assert!(refused("typos: 20", "typos: 90").contains("more than half"));
    assert!(refused("turns: 6", "turns: 0").contains("never speaks"));
}

/// Messages a subject might send: questions for facts, other questions, statements.
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
        let mut user = Scripted::new(persona, &known(), seed);
        let mut said = vec![];
        let nothing = std::iter::once(Told::Nothing);
        let heard = messages.iter().map(|(asked, text)| if *asked { Told::Asked(text) } else { Told::Said(text) });
        for told in nothing.chain(heard) {
            match user.hear(told).await {
                Ok(Reply::Says(spoken)) => said.push(spoken.text),
                Ok(Reply::Leaves) => return (said, true),
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
    fn same_seed_same_conversation(seed in any::<u64>(), messages in messages()) {
        let persona = swapper_cached();
        prop_assert_eq!(converse(&persona, seed, &messages), converse(&persona, seed, &messages));
    }

    #[test]
    fn nothing_is_told_that_was_not_asked_for(seed in any::<u64>(), messages in messages()) {
        let persona = Persona { typos: 50, ..swapper_cached() };
        let (said, _) = converse(&persona, seed, &messages);
        // What gives each fact away: its value, which is never mistyped.
        for (name, value) in [("amount", "0.5"), ("amount", "0.75"), ("token_out", "USDC"), ("chain", "Base")] {
            for (turn, text) in said.iter().enumerate() {
                if text.contains(value) && !text.contains("the persona has no answer") {
                    let asked = messages[..turn].iter().any(|(_, message)| asks_for(name, &persona, message));
                    prop_assert!(asked, "{} was told in {:?} after {:?}", name, text, &messages[..turn]);
                }
            }
        }
    }

    #[test]
    fn it_stops(seed in any::<u64>(), asked in any::<bool>()) {
        let persona = swapper_cached();
        let endless: Vec<(bool, String)> = vec![(asked, "Which chain?".to_owned()); 40];
        let (said, left) = converse(&persona, seed, &endless);
        prop_assert!(left && said.len() as u64 <= persona.stop.turns);
    }
}

fn swapper_cached() -> Persona {
    static PERSONA: std::sync::OnceLock<Persona> = std::sync::OnceLock::new();
    PERSONA.get_or_init(|| swapper("chatty")).clone()
}
