//! Executes the jobs of a GitHub workflow in order: `run` steps with bash, and the few actions that the workflow uses.

use super::expression::{ExpressionContext, evaluate, is_true, substitute};
use super::scratch::ScratchRepo;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// GitHub with its caches, which later runs restore.
pub(super) struct GithubRunner {
    home: TempDir,
    caches: Vec<(String, PathBuf)>,
    runs: usize,
}

/// Event that starts a workflow.
#[derive(Debug, Clone, Default)]
pub(super) struct GithubEvent {
    pub name: &'static str,
    /// Commit that a pull request is compared with.
    pub base: String,
    pub is_fork: bool,
    pub secrets: Vec<(&'static str, &'static str)>,
    pub inputs: Vec<(&'static str, String)>,
}

/// Result of a job, or of one of its copies.
#[derive(Debug, Default)]
pub(super) struct JobResult {
    pub name: String,
    pub result: &'static str,
    pub steps: Vec<StepResult>,
    pub summary: String,
    /// Files that the job uploaded.
    pub artifacts: BTreeMap<String, String>,
    outputs: Map<String, Value>,
}

#[derive(Debug)]
pub(super) struct StepResult {
    pub name: String,
    /// `None` if the step was skipped or is an action.
    pub code: Option<i32>,
    pub log: String,
    /// Environment of the script.
    pub env: String,
}

impl JobResult {
    #[track_caller]
    pub(super) fn step(&self, name: &str) -> &StepResult {
        self.steps.iter().find(|step| step.name == name).unwrap_or_else(|| panic!("{} has no step {name}", self.name))
    }

    /// Returns everything that the job printed.
    pub(super) fn log(&self) -> String {
        self.steps.iter().map(|step| format!("## {} {:?}\n{}", step.name, step.code, step.log)).collect()
    }
}

impl GithubRunner {
    pub(super) fn new() -> Self {
        Self { home: TempDir::new().unwrap(), caches: vec![], runs: 0 }
    }

    /// Runs the workflow on the last commit of the repository and returns the jobs in order.
    pub(super) fn run(&mut self, repo: &ScratchRepo, workflow: &str, event: &GithubEvent) -> Vec<JobResult> {
        self.runs += 1;
        let workflow: Value = serde_yaml_ng::from_str(workflow).unwrap();
        let mut done: Vec<JobResult> = vec![];
        let jobs = workflow["jobs"].as_object().unwrap();
        let mut needs = Map::new();
        for id in ["smoke", "record", "evaluate"] {
            let Some(job) = jobs.get(id) else { continue };
            let results = self.run_job(repo, &workflow, (id, job), event, &needs);
            let failed = results.iter().any(|job| job.result == "failure");
            let result = if failed { "failure" } else { results.first().map_or("skipped", |job| job.result) };
            let outputs = results.first().map(|job| job.outputs.clone()).unwrap_or_default();
            needs.insert(id.to_owned(), json!({ "result": result, "outputs": outputs }));
            done.extend(results);
        }
        assert_eq!(needs.len(), jobs.len(), "a job is unknown");
        done
    }

    fn run_job(
        &mut self,
        repo: &ScratchRepo,
        workflow: &Value,
        (id, job): (&str, &Value),
        event: &GithubEvent,
        needs: &Map<String, Value>,
    ) -> Vec<JobResult> {
        let mut context =
            JobContext { event, run: self.runs, needs, matrix: Value::Null, steps: Map::new(), failed: false, workspace: PathBuf::new() };
        let named: Vec<&str> = match &job["needs"] {
            Value::String(one) => vec![one],
            Value::Array(all) => all.iter().map(|one| one.as_str().unwrap()).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => vec![],
        };
        let all_succeeded = named.iter().all(|name| needs[*name]["result"] == "success");
        let holds = |condition: &str| (all_succeeded || has_status(condition)) && is_true(&evaluate(condition, &context));
        let runs = job["if"].as_str().map_or(all_succeeded, holds);
        if !runs {
            return vec![JobResult { name: id.to_owned(), result: "skipped", ..JobResult::default() }];
        }
        let matrix = job["strategy"]["matrix"]["tier"].as_str().map(|tiers| evaluate(tiers, &context));
        let copies: Vec<Value> = match matrix {
            None => vec![Value::Null],
            Some(tiers) => tiers.as_array().unwrap().iter().filter(|tier| **tier != json!(1)).map(|tier| json!({ "tier": tier })).collect(),
        };
        let mut results = vec![];
        for matrix in copies {
            context.matrix = matrix;
            let copy = JobContext { steps: Map::new(), workspace: PathBuf::new(), matrix: context.matrix.clone(), ..context };
            results.push(self.run_copy(repo, workflow, job, copy));
        }
        results
    }

    fn run_copy(&mut self, repo: &ScratchRepo, workflow: &Value, job: &Value, mut context: JobContext<'_>) -> JobResult {
        let name = substitute(job["name"].as_str().unwrap(), &context);
        let temp = tempfile::tempdir_in(self.home.path()).unwrap();
        context.workspace = temp.path().join("repo");
        fs::create_dir(&context.workspace).unwrap();
        for file in ["output", "path", "summary", "env"] {
            fs::write(temp.path().join(file), "").unwrap();
        }
        let mut result = JobResult { name, result: "success", ..JobResult::default() };
        let mut saved_at_end = vec![];
        for step in job["steps"].as_array().unwrap() {
            let name = step["name"].as_str().map(|name| substitute(name, &context)).expect("a step has a name");
            let condition = step["if"].as_str();
            let is_chosen = condition.is_none_or(|condition| is_true(&evaluate(condition, &context)));
            let ignores_failure = condition.is_some_and(has_status);
            if !is_chosen || (context.failed && !ignores_failure) {
                result.steps.push(StepResult { name, code: None, log: String::new(), env: String::new() });
                continue;
            }
            if let Some(action) = step["uses"].as_str() {
                let with = |key: &str| step["with"][key].as_str().map(|text| substitute(text, &context)).unwrap_or_default();
                self.use_action(repo, action, &with, &context, &mut result, &mut saved_at_end);
                result.steps.push(StepResult { name, code: None, log: String::new(), env: String::new() });
                continue;
            }
            let ran = run_script(workflow, job, step, &context, temp.path(), name);
            let outputs = fs::read_to_string(temp.path().join("output")).unwrap();
            fs::write(temp.path().join("output"), "").unwrap();
            if let Some(id) = step["id"].as_str() {
                let outputs: Map<String, Value> =
                    outputs.lines().filter_map(|line| line.split_once('=')).map(|(key, value)| (key.to_owned(), json!(value))).collect();
                context.steps.insert(id.to_owned(), json!({ "outputs": outputs }));
            }
            context.failed |= ran.code != Some(0);
            result.steps.push(ran);
        }
        if context.failed {
            result.result = "failure";
        } else {
            for (key, path) in saved_at_end {
                self.save(&key, &context.workspace, &path);
            }
        }
        result.summary = fs::read_to_string(temp.path().join("summary")).unwrap();
        if let Some(outputs) = job["outputs"].as_object() {
            let outputs = outputs.iter().map(|(key, text)| (key.clone(), json!(substitute(text.as_str().unwrap(), &context))));
            result.outputs = outputs.collect();
        }
        result
    }

    fn use_action(
        &mut self,
        repo: &ScratchRepo,
        action: &str,
        with: &dyn Fn(&str) -> String,
        context: &JobContext<'_>,
        result: &mut JobResult,
        saved_at_end: &mut Vec<(String, String)>,
    ) {
        let (name, version) = action.split_once('@').unwrap();
        assert!(version.len() == 40 && version.chars().all(|digit| digit.is_ascii_hexdigit()), "{action} is not pinned");
        match name {
            "actions/checkout" => {
                let from = repo.folder.path("");
                let cloned = Command::new("git").args(["clone", "--quiet"]).arg(from).arg(&context.workspace).output().unwrap();
                assert!(cloned.status.success(), "{cloned:?}");
            }
            "actions/cache" | "actions/cache/restore" => {
                let (key, path) = (with("key"), with("path"));
                let hit = self.caches.iter().rev().find(|(known, _)| *known == key);
                let near = || self.caches.iter().rev().find(|(known, _)| known.starts_with(&with("restore-keys")));
                if let Some((_, saved)) = hit.or_else(near) {
                    copy_folder(saved, &context.workspace.join(&path));
                }
                if name == "actions/cache" {
                    saved_at_end.push((key, path));
                }
            }
            "actions/cache/save" => self.save(&with("key"), &context.workspace, &with("path")),
            "actions/upload-artifact" => {
                let from = context.workspace.join(with("path"));
                let mut names = vec![];
                if from.is_dir() {
                    crate::harness::walk(&from, &from, &mut names);
                }
                result.artifacts.extend(names.into_iter().map(|name| (name.clone(), fs::read_to_string(from.join(&name)).unwrap())));
            }
            "github/codeql-action/upload-sarif" => assert!(context.workspace.join(with("sarif_file")).is_file()),
            _ => panic!("{action} is unknown"),
        }
    }

    fn save(&mut self, key: &str, workspace: &Path, path: &str) {
        if self.caches.iter().any(|(known, _)| known == key) || !workspace.join(path).exists() {
            return;
        }
        let folder = self.home.path().join(format!("cache-{}", self.caches.len()));
        copy_folder(&workspace.join(path), &folder);
        self.caches.push((key.to_owned(), folder));
    }
}

fn has_status(condition: &str) -> bool {
    ["cancelled()", "success()", "always()", "failure()"].iter().any(|function| condition.contains(function))
}

pub(super) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let copied = Command::new("cp").arg("-r").arg(from.join(".")).arg(to).output().unwrap();
    assert!(copied.status.success(), "{copied:?}");
}

/// Runs one script with the variables of workflow, job and step.
fn run_script(workflow: &Value, job: &Value, step: &Value, context: &JobContext<'_>, temp: &Path, name: String) -> StepResult {
    assert_eq!(workflow["defaults"]["run"]["shell"], "bash");
    let script = substitute(step["run"].as_str().unwrap(), context);
    // The environment of the step as its first command sees it.
    fs::write(temp.join("script"), format!("env > '{}'\n{script}", temp.join("seen").display())).unwrap();
    let added = fs::read_to_string(temp.join("path")).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let folders = added.lines().rev().map(PathBuf::from).chain(std::env::split_paths(&path));
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(temp.join("script")).current_dir(&context.workspace);
    bash.env_clear().env("PATH", std::env::join_paths(folders).unwrap()).env("HOME", temp).env("CI", "true");
    for (variable, file) in [
        ("GITHUB_OUTPUT", "output"),
        ("GITHUB_PATH", "path"),
        ("GITHUB_STEP_SUMMARY", "summary"),
        ("GITHUB_ENV", "env"),
        ("RUNNER_TEMP", "temp"),
    ] {
        bash.env(variable, temp.join(file));
    }
    fs::create_dir_all(temp.join("temp")).unwrap();
    for level in [workflow, job, step] {
        for (key, value) in level["env"].as_object().into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), |text| substitute(text, context));
            bash.env(key, text);
        }
    }
    let ran = bash.output().unwrap();
    let log = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    StepResult { name, code: ran.status.code(), log, env: fs::read_to_string(temp.join("seen")).unwrap() }
}

/// Values of expressions in a job.
struct JobContext<'r> {
    event: &'r GithubEvent,
    run: usize,
    needs: &'r Map<String, Value>,
    matrix: Value,
    steps: Map<String, Value>,
    failed: bool,
    workspace: PathBuf,
}

impl ExpressionContext for JobContext<'_> {
    fn lookup(&self, path: &[String]) -> Value {
        let event = self.event;
        let head = if event.is_fork { "them/fork" } else { "us/repo" };
        let pull_request = json!({ "base": { "sha": event.base }, "head": { "repo": { "full_name": head } } });
        let github = json!({
            "event_name": event.name, "workflow": "bardo-eval", "ref": "refs/heads/main", "repository": "us/repo",
            "run_id": self.run, "run_attempt": 1, "event": { "pull_request": pull_request },
        });
        let pairs =
            |all: Vec<(&str, &str)>| Value::from(all.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect::<Map<_, _>>());
        let root = match path[0].as_str() {
            "github" => github,
            "secrets" => pairs(event.secrets.clone()),
            "inputs" => pairs(event.inputs.iter().map(|(key, value)| (*key, value.as_str())).collect()),
            "vars" => json!({}),
            "needs" => self.needs.clone().into(),
            "steps" => self.steps.clone().into(),
            "matrix" => self.matrix.clone(),
            other => panic!("the workflow reads {other}"),
        };
        path[1..].iter().fold(root, |value, part| value.get(part).cloned().unwrap_or_default())
    }

    fn call(&self, function: &str, args: &[Value]) -> Value {
        match (function, args) {
            ("cancelled", []) => json!(false),
            ("success", []) => json!(!self.failed),
            ("fromJSON", [Value::String(text)]) => serde_json::from_str(text).unwrap(),
            ("contains", [Value::Array(all), one]) => json!(all.iter().any(|item| item.as_f64() == one.as_f64())),
            ("hashFiles", [Value::String(pattern)]) => {
                let found = self.workspace.join(pattern.trim_end_matches("/**")).exists();
                json!(if found { "hash" } else { "" })
            }
            _ => panic!("the workflow calls {function}({args:?})"),
        }
    }
}
