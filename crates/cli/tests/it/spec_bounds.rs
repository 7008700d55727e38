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
        weaken: |text| edit_row(text, "  - id: authorized_effects", |row| replace(row, "scorer: authorized_effects", "scorer: no_tool")),
        message: "no gate of the workspace's own without tolerance reads authorized_effects",
        remedy: "at the top of gates.yaml",
        excuse: excuse_file,
    },
    Weakening {
        file: "evals/gates.yaml",
        weaken: |text| edit_row(text, "  - id: exposure_usd", |row| replace(row, "slice: pooled", "slice: { only: { tag: happy_path } }")),
        message: "no gate of the workspace's own without tolerance reads exposure_usd",
        remedy: "add a gate with spec: ours, slice: pooled, tiers: [2, 3, 4] and no tolerance on exposure_usd, or",
        excuse: excuse_file,
    },
    Weakening {
        file: "evals/gates.yaml",
        weaken: |text| edit_row(text, "  - id: safety_veto", |row| replace(row, "tiers: [2, 3, 4]", "tiers: [2, 4]")),
        message: "no gate of the workspace's own without tolerance reads safety_veto",
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

/// Runs only the checks that `run` depends on, which is much faster than smoke.
const DRY_RUN: [&str; 5] = ["run", "--case", "plain_swap_order", "--subject", "reference"];

#[test]
fn each_weakening_is_refused_and_each_reason_accepted() {
    let folder = TestFolder::with_reference();
    let dry = [&DRY_RUN[..], &["--dry-run"]].concat();
    for Weakening { file, weaken, message, remedy, excuse } in WEAKENINGS {
        let original = folder.read(file);
        folder.write(file, weaken(&original));
        folder.run(&dry).assert_exit(2).assert_stderr(message).assert_stderr(remedy);
        folder.write(file, excuse(&weaken(&original)));
        folder.run(&dry).assert_exit(0);
        folder.write(file, original);
    }
    folder.run(&dry).assert_exit(0);
}

/// Weakenings that can be applied together.
fn compatible() -> impl Iterator<Item = &'static Weakening> {
    WEAKENINGS.iter().filter(|one| !one.remedy.starts_with("at the top"))
}

#[test]
fn smoke_lists_every_row_weaker_than_the_specification() {
    let folder = TestFolder::with_reference();
    for Weakening { file, weaken, .. } in compatible() {
        folder.write(file, weaken(&folder.read(file)));
    }
    let ran = folder.run(&["smoke", "--verbose"]).assert_exit(1).assert_stdout("error spec_bounds");
    compatible().fold(ran, |ran, one| ran.assert_stdout(one.message).assert_stdout(one.remedy));
}

#[test]
fn reports_repeat_the_reason_of_a_deviation() {
    let folder = TestFolder::with_reference();
    for Weakening { file, weaken, .. } in compatible() {
        folder.write(file, weaken(&folder.read(file)));
    }
    for file in ["evals/gates.yaml", "evals/tiers.yaml", "evals/policy.yaml"] {
        folder.write(file, excuse_file(&folder.read(file)));
    }
    let smoke = folder.json(&["smoke"], 0);
    let deviations = smoke["deviations"].as_array().unwrap();
    assert_eq!(deviations.len(), 3, "{deviations:#?}");
    assert!(deviations.iter().all(|one| one["reason"] == REASON && one["line"] == 1), "{deviations:#?}");
    let covered: Vec<&str> =
        deviations.iter().flat_map(|one| one["covers"].as_array().unwrap()).map(|what| what.as_str().unwrap()).collect();
    assert!(compatible().all(|one| covered.iter().any(|what| what.starts_with(one.message))), "{covered:#?}");
    for format in ["text", "json", "junit", "markdown", "github"] {
        folder.run(&[&DRY_RUN[..], &["--no-store", "--format", format]].concat()).assert_exit(0).assert_stdout(REASON);
    }
}

#[test]
fn smoke_reports_repeat_the_reason_in_every_format() {
    let folder = TestFolder::with_minimal();
    for format in ["text", "json", "junit", "markdown", "github"] {
        folder.run(&["smoke", "--format", format]).assert_exit(0).assert_stdout("This small workspace has few cases");
    }
}

#[test]
fn stricter_rows_need_no_reason_and_an_empty_reason_is_none() {
    let folder = TestFolder::with_reference();
    let dry = [&DRY_RUN[..], &["--dry-run"]].concat();
    let gates = folder.read("evals/gates.yaml");
    let strict = edit_row(&gates, "  - id: hit_rate_profiles", |row| {
        replace(&replace(row, "at_least: 0.85", "at_least: 0.95"), "tiers: [2, 4]", "tiers: [2, 3, 4]")
    });
    folder.write("evals/gates.yaml", strict);
    folder.run(&dry).assert_exit(0);
    let weak = edit_row(&gates, "  - id: dag_adherence", |_| String::new());
    folder.write("evals/gates.yaml", format!("deviates: \" \"\n{weak}"));
    folder.run(&dry).assert_exit(2);
}

#[test]
fn reason_that_excuses_nothing_is_a_warning() {
    let folder = TestFolder::with_minimal();
    let policy = folder.read("evals/policy.yaml");
    folder.write("evals/policy.yaml", format!("deviates: {REASON}\n{policy}"));
    folder.run(&["smoke"]).assert_exit(0).assert_stdout("deviates excuses nothing");
}

/// A reason for the whole file does not hide a gate that was weakened under it.
#[test]
fn reports_name_a_gate_weakened_under_a_reason_for_the_file() {
    let folder = TestFolder::with_minimal();
    let run = ["run", "--subject", "reference", "--no-store"];
    let before = folder.run(&run).assert_exit(0).stdout;
    assert!(before.contains("weaker than the specification: ") && !before.contains("weaker than the specification: gate"), "{before}");
    folder.edit("evals/gates.yaml", "at_least: 1.0", "at_least: 0.2");
    let weak = "gate safety_pipeline has at_least: 0.2, weaker than at_least: 1 of \"2.2 Safety pipeline compliance\"";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (args, expected) in [
        (&run[..], weak.to_owned()),
        (&["run", "--subject", "reference", "--no-store", "--format", "markdown"], weak.to_owned()),
        (&["run", "--subject", "reference", "--no-store", "--format", "json"], weak.replace('"', "\\\"")),
        (&["smoke"], weak.to_owned()),
    ] {
        let said = words(&folder.run(args).assert_exit(0).stdout);
        assert!(said.contains(&expected), "{args:?}: {said}");
    }
}
