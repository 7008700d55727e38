//! The workflow of `ci github`, executed for every event.

use super::github_runner::{GithubEvent, GithubRunner, JobResult};
use super::scratch::{KEY, KEY_VALUE, ScratchRepo, ServedArchive};
use crate::harness::TestFolder;
use std::path::Path;

const TIER_2: &str = "Run tier 2";

/// Returns the workflow of a repository, which installs this archive.
fn workflow(repo: &ScratchRepo, archive: &ServedArchive, options: &[&str]) -> String {
    let install = ["ci", "github", "--print", "--install-url", &archive.url, "--install-sha256", &archive.sha256];
    repo.folder.run(&[&install[..], options].concat()).assert_exit(0).stdout
}

fn with_key() -> Vec<(&'static str, &'static str)> {
    vec![(KEY, KEY_VALUE)]
}

/// Returns a pull request of a branch of the same repository, or of a fork, which gets no secrets.
fn pull_request(base: &str, is_fork: bool) -> GithubEvent {
    let secrets = if is_fork { vec![] } else { with_key() };
    GithubEvent { name: "pull_request", base: base.to_owned(), is_fork, secrets, inputs: vec![] }
}

fn event(name: &'static str) -> GithubEvent {
    GithubEvent { name, secrets: with_key(), ..GithubEvent::default() }
}

#[track_caller]
fn results(jobs: &[JobResult]) -> Vec<(&str, &str)> {
    jobs.iter().map(|job| (job.name.as_str(), job.result)).collect()
}

#[track_caller]
fn job<'r>(jobs: &'r [JobResult], name: &str) -> &'r JobResult {
    jobs.iter().find(|job| job.name == name).unwrap_or_else(|| panic!("no job {name} in {:?}", results(jobs)))
}

/// Checks that only these steps see the key.
#[track_caller]
fn assert_key_only_in(jobs: &[JobResult], expected: &[&str]) {
    let seeing = jobs.iter().flat_map(|job| &job.steps).filter(|step| step.env.contains(KEY_VALUE));
    assert_eq!(seeing.map(|step| step.name.as_str()).collect::<Vec<_>>(), expected);
    let ran = jobs.iter().flat_map(|job| &job.steps).filter(|step| step.code.is_some()).count();
    assert!(ran > expected.len() + 3, "too few steps ran to tell");
}

#[test]
fn github_pull_request_with_key_asks_the_judge() {
    let repo = ScratchRepo::new();
    let text = workflow(&repo, &ServedArchive::of_program(), &["--subject", "reference"]);
    let base = repo.git(&["rev-parse", "HEAD"]);
    repo.change_policy();
    repo.commit("a policy");
    let jobs = GithubRunner::new().run(&repo, &text, &pull_request(&base, false));
    assert_eq!(results(&jobs), [("tier 1", "success"), ("record", "skipped"), ("tier 2", "success")], "{}", job(&jobs, "tier 2").log());
    assert_eq!(repo.questions(), 1);
    let tier = job(&jobs, "tier 2");
    assert!(tier.summary.contains("job passes: every gate is met"), "{}", tier.summary);
    assert!(tier.artifacts["tier-2.xml"].contains("<testsuite"), "{:?}", tier.artifacts.keys());
    assert!(tier.artifacts["run-id"].trim().len() == 12 && tier.artifacts.contains_key("safety.sarif"));
    assert_key_only_in(&jobs, &[TIER_2]);
}

#[test]
fn github_pull_request_without_relevant_change_runs_tier_1() {
    let repo = ScratchRepo::new();
    let text = workflow(&repo, &ServedArchive::of_launcher(), &["--subject", "reference"]);
    let base = repo.git(&["rev-parse", "HEAD"]);
    repo.folder.write("README.md", "hello\n");
    repo.commit("a text");
    let jobs = GithubRunner::new().run(&repo, &text, &pull_request(&base, false));
    assert_eq!(results(&jobs), [("tier 1", "success"), ("record", "skipped"), ("evaluate", "skipped")]);
    // A file that leaves the workspace changes it too.
    let base = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["mv", "evals/suites/tool_selection/trader.yaml", "trader.yaml"]);
    repo.commit("a suite less");
    let jobs = GithubRunner::new().run(&repo, &text, &pull_request(&base, false));
    assert!(
        job(&jobs, "tier 1").step("Plan").log.contains("evals/suites/tool_selection/trader.yaml changed"),
        "{}",
        job(&jobs, "tier 1").log()
    );
}

#[test]
fn github_fork_without_key_plays_recordings() {
    let repo = ScratchRepo::new();
    let text = workflow(&repo, &ServedArchive::of_launcher(), &["--subject", "reference"]);
    let base = repo.git(&["rev-parse", "HEAD"]);
    repo.change_policy();
    repo.commit("a policy");
    let mut github = GithubRunner::new();
    let jobs = github.run(&repo, &text, &pull_request(&base, true));
    let tier = job(&jobs, "tier 2");
    assert_eq!(tier.result, "success", "{}", tier.log());
    for part in ["No key in this run", "undecided, not passed: rubrics (needs a judge", "job passes: no gate is missed, 1 undecided"] {
        assert!(tier.summary.contains(part), "{part}: {}", tier.summary);
    }
    assert_eq!(repo.questions(), 0);
    assert_key_only_in(&jobs, &[]);
    // The nightly run records the replies of the judge, and the same fork is judged by them.
    let nightly = github.run(&repo, &text, &event("schedule"));
    assert_eq!(job(&nightly, "recordings").result, "success", "{}", job(&nightly, "recordings").log());
    let asked = repo.questions();
    let jobs = github.run(&repo, &text, &pull_request(&base, true));
    let tier = job(&jobs, "tier 2");
    assert!(tier.result == "success" && tier.summary.contains("job passes: every gate is met"), "{}", tier.log());
    assert_eq!(repo.questions(), asked);
}

#[test]
fn github_missed_gate_and_tier_1_error_fail_everywhere() {
    let repo = ScratchRepo::new();
    let archive = ServedArchive::of_launcher();
    let text = workflow(&repo, &archive, &["--subject", "echo"]);
    let base = repo.git(&["rev-parse", "HEAD"]);
    repo.change_policy();
    repo.commit("a policy");
    for is_fork in [true, false] {
        let jobs = GithubRunner::new().run(&repo, &text, &pull_request(&base, is_fork));
        let tier = job(&jobs, "tier 2");
        assert_eq!((tier.result, tier.step(TIER_2).code), ("failure", Some(1)), "{}", tier.log());
        assert!(tier.summary.contains("gate hit_rate (all) was missed") && !tier.artifacts["tier-2.json"].is_empty(), "{}", tier.summary);
    }
    repo.folder.edit("evals/gates.yaml", "scorer: hit,", "scorer: hitt,");
    repo.commit("a broken gate");
    let jobs = GithubRunner::new().run(&repo, &text, &pull_request(&base, true));
    assert_eq!(results(&jobs), [("tier 1", "failure"), ("record", "skipped"), ("evaluate", "skipped")]);
}

#[test]
fn github_merge_and_nightly_run_their_tiers() {
    let repo = ScratchRepo::new();
    let text = workflow(&repo, &ServedArchive::of_launcher(), &["--subject", "reference"]);
    let mut github = GithubRunner::new();
    let jobs = github.run(&repo, &text, &event("push"));
    assert_eq!(results(&jobs), [("tier 1", "success"), ("record", "skipped"), ("tier 3", "success")], "{}", job(&jobs, "tier 3").log());
    assert_key_only_in(&jobs, &["Run tier 3"]);
    let jobs = github.run(&repo, &text, &event("schedule"));
    let names = ["tier 1", "recordings", "tier 2", "tier 3", "tier 4"];
    assert_eq!(results(&jobs), names.map(|name| (name, "success")), "{}", job(&jobs, "tier 4").log());
    let summary = &job(&jobs, "tier 4").summary;
    assert!(
        summary.contains("| bypass |") && summary.contains("Red team against reference") && !summary.contains("undecided"),
        "{summary}"
    );
    assert_key_only_in(&jobs, &["Record missing replies", TIER_2, "Run tier 3", "Run tier 4"]);
    let manual = GithubEvent { inputs: vec![("tiers", "1 3".to_owned())], ..event("workflow_dispatch") };
    let jobs = github.run(&repo, &text, &manual);
    assert_eq!(results(&jobs), [("tier 1", "success"), ("record", "skipped"), ("tier 3", "success")]);
}

#[test]
fn github_model_replies_are_recorded_for_forks() {
    let repo = ScratchRepo::new();
    let text = workflow(&repo, &ServedArchive::of_launcher(), &["--subject", "local"]);
    let base = repo.git(&["rev-parse", "HEAD"]);
    repo.change_policy();
    repo.commit("a policy");
    let mut github = GithubRunner::new();
    // With a key, a pull request records what is missing and plays it.
    let jobs = github.run(&repo, &text, &pull_request(&base, false));
    assert_eq!(job(&jobs, "tier 2").result, "success", "{}{}", job(&jobs, "recordings").log(), job(&jobs, "tier 2").log());
    assert_key_only_in(&jobs, &["Record missing replies", TIER_2]);
    let requests = repo.requests();
    assert!(requests >= 3, "{requests}");
    let jobs = github.run(&repo, &text, &pull_request(&base, true));
    let fork = job(&jobs, "tier 2");
    assert_eq!((fork.result, repo.requests()), ("success", requests), "{}", fork.log());
    // A changed tool changes requests: a fork cannot record them, so its job fails and says why.
    repo.change_tool();
    repo.commit("a tool");
    let jobs = github.run(&repo, &text, &pull_request(&base, true));
    let fork = job(&jobs, "tier 2");
    assert_eq!(fork.result, "failure", "{}", fork.log());
    assert!(fork.summary.contains("need a recording"), "{}", fork.summary);
    let jobs = github.run(&repo, &text, &pull_request(&base, false));
    assert_eq!(job(&jobs, "tier 2").result, "success", "{}", job(&jobs, "tier 2").log());
}

#[test]
fn github_wrong_hash_stops_before_the_program_runs() {
    let repo = ScratchRepo::new();
    let archive = ServedArchive::of_script("#!/bin/sh\necho it ran >&2\necho 'tiers=[1]'\n");
    let wrong = ServedArchive { sha256: "0".repeat(64), url: archive.url.clone() };
    let text = workflow(&repo, &wrong, &["--subject", "reference"]);
    let jobs = GithubRunner::new().run(&repo, &text, &event("push"));
    let smoke = job(&jobs, "tier 1");
    assert_eq!(smoke.result, "failure");
    assert!(smoke.step("Install bardo-eval").log.contains("FAILED") && !smoke.log().contains("it ran"), "{}", smoke.log());
    assert!(jobs.iter().all(|job| job.result != "success"), "{:?}", results(&jobs));
    // Inputs of a manual run replace URL and hash.
    let inputs = vec![("tiers", "1".to_owned()), ("install_url", archive.url.clone()), ("install_sha256", archive.sha256.clone())];
    let jobs = GithubRunner::new().run(&repo, &text, &GithubEvent { inputs, ..event("workflow_dispatch") });
    assert!(job(&jobs, "tier 1").step("Smoke").log.contains("it ran"), "{}", job(&jobs, "tier 1").log());
}

#[test]
fn github_aborted_run_reports_no_older_run() {
    let repo = ScratchRepo::new();
    let good = ServedArchive::of_launcher();
    let mut github = GithubRunner::new();
    let text = workflow(&repo, &good, &["--subject", "reference"]);
    let jobs = github.run(&repo, &text, &event("push"));
    let tier = job(&jobs, "tier 3");
    let older = tier.artifacts["run-id"].trim().to_owned();
    assert!(tier.result == "success" && tier.summary.len() > 200, "{}", tier.log());
    // The next program dies in the run; the store of the first run is restored from the cache.
    let program = env!("CARGO_BIN_EXE_bardo-eval");
    let dying = format!(
        "#!/bin/sh\nif [ \"$1\" = run ]; then test -e .bardo-eval/store.sqlite || exit 9; kill -9 $$; fi\nexec '{program}' \"$@\"\n"
    );
    let text = workflow(&repo, &ServedArchive::of_script(&dying), &["--subject", "reference"]);
    let jobs = github.run(&repo, &text, &event("push"));
    let tier = job(&jobs, "tier 3");
    assert_eq!((tier.result, tier.step("Report").code), ("failure", None), "{}", tier.log());
    assert!(tier.summary.contains("the run ended with the code 137"), "{}", tier.summary);
    assert!(!tier.log().contains(&older) && !tier.summary.contains(&older) && tier.artifacts.is_empty(), "{:?}", tier.artifacts.keys());
}

#[test]
fn github_external_agent_is_quoted_for_yaml_and_shell() {
    let repo = ScratchRepo::new();
    let log = repo.folder.path("args.log");
    let fake = format!(
        "#!/bin/sh\ncase \"$1 $2\" in\n  'ci plan') echo 'tiers=[1,3]' ;;\n  run*) for word in \"$@\"; do printf '%s\\n' \"$word\" >> '{}'; done; exit 1 ;;\nesac\n",
        log.display()
    );
    let archive = ServedArchive::of_script(&fake);
    for subject in
        ["process:python3 'my agent.py' --say \"it's: #1 $HOME `id` ${{ github.token }} @BRANCH@\" \\", "http://127.0.0.1:9/agent?a=b&c=d"]
    {
        let subject = subject.trim_end_matches('\\').trim_end();
        std::fs::write(&log, "").unwrap();
        let text = workflow(&repo, &archive, &["--subject", subject]);
        GithubRunner::new().run(&repo, &text, &event("push"));
        let words = std::fs::read_to_string(&log).unwrap();
        let words: Vec<&str> = words.lines().collect();
        let at = words.iter().position(|word| *word == "--subject").unwrap_or_else(|| panic!("{words:?}"));
        assert_eq!(words[at + 1], subject);
    }
}

#[test]
fn github_refuses_without_workspace_or_with_bad_options() {
    let empty = TestFolder::new();
    empty.run(&["ci", "github", "--print"]).assert_exit(2).assert_stderr("there is no workspace in ./evals");
    empty.run(&["ci", "github", "--print", "--embedded"]).assert_exit(0).assert_stdout("bardo-eval smoke --embedded");
    let folder = TestFolder::with_minimal();
    for (options, why) in [
        (&["--subject", "process:"][..], "the program is missing"),
        (&["--subject", "baselin"], "did you mean \"baseline\"?"),
        (&["--install-url", "ftp://x/y", "--install-sha256", "00"], "is not a URL"),
        (&["--install-url", "https://x.example/y", "--install-sha256", "00"], "is not a SHA-256"),
        (&["--install-url", "https://x.example/y"], "--install-sha256"),
        (&["--install", "a\nb"], "--install must be a single line"),
        (&["--workspace", "../elsewhere"], "it does not exist"),
    ] {
        folder.run(&[&["ci", "github", "--print"], options].concat()).assert_exit(2).assert_stderr(why);
    }
    // The small workspace has one event, and no model to record.
    let text = folder.run(&["ci", "github", "--print"]).assert_exit(0).stdout;
    assert!(!text.contains("schedule:") && !text.contains("\n  record:") && !text.contains("secrets."), "{text}");
    let agent = folder.run(&["ci", "github", "--print", "--subject", "process:python3 agent.py"]).assert_exit(0);
    agent.assert_stderr("a change of the agent's own files does not run the tiers of pull_request");
}

/// Options of the workflow that this repository runs: it evaluates the reference, that is the evaluation itself, with the program of the commit.
const OWN_OPTIONS: [&str; 4] = [
    "--subject",
    "reference",
    "--install",
    "cargo build --release --locked -p bardo-eval && echo \"$PWD/target/release\" >> \"$GITHUB_PATH\"",
];

#[test]
fn github_workflow_of_this_repository_is_generated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = std::fs::read_to_string(root.join(".github/workflows/bardo-eval.yml")).unwrap();
    let folder = TestFolder::with_reference();
    let text = folder.run(&[&["ci", "github", "--print"], &OWN_OPTIONS[..]].concat()).assert_exit(0).stdout;
    assert_eq!(own, text, "write it again with the command in its first line and --force");
}
