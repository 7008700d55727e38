//! Executes the jobs of a GitLab pipeline in order: rules, scripts with bash, caches and artifacts.

use super::github_runner::copy_folder;
use super::scratch::ScratchRepo;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// GitLab with its caches, which later pipelines restore.
pub(super) struct GitlabRunner {
    home: TempDir,
    caches: BTreeMap<String, PathBuf>,
}

/// Pipeline that starts.
#[derive(Debug, Clone, Default)]
pub(super) struct GitlabEvent {
    pub source: &'static str,
    /// Files that a merge request changed.
    pub changed: Vec<&'static str>,
    /// Variables with the environment scope `bardo-eval`.
    pub scoped: Vec<(&'static str, &'static str)>,
    pub tiers: &'static str,
}

#[derive(Debug)]
pub(super) struct GitlabJob {
    pub name: String,
    pub code: Option<i32>,
    pub log: String,
    /// Environment of the script.
    pub env: String,
    pub files: BTreeMap<String, String>,
}

impl GitlabRunner {
    pub(super) fn new() -> Self {
        Self { home: TempDir::new().unwrap(), caches: BTreeMap::new() }
    }

    /// Runs the pipeline on the last commit and returns the jobs that the rules chose. A job runs only if the jobs that it needs succeeded.
    pub(super) fn run(&mut self, repo: &ScratchRepo, text: &str, event: &GitlabEvent) -> Vec<GitlabJob> {
        let pipeline: Value = serde_yaml_ng::from_str(text).unwrap();
        let starts = pipeline["workflow"]["rules"].as_array().unwrap().iter().any(|rule| applies(rule, event));
        let mut done: Vec<(GitlabJob, TempDir)> = vec![];
        let words = ["stages", "variables", "workflow", "default"];
        // Stages run one after the other; within a stage the file is in the order of the needs.
        let mut jobs: Vec<(&String, Value)> = pipeline
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| !words.contains(&name.as_str()) && !name.starts_with('.'))
            .map(|(name, job)| (name, merged(&pipeline, job)))
            .collect();
        let stages: Vec<&str> = pipeline["stages"].as_array().unwrap().iter().map(|stage| stage.as_str().unwrap()).collect();
        jobs.sort_by_key(|(_, job)| stages.iter().position(|stage| job["stage"] == **stage).unwrap());
        for (name, job) in jobs {
            let is_chosen = job["rules"].as_array().is_none_or(|rules| rules.iter().any(|rule| applies(rule, event)));
            if !starts || !is_chosen {
                continue;
            }
            let needed: Vec<&str> = job["needs"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|need| need.as_str().unwrap_or_else(|| need["job"].as_str().unwrap()))
                .collect();
            let failed = done.iter().any(|(before, _)| needed.contains(&before.name.as_str()) && before.code != Some(0));
            if failed {
                continue;
            }
            let sources: Vec<PathBuf> =
                done.iter().filter(|(before, _)| needed.contains(&before.name.as_str())).map(|(_, kept)| kept.path().to_owned()).collect();
            let ran = self.run_job(repo, (&pipeline, name, &job), event, &sources);
            done.push(ran);
        }
        done.into_iter().map(|(job, _)| job).collect()
    }

    fn run_job(
        &mut self,
        repo: &ScratchRepo,
        (pipeline, name, job): (&Value, &str, &Value),
        event: &GitlabEvent,
        sources: &[PathBuf],
    ) -> (GitlabJob, TempDir) {
        let temp = tempfile::tempdir_in(self.home.path()).unwrap();
        let workspace = temp.path().join("repo");
        let cloned = Command::new("git").args(["clone", "--quiet"]).arg(repo.folder.path("")).arg(&workspace).output().unwrap();
        assert!(cloned.status.success(), "{cloned:?}");
        let tier = job["variables"]["TIER"].as_str().unwrap_or_default();
        let caches: Vec<&Value> = match &job["cache"] {
            Value::Array(all) => all.iter().collect(),
            Value::Null => vec![],
            one @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => vec![one],
        };
        let key = |cache: &Value| cache["key"].as_str().unwrap().replace("$TIER", tier);
        for cache in &caches {
            if let Some(saved) = self.caches.get(&key(cache)) {
                copy_folder(saved, &workspace.join(cache["paths"][0].as_str().unwrap()));
            }
        }
        for source in sources {
            copy_folder(source, &workspace);
        }
        let (code, log, env) = run_script(pipeline, job, event, temp.path(), &workspace);
        let kept = TempDir::new().unwrap();
        let paths = job["artifacts"]["paths"].as_array().into_iter().flatten().map(|path| path.as_str().unwrap());
        if code == Some(0) || job["artifacts"]["when"] == "always" {
            for path in paths.filter(|path| workspace.join(path).exists()) {
                copy_folder(&workspace.join(path), &kept.path().join(path));
            }
        }
        for cache in caches.iter().filter(|cache| cache["policy"] != "pull" && code == Some(0)) {
            let path = workspace.join(cache["paths"][0].as_str().unwrap());
            if path.exists() {
                let folder = self.home.path().join(format!("cache-{}-{}", key(cache), self.caches.len()));
                copy_folder(&path, &folder);
                self.caches.insert(key(cache), folder);
            }
        }
        let (mut names, reports) = (vec![], kept.path().join("bardo-eval-reports"));
        if reports.exists() {
            crate::harness::walk(&reports, &reports, &mut names);
        }
        let files = names.into_iter().map(|name| (name.clone(), fs::read_to_string(reports.join(&name)).unwrap())).collect();
        (GitlabJob { name: name.to_owned(), code, log, env, files }, kept)
    }
}

/// Returns a job with the keys of the job that it extends.
fn merged(pipeline: &Value, job: &Value) -> Value {
    let mut all = job["extends"].as_str().map_or_else(|| Value::Object(serde_json::Map::new()), |base| pipeline[base].clone());
    for (key, value) in job.as_object().unwrap() {
        all[key] = value.clone();
    }
    all
}

fn run_script(pipeline: &Value, job: &Value, event: &GitlabEvent, temp: &Path, workspace: &Path) -> (Option<i32>, String, String) {
    let lines =
        |part: &Value| part.as_array().into_iter().flatten().map(|line| format!("{}\n", line.as_str().unwrap())).collect::<String>();
    let script =
        format!("env > '{}'\n{}{}", temp.join("seen").display(), lines(&pipeline["default"]["before_script"]), lines(&job["script"]));
    fs::write(temp.join("script"), script).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(temp.join("script")).current_dir(workspace).env_clear();
    bash.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", temp).env("CI", "true");
    bash.env("CI_PROJECT_DIR", workspace).env("CI_PIPELINE_SOURCE", event.source).env("CI_COMMIT_BRANCH", "main");
    for level in [pipeline, job] {
        for (key, value) in level["variables"].as_object().into_iter().flatten() {
            bash.env(key, value.as_str().unwrap_or_else(|| value["value"].as_str().unwrap()));
        }
    }
    if job["environment"]["name"] == "bardo-eval" {
        bash.envs(event.scoped.iter().copied());
    }
    let ran = bash.output().unwrap();
    let log = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    (ran.status.code(), log, fs::read_to_string(temp.join("seen")).unwrap())
}

/// Reports whether a rule chooses the job. Conditions are joined by `&&`.
fn applies(rule: &Value, event: &GitlabEvent) -> bool {
    let holds = |condition: &str| {
        if let Some((name, value)) = condition.split_once(" == ") {
            let value = value.trim_matches('"');
            return match name {
                "$CI_PIPELINE_SOURCE" => value == event.source,
                "$CI_COMMIT_BRANCH" => value == "main",
                _ => panic!("{name} is unknown"),
            };
        }
        let (name, pattern) = condition.split_once(" =~ ").unwrap_or_else(|| panic!("{condition} is unknown"));
        let tier = pattern.trim_start_matches("/\\b").trim_end_matches("\\b/");
        assert_eq!(name, "$TIERS");
        event.tiers.split(' ').any(|asked| asked == tier)
    };
    let chosen = rule["if"].as_str().unwrap().split(" && ").all(holds);
    let changes = rule["changes"].as_array();
    chosen
        && changes.is_none_or(|patterns| {
            event.changed.iter().any(|file| patterns.iter().any(|pattern| matches_pattern(pattern.as_str().unwrap(), file)))
        })
}

fn matches_pattern(pattern: &str, file: &str) -> bool {
    pattern.strip_suffix("**/*").map_or(pattern == file, |folder| file.starts_with(folder))
}
