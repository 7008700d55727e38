//! Reads that the live chain answers. One family of views, one file.

mod allowances;
mod balances;
mod health;
mod identity;
mod ledger;
mod limits;
mod network;
mod pools;
mod portfolio;
mod positions;
mod prices;
mod shared;
#[cfg(test)]
mod tests;
mod vaults;

use super::account::AccountState;
use super::args::Args;
use super::tool_error::ToolError;
use super::tx_builder::TxBuilder;
use model::View;
use model::transcript::ToolErrorCode;
use serde_json::{Map, Value, json};

pub(crate) async fn view(builder: &mut TxBuilder<'_>, which: View, args: &Args<'_>, account: &AccountState) -> Result<Value, ToolError> {
    let answer = match which {
        View::Price => prices::price(builder, args),
        View::Token => prices::token(builder, args).await,
        View::Balances => balances::balances(builder, args).await,
        View::Portfolio => portfolio::portfolio(builder, args).await,
        View::Allowance => allowances::allowance(builder, args).await,
        View::Allowances => allowances::allowances(builder, args).await,
        View::Pool => pools::pool(builder, args).await,
        View::Position => positions::position(builder, args).await,
        View::Positions => positions::positions(builder, args).await,
        View::Vault => vaults::vault(builder, args).await,
        View::VaultPosition => vaults::position(builder, args).await,
        View::Health => health::health(builder, args).await,
        View::Gas => Ok(network::gas(builder)),
        View::Chains => network::chains(builder).await,
        View::Transaction => ledger::transaction(builder, args, account),
        View::Orders => ledger::orders(builder, args, account),
        View::Agent => identity::agent(builder, args).await,
        View::Limits => Ok(limits::limits(builder, account)),
        View::Memory | View::Files => Err(ToolError::new(ToolErrorCode::Unavailable, "the chain keeps neither memories nor files")),
    }?;
    Ok(stamped(builder, answer))
}

/// Every answer says when it was true.
fn stamped(builder: &TxBuilder<'_>, mut answer: Map<String, Value>) -> Value {
    answer.insert("as_of".into(), json!(builder.unix_s));
    Value::Object(answer)
}
