//! What a person asked for, with the defaults of the workspace filled in. Kept with the run, so that it can be resumed.

use super::failed;
use crate::args::{DefenceArg, RunArgs};
use crate::commands::unwritten::unwritten;
use crate::kept;
use campaign::{Aides, Asking, Request, Selection, gates_first, outline, quotes, select};
use model::{Claim, Live, Money, SubjectFile, Workspace, did_you_mean};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Who judges where nobody says.
const JUDGE: &str = "claude-sonnet";

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub claim: Claim,
    pub suites: Vec<String>,
    pub profiles: Vec<String>,
    pub agents: Vec<String>,
    pub skills: Vec<String>,
    pub cases: Vec<String>,
    pub tags: Vec<String>,
    pub subjects: Vec<String>,
    pub trials: u64,
    pub seed: u64,
    pub chain: String,
    pub enforce: bool,
    /// Nano-dollars.
    pub budget: Option<Money>,
    /// Who is asked about rubrics, and who plays personas.
    #[serde(default)]
    pub judge: Option<String>,
    #[serde(default)]
    pub user: Option<String>,
}

impl Asked {
    pub(super) fn of(args: &RunArgs, workspace: &Workspace) -> Result<Self, Vec<String>> {
        if let Some(run) = &args.resume {
            let run = kept::unfinished(&args.store.store, run.as_deref()).map_err(|why| vec![why])?;
            let asked: Self =
                serde_json::from_str(&run.settings).map_err(|error| vec![format!("run {} cannot be resumed: {error}", run.short())])?;
            // More money may be given to a run that ran out of it.
            return Ok(Self { budget: args.budget.or(asked.budget), ..asked });
        }
        let tier = args.tier.and_then(|tier| workspace.tiers.tiers.iter().find(|one| one.tier == tier));
        let defaults = &workspace.defaults;
        let subjects = match (args.subject.is_empty(), &defaults.subject) {
            (false, _) => args.subject.clone(),
            (true, Some(subject)) => vec![subject.value.clone()],
            (true, None) => vec!["baseline".into()],
        };
        let mut cases = args.case.clone();
        if args.last_failed {
            cases.extend(failed::last(&args.store.store, workspace).map_err(|why| vec![why])?);
        }
        Ok(Self {
            claim: Claim {
                tier: args.tier,
                confidence: args.demands.confidence,
                rule_out: args.demands.rule_out,
                trust_claims: args.demands.trust_claims.unwrap_or_default(),
            },
            suites: args.suite.clone(),
            profiles: args.profile.clone(),
            agents: args.agent.clone(),
            skills: args.skill.clone(),
            cases,
            tags: args.tag.clone(),
            subjects,
            trials: args.trials.or(tier.map(|tier| tier.trials)).unwrap_or(1),
            seed: args.seed,
            chain: args.chain.clone(),
            enforce: matches!(args.defence, DefenceArg::Enforce),
            budget: args.budget.or(tier.map(|tier| usd(tier.budget_usd))).or(defaults.budget),
            judge: args
                .judge
                .clone()
                .map(|name| name.or_else(|| defaults.judge.as_ref().map(|judge| judge.value.clone())).unwrap_or(JUDGE.into())),
            user: args.user.clone(),
        })
    }

    /// Everything looked up. All mistakes come back together.
    pub(super) fn request(&self, args: &RunArgs, workspace: &Arc<Workspace>) -> Result<Request, Vec<String>> {
        let unwritten: Vec<SubjectFile> = self.subjects.iter().filter_map(|words| unwritten(words)?.ok()).collect();
        let (cases, subjects) = match (select(workspace, &self.selection()), self.subjects(workspace, &unwritten)) {
            (Ok(cases), Ok(subjects)) => (cases, subjects),
            (cases, subjects) => {
                let unknown = cases.err().unwrap_or_default().iter().map(ToString::to_string).collect::<Vec<_>>();
                return Err([unknown, subjects.err().unwrap_or_default()].concat());
            }
        };
        let cases = match subjects.iter().any(|subject| subject.provider.is_llm()) {
            true => gates_first(workspace, self.claim, &cases, &quotes(workspace, &cases, &subjects, &self.asking(workspace))),
            false => cases,
        };
        Ok(Request {
            workspace: workspace.clone(),
            outline: outline(workspace, &cases, &subjects, self.trials, self.seed),
            claim: self.claim,
            concurrency: usize::try_from(args.concurrency).unwrap_or(1),
            chains: crate::commands::world::kind::of_world(&self.chain).map_err(|why| vec![why])?,
            defence: if self.enforce { world::Defence::Enforce } else { world::Defence::Observe },
            foreign: world::Foreign::Nobody,
            subjects: subjects.into_iter().cloned().collect(),
            company: Arc::default(),
            aides: Aides::default(),
        })
    }

    /// Who costs money by what was asked for, whatever the flags of the day say about recordings: a resumed run keeps its order.
    pub(super) fn asking<'w>(&self, workspace: &'w Workspace) -> Asking<'w> {
        let live = self.live(workspace);
        let judge = self.judge.as_deref().filter(|_| live != Some(Live::None)).and_then(|name| workspace.subject(name));
        Asking {
            subjects: matches!(live, None | Some(Live::Subject)),
            judge: judge.filter(|file| file.provider.is_llm()),
            trials: self.trials,
        }
    }

    /// Whom a tier lets judge, where nobody was named.
    pub(super) fn foreseen<'w>(&self, workspace: &'w Workspace) -> Option<&'w SubjectFile> {
        let name = workspace.defaults.judge.as_ref().map_or(JUDGE, |judge| judge.value.as_str());
        let allowed = matches!(self.live(workspace), Some(Live::Judge | Live::Subject)) && self.judge.is_none();
        workspace.subject(name).filter(|file| allowed && file.provider.is_llm())
    }

    /// What the tier lets be live.
    pub(super) fn live(&self, workspace: &Workspace) -> Option<Live> {
        self.claim.tier.and_then(|tier| workspace.tiers.tiers.iter().find(|one| one.tier == tier)).map(|tier| tier.live)
    }

    fn selection(&self) -> Selection {
        Selection {
            tier: self.claim.tier,
            suites: self.suites.clone(),
            profiles: self.profiles.clone(),
            agents: self.agents.clone(),
            skills: self.skills.clone(),
            cases: self.cases.clone(),
            tags: self.tags.clone(),
        }
    }

    /// Those of the workspace, and those that no file describes.
    fn subjects<'w>(&self, workspace: &'w Workspace, given: &'w [SubjectFile]) -> Result<Vec<&'w SubjectFile>, Vec<String>> {
        let mut found: Vec<&SubjectFile> = vec![];
        let mut wrong = vec![];
        for name in &self.subjects {
            match workspace.subject(name).or_else(|| given.iter().find(|subject| *subject.name == *name)) {
                None if let Some(Err(why)) = unwritten(name) => wrong.push(why),
                None => {
                    let guess = did_you_mean(name, workspace.subjects.iter().map(|subject| subject.name.as_str()));
                    wrong.push(format!("there is no subject \"{name}\"  {guess}").trim_end().to_owned());
                }
                Some(subject) if found.iter().any(|one| one.name == subject.name) => {}
                Some(subject) => found.push(subject),
            }
        }
        if wrong.is_empty() { Ok(found) } else { Err(wrong) }
    }
}

/// A tier's budget is written as a number; below a nano-dollar nothing is lost.
fn usd(dollars: f64) -> Money {
    format!("{:.9}", dollars.max(0.0)).parse().unwrap_or(Money::ZERO)
}
