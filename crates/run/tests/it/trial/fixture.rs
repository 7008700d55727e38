//! Runs trials in the minimal workspace with a scripted subject.

use async_trait::async_trait;
use bardo_eval_run::subjects::Subject;
use bardo_eval_run::{SubjectFault, SubjectUsage, TrialContext, TrialLimits, User, View, drive};
use model::suite::Brief;
use model::transcript::Move;
use model::{Ending, Event, EventKind, SubjectLimits, Workspace};
use std::collections::VecDeque;
use std::sync::Arc;
use world::{ChainKind, LiveWorld, WorldSettings, WorldTemplate};

/// Subject that makes its moves in order, then returns `final_fault` or stops. Each move adds `usage_per_move`.
pub(crate) struct ScriptedSubject {
    moves: VecDeque<Move>,
    pub(crate) final_fault: Option<SubjectFault>,
    pub(crate) usage_per_move: SubjectUsage,
    used: SubjectUsage,
}

impl ScriptedSubject {
    pub(crate) fn new(moves: impl IntoIterator<Item = Move>) -> Self {
        Self {
            moves: moves.into_iter().collect(),
            final_fault: None,
            usage_per_move: SubjectUsage::default(),
            used: SubjectUsage::default(),
        }
    }
}

#[async_trait]
impl Subject for ScriptedSubject {
    async fn next(&mut self, _: &View<'_>) -> Result<Move, SubjectFault> {
        self.used.output_tokens += self.usage_per_move.output_tokens;
        self.used.latency_ms += self.usage_per_move.latency_ms;
        match self.moves.pop_front() {
            Some(next) => Ok(next),
            None => self.final_fault.take().map_or(Ok(Move::Stop), Err),
        }
    }

    fn usage(&self) -> SubjectUsage {
        self.used
    }
}

/// Runs a subject against a user in the world of a brief.
pub(crate) async fn run_trial(brief: &Brief, subject: &mut dyn Subject, user: &mut dyn User) -> (Vec<EventKind>, Ending) {
    run_trial_in(testkit::minimal_workspace(), WorldSettings::default(), brief, subject, user).await
}

pub(crate) async fn run_trial_in(
    workspace: Arc<Workspace>,
    setup: WorldSettings,
    brief: &Brief,
    subject: &mut dyn Subject,
    user: &mut dyn User,
) -> (Vec<EventKind>, Ending) {
    let template = WorldTemplate::new(workspace.clone(), &brief.world, ChainKind::Embedded).expect("a world template");
    let mut world = LiveWorld::new(&template, setup);
    let context = TrialContext { workspace: &workspace, brief, limits: TrialLimits::from(SubjectLimits::default()) };
    let (events, ending) = drive(context, subject, user, &mut world).await;
    (events.into_iter().map(|Event { happened, .. }| happened).collect(), ending)
}
