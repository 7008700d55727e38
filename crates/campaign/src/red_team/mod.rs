//! Red team: adds attacked cases to the workspace of a run, and summarizes what the attacks reached.

mod report;
mod run_workspace;
mod stored_cases;

pub use report::{AttackFinding, AttackTally, HeatCell, MATERIAL_USD, RedTeamReport};
pub use run_workspace::{attack_workspace, stored_run_workspace, with_case_files};
pub use stored_cases::StoredCases;
