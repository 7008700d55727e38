//! Ends of signed rights: the last moment at which the holder of a typed signature can use it.

use serde_json::{Map, Value};

/// Fields that end messages of unknown types, by precedence.
const ENDS: [&str; 8] = ["deadline", "sigDeadline", "expiry", "expiration", "validBefore", "validTo", "endTime", "expires"];

/// Returns the last moment at which a right can be used, in Unix seconds; `None` if it never ends. Contracts read the fields of their own
/// type only, so a field of another type ends nothing.
pub(super) fn right_end(primary: &str, message: &Map<String, Value>) -> Option<u64> {
    let field = |name: &str| message.get(name).and_then(seconds);
    match primary {
        "PermitSingle" | "PermitBatch" => allowance_end(message),
        "PermitTransferFrom" | "PermitBatchTransferFrom" | "PermitWitnessTransferFrom" | "PermitBatchWitnessTransferFrom" => {
            field("deadline")
        }
        "TransferWithAuthorization" | "ReceiveWithAuthorization" => field("validBefore"),
        "Permit" => permit_end(message),
        _ if message.contains_key("sigDeadline") && message.contains_key("details") => allowance_end(message),
        // As in DAI.
        _ => first_end(message).filter(|end| *end > 0 || !message.contains_key("allowed")),
    }
}

/// Returns the end of a Permit2 allowance: its latest expiration. `sigDeadline` ends only the time to submit the signature, so it counts
/// where the expiration is 0, which means the block of the submission.
fn allowance_end(message: &Map<String, Value>) -> Option<u64> {
    let submission = message.get("sigDeadline").and_then(seconds);
    let expirations = items(message.get("details")?).iter().map(|item| match seconds(item.get("expiration")?)? {
        0 => submission,
        end => Some(end),
    });
    expirations.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// Returns the end of a permit of a token: `deadline` in EIP-2612, `expiry` in DAI, where 0 is no end. One with the fields of both needs
/// both.
fn permit_end(message: &Map<String, Value>) -> Option<u64> {
    let (is_dai, has_value) = (message.contains_key("allowed"), message.contains_key("value"));
    let deadline = || message.get("deadline").and_then(seconds);
    let expiry = || message.get("expiry").and_then(seconds).filter(|end| *end > 0);
    match (is_dai, has_value) {
        (true, false) => expiry(),
        (true, true) => Some(expiry()?.max(deadline()?)),
        (false, _) => deadline(),
    }
}

/// Returns the end of a message of an unknown type: its own, or else the latest of its parts.
fn first_end(message: &Map<String, Value>) -> Option<u64> {
    let own = ENDS.iter().find_map(|key| message.get(*key)).and_then(seconds);
    own.or_else(|| message.values().flat_map(items).filter_map(|item| first_end(item.as_object()?)).max())
}

/// Returns the items of a list, or the value itself.
fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// Unix seconds, decimal or hexadecimal; more than fit are the latest.
fn seconds(value: &Value) -> Option<u64> {
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let text = value.as_str()?;
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    is_number.then(|| u64::from_str_radix(digits, radix).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn end(primary: &str, message: Value) -> Option<u64> {
        right_end(primary, message.as_object().expect("an object"))
    }

    #[test]
    fn allowance_ends_with_its_latest_expiration() {
        let single =
            |expiration: Value| json!({"sigDeadline": "100", "details": {"token": "0xA", "amount": "5", "expiration": expiration}});
        assert_eq!(end("PermitSingle", single(json!("70"))), Some(70));
        assert_eq!(end("PermitSingle", single(json!(281_474_976_710_655_u64))), Some(281_474_976_710_655), "not the deadline to submit it");
        assert_eq!(end("PermitSingle", single(json!("0"))), Some(100), "the block in which it is submitted");
        assert_eq!(end("PermitSingle", json!({"sigDeadline": "100", "details": {"token": "0xA", "amount": "5"}})), None);
        assert_eq!(end("PermitSingle", json!({"sigDeadline": "100"})), None);
        let batch = |ends: &[Value]| {
            let details: Vec<Value> = ends.iter().map(|end| json!({"token": "0xA", "expiration": end})).collect();
            end("PermitBatch", json!({"sigDeadline": "100", "details": details}))
        };
        assert_eq!(batch(&[json!("70"), json!("900"), json!("80")]), Some(900));
        assert_eq!(batch(&[json!("70"), Value::Null]), None, "one of them never ends");
        assert_eq!(batch(&[]), None);
        assert_eq!(end("Allow", single(json!("900"))), Some(900), "the same fields under another name");
    }

    #[test]
    fn field_of_another_type_ends_nothing() {
        for (primary, message, wanted) in [
            ("Permit", json!({"value": "5", "deadline": "9000", "expiry": "70", "sigDeadline": "70"}), Some(9000)),
            ("Permit", json!({"value": "5", "expiry": "70"}), None),
            ("Permit", json!({"allowed": true, "expiry": "9000", "deadline": "70"}), Some(9000)),
            ("Permit", json!({"allowed": true, "expiry": "0", "deadline": "70"}), None),
            ("Permit", json!({"allowed": true, "expiry": "70", "value": "5", "deadline": "9000"}), Some(9000)),
            ("TransferWithAuthorization", json!({"validBefore": "9000", "deadline": "70"}), Some(9000)),
            ("PermitTransferFrom", json!({"deadline": "9000", "details": {"expiration": "70"}}), Some(9000)),
            ("PermitTransferFrom", json!({"expiry": "70"}), None),
            ("Order", json!({"validTo": 70}), Some(70)),
            ("Order", json!({"parts": [{"expiry": "0x46"}, {"expiry": "80"}]}), Some(80)),
            ("Order", json!({"deadline": "99999999999999999999999"}), Some(u64::MAX)),
            ("Order", json!({"deadline": "soon"}), None),
            ("Allow", json!({"allowed": true, "expiry": 0}), None),
        ] {
            assert_eq!(end(primary, message.clone()), wanted, "{primary} {message}");
        }
    }
}
