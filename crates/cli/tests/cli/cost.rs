//! What runs cost, and what a tier would: estimated before, told after.

use crate::harness::Folder;
use crate::vendor::{calls, subject, vendor};
use serde_json::json;

#[test]
fn free_runs_cost_nothing_and_saved_nothing() {
    let folder = Folder::with_minimal();
    folder.run(&["cost"]).exits(2).says("no run has been kept");
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
fn a_paid_run_is_on_the_bill_and_what_came_from_the_cache_is_saved() {
    let folder = Folder::with_minimal();
    let url = vendor(|_, _| calls("wallet_get_balance", &json!({ "token": "USDC", "chain": "base" })));
    folder.write("evals/subjects/local.yaml", subject("local", &url));
    let run = ["run", "--subject", "local", "--profile", "trader", "--budget", "1"];
    folder.run(&run);
    // 10 tokens in and 5 out at a dollar a million, for each of two cases.
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
    folder.run(&["cost"]).exits(0).prints("0.00003");
}

#[test]
fn tier_1_is_smoke_and_plans_are_estimated_against_their_tier() {
    let folder = Folder::with_reference();
    folder.run(&["run", "--tier", "1"]).exits(0).prints("smoke passed");
    for (tier, most) in [("2", 5.0), ("3", 15.0)] {
        let plan = folder.json(&["run", "--tier", tier, "--subject", "claude-sonnet", "--dry-run"], 0);
        assert!(plan["seconds"].as_f64().unwrap() / 60.0 <= most, "tier {tier}: {}", plan["seconds"]);
    }
    let plan = folder.json(&["run", "--tier", "3", "--subject", "claude-sonnet", "--dry-run"], 0);
    assert!(plan["calls"].as_u64().unwrap() > 100 && plan["likely_usd"].as_f64().unwrap() > 0.0, "{plan:#}");
    folder.run(&["run", "--tier", "3", "--subject", "baseline", "--dry-run"]).exits(0).prints("models asked about 0 times");
}
