//! Every write tool that a profile or agent has is acted with by a reference, and seen on chain.

use crate::scripted_agents::play;
use bardo_eval_campaign::CaseSelection;
use model::transcript::TxOutcome;
use model::{EventKind, OpClass, Tool};
use std::collections::{BTreeMap, BTreeSet};

#[tokio::test(flavor = "multi_thread")]
async fn every_write_tool_is_seen_on_chain() {
    let workspace = testkit::reference_workspace();
    let record = play(None, "reference", &CaseSelection::default()).await;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for transcript in &record.transcripts {
        let mut called: BTreeMap<u32, &str> = BTreeMap::new();
        for event in &transcript.events {
            if let EventKind::Called { call, tool, .. } = &event.happened {
                called.extend(workspace.tool(tool).map(|tool| (*call, tool.name.as_str())));
            }
            let signed = if let EventKind::Signed { origin, .. } = &event.happened { origin.call } else { None };
            let mined = if let EventKind::Mined { origin, what } = &event.happened
                && what.outcome == TxOutcome::Success
            {
                origin.call
            } else {
                None
            };
            seen.extend(signed.or(mined).and_then(|call| called.get(&call)));
        }
    }
    let shown = workspace.profiles.iter().flat_map(|profile| profile.select(&workspace.tools));
    let held = workspace.agents.iter().flat_map(|agent| &agent.tools).filter_map(|name| workspace.tool(name));
    // Memory is kept off chain.
    let acts_on_chain = |tool: &&Tool| tool.writes() && tool.acts.class() != OpClass::Remember;
    let reachable: BTreeSet<&str> = shown.chain(held).filter(acts_on_chain).map(|tool| tool.name.as_str()).collect();
    assert!(reachable.len() > 140, "{}", reachable.len());
    assert_eq!(reachable.difference(&seen).collect::<Vec<_>>(), Vec::<&&str>::new());
}
