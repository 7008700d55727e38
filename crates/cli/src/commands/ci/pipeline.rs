//! Facts about a workspace and the options of the user that the file of every CI system states.

use super::super::command_files::named_files;
use super::install::InstallMethod;
use super::template::TemplateValues;
use crate::args::CiPipelineArgs;
use crate::files;
use crate::workspace_source::WorkspaceSource;
use campaign::{DECIDING_PARTS, inline_subject};
use model::{AgentEndpoint, CiRow, LiveRole, ProviderKind, SubjectFile, Tier, UserError, Workspace};
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// Subject if neither the user nor the workspace names one.
const DEFAULT_SUBJECT: &str = "baseline";
/// Tier without trials.
const SMOKE_TIER: u64 = 1;
const PULL_REQUEST: &str = "pull_request";
/// Events that the files know.
const EVENTS: [&str; 4] = [PULL_REQUEST, "merge", "nightly", "manual"];

#[derive(Debug)]
pub(super) struct CiPipeline {
    pub subject: String,
    pub install: InstallMethod,
    /// Environment variables with keys of the subject and of the judges, sorted.
    pub keys: Vec<String>,
    /// Those of the subject alone, sorted.
    pub subject_keys: Vec<String>,
    /// Judges of the tiers that CI runs.
    judges: Vec<String>,
    is_llm: bool,
    is_program: bool,
    /// Part of the subject that a runner of CI would not have.
    absent: Option<AbsentAgent>,
    has_tiers_file: bool,
    /// The workspace has scorers of its own, which tier 1 runs too.
    has_scorers: bool,
    /// The tiers below 4 play attacks beside their cases.
    has_red_team: bool,
    /// Folder of the workspace from the root of the repository; `None` for the embedded one.
    pub folder: Option<String>,
    pub tiers: Vec<Tier>,
    pub ci: Vec<CiRow>,
}

/// Agent that cannot be reached from CI as it is written.
#[derive(Debug, PartialEq, Eq)]
enum AbsentAgent {
    /// File of the command that is not in the repository.
    File(String),
    /// URL of this machine.
    LocalUrl(String),
}

impl CiPipeline {
    /// # Errors
    /// All mistakes in the options.
    pub(super) fn resolve(workspace: &Workspace, source: &WorkspaceSource, args: &CiPipelineArgs) -> Result<Self, Vec<UserError>> {
        let mut errors = vec![];
        for (option, value) in [("--branch", Some(&args.branch)), ("--subject", args.subject.as_ref())] {
            if value.is_some_and(|value| value.is_empty() || value.contains(char::is_control)) {
                errors.push(UserError::without_remedy(format!("{option} must be a single line")));
            }
        }
        for (option, value) in [("--install", &args.install), ("--setup", &args.setup)] {
            if value.as_ref().is_some_and(|value| value.trim().is_empty() || value.contains(['\n', '\r', '\0'])) {
                errors.push(UserError::new(format!("{option} must be a single line"), "join commands with &&, or name a script"));
            }
        }
        if args.red_team && workspace.probes.is_empty() {
            errors.push(UserError::new("--red-team: the workspace has no probes", "write probes/, or leave out --red-team"));
        }
        if !workspace.tiers.ci.iter().any(|row| EVENTS.contains(&row.event.as_str())) {
            let remedy = format!("add a row to ci in tiers.yaml for one of {}", EVENTS.join(", "));
            errors.push(UserError::new("tiers.yaml has no event that CI knows", remedy));
        }
        let install = InstallMethod::resolve(args).map_err(|error| errors.push(error)).ok();
        let name = args.subject.clone().or_else(|| workspace.defaults.subject.as_ref().map(|subject| subject.value.clone()));
        let name = name.unwrap_or_else(|| DEFAULT_SUBJECT.to_owned());
        let subject = find_subject(workspace, &name).map_err(|error| errors.push(error)).ok();
        let folder = match source {
            WorkspaceSource::Embedded => Some(None),
            WorkspaceSource::Folder(folder) => folder_in_repository(folder).map_err(|error| errors.push(error)).ok().map(Some),
        };
        let (Some(install), Some(subject), Some(folder), true) = (install, subject, folder, errors.is_empty()) else { return Err(errors) };
        let in_ci: BTreeSet<u64> = workspace.tiers.ci.iter().flat_map(|row| &row.tiers).copied().collect();
        let tiers: Vec<Tier> =
            workspace.tiers.tiers.iter().filter(|tier| in_ci.contains(&tier.tier) && tier.tier != SMOKE_TIER).cloned().collect();
        let judges: BTreeSet<&str> = tiers.iter().filter_map(|tier| tier.judge.as_ref()).map(|judge| judge.as_str()).collect();
        let models = judges.iter().filter_map(|judge| workspace.subject(judge)).chain([&subject]);
        let keys: BTreeSet<String> = models.flat_map(key_variables).collect();
        let subject_keys: BTreeSet<String> = key_variables(&subject).into_iter().collect();
        Ok(Self {
            subject: name,
            install,
            keys: keys.into_iter().collect(),
            subject_keys: subject_keys.into_iter().collect(),
            judges: judges.into_iter().map(str::to_owned).collect(),
            is_llm: subject.provider.is_llm(),
            is_program: matches!(subject.provider, ProviderKind::Process | ProviderKind::Mcp),
            absent: subject.external.as_ref().and_then(|agent| absent_agent(&agent.endpoint, |path| files::exists(Path::new(path)))),
            has_tiers_file: match source {
                WorkspaceSource::Embedded => true,
                WorkspaceSource::Folder(folder) => files::exists(&folder.join("tiers.yaml")),
            },
            has_scorers: !workspace.scorers.is_empty(),
            has_red_team: !workspace.probes.is_empty() && (args.red_team || !subject.provider.is_llm()),
            folder,
            tiers,
            ci: workspace.tiers.ci.clone(),
        })
    }

    /// Returns advice about what the file cannot know.
    pub(super) fn notes(&self) -> Vec<String> {
        let absent = self.absent.as_ref().map(|absent| match absent {
            AbsentAgent::File(path) => format!("warning: {path} does not exist here, so the agent will not start in CI; add it, or create it with --setup"),
            AbsentAgent::LocalUrl(url) => {
                format!("warning: {url} is an address of this machine; start the agent's server in CI with --setup, or name one that CI can reach")
            }
        });
        absent.into_iter().chain(self.unseen_agent()).chain(self.idle_branch()).chain(self.fork_note()).collect()
    }

    /// Returns that pushes run nothing, if no row of the table has their event.
    fn idle_branch(&self) -> Option<String> {
        (!self.runs_on("merge") && self.runs_on(PULL_REQUEST)).then(|| {
            let tiers = tier_list(self.ci.iter().filter(|row| row.event == PULL_REQUEST).flat_map(|row| row.tiers.iter().copied()).collect());
            format!(
                "note: no row of ci in tiers.yaml has the event merge, so a push runs nothing and --branch has no effect; pull requests run {tiers}"
            )
        })
    }

    /// Returns true if pull requests from forks lack the archive: they do not receive variables.
    fn is_closed_to_forks(&self) -> bool {
        self.install == InstallMethod::Variables && self.runs_on(PULL_REQUEST)
    }

    fn fork_note(&self) -> Option<String> {
        let note = "note: forks do not receive the variables BARDO_EVAL_URL and BARDO_EVAL_SHA256, so the installation fails there; for forks use --install-url and --install-sha256";
        self.is_closed_to_forks().then(|| note.to_owned())
    }

    fn unseen_agent(&self) -> Option<String> {
        let waits = self.ci.iter().find(|row| !row.when_changed.is_empty())?;
        let sees_agent = waits.when_changed.iter().any(|part| part.starts_with('/'));
        (self.is_program && !sees_agent).then(|| {
            let event = &waits.event;
            format!("note: a change of the agent's own files does not run the tiers of {event}; add their path to when_changed in tiers.yaml, as in /agent.py")
        })
    }

    /// Returns the sections and values that the files of all CI systems have. `request` is the system's word for a pull request.
    pub(super) fn template(&self, args: &CiPipelineArgs, request: &str) -> TemplateValues {
        let recorded = self.recorded_tiers();
        let numbers = |tiers: &[u64]| tiers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let tiers: Vec<u64> = [SMOKE_TIER].into_iter().chain(self.tiers.iter().map(|tier| tier.tier)).collect();
        let tiers_file = self.folder.as_deref().map(|folder| match self.has_tiers_file {
            true => format!("{folder}/tiers.yaml"),
            false => format!("{folder}/tiers.yaml, if you add one: these are the defaults"),
        });
        let has_requests = self.runs_on(PULL_REQUEST);
        let if_requests = |text: String| if has_requests { text } else { String::new() };
        EVENTS
            .into_iter()
            .fold(TemplateValues::default(), |template, event| template.section(event, self.runs_on(event)))
            .section("keys", !self.keys.is_empty())
            .section("archive", self.install.is_archive())
            .section("record", !recorded.is_empty())
            .section("setup", args.setup.is_some())
            .section("red_team", self.has_red_team)
            .section("subject_keys", !self.subject_keys.is_empty())
            .section("fork_variables", self.is_closed_to_forks())
            .set("DECIDING", quote(&deciding_files(self.folder.as_deref())))
            .section("setup_of_scorers", args.setup.is_some() && self.has_scorers)
            .set("TIERS_FILE", tiers_file.unwrap_or_else(|| "tiers.yaml of the embedded workspace".to_owned()))
            .set("JUDGE", self.judge_note())
            .set("KEY_NAMES", self.keys.join(", "))
            .set("AS_IN_A_FORK", if_requests(format!(", as in a {request} from a fork")))
            .set("HAS_KEYS", has_all(&self.keys))
            .set("HAS_SUBJECT_KEYS", has_all(&self.subject_keys))
            .set("RED_TEAM_BUDGET", if self.is_llm { format!(" --budget {}", self.recording_budget()) } else { String::new() })
            .set("BRANCH", quote_yaml(&args.branch))
            .set("ALL_TIERS", numbers(&tiers))
            .set("SETUP", args.setup.clone().unwrap_or_default())
            .set("RECORDED_TIERS", numbers(&recorded))
            .set("RECORDING_BUDGET", self.recording_budget())
    }

    /// Returns true if the table of CI has the event.
    pub(super) fn runs_on(&self, event: &str) -> bool {
        self.ci.iter().any(|row| row.event == event)
    }

    /// Returns the tiers of pull requests, whose replies are recorded: forks have recordings only. Empty if no model is called, recordings
    /// have no folder, or no event can record.
    pub(super) fn recorded_tiers(&self) -> Vec<u64> {
        let can_record = |tier: &&Tier| {
            let elsewhere = self.ci.iter().any(|row| row.event != PULL_REQUEST && row.tiers.contains(&tier.tier));
            elsewhere || self.is_replayed(tier)
        };
        let has_models = self.folder.is_some() && (self.is_llm || !self.judges.is_empty());
        self.tiers.iter().filter(|tier| has_models && self.is_of_pull_requests(tier)).filter(can_record).map(|tier| tier.tier).collect()
    }

    /// Returns true if pull requests with a key record the replies of the subject, which a tier may only replay.
    pub(super) fn records_subject(&self) -> bool {
        self.tiers.iter().any(|tier| self.is_of_pull_requests(tier) && self.is_replayed(tier))
    }

    fn is_of_pull_requests(&self, tier: &Tier) -> bool {
        self.ci.iter().any(|row| row.event == PULL_REQUEST && row.tiers.contains(&tier.tier))
    }

    /// Returns true if the tier plays the subject's replies from recordings.
    fn is_replayed(&self, tier: &Tier) -> bool {
        self.is_llm && tier.live != LiveRole::Subject
    }

    /// Returns one line about the judges for the head of the file.
    fn judge_note(&self) -> String {
        if self.judges.is_empty() { "none; a tier may name one in tiers.yaml".to_owned() } else { self.judges.join(", ") }
    }

    /// Returns the largest budget of a tier: recording replaces a night's run of all cases.
    fn recording_budget(&self) -> String {
        self.tiers.iter().map(|tier| tier.budget_usd).fold(0.0, f64::max).to_string()
    }

    /// Returns the flag that names the workspace, quoted for a shell; empty for `evals`.
    pub(super) fn workspace_flag(&self) -> String {
        match self.folder.as_deref() {
            None => " --embedded".to_owned(),
            Some("evals") => String::new(),
            Some(folder) => format!(" --workspace {}", quote(folder)),
        }
    }

    /// Returns the folder of the recordings.
    pub(super) fn cassettes(&self) -> String {
        match self.folder.as_deref() {
            Some(".") => "cassettes".to_owned(),
            folder => format!("{}/cassettes", folder.unwrap_or("evals")),
        }
    }

    /// Returns the command that writes the same file.
    pub(super) fn own_command(&self, target: &str, args: &CiPipelineArgs) -> String {
        let mut command = format!("bardo-eval ci {target}{}", self.workspace_flag());
        let options = [
            ("--subject", args.subject.as_ref()),
            ("--branch", Some(&args.branch).filter(|branch| *branch != "main")),
            ("--install-url", args.install_url.as_ref()),
            ("--install-sha256", args.install_sha256.as_ref()),
            ("--install", args.install.as_ref()),
            ("--setup", args.setup.as_ref()),
        ];
        for (option, value) in options.iter().filter_map(|(option, value)| Some((option, (*value)?))) {
            command.push_str(&format!(" {option} {}", quote(value)));
        }
        if args.red_team {
            command.push_str(" --red-team");
        }
        command
    }
}

/// Returns the part of an agent that a runner of CI would not have.
fn absent_agent(endpoint: &AgentEndpoint, exists: impl Fn(&str) -> bool) -> Option<AbsentAgent> {
    match endpoint {
        AgentEndpoint::Command(words) => {
            let missing = named_files(words).find(|path| !exists(path));
            missing.map(|path| AbsentAgent::File(path.to_owned()))
        }
        AgentEndpoint::Url(url) => {
            let host = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            let is_local = ["127.", "localhost", "[::1]", "0.0.0.0"].iter().any(|local| host.starts_with(local));
            is_local.then(|| AbsentAgent::LocalUrl(url.clone()))
        }
    }
}

fn find_subject(workspace: &Workspace, name: &str) -> Result<SubjectFile, UserError> {
    match inline_subject(name) {
        Some(inline) => inline,
        None => {
            let known = workspace.subjects.iter().map(|subject| subject.name.as_str());
            workspace.subject(name).cloned().ok_or_else(|| UserError::unknown("subject", name, known))
        }
    }
}

/// Parts of the names of variables that hold a secret.
const SECRET_WORDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

/// Returns the variables with secrets that a subject reads. An external agent may also read others, such as HOME.
fn key_variables(subject: &SubjectFile) -> Vec<String> {
    let is_secret = |name: &&String| SECRET_WORDS.iter().any(|word| name.to_ascii_uppercase().contains(word));
    let agent = subject.external.iter().flat_map(|agent| agent.env.iter().filter(is_secret).cloned());
    subject.key_env.iter().cloned().chain(agent).collect()
}

/// Returns the folder as a path inside the repository, with `/`.
fn folder_in_repository(folder: &Path) -> Result<String, UserError> {
    let is_inside = folder.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let text = folder.to_str().filter(|text| is_inside && !text.contains(char::is_control));
    let Some(text) = text else {
        let remedy = "run this in the root of the repository and name a folder inside it";
        return Err(UserError::new(format!("the workspace {} is not in this repository", folder.display()), remedy));
    };
    let bare = text.replace('\\', "/");
    let bare = bare.trim_start_matches("./").trim_end_matches('/');
    Ok(if bare.is_empty() { ".".to_owned() } else { bare.to_owned() })
}

/// Returns the pattern of paths that decide the verdict of a change. Files decide in any folder; git quotes odd paths.
fn deciding_files(folder: Option<&str>) -> String {
    let stems: Vec<&str> = DECIDING_PARTS.iter().filter_map(|part| part.strip_suffix(".yaml")).collect();
    let folders: Vec<&str> = DECIDING_PARTS.into_iter().filter(|part| !part.ends_with(".yaml")).collect();
    let files = format!(r#"(^|/)({})\.yaml"?$"#, stems.join("|"));
    let folders = format!("({})/", folders.join("|"));
    let escaped = |folder: &str| -> String {
        let is_plain = |letter: char| letter.is_alphanumeric() || "-_/".contains(letter);
        folder.chars().map(|letter| if is_plain(letter) { letter.to_string() } else { format!("\\{letter}") }).collect()
    };
    match folder {
        None => files,
        Some(".") => format!("{files}|^\"?{folders}"),
        Some(folder) => format!("{files}|^\"?{}/{folders}", escaped(folder)),
    }
}

/// Returns the condition of a shell that all keys are set.
fn has_all(keys: &[String]) -> String {
    let tests: Vec<String> = keys.iter().map(|key| format!("[ -n \"${{{key}:-}}\" ]")).collect();
    if tests.is_empty() { "true".to_owned() } else { tests.join(" && ") }
}

/// Quotes a word for a POSIX shell.
pub(super) fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Quotes a text for YAML. A JSON string is one in YAML too.
pub(super) fn quote_yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Names tiers, as in "tiers 1, 2 and 3".
fn tier_list(tiers: BTreeSet<u64>) -> String {
    let mut numbers: Vec<String> = tiers.iter().map(u64::to_string).collect();
    match (numbers.pop(), numbers.as_slice()) {
        (None, _) => "no tier".to_owned(),
        (Some(only), []) => format!("tier {only}"),
        (Some(last), others) => format!("tiers {} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_decide_are_told_by_their_place() {
        let matches = |folder: &str, path: &str| {
            let mut grep = std::process::Command::new("grep");
            let mut child = grep.arg("-qE").arg(deciding_files(Some(folder))).stdin(std::process::Stdio::piped()).spawn().unwrap();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), format!("{path}\n").as_bytes()).unwrap();
            child.wait().unwrap().success()
        };
        for path in
            ["my.evals/gates.yaml", "bardo-eval.yaml", "my.evals/scorers.yaml", "my.evals/scorers/a.py", "my.evals/cassettes/m.jsonl"]
        {
            assert!(matches("my.evals", path), "{path}");
        }
        assert!(matches("my.evals", "\"my.evals/cassettes/a\\tb\"") && matches(".", "cassettes/m.jsonl"));
        for part in DECIDING_PARTS {
            let path = if part.ends_with(".yaml") { format!("my.evals/{part}") } else { format!("my.evals/{part}/a/b.py") };
            assert!(matches("my.evals", &path), "{path}");
        }
        for path in ["src/scorers/a.rs", "my.evals/tools/gates.yaml.md", "myxevals/scorers/a.py", "my.evals/suites/a.yaml"] {
            assert!(!matches("my.evals", path), "{path}");
        }
    }

    #[test]
    fn agents_that_ci_does_not_have_are_found() {
        let absent =
            |subject: &str| absent_agent(&inline_subject(subject).unwrap().unwrap().external.unwrap().endpoint, |path| path == "agent.py");
        assert_eq!(absent("process:python3 agent.py --port 1"), None);
        assert_eq!(absent("process:python3 agnet.py"), Some(AbsentAgent::File("agnet.py".to_owned())));
        assert_eq!(absent("mcp:./run it"), Some(AbsentAgent::File("./run".to_owned())));
        assert_eq!(absent("mcp:npx -y some-agent"), None, "a program of PATH");
        let local = "http://127.0.0.1:8080/v1";
        assert_eq!(absent(&format!("chat:{local}")), Some(AbsentAgent::LocalUrl(local.to_owned())));
        assert_eq!(absent("a2a:https://agents.example"), None);
    }
}
