//! Formats of logs, one file each: functions from an item to a recording.

pub(crate) mod agentdojo;
pub(crate) mod anthropic;
pub(crate) mod inspect;
pub(crate) mod jsonl;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
pub(crate) mod otlp;
mod otlp_attributes;
mod otlp_calls;
pub(crate) mod otlp_exported;
pub(crate) mod otlp_facts;
mod otlp_messages;
mod otlp_pairing;
pub(crate) mod otlp_span;
pub(crate) mod otlp_trace;
mod same_values;
pub(crate) mod tau2;
pub(crate) mod tau_bench;
pub(crate) mod transaction_refs;

use crate::builder::RecordingIdentity;
use crate::content::name_of;
use crate::problem::LogPlace;
use model::Ending;
use serde_json::Value;

/// Reason why an item is not a recording.
pub(crate) type ItemError = String;

/// Returns the names that items of most formats have: an id, a model, a trial.
fn identity_of(item: &Value, at: &LogPlace, ending: Ending) -> RecordingIdentity {
    let trial = ["trial", "epoch"].iter().find_map(|key| item.get(*key)).and_then(Value::as_u64);
    RecordingIdentity {
        case: name_of(item, &["case", "case_id", "task_id", "custom_id", "id"]).unwrap_or_else(|| place_name(at)),
        subject: name_of(item, &["subject", "model"]).unwrap_or_else(|| "unknown".to_owned()),
        trial,
        ending,
    }
}

/// Returns a name for an item without one: its file without folders, and its number.
fn place_name(at: &LogPlace) -> String {
    let file = at.file.rsplit(['/', '\\']).next().unwrap_or(&at.file);
    format!("{file}#{}", at.item.max(1))
}
