use super::*;
use crate::yaml::test_support::{assert_problems, assert_required_keys, read_ok};

const TIERS: &str = r#"tiers:
  - minutes_at_most: 5
    tier: 2
    name: mock
    trigger: every pull request
    live: judge
    budget_usd: 0.5
    trials: 3
    suites: [tool_selection, behavior]
    what: The deterministic part.
ci:
  - when_changed: [tools]
    event: pull_request
    tiers: [1, 2]
"#;

#[test]
fn tiers_and_the_table_of_ci_are_read() {
    let TiersFile { tiers, ci, .. } = read_ok(TIERS, read_tiers);
    let [tier] = tiers.as_slice() else { panic!("{tiers:?}") };
    assert_eq!((tier.tier, tier.name.as_str(), tier.trigger.as_str(), tier.at.line), (2, "mock", "every pull request", 2));
    assert_eq!((tier.minutes_at_most, tier.live, tier.budget_usd, tier.trials), (Some(5.0), LiveRole::Judge, 0.5, 3));
    assert_eq!(
        (tier.suites.as_slice(), tier.what.as_str()),
        ([SuiteKind::ToolSelection, SuiteKind::Behavior].as_slice(), "The deterministic part.")
    );
    let [row] = ci.as_slice() else { panic!("{ci:?}") };
    assert_eq!(
        (row.event.as_str(), row.tiers.as_slice(), row.when_changed.as_slice()),
        ("pull_request", [1, 2].as_slice(), ["tools".to_owned()].as_slice())
    );
}

#[test]
fn live_is_none_judge_or_subject() {
    for (word, live) in [("none", LiveRole::None), ("judge", LiveRole::Judge), ("subject", LiveRole::Subject)] {
        assert_eq!(read_ok(&TIERS.replace("live: judge", &format!("live: {word}")), read_tiers).tiers[0].live, live);
    }
}

#[test]
fn a_tier_needs_all_its_keys() {
    assert_required_keys(TIERS, read_tiers, "a tier", 2, &["tier", "name", "trigger", "live", "budget_usd", "trials", "suites", "what"]);
    assert_required_keys(TIERS, read_tiers, "a ci row", 12, &["event"]);
}

#[test]
fn broken_tiers_say_what_is_wrong() {
    assert_problems(
        TIERS,
        read_tiers,
        &[
            ("live: judge", "live: judges", "6: \"judges\" is not a known value | did you mean \"judge\"?"),
            ("budget_usd: 0.5", "budget_usd: cheap", "7: expected a number, found \"cheap\""),
            ("budget_usd: 0.5", "budget_usd: inf", "7: expected a number, found \"inf\""),
            (
                "[tool_selection, behavior]",
                "[tool_selections]",
                "9: \"tool_selections\" is not a known value | did you mean \"tool_selection\"?",
            ),
            ("[1, 2]", "1", "14: expected a list, found \"1\" | write [a, b] or lines starting with -"),
            ("pull_request", "pullrequest", "13: \"pullrequest\" is not an event of CI | did you mean \"pull_request\"?"),
            ("[tools]", "[tols]", "12: a workspace has no part \"tols\", so this never changes | did you mean \"tools\"?"),
            ("[tools]", "[polcy]", "12: a workspace has no part \"polcy\", so this never changes | did you mean \"policy\"?"),
            ("when_changed:", "when_changd:", "12: a ci row has no key \"when_changd\" | did you mean \"when_changed\"?"),
        ],
    );
}

#[test]
fn events_of_other_names_are_not_mistakes() {
    for event in [
        "merge_request",
        "merge_request_event",
        "merge_group",
        "merge_train",
        "merged",
        "pull_request_target",
        "pull_request_review",
        "manual_run",
        "annual",
        "weekly",
        "release",
        "push",
    ] {
        assert_eq!(read_ok(&TIERS.replace("event: pull_request", &format!("event: {event}")), read_tiers).ci[0].event, event);
    }
    for (event, meant) in [
        ("pull-request", "pull_request"),
        ("Pull_Request", "pull_request"),
        ("nigthly", "nightly"),
        ("merg", "merge"),
        ("manaul", "manual"),
    ] {
        assert_eq!(mistaken_event(event), Some(meant), "{event}");
    }
    assert_eq!(mistaken_event(&"manual".repeat(1 << 16)), None);
}

#[test]
fn judge_and_reasons_are_optional() {
    let plain = read_ok(TIERS, read_tiers);
    assert!(
        plain.deviates.is_none() && plain.tiers[0].judge.is_none() && plain.tiers[0].deviates.is_none() && plain.ci[0].deviates.is_none()
    );
    let text = format!("deviates: small\n{TIERS}").replace("    name: mock", "    judge: claude\n    deviates: new\n    name: mock");
    let tiers = read_ok(&text.replace("    event: pull_request", "    deviates: alone\n    event: pull_request"), read_tiers);
    let given = [&tiers.deviates, &tiers.tiers[0].judge, &tiers.tiers[0].deviates, &tiers.ci[0].deviates];
    assert_eq!(given.map(|one| one.as_ref().map(|one| one.value.as_str())), [Some("small"), Some("claude"), Some("new"), Some("alone")]);
}

#[test]
fn when_changed_names_folders_files_and_repository_paths() {
    let rows = read_ok(&TIERS.replace("[tools]", "[tools/, policy, gates.yaml, /agent/src]"), read_tiers).ci;
    assert_eq!(rows[0].when_changed, ["tools", "policy.yaml", "gates.yaml", "/agent/src"]);
    let own = read_ok(&TIERS.replace("pull_request", "release"), read_tiers).ci;
    assert_eq!(own[0].event, "release", "an event of the user, for ci plan");
    let rows = read_ok(&TIERS.replace("[tools]", "[scorers]"), read_tiers).ci;
    assert_eq!(rows[0].when_changed, ["scorers", "scorers.yaml"], "the list of scorers and their programs");
    let rows = read_ok(&TIERS.replace("[tools]", "[scorers.yaml]"), read_tiers).ci;
    assert_eq!(rows[0].when_changed, ["scorers.yaml"]);
}
