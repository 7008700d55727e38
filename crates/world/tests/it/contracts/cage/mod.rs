//! PolicyCage tests: operator permissions, each with its custom error. This module sets up the account.

use alloy_primitives::aliases::{U48, U160};
use alloy_primitives::{Address, B256, Bytes, FixedBytes, U256, keccak256};
use alloy_sol_types::{SolCall, SolValue};

use crate::contracts::amm::{AmmMarket, exact_in, market_with_liquidity};
use crate::contracts::harness::*;

mod owner;
mod rules;
mod spending;
mod value;

const PLAIN: u8 = 1;
const VAULT_SHARE: u8 = 2;
const PAIR_SHARE: u8 = 3;
const GENERIC: u8 = 1;
const ROUTER: u8 = 2;
const VAULT: u8 = 3;
pub(crate) const VENUE: u8 = 4;
const PERMIT2: u8 = 5;
const WRAPPER: u8 = 6;

pub(crate) const HOUR: u64 = 3_600;
pub(crate) const DAY: u64 = 86_400;

pub(crate) fn usd(amount: u64) -> U256 {
    units(amount, 8)
}

pub(crate) fn one_ether() -> U256 {
    U256::from(1)
}

fn operator() -> Address {
    TestSigner::new("operator").address()
}

pub(crate) fn guardian() -> Address {
    address_named("guardian")
}

pub(crate) fn attacker() -> Address {
    address_named("villain")
}

pub(crate) fn lending() -> B256 {
    keccak256("lending")
}

/// Returns the limits of a new cage.
fn defaults() -> CageConfig::Limits {
    CageConfig::Limits {
        perTxUsd8: 10_000 * 100_000_000,
        perSessionUsd8: 50_000 * 100_000_000,
        perDayUsd8: 100_000 * 100_000_000,
        maxWritesPerHour: 20,
        maxRebalancesPerDay: 0,
        minRebalanceInterval: 0,
        minCollateralRatioBps: 12_500,
        maxPositionBps: 2_500,
        maxConcentrationBps: 3_000,
        maxSlippageBps: 100,
        maxDrawdownBps: 1_300,
        maxAssets: 10,
    }
}

#[derive(Clone)]
pub(crate) struct CageFixture {
    pub(crate) chain: TestChain,
    pub(crate) at: Address,
    pub(crate) router: Address,
    pub(crate) vault: Address,
    pub(crate) venue: Address,
    pub(crate) permit2: Address,
    pub(crate) registry: Address,
    pub(crate) sanctions: Address,
    pub(crate) weth: Address,
    pub(crate) usdc: Address,
    pub(crate) dai: Address,
    pub(crate) hook: Address,
    pub(crate) pair: Address,
}

/// Cage with 200,000 USDC (cash), 50,000 DAI, 10 WETH and 5 ether at 3,000, and 10,000 hook tokens at 1: 305,000 USD.
pub(crate) fn cage() -> CageFixture {
    let mut market = market_with_liquidity();
    let pair = {
        let (a, b) = (market.weth, market.usdc);
        market.pair(a, b)
    };
    let AmmMarket { mut chain, router, weth, usdc, dai, .. } = market;
    let hook = chain.token_of("HookToken", "HOOK", 18);
    let (at, vault, venue, permit2, registry, sanctions) = (
        address_named("cage"),
        address_named("vault"),
        address_named("venue"),
        address_named("permit2"),
        address_named("registry"),
        address_named("sanctions"),
    );
    let places = [
        ("PolicyCage", at),
        ("Vault", vault),
        ("Venue", venue),
        ("Permit2", permit2),
        ("IdentityRegistry", registry),
        ("SanctionsList", sanctions),
    ];
    for (contract, place) in places {
        chain.etch(contract, place);
    }
    chain.send(OWNER, vault, Vault::initCall { asset_: usdc, name_: "Vault".into(), symbol_: "V".into(), owner_: OWNER });
    chain.send(OWNER, venue, Venue::initCall { owner_: OWNER });
    chain.send(OWNER, registry, IdentityRegistry::initCall { name_: "Agents".into(), symbol_: "A".into() });
    chain.send(OWNER, sanctions, SanctionsList::initCall { owner_: OWNER });
    chain.send(OWNER, venue, Venue::setMarketCall { market: lending(), open: true, minRatioBps: 11_000 });
    for (asset, price, decimals) in [(usdc, 1, 6), (dai, 1, 18), (weth, 3_000, 18)] {
        chain.send(OWNER, venue, Venue::setPriceCall { asset, priceUsd8: price * 100_000_000, decimals });
    }
    chain.mint(usdc, venue, units(1_000_000, 6));
    chain.mint(dai, venue, units(1_000_000, 18));

    chain.send(OWNER, at, PolicyCage::initCall { owner_: OWNER, operator_: operator() });
    chain.send(OWNER, at, PolicyCage::setGuardianCall { guardian_: guardian() });
    let asset =
        |asset, kind, decimals, base, price: u128| PolicyCage::setAssetCall { asset, kind, decimals, base, priceUsd8: price * 100_000_000 };
    for call in [
        asset(NATIVE, PLAIN, 18, false, 3_000),
        asset(weth, PLAIN, 18, false, 3_000),
        asset(usdc, PLAIN, 6, true, 1),
        asset(dai, PLAIN, 18, false, 1),
        asset(hook, PLAIN, 18, false, 1),
        asset(vault, VAULT_SHARE, 9, false, 0),
        asset(pair, PAIR_SHARE, 18, false, 0),
    ] {
        chain.send(OWNER, at, call);
    }
    for (protocol, kind) in [(router, ROUTER), (vault, VAULT), (venue, VENUE), (permit2, PERMIT2), (weth, WRAPPER), (registry, GENERIC)] {
        chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol, kind });
    }
    chain.mint(usdc, at, units(200_000, 6));
    chain.mint(dai, at, units(50_000, 18));
    chain.mint(hook, at, units(10_000, 18));
    chain.give_ether(OWNER, units(100, 18));
    chain.send_with_value(OWNER, weth, units(50, 18), Weth::depositCall {});
    chain.send(OWNER, weth, Token::transferCall { to: at, value: units(10, 18) });
    chain.give_ether(at, units(5, 18));
    // Set directly, so that it does not count as a write of the operator.
    for (token, spender) in
        [(usdc, router), (dai, router), (weth, router), (pair, router), (usdc, vault), (usdc, venue), (dai, venue), (weth, venue)]
    {
        chain.allow(at, token, spender);
    }
    CageFixture { chain, at, router, vault, venue, permit2, registry, sanctions, weth, usdc, dai, hook, pair }
}

pub(crate) fn call(target: Address, value: U256, data: &impl SolCall) -> PolicyCage::Call {
    PolicyCage::Call { target, value, data: data.abi_encode().into() }
}

pub(crate) fn execute(call: PolicyCage::Call) -> PolicyCage::executeCall {
    PolicyCage::executeCall { target: call.target, value: call.value, data: call.data }
}

impl CageFixture {
    fn execute_ok(&mut self, target: Address, data: &impl SolCall) -> TxResult<Bytes> {
        self.chain.send(operator(), self.at, execute(call(target, U256::ZERO, data)))
    }

    fn execute_reverted(&mut self, target: Address, data: &impl SolCall) -> Bytes {
        self.chain.expect_revert(operator(), self.at, execute(call(target, U256::ZERO, data)))
    }

    pub(crate) fn set_limits(&mut self, change: impl FnOnce(&mut CageConfig::Limits)) {
        let mut limits = self.chain.view(self.at, PolicyCage::limitsCall {});
        change(&mut limits);
        self.chain.send(OWNER, self.at, PolicyCage::setLimitsCall { limits_: limits });
    }

    fn nav(&mut self) -> U256 {
        self.chain.view(self.at, PolicyCage::navCall {})
    }

    pub(crate) fn spent(&mut self) -> (U256, U256) {
        (self.chain.view(self.at, PolicyCage::spentSessionCall {}), self.chain.view(self.at, PolicyCage::spentDayCall {}))
    }

    /// Sells through the pool as alice, so that the pool price deviates.
    pub(crate) fn push_price(&mut self, usdc: u64) {
        let (router, path) = (self.router, [self.usdc, self.weth]);
        self.chain.send(address_named("alice"), router, exact_in(units(usdc, 6), U256::ZERO, &path, address_named("alice")));
    }
}

pub(crate) fn pay(to: Address, value: U256) -> Token::transferCall {
    Token::transferCall { to, value }
}

fn over_limit_error(scope: u8, spent: U256, limit: u64) -> Bytes {
    revert_data(PolicyCage::SpendingLimitExceeded { scope, spent, limit: usd(limit) })
}
