//! Hostile input: valid texts with random edits, values of other types, and random bytes.

use model::SeededRng;
use serde_json::{Value, json};

/// Pieces that are put into a text: brackets, quotes, numbers at the edge, and values of another type than expected.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "\\",
    "\\u0000",
    "null",
    "true",
    "1e999",
    "-1",
    "18446744073709551616",
    "{}",
    "[]",
    "[[[[[[",
    "\n",
    "\0",
    "\u{feff}",
    "\"\":",
    "PK\x03\x04",
    "PK\x05\x06",
    "0xffffffff",
];

fn mutate(rng: &mut SeededRng, bytes: &mut Vec<u8>) {
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len() + 1);
        match rng.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, rng.pick(PIECES).unwrap_or(&"").bytes())),
            2 => {
                let end = (at + rng.below(40)).min(bytes.len());
                bytes.drain(at..end);
            }
            3 => {
                let end = (at + rng.below(200)).min(bytes.len());
                let copy: Vec<u8> = bytes[at..end].to_vec();
                let to = rng.below(bytes.len() + 1);
                drop(bytes.splice(to..to, copy));
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = u8::try_from(rng.below(256)).unwrap_or(0);
                }
            }
        }
    }
}

/// Exchanges values of valid JSON, so that the readers behind the parser are met too.
fn confuse(rng: &mut SeededRng, value: &mut Value) {
    if rng.percent(4) {
        *value =
            [json!(null), json!(1), json!("x"), json!([]), json!({}), json!(true), json!(-1.5), json!([[{}]]), json!({"a": {"b": []}})]
                [rng.below(9)]
            .clone();
        return;
    }
    match value {
        Value::Array(items) => {
            if rng.percent(5) {
                items.reverse();
            }
            items.iter_mut().for_each(|item| confuse(rng, item));
        }
        Value::Object(members) => {
            if rng.percent(5)
                && let Some(key) = members.keys().nth(rng.below(members.len())).cloned()
            {
                members.remove(&key);
            }
            members.values_mut().for_each(|item| confuse(rng, item));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns a mutation of one of the seeds, or random bytes.
pub fn hostile_input(rng: &mut SeededRng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = rng.pick(seeds).cloned().unwrap_or_default();
    match rng.below(10) {
        0 => (0..rng.below(400)).map(|_| u8::try_from(rng.below(256)).unwrap_or(0)).collect(),
        1..=3 => {
            let confused: Vec<String> = serde_json::Deserializer::from_slice(&bytes)
                .into_iter::<Value>()
                .map_while(Result::ok)
                .map(|mut value| {
                    confuse(rng, &mut value);
                    value.to_string()
                })
                .collect();
            confused.join("\n").into_bytes()
        }
        _ => {
            mutate(rng, &mut bytes);
            bytes
        }
    }
}
