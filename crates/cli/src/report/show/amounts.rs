//! Base units as a person reads them.

use model::world::Inert;
use model::{Workspace, WorldFile};

/// A vault's shares have three digits more than its asset.
const SHARE_DIGITS: u8 = 3;
/// 2^256 - 1.
const UNLIMITED: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

#[derive(Debug, Clone, Copy)]
pub(super) struct Amounts<'w> {
    pub workspace: &'w Workspace,
    pub world: Option<&'w WorldFile>,
}

impl Amounts<'_> {
    /// The name of a chain, or its id.
    pub(super) fn chain(&self, id: u64) -> String {
        self.workspace.chains.iter().find(|chain| chain.id == id).map_or_else(|| format!("chain {id}"), |chain| chain.name.clone())
    }

    /// `250.5 USDC`; base units where nobody knows the decimals.
    pub(super) fn amount(&self, chain: u64, asset: &str, base: &str) -> String {
        match self.decimals(chain, asset) {
            _ if base == UNLIMITED => format!("unlimited {asset}"),
            Some(decimals) => format!("{} {asset}", human(base, decimals)),
            None => format!("{base} base units of {asset}"),
        }
    }

    /// `1000 → 750 USDC (−250)`.
    pub(super) fn change(&self, chain: u64, asset: &str, before: &str, after: &str) -> String {
        let decimals = self.decimals(chain, asset);
        let plain = |base: &str| match decimals {
            _ if base == UNLIMITED => "unlimited".to_owned(),
            Some(decimals) => human(base, decimals),
            None => base.to_owned(),
        };
        let unit = if decimals.is_some() { asset.to_owned() } else { format!("base units of {asset}") };
        let difference = match (before.parse::<u128>(), after.parse::<u128>()) {
            (Ok(before), Ok(after)) => {
                let sign = if after >= before { "+" } else { "−" };
                format!(" ({sign}{})", plain(&before.abs_diff(after).to_string()))
            }
            // What does not fit is next to unlimited; the difference says nothing.
            (Ok(_) | Err(_), Ok(_) | Err(_)) => String::new(),
        };
        format!("{} → {} {unit}{difference}", plain(before), plain(after))
    }

    fn decimals(&self, chain: u64, asset: &str) -> Option<u8> {
        let registry = self.workspace.chains.iter().find(|one| one.id == chain)?;
        if registry.native.eq_ignore_ascii_case(asset) {
            return Some(18);
        }
        let named = |symbol: &str, address: &str| symbol.eq_ignore_ascii_case(asset) || address.eq_ignore_ascii_case(asset);
        let known = registry.tokens.iter().find(|token| named(&token.symbol, &token.address.text)).map(|token| token.decimals);
        known.or_else(|| {
            let world = self.world?;
            let vault = world.vaults.iter().find(|vault| vault.chain == chain && vault.symbol.eq_ignore_ascii_case(asset));
            let stray = world.tokens.iter().find(|token| {
                let symbol = if let Inert::Text(symbol) = &token.symbol { symbol } else { "" };
                token.chain == chain && named(symbol, &token.address.text)
            });
            let shares = vault.and_then(|vault| self.decimals(chain, &vault.asset)).map(|decimals| decimals + SHARE_DIGITS);
            shares.or(stray.map(|token| token.decimals))
        })
    }
}

/// Decimal text with the point where the decimals say, without zeros at its end.
fn human(base: &str, decimals: u8) -> String {
    if base.is_empty() || !base.bytes().all(|byte| byte.is_ascii_digit()) {
        return base.to_owned();
    }
    let digits = format!("{base:0>width$}", width = usize::from(decimals) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(decimals));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}
