//! What is to be run, and how.

use model::{Claim, Outline, SubjectFile, Workspace};
use run::Company;
use run::judge::Judge;
use run::user::Actor;
use std::sync::Arc;
use world::{ChainKind, Defence, Foreign};

#[derive(Debug, Clone)]
pub struct Request {
    pub workspace: Arc<Workspace>,
    pub outline: Outline,
    pub claim: Claim,
    pub concurrency: usize,
    /// What the chains run on.
    pub chains: ChainKind,
    /// Whether hooks stop a call or only note that they would.
    pub defence: Defence,
    /// Who answers for imported tools.
    pub foreign: Foreign,
    pub subjects: Vec<SubjectFile>,
    /// The subjects, ready to play.
    pub company: Arc<Company>,
    pub aides: Aides,
}

/// Models that help in a run without being evaluated.
#[derive(Debug, Clone, Default)]
pub struct Aides {
    /// Who is asked about rubrics; without one they are not judged.
    pub judge: Option<Judge>,
    /// Who plays personas; without one they play by their script.
    pub user: Option<Actor>,
}
