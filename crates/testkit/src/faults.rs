//! Faults of a vendor: three of ten requests fail in various ways, the same ones in every run.

use crate::{ReplyBody, VendorReply};
use model::ContentHash;
use std::time::Duration;

/// Number of kinds of fault.
pub const FAULT_KINDS: usize = 12;

/// Returns the kind of fault of a request, if it fails. Faults are distributed by a hash of the request number.
pub fn fault_kind(n: usize) -> Option<usize> {
    let dice = usize::from_str_radix(&ContentHash::of_text(&format!("storm {n}")).as_str()[..12], 16).unwrap_or_default();
    if dice % 10 >= 3 {
        return None;
    }
    // Timeouts are rare, because each takes the whole time limit.
    Some(if dice / 10 % 45 == 44 { FAULT_KINDS - 1 } else { dice / 10 % (FAULT_KINDS - 1) })
}

/// Returns the reply that is this kind of fault.
pub fn fault_reply(kind: usize) -> VendorReply {
    let error = r#"{"error":{"message":"a bad day"}}"#;
    match kind {
        0 => VendorReply::status(429, error).with_header("retry-after-ms", "5"),
        1 => VendorReply::status(429, error),
        2 => VendorReply::status(429, error).with_header("retry-after", "0"),
        3 => VendorReply::status(500, "<html>"),
        4 => VendorReply::status(529, error),
        5 => VendorReply::with_body(ReplyBody::Truncated(b"{\"choices\": [".to_vec())),
        6 => VendorReply::ok("{\"choices\": nonsense"),
        7 => VendorReply::with_body(ReplyBody::Reset),
        8 => VendorReply::ok(vec![b' '; 9 << 20]),
        9 => VendorReply::status(302, "").with_header("location", "http://127.0.0.1:1/"),
        10 => VendorReply::status(400, error),
        _ => VendorReply::ok("{}").after(Duration::from_secs(60)),
    }
}
