//! `explain`: manual of a check, scorer, metric or gate, and the facts of a tool.

use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, ExplainExamples, ExplainTopic};
use crate::workspace_source::WorkspaceSource;
use faults::{FAULTS, fault};
use model::{CaseTexts, OracleId, ScorerId, UserError, Workspace, name_remedy};
use score::checks::CHECKS;
use score::scorers::scorer;

pub(crate) fn explain(io: &CliOutput, source: &WorkspaceSource, name: &str) -> ExitKind {
    let topics = built_in(name);
    if !topics.is_empty() {
        return io.print_result(&report::explain(io, &topics, examples(io, source)), ExitKind::Clean);
    }
    // Gates come last because they need a workspace, which may be broken.
    let workspace = match super::open_workspace(io, source, "explain") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let gate = workspace.gates.iter().find(|gate| *gate.id == name).map(|gate| ExplainTopic::Gate(&workspace, gate));
    let own = workspace.scorers.iter().find(|scorer| *scorer.id == name).map(|scorer| ExplainTopic::ExternalScorer(&workspace, scorer));
    match own.or(gate).or_else(|| workspace.tool(name).map(|tool| ExplainTopic::Tool(&workspace, tool))) {
        Some(topic) => io.print_result(&report::explain(io, &[topic], ExplainExamples::Shown), ExitKind::Clean),
        None => {
            let remedy = match name_remedy("check, scorer, gate or tool", name, names(&workspace)) {
                none if none.is_empty() => "`bardo-eval list` prints checks, scorers, gates and tools".to_owned(),
                guess => guess,
            };
            report::print_error(io, "explain", &UserError::new(format!("unknown check, scorer, gate or tool \"{name}\""), remedy))
        }
    }
}

/// Returns whether examples are shown. They are from the small DeFi workspace and would mislead where its rules are not in force.
fn examples(io: &CliOutput, source: &WorkspaceSource) -> ExplainExamples {
    let has_policy = !io.has_chosen_workspace() || source.open(CaseTexts::Dropped).map_or(true, |workspace| workspace.policy.is_some());
    if has_policy { ExplainExamples::Shown } else { ExplainExamples::LeftOut }
}

/// Returns the scorer of a name first, then the check that shares it.
fn built_in(name: &str) -> Vec<ExplainTopic<'static>> {
    let id = ScorerId::parse(name);
    let measured = id.and_then(scorer).map(ExplainTopic::Scorer);
    let check = CHECKS.iter().find(|check| check.id() == name).map(|check| ExplainTopic::Check(*check));
    let oracle = OracleId::parse(name).map(ExplainTopic::Oracle);
    let fault = fault(name.strip_prefix("fault:").unwrap_or(name)).map(ExplainTopic::Fault);
    measured.into_iter().chain(check).chain(oracle).chain(fault).collect()
}

fn names(workspace: &Workspace) -> impl Iterator<Item = &str> {
    let checks = CHECKS.iter().map(|check| check.id());
    let scorers = ScorerId::ALL.iter().map(|(text, _)| *text);
    let tools = workspace.tools.iter().map(|tool| tool.name.as_str());
    let oracles = OracleId::ALL.iter().map(|(text, _)| *text);
    let own = workspace.scorers.iter().map(|scorer| scorer.id.as_str());
    let faults = FAULTS.iter().flat_map(|family| *family).map(|fault| fault.id);
    checks.chain(scorers).chain(oracles).chain(faults).chain(own).chain(workspace.gates.iter().map(|gate| gate.id.as_str())).chain(tools)
}
