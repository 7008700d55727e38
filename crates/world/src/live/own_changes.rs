//! Effects of a transaction on the user's own holdings, as shown in tool answers.

use model::transcript::Effect;
use serde_json::{Value, json};

pub(super) fn own_changes(effects: &[Effect]) -> Vec<Value> {
    effects.iter().filter_map(own_change).collect()
}

fn own_change(effect: &Effect) -> Option<Value> {
    match effect {
        Effect::Balance { holder, asset, before, after } if holder.own && asset != "ETH" || holder.name.as_deref() == Some("account") => {
            Some(json!({ "balance": asset, "before": before, "after": after }))
        }
        Effect::Allowance { owner, spender, asset, after, unlimited, .. } if owner.own => {
            Some(json!({ "allowance": asset, "spender": spender.address, "after": after, "unlimited": unlimited }))
        }
        Effect::Position { account, market, asset, side, before, after, .. } if account.own => {
            Some(json!({ "position": asset, "market": market, "side": side, "before": before, "after": after }))
        }
        Effect::Balance { .. } | Effect::Allowance { .. } | Effect::Position { .. } | Effect::Code { .. } | Effect::Unexplained { .. } => {
            None
        }
    }
}
