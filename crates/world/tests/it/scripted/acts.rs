//! What an account does on an ordinary day, and the effects that must be seen.

use crate::scripted::harness::{Desk, Vault, Venue, embedded, error, gained, genesis, usdc};
use alloy_primitives::{Bytes, U256};
use alloy_sol_types::SolCall;
use bardo_eval_world::chain::genesis::{ACCOUNT, market};
use model::transcript::{Effect, Mined, Side, TxOutcome, Via};

const BASE: u64 = 8453;

fn succeeded(mined: &Mined) {
    assert_eq!(mined.outcome, TxOutcome::Success, "{}", error(mined));
    let unexplained = mined.effects.iter().any(|effect| matches!(effect, Effect::Unexplained { .. }));
    assert!(!unexplained, "{:#?}", mined.effects);
}

#[tokio::test]
async fn every_chain_of_the_registry_can_be_set_up() {
    for chain in [1, 10, 130, 137, 8453, 42161] {
        let genesis = genesis(chain);
        genesis.embedded().await.unwrap_or_else(|problem| panic!("chain {chain}: {problem}"));
    }
}

#[tokio::test]
async fn a_swap_moves_both_tokens_and_uses_up_the_allowance() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    let router = desk.at("SwapRouter02");
    let approved = desk.approve("USDC", router, usdc("250")).await;
    succeeded(&approved);
    assert!(approved.effects.iter().any(|effect| matches!(effect,
        Effect::Allowance { owner, spender, asset, after, unlimited: false, via: Via::Erc20, .. }
            if owner.own && spender.role.as_deref() == Some("router") && asset == "USDC" && after == "250000000")));
    let swapped = desk.swap("USDC", "WETH", usdc("250")).await;
    succeeded(&swapped);
    assert_eq!(gained(&swapped, "USDC"), -250_000_000);
    let weth = gained(&swapped, "WETH");
    assert!((77_000_000_000_000_000..78_125_000_000_000_000).contains(&weth), "{weth}");
    assert!(swapped.effects.iter().any(|effect| matches!(effect, Effect::Allowance { after, .. } if after == "0")));
    assert_eq!(swapped.inner[0].call.as_ref().map(|call| call.name.as_str()), Some("swapExactIn"));
    assert!(swapped.logs.iter().any(|log| log.event.name == "Swapped"));
}

#[tokio::test]
async fn a_vault_takes_assets_and_gives_shares_and_back() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    let vault = desk.at("bbqUSDC");
    succeeded(&desk.approve("USDC", vault, usdc("100")).await);
    let deposited = desk.act(vault, Vault::depositCall { assets: usdc("100"), receiver: ACCOUNT }.abi_encode()).await;
    succeeded(&deposited);
    assert_eq!(gained(&deposited, "USDC"), -100_000_000);
    let shares = gained(&deposited, "bbqUSDC");
    assert!(shares > 0);
    let redeemed = desk
        .act(vault, Vault::redeemCall { shares: U256::from(shares.unsigned_abs()), receiver: ACCOUNT, owner_: ACCOUNT }.abi_encode())
        .await;
    succeeded(&redeemed);
    assert!(gained(&redeemed, "USDC") > 99_999_000, "{}", gained(&redeemed, "USDC"));
    assert_eq!(gained(&redeemed, "bbqUSDC"), -shares);
}

#[tokio::test]
async fn a_venue_holds_a_position() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    let (pool, token) = (desk.at("AavePool"), desk.at("USDC"));
    succeeded(&desk.approve("USDC", pool, usdc("300")).await);
    let enter = Venue::enterCall { market: market("lend"), asset: token, amount: usdc("300"), data: Bytes::new() };
    let entered = desk.act(pool, enter.abi_encode()).await;
    succeeded(&entered);
    assert_eq!(gained(&entered, "USDC"), -300_000_000);
    assert!(entered.effects.iter().any(|effect| matches!(effect,
        Effect::Position { account, venue, market, asset, side: Side::Supplied, before, after }
            if account.own && venue.name.as_deref() == Some("AavePool") && market == "lend" && asset == "USDC" && before == "0" && after == "300000000")),
        "{:#?}", entered.effects);
    let exit = Venue::exitCall { market: market("lend"), asset: token, amount: usdc("300"), to: ACCOUNT };
    let exited = desk.act(pool, exit.abi_encode()).await;
    succeeded(&exited);
    assert_eq!(gained(&exited, "USDC"), 300_000_000);
}

/// Neither leaves anything behind that the decoder could not name: a setting is told by its event, a loan of one call by none of its balances.
#[tokio::test]
async fn a_setting_and_a_loan_of_one_call_are_explained() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    let (pool, token) = (desk.at("AavePool"), desk.at("USDC"));
    let key = alloy_primitives::keccak256("leverage");
    let configured =
        desk.act(pool, Venue::configureCall { market: market("perp"), key, value: Bytes::from_static(b"5x") }.abi_encode()).await;
    succeeded(&configured);
    assert!(configured.logs.iter().any(|log| log.event.name == "Configured" && log.event.args["value"] == "0x3578"));
    succeeded(&desk.approve("USDC", pool, usdc("200")).await);
    let enter = Venue::enterCall { market: market("lend"), asset: token, amount: usdc("100"), data: Bytes::new() };
    succeeded(&desk.act(pool, enter.abi_encode()).await);
    let flash = Venue::flashCall { market: market("lend"), asset: token, amount: usdc("100"), data: Bytes::new() };
    let lent = desk.act(pool, flash.abi_encode()).await;
    succeeded(&lent);
    assert_eq!(gained(&lent, "USDC"), 0);
    assert!(lent.logs.iter().any(|log| log.event.name == "Flashed" && log.event.args["amount"] == "100000000"));
}

#[tokio::test]
async fn an_unlimited_approval_is_seen_as_one() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    let router = desk.at("SwapRouter02");
    let approved = desk.approve("USDC", router, U256::MAX).await;
    succeeded(&approved);
    assert!(approved.effects.iter().any(|effect| matches!(effect, Effect::Allowance { unlimited: true, asset, .. } if asset == "USDC")));
}

/// Permit2's own address starts with zeros; it is an address all the same.
#[tokio::test]
async fn an_approval_to_permit2_is_named() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    let permit2 = desk.at("Permit2");
    let approved = desk.approve("USDC", permit2, U256::MAX).await;
    succeeded(&approved);
    assert!(approved.effects.iter().any(|effect| matches!(effect,
        Effect::Allowance { spender, unlimited: true, .. } if spender.role.as_deref() == Some("permit2"))));
}

/// Whoever attacks chooses the calldata; decoding it must not cost the square of its length, and must not lose what happened.
#[tokio::test]
async fn thousands_of_addresses_in_calldata_are_bounded_work() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    let (permit2, token, router) = (desk.at("Permit2"), desk.at("USDC"), desk.at("SwapRouter02"));
    let mut data = alloy_primitives::keccak256("approve(address,address,uint160,uint48)")[..4].to_vec();
    for word in [token.into_word(), router.into_word(), U256::from(7).into(), U256::from(2_000_000_000_u64).into()] {
        data.extend_from_slice(word.as_slice());
    }
    for n in 0..4_000_u64 {
        data.extend_from_slice(
            alloy_primitives::Address::left_padding_from(&alloy_primitives::keccak256(n.to_be_bytes())[..20]).into_word().as_slice(),
        );
    }
    let approved = desk.act(permit2, data).await;
    succeeded(&approved);
    assert!(
        approved.effects.iter().any(
            |effect| matches!(effect, Effect::Allowance { via: Via::Permit2, after, expires: Some(2_000_000_000), .. } if after == "7")
        )
    );
}
