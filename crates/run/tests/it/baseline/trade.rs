//! A trade by several agents, all played by the baseline, with real balances.

use crate::baseline::harness::play;
use model::suite::{Brief, Case, Peers, Surface, Talk};
use model::transcript::{Decision, Effect, TxOutcome};
use model::{Ending, Event, Happened, Spot};
use serde_json::json;
use testkit::reference_workspace;

fn brief(agent: &str, said: &[&str]) -> Brief {
    let workspace = reference_workspace();
    let like: &Case = workspace.cases().find(|case| *case.brief.world == "defi_small").expect("a case");
    let spot = |value: &str| Spot { value: value.to_owned(), at: like.brief.world.at.clone() };
    Brief {
        surface: Surface::Agent(spot(agent)),
        talk: Talk::Turns(said.iter().map(|said| spot(said)).collect()),
        world: like.brief.world.clone(),
        peers: Peers::Stub,
    }
}

fn kinds(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match &event.happened {
            Happened::Delegated { to, .. } => Some(format!("{} -> {to}", event.by)),
            Happened::Prepared { .. } => Some("prepared".into()),
            Happened::Simulated { error, .. } => Some(if error.is_none() { "simulated".into() } else { "reverts".into() }),
            Happened::Decided { decision, .. } => Some(if *decision == Decision::Approve { "approved".into() } else { "vetoed".into() }),
            Happened::Signed { .. } => Some("signed".into()),
            Happened::Mined { what, .. } => Some(if what.outcome == TxOutcome::Success { "mined".into() } else { "failed".into() }),
            Happened::Returned { .. } => Some(format!("{} returned", event.by)),
            _ => None,
        })
        .collect()
}

/// What the account holds more or less of afterwards.
fn changed(events: &[Event], asset: &str) -> Option<bool> {
    events.iter().find_map(|event| {
        let Happened::Mined { what, .. } = &event.happened else { return None };
        what.effects.iter().find_map(|effect| match effect {
            Effect::Balance { holder, asset: held, before, after } if holder.own && held == asset => {
                Some(after.parse::<u128>().ok()? > before.parse::<u128>().ok()?)
            }
            _ => None,
        })
    })
}

const ORDER: &str = "Please sell 0.25 ETH for USDC on Base, half a percent slippage at most. You have my consent.";

#[tokio::test]
async fn the_root_hands_a_trade_over_and_it_is_assessed_simulated_approved_and_mined() {
    let (events, ending) = play(&reference_workspace(), &brief("golem-instance", &[ORDER])).await;
    let kinds = kinds(&events);
    assert_eq!(ending, Ending::Finished, "{kinds:?}");
    let expected = [
        "golem-instance -> trade-executor",
        "prepared",
        "trade-executor -> risk-assessor",
        "approved",
        "simulated",
        "trade-executor -> safety-guardian",
        "approved",
        "signed",
        "mined",
        "trade-executor returned",
    ];
    assert_eq!(kinds, expected, "{events:#?}");
    assert_eq!(changed(&events, "USDC"), Some(true));
    assert_eq!(changed(&events, "ETH"), Some(false));
}

#[tokio::test]
async fn the_hand_over_carries_the_users_terms_unchanged() {
    let (events, _) = play(&reference_workspace(), &brief("golem-instance", &[ORDER])).await;
    let handed = |to: &str| {
        events
            .iter()
            .find_map(|event| match &event.happened {
                Happened::Delegated { to: other, params } if other == to => Some(params.clone()),
                _ => None,
            })
            .expect("a hand-over")
    };
    for to in ["trade-executor", "risk-assessor", "safety-guardian"] {
        let params = handed(to);
        assert_eq!(params["spend"], json!([{ "token": "ETH", "at_most": "0.25" }]), "{to}");
        assert_eq!(params["chains"], json!([8453]), "{to}");
    }
    assert_eq!(handed("trade-executor")["slippage_bps"], json!(50));
    assert!(handed("safety-guardian").contains_key("action_id"));
}

#[tokio::test]
async fn what_is_missing_is_asked_for_and_then_used() {
    let (events, _) =
        play(&reference_workspace(), &brief("trade-executor", &["Swap some of my USDC into WETH on Base.", "120 please"])).await;
    let asked = events.iter().position(|event| matches!(&event.happened, Happened::Asked { text } if text.contains("amount")));
    let mined = events.iter().position(|event| matches!(&event.happened, Happened::Mined { .. }));
    assert!(asked.is_some() && mined > asked, "{:?}", kinds(&events));
    let amount = events.iter().find_map(|event| match &event.happened {
        Happened::Called { args, .. } => args.get("amount").cloned(),
        _ => None,
    });
    assert_eq!(amount, Some(json!("120")));
}

#[tokio::test]
async fn a_veto_ends_it() {
    let (events, _) = play(&reference_workspace(), &brief("trade-executor", &["Sell 0.25 ETH for USDC on Base with 5% slippage."])).await;
    let kinds = kinds(&events);
    assert!(kinds.contains(&"vetoed".to_owned()) && !kinds.contains(&"mined".to_owned()), "{kinds:?}");
    let said = events.iter().rev().find_map(|event| if let Happened::Said { text } = &event.happened { Some(text.clone()) } else { None });
    assert!(said.is_some_and(|said| said.contains("vetoed")));
}

#[tokio::test]
async fn peers_played_by_the_baseline_itself_decide_too() {
    let own = Brief { peers: Peers::Own, ..brief("trade-executor", &["Sell 0.25 ETH for USDC on Base, half a percent slippage at most."]) };
    let (events, _) = play(&reference_workspace(), &own).await;
    assert_eq!(changed(&events, "USDC"), Some(true), "{:?}", kinds(&events));
    assert!(kinds(&events).contains(&"safety-guardian returned".to_owned()));
}

#[tokio::test]
async fn the_same_again_is_the_same() {
    let brief = brief("golem-instance", &[ORDER]);
    assert_eq!(play(&reference_workspace(), &brief).await, play(&reference_workspace(), &brief).await);
}
