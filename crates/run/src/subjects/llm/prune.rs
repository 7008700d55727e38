//! The tools nearest to what was said, by the retrieval of the baseline, for models that take only so many.

use baseline::rank;
use model::Listing;
use std::collections::BTreeSet;

/// At most so many, in the order of the list. Those in `keep` come first, however little they fit.
pub(super) fn prune(tools: &[Listing], query: &str, most: usize, keep: &BTreeSet<String>) -> Vec<Listing> {
    if tools.len() <= most {
        return tools.to_vec();
    }
    let mut order = rank(tools, query);
    // A stable sort: among those to keep, and among the others, the nearest stay first.
    order.sort_by_key(|n| !keep.contains(&tools[*n].name));
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|n| tools[n].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tools() -> Vec<Listing> {
        let tool =
            |name: &str, description: &str| Listing { name: name.into(), description: description.into(), input_schema: json!({}).into() };
        vec![
            tool("wallet_get_balance", "Balance of a token in the wallet."),
            tool("uniswap_get_quote", "Price of a swap between two tokens."),
            tool("uniswap_execute_swap", "Swap one token for another."),
            tool("vault_deposit", "Deposit into a vault."),
            tool("bridge_transfer", "Move tokens to another chain."),
        ]
    }

    fn names(pruned: &[Listing]) -> Vec<&str> {
        pruned.iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn the_nearest_are_kept_in_their_order() {
        assert_eq!(names(&prune(&tools(), "swap 250 USDC for ether", 2, &BTreeSet::new())), ["uniswap_get_quote", "uniswap_execute_swap"]);
        assert_eq!(names(&prune(&tools(), "put it into the vaults", 1, &BTreeSet::new())), ["vault_deposit"]);
    }

    #[test]
    fn what_was_used_stays_and_a_short_list_is_left_alone() {
        let used = BTreeSet::from(["bridge_transfer".to_owned()]);
        assert_eq!(names(&prune(&tools(), "deposit into the vault", 2, &used)), ["vault_deposit", "bridge_transfer"]);
        assert_eq!(prune(&tools(), "", 5, &BTreeSet::new()).len(), 5);
        assert_eq!(prune(&tools(), "nothing of this", 3, &BTreeSet::new()).len(), 3);
    }
}
