//! Chains, tokens and tools of worlds exist. Tier 1, worlds.

use super::words::{exact_tool, suggest_name};
use super::{Check, ExampleWorkspace, FindingCollector};
use model::{InitialBalance, Workspace, WorldFile};

pub(super) struct WorldsResolve;

impl Check for WorldsResolve {
    fn id(&self) -> &'static str {
        "worlds_resolve"
    }

    fn manual(&self) -> &'static str {
        "What a world names exists, and what it holds is a positive amount with a price, because limits are counted in money. Answers \
         belong to existing tools. Under a policy they belong to tools that do not write: the result of a write must come from the \
         state it changed. A workspace without policy.yaml has no such state, so its writes have answers too."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for world in &workspace.worlds {
            for id in &world.chains {
                found.record_examined();
                if !workspace.chains.iter().any(|chain| chain.id == *id) {
                    let known: Vec<_> = workspace.chains.iter().map(|chain| format!("{} ({})", chain.id, chain.name)).collect();
                    let what = format!("world {} has the chain {id}, which is not in the registry", *world.name);
                    found.error(&world.at, what, format!("known chains: {}", known.join(", ")));
                }
            }
            for balance in &world.balances {
                found.record_examined();
                check_balance(workspace, world, balance, found);
            }
            check_prices(workspace, world, found);
            check_vaults(workspace, world, found);
            for (name, answer) in &world.fixtures {
                found.record_examined();
                match exact_tool(workspace, name) {
                    Err(no) => found.error(&answer.at, format!("world {} has an answer, but {}", *world.name, no.what), no.remedy),
                    Ok(tool) if tool.writes() && workspace.policy.is_some() => {
                        let what = format!("world {} has an answer for {name}, which writes", *world.name);
                        found.error(&answer.at, what, "remove it: the result of a write comes from the chain state");
                    }
                    Ok(_) => {}
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("worlds/small.yaml", "token: USDC, amount", "token: USDX, amount")
    }
}

fn check_balance(workspace: &Workspace, world: &WorldFile, balance: &InitialBalance, found: &mut FindingCollector) {
    let at = &balance.token.at;
    if !is_positive(&balance.amount) {
        let what = format!("{} {} is not a positive amount", balance.amount, *balance.token);
        found.error(at, what, "write whole tokens as a decimal in quotes, such as \"12.5\", or remove the balance");
    }
    if !world.chains.contains(&balance.chain) {
        let what = format!("the balance of {} is on chain {}, which world {} does not have", *balance.token, balance.chain, *world.name);
        found.error(at, what, "add the chain to chains or correct the balance");
    }
    if let Some(chain) = workspace.chains.iter().find(|chain| chain.id == balance.chain) {
        let mut symbols = chain.tokens.iter().map(|token| token.symbol.as_str()).chain([chain.native.as_str()]);
        if !symbols.clone().any(|symbol| symbol.eq_ignore_ascii_case(&balance.token)) {
            let remedy = suggest_name(&balance.token, &mut symbols, format!("add the token at {} or remove the balance", chain.at.file));
            found.error(at, format!("{} has no token {}", chain.name, *balance.token), remedy);
        }
    }
}

/// Checks that prices belong to existing tokens and that every balance has one.
fn check_prices(workspace: &Workspace, world: &WorldFile, found: &mut FindingCollector) {
    let symbols =
        || workspace.chains.iter().flat_map(|chain| chain.tokens.iter().map(|token| token.symbol.as_str()).chain([chain.native.as_str()]));
    for (symbol, price) in &world.prices {
        found.record_examined();
        if !symbols().any(|known| known.eq_ignore_ascii_case(symbol)) {
            found.error(
                &price.at,
                format!("{symbol} has a price but is not a token of any chain"),
                suggest_name(symbol, symbols(), "remove the price"),
            );
        }
        if !is_positive(price) {
            found.error(&price.at, format!("{} is not a price of {symbol}", **price), "write US dollars as a decimal in quotes");
        }
    }
    for balance in world.balances.iter().filter(|balance| !world.prices.keys().any(|symbol| symbol.eq_ignore_ascii_case(&balance.token))) {
        let what = format!("world {} holds {} but has no price for it", *world.name, *balance.token);
        found.error(&balance.token.at, what, "add it to prices: spending limits are counted in dollars");
    }
}

fn check_vaults(workspace: &Workspace, world: &WorldFile, found: &mut FindingCollector) {
    for vault in &world.vaults {
        found.record_examined();
        let chain = workspace.chains.iter().find(|chain| chain.id == vault.chain && world.chains.contains(&vault.chain));
        let known = chain.is_some_and(|chain| chain.tokens.iter().any(|token| token.symbol.eq_ignore_ascii_case(&vault.asset)));
        if !known {
            let what =
                format!("vault {} takes {}, which is not a token of chain {} in this world", vault.symbol, *vault.asset, vault.chain);
            found.error(&vault.asset.at, what, "correct the asset or the chain");
        }
        if !vault.address.is_checksummed() {
            let what = format!("the address of vault {} is not checksummed", vault.symbol);
            found.error(&vault.address.at, what, format!("write {}", vault.address.to_checksum()));
        }
    }
}

/// Reports whether a decimal is positive.
fn is_positive(amount: &str) -> bool {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    is_digits(whole) && is_digits(fraction) && amount.chars().any(|c| matches!(c, '1'..='9'))
}
