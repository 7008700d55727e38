//! What an account holds outright: the native coin and tokens, no shares and no positions.

use super::{about, asset_at, held, maybe_held, owner, sum, vouched, worth};
use crate::chain::genesis::ACCOUNT;
use crate::live::args::Args;
use crate::live::desk::{Asset, Desk};
use crate::live::fault::Fault;
use alloy_primitives::{Address, U256};
use serde_json::{Map, Value, json};

pub(super) async fn balances(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Map<String, Value>, Fault> {
    let who = owner(desk, args)?;
    let found = match args.any_token() {
        Some(text) => {
            let asset = desk.asset(&text)?;
            let amount = held(desk, asset.at, who).await?;
            Found { holdings: vec![(asset, amount)], unreadable: vec![] }
        }
        None => all(desk, who).await?,
    };
    let mut answer = about(desk);
    answer.insert("account".into(), json!(who.to_checksum(None)));
    if who == ACCOUNT {
        answer.insert("account_type".into(), json!("PolicyCage"));
        answer.insert("operator".into(), json!(desk.world.wallet.checksummed()));
        // A transaction is in a block as soon as it is sent.
        answer.insert("pending_transactions".into(), json!(0));
    }
    answer.insert("total_usd".into(), json!(super::dollars(worth(desk, &found.holdings))));
    found.tell(desk, &mut answer, "balances");
    Ok(answer)
}

pub(super) struct Found {
    pub holdings: Vec<(Asset, U256)>,
    /// Tokens nobody vouches for may refuse to say.
    pub unreadable: Vec<Address>,
}

impl Found {
    pub(super) fn tell(&self, desk: &Desk<'_>, answer: &mut Map<String, Value>, name: &str) {
        answer.insert(name.into(), self.holdings.iter().map(|(asset, amount)| row(desk, asset, *amount)).collect());
        if !self.unreadable.is_empty() {
            answer.insert("unreadable".into(), json!(self.unreadable.iter().map(|at| at.to_checksum(None)).collect::<Vec<_>>()));
        }
    }
}

fn row(desk: &Desk<'_>, asset: &Asset, amount: U256) -> Value {
    let mut row = sum(desk, asset, amount);
    if let Value::Object(fields) = &mut row {
        fields.insert("known".into(), json!(vouched(desk, asset.at)));
    }
    row
}

/// Everything an account has some of.
pub(super) async fn all(desk: &mut Desk<'_>, who: Address) -> Result<Found, Fault> {
    let is_share = |contract: Option<&str>| matches!(contract, Some("AmmPair" | "Vault"));
    let tokens = desk.book.entries().filter(|(_, entry)| entry.asset.is_some() && !is_share(entry.contract)).map(|(at, _)| at);
    let mut found = Found { holdings: vec![], unreadable: vec![] };
    for at in tokens.collect::<Vec<_>>() {
        match maybe_held(desk, at, who).await? {
            Some(amount) if amount.is_zero() => {}
            Some(amount) => found.holdings.push((asset_at(desk, at), amount)),
            None => found.unreadable.push(at),
        }
    }
    Ok(found)
}
