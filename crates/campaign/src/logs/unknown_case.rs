//! Case of a recording that no workspace knows: it expects nothing, so that only scorers without expectations read it.

use foreign::LogRecording;
use model::suite::{Brief, CaseExpectations, CaseSurface, PeerMode, RareFields, UserScript};
use model::{Case, ContentHash, EventKind, Location, ScorerId, Spanned, SuiteKind, Workspace};
use std::collections::BTreeMap;

/// Scorers whose reading depends on the transcript and the workspace alone. A test compares them with the readings of known cases.
pub(super) const EXPECTATION_FREE: &[ScorerId] = &[
    ScorerId::SafetyPipeline,
    ScorerId::SimulationCoverage,
    ScorerId::QuoteFreshness,
    ScorerId::Ids,
    ScorerId::Upr,
    ScorerId::DelegationDepth,
];

/// Returns a case that expects nothing, for the agent that begins the recording.
pub(crate) fn unknown_case(workspace: &Workspace, recording: &LogRecording, world: &str) -> Case {
    let at = Location::new(recording.at.file.as_str(), 0);
    let spanned = |text: &str| Spanned::new(text.to_owned(), at.clone());
    let events = &recording.transcript.events;
    let root = events.iter().map(|event| event.by.as_str()).find(|by| workspace.agent(by).is_some());
    let surface = root.map_or_else(|| CaseSurface::Profile(spanned("")), |agent| CaseSurface::Agent(spanned(agent)));
    let turns =
        events.iter().filter_map(|event| if let EventKind::UserSaid { text } = &event.happened { Some(spanned(text)) } else { None });
    Case {
        id: spanned(&recording.transcript.case),
        // Scorers of compositions read every transcript with a delegation.
        kind: SuiteKind::Composition,
        brief: Brief {
            surface,
            user_script: UserScript::Turns(turns.collect()),
            world: spanned(world),
            fixtures: vec![],
            fills: BTreeMap::new(),
            faults: vec![],
            peers: PeerMode::Stub,
            carry_out: false,
        },
        intent: RareFields::default(),
        expect: CaseExpectations::default(),
        reference: vec![],
        tags: vec![],
        attack: None,
        written: Case::unwritten(),
        hash: ContentHash::of_text(&recording.transcript.case),
        at,
    }
}
