//! Vaults: their state, and what an account has in them.

use super::{about, asset_at, dollars, held, need_subject, owner, sum};
use crate::live::args::Args;
use crate::live::desk::{Asset, Desk, human};
use crate::live::fault::{Fault, shown};
use alloy_primitives::{Address, U256};
use alloy_sol_types::sol;
use model::AddressText;
use serde_json::{Map, Value, json};

sol! {
    interface Vault {
        function totalAssets() external view returns (uint256);
        function totalSupply() external view returns (uint256);
        function convertToAssets(uint256 shares) external view returns (uint256);
        function paused() external view returns (bool);
        function owner() external view returns (address);
    }
}

/// A vault's share, and the asset behind it.
fn named(desk: &Desk<'_>, args: &Args<'_>) -> Result<(Asset, Asset), Fault> {
    let text = need_subject(args, "vault")?;
    let missing = || Fault::new("DATA_NOT_FOUND", format!("{} is no vault of chain {}", shown(&text), desk.id));
    let at = AddressText::parse(&text).map(|address| address.address);
    // By its symbol as well: `target` is free text.
    let at = at.or_else(|| desk.asset(&text).ok().map(|asset| asset.at)).ok_or_else(missing)?;
    sides(desk, at).ok_or_else(missing)
}

fn sides(desk: &Desk<'_>, at: Address) -> Option<(Asset, Asset)> {
    let file = desk.world.vaults.iter().find(|vault| vault.chain == desk.id && vault.address.address == at)?;
    desk.book.get(at).filter(|entry| entry.contract == Some("Vault"))?;
    Some((asset_at(desk, at), desk.asset(&file.asset).ok()?))
}

pub(super) async fn vault(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Map<String, Value>, Fault> {
    let (share, asset) = named(desk, args)?;
    let total = desk.read(share.at, &Vault::totalAssetsCall {}).await?;
    let supply = desk.read(share.at, &Vault::totalSupplyCall {}).await?;
    let one = U256::from(10).pow(U256::from(share.decimals));
    let per_share = desk.read(share.at, &Vault::convertToAssetsCall { shares: one }).await?;
    let paused = desk.read(share.at, &Vault::pausedCall {}).await?;
    let owner = desk.read(share.at, &Vault::ownerCall {}).await?;
    let mut answer = about(desk);
    answer.insert("vault".into(), json!(share.at.to_checksum(None)));
    answer.insert("symbol".into(), json!(share.symbol));
    answer.insert("asset".into(), json!({ "token": asset.symbol, "address": asset.at.to_checksum(None) }));
    answer.insert("total_assets".into(), json!(human(total, asset.decimals)));
    answer.insert("tvl_usd".into(), json!(desk.usd8(&asset, total).map(dollars)));
    answer.insert("total_shares".into(), json!(human(supply, share.decimals)));
    answer.insert("share_price".into(), json!(human(per_share, asset.decimals)));
    answer.insert("owner".into(), json!(owner.to_checksum(None)));
    answer.insert("paused".into(), json!(paused));
    Ok(answer)
}

pub(super) async fn position(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Map<String, Value>, Fault> {
    let (share, asset) = named(desk, args)?;
    let who = owner(desk, args)?;
    let held = load(desk, share, asset, who).await?;
    let mut answer = about(desk);
    answer.insert("account".into(), json!(who.to_checksum(None)));
    answer.extend(held.tell(desk));
    Ok(answer)
}

pub(super) struct Held {
    share: Asset,
    shares: U256,
    /// What the shares would fetch.
    pub assets: (Asset, U256),
}

async fn load(desk: &mut Desk<'_>, share: Asset, asset: Asset, who: Address) -> Result<Held, Fault> {
    let shares = held(desk, share.at, who).await?;
    let assets = match shares {
        U256::ZERO => U256::ZERO,
        some => desk.read(share.at, &Vault::convertToAssetsCall { shares: some }).await?,
    };
    Ok(Held { share, shares, assets: (asset, assets) })
}

/// Every vault an account has shares of.
pub(super) async fn all(desk: &mut Desk<'_>, who: Address) -> Result<Vec<Held>, Fault> {
    let mut found = vec![];
    for file in &desk.world.vaults {
        if file.chain != desk.id {
            continue;
        }
        let Some((share, asset)) = sides(desk, file.address.address) else { continue };
        let held = load(desk, share, asset, who).await?;
        if !held.shares.is_zero() {
            found.push(held);
        }
    }
    Ok(found)
}

impl Held {
    pub(super) fn tell(&self, desk: &Desk<'_>) -> Map<String, Value> {
        let (asset, amount) = &self.assets;
        Map::from_iter([
            ("vault".to_owned(), json!(self.share.at.to_checksum(None))),
            ("symbol".to_owned(), json!(self.share.symbol)),
            ("shares".to_owned(), json!(human(self.shares, self.share.decimals))),
            ("assets".to_owned(), sum(desk, asset, *amount)),
        ])
    }
}
