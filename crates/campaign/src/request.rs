//! What is to be run, and how.

use model::{Claim, Outline, SubjectFile, Workspace};
use run::Company;
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
}
