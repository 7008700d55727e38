//! `action_match` of tau2-bench: some call of the run has the name and the compared arguments of an expected action.

use crate::python_equality::python_equal_maps;
use crate::recording::ExpectedAction;
use model::{EventKind, Transcript};
use serde_json::{Map, Value};

/// Returns whether some call of the run, by the agent or by the user, matches the action.
pub fn action_match(action: &ExpectedAction, transcript: &Transcript) -> bool {
    calls(transcript).any(|(tool, args)| matches_call(action, tool, args))
}

pub(crate) fn calls(transcript: &Transcript) -> impl Iterator<Item = (&str, &Value)> {
    transcript
        .events
        .iter()
        .filter_map(|event| if let EventKind::Called { tool, args, .. } = &event.happened { Some((tool.as_str(), args)) } else { None })
}

/// Compares the arguments in `compare_args`, or those that the call has: a missing argument then matches, an extra one does not.
fn matches_call(action: &ExpectedAction, tool: &str, args: &Value) -> bool {
    if action.name != tool {
        return false;
    }
    // Arguments that are not an object could not be sent.
    let Some(args) = args.as_object() else { return false };
    let compared = |key: &String| match &action.compare_args {
        Some(keys) => keys.contains(key),
        None => args.contains_key(key),
    };
    let select = |from: &Map<String, Value>| -> Map<String, Value> {
        from.iter().filter(|(key, _)| compared(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    python_equal_maps(&select(args), &select(&action.arguments))
}

#[cfg(test)]
mod tests {
    use super::matches_call;
    use crate::recording::ExpectedAction;
    use serde_json::{Value, json};

    fn action(arguments: Value, compare: Option<&[&str]>) -> ExpectedAction {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let compare_args = compare.map(|keys| keys.iter().map(|key| (*key).to_owned()).collect());
        ExpectedAction { name: "refund".into(), arguments, compare_args, partial: false }
    }

    #[test]
    fn action_match_compares_the_keys_of_the_call() {
        let expected = json!({"order": "A1", "amount": 10});
        for (made, compare, matched) in [
            (json!({"order": "A1", "amount": 10.0}), None, true),
            (json!({"order": "A1"}), None, true),
            (json!({}), None, true),
            (json!({"order": "A1", "amount": 10, "note": "x"}), None, false),
            (json!({"order": "A2", "amount": 10}), None, false),
            (json!({"order": "A2", "amount": 10}), Some(&["amount"][..]), true),
            (json!({"order": "A1", "amount": 10, "note": "x"}), Some(&["order"][..]), true),
            (json!({"amount": 10}), Some(&["order"][..]), false),
            (json!({"order": "A9"}), Some(&[][..]), true),
            (json!("broken"), None, false),
        ] {
            assert_eq!(matches_call(&action(expected.clone(), compare), "refund", &made), matched, "{made} {compare:?}");
        }
        assert!(!matches_call(&action(expected, None), "return", &json!({})));
    }
}
