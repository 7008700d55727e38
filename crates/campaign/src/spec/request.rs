//! Run as requested on the command line, before defaults are applied.

use super::chain::UnknownChain;
use super::inline_subject::inline_subject;
use super::run_spec::{AttackerSettings, CaseFile, RunOptions, RunSettings, RunSpec};
use super::select::CaseSelection;
use model::{Money, ProviderKind, RunClaim, Tier, Workspace};

/// Judge and subject if neither the user nor the workspace names one.
const DEFAULT_JUDGE: &str = "claude-sonnet";
const DEFAULT_SUBJECT: &str = "baseline";

#[derive(Debug, Clone)]
pub struct RunRequest {
    pub selection: CaseSelection,
    pub case_files: Vec<CaseFile>,
    pub subjects: Vec<String>,
    pub confidence: Option<f64>,
    pub rule_out: Option<f64>,
    pub trust_claims: bool,
    pub trials: Option<u64>,
    pub seed: u64,
    pub attack_seeds: u64,
    pub pairwise: bool,
    pub attacker: Option<AttackerSettings>,
    /// Guard in front of the subjects.
    pub guard: Option<String>,
    pub chain: String,
    pub enforce: bool,
    pub budget: Option<Money>,
    pub judge: JudgeRequest,
    pub user: Option<String>,
    /// Sandbox of agents that are programs, stored if there are any.
    pub sandbox: Option<String>,
    pub max_fail: Option<u64>,
    pub stop_when_decided: bool,
    pub timeout: Option<u64>,
    pub limit: Option<u64>,
    pub options: RunOptions,
}

/// Judge of rubrics, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeRequest {
    Off,
    Default,
    Named(String),
}

impl RunRequest {
    /// Applies the defaults of tier and workspace.
    pub fn resolve(self, workspace: &Workspace) -> Result<RunSpec, UnknownChain> {
        let defaults = &workspace.defaults;
        let tier = self.selection.tier.and_then(|tier| workspace.tiers.tiers.iter().find(|one| one.tier == tier));
        let subjects = chosen_subjects(workspace, &self.subjects);
        let sandbox = self.sandbox.filter(|_| subjects.iter().any(|name| is_program(workspace, name)));
        let judge = match self.judge {
            JudgeRequest::Off => None,
            JudgeRequest::Default => Some(default_judge(workspace).to_owned()),
            JudgeRequest::Named(name) => Some(name),
        };
        let CaseSelection { tier: chosen, suites, profiles, agents, skills, cases, tags } = self.selection;
        let budget = self.budget.or(tier.map(tier_budget)).or(defaults.budget);
        let settings = RunSettings {
            claim: RunClaim { tier: chosen, confidence: self.confidence, rule_out: self.rule_out, trust_claims: self.trust_claims },
            suites,
            profiles,
            agents,
            skills,
            cases,
            tags,
            case_files: self.case_files,
            subjects,
            trials: self.trials.or(tier.map(|tier| tier.trials)).unwrap_or(1),
            seed: self.seed,
            attack_seeds: self.attack_seeds,
            pairwise: self.pairwise,
            attacker: self.attacker,
            guard: self.guard,
            chain: self.chain.parse()?,
            enforce: self.enforce,
            budget,
            plan_budget: budget.filter(|_| chosen.is_some()),
            judge,
            user: self.user,
            sandbox,
            max_fail: self.max_fail,
            stop_when_decided: self.stop_when_decided,
            timeout: self.timeout,
            limit: self.limit,
            options: None,
        };
        Ok(RunSpec { settings, options: self.options })
    }
}

/// Returns the subjects that were named, else the one of the workspace, else the default.
fn chosen_subjects(workspace: &Workspace, named: &[String]) -> Vec<String> {
    match (named.is_empty(), &workspace.defaults.subject) {
        (false, _) => named.to_vec(),
        (true, Some(subject)) => vec![subject.value.clone()],
        (true, None) => vec![DEFAULT_SUBJECT.to_owned()],
    }
}

/// Returns whether the subjects of a run are all built in, so that a trial asks no model and no other program for its moves.
pub fn are_subjects_built_in(workspace: &Workspace, named: &[String]) -> bool {
    chosen_subjects(workspace, named).iter().all(|name| provider_of(workspace, name).is_some_and(ProviderKind::is_deterministic))
}

/// Returns true if a subject is a program that we start.
fn is_program(workspace: &Workspace, name: &str) -> bool {
    matches!(provider_of(workspace, name), Some(ProviderKind::Process | ProviderKind::Mcp))
}

fn provider_of(workspace: &Workspace, name: &str) -> Option<ProviderKind> {
    let inline = inline_subject(name).and_then(Result::ok).map(|file| file.provider);
    inline.or_else(|| workspace.subject(name).map(|file| file.provider))
}

/// Returns the judge used if the request names none.
fn default_judge(workspace: &Workspace) -> &str {
    workspace.defaults.judge.as_ref().map_or(DEFAULT_JUDGE, |judge| judge.value.as_str())
}

/// Converts the budget of a tier from dollars, exact to a nano-dollar.
fn tier_budget(tier: &Tier) -> Money {
    format!("{:.9}", tier.budget_usd.max(0.0)).parse().unwrap_or(Money::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::example::ExampleWorkspace;

    fn request() -> RunRequest {
        RunRequest {
            selection: CaseSelection::default(),
            case_files: vec![],
            subjects: vec![],
            confidence: None,
            rule_out: None,
            trust_claims: false,
            trials: None,
            seed: 1,
            attack_seeds: 1,
            pairwise: false,
            attacker: None,
            guard: None,
            chain: "embedded".to_owned(),
            enforce: false,
            budget: None,
            judge: JudgeRequest::Off,
            user: None,
            sandbox: Some("landlock".to_owned()),
            max_fail: None,
            stop_when_decided: false,
            timeout: None,
            limit: None,
            options: RunOptions::default(),
        }
    }

    #[test]
    fn resolve_fills_defaults_from_tier_and_workspace() {
        let bare = ExampleWorkspace::minimal().load().expect("a workspace");
        let spec = request().resolve(&bare).expect("a spec");
        assert_eq!((spec.settings.subjects, spec.settings.trials, spec.settings.budget), (vec!["baseline".to_owned()], 1, None));
        let spec = RunRequest { judge: JudgeRequest::Default, ..request() }.resolve(&bare).expect("a spec");
        assert_eq!(spec.settings.judge.as_deref(), Some("claude-sonnet"));
        let own = ExampleWorkspace::minimal().with("bardo-eval.yaml", "subject: echo\njudge: reference\nbudget_usd: 0.50\n");
        let own = own.load().expect("a workspace");
        let spec = RunRequest { judge: JudgeRequest::Default, ..request() }.resolve(&own).expect("a spec");
        assert_eq!((spec.settings.subjects, spec.settings.judge.as_deref()), (vec!["echo".to_owned()], Some("reference")));
        assert_eq!(spec.settings.budget.map(|money| money.to_string()).as_deref(), Some("0.50"));
        let tier = &own.tiers.tiers[0];
        let of_tier = RunRequest { selection: CaseSelection { tier: Some(tier.tier), ..CaseSelection::default() }, ..request() };
        let spec = of_tier.resolve(&own).expect("a spec");
        assert_eq!((spec.settings.trials, spec.settings.budget), (tier.trials, Some(tier_budget(tier))));
    }

    #[test]
    fn sandbox_is_stored_for_programs_only() {
        let bare = ExampleWorkspace::minimal().load().expect("a workspace");
        let sandbox = |subject: &str| {
            let spec = RunRequest { subjects: vec![subject.to_owned()], ..request() }.resolve(&bare).expect("a spec");
            spec.settings.sandbox
        };
        assert_eq!(sandbox("mcp:node agent.mjs").as_deref(), Some("landlock"));
        assert_eq!((sandbox("echo"), sandbox("http://127.0.0.1:1")), (None, None));
    }

    #[test]
    fn resolve_rejects_unknown_chain() {
        assert!(
            RunRequest { chain: "hardhat".to_owned(), ..request() }
                .resolve(&ExampleWorkspace::minimal().load().expect("a workspace"))
                .is_err()
        );
    }
}
