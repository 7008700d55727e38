//! Converts arguments into a [`RunSpec`] and collects the environment of the run.

use super::last_failed;
use super::outcome::RunStop;
use crate::args::{DefenceArg, RunArgs};
use crate::commands::guard::subject_guard;
use crate::commands::world::imported_tools;
use crate::workspace_source::WorkspaceSource;
use crate::{env, files, sandbox, stored_runs};
use ::run::Clock;
use ::run::external::{AgentSandbox, HostEnvironment};
use ::run::providers::cassette::has_recordings;
use campaign::{
    CaseFile, CaseSelection, JudgeRequest, LockedRun, RecordingMode, RunDestination, RunEnvironment, RunOptions, RunOrigin, RunRequest,
    RunSpec,
};
use model::{SubjectFile, UserError, Workspace};
use score::workspace_changes::ChangedSelection;
use std::path::PathBuf;

pub(super) struct RunStart {
    pub spec: RunSpec,
    pub origin: RunOrigin,
    pub sandbox: AgentSandbox,
}

impl RunStart {
    /// Resolves the arguments. A run to resume is found and locked here.
    pub(super) fn of(
        args: &RunArgs,
        source: &WorkspaceSource,
        workspace: &Workspace,
        changed: Option<&ChangedSelection>,
    ) -> Result<Self, RunStop> {
        if let Some(wanted) = &args.resume {
            let (store, run) = stored_runs::find_unfinished_run(&args.store.store, wanted.as_deref())?;
            let locked = LockedRun::lock(store, &run)?;
            if let Some(config) = stored_runs::config_of(locked.run()) {
                let what = format!("run {} is of the config {config}", run.short_id());
                return Err(UserError::new(what, format!("resume it with `bardo-eval run {config} --resume`")).into());
            }
            let spec = RunSpec::from_stored(&locked.run().settings, args.budget, args.concurrency.map(at_once));
            let spec = spec.map_err(|error| UserError::without_remedy(format!("run {} cannot be resumed: {error}", run.short_id())))?;
            let sandbox = sandbox::agent_sandbox(sandbox::stored_mode(spec.settings.sandbox.as_deref()), source, &args.store.store)?;
            return Ok(Self { spec, origin: RunOrigin::Resumed(Box::new(locked)), sandbox });
        }
        let sandbox = sandbox::agent_sandbox(args.sandbox, source, &args.store.store)?;
        let request = RunRequest { sandbox: Some(sandbox.choice.mode.word().to_owned()), ..run_request(args, source, workspace, changed)? };
        let spec = request.resolve(workspace).map_err(UserError::from)?;
        let destination = if args.no_store { RunDestination::Memory } else { RunDestination::Store(args.store.store.clone()) };
        Ok(Self { spec, origin: RunOrigin::New(destination), sandbox })
    }
}

fn run_request(
    args: &RunArgs,
    source: &WorkspaceSource,
    workspace: &Workspace,
    changed: Option<&ChangedSelection>,
) -> Result<RunRequest, RunStop> {
    let changed = changed.map(|changed| changed.cases.iter().map(|(case, _)| case.clone()).collect()).unwrap_or_default();
    let cases =
        if args.last_failed { last_failed::last_failed_cases(&args.store.store, workspace, &args.case)? } else { args.case.clone() };
    let case_files = read_case_files(args)?;
    let selection = CaseSelection {
        tier: args.tier,
        suites: [args.suite.clone(), suite_names(workspace, &case_files)?].concat(),
        profiles: args.profile.clone(),
        agents: args.agent.clone(),
        skills: args.skill.clone(),
        cases: [cases, changed].concat(),
        tags: args.tag.clone(),
    };
    Ok(RunRequest {
        selection,
        case_files,
        subjects: args.subject.clone(),
        confidence: args.demands.confidence,
        rule_out: args.demands.rule_out,
        trust_claims: args.demands.trust_claims.unwrap_or_default(),
        trials: args.trials,
        seed: args.seed,
        attack_seeds: args.attack_seeds,
        pairwise: args.pairwise,
        attacker: args.attacker.clone(),
        guard: args.guard.clone(),
        chain: args.chain.clone(),
        enforce: matches!(args.defence, DefenceArg::Enforce),
        budget: args.budget,
        judge: judge_request(args, source, workspace),
        user: args.user.clone(),
        sandbox: None,
        max_fail: args.max_fail,
        stop_when_decided: args.stop_when_decided,
        timeout: args.timeout,
        limit: args.limit,
        options: run_options(args),
    })
}

/// Returns the judge that the arguments name, else that of the tier.
pub(super) fn judge_request(args: &RunArgs, source: &WorkspaceSource, workspace: &Workspace) -> JudgeRequest {
    match &args.judge {
        None if args.no_judge => JudgeRequest::Off,
        None => tier_judge(args, source, workspace).map_or(JudgeRequest::Off, JudgeRequest::Named),
        Some(None) => JudgeRequest::Default,
        Some(Some(name)) => JudgeRequest::Named(name.clone()),
    }
}

/// Reads the suites that are no files of the workspace.
fn read_case_files(args: &RunArgs) -> Result<Vec<CaseFile>, UserError> {
    let read = |path: &PathBuf| {
        let text = files::read_file(path).map_err(|why| UserError::caused_by(why).with_context(path.display()))?;
        // Relative paths in messages are those of the workspace.
        Ok(CaseFile { path: env::current_dir().join(path).display().to_string(), text })
    };
    args.case_file.iter().map(read).collect()
}

/// Returns the names of the suites in these files.
fn suite_names(workspace: &Workspace, case_files: &[CaseFile]) -> Result<Vec<String>, UserError> {
    let name = |file: &CaseFile| match workspace.read_suite_file(&file.path, &file.text) {
        Ok(suite) => Ok(suite.name),
        Err(problems) => Err(problems.into_iter().next().map_or_else(|| UserError::without_remedy("it has no suite"), UserError::from)),
    };
    case_files.iter().map(name).collect()
}

/// Returns the judge of the tier if it can answer: live with its key, or from recordings.
fn tier_judge(args: &RunArgs, source: &WorkspaceSource, workspace: &Workspace) -> Option<String> {
    let tier = workspace.tiers.tiers.iter().find(|tier| Some(tier.tier) == args.tier)?;
    let judge = workspace.subject(tier.judge.as_ref()?)?;
    let has_key = !args.replay && judge.key_env.as_deref().is_none_or(env::is_set);
    (has_key || is_recorded(source, judge)).then(|| judge.name.value.clone())
}

/// Reports whether replies of a subject are recorded.
pub(super) fn is_recorded(source: &WorkspaceSource, subject: &SubjectFile) -> bool {
    cassette_folder(source).is_some_and(|folder| has_recordings(&folder, &subject.name))
}

fn at_once(concurrency: u64) -> usize {
    usize::try_from(concurrency).unwrap_or(1)
}

fn run_options(args: &RunArgs) -> RunOptions {
    // Trials share the server: what one writes, another would read.
    let shares_writes = args.foreign.allow_writes && imported_tools::names_server(&args.foreign.foreign);
    let concurrency = if shares_writes { Some(1) } else { args.concurrency };
    RunOptions {
        concurrency: concurrency.map_or_else(|| RunOptions::default().concurrency, at_once),
        cache: !args.no_cache,
        recordings: match (args.record, args.replay, args.record_missing) {
            (true, ..) => Some(RecordingMode::Record),
            (_, true, _) => Some(RecordingMode::Replay),
            (.., true) => Some(RecordingMode::RecordMissing),
            (false, false, false) => None,
        },
        foreign_tools: args.foreign.foreign.clone(),
        allow_writes: args.foreign.allow_writes,
        preflight: !args.no_preflight,
        pass_env: args.foreign.pass_env.clone(),
    }
}

/// Returns the folder of recorded replies. The embedded workspace has none.
fn cassette_folder(source: &WorkspaceSource) -> Option<PathBuf> {
    match source {
        WorkspaceSource::Folder(folder) => Some(folder.join("cassettes")),
        WorkspaceSource::Embedded => None,
    }
}

/// Returns everything of the machine that a run may use.
///
/// # Errors
/// If the guard cannot be parsed, or a variable is not set.
pub(in crate::commands) fn run_environment(
    source: &WorkspaceSource,
    sandbox: AgentSandbox,
    spec: &RunSpec,
) -> Result<RunEnvironment, UserError> {
    let passed = spec.options.pass_env.clone();
    env::check_passed(&passed)?;
    let guard = spec.settings.guard.as_deref().map(|guard| subject_guard(guard, &passed)).transpose()?;
    let cassettes = cassette_folder(source);
    let (folder, workspace) = (env::current_dir(), source.absolute_folder());
    let surroundings = HostEnvironment { variable: env::var, folder, workspace, sandbox, passed, own_program: env::own_program() };
    let (anvil, process) = (env::find_program("anvil"), std::process::id());
    Ok(RunEnvironment { clock: Clock::system(), surroundings, cassettes, anvil, guard, process })
}
