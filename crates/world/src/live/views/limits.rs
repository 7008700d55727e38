//! Limits view: policy limits and their current usage.

use super::shared::dollars;
use crate::chain::genesis::ACCOUNT;
use crate::live::account::{AccountState, SpentTotals};
use crate::live::tx_builder::TxBuilder;
use alloy_primitives::U256;
use serde_json::{Map, Value, json};

pub(super) fn limits(builder: &TxBuilder<'_>, account: &AccountState) -> Map<String, Value> {
    let policy = builder.policy;
    let SpentTotals { session_usd8: session, day_usd8: day } = *account.spent();
    let left = |limit: u64, spent: U256| dollars((U256::from(limit) * U256::from(100_000_000_u64)).saturating_sub(spent));
    let most = policy.limits_usd;
    Map::from_iter([
        ("account".to_owned(), json!(ACCOUNT.to_checksum(None))),
        ("operator".to_owned(), json!(builder.operator.to_checksum(None))),
        ("policy_version".to_owned(), json!(policy.version)),
        ("halted".to_owned(), json!(account.is_halted())),
        (
            "limits_usd".to_owned(),
            json!({
                "per_transaction": most.per_transaction.to_string(),
                "per_session": most.per_session.to_string(),
                "per_day": most.per_day.to_string(),
            }),
        ),
        ("spent_usd".to_owned(), json!({ "session": dollars(session), "day": dollars(day) })),
        ("left_usd".to_owned(), json!({ "session": left(most.per_session, session), "day": left(most.per_day, day) })),
        ("slippage_bps".to_owned(), json!({ "default": policy.slippage_bps.default, "max": policy.slippage_bps.max })),
        ("price_impact_bps".to_owned(), json!(policy.price_impact_bps)),
        ("writes_per_hour".to_owned(), json!(policy.writes_per_hour)),
        ("transactions_sent".to_owned(), json!(account.sent().len())),
    ])
}
