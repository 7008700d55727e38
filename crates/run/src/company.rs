//! Everybody who plays in a run: what each subject needs is prepared once, before the first trial.

use crate::finished::{Finished, Host, Lent};
use crate::providers::{self, Cassette, Key, Terms};
use crate::subjects::llm::{EXTRAS, Llm, Model};
use crate::subjects::{Baseline, Cast, Echo, Gullible, Mind, NotAvailable, Paranoid, Reference, Runnable, Subject, available};
use model::suite::{Brief, Peers, Surface};
use model::{Case, Hash, SubjectFile, ToolsShown, Trial, Workspace};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Mutex;
use world::{ChainAccess, World};

/// What a run gives those who play in it.
pub struct Hiring<'h> {
    /// `None` for a run in which no model may be asked.
    pub terms: Option<Terms>,
    /// The key in an environment variable, by its name.
    pub key: &'h dyn Fn(&str) -> Option<Key>,
    /// The recordings of a subject, by its name.
    pub cassette: &'h dyn Fn(&str) -> Cassette,
    /// Where finished agents are received.
    pub host: Arc<Host>,
}

impl fmt::Debug for Hiring<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hiring").field("terms", &self.terms).finish_non_exhaustive()
    }
}

impl Hiring<'_> {
    /// For runs of subjects that need no model.
    pub fn nobody() -> Self {
        Hiring { terms: None, key: &|_| None, cassette: &|_| Cassette::Off, host: Arc::default() }
    }
}

#[derive(Debug, Default)]
pub struct Company {
    members: BTreeMap<String, Member>,
}

#[derive(Debug)]
enum Member {
    Reference,
    Gullible,
    Paranoid,
    Echo,
    Baseline(Arc<Mind>),
    Model(Arc<Model>),
    Finished(Box<SubjectFile>, Arc<Host>),
}

impl Company {
    /// All that cannot play come back together.
    pub fn hire(workspace: &Workspace, files: &[&SubjectFile], hiring: &Hiring<'_>) -> Result<Self, Vec<NotAvailable>> {
        let (mut members, mut missing) = (BTreeMap::new(), vec![]);
        for file in files {
            match member(workspace, file, hiring) {
                Ok(member) => drop(members.insert(file.name.value.clone(), member)),
                Err(why) => missing.push(why),
            }
        }
        if missing.is_empty() { Ok(Self { members }) } else { Err(missing) }
    }

    /// Who plays a trial, and the world as it has to be used with them. Where the brief says so, another subject plays the peers.
    pub async fn set<W: ChainAccess + 'static>(
        &self,
        trial: &Trial,
        brief: &Brief,
        world: W,
        script: impl FnOnce() -> Reference,
    ) -> Result<(Box<dyn Subject>, Box<dyn World>), NotAvailable> {
        let peers = match &brief.peers {
            // The reference plays everybody: its script says what the others do.
            Peers::Subject(name) if !matches!(self.members.get(&trial.subject), Some(Member::Reference)) => Some(name),
            Peers::Subject(_) | Peers::Stub | Peers::Own => None,
        };
        // Only whoever acts in the world itself needs a share in it.
        let shares = |name: &String| matches!(self.members.get(name), Some(Member::Finished(..)));
        let (lent, world): (Option<Lent>, Option<Box<dyn World>>) = if shares(&trial.subject) || peers.is_some_and(shares) {
            (Some(Lent::new(Arc::new(Mutex::new(world))).await), None)
        } else {
            (None, Some(Box::new(world)))
        };
        let lead = self.sit(&trial.subject, (trial.id.clone(), trial.seed), &brief.surface, lent.as_ref(), script)?;
        let subject = match peers {
            Some(name) => {
                // Calls of models are counted by trial: those of the peers are not the subject's.
                let calls = Hash::of(&json!([trial.id.as_str(), "peers"]));
                let none = || Reference::new(vec![], false);
                Box::new(Cast::new(lead, self.sit(name, (calls, trial.seed), &brief.surface, lent.as_ref(), none)?))
            }
            None => lead,
        };
        let world = world.or_else(|| lent.map(|lent| Box::new(lent) as Box<dyn World>));
        world.map(|world| (subject, world)).ok_or_else(|| absent(&trial.subject))
    }

    /// A subject that needs no share in the world and no peers.
    pub fn seat(&self, trial: &Trial, script: impl FnOnce() -> Reference) -> Option<Box<dyn Subject>> {
        self.sit(&trial.subject, (trial.id.clone(), trial.seed), &Surface::Skills, None, script).ok()
    }

    /// One subject in one trial. Only scripted ones are given a script.
    fn sit(
        &self,
        name: &str,
        (calls, seed): (Hash, u64),
        surface: &Surface,
        world: Option<&Lent>,
        script: impl FnOnce() -> Reference,
    ) -> Result<Box<dyn Subject>, NotAvailable> {
        Ok(match self.members.get(name).ok_or_else(|| absent(name))? {
            Member::Reference => Box::new(script()),
            // Without an attack in the case there is nothing to fall for.
            Member::Gullible => Box::new(Gullible::new(script(), None)),
            Member::Paranoid => Box::new(Paranoid::default()),
            Member::Echo => Box::new(Echo),
            Member::Baseline(mind) => Box::new(Baseline::new(mind.clone())),
            Member::Model(model) => Box::new(Llm::new(model.clone(), calls, seed)),
            Member::Finished(file, host) => {
                let agent = world.and_then(|world| Finished::new(host.clone(), file, surface, world));
                Box::new(agent.ok_or_else(|| absent(name))?)
            }
        })
    }
}

fn absent(name: &str) -> NotAvailable {
    NotAvailable { subject: name.to_owned(), why: "it was not prepared for this run".to_owned() }
}

fn member(workspace: &Workspace, file: &SubjectFile, hiring: &Hiring<'_>) -> Result<Member, NotAvailable> {
    if !file.provider.is_llm() {
        return available(file).map(|kind| match kind {
            Runnable::Reference => Member::Reference,
            Runnable::Gullible => Member::Gullible,
            Runnable::Paranoid => Member::Paranoid,
            Runnable::Echo => Member::Echo,
            Runnable::Baseline => Member::Baseline(Arc::new(Mind::new(workspace))),
            Runnable::Finished => Member::Finished(Box::new((*file).clone()), hiring.host.clone()),
        });
    }
    let not = |why: String| NotAvailable { subject: file.name.value.clone(), why };
    let terms = hiring.terms.as_ref().ok_or_else(|| not("no model may be asked in this run".into()))?;
    let key = file.key_env.as_deref().and_then(hiring.key);
    let provider = providers::provider(file, key, terms, (hiring.cassette)(&file.name)).map_err(|why| not(why.to_string()))?;
    Ok(Member::Model(Model::new(file, provider)))
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
    let why = format!("case {} shows {needed} tools and its vendor takes at most {most}: write tools: pruned(n)", case.id.value);
    Err(NotAvailable { subject: file.name.value.clone(), why })
}
