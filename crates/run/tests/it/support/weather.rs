//! Bad weather at a vendor: three of ten requests go wrong, in every way there is on a wire, the same ones in every run.

#![allow(dead_code, unreachable_pub, reason = "every user needs another part of it, and has it inside")]

use super::loopback::{Answer, Body};
use model::Hash;
use std::time::Duration;

/// How many ways there are.
pub const KINDS: usize = 12;

/// Which way the request of this number goes wrong, if it does: scattered by a hash of the number.
pub fn goes_wrong(n: usize) -> Option<usize> {
    let dice = usize::from_str_radix(&Hash::of_text(&format!("storm {n}")).as_str()[..12], 16).unwrap_or_default();
    if dice % 10 >= 3 {
        return None;
    }
    // Waiting for nothing is rare, because every time costs the whole limit.
    Some(if dice / 10 % 45 == 44 { KINDS - 1 } else { dice / 10 % (KINDS - 1) })
}

pub fn fault(kind: usize) -> Answer {
    let error = r#"{"error":{"message":"a bad day"}}"#;
    match kind {
        0 => Answer::status(429, error).with("retry-after-ms", "5"),
        1 => Answer::status(429, error),
        2 => Answer::status(429, error).with("retry-after", "0"),
        3 => Answer::status(500, "<html>"),
        4 => Answer::status(529, error),
        5 => Answer::bad(Body::Cut(b"{\"choices\": [".to_vec())),
        6 => Answer::ok("{\"choices\": nonsense"),
        7 => Answer::bad(Body::Reset),
        8 => Answer::ok(vec![b' '; 9 << 20]),
        9 => Answer::status(302, "").with("location", "http://127.0.0.1:1/"),
        10 => Answer::status(400, error),
        _ => Answer::ok("{}").after(Duration::from_secs(60)),
    }
}
