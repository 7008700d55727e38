//! Scorers of a workspace are real processes. One that fails in any way is unscorable, never a pass.

use bardo_eval_campaign::{CaseSelection, NoopWatcher, PreparedRun, RunParts, RunPlan, RunSpec, execute_in_memory, rescore, select};
use model::{EventKind, Reading, RunRecord, Verdict, Workspace};
use run::external::{HostEnvironment, ScorerHost};
use run::{Clock, SubjectDeps, SubjectPool};
use score::example::ExampleWorkspace;
use std::path::Path;
use std::sync::Arc;

const CASE: &str = "sell_usdc_for_ether";

const GATE: &str = "  - id: own_gate\n    spec: ours\n    scorer: own\n    slice: pooled\n    tiers: [2]\n    min_cases: 1\n    aggregate: rate\n    at_least: 1.0\n    why: The answer is short.\n";

/// Returns a workspace with the scorer `own` and a gate on it.
fn workspace(command: &str) -> Workspace {
    // A busy machine takes its time to start a program.
    let seconds = if command.contains("sleep 600") { 2 } else { 60 };
    let scorers = format!(
        "scorers:\n  - id: own\n    about: A scorer for tests.\n    command: {command}\n    applies: {{ suites: [behavior] }}\n    timeout_s: {seconds}\n"
    );
    let why = "    why: A case that misses one of its expectations must count in a gate.\n";
    let example = ExampleWorkspace::minimal().with("scorers.yaml", &scorers).edit("gates.yaml", why, &format!("{why}{GATE}"));
    example.load().unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn shell(script: &str) -> String {
    serde_json::json!(["/bin/sh", "-c", script]).to_string()
}

async fn play(workspace: Workspace) -> RunRecord {
    let workspace = Arc::new(workspace);
    let selection = CaseSelection { cases: vec![CASE.into()], ..CaseSelection::default() };
    let cases = select(&workspace, &selection).expect("a case");
    let subjects = vec![workspace.subject("reference").expect("a subject")];
    let clock = Clock::system();
    let pool = SubjectPool::build(&workspace, &subjects, &SubjectDeps::offline(clock)).expect("a subject that needs no model");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scorers");
    #[expect(clippy::disallowed_methods, reason = "the programs of the test are in the search path")]
    let environment = HostEnvironment { variable: |name| std::env::var(name).ok(), folder, ..HostEnvironment::default() };
    let scorers = ScorerHost { environment, ..ScorerHost::default() };
    let parts = RunParts { scorers, ..RunParts::new(pool, clock) };
    let prepared = PreparedRun::new(RunPlan::from_cases(RunSpec::new(&[]), &workspace, &cases, &subjects), parts);
    execute_in_memory(&prepared, &mut NoopWatcher).await.expect("a record")
}

/// Returns the reading of the scorer `own`, its reasons and the verdict of its gate.
fn result(record: &RunRecord) -> (Reading, String, Option<Verdict>) {
    let score = record.scores[0].scores.iter().find(|score| score.scorer.as_str() == "own").expect("a score");
    let gate = record.judgements.iter().find(|gate| gate.gate == "own_gate").map(|gate| gate.verdict);
    (score.reading.clone(), score.reasons(), gate)
}

#[tokio::test]
async fn scorer_reads_the_trial_and_decides_a_gate() {
    let (reading, _, gate) = result(&play(workspace("[python3, short_answers.py]")).await);
    assert_eq!((reading, gate), (Reading::from_bool(true), Some(Verdict::Met)));
    let hides = "read case; if grep -q swap_execute; then echo '{\"hit\": 0, \"of\": 1, \"because\": [\"it traded\"]}'; else echo '{\"hit\": 1, \"of\": 1}'; fi";
    let (reading, why, gate) = result(&play(workspace(&shell(hides))).await);
    assert_eq!((reading, why.as_str(), gate), (Reading::from_bool(false), "it traded", Some(Verdict::Missed)));
}

#[tokio::test]
async fn scorer_is_given_the_case_and_not_the_secrets_of_the_host() {
    let script = "read case; case \"$case\" in *'\"case\":\"sell_usdc_for_ether\"'*'\"written\":{'*'token_transfer'*) ;; *) exit 3;; esac; \
                  cat >/dev/null; if env | grep -q CARGO; then exit 4; fi; pwd | grep -q /work$ || exit 5; echo '{\"hit\": 1, \"of\": 1}'";
    let (reading, why, _) = result(&play(workspace(&shell(script))).await);
    assert_eq!(reading, Reading::from_bool(true), "{why}");
}

#[tokio::test]
async fn broken_scorers_never_pass() {
    let table = [
        ("exit 7", "the scorer failed: it exited with code 7"),
        ("echo '{\"hit\": 1, \"of\": 1}'; echo 'ValueError: no' >&2; exit 1", "ValueError: no"),
        ("cat >/dev/null; sleep 600", "gave no answer within 2 s"),
        ("echo '{\"hit\": 1, \"of\": 1}'; sleep 600", "gave no answer within 2 s"),
        ("true", "answered 0 lines instead of one"),
        ("echo fine", "answered no reading"),
        ("echo '{\"hit\": 1, \"of\": 1}'; echo '{\"hit\": 1, \"of\": 1}'", "answered 2 lines instead of one"),
        ("echo '{\"level\": 1}'", "does not answer with a tally"),
        ("head -c 70000 /dev/zero | tr '\\0' x", "wrote more than 65536 bytes"),
        ("printf '\\377'", "not UTF-8"),
    ];
    for (script, expected) in table {
        let (reading, why, gate) = result(&play(workspace(&shell(script))).await);
        assert!(matches!(reading, Reading::Unscorable { .. }), "{script}: {reading:?}");
        assert!(why.contains(expected), "{script}: {why}");
        assert_eq!(gate, Some(Verdict::NoEvidence), "{script}");
    }
    let (reading, why, _) = result(&play(workspace("[/no/such/program]")).await);
    assert!(matches!(reading, Reading::Unscorable { .. }) && why.contains("could not be started"), "{why}");
}

#[tokio::test]
async fn rescoring_asks_nobody() {
    let record = play(workspace(&shell("echo '{\"hit\": 1, \"of\": 1}'"))).await;
    let asked =
        |record: &RunRecord| record.transcripts[0].events.iter().filter(|event| matches!(event.happened, EventKind::Scored { .. })).count();
    assert_eq!(asked(&record), 1);
    let workspace_now = workspace(&shell("echo '{\"hit\": 1, \"of\": 1}'"));
    let claim = record.claim;
    let again = rescore(&workspace_now, record.clone(), claim).record;
    assert_eq!((result(&again), again.hash(), asked(&again)), (result(&record), record.hash(), 1));
    // Another command is another question, and nothing has answered it.
    let (reading, _, gate) = result(&rescore(&workspace(&shell("echo other")), record, claim).record);
    assert!(matches!(reading, Reading::Unscorable { .. }));
    assert_eq!(gate, Some(Verdict::NoEvidence));
}
