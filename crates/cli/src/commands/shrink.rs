//! `shrink`: makes a failed case or a successful attack small, and prints it as a file that `run` accepts.

use super::run::run_environment;
use super::world::imported_tools::{self, ServerAccess};
use crate::args::{RunArgs, ShrinkArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use crate::{files, report, sandbox, stored_runs};
use ::run::external::AgentSandbox;
use campaign::{
    CaseSelection, JudgeRequest, PreparedRun, RedTeamReport, RunOptions, RunPlan, RunRequest, RunSpec, ShrinkError, ShrinkLimits, prepare,
    shrink_alone, shrink_case,
};
use model::{CaseTexts, UserError, Workspace};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Most findings of one run that are shrunk.
const MAX_SHRUNK_FINDINGS: usize = 5;
/// Seeds that ids of attacks may name.
const MAX_ATTACK_SEED: u64 = 100;

pub(crate) fn shrink(io: &CliOutput, source: &WorkspaceSource, args: &ShrinkArgs) -> ExitKind {
    const COMMAND: &str = "shrink";
    let workspace = match super::open_checked_workspace_with(io, source, COMMAND, CaseTexts::Kept) {
        Ok(workspace) => Arc::new(workspace),
        Err(exit) => return exit,
    };
    let sandbox = sandbox::agent_sandbox(None, source, &args.store.store);
    let (sandbox, spec, subject) = match sandbox.and_then(|sandbox| run_spec(args, &workspace, sandbox)) {
        Ok(found) => found,
        Err(error) => return report::print_refusal(io, COMMAND, &[error]),
    };
    let shrunk = super::block_on(async {
        let plan = RunPlan::resolve(spec, workspace.clone()).map_err(ShrinkRefusal::Request)?;
        if plan.spec().settings.sandbox.is_some() {
            sandbox::print_fallback(io, &sandbox.choice);
        }
        let options = plan.spec().options.clone();
        let answers = imported_tools::parse_tool_answers(source, &workspace, &options.foreign_tools, ServerAccess::of(&options));
        let environment = run_environment(source, sandbox, plan.spec()).map_err(|why| ShrinkRefusal::Request(vec![why]))?;
        let prepared = prepare(plan, &environment, answers).await.map_err(ShrinkRefusal::Request)?;
        shrink_alone(&prepared, &args.case, &subject, args.limits()).await.map_err(ShrinkRefusal::Failed)
    });
    match shrunk.map_err(|error| ShrinkRefusal::Request(vec![UserError::without_remedy(error.to_string())])).flatten() {
        Ok(shrunk) => {
            io.print_message(&report::shrunk_text(&shrunk));
            io.print_result(&report::shrunk(io, &shrunk), ExitKind::Clean)
        }
        Err(ShrinkRefusal::Failed(error)) if error.is_inconclusive() => {
            io.print_message(&UserError::from(error).to_string());
            ExitKind::Incomplete
        }
        Err(ShrinkRefusal::Failed(error)) => report::print_error(io, COMMAND, &error.into()),
        Err(ShrinkRefusal::Request(errors)) => report::print_refusal(io, COMMAND, &errors),
    }
}

/// Reason why nothing was shrunk.
enum ShrinkRefusal {
    Request(Vec<UserError>),
    Failed(ShrinkError),
}

/// Returns a run of the case alone, and the name of its subject.
fn run_spec(args: &ShrinkArgs, workspace: &Workspace, sandbox: AgentSandbox) -> Result<(AgentSandbox, RunSpec, String), UserError> {
    let mut spec = match &args.run {
        Some(run) => {
            let found = stored_runs::open_run(&args.store.store, Some(run))?;
            let unreadable = |error| UserError::without_remedy(format!("run {} cannot be read: {error}", found.short_id()));
            RunSpec::from_stored(&found.run.settings, args.budget, Some(1)).map_err(unreadable)?
        }
        None => RunRequest { sandbox: Some(sandbox.choice.mode.word().to_owned()), ..new_request(args) }.resolve(workspace)?,
    };
    let settings = &mut spec.settings;
    if args.guard.is_some() {
        settings.guard.clone_from(&args.guard);
    }
    if let Some(subject) = &args.subject {
        settings.subjects = vec![subject.clone()];
    }
    let [subject] = settings.subjects.as_slice() else {
        let names = settings.subjects.join(", ");
        return Err(UserError::new(format!("the run has several subjects: {names}"), "name one with --subject"));
    };
    let subject = subject.clone();
    (settings.cases, settings.suites, settings.tags) = (vec![args.case.clone()], vec![], vec![]);
    (settings.profiles, settings.agents, settings.skills) = (vec![], vec![], vec![]);
    (settings.claim.tier, settings.plan_budget, settings.limit, settings.max_fail) = (None, None, None, None);
    (settings.trials, settings.stop_when_decided, settings.pairwise) = (1, false, false);
    settings.attack_seeds = settings.attack_seeds.max(attack_seed(&args.case));
    Ok((sandbox, spec, subject))
}

fn new_request(args: &ShrinkArgs) -> RunRequest {
    RunRequest {
        selection: CaseSelection { cases: vec![args.case.clone()], ..CaseSelection::default() },
        case_files: vec![],
        subjects: args.subject.iter().cloned().collect(),
        confidence: None,
        rule_out: None,
        trust_claims: false,
        trials: Some(1),
        seed: 1,
        attack_seeds: 1,
        pairwise: false,
        attacker: None,
        guard: args.guard.clone(),
        chain: "embedded".to_owned(),
        enforce: false,
        budget: args.budget,
        judge: args.judge.clone().map_or(JudgeRequest::Off, JudgeRequest::Named),
        user: None,
        sandbox: None,
        max_fail: None,
        stop_when_decided: false,
        timeout: None,
        limit: None,
        options: RunOptions::default(),
    }
}

/// Returns the seed at the end of the id of an attack; 1 for other ids.
fn attack_seed(case: &str) -> u64 {
    let seed = case.rsplit_once('.').and_then(|(_, seed)| seed.parse().ok());
    seed.filter(|seed| (1..=MAX_ATTACK_SEED).contains(seed)).unwrap_or(1)
}

/// Shrinks the worst findings of a run, one per probe and channel, and writes a reproducer of each into the folder. Returns the lines that
/// say what was written and what was not.
pub(super) async fn shrink_findings(prepared: &PreparedRun, reports: &[RedTeamReport], args: &RunArgs, folder: &Path) -> Vec<String> {
    let mut lines = vec![];
    let mut seen = BTreeSet::new();
    let breaches = reports.iter().flat_map(|report| report.findings.iter().map(move |finding| (report, finding)));
    let worst: Vec<_> = breaches
        .filter(|(_, finding)| finding.effect.is_breach())
        .filter(|(report, finding)| seen.insert((report.subject.clone(), finding.probe.clone(), finding.channel)))
        .collect();
    for (report, finding) in worst.iter().take(MAX_SHRUNK_FINDINGS) {
        let line = match shrink_case(prepared, &finding.case, &report.subject, ShrinkLimits::default()).await {
            Ok(shrunk) => {
                let path = folder.join(shrunk.file_name());
                let written = files::create_folder(folder).and_then(|()| files::write(&path, &shrunk.to_yaml()));
                match written {
                    Ok(()) => format!("{}\nwritten to {}", report::shrunk_text(&shrunk), path.display()),
                    Err(error) => format!("{} cannot be written: {error}", path.display()),
                }
            }
            Err(error) => format!("{} was not shrunk: {error}", finding.case),
        };
        lines.push(line);
    }
    let more = worst.len().saturating_sub(MAX_SHRUNK_FINDINGS);
    if more > 0 {
        let one = worst[MAX_SHRUNK_FINDINGS].1;
        let flag = args.store.store_flag();
        lines.push(format!("{} not shrunk, such as: bardo-eval shrink {}{flag}", model::count(more, "more finding"), one.case));
    }
    lines
}
