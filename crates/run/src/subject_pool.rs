//! Subjects of a run. What each of them needs is built once, before the first trial; each trial gets an instance.

use crate::clock::Clock;
use crate::finished::{Finished, Host, Lent, Surroundings};
use crate::providers::{self, Cassette, Key, NoProvider, SharedProvider, Terms};
use crate::subjects::llm::{EXTRAS, Llm, Model};
use crate::subjects::{Baseline, BaselineIndex, Cast, Echo, Gullible, NotAvailable, Paranoid, Reference, Runnable, Subject, available};
use model::suite::{Brief, Peers, Surface};
use model::{Case, Hash, SubjectFile, ToolsShown, Trial, Workspace};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Mutex;
use world::{ChainAccess, World};

/// Dependencies that subjects are built with.
pub struct SubjectDeps<'h> {
    /// `None` for a run in which no model may be asked.
    pub terms: Option<Terms>,
    /// The key in an environment variable, by its name.
    pub key: &'h dyn Fn(&str) -> Option<Key>,
    /// The recordings of a subject, by its name.
    pub cassette: &'h dyn Fn(&str) -> Cassette,
    /// Receives finished agents.
    pub host: Arc<Host>,
}

impl fmt::Debug for SubjectDeps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubjectDeps").field("terms", &self.terms).finish_non_exhaustive()
    }
}

impl SubjectDeps<'_> {
    /// For runs of subjects that need no model.
    pub fn offline(clock: Clock) -> Self {
        let host = Arc::new(Host::new(Surroundings::default(), clock));
        SubjectDeps { terms: None, key: &|_| None, cassette: &|_| Cassette::Off, host }
    }

    /// Builds the connection to a model.
    pub fn provider(&self, file: &SubjectFile, cassette: Cassette) -> Result<SharedProvider, NoProvider> {
        let terms = self.terms.as_ref().ok_or(NoProvider::Offline)?;
        let key = file.key_env.as_deref().and_then(self.key);
        providers::provider(file, key, terms, cassette)
    }
}

/// Factory of the subjects of a run, by name.
#[derive(Debug, Default)]
pub struct SubjectPool {
    kinds: BTreeMap<String, SubjectKind>,
}

/// A subject in its world, ready for one trial.
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
    Gullible,
    Paranoid,
    Echo,
    Baseline(Arc<BaselineIndex>),
    Model(Arc<Model>),
    Finished(Box<SubjectFile>, Arc<Host>),
}

impl SubjectPool {
    /// Builds every subject. All that cannot be built come back together.
    pub fn build(workspace: &Workspace, files: &[&SubjectFile], deps: &SubjectDeps<'_>) -> Result<Self, Vec<NotAvailable>> {
        let (mut kinds, mut missing) = (BTreeMap::new(), vec![]);
        for file in files {
            match build(workspace, file, deps) {
                Ok(kind) => drop(kinds.insert(file.name.value.clone(), kind)),
                Err(why) => missing.push(why),
            }
        }
        if missing.is_empty() { Ok(Self { kinds }) } else { Err(missing) }
    }

    /// Returns the subject of a trial, and the world as it has to be used with it. Where the brief says so, another subject plays the
    /// peers.
    pub async fn instantiate<W: ChainAccess + 'static>(
        &self,
        trial: &Trial,
        brief: &Brief,
        world: W,
        script: impl FnOnce() -> Reference,
    ) -> Result<SubjectInWorld, NotAvailable> {
        let peers = match &brief.peers {
            // The reference plays everybody: its script says what the others do.
            Peers::Subject(name) if !matches!(self.kinds.get(&trial.subject), Some(SubjectKind::Reference)) => Some(name),
            Peers::Subject(_) | Peers::Stub | Peers::Own => None,
        };
        // Only a subject that acts in the world by itself needs a share in it.
        let shares = |name: &String| matches!(self.kinds.get(name), Some(SubjectKind::Finished(..)));
        let (lent, world): (Option<Lent>, Option<Box<dyn World>>) = if shares(&trial.subject) || peers.is_some_and(shares) {
            (Some(Lent::new(Arc::new(Mutex::new(world))).await), None)
        } else {
            (None, Some(Box::new(world)))
        };
        let lead = self.one(&trial.subject, (trial.id.clone(), trial.seed), &brief.surface, lent.as_ref(), script)?;
        let subject = match peers {
            Some(name) => {
                // Calls of models are counted by trial: those of the peers are not the subject's.
                let calls = Hash::of(&json!([trial.id.as_str(), "peers"]));
                let none = || Reference::new(vec![], false);
                Box::new(Cast::new(lead, self.one(name, (calls, trial.seed), &brief.surface, lent.as_ref(), none)?))
            }
            None => lead,
        };
        let world = world.or_else(|| lent.map(|lent| Box::new(lent) as Box<dyn World>));
        world.map(|world| SubjectInWorld { subject, world }).ok_or_else(|| absent(&trial.subject))
    }

    /// A subject that needs no share in the world and no peers.
    pub fn instantiate_alone(&self, trial: &Trial, script: impl FnOnce() -> Reference) -> Option<Box<dyn Subject>> {
        self.one(&trial.subject, (trial.id.clone(), trial.seed), &Surface::Skills, None, script).ok()
    }

    /// One subject for one trial. Only scripted ones are given a script.
    fn one(
        &self,
        name: &str,
        (calls, seed): (Hash, u64),
        surface: &Surface,
        world: Option<&Lent>,
        script: impl FnOnce() -> Reference,
    ) -> Result<Box<dyn Subject>, NotAvailable> {
        Ok(match self.kinds.get(name).ok_or_else(|| absent(name))? {
            SubjectKind::Reference => Box::new(script()),
            // Without an attack in the case there is nothing to fall for.
            SubjectKind::Gullible => Box::new(Gullible::new(script(), None)),
            SubjectKind::Paranoid => Box::new(Paranoid::default()),
            SubjectKind::Echo => Box::new(Echo),
            SubjectKind::Baseline(index) => Box::new(Baseline::new(index.clone())),
            SubjectKind::Model(model) => Box::new(Llm::new(model.clone(), calls, seed)),
            SubjectKind::Finished(file, host) => {
                let agent = world.and_then(|world| Finished::new(host.clone(), file, surface, world));
                Box::new(agent.ok_or_else(|| absent(name))?)
            }
        })
    }
}

fn absent(name: &str) -> NotAvailable {
    NotAvailable { subject: name.to_owned(), why: "it was not prepared for this run".to_owned(), remedy: "" }
}

fn build(workspace: &Workspace, file: &SubjectFile, deps: &SubjectDeps<'_>) -> Result<SubjectKind, NotAvailable> {
    if !file.provider.is_llm() {
        return available(file).map(|kind| match kind {
            Runnable::Reference => SubjectKind::Reference,
            Runnable::Gullible => SubjectKind::Gullible,
            Runnable::Paranoid => SubjectKind::Paranoid,
            Runnable::Echo => SubjectKind::Echo,
            Runnable::Baseline => SubjectKind::Baseline(Arc::new(BaselineIndex::new(workspace))),
            Runnable::Finished => SubjectKind::Finished(Box::new((*file).clone()), deps.host.clone()),
        });
    }
    let not = |why: NoProvider| NotAvailable { subject: file.name.value.clone(), why: why.to_string(), remedy: why.remedy() };
    let provider = deps.provider(file, (deps.cassette)(&file.name)).map_err(not)?;
    Ok(SubjectKind::Model(Model::new(file, provider)))
}

/// Whether a subject can be shown the tools of a case; asked before anything is spent.
pub fn fits(workspace: &Workspace, file: &SubjectFile, case: &Case) -> Result<(), NotAvailable> {
    let Ok(accepts) = providers::accepts(file) else { return Ok(()) };
    let Some(most) = accepts.max_tools else { return Ok(()) };
    let surface = &case.brief.surface;
    let all = workspace.surface_tools(surface).len();
    let own = match file.tools {
        ToolsShown::All => all,
        ToolsShown::Pruned(few) => all.min(usize::try_from(few).unwrap_or(usize::MAX)),
    };
    let delegates = match surface {
        Surface::Agent(name) => workspace.agent(name).map_or(0, |agent| agent.delegates_to.len()),
        Surface::Profile(_) | Surface::Skills => 0,
    };
    let needed = own + delegates + EXTRAS;
    if needed <= most {
        return Ok(());
    }
    let why = format!("case {} shows {needed} tools and its vendor takes at most {most}", case.id.value);
    Err(NotAvailable { subject: file.name.value.clone(), why, remedy: "write tools: pruned(n)" })
}
