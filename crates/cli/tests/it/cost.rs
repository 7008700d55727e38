//! Cost of runs: estimated before, reported after.

use crate::harness::TestFolder;
use serde_json::json;
use testkit::chat;

#[test]
fn cost_of_free_runs_is_zero() {
    let folder = TestFolder::with_minimal();
    folder.run(&["cost"]).assert_exit(2).assert_stderr("no runs in ");
    folder.run(&["run", "--subject", "reference", "--tier", "2"]);
    let bill = folder.json(&["cost"], 0);
    assert_eq!((bill["runs"].as_u64(), bill["spent_usd"].as_f64()), (Some(1), Some(0.0)), "{bill:#}");
    assert_eq!(bill["tiers"][0]["tier"], 2, "{bill:#}");
    for saved in ["cache_usd", "callbacks_usd", "tiering_usd"] {
        assert_eq!(bill["saved"][saved].as_f64(), Some(0.0), "{bill:#}");
    }
    assert_eq!(folder.json(&["cost", "--since", "9999-01-01"], 0)["runs"], 0);
}

#[test]
fn cost_reports_paid_runs_and_cache_savings() {
    let folder = TestFolder::with_minimal();
    let url = chat::serve_chat(|_, _| chat::tool_call_reply(1, "wallet_get_balance", &json!({ "token": "USDC", "chain": "base" })));
    folder.write("evals/subjects/local.yaml", chat::subject_file("local", &url));
    let run = ["run", "--subject", "local", "--profile", "trader", "--budget", "1"];
    folder.run(&run);
    // 10 tokens in and 5 out at 1 USD per million, for each of two cases.
    let first = folder.json(&["cost"], 0);
    assert_eq!((first["spent_usd"].as_f64(), first["saved"]["cache_usd"].as_f64()), (Some(0.000_03), Some(0.0)), "{first:#}");
    folder.run(&run);
    let bill = folder.json(&["cost"], 0);
    assert_eq!((bill["runs"].as_u64(), bill["spent_usd"].as_f64()), (Some(2), Some(0.000_03)), "{bill:#}");
    assert_eq!(bill["saved"]["cache_usd"].as_f64(), Some(0.000_03), "{bill:#}");
    let by = |what: &str, name: &str| {
        let rows = bill[what].as_array().unwrap_or_else(|| panic!("{bill:#}"));
        rows.iter()
            .find(|row| row.as_object().unwrap().values().any(|value| value == name))
            .unwrap_or_else(|| panic!("{name}: {bill:#}"))
            .clone()
    };
    assert_eq!(by("models", "m")["calls"], 2, "{bill:#}");
    assert_eq!(by("suites", "tool_selection/trader")["calls"], 2, "{bill:#}");
    folder.run(&["cost"]).assert_exit(0).assert_stdout("0.00003");
}

#[test]
fn dry_run_estimates_against_the_tier() {
    let folder = TestFolder::with_reference();
    folder.run(&["run", "--tier", "1"]).assert_exit(0).assert_stdout("smoke passed");
    let estimate = |tier: &str, more: &[&str]| {
        folder.json(&[&["run", "--tier", tier, "--subject", "claude-sonnet", "--dry-run"], more].concat(), 0)["estimate"].clone()
    };
    for (tier, most) in [("2", 5.0), ("3", 15.0)] {
        let seconds = estimate(tier, &["--judge"])["seconds"].as_f64().unwrap();
        assert!(seconds > 0.0 && seconds / 60.0 <= most, "tier {tier}: {seconds}");
    }
    let found = estimate("3", &[]);
    assert!(found["calls"].as_u64().unwrap() > 100 && found["likely_usd"].as_f64().unwrap() > 0.0, "{found:#}");
    folder.run(&["run", "--tier", "3", "--subject", "baseline", "--dry-run"]).assert_exit(0).assert_stdout("about 0 model calls: ");
    // Replayed calls are free for every model.
    let replayed = estimate("3", &["--replay"]);
    assert_eq!((&replayed["calls"], &replayed["likely_usd"]), (&json!(0), &json!(0.0)), "{replayed:#}");
}

#[test]
fn replay_tier_costs_only_its_judge() {
    let folder = TestFolder::with_reference();
    let suites = folder.files().into_iter().filter(|file| file.contains("/suites/behavior/") || file.contains("/suites/tool_selection/"));
    let rubrics: usize = suites.map(|file| folder.read(&file).matches("\n      rubric:").count()).sum();
    assert!(rubrics > 41, "every agent has a rubric, {rubrics} were found");
    let bare = ["run", "--tier", "2", "--subject", "claude-sonnet", "--dry-run"];
    let unjudged = folder.run(&bare).assert_exit(0).assert_stdout("about 0 model calls: ");
    unjudged.assert_stdout("and this run has none: set ANTHROPIC_API_KEY for the judge of the tier, or rerun with --judge NAME");
    let dry = [&bare[..], &["--judge"]].concat();
    let estimate = &folder.json(&dry, 0)["estimate"];
    assert_eq!((&estimate["calls"], &estimate["judge_calls"]), (&json!(rubrics), &json!(rubrics)), "{estimate:#}");
    assert_eq!((&estimate["judge"], &estimate["budget_usd"]), (&json!("claude-sonnet"), &json!(0.5)));
    let likely = estimate["likely_usd"].as_f64().unwrap();
    assert!((0.001..0.02).contains(&(likely / rubrics as f64)), "{likely} USD for all verdicts");
    let said = folder.run(&dry).assert_exit(0).assert_stdout(&format!("{rubrics} of them to the judge claude-sonnet: "));
    assert_eq!(said.stdout.matches("cost: likely").count(), 1, "printed once");
    let named = folder.run(&[&bare[..], &["--judge", "claude-opus"]].concat()).assert_exit(0);
    // A dearer judge leaves out cases that decide least.
    named.assert_stdout(" of them to the judge claude-opus: ");
}
