//! Seeded faults: the reference run of a case with one mistake. Each predicts the gates that it makes miss, so that a gate which
//! cannot fail is found. Pure functions over a workspace.

mod choice;
mod edit;
mod scene;
mod table;

pub use choice::{FaultChoice, FaultError};
pub use scene::FaultScene;
pub use table::{FAULTS, fault};

use model::ScorerId;
use model::suite::{Case, SubjectScript};
use model::{ContentHash, Workspace};

/// One mistake of an agent that otherwise plays the reference.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub id: &'static str,
    pub about: &'static str,
    /// Scorer whose gates it makes miss.
    pub primary: ScorerId,
    /// Scorers whose gates it may make miss too.
    pub also: &'static [ScorerId],
    /// Returns the faulty script; none for cases in which the fault is not possible.
    pub script: fn(&FaultScene<'_>) -> Option<SubjectScript>,
    /// A judge that rubrics are put to denies the work.
    pub denied_by_judge: bool,
}

/// Scorers that sum up others, or read what a case states itself. Any fault may make their gates miss.
const ANY_FAULT: &[ScorerId] = &[
    ScorerId::CasePass,
    ScorerId::Trajectory,
    ScorerId::Judged,
    ScorerId::Post,
    ScorerId::Forbid,
    ScorerId::NoTool,
    ScorerId::Assertions,
    ScorerId::ToolCallF1,
    ScorerId::ToolCallF1Multiset,
    ScorerId::ToolCallF1Ordered,
];

impl Fault {
    const fn new(
        id: &'static str,
        about: &'static str,
        primary: ScorerId,
        also: &'static [ScorerId],
        script: fn(&FaultScene<'_>) -> Option<SubjectScript>,
    ) -> Self {
        Self { id, about, primary, also, script, denied_by_judge: false }
    }

    /// Returns the faulty script for a case; none if the fault is not possible there.
    pub fn script_for(&self, workspace: &Workspace, case: &Case) -> Option<SubjectScript> {
        (self.script)(&FaultScene::new(workspace, case))
    }

    /// Returns whether a gate of this scorer may miss because of the fault.
    pub fn predicts(&self, scorer: ScorerId) -> bool {
        self.primary == scorer || self.also.contains(&scorer) || ANY_FAULT.contains(&scorer)
    }

    /// Returns the cases in which the fault is possible, in the order in which a dose takes them: by the hash of their id.
    pub fn cases<'w>(&self, workspace: &Workspace, cases: impl IntoIterator<Item = &'w Case>) -> Vec<&'w Case> {
        let possible = cases.into_iter().filter(|case| self.script_for(workspace, case).is_some());
        let mut ordered: Vec<(ContentHash, &Case)> = possible.map(|case| (ContentHash::of_text(&case.id), case)).collect();
        ordered.sort_by(|one, other| one.0.cmp(&other.0));
        ordered.into_iter().map(|(_, case)| case).collect()
    }
}
