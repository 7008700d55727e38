//! Mutated and random input of every format: no panic, bounded results.

use crate::support::{fixture, read_bytes};
use bardo_eval_foreign::{AttackQuestion, LogFormat, VerdictPair, attack_signs, log_readings};
use model::SeededRng;
use testkit::hostile_input;

const ROUNDS: usize = 10_000;

const SOURCES: &[(LogFormat, &[&str])] = &[
    (LogFormat::Jsonl, &["trials.jsonl"]),
    (LogFormat::OpenAiChat, &["openai_chat.jsonl", "openai_chat_alone.json"]),
    (LogFormat::OpenAiResponses, &["openai_responses.jsonl"]),
    (LogFormat::Anthropic, &["anthropic.jsonl"]),
    (LogFormat::TauBench, &["tau_bench.json"]),
    (LogFormat::Tau2, &["tau2.json"]),
    (LogFormat::AgentDojo, &["agentdojo/reached.json", "agentdojo/error.json"]),
    (LogFormat::Inspect, &["inspect.json", "inspect_deflate.eval", "inspect_zstd.eval"]),
    (LogFormat::Otlp, &["otlp_genai.jsonl", "otlp_older.json", "otlp_mcp.jsonl"]),
];

#[test]
fn ten_thousand_hostile_inputs_per_format() {
    for (format, files) in SOURCES {
        let seeds: Vec<Vec<u8>> = files.iter().map(|file| fixture(file)).collect();
        let mut rng = SeededRng::new(25);
        let (mut recordings, mut problems) = (0, 0);
        for round in 0..ROUNDS {
            let bytes = hostile_input(&mut rng, &seeds);
            let read = read_bytes("hostile", &bytes, if round % 2 == 0 { Some(*format) } else { None });
            for recording in &read.recordings {
                let size = recording.transcript.events.len() + recording.notes.len() + recording.verdicts.len();
                assert!(size <= bytes.len() + 100, "{format:?}: {size} parts from {} bytes", bytes.len());
                let signs = attack_signs(recording, &AttackQuestion { canaries: vec!["x".into()], forbidden: vec![] });
                drop((log_readings(recording), VerdictPair::all(recording, None, signs.as_ref())));
            }
            assert!(read.problems.iter().all(|problem| !problem.is_empty() && problem.len() < 2000), "{:?}", read.problems);
            recordings += read.recordings.len();
            problems += read.problems.len();
        }
        assert!(recordings > 100 && problems > 100, "{format:?}: {recordings} recordings, {problems} problems: the inputs miss one side");
    }
}

#[test]
fn deep_wide_and_long_items_are_refused() {
    let deep = format!("{{\"messages\": {}{}}}", "[".repeat(5000), "]".repeat(5000));
    let wide = format!("{{\"id\": 1}}\n{{\"messages\": [{}0]}}\n", "0,".repeat(2 << 20));
    let long = format!("{{\"id\": 1}}\n{{\"messages\": \"{}\"}}\n", "x".repeat(33 << 20));
    let lists: String = (0..200).map(|n| format!("\"samples\": [{{}}], \"k{n}\": 0, ")).collect();
    let lists = format!("{{{lists}\"end\": 0}}");
    let actions = format!("[{{\"traj\": [], \"info\": {{\"task\": {{\"actions\": [{}{{}}]}}}}}}]", "{\"name\": \"a\"},".repeat(1001));
    let read = read_bytes("x", actions.as_bytes(), None);
    assert_eq!(read.problems, ["1: there are more than 1,000 expected actions"]);
    for (text, why) in
        [(lists, "too many lists"), (deep, "nested more than"), (wide, "more than a million values"), (long, "more than 32 MB")]
    {
        let read = read_bytes("x", text.as_bytes(), Some(LogFormat::OpenAiChat));
        assert!(read.problems.iter().any(|problem| problem.contains(why)), "{why}: {:?}", read.problems);
    }
}

/// A small entry that unpacks to far more than the limit.
#[test]
fn archive_bombs_are_refused() {
    let bomb = miniz_bomb();
    let read = read_bytes("bomb.eval", &bomb, None);
    assert_eq!(read.recordings.len(), 0);
    assert!(read.problems.iter().any(|problem| problem.contains("inflated") || problem.contains("32 MB")), "{:?}", read.problems);
}

/// Makes an archive whose only sample is 200 MB of zeros, deflated, with a size in the list that hides it.
fn miniz_bomb() -> Vec<u8> {
    let packed = miniz_oxide::deflate::compress_to_vec(&vec![b'0'; 200 << 20], 1);
    let name = b"samples/a_epoch_1.json";
    let size = u32::try_from(packed.len()).unwrap();
    let common = |local: bool| {
        let mut bytes = vec![];
        if !local {
            bytes.extend(20_u16.to_le_bytes());
        }
        for field in [20_u16, 0, 8, 0, 0] {
            bytes.extend(field.to_le_bytes());
        }
        for field in [0_u32, size, 100] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        bytes.extend(0_u16.to_le_bytes());
        bytes
    };
    let mut archive = b"PK\x03\x04".to_vec();
    archive.extend(common(true));
    archive.extend(name);
    archive.extend(&packed);
    let offset = u32::try_from(archive.len()).unwrap();
    let mut list = b"PK\x01\x02".to_vec();
    list.extend(common(false));
    list.extend([0; 14]);
    list.extend(name);
    archive.extend(&list);
    archive.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    archive.extend(u32::try_from(list.len()).unwrap().to_le_bytes());
    archive.extend(offset.to_le_bytes());
    archive.extend([0; 2]);
    archive
}
