//! The pipeline of `ci gitlab`, executed for every kind of pipeline.

use super::gitlab_runner::{GitlabEvent, GitlabJob, GitlabRunner};
use super::scratch::{KEY, KEY_VALUE, ScratchRepo, ServedArchive};
use crate::harness::TestFolder;

fn pipeline(repo: &ScratchRepo, archive: &ServedArchive, options: &[&str]) -> String {
    let install = ["ci", "gitlab", "--print", "--install-url", &archive.url, "--install-sha256", &archive.sha256];
    repo.folder.run(&[&install[..], options].concat()).assert_exit(0).stdout
}

fn merge_request(has_key: bool) -> GitlabEvent {
    let scoped = if has_key { vec![(KEY, KEY_VALUE)] } else { vec![] };
    GitlabEvent { source: "merge_request_event", changed: vec!["evals/policy.yaml"], scoped, tiers: "1 2 3 4" }
}

fn event(source: &'static str) -> GitlabEvent {
    GitlabEvent { source, changed: vec![], ..merge_request(true) }
}

fn results(jobs: &[GitlabJob]) -> Vec<(&str, Option<i32>)> {
    jobs.iter().map(|job| (job.name.as_str(), job.code)).collect()
}

#[track_caller]
fn job<'r>(jobs: &'r [GitlabJob], name: &str) -> &'r GitlabJob {
    jobs.iter().find(|job| job.name == name).unwrap_or_else(|| panic!("no job {name} in {:?}", results(jobs)))
}

#[track_caller]
fn assert_key_only_in(jobs: &[GitlabJob], expected: &[&str]) {
    let seeing: Vec<&str> = jobs.iter().filter(|job| job.env.contains(KEY_VALUE)).map(|job| job.name.as_str()).collect();
    assert_eq!(seeing, expected);
}

#[test]
fn gitlab_merge_requests_run_with_and_without_key() {
    let repo = ScratchRepo::new();
    let text = pipeline(&repo, &ServedArchive::of_launcher(), &["--subject", "reference"]);
    let mut gitlab = GitlabRunner::new();
    let jobs = gitlab.run(&repo, &text, &merge_request(true));
    assert_eq!(results(&jobs), [("install", Some(0)), ("tier-1", Some(0)), ("tier-2", Some(0))], "{}", jobs.last().unwrap().log);
    assert!(job(&jobs, "tier-2").files["tier-2.xml"].contains("<testsuite") && repo.questions() == 1);
    assert_key_only_in(&jobs, &["tier-2"]);
    let jobs = gitlab.run(&repo, &text, &merge_request(false));
    let log = &job(&jobs, "tier-2").log;
    assert!(log.contains("No key in this job") && log.contains("undecided, not passed: rubrics"), "{log}");
    assert_eq!((job(&jobs, "tier-2").code, repo.questions()), (Some(0), 1));
    let other = GitlabEvent { changed: vec!["README.md"], ..merge_request(true) };
    assert_eq!(results(&gitlab.run(&repo, &text, &other)), [("install", Some(0)), ("tier-1", Some(0))]);
    let echo = pipeline(&repo, &ServedArchive::of_launcher(), &["--subject", "echo"]);
    for has_key in [true, false] {
        let jobs = gitlab.run(&repo, &echo, &merge_request(has_key));
        assert_eq!(job(&jobs, "tier-2").code, Some(1), "{}", job(&jobs, "tier-2").log);
    }
}

#[test]
fn gitlab_pushes_schedules_and_manual_pipelines_run_their_tiers() {
    let repo = ScratchRepo::new();
    let text = pipeline(&repo, &ServedArchive::of_launcher(), &["--subject", "reference"]);
    let mut gitlab = GitlabRunner::new();
    let jobs = gitlab.run(&repo, &text, &event("push"));
    assert_eq!(results(&jobs), [("install", Some(0)), ("tier-1", Some(0)), ("tier-3", Some(0))], "{}", jobs.last().unwrap().log);
    let jobs = gitlab.run(&repo, &text, &event("schedule"));
    let names = ["install", "tier-1", "record", "tier-2", "tier-3", "tier-4"];
    assert_eq!(results(&jobs), names.map(|name| (name, Some(0))), "{}", jobs.last().unwrap().log);
    assert_key_only_in(&jobs, &["record", "tier-2", "tier-3", "tier-4"]);
    let asked = repo.questions();
    let jobs = gitlab.run(&repo, &text, &merge_request(false));
    assert!(job(&jobs, "tier-2").log.contains("job passes: every gate is met"), "{}", job(&jobs, "tier-2").log);
    assert_eq!(repo.questions(), asked, "the recordings of the schedule are played");
    let manual = GitlabEvent { tiers: "1 3", ..event("web") };
    assert_eq!(results(&gitlab.run(&repo, &text, &manual)), [("install", Some(0)), ("tier-1", Some(0)), ("tier-3", Some(0))]);
    assert!(gitlab.run(&repo, &text, &event("pipeline")).is_empty(), "an event that is not in the table runs nothing");
}

#[test]
fn gitlab_wrong_hash_and_dead_runs_fail() {
    let repo = ScratchRepo::new();
    let good = ServedArchive::of_launcher();
    let wrong = ServedArchive { sha256: "0".repeat(64), url: good.url.clone() };
    let mut gitlab = GitlabRunner::new();
    let jobs = gitlab.run(&repo, &pipeline(&repo, &wrong, &["--subject", "reference"]), &event("push"));
    assert_eq!(results(&jobs), [("install", Some(1))], "{}", jobs[0].log);
    gitlab.run(&repo, &pipeline(&repo, &good, &["--subject", "reference"]), &event("push"));
    let program = env!("CARGO_BIN_EXE_bardo-eval");
    let dying = format!(
        "#!/bin/sh\nif [ \"$1\" = run ]; then test -e .bardo-eval/store.sqlite || exit 9; kill -9 $$; fi\nexec '{program}' \"$@\"\n"
    );
    let jobs = gitlab.run(&repo, &pipeline(&repo, &ServedArchive::of_script(&dying), &["--subject", "reference"]), &event("push"));
    let tier = job(&jobs, "tier-3");
    assert!(tier.code == Some(3) && tier.log.contains("the run ended with the code 137") && tier.files.is_empty(), "{}", tier.log);
}

#[test]
fn gitlab_writes_its_file_once_and_hides_keys_from_the_setup() {
    let folder = TestFolder::new();
    folder.run(&["ci", "gitlab"]).assert_exit(2).assert_stderr("there is no workspace in ./evals");
    let repo = ScratchRepo::new();
    repo.folder.run(&["ci", "gitlab"]).assert_exit(0).assert_stdout(".gitlab-ci.yml written");
    repo.folder.run(&["ci", "gitlab"]).assert_exit(2).assert_stderr("overwrite it with --force");
    let text = pipeline(&repo, &ServedArchive::of_launcher(), &["--subject", "reference", "--setup", "echo \"setup sees [$VENDOR_KEY]\""]);
    let jobs = GitlabRunner::new().run(&repo, &text, &event("push"));
    assert!(job(&jobs, "tier-3").log.contains("setup sees []"), "{}", job(&jobs, "tier-3").log);
}
