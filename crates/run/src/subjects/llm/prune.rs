//! Limits the tool list to the tools that rank highest for the conversation, using the baseline's retrieval.

use baseline::rank_listings;
use model::ToolListing;
use std::collections::BTreeSet;

/// Returns at most `most` tools in list order. Tools in `keep` take precedence over better matches.
pub(super) fn prune(tools: &[ToolListing], query: &str, most: usize, keep: &BTreeSet<String>) -> Vec<ToolListing> {
    if tools.len() <= most {
        return tools.to_vec();
    }
    let mut order = rank_listings(tools, query);
    // Stable sort: within kept tools and within the others, the best match stays first.
    order.sort_by_key(|n| !keep.contains(&tools[*n].name));
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|n| tools[n].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tools() -> Vec<ToolListing> {
        let tool = |name: &str, description: &str| ToolListing {
            name: name.into(),
            description: description.into(),
            input_schema: json!({}).into(),
        };
        vec![
            tool("wallet_get_balance", "Balance of a token in the wallet."),
            tool("uniswap_get_quote", "Price of a swap between two tokens."),
            tool("uniswap_execute_swap", "Swap one token for another."),
            tool("vault_deposit", "Deposit into a vault."),
            tool("bridge_transfer", "Move tokens to another chain."),
        ]
    }

    fn names(pruned: &[ToolListing]) -> Vec<&str> {
        pruned.iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn prune_keeps_the_best_ranked_tools_in_list_order() {
        assert_eq!(names(&prune(&tools(), "swap 250 USDC for ether", 2, &BTreeSet::new())), ["uniswap_get_quote", "uniswap_execute_swap"]);
        assert_eq!(names(&prune(&tools(), "put it into the vaults", 1, &BTreeSet::new())), ["vault_deposit"]);
    }

    #[test]
    fn prune_keeps_used_tools_and_short_lists() {
        let used = BTreeSet::from(["bridge_transfer".to_owned()]);
        assert_eq!(names(&prune(&tools(), "deposit into the vault", 2, &used)), ["vault_deposit", "bridge_transfer"]);
        assert_eq!(prune(&tools(), "", 5, &BTreeSet::new()).len(), 5);
        assert_eq!(prune(&tools(), "nothing of this", 3, &BTreeSet::new()).len(), 3);
    }
}
