//! Everybody who plays in a run: what each subject needs is prepared once, before the first trial.

use super::baseline::{Baseline, Mind};
use super::llm::{EXTRAS, Llm, Model};
use super::{Echo, Gullible, NotAvailable, Paranoid, Reference, Runnable, Subject, available};
use crate::providers::{self, Cassette, Key, Terms};
use model::suite::Surface;
use model::{Case, SubjectFile, ToolsShown, Trial, Workspace};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a run gives those who play in it.
pub struct Hiring<'h> {
    /// `None` for a run in which no model may be asked.
    pub terms: Option<Terms>,
    /// The key in an environment variable, by its name.
    pub key: &'h dyn Fn(&str) -> Option<Key>,
    /// The recordings of a subject, by its name.
    pub cassette: &'h dyn Fn(&str) -> Cassette,
}

impl fmt::Debug for Hiring<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hiring").field("terms", &self.terms).finish_non_exhaustive()
    }
}

impl Hiring<'_> {
    /// For runs of subjects that need no model.
    pub fn nobody() -> Self {
        Hiring { terms: None, key: &|_| None, cassette: &|_| Cassette::Off }
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

    /// The subject of one trial. Only the scripted reference is given its script.
    pub fn seat(&self, trial: &Trial, script: impl FnOnce() -> Reference) -> Option<Box<dyn Subject>> {
        Some(match self.members.get(&trial.subject)? {
            Member::Reference => Box::new(script()),
            // Without an attack in the case there is nothing to fall for.
            Member::Gullible => Box::new(Gullible::new(script(), None)),
            Member::Paranoid => Box::new(Paranoid::default()),
            Member::Echo => Box::new(Echo),
            Member::Baseline(mind) => Box::new(Baseline::new(mind.clone())),
            Member::Model(model) => Box::new(Llm::new(model.clone(), trial.id.clone(), trial.seed)),
        })
    }
}

fn member(workspace: &Workspace, file: &SubjectFile, hiring: &Hiring<'_>) -> Result<Member, NotAvailable> {
    if !file.provider.is_llm() {
        return available(file).map(|kind| match kind {
            Runnable::Reference => Member::Reference,
            Runnable::Gullible => Member::Gullible,
            Runnable::Paranoid => Member::Paranoid,
            Runnable::Echo => Member::Echo,
            Runnable::Baseline => Member::Baseline(Arc::new(Mind::new(workspace))),
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
