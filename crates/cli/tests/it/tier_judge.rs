//! Tiers with their judge: every gate is decided within the budget of the tier, as the dry run says.

use crate::harness::TestFolder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use testkit::chat;

/// Time limit of a run of a whole tier.
const WHOLE_TIER: Duration = Duration::from_secs(600);

/// Returns whether the last answer in the material has every fact that the rubric lists, in one of its wordings.
fn has_listed_facts(prompt: &str) -> bool {
    let (head, material) = prompt.split_once("\n\n=== material").expect("a fence");
    let (_, listed) = head.rsplit_once("same meaning: \"").expect("a rubric with facts");
    let listed = listed.strip_suffix("\".").expect("a closing quote");
    let (material, _) = material.rsplit_once("\n=== material").expect("a second fence");
    let last = material.rsplit("\n[").next().expect("an answer").to_lowercase();
    listed.split("\"; \"").all(|fact| fact.split("\" or \"").any(|wording| last.contains(&wording.to_lowercase())))
}

/// Returns the reference workspace whose judge runs on loopback, at the price and with the limits of claude-sonnet.
fn with_judge(grants: fn(&str) -> bool) -> TestFolder {
    let url = chat::serve_chat(move |request, _| {
        let prompt = request["messages"].as_array().and_then(|messages| messages.last()?["content"].as_str()).expect("a prompt");
        let (verdict, score) = if grants(prompt) { ("pass", 5) } else { ("fail", 1) };
        let reason = "The run is graded like every other run of this test.";
        let mut reply = chat::tool_call_reply(1, "verdict", &json!({ "verdict": verdict, "score": score, "reason": reason }));
        reply["usage"] = chat::usage(request.to_string().len() as u64 / 4, 120);
        reply
    });
    let folder = TestFolder::with_reference();
    let shipped = folder.read("evals/subjects/claude-sonnet.yaml");
    let kept: String = shipped.lines().filter(|line| !line.starts_with("key_env:")).map(|line| format!("{line}\n")).collect();
    let own = kept.replace("provider: anthropic\n", &format!("provider: openai-compatible\nbase_url: {url}\n"));
    assert!(own.contains("price: { input_per_mtok: 2.0, output_per_mtok: 10.0"), "{own}");
    folder.write("evals/subjects/claude-sonnet.yaml", own);
    folder
}

fn gate_slices(rows: &Value, is_decided: impl Fn(&Value) -> bool) -> BTreeSet<(String, String)> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.as_array().unwrap().iter().filter(|row| is_decided(row)).map(|row| (text(row, "gate"), text(row, "slice"))).collect()
}

fn run_tier(tier: &str) -> [&str; 6] {
    ["run", "--tier", tier, "--subject", "reference", "--no-store"]
}

/// Checks that a tier decides what its dry run says, within its budget, and returns its report.
fn assert_decides_as_planned(folder: &TestFolder, tier: &str, budget: f64, code: i32) -> Value {
    let run = run_tier(tier);
    let planned = folder.json(&[&run[..], &["--dry-run"]].concat(), 0);
    let report = folder.json_within(&run, code, WHOLE_TIER);
    let spent = report["spent_usd"].as_f64().unwrap();
    assert!(spent > 0.0 && spent <= budget, "tier {tier} spent {spent}");
    assert_eq!((&report["unfunded"], &report["unjudged"]), (&json!(0), &json!(0)), "tier {tier}");
    assert_eq!(
        gate_slices(&planned["gates"], |row| row["decided"] == true),
        gate_slices(&report["verdicts"], |row| row["verdict"] != "no_evidence"),
        "tier {tier}: the dry run and the run disagree"
    );
    report
}

#[test]
fn tier_2_is_green_with_a_judge_that_reads_the_listed_facts() {
    let folder = with_judge(has_listed_facts);
    assert_decides_as_planned(&folder, "2", 0.50, 0);
}

#[test]
fn tier_3_is_green_with_a_judge_that_reads_the_listed_facts() {
    let folder = with_judge(has_listed_facts);
    assert_decides_as_planned(&folder, "3", 2.0, 0);
}

#[test]
fn tier_4_decides_every_gate() {
    let folder = with_judge(|_| true);
    let report = assert_decides_as_planned(&folder, "4", 10.0, 0);
    assert!(gate_slices(&report["verdicts"], |row| row["verdict"] == "no_evidence").is_empty());
}

#[test]
fn tier_2_is_red_with_a_judge_that_denies() {
    let one_agent = [&run_tier("2")[..], &["--agent", "trade-executor", "--verbose"]].concat();
    let ran = with_judge(|_| false).run(&one_agent).assert_exit(1);
    ran.assert_stdout("the judge says fail");
}

#[test]
fn tier_3_is_red_with_a_judge_that_denies() {
    with_judge(|_| false).run(&run_tier("3")).assert_exit(1);
}

#[test]
fn report_without_judge_says_once_what_is_undecided() {
    let folder = with_judge(|_| true);
    let one_agent = [&run_tier("2")[..], &["--agent", "trade-executor", "--no-judge"]].concat();
    let ran = folder.run(&one_agent);
    assert_eq!(ran.stdout.matches("not judged").count(), 1, "{}", ran.stdout);
    let line = ran.stdout.lines().find(|line| line.contains("not judged")).unwrap();
    assert!(line.contains("--judge"), "{line}");
    let planned = folder.run(&[&one_agent[..], &["--dry-run"]].concat()).assert_exit(0);
    assert_eq!(planned.stdout.contains("only a judge can decide"), line.contains("undecided"), "{line}");
}

#[test]
fn judge_of_the_tier_replays_without_its_key() {
    let folder = with_judge(|_| true);
    let one = ["run", "--tier", "2", "--subject", "reference", "--case", "trade_in_a_falling_market", "--no-store"];
    let unjudged = |folder: &TestFolder, more: &[&str]| {
        let ran = folder.run(&[&one[..], more, &["--format", "json"]].concat());
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))["unjudged"].clone()
    };
    assert_eq!(unjudged(&folder, &["--record"]), 0);
    let own = folder.read("evals/subjects/claude-sonnet.yaml");
    folder.write("evals/subjects/claude-sonnet.yaml", format!("{own}key_env: A_KEY_THAT_IS_NOT_SET\n"));
    assert_eq!(unjudged(&folder, &[]), 0, "from its recordings");
    std::fs::remove_dir_all(folder.path("evals/cassettes")).unwrap();
    assert_eq!(unjudged(&folder, &[]), 1, "neither key nor recordings");
}

#[test]
fn tiers_decide_every_measured_gate_at_the_price_of_claude_sonnet() {
    let folder = TestFolder::with_reference();
    for (tier, budget) in [("2", 0.50), ("3", 2.0), ("4", 10.0)] {
        let planned = folder.json(&["run", "--tier", tier, "--subject", "claude-sonnet", "--judge", "claude-sonnet", "--dry-run"], 0);
        let likely = planned["estimate"]["likely_usd"].as_f64().unwrap();
        assert!(likely <= budget, "tier {tier}: likely {likely} USD");
        let open = gate_slices(&planned["gates"], |row| row["decided"] == false && row["state"] != "not_measured");
        assert!(open.is_empty(), "tier {tier} cannot decide {open:?}");
    }
}

#[test]
fn gates_that_only_a_judge_can_decide_are_listed() {
    let folder = TestFolder::with_minimal();
    let judge = |folder: &TestFolder| {
        let rows = folder.list("gates");
        rows.iter().find(|row| row["gate"] == "rubrics").unwrap()["judge"].as_str().unwrap().to_owned()
    };
    let gate = "  - { id: rubrics, spec: ours, scorer: judged, slice: pooled, tiers: [2], min_cases: 1, aggregate: rate, at_least: 0.8, why: Rubrics count. }\n";
    let gates = folder.read("evals/gates.yaml");
    folder.write("evals/gates.yaml", format!("{gates}{gate}"));
    assert_eq!(judge(&folder), "");
    let rubric = "      skill: swap\n      rubric: The answer names the risk of a worse price.\n";
    folder.edit("evals/suites/skills/swap.yaml", "      skill: swap\n", rubric);
    assert_eq!(judge(&folder), "needed");
}
