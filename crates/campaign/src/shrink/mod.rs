//! Shrinking of failures: makes a successful attack or a failed case as small as it can be while it still fails, and writes it as a suite
//! of one case that `run` accepts.
//!
//! Every candidate is written as a file, read back and played, so that the reproducer is what was tested.

mod attack_steps;
mod case_steps;
mod case_text;
mod failure;
mod json_parts;
mod search;
mod shrunk_case;

pub use failure::MeasuredRate;
pub use search::ShrinkLimits;
pub use shrunk_case::{CaseSize, ShrunkCase};

use crate::execute::VariantPlayer;
use crate::prepare::PreparedRun;
use crate::run_store::RunStoreError;
use attack::{ATTACKER_MODEL, RewordableAttack};
use attack_steps::AttackReduction;
use case_text::CaseText;
use model::{AttackKind, AttackRole, Case, UserError};
use search::ShrinkSearch;

/// Reason why a case has no reproducer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShrinkError {
    #[error("the run has no case \"{0}\"")]
    UnknownCase(String),
    #[error("the run has no subject \"{0}\"")]
    UnknownSubject(String),
    #[error("{0} is a fault of the environment and has no text to shrink; run it as it is")]
    Fault(String),
    #[error("{0} has no attack; it is the twin of one")]
    Twin(String),
    #[error("the text of {0} was worded by a model while the trial ran")]
    WordedByModel(String),
    #[error("{0} is not an attack of a probe of this workspace, so its text cannot be separated from its scenario")]
    NoProbe(String),
    #[error("{case} did not fail in {}: nothing to shrink", model::count(usize::try_from(*of).unwrap_or(usize::MAX), "trial"))]
    DoesNotFail { case: String, of: u64 },
    #[error("{case} cannot be written as a file: {why}")]
    Unwritable { case: String, why: String },
    #[error("a trial was aborted: {0}")]
    Aborted(String),
    #[error("{0}")]
    Store(String),
}

impl ShrinkError {
    /// Returns whether the failure was tried and did not happen, or could not be measured; otherwise the request was wrong.
    pub fn is_inconclusive(&self) -> bool {
        match self {
            ShrinkError::DoesNotFail { .. } | ShrinkError::Aborted(_) | ShrinkError::Store(_) => true,
            ShrinkError::UnknownCase(_)
            | ShrinkError::UnknownSubject(_)
            | ShrinkError::Fault(_)
            | ShrinkError::Twin(_)
            | ShrinkError::WordedByModel(_)
            | ShrinkError::NoProbe(_)
            | ShrinkError::Unwritable { .. } => false,
        }
    }
}

impl From<ShrinkError> for UserError {
    fn from(error: ShrinkError) -> Self {
        let remedy = match &error {
            ShrinkError::DoesNotFail { .. } => {
                "name the subject that failed with --subject, or its run with --run; --trials tries more often"
            }
            ShrinkError::NoProbe(_) => "shrink the case that it was made from",
            ShrinkError::Aborted(_)
            | ShrinkError::Store(_)
            | ShrinkError::UnknownCase(_)
            | ShrinkError::UnknownSubject(_)
            | ShrinkError::Fault(_)
            | ShrinkError::Twin(_)
            | ShrinkError::WordedByModel(_)
            | ShrinkError::Unwritable { .. } => "",
        };
        UserError::new(error.to_string(), remedy)
    }
}

impl From<RunStoreError> for ShrinkError {
    fn from(error: RunStoreError) -> Self {
        ShrinkError::Store(error.to_string())
    }
}

/// Shrinks a case of a prepared run that is not executed otherwise.
///
/// # Errors
/// If the case does not fail or cannot be shrunk.
pub async fn shrink_alone(prepared: &PreparedRun, case: &str, subject: &str, limits: ShrinkLimits) -> Result<ShrunkCase, ShrinkError> {
    let _ledger = VariantPlayer::open_ledger(prepared)?;
    shrink_case(prepared, case, subject, limits).await
}

/// Shrinks a case of a run whose ledger is open, within its budget.
///
/// # Errors
/// If the case does not fail or cannot be shrunk.
pub async fn shrink_case(prepared: &PreparedRun, case: &str, subject: &str, limits: ShrinkLimits) -> Result<ShrunkCase, ShrinkError> {
    let plan = prepared.plan();
    let at = plan.cases().position(|one| *one.id == case).ok_or_else(|| ShrinkError::UnknownCase(case.to_owned()))?;
    let subject_at =
        plan.subjects().iter().position(|one| *one.name == subject).ok_or_else(|| ShrinkError::UnknownSubject(subject.to_owned()))?;
    let original = plan.case(at);
    check_kind(original)?;
    let workspace = plan.workspace().clone();
    let player = VariantPlayer::new(prepared, at, subject_at);
    if original.attack.is_some() {
        let attack = RewordableAttack::of_case(&workspace, original).ok_or_else(|| ShrinkError::NoProbe(case.to_owned()))?;
        let reduction = AttackReduction::new(&attack, original).ok_or_else(|| ShrinkError::NoProbe(case.to_owned()))?;
        let text = CaseText::of_case(original, case, reduction.texts());
        let mut search = ShrinkSearch::start(player, &workspace, text, limits).await?;
        reduction.run(&mut search).await?;
        search.finish(subject).await
    } else {
        let text = CaseText::of_case(original, case, vec![]);
        let mut search = ShrinkSearch::start(player, &workspace, text.clone(), limits).await?;
        case_steps::reduce_case(&mut search, text).await?;
        let is_of_file = plan.spec().settings.case_files.iter().any(|file| *file.path == *original.at.file);
        Ok(ShrunkCase { is_distinct: is_of_file, ..search.finish(subject).await? })
    }
}

fn check_kind(case: &Case) -> Result<(), ShrinkError> {
    let Some(attack) = case.attack.as_deref() else { return Ok(()) };
    let id = case.id.value.clone();
    match (attack.kind, attack.role) {
        (_, AttackRole::Twin) => Err(ShrinkError::Twin(id)),
        (AttackKind::Fault, AttackRole::Attacked) => Err(ShrinkError::Fault(id)),
        (AttackKind::Inject, AttackRole::Attacked) if attack.strategy == ATTACKER_MODEL => Err(ShrinkError::WordedByModel(id)),
        (AttackKind::Inject, AttackRole::Attacked) => Ok(()),
    }
}
