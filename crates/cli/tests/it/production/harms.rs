//! Harm in traces makes the gate miss that is meant for it, and the same work done right does not.

use super::KEEP_ALL;
use super::collecting::CollectProcess;
use super::round_trip::without_copy;
use crate::harness::TestFolder;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Harm of an agent that a run can play, or of a chain that only its spans can tell.
enum Harm {
    Fault(&'static str),
    /// The transaction was mined on another chain than its call says.
    OtherChain,
}

/// Each gate with a window, with a harm, a case in which it is possible.
const HARMS: &[(&str, Harm, &str)] = &[
    ("safety_pipeline_compliance", Harm::Fault("skips_guardian"), "a_vault_called_quiet_harbour"),
    ("dag_adherence", Harm::Fault("edge_outside_the_graph"), "advise_after_a_bad_week_french"),
    ("tool_ordering_invariants", Harm::Fault("simulates_after_writing"), "a_vault_called_quiet_harbour"),
    ("output_format_compliance", Harm::Fault("malformed_output"), "a_vault_called_quiet_harbour"),
    ("information_diversity", Harm::Fault("redundant_calls"), "a_vault_called_quiet_harbour"),
    ("unnecessary_path_ratio", Harm::Fault("idle_agents"), "a_vault_called_quiet_harbour"),
    ("delegation_depth", Harm::Fault("over_deep_delegation"), "a_vault_called_quiet_harbour"),
    ("address_grounding_rate", Harm::Fault("invents_an_address"), "allowance_for_the_burn_threshold"),
    ("chain_id_consistency", Harm::OtherChain, "acheter_sous_le_seuil"),
    ("slippage_compliance", Harm::Fault("ignores_slippage"), "acheter_sous_le_seuil"),
    ("simulation_coverage", Harm::Fault("no_simulation"), "a_vault_called_quiet_harbour"),
    ("quote_freshness", Harm::Fault("stale_quote"), "acheter_sous_le_seuil"),
    ("agent_safety_compliance", Harm::Fault("skips_guardian"), "a_vault_called_quiet_harbour"),
    ("agent_behavioral_invariants", Harm::Fault("skips_assessor"), "allocate_a_first_small_share"),
    ("safety_veto", Harm::Fault("skips_guardian"), "a_vault_called_quiet_harbour"),
    ("spending_limit_every_tier", Harm::Fault("one_unit_over_the_limit"), "acheter_sous_le_seuil"),
    ("oracle_violations", Harm::Fault("acts_after_halt"), "golem_own_small_transfer"),
];

fn folder() -> TestFolder {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", format!("{KEEP_ALL}trust_claims: true\n"));
    folder
}

/// Plays a case and returns its trace, without our own copy of the trial.
fn traced(folder: &TestFolder, case: &str, subject: &str) -> String {
    folder.run(&["run", "--case", case, "--subject", subject]);
    folder.run(&["export", "--to", "otlp", "-o", "trace.jsonl"]).assert_exit(0);
    let exported = folder.read("trace.jsonl");
    assert_eq!(exported.lines().count(), 1, "{case} by {subject}");
    without_copy(exported.trim_end())
}

/// Moves the transactions of a trace to another chain.
fn on_other_chain(trace: &str) -> String {
    let mut request: Value = serde_json::from_str(trace).unwrap();
    let mut moved = 0;
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().unwrap() {
        for event in span["events"].as_array_mut().into_iter().flatten().filter(|event| event["name"] == "bardo_eval.mined") {
            for attribute in
                event["attributes"].as_array_mut().unwrap().iter_mut().filter(|attribute| attribute["key"] == "bardo_eval.event")
            {
                let mut content: Value = serde_json::from_str(attribute["value"]["stringValue"].as_str().unwrap()).unwrap();
                assert_ne!(content["what"]["chain"], 10);
                content["what"]["chain"] = 10.into();
                attribute["value"]["stringValue"] = content.to_string().into();
                moved += 1;
            }
        }
    }
    assert!(moved > 0, "no transaction");
    request.to_string()
}

/// Collects traces into a file of their own and returns the exit code of `watch --once` and the verdicts of each gate.
fn watched(folder: &TestFolder, file: &str, traces: &[String]) -> (Option<i32>, BTreeMap<String, BTreeSet<String>>) {
    let collector = CollectProcess::start(folder, &["--traces", file]);
    for trace in traces {
        assert_eq!(collector.post(trace), (200, "{}".to_owned()));
    }
    collector.wait_for_kept(traces.len());
    collector.wait_for("bardo_eval_gate_met{");
    drop(collector);
    let output = folder.run(&["watch", "--once", "--format", "json", "--traces", file]);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let mut verdicts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for verdict in report["verdicts"].as_array().unwrap() {
        let text = |key: &str| verdict[key].as_str().unwrap().to_owned();
        verdicts.entry(text("gate")).or_default().insert(text("verdict"));
    }
    (output.code, verdicts)
}

#[test]
fn gates_with_a_window_are_those_with_a_known_harm_and_need_evidence() {
    let (exit, verdicts) = watched(&folder(), "empty.sqlite", &[]);
    assert_eq!(exit, Some(3));
    let gates: BTreeSet<&str> = verdicts.keys().map(String::as_str).collect();
    assert_eq!(gates, HARMS.iter().map(|(gate, ..)| *gate).collect::<BTreeSet<&str>>());
    assert!(verdicts.values().all(|found| found.iter().eq(["no_evidence"])), "{verdicts:?}");
}

#[test]
fn each_harm_makes_its_gate_miss() {
    let play = |harms: &[(&str, Harm, &str)]| {
        let folder = folder();
        for (gate, harm, case) in harms {
            let trace = match harm {
                Harm::Fault(fault) => traced(&folder, case, &format!("fault:{fault}")),
                Harm::OtherChain => on_other_chain(&traced(&folder, case, "reference")),
            };
            let (exit, verdicts) = watched(&folder, &format!("{gate}.sqlite"), &[trace]);
            assert_eq!(exit, Some(1), "{gate} on {case}: {verdicts:?}");
            assert!(verdicts[*gate].contains("missed"), "{gate} on {case}: {verdicts:?}");
        }
    };
    std::thread::scope(|scope| {
        for harms in HARMS.chunks(HARMS.len().div_ceil(3)) {
            scope.spawn(move || play(harms));
        }
    });
}

#[test]
fn the_same_work_done_right_misses_no_gate() {
    let folder = folder();
    let cases: BTreeSet<&str> = HARMS.iter().map(|(_, _, case)| *case).collect();
    let traces: Vec<String> = cases.into_iter().map(|case| traced(&folder, case, "reference")).collect();
    let (exit, verdicts) = watched(&folder, "right.sqlite", &traces);
    assert_eq!(exit, Some(3), "fewer traces than the gates need: {verdicts:?}");
    assert!(verdicts.values().all(|found| !found.contains("missed")), "{verdicts:?}");
}
