//! Workspaces weaker than the specification fail smoke unless they say why, and then every report repeats the reason.

use crate::harness::TestFolder;

const REASON: &str = "Our venue has no agents of its own yet.";

/// A way to weaken the reference workspace: file, change, the expected message, and the change that excuses it.
struct Weakening {
    file: &'static str,
    weaken: fn(&str) -> String,
    message: &'static str,
    remedy: &'static str,
    excuse: fn(&str) -> String,
}

/// Applies a change to the row of a list that starts with this text.
fn edit_row(text: &str, start: &str, change: impl Fn(&str) -> String) -> String {
    let at = text.find(start).unwrap_or_else(|| panic!("no row {start}"));
    let end = text[at + 4..].find("\n  - ").map_or(text.len(), |end| at + 4 + end + 1);
    format!("{}{}{}", &text[..at], change(&text[at..end]), &text[end..])
}

fn replace(row: &str, from: &str, to: &str) -> String {
    assert!(row.contains(from), "{row} has no {from}");
    row.replacen(from, to, 1)
}

fn excuse_file(text: &str) -> String {
    format!("deviates: {REASON}\n{text}")
}

fn excuse_row(text: &str, start: &str) -> String {
    edit_row(text, start, |row| format!("{start}\n    deviates: {REASON}{}", &row[start.len()..]))
}

const WEAKENINGS: &[Weakening] = &[
    Weakening {
        file: "evals/gates.yaml",
        weaken: |text| edit_row(text, "  - id: safety_pipeline_compliance", |row| replace(row, "at_least: 1.0", "at_least: 0.5")),
        message: "gate safety_pipeline_compliance has at_least: 0.5, weaker than at_least: 1 of \"2.2 Safety pipeline compliance\"",
        remedy: "write at_least: 1 or stricter, or add deviates: \"reason\" to the gate",
        excuse: |text| excuse_row(text, "  - id: safety_pipeline_compliance"),
    },
    Weakening {
        file: "evals/gates.yaml",
        weaken: |text| edit_row(text, "  - id: dag_adherence", |_| String::new()),
        message: "no gate quotes \"2.2 DAG adherence\" of the specification",
        remedy: "add a gate on dag_adherence with at_least: 1, or add deviates: \"reason\" at the top of gates.yaml",
        excuse: excuse_file,
    },
    Weakening {
        file: "evals/gates.yaml",
        weaken: |text| edit_row(text, "  - id: dag_adherence", |row| replace(row, "spec: \"2.2 DAG adherence\"", "spec: ours")),
        message: "no gate quotes \"2.2 DAG adherence\" of the specification",
        remedy: "at the top of gates.yaml",
        excuse: excuse_file,
    },
    Weakening {
        file: "evals/gates.yaml",
        weaken: |text| edit_row(text, "  - id: agent_dag_adherence", |row| replace(row, "slice: { each: agent }", "slice: pooled")),
        message: "gate agent_dag_adherence has another slice than \"6.2 DAG adherence\"",
        remedy: "write slice: { each: agent }, or",
        excuse: |text| excuse_row(text, "  - id: agent_dag_adherence"),
    },
    Weakening {
        file: "evals/gates.yaml",
        weaken: |text| edit_row(text, "  - id: quote_freshness", |row| replace(row, "scorer: quote_freshness", "scorer: hit")),
        message: "gate quote_freshness measures hit instead of quote_freshness",
        remedy: "write scorer: quote_freshness, or",
        excuse: |text| excuse_row(text, "  - id: quote_freshness"),
    },
    Weakening {
        file: "evals/gates.yaml",
        weaken: |text| edit_row(text, "  - id: tool_selection_data", |row| replace(row, "min_cases: 20", "min_cases: 2")),
        message: "gate tool_selection_data needs 2 cases, \"6.1 data\" 20",
        remedy: "write min_cases: 20, or",
        excuse: |text| excuse_row(text, "  - id: tool_selection_data"),
    },
    Weakening {
        file: "evals/gates.yaml",
        weaken: |text| edit_row(text, "  - id: chain_id_consistency", |row| replace(row, "tiers: [3, 4]", "tiers: [4]")),
        message: "gate chain_id_consistency is not judged in tier 3, which runs the cases of \"5 Chain ID consistency\"",
        remedy: "add 3 to tiers, or",
        excuse: |text| excuse_row(text, "  - id: chain_id_consistency"),
    },
    Weakening {
        file: "evals/tiers.yaml",
        weaken: |text| edit_row(text, "  - tier: 4", |row| replace(row, "budget_usd: 10", "budget_usd: 1000")),
        message: "tier 4 has a budget of 1000 USD, the specification 10",
        remedy: "write budget_usd: 10, or add deviates: \"reason\" to the tier",
        excuse: |text| excuse_row(text, "  - tier: 4"),
    },
    Weakening {
        file: "evals/tiers.yaml",
        weaken: |text| {
            let (before, rest) = text.split_once("  - tier: 5").unwrap();
            format!("{before}ci:{}", rest.split_once("\nci:").unwrap().1)
        },
        message: "tier 5 (production) of the specification is missing",
        remedy: "add it, or add deviates: \"reason\" at the top of tiers.yaml",
        excuse: excuse_file,
    },
    Weakening {
        file: "evals/tiers.yaml",
        weaken: |text| replace(text, "{ event: pull_request, tiers: [1, 2],", "{ event: pull_request, tiers: [1],"),
        message: "the ci event pull_request does not run tier 2",
        remedy: "add tier 2, or add deviates: \"reason\" to the row",
        excuse: |text| replace(text, "{ event: pull_request,", &format!("{{ event: pull_request, deviates: {REASON},")),
    },
    Weakening {
        file: "evals/policy.yaml",
        weaken: |text| replace(text, "max: 100 }", "max: 5000 }"),
        message: "slippage_bps.max is 5000, but \"5 Slippage compliance\" allows at most 100",
        remedy: "write 100 or less, or add deviates: \"reason\" to policy.yaml",
        excuse: excuse_file,
    },
];

#[test]
fn smoke_rejects_workspaces_weaker_than_the_specification() {
    let folder = TestFolder::with_reference();
    for Weakening { file, weaken, message, remedy, .. } in WEAKENINGS {
        let original = folder.read(file);
        folder.write(file, weaken(&original));
        folder.run(&["smoke"]).assert_exit(1).assert_stdout("error spec_bounds").assert_stdout(message).assert_stdout(remedy);
        folder.write(file, original);
    }
    folder.run(&["smoke"]).assert_exit(0);
}

#[test]
fn reports_repeat_the_reason_of_a_deviation() {
    let folder = TestFolder::with_reference();
    for Weakening { file, weaken, excuse, message, .. } in WEAKENINGS {
        let original = folder.read(file);
        folder.write(file, excuse(&weaken(&original)));
        folder.run(&["smoke"]).assert_exit(0).assert_stdout(REASON);
        let document = folder.json(&["smoke"], 0);
        let covered = document["deviations"][0]["covers"].to_string();
        assert!(covered.contains(&serde_json::to_string(message).unwrap()[1..message.len().min(40)]), "{message}: {covered}");
        folder.write(file, original);
    }
    let gates = folder.read("evals/gates.yaml");
    folder.write("evals/gates.yaml", excuse_file(&edit_row(&gates, "  - id: dag_adherence", |_| String::new())));
    for format in ["text", "json", "junit", "markdown", "github"] {
        folder.run(&["smoke", "--format", format]).assert_exit(0).assert_stdout(REASON);
        let run = ["run", "--case", "plain_swap_order", "--subject", "reference", "--no-store", "--format", format];
        folder.run(&run).assert_exit(0).assert_stdout(REASON);
    }
}

#[test]
fn run_refuses_workspaces_weaker_than_the_specification() {
    let folder = TestFolder::with_reference();
    let gates = folder.read("evals/gates.yaml");
    folder.write("evals/gates.yaml", edit_row(&gates, "  - id: safety_pipeline_compliance", |row| replace(row, "1.0", "0.5")));
    let ran = folder.run(&["run", "--tier", "2", "--subject", "reference", "--no-store"]).assert_exit(2);
    ran.assert_stderr("weaker than at_least: 1").assert_stderr("add deviates");
}

#[test]
fn stricter_rows_and_empty_reasons_are_no_excuse() {
    let folder = TestFolder::with_reference();
    let gates = folder.read("evals/gates.yaml");
    let strict = edit_row(&gates, "  - id: hit_rate_profiles", |row| {
        replace(&replace(row, "at_least: 0.85", "at_least: 0.95"), "tiers: [2, 4]", "tiers: [2, 3, 4]")
    });
    folder.write("evals/gates.yaml", strict);
    folder.run(&["smoke"]).assert_exit(0);
    folder.write("evals/gates.yaml", format!("deviates: {REASON}\n{gates}"));
    folder.run(&["smoke"]).assert_exit(0).assert_stdout("deviates excuses nothing");
    let weak = edit_row(&gates, "  - id: dag_adherence", |_| String::new());
    folder.write("evals/gates.yaml", format!("deviates: \" \"\n{weak}"));
    assert_ne!(folder.run(&["smoke"]).code, Some(0));
}
