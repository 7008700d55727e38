//! Every way a trial can end by the subject's doing, its limits or somebody else's fault has its own name.

use super::stage::{Played, play};
use async_trait::async_trait;
use bardo_eval_run::user::{Reply, Told, Turns, UserFault};
use bardo_eval_run::{SubjectFault, Used, User};
use model::transcript::{Culprit, Limit, Move};
use model::{Ending, Happened};

async fn ends(subject: &mut Played) -> (Vec<Happened>, Ending) {
    let workspace = testkit::minimal_workspace();
    let case = workspace.case("convert_half_an_ether").expect("the case");
    let mut user = Turns::new(["One.".to_owned(), "Two.".to_owned(), "Three.".to_owned()]);
    play(&case.brief, subject, &mut user).await
}

fn talk(count: usize) -> Vec<Move> {
    vec![Move::Say("Yes.".into()); count]
}

#[tokio::test]
async fn a_user_with_nothing_left_to_say_ends_the_trial() {
    let (events, ending) = ends(&mut Played::new(talk(9))).await;
    assert_eq!(ending, Ending::Finished);
    assert_eq!(events.iter().filter(|event| matches!(event, Happened::Said { .. })).count(), 3, "{events:?}");
}

#[tokio::test]
async fn tokens_and_time_are_limits_of_their_own() {
    let each = |output_tokens, latency_ms| Used { output_tokens, latency_ms };
    let table = [
        (each(1365, 0), Ending::Finished),
        (each(1366, 0), Ending::OverLimit { limit: Limit::Tokens }),
        (each(0, 40_000), Ending::Finished),
        (each(0, 40_001), Ending::OverLimit { limit: Limit::Time }),
    ];
    for (each, expected) in table {
        let mut subject = Played::new(talk(3));
        subject.each = each;
        let (events, ending) = ends(&mut subject).await;
        assert_eq!(ending, expected, "{each:?}");
        // The move that went over is not played.
        let said = events.iter().filter(|event| matches!(event, Happened::Said { .. })).count();
        assert_eq!(said, if ending == Ending::Finished { 3 } else { 2 }, "{each:?}");
    }
}

#[tokio::test]
async fn every_fault_of_a_subject_has_its_ending() {
    let why = || "because".to_owned();
    let table = [
        (SubjectFault::Crashed(why()), Ending::Crashed { why: why() }),
        (SubjectFault::Hung, Ending::Hung),
        (SubjectFault::Malformed(why()), Ending::MalformedMove { why: why() }),
        (SubjectFault::OverLimit(Limit::Calls), Ending::OverLimit { limit: Limit::Calls }),
        (SubjectFault::Provider(why()), Ending::Aborted { by: Culprit::Provider, why: why() }),
        (SubjectFault::Harness(why()), Ending::Aborted { by: Culprit::Harness, why: why() }),
        (SubjectFault::Unfunded, Ending::Unfunded),
    ];
    for (fault, expected) in table {
        let mut subject = Played::new(talk(1));
        subject.last = Some(fault);
        assert_eq!(ends(&mut subject).await.1, expected);
    }
}

struct Broken;

#[async_trait]
impl User for Broken {
    async fn hear(&mut self, told: Told<'_>) -> Result<Reply, UserFault> {
        match told {
            Told::Nothing => Ok(Reply::plain("Hello.")),
            Told::Said(_) | Told::Asked(_) | Told::Activated(_) => Err(UserFault::Simulator("lost its place".into())),
        }
    }
}

#[tokio::test]
async fn a_broken_user_is_no_fault_of_the_subject() {
    let workspace = testkit::minimal_workspace();
    let case = workspace.case("convert_half_an_ether").expect("the case");
    let (_, ending) = play(&case.brief, &mut Played::new(talk(1)), &mut Broken).await;
    assert_eq!(ending, Ending::Aborted { by: Culprit::Simulator, why: "lost its place".into() });
}
