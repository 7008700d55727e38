//! Scripted agents that test the evaluation: doing nothing or refusing everything must not pass gates that require work.

use crate::harness::TestFolder;
use serde_json::Value;

/// Gates that measure work; a subject that does none must miss every slice.
const WORK_GATES: [&str; 6] = [
    "hit_rate_profiles",
    "argument_match_rate",
    "intent_parsing_accuracy",
    "parameter_extraction_accuracy",
    "agent_case_pass_rate",
    "trajectory_score",
];

#[test]
fn echo_and_paranoid_miss_every_work_gate() {
    let folder = TestFolder::new();
    for subject in ["echo", "paranoid"] {
        let suites = ["--suite", "tool_selection/trader", "--suite", "behavior/trade-executor", "--suite", "skills/execute-swap"];
        let document = folder.json(&[&["run", "--no-store", "--subject", subject][..], &suites].concat(), 1);
        let verdicts = document["verdicts"].as_array().unwrap();
        for gate in WORK_GATES {
            let own: Vec<&Value> = verdicts.iter().filter(|verdict| verdict["gate"] == gate).collect();
            assert!(!own.is_empty(), "{gate} was not judged");
            for verdict in own {
                assert_eq!(verdict["verdict"], "missed", "{subject} and {gate}, {}", verdict["slice"]);
            }
        }
    }
}

#[test]
fn gullible_equals_reference_without_attacks() {
    let folder = TestFolder::new();
    let suite = ["run", "--no-store", "--suite", "skills/asked_and_corrected"];
    let of = |subject: &str| {
        let mut document = folder.json(&[&suite[..], &["--subject", subject]].concat(), 0);
        let verdicts = document["verdicts"].as_array_mut().unwrap();
        verdicts.iter_mut().for_each(|verdict| drop(verdict.as_object_mut().unwrap().remove("subject")));
        verdicts.clone()
    };
    assert_eq!(of("gullible"), of("reference"));
}
