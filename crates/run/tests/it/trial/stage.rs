//! The minimal workspace and its world, and a subject that does what a test says.

use async_trait::async_trait;
use bardo_eval_run::subjects::Subject;
use bardo_eval_run::{Limits, Scene, SubjectFault, Used, User, View, drive};
use model::suite::Brief;
use model::transcript::Move;
use model::{Ending, Event, Files, Happened, SubjectLimits, Workspace};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use world::{ChainKind, Setup, Stage};

#[expect(clippy::disallowed_methods, reason = "a test reads the files it is about")]
fn walk(root: &Path, folder: &Path, files: &mut Files) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            walk(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            files.insert(name, std::fs::read_to_string(&path).expect("text"));
        }
    }
}

/// The minimal workspace, from the repository.
pub(crate) fn files() -> Files {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/minimal"));
    let mut files = Files::default();
    walk(root, root, &mut files);
    files
}

pub(crate) fn workspace() -> Arc<Workspace> {
    Arc::new(Workspace::load(&files()).unwrap_or_else(|problems| panic!("{problems:#?}")))
}

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
    play_in(workspace(), Setup::default(), brief, subject, user).await
}

pub(crate) async fn play_in(
    workspace: Arc<Workspace>,
    setup: Setup,
    brief: &Brief,
    subject: &mut dyn Subject,
    user: &mut dyn User,
) -> (Vec<Happened>, Ending) {
    let stage = Stage::new(workspace.clone(), &brief.world, ChainKind::Embedded).expect("a stage");
    let mut world = stage.open(setup);
    let scene = Scene { workspace: &workspace, brief, limits: Limits::from(SubjectLimits::default()) };
    let (events, ending) = drive(scene, subject, user, &mut world).await;
    (events.into_iter().map(|Event { happened, .. }| happened).collect(), ending)
}
