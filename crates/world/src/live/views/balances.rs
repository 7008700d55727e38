//! Balances view: native coin and tokens of an account, without shares and positions.

use super::shared::{amount_json, asset_at, balance, chain_facts, dollars, is_registered, owner, total_usd8, try_balance};
use crate::chain::genesis::ACCOUNT;
use crate::live::args::ToolArgs;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder};
use alloy_primitives::{Address, U256};
use serde_json::{Map, Value, json};

pub(super) async fn balances(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let who = owner(builder, args)?;
    let found = match args.any_token() {
        Some(text) => {
            let asset = builder.asset(&text)?;
            let amount = balance(builder, asset.at, who).await?;
            AccountBalances { holdings: vec![(asset, amount)], unreadable: vec![] }
        }
        None => account_balances(builder, who).await?,
    };
    let mut answer = chain_facts(builder);
    answer.insert("account".into(), json!(who.to_checksum(None)));
    if who == ACCOUNT {
        let own = builder.policy.contract.as_ref().and_then(|own| own.artifact.rsplit('/').next()?.strip_suffix(".json"));
        answer.insert("account_type".into(), json!(own.unwrap_or("PolicyCage")));
        answer.insert("operator".into(), json!(builder.operator.to_checksum(None)));
        // Transactions are mined as soon as they are sent.
        answer.insert("pending_transactions".into(), json!(0));
    }
    answer.insert("total_usd".into(), json!(dollars(total_usd8(builder, &found.holdings))));
    found.insert_into(builder, &mut answer, "balances");
    Ok(answer)
}

pub(super) struct AccountBalances {
    pub holdings: Vec<(AssetInfo, U256)>,
    /// Tokens whose balance could not be read.
    pub unreadable: Vec<Address>,
}

impl AccountBalances {
    pub(super) fn insert_into(&self, builder: &TxBuilder<'_>, answer: &mut Map<String, Value>, name: &str) {
        answer.insert(name.into(), self.holdings.iter().map(|(asset, amount)| row(builder, asset, *amount)).collect());
        if !self.unreadable.is_empty() {
            answer.insert("unreadable".into(), json!(self.unreadable.iter().map(|at| at.to_checksum(None)).collect::<Vec<_>>()));
        }
    }
}

fn row(builder: &TxBuilder<'_>, asset: &AssetInfo, amount: U256) -> Value {
    let mut row = amount_json(builder, asset, amount);
    if let Value::Object(fields) = &mut row {
        fields.insert("known".into(), json!(is_registered(builder, asset.at)));
    }
    row
}

/// Returns all nonzero balances of an account.
pub(super) async fn account_balances(builder: &mut TxBuilder<'_>, who: Address) -> Result<AccountBalances, ToolError> {
    let is_share = |contract: Option<&str>| matches!(contract, Some("AmmPair" | "Vault"));
    let tokens = builder.book.entries().filter(|(_, entry)| entry.asset.is_some() && !is_share(entry.contract)).map(|(at, _)| at);
    let mut found = AccountBalances { holdings: vec![], unreadable: vec![] };
    for at in tokens.collect::<Vec<_>>() {
        match try_balance(builder, at, who).await? {
            Some(amount) if amount.is_zero() => {}
            Some(amount) => found.holdings.push((asset_at(builder, at), amount)),
            None => found.unreadable.push(at),
        }
    }
    Ok(found)
}
