//! Common account operations and their decoded effects.

use crate::scripted::harness::{AccountDriver, Vault, Venue, balance_change, embedded, genesis, revert_name, usdc};
use alloy_primitives::{Bytes, U256};
use alloy_sol_types::SolCall;
use bardo_eval_world::chain::genesis::{ACCOUNT, market_id};
use model::transcript::{AllowanceKind, Effect, MinedTransaction, PositionSide, TxOutcome};

const BASE: u64 = 8453;

fn assert_success(mined: &MinedTransaction) {
    assert_eq!(mined.outcome, TxOutcome::Success, "{}", revert_name(mined));
    let unexplained = mined.effects.iter().any(|effect| matches!(effect, Effect::Unexplained { .. }));
    assert!(!unexplained, "{:#?}", mined.effects);
}

#[tokio::test]
async fn genesis_applies_on_every_registry_chain() {
    for chain in [1, 10, 130, 137, 8453, 42161] {
        let genesis = genesis(chain);
        genesis.embedded_chain().await.unwrap_or_else(|problem| panic!("chain {chain}: {problem}"));
    }
}

#[tokio::test]
async fn swap_effects_show_both_tokens_and_allowance() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let router = desk.address_of("SwapRouter02");
    let approved = desk.approve("USDC", router, usdc("250")).await;
    assert_success(&approved);
    assert!(approved.effects.iter().any(|effect| matches!(effect,
        Effect::Allowance { owner, spender, asset, after, unlimited: false, via: AllowanceKind::Erc20, .. }
            if owner.own && spender.role.as_deref() == Some("router") && asset == "USDC" && after == "250000000")));
    let swapped = desk.swap("USDC", "WETH", usdc("250")).await;
    assert_success(&swapped);
    assert_eq!(balance_change(&swapped, "USDC"), -250_000_000);
    let weth = balance_change(&swapped, "WETH");
    assert!((77_000_000_000_000_000..78_125_000_000_000_000).contains(&weth), "{weth}");
    assert!(swapped.effects.iter().any(|effect| matches!(effect, Effect::Allowance { after, .. } if after == "0")));
    assert_eq!(swapped.inner[0].call.as_ref().map(|call| call.name.as_str()), Some("swapExactIn"));
    assert!(swapped.logs.iter().any(|log| log.event.name == "Swapped"));
}

#[tokio::test]
async fn vault_deposit_and_redeem_effects() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let vault = desk.address_of("bbqUSDC");
    assert_success(&desk.approve("USDC", vault, usdc("100")).await);
    let deposited = desk.execute(vault, Vault::depositCall { assets: usdc("100"), receiver: ACCOUNT }.abi_encode()).await;
    assert_success(&deposited);
    assert_eq!(balance_change(&deposited, "USDC"), -100_000_000);
    let shares = balance_change(&deposited, "bbqUSDC");
    assert!(shares > 0);
    let redeemed = desk
        .execute(vault, Vault::redeemCall { shares: U256::from(shares.unsigned_abs()), receiver: ACCOUNT, owner_: ACCOUNT }.abi_encode())
        .await;
    assert_success(&redeemed);
    assert!(balance_change(&redeemed, "USDC") > 99_999_000, "{}", balance_change(&redeemed, "USDC"));
    assert_eq!(balance_change(&redeemed, "bbqUSDC"), -shares);
}

#[tokio::test]
async fn venue_position_effects() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let (pool, token) = (desk.address_of("AavePool"), desk.address_of("USDC"));
    assert_success(&desk.approve("USDC", pool, usdc("300")).await);
    let enter = Venue::enterCall { market: market_id("lend"), asset: token, amount: usdc("300"), data: Bytes::new() };
    let entered = desk.execute(pool, enter.abi_encode()).await;
    assert_success(&entered);
    assert_eq!(balance_change(&entered, "USDC"), -300_000_000);
    assert!(entered.effects.iter().any(|effect| matches!(effect,
        Effect::Position { account, venue, market, asset, side: PositionSide::Supplied, before, after }
            if account.own && venue.name.as_deref() == Some("AavePool") && market == "lend" && asset == "USDC" && before == "0" && after == "300000000")),
        "{:#?}", entered.effects);
    let exit = Venue::exitCall { market: market_id("lend"), asset: token, amount: usdc("300"), to: ACCOUNT };
    let exited = desk.execute(pool, exit.abi_encode()).await;
    assert_success(&exited);
    assert_eq!(balance_change(&exited, "USDC"), 300_000_000);
}

/// Configuration and flash loan leave no unexplained effects: the event explains the setting, and the loan changes no balance.
#[tokio::test]
async fn configure_and_flash_loan_have_no_unexplained_slots() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let (pool, token) = (desk.address_of("AavePool"), desk.address_of("USDC"));
    let key = alloy_primitives::keccak256("leverage");
    let configured =
        desk.execute(pool, Venue::configureCall { market: market_id("perp"), key, value: Bytes::from_static(b"5x") }.abi_encode()).await;
    assert_success(&configured);
    assert!(configured.logs.iter().any(|log| log.event.name == "Configured" && log.event.args["value"] == "0x3578"));
    assert_success(&desk.approve("USDC", pool, usdc("200")).await);
    let enter = Venue::enterCall { market: market_id("lend"), asset: token, amount: usdc("100"), data: Bytes::new() };
    assert_success(&desk.execute(pool, enter.abi_encode()).await);
    let flash = Venue::flashCall { market: market_id("lend"), asset: token, amount: usdc("100"), data: Bytes::new() };
    let lent = desk.execute(pool, flash.abi_encode()).await;
    assert_success(&lent);
    assert_eq!(balance_change(&lent, "USDC"), 0);
    assert!(lent.logs.iter().any(|log| log.event.name == "Flashed" && log.event.args["amount"] == "100000000"));
}

#[tokio::test]
async fn unlimited_approval_effect_is_flagged() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let router = desk.address_of("SwapRouter02");
    let approved = desk.approve("USDC", router, U256::MAX).await;
    assert_success(&approved);
    assert!(approved.effects.iter().any(|effect| matches!(effect, Effect::Allowance { unlimited: true, asset, .. } if asset == "USDC")));
}

/// Permit2's address starts with zeros and must still be decoded as an address.
#[tokio::test]
async fn approval_effect_names_permit2() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let permit2 = desk.address_of("Permit2");
    let approved = desk.approve("USDC", permit2, U256::MAX).await;
    assert_success(&approved);
    assert!(approved.effects.iter().any(|effect| matches!(effect,
        Effect::Allowance { spender, unlimited: true, .. } if spender.role.as_deref() == Some("permit2"))));
}

/// Attackers choose calldata: decoding must not be quadratic in its length and must not lose effects.
#[tokio::test]
async fn calldata_with_many_addresses_decodes_in_bounded_time() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let (permit2, token, router) = (desk.address_of("Permit2"), desk.address_of("USDC"), desk.address_of("SwapRouter02"));
    let mut data = alloy_primitives::keccak256("approve(address,address,uint160,uint48)")[..4].to_vec();
    for word in [token.into_word(), router.into_word(), U256::from(7).into(), U256::from(2_000_000_000_u64).into()] {
        data.extend_from_slice(word.as_slice());
    }
    for n in 0..4_000_u64 {
        data.extend_from_slice(
            alloy_primitives::Address::left_padding_from(&alloy_primitives::keccak256(n.to_be_bytes())[..20]).into_word().as_slice(),
        );
    }
    let approved = desk.execute(permit2, data).await;
    assert_success(&approved);
    assert!(
        approved.effects.iter().any(
            |effect| matches!(effect, Effect::Allowance { via: AllowanceKind::Permit2, after, expires: Some(2_000_000_000), .. } if after == "7")
        )
    );
}
