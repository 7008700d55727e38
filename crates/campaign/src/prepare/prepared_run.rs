//! Run that is ready to execute: plan, subjects, judge and worlds.

use super::auxiliary::{AuxiliaryModels, ModelChoice};
use super::case::{PreparedCase, prepared_cases};
use super::environment::RunEnvironment;
use super::fault::{PreparedFault, fault_mistake, prepared_faults};
use super::funds::{RunFunds, costs_money};
use super::recordings::{RecordingPolicy, open_cassette};
use crate::plan::RunPlan;
use crate::spec::RecordingMode;
use model::{Case, SubjectFile, UserError, Workspace};
use run::external::{AgentHost, HostEnvironment, ScorerHost};
use run::providers::cassette::has_recordings;
use run::providers::{CassetteMode, OutageMonitor, ProviderConfig};
use run::subjects::{SubjectUnavailable, TrialScript};
use run::{Clock, QueueLedger, SecretRedactor, SubjectDeps, SubjectPool, check_tool_limit};
use std::collections::BTreeMap;
use std::sync::Arc;
use world::{ChainKind, ForeignSource, RandomOperator};

/// Run ready to execute. Clones share all state.
#[derive(Debug, Clone)]
pub struct PreparedRun {
    plan: Arc<RunPlan>,
    cases: Arc<[PreparedCase]>,
    /// In the order of the subjects; none for those without a fault.
    faults: Arc<[Option<PreparedFault>]>,
    parts: RunParts,
}

/// Components that a plan is executed with.
#[derive(Debug, Clone)]
pub struct RunParts {
    pub subjects: Arc<SubjectPool>,
    pub models: AuxiliaryModels,
    pub chains: ChainKind,
    /// Source of responses for imported tools.
    pub foreign: ForeignSource,
    pub funds: RunFunds,
    pub outages: Arc<OutageMonitor>,
    pub clock: Clock,
    pub process: u32,
    /// Key of the operator in worlds of external agents.
    pub operator: Option<RandomOperator>,
    /// Keys of models and variables of agents, which nothing stored may repeat.
    pub secrets: SecretRedactor,
    /// Starts the scorers of the workspace.
    pub scorers: ScorerHost,
}

impl RunParts {
    /// Returns the parts of a run on embedded chains without judge, simulated user or budget.
    pub fn new(subjects: SubjectPool, clock: Clock) -> Self {
        Self {
            subjects: Arc::new(subjects),
            models: AuxiliaryModels::default(),
            chains: ChainKind::Embedded,
            foreign: ForeignSource::default(),
            funds: RunFunds::new(None, clock, 0),
            outages: Arc::default(),
            clock,
            process: 0,
            operator: RandomOperator::new().ok(),
            secrets: SecretRedactor::default(),
            scorers: ScorerHost::default(),
        }
    }
}

impl PreparedRun {
    pub fn new(plan: RunPlan, parts: RunParts) -> Self {
        let cases = prepared_cases(&plan, &parts.chains, parts.operator.as_ref());
        let faults = prepared_faults(&plan);
        Self { plan: Arc::new(plan), cases, faults, parts }
    }

    /// Returns a run of which nothing can be played.
    pub(crate) fn for_nothing(plan: RunPlan, clock: Clock) -> Self {
        Self::new(plan, RunParts::new(SubjectPool::default(), clock))
    }

    pub fn plan(&self) -> &RunPlan {
        &self.plan
    }

    pub fn funds(&self) -> &RunFunds {
        &self.parts.funds
    }

    pub fn outages(&self) -> &OutageMonitor {
        &self.parts.outages
    }

    pub fn clock(&self) -> Clock {
        self.parts.clock
    }

    pub(crate) fn parts(&self) -> &RunParts {
        &self.parts
    }

    pub(crate) fn case(&self, n: usize) -> &PreparedCase {
        &self.cases[n]
    }

    /// Returns the script of a case for a subject of the plan, for those that test the evaluation.
    pub(crate) fn script(&self, case: &Case, subject: usize) -> TrialScript {
        match self.faults.get(subject) {
            Some(Some(fault)) => TrialScript::with_fault(case, fault.script(self.workspace(), case)),
            Some(None) | None => TrialScript::of_case(case),
        }
    }

    pub(crate) fn workspace(&self) -> &Arc<Workspace> {
        self.plan.workspace()
    }
}

/// Builds a run. `foreign` is awaited last, only if there are no other mistakes.
///
/// # Errors
/// All mistakes together.
pub async fn prepare(
    plan: RunPlan,
    environment: &RunEnvironment,
    foreign: impl Future<Output = Result<ForeignSource, UserError>>,
) -> Result<PreparedRun, Vec<UserError>> {
    let ttl_s = environment.cache_ttl_s().map_err(|why| vec![why])?;
    let funds = RunFunds::new(plan.spec().settings.budget, environment.clock, ttl_s);
    prepare_funded(plan, environment, foreign, (funds, SubjectDemand::All)).await.map(|(prepared, _)| prepared)
}

/// Builds a run for a worker, with the subjects that this machine can play. Returns the others with the reasons.
///
/// # Errors
/// All mistakes together, and what the judge, the user or the attacker lack here.
pub(crate) async fn prepare_for_worker(
    plan: RunPlan,
    environment: &RunEnvironment,
    foreign: impl Future<Output = Result<ForeignSource, UserError>>,
    ledger: Arc<QueueLedger>,
) -> Result<(PreparedRun, Vec<SubjectUnavailable>), Vec<UserError>> {
    let funds = RunFunds::shared(plan.spec().settings.budget, ledger);
    prepare_funded(plan, environment, foreign, (funds, SubjectDemand::Available)).await
}

/// Builds a run that others play: nothing of it needs a key or a program of this machine.
///
/// # Errors
/// All mistakes that do not depend on a machine.
pub fn prepare_for_watch(plan: RunPlan, environment: &RunEnvironment) -> Result<PreparedRun, Vec<UserError>> {
    let policy = RecordingPolicy::of(&plan);
    let mut mistakes = vec![];
    mistakes.extend(plan.acting_subjects().into_iter().filter_map(|file| fault_mistake(&plan, file)));
    for file in plan.acting_subjects().into_iter().filter(|subject| subject.provider.is_llm()) {
        if needs_budget(&plan, policy) && costs_money(file) {
            mistakes.push(budget_error(format!("subject \"{}\"", file.name.value)));
        }
        mistakes.extend(tool_limit_error(&plan, file));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let funds = RunFunds::new(plan.spec().settings.budget, environment.clock, 0);
    let parts = RunParts { funds, process: environment.process, ..RunParts::new(SubjectPool::default(), environment.clock) };
    Ok(PreparedRun::new(plan, parts))
}

/// Subjects that a process must be able to play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SubjectDemand {
    All,
    Available,
}

async fn prepare_funded(
    plan: RunPlan,
    environment: &RunEnvironment,
    foreign: impl Future<Output = Result<ForeignSource, UserError>>,
    (funds, demand): (RunFunds, SubjectDemand),
) -> Result<(PreparedRun, Vec<SubjectUnavailable>), Vec<UserError>> {
    let settings = &plan.spec().settings;
    let outages = Arc::default();
    let BuiltModels { subjects, models, secrets, missing } = build_models(&plan, environment, (&funds, demand), &outages)?;
    let chains = settings.chain.kind(environment.anvil.clone());
    let foreign = foreign.await.map_err(|why| vec![why])?;
    let (clock, process) = (environment.clock, environment.process);
    let operator = random_operator(&plan).map_err(|why| vec![why])?;
    let scorers = ScorerHost { environment: environment.surroundings.clone(), secrets: secrets.clone(), ..ScorerHost::default() };
    let parts = RunParts { subjects, models, chains, foreign, funds, outages, clock, process, operator, secrets, scorers };
    Ok((PreparedRun::new(plan, parts), missing))
}

/// Returns a random operator if the run has external agents.
fn random_operator(plan: &RunPlan) -> Result<Option<RandomOperator>, UserError> {
    let needed = plan.acting_subjects().iter().any(|subject| subject.external.is_some());
    needed.then(RandomOperator::new).transpose().map_err(UserError::caused_by)
}

/// Components of a run that may call a model.
struct BuiltModels {
    subjects: Arc<SubjectPool>,
    models: AuxiliaryModels,
    secrets: SecretRedactor,
    /// Subjects that this machine cannot play.
    missing: Vec<SubjectUnavailable>,
}

/// Builds subjects and auxiliary models, each once.
fn build_models(
    plan: &RunPlan,
    environment: &RunEnvironment,
    (funds, demand): (&RunFunds, SubjectDemand),
    outages: &Arc<OutageMonitor>,
) -> Result<BuiltModels, Vec<UserError>> {
    let policy = RecordingPolicy::of(plan);
    let mut mistakes = vec![];
    let cassettes = check_subjects(plan, environment, policy, &mut mistakes);
    let mut find = |name: &Option<String>, mode| {
        let found = name.as_deref().map(|name| ModelChoice::find(plan.workspace(), name, mode, environment.cassettes.as_deref()));
        found.transpose().unwrap_or_else(|why| {
            mistakes.push(why);
            None
        })
    };
    let settings = &plan.spec().settings;
    let judge_mode = judge_recordings(plan, environment, policy.judge);
    let (judge, user) = (find(&settings.judge, judge_mode), find(&settings.user, policy.subjects));
    let attacker = find(&settings.attacker.as_ref().map(|attacker| attacker.model.clone()), policy.subjects);
    for file in [&judge, &user, &attacker].into_iter().flatten().map(|choice| choice.file) {
        if needs_budget(plan, policy) && costs_money(file) {
            mistakes.push(budget_error(format!("\"{}\"", file.name.value)));
        }
    }
    let key = |name: &str| environment.key(name);
    let cassette = |subject: &str| cassettes.get(subject).cloned().unwrap_or_default();
    let files = plan.acting_subjects().into_iter().chain([&judge, &user, &attacker].into_iter().flatten().map(|choice| choice.file));
    let HostEnvironment { variable, passed, .. } = &environment.surroundings;
    let secrets = SecretRedactor::of_subjects(files, variable).with_variables(passed, variable);
    let provider_config = ProviderConfig {
        secrets: secrets.clone(),
        cache: plan.spec().options.cache,
        outages: outages.clone(),
        ..ProviderConfig::new(funds.budget.clone(), funds.ledger.clone(), environment.clock)
    };
    let host = Arc::new(AgentHost::new(environment.surroundings.clone(), environment.clock).with_secrets(secrets.clone()));
    let deps =
        SubjectDeps { provider_config: Some(provider_config), key: &key, cassette: &cassette, host, guard: environment.guard.clone() };
    let judge = judge.map(|choice| choice.build_judge(&deps)).transpose();
    let user = user.map(|choice| choice.build_user(&deps)).transpose();
    let attacker = attacker.map(|choice| choice.build_attacker(&deps)).transpose();
    let (pool, missing) = SubjectPool::build_available(plan.workspace(), &plan.acting_subjects(), &deps);
    let is_enough = missing.is_empty() || demand == SubjectDemand::Available;
    match (judge, user, attacker) {
        (Ok(judge), Ok(user), Ok(attacker)) if mistakes.is_empty() && is_enough => {
            Ok(BuiltModels { subjects: Arc::new(pool), models: AuxiliaryModels { judge, user, attacker }, secrets, missing })
        }
        (judge, user, attacker) => {
            mistakes.extend([judge.err(), user.err(), attacker.err()].into_iter().flatten());
            mistakes.extend(missing.into_iter().map(UserError::from));
            mistakes.dedup();
            Err(mistakes)
        }
    }
}

/// Returns the recording mode of the judge. Without its key it replays, if it has recordings.
fn judge_recordings(plan: &RunPlan, environment: &RunEnvironment, mode: RecordingMode) -> RecordingMode {
    let judge = plan.spec().settings.judge.as_deref().and_then(|name| plan.workspace().subject(name));
    let Some(judge) = judge.filter(|_| mode == RecordingMode::Off) else { return mode };
    let lacks_key = judge.key_env.as_deref().is_some_and(|name| environment.key(name).is_none());
    let is_recorded = || environment.cassettes.as_deref().is_some_and(|folder| has_recordings(folder, &judge.name));
    if lacks_key && is_recorded() { RecordingMode::Replay } else { mode }
}

/// Opens the recordings of every model among the subjects, and checks that it has a budget and can be given its tools.
fn check_subjects(
    plan: &RunPlan,
    environment: &RunEnvironment,
    policy: RecordingPolicy,
    mistakes: &mut Vec<UserError>,
) -> BTreeMap<String, CassetteMode> {
    let mut cassettes = BTreeMap::new();
    mistakes.extend(plan.acting_subjects().into_iter().filter_map(|file| fault_mistake(plan, file)));
    for file in plan.acting_subjects().into_iter().filter(|subject| subject.provider.is_llm()) {
        match open_cassette(policy.subjects, environment.cassettes.as_deref(), &file.name) {
            Ok(cassette) => drop(cassettes.insert(file.name.value.clone(), cassette)),
            Err(why) => mistakes.push(why),
        }
        if needs_budget(plan, policy) && costs_money(file) {
            mistakes.push(budget_error(format!("subject \"{}\"", file.name.value)));
        }
        mistakes.extend(tool_limit_error(plan, file));
    }
    cassettes
}

fn budget_error(who: String) -> UserError {
    UserError::new(format!("{who} costs money"), "set a spending limit, such as --budget 2.50")
}

/// Returns true if the run calls live models without a budget.
fn needs_budget(plan: &RunPlan, policy: RecordingPolicy) -> bool {
    plan.spec().settings.budget.is_none() && policy.subjects != RecordingMode::Replay
}

/// Returns the error for the first case with more tools than the subject can be given.
fn tool_limit_error(plan: &RunPlan, file: &SubjectFile) -> Option<UserError> {
    plan.cases().find_map(|case| check_tool_limit(plan.workspace(), file, case).err()).map(UserError::from)
}
