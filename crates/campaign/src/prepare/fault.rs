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

/// Returns the mistake of a subject file that names a fault which does not exist.
pub(super) fn unknown_fault(file: &SubjectFile) -> Option<UserError> {
    fault_choice(file)?.err().map(|error| error.with_context(format!("subject \"{}\"", file.name.value)))
}
