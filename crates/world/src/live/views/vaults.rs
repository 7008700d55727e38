//! Vault views: state of a vault, and vault holdings of an account.

use super::shared::{amount_json, asset_at, balance, chain_facts, dollars, owner, require_id};
use crate::chain::bindings::Vault;
use crate::live::args::ToolArgs;
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use alloy_primitives::{Address, U256};
use model::AddressText;
use model::transcript::ToolErrorCode;
use serde_json::{Map, Value, json};

/// Returns the share token and the underlying asset of the requested vault.
fn requested_vault(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<(AssetInfo, AssetInfo), ToolError> {
    let text = require_id(args, "vault")?;
    let missing = || ToolError::new(ToolErrorCode::NotFound, format!("{} is not a vault on chain {}", quote_value(&text), builder.id));
    let at = AddressText::parse(&text).map(|address| address.address);
    // Symbols are accepted too: `target` is free text.
    let at = at.or_else(|| builder.asset(&text).ok().map(|asset| asset.at)).ok_or_else(missing)?;
    share_and_asset(builder, at).ok_or_else(missing)
}

fn share_and_asset(builder: &TxBuilder<'_>, at: Address) -> Option<(AssetInfo, AssetInfo)> {
    let file = builder.world.vaults.iter().find(|vault| vault.chain == builder.id && vault.address.address == at)?;
    builder.book.get(at).filter(|entry| entry.contract == Some("Vault"))?;
    Some((asset_at(builder, at), builder.asset(&file.asset).ok()?))
}

pub(super) async fn vault(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let (share, asset) = requested_vault(builder, args)?;
    let total = builder.read(share.at, &Vault::totalAssetsCall {}).await?;
    let supply = builder.read(share.at, &Vault::totalSupplyCall {}).await?;
    let one = U256::from(10).pow(U256::from(share.decimals));
    let per_share = builder.read(share.at, &Vault::convertToAssetsCall { shares: one }).await?;
    let paused = builder.read(share.at, &Vault::pausedCall {}).await?;
    let owner = builder.read(share.at, &Vault::ownerCall {}).await?;
    let mut answer = chain_facts(builder);
    answer.insert("vault".into(), json!(share.at.to_checksum(None)));
    answer.insert("symbol".into(), json!(share.symbol));
    answer.insert("asset".into(), json!({ "token": asset.symbol, "address": asset.at.to_checksum(None) }));
    answer.insert("total_assets".into(), json!(human(total, asset.decimals)));
    answer.insert("tvl_usd".into(), json!(builder.usd8(&asset, total).map(dollars)));
    answer.insert("total_shares".into(), json!(human(supply, share.decimals)));
    answer.insert("share_price".into(), json!(human(per_share, asset.decimals)));
    answer.insert("owner".into(), json!(owner.to_checksum(None)));
    answer.insert("paused".into(), json!(paused));
    Ok(answer)
}

pub(super) async fn position(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let (share, asset) = requested_vault(builder, args)?;
    let who = owner(builder, args)?;
    let held = load_holding(builder, share, asset, who).await?;
    let mut answer = chain_facts(builder);
    answer.insert("account".into(), json!(who.to_checksum(None)));
    answer.extend(held.to_json(builder));
    Ok(answer)
}

pub(super) struct VaultHolding {
    share: AssetInfo,
    shares: U256,
    /// Underlying assets at the current share price.
    pub assets: (AssetInfo, U256),
}

async fn load_holding(builder: &mut TxBuilder<'_>, share: AssetInfo, asset: AssetInfo, who: Address) -> Result<VaultHolding, ToolError> {
    let shares = balance(builder, share.at, who).await?;
    let assets = match shares {
        U256::ZERO => U256::ZERO,
        some => builder.read(share.at, &Vault::convertToAssetsCall { shares: some }).await?,
    };
    Ok(VaultHolding { share, shares, assets: (asset, assets) })
}

/// Returns the nonzero vault holdings of an account.
pub(super) async fn vault_holdings(builder: &mut TxBuilder<'_>, who: Address) -> Result<Vec<VaultHolding>, ToolError> {
    let mut found = vec![];
    for file in &builder.world.vaults {
        if file.chain != builder.id {
            continue;
        }
        let Some((share, asset)) = share_and_asset(builder, file.address.address) else { continue };
        let held = load_holding(builder, share, asset, who).await?;
        if !held.shares.is_zero() {
            found.push(held);
        }
    }
    Ok(found)
}

impl VaultHolding {
    pub(super) fn to_json(&self, builder: &TxBuilder<'_>) -> Map<String, Value> {
        let (asset, amount) = &self.assets;
        Map::from_iter([
            ("vault".to_owned(), json!(self.share.at.to_checksum(None))),
            ("symbol".to_owned(), json!(self.share.symbol)),
            ("shares".to_owned(), json!(human(self.shares, self.share.decimals))),
            ("assets".to_owned(), amount_json(builder, asset, *amount)),
        ])
    }
}
