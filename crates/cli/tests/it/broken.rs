//! One defect at a time in a copy of the reference workspace: exit code, check, file, line and remedy.

use crate::harness::TestFolder;
use serde_json::Value;

/// Expected error of smoke.
struct ExpectedFinding<'e> {
    check: &'e str,
    file: &'e str,
    line: u64,
    what: &'e str,
    remedy: &'e str,
}

/// Returns the errors that smoke reports, with their check; asserts exit 1.
fn errors(folder: &TestFolder) -> Vec<(String, Value)> {
    let document = folder.json(&["smoke"], 1);
    let checks = document["checks"].as_array().unwrap().iter();
    let of = |check: &Value| {
        let findings = check["findings"].as_array().unwrap().iter().filter(|finding| finding["level"] == "error").cloned();
        findings.map(|finding| (check["check"].as_str().unwrap().to_owned(), finding)).collect::<Vec<_>>()
    };
    checks.flat_map(of).collect()
}

#[track_caller]
fn assert_reports(folder: &TestFolder, expected: &ExpectedFinding<'_>) {
    let errors = errors(folder);
    let found = errors.iter().find(|(check, error)| {
        check == expected.check
            && error["file"] == expected.file
            && error["line"] == expected.line
            && error["what"].as_str().unwrap().contains(expected.what)
            && error["remedy"].as_str().unwrap().contains(expected.remedy)
    });
    let ExpectedFinding { check, file, line, what, remedy } = expected;
    assert!(found.is_some(), "expected {check} at {file}:{line} ({what}; {remedy}), found {errors:#?}");
    assert!(!remedy.is_empty());
}

#[test]
fn a_delegation_cycle() {
    let folder = TestFolder::with_reference();
    folder.edit("evals/agents/risk-assessor.md", "terminal: true", "terminal: false");
    folder.edit("evals/agents/risk-assessor.md", "delegates_to: []", "delegates_to: [trade-executor]");
    // The search starts at risk-assessor, so the edge of the other agent closes the cycle.
    let file = "evals/agents/trade-executor.md";
    let line = folder.line(file, "delegates_to: [");
    let what = "risk-assessor → trade-executor → risk-assessor";
    assert_reports(
        &folder,
        &ExpectedFinding { check: "graph_acyclic", file, line, what, remedy: "remove this edge or another edge of the cycle" },
    );
}

#[test]
fn a_missing_delegate() {
    let folder = TestFolder::with_reference();
    let file = "evals/agents/trade-executor.md";
    let line = folder.edit(file, "delegates_to: [safety-guardian, risk-assessor]", "delegates_to: [safety-guardian, risk-assesor]");
    let (what, remedy) = ("risk-assesor, which does not exist", "did you mean \"risk-assessor\"?");
    assert_reports(&folder, &ExpectedFinding { check: "delegates_exist", file, line, what, remedy });
}

#[test]
fn a_20th_tool_in_a_profile() {
    let folder = TestFolder::with_reference();
    let file = "evals/profiles/trader.yaml";
    folder.edit(file, "  - safety_simulate_transaction\n", "  - safety_simulate_transaction\n  - wallet_get_status\n");
    let (what, remedy) = ("profile trader holds 20 tools", "keep fewer than 20");
    assert_reports(&folder, &ExpectedFinding { check: "profile_counts", file, line: 1, what, remedy });
}

#[test]
fn a_bad_checksum() {
    let folder = TestFolder::with_reference();
    let file = "evals/registry/base.yaml";
    let line = folder.edit(file, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "0x833589fcD6eDb6E08f4c7C32D4f71b54bdA02913");
    let (what, remedy) = ("token USDC on base", "write \"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\"");
    assert_reports(&folder, &ExpectedFinding { check: "addresses_checksummed", file, line, what, remedy });
}

#[test]
fn a_misspelt_key() {
    let folder = TestFolder::with_reference();
    let line = folder.edit("evals/gates.yaml", "scorer: disambiguation", "scorrer: disambiguation");
    let ran = folder.run(&["smoke"]).assert_exit(2);
    assert!(ran.stdout.is_empty(), "nothing was run: {}", ran.stdout);
    let gate = folder.line("evals/gates.yaml", "id: disambiguation_accuracy");
    ran.assert_stderr(&format!("evals/gates.yaml:{line}  a gate has no key \"scorrer\"; did you mean \"scorer\"?"))
        .assert_stderr(&format!("evals/gates.yaml:{gate}  a gate lacks \"scorer\"; add scorer: …"))
        .assert_stderr("2 problems; nothing was run");
    // Every command that needs the workspace fails the same way.
    for command in [&["run", "--subject", "reference"][..], &["list", "tools"], &["tools", "export"], &["explain", "hit_rate_full"]] {
        folder.run(command).assert_exit(2).assert_stderr("did you mean \"scorer\"?");
    }
}

#[test]
fn an_expectation_outside_the_schema() {
    let folder = TestFolder::with_reference();
    let file = "evals/suites/behavior/trade-executor.yaml";
    let line = folder.edit(file, "slippage_bps: { at_most: 30 } } }]] }", "slippage_bps: thirty } }]] }");
    let (what, remedy) = ("wrong slippage_bps of uniswap_execute_swap", "write a value that fits");
    assert_reports(&folder, &ExpectedFinding { check: "expectations_fit_schema", file, line, what, remedy });
}

#[test]
fn an_expectation_of_an_unknown_parameter() {
    let folder = TestFolder::with_reference();
    let file = "evals/suites/behavior/trade-executor.yaml";
    let line = folder.edit(file, "slippage_bps: { at_most: 30 } } }]] }", "slipage_bps: 30 } }]] }");
    let (what, remedy) = ("which does not take it", "did you mean \"slippage_bps\"?");
    assert_reports(&folder, &ExpectedFinding { check: "expectations_fit_schema", file, line, what, remedy });
}

#[test]
fn a_duplicate_case_id() {
    let folder = TestFolder::with_reference();
    let file = "evals/suites/tool_selection/trader.yaml";
    let line = folder.edit(file, "id: router_may_take_how_much", "id: what_lies_in_the_jar");
    let first = folder.line("evals/suites/tool_selection/fees.yaml", "id: what_lies_in_the_jar");
    let remedy = format!("the first is at suites/tool_selection/fees.yaml:{first}");
    let what = "duplicate case id what_lies_in_the_jar";
    assert_reports(&folder, &ExpectedFinding { check: "case_ids_unique", file, line, what, remedy: &remedy });
}

#[test]
fn a_write_tool_without_effect() {
    let folder = TestFolder::with_reference();
    let file = "evals/tools/wallet.yaml";
    let from = "    acts: send\n    params:\n      sender:";
    let line = folder.edit(file, from, "    acts: read\n    params:\n      sender:");
    let (what, remedy) = ("uniswap_api_create_token_transfer is a write but its acts is read", "name what it does");
    assert_reports(&folder, &ExpectedFinding { check: "write_acts", file, line, what, remedy });
}

#[test]
fn a_run_refuses_an_unknown_tool_of_a_profile() {
    let folder = TestFolder::with_minimal();
    folder.edit("evals/profiles/trader.yaml", "[wallet_get_balance, ", "[wallet_get_balanse, ");
    for command in [&["run", "--subject", "reference"][..], &["smoke"]] {
        let ran = folder.run(command);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(ran.code == Some(if command[0] == "run" { 2 } else { 1 }), "{ran:?}");
        assert!(said.contains("wallet_get_balanse") && said.contains("did you mean \"wallet_get_balance\"?"), "{said}");
    }
}

#[test]
fn an_unknown_tool_of_an_agent() {
    let folder = TestFolder::with_reference();
    let file = "evals/agents/trade-executor.md";
    let line = folder.edit(file, "  uniswap_api_get_limit_order_quote, uniswap_check", "  uniswap_api_get_limit_order_qote, uniswap_check");
    let (what, remedy) = ("uniswap_api_get_limit_order_qote", "did you mean \"uniswap_api_get_limit_order_quote\"?");
    assert_reports(&folder, &ExpectedFinding { check: "tools_exist", file, line, what, remedy });
}

#[test]
fn a_terminal_with_an_edge() {
    let folder = TestFolder::with_reference();
    let file = "evals/agents/risk-assessor.md";
    let line = folder.edit(file, "delegates_to: []", "delegates_to: [safety-guardian]");
    let (what, remedy) = ("risk-assessor is terminal but delegates to safety-guardian", "write terminal: false or empty delegates_to");
    assert_reports(&folder, &ExpectedFinding { check: "terminals", file, line, what, remedy });
}

#[test]
fn a_writing_agent_without_the_guardian_edge() {
    let folder = TestFolder::with_reference();
    let file = "evals/agents/trade-executor.md";
    folder.edit(file, "delegates_to: [safety-guardian, risk-assessor]", "delegates_to: [risk-assessor]");
    // The finding is at the first write tool of the list.
    let line = folder.line(file, "uniswap_approve_token,");
    let (what, remedy) = ("trade-executor can write (uniswap_approve_token)", "add safety-guardian to delegates_to");
    assert_reports(&folder, &ExpectedFinding { check: "guardian_edge", file, line, what, remedy });
}

#[test]
fn a_guardian_that_can_write() {
    let folder = TestFolder::with_reference();
    let file = "evals/agents/safety-guardian.md";
    let line = folder.edit(file, "wallet_detect_account_type, data_get_token_price]\n", "wallet_transfer_token, data_get_token_price]\n");
    let what = "holds the write tool wallet_transfer_token";
    assert_reports(&folder, &ExpectedFinding { check: "guardian_reads_only", file, line, what, remedy: "remove it" });
}

#[test]
fn colliding_triggers() {
    let folder = TestFolder::with_reference();
    let file = "evals/skills/plan-swap/SKILL.md";
    let line = folder.edit(file, "triggers: [", "triggers: [\"Swap the tokens!\", ");
    let first = folder.line("evals/skills/execute-swap/SKILL.md", "swap tokens");
    let remedy = format!("the first is \"swap tokens\" at skills/execute-swap/SKILL.md:{first}");
    let what = "skill plan-swap shares it with execute-swap";
    assert_reports(&folder, &ExpectedFinding { check: "triggers_unique", file, line, what, remedy: &remedy });
}

#[test]
fn a_gate_with_an_unknown_scorer() {
    let folder = TestFolder::with_reference();
    let file = "evals/gates.yaml";
    let line = folder.edit(file, "scorer: disambiguation", "scorer: disambigution");
    let (what, remedy) = ("scorer \"disambigution\" does not exist", "did you mean \"disambiguation\"?");
    assert_reports(&folder, &ExpectedFinding { check: "gates_measured", file, line, what, remedy });
}

#[test]
fn a_prompt_that_names_the_tool() {
    let folder = TestFolder::with_reference();
    let file = "evals/suites/tool_selection/fees.yaml";
    let line =
        folder.edit(file, "What's in Uniswap's protocol fee pot", "Call Get TokenJar balances. What's in Uniswap's protocol fee pot");
    let (what, remedy) = ("says \"get_tokenjar_balances\", which is the answer", "rephrase the request");
    assert_reports(&folder, &ExpectedFinding { check: "prompt_hides_answer", file, line, what, remedy });
}

#[test]
fn a_missing_reference() {
    for without in ["    reference: []\n", ""] {
        let folder = TestFolder::with_reference();
        let file = "evals/suites/tool_selection/data.yaml";
        let reference = "    reference:\n      - { call: data_get_position, args: { token_id: \"482113\", chain: base } }\n";
        folder.edit(file, reference, without);
        let line = folder.line(file, "id: position_in_range_and_fees_waiting");
        let (what, remedy) = ("has no reference", "write down the steps of a run that passes");
        assert_reports(&folder, &ExpectedFinding { check: "reference_present", file, line, what, remedy });
    }
}

#[test]
fn missing_world_is_an_error_and_its_case_fails() {
    let folder = TestFolder::with_reference();
    let file = "evals/suites/tool_selection/data.yaml";
    let line = folder.edit(file, "at this moment?\"]\n      world: defi_small", "at this moment?\"]\n      world: defi_smal");
    let (what, remedy) = ("names the world defi_smal, which does not exist", "did you mean \"defi_small\"?");
    assert_reports(&folder, &ExpectedFinding { check: "briefs_resolve", file, line, what, remedy });
    let document = folder.json(&["run", "--subject", "reference", "--case", "position_in_range_and_fees_waiting"], 3);
    assert_eq!(document["trials"], serde_json::json!({ "planned": 1, "finished": 0, "aborted": 1 }));
    assert!(document["verdicts"].as_array().unwrap().iter().all(|verdict| verdict["verdict"] == "no_evidence"), "{document:#}");
    // It keeps a run with other cases from being clean.
    let ran = folder.run(&["run", "--subject", "reference"]).assert_exit(3);
    ran.assert_stdout("1 aborted trial")
        .assert_stdout("position_in_range_and_fees_waiting  ")
        .assert_stdout("world defi_smal is not in the workspace");
}

#[test]
fn schema_errors_of_all_files_are_reported_together() {
    let folder = TestFolder::with_reference();
    let key = folder.edit("evals/policy.yaml", "slippage_bps:", "slipage_bps:");
    let number = folder.edit("evals/gates.yaml", "min_cases: 74", "min_cases: many");
    let word = folder.edit("evals/gates.yaml", "aggregate: max\n    at_most: 3", "aggregate: maxx\n    at_most: 3");
    let ran = folder.run(&["smoke"]).assert_exit(2);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    ran.assert_stderr(&format!("evals/policy.yaml:{key}  "))
        .assert_stderr(&format!("evals/gates.yaml:{number}  expected a whole number, found \"many\""))
        .assert_stderr(&format!("evals/gates.yaml:{word}  \"maxx\" is not a known value; did you mean \"max\"?"))
        .assert_stderr("problems; nothing was run");
}

#[test]
fn semantic_errors_are_reported_together() {
    let folder = TestFolder::with_reference();
    let scorer = folder.edit("evals/gates.yaml", "scorer: disambiguation", "scorer: disambigution");
    let delegate = folder.edit("evals/agents/vault-manager.md", "delegates_to: [", "delegates_to: [no-such-agent, ");
    let case = folder.edit("evals/suites/tool_selection/trader.yaml", "id: router_may_take_how_much", "id: what_lies_in_the_jar");
    let errors = errors(&folder);
    let places: Vec<(&str, u64)> = errors.iter().map(|(check, error)| (check.as_str(), error["line"].as_u64().unwrap())).collect();
    for expected in [("gates_measured", scorer), ("delegates_exist", delegate), ("case_ids_unique", case)] {
        assert!(places.contains(&expected), "{expected:?} is not in {places:?}");
    }
}
