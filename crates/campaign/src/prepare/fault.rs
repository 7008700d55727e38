//! Faults of the subjects of a run, and the cases in which each commits its own.

use crate::plan::RunPlan;
use faults::{Fault, FaultChoice};
use model::suite::SubjectScript;
use model::{Case, ProviderKind, SubjectFile, UserError, Workspace};
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct PreparedFault {
    fault: &'static Fault,
    /// Ids of the cases in which it is committed.
    cases: BTreeSet<String>,
}

impl PreparedFault {
    /// Returns the faulty script of a case; none where the subject plays the reference.
    pub(super) fn script(&self, workspace: &Workspace, case: &Case) -> Option<SubjectScript> {
        self.cases.contains(case.id.as_str()).then(|| self.fault.script_for(workspace, case)).flatten()
    }
}

fn fault_choice(file: &SubjectFile) -> Option<Result<FaultChoice, UserError>> {
    let is_fault = file.provider == ProviderKind::Fault;
    is_fault.then(|| FaultChoice::parse(file.model.as_deref().unwrap_or_default()).map_err(UserError::from))
}

/// Returns the faults of the subjects of a plan, in their order.
pub(super) fn prepared_faults(plan: &RunPlan) -> Arc<[Option<PreparedFault>]> {
    let prepared = |file: &SubjectFile| {
        let choice = fault_choice(file)?.ok()?;
        Some(PreparedFault { fault: choice.fault, cases: choice.faulty_cases(plan.workspace(), plan.cases()) })
    };
    plan.subjects().iter().map(prepared).collect()
}

/// Returns the mistake of a subject file that names a fault which does not exist, or which no planned case lets it commit: there it would play
/// the reference, and pass.
pub(super) fn fault_mistake(plan: &RunPlan, file: &SubjectFile) -> Option<UserError> {
    let name = &file.name.value;
    let choice = match fault_choice(file)? {
        Ok(choice) => choice,
        Err(error) => return Some(error.with_context(format!("subject \"{name}\""))),
    };
    let is_committed = !choice.faulty_cases(plan.workspace(), plan.cases()).is_empty();
    (!is_committed).then(|| {
        let cases = model::count(plan.cases().count(), "selected case");
        let remedy = format!("select other cases; `bardo-eval explain {}` says what the fault needs", choice.fault.id);
        UserError::new(
            format!("subject \"{name}\": the fault is possible in none of {cases}, so the subject would play the reference"),
            remedy,
        )
    })
}
