//! Views that are answered from the live chain, one file per family.

mod allowances;
mod balances;
mod health;
mod identity;
mod limits;
mod network;
mod pools;
mod portfolio;
mod positions;
mod prices;
mod shared;
#[cfg(test)]
mod tests;
mod transactions;
mod vaults;

use super::account::AccountState;
use super::args::ToolArgs;
use super::tool_error::ToolError;
use super::tx_builder::TxBuilder;
use model::LiveView;
use model::transcript::ToolErrorCode;
use serde_json::{Map, Value, json};

pub(crate) async fn view(
    builder: &mut TxBuilder<'_>,
    which: LiveView,
    args: &ToolArgs<'_>,
    account: &AccountState,
) -> Result<Value, ToolError> {
    let answer = match which {
        LiveView::Price => prices::price(builder, args),
        LiveView::Token => prices::token(builder, args).await,
        LiveView::Balances => balances::balances(builder, args).await,
        LiveView::Portfolio => portfolio::portfolio(builder, args).await,
        LiveView::Allowance => allowances::allowance(builder, args).await,
        LiveView::Allowances => allowances::allowances(builder, args).await,
        LiveView::Pool => pools::pool(builder, args).await,
        LiveView::Position => positions::position(builder, args).await,
        LiveView::Positions => positions::positions(builder, args).await,
        LiveView::Vault => vaults::vault(builder, args).await,
        LiveView::VaultPosition => vaults::position(builder, args).await,
        LiveView::Health => health::health(builder, args).await,
        LiveView::Gas => Ok(network::gas(builder)),
        LiveView::Chains => network::chains(builder).await,
        LiveView::Transaction => transactions::transaction(builder, args, account),
        LiveView::Orders => transactions::orders(builder, args, account),
        LiveView::Agent => identity::agent(builder, args).await,
        LiveView::Limits => Ok(limits::limits(builder, account)),
        LiveView::Memory | LiveView::Files => {
            Err(ToolError::new(ToolErrorCode::Unavailable, "memory and files are not available on chain"))
        }
    }?;
    Ok(with_timestamp(builder, answer))
}

/// Adds the time of the answer as `as_of`.
fn with_timestamp(builder: &TxBuilder<'_>, mut answer: Map<String, Value>) -> Value {
    answer.insert("as_of".into(), json!(builder.unix_s));
    Value::Object(answer)
}
