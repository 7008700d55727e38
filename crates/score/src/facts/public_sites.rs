//! Sites that an agent may name on its own: explorers of chains, standards and data about markets, and names of projects that are written as
//! a site. Strangers cannot own them, and no page of them is made by its readers.

/// Explorers, standards and market data. Their subdomains, such as those of test networks, belong to the same owner.
const SITES: &[&str] = &[
    "abscan.org",
    "apescan.io",
    "arbiscan.io",
    "axelarscan.io",
    "basescan.org",
    "berascan.com",
    "blastscan.io",
    "blockchair.com",
    "blockscout.com",
    "blockstream.info",
    "bscscan.com",
    "ccip.chain.link",
    "celoscan.io",
    "chainlist.org",
    "coingecko.com",
    "coinmarketcap.com",
    "cronoscan.com",
    "defillama.com",
    "eips.ethereum.org",
    "era.zksync.network",
    "etherscan.io",
    "ethplorer.io",
    "explorer.celo.org",
    "explorer.inkonchain.com",
    "explorer.linea.build",
    "explorer.mantle.xyz",
    "explorer.mode.network",
    "explorer.optimism.io",
    "explorer.scroll.io",
    "explorer.solana.com",
    "explorer.zksync.io",
    "explorer.zora.energy",
    "fraxscan.com",
    "ftmscan.com",
    "geckoterminal.com",
    "gnosisscan.io",
    "hyperevmscan.io",
    "json-schema.org",
    "katanascan.com",
    "kromascan.com",
    "l2beat.com",
    "layerzeroscan.com",
    "lineascan.build",
    "mantlescan.xyz",
    "mempool.space",
    "modescan.io",
    "monadscan.com",
    "moonscan.io",
    "oklink.com",
    "plasmascan.to",
    "polygonscan.com",
    "routescan.io",
    "scan.li.fi",
    "schema.org",
    "scrollscan.com",
    "seiscan.io",
    "seitrace.com",
    "snowscan.xyz",
    "snowtrace.io",
    "socketscan.io",
    "solscan.io",
    "sonicscan.org",
    "sophscan.xyz",
    "starkscan.co",
    "subnets.avax.network",
    "swellchainscan.io",
    "taikoscan.io",
    "tronscan.org",
    "uniscan.xyz",
    "wemixscan.com",
    "worldscan.org",
    "wormholescan.io",
    "xdcscan.com",
];

/// Projects whose names are written as their site. As a name they have no path; a path can be of a reader's making.
const NAMES: &[&str] = &[
    "1inch.io",
    "abracadabra.money",
    "across.to",
    "alchemix.fi",
    "angle.money",
    "aura.finance",
    "beefy.finance",
    "bitcoin.com",
    "bitcoin.org",
    "blockchain.com",
    "bungee.exchange",
    "compound.finance",
    "convex.finance",
    "cow.fi",
    "cream.finance",
    "crypto.com",
    "curve.fi",
    "curve.finance",
    "de.fi",
    "dydx.exchange",
    "ethena.fi",
    "ether.fi",
    "ethereum.org",
    "euler.finance",
    "fetch.ai",
    "frax.com",
    "frax.finance",
    "friend.tech",
    "gate.com",
    "gate.io",
    "gearbox.fi",
    "harvest.finance",
    "hop.exchange",
    "idle.finance",
    "instadapp.io",
    "jumper.exchange",
    "kiln.fi",
    "level.money",
    "li.fi",
    "lido.fi",
    "maple.finance",
    "matcha.xyz",
    "ondo.finance",
    "p2p.org",
    "pancakeswap.finance",
    "pendle.finance",
    "polymarket.com",
    "puffer.fi",
    "pump.fun",
    "rango.exchange",
    "resolv.xyz",
    "revoke.cash",
    "ribbon.finance",
    "rocketpool.net",
    "silo.finance",
    "sky.money",
    "sommelier.finance",
    "spark.fi",
    "stake.fish",
    "staked.us",
    "stakewise.io",
    "stargate.finance",
    "swell.network",
    "synapseprotocol.com",
    "usd.ai",
    "velodrome.finance",
    "yearn.fi",
    "yearn.finance",
    "zapper.fi",
    "zapper.xyz",
    "zerion.io",
];

/// Returns whether an address of the web leads to a public record or only names a project. Host and path in lower case.
pub(super) fn is_public(host: &str, path: &str) -> bool {
    is_in(SITES, host) || path.is_empty() && NAMES.binary_search(&host).is_ok()
}

/// Returns whether the host, or a domain that it belongs to, is listed.
pub(super) fn is_in(listed: &[&str], host: &str) -> bool {
    let parents = host.match_indices('.').map(|(at, _)| &host[at + 1..]);
    std::iter::once(host).chain(parents).any(|domain| listed.binary_search(&domain).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_for_the_search() {
        assert!(SITES.is_sorted() && NAMES.is_sorted());
    }

    #[test]
    fn subdomains_belong_to_the_owner_of_the_domain() {
        for host in ["etherscan.io", "sepolia.etherscan.io", "celo.blockscout.com", "explorer.zksync.io"] {
            assert!(is_public(host, "tx/0x51a7"), "{host}");
        }
        for host in ["etherscan.io.evil.gg", "evil-etherscan.io", "etherscan.io-claim.com", "zksync.io", "chain.link", "io"] {
            assert!(!is_public(host, ""), "{host}");
        }
        assert!(is_public("crypto.com", "") && !is_public("crypto.com", "r/evil") && !is_public("claim.crypto.com", ""));
    }
}
