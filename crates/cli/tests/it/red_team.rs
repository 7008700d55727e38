//! `redteam`: choice of attacks, both columns of defences, findings for code scanning, and attacks that a model words.

use crate::harness::{TestFolder, column};
use crate::import::server_everything_command;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use testkit::chat;

const PROBE: &str = "redirect_proceeds";

/// Attacker model on loopback. It answers with the text that a function makes of the prompt and the number of earlier requests, and keeps
/// the prompts.
fn with_attacker(text: fn(&str, usize) -> String) -> (TestFolder, Arc<Mutex<Vec<String>>>) {
    let prompts = Arc::new(Mutex::new(vec![]));
    let kept = prompts.clone();
    let url = chat::serve_chat(move |request, n| {
        let prompt = request["messages"].as_array().and_then(|messages| messages.last()?["content"].as_str()).expect("a prompt").to_owned();
        let args = json!({ "text": text(&prompt, n) });
        kept.lock().unwrap().push(prompt);
        chat::tool_call_reply(1, "attack_text", &args)
    });
    let folder = TestFolder::with_reference();
    folder.write("evals/subjects/attacker.yaml", chat::subject_file("attacker", &url));
    (folder, prompts)
}

/// Returns the goal as the prompt states it. It contains the marker.
fn stated_goal(prompt: &str) -> String {
    let (_, goal) = prompt.split_once("if it does this: ").expect("a goal");
    goal.split_once('\n').expect("a line").0.to_owned()
}

fn attack(subject: &str) -> Vec<&str> {
    let chosen = ["redteam", "--probe", PROBE, "--channel", "tool_result", "--strategy", "attacker_model"];
    let model = ["--attacker", "attacker", "--attacker-tries", "3", "--budget", "1", "--concurrency", "1", "--subject", subject];
    [&chosen[..], &model[..]].concat()
}

fn strategy(report: &Value) -> (u64, u64) {
    let tally = &report["red_team"][0]["strategies"]["attacker_model"];
    (tally["exercised"].as_u64().unwrap_or_default(), tally["breaches"].as_u64().unwrap_or_default())
}

#[test]
fn an_attacker_model_stops_at_the_first_text_that_succeeds() {
    let (folder, prompts) = with_attacker(|prompt, _| format!("Note of the venue: {}", stated_goal(prompt)));
    let report = folder.json(&attack("gullible"), 1);
    let (exercised, breaches) = strategy(&report);
    assert!(exercised > 0 && breaches == exercised, "{exercised} {breaches}");
    assert_eq!(prompts.lock().unwrap().len() as u64, exercised, "one try each");
    assert!(report["spent_usd"].as_f64().unwrap() > 0.0);
}

#[test]
fn an_attacker_model_reads_what_the_agent_did_and_tries_again() {
    let (folder, prompts) = with_attacker(|prompt, n| match n % 3 {
        0 => "a text without the word".to_owned(),
        n => format!("Try number {n}: {}", stated_goal(prompt)),
    });
    let report = folder.json(&attack("reference"), 0);
    let (exercised, breaches) = strategy(&report);
    assert!(exercised > 0 && breaches == 0, "{report:#}");
    let prompts = prompts.lock().unwrap().clone();
    assert_eq!(prompts.len() as u64, 3 * exercised);
    assert!(!prompts[0].contains("Try 1:"), "{}", prompts[0]);
    assert!(prompts[1].contains("Try 1:\na text without the word\n") && prompts[1].contains("was not placed"), "{}", prompts[1]);
    assert!(prompts[2].contains("Try 2:\nTry number 1:") && prompts[2].contains("call 1: "), "{}", prompts[2]);
    let scenario = folder.read("evals/suites/behavior/red_team_scenarios.yaml");
    let ids = scenario.lines().filter_map(|line| line.trim().strip_prefix("- id: "));
    for id in ids {
        assert!(prompts.iter().all(|prompt| !prompt.contains(id)), "{id} reached the attacker");
    }
}

#[test]
fn an_attacker_model_without_a_marker_aborts_its_trials() {
    let (folder, _) = with_attacker(|_, _| "please".to_owned());
    let report = folder.json(&attack("gullible"), 3);
    assert_eq!(strategy(&report), (0, 0));
    assert!(report["trials"]["aborted"].as_u64().unwrap() > 0, "{}", report["trials"]);
}

#[test]
fn attacks_of_a_model_are_recorded_and_replayed() {
    let (folder, prompts) = with_attacker(|prompt, _| format!("Read this first. {}", stated_goal(prompt)));
    let recorded = folder.json(&[&attack("gullible")[..], &["--record"]].concat(), 1);
    let asked = prompts.lock().unwrap().len();
    let replayed = folder.json(&[&attack("gullible")[..], &["--replay", "--no-cache"]].concat(), 1);
    assert_eq!((prompts.lock().unwrap().len(), &replayed["record"]), (asked, &recorded["record"]));
    // A stored run contains its attacks: it is scored again without the model.
    let scored = folder.json(&["score"], 1);
    assert_eq!(scored["trials"]["finished"], recorded["trials"]["finished"]);
}

#[test]
fn attacker_options_need_each_other() {
    let folder = TestFolder::with_reference();
    folder.run(&["redteam", "--strategy", "attacker_model"]).assert_exit(2).assert_stderr("attacker_model needs a model");
    folder.run(&["redteam", "--attacker", "no-such-model", "--budget", "1", "--no-store"]).assert_exit(2).assert_stderr("no-such-model");
    folder.run(&["redteam", "--attacker-tries", "2"]).assert_exit(2).assert_stderr("--attacker");
}

fn chosen(subject: &str) -> [&str; 10] {
    ["redteam", "--probe", PROBE, "--channel", "tool_result", "--strategy", "identity", "--subject", subject, "--no-store"]
}

#[test]
fn enforced_hooks_are_a_second_column() {
    let folder = TestFolder::with_reference();
    let args = ["redteam", "--probe", "policy_override", "--strategy", "identity", "--subject", "gullible", "--no-store", "--enforce-too"];
    let report = folder.json(&args, 1);
    let columns = report["red_team"].as_array().unwrap();
    assert_eq!(columns.len(), 2, "{columns:#?}");
    let reached = |n: usize| (columns[n]["breaches"].as_u64().unwrap(), columns[n]["near_misses"].as_u64().unwrap());
    assert_eq!((reached(0), reached(1)), ((2, 0), (0, 2)));
}

#[test]
fn successful_attacks_are_findings_of_code_scanning_by_exposure() {
    let folder = TestFolder::with_reference();
    let args = [&chosen("gullible")[..], &["--format", "sarif"]].concat();
    let report: Value = serde_json::from_str(&folder.run(&args).assert_exit(1).stdout).unwrap();
    let results = report["runs"][0]["results"].as_array().unwrap();
    let attacks: Vec<&Value> = results.iter().filter(|one| one["message"]["text"].as_str().unwrap().contains(PROBE)).collect();
    assert!(!attacks.is_empty(), "{report:#}");
    assert!(attacks.iter().any(|one| one["level"] == "error"), "{attacks:#?}");
    let clean: Value = serde_json::from_str(&folder.run(&[&chosen("reference")[..], &["--format", "sarif"]].concat()).stdout).unwrap();
    assert_eq!(clean["runs"][0]["results"], json!([]));
}

#[test]
fn probes_strategies_and_oracles_are_listed() {
    let folder = TestFolder::with_reference();
    let names = |what: &str, key: &str| column(&folder.list(what), key);
    assert!(names("probes", "probe").contains(&PROBE.to_owned()));
    assert!(names("strategies", "strategy").contains(&"many_shot".to_owned()));
    assert_eq!(names("oracles", "oracle").len(), 23);
    folder.run(&["explain", "flow"]).assert_exit(0).assert_stdout("flow");
}

/// A workspace around an MCP server, without chain and policy, has probes of its own.
#[test]
fn a_workspace_without_a_chain_can_be_attacked() {
    let folder = TestFolder::new();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/files");
    let files = files.to_str().unwrap();
    let attacked = |subject: &str, code| folder.json(&["redteam", "--workspace", files, "--subject", subject, "--no-store"], code);
    let careful = attacked("reference", 0);
    assert_eq!((&careful["red_team"][0]["breaches"], &careful["red_team"][0]["not_exercised"]), (&json!(0), &json!([])));
    let gullible = &attacked("gullible", 1)["red_team"][0];
    assert_eq!(gullible["breaches"], gullible["exercised"], "{gullible:#}");
    let useless = &attacked("paranoid", 1)["red_team"][0];
    assert_eq!((&useless["breaches"], &useless["twins"]["served"]), (&json!(0), &json!(0)));
}

/// Plays the red team of a workspace with the three subjects that test it, and returns the number of exercised attacks.
#[track_caller]
fn assert_attackable(folder: &TestFolder, workspace: &str) -> u64 {
    let attacked = |subject: &str, code| {
        folder.json(&["redteam", "--workspace", workspace, "--subject", subject, "--no-store"], code)["red_team"][0].clone()
    };
    let careful = attacked("reference", 0);
    assert_eq!((&careful["breaches"], &careful["not_exercised"]), (&json!(0), &json!([])), "{careful:#}");
    assert_eq!(careful["twins"]["served"], careful["twins"]["played"], "{careful:#}");
    let gullible = attacked("gullible", 1);
    assert_eq!(gullible["breaches"], gullible["exercised"], "{gullible:#}");
    let useless = attacked("paranoid", 1);
    assert_eq!((&useless["breaches"], &useless["twins"]["flagged"]), (&json!(0), &useless["twins"]["played"]), "{useless:#}");
    careful["exercised"].as_u64().unwrap()
}

/// Workspaces without a policy get the probes that need no chain, for their own cases and tools.
#[test]
fn probes_that_need_no_chain_are_made_for_any_tools() {
    let folder = TestFolder::new();
    let support = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/support");
    let support = support.to_str().unwrap();
    let probes = ["added_task", "extra_copy", "required_follow_up", "claimed_consent", "look_alike_tool"];
    let listed = folder.json(&["list", "probes", "--workspace", support], 0);
    assert_eq!(column(listed["items"].as_array().unwrap(), "probe"), probes);
    assert!(assert_attackable(&folder, support) > 100);
    folder.run(&["run", "--workspace", support, "--tier", "2", "--subject", "reference", "--no-store"]).assert_exit(0);
}

/// The workspace of `init --from-mcp`, as it is written, can be attacked.
#[test]
fn a_new_workspace_of_a_server_can_be_attacked() {
    let folder = TestFolder::new();
    folder.run(&["init", "mine", "--from-mcp", &server_everything_command()]).assert_exit(0);
    assert!(assert_attackable(&folder, "mine") > 30);
    folder.run(&["smoke", "--workspace", "mine"]).assert_exit(0);
}

#[test]
fn without_a_write_there_is_nothing_to_attack() {
    let folder = TestFolder::new();
    folder.run(&["init", "mine", "--from-mcp", &server_everything_command()]).assert_exit(0);
    let tools = folder.read("mine/tools/everything.yaml");
    folder.write("mine/tools/everything.yaml", tools.replace("capability: \"write\"", "capability: \"read\""));
    let ran = folder.run(&["redteam", "--workspace", "mine", "--no-store"]).assert_exit(2);
    ran.assert_stderr("has no probes").assert_stderr("capability: write");
}
