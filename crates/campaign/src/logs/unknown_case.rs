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

/// Returns whether a host that is no agent of the workspace begins with one of its skills, which it or the skill's agent then carries out.
fn begins_with_skill(workspace: &Workspace, recording: &LogRecording) -> bool {
    let mut actions = recording
        .transcript
        .events
        .iter()
        .filter(|event| matches!(event.happened, EventKind::Activated { .. } | EventKind::Called { .. } | EventKind::Delegated { .. }));
    actions.next().is_some_and(|first| {
        let is_skill = matches!(&first.happened, EventKind::Activated { skill, .. } if workspace.skill(skill).is_some());
        is_skill && first.depth == 0 && workspace.agent(&first.by).is_none()
    })
}

/// Makes a case of live traffic one of agents, also if the trace names none of the workspace: the name is the sender's choice, and the rules
/// for what agents do hold for every name.
pub(super) fn held_to_rules_of_agents(mut case: Case, recording: &LogRecording) -> Case {
    if !case.brief.runs_agents() {
        let acts = |event: &&model::Event| matches!(event.happened, EventKind::Called { .. } | EventKind::Delegated { .. });
        let name = recording.transcript.events.iter().find(acts).map_or("unknown", |event| event.by.as_str());
        case.brief.surface = CaseSurface::Agent(Spanned::new(name.to_owned(), case.at.clone()));
    }
    case
}

/// Returns a case that expects nothing, for the agent that begins the recording.
pub(crate) fn unknown_case(workspace: &Workspace, recording: &LogRecording, world: &str) -> Case {
    let at = Location::new(recording.at.file.as_str(), 0);
    let spanned = |text: &str| Spanned::new(text.to_owned(), at.clone());
    let events = &recording.transcript.events;
    let carries_out_skill = begins_with_skill(workspace, recording);
    let root = events.iter().map(|event| event.by.as_str()).find(|by| workspace.agent(by).is_some());
    let surface = match root {
        _ if carries_out_skill => CaseSurface::Skills,
        Some(agent) => CaseSurface::Agent(spanned(agent)),
        None => CaseSurface::Profile(spanned("")),
    };
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
            carry_out: carries_out_skill,
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
