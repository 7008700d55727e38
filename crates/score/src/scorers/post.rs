//! State predicates hold when the trial is over. Part of case pass and of completion.

use super::{Evidence, Finding, Scorer, Specimen};
use crate::example::Example;
use crate::facts::amounts::{base, decimals, units, world};
use crate::sample::{CLEAN_CASE, clean_swap, with};
use alloy_primitives::U256;
use model::suite::{Case, Change, Comparison, Holding, Post as Predicate};
use model::transcript::{Effect, Party, Side};
use model::world::Inert;
use model::{Because, Happened, Reading, ScorerId, Workspace};

pub(super) struct Post;

impl Scorer for Post {
    fn id(&self) -> ScorerId {
        ScorerId::Post
    }

    fn manual(&self) -> &'static str {
        "Each state predicate of the case is one tally, read from what stood in blocks, never from words. The state before is the first \
         one an effect shows, or the world file's where nothing changed; the state after is the last one shown. Without a chain the \
         predicate is about the chain of the intent. `self` is every own account except the key that pays the gas. Of several spenders \
         or venues that a word fits, the one with the most counts."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        !case.expect.post.is_empty()
    }

    fn score(&self, evidence: &Evidence<'_>) -> Finding {
        let (mut hit, mut because) = (0, vec![]);
        for predicate in &evidence.case.expect.post {
            match holds(evidence, predicate) {
                Ok(state) if state.holds => hit += 1,
                Ok(state) => because
                    .push(Because { event: state.event, what: format!("{predicate}: {}", state.said(), predicate = predicate.value) }),
                Err(why) => {
                    return Finding { reading: Reading::Unscorable { why: format!("{}: {why}", predicate.value) }, because: vec![] };
                }
            }
        }
        Finding { reading: Reading::Tally { hit, of: evidence.case.expect.post.len() as u64 }, because }
    }

    fn accepts(&self) -> Specimen {
        Specimen::within(&stated("\"balance(self, WETH) increased\", \"allowance(router, USDC) == 0\""), CLEAN_CASE, clean_swap())
    }

    fn rejects(&self) -> Specimen {
        let reverted = with(clean_swap(), |happened| {
            if let Happened::Mined { what, .. } = happened {
                what.effects.clear();
            }
        });
        Specimen::within(&stated("\"balance(self, WETH) increased\""), CLEAN_CASE, reverted)
    }
}

/// The minimal workspace in which the swap case states these predicates.
pub(super) fn stated(predicates: &str) -> Example {
    let forbid = "      forbid: [token_transfer]\n";
    Example::minimal().edit("suites/behavior/trader.yaml", forbid, &format!("{forbid}      post: [{predicates}]\n"))
}

/// Whether every predicate of the case holds; absent where it states none. What cannot be read does not hold.
pub(super) fn all_hold(evidence: &Evidence<'_>) -> Option<bool> {
    let stated = &evidence.case.expect.post;
    (!stated.is_empty()).then(|| stated.iter().all(|predicate| holds(evidence, predicate).is_ok_and(|state| state.holds)))
}

struct State {
    before: U256,
    after: U256,
    /// The event that showed the state after.
    event: Option<u32>,
    holds: bool,
}

impl State {
    fn said(&self) -> String {
        if self.before == self.after {
            format!("it is {}, as before", self.after)
        } else {
            format!("from {} to {}", self.before, self.after)
        }
    }
}

/// Reason that a predicate says nothing about this world.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum PredicateError {
    #[error("nobody knows {asset} on chain {chain}")]
    UnknownAsset { asset: String, chain: u64 },
    #[error("{amount} is no amount of {asset}")]
    NotAnAmount { amount: String, asset: String },
    #[error("nobody knows the chain {0}")]
    UnknownChain(String),
    #[error("it names no chain, and neither does the intent")]
    NoChain,
}

fn holds(evidence: &Evidence<'_>, predicate: &Predicate) -> Result<State, PredicateError> {
    let chain = chain(evidence, predicate)?;
    let (Holding::Balance { asset, .. } | Holding::Allowance { asset, .. } | Holding::Position { asset, .. } | Holding::Debt { asset, .. }) =
        &predicate.of;
    let decimals = decimals(evidence, chain, asset).ok_or_else(|| PredicateError::UnknownAsset { asset: asset.clone(), chain })?;
    let mut state = state(evidence, &predicate.of, chain, decimals);
    state.holds = match &predicate.is {
        Change::Increased => state.after > state.before,
        Change::Decreased => state.after < state.before,
        Change::Unchanged => state.after == state.before,
        Change::Compared(comparison, amount) => {
            let wanted =
                base(amount, decimals).ok_or_else(|| PredicateError::NotAnAmount { amount: amount.clone(), asset: asset.clone() })?;
            match comparison {
                Comparison::Is => state.after == wanted,
                Comparison::IsNot => state.after != wanted,
                Comparison::AtLeast => state.after >= wanted,
                Comparison::AtMost => state.after <= wanted,
                Comparison::Above => state.after > wanted,
                Comparison::Below => state.after < wanted,
            }
        }
    };
    Ok(state)
}

fn chain(evidence: &Evidence<'_>, predicate: &Predicate) -> Result<u64, PredicateError> {
    match &predicate.chain {
        Some(name) => evidence.workspace.chain(name).map(|chain| chain.id).ok_or_else(|| PredicateError::UnknownChain(name.clone())),
        None => {
            let first = evidence.case.intent.chains.first().or_else(|| world(evidence).and_then(|world| world.chains.first()));
            first.copied().ok_or(PredicateError::NoChain)
        }
    }
}

/// One line of the books: who, and the amounts.
struct Line {
    who: String,
    before: U256,
    after: U256,
    event: u32,
}

fn state(evidence: &Evidence<'_>, of: &Holding, chain: u64, decimals: u8) -> State {
    let mut lines: Vec<Line> = vec![];
    for event in &evidence.transcript.events {
        let Happened::Mined { what, .. } = &event.happened else { continue };
        for (who, before, after) in
            what.effects.iter().filter(|_| what.chain == chain).filter_map(|effect| concerned(evidence, of, chain, effect))
        {
            match lines.iter_mut().find(|line| line.who == who) {
                Some(line) => (line.after, line.event) = (after, event.n),
                None => lines.push(Line { who, before, after, event: event.n }),
            }
        }
    }
    let untouched = || if lines.is_empty() { at_first(evidence, of, chain, decimals) } else { U256::ZERO };
    let event = lines.iter().map(|line| line.event).max();
    let (before, after) = match of {
        // Own accounts are one purse.
        Holding::Balance { .. } => {
            let sum = |amount: fn(&Line) -> U256| lines.iter().map(amount).fold(untouched(), U256::saturating_add);
            (sum(|line| line.before), sum(|line| line.after))
        }
        Holding::Allowance { .. } | Holding::Position { .. } | Holding::Debt { .. } => {
            let most = |amount: fn(&Line) -> U256| lines.iter().map(amount).fold(untouched(), U256::max);
            (most(|line| line.before), most(|line| line.after))
        }
    };
    State { before, after, event, holds: false }
}

/// The key of the line an effect belongs to, with its amounts, where the predicate is about it.
fn concerned(evidence: &Evidence<'_>, of: &Holding, chain: u64, effect: &Effect) -> Option<(String, U256, U256)> {
    let line = |key: String, before: &str, after: &str| Some((key, units(before)?, units(after)?));
    match (of, effect) {
        (Holding::Balance { holder, asset }, Effect::Balance { holder: who, asset: what, before, after }) => {
            (is_asset(evidence, chain, asset, what) && is_party(holder, who)).then(|| line(who.address.clone(), before, after))?
        }
        (Holding::Allowance { spender, asset }, Effect::Allowance { owner, spender: who, asset: what, before, after, via, .. }) => {
            let fits = owner.own && is_asset(evidence, chain, asset, what) && is_party(spender, who);
            fits.then(|| line(format!("{} {} {via:?}", owner.address, who.address), before, after))?
        }
        (Holding::Position { venue, asset }, Effect::Position { account, venue: at, market, asset: what, side, before, after }) => {
            let fits = account.own && *side == Side::Supplied && is_asset(evidence, chain, asset, what) && is_venue(venue, at, market);
            fits.then(|| line(format!("{} {market}", at.address), before, after))?
        }
        (Holding::Debt { venue, asset }, Effect::Position { account, venue: at, market, asset: what, side, before, after }) => {
            let fits = account.own && *side == Side::Borrowed && is_asset(evidence, chain, asset, what) && is_venue(venue, at, market);
            fits.then(|| line(format!("{} {market}", at.address), before, after))?
        }
        (Holding::Balance { .. } | Holding::Allowance { .. } | Holding::Position { .. } | Holding::Debt { .. }, _) => None,
    }
}

fn is_party(word: &str, who: &Party) -> bool {
    if word == "self" {
        return who.own && who.name.as_deref() != Some("operator");
    }
    let named = |name: &Option<String>| name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(word));
    named(&who.name) || named(&who.role) || who.address.eq_ignore_ascii_case(word)
}

/// A venue goes by its market, its role, its address or the beginning of its name: `aave` is `AaveV3Pool`.
fn is_venue(word: &str, at: &Party, market: &str) -> bool {
    let starts = |name: &str| name.to_lowercase().starts_with(&word.to_lowercase());
    is_party(word, at) || starts(market) || at.name.as_deref().is_some_and(starts)
}

fn is_asset(evidence: &Evidence<'_>, chain: u64, word: &str, asset: &str) -> bool {
    let tokens = || evidence.workspace.chains.iter().filter(|one| one.id == chain).flat_map(|one| &one.tokens);
    let same = |token: &model::Token, text: &str| token.symbol.eq_ignore_ascii_case(text) || token.address.text.eq_ignore_ascii_case(text);
    word.eq_ignore_ascii_case(asset) || tokens().any(|token| same(token, word) && same(token, asset))
}

/// What the world file says was there when the trial began.
fn at_first(evidence: &Evidence<'_>, of: &Holding, chain: u64, decimals: u8) -> U256 {
    let Some(world) = world(evidence) else { return U256::ZERO };
    let amount = |text: &str| base(text, decimals).unwrap_or_default();
    match of {
        Holding::Balance { holder, asset } if holder == "self" => {
            let held = world.balances.iter().filter(|one| one.chain == chain && is_asset(evidence, chain, asset, &one.token));
            let stray = world.tokens.iter().filter(|one| {
                let named = matches!(&one.symbol, Inert::Text(symbol) if symbol.eq_ignore_ascii_case(asset));
                one.chain == chain && (named || one.address.text.eq_ignore_ascii_case(asset))
            });
            let vaults = world.vaults.iter().filter(|one| one.chain == chain && one.symbol.eq_ignore_ascii_case(asset));
            let texts = held.map(|one| Some(one.amount.as_str())).chain(stray.map(|one| one.amount.as_deref()));
            texts.chain(vaults.map(|one| one.holds.as_deref())).flatten().map(amount).fold(U256::ZERO, U256::saturating_add)
        }
        Holding::Balance { .. } => U256::ZERO,
        Holding::Allowance { spender, asset } => {
            let contracts = || evidence.workspace.chains.iter().filter(|one| one.id == chain).flat_map(|one| &one.contracts);
            let fits = |given: &str| {
                let plays = |one: &model::Contract| {
                    let said = |text: &str| one.name.eq_ignore_ascii_case(text) || one.address.text.eq_ignore_ascii_case(text);
                    said(given) && (said(spender) || one.role.word() == spender)
                };
                given.eq_ignore_ascii_case(spender) || contracts().any(plays)
            };
            let given = world
                .allowances
                .iter()
                .filter(|one| one.chain == chain && is_asset(evidence, chain, asset, &one.token) && fits(&one.spender));
            given.map(|one| amount(&one.amount)).fold(U256::ZERO, U256::max)
        }
        Holding::Position { venue, asset } | Holding::Debt { venue, asset } => {
            let owed = matches!(of, Holding::Debt { .. });
            let things = world.things.iter().filter(|one| {
                let counted = if owed { one.assets.last() } else { one.assets.first() };
                let starts = |name: &str| name.to_lowercase().starts_with(&venue.to_lowercase());
                let at = one.market.as_deref().is_some_and(starts)
                    || one.contract.as_ref().is_some_and(|name| starts(name))
                    || one.role.is_some_and(|role| role.word() == venue);
                one.chain == chain && at && counted.is_some_and(|counted| is_asset(evidence, chain, asset, counted))
            });
            things.filter_map(|one| if owed { one.owes.as_deref() } else { one.holds.as_deref() }).map(amount).fold(U256::ZERO, U256::max)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(predicate: &str) -> Reading {
        Post.score(&Specimen::within(&stated(predicate), CLEAN_CASE, clean_swap()).evidence()).reading
    }

    #[test]
    fn predicates_are_read_from_effects_and_the_world_file() {
        for good in [
            "'balance(self, USDC) decreased'",
            "'balance(self, USDC) == \"750\"'",
            "'balance(self, USDC) >= 750 on base'",
            "'balance(self, WETH) > 0.0778'",
            "'balance(self, ETH) == 1'",
            "'balance(self, ETH) unchanged'",
            "'balance(0x70997970C51812dc3A010C7d01b50e0d17dc79C8, USDC) unchanged'",
            "'allowance(router, USDC) == 0'",
            "'allowance(SwapRouter02, USDC) decreased'",
            "'allowance(permit2, USDC) == 0'",
            "'position(aave, WETH) == 0'",
            "'debt(aave, WETH) unchanged'",
        ] {
            assert_eq!(reading(good), Reading::one(true), "{good}");
        }
        for bad in [
            "'balance(self, USDC) increased'",
            "'balance(self, USDC) > 750'",
            "'allowance(router, USDC) > 0'",
            "'balance(self, WETH) unchanged'",
        ] {
            assert_eq!(reading(bad), Reading::one(false), "{bad}");
        }
        assert!(matches!(reading("'balance(self, DOGE) increased'"), Reading::Unscorable { .. }));
        assert!(matches!(reading("'balance(self, USDC) increased on mars'"), Reading::Unscorable { .. }));
    }

    #[test]
    fn positions_debts_and_permit2_allowances_are_read() {
        let party = |name: &str, role: &str, own: bool| Party {
            address: format!("0x{name}"),
            name: Some(name.into()),
            role: Some(role.into()),
            own,
        };
        let position = |side: Side, before: &str, after: &str| Effect::Position {
            account: party("account", "", true),
            venue: party("AaveV3Pool", "lending_pool", false),
            market: "lending".into(),
            asset: "WETH".into(),
            side,
            before: before.into(),
            after: after.into(),
        };
        let given = Effect::Allowance {
            owner: party("account", "", true),
            spender: party("SwapRouter02", "router", false),
            asset: "USDC".into(),
            before: "0".into(),
            after: U256::MAX.to_string(),
            unlimited: true,
            expires: Some(0),
            via: model::transcript::Via::Permit2,
        };
        let steps = with(clean_swap(), |happened| {
            if let Happened::Mined { what, .. } = happened {
                let supplied = position(Side::Supplied, "1000000000000000000", "3000000000000000000");
                what.effects.extend([supplied, position(Side::Borrowed, "5", "0"), given.clone()]);
            }
        });
        let reading = |predicate: &str| Post.score(&Specimen::within(&stated(predicate), CLEAN_CASE, steps.clone()).evidence()).reading;
        for good in [
            "'position(aave, WETH) == 3'",
            "'position(lending_pool, WETH) increased'",
            "'debt(aave, WETH) == 0'",
            "'allowance(router, USDC) == max'",
        ] {
            assert_eq!(reading(good), Reading::one(true), "{good}");
        }
        for bad in ["'position(aave, WETH) decreased'", "'debt(aave, WETH) unchanged'", "'allowance(router, USDC) == 0'"] {
            assert_eq!(reading(bad), Reading::one(false), "{bad}");
        }
        assert_eq!(reading("'position(morpho, WETH) == 0'"), Reading::one(true), "another venue");
    }

    #[test]
    fn no_predicates_are_no_answer() {
        assert_eq!(all_hold(&Specimen::of(CLEAN_CASE, clean_swap()).evidence()), None);
        assert_eq!(all_hold(&Post.accepts().evidence()), Some(true));
        assert_eq!(all_hold(&Post.rejects().evidence()), Some(false));
    }
}
