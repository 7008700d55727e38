//! Runs trials of the baseline.

use bardo_eval_run::subjects::{BaselineAgent, BaselineIndex, Subject};
use bardo_eval_run::user::scripted_user;
use bardo_eval_run::{AgentContext, Observation, TrialContext, TrialLimits, View, drive};
use model::suite::{Brief, Case, ExpectedCalls, SuiteKind};
use model::transcript::{Event, Move};
use model::{Ending, SubjectLimits, Workspace};
use std::sync::Arc;
use world::{ChainKind, LiveWorld, WorldSettings, WorldTemplate};

/// Runs a brief in the live world.
pub(crate) async fn run_baseline(workspace: &Arc<Workspace>, brief: &Brief) -> (Vec<Event>, Ending) {
    let template = WorldTemplate::new(workspace.clone(), &brief.world, ChainKind::Embedded).expect("a world template");
    let mut world = LiveWorld::new(&template, WorldSettings { peers: brief.peers.clone(), ..WorldSettings::default() });
    let mut subject = BaselineAgent::new(Arc::new(BaselineIndex::new(workspace)));
    let mut user = scripted_user(workspace, &brief.user_script, 1);
    let context = TrialContext { workspace, brief, limits: TrialLimits::from(SubjectLimits::default()) };
    drive(context, &mut subject, user.as_mut(), &mut world).await
}

/// Returns the first move for a brief, without a world.
pub(crate) async fn first_move(workspace: &Workspace, index: &Arc<BaselineIndex>, brief: &Brief) -> Move {
    let context = AgentContext::for_brief(workspace, brief);
    let observations = [Observation::User(brief.user_script.opening().to_owned())];
    BaselineAgent::new(index.clone()).next(&View { context: &context, depth: 0, observations: &observations }).await.expect("a move")
}

/// Reports whether the first move calls the tools of an accepted alternative. `None` for cases of other suites. The baseline never sees
/// the expectations.
pub(crate) async fn selects_expected_tools(workspace: &Workspace, index: &Arc<BaselineIndex>, case: &Case) -> Option<bool> {
    let wanted: Vec<Vec<String>> = match case.expect.calls.as_ref().filter(|_| case.kind == SuiteKind::ToolSelection)? {
        ExpectedCalls::AnyOf(alternatives) => {
            alternatives.iter().map(|calls| sorted(calls.iter().map(|call| call.tool.value.clone()).collect())).collect()
        }
        ExpectedCalls::NoTool(_) => vec![vec![]],
    };
    let called = match first_move(workspace, index, &case.brief).await {
        Move::Call(calls) => sorted(calls.into_iter().map(|call| call.tool).collect()),
        _ => vec![],
    };
    Some(wanted.contains(&called))
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}
