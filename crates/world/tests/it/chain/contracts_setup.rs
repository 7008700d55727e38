//! Contract setup for chain tests: two tokens, a pair, a vault, a venue, Permit2 and a funded cage.

use crate::chain::recorder::ChainRecorder;
use alloy_primitives::{Address, B256, U256, address};
pub(crate) use bardo_eval_world::chain::bindings::{AmmFactory, AmmRouter, Permit2, PolicyCage, Token, Vault, Venue, Weth};
use bardo_eval_world::chain::contracts::contract;
use bardo_eval_world::chain::{Signer, Tx, TxStatus};

pub(crate) const OWNER: Address = Address::repeat_byte(0x01);
pub(crate) const TRADER: Address = Address::repeat_byte(0x02);
pub(crate) const STRANGER: Address = Address::repeat_byte(0x03);
pub(crate) const USDC: Address = Address::repeat_byte(0xa1);
pub(crate) const DAI: Address = Address::repeat_byte(0xa2);
pub(crate) const WETH: Address = Address::repeat_byte(0xa3);
pub(crate) const FACTORY: Address = Address::repeat_byte(0xb1);
pub(crate) const ROUTER: Address = Address::repeat_byte(0xb2);
pub(crate) const VAULT: Address = Address::repeat_byte(0xb3);
pub(crate) const VENUE: Address = Address::repeat_byte(0xb4);
pub(crate) const PERMIT2: Address = address!("000000000022D473030F116dDEE9F6B43aC78BA3");
pub(crate) const CAGE: Address = Address::repeat_byte(0xc1);
pub(crate) const MARKET: B256 = B256::repeat_byte(0x77);
pub(crate) const NEVER: U256 = U256::MAX;

pub(crate) fn operator() -> Address {
    Signer::development().address()
}

pub(crate) fn usdc(whole: u64) -> U256 {
    U256::from(whole) * U256::from(1_000_000)
}

pub(crate) fn ether(whole: u64) -> U256 {
    U256::from(whole) * U256::from(10).pow(U256::from(18))
}

pub(crate) async fn set_up(r: &mut ChainRecorder<'_>) {
    for who in [OWNER, TRADER, operator()] {
        r.fund(who, ether(1000)).await;
    }
    deploy(r).await;
    trade(r).await;
    cage(r).await;
}

async fn deploy(r: &mut ChainRecorder<'_>) {
    let places = [
        ("Token", USDC),
        ("Token", DAI),
        ("Weth", WETH),
        ("AmmFactory", FACTORY),
        ("AmmRouter", ROUTER),
        ("Vault", VAULT),
        ("Venue", VENUE),
        ("Permit2", PERMIT2),
        ("PolicyCage", CAGE),
    ];
    for (name, at) in places {
        r.etch(at, contract(name).runtime.clone()).await;
    }
    let token = |name: &str, decimals| Token::initCall { name_: name.into(), symbol_: name.into(), decimals_: decimals, owner_: OWNER };
    r.succeeds("init USDC", OWNER, USDC, token("USDC", 6)).await;
    r.succeeds("init DAI", OWNER, DAI, token("DAI", 18)).await;
    r.succeeds("init WETH", OWNER, WETH, Weth::initCall { name_: "Wrapped".into(), symbol_: "WETH".into() }).await;
    r.succeeds("init factory", OWNER, FACTORY, AmmFactory::initCall {}).await;
    r.succeeds("init router", OWNER, ROUTER, AmmRouter::initCall { factory_: FACTORY, weth_: WETH }).await;
    let vault = Vault::initCall { asset_: USDC, name_: "Vault".into(), symbol_: "vUSDC".into(), owner_: OWNER };
    r.succeeds("init vault", OWNER, VAULT, vault).await;
    r.succeeds("init venue", OWNER, VENUE, Venue::initCall { owner_: OWNER }).await;
    r.succeeds("init cage", OWNER, CAGE, PolicyCage::initCall { owner_: OWNER, operator_: operator() }).await;
    r.reverts("init cage twice", OWNER, CAGE, PolicyCage::initCall { owner_: TRADER, operator_: TRADER }).await;
}

async fn trade(r: &mut ChainRecorder<'_>) {
    r.succeeds("mint to the owner", OWNER, USDC, Token::mintCall { to: OWNER, value: usdc(2_000_000) }).await;
    r.succeeds("mint to the operator", OWNER, USDC, Token::mintCall { to: operator(), value: usdc(50_000) }).await;
    r.succeeds("mint to the cage", OWNER, USDC, Token::mintCall { to: CAGE, value: usdc(100_000) }).await;
    r.succeeds("a pair by CREATE2", OWNER, FACTORY, AmmFactory::createPairCall { tokenA: USDC, tokenB: WETH }).await;
    r.succeeds("approve the router", OWNER, USDC, Token::approveCall { spender: ROUTER, value: U256::MAX }).await;
    let deposit = Tx { value: ether(300), ..Tx::call(OWNER, WETH, alloy_sol_types::SolCall::abi_encode(&Weth::depositCall {})) };
    r.send("wrap", deposit, TxStatus::Success).await;
    r.succeeds("approve the router again", OWNER, WETH, Token::approveCall { spender: ROUTER, value: U256::MAX }).await;
    let add = AmmRouter::addLiquidityCall {
        tokenA: USDC,
        tokenB: WETH,
        desiredA: usdc(900_000),
        desiredB: ether(300),
        minA: U256::ZERO,
        minB: U256::ZERO,
        to: OWNER,
        deadline: NEVER,
    };
    r.succeeds("add liquidity", OWNER, ROUTER, add).await;
    r.succeeds("open a market", OWNER, VENUE, Venue::setMarketCall { market: MARKET, open: true, minRatioBps: 12_500 }).await;
    r.succeeds("price", OWNER, VENUE, Venue::setPriceCall { asset: USDC, priceUsd8: 100_000_000, decimals: 6 }).await;
}

async fn cage(r: &mut ChainRecorder<'_>) {
    for (asset, kind, decimals, base, usd) in [(USDC, 1, 6, true, 1), (WETH, 1, 18, false, 3000), (VAULT, 2, 9, false, 0)] {
        let call = PolicyCage::setAssetCall { asset, kind, decimals, base, priceUsd8: usd * 100_000_000 };
        r.succeeds("approve an asset", OWNER, CAGE, call).await;
    }
    for (protocol, kind) in [(ROUTER, 2), (VAULT, 3), (VENUE, 4), (PERMIT2, 5), (WETH, 6)] {
        r.succeeds("approve a protocol", OWNER, CAGE, PolicyCage::setProtocolCall { protocol, kind }).await;
    }
}
