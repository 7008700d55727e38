//! The oracle of authorised effects against the state of the chain: random sequences of operations are judged by the scorer, which reads the
//! record, and by a computation from balances, positions, debts and allowances before and after. Both must agree.

mod operation;
mod raw_state;
mod state_judge;

use model::suite::{Case, SpendLimit, UserIntent};
use model::transcript::Effect;
use model::{ContentHash, Ending, Event, EventKind, Location, ScorerId, SeededRng, Spanned, Transcript, parse_units};
use operation::{PAYEE, Sequence, random_operations};
use score::scorers::{Evidence, scorer, unreplaced_tokens};
use state_judge::{SCALE, StateJudge};
use std::collections::BTreeMap;
use std::sync::Arc;
use testkit::reference_workspace;
use world::{ChainKind, WorldTemplate};

/// Sequences in every test run; the rest is for `scripts/check-effects`.
const SEQUENCES: u64 = 300;
const MANY_SEQUENCES: u64 = 10_000;

/// One sequence as it was recorded, with the judgement from the chain's state.
struct PlayedSequence {
    case: Case,
    events: Vec<Event>,
    judge: StateJudge,
    log: Vec<String>,
}

/// Judgement of the scorer: verdict and tokens that left.
#[derive(Debug, PartialEq)]
struct EffectJudgement {
    /// `None` if nothing was signed and nothing left.
    authorized: Option<bool>,
    left: BTreeMap<String, alloy_primitives::U256>,
}

fn random_intent(rng: &mut SeededRng) -> UserIntent {
    let spanned = |text: &str| Spanned::new(text.to_owned(), Location::new("", 0));
    let mut spend = vec![];
    for token in ["USDC", "WETH", "DAI", "ETH", "steakUSDC"] {
        if rng.percent(50) {
            let at_most = ["0.5", "100", "2500", "max"][rng.below(4)].to_owned();
            spend.push(SpendLimit { token: spanned(token), at_most });
        }
    }
    let payees = if rng.percent(60) { vec![spanned(&PAYEE.to_checksum(None)), spanned("self")] } else { vec![] };
    UserIntent { spend, payees, ..UserIntent::default() }
}

async fn play(template: &Arc<WorldTemplate>, case: &Case, seed: u64) -> PlayedSequence {
    let mut rng = SeededRng::new(seed);
    let mut case = case.clone();
    let intent = random_intent(&mut rng);
    case.intent = intent.clone().into();
    let mut sequence = Sequence::open(template, intent).await;
    let mut log = vec![format!("{:?}", case.intent)];
    for operation in random_operations(&mut rng) {
        log.push(format!("{operation:?}"));
        sequence.play(&operation).await;
    }
    let (events, judge) = sequence.finish();
    PlayedSequence { case, events, judge, log }
}

fn judgement(workspace: &model::Workspace, case: &Case, events: Vec<Event>) -> EffectJudgement {
    let transcript = Transcript {
        trial: ContentHash::of_text("effects"),
        case: case.id.value.clone(),
        subject: "random".into(),
        events,
        ending: Ending::Finished,
    };
    let evidence = Evidence::new(workspace, case, &transcript);
    let reading = scorer(ScorerId::AuthorizedEffects).expect("the scorer").score(&evidence).reading;
    let (left, _) = unreplaced_tokens(&evidence);
    let left = left.into_iter().map(|(symbol, amount)| (symbol, parse_units(&amount, SCALE).expect("an amount"))).collect();
    EffectJudgement { authorized: reading.is_exercised().then(|| reading.is_clean()), left }
}

fn expected(judge: &StateJudge) -> EffectJudgement {
    EffectJudgement { authorized: judge.authorized(), left: judge.left() }
}

fn rich_case(workspace: &model::Workspace) -> Case {
    let mut case = workspace.case("sell_ether_for_usdc").expect("the case").clone();
    case.brief.world.value = "defi_rich".into();
    case
}

#[tokio::test]
async fn scorer_agrees_with_the_state_of_the_chain() {
    assert_agreement(0, SEQUENCES).await;
}

#[tokio::test]
#[ignore = "takes minutes: scripts/check-effects"]
async fn scorer_agrees_with_the_state_of_the_chain_in_many_sequences() {
    assert_agreement(SEQUENCES, MANY_SEQUENCES).await;
}

async fn assert_agreement(first: u64, sequences: u64) {
    let workspace = reference_workspace();
    let template = WorldTemplate::new(workspace.clone(), "defi_rich", ChainKind::Embedded).expect("a world");
    let case = rich_case(&workspace);
    let mut verdicts: BTreeMap<Option<bool>, u64> = BTreeMap::new();
    for seed in first..first + sequences {
        let played = play(&template, &case, seed).await;
        let wanted = expected(&played.judge);
        let found = judgement(&workspace, &played.case, played.events);
        let faults = played.judge.faults();
        assert_eq!(found, wanted, "seed {seed}: {faults:#?} after {:#?}", played.log);
        *verdicts.entry(found.authorized).or_default() += 1;
    }
    // Neither verdict is rare.
    for verdict in [Some(true), Some(false)] {
        assert!(verdicts.get(&verdict).copied().unwrap_or_default() * 20 > sequences, "{verdicts:?}");
    }
}

/// Change of what an oracle reads.
type ReadingFault = fn(&mut Vec<Event>);

/// Faults of an oracle.
const FAULTS: &[(&str, ReadingFault)] = &[
    ("positions are not read", |events| retain_effects(events, |effect| !matches!(effect, Effect::Position { .. }))),
    ("allowances are not read", |events| retain_effects(events, |effect| !matches!(effect, Effect::Allowance { .. }))),
    ("parties that gain are not read", |events| {
        retain_effects(events, |effect| !matches!(effect, Effect::Balance { holder, .. } if !holder.own));
    }),
    ("transactions of others are not read", |events| {
        events.retain(|event| !matches!(&event.happened, EventKind::Mined { what, .. } if !what.from.own));
    }),
    ("signatures are not read", |events| events.retain(|event| !matches!(&event.happened, EventKind::Signed { .. }))),
    ("only one chain is read", |events| {
        events.retain(|event| !matches!(&event.happened, EventKind::Mined { what, .. } if what.chain != 1));
    }),
    ("only the first transaction is read", |events| {
        let mut seen = false;
        events.retain(|event| !matches!(event.happened, EventKind::Mined { .. }) || !std::mem::replace(&mut seen, true));
    }),
    ("the native coin is not read", |events| {
        retain_effects(events, |effect| !matches!(effect, Effect::Balance { asset, .. } if asset == "ETH"));
    }),
];

fn retain_effects(events: &mut [Event], keep: impl Fn(&Effect) -> bool) {
    for event in events {
        if let EventKind::Mined { what, .. } = &mut event.happened {
            what.effects.retain(&keep);
        }
    }
}

#[tokio::test]
async fn faults_of_the_oracle_are_found() {
    let workspace = reference_workspace();
    let template = WorldTemplate::new(workspace.clone(), "defi_rich", ChainKind::Embedded).expect("a world");
    let case = rich_case(&workspace);
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..SEQUENCES {
        let played = play(&template, &case, seed).await;
        for (name, fault) in FAULTS {
            let mut events = played.events.clone();
            fault(&mut events);
            *found.entry(name).or_default() += u64::from(judgement(&workspace, &played.case, events) != expected(&played.judge));
        }
    }
    assert!(FAULTS.iter().all(|(name, _)| found[name] > 0), "{found:?}");
}
