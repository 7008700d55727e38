//! Trials of the baseline.

use bardo_eval_run::subjects::{Baseline, BaselineIndex, Subject};
use bardo_eval_run::user::user_of;
use bardo_eval_run::{Heard, Limits, Scene, Seat, View, drive};
use model::suite::{Brief, Case, ExpectedCalls, SuiteKind};
use model::transcript::{Event, Move};
use model::{Ending, SubjectLimits, Workspace};
use std::sync::Arc;
use world::{ChainKind, LiveWorld, Setup, WorldTemplate};

/// Plays a brief to its end in the live world.
pub(crate) async fn play(workspace: &Arc<Workspace>, brief: &Brief) -> (Vec<Event>, Ending) {
    let stage = WorldTemplate::new(workspace.clone(), &brief.world, ChainKind::Embedded).expect("a world template");
    let mut world = LiveWorld::new(&stage, Setup { peers: brief.peers.clone(), ..Setup::default() });
    let mut subject = Baseline::new(Arc::new(BaselineIndex::new(workspace)));
    let mut user = user_of(workspace, &brief.talk, 1);
    let scene = Scene { workspace, brief, limits: Limits::from(SubjectLimits::default()) };
    drive(scene, &mut subject, user.as_mut(), &mut world).await
}

/// The first move at the seat of a brief, without a world.
pub(crate) async fn first_move(workspace: &Workspace, index: &Arc<BaselineIndex>, brief: &Brief) -> Move {
    let seat = Seat::of(workspace, brief);
    let heard = [Heard::User(brief.talk.opening().to_owned())];
    Baseline::new(index.clone()).next(&View { seat: &seat, depth: 0, heard: &heard }).await.expect("a move")
}

/// Whether the tools called at first are those of an accepted alternative; what is expected stays on this side.
pub(crate) async fn hits(workspace: &Workspace, index: &Arc<BaselineIndex>, case: &Case) -> Option<bool> {
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
