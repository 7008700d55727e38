//! Exports are read back as they were.

use crate::support::{lines, read_bytes};
use bardo_eval_foreign::export::{ExportedTrial, csv, inspect, jsonl, otlp};
use bardo_eval_foreign::{LogFormat, LogRecording};
use model::transcript::{ReviewDecision, ToolAnswer};
use model::{ContentHash, Ending, Event, EventKind, Reading, Score, ScoreReason, ScorerId, Transcript};
use serde_json::{Map, Value, json};

fn transcript() -> Transcript {
    let happened = [
        ("user", 0, EventKind::UserSaid { text: "Sell, \"now\"".into() }),
        ("desk", 0, EventKind::Called { call: 1, tool: "price".into(), args: json!({"token": "ETH"}) }),
        ("desk", 0, EventKind::Answered { call: 1, answer: ToolAnswer::Result(json!({"usd": 2500})) }),
        ("desk", 0, EventKind::Delegated { to: "trader".into(), params: Map::new() }),
        ("trader", 1, EventKind::Called { call: 2, tool: "swap".into(), args: json!({"amount": 1}) }),
        ("trader", 1, EventKind::Answered { call: 2, answer: ToolAnswer::Error { code: "tx_reverted".into(), message: "no".into() } }),
        ("trader", 1, EventKind::Returned { text: "failed".into() }),
        ("desk", 0, EventKind::HoleRead { hole: "memo".into(), filled: true }),
        ("desk", 0, EventKind::Said { text: "It failed.".into() }),
    ];
    let event =
        |(n, (by, depth, happened)): (u32, (&str, u32, EventKind))| Event { n, at_ms: u64::from(n) * 10, by: by.into(), depth, happened };
    let events = (1..).zip(happened).map(event).collect();
    Transcript { trial: ContentHash::of_text("t"), case: "=case".into(), subject: "reference".into(), events, ending: Ending::Finished }
}

fn scores() -> Vec<Score> {
    let because = vec![ScoreReason { event: Some(2), what: "called price, then swap".into() }];
    vec![
        Score::new(ScorerId::Hit, Reading::Tally { hit: 1, of: 2 }, because),
        Score::new(ScorerId::ToolCallF1, Reading::Level(0.5), vec![]),
        Score::new(ScorerId::Judged, Reading::Unscorable { why: "no judge".into() }, vec![]),
        Score::new(ScorerId::Post, Reading::not_exercised(), vec![]),
    ]
}

fn with_trial<T>(make: impl FnOnce(&ExportedTrial<'_>) -> T) -> T {
    let (transcript, scores) = (transcript(), scores());
    make(&ExportedTrial {
        run: "run1",
        started: "2026-01-01T00:00:00Z",
        started_ms: 1_767_225_600_000,
        n: 0,
        seed: 7,
        wall_us: 1500,
        transcript: &transcript,
        scores: &scores,
    })
}

fn inspect_document() -> String {
    let mut results = inspect::InspectResults::default();
    results.add(&Ending::Finished, &scores());
    let header = inspect::InspectHeader {
        run: "run1",
        started: "2026-01-01T00:00:00Z",
        ended: "2026-01-01T00:00:01Z",
        subject: "reference",
        workspace: "minimal",
        complete: true,
    };
    let sample = with_trial(|trial| inspect::InspectSamples::default().sample(trial));
    format!("{}{sample}{}", inspect::document_begin(&header, &results), inspect::DOCUMENT_END)
}

fn only_recording(name: &str, text: &str, format: LogFormat) -> LogRecording {
    let mut read = read_bytes(name, text.as_bytes(), None);
    assert_eq!((read.format, read.recordings.len()), (Some(format), 1), "{:?}", read.problems);
    read.recordings.remove(0)
}

#[test]
fn exports_are_read_back_whole() {
    for (text, format) in [
        (with_trial(jsonl::trial_line), LogFormat::Jsonl),
        (with_trial(otlp::trial_request), LogFormat::Otlp),
        (inspect_document(), LogFormat::Inspect),
    ] {
        let recording = only_recording("export", &text, format);
        assert_eq!(recording.transcript, transcript(), "{format:?}");
        assert_eq!(recording.scores, scores(), "{format:?}");
    }
}

/// Removes attributes of the root span.
fn without(request: &str, keys: &[&str]) -> String {
    let mut request: Value = serde_json::from_str(request).unwrap();
    let spans = request.pointer_mut("/resourceSpans/0/scopeSpans/0/spans").and_then(Value::as_array_mut).unwrap();
    spans[0]["attributes"].as_array_mut().unwrap().retain(|attribute| !keys.iter().any(|key| attribute["key"] == *key));
    request.to_string()
}

/// Events with no convention, answers that overlap, texts that look like something else, and agents that never return.
fn tangled_transcript() -> Transcript {
    let result = |call: u32, value: Value| EventKind::Answered { call, answer: ToolAnswer::Result(value) };
    let called = |call: u32, args: Value| EventKind::Called { call, tool: "price".into(), args };
    let decided = EventKind::Decided {
        action_id: Some("a1".into()),
        decision: ReviewDecision::Veto,
        reason: "too much".into(),
        calldata_hash: Some("0xab".into()),
        policy: Some(1),
    };
    let happened = [
        ("user", 0, EventKind::UserSaid { text: "first".into() }),
        ("desk", 0, EventKind::Activated { skill: "swap".into(), params: Map::from_iter([("a".into(), json!(1))]) }),
        ("desk", 0, called(7, json!({"token": "ETH"}))),
        ("desk", 0, called(8, json!("not an object"))),
        ("desk", 0, EventKind::Simulated { call: 8, action_id: None, calldata_hash: None, error: None }),
        ("desk", 0, result(8, json!("{\"a\": 1}"))),
        ("desk", 0, result(7, json!(12.5))),
        ("desk", 0, result(7, json!("answered twice"))),
        ("desk", 0, EventKind::Delegated { to: "safety-guardian".into(), params: Map::from_iter([("action_id".into(), json!("a1"))]) }),
        ("safety-guardian", 1, decided),
        ("desk", 0, EventKind::Delegated { to: "trader".into(), params: Map::new() }),
        ("trader", 1, called(9, json!("{\"a\": 1}"))),
        ("trader", 1, result(9, json!(null))),
        ("trader", 1, EventKind::Asked { text: "how much?".into() }),
        ("user", 0, EventKind::UserSaid { text: String::new() }),
        ("trader", 1, EventKind::Refused { text: "no".into() }),
        ("trader", 1, EventKind::Returned { text: "nothing".into() }),
        ("outsider", 0, EventKind::Said { text: "by another agent".into() }),
        ("desk", 0, EventKind::Said { text: "{}".into() }),
        ("desk", 0, EventKind::Used { latency_ms: Some(5), cost: None }),
    ];
    // All in one millisecond, so that only their order tells them apart.
    let event = |(n, (by, depth, happened)): (u32, (&str, u32, EventKind))| Event { n, at_ms: 3, by: by.into(), depth, happened };
    Transcript { events: (1..).zip(happened).map(event).collect(), ending: Ending::GaveUp, ..transcript() }
}

#[test]
fn exported_spans_make_the_same_transcript_without_the_copy() {
    for transcript in [transcript(), tangled_transcript()] {
        let request = otlp::trial_request(&ExportedTrial {
            run: "run1",
            started: "2026-01-01T00:00:00Z",
            started_ms: 1_767_225_600_000,
            n: 0,
            seed: 7,
            wall_us: 1500,
            transcript: &transcript,
            scores: &[],
        });
        let recording = only_recording("export", &without(&request, &["bardo_eval.trial"]), LogFormat::Otlp);
        assert_eq!(recording.transcript, transcript);
    }
}

/// Other readers find the conventions.
#[test]
fn exported_conventions_stand_for_themselves() {
    let request = without(&with_trial(otlp::trial_request), &["bardo_eval.trial", "bardo_eval.export"]);
    let recording = only_recording("export", &request, LogFormat::Otlp);
    assert_eq!(
        lines(&recording)[1..],
        [
            "desk calls price {\"token\":\"ETH\"} as 1",
            "desk gets {\"usd\":2500} for 1",
            "desk delegates to trader",
            " trader calls swap {\"amount\":1} as 2",
            " trader gets the error no for 2",
            " trader returns",
            "user says Sell, \"now\"",
            "desk says It failed.",
        ]
    );
    assert_eq!(recording.verdicts.len(), 2, "evaluations of the two exercised scorers");

    let mut log: Value = serde_json::from_str(&inspect_document()).unwrap();
    log["samples"][0]["metadata"] = json!({});
    let recording = only_recording("export", &log.to_string(), LogFormat::Inspect);
    assert_eq!(
        lines(&recording)[1..],
        [
            "user says Sell, \"now\"",
            "assistant calls price {\"token\":\"ETH\"} as 1",
            "assistant gets {\"usd\":2500} for 1",
            "assistant calls swap {\"amount\":1} as 2",
            "assistant gets the error no for 2",
            "assistant says It failed.",
        ]
    );
}

#[test]
fn csv_has_one_row_per_scorer() {
    let rows = with_trial(csv::trial_rows);
    let columns = csv::HEADER.split(',').count();
    let rows: Vec<&str> = rows.lines().collect();
    assert_eq!(rows.len(), 4);
    assert!(rows[0].contains(",'=case,reference,7,finished,1,9,2,hit,1,2,,,\"called price, then swap\""), "{}", rows[0]);
    assert!(rows[1].ends_with(",tool_call_f1,,,0.5,,"), "{}", rows[1]);
    assert_eq!(rows[1].split(',').count(), columns);
    assert!(rows[2].ends_with(",judged,,,,no judge,"), "{}", rows[2]);
}
