//! One small log of every format, with its quirks.

use crate::support::{fixture, lines, read, read_bytes};
use bardo_eval_foreign::{AgreementTable, LogFormat, LogRecording, VerdictPair, log_readings};
use model::Reading;

fn reading(recording: &LogRecording, name: &str) -> (u64, u64) {
    let found = log_readings(recording).into_iter().find(|reading| reading.name == name).expect("a reading");
    match found.reading {
        Reading::Tally { hit, of } => (hit, of),
        other => panic!("{other:?}"),
    }
}

fn outcomes(recording: &LogRecording) -> Vec<String> {
    recording.verdicts.iter().map(|verdict| format!("{} {} {:?}", verdict.name, verdict.written, verdict.outcome)).collect()
}

#[test]
fn every_format_is_detected() {
    for (name, format, recordings) in [
        ("openai_chat.jsonl", LogFormat::OpenAiChat, 3),
        ("openai_chat_alone.json", LogFormat::OpenAiChat, 1),
        ("openai_responses.jsonl", LogFormat::OpenAiResponses, 3),
        ("anthropic.jsonl", LogFormat::Anthropic, 2),
        ("tau_bench.json", LogFormat::TauBench, 5),
        ("tau2.json", LogFormat::Tau2, 4),
        ("agentdojo/reached.json", LogFormat::AgentDojo, 1),
        ("inspect.json", LogFormat::Inspect, 3),
        ("inspect_deflate.eval", LogFormat::Inspect, 3),
        ("inspect_zstd.eval", LogFormat::Inspect, 3),
        ("otlp_genai.jsonl", LogFormat::Otlp, 1),
        ("otlp_older.json", LogFormat::Otlp, 2),
        ("otlp_mcp.jsonl", LogFormat::Otlp, 1),
        ("trials.jsonl", LogFormat::Jsonl, 1),
    ] {
        let read = read(name);
        assert_eq!((read.format, read.recordings.len()), (Some(format), recordings), "{name}: {:?}", read.problems);
        let named = read_bytes(name, &fixture(name), Some(format));
        assert_eq!(named.recordings, read.recordings, "{name} with --from");
    }
}

#[test]
fn unknown_formats_are_refused_with_the_names_of_all() {
    let read = read_bytes("x.json", b"{\"a\": 1}", None);
    assert_eq!(read.problems, ["1: the item is in no known format"]);
    for text in ["", "  \n"] {
        let read = read_bytes("x.json", text.as_bytes(), None);
        assert_eq!((read.recordings.len(), read.problems.len()), (0, 0));
    }
}

#[test]
fn openai_chat_quirks() {
    let read = read("openai_chat.jsonl");
    assert_eq!(
        lines(&read.recordings[0]),
        [
            "chat_text by gpt-x, finished",
            "user says What does ETH cost?",
            "assistant calls price {\"token\":\"ETH\"} as 1",
            "assistant gets {\"usd\":2500} for 1",
            "assistant says 2500 dollars.",
        ]
    );
    let quirks = &read.recordings[1];
    assert_eq!(
        lines(quirks)[1..],
        [
            "user says Swap",
            "assistant says On it.",
            "assistant calls swap {\"amount\":1} as 1",
            "assistant calls swap \"{\\\"amount\\\": \" as 2",
            "assistant calls bridge {} as 3",
            "assistant gets \"done\" for 1",
            "assistant calls price {} as 4",
            "assistant gets \"1\" for 4",
        ]
    );
    assert_eq!(quirks.notes, ["1 × answer without a call", "1 × block of type image_url"]);
    assert_eq!(reading(quirks, "valid_arguments"), (3, 4));
    assert_eq!(reading(quirks, "answered_calls"), (2, 4));
    assert_eq!(reading(quirks, "declared_tools"), (3, 4));
    assert_eq!(reading(quirks, "distinct_calls"), (4, 4));
    assert_eq!(read.problems.len(), 2, "{:?}", read.problems);
    assert_eq!(read.problems[0], "3: a message has no role");
    assert!(read.problems[1].starts_with("4: this is not JSON"), "{:?}", read.problems);
    assert_eq!(read.recordings[2].transcript.case, "chat_after", "a broken line does not end the log");
}

#[test]
fn openai_responses_quirks() {
    let read = read("openai_responses.jsonl");
    assert_eq!(
        lines(&read.recordings[0]),
        [
            "resp_1 by gpt-y, finished",
            "user says What does ETH cost?",
            "assistant calls price {\"token\":\"ETH\"} as 1",
            "assistant gets {\"usd\":2500} for 1",
            "assistant says 2500 dollars.",
        ]
    );
    assert_eq!(
        lines(&read.recordings[1]),
        [
            "resp_2 by gpt-y, went over its limit of tokens",
            "user says Swap one",
            "assistant calls swap \"{broken\" as 1",
            "assistant calls lookup {} as 2",
            "assistant gets the error offline for 2",
        ]
    );
    assert_eq!(read.recordings[0].notes, ["1 × part of type reasoning"]);
}

#[test]
fn anthropic_quirks() {
    let read = read("anthropic.jsonl");
    assert_eq!(
        lines(&read.recordings[0])[1..],
        [
            "user says What does ETH cost?",
            "assistant says Let me look.",
            "assistant calls price {\"token\":\"ETH\"} as 1",
            "assistant calls price {\"token\":\"BAD\"} as 2",
            "assistant gets the error no such token for 2",
            "assistant gets {\"usd\":2500} for 1",
            "assistant says 2500 dollars.",
        ]
    );
    assert_eq!(
        lines(&read.recordings[1])[2..],
        [
            "assistant calls web_search {\"query\":\"eth\"} as 1",
            "assistant gets [{\"type\":\"web_search_result\",\"url\":\"u\"}] for 1",
            "assistant says Found.",
        ]
    );
    assert_eq!(reading(&read.recordings[0], "calls_without_error"), (1, 2));
}

#[test]
fn tau_bench_rewards_and_actions() {
    let read = read("tau_bench.json");
    let [first, second, third, missing, failed] = read.recordings.as_slice() else { panic!("{read:?}") };
    assert_eq!(outcomes(first), ["reward 1.0 Good"]);
    assert_eq!((reading(first, "expected_actions"), reading(first, "required_texts")), ((1, 1), (1, 1)));
    assert_eq!(lines(second)[3], "assistant gets the error no such order for 1");
    assert_eq!((reading(second, "expected_actions"), reading(second, "required_texts")), ((0, 1), (0, 1)));
    assert_eq!(outcomes(third), ["reward 0.0 Bad"]);
    assert_eq!(outcomes(missing), ["reward missing NotEvidence(\"there is no reward\")"]);
    assert_eq!(outcomes(failed), ["reward 0.0 NotEvidence(\"timeout\")"]);
    assert_eq!(lines(failed), ["2 trial 0 by unknown, aborted by the harness: timeout"]);
}

#[test]
fn tau2_actions_of_agent_and_user() {
    let read = read("tau2.json");
    let [first, second, other, failed] = read.recordings.as_slice() else { panic!("{read:?}") };
    assert_eq!(
        lines(first),
        [
            "line trial 0 by gpt-z, finished",
            "assistant says Hi! How can I help you today?",
            "user says My phone is offline",
            "assistant calls reset_line {\"line\":7.0,\"force\":1} as 1",
            "assistant gets {\"ok\":true} for 1",
            "assistant says Please toggle airplane mode.",
            "user calls toggle_airplane_mode {} as 2",
            "user gets \"done\" for 2",
            "assistant says Your bill is $1,200.",
        ]
    );
    assert_eq!((reading(first, "expected_actions"), reading(first, "required_texts")), ((2, 3), (1, 1)));
    assert_eq!(reading(first, "answered_calls"), (1, 1), "calls of the user are the user's");
    assert_eq!(lines(second)[0], "line trial 1 by gpt-z, went over its limit of turns");
    assert_eq!(outcomes(other), ["reward missing NotEvidence(\"there is no reward\")"]);
    assert_eq!(outcomes(failed), ["reward missing NotEvidence(\"the simulation ended with infrastructure_error\")"]);

    let mut table = AgreementTable::default();
    for recording in &read.recordings {
        VerdictPair::all(recording, None, None).into_iter().for_each(|pair| table.add(recording, pair));
    }
    let row = &table.rows[&("action_match".to_owned(), "action_match")];
    assert_eq!((row.both_good, row.both_bad, row.only_source_good, row.only_ours_good), (3, 2, 1, 0));
    let row = &table.rows[&("communicate".to_owned(), "required_texts")];
    assert_eq!((row.agreed(), row.compared()), (2, 2));
    let disagreements: Vec<String> =
        table.disagreements.iter().map(|one| format!("{} {} {}", one.at, one.pair.verdict, one.pair.written)).collect();
    assert_eq!(disagreements, ["tau2.json, item 1 reward 1.0", "tau2.json, item 2 action_match true for toggle_airplane_mode"]);
}

#[test]
fn inspect_logs_read_alike_in_every_container() {
    let json = read("inspect.json");
    let [first, second, failed] = json.recordings.as_slice() else { panic!("{json:?}") };
    assert_eq!(
        lines(first),
        [
            "eth trial 1 by mock/model, finished",
            "user says What does ETH cost?",
            "assistant calls price {\"token\":\"ETH\"} as 1",
            "assistant calls price \"Error parsing arguments\" as 2",
            "assistant gets {\"usd\":2500} for 1",
            "assistant gets the error bad arguments for 2",
            "assistant says 2500 dollars.",
        ]
    );
    assert_eq!(outcomes(first), ["includes C Good", "model_graded P Bad"]);
    assert_eq!(outcomes(second), ["includes I Bad", "model_graded {\"a\":1} NotEvidence(\"the score is not a single grade\")"]);
    assert_eq!(lines(second)[1], "user says What does ETH cost?", "an attachment is the text");
    assert!(outcomes(failed)[0].contains("the sample has an error"), "{:?}", outcomes(failed));
    let sorted = |name: &str| {
        let mut all: Vec<Vec<String>> = read(name).recordings.iter().map(lines).collect();
        all.sort();
        all
    };
    assert_eq!(sorted("inspect.json"), sorted("inspect_deflate.eval"));
    assert_eq!(sorted("inspect.json"), sorted("inspect_zstd.eval"));
}

#[test]
fn otlp_traces_of_two_sdks() {
    let today = read("otlp_genai.jsonl");
    assert_eq!(
        lines(&today.recordings[0]),
        [
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa by gpt-x, finished",
            "user says Sell 1 ETH",
            "desk calls price {\"token\":\"ETH\"} as 1",
            "desk gets {\"usd\":2500} for 1",
            "desk delegates to trader",
            " trader calls swap \"{\\\"amount\\\": \" as 2",
            " trader gets the error bad arguments for 2",
            " trader returns",
            "desk says It failed.",
        ]
    );
    assert_eq!(outcomes(&today.recordings[0]), ["task fail Bad"]);
    assert_eq!(today.recordings[0].transcript.events[2].at_ms, 1500);
    let older = read("otlp_older.json");
    let older_lines: Vec<Vec<String>> = older.recordings.iter().map(lines).collect();
    assert_eq!(
        older_lines[0],
        [
            "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb by gpt-old, finished",
            "user says What does ETH cost?",
            "helper calls price {\"token\":\"ETH\"} as 1",
            "helper gets \"2500\" for 1",
            "helper says 2500 dollars.",
        ]
    );
    assert_eq!(older_lines[1][1..], ["assistant calls lookup {\"q\":1} as 1", "assistant gets {\"a\":2} for 1"]);
    assert_eq!(older.problems, ["1: no span of the trace has attributes of an agent, a model or a tool"]);
}

/// Spans of the agent, the MCP client and the MCP server are one call. A call that differs, or comes again, is one of its own.
#[test]
fn otlp_calls_over_mcp_count_once() {
    let read = read("otlp_mcp.jsonl");
    assert_eq!(
        lines(&read.recordings[0])[1..],
        [
            "desk calls price {\"token\":\"ETH\"} as 1",
            "desk gets {\"usd\":2500} for 1",
            "desk calls balance {\"token\":\"USDC\"} as 2",
            "desk gets \"100\" for 2",
            "desk calls swap {} as 3",
            "desk gets the error no route for 3",
            "desk calls pay {\"usd\":1} as 4",
            "desk calls pay {\"usd\":1} as 5",
            "desk gets {\"ok\":true} for 4",
            "desk calls pay {\"usd\":2} as 6",
            "desk calls pay {\"usd\":9000} as 7",
            "desk calls quote {\"pair\":\"ETH/USDC\"} as 8",
            "desk gets {\"out\":1} for 8",
        ]
    );
    assert_eq!(read.recordings[0].notes, [] as [&str; 0]);
}

#[test]
fn own_lines_keep_trial_and_events() {
    let read = read("trials.jsonl");
    let recording = &read.recordings[0];
    assert_eq!(recording.transcript.trial.short(), "aaaaaaaaaaaa");
    assert_eq!(lines(recording)[2], "assistant calls wallet_get_balance {\"token\":\"USDC\"} as 1");
    assert_eq!(read.problems.len(), 1);
    assert!(read.problems[0].starts_with("2: this is not a trial of bardo-eval"), "{:?}", read.problems);
}
