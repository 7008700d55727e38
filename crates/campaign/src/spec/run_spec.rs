//! Specification of a run: settings, which determine its record, and options of its execution. Both are stored, so that a resumed run is the
//! same run.

use super::chain::ChainChoice;
use super::select::CaseSelection;
use attack::AttackChoice;
use model::{LiveRole, Money, RunClaim, SubjectFile, Workspace};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Request of a user with all defaults applied.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSpec {
    pub settings: RunSettings,
    pub options: RunOptions,
}

/// Stored part of a specification. Equal settings and equal model replies give equal records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSettings {
    pub claim: RunClaim,
    pub suites: Vec<String>,
    pub profiles: Vec<String>,
    pub agents: Vec<String>,
    pub skills: Vec<String>,
    pub cases: Vec<String>,
    pub tags: Vec<String>,
    /// Suites that are no files of the workspace, such as reproducers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub case_files: Vec<CaseFile>,
    pub subjects: Vec<String>,
    pub trials: u64,
    pub seed: u64,
    /// Seeds of the attacks in cases of the red team.
    #[serde(default = "one_seed", skip_serializing_if = "is_one_seed")]
    pub attack_seeds: u64,
    /// Plays only attacks that cover every pair of probe, channel, strategy and category.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pairwise: bool,
    /// Model that words attacks, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attacker: Option<AttackerSettings>,
    /// Guard in front of the subjects, as given on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    pub chain: ChainChoice,
    /// True if safety hooks block calls, false if they only report them.
    pub enforce: bool,
    pub budget: Option<Money>,
    /// Budget that the cases were chosen for. A resumed run may get another budget, but keeps its cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_budget: Option<Money>,
    /// Model that judges rubrics; `None` leaves them unjudged.
    #[serde(default)]
    pub judge: Option<String>,
    /// Model that plays personas; `None` makes them follow their script.
    #[serde(default)]
    pub user: Option<String>,
    /// Sandbox of the agents that are programs; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// Number of failed trials after which the rest is not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_fail: Option<u64>,
    /// Stops when every gate is decided. The cases are then run in an order drawn from the seed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_when_decided: bool,
    /// Seconds of a trial, for subjects that are given without a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Number of cases that are taken from those selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Options of the execution, as stored. Absent in stores of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<RunOptions>,
}

/// Suite that is no file of the workspace. Its text is stored with the run, so that the run can be resumed and shown without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    pub path: String,
    pub text: String,
}

/// Model that words attacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttackerSettings {
    /// Name of the subject file.
    pub model: String,
    /// Most texts per trial.
    pub tries: u64,
}

fn one_seed() -> u64 {
    1
}

fn is_one_seed(seeds: &u64) -> bool {
    *seeds == 1
}

fn is_refused(allowed: &bool) -> bool {
    !allowed
}

fn write_one_or_more<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match texts {
        [one] => serializer.serialize_str(one),
        several => serializer.collect_seq(several),
    }
}

fn read_one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let stored = serde_json::Value::deserialize(deserializer)?;
    match stored {
        serde_json::Value::String(one) => Ok(vec![one]),
        several @ (serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::Array(_)
        | serde_json::Value::Object(_)) => serde_json::from_value(several).map_err(D::Error::custom),
    }
}

/// Part of a specification that affects execution, not results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOptions {
    /// Trials in flight at once.
    pub concurrency: usize,
    /// Reuses and stores cached model replies.
    pub cache: bool,
    /// `None` if the tier decides.
    pub recordings: Option<RecordingMode>,
    /// Sources of responses for imported tools. A single one is stored as text, as earlier versions did.
    #[serde(serialize_with = "write_one_or_more", deserialize_with = "read_one_or_more")]
    pub foreign_tools: Vec<String>,
    /// Imported tools that write are called on the server. Absent in stores of earlier versions.
    #[serde(default, skip_serializing_if = "is_refused")]
    pub allow_writes: bool,
    /// Tries one trial of each external agent first, and stops if the agent does not work. Absent in stores of earlier versions.
    #[serde(default)]
    pub preflight: bool,
    /// Names of the environment variables that agents, servers, guards and scorers of the run are given. Values are never stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
}

/// Use of recorded replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordingMode {
    Off,
    Record,
    Replay,
    RecordMissing,
}

impl Default for RunOptions {
    fn default() -> Self {
        let foreign_tools = vec!["auto".to_owned()];
        Self { concurrency: 8, cache: true, recordings: None, foreign_tools, allow_writes: false, preflight: true, pass_env: vec![] }
    }
}

impl RunSettings {
    /// Returns the attacks that cases of the red team are made of.
    pub(crate) fn attack_choice(&self) -> AttackChoice {
        AttackChoice { seeds: self.attack_seeds, attacker_tries: self.attacker.as_ref().map(|attacker| attacker.tries) }
    }
}

impl RunSpec {
    /// Returns a run of every case once by these subjects.
    pub fn new(subjects: &[&str]) -> Self {
        let settings = RunSettings {
            claim: RunClaim::default(),
            suites: vec![],
            profiles: vec![],
            agents: vec![],
            skills: vec![],
            cases: vec![],
            tags: vec![],
            case_files: vec![],
            subjects: subjects.iter().map(|name| (*name).to_owned()).collect(),
            trials: 1,
            seed: 1,
            attack_seeds: 1,
            pairwise: false,
            attacker: None,
            guard: None,
            chain: ChainChoice::default(),
            enforce: false,
            budget: None,
            plan_budget: None,
            judge: None,
            user: None,
            sandbox: None,
            max_fail: None,
            stop_when_decided: false,
            timeout: None,
            limit: None,
            options: None,
        };
        Self { settings, options: RunOptions::default() }
    }

    /// Returns the specification of a resumed run. Only the budget and the concurrency may differ from the stored ones.
    ///
    /// # Errors
    /// If the stored settings cannot be parsed.
    pub fn from_stored(settings: &str, budget: Option<Money>, concurrency: Option<usize>) -> Result<Self, serde_json::Error> {
        let mut settings: RunSettings = serde_json::from_str(settings)?;
        let stored = settings.options.take().unwrap_or_default();
        let options = RunOptions { concurrency: concurrency.unwrap_or(stored.concurrency), ..stored };
        Ok(Self { settings: RunSettings { budget: budget.or(settings.budget), ..settings }, options })
    }

    /// Returns the text that is stored with a run.
    ///
    /// # Errors
    /// If the settings cannot be serialized.
    pub fn to_stored(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&RunSettings { options: Some(self.options.clone()), ..self.settings.clone() })
    }
}

impl RunSettings {
    pub(crate) fn selection(&self) -> CaseSelection {
        CaseSelection {
            tier: self.claim.tier,
            suites: self.suites.clone(),
            profiles: self.profiles.clone(),
            agents: self.agents.clone(),
            skills: self.skills.clone(),
            cases: self.cases.clone(),
            tags: self.tags.clone(),
        }
    }

    /// Returns the models that the tier allows to be live; `None` outside of a tier, which allows all.
    pub(crate) fn allowed_live(&self, workspace: &Workspace) -> Option<LiveRole> {
        self.claim.tier.and_then(|tier| workspace.tiers.tiers.iter().find(|one| one.tier == tier)).map(|tier| tier.live)
    }

    /// Returns the named judge if the tier allows it to be live.
    pub(crate) fn live_judge<'w>(&self, workspace: &'w Workspace) -> Option<&'w SubjectFile> {
        let name = self.judge.as_deref().filter(|_| self.allowed_live(workspace) != Some(LiveRole::None))?;
        workspace.subject(name).filter(|file| file.provider.is_llm())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settings as written by the first version with a journal.
    const STORED: &str = r#"{"claim":{"tier":null,"confidence":null,"rule_out":null},"suites":[],"profiles":[],"agents":[],"skills":[],
        "cases":["swap_*"],"tags":[],"subjects":["echo"],"trials":2,"seed":7,"chain":"embedded","enforce":true,"budget":2500000000}"#;

    #[test]
    fn settings_of_older_runs_deserialize() {
        let spec = RunSpec::from_stored(STORED, None, None).expect("settings");
        let RunSettings { cases, trials, seed, chain, enforce, budget, judge, .. } = spec.settings;
        assert_eq!((cases, trials, seed, chain, enforce), (vec!["swap_*".to_owned()], 2, 7, ChainChoice::Embedded, true));
        assert_eq!((budget.map(|money| money.to_string()).as_deref(), judge), (Some("2.50"), None));
    }

    #[test]
    fn settings_round_trip() {
        let mut spec = RunSpec::from_stored(STORED, Some(Money::from_dollars(5)), None).expect("settings");
        let (recordings, foreign_tools) = (Some(RecordingMode::Replay), vec!["live:server".to_owned()]);
        let pass_env = vec!["API_KEY".to_owned()];
        spec.options =
            RunOptions { concurrency: 3, cache: false, recordings, foreign_tools, allow_writes: true, preflight: false, pass_env };
        assert!(spec.to_stored().expect("JSON").contains(r#""foreign_tools":"live:server""#), "one source is stored as before");
        spec.options.foreign_tools.push("record:another".to_owned());
        (spec.settings.max_fail, spec.settings.timeout, spec.settings.limit) = (Some(2), Some(30), Some(5));
        let written = spec.to_stored().expect("JSON");
        assert_eq!(RunSpec::from_stored(&written, None, None).expect("settings"), spec);
        let wider = RunSpec::from_stored(&written, None, Some(9)).expect("settings");
        assert_eq!(wider.options, RunOptions { concurrency: 9, ..spec.options.clone() }, "only the concurrency may change");
        assert_eq!(spec.settings.budget, Some(Money::from_dollars(5)), "a resumed run may get a larger budget");
        assert!(RunSpec::from_stored(&STORED.replace("embedded", "hardhat"), None, None).is_err());
    }
}
