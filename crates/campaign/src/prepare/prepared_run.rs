//! A run that can be executed: the plan, the subjects, the judge and the worlds are there.

use super::auxiliary::{AuxiliaryModels, ModelChoice};
use super::case::{PreparedCase, prepared_cases};
use super::environment::RunEnvironment;
use super::funds::{RunFunds, costs_money};
use super::recordings::{RecordingPolicy, open_cassette};
use crate::plan::RunPlan;
use crate::spec::RecordingMode;
use model::{SubjectFile, UserError, Workspace};
use run::external::AgentHost;
use run::providers::{CassetteMode, ProviderConfig};
use run::{Clock, SubjectDeps, SubjectPool, check_tool_limit};
use std::collections::BTreeMap;
use std::sync::Arc;
use world::{ChainKind, ForeignSource};

/// Valid by construction. A clone shares everything with the original.
#[derive(Debug, Clone)]
pub struct PreparedRun {
    plan: Arc<RunPlan>,
    cases: Arc<[PreparedCase]>,
    parts: RunParts,
}

/// Everything that a plan is executed with.
#[derive(Debug, Clone)]
pub struct RunParts {
    pub subjects: Arc<SubjectPool>,
    pub models: AuxiliaryModels,
    pub chains: ChainKind,
    /// Source of the answers of imported tools.
    pub foreign: ForeignSource,
    pub funds: RunFunds,
    pub clock: Clock,
    pub process: u32,
}

impl RunParts {
    /// Parts of a run on embedded chains without judge, user or budget.
    pub fn new(subjects: SubjectPool, clock: Clock) -> Self {
        Self {
            subjects: Arc::new(subjects),
            models: AuxiliaryModels::default(),
            chains: ChainKind::Embedded,
            foreign: ForeignSource::default(),
            funds: RunFunds::new(None, clock, 0),
            clock,
            process: 0,
        }
    }
}

impl PreparedRun {
    pub fn new(plan: RunPlan, parts: RunParts) -> Self {
        let cases = prepared_cases(&plan, &parts.chains);
        Self { plan: Arc::new(plan), cases, parts }
    }

    pub fn plan(&self) -> &RunPlan {
        &self.plan
    }

    pub fn funds(&self) -> &RunFunds {
        &self.parts.funds
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

    pub(crate) fn workspace(&self) -> &Arc<Workspace> {
        self.plan.workspace()
    }
}

/// Builds a run. All mistakes come back together; `foreign` is awaited last, when there are no others.
pub async fn prepare(
    plan: RunPlan,
    environment: &RunEnvironment,
    foreign: impl Future<Output = Result<ForeignSource, UserError>>,
) -> Result<PreparedRun, Vec<UserError>> {
    let settings = &plan.spec().settings;
    let funds = RunFunds::new(settings.budget, environment.clock, environment.cache_ttl_s());
    let BuiltModels { subjects, models } = build_models(&plan, environment, &funds)?;
    let chains = settings.chain.kind(environment.anvil.clone());
    let foreign = foreign.await.map_err(|why| vec![why])?;
    let (clock, process) = (environment.clock, environment.process);
    Ok(PreparedRun::new(plan, RunParts { subjects, models, chains, foreign, funds, clock, process }))
}

/// Everything in a run that may ask a model.
struct BuiltModels {
    subjects: Arc<SubjectPool>,
    models: AuxiliaryModels,
}

/// Builds subjects and auxiliary models, each once.
fn build_models(plan: &RunPlan, environment: &RunEnvironment, funds: &RunFunds) -> Result<BuiltModels, Vec<UserError>> {
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
    let (judge, user) = (find(&settings.judge, policy.judge), find(&settings.user, policy.subjects));
    for file in [&judge, &user].into_iter().flatten().map(|choice| choice.file) {
        if needs_budget(plan, policy) && costs_money(file) {
            mistakes.push(budget_error(format!("\"{}\"", file.name.value)));
        }
    }
    let key = |name: &str| environment.key(name);
    let cassette = |subject: &str| cassettes.get(subject).cloned().unwrap_or_default();
    let terms = ProviderConfig {
        cache: plan.spec().options.cache,
        ..ProviderConfig::new(funds.budget.clone(), funds.ledger.clone(), environment.clock)
    };
    let host = Arc::new(AgentHost::new(environment.surroundings.clone(), environment.clock));
    let deps = SubjectDeps { provider_config: Some(terms), key: &key, cassette: &cassette, host };
    let judge = judge.map(|choice| choice.build_judge(&deps)).transpose();
    let user = user.map(|choice| choice.build_user(&deps)).transpose();
    let pool = SubjectPool::build(plan.workspace(), &plan.acting_subjects(), &deps);
    match (judge, user, pool) {
        (Ok(judge), Ok(user), Ok(pool)) if mistakes.is_empty() => {
            Ok(BuiltModels { subjects: Arc::new(pool), models: AuxiliaryModels { judge, user } })
        }
        (judge, user, pool) => {
            mistakes.extend([judge.err(), user.err()].into_iter().flatten());
            mistakes.extend(pool.err().unwrap_or_default().into_iter().map(UserError::from));
            mistakes.dedup();
            Err(mistakes)
        }
    }
}

/// Opens the recordings of every model that acts in the run, and checks that it is paid for and can be shown its tools.
fn check_subjects(
    plan: &RunPlan,
    environment: &RunEnvironment,
    policy: RecordingPolicy,
    mistakes: &mut Vec<UserError>,
) -> BTreeMap<String, CassetteMode> {
    let mut cassettes = BTreeMap::new();
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
    UserError::new(format!("{who} costs money"), "say how much the run may cost: --budget 2.50")
}

/// Whether the run asks models and nothing limits what it spends.
fn needs_budget(plan: &RunPlan, policy: RecordingPolicy) -> bool {
    plan.spec().settings.budget.is_none() && policy.subjects != RecordingMode::Replay
}

/// The first case whose tools the subject cannot be shown.
fn tool_limit_error(plan: &RunPlan, file: &SubjectFile) -> Option<UserError> {
    plan.cases().find_map(|case| check_tool_limit(plan.workspace(), file, case).err()).map(UserError::from)
}
