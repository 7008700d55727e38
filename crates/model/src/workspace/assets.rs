//! Decimals of tokens, native coins and vault shares.

use super::Workspace;
use crate::world::{InjectableText, WorldFile};

/// Decimals of every native coin.
const NATIVE_DECIMALS: u8 = 18;
/// Decimals of vault shares beyond those of the asset.
const EXTRA_SHARE_DECIMALS: u8 = 3;

impl Workspace {
    /// Returns the decimals of an asset on a chain, by symbol or address. Looks in the registry, then in the vaults and unregistered
    /// tokens of the world.
    pub fn decimals(&self, world: Option<&WorldFile>, chain: u64, asset: &str) -> Option<u8> {
        let registry = self.chains.iter().find(|one| one.id == chain)?;
        if registry.native.eq_ignore_ascii_case(asset) {
            return Some(NATIVE_DECIMALS);
        }
        let is_named = |symbol: &str, address: &str| symbol.eq_ignore_ascii_case(asset) || address.eq_ignore_ascii_case(asset);
        let listed = registry.tokens.iter().find(|token| is_named(&token.symbol, &token.address.text)).map(|token| token.decimals);
        listed.or_else(|| {
            let file = world?;
            let vault = file.vaults.iter().find(|vault| vault.chain == chain && vault.symbol.eq_ignore_ascii_case(asset));
            let stray = file.tokens.iter().find(|token| {
                let symbol = if let InjectableText::Text(symbol) = &token.symbol { symbol } else { "" };
                token.chain == chain && is_named(symbol, &token.address.text)
            });
            let shares = vault.and_then(|vault| self.decimals(world, chain, &vault.asset)).map(|decimals| decimals + EXTRA_SHARE_DECIMALS);
            shares.or(stray.map(|token| token.decimals))
        })
    }
}
