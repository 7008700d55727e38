//! Recorded answers of a case come before those of the world.

use crate::live::harness::{LiveTrial, world_template};
use bardo_eval_world::WorldSettings;
use model::suite::{ArgMatcher, CaseFixture, RecordedAnswer};
use model::transcript::ToolAnswer;
use model::{EventKind, Location, Spanned};
use serde_json::{Value, json};

fn at() -> Location {
    Location::new("suites/a.yaml", 1)
}

fn fixture(tool: &str, when: Vec<(&str, ArgMatcher)>, answer: RecordedAnswer) -> CaseFixture {
    let when = when.into_iter().map(|(name, wanted)| (name.to_owned(), Spanned::new(wanted, at()))).collect();
    CaseFixture { tool: Spanned::new(tool.to_owned(), at()), when, answer, at: at() }
}

fn trial() -> LiveTrial {
    let case_fixtures = vec![
        fixture(
            "search_tokens",
            vec![("query", ArgMatcher::AnyOf(vec![json!("TIDE"), json!("TIDAL")]))],
            RecordedAnswer::Result(json!({"candidates": ["recorded"]})),
        ),
        fixture(
            "search_tokens",
            vec![("query", ArgMatcher::Contains("gone".into()))],
            RecordedAnswer::Error { code: "DATA_UNAVAILABLE".into(), message: "The index is down.".into() },
        ),
    ];
    LiveTrial::open(&world_template("defi_small"), WorldSettings { case_fixtures, ..WorldSettings::default() })
}

fn fixtures_used(trial: &LiveTrial) -> Vec<u32> {
    trial
        .events()
        .filter_map(|happened| if let EventKind::FixtureUsed { fixture, .. } = happened { Some(*fixture) } else { None })
        .collect()
}

#[tokio::test]
async fn case_fixture_answers_matching_calls() {
    let mut trial = trial();
    assert_eq!(trial.call_ok("search_tokens", json!({ "query": "tide" })).await, json!({"candidates": ["recorded"]}));
    let error = trial.call("search_tokens", json!({ "query": "long gone" })).await;
    assert!(matches!(&error, ToolAnswer::Error { code, .. } if code == "DATA_UNAVAILABLE"), "{error:?}");
    assert_eq!(fixtures_used(&trial), [1, 2]);
}

#[tokio::test]
async fn other_and_invalid_calls_reach_the_world() {
    let mut trial = trial();
    let answer: Value = trial.call_ok("search_tokens", json!({ "query": "WETH" })).await;
    assert_ne!(answer, json!({"candidates": ["recorded"]}));
    let refused = trial.call("search_tokens", json!({ "query": "TIDE", "nonsense": 1 })).await;
    assert!(refused.refuses_call(), "{refused:?}");
    assert_eq!(fixtures_used(&trial), Vec::<u32>::new());
}
