//! Pool of a run's subjects: shared parts are built once before the first trial, and each trial gets an instance.

use crate::clock::Clock;
use crate::external::{AgentHost, ChatAgent, ExternalSubject, HostEnvironment, LeasedWorld};
use crate::providers::{self, ApiKey, CassetteMode, ProviderBuildError, ProviderConfig, SharedProvider};
use crate::secrets::SecretRedactor;
use crate::subjects::llm::{LlmModel, LlmSubject, MAX_EXTRA_TOOLS};
use crate::subjects::{
    BaselineAgent, BaselineIndex, EchoSubject, GuardedSubject, MonitoredSubject, ParanoidSubject, RunnableSubject, SharedGuard, Subject,
    SubjectUnavailable, SubjectWithPeers, TextGuard, TrialScript, runnable_subject,
};
use model::suite::{Brief, CaseSurface, PeerMode};
use model::{Case, ContentHash, SubjectFile, ToolsShown, Trial, Workspace};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Mutex;
use world::{ChainAccess, World};

/// Dependencies that subjects are built with.
pub struct SubjectDeps<'h> {
    /// `None` for runs without LLM calls.
    pub provider_config: Option<ProviderConfig>,
    /// Looks up an API key by the name of its environment variable.
    pub key: &'h dyn Fn(&str) -> Option<ApiKey>,
    /// Returns the cassette mode of a subject by name.
    pub cassette: &'h dyn Fn(&str) -> CassetteMode,
    /// Host of external agents.
    pub host: Arc<AgentHost>,
    /// Guard in front of the evaluated subjects.
    pub guard: Option<SubjectGuard>,
}

/// Guard that is a part of every evaluated subject.
#[derive(Debug, Clone)]
pub enum SubjectGuard {
    /// The reference guard, which also holds back calls.
    Embedded(Arc<SharedGuard>),
    /// A guard of others, which only flags.
    External(Arc<dyn TextGuard>),
}

impl fmt::Debug for SubjectDeps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubjectDeps").field("provider_config", &self.provider_config).finish_non_exhaustive()
    }
}

impl SubjectDeps<'_> {
    /// Returns dependencies for runs without LLM subjects.
    pub fn offline(clock: Clock) -> Self {
        let host = Arc::new(AgentHost::new(HostEnvironment::default(), clock));
        SubjectDeps { provider_config: None, key: &|_| None, cassette: &|_| CassetteMode::Off, host, guard: None }
    }

    /// Builds the provider of an LLM subject.
    ///
    /// # Errors
    /// Fails if the run is offline or the subject file cannot be used with a provider.
    pub fn build_provider(&self, file: &SubjectFile, cassette: CassetteMode) -> Result<SharedProvider, ProviderBuildError> {
        let config = self.provider_config.as_ref().ok_or(ProviderBuildError::Offline)?;
        let key = file.key_env.as_deref().and_then(self.key);
        providers::build_provider(file, key, config, cassette)
    }

    fn build_agent_server(&self, file: &SubjectFile) -> Result<SharedProvider, ProviderBuildError> {
        let config = self.provider_config.as_ref().ok_or(ProviderBuildError::Offline)?;
        providers::build_agent_server(file, file.key_env.as_deref().and_then(self.key), config)
    }
}

/// Factory of the subjects of a run, by name.
#[derive(Debug, Default)]
pub struct SubjectPool {
    kinds: BTreeMap<String, SubjectKind>,
    guard: Option<SubjectGuard>,
}

/// Subject and world, ready for one trial.
pub struct SubjectInWorld {
    pub subject: Box<dyn Subject>,
    pub world: Box<dyn World>,
}

impl fmt::Debug for SubjectInWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubjectInWorld")
    }
}

#[derive(Debug)]
enum SubjectKind {
    Reference,
    Fault,
    Gullible,
    Paranoid,
    Echo,
    Baseline(Arc<BaselineIndex>, Arc<SharedGuard>),
    Model(Arc<LlmModel>),
    External(Box<SubjectFile>, SecretRedactor, Arc<AgentHost>),
    ChatAgent(Arc<LlmModel>, Box<SubjectFile>, Arc<AgentHost>),
}

impl SubjectPool {
    /// Builds all subjects.
    ///
    /// # Errors
    /// Returns every subject that cannot be built.
    pub fn build(workspace: &Workspace, files: &[&SubjectFile], deps: &SubjectDeps<'_>) -> Result<Self, Vec<SubjectUnavailable>> {
        let (pool, missing) = Self::build_available(workspace, files, deps);
        if missing.is_empty() { Ok(pool) } else { Err(missing) }
    }

    /// Builds the subjects that can be built, and returns the others with the reasons.
    pub fn build_available(workspace: &Workspace, files: &[&SubjectFile], deps: &SubjectDeps<'_>) -> (Self, Vec<SubjectUnavailable>) {
        let (mut kinds, mut missing) = (BTreeMap::new(), vec![]);
        for file in files {
            match build(workspace, file, deps) {
                Ok(kind) => drop(kinds.insert(file.name.value.clone(), kind)),
                Err(why) => missing.push(why),
            }
        }
        (Self { kinds, guard: deps.guard.clone() }, missing)
    }

    /// Reports whether an external agent acts in a trial. Its world must have an operator whose key it cannot know.
    pub fn has_external(&self, trial: &Trial, brief: &Brief) -> bool {
        let is_external = |name: &String| matches!(self.kinds.get(name), Some(SubjectKind::External(..)));
        is_external(&trial.subject) || self.peer_subject(trial, brief).is_some_and(is_external)
    }

    fn peer_subject<'b>(&self, trial: &Trial, brief: &'b Brief) -> Option<&'b String> {
        match &brief.peers {
            // The reference script contains the steps of the peers.
            PeerMode::Subject(name) if !matches!(self.kinds.get(&trial.subject), Some(SubjectKind::Reference | SubjectKind::Fault)) => {
                Some(name)
            }
            PeerMode::Subject(_) | PeerMode::Stub | PeerMode::Own => None,
        }
    }

    /// Returns the subject of a trial and the world it must be used with. If the brief names a subject for the peers, that one plays them.
    pub async fn instantiate<W: ChainAccess + 'static>(
        &self,
        trial: &Trial,
        brief: &Brief,
        world: W,
        script: impl FnOnce() -> TrialScript,
    ) -> Result<SubjectInWorld, SubjectUnavailable> {
        let peers = self.peer_subject(trial, brief);
        // Only external agents act on the world directly and need shared access.
        let (lent, world): (Option<LeasedWorld>, Option<Box<dyn World>>) = if self.has_external(trial, brief) {
            (Some(LeasedWorld::new(Arc::new(Mutex::new(world))).await), None)
        } else {
            (None, Some(Box::new(world)))
        };
        let lead = self.instantiate_one(&trial.subject, (trial.id.clone(), trial.seed), &brief.surface, lent.as_ref(), script)?;
        let lead = self.behind_guard(lead);
        let subject = match peers {
            Some(name) => {
                // LLM calls are numbered per trial: calls of the peers use a separate id.
                let calls = ContentHash::of_json(&json!([trial.id.as_str(), "peers"]));
                let peers = self.instantiate_one(name, (calls, trial.seed), &brief.surface, lent.as_ref(), TrialScript::empty)?;
                Box::new(SubjectWithPeers::new(lead, peers, brief))
            }
            None => lead,
        };
        let world = world.or_else(|| lent.map(|lent| Box::new(lent) as Box<dyn World>));
        world.map(|world| SubjectInWorld { subject, world }).ok_or_else(|| not_prepared(&trial.subject))
    }

    /// Returns a subject that needs neither shared world access nor peers; `None` for others.
    pub fn instantiate_alone(&self, trial: &Trial, script: impl FnOnce() -> TrialScript) -> Option<Box<dyn Subject>> {
        let alone = self.instantiate_one(&trial.subject, (trial.id.clone(), trial.seed), &CaseSurface::Skills, None, script).ok();
        alone.map(|alone| self.behind_guard(alone))
    }

    fn behind_guard(&self, subject: Box<dyn Subject>) -> Box<dyn Subject> {
        match &self.guard {
            None => subject,
            Some(SubjectGuard::Embedded(guard)) => Box::new(GuardedSubject::new(subject, guard.clone())),
            Some(SubjectGuard::External(guard)) => Box::new(MonitoredSubject::new(subject, guard.clone())),
        }
    }

    /// Creates one subject for one trial. Only scripted subjects receive the script.
    fn instantiate_one(
        &self,
        name: &str,
        (calls, seed): (ContentHash, u64),
        surface: &CaseSurface,
        world: Option<&LeasedWorld>,
        script: impl FnOnce() -> TrialScript,
    ) -> Result<Box<dyn Subject>, SubjectUnavailable> {
        Ok(match self.kinds.get(name).ok_or_else(|| not_prepared(name))? {
            SubjectKind::Reference => script().careful(),
            SubjectKind::Fault => script().faulty(),
            SubjectKind::Gullible => script().gullible(),
            SubjectKind::Paranoid => Box::new(ParanoidSubject::default()),
            SubjectKind::Echo => Box::new(EchoSubject),
            // A guard of the run takes the place of its own.
            SubjectKind::Baseline(index, _) if self.guard.is_some() => Box::new(BaselineAgent::new(index.clone())),
            SubjectKind::Baseline(index, guard) => {
                Box::new(GuardedSubject::new(Box::new(BaselineAgent::new(index.clone())), guard.clone()))
            }
            SubjectKind::Model(model) => Box::new(LlmSubject::new(model.clone(), calls, seed)),
            SubjectKind::ChatAgent(model, file, host) => Box::new(ChatAgent::new(model.clone(), calls, seed, host.timer(file))),
            SubjectKind::External(file, secrets, host) => {
                let agent = world.and_then(|world| ExternalSubject::new(host.clone(), calls, (file, secrets), surface, world));
                Box::new(agent.ok_or_else(|| not_prepared(name))?)
            }
        })
    }
}

fn not_prepared(name: &str) -> SubjectUnavailable {
    SubjectUnavailable { subject: name.to_owned(), why: "it was not built for this run".to_owned(), remedy: "" }
}

fn build(workspace: &Workspace, file: &SubjectFile, deps: &SubjectDeps<'_>) -> Result<SubjectKind, SubjectUnavailable> {
    let not = |why: ProviderBuildError| SubjectUnavailable { subject: file.name.value.clone(), why: why.to_string(), remedy: why.remedy() };
    if !file.provider.is_llm() {
        return Ok(match runnable_subject(file)? {
            RunnableSubject::Reference => SubjectKind::Reference,
            RunnableSubject::Fault => SubjectKind::Fault,
            RunnableSubject::Gullible => SubjectKind::Gullible,
            RunnableSubject::Paranoid => SubjectKind::Paranoid,
            RunnableSubject::Echo => SubjectKind::Echo,
            RunnableSubject::Baseline => SubjectKind::Baseline(Arc::new(BaselineIndex::new(workspace)), Arc::default()),
            RunnableSubject::External => SubjectKind::External(Box::new(file.clone()), deps.host.secrets_of(file), deps.host.clone()),
            RunnableSubject::ChatAgent => {
                let server = deps.build_agent_server(file).map_err(not)?;
                SubjectKind::ChatAgent(LlmModel::agent_server(file, server), Box::new(file.clone()), deps.host.clone())
            }
        });
    }
    let provider = deps.build_provider(file, (deps.cassette)(&file.name)).map_err(not)?;
    Ok(SubjectKind::Model(LlmModel::new(file, provider)))
}

/// Checks before any spending that the subject's vendor accepts the number of tools in a case.
///
/// # Errors
/// Fails if the case shows more tools than the vendor accepts.
pub fn check_tool_limit(workspace: &Workspace, file: &SubjectFile, case: &Case) -> Result<(), SubjectUnavailable> {
    let Ok(accepts) = providers::vendor_limits(file) else { return Ok(()) };
    let Some(most) = accepts.max_tools else { return Ok(()) };
    let surface = &case.brief.surface;
    let all = workspace.surface_tools(surface).len();
    let own = match file.tools {
        ToolsShown::All => all,
        ToolsShown::Pruned(few) => all.min(usize::try_from(few).unwrap_or(usize::MAX)),
    };
    let delegates = match surface {
        CaseSurface::Agent(name) => workspace.agent(name).map_or(0, |agent| agent.delegates_to.len()),
        CaseSurface::Profile(_) | CaseSurface::Skills => 0,
    };
    let needed = own + delegates + MAX_EXTRA_TOOLS;
    if needed <= most {
        return Ok(());
    }
    let why = format!("case {} needs {needed} tools, but the vendor accepts at most {most}", case.id.value);
    Err(SubjectUnavailable { subject: file.name.value.clone(), why, remedy: "set tools: pruned(n) in the subject file" })
}
