//! Formats base units as token amounts.

use model::{UNLIMITED_AMOUNT, Workspace, WorldFile, format_units};

#[derive(Debug, Clone, Copy)]
pub struct AmountFormatter<'w> {
    pub workspace: &'w Workspace,
    pub world: Option<&'w WorldFile>,
}

impl AmountFormatter<'_> {
    /// Returns the name of a chain, or its id.
    pub fn chain(&self, id: u64) -> String {
        self.workspace.chains.iter().find(|chain| chain.id == id).map_or_else(|| format!("chain {id}"), |chain| chain.name.clone())
    }

    /// Formats an amount: `250.5 USDC`, or base units if the decimals are unknown.
    pub fn amount(&self, chain: u64, asset: &str, base: &str) -> String {
        match self.decimals(chain, asset) {
            _ if base == UNLIMITED_AMOUNT => format!("unlimited {asset}"),
            Some(decimals) => format!("{} {asset}", format_units(base, decimals)),
            None => format!("{base} base units of {asset}"),
        }
    }

    /// Formats a change: `1000 → 750 USDC (−250)`.
    pub fn change(&self, chain: u64, asset: &str, before: &str, after: &str) -> String {
        let decimals = self.decimals(chain, asset);
        let plain = |base: &str| match decimals {
            _ if base == UNLIMITED_AMOUNT => "unlimited".to_owned(),
            Some(decimals) => format_units(base, decimals),
            None => base.to_owned(),
        };
        let unit = if decimals.is_some() { asset.to_owned() } else { format!("base units of {asset}") };
        let difference = match (before.parse::<u128>(), after.parse::<u128>()) {
            (Ok(before), Ok(after)) => {
                let sign = if after >= before { "+" } else { "−" };
                format!(" ({sign}{})", plain(&before.abs_diff(after).to_string()))
            }
            // Amounts beyond u128 are practically unlimited; their difference is meaningless.
            (Ok(_) | Err(_), Ok(_) | Err(_)) => String::new(),
        };
        format!("{} → {} {unit}{difference}", plain(before), plain(after))
    }

    fn decimals(&self, chain: u64, asset: &str) -> Option<u8> {
        self.workspace.decimals(self.world, chain, asset)
    }
}
