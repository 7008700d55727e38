//! Balances of an account: the native coin and tokens, without shares and positions.

use super::shared::{about, asset_at, dollars, held, maybe_held, owner, sum, vouched, worth};
use crate::chain::genesis::ACCOUNT;
use crate::live::args::Args;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{Asset, TxBuilder};
use alloy_primitives::{Address, U256};
use serde_json::{Map, Value, json};

pub(super) async fn balances(builder: &mut TxBuilder<'_>, args: &Args<'_>) -> Result<Map<String, Value>, ToolError> {
    let who = owner(builder, args)?;
    let found = match args.any_token() {
        Some(text) => {
            let asset = builder.asset(&text)?;
            let amount = held(builder, asset.at, who).await?;
            Found { holdings: vec![(asset, amount)], unreadable: vec![] }
        }
        None => all(builder, who).await?,
    };
    let mut answer = about(builder);
    answer.insert("account".into(), json!(who.to_checksum(None)));
    if who == ACCOUNT {
        answer.insert("account_type".into(), json!("PolicyCage"));
        answer.insert("operator".into(), json!(builder.world.wallet.checksummed()));
        // A transaction is in a block as soon as it is sent.
        answer.insert("pending_transactions".into(), json!(0));
    }
    answer.insert("total_usd".into(), json!(dollars(worth(builder, &found.holdings))));
    found.tell(builder, &mut answer, "balances");
    Ok(answer)
}

pub(super) struct Found {
    pub holdings: Vec<(Asset, U256)>,
    /// Unregistered tokens may refuse to answer.
    pub unreadable: Vec<Address>,
}

impl Found {
    pub(super) fn tell(&self, builder: &TxBuilder<'_>, answer: &mut Map<String, Value>, name: &str) {
        answer.insert(name.into(), self.holdings.iter().map(|(asset, amount)| row(builder, asset, *amount)).collect());
        if !self.unreadable.is_empty() {
            answer.insert("unreadable".into(), json!(self.unreadable.iter().map(|at| at.to_checksum(None)).collect::<Vec<_>>()));
        }
    }
}

fn row(builder: &TxBuilder<'_>, asset: &Asset, amount: U256) -> Value {
    let mut row = sum(builder, asset, amount);
    if let Value::Object(fields) = &mut row {
        fields.insert("known".into(), json!(vouched(builder, asset.at)));
    }
    row
}

/// Everything an account has some of.
pub(super) async fn all(builder: &mut TxBuilder<'_>, who: Address) -> Result<Found, ToolError> {
    let is_share = |contract: Option<&str>| matches!(contract, Some("AmmPair" | "Vault"));
    let tokens = builder.book.entries().filter(|(_, entry)| entry.asset.is_some() && !is_share(entry.contract)).map(|(at, _)| at);
    let mut found = Found { holdings: vec![], unreadable: vec![] };
    for at in tokens.collect::<Vec<_>>() {
        match maybe_held(builder, at, who).await? {
            Some(amount) if amount.is_zero() => {}
            Some(amount) => found.holdings.push((asset_at(builder, at), amount)),
            None => found.unreadable.push(at),
        }
    }
    Ok(found)
}
