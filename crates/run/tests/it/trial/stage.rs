//! The minimal workspace and its world, and a subject that does what a test says.

use async_trait::async_trait;
use bardo_eval_run::subjects::Subject;
use bardo_eval_run::{Limits, Scene, SubjectFault, Used, User, View, drive};
use model::suite::Brief;
use model::transcript::Move;
use model::{Ending, Event, Happened, SubjectLimits, Workspace};
use std::collections::VecDeque;
use std::sync::Arc;
use world::{ChainKind, LiveWorld, Setup, WorldTemplate};

/// Makes its moves in order, then fails as told or stops; each move costs the same.
pub(crate) struct Played {
    moves: VecDeque<Move>,
    pub(crate) last: Option<SubjectFault>,
    pub(crate) each: Used,
    used: Used,
}

impl Played {
    pub(crate) fn new(moves: impl IntoIterator<Item = Move>) -> Self {
        Self { moves: moves.into_iter().collect(), last: None, each: Used::default(), used: Used::default() }
    }
}

#[async_trait]
impl Subject for Played {
    async fn next(&mut self, _: &View<'_>) -> Result<Move, SubjectFault> {
        self.used.output_tokens += self.each.output_tokens;
        self.used.latency_ms += self.each.latency_ms;
        match self.moves.pop_front() {
            Some(next) => Ok(next),
            None => self.last.take().map_or(Ok(Move::Stop), Err),
        }
    }

    fn used(&self) -> Used {
        self.used
    }
}

/// Plays a subject against a user in the world of a brief.
pub(crate) async fn play(brief: &Brief, subject: &mut dyn Subject, user: &mut dyn User) -> (Vec<Happened>, Ending) {
    play_in(testkit::minimal_workspace(), Setup::default(), brief, subject, user).await
}

pub(crate) async fn play_in(
    workspace: Arc<Workspace>,
    setup: Setup,
    brief: &Brief,
    subject: &mut dyn Subject,
    user: &mut dyn User,
) -> (Vec<Happened>, Ending) {
    let stage = WorldTemplate::new(workspace.clone(), &brief.world, ChainKind::Embedded).expect("a world template");
    let mut world = LiveWorld::new(&stage, setup);
    let scene = Scene { workspace: &workspace, brief, limits: Limits::from(SubjectLimits::default()) };
    let (events, ending) = drive(scene, subject, user, &mut world).await;
    (events.into_iter().map(|Event { happened, .. }| happened).collect(), ending)
}
