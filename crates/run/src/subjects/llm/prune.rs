//! The tools nearest to what was said, by BM25 over their names and descriptions, for models that take only so many.

use model::Listing;
use std::collections::{BTreeMap, BTreeSet};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// At most so many, in the order of the list. Those in `keep` come first, however little they fit.
pub(super) fn prune(tools: &[Listing], query: &str, most: usize, keep: &BTreeSet<String>) -> Vec<Listing> {
    if tools.len() <= most {
        return tools.to_vec();
    }
    let documents: Vec<Vec<String>> =
        tools.iter().map(|tool| words(&format!("{} {} {}", tool.name, tool.name, tool.description))).collect();
    let scores = scores(&documents, &words(query));
    let mut order: Vec<usize> = (0..tools.len()).collect();
    let kept = |n: usize| keep.contains(&tools[n].name);
    // Ties are broken by the place in the list, so that the same question shows the same tools.
    order.sort_by(|a, b| kept(*b).cmp(&kept(*a)).then(scores[*b].total_cmp(&scores[*a])).then(a.cmp(b)));
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|n| tools[n].clone()).collect()
}

fn scores(documents: &[Vec<String>], query: &[String]) -> Vec<f64> {
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    for document in documents {
        for word in document.iter().map(String::as_str).collect::<BTreeSet<_>>() {
            *holders.entry(word).or_default() += 1;
        }
    }
    let count = documents.len() as f64;
    let mean = documents.iter().map(Vec::len).sum::<usize>() as f64 / count.max(1.0);
    let terms: BTreeSet<&str> = query.iter().map(String::as_str).collect();
    let score = |document: &Vec<String>| {
        let weights = terms.iter().filter_map(|term| {
            let held = *holders.get(term)? as f64;
            let often = document.iter().filter(|word| word == term).count() as f64;
            let rare = (1.0 + (count - held + 0.5) / (held + 0.5)).ln();
            Some(rare * often * (K1 + 1.0) / (often + K1 * (1.0 - B + B * document.len() as f64 / mean)))
        });
        weights.sum()
    };
    documents.iter().map(score).collect()
}

/// Lower-case runs of letters and digits, without the ending of a plural.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() > 1).map(str::to_lowercase);
    parts.map(|word| if word.len() > 3 && !word.ends_with("ss") { word.trim_end_matches('s').to_owned() } else { word }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tools() -> Vec<Listing> {
        let tool = |name: &str, description: &str| Listing { name: name.into(), description: description.into(), input_schema: json!({}) };
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
