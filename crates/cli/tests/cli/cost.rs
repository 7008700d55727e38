//! What runs cost, and what a tier would: estimated before, told after.

use crate::harness::Folder;

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
