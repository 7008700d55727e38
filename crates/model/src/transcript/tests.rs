//! Compatibility of stored transcripts: values of older versions must round-trip without a change.

use super::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;

const PARTY: &str = r#"{"address":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","name":"account","role":null,"own":true}"#;
const TRADE: &str =
    r#"{"chain":8453,"sell":"USDC","amount":"250","buy":"WETH","expected":"78","least":"77","to":PARTY,"deadline":1772971500}"#;
const ORIGIN: &str = r#"{"call":1,"action_id":"action-1","calldata":"0xab","trade":TRADE}"#;
const HASH: &str = "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"";

/// Stored form of each kind of event.
const EVENTS: &[&str] = &[
    r#"{"user_said":{"text":"Hi."}}"#,
    r#"{"revealed":{"fact":"amount","corrected":true}}"#,
    r#"{"unmatched":{"question":"Why?"}}"#,
    r#"{"said":{"text":"Done."}}"#,
    r#"{"asked":{"text":"How much?"}}"#,
    r#"{"refused":{"text":"No."}}"#,
    r#"{"activated":{"skill":"swap","params":{"token":"USDC"}}}"#,
    r#"{"called":{"call":1,"tool":"swap_execute","args":{"amount":"250"}}}"#,
    r#"{"resolved":{"call":1,"addresses":[{"param":"recipient","text":"0x70","chain":8453,"party":PARTY,"has_code":false}]}}"#,
    r#"{"prepared":{"call":1,"action":{"action_id":"action-1","tool":"swap_execute","chain":8453,"block":36,"calldata":"0xab","expires_at_ms":32200,"trade":TRADE}}}"#,
    r#"{"simulated":{"call":2,"action_id":"action-1","calldata":"0xab","error":"Slippage"}}"#,
    r#"{"would_block":{"call":3,"hook":"simulation","why":"not simulated"}}"#,
    r#"{"blocked":{"call":3,"hook":"simulation","why":"not simulated"}}"#,
    r#"{"confirmed":{"call":3,"facts":{"to":"0x70"},"granted":false}}"#,
    r#"{"answered":{"call":3,"answer":{"result":{"status":"success"}}}}"#,
    r#"{"answered":{"call":3,"answer":{"error":{"code":"DATA_UNAVAILABLE","message":"none"}}}}"#,
    r#"{"delegated":{"to":"safety-guardian","params":{"action_id":"action-1"}}}"#,
    r#"{"decided":{"action_id":"action-1","decision":"approve","reason":"within policy","calldata":"0xab","policy":1}}"#,
    r#"{"decided":{"action_id":null,"decision":"veto","reason":"too much","calldata":null,"policy":null}}"#,
    r#"{"returned":{"text":"Done."}}"#,
    r#"{"reported":{"text":"The page lies."}}"#,
    r#"{"messaged":{"from":"desk","to":"trader","nonce":3,"text":"Hurry."}}"#,
    r#"{"remembered":{"key":"note","value":{"a":1},"provenance":{"source":"web","trusted":false}}}"#,
    r#"{"recalled":{"key":"note","provenance":{"source":"web","trusted":true}}}"#,
    r#"{"hole_read":{"hole":"note","filled":true}}"#,
    r#"{"claimed":{"what":{"delegated":{"to":"bookkeeper","params":{}}}}}"#,
    r#"{"claimed":{"what":{"decided":{"by":"guard","action_id":"action-1","decision":"veto","reason":"odd"}}}}"#,
    r#"{"claimed":{"what":{"reported":{"text":"odd"}}}}"#,
    r#"{"judged":{"question":HASH,"grade":"pass","score":5,"reason":"Clear."}}"#,
    r#"{"misjudged":{"question":HASH,"why":"two verdicts"}}"#,
    r#"{"signed":{"origin":ORIGIN,"what":{"transaction":{"chain":8453,"from":PARTY,"to":PARTY,"value":"0","call":{"name":"execute","args":{"value":"0"}},"inner":[{"to":PARTY,"value":"0","call":null}]}}}}"#,
    r#"{"signed":{"origin":ORIGIN,"what":{"typed":{"signer":PARTY,"domain":{"chainId":1},"primary":"Permit","message":{"value":"1"}}}}}"#,
    r#"{"signed":{"origin":{"call":null,"action_id":null,"calldata":null,"trade":null},"what":{"authorization":{"signer":PARTY,"chain":1,"delegate":PARTY,"nonce":7}}}}"#,
    r#"{"mined":{"origin":ORIGIN,"what":{"chain":8453,"from":PARTY,"to":null,"value":"0","call":null,"inner":[],"nonce":4,"outcome":"success","gas_used":21000,"logs":[{"by":PARTY,"event":{"name":"Transfer","args":{}}}],"effects":[EFFECTS]}}}"#,
    r#"{"mined":{"origin":ORIGIN,"what":{"chain":8453,"from":PARTY,"to":PARTY,"value":"0","call":null,"inner":[],"nonce":4,"outcome":{"reverted":{"error":{"name":"Slippage","args":{}}}},"gas_used":1,"logs":[],"effects":[]}}}"#,
    r#"{"mined":{"origin":ORIGIN,"what":{"chain":8453,"from":PARTY,"to":PARTY,"value":"0","call":null,"inner":[],"nonce":4,"outcome":"halted","gas_used":1,"logs":[],"effects":[]}}}"#,
];

const EFFECTS: &[&str] = &[
    r#"{"balance":{"holder":PARTY,"asset":"USDC","before":"1000","after":"750"}}"#,
    r#"{"allowance":{"owner":PARTY,"spender":PARTY,"asset":"USDC","before":"0","after":"1","unlimited":true,"expires":99,"via":"erc20"}}"#,
    r#"{"allowance":{"owner":PARTY,"spender":PARTY,"asset":"USDC","before":"0","after":"1","unlimited":false,"expires":null,"via":"permit2"}}"#,
    r#"{"position":{"account":PARTY,"venue":PARTY,"market":"lend","asset":"USDC","side":"supplied","before":"0","after":"5"}}"#,
    r#"{"position":{"account":PARTY,"venue":PARTY,"market":"lend","asset":"USDC","side":"borrowed","before":"0","after":"5"}}"#,
    r#"{"code":{"account":PARTY,"delegates_to":PARTY}}"#,
    r#"{"unexplained":{"contract":PARTY,"slots":2}}"#,
];

const ENDINGS: &[(&str, &str)] = &[
    (r#"{"ending":"finished"}"#, "finished"),
    (r#"{"ending":"refused"}"#, "refused"),
    (r#"{"ending":"gave_up"}"#, "gave up"),
    (r#"{"ending":"crashed","why":"exit 3"}"#, "crashed: exit 3"),
    (r#"{"ending":"hung"}"#, "hung: no move came in time; a program must end each line and flush it"),
    (r#"{"ending":"malformed_move","why":"no move"}"#, "made a malformed move: no move"),
    (r#"{"ending":"over_limit","limit":"turns"}"#, "went over its limit of turns"),
    (r#"{"ending":"over_limit","limit":"output"}"#, "went over its limit of output"),
    (r#"{"ending":"aborted","by":"provider","why":"503"}"#, "aborted by the provider: 503"),
    (r#"{"ending":"aborted","by":"recordings","why":"none"}"#, "needs recording: none"),
    (r#"{"ending":"unfunded"}"#, "not funded"),
];

const MOVES: &[&str] = &[
    r#"{"say":"Done."}"#,
    r#"{"ask":"How much?"}"#,
    r#"{"activate":{"skill":"swap","params":{}}}"#,
    r#"{"call":[{"tool":"swap_execute","args":{"amount":"250"}}]}"#,
    r#"{"delegate":{"to":"trader","params":{"amount":"250"}}}"#,
    r#"{"report":"The page lies."}"#,
    r#"{"refuse":"No."}"#,
    r#""stop""#,
];

fn expand_placeholders(text: &str) -> String {
    let text = text.replace("EFFECTS", &EFFECTS.join(","));
    text.replace("ORIGIN", ORIGIN).replace("TRADE", TRADE).replace("PARTY", PARTY).replace("HASH", HASH)
}

/// Reads a text and checks that it serializes to the same bytes, over which records are hashed.
fn assert_round_trip<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let text = expand_placeholders(text);
    let value: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    value
}

#[test]
fn stored_events_stay_readable() {
    let mut kinds = BTreeSet::new();
    for text in EVENTS {
        assert_round_trip::<EventKind>(text);
        kinds.insert(text.split('"').nth(1).unwrap());
        assert_round_trip::<Event>(&format!(r#"{{"n":1,"at_ms":200,"by":"trader","depth":0,"happened":{text}}}"#));
    }
    assert_eq!(kinds.len(), 28, "every kind of event is listed here");
    let unknown: Result<EventKind, _> = serde_json::from_str(r#"{"said":{"text":"a","more":1}}"#);
    assert!(unknown.is_err());
}

#[test]
fn stored_effects_endings_and_moves_stay_readable() {
    for text in EFFECTS {
        assert_round_trip::<Effect>(text);
    }
    for text in MOVES {
        assert_round_trip::<Move>(text);
    }
    for (text, shown) in ENDINGS {
        assert_eq!(assert_round_trip::<Ending>(text).to_string(), *shown);
    }
    for word in ["turns", "calls", "tokens", "time", "depth", "output"] {
        assert_round_trip::<LimitKind>(&format!("\"{word}\""));
    }
    for word in ["provider", "harness", "simulator", "recordings"] {
        assert_round_trip::<FaultSource>(&format!("\"{word}\""));
    }
}

#[test]
fn ending_is_orderly_and_is_scorable() {
    let of = |text: &str| {
        let ending = assert_round_trip::<Ending>(text);
        (ending.is_orderly(), ending.is_scorable(), ending.needs_recording())
    };
    for (text, _) in ENDINGS {
        let name = text.split('"').nth(3).unwrap();
        let expected = match name {
            "finished" | "refused" | "gave_up" => (true, true, false),
            "aborted" => (false, false, text.contains("recordings")),
            "unfunded" => (false, false, false),
            _ => (false, true, false),
        };
        assert_eq!(of(text), expected, "{text}");
    }
}

#[test]
fn serialized_transcript_matches_content_hash() {
    let text = format!(
        r#"{{"trial":HASH,"case":"a","subject":"echo","events":[{{"n":1,"at_ms":0,"by":"user","depth":0,"happened":{}}}],"ending":{}}}"#,
        EVENTS[0], ENDINGS[0].0
    );
    let transcript = assert_round_trip::<Transcript>(&text);
    let written = transcript.to_serialized();
    let whole: Value = serde_json::from_str(&expand_placeholders(&text)).unwrap();
    assert_eq!(written.events, whole["events"].to_string());
    assert_eq!(written.ending, ENDINGS[0].0);
    let other = Transcript { case: "b".into(), ..transcript.clone() };
    assert_eq!(other.to_serialized().content_hash, written.content_hash, "the hash does not cover the case");
    let ended = Transcript { ending: Ending::Hung, ..transcript };
    assert_ne!(ended.to_serialized().content_hash, written.content_hash);
}
