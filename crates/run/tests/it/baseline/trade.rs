//! Trade by several agents, all played by the baseline, with real balances.

use crate::baseline::harness::run_baseline;
use model::suite::{Brief, Case, CaseSurface, PeerMode, UserScript};
use model::transcript::{Effect, ReviewDecision, TxOutcome};
use model::{Ending, Event, EventKind, Spanned};
use serde_json::json;
use std::collections::BTreeMap;
use testkit::reference_workspace;

fn brief(agent: &str, said: &[&str]) -> Brief {
    let workspace = reference_workspace();
    let like: &Case = workspace.cases().find(|case| *case.brief.world == "defi_small").expect("a case");
    let spot = |value: &str| Spanned { value: value.to_owned(), at: like.brief.world.at.clone() };
    Brief {
        carry_out: false,
        fixtures: vec![],
        fills: BTreeMap::new(),
        faults: vec![],
        surface: CaseSurface::Agent(spot(agent)),
        user_script: UserScript::Turns(said.iter().map(|said| spot(said)).collect()),
        world: like.brief.world.clone(),
        peers: PeerMode::Stub,
    }
}

fn kinds(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match &event.happened {
            EventKind::Delegated { to, .. } => Some(format!("{} -> {to}", event.by)),
            EventKind::Prepared { .. } => Some("prepared".into()),
            EventKind::Simulated { error, .. } => Some(if error.is_none() { "simulated".into() } else { "reverts".into() }),
            EventKind::Decided { decision, .. } => {
                Some(if *decision == ReviewDecision::Approve { "approved".into() } else { "vetoed".into() })
            }
            EventKind::Signed { .. } => Some("signed".into()),
            EventKind::Mined { what, .. } => Some(if what.outcome == TxOutcome::Success { "mined".into() } else { "failed".into() }),
            EventKind::Returned { .. } => Some(format!("{} returned", event.by)),
            _ => None,
        })
        .collect()
}

/// Reports whether the account's balance of an asset increased; `None` if it did not change.
fn balance_change(events: &[Event], asset: &str) -> Option<bool> {
    events.iter().find_map(|event| {
        let EventKind::Mined { what, .. } = &event.happened else { return None };
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
async fn delegated_trade_is_simulated_approved_and_mined() {
    let (events, ending) = run_baseline(&reference_workspace(), &brief("golem-instance", &[ORDER])).await;
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
    assert_eq!(balance_change(&events, "USDC"), Some(true));
    assert_eq!(balance_change(&events, "ETH"), Some(false));
}

#[tokio::test]
async fn delegation_params_carry_the_users_terms() {
    let (events, _) = run_baseline(&reference_workspace(), &brief("golem-instance", &[ORDER])).await;
    let handed = |to: &str| {
        events
            .iter()
            .find_map(|event| match &event.happened {
                EventKind::Delegated { to: other, params } if other == to => Some(params.clone()),
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
async fn missing_params_are_asked_for_and_used() {
    let (events, _) =
        run_baseline(&reference_workspace(), &brief("trade-executor", &["Swap some of my USDC into WETH on Base.", "120 please"])).await;
    let asked = events.iter().position(|event| matches!(&event.happened, EventKind::Asked { text } if text.contains("amount")));
    let mined = events.iter().position(|event| matches!(&event.happened, EventKind::Mined { .. }));
    assert!(asked.is_some() && mined > asked, "{:?}", kinds(&events));
    let amount = events.iter().find_map(|event| match &event.happened {
        EventKind::Called { args, .. } => args.get("amount").cloned(),
        _ => None,
    });
    assert_eq!(amount, Some(json!("120")));
}

#[tokio::test]
async fn veto_stops_the_trade() {
    let (events, _) =
        run_baseline(&reference_workspace(), &brief("trade-executor", &["Sell 0.25 ETH for USDC on Base with 5% slippage."])).await;
    let kinds = kinds(&events);
    assert!(kinds.contains(&"vetoed".to_owned()) && !kinds.contains(&"mined".to_owned()), "{kinds:?}");
    let said = events.iter().rev().find_map(|event| if let EventKind::Said { text } = &event.happened { Some(text.clone()) } else { None });
    assert!(said.is_some_and(|said| said.contains("vetoed")));
}

#[tokio::test]
async fn baseline_peers_decide() {
    let own =
        Brief { peers: PeerMode::Own, ..brief("trade-executor", &["Sell 0.25 ETH for USDC on Base, half a percent slippage at most."]) };
    let (events, _) = run_baseline(&reference_workspace(), &own).await;
    assert_eq!(balance_change(&events, "USDC"), Some(true), "{:?}", kinds(&events));
    assert!(kinds(&events).contains(&"safety-guardian returned".to_owned()));
}

#[tokio::test]
async fn baseline_trial_is_deterministic() {
    let brief = brief("golem-instance", &[ORDER]);
    assert_eq!(run_baseline(&reference_workspace(), &brief).await, run_baseline(&reference_workspace(), &brief).await);
}
