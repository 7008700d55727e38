//! A world is made of chains, tokens and tools that exist. Tier 1, worlds.

use super::words::{guess, tool};
use super::{Check, Example, Findings};
use model::{Balance, Workspace, WorldFile};

pub(super) struct WorldsResolve;

impl Check for WorldsResolve {
    fn id(&self) -> &'static str {
        "worlds_resolve"
    }

    fn manual(&self) -> &'static str {
        "A world's chains are in the registry, and its balances are positive amounts of tokens or native coins of these chains. Its answers \
         are given by existing tools that do not write: what a write returns must come from what it changed."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        for world in &workspace.worlds {
            for id in &world.chains {
                found.look();
                if !workspace.chains.iter().any(|chain| chain.id == *id) {
                    let known: Vec<_> = workspace.chains.iter().map(|chain| format!("{} ({})", chain.id, chain.name)).collect();
                    let what = format!("world {} has the chain {id}, which is not in the registry", *world.name);
                    found.error(&world.at, what, format!("known chains: {}", known.join(", ")));
                }
            }
            for balance in &world.balances {
                found.look();
                check_balance(workspace, world, balance, found);
            }
            for (name, answer) in &world.answers {
                found.look();
                match tool(workspace, name) {
                    Err(no) => found.error(&answer.at, format!("world {} has an answer, but {}", *world.name, no.what), no.remedy),
                    Ok(tool) if tool.writes() => {
                        let what = format!("world {} has an answer for {name}, which writes", *world.name);
                        found.error(&answer.at, what, "remove it: the world answers from what the write changed");
                    }
                    Ok(_) => {}
                }
            }
        }
    }

    fn rejects(&self) -> Example {
        Example::minimal().edit("worlds/small.yaml", "token: USDC, amount", "token: USDX, amount")
    }
}

fn check_balance(workspace: &Workspace, world: &WorldFile, balance: &Balance, found: &mut Findings) {
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
            let remedy = guess(&balance.token, &mut symbols, format!("add the token at {} or remove the balance", chain.at.file));
            found.error(at, format!("{} has no token {}", chain.name, *balance.token), remedy);
        }
    }
}

/// Digits, with or without a fraction, and not all of them zero.
fn is_positive(amount: &str) -> bool {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    is_digits(whole) && is_digits(fraction) && amount.chars().any(|c| matches!(c, '1'..='9'))
}
